// SQLite databases that other programs have written: not sessions, and not damaged ones either.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace accelscope {

// The names of its tables and views. Nothing: the file is no SQLite database, cannot be read, or is a session file,
// whole or damaged.
[[nodiscard]] std::optional<std::vector<std::string>> tables_of_other_database(const std::string& path);

}  // namespace accelscope
