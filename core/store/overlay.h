// What is kept beside the events of a session file (tags, headline, view state), read and changed without opening the
// session: for libraries of many files. Of a file that cannot be written it lies in the sidecar (path + ".overlay").
#pragma once

#include <map>
#include <string>

#include "core/base/result.h"

namespace accelscope {

using OverlayValues = std::map<std::string, std::string>;

// Errors say what the file is instead of a session. A sidecar's values take the place of the file's, unless it is
// broken or no plain file; a value of "" is none. Values of more than 1 MiB are left out, and what comes after 16 MiB.
// passed_over: gets why a sidecar was not read; the session is readable without it.
[[nodiscard]] Result<OverlayValues> read_overlay(const std::string& path, std::string* passed_over = nullptr);
// One short transaction; "" takes the value away. The session may be open elsewhere. A sidecar is made only where the
// file cannot be opened for writing.
Result<void> write_overlay_value(const std::string& path, const std::string& key, const std::string& value);

}  // namespace accelscope
