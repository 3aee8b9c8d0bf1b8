#include "app/content/why/device_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/content/why/critical_path.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/replay/bounds.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kMostGapRows = 1'000'000;

std::vector<WorkGap> gaps_by_length(const WorkGraph& graph, const TimeRange& range) {
  std::vector<WorkGap> gaps = device_gaps(graph, range);
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const WorkGap& a, const WorkGap& b) { return a.length_ns() > b.length_ns(); });
  return gaps;
}

// What a session's shares are of, where nobody says.
Result<TimeRange> gaps_range(const QueryContext& query, const std::optional<TimeRange>& wanted) {
  if (wanted && !(*wanted == TimeRange{})) {
    return TimeRange{std::max(query.snapshot->begin_ns, wanted->begin_ns),
                     std::min(query.snapshot->end_ns, wanted->end_ns)};
  }
  const auto terms = session_terms(query);
  if (!terms) return terms.error();
  return terms->span;
}

// All of them, added up by what the device, the host or the line was.
Listing summed_gaps(const WorkGraph& graph, const std::vector<WorkGap>& gaps, const TimeRange& range,
                    std::string_view by) {
  Listing listing({{std::string(by),
                    by == "device" ? "Device"
                    : by == "line" ? "Line"
                                   : "Host",
                    "", ""},
                   {"count", "Gaps", "", ""},
                   {"gap_ns", "Idle", "ns", "Of all these gaps together"},
                   {"share", "Share", "share", "Of the range, of one device", true}});
  const TrackDevices devices(*graph.snapshot);
  struct Sum {
    SqlValue label;
    std::int64_t count = 0, ns = 0;
  };
  std::map<std::string, Sum> sums;
  for (const WorkGap& gap : gaps) {
    const SqlValue label = by == "device" ? path_words(devices.label(gap.device))
                           : by == "line" ? path_line_cell(graph, gap.host)
                                          : path_name_cell(graph, gap.host);
    const auto* text = std::get_if<std::string>(&label);
    Sum& sum = sums[text == nullptr ? std::string() : *text];
    sum.label = label;
    ++sum.count;
    sum.ns += gap.length_ns();
  }
  std::vector<Sum> rows;
  for (auto& [text, sum] : sums) rows.push_back(std::move(sum));
  std::stable_sort(rows.begin(), rows.end(), [](const Sum& a, const Sum& b) { return a.ns > b.ns; });
  const double whole = std::max(1.0, static_cast<double>(range.length_ns()));
  for (Sum& sum : rows) {
    listing.add({std::move(sum.label), sum.count, sum.ns, static_cast<double>(sum.ns) / whole});
  }
  return listing;
}

}  // namespace

Result<Listing> idle_listing(const QueryContext& query, const WorkGraph& graph, const TimeRange& range,
                             std::size_t most) {
  Listing listing({{"begin_ns", "Begin", "ns", "Since the session's start"},
                   {"dur_ns", "Length", "ns", ""},
                   {"device", "Device", "", "On which nothing is under way"},
                   {"host", "Host", "", "The innermost call that held up for longest what ends it", false, false, true},
                   {"line", "Line", "", "Of this call, or of the one around it that has one"},
                   {"launched_by", "Ended by", "", "The call that started what comes after it", false, false, true},
                   {"saving_ns", "Saves", "ns",
                    "Of the total, without it and what the host did in it: by a replay; empty: not known"},
                   {"before", "Before it", "", "What ended last", false, false, true},
                   {"after", "After it", "", "What the device does next", false, false, true},
                   {"host_id", "Host event", "", "", false, true},
                   {"launch_id", "Launch", "", "", false, true}});
  const std::vector<WorkGap> gaps = gaps_by_length(graph, range);
  const TrackDevices devices(*graph.snapshot);
  std::int64_t total_ns = 0;
  for (const WorkGap& gap : gaps) total_ns += gap.length_ns();
  const std::size_t replays = most_replays(graph);
  for (std::size_t i = 0; i < std::min(gaps.size(), most); ++i) {
    const WorkGap& gap = gaps[i];
    SqlValue saving;
    if (i < replays && (gap.host_on_path || gap.host == kNoNode)) {
      const auto without = saving_without_gap(query, graph, gap);
      if (!without) return without.error();
      saving = *without;
    }
    const NodeIndex shown = gap.after != kNoNode ? gap.after : gap.before;
    listing.add({gap.range.begin_ns, gap.length_ns(), path_words(devices.label(gap.device)),
                 path_name_cell(graph, gap.host), path_line_cell(graph, gap.host), path_name_cell(graph, gap.launch),
                 std::move(saving), path_name_cell(graph, gap.before), path_name_cell(graph, gap.after),
                 path_event_cell(graph, gap.host), path_event_cell(graph, gap.launch)},
                shown == kNoNode ? ListingTarget() : ListingTarget(graph.whole_event(shown)));
  }
  if (gaps.empty()) {
    listing.note = "no device of the range stands idle, or none works in it";
  } else {
    listing.note =
        fmt::format("{} gaps of {} in all{}", format_count(gaps.size()), format_duration(static_cast<double>(total_ns)),
                    gaps.size() > most ? fmt::format("; the {} longest are listed", format_count(most)) : "");
  }
  return listing;
}

Result<Listing> list_idle(const QueryContext& query, const ListingRequest& request) {
  const auto graph = session_graph(query);
  if (!graph) return graph.error();
  const auto range = gaps_range(query, request.filter.range);
  if (!range) return range.error();
  if (request.by.empty()) return idle_listing(query, **graph, *range, kMostGapRows);
  const std::string& by = request.by.front();
  if (request.by.size() > 1 || (by != "device" && by != "host" && by != "line")) {
    return Error{fmt::format("--by {}: it takes one of device, host, line", fmt::join(request.by, ","))};
  }
  return summed_gaps(**graph, device_gaps(**graph, *range), *range, by);
}

}  // namespace accelscope::app
