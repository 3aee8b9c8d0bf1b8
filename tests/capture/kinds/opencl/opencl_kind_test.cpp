// The kind `opencl` on a real program: to the last event, and without a trace in what the program sees.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "capture/probe/host/files.h"
#include "capture/request/kind.h"
#include "capture/request/options.h"
#include "tests/capture/kinds/opencl/opencl_run.h"

namespace accelscope::capture {
namespace {

using Counts = std::map<std::string, std::size_t>;

// The events named by the ends of flows of a reason.
std::vector<std::pair<std::int64_t, std::int64_t>> flows(const OpenclRun& run, const std::string& reason) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const RecordedEvent& flow : run.table("dependency")) {
    if (flow.name != reason) continue;
    found.emplace_back(run.number(flow, "source_command").value(), run.number(flow, "target_command").value());
  }
  return found;
}

std::map<std::int64_t, RecordedEvent> by_key(const OpenclRun& run) {
  std::map<std::int64_t, RecordedEvent> events;
  for (const char* table : {"kernel", "memcpy", "map", "sync"}) {
    for (const RecordedEvent& event : run.table(table)) {
      CHECK(events.try_emplace(run.number(event, "command").value(), event).second);
    }
  }
  return events;
}

}  // namespace

TEST_CASE("a program that uses OpenCL computes, prints and returns the same with and without a capture") {
  if (!opencl_is_there()) return;
  for (const char* what : {"work", "crash", "_exit", "exec", "fork"}) {
    CAPTURE(what);
    const OpenclRun plain = run_plain({what});
    const OpenclRun traced = run_traced({what});
    CHECK(plain.printed == traced.printed);
    CHECK_FALSE(plain.printed.empty());
    CHECK(plain.end.exit_code == traced.end.exit_code);
  }
}

TEST_CASE("every command, call, allocation, build and dependency of an OpenCL program is captured") {
  if (!opencl_is_there()) return;
  static const OpenclRun run = run_traced({"work"}, {}, Compiler::anew);  // one for all parts below
  CHECK(run.count_by_name("kernel") == Counts{{"scale", 14}, {"add", 5}, {"nothing", 40}});
  CHECK(run.count_by_name("memcpy") == Counts{{"read", 3}, {"write", 3}, {"copy", 3}, {"fill", 2}});
  CHECK(run.count_by_name("map") == Counts{{"map", 2}, {"unmap", 2}});
  CHECK(run.count_by_name("sync") == Counts{{"marker", 1}});
  const Counts calls = run.count_by_name("runtime_call");
  CHECK(calls.at("clEnqueueNDRangeKernel") == 60);
  CHECK(calls.at("clEnqueueReadBuffer") == 2);
  CHECK(calls.at("clEnqueueSVMMemcpy") == 1);
  CHECK(calls.at("clBuildProgram") == 2);
  CHECK(calls.at("clFinish") == 4);
  Counts results = run.count_by_text("runtime_call", "result");
  results.erase("");
  CHECK(results == Counts{{"CL_INVALID_KERNEL_ARGS", 1},
                          {"CL_INVALID_VALUE", 1},
                          {"CL_BUILD_PROGRAM_FAILURE", 1},
                          {"CL_INVALID_PROGRAM_EXECUTABLE", 1}});
  CHECK(run.sink.qualities.empty());

  SUBCASE("launches and wait lists are dependencies that name their events, and effects come after causes") {
    const std::map<std::int64_t, RecordedEvent> commands = by_key(run);
    CHECK(commands.size() == 75);
    const auto launches = flows(run, "launch");
    CHECK(launches.size() == 75);
    std::set<std::int64_t> calls_seen;
    for (const RecordedEvent& call : run.table("runtime_call")) {
      if (const auto key = run.number(call, "call")) calls_seen.insert(*key);
    }
    CHECK(calls_seen.size() == 75);
    for (const auto& [call, command] : launches) {
      CHECK(calls_seen.contains(call));
      CHECK(commands.contains(command));
    }
    const auto waits = flows(run, "wait list");
    CHECK(waits.size() == 5);
    for (const auto& [source, target] : waits) CHECK(commands.at(source).end <= commands.at(target).start);
  }
  SUBCASE("launches of kernels carry their sizes, arguments and source") {
    const std::vector<RecordedEvent> kernels = run.table("kernel");
    const auto scale = std::find_if(kernels.begin(), kernels.end(), [](const auto& k) { return k.name == "scale"; });
    CHECK(run.text(*scale, "global_size") == "4096");
    CHECK(run.text(*scale, "local_size") == "64");
    CHECK(run.number(*scale, "work_items") == 4096);
    CHECK(run.number(*scale, "work_groups") == 64);
    const std::string buffer = run.table("memory_event").front().name;
    CHECK(run.text(*scale, "arguments") == "data=" + buffer + ", factor=2, count=4096");
    CHECK(run.text(*scale, "source") == "opencl/program-1.cl:2");
    const auto add = std::find_if(kernels.begin(), kernels.end(), [](const auto& k) { return k.name == "add"; });
    CHECK(run.text(*add, "arguments").ends_with("scratch=local 256 B"));
    CHECK(run.text(*add, "source") == "opencl/program-1.cl:7");
    CHECK(std::count_if(kernels.begin(), kernels.end(),
                        [&](const RecordedEvent& k) { return run.number(k, "first_launch") == 1; }) == 3);
    for (const RecordedEvent& kernel : kernels) CHECK(kernel.end > kernel.start);
    REQUIRE(run.sink.source_files.size() == 2);
    CHECK(run.sink.source_files[0].path == "opencl/program-1.cl");
    CHECK(run.sink.source_files[0].content.find("__kernel void nothing(void) {}") != std::string::npos);
  }
  SUBCASE("transfers carry bytes, direction and memory") {
    std::map<std::string, std::int64_t> bytes;
    for (const RecordedEvent& transfer : run.table("memcpy")) {
      bytes[transfer.name + ", " + run.text(transfer, "direction")] += run.number(transfer, "bytes").value();
    }
    const std::int64_t image = 16 * 8 * 16;
    CHECK(bytes == std::map<std::string, std::int64_t>{{"write, host to device", 16384 + 2048 + image},
                                                       {"read, device to host", 16384 + 1024 + image},
                                                       {"copy, device to device", 8192 + 1024 + 4096},
                                                       {"fill, device to device", 16384 + 4096}});
    const RecordedEvent first = run.table("memcpy").front();
    CHECK(run.text(first, "target") == run.table("memory_event").front().name);
    CHECK(run.number(first, "blocking") == 1);
  }
  SUBCASE("commands of an in-order queue do not overlap, and queues have rows of their own") {
    std::set<std::string> names;
    for (const auto& [number, track] : run.sink.tracks) {
      if (track.kind == "stream") names.insert(track.name);
    }
    CHECK(names == std::set<std::string>{"queue 1", "queue 2 (out of order)", "queue 3", "queue 4"});
    std::map<TrackNumber, std::int64_t> last_end;
    for (const RecordedEvent& kernel : run.table("kernel")) {
      if (run.sink.tracks.at(kernel.track).name.find("out of order") != std::string::npos) continue;
      CHECK(kernel.start >= last_end[kernel.track]);
      last_end[kernel.track] = kernel.end;
    }
  }
  SUBCASE("memory is allocated and released to the byte, views apart, and what stays is alive at the end") {
    std::map<std::string, std::int64_t> left;
    std::map<std::string, std::int64_t> allocated;
    std::size_t releases = 0;
    for (const RecordedEvent& event : run.table("memory_event")) {
      const std::int64_t bytes = run.number(event, "allocation_bytes").value();
      left[run.text(event, "pool")] += bytes;
      if (bytes > 0) allocated[run.text(event, "pool")] += bytes;
      releases += bytes < 0 ? 1 : 0;
    }
    CHECK(allocated ==
          std::map<std::string, std::int64_t>{{"device memory", 5 * 16384 + 2048}, {"views", 8192}, {"SVM", 8192}});
    CHECK(left == std::map<std::string, std::int64_t>{{"device memory", 16384}, {"views", 0}, {"SVM", 0}});
    CHECK(releases == 7);
  }
  SUBCASE("builds carry options and logs, and errors name their line") {
    const std::vector<RecordedEvent> builds = run.table("build");
    const auto step = [&](const std::string& name) {
      return std::find_if(builds.begin(), builds.end(), [&](const RecordedEvent& b) { return b.name == name; });
    };
    const auto good = step("build program 1");
    const auto bad = step("build program 2");
    REQUIRE((good != builds.end() && bad != builds.end()));
    CHECK(run.text(*good, "options").find("-DUSED=1") != std::string::npos);
    const auto first = std::find_if(builds.begin(), builds.end(), [&](const RecordedEvent& b) {
      return run.text(b, "step") == "first launch" && run.text(b, "kernel") == "scale";
    });
    REQUIRE(first != builds.end());
    CHECK(first->name == "first launch of scale");
    CHECK(run.text(*bad, "result") == "CL_BUILD_PROGRAM_FAILURE");
    CHECK(run.number(*bad, "errors") == 1);
    CHECK(run.text(*bad, "log").find("no_such_thing") != std::string::npos);
    const std::vector<RecordedEvent> errors = run.table("build_error");
    REQUIRE(errors.size() == 1);
    CHECK(run.text(errors[0], "source") == "opencl/program-2.cl:2");
    CHECK(run.text(errors[0], "text").find("no_such_thing") != std::string::npos);
  }
  SUBCASE("a kernel lies behind the call that launched it, by the clocks' residual") {
    REQUIRE(run.sink.tracks.size() > 0);
    const Clock clock = run.sink.clocks.begin()->second;
    CHECK(clock.anchors.size() >= 1);
    CHECK(clock.residual_ns > 0);
    const ClockMap map(clock);
    std::map<std::int64_t, RecordedEvent> calls_by_key;
    for (const RecordedEvent& call : run.table("runtime_call")) {
      if (const auto key = run.number(call, "call")) calls_by_key.emplace(*key, call);
    }
    const std::map<std::int64_t, RecordedEvent> commands = by_key(run);
    for (const auto& [call, command] : flows(run, "launch")) {
      CHECK(static_cast<double>(map.to_ns(commands.at(command).start)) >=
            static_cast<double>(calls_by_key.at(call).start) - clock.residual_ns - 50'000);
    }
  }
}

TEST_CASE("what an OpenCL program has launched is counted however it ends") {
  if (!opencl_is_there()) return;
  for (const std::string way : {"open", "crash", "_exit", "exec", "fork"}) {
    CAPTURE(way);
    const OpenclRun run = run_traced({way});
    const std::size_t processes = way == "fork" ? 2 : 1;
    CHECK(run.count_by_name("kernel") == Counts{{"nothing", 8 * processes}});
    CHECK(run.count_by_name("runtime_call").at("clEnqueueNDRangeKernel") == 8 * processes);
    CHECK(run.quality("opencl_unfinished") == nullptr);
    std::set<std::string> titles;
    for (const auto& [number, track] : run.sink.tracks) {
      if (track.kind == "host_thread") titles.insert(track.device);
    }
    CHECK(titles.size() == processes);
  }
}

TEST_CASE("OpenCL commands that never ended are counted, with the calls that made them") {
  if (!opencl_is_there()) return;
  const OpenclRun run = run_traced({"blocked"});
  CHECK(run.end.exit_code == 4);
  CHECK(run.count_by_name("kernel") == Counts{{"nothing", 8}});
  CHECK(run.count_by_name("runtime_call").at("clEnqueueNDRangeKernel") == 11);
  const QualityEntry* unfinished = run.quality("opencl_unfinished");
  REQUIRE(unfinished != nullptr);
  CHECK(unfinished->count == 3);
}

TEST_CASE("two hundred thousand launches of an OpenCL kernel are captured, none twice") {
  if (!opencl_is_there()) return;
  const OpenclRun run = run_traced({"launches", "200000"});
  CHECK(run.end.exit_code == 0);
  CHECK(run.count_by_name("kernel") == Counts{{"nothing", 200'000}});
  std::set<std::int64_t> keys;
  for (const RecordedEvent& kernel : run.table("kernel")) keys.insert(run.number(kernel, "command").value());
  CHECK(keys.size() == 200'000);
}

TEST_CASE("what the user does not want of an OpenCL program is left out") {
  if (!opencl_is_there()) return;
  const OpenclRun run =
      run_traced({"work"}, {{"host-calls", "off"}, {"arguments", "off"}, {"sources", "off"}, {"buffer", "128KiB"}});
  CHECK(run.count_by_name("kernel") == Counts{{"scale", 14}, {"add", 5}, {"nothing", 40}});
  CHECK(run.table("runtime_call").empty());
  CHECK(flows(run, "launch").empty());
  CHECK(flows(run, "wait list").size() == 5);
  CHECK(run.sink.source_files.empty());
  CHECK(run.count_by_text("kernel", "arguments") == Counts{{"", 59}});
}

TEST_CASE("the layer is put behind layers that are there already") {
  const request::CaptureKind& kind = **request::find_kind("opencl");
  const Result<probes::ProbeFiles> files = probes::ProbeFiles::lay_down();
  REQUIRE_MESSAGE(files.ok(), files.message());
  const auto with = [&](const std::string& others) {
    return kind
        .environment(request::read_options(kind, {"opencl", {}}).value(), *files,
                     [&](const std::string&) { return others; })
        .value();
  };
  const std::string layer = files->path("libaccelscope_opencl.so");
  CHECK(with("") == std::vector<std::string>{"OPENCL_LAYERS=" + layer});
  CHECK(with("/lib/other.so") == std::vector<std::string>{"OPENCL_LAYERS=/lib/other.so:" + layer});
}

}  // namespace accelscope::capture
