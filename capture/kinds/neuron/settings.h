// The options of the kind `neuron`, and what was typed for them as one set of values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/request/options.h"

namespace accelscope::capture::kinds::neuron {

enum class NeuronStart : std::uint8_t {
  neff,     // a compiled program is there
  program,  // a program, or script, compiles it
};

struct NeuronInput {
  std::string name;  // of the tensor
  std::string file;  // as typed
  bool operator==(const NeuronInput&) const = default;
};

enum class NeuronProfile : std::uint8_t { device, system, system_and_device };

// Who records a program while it runs. Never two of them at once.
enum class NeuronRecorder : std::uint8_t {
  inspect,      // the tool, which runs the program
  environment,  // the runtime, by NEURON_RT_INSPECT_*
  torch,        // the program, by torch.profiler with NeuronConfig
  jax,          // the program, by jax.profiler
  vllm,         // a vLLM server, between its start_profile and stop_profile
};

struct NeuronSettings {
  NeuronStart start = NeuronStart::neff;
  std::string tool;  // "neuron-explorer"; "": whichever is there
  std::string neff;  // as typed
  std::string session_file;
  std::optional<std::uint64_t> nth_exec, num_exec;
  bool ignore_exec_errors = false;
  bool single_io = false;
  bool save_output = false;
  bool dge_notifications = false;
  std::vector<NeuronInput> inputs;
  std::optional<std::uint64_t> workers_per_node, worker_count;
  std::optional<std::uint64_t> worker_start;  // that of this host
  std::string profile_id;
  std::chrono::nanoseconds time_limit{};
  // Of the start by a program:
  NeuronProfile profile = NeuronProfile::device;
  std::string compiled_neff;  // "largest", "newest", a number of the list or a part of the path
  bool disable_dge = false;
  bool fresh_cache = true;
  std::optional<std::uint64_t> trace_events;
  NeuronRecorder recorder = NeuronRecorder::inspect;
  std::string device_trace;  // "model", "session"; "": what the recorder needs
  bool cpu_utilisation = false;
  bool host_memory = false;
  std::string event_cores, event_types;  // filters of the system profile
  std::uint16_t server_port = 0;         // of vLLM, on this host
  std::optional<std::uint64_t> delay_iterations, most_iterations;
  std::chrono::nanoseconds server_time{};  // how long it is profiled; 0: until the capture is stopped
};

[[nodiscard]] request::KindFacts neuron_facts();  // the declaration, without checks
// Fails on what the options say against each other. `start`: whether a program is given. `host`: this one's name, by
// which it finds its workers.
[[nodiscard]] Result<NeuronSettings> read_neuron_settings(const request::OptionReader& options, NeuronStart start,
                                                          const std::string& host);

// What the settings, as typed, do to the result: sentences for the form. They look at no files.
[[nodiscard]] std::vector<std::string> neuron_warnings(const request::KindChoice& choice);

// The command lines of the vendor's tool, and the surroundings of a program whose NEFFs are wanted. Only words: nothing
// is run or looked up here.

// `capture`: arguments for one NEFF; inputs in the order typed, their files as given here.
[[nodiscard]] std::vector<std::string> capture_arguments(const NeuronSettings& settings, const std::string& neff,
                                                         const std::vector<NeuronInput>& inputs);

// `inspect`: arguments that run a program and write its profiles into a folder.
[[nodiscard]] std::vector<std::string> inspect_arguments(const NeuronSettings& settings, const std::string& folder,
                                                         const std::vector<std::string>& program);
// What a program that is recorded while it runs finds in its environment, beside `given`. Profiles go into `folder`,
// which programs that profile themselves find as kOutputVariable. Fails where the environment has another recorder.
[[nodiscard]] Result<std::vector<std::string>> recording_environment(
    const NeuronSettings& settings, std::vector<std::string> given, const std::string& folder,
    const std::function<std::string(const std::string& name)>& inherited);
inline constexpr const char* kOutputVariable = "ACCELSCOPE_NEURON_OUTPUT";
// The options that a vLLM server is started with so that it can be profiled into `folder`.
[[nodiscard]] std::vector<std::string> vllm_arguments(const NeuronSettings& settings, const std::string& folder);

// What is compiled without these has no lines of source or names of layers in its profile: those that the environment
// switches off, as a sentence. "": none.
[[nodiscard]] std::string missing_debug_facts(const std::vector<std::string>& environment,
                                              const std::function<std::string(const std::string& name)>& inherited);

// "NAME=VALUE" in place of or beside `given`: debug facts in what is compiled, an empty cache. What `given` or the
// agent's own environment say about the compiler's flags is kept and added to.
[[nodiscard]] std::vector<std::string> compile_environment(
    const NeuronSettings& settings, std::vector<std::string> given, const std::string& cache_folder,
    const std::function<std::string(const std::string& name)>& inherited);

// "" if it is not set there; the last setting counts.
[[nodiscard]] std::string value_in(const std::vector<std::string>& environment, const std::string& name);

inline constexpr const char* kCacheVariable = "NEURON_COMPILE_CACHE_URL";

}  // namespace accelscope::capture::kinds::neuron
