#include "capture/sources/tt_metal/read/log_meta_data.h"

#include <algorithm>

#include "capture/sources/tt_metal/read/layout.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

constexpr std::size_t kLongestCounterName = 128;

}  // namespace

std::string_view meta_data_field(std::string_view text, std::string_view key) noexcept {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t after = at + key.size();
    const bool quoted = at > 0 && text[at - 1] == '"' && after < text.size() && text[after] == '"';
    if (!quoted) continue;
    std::size_t value = text.find_first_not_of(" \t", after + 1);
    if (value == std::string_view::npos || text[value] != ':') continue;
    value = text.find_first_not_of(" \t", value + 1);
    if (value == std::string_view::npos) return {};
    if (text[value] == '"') {
      const std::size_t end = text.find('"', value + 1);
      return end == std::string_view::npos ? std::string_view{} : text.substr(value + 1, end - value - 1);
    }
    const std::size_t end = text.find_first_of(";,} \t", value);
    return text.substr(value, end - value);
  }
  return {};
}

std::optional<CounterFields> read_counter_fields(std::string_view cell) {
  const std::string_view type = meta_data_field(cell, "counter type");
  if (type.empty() || type.size() > kLongestCounterName) return std::nullopt;
  CounterFields fields;
  if (read_number(meta_data_field(cell, "value"), fields.value) != NumberState::ok) return std::nullopt;
  if (read_number(meta_data_field(cell, "ref cnt"), fields.reference) != NumberState::ok) fields.reference = 0;
  fields.type = type;
  return fields;
}

std::string with_commas(std::string text) {
  std::replace(text.begin(), text.end(), ';', ',');
  return text;
}

}  // namespace accelscope::capture::sources::tt_metal
