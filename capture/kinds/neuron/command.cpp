#include "capture/kinds/neuron/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace accelscope::capture::kinds::neuron {
namespace {

constexpr const char* kCompilerFlags = "NEURON_CC_FLAGS";
constexpr const char* kDisableDge = "--disable-dge";
// Without them a NEFF has no names of layers and no lines of source.
constexpr std::array<const char*, 3> kDebugFacts = {"NEURON_FRAMEWORK_DEBUG", "XLA_IR_DEBUG", "XLA_HLO_DEBUG"};

bool is_set(const std::vector<std::string>& environment, const std::string& name) {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const std::string& setting) { return setting.starts_with(name + "="); });
}

bool has_word(const std::string& text, const std::string& word) {
  return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

std::vector<std::string> capture_arguments(const NeuronSettings& settings, const std::string& neff,
                                           const std::vector<NeuronInput>& inputs) {
  std::vector<std::string> arguments = {"capture", "-n", neff, "-s", settings.session_file};
  const auto number = [&](const char* option, const std::optional<std::uint64_t>& value) {
    if (value) arguments.push_back(fmt::format("{}={}", option, *value));
  };
  const auto flag = [&](const char* option, bool on) {
    if (on) arguments.emplace_back(option);
  };
  number("--profile-nth-exec", settings.nth_exec);
  number("--num-exec", settings.num_exec);
  flag("--ignore-exec-errors", settings.ignore_exec_errors);
  flag("--single-io", settings.single_io);
  flag("--save-output", settings.save_output);
  flag("--enable-dge-notifs", settings.dge_notifications);
  number("--collectives-workers-per-node", settings.workers_per_node);
  number("--collectives-worker-start-id", settings.worker_start);
  number("--collectives-worker-count", settings.worker_count);
  if (!settings.profile_id.empty()) arguments.push_back("--collectives-profile-id=" + settings.profile_id);
  for (const NeuronInput& input : inputs) arguments.insert(arguments.end(), {input.name, input.file});
  return arguments;
}

std::vector<std::string> inspect_arguments(const NeuronSettings& settings, const std::string& folder,
                                           const std::vector<std::string>& program) {
  std::vector<std::string> arguments = {"inspect", "-o", folder};
  if (settings.trace_events) arguments.insert(arguments.end(), {"-n", fmt::format("{}", *settings.trace_events)});
  arguments.insert(arguments.end(), program.begin(), program.end());
  return arguments;
}

std::vector<std::string> view_folder_arguments(const NeuronSettings& settings, const std::string& folder) {
  std::vector<std::string> arguments = {"view", "-d", folder, "--output-format", "json"};
  if (settings.profile == NeuronProfile::system) arguments.emplace_back("--ignore-device-profile");
  return arguments;
}

std::string value_in(const std::vector<std::string>& environment, const std::string& name) {
  std::string value;
  for (const std::string& setting : environment) {
    if (setting.starts_with(name + "=")) value = setting.substr(name.size() + 1);
  }
  return value;
}

std::vector<std::string> compile_environment(const NeuronSettings& settings, std::vector<std::string> given,
                                             const std::string& cache_folder,
                                             const std::function<std::string(const std::string& name)>& inherited) {
  for (const char* name : kDebugFacts) {
    if (!is_set(given, name)) given.push_back(fmt::format("{}=1", name));
  }
  if (settings.disable_dge) {
    const std::string before =
        is_set(given, kCompilerFlags) ? value_in(given, kCompilerFlags) : inherited(kCompilerFlags);
    if (!has_word(before, kDisableDge)) {
      given.push_back(fmt::format("{}={}{}{}", kCompilerFlags, before, before.empty() ? "" : " ", kDisableDge));
    }
  }
  if (settings.fresh_cache && settings.profile == NeuronProfile::device && !is_set(given, kCacheVariable)) {
    given.push_back(fmt::format("{}={}", kCacheVariable, cache_folder));
  }
  return given;
}

}  // namespace accelscope::capture::kinds::neuron
