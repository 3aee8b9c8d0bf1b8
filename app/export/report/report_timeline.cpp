#include "app/export/report/report_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/rows/rows.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/export/report/lane_boxes.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {
namespace {

[[nodiscard]] bool is_drawn(RowKind kind) noexcept { return kind == RowKind::slices || kind == RowKind::counter; }

// Events of a lane that a filter leaves, in all of the session.
[[nodiscard]] std::uint64_t events_of(const QueryContext& query, std::uint32_t lane) {
  return query.mask ? query.mask->count(lane) : query.snapshot->lanes[lane].event_count;
}

[[nodiscard]] bool meets(const LaneSnapshot& lane, const TimeRange& range) {
  return lane.event_count > 0 && tick_range(lane, range).holds(lane.begin_ticks, lane.end_ticks);
}

// Gathers rows with their boxes.
class TimelineBuilder {
 public:
  TimelineBuilder(const ExportRequest& request, const TimelineLimits& limits)
      : query_(request.query), limits_(limits), names_(*query_.snapshot->strings) {
    const Snapshot& snapshot = *query_.snapshot;
    timeline_.begin_ns = std::max(request.range.begin_ns, snapshot.begin_ns);
    timeline_.end_ns = std::max(timeline_.begin_ns, std::min(request.range.end_ns, snapshot.end_ns));
    range_ = {timeline_.begin_ns, timeline_.end_ns == request.range.end_ns ? timeline_.end_ns : timeline_.end_ns + 1};
  }

  ReportSection run(const TimeRange& shown) {
    choose_rows();
    share_boxes();
    for (const app::TimelineRow& row : rows_) add(row);
    drop_empty_headings();
    timeline_.names = names_.take();
    const std::int64_t length = timeline_.end_ns - timeline_.begin_ns;
    timeline_.shown_begin_ns = std::clamp<std::int64_t>(shown.begin_ns - timeline_.begin_ns, 0, length);
    timeline_.shown_end_ns = std::clamp<std::int64_t>(shown.end_ns - timeline_.begin_ns, 0, length);
    if (timeline_.shown_begin_ns >= timeline_.shown_end_ns) {
      timeline_.shown_begin_ns = 0;
      timeline_.shown_end_ns = length;
    }
    return {.title = "Timeline", .note = note(), .body = std::move(timeline_)};
  }

 private:
  // Events of a row that may be drawn.
  [[nodiscard]] std::uint64_t size_of(const app::TimelineRow& row) const {
    std::uint64_t events = 0;
    for (const std::uint32_t lane : row.lanes) {
      if (is_drawn(row.kind) && meets(query_.snapshot->lanes[lane], range_)) events += events_of(query_, lane);
    }
    return events;
  }

  // Those that the viewer shows at first, and of every group that is closed there the ones with the most events, as far
  // as they have anything in the range. Where that is still too much, the ones with the most events.
  void choose_rows() {
    RowChoices choices;
    std::set<std::string> at_first;
    // Groups that were closed have threads and cores below them that were not listed before.
    for (int level = 0; level < 2; ++level) {
      for (const app::TimelineRow& row : compose_rows(*query_.snapshot, nullptr, choices)) {
        if (level == 0) at_first.insert(row.key);
        if (row.kind == RowKind::group || row.has_children) choices.open[row.key] = true;
      }
    }
    rows_ = compose_rows(*query_.snapshot, nullptr, choices);
    using Place = std::pair<std::uint64_t, std::size_t>;  // events, index
    const auto larger = [](const Place& a, const Place& b) { return a.first > b.first; };
    std::vector<Place> chosen, closed;
    std::size_t all = 0;
    const auto end_group = [&] {
      std::stable_sort(closed.begin(), closed.end(), larger);
      closed.resize(std::min(closed.size(), limits_.closed_rows));
      chosen.insert(chosen.end(), closed.begin(), closed.end());
      closed.clear();
    };
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].kind == RowKind::group) end_group();
      const std::uint64_t events = size_of(rows_[i]);
      if (events == 0) continue;
      ++all;
      (at_first.contains(rows_[i].key) ? chosen : closed).emplace_back(events, i);
    }
    end_group();
    std::stable_sort(chosen.begin(), chosen.end(), larger);
    chosen.resize(std::min(chosen.size(), limits_.rows));
    left_out_rows_ = all - chosen.size();
    std::set<std::size_t> kept;
    for (const Place& place : chosen) kept.insert(place.second);
    std::vector<app::TimelineRow> rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!is_drawn(rows_[i].kind) || kept.contains(i)) rows.push_back(std::move(rows_[i]));
    }
    rows_ = std::move(rows);
  }

  [[nodiscard]] std::vector<std::uint32_t> lanes_of(const app::TimelineRow& row) const {
    std::vector<std::uint32_t> lanes = row.lanes;
    if (lanes.size() > limits_.lanes) lanes.resize(limits_.lanes);
    return lanes;
  }

  // Lanes of few events have all of theirs; what is left is shared by the others alike.
  void share_boxes() {
    std::vector<std::uint64_t> sizes;
    std::size_t counters = 0;
    for (const app::TimelineRow& row : rows_) {
      if (row.kind == RowKind::counter) counters += row.lanes.size();
      if (row.kind != RowKind::slices) continue;
      for (const std::uint32_t lane : lanes_of(row)) sizes.push_back(events_of(query_, lane) + 2 * kBlockEvents);
    }
    std::sort(sizes.begin(), sizes.end());
    std::uint64_t left = limits_.boxes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint64_t part = left / (sizes.size() - i);
      share_ = part;
      left -= std::min(part, sizes[i]);
    }
    share_ = std::min<std::uint64_t>(share_, limits_.lane_boxes);
    counter_share_ = std::min<std::size_t>(1'000, limits_.values / std::max<std::size_t>(counters, 1));
  }

  void add(const app::TimelineRow& row) {
    ReportRow out{.label = row.label, .indent = static_cast<std::uint32_t>(std::max(0, row.depth))};
    if (!is_drawn(row.kind)) {
      out.heading = true;
      if (row.kind == RowKind::group || row.kind == RowKind::bundle) timeline_.rows.push_back(std::move(out));
      return;
    }
    if (row.kind == RowKind::counter) {
      for (const std::uint32_t lane : row.lanes) {
        if (query_.snapshot->lanes[lane].data->kind != EventKind::counter) continue;
        out.values = lane_values(query_, lane, range_, counter_share_);
        out.unit = row.track == nullptr ? "" : row.track->unit;
      }
      if (!out.values.empty()) timeline_.rows.push_back(std::move(out));
      return;
    }
    const std::vector<std::uint32_t> lanes = lanes_of(row);
    for (std::size_t i = lanes.size(); i < row.lanes.size(); ++i) deeper_events_ += events_of(query_, row.lanes[i]);
    bool any = false;
    for (const std::uint32_t lane : lanes) {
      LaneBoxes boxes = lane_boxes(query_, lane, range_, share_, names_);
      any = any || !boxes.boxes.empty();
      events_ += boxes.events;
      merged_events_ += boxes.merged_events;
      for (const ReportBox& box : boxes.boxes) merged_boxes_ += box.count > 1 ? 1 : 0;
      out.lanes.push_back(std::move(boxes.boxes));
    }
    while (!out.lanes.empty() && out.lanes.back().empty()) out.lanes.pop_back();
    if (any) timeline_.rows.push_back(std::move(out));
  }

  // A heading stays where a row follows it before the next one.
  void drop_empty_headings() {
    std::vector<ReportRow> rows;
    for (std::size_t i = 0; i < timeline_.rows.size(); ++i) {
      ReportRow& row = timeline_.rows[i];
      const bool followed = i + 1 < timeline_.rows.size() &&
                            (!timeline_.rows[i + 1].heading || timeline_.rows[i + 1].indent > row.indent);
      if (!row.heading || followed) rows.push_back(std::move(row));
    }
    timeline_.rows = std::move(rows);
  }

  [[nodiscard]] std::string note() const {
    std::vector<std::string> said;
    if (merged_events_ > 0)
      said.push_back(
          fmt::format("{} of {} events lie too close together for this file and are drawn as {} boxes, each "
                      "with its count and how busy it is",
                      format_count(merged_events_), format_count(events_), format_count(merged_boxes_)));
    if (left_out_rows_ > 0)
      said.push_back(fmt::format("{} rows with fewer events are left out", format_count(left_out_rows_)));
    if (deeper_events_ > 0)
      said.push_back(
          fmt::format("{} calls deeper than {} levels are left out", format_count(deeper_events_), limits_.lanes));
    if (!names_.all_kept())
      said.push_back(
          fmt::format("of more than {} names the later ones are left out", format_count(TimelineNames::kMost)));
    return joined(said, "; ");
  }

  const QueryContext& query_;
  TimelineLimits limits_;
  TimelineNames names_;
  TimeRange range_;
  ReportTimeline timeline_;
  std::vector<app::TimelineRow> rows_;
  std::uint64_t share_ = 0;  // boxes of one lane
  std::size_t counter_share_ = 0;
  std::uint64_t events_ = 0, merged_events_ = 0, merged_boxes_ = 0, deeper_events_ = 0;
  std::size_t left_out_rows_ = 0;
};

}  // namespace

ReportSection timeline_section(const ExportRequest& request, const TimeRange& shown, const TimelineLimits& limits) {
  return TimelineBuilder(request, limits).run(shown);
}

}  // namespace accelscope::app
