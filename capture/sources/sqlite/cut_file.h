// Database files that end before their last page. SQLite refuses such a file whole if one of the pages that list its
// tables is missing, and a table from its first missing page on. Through this layer it does not see what points at
// pages that are not there, so that all other rows can be read.
#pragma once

#include <string>

namespace accelscope::capture::sources::sqlite {

// Whether the file is shorter than its header says.
[[nodiscard]] bool is_cut_database(const std::string& path);
// The name under which SQLite knows the layer; null if it cannot be had.
[[nodiscard]] const char* cut_file_layer();

}  // namespace accelscope::capture::sources::sqlite
