#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/program/start.h"
#include "capture/kinds/program/tool_traces.h"
#include "capture/request/options.h"
#include "capture/system/child_process.h"
#include "core/base/text.h"

namespace accelscope::capture::kinds::unitrace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHowToGet =
    "unitrace was not found on PATH; build it from tools/unitrace of github.com/intel/pti-gpu (cmake, make) and put it "
    "on the agent's PATH";

struct UnitraceSwitch {
  const char* option;
  const char* default_value;
  bool passed_when;  // the option's value with which the argument is passed
  const char* argument;
  const char* explanation;
};
constexpr std::array kUnitraceSwitches = {
    UnitraceSwitch{"host-calls", "on", true, "--chrome-call-logging",
                   "Records the calls of Level Zero and OpenCL on the host."},
    UnitraceSwitch{"opencl", "off", true, "--opencl", "Traces OpenCL beside Level Zero."},
    UnitraceSwitch{"device-threads", "on", false, "--chrome-no-thread-on-device",
                   "Keeps what different host threads submitted on tracks of their own."},
    UnitraceSwitch{"device-engines", "on", false, "--chrome-no-engine-on-device",
                   "Keeps the engines of a device, and the queues of OpenCL, on tracks of their own."},
    UnitraceSwitch{"separate-tiles", "off", true, "--separate-tiles", "Traces the tiles of a device each for itself."},
    UnitraceSwitch{"demangle", "off", true, "--demangle", "Writes the names of OpenCL kernels as in their source."},
};

request::KindFacts declare_unitrace() {
  std::vector<request::KindOption> switches;
  for (const UnitraceSwitch& one : kUnitraceSwitches) {
    switches.push_back({one.option, request::OptionType::flag, one.default_value, one.explanation});
  }
  return {.name = "unitrace",
          .title = "Intel GPUs by unitrace",
          .explanation =
              "Runs a program under unitrace: calls of Level Zero, OpenCL and SYCL, kernels and transfers on Intel "
              "GPUs, also "
              "those of Triton and PyTorch. The trace comes when the program has ended.",
          .needs_program = true,
          .options = request::joined_options(
              {{
                   {"device-activity",
                    request::OptionType::choice,
                    "kernels",
                    "What is recorded of devices: kernels and what launched them, only the device's side, or nothing.",
                    {"kernels", "device", "off"}},
                   {.name = "also",
                    .type = request::OptionType::choice,
                    .explanation = "Further layers that are traced; may be given several times.",
                    .choices = {"sycl", "mpi", "ccl", "dnn", "itt"},
                    .repeats = true},
                   {.name = "include-kernels",
                    .type = request::OptionType::text,
                    .explanation = "Only kernels with one of these in their names, separated by commas (Level Zero).",
                    .repeats = true},
                   {.name = "exclude-kernels",
                    .type = request::OptionType::text,
                    .explanation = "No kernels with one of these in their names, separated by commas (Level Zero).",
                    .repeats = true},
                   {"event-buffer", request::OptionType::count, "",
                    "Events that are kept of each host thread; else without a limit."},
                   {"follow-children", request::OptionType::flag, "on",
                    "Traces the processes that the program starts as well."},
                   {"pausing", request::OptionType::flag, "on",
                    "Lets unitrace pause and go on with the capture; off for versions that know no --session."},
                   {"teardown", request::OptionType::flag, "off",
                    "Asks unitrace to write its trace also when the program crashes or is stopped; may change what the "
                    "program "
                    "does."},
                   {"output-dir", request::OptionType::file, "",
                    "Folder into which the traces are written; else one of the capture, which goes away with it."},
               },
               switches,
               kinds::program::program_options()})};
}

std::vector<request::KindCheck> check_unitrace() {
  const std::string tool = system::find_program("unitrace");
  return {{!tool.empty(), tool.empty() ? kHowToGet : fmt::format("runs programs under {}", tool)}};
}

std::vector<std::string> tool_arguments(const request::OptionReader& given, int stop_signal) {
  std::vector<std::string> arguments;
  for (const UnitraceSwitch& one : kUnitraceSwitches) {
    if (given.flag(one.option) == one.passed_when) arguments.emplace_back(one.argument);
  }
  const std::string device = given.text("device-activity");
  if (device != "off") arguments.push_back(device == "kernels" ? "--chrome-kernel-logging" : "--chrome-device-logging");
  for (const std::string& layer : given.texts("also")) arguments.push_back(fmt::format("--chrome-{}-logging", layer));
  for (const char* filter : {"include-kernels", "exclude-kernels"}) {
    if (!given.has(filter)) continue;
    arguments.push_back(fmt::format("--{}", filter));
    arguments.push_back(joined(given.texts(filter), ","));
  }
  if (given.has("event-buffer")) {
    arguments.emplace_back("--chrome-event-buffer-size");
    arguments.push_back(fmt::format("{}", given.count("event-buffer")));
  }
  if (!given.flag("follow-children")) {
    arguments.emplace_back("--follow-child-process");
    arguments.emplace_back("0");
  }
  if (given.flag("teardown")) {
    arguments.emplace_back("--teardown-on-signal");
    arguments.push_back(fmt::format("{}", stop_signal));
  }
  return arguments;
}

Result<void> accept_unitrace(const request::OptionReader& given) {
  if (const Result<void> accepted = kinds::program::accept_program_options(given); !accepted) return accepted;
  if (!given.flag("host-calls") && given.text("device-activity") == "off" && given.texts("also").empty()) {
    return Error{"--device-activity: is off, and so is everything else; nothing would be traced"};
  }
  return {};
}

Result<std::string> find_tool() {
  std::string found = system::find_program("unitrace");
  return found.empty() ? Result<std::string>(Error{kHowToGet}) : found;
}

Result<std::string> describe_unitrace(const request::CaptureRequest& request, const request::OptionReader& /*options*/,
                                      const std::string& work_folder) {
  if (const Result<std::string> tool = find_tool(); !tool) return tool;
  const Result<std::string> shown = kinds::program::shown_program(request, work_folder);
  return shown ? *shown + " under unitrace" : shown;
}

// unitrace is told of pauses by further calls of it that name its session.
class Session {
 public:
  Session(std::string tool, bool pausing, const EventSink& sink)
      : tool_(std::move(tool)), pausing_(pausing), sink_(sink), paused_(sink.paused()) {
    static std::atomic<unsigned> count = 0;
    name_ = fmt::format("accelscope{}x{}", ::getpid(), ++count);
  }
  [[nodiscard]] std::vector<std::string> arguments() const {
    std::vector<std::string> arguments;
    if (pausing_) arguments = {"--session", name_};
    if (paused_) arguments.emplace_back("--start-paused");
    return arguments;
  }
  void follow_capture() {
    if (!pausing_ || sink_.paused() == paused_) return;
    paused_ = !paused_;
    const Result<system::ChildOutcome> reported =
        system::run_child({tool_, paused_ ? "--pause" : "--resume", name_}, [this] { return sink_.cancelled(); });
    const bool done = reported && (reported->exit_code == 0 || reported->cancelled);
    if (!done && failure_.empty()) failure_ = reported ? reported->output : reported.message();
    failures_ += done ? 0 : 1;
  }
  [[nodiscard]] std::optional<QualityEntry> report() const {
    if (failures_ == 0) return std::nullopt;
    return QualityEntry{"pauses_not_followed", failures_,
                        fmt::format("unitrace could not be paused or resumed with the capture: {}", failure_)};
  }

 private:
  std::string tool_;
  std::string name_;
  bool pausing_;
  const EventSink& sink_;
  bool paused_;
  std::string failure_;
  std::uint64_t failures_ = 0;
};

system::ChildStart wrapped(system::ChildStart start, std::string tool, std::vector<std::string> arguments,
                           const std::string& folder) {
  arguments.insert(arguments.end(), {"--output-dir-path", folder, start.program});
  arguments.insert(arguments.end(), start.arguments.begin(), start.arguments.end());
  start.program = std::move(tool);
  start.arguments = std::move(arguments);
  return start;
}

Result<void> run_unitrace(const request::KindRun& run, EventSink& sink) {
  const request::OptionReader& given = *run.options;
  const std::string tool = TRY(find_tool());
  const std::string folder = given.has("output-dir") ? fs::absolute(given.text("output-dir")).string()
                                                     : (fs::absolute(run.work_folder) / "unitrace-traces").string();
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) return Error{fmt::format("{}: cannot be made: {}", folder, failure.message())};
  const system::ChildStart start = TRY(kinds::program::prepare_program(run));
  const std::size_t old_traces = kinds::program::find_tool_traces(folder).size();
  if (old_traces > 0)
    return Error{fmt::format("--output-dir: {} holds {} traces already; name an empty folder", folder, old_traces)};
  Session session(tool, given.flag("pausing"), sink);
  kinds::program::ProgramRunOptions options = kinds::program::read_program_options(given);
  options.on_each_turn = [&session] { session.follow_capture(); };
  std::vector<std::string> arguments = tool_arguments(given, options.stop_signal);
  const std::vector<std::string> of_session = session.arguments();
  arguments.insert(arguments.end(), of_session.begin(), of_session.end());
  const Result<void> done = kinds::program::run_for_traces(
      run, sink, std::move(options), wrapped(start, tool, std::move(arguments), folder), folder, [&] {
        return Error{fmt::format(
            "{}: unitrace has left no trace there: the program used no Intel GPU, or died before its end; what "
            "unitrace said is on the tracks stdout and stderr, and --teardown may help",
            folder)};
      });
  if (const std::optional<QualityEntry> reported = session.report()) {
    if (Result<void> noted = sink.define(*reported); !noted) return noted;
  }
  return done;
}

}  // namespace

request::CaptureKind unitrace_kind() {
  return {declare_unitrace, check_unitrace, describe_unitrace, run_unitrace, accept_unitrace};
}

}  // namespace accelscope::capture::kinds::unitrace
