#include "core/analysis/figures/summed_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/names/collective_words.h"
#include "core/names/name_forms.h"
#include "core/scan/column_values.h"

namespace accelscope {
namespace {

constexpr double kToldShare = 0.05;  // smaller parts are not spoken of

struct PartWords {
  std::string_view of_device, of_host;
};
constexpr std::array<PartWords, SummedTimes::kParts> kParts = {
    {{"kernels", "other calls"}, {"communication", "communication"}, {"copies", "copies"}, {"waits", "waits"}}};

bool holds_any(std::string_view name, std::initializer_list<std::string_view> words) {
  const std::string lower = lower_case(name);
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

SummedTimes::Part part_of(std::string_view name, bool of_device) {
  if (collective_operation(name)) return SummedTimes::Part::communication;
  if (holds_any(name, {"memcpy", "memorycopy", "memset", "memoryfill", "imagecopy"})) return SummedTimes::Part::copies;
  if (!of_device && holds_any(name, {"synchronize", "clfinish", "waitforevents"})) return SummedTimes::Part::waits;
  return SummedTimes::Part::work;
}

std::optional<std::size_t> time_column(const Schema& schema) {
  if (schema.kind != EventKind::table) return std::nullopt;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (column.unit == "ns" && !is_text(column.type) && column.name.starts_with("Time")) return i;
  }
  return std::nullopt;
}

}  // namespace

SummedTimes::Part SummedTimes::largest() const noexcept {
  return static_cast<Part>(std::max_element(part_ns.begin(), part_ns.end()) - part_ns.begin());
}

Result<SummedTimes> summed_times(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  SummedTimes sums;
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (lane.event_count == 0 || !lane.schema || !time_column(*lane.schema)) continue;
    const bool of_device = lane.schema->name_column != "Function";
    if (of_device && !sums.of_device) lanes.clear();
    sums.of_device = sums.of_device || of_device;
    if (of_device == sums.of_device) lanes.push_back(i);
  }
  std::vector<SummedTimes> workers(query.pool.concurrency(), sums);
  const Result<void> scanned = scan_chunks(query, lanes, {}, [&](const ScannedChunk& chunk, std::size_t worker) {
    SummedTimes& mine = workers[worker];
    const std::size_t column = *time_column(*chunk.lane.schema);
    const ColumnType type = chunk.lane.schema->columns[column].type;
    for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
      if (!chunk.view.has_value(column, row)) continue;
      const double ns = std::max(0.0, real_number(chunk.view, column, type, chunk.view.stored(column, row)));
      const std::string_view name = snapshot.strings->text(chunk.session_string(chunk.view.name(row)));
      mine.total_ns += ns;
      mine.part_ns[static_cast<std::size_t>(part_of(name, mine.of_device))] += ns;
      if (ns > mine.longest_ns || (ns == mine.longest_ns && name < mine.longest)) {
        mine.longest_ns = ns;
        mine.longest = name;
      }
    }
  });
  if (!scanned) return scanned.error();
  for (const SummedTimes& each : workers) {
    sums.total_ns += each.total_ns;
    for (std::size_t part = 0; part < SummedTimes::kParts; ++part) sums.part_ns[part] += each.part_ns[part];
    if (std::pair(each.longest_ns, std::string_view(sums.longest)) <=
        std::pair(sums.longest_ns, std::string_view(each.longest)))
      continue;
    sums.longest_ns = each.longest_ns;
    sums.longest = each.longest;
  }
  return sums;
}

std::string bound_text(const SummedTimes& sums) {
  if (sums.total_ns <= 0) return "";
  std::vector<SummedTimes::Part> parts;
  for (std::size_t i = 0; i < SummedTimes::kParts; ++i) {
    if (sums.part_ns[i] >= kToldShare * sums.total_ns) parts.push_back(static_cast<SummedTimes::Part>(i));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [&](SummedTimes::Part a, SummedTimes::Part b) { return sums.share(a) > sums.share(b); });
  const auto words = [&](SummedTimes::Part part) {
    const PartWords& both = kParts[static_cast<std::size_t>(part)];
    return sums.of_device ? both.of_device : both.of_host;
  };
  std::string text = fmt::format("Sums alone, {} of {}", format_duration(sums.total_ns),
                                 sums.of_device ? "device work" : "a host's calls");
  for (const SummedTimes::Part part : parts)
    text += fmt::format(", {} {}", words(part), format_share(sums.share(part)));
  const SummedTimes::Part most = sums.largest();
  if (most != SummedTimes::Part::work) return fmt::format("{}: mostly {}", text, words(most));
  return text + (sums.of_device ? ": mostly its kernels" : ": host-bound");
}

std::string cause_text(const SummedTimes& sums) {
  if (sums.total_ns <= 0 || sums.longest.empty()) return "";
  return fmt::format("Longest in {}, {}", usual_name(sums.longest), format_share(sums.longest_ns / sums.total_ns));
}

}  // namespace accelscope
