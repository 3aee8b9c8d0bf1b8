// The few calls where systems differ: making a file durable and putting it in another's place. The only file in
// core that asks the operating system directly.
#pragma once

#include <string>

#include "core/base/result.h"

namespace accelscope {

void remove_file(const std::string& path) noexcept;  // nothing happens if it is not there
Result<void> sync_file(const std::string& path);     // its bytes are on the disk when this returns
// Atomic: another process sees the old file or the new one. Also makes the rename itself durable.
Result<void> replace_file(const std::string& from, const std::string& to);
// A name nobody uses yet; the directory may be empty for the system's own.
[[nodiscard]] std::string temporary_path(const std::string& directory, const std::string& stem,
                                         const std::string& extension);

}  // namespace accelscope
