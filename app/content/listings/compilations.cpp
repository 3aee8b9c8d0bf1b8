#include "app/content/listings/compilations.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/content/selection_terms.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

// How calls are told by program, call and step.
std::string_view level_text(CallLevel level) noexcept {
  switch (level) {
    case CallLevel::call:
      return "call";
    case CallLevel::program:
      return "program";
    case CallLevel::step:
      break;
  }
  return "step";
}

SqlValue name_of_track(const Snapshot& snapshot, TrackNumber number) {
  const TrackSnapshot* track = snapshot.find_track(number);
  return track == nullptr ? SqlValue() : SqlValue(track->track->name);
}

// "python3 (7)", "rank 3 python3 (7)"; of lines the program that printed them.
SqlValue process_of_track(const Snapshot& snapshot, TrackNumber number) {
  const TrackSnapshot* track = snapshot.find_track(number);
  if (track == nullptr) return {};
  const std::string& host = track->track->host;
  const std::string& device = track->track->device;
  const std::string both = device.empty() || host.empty() ? device + host : device + " " + host;
  return both.empty() ? SqlValue() : SqlValue(both);
}

TrackNumber track_of_event(const Snapshot& snapshot, EventId event) {
  const LaneSnapshot* lane = snapshot.find_lane(lane_of(event));
  return lane == nullptr ? kNone : lane->track;
}

SqlValue share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? SqlValue(static_cast<double>(part) / static_cast<double>(whole)) : SqlValue();
}

// Columns that calls and functions share.
std::vector<ListingColumn> cost_columns() {
  return {{"span_ns", "Takes", "ns", "From its begin to its end, within the range"},
          {"host_ns", "Host", "ns", "Of it what is neither compiling nor dispatching, waiting included"},
          {"compile_ns", "Compile", "ns",
           "Of it what compiles: by a compiler's lines, by the names of calls or, for a call that took far longer than "
           "the others, what it took beyond their median"},
          {"dispatch_ns", "Dispatch", "ns", "Of it what the calls of the driver take that launch work"},
          {"kernel_ns", "Kernels", "ns",
           "Time in which a kernel or copy that it launched ran, whenever that was: beside the call, not within it"},
          {"wait_ns", "Waits", "ns", "Of its host time what calls take that wait", false, true},
          {"compile_share", "Compile share", "share", "Compiling, of the time it takes", true, true},
          {"launches", "Launches", "", "Calls of the driver that launch work"},
          {"works", "Kernels launched", "", "Kernels and copies that these launched", false, true}};
}

void append_cost(std::vector<SqlValue>& cells, const CallCost& cost) {
  for (const std::int64_t ns :
       {cost.span_ns, cost.host_ns, cost.compile_ns, cost.dispatch_ns, cost.kernel_ns, cost.wait_ns})
    cells.emplace_back(ns);
  cells.push_back(share_of(cost.compile_ns, cost.span_ns));
  cells.emplace_back(static_cast<std::int64_t>(cost.launches));
  cells.emplace_back(static_cast<std::int64_t>(cost.works));
}

void insert_costs(std::vector<ListingColumn>& columns) {
  std::vector<ListingColumn> costs = cost_columns();
  columns.insert(columns.end(), std::make_move_iterator(costs.begin()), std::make_move_iterator(costs.end()));
}

std::string notes_of(const Compilations& all) {
  if (all.calls.list.empty()) return "no call of a host recurs and launches work";
  std::string note = "rows of steps, calls and compiled programs lie within each other: their times do not add up";
  if (all.calls.left_out > 0) note += fmt::format("; {} calls are left out", format_count(all.calls.left_out));
  if (all.calls.waits_left_out > 0)
    note += fmt::format("; {} waits are left out", format_count(all.calls.waits_left_out));
  return note;
}

// All calls of the function: by their name where all have one, else by the first.
ListingTarget target_of(const Compilations& all, const Snapshot& snapshot, const std::vector<CallRow>& rows,
                        const CallFunctionRow& function, const EventFilter& within) {
  const LaunchingCall& first = all.calls.list[rows[function.rows.front()].call];
  EventFilter events = within;
  events.tracks.clear();
  for (const std::size_t row : function.rows) {
    const LaunchingCall& call = all.calls.list[rows[row].call];
    if (call.name != first.name) return first.event;
    events.tracks.push_back(track_of_event(snapshot, call.event));
  }
  std::sort(events.tracks.begin(), events.tracks.end());
  events.tracks.erase(std::unique(events.tracks.begin(), events.tracks.end()), events.tracks.end());
  events.terms.push_back({search_of_text("name", snapshot.strings->text(first.name)), false});
  return events;
}

Result<std::shared_ptr<const Compilations>> compilations_of(const QueryContext& query) {
  QueryContext whole = query;
  whole.mask = nullptr;
  const auto dependencies = session_dependencies(whole);
  if (!dependencies) return dependencies.error();
  return find_compilations(query, dependencies->get());
}

}  // namespace

std::int64_t session_part_ns(const Snapshot& snapshot, const TimeRange& range) {
  return TimeRange{std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)}.length_ns();
}

Listing compilations_listing(const Compilations& all, const Snapshot& snapshot, const TimeRange& range) {
  Listing listing(
      {{"kind", "What happened", "", "compile, recompile: what had been compiled before, or cache hit"},
       {"what", "Of", "", "The module, graph or function; where nothing names one, the call that compiles"},
       {"begin_ns", "Begin", "ns", "A line's time is when it was printed"},
       {"duration_ns", "Takes", "ns", "Of a line without its partner nothing is known"},
       {"compile_ns", "Compile", "ns",
        "Of that compiling; of a long call what it took beyond the median of the others"},
       {"number", "No.", "", "Which compilation, or call, of the same in its process"},
       {"of", "Of so many", "", "How many there are"},
       {"basis", "Rests on", "",
        "line: a compiler's line in the output; name: the name of a call; first call of n: it took at least "
        "10 times and 10 ms longer than the median of the others, which setting up a library can do too"},
       {"process", "Process", "", ""},
       {"track", "Thread", "", "Or the stream of output that the line is of"},
       {"event_id", "Event", "", "That says so", false, true}});
  std::vector<const CompileEvent*> shown;
  for (const CompileEvent& event : all.events) {
    if (range.holds(event.begin_ns, event.end_ns)) shown.push_back(&event);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const CompileEvent* a, const CompileEvent* b) {
    const bool a_hits = a->kind == CompileKind::cache_hit, b_hits = b->kind == CompileKind::cache_hit;
    return a_hits != b_hits ? b_hits : !a_hits && a->cost_ns > b->cost_ns;
  });
  for (const CompileEvent* event : shown) {
    const bool timed = event->end_ns > event->begin_ns, hits = event->kind == CompileKind::cache_hit;
    listing.add({std::string(kind_text(event->kind)), event->what.empty() ? SqlValue() : SqlValue(event->what),
                 event->begin_ns, timed ? SqlValue(event->end_ns - event->begin_ns) : SqlValue(),
                 timed && !hits ? SqlValue(event->cost_ns) : SqlValue(), static_cast<std::int64_t>(event->number),
                 static_cast<std::int64_t>(event->of), basis_text(*event), process_of_track(snapshot, event->track),
                 name_of_track(snapshot, event->track), static_cast<std::int64_t>(event->event)},
                event->event);
  }
  if (all.left_out > 0) listing.note = fmt::format("{} events are left out", format_count(all.left_out));
  return listing;
}

Listing calls_listing(const Compilations& all, const Snapshot& snapshot, const std::vector<CallRow>& rows) {
  std::vector<ListingColumn> columns = {
      {"function", "Function", "", "Its name without the number of the call", false, false, true},
      {"level", "Is a", "",
       "call: the outermost recurring one of its thread that launches work; program: a call of a compiled one, "
       "wherever it lies; step: an annotation"},
      {"call", "No.", "", "Which call of the function in its process"},
      {"begin_ns", "Begin", "ns", ""}};
  insert_costs(columns);
  columns.push_back({"track", "Thread", "", ""});
  columns.push_back({"event_id", "Event", "", "The call", false, true});
  Listing listing(std::move(columns));
  for (const CallRow& row : rows) {
    const LaunchingCall& call = all.calls.list[row.call];
    std::vector<SqlValue> cells = {all.calls.functions[call.function], std::string(level_text(call.level)),
                                   static_cast<std::int64_t>(all.facts[row.call].number), call.begin_ns};
    append_cost(cells, row.cost);
    cells.push_back(name_of_track(snapshot, track_of_event(snapshot, call.event)));
    cells.emplace_back(static_cast<std::int64_t>(call.event));
    listing.add(std::move(cells), call.event);
  }
  listing.note = notes_of(all);
  return listing;
}

Listing functions_listing(const Compilations& all, const Snapshot& snapshot, const std::vector<CallRow>& rows,
                          const std::vector<CallFunctionRow>& functions, const TimeRange& range,
                          const EventFilter& within) {
  std::vector<ListingColumn> columns = {
      {"function", "Function", "", "Its name without the number of the call", false, false, true},
      {"level", "Is a", "",
       "call: the outermost recurring one of a thread that launches work; program: a call of a compiled one, "
       "wherever it lies; step: an annotation"},
      {"calls", "Calls", "", "In the range"},
      {"share", "Share", "share", "Of the range; of threads at once it can be more than all", true}};
  insert_costs(columns);
  columns.push_back({"first_ns", "First", "ns", "Its first call, where that is in the range"});
  columns.push_back({"median_ns", "Median", "ns", "Of its other calls"});
  columns.push_back({"rest_ns", "Rest", "ns", "All others together"});
  columns.push_back({"compiled", "Compiled in", "", "Calls in which something compiled"});
  columns.push_back({"process", "Process", "", ""});
  columns.push_back({"event_id", "First event", "", "Its first call in the range", false, true});
  Listing listing(std::move(columns));
  const std::int64_t range_ns = session_part_ns(snapshot, range);
  for (const CallFunctionRow& function : functions) {
    const LaunchingCall& first = all.calls.list[rows[function.rows.front()].call];
    const bool any_other = function.rows.size() > (function.has_first ? 1 : 0);
    std::vector<SqlValue> cells = {all.calls.functions[function.function], std::string(level_text(function.level)),
                                   static_cast<std::int64_t>(function.rows.size()),
                                   share_of(function.sum.span_ns, range_ns)};
    append_cost(cells, function.sum);
    cells.push_back(function.has_first ? SqlValue(function.first_ns) : SqlValue());
    cells.push_back(any_other ? SqlValue(function.median_ns) : SqlValue());
    cells.emplace_back(function.rest_ns);
    cells.emplace_back(static_cast<std::int64_t>(function.compiled));
    cells.push_back(process_of_track(snapshot, track_of_event(snapshot, first.event)));
    cells.emplace_back(static_cast<std::int64_t>(first.event));
    listing.add(std::move(cells), target_of(all, snapshot, rows, function, within));
  }
  listing.note = notes_of(all);
  return listing;
}

std::string compile_text(const CompileSummary& summary, std::int64_t range_ns) {
  const auto counted = [](std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
  };
  if (summary.compilations == 0 && summary.hits == 0) return "Nothing tells of compiling";
  std::string text = "No compilation";
  if (summary.compilations > 0) {
    text = counted(summary.compilations, "compilation");
    if (summary.time_ns > 0) {
      text += fmt::format(" take{} {}", summary.compilations == 1 ? "s" : "",
                          format_duration(static_cast<double>(summary.time_ns)));
      if (range_ns > 0)
        text += fmt::format(", {} of {}",
                            format_share(static_cast<double>(summary.time_ns) / static_cast<double>(range_ns)),
                            format_duration(static_cast<double>(range_ns)));
    }
    if (summary.by_length > 0)
      text += fmt::format("; {} told by the length of calls alone", format_count(summary.by_length));
    text += summary.repeated > 0 ? fmt::format("; {} of what had been compiled before", format_count(summary.repeated))
                                 : std::string("; none of what had been compiled before");
  }
  if (summary.hits > 0) text += "; " + counted(summary.hits, "cache hit");
  return text;
}

Result<Listing> list_compilations(const QueryContext& query, const ListingRequest& request) {
  const auto found = compilations_of(query);
  if (!found) return found.error();
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  Listing listing = compilations_listing(**found, *query.snapshot, range);
  const std::string text = compile_text(sum_compilations(**found, range), session_part_ns(*query.snapshot, range));
  listing.note = listing.note.empty() ? text : text + "; " + listing.note;
  return listing;
}

Result<Listing> list_calls(const QueryContext& query, const ListingRequest& request) {
  const bool by_function = request.by == std::vector<std::string>{"function"};
  if (!request.by.empty() && !by_function && request.by != std::vector<std::string>{"call"})
    return Error{"--by: calls are listed by function or by call, one of both"};
  const auto found = compilations_of(query);
  if (!found) return found.error();
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  const std::vector<CallRow> rows = call_rows(**found, range);
  if (!by_function) return calls_listing(**found, *query.snapshot, rows);
  return functions_listing(**found, *query.snapshot, rows, call_functions(**found, rows), range, request.filter);
}

}  // namespace accelscope::app
