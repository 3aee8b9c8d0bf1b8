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

// Events that have no value in the column that they are coloured by.
inline constexpr std::uint32_t kNoValueColour = 0x8A919C;

// From few to many, for numbers: lighter with every step, so that their order shows without telling hues apart.
inline constexpr std::array<std::uint32_t, 8> kStepPalette = {0x8379C9, 0x6F8FCB, 0x56A1C4, 0x4FB3AC,
                                                              0x74C48A, 0xA6D26E, 0xD6DC62, 0xF2E68C};
// Of so many steps; a few lie as far apart as there is room.
[[nodiscard]] constexpr std::uint32_t step_colour(std::size_t step, std::size_t steps) noexcept {
  const std::size_t last = kStepPalette.size() - 1;
  return kStepPalette[steps < 2 ? last / 2 : step * last / (steps - 1)];
}

// Pinned names first (MATMUL, LDWEIGHTS ...), else a hash of the name without its trailing _123 or .123, so that a
// name keeps its colour in every run and on every machine.
[[nodiscard]] std::uint8_t palette_slot(std::string_view name) noexcept;

}  // namespace accelscope
