#include "capture/kinds/neuron/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <string_view>

#include "capture/request/options.h"
#include "capture/sources/neuron/tool.h"
#include "capture/wire/messages.h"
#include "core/base/json.h"
#include "core/base/text.h"

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
       "The most events of a core in a system profile, beyond which the oldest are dropped; not set: 1,000,000."},
  };
}

constexpr const char* kRecordBy = "record-by";

// Those that belong to some recorders come with them.
std::vector<request::KindOption> recorder_options() {
  return request::joined_options(
      {{{kRecordBy,
         request::OptionType::choice,
         "inspect",
         "Who records a program while it runs. inspect: the tool. environment: the runtime, by NEURON_RT_INSPECT_*. "
         "torch "
         "and jax: the program's own torch.profiler with NeuronConfig or jax.profiler, into $ACCELSCOPE_NEURON_OUTPUT. "
         "vllm: a server, between the start and the stop of its profile.",
         {"inspect", "environment", "torch", "jax", "vllm"}}},
       request::on_condition(
           {kRecordBy, {"environment", "jax"}},
           {{"device-trace",
             request::OptionType::choice,
             kAnyTool,
             "model: one trace for the first run of each program on a core. session: all of a core in one trace, which "
             "PJRT, JAX and vLLM need. auto: what the recorder needs.",
             {kAnyTool, "model", "session"}}}),
       request::on_condition(
           {kRecordBy, {"environment"}},
           {{"cpu-util", request::OptionType::flag, "off", "The load of the host's processors in the system profile."},
            {"host-memory", request::OptionType::flag, "off", "The use of the host's memory in the system profile."},
            {"event-types", request::OptionType::text, "",
             "Kinds of system events, such as hardware or software,^nrt_tensor_read; ^ leaves one out. Not set: "
             "all."}}),
       request::on_condition({kRecordBy, {"environment", "vllm"}},
                             {{"event-cores", request::OptionType::text, "",
                               "Cores whose system events are recorded, such as 0,1. Not set: all."}}),
       request::on_condition(
           {kRecordBy, {"vllm"}},
           {{"vllm-port", request::OptionType::count, "8000",
             "The port on which the vLLM server that is started answers."},
            {"vllm-delay-iterations", request::OptionType::count, "",
             "Iterations that the server runs before it records."},
            {"vllm-max-iterations", request::OptionType::count, "",
             "Iterations after which the server ends the profile."},
            {"vllm-time", request::OptionType::duration, "",
             "How long the server is profiled, from when it answers on. Not set: until the capture is stopped."}})});
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
       {kAnyTool, "neuron-explorer", "neuron-profile"}},
      {"session-file", request::OptionType::text, "profile.ntff", "Name of the raw trace that is written (.ntff)."},
      {"time-limit", request::OptionType::duration, "3600s",
       "Ends a run of the tool that takes longer: one that hangs. Large traces take long to process."},
  };
}

// Of a NEFF that the tool executes: given, or compiled by a program that nobody records while it runs.
std::vector<request::KindOption> executed(std::vector<request::KindOption> options) {
  return request::on_condition({kRecordBy, {"inspect"}},
                               request::on_condition({"profile", {"device"}}, std::move(options)));
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
    if (!read_number(number, rank) || equals == 0) {
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

constexpr std::array kRecorders = {std::pair("inspect", NeuronRecorder::inspect),
                                   std::pair("environment", NeuronRecorder::environment),
                                   std::pair("torch", NeuronRecorder::torch), std::pair("jax", NeuronRecorder::jax),
                                   std::pair("vllm", NeuronRecorder::vllm)};

NeuronRecorder recorder_of(const std::string& name) {
  const auto* const found = std::ranges::find_if(kRecorders, [&](const auto& each) { return name == each.first; });
  return found == kRecorders.end() ? NeuronRecorder::inspect : found->second;
}

Result<void> check_recorder(const NeuronSettings& settings) {
  if (settings.event_cores.find_first_not_of("0123456789,") != std::string::npos)
    return Error{fmt::format("--event-cores: '{}' is no list of cores; write for example 0,1", settings.event_cores)};
  if (settings.recorder == NeuronRecorder::inspect) return {};
  if (settings.start != NeuronStart::program)
    return Error{"--record-by: is of a program that runs; give one after --, or a script"};
  const bool profiles_itself = settings.recorder == NeuronRecorder::torch || settings.recorder == NeuronRecorder::jax;
  if (profiles_itself && settings.trace_events) {
    return Error{"--num-trace-events: a program that profiles itself says it: NeuronConfig(max_events_per_nc=...)"};
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
      .options = request::joined_options({start_options(), traced_program_options(), recorder_options(),
                                          executed(request::joined_options({capture_options(), worker_options()})),
                                          tool_options()})};
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
  settings.recorder = recorder_of(options.text(kRecordBy));
  settings.device_trace = options.text("device-trace") == kAnyTool ? "" : options.text("device-trace");
  settings.cpu_utilisation = options.flag("cpu-util");
  settings.host_memory = options.flag("host-memory");
  settings.event_cores = options.text("event-cores");
  settings.event_types = options.text("event-types");
  const std::uint64_t port = options.count("vllm-port");
  if (port == 0 || port > std::numeric_limits<std::uint16_t>::max())
    return Error{fmt::format("--vllm-port: {} is no port; write for example 8000", port)};
  settings.server_port = static_cast<std::uint16_t>(port);
  settings.delay_iterations = count_of(options, "vllm-delay-iterations");
  settings.most_iterations = count_of(options, "vllm-max-iterations");
  settings.server_time = options.duration("vllm-time");
  std::vector<NeuronInput> inputs = TRY(read_inputs(options.texts("input")));
  settings.inputs = std::move(inputs);
  const auto worker_start = TRY(read_start(options.texts("collectives-worker-start-id"), host));
  settings.worker_start = worker_start;
  if (settings.time_limit.count() == 0) return Error{"--time-limit: is 0; write for example 600s"};
  for (const Result<void>& checked : {check_start(settings), check_executions(settings), check_workers(settings),
                                      check_recorder(settings), check_session_file(settings.session_file)}) {
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
  const std::string_view recorder = value_of(kRecordBy);
  const bool is_recorded = !recorder.empty() && recorder != "inspect";
  if (profile == "system" || profile == kSystemAndDevice || is_recorded) {  // the program's own inputs
    if (recorder == "torch" || recorder == "jax") {
      return {
          fmt::format("The program profiles itself: it has to write into the folder that {} names.", kOutputVariable)};
    }
    return {};
  }
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
constexpr std::array kDebugFacts = {std::pair("NEURON_FRAMEWORK_DEBUG", "1"), std::pair("XLA_IR_DEBUG", "1"),
                                    std::pair("XLA_HLO_DEBUG", "1"), std::pair("NKI_DEBUG_INFO", "True")};

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

Result<std::vector<std::string>> recording_environment(
    const NeuronSettings& settings, std::vector<std::string> given, const std::string& folder,
    const std::function<std::string(const std::string& name)>& inherited) {
  const auto value_of = [&](const char* name) { return is_set(given, name) ? value_in(given, name) : inherited(name); };
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) given.push_back(fmt::format("{}={}", name, value));
  };
  const std::string enabled = lower_case(value_of("NEURON_RT_INSPECT_ENABLE"));
  if (settings.recorder != NeuronRecorder::environment && (enabled == "1" || enabled == "true")) {
    return Error{
        "NEURON_RT_INSPECT_ENABLE: is set, but the runtime must not record beside another profiler; unset it, or "
        "choose "
        "--record-by environment"};
  }
  const bool with_devices = settings.profile != NeuronProfile::system;
  std::string traces = settings.device_trace == "model" ? "1" : settings.device_trace;
  if (settings.recorder == NeuronRecorder::environment) {
    set("NEURON_RT_INSPECT_ENABLE", "1");
    set("NEURON_RT_INSPECT_SYSTEM_PROFILE", settings.profile == NeuronProfile::device ? "0" : "1");
    set("NEURON_RT_INSPECT_DEVICE_PROFILE", !with_devices ? "0" : traces.empty() ? "session" : traces);
    set("NEURON_RT_INSPECT_CPU_UTIL", settings.cpu_utilisation ? "1" : "");
    set("NEURON_RT_INSPECT_HOST_MEMORY", settings.host_memory ? "1" : "");
    set("NEURON_RT_INSPECT_OUTPUT_DIR", folder);
    set("NEURON_RT_INSPECT_EVENT_FILTER_NC", settings.event_cores);
    set("NEURON_RT_INSPECT_EVENT_FILTER_TYPE", settings.event_types);
    set(sources::neuron::kSystemEventsVariable,
        settings.trace_events ? fmt::format("{}", *settings.trace_events) : std::string());
    return given;
  }
  set(kOutputVariable, folder);
  if (settings.recorder == NeuronRecorder::torch) {
    if (value_of("TORCH_NEURONX_NEFF_CACHE_DIR").empty()) set("TORCH_NEURONX_NEFF_CACHE_DIR", folder + "/neffs");
  } else if (settings.recorder == NeuronRecorder::jax && with_devices) {
    set("NEURON_RT_INSPECT_DEVICE_PROFILE", traces.empty() ? "1" : traces);
  }
  return given;
}

std::vector<std::string> vllm_arguments(const NeuronSettings& settings, const std::string& folder) {
  JsonWriter profiler;
  profiler.begin_object("profiler", "cuda");
  if (settings.delay_iterations) profiler.add("delay_iterations", *settings.delay_iterations);
  if (settings.most_iterations) profiler.add("max_iterations", *settings.most_iterations);
  profiler.end();
  JsonWriter config;
  std::vector<std::string> activities;
  if (settings.profile != NeuronProfile::system) activities.emplace_back("device_profile");
  if (settings.profile != NeuronProfile::device) activities.emplace_back("system_profile");
  config.begin_object().key("neuron_profiler").begin_object("activities", activities, "output_dir", folder);
  if (settings.trace_events) config.add("sys_trace_max_events_per_nc", *settings.trace_events);
  if (!settings.event_cores.empty()) config.add("neuron_cores", JsonValue::raw("[" + settings.event_cores + "]"));
  config.end().end();
  return {"--profiler-config", profiler.done(), "--additional-config", config.done()};
}

std::string missing_debug_facts(const std::vector<std::string>& environment,
                                const std::function<std::string(const std::string& name)>& inherited) {
  std::string names;
  for (const auto& [name, on] : kDebugFacts) {
    const std::string value = lower_case(is_set(environment, name) ? value_in(environment, name) : inherited(name));
    const bool is_off = value.empty() ? !is_set(environment, name) : value == "0" || value == "false" || value == "off";
    if (is_off) names += fmt::format("{}{}={}", names.empty() ? "" : " ", name, on);
  }
  if (names.empty()) return {};
  return fmt::format(
      "what is compiled without {} has no lines of source or names of layers in its profile: set it before the program "
      "is compiled; a program from a cache is as it was when it was compiled",
      names);
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
  for (const auto& [name, on] : kDebugFacts) {
    if (!is_set(given, name)) given.push_back(fmt::format("{}={}", name, on));
  }
  if (settings.disable_dge) {
    const std::string before =
        is_set(given, kCompilerFlags) ? value_in(given, kCompilerFlags) : inherited(kCompilerFlags);
    if (!has_word(before, kDisableDge)) {
      given.push_back(fmt::format("{}={}{}{}", kCompilerFlags, before, before.empty() ? "" : " ", kDisableDge));
    }
  }
  if (settings.fresh_cache && !cache_folder.empty() && !is_set(given, kCacheVariable)) {
    given.push_back(fmt::format("{}={}", kCacheVariable, cache_folder));
  }
  return given;
}

}  // namespace accelscope::capture::kinds::neuron
