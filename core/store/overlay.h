// What is kept beside the events of a session file (tags, headline, view state), read and changed without opening the
// session: for libraries of many files. Of a file that cannot be written it lies in the sidecar (path + ".overlay").
#pragma once

#include <map>
#include <string>

#include "core/base/result.h"

namespace accelscope {

using OverlayValues = std::map<std::string, std::string>;

// Errors say what the file is instead of a session. A sidecar's values take the place of the file's.
[[nodiscard]] Result<OverlayValues> read_overlay(const std::string& path);
// One short transaction; "" takes the value away. The session may be open elsewhere.
Result<void> write_overlay_value(const std::string& path, const std::string& key, const std::string& value);

}  // namespace accelscope
