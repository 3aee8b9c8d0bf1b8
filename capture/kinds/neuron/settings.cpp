#include "capture/kinds/neuron/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "capture/request/options.h"
#include "capture/wire/messages.h"

namespace accelscope::capture::kinds::neuron {
namespace {

constexpr const char* kAnyTool = "auto";
constexpr const char* kSystemAndDevice = "system+device";

std::vector<request::KindOption> start_options() {
  return {
      {"neff", request::OptionType::file, "", "The compiled program: a file that is sent, or a path on the host."},
      {.name = "input",
       .type = request::OptionType::file,
       .explanation = "NAME=FILE, an input tensor as .npy or .bin, once for each. An input that is not given is all "
                      "zero.",
       .repeats = true},
  };
}

std::vector<request::KindOption> traced_program_options() {
  return {
      {"profile",
       request::OptionType::choice,
       "device",
       "Of a program that is given. device: a NEFF that it compiled, executed after it. system: its runtime calls, "
       "framework and host. system+device: and the devices while it runs.",
       {"device", "system", kSystemAndDevice}},
      {"compiled-neff", request::OptionType::text, "largest",
       "Which of the NEFFs that a program compiles: largest, newest, its number in the list that is printed, or a part "
       "of its path."},
      {"disable-dge", request::OptionType::flag, "off",
       "The program compiles with --disable-dge: DMAs are then named in the profile, but run slower."},
      {"fresh-cache", request::OptionType::flag, "on",
       "The program compiles into an empty cache, so that every NEFF is new and has its debug facts; costs the "
       "compiling."},
      {"num-trace-events", request::OptionType::count, "",
       "The most events of a system profile; not set: the tool's limit."},
  };
}

std::vector<request::KindOption> capture_options() {
  return {
      {"profile-nth-exec", request::OptionType::count, "",
       "Which execution is profiled; 2 leaves out what only the first one loads. Not set: the tool's choice."},
      {"num-exec", request::OptionType::count, "", "How often the NEFF is executed. Not set: as often as needed."},
      {"ignore-exec-errors", request::OptionType::flag, "off",
       "Goes on after errors of the execution, such as NaNs from inputs that are zero."},
      {"single-io", request::OptionType::flag, "off",
       "One buffer for all inputs and outputs: saves device memory, but outputs are wrong. Times are not affected."},
      {"save-output", request::OptionType::flag, "off", "Writes the outputs to files, which Results can bring back."},
      {"enable-dge-notifs", request::OptionType::flag, "off",
       "Names every dynamic DMA in the profile; takes device memory and may time out on busy kernels."},
  };
}

std::vector<request::KindOption> worker_options() {
  return {
      {"collectives-workers-per-node", request::OptionType::count, "",
       "Workers on this host, for a NEFF with collectives."},
      {"collectives-worker-count", request::OptionType::count, "", "Workers on all hosts together."},
      {.name = "collectives-worker-start-id",
       .type = request::OptionType::text,
       .explanation = "Rank of this host's first worker; with several hosts HOST=RANK, once for each.",
       .repeats = true},
      {"collectives-profile-id", request::OptionType::text, "", "The worker that is profiled, or all. Not set: all."},
  };
}

std::vector<request::KindOption> tool_options() {
  return {
      {"tool",
       request::OptionType::choice,
       kAnyTool,
       "The vendor's tool that is run; auto takes the first of them that is there.",
       {kAnyTool, "neuron-profile", "neuron-explorer"}},
      {"session-file", request::OptionType::text, "profile.ntff", "Name of the raw trace that is written (.ntff)."},
      {"time-limit", request::OptionType::duration, "3600s",
       "Ends a run of the tool that takes longer: one that hangs. Large traces take long to process."},
  };
}

std::optional<std::uint64_t> count_of(const request::OptionReader& options, std::string_view name) {
  return options.has(name) ? std::optional(options.count(name)) : std::nullopt;
}

Result<std::vector<NeuronInput>> read_inputs(const std::vector<std::string>& typed) {
  std::vector<NeuronInput> inputs;
  for (const std::string& pair : typed) {
    const std::size_t equals = pair.find('=');
    const std::string name = pair.substr(0, equals);
    const std::string file = equals == std::string::npos ? "" : pair.substr(equals + 1);
    if (name.empty() || file.empty() || name.front() == '-') {
      return Error{fmt::format("--input: '{}' is not NAME=FILE; write for example --input x=x.npy", pair)};
    }
    const std::string ending = std::filesystem::path(file).extension().string();
    if (ending != ".npy" && ending != ".bin") {
      return Error{fmt::format("--input: {} is neither .npy nor .bin, which the tool reads; save it as one", file)};
    }
    if (std::any_of(inputs.begin(), inputs.end(), [&](const NeuronInput& other) { return other.name == name; })) {
      return Error{fmt::format("--input: {} is given twice", name)};
    }
    inputs.push_back({name, file});
  }
  return inputs;
}

// "trn1-07" names this host whether it calls itself that or "trn1-07.example.com".
bool names_host(std::string_view name, std::string_view host) {
  return name == host || name == host.substr(0, host.find('.'));
}

Result<std::optional<std::uint64_t>> read_start(const std::vector<std::string>& typed, const std::string& host) {
  if (typed.empty()) return std::optional<std::uint64_t>();
  for (const std::string& entry : typed) {
    const std::size_t equals = entry.find('=');
    const std::string_view number = std::string_view(entry).substr(equals == std::string::npos ? 0 : equals + 1);
    std::uint64_t rank = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
    if (error != std::errc() || end != number.data() + number.size() || equals == 0) {
      return Error{fmt::format(
          "--collectives-worker-start-id: '{}' is no rank; write 32, or with several hosts trn1-08=32", entry)};
    }
    const bool for_all = equals == std::string::npos;
    if (for_all && typed.size() > 1) {
      return Error{"--collectives-worker-start-id: with several settings each names its host; write trn1-08=32"};
    }
    if (for_all || names_host(std::string_view(entry).substr(0, equals), host)) return std::optional(rank);
  }
  return Error{fmt::format("--collectives-worker-start-id: no setting is for this host; write {}=RANK for it", host)};
}

Result<void> check_start(const NeuronSettings& settings) {
  if (settings.start == NeuronStart::program) {
    if (settings.neff.empty()) return {};
    return Error{"--neff: a program is given as well, whose own NEFF is profiled; leave one of them out"};
  }
  if (settings.profile != NeuronProfile::device) {
    return Error{"--profile: a system profile is that of a program; give one after --, or a script"};
  }
  if (!settings.neff.empty()) return {};
  return Error{"--neff: name the compiled program to profile, or give a program that compiles one after --"};
}

Result<void> check_executions(const NeuronSettings& settings) {
  if (settings.nth_exec == 0) return Error{"--profile-nth-exec: executions are counted from 1"};
  if (settings.num_exec == 0) return Error{"--num-exec: is 0; the NEFF must be executed at least once"};
  if (settings.nth_exec && settings.num_exec && *settings.nth_exec > *settings.num_exec) {
    return Error{fmt::format("--profile-nth-exec: is {}, but --num-exec is {}; the profiled execution would never come",
                             *settings.nth_exec, *settings.num_exec)};
  }
  return {};
}

Result<void> check_workers(const NeuronSettings& settings) {
  const std::uint64_t first = settings.worker_start.value_or(0);
  if (settings.worker_count && settings.workers_per_node &&
      first + *settings.workers_per_node > *settings.worker_count) {
    return Error{
        fmt::format("--collectives-worker-count: is {}, but the workers of this host are {} to {}; it counts "
                    "those of all hosts",
                    *settings.worker_count, first, first + *settings.workers_per_node - 1)};
  }
  return {};
}

Result<void> check_session_file(const std::string& name) {
  const std::filesystem::path path(name);
  if (!wire::safe_relative_path(name) || path.extension() != ".ntff" || name.front() == '-') {
    return Error{fmt::format("--session-file: '{}' is no name of a trace; write for example mlp.ntff", name)};
  }
  return {};
}

}  // namespace

request::KindFacts neuron_facts() {
  return {
      .name = "neuron",
      .title = "Neuron device or system profile",
      .explanation =
          "Runs the vendor's profiler on a NEFF, on a NEFF that a program compiles, or on the program, and reads the "
          "profile.",
      .takes_program = true,
      .options = request::joined_options(
          {start_options(), capture_options(), traced_program_options(), worker_options(), tool_options()})};
}

Result<NeuronSettings> read_neuron_settings(const request::OptionReader& options, NeuronStart start,
                                            const std::string& host) {
  NeuronSettings settings;
  settings.start = start;
  settings.tool = options.text("tool") == kAnyTool ? "" : options.text("tool");
  settings.session_file = options.text("session-file");
  settings.nth_exec = count_of(options, "profile-nth-exec");
  settings.num_exec = count_of(options, "num-exec");
  settings.ignore_exec_errors = options.flag("ignore-exec-errors");
  settings.single_io = options.flag("single-io");
  settings.save_output = options.flag("save-output");
  settings.dge_notifications = options.flag("enable-dge-notifs");
  settings.workers_per_node = count_of(options, "collectives-workers-per-node");
  settings.worker_count = count_of(options, "collectives-worker-count");
  settings.profile_id = options.text("collectives-profile-id");
  settings.time_limit = options.duration("time-limit");
  settings.neff = options.text("neff");
  const std::string profile = options.text("profile");
  settings.profile = profile == "device"           ? NeuronProfile::device
                     : profile == kSystemAndDevice ? NeuronProfile::system_and_device
                                                   : NeuronProfile::system;
  settings.compiled_neff = options.text("compiled-neff");
  settings.disable_dge = options.flag("disable-dge");
  settings.fresh_cache = options.flag("fresh-cache");
  settings.trace_events = count_of(options, "num-trace-events");
  std::vector<NeuronInput> inputs = TRY(read_inputs(options.texts("input")));
  settings.inputs = std::move(inputs);
  const auto worker_start = TRY(read_start(options.texts("collectives-worker-start-id"), host));
  settings.worker_start = worker_start;
  if (settings.time_limit.count() == 0) return Error{"--time-limit: is 0; write for example 600s"};
  for (const Result<void>& checked : {check_start(settings), check_executions(settings), check_workers(settings),
                                      check_session_file(settings.session_file)}) {
    if (!checked) return checked.error();
  }
  return settings;
}

std::vector<std::string> neuron_warnings(const request::KindChoice& choice) {
  const auto value_of = [&](std::string_view name) -> std::string_view {
    for (const request::OptionSetting& setting : choice.options) {
      if (setting.name == name && !setting.value.empty()) return setting.value;
    }
    return {};
  };
  const std::string_view profile = value_of("profile");
  if (profile == "system" || profile == kSystemAndDevice) return {};  // the program's own inputs
  std::vector<std::string> warnings;
  if (value_of("input").empty()) {
    warnings.emplace_back(
        "No inputs are given: the tool feeds zeros, so outputs mean nothing and NaNs or infinities may stop the run. "
        "Give NAME=FILE for each input, or ignore errors of the execution.");
  }
  if (value_of("single-io") == "on") {
    warnings.emplace_back(
        "With single io all tensors share one buffer: outputs are wrong, times are not. Do not compare outputs.");
  }
  return warnings;
}

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
