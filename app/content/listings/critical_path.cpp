#include "app/content/listings/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/format.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {
namespace {

template <typename By>
struct ByName {
  std::string_view name;
  By by;
};
constexpr std::array<ByName<PathBy>, 5> kPathBys = {{{"resource", PathBy::resource},
                                                     {"line", PathBy::line},
                                                     {"name", PathBy::name},
                                                     {"kind", PathBy::kind},
                                                     {"wait", PathBy::wait}}};
constexpr std::array<ByName<WaitsBy>, 3> kWaitBys = {
    {{"cause", WaitsBy::reason}, {"signaller", WaitsBy::source}, {"line", WaitsBy::line}}};

template <typename By, std::size_t kCount>
Result<By> chosen_by(const std::array<ByName<By>, kCount>& all, const std::vector<std::string>& by) {
  if (by.empty()) return all.front().by;
  std::string names;
  for (const ByName<By>& each : all) {
    if (by.size() == 1 && by.front() == each.name) return each.by;
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return Error{fmt::format("--by {}: it takes one of {}", fmt::join(by, ","), names)};
}

SqlValue words_or_null(std::string_view text) { return text.empty() ? SqlValue() : SqlValue(std::string(text)); }

std::string_view track_name(const WorkGraph& graph, TrackNumber number) {
  const TrackSnapshot* track = graph.snapshot->find_track(number);
  return track == nullptr ? std::string_view() : std::string_view(track->track->name);
}
SqlValue line_cell(const WorkGraph& graph, NodeIndex node) {
  return graph.locations.empty() ? SqlValue() : words_or_null(graph.snapshot->strings->text(graph.locations[node]));
}
double path_share_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Result<WaitReport> passing_waits(const QueryContext& query, const WorkGraph& graph, const EventFilter& filter) {
  auto report = attribute_waits(graph, filter.range.value_or(TimeRange{}), query.pool, query.control);
  if (!report || !query.mask) return report;
  std::erase_if(report->waits, [&](const AttributedWait& wait) {
    return !query.mask->passes(*graph.snapshot, graph.event(wait.node));
  });
  report->total_ns = 0;
  report->without_source = 0;
  for (const AttributedWait& wait : report->waits) {
    report->total_ns += wait.length_ns();
    report->without_source += wait.source == kNoNode ? 1 : 0;
  }
  return report;
}

std::string note_of(const WaitReport& report) {
  if (report.waits.empty()) return "no event of the range says that it waited, and no stream stood idle";
  return fmt::format("who ended it is known of {} of {} waits, {} in all",
                     format_count(report.waits.size() - report.without_source), format_count(report.waits.size()),
                     format_duration(static_cast<double>(report.total_ns)));
}

}  // namespace

Result<std::shared_ptr<const WorkGraph>> session_graph(const QueryContext& query) {
  QueryContext whole = query;
  whole.mask = nullptr;
  const auto dependencies = Dependencies::build(whole);
  if (!dependencies) return dependencies.error();
  return WorkGraph::build(whole, **dependencies);
}

TimeRange path_range(const WorkGraph& graph, const EventFilter& filter) {
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  return {std::max(wanted.begin_ns, graph.snapshot->begin_ns), std::min(wanted.end_ns, graph.end_of_all_ns)};
}

Listing path_listing(const WorkGraph& graph, const CriticalPath& path) {
  Listing listing({{"ts_ns", "Begin", "ns", "Since the session's start"},
                   {"dur_ns", "On the path", "ns", "Of it what lies on the path; all add up to the whole range"},
                   {"name", "What", "", "The event, or of a gap the event that waited"},
                   {"resource", "Where", "", "Its queue, engine, stream or thread"},
                   {"gap", "Gap", "", "Why nothing of the path was under way: what the event waited for"},
                   {"line", "Line", "", ""},
                   {"event_id", "Event", "", "", false, true}});
  for (const PathSegment& segment : path.segments) {
    const bool known = segment.node != kNoNode;
    const EventId event = known ? graph.whole_event(segment.node) : kNoEvent;
    listing.add({segment.begin_ns, segment.length_ns(),
                 known ? words_or_null(graph.snapshot->strings->text(graph.names[segment.node])) : SqlValue(),
                 known ? words_or_null(track_name(graph, graph.lane(segment.node).resource)) : SqlValue(),
                 segment.is_gap ? SqlValue(std::string(wait_reason_name(segment.reason))) : SqlValue(),
                 known ? line_cell(graph, segment.node) : SqlValue(),
                 known ? SqlValue(static_cast<std::int64_t>(event)) : SqlValue()},
                known ? ListingTarget(event) : ListingTarget());
  }
  listing.note = graph.count() == 0 ? "nothing of the session works, moves or waits"
                                    : fmt::format("{}; {} in all, nothing left over", path_bound_text(graph, path),
                                                  format_duration(static_cast<double>(path.range.length_ns())));
  return listing;
}

Listing shares_listing(const WorkGraph& graph, const CriticalPath& path, PathBy by) {
  const auto named = std::find_if(kPathBys.begin(), kPathBys.end(), [&](const auto& each) { return each.by == by; });
  const std::string title = by == PathBy::line ? "Line" : by == PathBy::name ? "What" : "Resource";
  Listing listing({{std::string(named->name), title, "", "Of gaps: what the events of the path waited for"},
                   {"gap", "Gap", "", "1: nothing of the path was under way"},
                   {"count", "Events", "", "Events of the path, or gaps"},
                   {"path_ns", "On the path", "ns", "They add up to the whole range"},
                   {"share", "Share", "share", "Of the path", true}});
  for (const PathShare& share : path_shares(graph, path, by)) {
    const EventId first = share.first == kNoNode ? kNoEvent : graph.whole_event(share.first);
    listing.add({words_or_null(share.label), static_cast<std::int64_t>(share.is_gap ? 1 : 0),
                 static_cast<std::int64_t>(share.count), share.length_ns,
                 path_share_of(share.length_ns, path.range.length_ns())},
                first == kNoEvent ? ListingTarget() : ListingTarget(first));
  }
  listing.note = fmt::format("{}; {} in all, nothing left over", path_bound_text(graph, path),
                             format_duration(static_cast<double>(path.range.length_ns())));
  return listing;
}

Result<Listing> list_critical_path(const QueryContext& query, const ListingRequest& request) {
  const auto graph = session_graph(query);
  if (!graph) return graph.error();
  return path_listing(**graph, find_critical_path(**graph, path_range(**graph, request.filter)));
}

Result<Listing> list_path_shares(const QueryContext& query, const ListingRequest& request) {
  const auto by = chosen_by(kPathBys, request.by);
  if (!by) return by.error();
  const auto graph = session_graph(query);
  if (!graph) return graph.error();
  return shares_listing(**graph, find_critical_path(**graph, path_range(**graph, request.filter)), *by);
}

Result<Listing> list_waits(const QueryContext& query, const ListingRequest& request) {
  const auto graph = session_graph(query);
  if (!graph) return graph.error();
  const auto report = passing_waits(query, **graph, request.filter);
  if (!report) return report.error();
  Listing listing(
      {{"ts_ns", "Begin", "ns", "Since the session's start"},
       {"dur_ns", "Waited", "ns", ""},
       {"track", "Where", "", "The engine, stream or thread that waited"},
       {"name", "What", "", "The event that waited"},
       {"cause", "Cause", "", "semaphore, dma, queue, barrier, dependency, host, issue or unknown"},
       {"condition", "Condition", "", "The semaphore and the value that it waited for"},
       {"signaller", "Ended by", "", "The event that ended the wait"},
       {"signaller_track", "On", "", ""},
       {"line", "Line", "", "Of the event that waited"},
       {"recorded", "Recorded", "", "1: the source says that it waited; 0: the stream stood idle", false, true},
       {"event_id", "Event", "", "", false, true},
       {"signaller_id", "Signaller", "", "", false, true}});
  const StringPool& strings = *(*graph)->snapshot->strings;
  for (const AttributedWait& wait : report->waits) {
    const bool known = wait.source != kNoNode;
    const EventId event = (*graph)->event(wait.node);
    listing.add({wait.begin_ns, wait.length_ns(), words_or_null(track_name(**graph, (*graph)->lane(wait.node).track)),
                 words_or_null(strings.text((*graph)->names[wait.node])), std::string(wait_reason_name(wait.reason)),
                 words_or_null(semaphore_text(wait)),
                 known ? words_or_null(strings.text((*graph)->names[wait.source])) : SqlValue(),
                 known ? words_or_null(track_name(**graph, (*graph)->lane(wait.source).resource)) : SqlValue(),
                 line_cell(**graph, wait.node), static_cast<std::int64_t>(wait.recorded ? 1 : 0),
                 static_cast<std::int64_t>(event),
                 known ? SqlValue(static_cast<std::int64_t>((*graph)->whole_event(wait.source))) : SqlValue()},
                event);
  }
  listing.note = note_of(*report);
  return listing;
}

Result<Listing> list_wait_causes(const QueryContext& query, const ListingRequest& request) {
  const auto by = chosen_by(kWaitBys, request.by);
  if (!by) return by.error();
  const auto graph = session_graph(query);
  if (!graph) return graph.error();
  const auto report = passing_waits(query, **graph, request.filter);
  if (!report) return report.error();
  const std::string name = *by == WaitsBy::reason ? "cause" : *by == WaitsBy::source ? "signaller" : "line";
  Listing listing({{name,
                    *by == WaitsBy::reason   ? "Cause"
                    : *by == WaitsBy::source ? "Ended by"
                                             : "Line",
                    "", ""},
                   {"count", "Waits", "", ""},
                   {"wait_ns", "Waited", "ns", "Of all together"},
                   {"share", "Share", "share", "Of all waiting", true}});
  for (const WaitSum& sum : sum_waits(**graph, *report, *by)) {
    listing.add({words_or_null(sum.label), static_cast<std::int64_t>(sum.count), sum.wait_ns,
                 path_share_of(sum.wait_ns, report->total_ns)});
  }
  listing.note = note_of(*report);
  return listing;
}

}  // namespace accelscope::app
