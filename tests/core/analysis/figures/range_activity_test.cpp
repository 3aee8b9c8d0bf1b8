#include "core/analysis/figures/range_activity.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/analysis/dependencies/wait_causes.h"
#include "core/analysis/selection/summary.h"
#include "core/scan/event_mask.h"
#include "core/search/filter_mask.h"
#include "tests/core/random_session.h"
#include "tests/core/union_length.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

// A host whose calls lie within calls, and a device with streams, copies and collectives.
class Traced {
 public:
  Traced() {
    const SchemaNumber python = writer_.add_schema(
        {.name = "python", .columns = {{.name = "at", .type = ColumnType::string, .role = Role::source_location}}});
    calls_schema_ = writer_.add_schema({.name = "runtime_call", .wait_names = {"synchronize"}});
    const SchemaNumber marks = writer_.add_schema({.name = "user_annotation"});
    const SchemaNumber work = writer_.add_schema({.name = "kernel"});
    python_ = writer_.add_track({.name = "11 python", .kind = "host_thread", .host = "python3 (7)", .schema = python});
    calls_ = writer_.add_track(
        {.name = "11 runtime", .kind = "host_thread", .host = "python3 (7)", .schema = calls_schema_, .order = 1});
    other_ = writer_.add_track(
        {.name = "22 runtime", .kind = "host_thread", .host = "python3 (7)", .schema = calls_schema_, .order = 2});
    marks_ =
        writer_.add_track({.name = "11 annotations", .kind = "host_thread", .host = "python3 (7)", .schema = marks});
    own_ = writer_.add_track({.name = "spans", .kind = "host_thread", .host = "profiler", .schema = marks});
    stream_ = writer_.add_track({.name = "stream 7", .kind = "stream", .device = "gpu 0", .schema = work});
    copies_ = writer_.add_track({.name = "memcpy stream 7", .kind = "dma_queue", .device = "gpu 0", .schema = work});
    nccl_ = writer_.add_track({.name = "nccl", .kind = "collective", .device = "gpu 0", .schema = work});
  }
  TrackNumber device(const char* name, const char* kind, const char* table) {
    const SchemaNumber schema = writer_.add_schema(
        {.name = table, .columns = {{.name = "at", .type = ColumnType::string, .role = Role::source_location}}});
    return writer_.add_track({.name = name, .kind = kind, .device = "gpu 0", .schema = schema});
  }
  void zone(TrackNumber track, std::int64_t begin, std::int64_t end, const char* name, const char* line,
            std::uint32_t depth = 0) {
    writer_.begin_event_at(track, depth, begin, end - begin, writer_.intern(name)).string(0, writer_.intern(line));
  }
  void python(std::int64_t begin, std::int64_t end, const char* name, const char* line, std::uint32_t depth = 0) {
    writer_.begin_event_at(python_, depth, begin, end - begin, writer_.intern(name)).string(0, writer_.intern(line));
  }
  void add(TrackNumber track, std::int64_t begin, std::int64_t end, const char* name) {
    writer_.begin_event(track, begin, end - begin, writer_.intern(name));
  }
  void cuts_times() { writer_.set_meta(kCutTimesFact, "1"); }
  QueryContext context() {
    if (!snapshot_) {
      REQUIRE(writer_.finish().ok());
      snapshot_ = store_->snapshot();
    }
    return {*store_, snapshot_, pool_, control_};
  }
  std::shared_ptr<const RangeActivity> activity(std::optional<TimeRange> range = {}) {
    EventFilter filter;
    filter.range = range;
    const auto index = ActivityIndex::build(context());
    REQUIRE(index.ok());
    const auto found = range_activity(context(), filter, index->get());
    REQUIRE(found.ok());
    return *found;
  }
  [[nodiscard]] SelfTime of(const SelfTimes& times, const char* name) const {
    const auto found = times.find(snapshot_->strings->find(name));
    return found == times.end() ? SelfTime{} : found->second;
  }

  TrackNumber python_ = 0, calls_ = 0, other_ = 0, marks_ = 0, own_ = 0, stream_ = 0, copies_ = 0, nccl_ = 0;

 private:
  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  WorkerPool pool_{2};
  TaskControl control_;
  SchemaNumber calls_schema_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace

TEST_CASE("activity: each moment of a range counts once, with an index, without one and of chosen events") {
  RandomSession session(17, 30'000);
  const auto index = ActivityIndex::build(session.context());
  REQUIRE(index.ok());
  std::mt19937_64 random(5);
  const WorkKinds kinds(*session.snapshot);
  for (int i = 0; i < 16; ++i) {
    EventFilter filter;
    if (i != 0) filter.range = session.random_range();
    for (const TrackSnapshot& track : session.snapshot->tracks) {
      if (i % 3 == 1 && random() % 2 == 0) filter.tracks.push_back(track.track->number);
    }
    QueryContext query = session.context();
    const std::string name = i % 4 == 3 ? "matmul_4" : "";
    if (!name.empty()) {
      filter.terms.push_back({.search = "name=" + name});
      EventFilter terms;
      terms.terms = filter.terms;
      const auto mask = search::event_mask(query, terms, nullptr);
      REQUIRE(mask.ok());
      query.mask = *mask;
    }
    const TimeRange range = filter.range.value_or(TimeRange{});
    Intervals busy;
    for (const PlainEvent& event : session.events) {
      if (event.waits || (!name.empty() && event.name_text != name) || !is_device_work(kinds.of_lane(event.lane)))
        continue;
      if (!filter.has_track(session.snapshot->lanes[event.lane].track)) continue;
      const std::int64_t begin = std::max(event.begin_ns, range.begin_ns), end = std::min(event.end_ns, range.end_ns);
      if (begin < end) busy.emplace_back(begin, end);
    }
    const auto with_index = range_activity(query, filter, index->get());
    const auto without = range_activity(query, filter);
    REQUIRE(with_index.ok());
    REQUIRE(without.ok());
    // Edges of ranges fall between the ticks of a lane.
    CHECK((*without)->filter == filter);
    CHECK(std::abs((*with_index)->active_ns - (*without)->active_ns) <= 4);
    CHECK(std::abs((*without)->active_ns - length_of_union(busy)) <= 4);
  }
}

TEST_CASE("activity: nested calls of a thread count once, for the innermost, and waiting calls work for nobody") {
  Traced traced;
  traced.python(0, 1'000, "train", "train.py:1");
  traced.python(100, 600, "forward", "mlp.py:33", 1);
  traced.add(traced.marks_, 0, 1'000, "ProfilerStep#1");
  traced.add(traced.calls_, 200, 300, "launch");
  traced.add(traced.calls_, 400, 500, "synchronize");
  traced.add(traced.other_, 900, 1'200, "launch");
  const auto activity = traced.activity();
  CHECK(traced.of(activity->host.names, "train").busy_ns == 500);
  CHECK(traced.of(activity->host.names, "forward").busy_ns == 300);
  CHECK(traced.of(activity->host.names, "launch").busy_ns == 400);
  CHECK(traced.of(activity->host.names, "synchronize").wait_ns == 100);
  CHECK(traced.of(activity->host.names, "ProfilerStep#1").busy_ns == 0);
  CHECK(traced.of(activity->host.lines, "mlp.py:33").busy_ns == 400);  // with its launch, without its wait
  CHECK(traced.of(activity->host.lines, "mlp.py:33").wait_ns == 100);
  CHECK(traced.of(activity->host.lines, "train.py:1").busy_ns == 500);
  CHECK(activity->host.busy_ns == 1'200);
  CHECK(activity->host_ns == 1'100);  // two threads side by side, once
  CHECK(activity->active_ns == 1'100);
  const auto part = traced.activity(TimeRange{250, 450});
  CHECK(traced.of(part->host.names, "forward").busy_ns == 100);
  CHECK(traced.of(part->host.names, "launch").busy_ns == 50);
  CHECK(traced.of(part->host.names, "synchronize").wait_ns == 50);
}

TEST_CASE("activity: frames of a framework work for the line of the user's own that called them") {
  Traced traced;
  traced.python(0, 1'000, "step", "train.py:7");
  traced.python(100, 900, "_call_impl", "torch/nn/modules/module.py:1747", 1);
  const auto activity = traced.activity();
  CHECK(traced.of(activity->host.lines, "torch/nn/modules/module.py:1747").busy_ns == 800);
  CHECK(traced.of(activity->host.own_lines, "torch/nn/modules/module.py:1747").busy_ns == 0);
  CHECK(traced.of(activity->host.own_lines, "train.py:7").busy_ns == 1'000);
}

TEST_CASE("activity: what of a device is under way, alone and together, and its longest gap") {
  Traced traced;
  traced.add(traced.stream_, 100, 200, "gemm");
  traced.add(traced.stream_, 900, 1'000, "softmax");
  traced.add(traced.copies_, 150, 250, "HtoD");
  traced.add(traced.stream_, 1'000, 1'050,
             "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  traced.add(traced.nccl_, 950, 1'000, "AllReduce");
  const auto activity = traced.activity();
  REQUIRE(activity->devices.size() == 1);
  const DeviceActivity& gpu = activity->devices[0];
  CHECK(gpu.device == "gpu 0");
  CHECK(gpu.active_ns() == 300);
  CHECK(gpu.active_ns(WorkUnit::transfer) == 100);
  CHECK(gpu.alone_ns(WorkUnit::transfer) == 50);
  CHECK(gpu.alone_ns(WorkUnit::collective) == 50);
  CHECK(gpu.working_ns() == 250);
  CHECK(gpu.stretch == TimeRange{100, 1'050});
  CHECK(gpu.gap == TimeRange{250, 900});
  CHECK(traced.context().snapshot->strings->text(gpu.before_gap) == "HtoD");
  CHECK(activity->active_ns == 300);
  CHECK(activity->working_ns == 250);
  CHECK(activity->transfer_ns == 100);
}

TEST_CASE("activity: what cut times lack is lacking of each device as of all of them") {
  Traced traced;
  traced.cuts_times();
  for (std::int64_t begin = 0; begin < 1'000; begin += 100) {
    traced.add(traced.stream_, begin, begin + 40, "gemm");
    traced.add(traced.copies_, begin + 20, begin + 50, "HtoD");
  }
  const auto activity = traced.activity();
  CHECK(activity->active_ns == 10 * 50 + 10 / 2);
  REQUIRE(activity->devices.size() == 1);
  CHECK(activity->devices[0].active_ns() == activity->active_ns);
  CHECK(traced.activity(TimeRange{0, 50})->devices[0].active_ns() == 50);  // no more than there is
}

TEST_CASE("activity: by name, by track and by queue each moment counts once, and fills move nothing") {
  Traced traced;
  const TrackNumber second = traced.device("stream 8", "stream", "kernel");
  const TrackNumber fills = traced.device("memset stream 7", "dma_queue", "memset");
  const TrackNumber ring = traced.device("qSyncIO0-Q1-E0", "dma_queue", "kernel");
  const TrackNumber other_ring = traced.device("qSyncIO0-Q1-E1", "dma_queue", "kernel");
  traced.add(traced.stream_, 100, 300, "gemm");
  traced.add(second, 200, 400, "gemm");
  traced.add(traced.copies_, 0, 100, "HtoD");
  traced.add(fills, 50, 250, "fill");
  traced.add(ring, 500, 600, "w1");
  traced.add(other_ring, 550, 700, "w1");
  for (const auto& range : {std::optional<TimeRange>{}, std::optional<TimeRange>{TimeRange{0, 700}}}) {
    const auto activity = traced.activity(range);
    const auto of = [&](const ActivityUnions::ByName& names, const char* name) {
      const auto found = names.find(traced.context().snapshot->strings->find(name));
      return found == names.end() ? -1 : found->second;
    };
    const ActivityUnions& unions = activity->unions;
    CHECK(of(unions.work, "gemm") == 300);  // 400 added up
    CHECK(of(unions.transfers, "HtoD") == 100);
    CHECK(of(unions.transfers, "w1") == 200);
    CHECK(unions.queues.at("qSyncIO0") == 200);
    CHECK(unions.copies_ns == 300);  // without the fill
    CHECK(activity->transfer_ns == 450);
  }
  CHECK(queue_of_ring("qSyncIO0-Q1-E0") == "qSyncIO0");
  CHECK(queue_of_ring("Q2-E14") == "Q2");
  CHECK(queue_of_ring("memcpy stream 7") == "memcpy stream 7");
}

TEST_CASE("activity: no name and no track of any session is under way for longer than the range") {
  for (const unsigned seed : {3U, 29U, 57U}) {
    RandomSession session(seed, 8'000);
    const auto index = ActivityIndex::build(session.context());
    REQUIRE(index.ok());
    const Snapshot& snapshot = *session.snapshot;
    const std::int64_t quarter = (snapshot.end_ns - snapshot.begin_ns) / 4;
    for (const TimeRange& range : {TimeRange{snapshot.begin_ns, snapshot.end_ns},
                                   TimeRange{snapshot.begin_ns + quarter, snapshot.end_ns - quarter}}) {
      EventFilter filter;
      filter.range = range;
      const auto activity = range_activity(session.context(), filter, index->get());
      const auto scanned = range_activity(session.context(), filter);
      REQUIRE(activity.ok());
      REQUIRE(scanned.ok());
      const ActivityUnions& unions = (*activity)->unions;
      for (const auto* names : {&unions.work, &unions.transfers, &unions.whole}) {
        for (const auto& [name, ns] : *names) CHECK(ns <= range.length_ns());
      }
      for (const auto& [track, ns] : unions.tracks) CHECK(ns <= range.length_ns());
      CHECK(unions.work.size() == (*scanned)->unions.work.size());
      for (const auto& [name, ns] : unions.work) CHECK(std::abs(ns - (*scanned)->unions.work.at(name)) <= 4);
    }
  }
}

TEST_CASE("activity: zones of a device lie within each other, and a line has the time of its innermost ones") {
  Traced traced;
  const TrackNumber core = traced.device("BRISC", "engine", "zone");
  traced.zone(core, 0, 1'000, "BRISC-FW", "brisc.cc:10");
  traced.zone(core, 100, 900, "KERNEL", "reader.cpp:5", 1);
  traced.zone(core, 200, 300, "WAIT-FRONT", "reader.cpp:7", 2);
  traced.zone(core, 2'000, 2'500, "OUTER", "outer.cpp:1");
  traced.zone(core, 2'000, 2'500, "INNER", "inner.cpp:1", 1);
  const auto activity = traced.activity();
  CHECK(traced.of(activity->zone_lines, "brisc.cc:10").busy_ns == 200);
  CHECK(traced.of(activity->zone_lines, "reader.cpp:5").busy_ns == 700);
  CHECK(traced.of(activity->zone_lines, "reader.cpp:7").busy_ns == 100);
  CHECK(activity->unions.tracks.at(core) == 1'500);
  REQUIRE(activity->zone_lines.contains(traced.context().snapshot->strings->find("outer.cpp:1")));
  CHECK(traced.of(activity->zone_lines, "outer.cpp:1").busy_ns == 0);  // not all of what lies within it
}

TEST_CASE("activity: where nothing at all is under way, by time, the longest few of it") {
  Traced traced;
  traced.add(traced.stream_, 100, 200, "gemm");
  traced.add(traced.copies_, 5'000, 5'100, "HtoD");
  traced.add(traced.calls_, 5'050, 6'000, "synchronize");  // a host that waits is there
  traced.add(traced.stream_, 9'000, 9'010, "gemm");
  traced.add(traced.marks_, 300, 900, "evaluation");  // no work, but a user who folded it would miss it
  traced.add(traced.marks_, 5'090, 8'000, "step");
  traced.add(traced.own_, 2'000, 4'000, "profiler stops");
  CHECK(traced.activity()->gaps ==
        std::vector<TimeRange>{{200, 300}, {301, 899}, {900, 5'000}, {6'000, 7'999}, {8'000, 9'000}});
  CHECK(traced.activity(TimeRange{150, 8'000})->gaps ==
        std::vector<TimeRange>{{200, 300}, {301, 899}, {900, 5'000}, {6'000, 7'999}});

  RandomSession session(23, 20'000);
  const auto index = ActivityIndex::build(session.context());
  REQUIRE(index.ok());
  const WorkKinds kinds(*session.snapshot);
  std::vector<TimeRange> free, happened;
  for (const PlainEvent& event : session.events) {
    const WorkKind kind = kinds.of_lane(event.lane);
    if (kind == WorkKind::host || is_device_work(kind)) {
      if (event.begin_ns < event.end_ns) happened.push_back({event.begin_ns, event.end_ns});
    } else {
      const std::int64_t end = std::max(event.end_ns, event.begin_ns + 1);
      happened.push_back({event.begin_ns, event.begin_ns + 1});
      happened.push_back({end - 1, end});
    }
  }
  std::sort(happened.begin(), happened.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  std::int64_t reached = happened.front().end_ns;
  for (const TimeRange& each : happened) {
    if (each.begin_ns > reached) free.push_back({reached, each.begin_ns});
    reached = std::max(reached, each.end_ns);
  }
  std::sort(free.begin(), free.end(), [](const auto& a, const auto& b) { return a.length_ns() > b.length_ns(); });
  const auto found = range_activity(session.context(), {}, index->get());
  REQUIRE(found.ok());
  REQUIRE((*found)->gaps.size() == std::min(free.size(), LongestGaps::kMost));
  std::int64_t shortest = INT64_MAX;
  for (const TimeRange& gap : (*found)->gaps) shortest = std::min(shortest, gap.length_ns());
  if (!free.empty()) CHECK(std::abs(shortest - free[(*found)->gaps.size() - 1].length_ns()) <= 4);  // ticks of lanes
}

TEST_CASE("activity: nothing in a range is nothing") {
  RandomSession session(18, 500);
  EventFilter filter;
  filter.range = TimeRange{session.snapshot->end_ns + 10, session.snapshot->end_ns + 20};
  const auto activity = range_activity(session.context(), filter);
  REQUIRE(activity.ok());
  CHECK((*activity)->active_ns == 0);
  CHECK((*activity)->host.names.empty());
}
