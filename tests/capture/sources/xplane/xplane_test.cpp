// What a user sees of an XPlane profile: every event in its row, exact times, every stat, arrows, costs.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/capture/sources/xplane/imported_space.h"

namespace accelscope::capture {
namespace {

using test::XLine;
using test::XPlane;
using test::XSpace;

[[nodiscard]] const EventValues& named(const std::vector<EventValues>& events, std::string_view name) {
  const auto found =
      std::find_if(events.begin(), events.end(), [&](const EventValues& event) { return event.name == name; });
  REQUIRE(found != events.end());
  return *found;
}

[[nodiscard]] const TrackSnapshot& track_of(const Imported& session, std::string_view name) {
  for (const TrackSnapshot& track : session.snapshot().tracks) {
    if (track.track->name == name) return track;
  }
  FAIL("no such row: " << std::string(name));
  return session.snapshot().tracks.front();
}

}  // namespace

TEST_CASE("a TPU's lines become rows of the kinds that they are, whichever way round the file is") {
  for (const bool metadata_first : {false, true}) {
    const Imported session = imported_space(test::small_tpu_space(metadata_first));
    CHECK(session.count("step") == 1);
    CHECK(session.count("xla_module") == 1);
    CHECK(session.count("xla_op") == 6);
    CHECK(session.count("xla_async_op") == 3);
    CHECK(session.count("xla_annotation") == 1);
    CHECK(session.count("host_event") == 2);
    CHECK(session.count("python_function") == 1);
    CHECK(session.count("memory") == 2);
    CHECK(track_of(session, "XLA Ops").track->kind == "engine");
    CHECK(track_of(session, "XLA Ops").track->device == "TPU 0");
    CHECK(track_of(session, "XLA Modules").track->kind == "layer");
    CHECK(track_of(session, "Async XLA Ops").track->kind == "dma_queue");
    CHECK(track_of(session, "Async XLA Ops").lanes.size() == 2);  // they overlap, and none is lost
    CHECK(track_of(session, "Async XLA Ops, collectives").track->kind == "collective");
    CHECK(track_of(session, "XLA Ops, collectives").track->kind == "collective");
    CHECK(track_of(session, "XLA TraceMe, waits").track->kind == "barrier");
    CHECK(track_of(session, "python python").track->host == "tpu-vm-0");
    CHECK(track_of(session, "HBM bandwidth").track->kind == "counter");
    CHECK(session.snapshot().meta_value("begin_unix_ns") == std::to_string(1'771'595'650'217'823'548 + 90));
    CHECK(session.snapshot().meta_value("device.0.name") == "TPU v6 Lite");
  }
}

TEST_CASE("times of an XPlane profile are exact to the picosecond") {
  const Imported session = imported_space(test::small_tpu_space());
  const std::vector<EventValues> ops = session.events("xla_op");
  std::int64_t sum_ps = 0;
  for (const EventValues& op : ops) sum_ps += op.integer("dur_ps").value_or((op.end - op.begin) * 1000);
  CHECK(sum_ps == 5'000'250 + 1'000'001 + 1'000'000 + 10 + 500'000 + 1'000'000);
  const auto dot = std::find_if(ops.begin(), ops.end(), [](const EventValues& op) { return op.integer("start_ps"); });
  REQUIRE(dot != ops.end());
  CHECK(dot->integer("start_ps") == 100'125);
  CHECK(dot->begin == 10);  // since the first event, at 90 ns
  // The clock itself counts picoseconds.
  const auto clock = std::find_if(session.snapshot().clocks.begin(), session.snapshot().clocks.end(),
                                  [](const auto& each) { return each->ticks_per_ns == 1000; });
  CHECK(clock != session.snapshot().clocks.end());
}

TEST_CASE("what an operation costs comes from its metadata and is counted once") {
  const Imported session = imported_space(test::small_tpu_space());
  const std::vector<EventValues> ops = session.events("xla_op");
  const EventValues& dot = named(ops, "dot");
  CHECK(dot.string("hlo") == "%dot = f32[8,8] dot(a, b)");
  CHECK(dot.string("layer") == "jit(f)/dense/dot_general");
  CHECK(dot.string("tf_op") == "jit(f)/dense/dot_general:");
  CHECK(dot.string("source") == "/w/model.py:33");
  CHECK(static_cast<std::uint64_t>(dot.integer("program_id").value()) == 0xFEDCBA9876543210ULL);
  CHECK(dot.integer("flops") == 1024);
  CHECK(dot.integer("work_flops") == 1024);
  CHECK(dot.integer("bytes") == 512);
  CHECK(named(ops, "while").integer("flops") == 100);
  CHECK_FALSE(named(ops, "while").integer("work_flops"));  // its body's operations have their own
  CHECK(named(ops, "copy-done").integer("bytes_accessed") == 4096);
  CHECK_FALSE(named(ops, "copy-done").integer("bytes"));
  CHECK(named(session.events("xla_async_op"), "copy-start").integer("bytes") == 4096);
  CHECK(quality_count(session, "values_left_out") == 1);
  // Waiting for a transfer is no work.
  const Schema& schema = *session.snapshot().lanes[track_of(session, "XLA Ops").lanes.front()].schema;
  CHECK(schema.wait_names == std::vector<std::string>{"copy-done"});
  CHECK(schema.columns[*schema.find(Role::layer)].name == "layer");
  CHECK(schema.columns[*schema.find(Role::flops)].name == "work_flops");
}

TEST_CASE("producers and consumers, launches and kernels are joined by arrows") {
  const Imported session = imported_space(test::small_tpu_space());
  const std::vector<EventValues> flows = session.events("dependency");
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].name == "TpuLaunch");
  CHECK(flows[0].integer("id") == -5);
  CHECK(static_cast<EventId>(flows[0].integer("source_event").value()) ==
        named(session.events("host_event"), "tpu::System::Execute").id);
  CHECK(static_cast<EventId>(flows[0].integer("target_event").value()) ==
        named(session.events("xla_module"), "jit_f(77)").id);
  CHECK(session.quality("flow_without_partner") == nullptr);
}

TEST_CASE("memory events of an XPlane profile say which bytes, a release those of its allocation") {
  const Imported session = imported_space(test::small_tpu_space());
  const std::vector<EventValues> memory = session.events("memory");
  CHECK(named(memory, "MemoryAllocation").integer("Bytes") == 256);
  CHECK(named(memory, "MemoryDeallocation").integer("Bytes") == -256);
  CHECK(named(memory, "MemoryDeallocation").integer("Addr") == 4096);
  CHECK(quality_count(session, "memory_estimated") == 1);
}

TEST_CASE("a GPU's streams hold kernels, copies and sets with what the profiler says of them") {
  XPlane gpu("/device:GPU:1");
  gpu.event_name(1, "gemm");
  gpu.event_name(2, "MemcpyH2D");
  gpu.event_name(3, "Memset");
  gpu.event_name(4, "ncclDevKernel_AllReduce");
  gpu.event_name(5, "train 5");
  const auto details = [&](const char* text) { return gpu.reference("kernel_details", text); };
  gpu.add(
      XLine(7, "Stream #7(Compute,MemcpyH2D,Memset)", 0)
          .event(1, 5'000'000, 1'000'000,
                 {gpu.natural("correlation_id", 31), gpu.text("context_id", "$$2"),
                  details("regs:64 static_shared:16 dynamic_shared:1024 grid:4,5,6 block:32,2,1 occ_pct:62.5")})
          .event(1, 7'000'000, 1'000'000,
                 {gpu.natural("correlation_id", 32), details("regs:2191500840 grid:1,1,1 block:9000,1,1 occ_pct:0")})
          .event(2, 9'000'000, 2'000'000,
                 {gpu.reference("memcpy_details", "kind_src:pinned kind_dst:device size:4000 dest:0 async:1")})
          .event(3, 12'000'000, 1'000'000, {gpu.reference("Memset_details", "kind:device num_bytes:64 async:1")})
          .event(4, 14'000'000, 1'000'000, {details("regs:96 grid:1,1,1 block:512,1,1 occ_pct:0")}));
  gpu.add(XLine(-1, "Steps", 0).event(5, 5'000'000, 10'000'000));
  gpu.add(XLine(-2, "XLA Ops", 0).event(1, 5'000'000, 1'000'000));
  XPlane cupti("/host:CUPTI");
  cupti.event_name(1, "cuLaunchKernel");
  cupti.add(XLine(1083, "Host Threads/1083", 0)
                .event(1, 4'000'000, 10'000, {cupti.natural("correlation_id", 31), cupti.natural("device_id", 1)})
                .event(1, 6'000'000, 10'000, {cupti.natural("correlation_id", 32)}));
  XPlane host("/host:CPU");
  host.event_name(1, "EnqueueExecution");
  host.add(XLine(1083, "worker/1083", 0).event(1, 3'500'000, 3'000'000));
  const Imported session = imported_space(XSpace().add(gpu).add(cupti).add(host).bytes());
  const std::vector<EventValues> kernels = session.events("kernel");
  REQUIRE(kernels.size() == 3);
  const auto by = [&](std::int64_t correlation) {
    return *std::find_if(kernels.begin(), kernels.end(),
                         [&](const EventValues& each) { return each.integer("correlation") == correlation; });
  };
  const EventValues good = by(31);
  CHECK(good.track == "stream 7");
  CHECK(good.kind == "stream");
  CHECK(good.device == "GPU 1");
  CHECK(good.string("grid") == "[4, 5, 6]");
  CHECK(good.string("block") == "[32, 2, 1]");
  CHECK(good.integer("registers per thread") == 64);
  CHECK(good.integer("shared memory") == 1040);
  CHECK(good.real("est. achieved occupancy %") == 62.5);
  CHECK(good.integer("context") == 2);
  CHECK(good.integer("stream") == 7);
  const EventValues garbage = by(32);
  CHECK_FALSE(garbage.integer("registers per thread"));
  CHECK(garbage.string("block").empty());
  CHECK(garbage.string("grid") == "[1, 1, 1]");
  CHECK(quality_count(session, "vendor_value_implausible") == 2);
  const EventValues copy = session.events("memcpy").at(0);
  CHECK(copy.track == "memcpy stream 7");
  CHECK(copy.kind == "dma_queue");
  CHECK(copy.integer("bytes") == 4000);
  CHECK(copy.string("kind") == "pinned > device");
  CHECK(copy.real("memory bandwidth (GB/s)") == doctest::Approx(2.0));  // 4000 B in 2 us
  CHECK(session.events("memset").at(0).integer("bytes") == 64);
  CHECK(named(kernels, "ncclDevKernel_AllReduce").kind == "collective");
  CHECK(session.events("step").at(0).kind == "layer");
  CHECK(session.events("xla_op").at(0).kind == "layer");  // the same time once more, so no work
  // One thread, two planes.
  CHECK(session.events("runtime_call").at(0).track == "worker/1083 runtime");
  CHECK(session.events("host_event").at(0).track == "worker/1083 events");
  CHECK(session.count("dependency") == 2);
}

TEST_CASE("a stat's column has a type that fits every value of it") {
  XPlane host("/host:CPU");
  host.event_name(1, "a", "", {host.text("mixed", "constant"), host.number("overridden", 1)});
  host.event_name(2, "b");
  host.add(
      XLine(1, "t", 0)
          .event(1, 0, 1'000, {host.natural("wide", ~std::uint64_t{0}), host.number("whole", -3)})
          .event(1, 2'000, 1'000, {host.number("overridden", 2), host.real("half", 0.5), host.number("name", 5)})
          .event(2, 4'000, 1'000, {host.number("mixed", 7), host.number("half", 3), host.text("dur_ns", "vendor's")})
          .event(2, 6'000, 1'000, {host.natural("both", ~std::uint64_t{0}), host.reference("ref", "the text")})
          .event(2, 8'000, 1'000, {host.number("both", -1), host.natural("whole", 4)}));
  const Imported session = imported_space(XSpace().add(host).bytes());
  const std::vector<EventValues> events = session.events("host_event");
  REQUIRE(events.size() == 5);
  CHECK(static_cast<std::uint64_t>(events[0].integer("wide").value()) == ~std::uint64_t{0});
  CHECK(events[0].integer("whole") == -3);
  CHECK(events[0].string("mixed") == "constant");
  CHECK(events[0].integer("overridden") == 1);
  CHECK(events[1].integer("overridden") == 2);  // the event's own
  CHECK(events[1].real("half") == 0.5);
  CHECK(events[1].integer("op_name") == 5);
  CHECK(events[2].string("mixed") == "7");
  CHECK(events[2].real("half") == 3.0);
  CHECK(events[2].string("dur_ns") == "vendor's");
  CHECK(events[3].string("both") == "18446744073709551615");
  CHECK(events[4].string("both") == "-1");
  CHECK(events[3].string("ref") == "the text");
  CHECK(events[4].integer("whole") == 4);
}

TEST_CASE("texts of one event that are packed keep what each of them says") {
  XPlane plane("/device:GPU:0");
  // Kernel details and the operation's name are read at once, and each may be packed.
  plane.event_name(1, "gemm");
  const std::string details = "regs:32 grid:8,1,1 block:64,1,1";
  XLine line(7, "Stream #7(Compute)", 100);
  line.event(1, 5'000, 2'500,
             {plane.packed("kernel_details", gzip_of(details)), plane.packed("tf_op", gzip_of("jit(f)/layer/add:")),
              plane.packed("note", gzip_of(std::string(40'000, 'n')))});
  plane.add(line);
  const Imported session = imported_space(XSpace().add(plane).bytes());
  const std::vector<EventValues> kernels = session.events("kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].string("kernel_details") == details);
  CHECK(kernels[0].string("tf_op") == "jit(f)/layer/add:");
  CHECK(kernels[0].string("note").size() == 40'000);
  CHECK(kernels[0].string("grid") == "[8, 1, 1]");
}

TEST_CASE("lines that tell the time of day lie beside those that count from the profile's begin") {
  XPlane host("/host:CPU");
  host.event_name(1, "a");
  const std::int64_t begin = 1'700'000'000'000'000'000;
  host.add(XLine(1, "day", begin + 5'000).event(1, 0, 1'000'000));
  host.add(XLine(2, "since", 7'000).event(1, 0, 1'000'000));
  XPlane environment("Task Environment");
  environment.add_stat(environment.natural("profile_start_time", static_cast<std::uint64_t>(begin)));
  const Imported session = imported_space(XSpace().add(host).add(environment).bytes());
  const std::vector<EventValues> events = session.events("host_event");
  REQUIRE(events.size() == 2);
  CHECK(std::abs(events[0].begin - events[1].begin) == 2'000);
  CHECK(session.snapshot().meta_value("begin_unix_ns") == std::to_string(begin + 5'000));
}

TEST_CASE("a profile that is too long for picoseconds is read in ns, and says so") {
  XPlane host("/host:CPU");
  host.event_name(1, "a");
  const std::int64_t year = 365LL * 86'400 * 1'000'000'000;
  host.add(XLine(1, "t", 0).event(1, 0, 1'500));
  host.add(XLine(2, "u", year).event(1, 700, 1'500));
  const Imported session = imported_space(XSpace().add(host).bytes());
  const std::vector<EventValues> events = session.events("host_event");
  REQUIRE(events.size() == 2);
  CHECK(std::max(events[0].begin, events[1].begin) == year);
  CHECK(std::max(events[0].end, events[1].end) == year + 2);
  CHECK(session.quality("time_unit") != nullptr);
}

TEST_CASE("totals without times are a table, and names that are missing are counted") {
  XPlane tpu("/device:TPU:0");
  tpu.event_name(1, "fusion");
  tpu.add(XLine(1, "XLA Ops", 0).total(1, 12, 3'000'500).event(77, 0, 1'000));
  const Imported session = imported_space(XSpace().add(tpu).warning("trace buffer was full").bytes());
  const std::vector<EventValues> totals = session.events("xla_total");
  REQUIRE(totals.size() == 1);
  CHECK(totals[0].integer("occurrences") == 12);
  CHECK(totals[0].integer("total_ps") == 3'000'500);
  CHECK(session.events("xla_op").at(0).name == "event 77");
  CHECK(quality_count(session, "names_left_out") == 1);
  CHECK(session.quality("profiler_message") != nullptr);
}

}  // namespace accelscope::capture
