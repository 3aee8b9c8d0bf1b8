// What ROCm's profilers say of a device, as an object of JSON: facts for the session's meta data, under the names that
// other profiles of GPUs have for them.
#pragma once

#include <string_view>

#include "capture/json/json_field.h"
#include "capture/sources/rocm/run/run.h"

namespace accelscope::capture::sources::rocm {

// Nothing where the text is none.
void add_agent_facts(std::string_view object, RocmAgent& agent);
// One member of such an object.
void add_agent_field(const json::JsonField& field, RocmAgent& agent);
// One of them, by ROCm's name of it.
void add_agent_fact(std::string_view name, std::string_view value, RocmAgent& agent);

}  // namespace accelscope::capture::sources::rocm
