// The "meta data" cell of a device log: a JSON object with ';' for every ',' so that it fits a cell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace accelscope::capture::sources::tt_metal {

// {"counter type":"FPU_COUNTER";"ref cnt":120;"value":99}
struct CounterFields {
  std::string type;
  std::uint64_t reference = 0;
  std::uint64_t value = 0;
};

// Nothing if the object is no performance counter with a name and a value of 64 bits.
[[nodiscard]] std::optional<CounterFields> read_counter_fields(std::string_view cell);

// The value behind a key of the object: of a string what is between its quotes. Empty if there is none.
[[nodiscard]] std::string_view meta_data_field(std::string_view text, std::string_view key) noexcept;

[[nodiscard]] std::string with_commas(std::string text);  // the JSON that it was

}  // namespace accelscope::capture::sources::tt_metal
