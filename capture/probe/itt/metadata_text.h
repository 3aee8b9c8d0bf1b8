// Values of metadata as people read them: "3", "1, 2, 3", "0.25".
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "capture/probe/itt/records.h"

namespace accelscope::probe::itt {

template <typename Number>
[[nodiscard]] Number read_number(const char* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// One value that lies at `at`, of a type that is not text.
inline void append_metadata_value(std::string& text, MetadataType type, const char* at) {
  char buffer[40];
  switch (type) {
    case MetadataType::u64:
      std::snprintf(buffer, sizeof buffer, "%" PRIu64, read_number<std::uint64_t>(at));
      break;
    case MetadataType::s64:
      std::snprintf(buffer, sizeof buffer, "%" PRId64, read_number<std::int64_t>(at));
      break;
    case MetadataType::u32:
      std::snprintf(buffer, sizeof buffer, "%" PRIu32, read_number<std::uint32_t>(at));
      break;
    case MetadataType::s32:
      std::snprintf(buffer, sizeof buffer, "%" PRId32, read_number<std::int32_t>(at));
      break;
    case MetadataType::u16:
      std::snprintf(buffer, sizeof buffer, "%d", static_cast<int>(read_number<std::uint16_t>(at)));
      break;
    case MetadataType::s16:
      std::snprintf(buffer, sizeof buffer, "%d", static_cast<int>(read_number<std::int16_t>(at)));
      break;
    case MetadataType::real:
      std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(read_number<float>(at)));
      break;
    case MetadataType::real_double:
      std::snprintf(buffer, sizeof buffer, "%.17g", read_number<double>(at));
      break;
    default:
      std::snprintf(buffer, sizeof buffer, "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(*at)));
  }
  text += buffer;
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
