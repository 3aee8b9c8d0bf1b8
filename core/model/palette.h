// The slice palette and the rule that gives a name its slot. It lives in core because level-of-detail trees keep
// mean colours. Any two slots are told apart under the three common kinds of colour blindness.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace accelscope {

inline constexpr std::array<std::uint32_t, 12> kSlicePalette = {0x6EC7F9, 0x4A979E, 0x7585BB, 0xD5937D,
                                                                0xCAD683, 0xB4A54C, 0xA8A1CA, 0xEABCD7,
                                                                0x7CBDA9, 0xA87F45, 0xACDCB0, 0xC16A74};

// Pinned names first (MATMUL, LDWEIGHTS ...), else a hash of the name without its trailing _123 or .123, so that a
// name keeps its colour in every run and on every machine.
[[nodiscard]] std::uint8_t palette_slot(std::string_view name) noexcept;

}  // namespace accelscope
