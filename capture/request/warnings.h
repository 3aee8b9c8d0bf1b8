// What settings that are right do to a capture, said while they are typed: outputs that will mean nothing, a figure
// that will be missing. Known from the settings alone, so that a form can show it for any host.
#pragma once

#include <string>
#include <vector>

#include "capture/request/request.h"

namespace accelscope::capture::request {

// Sentences for the user, at most one for each thing; none: nothing is to be said.
[[nodiscard]] std::vector<std::string> kind_warnings(const KindChoice& choice);

}  // namespace accelscope::capture::request
