#include "core/base/capped.h"
#include "core/export/base/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"
#include "core/export/base/track_groups.h"
#include "core/model/track_kinds.h"

namespace accelscope::exporting {
namespace {

// The number that a name ends with: "thread 1234", "python 77".
[[nodiscard]] std::optional<std::uint32_t> number_at_end(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && is_digit(name[at - 1])) --at;
  constexpr std::size_t kMostDigits = 9;
  if (at == name.size() || name.size() - at > kMostDigits) return std::nullopt;
  std::uint32_t number = 0;
  for (const char digit : name.substr(at)) number = number * 10 + static_cast<std::uint32_t>(digit - '0');
  return number;
}

class VtuneRows {
 public:
  VtuneRows(const ExportRequest& request, const ExportPlan& plan, std::optional<std::int64_t> unix_ns)
      : plan_(plan), snapshot_(*request.query.snapshot), unix_ns_(unix_ns), reader_(request.query, request.range) {}

  Result<void> write(const EventPiece& piece, std::string& out, std::uint64_t& rows, std::uint64_t& repaired) {
    const ExportTrack& track = plan_.tracks[piece.track];
    if (Result<void> opened = reader_.open(track, piece); !opened) return opened;
    const Track& of = *track.snapshot->track;
    const std::uint32_t process = of.host.empty() ? 1 : number_at_end(of.host).value_or(1);
    const std::uint32_t thread = number_at_end(of.name).value_or(of.number);
    for (const PieceEvent& event : reader_.events()) {
      repaired += append_name(out, snapshot_.strings->text(reader_.name(event)));
      out += ',';
      append_time(out, reader_.ns(event.begin));
      out += ',';
      append_time(out, reader_.ns(event.end));
      out += fmt::format(",{},{}\n", process, thread);
    }
    rows += reader_.events().size();
    return {};
  }

 private:
  void append_time(std::string& out, std::int64_t ns) const {
    out += unix_ns_ ? utc_text(capped_sum(*unix_ns_, ns)) : fmt::format("{}", ns);
  }
  [[nodiscard]] static std::uint64_t append_name(std::string& out, std::string_view name) {
    const std::size_t begin = out.size();
    out += name;
    std::uint64_t repaired = 0;
    for (std::size_t i = begin; i < out.size(); ++i) {
      if (out[i] != ',' && out[i] != '"' && out[i] != '\n' && out[i] != '\r') continue;
      out[i] = ' ';
      repaired = 1;
    }
    return repaired;
  }

  const ExportPlan& plan_;
  const Snapshot& snapshot_;
  std::optional<std::int64_t> unix_ns_;
  PieceReader reader_;
};

}  // namespace

std::string utc_text(std::int64_t unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t rest = unix_ns % kSecond, fraction = rest < 0 ? rest + kSecond : rest;
  const std::int64_t seconds = unix_ns / kSecond - (rest < 0 ? 1 : 0);
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), fraction);
}

Result<ExportReport> write_vtune_csv(const ExportRequest& request, ExportOutput& output) {
  const Snapshot& snapshot = *request.query.snapshot;
  const Result<ExportPlan> plan = plan_export(
      request, [](const TrackSnapshot& track) { return track.schema->kind == EventKind::slice; }, PieceOrder::rows);
  if (!plan) return plan.error();
  const std::optional<std::int64_t> unix_ns = unix_begin_ns(snapshot);
  ExportReport report;
  const auto put = [&](std::string_view bytes) {
    report.bytes += bytes.size();
    return output.write(bytes);
  };
  TRY(put(fmt::format("name,start_tsc.{},end_tsc,pid,tid\n", unix_ns ? "UTC" : "CLOCK_MONOTONIC_RAW")));
  std::vector<std::unique_ptr<VtuneRows>> writers(request.query.pool.concurrency());
  std::vector<std::uint64_t> rows(plan->pieces.size()), repaired(plan->pieces.size());
  std::uint64_t all_repaired = 0;
  const Result<void> done = write_pieces(
      request.query, plan->pieces.size(),
      [&](std::size_t piece, std::size_t worker, std::string& out) -> Result<void> {
        if (!writers[worker]) writers[worker] = std::make_unique<VtuneRows>(request, *plan, unix_ns);
        return writers[worker]->write(plan->pieces[piece], out, rows[piece], repaired[piece]);
      },
      [&](std::size_t piece, std::string_view bytes) -> Result<void> {
        report.rows += rows[piece];
        all_repaired += repaired[piece];
        if (request.progress) request.progress(report.rows, plan->events);
        return put(bytes);
      });
  if (!done) return done.error();
  report.losses = losses_by_kind(request, {.samples = true, .moments = true, .flows = true});
  report.losses.emplace_back("columns of events are left out: the format has names and times only");
  if (all_repaired > 0) {
    report.losses.push_back(
        fmt::format("{} names hold commas, quotes or line ends, which became blanks", format_count(all_repaired)));
  }
  return report;
}

}  // namespace accelscope::exporting
