// What calls of a host mean to a device, by their names: the words of frameworks and drivers are a table. Those that
// compile are in core/analysis/compilation/compile_words.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace accelscope {

enum class HostCallKind : std::uint8_t {
  other,
  loads_data,    // the next batch is made
  synchronises,  // waits until the device is done
};

[[nodiscard]] HostCallKind host_call_kind(std::string_view name) noexcept;

}  // namespace accelscope
