// Why lines of a device log were not read as a row should be, counted with the first line of each kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace accelscope::capture::sources::tt_metal {

enum class RowProblem : std::uint8_t {
  too_few_cells,
  too_many_cells,
  not_a_row,  // no cells at all
  open_quote,
  not_a_number,
  negative,
  too_large,
  bad_processor,  // no name of a RISC processor
  too_many_processors,
  prologue,        // the chip's line or a header again
  cut_short,       // the last line, without an end
  value_left_out,  // the row was read, but for an id that is no number
};
inline constexpr std::size_t kRowProblemCount = 12;

struct RowProblemCount {
  std::uint64_t count = 0;
  std::uint64_t first_line = 0;
};

class RowProblems {
 public:
  void add(RowProblem problem, std::uint64_t line) noexcept {
    RowProblemCount& counted = counts_[static_cast<std::size_t>(problem)];
    if (counted.count++ == 0) counted.first_line = line;
  }
  // Those of a later block whose lines are counted from 0.
  void add(const RowProblems& block, std::uint64_t first_line) noexcept {
    for (std::size_t i = 0; i < kRowProblemCount; ++i) {
      if (block.counts_[i].count == 0) continue;
      if (counts_[i].count == 0) counts_[i].first_line = first_line + block.counts_[i].first_line;
      counts_[i].count += block.counts_[i].count;
    }
  }
  [[nodiscard]] const RowProblemCount& operator[](RowProblem problem) const noexcept {
    return counts_[static_cast<std::size_t>(problem)];
  }
  // Lines that are in no table.
  [[nodiscard]] std::uint64_t skipped() const noexcept {
    std::uint64_t total = 0;
    for (const RowProblemCount& counted : counts_) total += counted.count;
    return total - (*this)[RowProblem::value_left_out].count;
  }

 private:
  std::array<RowProblemCount, kRowProblemCount> counts_{};
};

}  // namespace accelscope::capture::sources::tt_metal
