// What a lane is coloured by, and how it is drawn while something is filtered, selected or searched: what does not pass
// is dimmed toward the background, what was found gets a bar above it, what is lit an outline. Nothing disappears and
// nothing moves.
#pragma once

#include <cstdint>
#include <limits>

#include "core/colour/event_colours.h"
#include "core/scan/event_mask.h"

namespace accelscope::render {

inline constexpr double kDimShare = 0.74;  // of the way to the background

// Both are 0xRRGGBB.
[[nodiscard]] inline std::uint32_t mixed_rgb(std::uint32_t from, std::uint32_t to, double share) noexcept {
  std::uint32_t mixed = 0;
  for (unsigned shift = 0; shift < 24; shift += 8) {
    const double a = from >> shift & 0xffU, b = to >> shift & 0xffU;
    mixed |= static_cast<std::uint32_t>(a + (b - a) * share + 0.5) << shift;
  }
  return mixed;
}

struct LaneShade {
  std::uint32_t lane_index = 0;           // into Snapshot::lanes, for the masks
  const EventMask* bright = nullptr;      // events that pass stay bright; null: all do
  const EventMask* region = nullptr;      // the same, of a second filter
  const EventMask* hits = nullptr;        // events that get a bar; null: none does
  const EventMask* lit = nullptr;         // events that get an accent outline; null: none does
  const EventColours* colours = nullptr;  // null: by name
  std::uint64_t colours_id = 0;           // of them: an address may come again
  double bright_begin_ns = -std::numeric_limits<double>::infinity();
  double bright_end_ns = std::numeric_limits<double>::infinity();
  bool dimmed = false;           // the whole lane
  std::uint32_t background = 0;  // 0xRRGGBB
  bool operator==(const LaneShade&) const = default;

  void colour_by(const EventColours* chosen) noexcept {
    colours = chosen;
    colours_id = chosen != nullptr ? chosen->id() : 0;
  }
  // Nothing is dimmed, found or lit.
  [[nodiscard]] bool plain() const noexcept {
    return bright == nullptr && region == nullptr && hits == nullptr && lit == nullptr && !dimmed &&
           bright_begin_ns == -std::numeric_limits<double>::infinity() &&
           bright_end_ns == std::numeric_limits<double>::infinity();
  }
  // Of the events of a leaf, those that stay bright as far as the masks say.
  [[nodiscard]] std::uint64_t bright_bits(std::uint32_t leaf) const noexcept {
    std::uint64_t bits = ~std::uint64_t{0};
    if (bright != nullptr) bits &= bright->bits(lane_index, leaf);
    if (region != nullptr) bits &= region->bits(lane_index, leaf);
    return bits;
  }
};

}  // namespace accelscope::render
