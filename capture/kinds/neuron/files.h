// The files of a Neuron capture: NEFFs that a program has compiled, traces that the tool has written, inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/kinds/program/folder_watch.h"
#include "core/base/result.h"

namespace accelscope::capture::kinds::neuron {

// The one of the program's NEFFs that is meant: "largest" (the newest of those), "newest", its number from 1, or a part
// of its path. Fails with the list if none or several fit. `files` is not empty.
[[nodiscard]] Result<std::size_t> choose_neff(const std::vector<kinds::program::FolderWatch::File>& files,
                                              const std::string& which);

// A raw trace that the tool wrote: "profile_rank_3_exec_2.ntff" is of rank 3, execution 2.
struct NeuronTrace {
  std::string path;
  std::string label;  // "rank 3"; "" if the name says none
  std::optional<std::uint64_t> execution;
};
// One trace of each rank, ranks in order: that of execution `nth`, else of the last one.
struct ChosenTraces {
  std::vector<NeuronTrace> chosen;
  std::vector<std::string> left;    // of other executions
  std::vector<std::string> beyond;  // of the ranks after the first `most`
};
inline constexpr std::size_t kMostRanks =
    60;  // of one host: a capture joins 64 sources, those of other kinds among them
[[nodiscard]] ChosenTraces choose_traces(const std::vector<std::string>& paths, std::optional<std::uint64_t> nth,
                                         std::size_t most = kMostRanks);

// Whether every value of an input, .npy or raw, is zero. Fails if it cannot be read, is empty or is no .npy file.
[[nodiscard]] Result<bool> is_all_zero(const std::string& path);

}  // namespace accelscope::capture::kinds::neuron
