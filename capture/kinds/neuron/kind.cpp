#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

// Asked once for each tool that is found: it takes a moment. Its first line.
std::string version_of(const std::string& tool) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, fs::file_time_type>, std::string> known;
  std::error_code failure;
  const auto key = std::pair(tool, fs::last_write_time(tool, failure));
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const SteadyClock::time_point begin = SteadyClock::now();
  const Result<system::ChildOutcome> ended =
      system::run_child({tool, "--version"}, [begin] { return SteadyClock::now() - begin > kVersionLimit; });
  std::string version;
  if (ended && !ended->cancelled && ended->exit_code == 0) version = ended->output.substr(0, ended->output.find('\n'));
  return known[key] = version;
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
             "neither neuron-profile nor neuron-explorer is on PATH or in /opt/aws/neuron/bin; install the package "
             "aws-neuronx-tools"}};
  }
  const std::string version = version_of(tool);
  const std::size_t devices = count_devices();
  // Devices may be reached by other ways than files in /dev; the tool says it if it finds none.
  return {{true, fmt::format("{} ({})", tool, version.empty() ? "it does not tell its version" : version)},
          {true, devices > 0 ? fmt::format("{} Neuron devices (/dev/neuron*)", devices)
                             : "no Neuron device is seen here (/dev/neuron*); a capture will fail unless the tool "
                               "reaches one (driver: aws-neuronx-dkms)"}};
}

Result<std::string> tool_of(const NeuronSettings& settings) {
  std::string tool = sources::neuron::find_neuron_tool(settings.tool);
  if (!tool.empty()) return tool;
  return Error{fmt::format("{}: is not on PATH or in /opt/aws/neuron/bin; install the package aws-neuronx-tools{}",
                           settings.tool.empty() ? "neuron-profile" : settings.tool,
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
  if (settings.start == NeuronStart::program && settings.profile != NeuronProfile::device) {
    return fmt::format("{} inspect of {}", name, request.script.empty() ? request.program : "a script");
  }
  std::string text =
      settings.start == NeuronStart::neff
          ? fmt::format("{} capture of {}", name, fs::path(settings.neff).filename().string())
          : fmt::format("{} capture of a NEFF of {}", name, request.script.empty() ? request.program : "a script");
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
