// Files of other tools that are not read here, so that a refusal can say what the file is and how to get one that is.
// Asked only once no format has taken the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::sources {

struct OtherFormat {
  std::string title;   // "an Nsight Systems export (SQLite)"
  std::string advice;  // what to do instead; "": nothing is known
};

// Looks at the file's first bytes, unpacked if it is packed, its name, and the tables of a database.
[[nodiscard]] std::optional<OtherFormat> find_other_format(const std::string& path);

// "FILE: is an Nsight Systems export (SQLite), which is not read here; ..."
[[nodiscard]] std::string refusal(const std::string& path, const OtherFormat& format);

}  // namespace accelscope::capture::sources
