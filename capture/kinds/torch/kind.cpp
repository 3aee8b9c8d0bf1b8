#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/program/start.h"
#include "capture/kinds/program/tool_traces.h"
#include "capture/request/options.h"
#include "core/base/json.h"

namespace accelscope::capture::kinds::torch {
namespace {

// The Python program that runs a user's one under torch.profiler.

// Called as: python DRIVER FOLDER SETTINGS (-c CODE | -m MODULE | SCRIPT) ARGUMENTS...
// SETTINGS is a JSON object: activities (list of cpu, cuda, xpu; empty: all that there are), record_shapes,
// profile_memory, with_stack, with_modules, with_flops, schedule (null, or wait, warmup, active and repeat; steps are
// those of optimizers). Traces go to FOLDER/trace-N.json; if torch cannot be imported, FOLDER/no-torch.txt says why.
// Arguments, exit status and tracebacks are those of the program.
extern const std::string_view kTorchDriver;

const std::string_view kTorchDriver = R"PYTHON(
import json
import os
import runpy
import signal
import sys


def load_profiler(folder):
    try:
        import torch
        import torch.profiler
        return torch
    except ImportError as missing:
        with open(os.path.join(folder, "no-torch.txt"), "w") as file:
            file.write(str(missing))
        sys.stderr.write("torch.profiler cannot be imported: %s\n" % missing)
        sys.exit(1)


def chosen_activities(torch, names):
    known = torch.profiler.ProfilerActivity
    if not names:
        names = ["cpu"]
        for device in ("cuda", "xpu"):
            module = getattr(torch, device, None)
            if module is not None and module.is_available():
                names.append(device)
    return [getattr(known, name.upper()) for name in names]


def make_profiler(torch, folder, settings):
    written = []

    def write(profiler):
        path = os.path.join(folder, "trace-%d.json" % len(written))
        profiler.export_chrome_trace(path)
        written.append(path)

    arguments = {
        name: settings[name]
        for name in ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
    }
    plan = settings["schedule"]
    if plan is not None:
        arguments["schedule"] = torch.profiler.schedule(**plan)
    profiler = torch.profiler.profile(
        activities=chosen_activities(torch, settings["activities"]), on_trace_ready=write, **arguments)
    if plan is not None:
        from torch.optim.optimizer import register_optimizer_step_post_hook
        register_optimizer_step_post_hook(lambda *ignored: profiler.step())
    return profiler


def run_program(words):
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.argv = ["-c"] + words[2:]
        sys.path[0] = ""
        main = type(sys)("__main__")
        sys.modules["__main__"] = main
        exec(compile(words[1], "<string>", "exec"), main.__dict__)
    else:
        sys.argv = list(words)
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


def main():
    folder, settings, words = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    profiler = make_profiler(load_profiler(folder), folder, settings)

    def stop(number, frame):
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    profiler.start()
    try:
        run_program(words)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        profiler.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    main()
)PYTHON";

namespace fs = std::filesystem;

struct Switch {
  const char* option;
  const char* setting;
  const char* explanation;
};
constexpr std::array kTorchSwitches = {
    Switch{"shapes", "record_shapes", "Keeps the shapes of operators' inputs."},
    Switch{"memory", "profile_memory", "Keeps every allocation and release of tensors."},
    Switch{"stack", "with_stack", "Keeps the Python calls; the trace grows several times over."},
    Switch{"modules", "with_modules", "Keeps the modules of TorchScript models that operators belong to."},
    Switch{"flops", "with_flops", "Estimates the operations of matrix products and convolutions."},
};

request::KindFacts declare_torch() {
  std::vector<request::KindOption> switches;
  for (const Switch& one : kTorchSwitches) {
    switches.push_back({one.option, request::OptionType::flag, "off", one.explanation});
  }
  return {
      .name = "torch",
      .title = "PyTorch by torch.profiler",
      .explanation =
          "Runs a Python program under torch.profiler: operators, kernels and transfers of every device that PyTorch "
          "knows. "
          "The trace comes when the program has ended.",
      .needs_program = true,
      .options = request::joined_options(
          {{
               {.name = "activities",
                .type = request::OptionType::choice,
                .explanation = "What is recorded; may be given several times, else all that there are.",
                .choices = {"cpu", "cuda", "xpu"},
                .repeats = true},
               {"schedule", request::OptionType::text, "",
                "Records only some steps of the optimizers: WAIT,WARMUP,ACTIVE or WAIT,WARMUP,ACTIVE,REPEAT, such as "
                "2,1,3,1."},
           },
           switches,
           kinds::program::program_options()})};
}

std::vector<request::KindCheck> check_torch() {
  return {{true, "runs Python programs whose interpreter has PyTorch; which one that is, the program says"}};
}

// "2,1,3" or "2,1,3,1" as the arguments of torch.profiler.schedule.
Result<std::string> schedule_json(std::string_view typed) {
  constexpr std::array<std::string_view, 4> kNames = {"wait", "warmup", "active", "repeat"};
  const Error wrong{fmt::format(
      "--schedule: '{}' is no schedule; write WAIT,WARMUP,ACTIVE or WAIT,WARMUP,ACTIVE,REPEAT, such as 2,1,3", typed)};
  JsonWriter json = JsonWriter().begin_object();
  std::size_t count = 0;
  for (std::string_view rest = typed; count <= kNames.size(); ++count) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || count == kNames.size() || (count == 2 && value == 0)) return wrong;
    json.add(kNames[count], value);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) break;
    if (rest.front() != ',') return wrong;
    rest.remove_prefix(1);
  }
  if (count < 2) return wrong;
  return json.done();
}

Result<void> accept_torch(const request::OptionReader& given) {
  if (given.has("schedule")) {
    TRY(schedule_json(given.text("schedule")));
  }
  return kinds::program::accept_program_options(given);
}

// JSON for the driver.
std::string settings_of(const request::OptionReader& given) {
  JsonWriter json;
  json.begin_object("activities", given.texts("activities"));
  json.add("schedule", given.has("schedule") ? JsonValue::raw(*schedule_json(given.text("schedule"))) : JsonValue());
  for (const Switch& one : kTorchSwitches) json.add(one.setting, given.flag(one.option));
  return json.done();
}

// A Python interpreter with what it is to run: python3 [-X ...] SCRIPT | -m MODULE | -c CODE, or a script alone.
struct PythonCommand {
  std::string interpreter;
  std::vector<std::string> options;  // of the interpreter
  std::vector<std::string> words;    // what it runs, with its arguments
};

Result<PythonCommand> python_command(const system::ChildStart& start) {
  const std::string name = fs::path(start.program).filename().string();
  PythonCommand command{start.program, {}, start.arguments};
  if (name.ends_with(".py")) {
    command.interpreter = "python3";
    command.words.insert(command.words.begin(), start.program);
    return command;
  }
  if (!name.starts_with("python") && !name.starts_with("pypy")) {
    return Error{fmt::format("{}: is no Python interpreter; write python3 SCRIPT, or python3 -m MODULE", name)};
  }
  std::vector<std::string>& words = command.words;
  while (!words.empty() && words.front().starts_with("-") && words.front() != "-m" && words.front() != "-c") {
    // Two of the options take a word of their own.
    const std::size_t taken = words.front() == "-X" || words.front() == "-W" ? 2 : 1;
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(taken, words.size()));
    command.options.insert(command.options.end(), words.begin(), end);
    words.erase(words.begin(), end);
  }
  const bool needs_another = !words.empty() && (words.front() == "-m" || words.front() == "-c");
  if (words.size() < (needs_another ? 2U : 1U)) {
    return Error{fmt::format("{}: nothing is given that it runs; add a script, -m MODULE or -c CODE", name)};
  }
  return command;
}

Result<std::string> describe_torch(const request::CaptureRequest& request, const request::OptionReader& /*options*/,
                                   const std::string& work_folder) {
  if (!request.script.empty()) {
    return Error{"torch: a shell script cannot be run under torch.profiler; give the Python program after --"};
  }
  const Result<std::string> shown = kinds::program::shown_program(request, work_folder);
  if (!shown) return shown;
  TRY(python_command(kinds::program::program_start(request, work_folder)));
  return *shown + " under torch.profiler";
}

Result<std::string> prepare_folder(const std::string& work_folder) {
  const fs::path folder = fs::absolute(work_folder) / "torch-profiler";
  std::error_code failure;
  fs::create_directories(folder, failure);
  const fs::path driver = folder / "accelscope_torch.py";
  std::ofstream file(driver, std::ios::binary | std::ios::trunc);
  file << kTorchDriver;
  file.close();
  if (!file) return Error{fmt::format("{}: cannot be written there", driver.string())};
  return folder.string();
}

system::ChildStart wrapped(system::ChildStart start, const PythonCommand& command, const std::string& settings,
                           const std::string& folder) {
  start.program = command.interpreter;
  start.arguments = command.options;
  start.arguments.insert(start.arguments.end(),
                         {(fs::path(folder) / "accelscope_torch.py").string(), folder, settings});
  start.arguments.insert(start.arguments.end(), command.words.begin(), command.words.end());
  return start;
}

Error no_traces(const std::string& folder, const std::string& interpreter) {
  if (std::ifstream missing(fs::path(folder) / "no-torch.txt"); missing) {
    const std::string why{std::istreambuf_iterator<char>(missing), {}};
    return Error{fmt::format(
        "{}: has no PyTorch ({}); install it there with '{} -m pip install torch', or name an interpreter that has it",
        interpreter, why, interpreter)};
  }
  return Error{
      "torch.profiler has left no trace: the program was killed or left without its interpreter's end (os._exit), or "
      "its optimizers took fewer steps than --schedule waits for"};
}

Result<void> run_torch(const request::KindRun& run, EventSink& sink) {
  const system::ChildStart start = kinds::program::program_start(run.request, run.work_folder);
  const PythonCommand command = TRY(python_command(start));
  const std::string folder = TRY(prepare_folder(run.work_folder));
  return kinds::program::run_for_traces(run, sink, kinds::program::read_program_options(*run.options),
                                        wrapped(start, command, settings_of(*run.options), folder), folder,
                                        [&] { return no_traces(folder, command.interpreter); });
}

}  // namespace

request::CaptureKind torch_kind() { return {declare_torch, check_torch, describe_torch, run_torch, accept_torch}; }

}  // namespace accelscope::capture::kinds::torch
