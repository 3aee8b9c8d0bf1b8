#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/python/process.h"
#include "capture/kinds/python/session.h"
#include "capture/kinds/python/torch_memory.h"
#include "capture/probe/host/files.h"
#include "capture/probe/host/kind_frame.h"
#include "capture/probe/host/reader.h"
#include "capture/request/options.h"
#include "capture/system/child_process.h"

namespace accelscope::capture::kinds::python {
namespace {

constexpr const char* kStartFolder = "python/accelscope/start";

request::KindFacts declare_python() {
  return {.name = "python",
          .title = "Python functions and lines",
          .explanation =
              "Runs a program in Python unmodified and shows what each of its threads called, when and from where; "
              "with the "
              "package accelscope also signposts, regions and tests of pytest.",
          .takes_program = true,
          .options = probes::with_ring_options(
              {
                  {.name = "functions",
                   .type = request::OptionType::choice,
                   .default_value = "all",
                   .explanation = "All functions, or only what runs between Profiler().enable() and disable().",
                   .choices = {"all", "enabled"}},
                  {.name = "line-times",
                   .type = request::OptionType::flag,
                   .default_value = "off",
                   .explanation = "Every line that runs, with its time; the program runs several times slower."},
                  {.name = "c-functions",
                   .type = request::OptionType::flag,
                   .default_value = "on",
                   .explanation =
                       "Also built-in functions and those of extensions; off halves the cost where they are many."},
                  {.name = "gc",
                   .type = request::OptionType::flag,
                   .default_value = "on",
                   .explanation = "Runs of the garbage collector; costs next to nothing."},
                  {.name = "only-modules",
                   .type = request::OptionType::text,
                   .default_value = "",
                   .explanation = "Names of modules, separated by commas: nothing else is shown."},
                  {.name = "skip-modules",
                   .type = request::OptionType::text,
                   .default_value = "",
                   .explanation = "Names of modules, separated by commas, that are not shown."},
                  {.name = "torch-memory",
                   .type = request::OptionType::flag,
                   .default_value = "off",
                   .explanation = "Has PyTorch's allocator on GPUs record who asks it for what, and reads its memory "
                                  "snapshot every second; costs some us for each tensor, and up to a twentieth of the "
                                  "time."},
              },
              "4MiB")};
}

[[nodiscard]] bool is_embedded() {
  const std::vector<probes::EmbeddedFile> files = probes::embedded_files();
  return std::any_of(files.begin(), files.end(), [](const probes::EmbeddedFile& file) {
    return file.path == "python/accelscope/_accelscope.abi3.so";
  });
}

// "3.11" of a program that is called python3.11 in the end; "": it is called otherwise.
std::string named_version(const std::string& interpreter) {
  constexpr std::string_view kName = "python";
  std::error_code failure;
  const std::string name = std::filesystem::canonical(interpreter, failure).filename().string();
  if (failure || !name.starts_with("python3.")) return {};
  const std::string version = name.substr(kName.size());
  return version.find_first_not_of("0123456789", 2) == std::string::npos ? version : std::string();
}

// "3.11" or "3.11.2", "" if it does not say. It is started only where its name does not say so: every capture looks.
std::string python_version_of(const std::string& interpreter) {
  if (std::string named = named_version(interpreter); !named.empty()) return named;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  const Result<system::ChildOutcome> asked =
      system::run_child({interpreter, "-S", "-E", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"},
                        [deadline] { return std::chrono::steady_clock::now() > deadline; });
  if (!asked || asked->exit_code != 0) return {};
  return asked->output.substr(0, asked->output.find('\n'));
}

[[nodiscard]] bool too_old(const std::string& version) {
  constexpr int kOldestMinor = 9;
  int minor = 0;
  if (!version.starts_with("3.")) return true;
  std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor < kOldestMinor;
}

// An old python3 on PATH does not stand against a program that names another interpreter.
std::vector<request::KindCheck> check_python() {
  std::vector<request::KindCheck> checks;
  if (!is_embedded()) {
    checks.push_back({false,
                      "this agent was built without the headers of Python; install python3-dev where it is built, "
                      "and build it again"});
  }
  const std::string found = system::find_program("python3");
  if (found.empty()) {
    checks.push_back({false, "python3 is not on PATH; install CPython 3.9 or later"});
    return checks;
  }
  const std::string version = python_version_of(found);
  if (too_old(version)) {
    checks.push_back({true, fmt::format("{} is {}: too old; name an interpreter of 3.9 or later in the command", found,
                                        version.empty() ? "not working" : version)});
  } else {
    checks.push_back({true, fmt::format("{} ({})", found, version)});
  }
  return checks;
}

Result<std::string> describe_python(const request::CaptureRequest& request, const request::OptionReader& options,
                                    const std::string&) {
  std::string text = options.text("functions") == "enabled" ? "enabled regions in Python" : "functions in Python";
  if (options.flag("line-times")) text += ", line by line";
  if (probes::waits_for_programs(request)) text += "; waits for programs started with -m accelscope";
  return text;
}

Result<std::vector<std::string>> environment_python(
    const request::OptionReader&, const probes::ProbeFiles& files,
    const std::function<std::string(const std::string& name)>& inherited) {
  const std::string before = inherited("PYTHONPATH");
  return std::vector<std::string>{"PYTHONPATH=" + files.path(kStartFolder) + (before.empty() ? "" : ":" + before)};
}

Result<void> run_python(const request::KindRun& run, EventSink& sink) {
  SessionWriter writer(sink);
  python::PythonSession session(writer);
  probes::ProbeHandler handler = probes::probe_handler(*run.options);
  for (const char* name : {"functions", "only-modules", "skip-modules"}) {
    handler.settings.push_back(fmt::format("{}={}", name, run.options->text(name)));
  }
  probes::tell(handler, *run.options, {"line-times", "c-functions", "gc"});
  python::TorchMemory torch_memory(run, sink);
  if (run.options->flag("torch-memory")) handler.settings.push_back("torch-memory=" + TRY(torch_memory.make_folder()));
  handler.attach = [&](const probes::ProbeProcess& process) {
    return std::make_unique<python::PythonProcess>(process, session, [&torch_memory] { torch_memory.turn(); });
  };
  const Result<void> done = probes::read_probes(run, writer, sink, handler);
  session.report();
  return done ? torch_memory.finish() : done;
}

}  // namespace

request::CaptureKind python_kind() {
  return {.declare = declare_python,
          .check = check_python,
          .describe = describe_python,
          .run = run_python,
          .accept = probes::accept_ring,
          .environment = environment_python};
}

}  // namespace accelscope::capture::kinds::python
