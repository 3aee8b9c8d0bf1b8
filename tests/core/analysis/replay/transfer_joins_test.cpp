// Packets that name neither their transfer nor their semaphore: what joins them with waits, what a change of them saves
// by that, and at least and at most where nothing joins them.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "core/analysis/critical_path/waits.h"
#include "core/analysis/replay/repairs.h"
#include "core/analysis/replay/what_if.h"
#include "core/chunk/session_writer.h"
#include "core/store/store.h"

using namespace accelscope;
using namespace accelscope::analysis;

namespace {

constexpr std::int64_t kJoinedUnits = 4;      // DMA engines
constexpr std::int64_t kSignalAfterNs = 300;  // from a packet's end to the rise of its semaphore

// Engines whose program is written instruction by instruction, and queues that move what it sets off.
class KernelSession {
 public:
  KernelSession() {
    work_ = writer_.add_schema(
        {.name = "instruction",
         .wait_names = {"EVENT_SEMAPHORE"},
         .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key},
                     {.name = "operands", .type = ColumnType::text, .role = Role::operands},
                     {.name = "subgroup", .type = ColumnType::string},
                     {.name = "evt_wait_time", .type = ColumnType::int64, .unit = "ns", .role = Role::wait_ns},
                     {.name = "hbm_read_bytes", .type = ColumnType::int64},
                     {.name = "hbm_write_bytes", .type = ColumnType::int64},
                     {.name = "elements", .type = ColumnType::int64}}});
    dma_ = writer_.add_schema({.name = "dma",
                               .columns = {{.name = "transfer_size", .type = ColumnType::int64, .role = Role::bytes},
                                           {.name = "dma_queue", .type = ColumnType::int64},
                                           {.name = "dma_engine", .type = ColumnType::int64},
                                           {.name = "semaphore_id", .type = ColumnType::string},
                                           {.name = "packet_aggregation_id", .type = ColumnType::uint64}}});
    value_ = writer_.add_schema({.name = "semaphore_update",
                                 .kind = EventKind::counter,
                                 .columns = {{.name = "value", .type = ColumnType::int64, .role = Role::value}}});
    for (const char* name : {"Sync", "Scalar", "Vector"}) {
      tracks_[name] = writer_.add_track({.name = name, .kind = "engine", .device = "nc0", .schema = work_});
    }
  }

  struct Moved {
    std::int64_t read = 0, written = 0;
  };
  void instruction(const char* engine, const char* name, std::int64_t begin, std::int64_t length,
                   const std::string& operands = "", std::int64_t waited = 0, const Moved& moved = {0, 0}) {
    Row row = writer_.begin_event(tracks_.at(engine), begin, length, writer_.intern(name));
    row.unsigned_integer(0, ++ids_);
    row.text(1, operands);
    row.string(2, writer_.intern(engine));
    row.integer(3, waited);
    row.integer(4, moved.read);
    row.integer(5, moved.written);
  }
  // One payload and one signal on each DMA engine of the queue; the semaphore rises with each.
  void transfer(std::int64_t queue, std::int64_t begin, std::int64_t length, std::uint32_t semaphore, const char* owner,
                std::int64_t lost_signals = 0) {
    for (std::int64_t unit = 0; unit < kJoinedUnits; ++unit) {
      packet(queue, unit, begin, length, 2048);
      if (unit < lost_signals) continue;
      packet(queue, unit, begin + length, 10, 4);
    }
    const std::string name = "S[" + std::to_string(semaphore) + "] (" + owner + ")";
    for (std::int64_t unit = 0; unit < kJoinedUnits; ++unit) {
      rise(begin + length + 10 + kSignalAfterNs + unit, name);
    }
  }
  void rise(std::int64_t time_ns, const std::string& semaphore) { set(time_ns, semaphore, values_[semaphore] + 1); }
  void set(std::int64_t time_ns, const std::string& semaphore, std::int64_t value) {
    rises_.push_back({time_ns, semaphore, values_[semaphore] = value});
  }
  std::shared_ptr<const WorkGraph> graph() {
    for (const Rise& rise : rises_) {
      auto& track = tracks_[rise.semaphore];
      if (track == 0) {
        track = writer_.add_track({.name = rise.semaphore, .kind = "semaphore", .device = "nc0", .schema = value_});
      }
      writer_.begin_event(track, rise.time_ns, 0, 0).integer(0, rise.value);
    }
    REQUIRE(writer_.finish().ok());
    auto built = session_graph(query());
    REQUIRE(built.ok());
    return *built;
  }
  [[nodiscard]] QueryContext query() { return {*store_, store_->snapshot(), pool, control}; }
  WhatIfResult what_if(const WorkGraph& graph, const char* text) {
    const auto change = parse_change(text);
    REQUIRE(change.ok());
    auto result = replay_with_changes(query(), graph, {&*change, 1}, graph.begin_of_all_ns);
    REQUIRE_MESSAGE(result.ok(), result.message());
    return std::move(*result);
  }
  WorkerPool pool{1};
  TaskControl control;

 private:
  struct Rise {
    std::int64_t time_ns = 0;
    std::string semaphore;
    std::int64_t value = 0;
  };
  void packet(std::int64_t queue, std::int64_t unit, std::int64_t begin, std::int64_t length, std::int64_t bytes) {
    const std::string name = "Q" + std::to_string(queue) + "-E" + std::to_string(unit);
    auto& track = tracks_[name];
    if (track == 0) track = writer_.add_track({.name = name, .kind = "dma_queue", .device = "nc0", .schema = dma_});
    Row row = writer_.begin_event(track, begin, length, writer_.intern("unknown"));
    row.integer(0, bytes);
    row.integer(1, queue);
    row.integer(2, unit);
    row.string(3, writer_.intern("-1"));
    row.unsigned_integer(4, 77);  // the same for all: it tells nothing
  }

  std::unique_ptr<Store> store_ = Store::create().value();
  StoreSink sink_{*store_};
  SessionWriter writer_{sink_};
  std::map<std::string, TrackNumber> tracks_;
  std::map<std::string, std::int64_t> values_;
  std::vector<Rise> rises_;
  SchemaNumber work_{}, dma_{}, value_{};
  std::uint64_t ids_ = 0;
};

std::string sets_off(std::uint32_t semaphore, const std::string& places = "") {
  return " semaphore=" + std::to_string(semaphore) + " sem_increment=" + std::to_string(kJoinedUnits) + " " + places;
}

// A result goes out to device memory and comes back before it is worked on: 2 us out, 2 us back.
struct RoundTrip {
  KernelSession session;
  explicit RoundTrip(const char* read_from, std::int64_t lost_signals = 0) {
    session.instruction("Vector", "COPY", 1'000, 1'000, "S[6] (Vector)++@complete");
    session.rise(2'000, "S[6] (Vector)");
    session.instruction(
        "Scalar", "DMA_DIRECT2D", 2'000, 100,
        "S[6] (Vector)>=1" + sets_off(40,
                                      "src_elem_size=2048 dst_elem_size=2048 src_pattern=[2048,1][4,1] "
                                      "dst_pattern=[2048,1][4,1] src_addr_imm=0x4000 dst_addr_imm=0x800001000000"),
        0, {0, 8192});
    session.transfer(0, 2'500, 1'500, 40, "qScalarDynamicHW");
    session.instruction("Sync", "DMA_DIRECT2D", 4'350, 100,
                        "S[40] (qScalarDynamicHW)>=4" +
                            sets_off(26, std::string("src_elem_size=2048 dst_elem_size=2048 src_pattern=[2048,1][4,1] "
                                                     "dst_pattern=[2048,1][4,1] src_addr_imm=") +
                                             read_from + " dst_addr_imm=0x6000"),
                        3'000, {8192, 0});
    session.transfer(2, 4'900, 1'500, 26, "qSyncDynamicHW", lost_signals);
    session.instruction("Vector", "EVENT_SEMAPHORE", 6'750, 50, "S[26] (qSyncDynamicHW)>=4", 4'750);
    session.instruction("Vector", "TENSOR_REDUCE", 6'800, 1'000);
  }
};

}  // namespace

TEST_CASE("transfers that nobody names are joined by their queue's order, and a faster one lets its wait end sooner") {
  RoundTrip trip("0x800001000000");
  const auto graph = trip.session.graph();
  CHECK(graph->transfer_waits.matched == 2);
  CHECK(graph->transfer_waits.inferred + graph->transfer_waits.unknown == 0);
  CHECK(graph->transfers.size() == 2);
  std::size_t matched = 0, signals = 0;
  for (NodeIndex node = 0; node < graph->count(); ++node) {
    if (graph->lane(node).kind == WorkKind::transfer) {
      CHECK(graph->trigger_of(node) != kNoNode);
      CHECK(graph->whole_event(node) == graph->event(graph->trigger_of(node)));
    }
    for (const GraphEdge& edge : graph->edges_of(node)) {
      if (edge.confidence != EdgeConfidence::matched) continue;
      ++(graph->lane(edge.source).kind == WorkKind::transfer ? signals : matched);
    }
  }
  CHECK(signals == 2 * kJoinedUnits);  // all that signal a transfer's end
  CHECK(matched == 2 * kJoinedUnits);  // from what sets it off to its first packets

  const WhatIfResult twice = trip.session.what_if(*graph, "dma bandwidth x2");
  CHECK(twice.least_ns == 1'500);  // half of both
  CHECK(twice.most_ns == 1'500);
  CHECK(twice.rests_on.empty());
  CHECK(twice.total_before_ns - twice.total_after_ns == 1'500);
  CHECK(trip.session.what_if(*graph, "dma bandwidth x1").most_ns == 0);
}

TEST_CASE(
    "what is read back from where it was written is a round trip, with what dropping it saves at least and most") {
  RoundTrip trip("0x800001000000");
  const auto graph = trip.session.graph();
  const WhatIfResult dropped = trip.session.what_if(*graph, "drop spills");
  // At least what lies between the copy's end and the work, at most also what the work need not wait for.
  CHECK(dropped.least_ns >= 4'300);
  CHECK(dropped.least_ns <= 4'750);
  CHECK(dropped.most_ns >= dropped.least_ns);
  CHECK(dropped.most_ns <= 2 * dropped.least_ns);

  RoundTrip elsewhere("0x800009000000");  // what it reads nobody wrote
  const auto other = elsewhere.session.graph();
  const auto change = parse_change("drop spills");
  CHECK_FALSE(replay_with_changes(elsewhere.session.query(), *other, {&*change, 1}, other->begin_of_all_ns).ok());
}

TEST_CASE("a wait that is joined by time alone, or not at all, makes the answer an interval") {
  RoundTrip lost("0x800001000000", 1);  // a signal of the second transfer was lost
  const auto graph = lost.session.graph();
  CHECK(graph->transfer_waits.matched == 1);
  CHECK(graph->transfer_waits.inferred == 1);
  const WhatIfResult twice = lost.session.what_if(*graph, "dma bandwidth x2");
  CHECK(twice.least_ns < twice.most_ns);
  CHECK(twice.least_ns <= 1'500);
  CHECK(twice.most_ns >= 1'500);
  CHECK(twice.rests_on.find("time of its end alone") != std::string::npos);

  // A queue whose packets were not recorded at all, beside one that is.
  KernelSession blind;
  blind.instruction("Scalar", "DMA_DIRECT2D", 0, 100, sets_off(40), 0, {8192, 0});
  blind.transfer(0, 500, 1'500, 40, "qScalarDynamicHW");
  blind.instruction("Vector", "COPY", 0, 1'000);
  blind.instruction("Vector", "COPY", 1'000, 100);  // nothing lies between two instructions
  blind.instruction("Vector", "TENSOR_REDUCE", 5'000, 1'000, "S[30] (qSyncDynamicHW)>=4", 3'900);
  const auto unknown = blind.graph();
  CHECK(unknown->transfer_waits.unknown == 1);
  const WhatIfResult faster = blind.what_if(*unknown, "dma bandwidth x1000");
  CHECK(faster.least_ns == 0);
  CHECK(faster.most_ns == doctest::Approx(3'900).epsilon(0.01));
  CHECK(faster.rests_on.find("nothing tells") != std::string::npos);
  // A change of the engines alone says nothing about it.
  const WhatIfResult engines = blind.what_if(*unknown, "opcode TENSOR_REDUCE x0.5");
  CHECK(engines.least_ns == 500);
  CHECK(engines.most_ns == 500);
}

TEST_CASE("joins: a wait that a semaphore fulfils on its way down is put down to who raised it") {
  KernelSession session;
  session.instruction("Scalar", "COPY", 0, 1'000, "S[5] (Scalar)++@complete");
  session.set(1'000, "S[5] (Scalar)", 5);
  session.set(2'000, "S[5] (Scalar)", 3);
  session.instruction("Vector", "EVENT_SEMAPHORE", 0, 3'000, "S[5] (Scalar)>=2");
  session.instruction("Vector", "COPY", 3'000, 100);
  const std::shared_ptr<const WorkGraph> graph = session.graph();
  const auto report = attribute_waits(*graph, TimeRange{}, session.pool, session.control);
  REQUIRE(report.ok());
  REQUIRE(report->waits.size() == 1);
  REQUIRE(report->waits.front().source != kNoNode);
  CHECK(graph->end_ns[report->waits.front().source] == 1'000);
}
