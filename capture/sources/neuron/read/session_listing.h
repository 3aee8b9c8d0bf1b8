// The vendor's listing of a raw trace, `show-session -j`: NeffNodes[], each with the graphs that it ran. Read
// leniently: its keys differ between versions of the tool.
#pragma once

#include <string_view>
#include <vector>

#include "core/analysis/time/executors.h"
#include "core/base/result.h"

namespace accelscope::capture::sources::neuron {

[[nodiscard]] bool is_session_listing(std::string_view first_bytes) noexcept;

// One row for each graph. Fails if the text is not such a listing or breaks off.
[[nodiscard]] Result<std::vector<analysis::Executor>> read_session_listing(std::string_view text);

}  // namespace accelscope::capture::sources::neuron
