// Each rule about devices that a host feeds, and about chips of many cores: a session that must raise it with the
// planted cost, and one that must not.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "core/analysis/advice/words.h"
#include "core/analysis/dependencies/dependencies.h"
#include "tests/core/analysis/advice/planted_session.h"

using namespace accelscope;
using namespace accelscope::analysis;
using test::PlantedSession;

namespace {

// A further source of the session, such as another rank.
struct PlantedRank {
  StoreSink sink;
  SessionWriter writer{sink};
  TrackNumber stream = 0, thread = 0;

  PlantedRank(Store& store, const char* device, bool has_host) : sink(store) {
    const SchemaNumber kernel = writer.add_schema({.name = "kernel"});
    stream = writer.add_track({.name = "stream 7", .kind = "stream", .device = device, .schema = kernel});
    if (!has_host) return;
    const SchemaNumber call = writer.add_schema({.name = "call"});
    thread = writer.add_track({.name = "11 python", .kind = "host_thread", .schema = call});
  }
  void work(TrackNumber on, std::int64_t begin, std::int64_t length, const char* name) {
    writer.begin_event(on, begin, length, writer.intern(name));
  }
};

}  // namespace

TEST_CASE("advice: the gaps of a rank are put down to its own host, and each rank compiles for itself") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), thread = session.thread("11 python");
  PlantedRank other(*session.store, "gpu 1", true), bare(*session.store, "gpu 2", false);
  for (int i = 0; i < 20; ++i) {
    session.work(stream, i * 20'000, 10'000, "gemm");
    other.work(other.stream, i * 20'000, 10'000, "gemm");
    bare.work(bare.stream, i * 20'000, 10'000, "gemm");
    other.work(other.thread, i * 20'000 + 10'100, 9'800, "DataLoader.__next__");
    session.work(thread, i * 20'000 + 10'100, 9'800, "optimizer.step");
  }
  for (int i = 0; i < 2; ++i) {
    session.work(thread, i * 100'000 + 1'000, 8'000, "clBuildProgram");
    other.work(other.thread, i * 100'000 + 1'000, 8'000, "clBuildProgram");
  }
  REQUIRE(other.writer.finish());
  REQUIRE(bare.writer.finish());
  const auto advice = session.advice();
  std::vector<std::string> launching, loading;
  for (const Finding& each : advice->findings) {
    CHECK(each.rule->id != RuleId::recompilation);
    if (each.rule->id == RuleId::launch_gaps) {
      launching.push_back(each.device);
      CHECK(each.places.front().note == "host in optimizer.step");
    }
    if (each.rule->id == RuleId::loader_waits) loading.push_back(each.device);
  }
  std::sort(loading.begin(), loading.end());
  CHECK(launching == std::vector<std::string>{"gpu 0"});
  CHECK(loading == std::vector<std::string>{"gpu 1", "gpu 2"});  // gpu 2's source has no host: all are asked
}

TEST_CASE("advice: of processes that one source recorded each device waits for that which launches on it") {
  const auto store = std::move(Store::create()).value();
  StoreSink sink(*store);
  SessionWriter writer(sink);
  const SchemaNumber kernel = writer.add_schema({.name = "kernel"});
  const SchemaNumber call = writer.add_schema({.name = "call", .wait_names = {"cudaStreamSynchronize"}});
  const SchemaNumber flow =
      writer.add_schema({.name = "flow",
                         .kind = EventKind::flow,
                         .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source_event},
                                     {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target_event}}});
  const TrackNumber arrows = writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
  constexpr int kProcesses = 2;
  TrackNumber threads[kProcesses] = {}, streams[kProcesses] = {};
  for (int p = 0; p < kProcesses; ++p) {
    threads[p] = writer.add_track(
        {.name = "Main thread", .kind = "host_thread", .host = "python (" + std::to_string(p) + ")", .schema = call});
    streams[p] = writer.add_track(
        {.name = "stream 7", .kind = "stream", .device = "gpu " + std::to_string(p), .schema = kernel});
  }
  const char* const calls[kProcesses] = {"DataLoader.__next__", "optimizer.step"};
  for (std::int64_t i = 0; i < 20; ++i) {
    for (int p = 0; p < kProcesses; ++p) {
      const EventId launch = writer.begin_event(threads[p], i * 20'000, 5, writer.intern("cudaLaunchKernel")).id();
      const EventId run = writer.begin_event(streams[p], i * 20'000 + 10, 10'000, writer.intern("gemm")).id();
      writer.begin_event(threads[p], i * 20'000 + 10'100, 9'800, writer.intern(calls[p]));
      Row row = writer.begin_event(arrows, i * 20'000, 0, writer.intern("launch"));
      row.unsigned_integer(0, launch);
      row.unsigned_integer(1, run);
    }
  }
  REQUIRE(writer.finish().ok());
  WorkerPool pool(2);
  TaskControl control;
  const QueryContext query{*store, store->snapshot(), pool, control};
  const auto dependencies = Dependencies::build(query);
  REQUIRE(dependencies.ok());
  const auto advice = find_advice(query, {}, dependencies->get());
  REQUIRE(advice.ok());
  std::vector<std::string> launching, loading;
  for (const Finding& each : (*advice)->findings) {
    if (each.rule->id == RuleId::launch_gaps) {
      launching.push_back(each.device);
      CHECK(each.places.front().note == "host in optimizer.step");
    }
    if (each.rule->id == RuleId::loader_waits) loading.push_back(each.device);
  }
  CHECK(loading == std::vector<std::string>{"gpu 0"});
  CHECK(launching == std::vector<std::string>{"gpu 1"});
}

TEST_CASE("advice: a device that idles between launches costs the gaps, not the pauses of any stream") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7");
  for (int i = 0; i < 100; ++i) {
    session.work(stream, i * 20'000, 10'000, "gemm");
    session.work(stream, i * 20'000 + 10'500, 1'500, "relu");  // half a us before it
  }
  const Finding* found = session.found(RuleId::launch_gaps);
  CHECK_PLANTED(found, 99 * 8'000);
  CHECK(found->count == 99);
  CHECK(found->places.size() == 99);

  PlantedSession busy;
  const TrackNumber other = busy.stream("stream 7");
  for (int i = 0; i < 100; ++i) busy.work(other, i * 20'000, 18'000, "gemm");
  CHECK(busy.found(RuleId::launch_gaps) == nullptr);
}

TEST_CASE("advice: a gap says where the host was for half of it or more") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), thread = session.thread("11 python");
  for (int i = 0; i < 5; ++i) session.work(stream, i * 20'000, 10'000, "gemm");
  session.work(thread, 0, 90'000, "main");
  session.work(thread, 10'500, 8'000, "optimizer.step");
  session.work(thread, 31'000, 2'000, "short");
  const Finding* found = session.found(RuleId::launch_gaps);
  REQUIRE(found != nullptr);
  REQUIRE(found->places.size() == 4);
  CHECK(found->places[0].note == "host in optimizer.step");
  CHECK(found->places[1].note == "host in main");
}

TEST_CASE("advice: a gap that another stream fills is none") {
  PlantedSession session;
  const TrackNumber first = session.stream("stream 7"), second = session.stream("stream 13");
  for (int i = 0; i < 100; ++i) {
    session.work(first, i * 20'000, 10'000, "gemm");
    session.work(second, i * 20'000 + 10'000, 10'000, "gemm");
  }
  CHECK(session.advice()->findings.empty());
}

TEST_CASE("advice: what a wait of the host costs is replayed: the launches that follow it come late too") {
  PlantedSession session;
  SessionWriter& writer = session.writer;
  const TrackNumber stream = session.stream("stream 7"), thread = session.thread("11 python");
  const SchemaNumber flow =
      writer.add_schema({.name = "flow",
                         .kind = EventKind::flow,
                         .columns = {{.name = "from", .type = ColumnType::uint64, .role = Role::flow_source_event},
                                     {.name = "to", .type = ColumnType::uint64, .role = Role::flow_target_event}}});
  const TrackNumber arrows = writer.add_track({.name = "flows", .kind = "flow", .schema = flow});
  // Ten rounds of five kernels: four are shorter than a launch, so that the host is ahead only after the fifth.
  constexpr std::int64_t kCall = 10'000, kShort = 6'000, kLong = 200'000, kLatency = 1'000, kWake = 2'000;
  std::int64_t now = 0, busy = 0, free = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) {
      const EventId call = writer.begin_event(thread, now, kCall, writer.intern("cudaLaunchKernel")).id();
      now += kCall;
      const std::int64_t begin = std::max(free, now + kLatency), length = i < 4 ? kShort : kLong;
      const EventId run = writer.begin_event(stream, begin, length, writer.intern("gemm")).id();
      free = begin + length;
      busy += length;
      Row row = writer.begin_event(arrows, begin, 0, writer.intern("launch"));
      row.unsigned_integer(0, call);
      row.unsigned_integer(1, run);
    }
    session.work(thread, now, free + kWake - now, "cudaStreamSynchronize");
    now = free + kWake;
  }
  REQUIRE(writer.finish());
  const QueryContext query{*session.store, session.store->snapshot(), session.pool, session.control};
  const auto dependencies = Dependencies::build(query);
  REQUIRE(dependencies.ok());
  const auto advice = find_advice(query, {}, dependencies->get());
  REQUIRE(advice.ok());
  const auto& findings = (*advice)->findings;
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& each) { return each.rule->id == RuleId::synchronising; });
  REQUIRE(found != findings.end());
  CHECK(found->is_replayed);
  const std::int64_t whole = free - kCall - kLatency;
  const std::int64_t first_round = 4 * (kCall - kShort);  // in which the host is not ahead yet
  CHECK_PLANTED(&*found, whole - busy - first_round);
}

TEST_CASE("advice: every gap has one cause, launching, the data loader or a synchronising call") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), thread = session.thread("11 python");
  std::mt19937_64 random(3);
  std::int64_t at = 0, planted[3] = {0, 0, 0}, length = 0;
  for (int i = 0; i < 300; ++i) {
    session.work(stream, at, 12'000, "gemm");
    at += 12'000;
    length = 6'000 + static_cast<std::int64_t>(random() % 5'000);
    const auto cause = random() % 3;
    if (i == 299) break;
    planted[cause] += length;
    if (cause == 1) session.work(thread, at + 100, length - 200, "DataLoader.__next__");
    if (cause == 2) session.work(thread, at - 5'000, 5'500, "cudaStreamSynchronize");
    at += length;
  }
  // Waits for queued work: the gaps meanwhile are not its fault.
  session.work(thread, at + 100, 50'000, "cudaStreamSynchronize");
  CHECK_PLANTED(session.found(RuleId::loader_waits), planted[1]);
  CHECK_PLANTED(session.found(RuleId::synchronising), planted[2]);
  const Finding* launching = session.found(RuleId::launch_gaps);
  if (launching != nullptr) CHECK(launching->saving_ns == planted[0]);
  CHECK(session.found(RuleId::loader_waits)->places.front().note.starts_with("host in DataLoader.__next__"));
}

TEST_CASE("advice: a host that loads and waits beside a busy device costs nothing") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), thread = session.thread("11 python");
  for (int i = 0; i < 100; ++i) session.work(stream, i * 10'000, 9'950, "gemm");
  for (int i = 0; i < 10; ++i) {
    session.work(thread, i * 100'000, 40'000, "DataLoader.__next__");
    session.work(thread, i * 100'000 + 50'000, 40'000, "cudaStreamSynchronize");
  }
  CHECK(session.advice()->findings.empty());
}

TEST_CASE("advice: tiny kernels cost the pauses before them, if they are most") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7");
  for (int i = 0; i < 200; ++i) session.work(stream, i * 5'000, 3'000, "add");
  session.work(stream, 1'000'000 + 30'000, 3'000, "add");  // after a pause of another kind
  CHECK_PLANTED(session.found(RuleId::tiny_kernels), 199 * 2'000);

  PlantedSession few;
  const TrackNumber other = few.stream("stream 7");
  for (int i = 0; i < 100; ++i) {
    few.work(other, i * 20'000, 8'000, "gemm");
    few.work(other, i * 20'000 + 8'200, 3'000, "add");
    few.work(other, i * 20'000 + 12'000, 8'000, "gemm");
  }
  CHECK(few.found(RuleId::tiny_kernels) == nullptr);
}

TEST_CASE("advice: copies that wait for the only stream would be hidden by another one") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), copies = session.copies("memcpy stream 7");
  for (int i = 0; i < 50; ++i) {
    session.work(copies, i * 10'000, 3'000, "Memcpy HtoD");
    session.work(stream, i * 10'000 + 3'000, 7'000, "gemm");
  }
  CHECK_PLANTED(session.found(RuleId::one_stream), 50 * 3'000);

  PlantedSession two;
  const TrackNumber first = two.stream("stream 7"), second = two.stream("stream 13"),
                    other = two.copies("memcpy stream 13");
  for (int i = 0; i < 50; ++i) {
    two.work(other, i * 10'000, 3'000, "Memcpy HtoD");
    two.work(i % 2 == 0 ? first : second, i * 10'000 + 3'000, 7'000, "gemm");
  }
  CHECK(two.found(RuleId::one_stream) == nullptr);
}

TEST_CASE("advice: calls that compile again and again cost their time beyond the first") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7"), thread = session.thread("11 python");
  session.work(stream, 0, 1'000'000, "gemm");
  for (int i = 0; i < 5; ++i) session.work(thread, i * 100'000, 30'000, "clBuildProgram");
  CHECK_PLANTED(session.found(RuleId::recompilation), 4 * 30'000);

  PlantedSession twice;
  const TrackNumber other = twice.stream("stream 7"), caller = twice.thread("11 python");
  twice.work(other, 0, 1'000'000, "gemm");
  for (int i = 0; i < 2; ++i) twice.work(caller, i * 100'000, 30'000, "clBuildProgram");
  CHECK(twice.found(RuleId::recompilation) == nullptr);
}

TEST_CASE("advice: a program that a compiler's lines say is compiled again and again costs its time beyond the first") {
  PlantedSession session;
  const TrackNumber stream = session.stream("stream 7");
  session.work(stream, 0, 1'000'000, "gemm");
  const SchemaNumber line = session.writer.add_schema(
      {.name = "output_line", .kind = EventKind::instant, .columns = {{.name = "text", .type = ColumnType::text}}});
  const TrackNumber out =
      session.writer.add_track({.name = "stdout", .kind = "output", .device = "train.py", .schema = line});
  const auto print = [&](std::int64_t at, const char* text) {
    session.writer.begin_event(out, at, 0, session.writer.intern("line")).text(0, text);
  };
  for (int i = 0; i < 4; ++i) {
    print(i * 100'000, "INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc model.MODULE_a.hlo");
    print(i * 100'000 + 30'000, "Compiler status PASS");
  }
  const Finding* found = session.found(RuleId::recompilation);
  CHECK_PLANTED(found, 3 * 30'000);
  CHECK(found->headline.starts_with("MODULE_a compiled 4 times"));

  PlantedSession nameless;  // which may be of as many programs
  nameless.work(nameless.stream("stream 7"), 0, 1'000'000, "gemm");
  const SchemaNumber other_line = nameless.writer.add_schema(
      {.name = "output_line", .kind = EventKind::instant, .columns = {{.name = "text", .type = ColumnType::text}}});
  const TrackNumber other_out =
      nameless.writer.add_track({.name = "stdout", .kind = "output", .device = "train.py", .schema = other_line});
  for (int i = 0; i < 5; ++i) {
    nameless.writer.begin_event(other_out, i * 100'000, 0, nameless.writer.intern("line"))
        .text(0, "INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc x");
    nameless.writer.begin_event(other_out, i * 100'000 + 30'000, 0, nameless.writer.intern("line"))
        .text(0, "Compiler status PASS");
  }
  CHECK(nameless.found(RuleId::recompilation) == nullptr);
}

TEST_CASE("advice: a run lasts as long as its slowest core, and chips wait between runs") {
  PlantedSession session;
  const TrackNumber runs = session.runs();
  const TrackNumber cores[] = {session.core("core 1,1 BRISC"), session.core("core 1,2 BRISC"),
                               session.core("core 1,2 NCRISC"), session.core("core 2,1 BRISC")};
  for (int i = 0; i < 40; ++i) {
    const std::int64_t at = i * 50'000;
    session.work(runs, at, 30'000, "run");
    session.work(cores[0], at, 30'000, "BRISC-FW");
    session.work(cores[0], at + 1'000, 12'000, "BRISC-KERNEL");
    session.work(cores[1], at + 1'000, 20'000, "BRISC-KERNEL");
    session.work(cores[2], at + 5'000, 22'000, "NCRISC-KERNEL");  // core 1,2 takes 26 us in all
    session.work(cores[3], at + 1'000, 10'000, "BRISC-KERNEL");
  }
  const Finding* found = session.found(RuleId::unbalanced_cores);
  CHECK_PLANTED(found, 40 * (26'000 - (12'000 + 26'000 + 10'000) / 3));
  CHECK(found->headline.find("core 1,2") != std::string::npos);
  CHECK_PLANTED(session.found(RuleId::dispatch_gaps), 39 * 20'000);

  PlantedSession even;
  const TrackNumber other = even.runs(), one = even.core("core 1,1 BRISC"), two = even.core("core 1,2 BRISC");
  for (int i = 0; i < 40; ++i) {
    even.work(other, i * 30'000, 26'000, "run");
    even.work(one, i * 30'000 + 100, 24'000, "BRISC-KERNEL");
    even.work(two, i * 30'000 + 100, 25'000, "BRISC-KERNEL");
  }
  CHECK(even.found(RuleId::unbalanced_cores) == nullptr);
  CHECK(even.found(RuleId::dispatch_gaps) == nullptr);
}

TEST_CASE("advice: a chip waits less than the usual gap where runs are late, and only late runs are told") {
  PlantedSession session;
  const TrackNumber runs = session.runs(), core = session.core("core 1,1 BRISC");
  std::int64_t at = 0;
  for (int i = 0; i < 41; ++i) {
    session.work(runs, at, 30'000, "run");
    session.work(core, at, 30'000, "BRISC-KERNEL");
    at += 30'000 + (i % 2 == 0 ? 4'000 : 20'000);
  }
  CHECK_PLANTED(session.found(RuleId::dispatch_gaps), 20 * (20'000 - 4'000));
  CHECK(session.found(RuleId::dispatch_gaps)->saving_ns == 20 * (20'000 - 4'000));
}

TEST_CASE("advice: waits of cores for data and room cost what the run would take less without them") {
  PlantedSession session;
  const TrackNumber runs = session.runs();
  const TrackNumber cores[] = {session.core("core 1,1 TRISC_0"), session.core("core 2,1 TRISC_0")};
  const TrackNumber totals[] = {session.totals("core 1,1 TRISC_0 totals", cores[0]),
                                session.totals("core 2,1 TRISC_0 totals", cores[1])};
  for (int i = 0; i < 10; ++i) {
    const std::int64_t at = i * 41'000;
    session.work(runs, at, 40'000, "run");
    for (const TrackNumber core : cores) session.work(core, at, 40'000, "TRISC-KERNEL");
    session.waited(totals[0], at + 39'900, "CB-COMPUTE-WAIT-FRONT", 25'000);
    session.waited(totals[1], at + 39'900, "CB-COMPUTE-WAIT-FRONT", 10'000);  // it takes 30 us then
    session.waited(totals[0], at + 39'900, "CB-COMPUTE-RESERVE-BACK", 20'000);
    session.waited(totals[1], at + 39'900, "CB-COMPUTE-RESERVE-BACK", 1'000);  // less than a tenth
    session.waited(totals[1], at + 39'900, "ANOTHER-TOTAL", 40'000);
  }
  const Finding* found = session.found(RuleId::waits_for_data);
  CHECK_PLANTED(found, 10 * 10'000);
  CHECK(found->headline == "Readers bring tiles later than computing needs them in 10 of 10 runs");
  CHECK(found->evidence == "cores wait for data, 43.8 % of their time");
  CHECK(session.found(RuleId::waits_for_room) == nullptr);
  CHECK(session.found(RuleId::few_cores) == nullptr);
}

TEST_CASE("advice: runs on half of a chip's cores or fewer cost what the others could take over") {
  PlantedSession session;
  const TrackNumber runs = session.runs();
  const TrackNumber cores[] = {session.core("core 1,1 BRISC"), session.core("core 2,1 BRISC"),
                               session.core("core 3,1 BRISC"), session.core("core 4,1 BRISC")};
  for (int i = 0; i < 30; ++i) {
    const std::int64_t at = i * 21'000;
    session.work(runs, at, 20'000, "run");
    const std::size_t used = i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 4;
    for (std::size_t core = 0; core < used; ++core) session.work(cores[core], at, 20'000, "BRISC-KERNEL");
  }
  const Finding* found = session.found(RuleId::few_cores);
  CHECK_PLANTED(found, 10 * 15'000);
  CHECK(found->headline == "10 of 30 runs use half of the cores or fewer, down to 1 of 4");
}

TEST_CASE("advice: names of host calls mean what they mean, and nothing else") {
  CHECK(host_call_kind("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") == HostCallKind::loads_data);
  CHECK(host_call_kind("aten::item") == HostCallKind::synchronises);
  CHECK(host_call_kind("cudaMemcpy") == HostCallKind::synchronises);
  CHECK(host_call_kind("cudaMemcpyAsync") == HostCallKind::other);
  CHECK(host_call_kind("aten::add") == HostCallKind::other);
  CHECK(host_call_kind("") == HostCallKind::other);
}
