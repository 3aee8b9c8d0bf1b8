#include "core/listing/analysis_listings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/analysis/collectives/arrivals.h"
#include "core/analysis/source/instructions.h"
#include "core/analysis/source/source_lines.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/listing/terms.h"

namespace accelscope::listing {
namespace {

[[nodiscard]] SqlValue known_whole(const std::optional<double>& value) {
  return value ? whole_cell(*value) : SqlValue();
}

[[nodiscard]] std::string note_of(const analysis::CollectivesReport& report) {
  const std::string lacking = lacking_text(report);
  if (report.of->present() < 2) return lacking;
  return lacking + (lacking.empty() ? "" : "; ") + clocks_text(*report.of);
}

[[nodiscard]] Result<std::shared_ptr<const analysis::CollectivesReport>> report_of(const QueryContext& query,
                                                                                   const ListingRequest& request) {
  auto found = TRY(analysis::find_collectives(query));
  return analysis::report_collectives(std::move(found), {request.filter.range.value_or(TimeRange{}), std::nullopt});
}

[[nodiscard]] std::shared_ptr<const Schema> schema_with(const Snapshot& snapshot, SchemaNumber number) {
  for (const auto& schema : snapshot.schemas) {
    if (schema->number == number) return schema;
  }
  return nullptr;
}

// What the events of a kind say, in the order in which it narrows them most.
struct KindTexts {
  std::set<std::string> names, algorithms, types, groups;
  std::set<std::pair<std::string, std::uint64_t>> sizes;  // by column
  std::shared_ptr<const Schema> schema;                   // of the first; those of other ranks are like it
  KindTexts(const analysis::CollectiveKind& kind, const Snapshot& snapshot) {
    const StringPool& strings = *snapshot.strings;
    std::map<SchemaNumber, std::shared_ptr<const Schema>> schemas;
    for (const analysis::CollectiveFacts& each : kind.reported) {
      auto& of = schemas.try_emplace(each.schema, nullptr).first->second;
      if (of == nullptr) of = schema_with(snapshot, each.schema);
      if (schema == nullptr) schema = of;
      names.emplace(strings.text(each.name));
      algorithms.emplace(strings.text(each.algorithm));
      types.emplace(strings.text(each.type));
      groups.emplace(strings.text(each.group));
      const bool is_reported = of != nullptr && each.size_column < of->columns.size();
      sizes.emplace(is_reported ? of->columns[each.size_column].name : std::string(), each.size_value);
    }
  }
};

[[nodiscard]] bool share_a_name(const KindTexts& a, const KindTexts& b) {
  return std::any_of(a.names.begin(), a.names.end(), [&](const std::string& name) { return b.names.contains(name); });
}

// Terms beside the name, where other kinds have events of the same name: whatever tells them apart.
void add_telling_terms(const KindTexts& own, const std::vector<const KindTexts*>& others, EventFilter& filter) {
  const analysis::CollectiveColumns columns(*own.schema);
  const auto differs = [&](const auto& part) {
    return std::any_of(others.begin(), others.end(), [&](const auto* other) { return part(*other) != part(own); });
  };
  const auto add_texts = [&](const std::optional<std::size_t>& column, const auto& part) {
    if (!column || part(own).contains("") || !differs(part)) return;
    const std::vector<std::string> texts(part(own).begin(), part(own).end());
    filter.terms.push_back({search_of_texts(own.schema->columns[*column].name, texts)});
  };
  const auto sizes = [](const KindTexts& of) -> const auto& { return of.sizes; };
  const auto &first = *own.sizes.begin(), &last = *own.sizes.rbegin();
  if (differs(sizes) && first.first == last.first && !first.first.empty())
    filter.terms.push_back({search_of_numbers(first.first, first.second, last.second)});
  add_texts(columns.algorithm, [](const KindTexts& of) -> const auto& { return of.algorithms; });
  add_texts(columns.type, [](const KindTexts& of) -> const auto& { return of.types; });
  add_texts(columns.group, [](const KindTexts& of) -> const auto& { return of.groups; });
}

// All parts of a kind: what tells them from those of the others, on the tracks of the ranks.
class KindEvents {
 public:
  KindEvents(const analysis::Collectives& all, const Snapshot& snapshot) {
    for (const analysis::CollectiveRank& rank : all.ranks)
      tracks_.insert(tracks_.end(), rank.reported_on.begin(), rank.reported_on.end());
    for (const analysis::CollectiveKind& kind : all.kinds) texts_.emplace_back(kind, snapshot);
  }
  [[nodiscard]] EventFilter of(std::uint32_t kind) const {
    EventFilter filter;
    filter.tracks = tracks_;
    const KindTexts& own = texts_[kind];
    filter.terms.push_back({search_of_texts("name", std::vector<std::string>(own.names.begin(), own.names.end()))});
    std::vector<const KindTexts*> others;
    for (const KindTexts& other : texts_) {
      if (&other != &own && share_a_name(other, own)) others.push_back(&other);
    }
    if (own.schema != nullptr && !others.empty()) add_telling_terms(own, others, filter);
    return filter;
  }

 private:
  std::vector<TrackNumber> tracks_;
  std::vector<KindTexts> texts_;
};

}  // namespace

std::string hidden_text(const analysis::Collectives& all) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::uint64_t of, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} of {} {}", text.empty() ? "" : " and ", format_count(count), format_count(of), what);
  };
  if (all.hidden_parts == 0 && all.hidden_instances == 0) return text;
  add(all.hidden(), all.present(), "ranks");
  add(all.hidden_instances, all.matched, "operations");
  if (text.empty()) text = format_count(all.hidden_parts) + " parts of operations";
  return "the filter hides " + text + "; waits and times are those of all ranks";
}

std::string lacking_text(const analysis::CollectivesReport& report) {
  const analysis::Collectives& all = *report.of;
  const std::size_t missing = all.ranks.size() - all.present();
  std::string text;
  if (missing > 0) {
    text = fmt::format("{} of {} ranks {} not in the session: waits may be for {}", missing, all.ranks.size(),
                       missing == 1 ? "is" : "are", missing == 1 ? "it" : "them");
  } else if (report.incomplete > 0) {
    text =
        fmt::format("{} instances lack ranks of their group: waits may be for these", format_count(report.incomplete));
  }
  if (all.by_time > 0) {
    text += fmt::format("{}ranks have not equally many: {} instances were matched by time", text.empty() ? "" : "; ",
                        format_count(all.by_time));
  }
  const std::string hidden = hidden_text(all);
  return hidden + (hidden.empty() || text.empty() ? "" : "; ") + text;
}

std::string collective_title(const analysis::CollectiveKind& kind) {
  if (kind.bytes == 0) return kind.operation;
  return fmt::format("{} {}", kind.operation, format_bytes(kind.bytes));
}

EventFilter instance_events(const analysis::Collectives& all, const analysis::CollectiveInstance& instance) {
  EventFilter filter;
  TimeRange range = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const analysis::CollectiveCell& cell : all.cells_of(instance)) {
    range.begin_ns = std::min(range.begin_ns, cell.arrival_ns + cell.set_by_ns);
    range.end_ns = std::max({range.end_ns, cell.end_ns + cell.set_by_ns, range.begin_ns + 1});
    const std::vector<TrackNumber>& tracks = all.ranks[cell.rank].reported_on;
    filter.tracks.insert(filter.tracks.end(), tracks.begin(), tracks.end());
  }
  filter.range = range;
  return filter;
}

std::string clocks_text(const analysis::Collectives& all) {
  const auto residual = all.residual();
  if (!residual) return "how far the ranks' clocks lie apart is not known: nothing is said of who came last";
  if (!all.own_clocks && all.clocks == analysis::RankClocks::recorded && residual->most_ns == 0)
    return "all ranks share one clock";
  const std::string how = all.clocks == analysis::RankClocks::by_ends
                              ? fmt::format("clocks set by {} collectives", format_count(all.matched))
                              : std::string("clocks as recorded");
  return fmt::format("{}; residual ⌀ {}, at most {} ({})", how, format_duration(residual->mean_ns),
                     format_duration(residual->most_ns), all.ranks[residual->rank].name);
}

Listing collectives_listing(const analysis::CollectivesReport& report, const Snapshot& snapshot) {
  Listing listing(
      {{"operation", "Operation", "", "What the ranks do together"},
       {"size_bytes", "Size", "B", "The larger of what a rank brings and what it receives"},
       {"count", "Count", "", "Instances"},
       {"median_ns", "p50", "ns", "Median duration: from the last arrival to the end on the last rank"},
       {"p99_ns", "p99", "ns", "99th percentile of the durations, nearest rank"},
       {"algbw_bytes_per_s", "Algorithm bw", "B/s", "Size over the median duration"},
       {"busbw_bytes_per_s", "Bus bw", "B/s",
        "Algorithm bandwidth times what a link carries for each byte: 2 (n - 1) / n for AllReduce, (n - 1) / n for "
        "AllGather, ReduceScatter and AllToAll, else 1"},
       {"mean_skew_ns", "⌀ skew", "ns", "From the first to the last arrival, the mean of all instances"},
       {"outliers", "Outliers", "",
        "Instances longer than the third quartile and 1.5 times the distance of the quartiles"},
       {"min_ns", "Min", "ns", "Shortest duration"},
       {"max_ns", "Max", "ns", "Longest duration"},
       {"busy_ns", "Busy", "ns", "Durations added up"},
       {"wait_ns", "Wait", "ns", "From each rank's arrival to the begin of the transfer, all ranks added up"},
       {"bytes", "Bytes", "B", "Sizes of all instances added up"},
       {"ranks", "Ranks", "", "Ranks of the group"},
       {"algorithm", "Algorithm", "", "How the ranks exchange their parts"}});
  const KindEvents kinds(*report.of, snapshot);
  for (const analysis::CollectiveFigures& each : report.kinds) {
    const analysis::CollectiveKind& kind = report.of->kinds[each.kind];
    EventFilter events = kinds.of(each.kind);
    if (report.range != TimeRange{}) events.range = report.range;
    listing.add(
        {kind.operation, amount_cell(kind.bytes), count_cell(each.count), each.median_ns, each.p99_ns,
         known_whole(each.algorithm_bandwidth), known_whole(each.bus_bandwidth),
         report.of->present() < 2 ? SqlValue()
                                  : whole_cell(static_cast<double>(each.skew_ns) / static_cast<double>(each.count)),
         count_cell(each.outliers), each.min_ns, each.max_ns, each.busy_ns, each.wait_ns, amount_cell(each.bytes),
         count_cell(kind.ranks), kind.algorithm},
        std::move(events));
  }
  listing.note = note_of(report);
  return listing;
}

Listing ranks_listing(const analysis::CollectivesReport& report) {
  Listing listing(
      {{"rank", "Rank", "", ""},
       {"host", "Host", "", ""},
       {"last_in", "Last in", "", "Collectives where it was the last to arrive, by more than the clocks' residual"},
       {"mean_late_ns", "⌀ late", "ns", "Its arrival after the first one, the mean"},
       {"others_waited_ns", "Others waited", "ns",
        "How much earlier the transfers had begun if it had come with the last but one: all others wait for so long, "
        "at "
        "once"},
       {"waited_ns", "Waited", "ns", "For others, until the transfers began"},
       {"straggler", "Straggler", "", "yes: the others waited for it twice as long as for any other"},
       {"instances", "Instances", "", "Collectives that it took part in"},
       {"clock_residual_ns", "Clock residual", "ns", "How far its clock may be off; below it nothing is claimed"},
       {"device", "Device", "", "As its tracks name it; a rank that is missing has none"}});
  for (std::size_t r = 0; r < report.ranks.size(); ++r) {
    const analysis::CollectiveRank& rank = report.of->ranks[r];
    const analysis::RankLateness& late = report.ranks[r];
    const bool is_known = !rank.missing && !rank.hidden && late.instances > 0;
    const auto known = [&](std::int64_t value) { return is_known ? SqlValue(value) : SqlValue(); };
    EventFilter events;
    events.tracks = rank.tracks;
    if (report.range != TimeRange{}) events.range = report.range;
    listing.add({rank.name, rank.host, known(static_cast<std::int64_t>(late.last_in)),
                 is_known ? whole_cell(late.mean_late_ns()) : SqlValue(), known(late.others_waited_ns),
                 known(late.waited_ns), std::string(report.straggler == r ? "yes" : ""), count_cell(late.instances),
                 known_whole(rank.residual_ns), rank.missing ? SqlValue() : SqlValue(rank.device)},
                rank.tracks.empty() ? ListingTarget() : ListingTarget(std::move(events)));
  }
  listing.note = note_of(report);
  return listing;
}

Result<Listing> list_collectives(const QueryContext& query, const ListingRequest& request) {
  const auto report = TRY(report_of(query, request));
  return collectives_listing(*report, *query.snapshot);
}

Result<Listing> list_ranks(const QueryContext& query, const ListingRequest& request) {
  const auto report = TRY(report_of(query, request));
  return ranks_listing(*report);
}

Result<Listing> list_collective_instances(const QueryContext& query, const ListingRequest& request) {
  const auto made = TRY(report_of(query, request));
  const analysis::CollectivesReport& report = *made;
  const analysis::Collectives& all = *report.of;
  Listing listing({{"number", "#", "", "In the order of time"},
                   {"operation", "Operation", "", ""},
                   {"size_bytes", "Size", "B", ""},
                   {"ranks", "Ranks", "", "That are here"},
                   {"of_ranks", "Of", "", "Ranks of the group"},
                   {"first_arrival_ns", "First arrival", "ns", "Since the session's start"},
                   {"skew_ns", "Skew", "ns", "From the first to the last arrival"},
                   {"last_rank", "Last", "", "The rank that came last; none where the clocks do not tell"},
                   {"others_waited_ns", "Alone late", "ns", "From the last but one to the last arrival"},
                   {"transfer_begin_ns", "Transfer begins", "ns", "Since the session's start: the last arrival"},
                   {"dur_ns", "Duration", "ns", "From there to the end on the last rank"},
                   {"algbw_bytes_per_s", "Algorithm", "B/s", "Size over the duration"},
                   {"busbw_bytes_per_s", "Bus", "B/s", ""},
                   {"outlier", "Outlier", "", "yes: longer than the fence of its operation"}});
  std::vector<std::int64_t> fences(all.kinds.size(), 0);
  for (const analysis::CollectiveFigures& each : report.kinds) fences[each.kind] = each.fence_ns;
  for (const std::uint32_t i : report.instances) {
    const analysis::CollectiveInstance& instance = all.instances[i];
    const analysis::CollectiveKind& kind = all.kinds[instance.kind];
    const std::int64_t duration = instance.duration_ns(), alone = instance.last_arrival_ns - instance.second_last_ns;
    const auto noise = instance.count < 2 ? std::nullopt : all.noise_ns(instance.last_rank, instance.second_rank);
    const bool is_reported = noise && static_cast<double>(alone) > *noise;
    std::optional<double> rate, bus;
    if (kind.bytes > 0 && duration > 0) {
      rate = static_cast<double>(kind.bytes) * 1e9 / static_cast<double>(duration);
      bus = *rate * kind.bus_factor;
    }
    const auto several = [&](std::int64_t value) { return instance.count < 2 ? SqlValue() : SqlValue(value); };
    listing.add({static_cast<std::int64_t>(i), kind.operation, amount_cell(kind.bytes), count_cell(instance.count),
                 count_cell(instance.expected), instance.first_arrival_ns, several(instance.skew_ns()),
                 is_reported ? SqlValue(all.ranks[instance.last_rank].name) : SqlValue(), several(alone),
                 instance.transfer_begin_ns, duration, known_whole(rate), known_whole(bus),
                 std::string(duration > fences[instance.kind] ? "yes" : "")},
                instance_events(all, instance));
  }
  listing.note = note_of(report);
  return listing;
}

namespace {

// How calls are told by program, call and step.
std::string_view level_text(analysis::CallLevel level) noexcept {
  switch (level) {
    case analysis::CallLevel::call:
      return "call";
    case analysis::CallLevel::program:
      return "program";
    case analysis::CallLevel::step:
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
  return text_cell(both);
}

TrackNumber track_of_event(const Snapshot& snapshot, EventId event) {
  const LaneSnapshot* lane = snapshot.find_lane(lane_of(event));
  return lane == nullptr ? kNone : lane->track;
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
          {"wait_ns", "Waits", "ns", "Of its host time what calls take that wait", {.aside = true}},
          {"compile_share", "Compile share", "share", "Compiling, of the time it takes", {.bar = true, .aside = true}},
          {"launches", "Launches", "", "Calls of the driver that launch work"},
          {"works", "Kernels launched", "", "Kernels and copies that these launched", {.aside = true}}};
}

void append_cost(std::vector<SqlValue>& cells, const analysis::CallCost& cost) {
  for (const std::int64_t ns :
       {cost.span_ns, cost.host_ns, cost.compile_ns, cost.dispatch_ns, cost.kernel_ns, cost.wait_ns})
    cells.emplace_back(ns);
  cells.push_back(share_cell(cost.compile_ns, cost.span_ns));
  cells.emplace_back(static_cast<std::int64_t>(cost.launches));
  cells.emplace_back(static_cast<std::int64_t>(cost.works));
}

void insert_costs(std::vector<ListingColumn>& columns) {
  std::vector<ListingColumn> costs = cost_columns();
  columns.insert(columns.end(), std::make_move_iterator(costs.begin()), std::make_move_iterator(costs.end()));
}

std::string notes_of(const analysis::Compilations& all) {
  if (all.calls.list.empty()) return "no call of a host recurs and launches work";
  std::string note = "rows of steps, calls and compiled programs lie within each other: their times do not add up";
  if (all.calls.left_out > 0) note += fmt::format("; {} calls are left out", format_count(all.calls.left_out));
  if (all.calls.waits_left_out > 0)
    note += fmt::format("; {} waits are left out", format_count(all.calls.waits_left_out));
  return note;
}

// All calls of the function: by their name where all have one, else by the first.
ListingTarget target_of(const analysis::Compilations& all, const Snapshot& snapshot,
                        const std::vector<analysis::CallRow>& rows, const analysis::CallFunctionRow& function,
                        const EventFilter& within) {
  const analysis::LaunchingCall& first = all.calls.list[rows[function.rows.front()].call];
  EventFilter events = within;
  events.tracks.clear();
  for (const std::size_t row : function.rows) {
    const analysis::LaunchingCall& call = all.calls.list[rows[row].call];
    if (call.name != first.name) return first.event;
    events.tracks.push_back(track_of_event(snapshot, call.event));
  }
  std::sort(events.tracks.begin(), events.tracks.end());
  events.tracks.erase(std::unique(events.tracks.begin(), events.tracks.end()), events.tracks.end());
  events.terms.push_back({search_of_text("name", snapshot.strings->text(first.name)), false});
  return events;
}

Result<std::shared_ptr<const analysis::Compilations>> compilations_of(const QueryContext& query) {
  QueryContext whole = query;
  whole.mask = nullptr;
  const auto dependencies = TRY(analysis::session_dependencies(whole));
  return analysis::find_compilations(query, dependencies.get());
}

}  // namespace

std::int64_t session_part_ns(const Snapshot& snapshot, const TimeRange& range) {
  return TimeRange{std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)}.length_ns();
}

Listing compilations_listing(const analysis::Compilations& all, const Snapshot& snapshot, const TimeRange& range) {
  Listing listing(
      {{"kind", "What happened", "", "compile, recompile: what had been compiled before, or cache hit"},
       {"what", "Of", "", "The module, graph or function; where nothing names one, the call that compiles"},
       {"ts_ns", "Begin", "ns", "A line's time is when it was printed"},
       {"dur_ns", "Takes", "ns", "Of a line without its partner nothing is known"},
       {"compile_ns", "Compile", "ns",
        "Of that compiling; of a long call what it took beyond the median of the others"},
       {"number", "No.", "", "Which compilation, or call, of the same in its process"},
       {"of", "Of so many", "", "How many there are"},
       {"basis", "Rests on", "",
        "line: a compiler's line in the output; name: the name of a call; first call of n: it took at least "
        "10 times and 10 ms longer than the median of the others, which setting up a library can do too"},
       {"process", "Process", "", ""},
       {"track", "Thread", "", "Or the stream of output that the line is of"},
       {"event_id", "Event", "", "That says so", {.aside = true}}});
  std::vector<const analysis::CompileEvent*> shown;
  for (const analysis::CompileEvent& event : all.events) {
    if (range.holds(event.begin_ns, event.end_ns)) shown.push_back(&event);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const analysis::CompileEvent* a, const analysis::CompileEvent* b) {
    const bool a_hits = a->kind == analysis::CompileKind::cache_hit,
               b_hits = b->kind == analysis::CompileKind::cache_hit;
    return a_hits != b_hits ? b_hits : !a_hits && a->cost_ns > b->cost_ns;
  });
  for (const analysis::CompileEvent* event : shown) {
    const bool timed = event->end_ns > event->begin_ns, hits = event->kind == analysis::CompileKind::cache_hit;
    listing.add(
        {std::string(analysis::kind_text(event->kind)), text_cell(event->what), event->begin_ns,
         timed ? SqlValue(event->end_ns - event->begin_ns) : SqlValue(),
         timed && !hits ? SqlValue(event->cost_ns) : SqlValue(), static_cast<std::int64_t>(event->number),
         static_cast<std::int64_t>(event->of), analysis::basis_text(*event), process_of_track(snapshot, event->track),
         name_of_track(snapshot, event->track), static_cast<std::int64_t>(event->event)},
        event->event);
  }
  if (all.left_out > 0) listing.note = fmt::format("{} events are left out", format_count(all.left_out));
  return listing;
}

Listing calls_listing(const analysis::Compilations& all, const Snapshot& snapshot,
                      const std::vector<analysis::CallRow>& rows) {
  std::vector<ListingColumn> columns = {
      {"function", "Function", "", "Its name without the number of the call", {.names = true}},
      {"level", "Is a", "",
       "call: the outermost recurring one of its thread that launches work; program: a call of a compiled one, "
       "wherever it lies; step: an annotation"},
      {"call", "No.", "", "Which call of the function in its process"},
      {"ts_ns", "Begin", "ns", ""}};
  insert_costs(columns);
  columns.push_back({"track", "Thread", "", ""});
  columns.push_back({"event_id", "Event", "", "The call", {.aside = true}});
  Listing listing(std::move(columns));
  for (const analysis::CallRow& row : rows) {
    const analysis::LaunchingCall& call = all.calls.list[row.call];
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

Listing functions_listing(const analysis::Compilations& all, const Snapshot& snapshot,
                          const std::vector<analysis::CallRow>& rows,
                          const std::vector<analysis::CallFunctionRow>& functions, const TimeRange& range,
                          const EventFilter& within) {
  std::vector<ListingColumn> columns = {
      {"function", "Function", "", "Its name without the number of the call", {.names = true}},
      {"level", "Is a", "",
       "call: the outermost recurring one of a thread that launches work; program: a call of a compiled one, "
       "wherever it lies; step: an annotation"},
      {"calls", "Calls", "", "In the range"},
      {"share", "Share", "share", "Of the range; of threads at once it can be more than all", {.bar = true}}};
  insert_costs(columns);
  columns.push_back({"first_ns", "First", "ns", "Its first call, where that is in the range"});
  columns.push_back({"median_ns", "Median", "ns", "Of its other calls"});
  columns.push_back({"rest_ns", "Rest", "ns", "All others together"});
  columns.push_back({"compiled", "Compiled in", "", "Calls in which something compiled"});
  columns.push_back({"process", "Process", "", ""});
  columns.push_back({"event_id", "First event", "", "Its first call in the range", {.aside = true}});
  Listing listing(std::move(columns));
  const std::int64_t range_ns = session_part_ns(snapshot, range);
  for (const analysis::CallFunctionRow& function : functions) {
    const analysis::LaunchingCall& first = all.calls.list[rows[function.rows.front()].call];
    const bool any_other = function.rows.size() > (function.has_first ? 1 : 0);
    std::vector<SqlValue> cells = {all.calls.functions[function.function], std::string(level_text(function.level)),
                                   static_cast<std::int64_t>(function.rows.size()),
                                   share_cell(function.sum.span_ns, range_ns)};
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

std::string compile_text(const analysis::CompileSummary& summary, std::int64_t range_ns) {
  if (summary.compilations == 0 && summary.hits == 0) return "Nothing tells of compiling";
  std::string text = "No compilation";
  if (summary.compilations > 0) {
    text = counted(summary.compilations, "compilation");
    if (summary.time_ns > 0) {
      text += fmt::format(" take{} {}", summary.compilations == 1 ? "s" : "", format_duration(summary.time_ns));
      if (range_ns > 0)
        text += fmt::format(", {} of {}",
                            format_share(static_cast<double>(summary.time_ns) / static_cast<double>(range_ns)),
                            format_duration(range_ns));
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
  const auto found = TRY(compilations_of(query));
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  Listing listing = compilations_listing(*found, *query.snapshot, range);
  const std::string text =
      compile_text(analysis::sum_compilations(*found, range), session_part_ns(*query.snapshot, range));
  listing.note = listing.note.empty() ? text : text + "; " + listing.note;
  return listing;
}

Result<Listing> list_calls(const QueryContext& query, const ListingRequest& request) {
  const bool by_function = request.by == std::vector<std::string>{"function"};
  if (!request.by.empty() && !by_function && request.by != std::vector<std::string>{"call"})
    return Error{"--by: calls are listed by function or by call, one of both"};
  const auto found = TRY(compilations_of(query));
  const TimeRange range = request.filter.range.value_or(TimeRange{});
  const std::vector<analysis::CallRow> rows = analysis::call_rows(*found, range);
  if (!by_function) return calls_listing(*found, *query.snapshot, rows);
  return functions_listing(*found, *query.snapshot, rows, analysis::call_functions(*found, rows), range,
                           request.filter);
}

namespace {

// All events of the row: of its track and place, else of its track and name.
EventFilter events_of(const analysis::InstructionCost& row, const Snapshot& snapshot) {
  EventFilter filter;
  filter.tracks = {row.track};
  const TrackSnapshot* track = snapshot.find_track(row.track);
  if (row.place && track != nullptr && track->schema) {
    for (const analysis::Vendor& vendor : analysis::vendors()) {
      if (track->schema->find(vendor.place_column))
        filter.terms.push_back({fmt::format("{}={}", vendor.place_column, *row.place), false});
    }
  }
  const analysis::SummaryRow name{.text = std::string(snapshot.strings->text(row.name))};
  if (filter.terms.empty()) filter.terms.push_back({search_of_name(snapshot, name, {}), false});
  return filter;
}

}  // namespace

Result<Listing> list_instructions(const QueryContext& query, const ListingRequest& request) {
  if (request.by.size() > 1)
    return Error{"--by: one line of source, such as --by kernel.py:33, narrows the listing of instructions"};
  const std::string location = request.by.empty() ? "" : request.by.front();
  const auto found = TRY(analysis::instruction_listing(query, request.filter.range.value_or(TimeRange{}), location));
  const Snapshot& snapshot = *query.snapshot;
  Listing listing({{"track", "Track", "", "Engine, stream or core that executed it"},
                   {"place", "Place", "", "In the program: the program counter; nothing where a source has none"},
                   {"name", "Instruction", "", "Opcode, kernel or zone", {.names = true}},
                   {"count", "Count", "", "How often it was executed"},
                   {"busy_ns", "Busy", "ns", "Time of its executions, without waiting"},
                   {"wait_ns", "Wait", "ns", "Time that it waited, and of executions that do nothing else"},
                   {"bytes", "Bytes", "B", "Read, written or moved"},
                   {"line", "Line", "", "Line that it comes from"},
                   {"operands", "Operands", "", "Of its first execution"},
                   {"event_id", "First event", "", "Its first execution", {.aside = true}}});
  const auto text = [&](StringId id) {
    return id == 0 ? SqlValue() : SqlValue(std::string(snapshot.strings->text(id)));
  };
  for (const analysis::InstructionCost& row : found.rows) {
    const TrackSnapshot* track = snapshot.find_track(row.track);
    const std::string operands(trimmed(row.operands));
    listing.add({track == nullptr ? SqlValue() : track->track->name, known_cell(row.place), text(row.name),
                 static_cast<std::int64_t>(row.count), row.busy_ns, row.wait_ns, amount_cell(row.bytes),
                 text_cell(row.location), text_cell(operands), static_cast<std::int64_t>(row.first)},
                events_of(row, snapshot));
  }
  if (!found.counts_all) {
    listing.note = fmt::format(
        "there are more rows than are told apart: these are the {} that cost most among the first that were met",
        format_count(found.rows.size()));
  } else if (found.left_out > 0) {
    listing.note = fmt::format("{} rows that cost least are left out", format_count(found.left_out));
  }
  return listing;
}

Result<Listing> list_lines(const QueryContext& query, const ListingRequest& request) {
  const auto found = TRY(analysis::source_lines(query, request.filter.range.value_or(TimeRange{})));
  Listing listing({{"line", "Line", "", "File and line"},
                   {"busy_ns", "Busy", "ns", "Of its events, without waiting; of a host's calls their self time"},
                   {"wait_ns", "Wait", "ns", "Of events that wait, and what the others waited before they began"},
                   {"count", "Events", "", "That come from the line"},
                   {"bytes", "Bytes", "B", "Read, written or moved"},
                   {"host_ns", "On the host", "ns", "What of busy and wait is of a host's threads"}});
  std::vector<const analysis::SourceLine*> lines;
  for (const analysis::SourceLine& each : found->lines) lines.push_back(&each);
  std::stable_sort(lines.begin(), lines.end(), [](const analysis::SourceLine* a, const analysis::SourceLine* b) {
    return a->busy_ns + a->wait_ns > b->busy_ns + b->wait_ns;
  });
  for (const analysis::SourceLine* each : lines) {
    const std::string place = fmt::format("{}:{}", each->path, each->line);
    EventFilter events = request.filter;
    events.terms.push_back({search_of_line(place), false});
    listing.add({place, each->busy_ns, each->wait_ns, static_cast<std::int64_t>(each->event_count),
                 amount_cell(each->bytes), each->host_ns},
                std::move(events));
  }
  if (found->unplaced > 0)
    listing.note = fmt::format("{} events have a location that names no line", format_count(found->unplaced));
  return listing;
}

}  // namespace accelscope::listing
