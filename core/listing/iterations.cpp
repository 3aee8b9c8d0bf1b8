#include "core/listing/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/terms.h"

namespace accelscope::listing {
namespace {

constexpr std::size_t kMostCompared = 3;
constexpr std::string_view kEveryKind = "*";  // regions of all kinds

// Columns that tell the loops of a session apart.
std::vector<ListingColumn> loop_columns(bool aside) {
  return {{"track", "Track", "", "That repeats, or that events within the iterations lie on", {.aside = aside}},
          {"device", "Device", "", "The track's", {.aside = true}},
          {"host", "Host", "", "The track's", {.aside = true}},
          {"level", "Level", "", "0: steps; 1: what repeats within them; and so on", {.aside = aside}}};
}

Listing listing_of_loops(std::vector<ListingColumn> columns, std::initializer_list<ListingColumn> more) {
  columns.insert(columns.end(), more);
  columns.push_back({"loop_id", "Loop", "", "Its number among the loops", {.aside = true}});
  return Listing(std::move(columns));
}

std::vector<SqlValue> loop_cells(const analysis::IterationList& list, std::size_t number, const Snapshot& snapshot) {
  const analysis::IterationLoop& loop = list.loops[number];
  std::vector<SqlValue> cells(3);
  if (const TrackSnapshot* track = snapshot.find_track(loop.track))
    cells = {track->track->name, track->track->device, track->track->host};
  cells.emplace_back(std::int64_t{loop.level});
  return cells;
}

std::string_view iteration_note(const analysis::FoldedLoop& folded, std::size_t i) {
  if (i < folded.warm_up) return "warm-up";
  return folded.iterations[i].outlier ? "outlier" : "";
}

// By which median an iteration is judged: that of the steady state.
SqlValue deviation_of(const analysis::FoldedLoop& folded, std::size_t i) {
  if (folded.steady_ns <= 0) return {};
  const double share = static_cast<double>(folded.iterations[i].length_ns()) / folded.steady_ns - 1;
  return std::round(share * 1e6) / 1e6;
}

void add_loop(Listing& listing, const analysis::IterationList& list, std::size_t number, const Snapshot& snapshot) {
  const analysis::IterationLoop& loop = list.loops[number];
  const analysis::FoldedLoop& folded = loop.folded;
  if (folded.iterations.empty()) return;
  const analysis::FoldedValues& values = folded.duration_ns;
  std::vector<SqlValue> cells = loop_cells(list, number, snapshot);
  cells.push_back(count_cell(folded.iterations.size()));
  cells.push_back(whole_cell(values.median));
  for (const double value : {values.p10, values.p90, values.min, values.max}) cells.push_back(whole_cell(value));
  cells.push_back(folded.interval_ns.count > 0 ? whole_cell(folded.interval_ns.median) : SqlValue());
  cells.push_back(count_cell(values.outliers));
  cells.push_back(count_cell(folded.warm_up));
  cells.emplace_back(folded.iterations.front().length_ns());
  cells.push_back(whole_cell(folded.steady_ns));
  cells.push_back(count_cell(folded.body.size() + folded.left_out));
  cells.emplace_back(std::round(loop.share * 1e6) / 1e6);
  for (const std::uint64_t value :
       {std::uint64_t{loop.partial}, std::uint64_t{loop.track}, std::uint64_t{loop.depth}, std::uint64_t{number}})
    cells.push_back(count_cell(value));
  EventFilter filter;
  filter.range = TimeRange{folded.iterations.front().begin_ns,
                           std::max(folded.iterations.back().end_ns, folded.iterations.front().begin_ns + 1)};
  filter.tracks.push_back(loop.track);
  listing.add(std::move(cells), std::move(filter));
}

void add_iterations(Listing& listing, const analysis::IterationList& list, std::size_t number, const Snapshot& snapshot,
                    std::size_t most) {
  const analysis::FoldedLoop& folded = list.loops[number].folded;
  for (std::size_t i = 0; i < folded.iterations.size() && listing.rows.row_count() < most; ++i) {
    const analysis::LoopIteration& each = folded.iterations[i];
    std::vector<SqlValue> cells = loop_cells(list, number, snapshot);
    cells.push_back(count_cell(i + 1));
    cells.emplace_back(each.begin_ns);
    cells.emplace_back(each.length_ns());
    cells.push_back(i + 1 < folded.iterations.size() ? SqlValue(folded.iterations[i + 1].begin_ns - each.begin_ns)
                                                     : SqlValue());
    cells.push_back(deviation_of(folded, i));
    cells.emplace_back(std::string(iteration_note(folded, i)));
    cells.push_back(flag_cell(i < folded.warm_up));
    cells.push_back(flag_cell(each.outlier));
    cells.push_back(count_cell(number));
    listing.add(
        std::move(cells),
        EventFilter{
            .range = TimeRange{each.begin_ns, std::max(each.end_ns, each.begin_ns + 1)}, .tracks = {}, .terms = {}});
  }
}

EventFilter operation_filter(const analysis::IterationLoop& loop, const analysis::LoopOperation& operation,
                             const Snapshot& snapshot) {
  EventFilter filter;
  filter.tracks.push_back(loop.track);
  if (operation.numbered.empty()) {
    filter.terms.push_back({search_of_text("name", snapshot.strings->text(operation.name)), false});
  } else {
    const std::string_view pattern = operation.numbered;
    filter.terms.push_back({beginning_term("name", pattern.substr(0, pattern.rfind('*'))), false});
  }
  return filter;
}

void add_body(Listing& listing, const analysis::IterationList& list, std::size_t number, const Snapshot& snapshot) {
  const analysis::IterationLoop& loop = list.loops[number];
  const analysis::FoldedLoop& folded = loop.folded;
  for (const analysis::LoopOperation& each : folded.body) {
    std::vector<SqlValue> cells = loop_cells(list, number, snapshot);
    cells.emplace_back(operation_text(each, snapshot));
    cells.push_back(whole_cell(each.offset_ns.median));
    cells.push_back(whole_cell(each.duration_ns.median));
    cells.push_back(folded.duration_ns.median > 0
                        ? SqlValue(std::round(each.duration_ns.median / folded.duration_ns.median * 1e6) / 1e6)
                        : SqlValue());
    for (const double value : {each.duration_ns.p10, each.duration_ns.p90, each.duration_ns.min, each.duration_ns.max})
      cells.push_back(whole_cell(value));
    cells.push_back(each.first_ns < 0 ? SqlValue() : SqlValue(each.first_ns));
    cells.push_back(count_cell(each.duration_ns.count));
    cells.push_back(count_cell(each.duration_ns.outliers));
    cells.emplace_back(each.numbered.empty() ? std::string(snapshot.strings->text(each.name)) : each.numbered);
    cells.push_back(count_cell(each.place + 1));
    cells.push_back(count_cell(each.times));
    cells.push_back(count_cell(number));
    listing.add(std::move(cells), operation_filter(loop, each, snapshot));
  }
}

// What of a list is to be said besides its rows.
std::string note_of(const analysis::IterationList& list, std::optional<std::size_t> loop) {
  if (list.loops.empty()) return "nothing repeats clearly enough on engines, streams and host threads";
  std::string note;
  for (std::size_t i = 0; i < list.loops.size(); ++i) {
    if (loop && *loop != i) continue;
    if (list.loops[i].partial > 0 && note.empty()) note = "an iteration that is cut off at the end is left out";
    if (list.loops[i].folded.left_out > 0)
      note += fmt::format("{}{} operations of the least time are left out", note.empty() ? "" : "; ",
                          format_count(list.loops[i].folded.left_out));
  }
  if (list.too_long > 0) note += fmt::format("{}{} lanes are too long", note.empty() ? "" : "; ", list.too_long);
  return note;
}

Result<std::shared_ptr<const analysis::IterationList>> requested_iterations(const QueryContext& query,
                                                                            const ListingRequest& request) {
  if (request.by.size() > 1)
    return Error{"--by: iterations begin with events of one name or with markers: --by NAME or --by marker"};
  const analysis::IterationQuestion question{request.by.empty() ? std::string() : request.by.front()};
  return analysis::find_iterations(query, request.filter.range.value_or(TimeRange{}), question);
}

std::string asked_note(const analysis::IterationList& list, const ListingRequest& request) {
  if (!list.loops.empty() || request.by.empty()) return "";
  return iterations_note(list, {request.by.front()});
}

// What tells the events of a region from others on its tracks; nothing where a search cannot.
std::optional<std::string> search_of_region(const analysis::NamedRegion& region, const Snapshot& snapshot) {
  const std::string_view name = region.name;
  if (region.numbered && (region.role == Role::none || region.role == Role::layer))
    return beginning_term(region.role == Role::none ? "name" : "layer", name.substr(0, name.rfind('*')));
  if (region.role == Role::none) return search_of_text("name", name);
  if (region.role == Role::layer)
    return region.is_level ? search_of_layers_below(snapshot, name) : search_of_layer(snapshot, name);
  const TrackSnapshot* track = snapshot.find_track(region.tracks.front());
  const auto column = track == nullptr || region.lines.empty() ? std::nullopt : track->schema->find(region.role);
  if (!column) return std::nullopt;
  const std::vector<std::string_view> lines(region.lines.begin(), region.lines.end());
  const std::string& title = track->schema->columns[*column].name;
  return region.role == Role::stack ? first_line_term(title, lines) : one_of_term(title, lines);
}

EventFilter region_filter(const analysis::NamedRegion& region, const Snapshot& snapshot) {
  EventFilter filter;
  filter.tracks = region.tracks;
  const auto search = region.tracks.empty() ? std::nullopt : search_of_region(region, snapshot);
  if (search) {
    filter.terms.push_back({*search, false});
  } else {
    filter.range = region.longest;
  }
  return filter;
}

// Those that are compared, in the order that they were asked for.
Result<std::vector<const analysis::NamedRegion*>> chosen_regions(const analysis::RegionList& list,
                                                                 const std::vector<std::string>& by) {
  std::vector<const analysis::NamedRegion*> chosen;
  for (std::size_t i = 1; i < by.size(); ++i) {
    const auto found = std::find_if(list.regions.begin(), list.regions.end(),
                                    [&](const analysis::NamedRegion& each) { return each.name == by[i]; });
    if (found == list.regions.end()) return Error{fmt::format("--by {}: no {} has the name {}", by[0], by[0], by[i])};
    chosen.push_back(&*found);
  }
  for (std::size_t i = 0; by.size() < 2 && i < list.regions.size(); ++i) chosen.push_back(&list.regions[i]);
  return chosen;
}

}  // namespace

std::string iterations_note(const analysis::IterationList& list, const analysis::IterationQuestion& question) {
  if (!list.loops.empty() || question.by.empty()) return note_of(list, {});
  if (question.by == analysis::IterationQuestion::kMarkers)
    return "no marker lies here, or no device works between markers";
  return fmt::format("no event is named \"{}\", with or without a number behind it", question.by);
}

std::string operation_text(const analysis::LoopOperation& operation, const Snapshot& snapshot) {
  std::string text =
      operation.numbered.empty() ? std::string(snapshot.strings->text(operation.name)) : operation.numbered;
  if (operation.times > 1) return text + fmt::format(" × {}", operation.times);
  if (operation.place > 0) text += fmt::format(" ({})", operation.place + 1);
  return text;
}

Listing loops_listing(const analysis::IterationList& list, const Snapshot& snapshot) {
  Listing listing = listing_of_loops(
      loop_columns(false),
      {{"iterations", "Iterations", "", "How many, whole ones"},
       {"median_ns", "Median", "ns", "Of the duration of an iteration"},
       {"p10_ns", "p10", "ns", "One of ten is at most this", {.aside = true}},
       {"p90_ns", "p90", "ns", "Nine of ten are at most this"},
       {"min_ns", "Min", "ns", "", {.aside = true}},
       {"max_ns", "Max", "ns", ""},
       {"interval_ns", "Every", "ns", "From beginning to beginning; the median"},
       {"outliers", "Outliers", "", "Iterations far from the median"},
       {"warm_up", "Warm-up", "", "Slow iterations at the beginning"},
       {"first_ns", "First", "ns", "How long the first takes"},
       {"steady_ns", "Steady", "ns", "The median of the iterations after the warm-up"},
       {"operations", "Operations", "", "Of the body", {.aside = true}},
       {"share",
        "Share",
        "share",
        "Of the events of an iteration that are the body's; the rest is foreign",
        {.aside = true}},
       {"cut_off", "Cut off", "", "Iterations at the end that are not whole; left out", {.aside = true}},
       {"track_id", "Track's id", "", "", {.aside = true}},
       {"lane", "Lane", "", "", {.aside = true}}});
  for (std::size_t i = 0; i < list.loops.size(); ++i) add_loop(listing, list, i, snapshot);
  listing.note = note_of(list, {});
  return listing;
}

Listing iterations_listing(const analysis::IterationList& list, const Snapshot& snapshot,
                           std::optional<std::size_t> loop, std::size_t most) {
  Listing listing = listing_of_loops(
      loop_columns(loop.has_value()),
      {{"number", "Iteration", "", "From 1; a click selects its time"},
       {"ts_ns", "Begin", "ns", "Of its first event"},
       {"dur_ns", "Duration", "ns", "To the end of the last event that is the body's"},
       {"interval_ns", "To next", "ns", "From its beginning to that of the next"},
       {"deviation", "Deviation", "share", "From the median of the iterations after the warm-up"},
       {"note", "Note", "",
        "outlier: farther from the median than three standard deviations, as the median deviation tells "
        "them, and than a twentieth of it; warm-up: slow ones at the beginning"},
       {"warm_up", "Warm-up", "", "1: one of the slow ones at the beginning", {.aside = true}},
       {"outlier", "Outlier", "", "1: far from the median", {.aside = true}}});
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < list.loops.size(); ++i) {
    if (loop && *loop != i) continue;
    all += list.loops[i].folded.iterations.size();
    add_iterations(listing, list, i, snapshot, most);
  }
  listing.note = note_of(list, loop);
  if (all > listing.rows.row_count())
    listing.note += fmt::format("{}{} iterations are left out", listing.note.empty() ? "" : "; ",
                                format_count(all - listing.rows.row_count()));
  return listing;
}

Listing iteration_body_listing(const analysis::IterationList& list, const Snapshot& snapshot,
                               std::optional<std::size_t> loop) {
  Listing listing = listing_of_loops(
      loop_columns(loop.has_value()),
      {{"operation", "Operation", "", "In the order of the body; (2): the second of its name", {.names = true}},
       {"offset_ns", "Begins", "ns", "After the beginning of the iteration; the median"},
       {"median_ns", "Median", "ns", "Of its duration, over the iterations"},
       {"share", "Share", "share", "Of the median iteration", {.bar = true}},
       {"p10_ns", "p10", "ns", "One of ten is at most this"},
       {"p90_ns", "p90", "ns", "Nine of ten are at most this"},
       {"min_ns", "Min", "ns", ""},
       {"max_ns", "Max", "ns", ""},
       {"first_ns", "First", "ns", "In the first iteration"},
       {"count", "Iterations", "", "That have it"},
       {"outliers", "Outliers", "", "Iterations in which it is far from its median"},
       {"name", "Name", "", "Of the operation, whichever of its name it is", {.aside = true}},
       {"place", "Which", "", "Of its name in an iteration, from 1", {.aside = true}},
       {"times", "Times", "", "In an iteration, added up", {.aside = true}}});
  for (std::size_t i = 0; i < list.loops.size(); ++i) {
    if (!loop || *loop == i) add_body(listing, list, i, snapshot);
  }
  listing.note = note_of(list, loop);
  return listing;
}

Result<Listing> list_loops(const QueryContext& query, const ListingRequest& request) {
  const auto found = TRY(requested_iterations(query, request));
  Listing listing = loops_listing(*found, *query.snapshot);
  if (const std::string note = asked_note(*found, request); !note.empty()) listing.note = note;
  return listing;
}

Result<Listing> list_iterations(const QueryContext& query, const ListingRequest& request) {
  const auto found = TRY(requested_iterations(query, request));
  Listing listing = iterations_listing(*found, *query.snapshot, {}, request.all_rows ? SIZE_MAX : kMostIterationRows);
  if (const std::string note = asked_note(*found, request); !note.empty()) listing.note = note;
  return listing;
}

Result<Listing> list_iteration_body(const QueryContext& query, const ListingRequest& request) {
  const auto found = TRY(requested_iterations(query, request));
  Listing listing = iteration_body_listing(*found, *query.snapshot);
  if (const std::string note = asked_note(*found, request); !note.empty()) listing.note = note;
  return listing;
}

Listing regions_listing(const analysis::RegionList& list, const Snapshot& snapshot,
                        const std::vector<const analysis::NamedRegion*>& chosen, std::string_view kind) {
  Listing listing({{"name", "Region", "", "A click selects its events", {.names = true}},
                   {"count", "Count", "", "How often"},
                   {"total_ns", "Total", "ns", "Added up; of regions that overlap in both"},
                   {"median_ns", "Median", "ns", ""},
                   {"ratio", "To the first", "", "Its median over that of the first row"},
                   {"p10_ns", "p10", "ns", "One of ten is at most this"},
                   {"p90_ns", "p90", "ns", "Nine of ten are at most this"},
                   {"min_ns", "Min", "ns", ""},
                   {"max_ns", "Max", "ns", ""},
                   {"outliers", "Outliers", "", "Far from the median"},
                   {"first_ns", "First", "ns", "How long the first is"},
                   {"longest_ts_ns", "Longest at", "ns", "When the longest begins", {.aside = true}},
                   {"kind", "By", "", "What tells it: as --by has it", {.aside = true}}});
  const double first = chosen.empty() ? 0 : chosen.front()->duration_ns.median;
  for (const analysis::NamedRegion* each : chosen) {
    const analysis::FoldedValues& values = each->duration_ns;
    listing.add({each->name, count_cell(values.count), each->total_ns, whole_cell(values.median),
                 first > 0 ? SqlValue(std::round(values.median / first * 1e4) / 1e4) : SqlValue(),
                 whole_cell(values.p10), whole_cell(values.p90), whole_cell(values.min), whole_cell(values.max),
                 count_cell(values.outliers), each->first.length_ns(), each->longest.begin_ns, std::string(kind)},
                region_filter(*each, snapshot));
  }
  if (list.left_out > 0)
    listing.note = fmt::format("{} names of the least time are left out", format_count(list.left_out));
  return listing;
}

Result<Listing> list_regions(const QueryContext& query, const ListingRequest& request) {
  std::vector<std::string> by = request.by;
  if (by.empty()) by.emplace_back("annotation");
  const Snapshot& snapshot = *query.snapshot;
  if (by.front() == kEveryKind) {
    Listing all = regions_listing({}, snapshot, {}, "");
    for (const char* kind : {"collective", "layer", "annotation", analysis::IterationQuestion::kMarkers}) {
      auto of_kind = list_regions(query, {.filter = request.filter, .by = {kind}});
      if (!of_kind) return of_kind;
      std::move(of_kind->rows.cells.begin(), of_kind->rows.cells.end(), std::back_inserter(all.rows.cells));
      std::move(of_kind->targets.begin(), of_kind->targets.end(), std::back_inserter(all.targets));
    }
    return all;
  }
  std::size_t depth = 0;  // --by layer,2
  if (by.front() == "layer" && by.size() > 1 && read_number(by[1], depth)) by.erase(by.begin() + 1);
  if (by.size() > kMostCompared + 1)
    return Error{"--by: up to three regions are compared, such as --by annotation,forward,backward"};
  const auto found = TRY(analysis::find_regions(query, request.filter.range.value_or(TimeRange{}), by.front(), depth));
  const auto chosen = TRY(chosen_regions(*found, by));
  Listing listing = regions_listing(*found, snapshot, chosen, by.front());
  if (chosen.empty()) listing.note = fmt::format("no region by {}", by.front());
  return listing;
}

}  // namespace accelscope::listing
