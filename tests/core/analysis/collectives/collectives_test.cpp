// Collectives across ranks against a naive computation over the same events, and against what a simulated run has
// planted: a straggler, clocks that lie apart, a rank that is missing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "core/analysis/collectives/report.h"
#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"
#include "core/names/collective_words.h"
#include "core/search/filter_mask.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

struct PlantedPart {
  std::uint32_t rank = 0;
  std::int64_t arrival = 0, begin = 0, end = 0;
};
struct PlantedInstance {
  std::string operation, group;
  std::int64_t bytes = 0;
  std::vector<PlantedPart> parts;
};

// A session of ranks that have told of collectives.
struct RankSession {
  std::shared_ptr<Store> store = std::move(Store::create()).value();
  WorkerPool pool{1};
  TaskControl control;

  struct Options {
    bool has_group = true, has_wait = true, has_ids = false;
    std::map<std::uint32_t, std::int64_t> clock_offsets;  // ranks with clocks of their own, by how much they are off
    std::string device = "rank {} nc0";
    std::string kind = "collective";
  };

  void write(const std::vector<PlantedInstance>& instances, const Options& options) {
    using namespace columns;
    StoreSink sink(*store);
    SessionWriter writer(sink);
    const SchemaNumber schema = writer.add_schema(
        make_schema({"collective_part", EventKind::slice, "operation"},
                    {{"waited", kInt, "ns", kTiming, "", "", options.has_wait ? Role::wait_ns : Role::none},
                     {"input_size", kInt, "B", kMemory},
                     {"output_size", kInt, "B", kMemory},
                     {"replica_group", kString, "", kOperation},
                     {"op_id", kUnsigned, "", kIds}}));
    struct Event {
      const PlantedPart* part;
      const PlantedInstance* instance;
      std::uint64_t id;
    };
    std::map<std::uint32_t, std::vector<Event>> by_rank;
    for (std::size_t i = 0; i < instances.size(); ++i) {
      for (const PlantedPart& part : instances[i].parts) by_rank[part.rank].push_back({&part, &instances[i], i + 1});
    }
    for (auto& [rank, events] : by_rank) {
      Track track;
      track.device = fmt::format(fmt::runtime(options.device), rank);
      track.name = "Collectives";
      track.kind = options.kind;
      track.schema = schema;
      if (const auto off = options.clock_offsets.find(rank); off != options.clock_offsets.end()) {
        Clock clock;
        clock.name = fmt::format("clock {}", rank);
        clock.anchors = {{0, off->second}, {1'000'000'000, 1'000'000'000 + off->second}};
        track.clock = writer.add_clock(std::move(clock));
      }
      const TrackNumber number = writer.add_track(std::move(track));
      std::sort(events.begin(), events.end(),
                [](const Event& a, const Event& b) { return a.part->begin < b.part->begin; });
      for (const Event& each : events) {
        Row row = writer.begin_event(number, each.part->begin, each.part->end - each.part->begin,
                                     writer.intern(each.instance->operation));
        if (options.has_wait) row.integer(0, each.part->begin - each.part->arrival);
        row.integer(1, each.instance->bytes);
        row.integer(2, each.instance->bytes / 2);
        if (options.has_group) row.string(3, writer.intern(each.instance->group));
        if (options.has_ids) row.unsigned_integer(4, each.id);
      }
    }
    REQUIRE(writer.finish().ok());
  }

  [[nodiscard]] QueryContext query() { return {*store, store->snapshot(), pool, control}; }
  [[nodiscard]] std::shared_ptr<const Collectives> find(RankClocks clocks = RankClocks::automatic) {
    auto found = find_collectives(query(), clocks);
    REQUIRE(found.ok());
    return std::move(found).value();
  }
};

// Ranks meet one operation after the other, in one group or two halves; arrivals are drawn.
std::vector<PlantedInstance> drawn_instances(std::mt19937_64& random, std::uint32_t ranks, std::size_t count,
                                             bool halves) {
  constexpr std::array<std::string_view, 3> kNames = {"AllReduce", "all-gather", "reduce_scatter"};
  const auto drawn = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  const auto group_text = [](std::uint32_t first, std::uint32_t last) {
    std::string text = "[";
    for (std::uint32_t r = first; r < last; ++r) text += fmt::format("{}{}", r == first ? "" : ", ", r);
    return text + "]";
  };
  const std::string group = halves ? fmt::format("[{},{}]", group_text(0, ranks / 2), group_text(ranks / 2, ranks))
                                   : fmt::format("[{}]", group_text(0, ranks));
  std::vector<PlantedInstance> instances;
  std::int64_t now = 1000;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name(kNames[random() % kNames.size()]);
    const std::int64_t bytes = std::int64_t{1} << (10 + random() % 4);
    for (std::uint32_t first = 0; first < ranks; first += halves ? ranks / 2 : ranks) {
      PlantedInstance& instance = instances.emplace_back(PlantedInstance{name, group, bytes, {}});
      const std::uint32_t last = halves ? first + ranks / 2 : ranks;
      std::int64_t all = 0;
      for (std::uint32_t r = first; r < last; ++r) {
        instance.parts.push_back({r, now + drawn(5000), 0, 0});
        all = std::max(all, instance.parts.back().arrival);
      }
      for (PlantedPart& part : instance.parts) {
        part.begin = all;
        part.end = all + 2000 + drawn(3000);
      }
    }
    now += 20'000;
  }
  return instances;
}

}  // namespace

TEST_CASE("collectives: matched instances, arrivals and waits are those of a naive computation over random ranks") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const bool halves = seed % 3 == 0;
    const auto ranks = static_cast<std::uint32_t>(2 * (1 + random() % 6));
    const auto planted = drawn_instances(random, ranks, 1 + random() % 300, halves);
    RankSession session;
    session.write(planted, {.has_ids = seed % 2 == 0});
    const auto found = session.find();
    REQUIRE(found->instances.size() == planted.size());
    CHECK(found->present() == ranks);
    CHECK(found->ranks.size() == ranks);
    CHECK(found->by_time == 0);
    // Both in the order of the transfers.
    std::vector<const PlantedInstance*> order;
    for (const auto& each : planted) order.push_back(&each);
    const auto end_of = [](const PlantedInstance& each) {
      std::int64_t end = 0;
      for (const PlantedPart& part : each.parts) end = std::max(end, part.end);
      return end;
    };
    std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
      return std::pair(a->parts[0].begin, end_of(*a)) < std::pair(b->parts[0].begin, end_of(*b));
    });
    std::vector<std::int64_t> waited(ranks, 0), alone(ranks, 0), late(ranks, 0);
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::int64_t>> durations;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const PlantedInstance& wanted = *order[i];
      const CollectiveInstance& instance = found->instances[i];
      std::vector<PlantedPart> parts = wanted.parts;
      std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
      REQUIRE(instance.count == parts.size());
      CHECK(instance.expected == parts.size());
      CHECK(instance.first_arrival_ns == parts.front().arrival);
      CHECK(instance.last_arrival_ns == parts.back().arrival);
      CHECK(instance.transfer_begin_ns == parts.back().arrival);
      if (parts.size() > 1) CHECK(instance.second_last_ns == parts[parts.size() - 2].arrival);
      std::int64_t end = 0;
      for (const PlantedPart& part : parts) {
        const CollectiveCell* cell = found->cell(instance, part.rank);
        REQUIRE(cell != nullptr);
        CHECK(cell->arrival_ns == part.arrival);
        CHECK(cell->end_ns == part.end);
        CHECK(Collectives::wait_ns(instance, *cell) == parts.back().arrival - part.arrival);
        waited[part.rank] += parts.back().arrival - part.arrival;
        late[part.rank] += part.arrival - parts.front().arrival;
        end = std::max(end, part.end);
      }
      if (parts.size() > 1 && parts.back().arrival > parts[parts.size() - 2].arrival)
        alone[parts.back().rank] += parts.back().arrival - parts[parts.size() - 2].arrival;
      CHECK(instance.duration_ns() == end - parts.back().arrival);
      durations[{std::string(*collective_operation(wanted.operation)), wanted.bytes}].push_back(instance.duration_ns());
    }
    const auto report = report_collectives(found, {});
    CHECK(report->instances.size() == planted.size());
    for (std::uint32_t r = 0; r < ranks; ++r) {
      CHECK(report->ranks[r].waited_ns == waited[r]);
      CHECK(report->ranks[r].late_ns == late[r]);
      CHECK(report->ranks[r].others_waited_ns == alone[r]);
    }
    CHECK(report->kinds.size() == durations.size());
    for (const CollectiveFigures& figures : report->kinds) {
      const CollectiveKind& kind = found->kinds[figures.kind];
      auto values = durations.at({kind.operation, static_cast<std::int64_t>(kind.bytes)});
      std::sort(values.begin(), values.end());
      CHECK(figures.count == values.size());
      CHECK(figures.median_ns == values[(values.size() + 1) / 2 - 1]);
      CHECK(figures.min_ns == values.front());
      CHECK(figures.max_ns == values.back());
      REQUIRE(figures.algorithm_bandwidth);
      const double rate = static_cast<double>(kind.bytes) * 1e9 / static_cast<double>(figures.median_ns);
      CHECK(*figures.algorithm_bandwidth == doctest::Approx(rate));
      const double n = halves ? ranks / 2 : ranks;
      const double factor = n < 2 ? 1 : (kind.operation == "AllReduce" ? 2 : 1) * (n - 1) / n;
      CHECK(*figures.bus_bandwidth == doctest::Approx(rate * factor));
    }
  }
}

TEST_CASE("collectives: a range takes whole instances that share time with it, and a mask takes ranks away") {
  std::mt19937_64 random(4);
  const auto planted = drawn_instances(random, 4, 20, false);
  RankSession session;
  session.write(planted, {});
  const auto found = session.find();
  const CollectiveInstance& third = found->instances[3];
  const auto report = report_collectives(found, {{third.last_arrival_ns, third.last_arrival_ns + 1}, std::nullopt});
  REQUIRE(report->instances.size() == 1);
  CHECK(report->instances[0] == 3);
  CHECK(report->ranks[0].instances == 1);
  const auto one = report_collectives(found, {{}, third.kind});
  CHECK(one->instances.size() < found->instances.size());
  CHECK(one->kinds.size() == found->kinds.size());

  QueryContext query = session.query();
  EventFilter filter;
  filter.tracks = {found->ranks[0].tracks[0], found->ranks[2].tracks[0]};
  query.mask = std::move(search::event_mask(query, filter)).value();
  const auto two = find_collectives(query);
  REQUIRE(two.ok());
  CHECK((*two)->present() == 4);
  CHECK((*two)->hidden() == 2);
  CHECK((*two)->ranks[1].hidden);
  CHECK_FALSE((*two)->ranks[2].hidden);
  CHECK((*two)->hidden_parts == 40);
  CHECK((*two)->hidden_instances == 0);
  REQUIRE((*two)->instances.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {  // nobody is said to have waited less, as who was last is not shown
    CHECK((*two)->instances[i].count == 4);
    CHECK((*two)->instances[i].transfer_begin_ns == found->instances[i].transfer_begin_ns);
    CHECK((*two)->instances[i].last_rank == found->instances[i].last_rank);
  }
}

TEST_CASE("collectives: a filter of single events leaves matching and clocks as they are, and takes whole instances") {
  std::mt19937_64 random(14);
  const auto planted = drawn_instances(random, 4, 60, false);
  RankSession session;
  session.write(planted, {.clock_offsets = {{0, 9000}, {1, -7000}, {2, 0}, {3, 500}}});
  const auto whole = session.find();
  QueryContext query = session.query();
  EventFilter filter;
  filter.terms = {{"input_size>=4096"}, {"duration>=3000"}};
  query.mask = std::move(search::event_mask(query, filter)).value();
  const auto some = std::move(find_collectives(query)).value();
  CHECK(some->by_time == 0);  // ranks have different numbers of events that pass; that is nothing to match by
  CHECK(some->matched == 60);
  CHECK(some->hidden_instances > 0);
  CHECK(some->hidden_instances + some->instances.size() == 60);
  CHECK(some->present() == 4);
  std::size_t shown = 0;
  for (const CollectiveInstance& each : some->instances) {
    const auto same = std::find_if(whole->instances.begin(), whole->instances.end(), [&](const auto& other) {
      return whole->cells_of(other)[0].event == some->cells_of(each)[0].event;
    });
    REQUIRE(same != whole->instances.end());
    CHECK(each.transfer_begin_ns == same->transfer_begin_ns);
    CHECK(each.end_ns == same->end_ns);
    CHECK(each.count == 4);
    for (const CollectiveCell& cell : some->cells_of(each)) {
      shown += cell.hidden ? 0 : 1;
      CHECK(cell.hidden == !query.mask->passes(*query.snapshot, cell.event));
    }
  }
  CHECK(shown == query.mask->total());
  for (std::size_t r = 0; r < 4; ++r) CHECK(some->ranks[r].offset_ns == whole->ranks[r].offset_ns);
}

TEST_CASE("collectives: where ranks of the group are missing, the transfer begins when the events say") {
  std::mt19937_64 random(9);
  auto planted = drawn_instances(random, 4, 30, false);
  for (PlantedInstance& each : planted) {
    std::erase_if(each.parts, [](const PlantedPart& part) { return part.rank == 2; });
  }
  RankSession session;
  session.write(planted, {});
  const auto found = session.find();
  REQUIRE(found->ranks.size() == 4);
  CHECK(found->present() == 3);
  CHECK(found->ranks[2].missing);
  CHECK(found->ranks[2].name == "rank 2");
  std::size_t last_was_absent = 0;
  for (const CollectiveInstance& each : found->instances) {
    CHECK(each.transfer_begin_ns == found->cells_of(each)[0].begin_ns);
    last_was_absent += each.transfer_begin_ns > each.last_arrival_ns ? 1 : 0;
  }
  CHECK(last_was_absent > 0);
  const auto report = report_collectives(found, {});
  CHECK(report->incomplete == 30);
  CHECK(report->below_noise >= last_was_absent);  // nobody who is here is blamed for the absent
  CHECK(report->ranks[2].instances == 0);
}

TEST_CASE("collectives: a rank that lacks instances is laid beside the nearest of the others") {
  std::mt19937_64 random(21);
  auto planted = drawn_instances(random, 3, 60, false);
  for (PlantedInstance& each : planted) each.operation = "AllReduce";
  for (const std::size_t gone : {0U, 1U, 17U, 40U, 59U}) {
    std::erase_if(planted[gone].parts, [](const PlantedPart& part) { return part.rank == 1; });
  }
  RankSession session;
  session.write(planted, {});
  const auto found = session.find();
  REQUIRE(found->instances.size() == 60);
  CHECK(found->by_time == 60);
  for (std::size_t i = 0; i < 60; ++i) {
    CHECK(found->instances[i].count == planted[i].parts.size());
    CHECK(found->instances[i].expected == 3);
  }
}

TEST_CASE("collectives: places beside a reference are those of the least sum of distances") {
  std::mt19937_64 random(77);
  for (int round = 0; round < 60; ++round) {
    std::vector<MatchedEvent> reference(1 + random() % 9), times;
    std::int64_t now = 0;
    for (MatchedEvent& each : reference) each.begin_ns = now += static_cast<std::int64_t>(random() % 100);
    for (const MatchedEvent& each : reference) {
      if (random() % 3 != 0) times.push_back({each.begin_ns + static_cast<std::int64_t>(random() % 60), 0});
    }
    std::sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    const auto cost = [&](const std::vector<std::uint32_t>& places) {
      double sum = 0;
      for (std::size_t i = 0; i < places.size(); ++i)
        sum += std::abs(static_cast<double>(reference[places[i]].begin_ns - times[i].begin_ns));
      return sum;
    };
    double least = 1e300;
    for (std::uint32_t bits = 0; bits < 1U << reference.size(); ++bits) {
      std::vector<std::uint32_t> places;
      for (std::uint32_t i = 0; i < reference.size(); ++i) {
        if ((bits >> i & 1) != 0) places.push_back(i);
      }
      if (places.size() == times.size()) least = std::min(least, cost(places));
    }
    const auto places = places_beside(reference, times);
    REQUIRE(places.size() == times.size());
    CHECK(std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) == places.end());
    CHECK(cost(places) == doctest::Approx(least));
  }
}

TEST_CASE("collectives: clocks apart are set by the ends, and nothing is said below what is left") {
  std::mt19937_64 random(31);
  auto planted = drawn_instances(random, 4, 80, false);
  for (PlantedInstance& each : planted) {
    std::int64_t all = 0;
    for (PlantedPart& part : each.parts) {
      part.arrival += part.rank == 3 ? 30'000 : 0;  // the straggler
      all = std::max(all, part.arrival);
    }
    for (PlantedPart& part : each.parts) {
      part.begin = all;
      part.end = all + 3000 + static_cast<std::int64_t>(random() % 100);
    }
  }
  for (std::size_t i = 0; i < planted.size(); ++i) {  // steps apart, so that ranks do not overlap themselves
    for (PlantedPart& part : planted[i].parts) {
      for (std::int64_t* ns : {&part.arrival, &part.begin, &part.end})
        *ns += static_cast<std::int64_t>(i) * 60'000 + 200'000;
    }
  }
  const std::map<std::uint32_t, std::int64_t> offsets = {{0, 90'000}, {1, -70'000}, {2, 0}, {3, -50'000}};
  RankSession session;
  session.write(planted, {.clock_offsets = offsets});
  const auto set = session.find();
  CHECK(set->own_clocks);
  CHECK(set->clocks == RankClocks::by_ends);
  REQUIRE(set->residual());
  CHECK(set->residual()->most_ns < 120);
  const auto report = report_collectives(set, {});
  REQUIRE(report->straggler);
  CHECK(set->ranks[*report->straggler].name == "rank 3");
  std::int64_t truly = 0;
  for (const PlantedInstance& each : planted) {
    std::vector<std::int64_t> arrivals;
    for (const PlantedPart& part : each.parts) arrivals.push_back(part.arrival);
    std::sort(arrivals.begin(), arrivals.end());
    truly += arrivals[3] - arrivals[2];
  }
  CHECK(std::abs(report->ranks[3].others_waited_ns - truly) < 80 * 150);
  // As recorded, ends lie 90 µs apart: no rank is blamed, whatever the arrivals seem to say.
  const auto recorded = session.find(RankClocks::recorded);
  CHECK(recorded->clocks == RankClocks::recorded);
  CHECK(recorded->residual()->most_ns > 60'000);
  CHECK_FALSE(report_collectives(recorded, {})->straggler);
}

TEST_CASE("collectives: a rank is a straggler where waits for it cost a hundredth of the time, not for 639 ns of it") {
  for (const std::int64_t late : {213, 20'000}) {  // three times 213 ns, of 2.4 ms
    CAPTURE(late);
    std::vector<PlantedInstance> planted;
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t at = i * 1'150'000, all = at + 1'000 + late;
      planted.push_back(
          {"AllReduce", "[[0,1]]", 1024, {{0, at + 1'000, all, all + 100'000}, {1, all, all, all + 100'000}}});
    }
    RankSession session;
    session.write(planted, {});
    const auto report = report_collectives(session.find(), {});
    CHECK(report->ranks[1].last_in == 3);
    CHECK(report->straggler.has_value() == (late > 1'000));
  }
}

TEST_CASE("collectives: kernels of streams by their names, one rank alone, and sessions without any") {
  RankSession session;
  std::vector<PlantedInstance> planted = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", "", 1024, {{0, 10, 10, 200}}},
      {"void gemm<float>()", "", 1024, {{0, 300, 300, 400}}},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", "", 1024, {{0, 500, 500, 800}}}};
  session.write(planted, {.has_group = false, .has_wait = false, .device = "gpu {}", .kind = "stream"});
  const auto found = session.find();
  REQUIRE(found->instances.size() == 2);
  CHECK(found->kinds[0].operation == "AllReduce");
  CHECK(found->kinds[0].algorithm == "Ring");
  const auto report = report_collectives(found, {});
  CHECK(report->compared == 0);
  CHECK_FALSE(report->straggler);
  CHECK(report->kinds[0].median_ns == 190);
  CHECK(report->kinds[0].max_ns == 300);

  RankSession none;
  none.write({}, {});
  CHECK(none.find()->instances.empty());
  CHECK(report_collectives(none.find(), {})->kinds.empty());
}

TEST_CASE("collectives: words of runtimes") {
  CHECK(collective_operation("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)") == "SendRecv");
  CHECK(collective_operation("reduce-scatter") == "ReduceScatter");
  CHECK(collective_operation("_all_gather_base") == "AllGather");
  CHECK_FALSE(collective_operation("gemm").has_value());
  CHECK(bus_factor("AllReduce", 64) == doctest::Approx(2 * 63.0 / 64));
  CHECK(bus_factor("all_gather", 8) == doctest::Approx(7.0 / 8));
  CHECK(bus_factor("Broadcast", 8) == 1);
  CHECK(bus_factor("AllReduce", 1) == 1);
  CHECK(replica_groups("[[0,1],[2,3]]") == std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}});
  CHECK(replica_groups("[0, 1, 7]") == std::vector<std::vector<std::uint32_t>>{{0, 1, 7}});
  CHECK(replica_groups("0,1").size() == 1);
  CHECK(replica_groups("[0, 1, ..., 63]").empty());
  CHECK(replica_groups("").empty());
  CHECK(element_bytes("BFloat16") == 2);
  CHECK(element_bytes("Float") == 4);
  CHECK(element_bytes("torch.int64") == 8);
  CHECK(element_bytes("who knows") == 0);
}
