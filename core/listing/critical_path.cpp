#include "core/listing/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>

#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/replay/bounds.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/capped.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/scan/event_mask.h"
#include "core/scan/event_reader.h"

namespace accelscope::listing {
namespace {

template <typename By>
struct ByName {
  std::string_view name;
  By by;
};
constexpr std::array<ByName<analysis::PathBy>, 5> kPathDivisions = {{{"resource", analysis::PathBy::resource},
                                                                     {"line", analysis::PathBy::line},
                                                                     {"name", analysis::PathBy::name},
                                                                     {"kind", analysis::PathBy::kind},
                                                                     {"wait", analysis::PathBy::wait}}};
constexpr std::array<ByName<analysis::WaitsBy>, 3> kWaitDivisions = {{{"cause", analysis::WaitsBy::reason},
                                                                      {"signaller", analysis::WaitsBy::source},
                                                                      {"line", analysis::WaitsBy::line}}};

template <typename By, std::size_t kCount>
Result<By> chosen_division(const std::array<ByName<By>, kCount>& all, const std::vector<std::string>& by) {
  if (by.empty()) return all.front().by;
  std::string names;
  for (const ByName<By>& each : all) {
    if (by.size() == 1 && by.front() == each.name) return each.by;
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return Error{fmt::format("--by {}: it takes one of {}", fmt::join(by, ","), names)};
}

std::string_view path_track_name(const analysis::WorkGraph& graph, TrackNumber number) {
  const TrackSnapshot* track = graph.snapshot->find_track(number);
  return track == nullptr ? std::string_view() : std::string_view(track->track->name);
}
double path_part(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Result<analysis::WaitReport> passing_waits(const QueryContext& query, const analysis::WorkGraph& graph,
                                           const EventFilter& filter) {
  auto report = analysis::attribute_waits(graph, filter.range.value_or(TimeRange{}), query.pool, query.control);
  if (!report || !query.mask) return report;
  std::erase_if(report->waits, [&](const analysis::AttributedWait& wait) {
    return !query.mask->passes(*graph.snapshot, graph.event(wait.node));
  });
  report->total_ns = 0;
  report->without_source = 0;
  for (const analysis::AttributedWait& wait : report->waits) {
    report->total_ns = capped_sum(report->total_ns, wait.length_ns());
    report->without_source += wait.source == analysis::kNoNode ? 1 : 0;
  }
  return report;
}

std::string waits_note(const analysis::WaitReport& report) {
  if (report.waits.empty()) return "no event of the range says that it waited, and no stream stood idle";
  return fmt::format("who ended it is known of {} of {} waits, {} in all",
                     format_count(report.waits.size() - report.without_source), format_count(report.waits.size()),
                     format_duration(report.total_ns));
}

Result<analysis::CriticalPath> asked_path(const QueryContext& query, const analysis::WorkGraph& graph,
                                          const EventFilter& filter) {
  const auto range = TRY(analysis::path_range(query, graph, filter.range));
  analysis::CriticalPath path = analysis::find_critical_path(graph, range);
  // Of a selection: what of the path its events and their waits are.
  if (query.mask) {
    std::erase_if(path.segments, [&](const analysis::PathSegment& segment) {
      return segment.node == analysis::kNoNode ||
             (!query.mask->passes(*graph.snapshot, graph.event(segment.node)) &&
              !query.mask->passes(*graph.snapshot, graph.whole_event(segment.node)));
    });
  }
  return path;
}

// What of the session the path is of.
std::string basis_of(const analysis::WorkGraph& graph, const analysis::CriticalPath& path) {
  if (graph.count() == 0) return "nothing of the session works, moves or waits";
  std::int64_t listed_ns = 0;
  for (const analysis::PathSegment& segment : path.segments) listed_ns += segment.length_ns();
  const std::string length = format_duration(path.range.length_ns());
  std::string text = analysis::path_most_text(graph, path);
  if (!text.empty()) text += "; ";
  text += listed_ns == path.range.length_ns()
              ? length + " in all, nothing left over"
              : fmt::format("{} of {} are of what passes", format_duration(listed_ns), length);
  if (path.range.begin_ns > graph.begin_of_all_ns && path.range.end_ns == graph.end_of_all_ns) {
    text += "; " + format_duration(path.range.begin_ns - graph.begin_of_all_ns) + " lie before it";
  }
  return text;
}

// There are many rows of these: each cell is made in its place.
void reserve_rows(Listing& listing, std::size_t rows) {
  listing.rows.cells.reserve(rows * listing.columns.size());
  listing.targets.reserve(rows);
}
template <typename... Cells>
void add_row(Listing& listing, EventId event, Cells&&... cells) {
  assert(sizeof...(cells) == listing.columns.size());
  (listing.rows.cells.emplace_back(std::forward<Cells>(cells)), ...);
  if (event == kNoEvent) {
    listing.targets.emplace_back();
  } else {
    listing.targets.emplace_back(event);
  }
}

}  // namespace

SqlValue path_name_cell(const analysis::WorkGraph& graph, analysis::NodeIndex node) {
  return node == analysis::kNoNode ? SqlValue() : text_cell(graph.snapshot->strings->text(graph.names[node]));
}
SqlValue path_line_cell(const analysis::WorkGraph& graph, analysis::NodeIndex node) {
  if (node == analysis::kNoNode || graph.locations.empty()) return {};
  return text_cell(graph.snapshot->strings->text(graph.locations[node]));
}
SqlValue path_event_cell(const analysis::WorkGraph& graph, analysis::NodeIndex node) {
  return node == analysis::kNoNode ? SqlValue() : event_cell(graph.whole_event(node));
}

Listing path_listing(const analysis::WorkGraph& graph, const analysis::CriticalPath& path) {
  Listing listing({{"ts_ns", "Begin", "ns", "Since the session's start"},
                   {"dur_ns", "On the path", "ns", "Of it what lies on the path; all add up to the whole range"},
                   {"name", "What", "", "The event, or of a gap the event that waited", {.names = true}},
                   {"resource", "Where", "", "Its queue, engine, stream or thread"},
                   {"cause", "Gap", "", "Why nothing of the path was under way: what the event waited for"},
                   {"line", "Line", "", ""},
                   {"event_id", "Event", "", "", {.aside = true}},
                   {"id", "Working event", "", "The event, unless it is a gap", {.aside = true}},
                   {"waiting_id", "Waiting event", "", "The event, if it is a gap", {.aside = true}},
                   {"ord", "Place", "", "In the path, from 0", {.aside = true}}});
  reserve_rows(listing, path.segments.size());
  std::int64_t place = 0;
  for (const analysis::PathSegment& segment : path.segments) {
    const bool known = segment.node != analysis::kNoNode;
    const EventId event = known ? graph.whole_event(segment.node) : kNoEvent;
    add_row(listing, event, segment.begin_ns, segment.length_ns(), path_name_cell(graph, segment.node),
            known ? text_cell(path_track_name(graph, graph.lane(segment.node).resource)) : SqlValue(),
            segment.is_gap ? text_cell(analysis::wait_reason_name(segment.reason)) : SqlValue(),
            path_line_cell(graph, segment.node), event_cell(event), event_cell(segment.is_gap ? kNoEvent : event),
            event_cell(segment.is_gap ? event : kNoEvent), place++);
  }
  return listing;
}

Listing shares_listing(const analysis::WorkGraph& graph, const analysis::CriticalPath& path, analysis::PathBy by) {
  const auto named =
      std::find_if(kPathDivisions.begin(), kPathDivisions.end(), [&](const auto& each) { return each.by == by; });
  const std::string title = by == analysis::PathBy::line ? "Line" : by == analysis::PathBy::name ? "What" : "Resource";
  Listing listing({{std::string(named->name), title, "", "Of gaps: what the events of the path waited for"},
                   {"gap", "Gap", "", "1: nothing of the path was under way"},
                   {"count", "Events", "", "Events of the path, or gaps"},
                   {"path_ns", "On the path", "ns", "They add up to the whole range"},
                   {"share", "Share", "share", "Of the path", {.bar = true}}});
  for (const analysis::PathShare& share : analysis::path_shares(graph, path, by)) {
    const EventId first = share.first == analysis::kNoNode ? kNoEvent : graph.whole_event(share.first);
    listing.add({text_cell(share.label), flag_cell(share.is_gap), static_cast<std::int64_t>(share.count),
                 share.length_ns, path_part(share.length_ns, path.range.length_ns())},
                first == kNoEvent ? ListingTarget() : ListingTarget(first));
  }
  return listing;
}

Result<Listing> list_critical_path(const QueryContext& query, const ListingRequest& request) {
  const auto graph = TRY(analysis::session_graph(query));
  const auto path = TRY(asked_path(query, *graph, request.filter));
  Listing listing = path_listing(*graph, path);
  listing.note = basis_of(*graph, path);
  return listing;
}

Result<Listing> list_path_shares(const QueryContext& query, const ListingRequest& request) {
  const auto by = TRY(chosen_division(kPathDivisions, request.by));
  const auto graph = TRY(analysis::session_graph(query));
  const auto path = TRY(asked_path(query, *graph, request.filter));
  Listing listing = shares_listing(*graph, path, by);
  listing.note = basis_of(*graph, path);
  return listing;
}

Result<Listing> list_waits(const QueryContext& query, const ListingRequest& request) {
  const auto graph = TRY(analysis::session_graph(query));
  const auto report = TRY(passing_waits(query, *graph, request.filter));
  Listing listing(
      {{"ts_ns", "Begin", "ns", "Since the session's start"},
       {"dur_ns", "Waited", "ns", ""},
       {"track", "Where", "", "The engine, stream or thread that waited"},
       {"name", "What", "", "The event that waited", {.names = true}},
       {"cause", "Cause", "", "semaphore, dma, queue, barrier, dependency, host, issue or unknown"},
       {"condition", "Condition", "", "The semaphore and the value that it waited for"},
       {"signaller", "Ended by", "", "The event that ended the wait"},
       {"signaller_track", "On", "", ""},
       {"line", "Line", "", "Of the event that waited"},
       {"recorded", "Recorded", "", "1: the source says that it waited; 0: the stream stood idle", {.aside = true}},
       {"confidence", "Known by", "",
        "recorded: the source says what ended it; matched: the order of its queue or the values of its semaphore leave "
        "no other; inferred: it ended where the wait did"},
       {"event_id", "Event", "", "", {.aside = true}},
       {"signaller_id", "Signaller", "", "", {.aside = true}},
       {"track_id", "Track", "", "", {.aside = true}},
       {"semaphore", "Semaphore", "", "", {.aside = true}},
       {"value", "Value", "", "Of the semaphore, that it waited for", {.aside = true}}});
  reserve_rows(listing, report.waits.size());
  for (const analysis::AttributedWait& wait : report.waits) {
    const bool known = wait.source != analysis::kNoNode, has_semaphore = wait.semaphore != kNone;
    const EventId event = graph->event(wait.node);
    add_row(listing, event, wait.begin_ns, wait.length_ns(),
            text_cell(path_track_name(*graph, graph->lane(wait.node).track)), path_name_cell(*graph, wait.node),
            text_cell(analysis::wait_reason_name(wait.reason)), text_cell(analysis::semaphore_text(wait)),
            path_name_cell(*graph, wait.source),
            known ? text_cell(path_track_name(*graph, graph->lane(wait.source).resource)) : SqlValue(),
            path_line_cell(*graph, wait.node), flag_cell(wait.recorded),
            known ? text_cell(analysis::edge_confidence_name(wait.confidence)) : SqlValue(), event_cell(event),
            path_event_cell(*graph, wait.source), count_cell(graph->track(wait.node)),
            has_semaphore ? count_cell(wait.semaphore) : SqlValue(), has_semaphore ? SqlValue(wait.value) : SqlValue());
  }
  listing.note = waits_note(report);
  return listing;
}

namespace {

constexpr std::size_t kMostChainSteps = 1'000;  // each way, unless all are asked for

// The events of a chain in their order, its own event at `own`.
struct ChainEvents {
  std::vector<EventRecord> events;
  std::vector<StringId> through;  // to the next event; one less
  std::size_t own = 0;
};

Result<ChainEvents> read_chain(const analysis::DependencyChain& chain, EventReader& reader) {
  ChainEvents read;
  const auto add = [&](EventId event) -> Result<void> {
    read.events.push_back(TRY(reader.read(event)));
    return {};
  };
  for (auto link = chain.before.rbegin(); link != chain.before.rend(); ++link) {
    TRY(add(link->source));
    read.through.push_back(link->kind);
  }
  read.own = read.events.size();
  TRY(add(chain.event));
  for (const analysis::Dependency& link : chain.after) {
    read.through.push_back(link.kind);
    TRY(add(link.target));
  }
  return read;
}

}  // namespace

Result<Listing> list_dependency_chain(const QueryContext& query, const ListingRequest& request) {
  Listing listing({{"step", "Step", "", "0: the event itself; below 0: what it waited for, above: what waited for it"},
                   {"name", "Event", "", "", {.names = true}},
                   {"track", "Where", "", "The engine, queue, stream or thread"},
                   {"ts_ns", "Begin", "ns", "Since the session's start"},
                   {"dur_ns", "Duration", "ns", ""},
                   {"gap_ns", "To the next", "ns", "From its end to the beginning of the next; below 0: they overlap"},
                   {"from_event_ns", "From the event", "ns", "From the beginning of the event itself to its own"},
                   {"through", "Through", "", "What makes the next wait for it"},
                   {"event_id", "Id", "", "", {.aside = true}}});
  EventId event = kNoEvent;
  if (request.by.empty()) {
    listing.note = "name the event: --by ID, as slice.id has it";
    return listing;
  }
  if (request.by.size() != 1 || !read_number(request.by.front(), event))
    return Error{fmt::format("--by {}: the id of one event, as slice.id has it", fmt::join(request.by, ","))};
  const auto dependencies = TRY(analysis::session_dependencies(query));
  EventReader reader(query.store, query.snapshot);
  const std::size_t limit = request.all_rows ? analysis::kMostChainLinks : kMostChainSteps;
  const auto chain = analysis::dependency_chain(*dependencies, event, reader, limit, query.control);
  const ChainEvents read = TRY(read_chain(chain, reader));
  for (std::size_t i = 0; i < read.events.size(); ++i) {
    const EventRecord& each = read.events[i];
    const bool is_last = i + 1 == read.events.size();
    const TrackSnapshot* track = query.snapshot->find_track(each.lane->track);
    listing.add(
        {static_cast<std::int64_t>(i) - static_cast<std::int64_t>(read.own), text_cell(each.name_text),
         track == nullptr ? SqlValue() : text_cell(track->track->name), each.begin_ns, each.end_ns - each.begin_ns,
         is_last ? SqlValue() : SqlValue(read.events[i + 1].begin_ns - each.end_ns),
         each.begin_ns - read.events[read.own].begin_ns,
         is_last ? SqlValue() : text_cell(query.snapshot->strings->text(read.through[i])), event_cell(each.id)},
        each.id);
  }
  if (const std::uint64_t cut = chain.before_total + chain.after_total - read.through.size(); cut > 0)
    listing.note = fmt::format("{} steps are left out", format_count(cut));
  if (read.through.empty()) listing.note = "nothing of the session depends on it or the other way round";
  return listing;
}

Result<Listing> list_wait_causes(const QueryContext& query, const ListingRequest& request) {
  const auto by = TRY(chosen_division(kWaitDivisions, request.by));
  const auto graph = TRY(analysis::session_graph(query));
  return causes_listing(query, *graph, request.filter, by);
}

Result<Listing> causes_listing(const QueryContext& query, const analysis::WorkGraph& graph, const EventFilter& filter,
                               analysis::WaitsBy by) {
  const auto report = TRY(passing_waits(query, graph, filter));
  const std::string name = by == analysis::WaitsBy::reason   ? "cause"
                           : by == analysis::WaitsBy::source ? "signaller"
                                                             : "line";
  Listing listing({{name,
                    by == analysis::WaitsBy::reason   ? "Cause"
                    : by == analysis::WaitsBy::source ? "Ended by"
                                                      : "Line",
                    "", ""},
                   {"count", "Waits", "", ""},
                   {"wait_ns", "Waited", "ns", "Of all together"},
                   {"share", "Share", "share", "Of all waiting", {.bar = true}}});
  for (const analysis::WaitSum& sum : analysis::sum_waits(graph, report, by)) {
    listing.add({text_cell(sum.label), static_cast<std::int64_t>(sum.count), sum.wait_ns,
                 path_part(sum.wait_ns, report.total_ns)});
  }
  listing.note = waits_note(report);
  return listing;
}

Result<Listing> list_bounds(const QueryContext& query, const ListingRequest& request) {
  const auto graph = TRY(analysis::session_graph(query));
  const auto path = TRY(asked_path(query, *graph, request.filter));
  const auto bounds = TRY(analysis::bounds_of_path(query, *graph, path, request.peaks));
  Listing listing({{"bound", "Bound", "", "memory, compute, issue, dependency, host, imbalance or unknown"},
                   {"path_ns", "On the path", "ns", "Time of the critical path that is put down to it"},
                   {"share", "Share", "share", "Of the path", {.bar = true}},
                   {"ideal_ns", "Ideal", "ns", "How long the range would take at least if nothing else bound it"},
                   {"rests_on", "Rests on", "", "What the ideal was made of, or why it is not known"}});
  if (graph->count() == 0) {
    listing.note = basis_of(*graph, path);
    return listing;
  }
  std::int64_t total_ns = 0;
  for (const analysis::BoundFigure& bound : bounds) total_ns += bound.path_ns;
  for (const analysis::BoundFigure& bound : bounds) {
    listing.add({std::string(analysis::path_bound_name(bound.bound)), bound.path_ns, path_part(bound.path_ns, total_ns),
                 known_cell(bound.ideal_ns), text_cell(bound.rests_on)});
  }
  listing.note = analysis::bounds_text(bounds);
  return listing;
}

Result<Listing> list_path_gaps(const QueryContext& query, const ListingRequest& request) {
  const auto graph = TRY(analysis::session_graph(query));
  const auto path = TRY(asked_path(query, *graph, request.filter));
  return gaps_listing(query, *graph, path);
}

Result<Listing> gaps_listing(const QueryContext& query, const analysis::WorkGraph& graph,
                             const analysis::CriticalPath& path) {
  const auto gaps = TRY(analysis::path_gaps(query, graph, path));
  Listing listing({{"saving_ns", "Saves", "ns",
                    "Of the total, if what waits began at once when it could: by a replay; empty: unknown"},
                   {"gap_ns", "Gap", "ns", "Time of the critical path in which it waits"},
                   {"count", "Gaps", "", ""},
                   {"cause", "Cause", "", "What it waits for"},
                   {"name", "What", "", "The event that waits", {.names = true}},
                   {"line", "Line", "", "Of the event that waits"},
                   {"event_id", "Longest", "", "The event that waits longest", {.aside = true}}});
  const StringPool& strings = *graph.snapshot->strings;
  for (const analysis::PathGap& gap : gaps) {
    const EventId event = gap.longest == analysis::kNoNode ? kNoEvent : graph.whole_event(gap.longest);
    listing.add({known_cell(gap.saving_ns), gap.gap_ns, static_cast<std::int64_t>(gap.count),
                 std::string(analysis::wait_reason_name(gap.reason)), text_cell(strings.text(gap.name)),
                 gap.location == kNone ? SqlValue() : text_cell(strings.text(gap.location)), event_cell(event)},
                event);
  }
  listing.note = graph.count() == 0 ? basis_of(graph, path)
                 : gaps.empty()     ? "no gap on the critical path"
                                    : "savings do not add up: each is of closing these gaps alone";
  return listing;
}

Result<Listing> list_slack(const QueryContext& query, const ListingRequest& request) {
  const auto graph = TRY(analysis::session_graph(query));
  const auto slack = TRY(analysis::event_slack(*graph, query.control));
  Listing listing({{"ts_ns", "Begin", "ns", "Since the session's start"},
                   {"dur_ns", "Duration", "ns", ""},
                   {"slack_ns", "Slack", "ns", "It could end so much later without moving the end of the session"},
                   {"track", "Where", "", ""},
                   {"name", "What", "", "", {.names = true}},
                   {"line", "Line", "", ""},
                   {"event_id", "Event", "", "", {.aside = true}}});
  const StringPool& strings = *graph->snapshot->strings;
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  constexpr std::size_t kMostSlackRows = 1'000'000;
  std::size_t left_out = 0;
  for (analysis::NodeIndex node = 0; node < graph->count(); ++node) {
    if (graph->end_ns[node] <= range.begin_ns || graph->begin_ns[node] >= range.end_ns) continue;
    const EventId event = graph->event(node);
    if (query.mask && !query.mask->passes(*graph->snapshot, event)) continue;
    if (listing.rows.row_count() >= kMostSlackRows) {
      ++left_out;
      continue;
    }
    listing.add(
        {graph->begin_ns[node], graph->end_ns[node] - graph->begin_ns[node], slack[node],
         text_cell(path_track_name(*graph, graph->lane(node).track)), text_cell(strings.text(graph->names[node])),
         path_line_cell(*graph, node), static_cast<std::int64_t>(event)},
        event);
  }
  if (graph->count() == 0) listing.note = "nothing of the session works, moves or waits";
  if (left_out > 0) listing.note = fmt::format("{} more events are left out: narrow the range", format_count(left_out));
  return listing;
}

namespace {

constexpr std::size_t kMostGapRows = 1'000'000;

std::vector<analysis::WorkGap> gaps_by_length(const analysis::WorkGraph& graph, const TimeRange& range) {
  std::vector<analysis::WorkGap> gaps = analysis::device_gaps(graph, range);
  std::stable_sort(gaps.begin(), gaps.end(), [](const analysis::WorkGap& a, const analysis::WorkGap& b) {
    return a.length_ns() > b.length_ns();
  });
  return gaps;
}

// What a session's shares are of, where nobody says.
Result<TimeRange> gaps_range(const QueryContext& query, const std::optional<TimeRange>& wanted) {
  if (wanted && !(*wanted == TimeRange{})) {
    return TimeRange{std::max(query.snapshot->begin_ns, wanted->begin_ns),
                     std::min(query.snapshot->end_ns, wanted->end_ns)};
  }
  const auto terms = TRY(analysis::session_terms(query));
  return terms.span;
}

// All of them, added up by what the device, the host or the line was.
Listing summed_gaps(const analysis::WorkGraph& graph, const std::vector<analysis::WorkGap>& gaps,
                    const TimeRange& range, std::string_view by) {
  Listing listing({{std::string(by),
                    by == "device" ? "Device"
                    : by == "line" ? "Line"
                                   : "Host",
                    "", ""},
                   {"count", "Gaps", "", ""},
                   {"gap_ns", "Idle", "ns", "Of all these gaps together"},
                   {"share", "Share", "share", "Of the range, of one device", {.bar = true}}});
  const analysis::TrackDevices devices(*graph.snapshot);
  struct Sum {
    SqlValue label;
    std::int64_t count = 0, ns = 0;
  };
  std::map<std::string, Sum> sums;
  for (const analysis::WorkGap& gap : gaps) {
    const SqlValue label = by == "device" ? text_cell(devices.label(gap.device))
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

Result<Listing> idle_listing(const QueryContext& query, const analysis::WorkGraph& graph, const TimeRange& range,
                             std::size_t most) {
  Listing listing({{"ts_ns", "Begin", "ns", "Since the session's start"},
                   {"dur_ns", "Length", "ns", ""},
                   {"device", "Device", "", "On which nothing is under way"},
                   {"host", "Host", "", "The innermost call that held up for longest what ends it", {.names = true}},
                   {"line", "Line", "", "Of this call, or of the one around it that has one"},
                   {"launched_by", "Ended by", "", "The call that started what comes after it", {.names = true}},
                   {"saving_ns", "Saves", "ns",
                    "Of the total, without it and what the host did in it: by a replay; empty: not known"},
                   {"before", "Before it", "", "What ended last", {.names = true}},
                   {"after", "After it", "", "What the device does next", {.names = true}},
                   {"host_id", "Host event", "", "", {.aside = true}},
                   {"launch_id", "Launch", "", "", {.aside = true}}});
  const std::vector<analysis::WorkGap> gaps = gaps_by_length(graph, range);
  const analysis::TrackDevices devices(*graph.snapshot);
  std::int64_t total_ns = 0;
  for (const analysis::WorkGap& gap : gaps) total_ns += gap.length_ns();
  const std::size_t replays = analysis::most_replays(graph);
  for (std::size_t i = 0; i < std::min(gaps.size(), most); ++i) {
    const analysis::WorkGap& gap = gaps[i];
    SqlValue saving;
    if (i < replays && (gap.host_on_path || gap.host == analysis::kNoNode)) {
      const auto without = TRY(analysis::saving_without_gap(query, graph, gap));
      saving = without;
    }
    const analysis::NodeIndex shown = gap.after != analysis::kNoNode ? gap.after : gap.before;
    listing.add({gap.range.begin_ns, gap.length_ns(), text_cell(devices.label(gap.device)),
                 path_name_cell(graph, gap.host), path_line_cell(graph, gap.host), path_name_cell(graph, gap.launch),
                 std::move(saving), path_name_cell(graph, gap.before), path_name_cell(graph, gap.after),
                 path_event_cell(graph, gap.host), path_event_cell(graph, gap.launch)},
                shown == analysis::kNoNode ? ListingTarget() : ListingTarget(graph.whole_event(shown)));
  }
  if (gaps.empty()) {
    listing.note = "no device of the range stands idle, or none works in it";
  } else {
    listing.note =
        fmt::format("{} gaps of {} in all{}", format_count(gaps.size()), format_duration(total_ns),
                    gaps.size() > most ? fmt::format("; the {} longest are listed", format_count(most)) : "");
  }
  return listing;
}

Result<Listing> list_idle(const QueryContext& query, const ListingRequest& request) {
  const auto graph = TRY(analysis::session_graph(query));
  const auto range = TRY(gaps_range(query, request.filter.range));
  if (request.by.empty()) return idle_listing(query, *graph, range, kMostGapRows);
  const std::string& by = request.by.front();
  if (request.by.size() > 1 || (by != "device" && by != "host" && by != "line")) {
    return Error{fmt::format("--by {}: it takes one of device, host, line", fmt::join(request.by, ","))};
  }
  return summed_gaps(*graph, analysis::device_gaps(*graph, range), range, by);
}

}  // namespace accelscope::listing
