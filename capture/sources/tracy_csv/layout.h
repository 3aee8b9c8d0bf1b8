// Which of tracy-csvexport's tables a file holds, and how its rows fall into cells. The tool writes names and texts
// without quotes, so that a comma in them makes a row longer than the header: such a row is read by where its numbers
// must stand.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::sources::tracy_csv {

enum class TracyTable : std::uint8_t {
  zones,       // -u: a row for each zone, and for each sample of a plot
  gpu_zones,   // -g
  messages,    // -m
  statistics,  // a row for each place in the source
};

enum class TracyColumn : std::uint8_t { name, file, line, start, duration, thread, other };

struct TracyLayout {
  TracyTable table = TracyTable::zones;
  char separator = ',';
  std::vector<std::string> names;    // of the columns, without blanks at their ends
  std::vector<TracyColumn> columns;  // what they are
  static constexpr std::size_t kAbsent = SIZE_MAX;

  [[nodiscard]] std::size_t place(TracyColumn column) const noexcept;
  [[nodiscard]] bool is_number(std::size_t place) const noexcept;
};

// Of the file's first line.
[[nodiscard]] Result<TracyLayout> read_tracy_header(std::string_view line);
// 0 to 100: how sure it is that a text which begins like this is such a table.
[[nodiscard]] int probe_tracy_csv_text(std::string_view text);

// The row as one cell for each column; false if it cannot be one. Cells of `cells` are reused.
[[nodiscard]] bool split_tracy_row(std::string_view line, const TracyLayout& layout, std::vector<std::string>& cells);

[[nodiscard]] bool read_whole_number(std::string_view cell, std::int64_t& value) noexcept;
[[nodiscard]] bool read_real_number(std::string_view cell, double& value) noexcept;

}  // namespace accelscope::capture::sources::tracy_csv
