// Folders that a capture of the Neuron runtime has left, converted as a whole by the stand-in of the vendor's tool.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "capture/sources/neuron/tool.h"
#include "tests/capture/kinds/neuron/local_run.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/neuron/neff.h"
#include "tests/support/neuron/stand_in_tool.h"
#include "tests/support/torch/allocator_model.h"

namespace accelscope::capture {
namespace {

using test::StandInTool;
using Words = std::vector<std::string>;

constexpr const char* kProcess = "run/i-0123_pid_42";
constexpr const char* kBegin = "1700000000000000000";
const std::string kSystemTrace = std::string("\x0a\x13") + kBegin;  // one field of a message

std::string trace_of(int seed) { return fmt::format("stand-in trace\n{}\nend\n", seed); }

// A system trace and two device traces of one process, their programs beside. The path of its folder.
std::string write_capture(const StandInTool& tool, const std::string& process = kProcess) {
  const std::string program = test::neff_file(gzip_of(test::tar_file(test::small_program())));
  tool.write(process + "/trace_info.pb", kSystemTrace);
  tool.write(process + "/ntrace.pb", kSystemTrace);
  tool.write(process + "/neff_395760075800974.neff", program);
  tool.write(process + "/neff_777777777.neff", program);
  tool.write(process + "/395760075800974_instid_0_vnc_0.ntff", trace_of(7));
  tool.write(process + "/777777777_instid_0_vnc_1.ntff", trace_of(8));
  return tool.file(process);
}

std::set<std::string> devices_of(const Imported& session, std::string_view table) {
  std::set<std::string> devices;
  for (const EventValues& event : session.events(table)) devices.insert(event.device);
  return devices;
}

bool says(const Imported& session, std::string_view kind, const std::string& words) {
  return std::ranges::any_of(session.snapshot().quality, [&](const QualityEntry& entry) {
    return entry.kind == kind && contains(entry.detail, words);
  });
}

void check_all_read(const Imported& session) {
  CHECK(session.count("trace_event") == 1);
  CHECK(session.count("instruction") == simulated(7).count("instruction") + simulated(8).count("instruction"));
  CHECK(session.quality("traces_not_read") == nullptr);
}

}  // namespace

TEST_CASE("a raw capture is one run of the tool, and every profile that it writes is in the session") {
  const StandInTool tool("neuron-explorer");
  const std::string folder = write_capture(tool);
  tool.write(std::string(kProcess) + "/cpu_util.pb", kSystemTrace);
  tool.write(std::string(kProcess) + "/host_mem.pb", kSystemTrace);
  for (const char* named :
       {"run", "run/i-0123_pid_42", "run/i-0123_pid_42/trace_info.pb", "run/i-0123_pid_42/ntrace.pb",
        "run/i-0123_pid_42/cpu_util.pb", "run/i-0123_pid_42/host_mem.pb"}) {
    CAPTURE(named);
    const std::size_t before = tool.commands().size();
    CHECK(sources::recognise(tool.file(named)).name() == "ntff");
    const Imported session = Imported::input(tool.file(named));
    check_all_read(session);
    REQUIRE(tool.commands().size() == before + 1);
    const Words command = tool.commands().back();
    CHECK(command[1] == "-d");
    CHECK(command[2] == (std::string(named) == "run" ? tool.file("run") : folder));
    CHECK(std::ranges::count(command, "--ingest-only") == 1);
    CHECK(std::ranges::count(command, "parquet") == 1);
    CHECK(devices_of(session, "instruction").size() == 2);  // the profiles' devices do not meet
    CHECK(session.snapshot().meta_value("begin_unix_ns") == kBegin);
    CHECK(session.snapshot().meta_value("name") == fs::path(named).filename().string());
    CHECK_FALSE(fs::exists(
        command[static_cast<std::size_t>(std::ranges::find(command, "--output-file") - command.begin()) + 1]));
  }
}

TEST_CASE("captures of several processes, each with a folder of its time, are one run of the tool") {
  const StandInTool tool("neuron-explorer");
  write_capture(tool, "run/i-0123_pid_42/20261129_101112");
  tool.write("run/i-0123_pid_43/20261129_101113/trace_info.pb", kSystemTrace);
  tool.write("run/neffs/neff_1.neff", "program");
  check_all_read(Imported::input(tool.file("run")));
  CHECK(tool.commands().size() == 1);
  check_all_read(Imported::input(tool.file("run/i-0123_pid_42")));
  CHECK(sources::recognise(tool.file("run/neffs")).format() == nullptr);
}

TEST_CASE("session traces of one process are converted in one run, with programs that lie beside its folder") {
  const StandInTool tool("neuron-explorer");
  tool.write("run/i-0123_pid_42/profile_nc_0_session_1.ntff", trace_of(7));
  tool.write("run/i-0123_pid_42/profile_nc_1_session_1.ntff", trace_of(8));
  tool.write("run/neffs/neff_1.neff", "program");
  tool.write("run/neffs/neff_2.neff", "program");
  const Imported session = Imported::input(tool.file("run"));
  CHECK(session.count("instruction") == simulated(7).count("instruction") + simulated(8).count("instruction"));
  CHECK(tool.commands().size() == 1);
  CHECK(tool.commands().front()[1] == "-d");
  // A trace of one execution is converted with its program.
  tool.write("run/i-0123_pid_42/395760075800974_instid_0_vnc_0.ntff", trace_of(9));
  CHECK(sources::recognise(tool.file("run/i-0123_pid_42")).format() == nullptr);
}

TEST_CASE("without the tool a raw capture names what it is, the command to run, and what shows without it") {
  const StandInTool tool("");
  if (!sources::neuron::find_neuron_tool().empty()) return;  // it is installed on this machine
  const std::string folder = write_capture(tool);
  const std::string command = fmt::format(
      "neuron-explorer view -d '{0}' --ingest-only --output-format parquet --output-file '{0}_profile' --display-name "
      "i-0123_pid_42",
      folder);
  const std::string of_folder = Imported::input_failure(folder);
  CHECK(of_folder.starts_with(folder + ": this is a raw capture of the Neuron runtime (ntrace.pb, trace_info.pb, 2 "
                                       "device traces)"));
  CHECK(contains(of_folder, command));
  CHECK(contains(of_folder, fmt::format("accelscope view '{}/neff_777777777.neff' --format neuron-neff (of 2 "
                                        "programs)",
                                        folder)));
  const std::string of_file = Imported::input_failure(folder + "/ntrace.pb");
  CHECK(of_file.starts_with(folder + "/ntrace.pb: this holds the events of a system trace"));
  CHECK(contains(of_file, command));
  // And what is said there works.
  const Imported program = Imported::input(folder + "/neff_395760075800974.neff", {.format = "neuron-neff"});
  CHECK(program.count("neff_instruction") == 6);
  CHECK(Imported::input(folder, {.format = "neuron-neff"}).count("neff_instruction") == 12);
  const std::string of_trace = Imported::input_failure(folder + "/777777777_instid_0_vnc_1.ntff");
  CHECK(contains(of_trace, "neff_777777777.neff' --format neuron-neff"));
}

TEST_CASE("neuron-profile alone does not convert a system trace") {
  const StandInTool tool("neuron-profile");
  if (!sources::neuron::find_neuron_tool("neuron-explorer").empty()) return;
  CHECK(contains(Imported::input_failure(write_capture(tool)), "no neuron-explorer is on PATH"));
  CHECK(tool.commands().empty());
}

TEST_CASE("a tool that fails on a capture shows what it printed, the command, and which files are no messages") {
  StandInTool tool("neuron-explorer");
  const std::string folder = write_capture(tool);
  tool.write(std::string(kProcess) + "/trace_info.pb", "hello, this is no message at all");
  tool.write(std::string(kProcess) + "/cpu_util.pb", "");
  tool.play("fail", "view");
  const std::string failure = Imported::input_failure(folder);
  CHECK(contains(failure, "exit code 3"));
  CHECK(contains(failure, "execution failed"));
  CHECK(contains(failure, fmt::format("view -d '{}' --ingest-only", folder)));
  CHECK(contains(failure, "trace_info.pb: this is no protobuf message"));
  CHECK(contains(failure, "cpu_util.pb: the file is empty"));
  CHECK_FALSE(contains(failure, "ntrace.pb: this"));
  CHECK(contains(Imported::input_failure(folder + "/cpu_util.pb"), "the file is empty"));
  CHECK(contains(Imported::input_failure(folder + "/trace_info.pb"), "trace_info.pb: this is no protobuf message"));
  tool.play("no-profile", "view");
  CHECK(contains(Imported::input_failure(folder), "wrote no profile"));
  // The tool is asked all the same: it may know better.
  tool.play("");
  const Imported session = Imported::input(folder);
  check_all_read(session);
  CHECK(says(session, "unreadable_input", "trace_info.pb: this is no protobuf message"));
}

TEST_CASE("events of the framework that the system profile has are not read twice, and else read beside") {
  StandInTool tool("neuron-explorer");
  const std::string folder = write_capture(tool);
  const std::string trace =
      R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[{"ph":"X","cat":"cpu_op",)"
      R"("name":"aten::mm","pid":1,"tid":7,"ts":3.5,"dur":2}]})";
  tool.write(std::string(kProcess) + "/trace.json", trace);
  const Imported beside = Imported::input(folder);
  check_all_read(beside);
  REQUIRE(beside.count("cpu_op") == 1);
  CHECK(beside.events("cpu_op").front().begin == 3500);  // on the system profile's time
  CHECK_FALSE(says(beside, "files_skipped", "trace.json"));
  tool.write(std::string(kProcess) + "/neuron_framework_trace_rank_1.json", trace);
  CHECK(Imported::input(folder).count("cpu_op") == 2);
  tool.play("framework");
  const Imported within = Imported::input(folder);
  CHECK(within.count("trace_event") == 1);
  CHECK(within.count("framework_event") == 1);
  CHECK(within.count("cpu_op") == 0);
  CHECK(says(within, "files_skipped", "the system profile has their events"));
  CHECK(within.quality("files_skipped")->count == 2);
}

TEST_CASE("a memory snapshot in a capture's folder is read beside, on the same time") {
  const StandInTool tool("neuron-explorer");
  const std::string folder = write_capture(tool);
  tool.write(std::string(kProcess) + "/memory.pickle", test::TorchModel({.seed = 5, .requests = 40}).pickle());
  const Imported session = Imported::input(folder);
  check_all_read(session);
  CHECK(std::ranges::any_of(session.snapshot().tracks,
                            [](const TrackSnapshot& each) { return each.track->kind == "memory"; }));
  CHECK(session.snapshot().meta_value("begin_unix_ns") == "1699999999999999000");
  CHECK(session.events("trace_event").front().begin == 1000);
}

TEST_CASE("what was converted by hand is read in place of the capture, without the tool") {
  const StandInTool tool("neuron-explorer");
  const std::string folder = write_capture(tool);
  // Where the message of a missing tool proposes it, and within the capture's folder.
  for (const std::string& output : {folder + "_profile", folder + "/mine"}) {
    CAPTURE(output);
    const std::string convert = fmt::format("'{}' view -d '{}' --ingest-only --output-file '{}' --display-name name",
                                            tool.file("tools/neuron-explorer"), folder, output);
    REQUIRE(std::system(convert.c_str()) == 0);
    const std::size_t before = tool.commands().size();
    const bool is_within = output.ends_with("mine");
    const Imported session = Imported::input(is_within ? folder : output);
    check_all_read(session);
    if (is_within) CHECK(says(session, "files_skipped", "read in their place"));
    CHECK(tool.commands().size() == before);
    fs::remove_all(output);
  }
}

TEST_CASE("dropped system events are told of from the profile's warnings, with the variable that raises the limit") {
  StandInTool tool("neuron-explorer");
  tool.play("dropped-table");
  const Imported session = Imported::input(write_capture(tool));
  CHECK(says(session, "buffer_overflow", "1234 system trace events were dropped on nc 0"));
  CHECK(says(session, "buffer_overflow", "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC"));
  CHECK_FALSE(says(session, "vendor_warning", "dropped"));
}

TEST_CASE("a session trace of which the tool makes several profiles is read with all of them") {
  const StandInTool tool("neuron-explorer");
  const std::string trace = tool.write("lone/profile_nc_0_session_1.ntff", trace_of(7));
  tool.write("lone/neff_1.neff", "program");
  tool.write("lone/neff_2.neff", "program");
  tool.write("lone/ntrace.pb", kSystemTrace);
  const Imported session = Imported::input(trace);
  CHECK(session.count("trace_event") == 1);
  CHECK(session.count("instruction") == simulated(7).count("instruction"));
  CHECK(session.quality("traces_not_read") == nullptr);
  CHECK(session.snapshot().meta_value("name") == "profile_nc_0_session_1.ntff");
}

}  // namespace accelscope::capture
