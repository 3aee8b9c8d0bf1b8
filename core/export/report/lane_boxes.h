// A lane as a bounded number of boxes for a report's timeline: from its level-of-detail tree, the longest stretches
// taken apart first, down to single events where there is room. So a lane of few events has them all, and of one with
// millions what lies far apart stands alone and what lies close together is drawn as one, with its count.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/export/report/report.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::exporting {

// The names of a timeline's events; what is beyond the limit shares one that says so.
class TimelineNames {
 public:
  static constexpr std::size_t kMost = 4'000;
  static constexpr std::size_t kMostBytes = 160;  // longer ones are cut in their middle

  explicit TimelineNames(const StringPool& strings) : strings_(strings) {}
  [[nodiscard]] std::uint32_t index(StringId name);
  [[nodiscard]] bool all_retained() const noexcept { return left_out_ == 0; }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  const StringPool& strings_;
  std::map<StringId, std::uint32_t> places_;
  std::vector<std::string> names_;
  std::uint64_t left_out_ = 0;
};

struct LaneBoxes {
  std::vector<ReportBox> boxes;     // by time, from the range's begin
  std::uint64_t events = 0;         // all that they stand for
  std::uint64_t merged_events = 0;  // of that, those that are drawn with others as one
};

// Of events that pass the query's mask and share time with the range, which must have both ends. At most `most` boxes,
// but no fewer than the tree has roots.
[[nodiscard]] LaneBoxes lane_boxes(const QueryContext& query, std::uint32_t lane, const TimeRange& range,
                                   std::size_t most, TimelineNames& names);

// A counter's lane in the same way.
[[nodiscard]] std::vector<ReportValue> lane_values(const QueryContext& query, std::uint32_t lane,
                                                   const TimeRange& range, std::size_t most);

}  // namespace accelscope::exporting
