#include "app/workspace/headline.h"

#include <algorithm>

#include "app/persist/persist.h"
#include "app/workspace/opening.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/evidence.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/text.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::workspace {
namespace {

constexpr std::string_view kHeadlineVersion = "1";
constexpr std::size_t kHeadlineFields = 9;  // at least; processes, findings and errors came later

// Devices' work; where a session has none, what its hosts did in their outermost calls.
[[nodiscard]] LaneIndices lanes_that_work(const Snapshot& snapshot) {
  const analysis::WorkKinds kinds(snapshot);
  LaneIndices lanes;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    const LaneSnapshot& each = snapshot.lanes[lane];
    if (each.event_count == 0 || each.data->kind != EventKind::slice) continue;
    const WorkKind kind = kinds.of_lane(lane);
    if (kind == WorkKind::none || !kinds.covers_time(lane)) continue;
    if (kind == WorkKind::host ? !kinds.any_device() && each.data->lane.depth == 0 : true) lanes.push_back(lane);
  }
  return lanes;
}

[[nodiscard]] Result<std::string> activity_of(const QueryContext& query, const TimeRange& range) {
  std::vector<double> cells(Headline::kCells);
  for (const std::uint32_t lane : lanes_that_work(*query.snapshot)) {
    TRY(analysis::add_busy_time(query, lane, range, cells));
  }
  const double most = *std::ranges::max_element(cells);
  if (most <= 0) return std::string();
  std::string text;
  for (const double cell : cells) {
    const double share = std::clamp(cell / most, 0.0, 1.0);
    text += static_cast<char>('0' + static_cast<int>(share > 0 ? std::max(1.0, share * 9 + 0.5) : 0));
  }
  return text;
}

[[nodiscard]] std::vector<std::string> processes_of(const Snapshot& snapshot) {
  std::vector<std::string> processes;
  for (const TrackSnapshot& track : snapshot.tracks) {
    for (const std::string& label : {track.track->host, track.track->device}) {
      if (processes.size() >= Headline::kMostProcesses || !analysis::is_process_label(label)) continue;
      if (std::ranges::find(processes, label) == processes.end()) processes.push_back(label);
    }
  }
  std::ranges::sort(processes, natural_less);
  return processes;
}

// WARNINGS of a list: what the Warnings panel tells.
[[nodiscard]] Result<void> add_findings(const QueryContext& query, const Headline* last, Headline& headline) {
  if (last != nullptr && last->findings && last->events == headline.events) {
    headline.findings = last->findings;
    headline.error = last->error;
    return {};
  }
  if (headline.events > Headline::kMostForFindings) {
    const auto report = TRY(analysis::report_errors(query, {}));
    if (!report->errors.empty()) headline.error = report->errors.front().name;
    return {};
  }
  const auto advice = TRY(analysis::find_advice(query, {}));
  headline.findings = advice->findings.size();
  if (const analysis::Finding* const error = analysis::reported_error(*advice); error != nullptr)
    headline.error = error->tab;
  return {};
}

}  // namespace

std::uint64_t count_warnings(const Snapshot& snapshot) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(snapshot.quality, [](const QualityEntry& e) { return e.severity != Severity::note; }));
}

Result<Headline> find_headline(const QueryContext& query, std::int64_t saved_unix_s, const Headline* last) {
  const Snapshot& snapshot = *query.snapshot;
  Headline headline{.name = std::string(snapshot.meta_value("name")),
                    .device = device_of(snapshot),
                    .events = count_passing(snapshot, nullptr),
                    .duration_ns = snapshot.end_ns - snapshot.begin_ns,
                    .warnings = count_warnings(snapshot),
                    .saved_unix_s = saved_unix_s};
  const auto terms = TRY(analysis::session_terms(query));
  const TimeRange range = terms.work.value_or(terms.session);
  headline.work_ns = terms.work ? range.length_ns() : 0;
  auto activity = TRY(activity_of(query, range));
  headline.activity = std::move(activity);
  headline.processes = processes_of(snapshot);
  TRY(add_findings(query, last, headline));
  return headline;
}

std::string to_text(const Headline& headline) {
  return persist::encode_record(
      {std::string(kHeadlineVersion), headline.name, headline.device, std::to_string(headline.events),
       std::to_string(headline.duration_ns), std::to_string(headline.work_ns), std::to_string(headline.warnings),
       std::to_string(headline.saved_unix_s), headline.activity, persist::encode_record(headline.processes),
       headline.findings ? std::to_string(*headline.findings) : "", headline.error});
}

std::optional<Headline> headline_of(std::string_view text) {
  const persist::TextRecord fields = persist::decode_record(text);
  if (fields.size() < kHeadlineFields || fields[0] != kHeadlineVersion) return std::nullopt;
  Headline headline{.name = fields[1], .device = fields[2]};
  const bool whole = read_number(fields[3], headline.events) && read_number(fields[4], headline.duration_ns) &&
                     read_number(fields[5], headline.work_ns) && read_number(fields[6], headline.warnings) &&
                     read_number(fields[7], headline.saved_unix_s);
  if (!whole) return std::nullopt;
  const bool digits = std::all_of(fields[8].begin(), fields[8].end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && fields[8].size() == Headline::kCells) headline.activity = fields[8];
  if (fields.size() > kHeadlineFields && !fields[kHeadlineFields].empty()) {
    headline.processes = persist::decode_record(fields[kHeadlineFields]);
    if (headline.processes.size() > Headline::kMostProcesses) headline.processes.resize(Headline::kMostProcesses);
  }
  constexpr std::size_t kFindings = kHeadlineFields + 1, kError = kHeadlineFields + 2;
  std::uint64_t findings = 0;
  if (fields.size() > kFindings && read_number(fields[kFindings], findings)) headline.findings = findings;
  if (fields.size() > kError) headline.error = fields[kError];
  return headline;
}

void keep_headline(Store& store, WorkerPool& pool) {
  const std::optional<Headline> last = headline_of(store.overlay_value(kHeadlineKey));
  TaskControl control;
  const auto headline = find_headline({store, store.snapshot(), pool, control},
                                      last ? last->saved_unix_s : persist::unix_now(), last ? &*last : nullptr);
  if (headline && *headline != last) (void)store.set_overlay_value(kHeadlineKey, to_text(*headline));
}

}  // namespace accelscope::app::workspace
