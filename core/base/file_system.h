// The few calls where systems differ: making a file durable and putting it in another's place. The only file in
// core that asks the operating system directly.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace accelscope {

void remove_file(const std::string& path) noexcept;  // nothing happens if it is not there
Result<void> sync_file(const std::string& path);     // its bytes are on the disk when this returns
// Atomic: another process sees the old file or the new one. Also makes the rename itself durable. Of a database what
// SQLite left beside the old file goes with it: it would be worked into the new one.
Result<void> replace_file(const std::string& from, const std::string& to);
// A new empty file beside `path`, whose bytes are to become those of `path`: "run.accel.4711-0.part". With the mode
// of the file at `path`; if there is none, as the umask says or for this user alone. Fails for folders, pipes and
// devices.
enum class FileAccess : std::uint8_t { umask, owner };
[[nodiscard]] Result<std::string> draft_beside(const std::string& path, FileAccess access = FileAccess::umask);
// A plain file, no link, of the user who runs this.
[[nodiscard]] bool is_own_file(const std::string& path);
// Where a link leads; the path itself if it is none.
[[nodiscard]] std::string behind_links(const std::string& path);
// Neither a file nor a folder nor nothing: it is written to, not replaced.
[[nodiscard]] bool is_pipe_or_device(const std::string& path);
// A name nobody uses yet; the directory may be empty for the system's own.
[[nodiscard]] std::string temporary_path(const std::string& directory, const std::string& stem,
                                         const std::string& extension);

}  // namespace accelscope
