// Files that only their owner may read: keys, tokens, pins. All lie in one folder, which is the owner's alone too.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture::security {

// $XDG_CONFIG_HOME/accelscope, else ~/.config/accelscope. Fails if neither variable is set.
[[nodiscard]] Result<std::string> private_folder();

// Made with mode 0700 if it is not there. One that is there is taken as it is, its mode is never changed; if it belongs
// to another user, or others can write in it, it is refused, with what to do.
Result<void> ensure_private_folder(const std::string& folder);

// The whole file, of at most 64 KiB. Fails if it is not the caller's, or if anybody else may read or write it.
[[nodiscard]] Result<std::string> read_private_file(const std::string& path);

// See write_own_file().
Result<void> write_private_file(const std::string& path, std::string_view content);

// Runs the function while no other process does the same for the folder, so that two that start at once make one key.
Result<void> with_folder_locked(const std::string& folder, const std::function<Result<void>()>& function);

}  // namespace accelscope::capture::security
