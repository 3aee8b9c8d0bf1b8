#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "capture/sim/kernel/demo_source.h"
#include "capture/sim/kernel/trace.h"
#include "capture/sim/output/simulator.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "tests/capture/recording_sink.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

void run(RecordingSink& sink, const sim::SimulationOptions& options) {
  const Result<void> done = sim::simulate(options, sink);
  REQUIRE(done.ok());
}

const RecordingSink& recorded() {
  static const auto sink = [] {
    auto made = std::make_unique<RecordingSink>();
    run(*made, {.seed = 3, .kernels = 2});
    return made;
  }();
  return *sink;
}

std::vector<RecordedEvent> events_of(const std::string& schema) {
  std::vector<RecordedEvent> all;
  for (RecordedEvent& event : recorded().events()) {
    if (recorded().schema_of(event).name == schema) all.push_back(std::move(event));
  }
  return all;
}

std::size_t column(const RecordedEvent& event, std::string_view name) {
  return recorded().schema_of(event).find(name).value();
}

std::int64_t integer(const RecordedEvent& event, std::string_view name) {
  return recorded().view(event).int64(column(event, name), event.row);
}

std::string text(const RecordedEvent& event, std::string_view name) {
  const std::size_t place = column(event, name);
  const ChunkView chunk = recorded().view(event);
  if (!chunk.has_value(place, event.row)) return {};
  return recorded().strings.at(chunk.uint64(place, event.row));
}

std::vector<sim::KernelTrace> traces(const sim::SimulationOptions& options) {
  sim::TracedRun simulated(options);
  std::vector<sim::KernelTrace> all;
  while (simulated.advance()) {
    all.insert(all.end(), simulated.traces().begin(), simulated.traces().end());
  }
  // The programs belong to the run.
  static std::vector<std::unique_ptr<sim::KernelProgram>> programs;
  for (sim::KernelTrace& trace : all) {
    programs.push_back(std::make_unique<sim::KernelProgram>(*trace.program));
    trace.program = programs.back().get();
  }
  return all;
}

}  // namespace

TEST_CASE("the same seed gives the same full session, byte by byte") {
  RecordingSink first, second, other;
  run(first, {.seed = 5, .kernels = 1, .devices = 2});
  run(second, {.seed = 5, .kernels = 1, .devices = 2});
  run(other, {.seed = 6, .kernels = 1, .devices = 2});
  CHECK(first.definition_bytes == second.definition_bytes);
  REQUIRE(first.chunks.size() == second.chunks.size());
  bool differs = false;
  for (std::size_t index = 0; index < first.chunks.size(); ++index) {
    REQUIRE(first.chunks[index].bytes == second.chunks[index].bytes);
    differs = differs || index >= other.chunks.size() || first.chunks[index].bytes != other.chunks[index].bytes;
  }
  CHECK(differs);
}

TEST_CASE("later chips are as fast as their documents say: clocks, memories and the time of the same kernels") {
  const auto run_of = [](analysis::neuron::Chip chip) {
    auto sink = std::make_unique<RecordingSink>();
    sim::SimulationOptions options{.seed = 5, .kernels = 1};
    options.shape.core = sim::core_model(chip);
    run(*sink, options);
    return sink;
  };
  const auto busy_of = [](const RecordingSink& sink, std::string_view opcode) {
    std::int64_t total = 0;
    for (const RecordedEvent& event : sink.events()) {
      if (event.name == opcode) total += event.end - event.start;
    }
    return static_cast<double>(total);
  };
  const auto first = run_of(analysis::neuron::Chip::trn1);
  const auto second = run_of(analysis::neuron::Chip::trn2);
  const auto third = run_of(analysis::neuron::Chip::trn3);
  CHECK(first->meta.at("instance_type") == "simulated");
  CHECK(second->meta.at("instance_type") == "trn2, simulated");
  CHECK(second->meta.at("pe_clock_freq") == "2.4");
  CHECK(second->meta.at("capacity.SBUF") == std::to_string(28 << 20));
  CHECK(second->meta.at("hbm_ddr_bandwidth") == "362500000000");
  CHECK(third->meta.at("capacity.SBUF") == std::to_string(32 << 20));
  CHECK(third->meta.at("hbm_ddr_bandwidth") == "612500000000");
  // Columns move at half of the array's clock.
  CHECK(busy_of(*second, "MATMUL") == doctest::Approx(busy_of(*first, "MATMUL") * 2.8 / 2.4).epsilon(0.02));
  // Vector engines: 1.12, 0.96 and 1.2 GHz.
  CHECK(busy_of(*second, "TENSOR_TENSOR") > busy_of(*first, "TENSOR_TENSOR"));
  CHECK(busy_of(*third, "TENSOR_TENSOR") < busy_of(*first, "TENSOR_TENSOR"));
}

TEST_CASE("a simulated session has every kind of track that the viewer draws") {
  std::set<std::string> kinds;
  std::set<std::string> used;
  for (const RecordedEvent& event : recorded().events()) {
    used.insert(recorded().schema_of(event).name);
    kinds.insert(recorded().tracks.at(event.track).kind);
  }
  for (const char* kind : {"engine", "dma_queue", "cc_core", "collective", "counter", "memory", "throttle", "semaphore",
                           "error", "layer", "flow", "table"}) {
    CAPTURE(kind);
    CHECK(kinds.count(kind) == 1);
  }
  for (const char* schema : {"instruction",     "dma",
                             "dma_transfer",    "semaphore_update",
                             "cc_op",           "cc_instruction",
                             "pending_dma",     "dma_throughput",
                             "hbm_throughput",  "sbuf_usage",
                             "psum_usage",      "pe_utilization",
                             "throttle",        "active_time",
                             "layer_summary",   "neff_node",
                             "dma_queues_info", "nc_mem_usage",
                             "neff_header",     "model_info",
                             "warnings",        "error",
                             "memory_event",    "dependency"}) {
    CAPTURE(schema);
    CHECK(used.count(schema) == 1);
  }
  CHECK(events_of("error").size() == 1);
}

TEST_CASE("every lane is sorted and gapless, whatever overlaps on its track") {
  std::map<LaneNumber, std::int64_t> ends;
  std::map<LaneNumber, std::uint64_t> ordinals;
  for (const SealedChunk& chunk : recorded().chunks) {
    CHECK(chunk.first_ordinal() == ordinals[chunk.lane()]);
    ordinals[chunk.lane()] += chunk.count();
  }
  for (const RecordedEvent& event : recorded().events()) {
    REQUIRE(event.start >= ends[event.lane]);
    ends[event.lane] = event.end;
  }
}

TEST_CASE("an engine does one thing at a time, except for tables that the Scalar engine loads while it waits") {
  std::map<std::string, std::int64_t> ends;
  std::size_t beside = 0;
  std::vector<RecordedEvent> all = events_of("instruction");
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const RecordedEvent& event : all) {
    if (event.name == "ACT_TABLE_LOAD") {
      ++beside;
      continue;
    }
    std::int64_t& end = ends[text(event, "label")];
    REQUIRE(event.start >= end);
    end = event.end;
  }
  CHECK(beside == 4);
}

TEST_CASE("whatever an event depends on has ended before it starts") {
  std::unordered_map<std::uint64_t, RecordedEvent> by_id;
  for (const auto& [schema, id] : {std::pair("instruction", "id"), {"dma_transfer", "id"}, {"cc_op", "op_id"}}) {
    for (RecordedEvent& event : events_of(schema)) {
      const std::uint64_t key = recorded().view(event).uint64(column(event, id), event.row);
      CHECK(by_id.emplace(key, event).second);
    }
  }
  const std::vector<RecordedEvent> flows = events_of("dependency");
  REQUIRE(flows.size() > 1000);
  for (const RecordedEvent& flow : flows) {
    const RecordedEvent& from = by_id.at(recorded().view(flow).uint64(column(flow, "in_id"), flow.row));
    const RecordedEvent& to = by_id.at(recorded().view(flow).uint64(column(flow, "out_id"), flow.row));
    REQUIRE(from.end <= to.start);
    REQUIRE(integer(flow, "gap_time") == to.start - from.end);
    REQUIRE(flow.start == to.start);
  }
}

TEST_CASE("a wait ends when the last semaphore that it names reaches its value") {
  for (const sim::KernelTrace& trace : traces({.kernels = 1})) {
    if (trace.pass == 0) continue;
    std::map<std::pair<int, std::int64_t>, std::int64_t> reached;
    for (const sim::SemaphoreRecord& update : trace.semaphores) {
      reached.emplace(std::pair(update.semaphore, update.value), update.time);
    }
    std::size_t waits = 0;
    for (const sim::InstructionRecord& record : trace.instructions) {
      const sim::Operation& operation = trace.program->operations[record.operation];
      if (operation.kind != sim::OperationKind::wait) continue;
      ++waits;
      std::int64_t signalled = 0;
      const std::string& operands = trace.program->texts[record.operation].operands;
      for (std::size_t at = operands.find("S["); at != std::string::npos; at = operands.find("S[", at + 1)) {
        const int semaphore = std::stoi(operands.substr(at + 2));
        const std::int64_t value = std::stoll(operands.substr(operands.find(">=", at) + 2));
        REQUIRE(reached.count({semaphore, value}) == 1);
        signalled = std::max(signalled, reached[{semaphore, value}]);
      }
      const std::int64_t end = record.start + record.duration;
      REQUIRE(end >= signalled);
      const bool was_waiting = signalled + sim::kSemaphoreNs > record.start + sim::kShortestWaitNs;
      REQUIRE(end == (was_waiting ? signalled + sim::kSemaphoreNs : record.start + sim::kShortestWaitNs));
    }
    CHECK(waits > 300);
  }
}

TEST_CASE("the bytes and operations of a pass are those of its matrices") {
  constexpr std::int64_t kMiB = 1 << 20;
  for (const bool resident : {false, true}) {
    const std::vector<sim::KernelTrace> all = traces({.kernels = 1, .resident_weights = resident});
    const sim::KernelTrace& trace = all.at(1);
    std::int64_t model = 0, transposes = 0, read = 0, packets = 0, weights = 0;
    for (const sim::InstructionRecord& record : trace.instructions) {
      const sim::OperationText& what = trace.program->texts[record.operation];
      (what.transpose ? transposes : model) += 2 * what.elements;
      read += what.hbm_read;
      weights += what.weight_bytes;
    }
    for (const sim::PacketRecord& packet : trace.packets) packets += packet.semaphore ? 0 : packet.bytes;
    // Two products of 512 x 1024 x 2048; four heads of 512 queries, 512 keys and 128 columns, twice.
    CHECK(model == 2LL * 2 * 512 * 1024 * 2048 + 2LL * 2 * 4 * 512 * 512 * 128);
    // x and a once, p once per head: tiles of 128 x 128 times the identity.
    CHECK(transposes == 2LL * 128 * 128 * 128 * (4 * 8 + 4 * 4 * 4 + 4 * 4 * 4));
    // w1 and w2 of 4 MiB are read for each of four blocks of rows, or once.
    CHECK(weights == (resident ? 1 : 4) * 8 * kMiB);
    CHECK(read == weights + kMiB + kMiB / 4 + 3 * kMiB / 2 + kMiB / 2);
    CHECK(packets == read + kMiB + kMiB / 2 + kMiB / 2);
    CHECK(trace.throughput.back().hbm_total == packets);
  }
}

TEST_CASE("every tile that is allocated is released, and no two share an address at a time") {
  for (const bool resident : {false, true}) {
    for (const sim::KernelTrace& trace : traces({.kernels = 1, .resident_weights = resident})) {
      std::map<std::pair<sim::Pool, std::uint64_t>, std::int64_t> alive;
      for (const sim::MemoryRecord& record : trace.memory) {
        const std::pair place(record.pool, record.address);
        if (record.bytes > 0) {
          REQUIRE(alive.emplace(place, record.bytes).second);
        } else {
          REQUIRE(alive.count(place) == 1);
          REQUIRE(alive[place] == -record.bytes);
          alive.erase(place);
        }
      }
      CHECK(alive.empty());
      for (const sim::SbufRecord& record : trace.sbuf) REQUIRE((record.bytes >= 0 && record.bytes <= sim::kSbufBytes));
      for (const sim::PsumRecord& record : trace.psum) {
        for (std::size_t bank = 0; bank < record.bytes.size(); ++bank) {
          REQUIRE((record.bank(bank) >= 0 && record.bank(bank) <= 1));
        }
      }
      if (!trace.sbuf.empty()) CHECK(trace.sbuf.back().bytes == 0);
    }
  }
}

TEST_CASE("resident weights take more SBUF and less time") {
  const sim::KernelTrace streamed = traces({.kernels = 1}).at(1);
  const sim::KernelTrace resident = traces({.kernels = 1, .resident_weights = true}).at(1);
  const auto peak = [](const sim::KernelTrace& trace) {
    return std::max_element(trace.sbuf.begin(), trace.sbuf.end(),
                            [](const auto& a, const auto& b) { return a.bytes < b.bytes; })
        ->bytes;
  };
  CHECK(peak(resident) > 2 * peak(streamed));
  CHECK(resident.end - resident.begin < streamed.end - streamed.begin);
}

TEST_CASE("source lines and stacks lead into the source file of the session") {
  REQUIRE(recorded().source_files.size() == 1);
  const std::string& source = recorded().source_files.front().content;
  const auto lines = std::count(source.begin(), source.end(), '\n');
  std::set<std::string> places;
  for (const RecordedEvent& event : events_of("instruction")) {
    const std::string place = text(event, "nki_source_location");
    if (!place.empty()) places.insert(place);
    if (!place.empty()) REQUIRE(text(event, "stack_frames").find(place) != std::string::npos);
  }
  CHECK(places.size() > 20);
  for (const std::string& place : places) {
    CHECK(place.starts_with(std::string(sim::kDemoFile) + ":"));
    const int line = std::stoi(place.substr(sim::kDemoFile.size() + 1));
    CHECK((line >= 1 && line <= lines));
  }
  CHECK(source.find("nisa.nc_matmul") != std::string::npos);
}

TEST_CASE("work begins after a long idle start-up, and pending DMA drains") {
  std::int64_t first_matmul = INT64_MAX;
  for (const RecordedEvent& event : events_of("instruction")) {
    if (event.name == "MATMUL") first_matmul = std::min(first_matmul, event.start);
  }
  CHECK(first_matmul > 1'800'000);
  for (const sim::KernelTrace& trace : traces({.kernels = 2, .devices = 2})) {
    if (!trace.pending.empty()) CHECK(trace.pending.back().value == 0);
    for (const sim::CountRecord& record : trace.pending) REQUIRE(record.value >= 0);
  }
}

TEST_CASE("ranks start a collective together") {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::int64_t> starts;
  for (const sim::KernelTrace& trace : traces({.kernels = 2, .devices = 3})) {
    for (const sim::CollectiveRecord& record : trace.collectives) {
      const auto [known, fresh] = starts.emplace(std::pair(trace.pass, record.operation), record.start);
      CHECK(known->second == record.start);
      CHECK(record.arrival <= record.start);
    }
  }
  CHECK(starts.size() == 2 * 5);
}

TEST_CASE("the figures of a run follow from each other as the vendor's do") {
  const auto value = [](const char* name) { return recorded().metrics.at(name).value; };
  CHECK(value("mfu_estimated_percent") ==
        doctest::Approx(value("model_flops") / (value("total_time") * 2 * 128 * 128 * 2.8e9)));
  CHECK(value("mbu_estimated_percent") ==
        doctest::Approx((value("hbm_read_bytes") + value("hbm_write_bytes")) / value("total_time") / 410e9));
  CHECK(value("dma_active_time_percent") == doctest::Approx(value("dma_active_time") / value("total_time")));
  CHECK(value("model_flops") == value("hardware_flops") - value("transpose_flops"));
  CHECK(value("tensor_engine_active_time") <= value("total_active_time"));
  CHECK(value("total_active_time") < value("total_time"));
}

TEST_CASE("options out of range are refused with what to choose") {
  RecordingSink sink;
  CHECK(sim::simulate({.devices = 0}, sink).message().find("1 to 64") != std::string::npos);
  CHECK_FALSE(sim::simulate({.rate_events_per_second = 0}, sink).ok());
}
