#include "capture/kinds/unitrace/kind.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>

#include "capture/kinds/program/start.h"
#include "capture/kinds/program/tool_traces.h"
#include "capture/request/options.h"
#include "capture/system/child_process.h"
#include "core/base/text.h"

namespace accelscope::capture::kinds::unitrace {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

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
  request::KindFacts facts;
  facts.name = "unitrace";
  facts.title = "Intel GPUs by unitrace";
  facts.explanation =
      "Runs a program under unitrace: calls of Level Zero, OpenCL and SYCL, kernels and transfers on Intel GPUs, also "
      "those of Triton and PyTorch. The trace comes when the program has ended.";
  facts.needs_program = true;
  facts.options = {
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
      {"follow-children", request::OptionType::flag, "on", "Traces the processes that the program starts as well."},
      {"pausing", request::OptionType::flag, "on",
       "Lets unitrace pause and go on with the capture; off for versions that know no --session."},
      {"teardown", request::OptionType::flag, "off",
       "Asks unitrace to write its trace also when the program crashes or is stopped; may change what the program "
       "does."},
      {"output-dir", request::OptionType::file, "",
       "Folder into which the traces are written; else one of the capture, which goes away with it."},
  };
  for (const UnitraceSwitch& one : kUnitraceSwitches)
    facts.options.push_back({one.option, request::OptionType::flag, one.default_value, one.explanation});
  for (request::KindOption& option : kinds::program::program_options()) facts.options.push_back(std::move(option));
  return facts;
}

std::vector<request::KindCheck> check_unitrace() {
  const std::string tool = system::find_program("unitrace");
  return {{!tool.empty(), tool.empty() ? kHowToGet : fmt::format("runs programs under {}", tool)}};
}

struct UnitraceChoice {
  std::string tool;
  std::vector<std::string> arguments;  // without the session and the folder
  std::string folder;                  // given
  bool pausing = true;
  kinds::program::ProgramRunOptions program;
};

Result<std::string> find_tool() {
  std::string found = system::find_program("unitrace");
  if (found.empty()) return Error{kHowToGet};
  return found;
}

std::vector<std::string> tool_arguments(const request::OptionReader& given,
                                        const kinds::program::ProgramRunOptions& program) {
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
    arguments.push_back(fmt::format("{}", program.stop_signal));
  }
  return arguments;
}

Result<UnitraceChoice> read_unitrace_choice(const request::KindChoice& choice) {
  const Result<request::OptionReader> given = request::OptionReader::read(declare_unitrace(), choice);
  if (!given) return given.error();
  UnitraceChoice read;
  Result<kinds::program::ProgramRunOptions> program = kinds::program::read_program_options(*given);
  if (!program) return program.error();
  read.program = std::move(program).value();
  if (!given->flag("host-calls") && given->text("device-activity") == "off" && given->texts("also").empty()) {
    return Error{"--device-activity: is off, and so is everything else; nothing would be traced"};
  }
  Result<std::string> tool = find_tool();
  if (!tool) return tool.error();
  read.tool = std::move(tool).value();
  read.arguments = tool_arguments(*given, read.program);
  read.folder = given->text("output-dir");
  read.pausing = given->flag("pausing");
  return read;
}

Result<std::string> describe_unitrace(const request::CaptureRequest& request, const request::KindChoice& choice,
                                      const std::string& work_folder) {
  const Result<UnitraceChoice> read = read_unitrace_choice(choice);
  if (!read) return read.error();
  const system::ChildStart start = kinds::program::program_start(request, work_folder);
  if (Result<std::string> found = system::find_start(start); !found) return found.error();
  return fmt::format("{} under unitrace",
                     request.script.empty() ? kinds::program::facts_of(request, start).command : "a script");
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
    const Result<system::ChildOutcome> told =
        system::run_child({tool_, paused_ ? "--pause" : "--resume", name_}, [this] { return sink_.cancelled(); });
    const bool done = told && (told->exit_code == 0 || told->cancelled);
    if (!done && failure_.empty()) failure_ = told ? told->output : told.message();
    failures_ += done ? 0 : 1;
  }
  [[nodiscard]] std::optional<QualityEntry> report() const {
    if (failures_ == 0) return std::nullopt;
    return QualityEntry{"pauses_not_followed", failures_,
                        fmt::format("unitrace could not be paused or resumed with the capture: {}", failure_),
                        Severity::warning};
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

system::ChildStart wrapped(system::ChildStart start, const UnitraceChoice& choice, const Session& session,
                           const std::string& folder) {
  std::vector<std::string> arguments = choice.arguments;
  const std::vector<std::string> of_session = session.arguments();
  arguments.insert(arguments.end(), of_session.begin(), of_session.end());
  arguments.insert(arguments.end(), {"--output-dir-path", folder, start.program});
  arguments.insert(arguments.end(), start.arguments.begin(), start.arguments.end());
  start.program = choice.tool;
  start.arguments = std::move(arguments);
  return start;
}

Result<void> run_unitrace(const request::KindRun& run, EventSink& sink) {
  const Result<UnitraceChoice> choice = read_unitrace_choice(run.choice);
  if (!choice) return choice.error();
  const std::string folder = choice->folder.empty() ? (fs::absolute(run.work_folder) / "unitrace-traces").string()
                                                    : fs::absolute(choice->folder).string();
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) return Error{fmt::format("{}: cannot be made: {}", folder, failure.message())};
  if (!run.request.script.empty()) {
    if (Result<void> written = kinds::program::write_script(run.request.script, run.work_folder); !written)
      return written;
  }
  const std::size_t old_traces = kinds::program::find_tool_traces(folder).size();
  if (old_traces > 0)
    return Error{fmt::format("--output-dir: {} holds {} traces already; name an empty folder", folder, old_traces)};
  const system::ChildStart start = kinds::program::program_start(run.request, run.work_folder);
  Session session(choice->tool, choice->pausing, sink);
  const auto now = [&run] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - run.origin).count();
  };
  kinds::program::ToolRun of{.folder = folder, .begin_ns = now()};
  kinds::program::ProgramRunOptions options = choice->program;
  options.on_each_turn = [&session] { session.follow_capture(); };
  if (Result<void> done =
          kinds::program::ProgramRun(run, sink, std::move(options))
              .run(wrapped(start, *choice, session, folder), kinds::program::facts_of(run.request, start));
      !done)
    return done;
  of.end_ns = now();
  if (const std::optional<QualityEntry> told = session.report()) {
    if (Result<void> done = sink.define(*told); !done) return done;
  }
  if (kinds::program::find_tool_traces(folder).empty()) {
    const Error none{
        fmt::format("{}: unitrace has left no trace there: the program used no Intel GPU, or died before its end; what "
                    "unitrace said "
                    "is on the tracks stdout and stderr, and --teardown may help",
                    folder)};
    return kinds::program::tell_no_trace(none, sink);
  }
  return kinds::program::import_tool_traces(run, of, sink);
}

}  // namespace

request::CaptureKind unitrace_kind() { return {declare_unitrace, check_unitrace, describe_unitrace, run_unitrace}; }

}  // namespace accelscope::capture::kinds::unitrace
