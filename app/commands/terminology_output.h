// What a profile's figures mean, for `view --terminology`.
#pragma once

#include <iosfwd>
#include <string>

#include "core/base/result.h"

namespace accelscope::app {

// Of one metric, or of all where `metric` is empty. An unknown one is an error that names those like it.
[[nodiscard]] Result<void> print_terminology(std::ostream& out, const std::string& metric, bool json);

}  // namespace accelscope::app
