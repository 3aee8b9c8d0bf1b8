// How the time of one session is laid beside that of another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace accelscope::app {

struct SessionTab;  // app/session/tab.h

enum class Alignment : std::uint8_t { start, first_activity, end, marker, iteration, relative };

struct AlignmentName {
  std::string_view label, explanation;
};
// In the order of Alignment.
inline constexpr std::array<AlignmentName, 6> kAlignments = {
    {{"Start", "Both sessions begin at the same place"},
     {"First activity", "The first work of both stands at the same place"},
     {"End", "The last work of both stands at the same place"},
     {"Marker", "The first marker whose name both have stands at the same place"},
     {"Iteration", "A turn of the loop that both run begins at the same place: the first, or the one clicked last"},
     {"Relative", "The work of both is as wide: places are shares of it"}}};

// Where a time of the base lies in the other session.
struct LaidBeside {
  double base_ns = 0, other_ns = 0;  // at the same place
  double scale = 1;                  // of the other's time to the base's

  [[nodiscard]] double to_other(double ns) const noexcept { return other_ns + (ns - base_ns) * scale; }
  [[nodiscard]] double to_base(double ns) const noexcept { return base_ns + (ns - other_ns) / scale; }
};
// Nothing: they have no marker, or no loop, in common. What is not known yet of their activity is their whole length.
[[nodiscard]] std::optional<LaidBeside> laid_beside(const SessionTab& base, const SessionTab& other, Alignment how);

}  // namespace accelscope::app
