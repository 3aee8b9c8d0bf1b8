// Values of metadata as people read them: "3", "1, 2, 3", "0.25".
#pragma once

#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "capture/probe/itt/records.h"

namespace accelscope::probe::itt {

// One value that lies at `at`, of a type that is not text.
inline void append_metadata_value(std::string& text, MetadataType type, const char* at) {
  with_number(type, [&](auto number) {
    std::memcpy(&number, at, sizeof number);
    char buffer[40];
    if constexpr (std::is_floating_point_v<decltype(number)>) {
      constexpr int kDigits = std::numeric_limits<decltype(number)>::max_digits10;
      std::snprintf(buffer, sizeof buffer, "%.*g", kDigits, static_cast<double>(number));
      text += buffer;
    } else if constexpr (sizeof number == 1) {
      std::snprintf(buffer, sizeof buffer, "0x%02x", static_cast<unsigned>(number));
      text += buffer;
    } else {
      text += std::to_string(number);
    }
  });
}

[[nodiscard]] inline std::string metadata_text(MetadataType type, std::string_view bytes) {
  if (type == MetadataType::text) return std::string(bytes);
  std::string text;
  const std::size_t step = bytes_of(type);
  for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
    if (at > 0) text += ", ";
    append_metadata_value(text, type, bytes.data() + at);
  }
  return text;
}

}  // namespace accelscope::probe::itt
