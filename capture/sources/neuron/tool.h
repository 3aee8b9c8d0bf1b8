// The vendor's tool for Neuron profiles: where it is, how it converts a raw trace, and what its failures mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::sources::neuron {

// The program of a trace: the file beside it of the same name, with the number that the trace's name carries, or the
// only one in its folder or the one above. "" if none can be told.
[[nodiscard]] std::string find_neff(const std::string& ntff_path);

// "neuron-profile" first, then its successor "neuron-explorer".
[[nodiscard]] const std::vector<std::string>& neuron_tool_names();
// Its whole path: on PATH, else where the vendor's packages put it. "": not there. `wanted`: one of the names; "": any.
[[nodiscard]] std::string find_neuron_tool(std::string_view wanted = {});

// The arguments that write the profile of a trace as JSON, without the tool itself.
[[nodiscard]] std::vector<std::string> neuron_view_arguments(const std::string& neff, const std::string& ntff,
                                                             const std::string& output);

// What the tool printed last, for a message: "it printed:\n...".
[[nodiscard]] std::string shown_output(std::string text);
// What to do about a failure that the tool's output tells of: a busy device, memory that ran out. "": nothing known.
[[nodiscard]] std::string advice_on_failure(std::string_view output);

}  // namespace accelscope::capture::sources::neuron
