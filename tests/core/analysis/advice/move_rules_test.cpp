// Each rule about copies, collectives and what they hold up: a session that must raise it with the planted cost, and
// its quiet twin. How findings rank, and which of them mend the same time.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/analysis/advice/words.h"
#include "tests/core/analysis/advice/planted_session.h"

using namespace accelscope;
using namespace accelscope::analysis;
using test::PlantedSession;

namespace {

constexpr const char* kUp = "Memcpy HtoD (Pageable -> Device)";
constexpr const char* kDown = "Memcpy DtoH (Device -> Pageable)";
constexpr std::int64_t kArray = 64 << 20;

// Turns of 10 us of work with a copy of 40 us before it and one of 40 us after it.
void plant_turns(PlantedSession& session, std::int64_t bytes_up, std::int64_t bytes_down) {
  const TrackNumber stream = session.stream("stream 7"), copies = session.copies("memcpy stream 7");
  for (std::int64_t i = 0; i < 20; ++i) {
    session.copy(copies, i * 100'000, 40'000, kUp, bytes_up);
    session.work(stream, i * 100'000 + 40'000, 10'000, "stencil");
    session.copy(copies, i * 100'000 + 50'000, 40'000, kDown, bytes_down);
  }
}

TrackNumber plant_flows(PlantedSession& session) {
  const SchemaNumber flow = session.writer.add_schema(
      {.name = "flow",
       .kind = EventKind::flow,
       .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source_event},
                   {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target_event}}});
  return session.writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
}
void connect(PlantedSession& session, TrackNumber arrows, std::int64_t at, EventId from, EventId to) {
  Row row = session.writer.begin_event(arrows, at, 0, session.writer.intern("launch"));
  row.unsigned_integer(0, from);
  row.unsigned_integer(1, to);
}

}  // namespace

TEST_CASE("advice: an array that goes to the host and back every turn costs its copies, results and batches do not") {
  PlantedSession session;
  plant_turns(session, kArray, kArray);
  const Finding* found = session.found(RuleId::round_trips);
  CHECK_PLANTED(found, 19 * 80'000);
  CHECK(found->headline.find("64 MiB go to the host and come back 19 times") != std::string::npos);
  CHECK(found->evidence.starts_with("copies alone for 88.9 % of the active time"));
  CHECK(found->evidence.find("100.0 % of the time from or to pageable memory") != std::string::npos);
  CHECK(found->share > 0.8);
  CHECK(session.advice()->findings.front().rule->id == RuleId::round_trips);
  CHECK(session.found(RuleId::transfers_alone) == nullptr);  // told as the round trips

  PlantedSession quiet;
  plant_turns(quiet, kArray, kArray / 2);
  CHECK(quiet.found(RuleId::round_trips) == nullptr);
}

TEST_CASE("advice: copies before the first kernel and after the last are work where nothing idles between") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), copies = session.copies("memcpy stream 7");
  session.copy(copies, 0, 1'000, kUp, kArray);  // long before: no part of the work
  session.copy(copies, 1'000'000, 50'000, kUp, kArray);
  session.work(stream, 1'050'100, 10'000, "gemm");
  session.copy(copies, 1'060'200, 140'000, kDown, kArray);
  const Finding* found = session.found(RuleId::transfers_alone);
  CHECK_PLANTED(found, 190'000);
  CHECK(found->headline.find("95.0 %") != std::string::npos);
}

TEST_CASE("advice: transfers that are alone for most of the time are told with what they move, for half of it not") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), copies = session.copies("memcpy stream 7");
  for (std::int64_t i = 0; i < 20; ++i) {
    session.work(stream, i * 100'000, 30'000, "gemm");
    session.copy(copies, i * 100'000 + 30'000, 70'000, "Memcpy HtoD (Pinned -> Device)", 7'000 * (i + 1));
  }
  const Finding* found = session.found(RuleId::transfers_alone);
  CHECK_PLANTED(found, 20 * 70'000);
  CHECK(found->evidence.find("at ") != std::string::npos);

  PlantedSession quiet;
  const TrackNumber works = quiet.stream("stream 7"), moves = quiet.copies("memcpy stream 7");
  for (std::int64_t i = 0; i < 20; ++i) {
    quiet.work(works, i * 100'000, 55'000, "gemm");
    quiet.copy(moves, i * 100'000 + 55'000, 45'000, kUp, 7'000 * (i + 1));
  }
  CHECK(quiet.found(RuleId::transfers_alone) == nullptr);
}

TEST_CASE("advice: pages that migrate inside kernels cost what of the kernels they take, between kernels nothing") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), copies = session.copies("memcpy stream 0");
  for (std::int64_t i = 0; i < 10; ++i) {
    session.work(stream, i * 100'000, 90'000, "add");
    session.copy(copies, i * 100'000 + 10'000, 30'000, "Memcpy Unified HtoD", 1 << 20);
  }
  const Finding* found = session.found(RuleId::page_migrations);
  CHECK_PLANTED(found, 10 * 30'000);
  CHECK(found->remedy.find("MemPrefetchAsync") != std::string::npos);

  PlantedSession quiet;
  const TrackNumber works = quiet.stream("stream 7"), moves = quiet.copies("memcpy stream 0");
  for (std::int64_t i = 0; i < 10; ++i) {
    quiet.work(works, i * 100'000, 60'000, "add");
    quiet.copy(moves, i * 100'000 + 60'000, 30'000, "Memcpy Unified HtoD", 1 << 20);
  }
  CHECK(quiet.found(RuleId::page_migrations) == nullptr);
}

TEST_CASE("advice: a copy that holds up the host costs the device's idle time in its call, one that returns does not") {
  const auto plant = [](PlantedSession& session, std::int64_t call_length) {
    const TrackNumber stream = session.stream("stream 7"), copies = session.copies("memcpy stream 7");
    const TrackNumber thread = session.thread("11 python");
    for (std::int64_t i = 0; i < 20; ++i) {
      session.work(stream, i * 100'000, 50'000, "gemm");
      session.copy(copies, i * 100'000 + 50'000, 2'000, kDown, 8'000 + i);
      session.work(thread, i * 100'000 + 10'000, call_length, "cudaMemcpyAsync");
      session.work(stream, i * 100'000 + 90'000, 2'000, "relu");
    }
  };
  PlantedSession session;
  plant(session, 70'000);  // to 80 us: 28 us of it the device is idle
  const Finding* found = session.found(RuleId::blocking_copies);
  REQUIRE(found != nullptr);
  CHECK(found->least_ns == 20 * 28'000);
  CHECK(found->saving_ns >= 19 * 46'000);  // all gaps: the host that is held up is late to them
  CHECK(found->saving_ns <= 20 * 50'000);
  CHECK(found->headline.starts_with("20 copies hold up the host for 1.4 ms"));
  CHECK(found->evidence == "20 of 20 from or to pageable memory");

  PlantedSession quiet;
  plant(quiet, 5'000);
  CHECK(quiet.found(RuleId::blocking_copies) == nullptr);
}

TEST_CASE("advice: only a thread that launches kernels is held up by its copies") {
  for (const bool launches : {true, false}) {
    CAPTURE(launches);
    PlantedSession session;
    const TrackNumber stream = session.stream("stream 7"), copies = session.copies("memcpy stream 7");
    const TrackNumber main = session.thread("11 python"), other = session.thread("12 pin_memory");
    const TrackNumber arrows = plant_flows(session);
    for (std::int64_t i = 0; i < 20; ++i) {
      const std::int64_t at = i * 100'000;
      const EventId launch =
          session.writer.begin_event(main, at, 5'000, session.writer.intern("cudaLaunchKernel")).id();
      const EventId run = session.writer.begin_event(stream, at + 6'000, 44'000, session.writer.intern("gemm")).id();
      session.copy(copies, at + 50'000, 2'000, kDown, 8'000 + i);
      session.work(launches ? main : other, at + 10'000, 70'000, "cudaMemcpyAsync");
      connect(session, arrows, at, launch, run);
    }
    CHECK((session.found(RuleId::blocking_copies) != nullptr) == launches);
  }
}

TEST_CASE("advice: communication that nothing overlaps is told by its name, what runs beside work is not") {
  const auto plant = [](PlantedSession& session, std::int64_t overlap) {
    const TrackNumber stream = session.stream("stream 7"), other = session.stream("stream 9");
    for (std::int64_t i = 0; i < 20; ++i) {
      session.work(stream, i * 100'000, 60'000, "gemm");
      session.work(other, i * 100'000 + 60'000 - overlap, 40'000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
      session.work(stream, i * 100'000 + 60'000, overlap, "gemm");
    }
  };
  PlantedSession session;
  plant(session, 10'000);
  const Finding* found = session.found(RuleId::exposed_communication);
  CHECK_PLANTED(found, 20 * 20'000);
  CHECK(found->headline.starts_with("AllReduce overlapped by nothing for 400 µs"));
  CHECK(found->evidence.find("20 of AllReduce") != std::string::npos);

  PlantedSession quiet;
  plant(quiet, 39'000);
  CHECK(quiet.found(RuleId::exposed_communication) == nullptr);
}

TEST_CASE("advice: freeing memory in the loop costs the gaps in it, once at the end it costs nothing") {
  const auto plant = [](PlantedSession& session, int frees) {
    const TrackNumber stream = session.stream("stream 0"), thread = session.thread("9 python");
    for (std::int64_t i = 0; i < 20; ++i) {
      session.work(stream, i * 100'000, 10'000, "conv");
      if (i < frees) session.work(thread, i * 100'000 + 5'000, 85'000, "hipFree");
    }
  };
  PlantedSession session;
  plant(session, 20);
  const Finding* found = session.found(RuleId::freeing);
  CHECK_PLANTED(found, 19 * 80'000);
  CHECK(found->count == 19);
  CHECK(found->headline.find("hipFree") != std::string::npos);
  CHECK(session.found(RuleId::launch_gaps) == nullptr);

  PlantedSession quiet;
  plant(quiet, 2);
  CHECK(quiet.found(RuleId::freeing) == nullptr);
  CHECK(quiet.found(RuleId::launch_gaps) != nullptr);
}

TEST_CASE("advice: gaps between replayed graphs are not met with the advice to use graphs") {
  const auto plant = [](PlantedSession& session, const char* call) {
    const TrackNumber stream = session.stream("stream 7"), thread = session.thread("9 python");
    const TrackNumber arrows = plant_flows(session);
    for (std::int64_t i = 0; i < 20; ++i) {
      const EventId launch = session.writer.begin_event(thread, i * 100'000, 5'000, session.writer.intern(call)).id();
      const EventId run =
          session.writer.begin_event(stream, i * 100'000 + 10'000, 30'000, session.writer.intern("gemm")).id();
      connect(session, arrows, i * 100'000, launch, run);
    }
  };
  PlantedSession graphs, launches;
  plant(graphs, "cudaGraphLaunch");
  plant(launches, "cudaLaunchKernel");
  REQUIRE(graphs.found(RuleId::launch_gaps) != nullptr);
  CHECK(graphs.found(RuleId::launch_gaps)->remedy.find("CUDA Graphs") == std::string::npos);
  CHECK(graphs.found(RuleId::launch_gaps)->remedy.find("replayed from graphs already") != std::string::npos);
  REQUIRE(launches.found(RuleId::launch_gaps) != nullptr);
  CHECK(launches.found(RuleId::launch_gaps)->remedy.find("CUDA Graphs") != std::string::npos);
}

TEST_CASE(
    "advice: a host that sets the pace of streams which hardly idle is told with what a replay without it saves") {
  const auto plant = [](PlantedSession& session, bool one_stream) {
    const TrackNumber thread = session.thread("9 python"), arrows = plant_flows(session);
    const TrackNumber first = session.stream("stream 7"), second = one_stream ? first : session.stream("stream 8");
    for (std::int64_t i = 0; i < 40; ++i) {
      const std::int64_t at = i * 50'000;
      const EventId call =
          session.writer.begin_event(thread, at, 5'000, session.writer.intern("cudaLaunchKernel")).id();
      const EventId run =
          session.writer.begin_event(i % 2 == 0 ? first : second, at + 6'000, 45'000, session.writer.intern("gemm"))
              .id();
      connect(session, arrows, at, call, run);
      session.work(thread, at + 5'000, 45'000, "aten::index");
    }
  };
  PlantedSession two, one;
  plant(two, false);
  plant(one, true);
  // Both streams are given all at once: each has 20 kernels to run.
  const Finding* const found = two.found(RuleId::launch_gaps);
  CHECK_PLANTED(found, 39 * 50'000 + 45'000 - 20 * 45'000);
  REQUIRE(found != nullptr);
  CHECK(found->is_replayed);
  CHECK(found->headline.starts_with("The host's own work sets the pace of "));
  CHECK(one.found(RuleId::launch_gaps) == nullptr);  // one after another they take as long as they do
}

TEST_CASE("advice: gaps that a profiler's passes made are not the host's") {
  for (const bool passes : {true, false}) {
    CAPTURE(passes);
    PlantedSession session;
    if (passes) session.writer.set_meta("source_format", "ROCm Compute Profiler analysis");
    const TrackNumber stream = session.stream("queue 0");
    for (std::int64_t i = 0; i < 20; ++i) session.work(stream, i * 1'000'000, 3'000, "gemm");
    CHECK((session.found(RuleId::launch_gaps) == nullptr) == passes);
    if (passes) CHECK(unjudged_text(*session.advice()).find("the pauses between are its own") != std::string::npos);
  }
}

TEST_CASE("advice: sub-devices use their cores, and cost time where they work one after another") {
  const auto plant = [](PlantedSession& session, std::int64_t second) {
    const TrackNumber runs = session.runs();
    const TrackNumber cores[] = {session.core("core 1,1 TRISC_0"), session.core("core 1,2 TRISC_0"),
                                 session.core("core 2,1 TRISC_0"), session.core("core 2,2 TRISC_0")};
    for (std::int64_t i = 0; i < 20; ++i) {
      for (const std::int64_t at : {i * 100'000, i * 100'000 + second}) {
        session.work(runs, at, 40'000, "run");
        for (std::size_t c = 0; c < 2; ++c)
          session.work(cores[(at == i * 100'000 ? 0 : 2) + c], at, 40'000, "TRISC-KERNEL");
      }
    }
  };
  PlantedSession session;
  plant(session, 45'000);
  CHECK(session.found(RuleId::few_cores) == nullptr);
  const Finding* found = session.found(RuleId::serial_parts);
  CHECK_PLANTED(found, 20 * 40'000);
  CHECK(found->headline.starts_with("2 sub-devices work one after another"));

  PlantedSession quiet;
  plant(quiet, 1'000);
  CHECK(quiet.found(RuleId::serial_parts) == nullptr);
  CHECK(quiet.found(RuleId::few_cores) == nullptr);
}

TEST_CASE("advice: an error of the hardware comes first and saves nothing, without one nothing is said of errors") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), errors = session.errors();
  for (std::int64_t i = 0; i < 20; ++i) session.work(stream, i * 100'000, 10'000, "gemm");
  session.work(errors, 500'000, 0, "NaN");
  session.work(errors, 700'000, 0, "out of bounds");
  const auto advice = session.advice();
  REQUIRE(advice->findings.size() > 1);
  const Finding& first = advice->findings.front();
  CHECK(first.is_error);
  CHECK(first.headline.starts_with("NaN at 500 µs, the first of 2 errors"));
  CHECK(saving_text(first).empty());
  CHECK(reported_error(*advice) == &first);
  CHECK(costliest_finding(*advice) == &advice->findings[1]);  // what a verdict tells beside the error
  CHECK(first.count == 2);

  PlantedSession quiet;
  const TrackNumber works = quiet.stream("stream 7");
  for (std::int64_t i = 0; i < 20; ++i) quiet.work(works, i * 100'000, 10'000, "gemm");
  const auto quietly = quiet.advice();
  for (const Finding& each : quietly->findings) CHECK_FALSE(each.is_error);
}

TEST_CASE("advice: findings rank by the middle of what they save, and say which mend the same time") {
  PlantedSession session;
  plant_turns(session, kArray, kArray);
  const auto advice = session.advice();
  REQUIRE(advice->findings.size() > 1);
  for (std::size_t i = 1; i < advice->findings.size(); ++i)
    CHECK(advice->findings[i - 1].expected_ns() >= advice->findings[i].expected_ns());
  const Finding* one_stream = session.found(RuleId::one_stream);
  REQUIRE(one_stream != nullptr);
  REQUIRE(one_stream->same_as.size() == 1);
  CHECK(one_stream->same_as.front() == advice->findings.front().headline);
  CHECK(advice->findings.front().same_as.empty());

  // What is set up once comes last, however long it takes: the session's work does not grow by it.
  PlantedSession setup;
  const TrackNumber stream = setup.stream("stream 7"), thread = setup.thread("11 python");
  setup.work(thread, 0, 1'000, "cudaGetDeviceCount");
  for (std::int64_t i = 0; i < 20; ++i) setup.work(stream, 50'000'000 + i * 100'000, 10'000, "gemm");
  REQUIRE(setup.advice()->findings.size() == 2);
  CHECK(setup.advice()->findings[0].rule->id == RuleId::launch_gaps);
  CHECK(setup.advice()->findings[1].rule->id == RuleId::host_setup);

  Finding interval, replayed;
  interval.least_ns = 10, interval.saving_ns = 30;
  replayed.is_replayed = true, replayed.saving_ns = replayed.least_ns = 25;
  CHECK(interval.expected_ns() == 20);
  CHECK(replayed.expected_ns() == 25);
  CHECK(saving_text(interval) == "saves 10 ns to 30 ns");
  CHECK(saving_text(replayed) == "saves 25 ns");
}

TEST_CASE("advice: a threshold that is quoted is met: a twentieth of idle engines, a fifth of an idle stream") {
  for (const std::int64_t gap : {4'000, 12'000, 30'000}) {
    CAPTURE(gap);
    PlantedSession engines, streams;
    const TrackNumber engine = engines.engine("Tensor"), stream = streams.stream("stream 7");
    for (std::int64_t i = 0; i < 20; ++i) {
      engines.work(engine, i * 100'000, 100'000 - gap);
      streams.work(stream, i * 100'000, 100'000 - gap, "gemm");
    }
    const Finding* const of_engines = engines.found(RuleId::launch_gaps);
    REQUIRE((of_engines != nullptr) == (gap > 5'000));
    if (of_engines != nullptr) CHECK(of_engines->reported.find("for 5 % of the time and more") != std::string::npos);
    const Finding* const of_streams = streams.found(RuleId::launch_gaps);
    REQUIRE((of_streams != nullptr) == (gap > 20'000));
    if (of_streams != nullptr) CHECK(of_streams->reported.find("for more than 20 % of the time") != std::string::npos);
  }
}

TEST_CASE("advice: words of copies tell direction, pageable memory and migration as each driver spells them") {
  CHECK(copy_words("Memcpy HtoD (Pinned -> Device)").direction == CopyDirection::to_device);
  CHECK(copy_words("CopyDeviceToHost").direction == CopyDirection::to_host);
  CHECK(copy_words("MEMORY_COPY_HOST_TO_DEVICE").direction == CopyDirection::to_device);
  CHECK(copy_words("MemcpyD2H").direction == CopyDirection::to_host);
  CHECK(copy_words("Memcpy DtoD (Device -> Device)").direction == CopyDirection::other);
  CHECK(copy_words("Memcpy DtoH (Device -> Pageable)").pageable);
  CHECK(copy_words("Memcpy Unified HtoD").migrates);
  CHECK(replays_graph("hipGraphLaunch"));
  CHECK_FALSE(replays_graph("cudaGraphInstantiate"));
}
