// Understands the rows of a device log, a block of whole lines at a time. One parser per thread; all of them share a
// dictionary.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/tt_metal/read/cell_cache.h"
#include "capture/sources/tt_metal/read/dictionary.h"
#include "capture/sources/tt_metal/read/layout.h"
#include "capture/sources/tt_metal/read/log_marker.h"
#include "capture/sources/tt_metal/read/row_problems.h"

namespace accelscope::capture::sources::tt_metal {

struct LogRow {
  LogMarker marker;
  std::uint32_t processor = 0;
};

struct LogRowBlock {
  std::vector<LogRow> rows;
  RowProblems problems;  // lines are counted from 0 at the block's begin
  std::uint64_t lines = 0;
  std::uint64_t blank_lines = 0;
};

class DeviceLogRows {
 public:
  DeviceLogRows(const DeviceLogLayout& layout, DeviceLogDictionary& dictionary);

  // The block must end with a whole line, except that the file's last line may lack its end.
  void parse(std::string_view text, LogRowBlock& block);

 private:
  [[nodiscard]] std::string_view cell(LogColumn column) const noexcept;
  [[nodiscard]] bool split(std::string_view line, RowProblem& problem);
  [[nodiscard]] std::size_t split_quoted(std::string_view line);
  void parse_line(std::string_view line, bool complete, LogRowBlock& block);
  [[nodiscard]] bool is_cut_short(std::string_view line) const noexcept;

  [[nodiscard]] std::uint32_t ask_processor();
  [[nodiscard]] std::uint32_t ask_site();
  [[nodiscard]] std::uint32_t ask_context();
  [[nodiscard]] LogSite read_site() const;
  void read_meta_data(std::string_view cell, LogMarker& marker);
  [[nodiscard]] std::uint32_t counter_site(std::uint32_t site, std::string_view type);

  const DeviceLogLayout& layout_;
  DeviceLogDictionary& dictionary_;
  CellCache processors_;
  CellCache sites_;
  CellCache contexts_;
  CellCache meta_data_;
  // Performance counters by the site of their rows and their type.
  struct Counter {
    std::uint32_t row_site;
    std::string type;
    std::uint32_t site;
  };
  std::vector<Counter> counters_;
  std::vector<const char*> begins_;
  std::size_t last_time_digits_ = 0;
};

}  // namespace accelscope::capture::sources::tt_metal
