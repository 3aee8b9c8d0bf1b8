// What is typed for the Neuron kinds and the command lines that it becomes.
#include <doctest/doctest.h>

#include <algorithm>

#include "capture/kinds/neuron/settings.h"
#include "capture/request/request.h"
#include "tests/capture/wire/wire_support.h"

namespace accelscope::capture {
namespace {

using Words = std::vector<std::string>;

Result<kinds::neuron::NeuronSettings> read_settings(std::vector<request::OptionSetting> options,
                                                    kinds::neuron::NeuronStart start, const std::string& host) {
  const Result<request::OptionReader> given =
      request::OptionReader::read(kinds::neuron::neuron_facts(), {"neuron", std::move(options)});
  if (!given) return given.error();
  return kinds::neuron::read_neuron_settings(*given, start, host);
}

Result<kinds::neuron::NeuronSettings> read_neff(std::vector<request::OptionSetting> options,
                                                const std::string& host = "trn1-07.example.com") {
  options.insert(options.begin(), {"neff", "mlp.neff"});
  return read_settings(std::move(options), kinds::neuron::NeuronStart::neff, host);
}

Words command_of(std::vector<request::OptionSetting> options, const std::string& host = "trn1-07.example.com") {
  const Result<kinds::neuron::NeuronSettings> settings = read_neff(std::move(options), host);
  REQUIRE_MESSAGE(settings.ok(), settings.message());
  return kinds::neuron::capture_arguments(*settings, "/w/mlp.neff", settings->inputs);
}

kinds::neuron::NeuronSettings program_settings(std::vector<request::OptionSetting> options) {
  const Result<kinds::neuron::NeuronSettings> settings =
      read_settings(std::move(options), kinds::neuron::NeuronStart::program, "box");
  REQUIRE_MESSAGE(settings.ok(), settings.message());
  return *settings;
}

std::string refused_settings(std::vector<request::OptionSetting> options) {
  const Result<kinds::neuron::NeuronSettings> settings = read_neff(std::move(options));
  REQUIRE_FALSE(settings.ok());
  return settings.message();
}

TEST_CASE("each option of a Neuron capture reaches the tool's command line exactly, and nothing else does") {
  const Words plain = {"capture", "-n", "/w/mlp.neff", "-s", "profile.ntff"};
  CHECK(command_of({}) == plain);
  CHECK(command_of({{"session-file", "a b.ntff"}}) == Words{"capture", "-n", "/w/mlp.neff", "-s", "a b.ntff"});
  const std::pair<request::OptionSetting, const char*> single[] = {
      {{"profile-nth-exec", "2"}, "--profile-nth-exec=2"},
      {{"num-exec", "1k"}, "--num-exec=1000"},
      {{"ignore-exec-errors", "on"}, "--ignore-exec-errors"},
      {{"single-io", "on"}, "--single-io"},
      {{"save-output", "on"}, "--save-output"},
      {{"enable-dge-notifs", "on"}, "--enable-dge-notifs"},
      {{"collectives-workers-per-node", "32"}, "--collectives-workers-per-node=32"},
      {{"collectives-worker-count", "64"}, "--collectives-worker-count=64"},
      {{"collectives-worker-start-id", "32"}, "--collectives-worker-start-id=32"},
      {{"collectives-profile-id", "all"}, "--collectives-profile-id=all"},
  };
  for (const auto& [setting, word] : single) {
    Words wanted = plain;
    wanted.emplace_back(word);
    CHECK(command_of({setting}) == wanted);
  }
  for (const char* flag : {"ignore-exec-errors", "single-io", "save-output", "enable-dge-notifs"}) {
    CHECK(command_of({{flag, "off"}}) == plain);
  }
  CHECK(command_of({{"input", "x=a b.npy"}, {"input", "w.0=dir/w=1.bin"}}) ==
        Words{"capture", "-n", "/w/mlp.neff", "-s", "profile.ntff", "x", "a b.npy", "w.0", "dir/w=1.bin"});
}

TEST_CASE("on several hosts each finds the rank of its own first worker") {
  const std::vector<request::OptionSetting> both = {{"collectives-worker-start-id", "trn1-07=0"},
                                                    {"collectives-worker-start-id", "trn1-08=32"}};
  CHECK(command_of(both).back() == "--collectives-worker-start-id=0");
  CHECK(command_of(both, "trn1-08").back() == "--collectives-worker-start-id=32");
  const Result<kinds::neuron::NeuronSettings> stranger = read_neff(both, "trn1-09");
  REQUIRE_FALSE(stranger.ok());
  CHECK(contains(stranger.message(), "write trn1-09=RANK"));
  CHECK(contains(refused_settings({{"collectives-worker-start-id", "0"}, {"collectives-worker-start-id", "32"}}),
                 "each names its host"));
  CHECK(contains(refused_settings({{"collectives-worker-start-id", "trn1-07=first"}}), "is no rank"));
}

TEST_CASE("settings that contradict each other are refused with what to write") {
  CHECK(contains(refused_settings({{"profile-nth-exec", "3"}, {"num-exec", "2"}}), "would never come"));
  CHECK(contains(refused_settings({{"profile-nth-exec", "0"}}), "counted from 1"));
  CHECK(contains(refused_settings({{"num-exec", "0"}}), "at least once"));
  CHECK(contains(refused_settings({{"input", "x.npy"}}), "is not NAME=FILE"));
  CHECK(contains(refused_settings({{"input", "x=x.txt"}}), "neither .npy nor .bin"));
  CHECK(contains(refused_settings({{"input", "x=a.npy"}, {"input", "x=b.npy"}}), "x is given twice"));
  CHECK(contains(refused_settings({{"input", "--single-io=a.npy"}}), "is not NAME=FILE"));
  CHECK(contains(refused_settings({{"session-file", "../up.ntff"}}), "no name of a trace"));
  CHECK(contains(refused_settings({{"session-file", "mlp"}}), "no name of a trace"));
  CHECK(contains(refused_settings({{"time-limit", "0s"}}), "--time-limit"));
  CHECK(contains(refused_settings({{"collectives-workers-per-node", "32"},
                                   {"collectives-worker-count", "32"},
                                   {"collectives-worker-start-id", "32"}}),
                 "the workers of this host are 32 to 63"));
  CHECK(contains(refused_settings({{"profile", "system"}}), "a system profile is that of a program"));
  const Result<kinds::neuron::NeuronSettings> none = read_settings({}, kinds::neuron::NeuronStart::neff, "box");
  CHECK(contains(none.message(), "--neff: name the compiled program"));
  const Result<kinds::neuron::NeuronSettings> both =
      read_settings({{"neff", "mlp.neff"}}, kinds::neuron::NeuronStart::program, "box");
  CHECK(contains(both.message(), "a program is given as well"));
}

TEST_CASE("a program is compiled with debug facts, and with the flags that were there before") {
  const auto nothing = [](const std::string&) { return std::string(); };
  const auto flags = [](const std::string& name) { return name == "NEURON_CC_FLAGS" ? "--target trn2" : ""; };
  CHECK(kinds::neuron::compile_environment(program_settings({}), {}, "/c", nothing) ==
        Words{"NEURON_FRAMEWORK_DEBUG=1", "XLA_IR_DEBUG=1", "XLA_HLO_DEBUG=1", "NKI_DEBUG_INFO=True",
              "NEURON_COMPILE_CACHE_URL=/c"});
  const Words own = kinds::neuron::compile_environment(
      program_settings({{"fresh-cache", "off"}, {"disable-dge", "on"}}), {"XLA_IR_DEBUG=0"}, "/c", flags);
  CHECK(own == Words{"XLA_IR_DEBUG=0", "NEURON_FRAMEWORK_DEBUG=1", "XLA_HLO_DEBUG=1", "NKI_DEBUG_INFO=True",
                     "NEURON_CC_FLAGS=--target trn2 --disable-dge"});
  const Words once =
      kinds::neuron::compile_environment(program_settings({{"disable-dge", "on"}, {"fresh-cache", "off"}}),
                                         {"NEURON_CC_FLAGS=--disable-dge -O1"}, "/c", flags);
  CHECK(std::count_if(once.begin(), once.end(),
                      [](const std::string& word) { return word.starts_with("NEURON_CC_FLAGS"); }) == 1);
  const Words retained =
      kinds::neuron::compile_environment(program_settings({}), {"NEURON_COMPILE_CACHE_URL=/mine"}, "/c", nothing);
  CHECK(std::find(retained.begin(), retained.end(), "NEURON_COMPILE_CACHE_URL=/c") == retained.end());
  CHECK(kinds::neuron::value_in({"A=1", "AB=2", "A=3"}, "A") == "3");
}

TEST_CASE("a system profile runs the program under the tool, whose own options end where the program begins") {
  const kinds::neuron::NeuronSettings plain = program_settings({{"profile", "system"}});
  CHECK(kinds::neuron::inspect_arguments(plain, "/w/out", {"python3", "a.py", "-n", "3"}) ==
        Words{"inspect", "-o", "/w/out", "python3", "a.py", "-n", "3"});
  const kinds::neuron::NeuronSettings both =
      program_settings({{"profile", "system+device"}, {"num-trace-events", "2M"}});
  CHECK(kinds::neuron::inspect_arguments(both, "o", {"a"}) == Words{"inspect", "-o", "o", "-n", "2000000", "a"});
}

TEST_CASE("the runtime records what is chosen, by its variables") {
  const auto nothing = [](const std::string&) { return std::string(); };
  const auto environment = [&](std::vector<request::OptionSetting> options) {
    options.insert(options.begin(), {"record-by", "environment"});
    const auto made = kinds::neuron::recording_environment(program_settings(std::move(options)), {}, "/w/out", nothing);
    REQUIRE(made.ok());
    return *made;
  };
  CHECK(environment({{"profile", "system+device"}}) ==
        Words{"NEURON_RT_INSPECT_ENABLE=1", "NEURON_RT_INSPECT_SYSTEM_PROFILE=1",
              "NEURON_RT_INSPECT_DEVICE_PROFILE=session", "NEURON_RT_INSPECT_OUTPUT_DIR=/w/out"});
  CHECK(environment({{"profile", "system"},
                     {"cpu-util", "on"},
                     {"host-memory", "on"},
                     {"event-cores", "0,1"},
                     {"event-types", "hardware,^cc_running"},
                     {"num-trace-events", "5M"}}) ==
        Words{"NEURON_RT_INSPECT_ENABLE=1", "NEURON_RT_INSPECT_SYSTEM_PROFILE=1", "NEURON_RT_INSPECT_DEVICE_PROFILE=0",
              "NEURON_RT_INSPECT_CPU_UTIL=1", "NEURON_RT_INSPECT_HOST_MEMORY=1", "NEURON_RT_INSPECT_OUTPUT_DIR=/w/out",
              "NEURON_RT_INSPECT_EVENT_FILTER_NC=0,1", "NEURON_RT_INSPECT_EVENT_FILTER_TYPE=hardware,^cc_running",
              "NEURON_RT_INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC=5000000"});
  const Words devices = environment({{"profile", "device"}, {"device-trace", "model"}});
  CHECK(std::find(devices.begin(), devices.end(), "NEURON_RT_INSPECT_SYSTEM_PROFILE=0") != devices.end());
  CHECK(std::find(devices.begin(), devices.end(), "NEURON_RT_INSPECT_DEVICE_PROFILE=1") != devices.end());
}

TEST_CASE("a program that profiles itself finds the folder, and the runtime does not record beside it") {
  const auto nothing = [](const std::string&) { return std::string(); };
  const auto torch = program_settings({{"record-by", "torch"}});
  CHECK(*kinds::neuron::recording_environment(torch, {}, "/w", nothing) ==
        Words{"ACCELSCOPE_NEURON_OUTPUT=/w", "TORCH_NEURONX_NEFF_CACHE_DIR=/w/neffs"});
  CHECK(*kinds::neuron::recording_environment(program_settings({{"record-by", "jax"}}), {}, "/w", nothing) ==
        Words{"ACCELSCOPE_NEURON_OUTPUT=/w", "NEURON_RT_INSPECT_DEVICE_PROFILE=1"});
  const auto both = kinds::neuron::recording_environment(torch, {"NEURON_RT_INSPECT_ENABLE=1"}, "/w", nothing);
  REQUIRE_FALSE(both.ok());
  CHECK(contains(both.message(), "must not record beside another profiler"));
  const auto inherited = kinds::neuron::recording_environment(
      torch, {}, "/w", [](const std::string& name) { return name == "NEURON_RT_INSPECT_ENABLE" ? "true" : ""; });
  CHECK_FALSE(inherited.ok());
  const auto limited =
      read_settings({{"record-by", "torch"}, {"num-trace-events", "5M"}}, kinds::neuron::NeuronStart::program, "box");
  CHECK(contains(limited.message(), "NeuronConfig(max_events_per_nc="));
  CHECK(contains(refused_settings({{"record-by", "jax"}}), "is of a program that runs"));
  CHECK(contains(refused_settings({{"record-by", "vllm"}, {"vllm-port", "70000"}}), "is no port"));
  REQUIRE(request::kind_warnings({"neuron", {{"record-by", "torch"}}}).size() == 1);
  CHECK(contains(request::kind_warnings({"neuron", {{"record-by", "torch"}}}).front(), "ACCELSCOPE_NEURON_OUTPUT"));
}

TEST_CASE("an option of one recorder is refused with another, with the one that it needs") {
  const auto refused = [](std::vector<request::OptionSetting> options) {
    const auto read = read_settings(std::move(options), kinds::neuron::NeuronStart::program, "box");
    return read ? std::string() : read.message();
  };
  CHECK(refused({{"vllm-time", "10s"}}) == "--vllm-time: is given, but applies only with --record-by vllm");
  CHECK(refused({{"record-by", "torch"}, {"event-cores", "0"}}) ==
        "--event-cores: is given, but applies only with --record-by environment or vllm");
  CHECK(refused({{"profile", "system"}, {"num-exec", "2"}}) ==
        "--num-exec: is given, but applies only with --profile device and --record-by inspect");
  CHECK(refused({{"vllm-port", "8000"}}).empty());  // the default, as it was saved
  CHECK(refused({{"record-by", "vllm"}, {"vllm-time", "10s"}}).empty());
}

TEST_CASE("a vLLM server is started with the profile that is chosen") {
  const auto plain = program_settings({{"record-by", "vllm"}, {"profile", "system+device"}});
  CHECK(kinds::neuron::vllm_arguments(plain, "/w/a \"b\"") ==
        Words{"--profiler-config", R"({"profiler":"cuda"})", "--additional-config",
              R"({"neuron_profiler":{"activities":["device_profile","system_profile"],"output_dir":"/w/a \"b\""}})"});
  const auto chosen = program_settings({{"record-by", "vllm"},
                                        {"event-cores", "0,1"},
                                        {"num-trace-events", "2M"},
                                        {"vllm-delay-iterations", "3"},
                                        {"vllm-max-iterations", "8"}});
  CHECK(kinds::neuron::vllm_arguments(chosen, "/w") ==
        Words{"--profiler-config", R"({"profiler":"cuda","delay_iterations":3,"max_iterations":8})",
              "--additional-config",
              R"({"neuron_profiler":{"activities":["device_profile"],"output_dir":"/w",)"
              R"("sys_trace_max_events_per_nc":2000000,"neuron_cores":[0,1]}})"});
  CHECK(contains(refused_settings({{"record-by", "environment"}, {"event-cores", "0;1"}}), "--event-cores"));
}

TEST_CASE("variables that take lines and layers out of what is compiled are named") {
  const auto nothing = [](const std::string&) { return std::string(); };
  const Words set = kinds::neuron::compile_environment(program_settings({}), {}, "", nothing);
  CHECK(kinds::neuron::missing_debug_facts(set, nothing).empty());
  const std::string missing = kinds::neuron::missing_debug_facts(
      kinds::neuron::compile_environment(program_settings({}), {"XLA_IR_DEBUG=0", "NKI_DEBUG_INFO=False"}, "", nothing),
      nothing);
  CHECK(contains(missing, "without XLA_IR_DEBUG=1 NKI_DEBUG_INFO=True has no lines of source"));
}

TEST_CASE("the form is warned of outputs that will mean nothing") {
  CHECK(request::kind_warnings({"neuron", {{"input", "x=x.npy"}}}).empty());
  REQUIRE(request::kind_warnings({"neuron", {}}).size() == 1);
  CHECK(contains(request::kind_warnings({"neuron", {}}).front(), "feeds zeros"));
  const auto both = request::kind_warnings({"neuron", {{"single-io", "on"}}});
  REQUIRE(both.size() == 2);
  CHECK(contains(both.back(), "outputs are wrong"));
  CHECK(request::kind_warnings({"neuron", {{"profile", "system"}}}).empty());
}

}  // namespace
}  // namespace accelscope::capture
