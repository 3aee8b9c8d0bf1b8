#include "app/content/listings/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "app/content/selection_terms.h"
#include "core/analysis/collectives/columns.h"
#include "core/base/format.h"

namespace accelscope::app {
namespace {

[[nodiscard]] SqlValue whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }
[[nodiscard]] SqlValue count_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }
[[nodiscard]] SqlValue if_known(const std::optional<double>& value) {
  return value ? whole(*value) : SqlValue(std::monostate{});
}
[[nodiscard]] SqlValue bytes_of(std::uint64_t bytes) {
  return bytes == 0 ? SqlValue(std::monostate{}) : count_of(bytes);
}

[[nodiscard]] std::string note_of(const CollectivesReport& report) {
  const std::string lacking = lacking_text(report);
  if (report.of->present() < 2) return lacking;
  return lacking + (lacking.empty() ? "" : "; ") + clocks_text(*report.of);
}

[[nodiscard]] Result<std::shared_ptr<const CollectivesReport>> report_of(const QueryContext& query,
                                                                         const ListingRequest& request) {
  auto found = find_collectives(query);
  if (!found) return found.error();
  return report_collectives(std::move(*found), {request.filter.range.value_or(TimeRange{}), std::nullopt});
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
  KindTexts(const CollectiveKind& kind, const Snapshot& snapshot) {
    const StringPool& strings = *snapshot.strings;
    std::map<SchemaNumber, std::shared_ptr<const Schema>> schemas;
    for (const CollectiveFacts& each : kind.told) {
      auto& of = schemas.try_emplace(each.schema, nullptr).first->second;
      if (of == nullptr) of = schema_with(snapshot, each.schema);
      if (schema == nullptr) schema = of;
      names.emplace(strings.text(each.name));
      algorithms.emplace(strings.text(each.algorithm));
      types.emplace(strings.text(each.type));
      groups.emplace(strings.text(each.group));
      const bool is_told = of != nullptr && each.size_column < of->columns.size();
      sizes.emplace(is_told ? of->columns[each.size_column].name : std::string(), each.size_value);
    }
  }
};

[[nodiscard]] bool share_a_name(const KindTexts& a, const KindTexts& b) {
  return std::any_of(a.names.begin(), a.names.end(), [&](const std::string& name) { return b.names.contains(name); });
}

// Terms beside the name, where other kinds have events of the same name: whatever tells them apart.
void add_telling_terms(const KindTexts& own, const std::vector<const KindTexts*>& others, EventFilter& filter) {
  const CollectiveColumns columns(*own.schema);
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
  KindEvents(const Collectives& all, const Snapshot& snapshot) {
    for (const CollectiveRank& rank : all.ranks)
      tracks_.insert(tracks_.end(), rank.told_on.begin(), rank.told_on.end());
    for (const CollectiveKind& kind : all.kinds) texts_.emplace_back(kind, snapshot);
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

std::string hidden_text(const Collectives& all) {
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

std::string lacking_text(const CollectivesReport& report) {
  const Collectives& all = *report.of;
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

std::string collective_title(const CollectiveKind& kind) {
  if (kind.bytes == 0) return kind.operation;
  return fmt::format("{} {}", kind.operation, format_bytes(static_cast<double>(kind.bytes)));
}

EventFilter instance_events(const Collectives& all, const CollectiveInstance& instance) {
  EventFilter filter;
  TimeRange range = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const CollectiveCell& cell : all.cells_of(instance)) {
    range.begin_ns = std::min(range.begin_ns, cell.arrival_ns + cell.set_by_ns);
    range.end_ns = std::max({range.end_ns, cell.end_ns + cell.set_by_ns, range.begin_ns + 1});
    const std::vector<TrackNumber>& tracks = all.ranks[cell.rank].told_on;
    filter.tracks.insert(filter.tracks.end(), tracks.begin(), tracks.end());
  }
  filter.range = range;
  return filter;
}

std::string clocks_text(const Collectives& all) {
  const auto residual = all.residual();
  if (!residual) return "how far the ranks' clocks lie apart is not known: nothing is said of who came last";
  if (!all.own_clocks && all.clocks == RankClocks::recorded && residual->most_ns == 0)
    return "all ranks share one clock";
  const std::string how = all.clocks == RankClocks::by_ends
                              ? fmt::format("clocks set by {} collectives", format_count(all.matched))
                              : std::string("clocks as recorded");
  return fmt::format("{}; residual ⌀ {}, at most {} ({})", how, format_duration(residual->mean_ns),
                     format_duration(residual->most_ns), all.ranks[residual->rank].name);
}

Listing collectives_listing(const CollectivesReport& report, const Snapshot& snapshot) {
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
  for (const CollectiveFigures& each : report.kinds) {
    const CollectiveKind& kind = report.of->kinds[each.kind];
    EventFilter events = kinds.of(each.kind);
    if (report.range != TimeRange{}) events.range = report.range;
    listing.add({kind.operation, bytes_of(kind.bytes), count_of(each.count), each.median_ns, each.p99_ns,
                 if_known(each.algorithm_bandwidth), if_known(each.bus_bandwidth),
                 report.of->present() < 2 ? SqlValue(std::monostate{})
                                          : whole(static_cast<double>(each.skew_ns) / static_cast<double>(each.count)),
                 count_of(each.outliers), each.min_ns, each.max_ns, each.busy_ns, each.wait_ns, bytes_of(each.bytes),
                 count_of(kind.ranks), kind.algorithm},
                std::move(events));
  }
  listing.note = note_of(report);
  return listing;
}

Listing ranks_listing(const CollectivesReport& report) {
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
    const CollectiveRank& rank = report.of->ranks[r];
    const RankLateness& late = report.ranks[r];
    const bool is_known = !rank.missing && !rank.hidden && late.instances > 0;
    const auto known = [&](std::int64_t value) { return is_known ? SqlValue(value) : SqlValue(std::monostate{}); };
    EventFilter events;
    events.tracks = rank.tracks;
    if (report.range != TimeRange{}) events.range = report.range;
    listing.add({rank.name, rank.host, known(static_cast<std::int64_t>(late.last_in)),
                 is_known ? whole(late.mean_late_ns()) : SqlValue(std::monostate{}), known(late.others_waited_ns),
                 known(late.waited_ns), std::string(report.straggler == r ? "yes" : ""), count_of(late.instances),
                 if_known(rank.residual_ns), rank.missing ? SqlValue(std::monostate{}) : SqlValue(rank.device)},
                rank.tracks.empty() ? ListingTarget() : ListingTarget(std::move(events)));
  }
  listing.note = note_of(report);
  return listing;
}

Result<Listing> list_collectives(const QueryContext& query, const ListingRequest& request) {
  const auto report = report_of(query, request);
  if (!report) return report.error();
  return collectives_listing(**report, *query.snapshot);
}

Result<Listing> list_ranks(const QueryContext& query, const ListingRequest& request) {
  const auto report = report_of(query, request);
  if (!report) return report.error();
  return ranks_listing(**report);
}

Result<Listing> list_collective_instances(const QueryContext& query, const ListingRequest& request) {
  const auto made = report_of(query, request);
  if (!made) return made.error();
  const CollectivesReport& report = **made;
  const Collectives& all = *report.of;
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
  for (const CollectiveFigures& each : report.kinds) fences[each.kind] = each.fence_ns;
  for (const std::uint32_t i : report.instances) {
    const CollectiveInstance& instance = all.instances[i];
    const CollectiveKind& kind = all.kinds[instance.kind];
    const std::int64_t duration = instance.duration_ns(), alone = instance.last_arrival_ns - instance.second_last_ns;
    const auto noise = instance.count < 2 ? std::nullopt : all.noise_ns(instance.last_rank, instance.second_rank);
    const bool is_told = noise && static_cast<double>(alone) > *noise;
    std::optional<double> rate, bus;
    if (kind.bytes > 0 && duration > 0) {
      rate = static_cast<double>(kind.bytes) * 1e9 / static_cast<double>(duration);
      bus = *rate * kind.bus_factor;
    }
    const auto several = [&](std::int64_t value) {
      return instance.count < 2 ? SqlValue(std::monostate{}) : SqlValue(value);
    };
    listing.add({static_cast<std::int64_t>(i), kind.operation, bytes_of(kind.bytes), count_of(instance.count),
                 count_of(instance.expected), instance.first_arrival_ns, several(instance.skew_ns()),
                 is_told ? SqlValue(all.ranks[instance.last_rank].name) : SqlValue(std::monostate{}), several(alone),
                 instance.transfer_begin_ns, duration, if_known(rate), if_known(bus),
                 std::string(duration > fences[instance.kind] ? "yes" : "")},
                instance_events(all, instance));
  }
  listing.note = note_of(report);
  return listing;
}

}  // namespace accelscope::app
