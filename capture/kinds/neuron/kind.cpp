#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/neuron/run.h"
#include "capture/kinds/neuron/settings.h"
#include "capture/kinds/program/start.h"
#include "capture/sources/neuron/tool.h"
#include "capture/system/address.h"
#include "capture/system/child_process.h"

namespace accelscope::capture::kinds::neuron {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kVersionLimit = 2s;

NeuronStart start_of(const request::CaptureRequest& request) {
  return request.program.empty() && request.script.empty() ? NeuronStart::neff : NeuronStart::program;
}

// Asked once for each tool that is found: it takes a moment. "": it failed.
std::string printed_by(const std::vector<std::string>& command) {
  static std::mutex mutex;
  static std::map<std::pair<std::vector<std::string>, fs::file_time_type>, std::string> known;
  std::error_code failure;
  const auto key = std::pair(command, fs::last_write_time(command.front(), failure));
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const SteadyClock::time_point begin = SteadyClock::now();
  const Result<system::ChildOutcome> ended =
      system::run_child(command, [begin] { return SteadyClock::now() - begin > kVersionLimit; });
  const bool done = ended && !ended->cancelled && ended->exit_code == 0;
  return known[key] = done ? ended->output : std::string();
}

std::string version_of(const std::string& tool) {
  const std::string printed = printed_by({tool, "--version"});
  return printed.substr(0, printed.find('\n'));
}

// What follows each such key of a JSON text, in order: numbers and texts without their quotes.
std::vector<std::string> values_of(std::string_view json, std::string_view key) {
  std::vector<std::string> values;
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t at = json.find(quoted); at != std::string_view::npos; at = json.find(quoted, at + 1)) {
    std::string_view rest = json.substr(at + quoted.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(": \t\n\r"), rest.size()));
    if (rest.starts_with('"')) rest.remove_prefix(1);
    values.emplace_back(rest.substr(0, rest.find_first_of("\",}] \n\r")));
  }
  return values;
}

// "16 Neuron devices with 128 cores (neuron-ls), trn2.48xlarge". Tools up to SDK 2.33 take --json-output, later ones
// --output-format json, whose list stands among facts of the instance. "": there is no such tool, or it lists nothing.
std::string listed_devices() {
  const std::string tool = system::find_program("neuron-ls", {"/opt/aws/neuron/bin"});
  if (tool.empty()) return {};
  std::string json = printed_by({tool, "--output-format", "json"});
  if (json.empty()) json = printed_by({tool, "--json-output"});
  const std::size_t devices = values_of(json, "neuron_device").size();
  if (devices == 0) return {};
  std::size_t cores = 0;
  for (const std::string& value : values_of(json, "nc_count")) {
    std::size_t count = 0;
    std::from_chars(value.data(), value.data() + value.size(), count);
    cores += count;
  }
  std::string text =
      fmt::format("{} Neuron device{} with {} cores (neuron-ls)", devices, devices == 1 ? "" : "s", cores);
  const std::vector<std::string> types = values_of(json, "instance_type");
  return types.empty() ? text : text + ", " + types.front();
}

std::size_t count_devices() {
  std::size_t devices = 0;
  std::error_code failure;
  for (fs::directory_iterator entry("/dev", failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    constexpr std::string_view kPrefix = "neuron";
    const bool numbered = name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
                          name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
    devices += numbered ? 1 : 0;
  }
  return devices;
}

std::vector<request::KindCheck> check_neuron() {
  const std::string tool = sources::neuron::find_neuron_tool();
  if (tool.empty()) {
    return {{false,
             "neither neuron-explorer nor neuron-profile is on PATH or in /opt/aws/neuron/bin; install the package "
             "aws-neuronx-tools"}};
  }
  const std::string version = version_of(tool);
  const std::string listed = listed_devices();
  const std::size_t devices = count_devices();
  // Devices may be reached by other ways than files in /dev; the tool says it if it finds none.
  return {{true, fmt::format("{} ({})", tool, version.empty() ? "it does not tell its version" : version)},
          {true, !listed.empty() ? listed
                 : devices > 0   ? fmt::format("{} Neuron devices (/dev/neuron*)", devices)
                                 : "no Neuron device is seen here (/dev/neuron*); a capture will fail unless the tool "
                                   "reaches one (driver: aws-neuronx-dkms)"}};
}

Result<std::string> tool_of(const NeuronSettings& settings) {
  std::string tool = sources::neuron::find_neuron_tool(settings.tool);
  if (!tool.empty()) return tool;
  return Error{fmt::format("{}: is not on PATH or in /opt/aws/neuron/bin; install the package aws-neuronx-tools{}",
                           settings.tool.empty() ? "neuron-explorer" : settings.tool,
                           settings.tool.empty() ? "" : ", or choose --tool auto")};
}

Result<void> check_files(const NeuronSettings& settings, const request::CaptureRequest& request,
                         const std::string& work_folder) {
  const auto missing = [&](const std::string& file) {
    std::error_code failure;
    return !fs::is_regular_file(host_path(file, request, work_folder), failure);
  };
  if (settings.start == NeuronStart::neff && missing(settings.neff)) {
    return Error{
        fmt::format("--neff: {}: no such file on this host; send it along (--send), or check the path", settings.neff)};
  }
  for (const NeuronInput& input : settings.inputs) {
    if (!missing(input.file)) continue;
    return Error{
        fmt::format("--input: {}: no such file on this host; send it along (--send), or check the path", input.file)};
  }
  return {};
}

std::string described(const NeuronSettings& settings, const request::CaptureRequest& request, const std::string& tool) {
  const std::string name = fs::path(tool).filename().string();
  const std::string program = request.script.empty() ? request.program : "a script";
  switch (settings.recorder) {
    case NeuronRecorder::environment:
      return fmt::format("profile of {} by the runtime", program);
    case NeuronRecorder::torch:
      return fmt::format("profile of {} by torch.profiler", program);
    case NeuronRecorder::jax:
      return fmt::format("profile of {} by jax.profiler", program);
    case NeuronRecorder::vllm:
      return fmt::format("profile of the vLLM server {}", program);
    case NeuronRecorder::inspect:
      break;
  }
  if (settings.start == NeuronStart::program && settings.profile != NeuronProfile::device)
    return fmt::format("{} inspect of {}", name, program);
  std::string text = settings.start == NeuronStart::neff
                         ? fmt::format("{} capture of {}", name, fs::path(settings.neff).filename().string())
                         : fmt::format("{} capture of a NEFF of {}", name, program);
  if (settings.inputs.empty()) text += ", inputs all zero";
  if (settings.single_io) text += ", outputs wrong (single io)";
  return text;
}

// Both would run it.
bool runs_beside(const request::CaptureRequest& request) {
  return std::any_of(request.kinds.begin(), request.kinds.end(),
                     [](const request::KindChoice& choice) { return choice.name == "program"; });
}

Result<std::string> describe_neuron(const request::CaptureRequest& request, const request::OptionReader& options,
                                    const std::string& work_folder) {
  const NeuronSettings settings = TRY(read_neuron_settings(options, start_of(request), system::host_name()));
  const Result<std::string> tool = tool_of(settings);
  if (!tool) return tool;
  TRY(check_files(settings, request, work_folder));
  if (settings.start == NeuronStart::program) {
    if (runs_beside(request)) {
      return Error{
          "the kind 'neuron' runs the program itself and keeps its lines; leave out the kinds that run it too"};
    }
    if (Result<std::string> found = kinds::program::shown_program(request, work_folder); !found) return found;
  }
  return described(settings, request, *tool);
}

Result<void> run_neuron(const request::KindRun& run, EventSink& sink) {
  NeuronSettings settings = TRY(read_neuron_settings(*run.options, start_of(run.request), system::host_name()));
  const std::string tool = TRY(tool_of(settings));
  return NeuronRun(run, sink, std::move(settings), tool).run();
}

}  // namespace

request::CaptureKind neuron_kind() {
  return {.declare = neuron_facts,
          .check = check_neuron,
          .describe = describe_neuron,
          .run = run_neuron,
          .warnings = neuron_warnings};
}

}  // namespace accelscope::capture::kinds::neuron
