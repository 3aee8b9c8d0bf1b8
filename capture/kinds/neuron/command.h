// The command lines of the vendor's tool, and the surroundings of a program whose NEFFs are wanted. Only words: nothing
// is run or looked up here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/kinds/neuron/settings.h"

namespace accelscope::capture::kinds::neuron {

// `capture`: arguments for one NEFF; inputs in the order typed, their files as given here.
[[nodiscard]] std::vector<std::string> capture_arguments(const NeuronSettings& settings, const std::string& neff,
                                                         const std::vector<NeuronInput>& inputs);

// `inspect`: arguments that run a program and write its profiles into a folder.
[[nodiscard]] std::vector<std::string> inspect_arguments(const NeuronSettings& settings, const std::string& folder,
                                                         const std::vector<std::string>& program);
// `view` of what inspect wrote: one JSON file for the system and one for each model, into the folder it runs in.
[[nodiscard]] std::vector<std::string> view_folder_arguments(const NeuronSettings& settings, const std::string& folder);

// "NAME=VALUE" in place of or beside `given`: debug facts in what is compiled, an empty cache. What `given` or the
// agent's own environment say about the compiler's flags is kept and added to.
[[nodiscard]] std::vector<std::string> compile_environment(
    const NeuronSettings& settings, std::vector<std::string> given, const std::string& cache_folder,
    const std::function<std::string(const std::string& name)>& inherited);

// "" if it is not set there; the last setting counts.
[[nodiscard]] std::string value_in(const std::vector<std::string>& environment, const std::string& name);

inline constexpr const char* kCacheVariable = "NEURON_COMPILE_CACHE_URL";

}  // namespace accelscope::capture::kinds::neuron
