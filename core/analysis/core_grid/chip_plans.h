// Where chips have workers, memory and links: a letter for each place of the on-chip network, row by row. From the
// makers' descriptions of their chips; harvested workers differ from chip to chip and are not known here.
#pragma once

#include <span>
#include <string_view>

namespace accelscope {

struct ChipPlan {
  std::string_view arch;                   // as the session's metadata names it, without "_b0"
  std::span<const std::string_view> rows;  // [y][x]: W worker, D memory, E link, P host, A management, R router only
  std::string_view source;

  [[nodiscard]] int columns() const noexcept { return static_cast<int>(rows.front().size()); }
  [[nodiscard]] int row_count() const noexcept { return static_cast<int>(rows.size()); }
  [[nodiscard]] bool holds(int x, int y) const noexcept { return x >= 0 && y >= 0 && x < columns() && y < row_count(); }
  [[nodiscard]] char at(int x, int y) const noexcept {
    return rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
  }
};

inline constexpr char kWorkerPlace = 'W';

// Null: nothing is known of it.
[[nodiscard]] const ChipPlan* find_chip_plan(std::string_view arch) noexcept;
// "DRAM", "Ethernet" ...; "" of a worker.
[[nodiscard]] std::string_view place_name(char place) noexcept;

}  // namespace accelscope
