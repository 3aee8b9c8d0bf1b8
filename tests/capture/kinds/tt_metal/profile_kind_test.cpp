// The kind `tt-profile` with a command that stands in for one of tt-metal.
#include <fstream>

#include "capture/agent/control/local_capture.h"
#include "capture/sources/base/importers.h"
#include "core/store/store.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/sources/tt_metal/device_log.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/programs_folder.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

request::CaptureRequest command(std::vector<std::string> arguments, std::vector<request::OptionSetting> options = {}) {
  request::CaptureRequest request{.kinds = {{"tt-profile", std::move(options)}},
                                  .program = accelscope::test::programs_folder() + "/tt_metal_stand_in",
                                  .arguments = std::move(arguments)};
  request.environment = {"TT_METAL_HOME="};
  return request;
}

std::size_t zone_count(const RecordingSink& sink) {
  std::size_t count = 0;
  for (const RecordedEvent& event : sink.events()) count += sink.schema_of(event).name == "zone" ? 1 : 0;
  return count;
}

std::string device_of(const RecordingSink& sink, const std::string& track) {
  for (const auto& [number, found] : sink.tracks) {
    if (found.name == track) return found.device;
  }
  return {};
}

}  // namespace

TEST_CASE("a command runs without and with the device profiler, and both are one session") {
  const ScratchFolder scratch;
  SteeredSink sink;
  const KindOutcome outcome = run_kind_into(
      command({"--programs", "5"},
              {{"mid-run-dump", "on"}, {"op-support-count", "2000"}, {"perf-counters", "fpu,l1_0"}, {"sync", "on"}}),
      sink, scratch.path.string());
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  CHECK(outcome.exit_status == 0);
  CHECK(lines_of(sink.retained, "stdout") == std::vector<std::string>{"TT_METAL_DEVICE_PROFILER=0"});
  CHECK(device_of(sink.retained, "Program").starts_with("host run tt_metal_stand_in ("));
  REQUIRE(outcome.scopes.size() == 2);
  const RecordingSink& program = *outcome.scopes[0];
  const RecordingSink& log = *outcome.scopes[1];
  CHECK(lines_of(program, "stdout") ==
        std::vector<std::string>{"TT_METAL_DEVICE_PROFILER=1", "TT_METAL_PROFILER_MID_RUN_DUMP=1",
                                 "TT_METAL_PROFILER_SYNC=1", "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT=2000",
                                 "TT_METAL_PROFILE_PERF_COUNTERS=9"});
  CHECK(device_of(program, "Program").starts_with("device run tt_metal_stand_in ("));
  CHECK(device_of(log, "core 1,1 BRISC") == "device run chip 0");
  test::TtLogOptions options;
  options.programs = 5;
  CHECK(zone_count(log) == tt_log_zones(options).size());
  CHECK(sink.retained.meta.at("tt_metal.alignment") == "by the starts of both runs");
  CHECK(has_quality(sink.retained, "runs_aligned_by_start"));
  // Both lives begin together, though one program ran after the other.
  const std::int64_t host = events_of(sink.retained, "Program").at(0).start;
  const std::int64_t device = events_of(program, "Program").at(0).start;
  CHECK(std::abs(host - device) < 500'000'000);
  CHECK(fs::exists(scratch.file("tt-metal-profiler/.logs/profile_log_device.csv")));
}

TEST_CASE("host zones that the first run leaves are part of the session, those of others are not") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.file("dir"));
  std::ofstream(scratch.file("dir/old.csv")) << "MessageName,total_ns\nold,1\n";
  fs::last_write_time(scratch.file("dir/old.csv"), fs::file_time_type::clock::now() - std::chrono::hours(1));
  SteeredSink sink;
  const KindOutcome outcome =
      run_kind_into(command({"--tracy-table"}, {{"profiler-dir", scratch.file("dir")}}), sink, scratch.path.string());
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  REQUIRE(outcome.scopes.size() == 3);
  const RecordingSink& host = *outcome.scopes[0];
  CHECK(host.event_count == 5);
  CHECK(device_of(host, "Thread 77") == "host run Tracy");
  CHECK(has_quality(sink.retained, "host_times_estimated"));
  CHECK(zone_count(*outcome.scopes[2]) > 0);
}

TEST_CASE("one of the two runs can be made alone") {
  const ScratchFolder scratch;
  SteeredSink host;
  KindOutcome outcome = run_kind_into(command({}, {{"runs", "host"}}), host, scratch.path.string());
  REQUIRE(outcome.result.ok());
  CHECK(outcome.scopes.empty());
  CHECK(lines_of(host.retained, "stdout") == std::vector<std::string>{"TT_METAL_DEVICE_PROFILER=0"});
  SteeredSink device;
  outcome = run_kind_into(command({}, {{"runs", "device"}}), device, scratch.path.string());
  REQUIRE(outcome.result.ok());
  CHECK(device.retained.events().empty());
  CHECK(zone_count(*outcome.scopes.at(1)) > 0);
}

TEST_CASE("a command that fails is not run with the profiler, and its status is kept") {
  const ScratchFolder scratch;
  SteeredSink sink;
  const KindOutcome outcome = run_kind_into(command({"--status", "3"}), sink, scratch.path.string());
  REQUIRE(outcome.result.ok());
  CHECK(outcome.exit_status == 3);
  CHECK(outcome.scopes.empty());
  CHECK(contains(quality_detail(sink.retained, "device_run_left_out"), "status 3"));
  CHECK(contains(quality_detail(sink.retained, "program_failed"), "status 3"));
}

TEST_CASE("a command that dies in the device run keeps what it had written") {
  const ScratchFolder scratch;
  SteeredSink sink;
  const KindOutcome outcome = run_kind_into(command({"--crash"}), sink, scratch.path.string());
  REQUIRE_MESSAGE(outcome.result.ok(), outcome.result.message());
  CHECK(outcome.exit_status == 134);
  const RecordingSink& log = *outcome.scopes.at(1);
  std::ifstream file(scratch.file("tt-metal-profiler/.logs/profile_log_device.csv"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Imported imported = import_log(text);
  CHECK(zone_count(log) == imported.count("zone"));
  CHECK(has_quality(log, "truncated") == (quality_count(imported, "truncated") > 0));
  CHECK(contains(quality_detail(*outcome.scopes.at(0), "program_failed"), "SIGABRT"));
}

TEST_CASE("a build without the profiler is told before and after it has run") {
  const ScratchFolder scratch;
  SteeredSink sink;
  KindOutcome outcome = run_kind_into(command({"--no-profiler"}), sink, scratch.path.string());
  REQUIRE_FALSE(outcome.result.ok());
  CHECK(contains(outcome.result.message(), "no device log has appeared"));
  CHECK(contains(outcome.result.message(), "--enable-profiler"));
  CHECK(outcome.exit_status == 0);

  fs::create_directories(scratch.file("home/build/lib"));
  std::ofstream(scratch.file("home/build/lib/libtt_metal.so")) << "no such name";
  request::CaptureRequest request = command({});
  request.environment = {"TT_METAL_HOME=" + scratch.file("home")};
  SteeredSink refused;
  outcome = run_kind_into(request, refused, scratch.path.string());
  REQUIRE_FALSE(outcome.result.ok());
  CHECK(contains(outcome.result.message(), "libtt_metal.so: was built without the profiler"));
  CHECK(contains(outcome.result.message(), "--check-build=off"));
  CHECK(refused.retained.events().empty());
  std::ofstream(scratch.file("home/build/lib/libtt_metal.so"))
      << std::string(3'000'000, 'x') << "profile_log_device.csv";
  SteeredSink accepted;
  CHECK(run_kind_into(request, accepted, scratch.path.string()).result.ok());
}

TEST_CASE("a stop in the first run ends the capture without the second") {
  const ScratchFolder scratch;
  request::CaptureRequest request = command({});
  request.program = "sh";
  request.arguments = {"-c", "echo begun; exec sleep 60"};
  SteeredSink sink;
  sink.cancel_when = [](const RecordingSink& retained) { return retained.event_count > 0; };
  const KindOutcome outcome = run_kind_into(request, sink, scratch.path.string());
  REQUIRE(outcome.result.ok());
  CHECK(outcome.scopes.empty());
  CHECK(has_quality(sink.retained, "program_stopped"));
}

TEST_CASE("what is to be run twice is said beforehand") {
  CHECK(
      contains(*request::describe_request(command({}), ""), "tt_metal_stand_in, without and with the device profiler"));
  request::CaptureRequest request = command({}, {{"perf-counters", "l1_7"}});
  CHECK(contains(request::describe_request(request, "").message(), "no group 'l1_7'"));
  request = command({});
  request.program = "no-such-command";
  CHECK(contains(request::describe_request(request, "").message(), "no-such-command: not found"));
}

TEST_CASE("an agent gives its program the profiler's environment and follows the log that comes of it") {
  const ScratchFolder scratch;
  const ScratchFolder work;  // goes away with the capture
  agent::LocalCaptureOptions capture;
  capture.request = command({"--programs", "6"});
  capture.request.kinds = {{"tt-metal", {{"mid-run-dump", "on"}}}};
  capture.request.environment = {"TT_METAL_PROFILER_DIR=" + scratch.file("profiler")};
  capture.output = scratch.file("session.accel");
  capture.work_folder = work.path.string();
  std::string printed;
  capture.watch.printed = [&](bool, std::string_view bytes) { printed += bytes; };
  capture.watch.ended = [](int) {};
  capture.asked_to_stop = [] { return false; };
  const Result<agent::LocalCaptureReport> report = agent::capture_locally(capture);
  REQUIRE_MESSAGE(report.ok(), report.message());
  CHECK(report->failure == "");
  CHECK(printed == "TT_METAL_DEVICE_PROFILER=1\nTT_METAL_PROFILER_MID_RUN_DUMP=1\n");
  const Result<std::unique_ptr<Store>> store = Store::open(capture.output);
  REQUIRE_MESSAGE(store.ok(), store.message());
  std::uint64_t zones = 0;
  for (const LaneSnapshot& lane : (*store)->snapshot()->lanes) {
    if (lane.schema != nullptr && lane.schema->name == "zone") zones += lane.event_count;
  }
  test::TtLogOptions options;
  options.programs = 6;
  CHECK(zones == tt_log_zones(options).size());
}

}  // namespace accelscope::capture
