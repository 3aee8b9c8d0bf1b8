// The small text files that the viewer remembers things in: lines of tab-separated fields, with tab, line end and
// backslash escaped, read tolerantly and written whole by rename, in files and folders that are this user's. No types
// in here: users parse their fields.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app {

using TextRecord = std::vector<std::string>;

[[nodiscard]] std::string encode_record(const TextRecord& fields);  // without a line end
[[nodiscard]] TextRecord decode_record(std::string_view line);

// All of the text is a number of this type.
template <typename Number>
[[nodiscard]] bool read_number(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end;
}

// A missing file reads as no records; another user's is an error.
[[nodiscard]] Result<std::vector<TextRecord>> read_records(const std::string& path);
// Makes the folder when needed; the old file stays until the new one is complete. Nobody else may read it.
Result<void> write_records(const std::string& path, const std::vector<TextRecord>& records);

}  // namespace accelscope::app
