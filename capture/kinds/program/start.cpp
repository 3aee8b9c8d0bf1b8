#include "capture/kinds/program/start.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "capture/system/shown_command.h"

namespace accelscope::capture::kinds::program {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kShortestInterval = 1ms;
constexpr const char* kScriptName = "accelscope-script.sh";

}  // namespace

std::string program_folder(const request::CaptureRequest& request, const std::string& work_folder) {
  if (request.directory.empty()) return work_folder;
  const fs::path sent = fs::path(work_folder) / request.directory;
  std::error_code failure;
  const bool was_sent =
      !work_folder.empty() && fs::path(request.directory).is_relative() && fs::is_directory(sent, failure);
  return was_sent ? sent.string() : request.directory;
}

system::ChildStart program_start(const request::CaptureRequest& request, const std::string& work_folder) {
  system::ChildStart start;
  start.directory = program_folder(request, work_folder);
  start.environment = request.environment;
  if (request.script.empty()) {
    start.program = request.program;
    start.arguments = request.arguments;
  } else {
    const std::string script = (fs::absolute(work_folder) / kScriptName).string();
    start.program = "sh";
    start.arguments = {script};
    start.arguments.insert(start.arguments.end(), request.arguments.begin(), request.arguments.end());
  }
  return start;
}

Result<system::ChildStart> prepare_program(const request::KindRun& run) {
  if (!run.request.script.empty()) {
    const fs::path path = fs::path(run.work_folder) / kScriptName;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << run.request.script;
    file.close();
    if (!file) return Error{fmt::format("{}: the script cannot be written there", path.string())};
    std::error_code failure;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, failure);
  }
  return program_start(run.request, run.work_folder);
}

Result<std::string> shown_program(const request::CaptureRequest& request, const std::string& work_folder) {
  const system::ChildStart start = program_start(request, work_folder);
  TRY(system::find_start(start));
  return request.script.empty() ? facts_of(request, work_folder).command : "a script";
}

ProgramFacts facts_of(const request::CaptureRequest& request, const std::string& work_folder) {
  const system::ChildStart start = program_start(request, work_folder);
  ProgramFacts facts;
  facts.name = request.script.empty() ? fs::path(request.program).filename().string() : "script";
  std::vector<std::string> argv = {start.program};
  argv.insert(argv.end(), start.arguments.begin(), start.arguments.end());
  facts.command = system::shown_command(argv);
  std::error_code failure;
  facts.directory = start.directory.empty() ? fs::current_path(failure).string()
                                            : fs::absolute(start.directory, failure).lexically_normal().string();
  return facts;
}

std::vector<request::KindOption> program_options() {
  return {
      {"lines", request::OptionType::flag, "on",
       "Keeps every line that the program prints as an event, also while the capture is paused."},
      {"counters", request::OptionType::flag, "on",
       "Samples CPU time, memory, threads and processes of the program and its children; not while paused."},
      {"sample-interval", request::OptionType::duration, "100ms",
       "Time between two samples; reading them takes some 20 us for each process."},
      {"stop-signal",
       request::OptionType::choice,
       "INT",
       "What the program and its children are sent to end them when the capture is stopped.",
       {"INT", "TERM"}},
      {"grace", request::OptionType::duration, "5s", "Time that they then have before they are killed."},
  };
}

Result<void> accept_program_options(const request::OptionReader& given) {
  if (!given.flag("counters") || given.duration("sample-interval") >= kShortestInterval) return {};
  return Error{"--sample-interval: is shorter than 1ms; write 1ms or more, or --counters=off"};
}

ProgramRunOptions read_program_options(const request::OptionReader& given) {
  return {.lines = given.flag("lines"),
          .counters = given.flag("counters"),
          .sample_interval = given.duration("sample-interval"),
          .stop_signal = given.text("stop-signal") == "TERM" ? SIGTERM : SIGINT,
          .grace = given.duration("grace"),
          .on_each_turn = {}};
}

}  // namespace accelscope::capture::kinds::program
