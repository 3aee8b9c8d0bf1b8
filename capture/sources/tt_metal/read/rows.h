// Understands the rows of a device log, a block of whole lines at a time. One parser per thread; all of them share a
// dictionary.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/tt_metal/read/dictionary.h"
#include "capture/sources/tt_metal/read/layout.h"
#include "core/base/checksum.h"

namespace accelscope::capture::sources::tt_metal {

// Why lines of a device log were not read as a row should be, counted with the first line of each kind.

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

// The number of some cells of a row, by their raw bytes: most rows repeat the text of a row shortly before them, so it
// need not be understood again. Small and forgetful; what it does not know, it asks for.

// Where the cells of a row begin: cell i is [begins[i], begins[i + 1] - 1).
using CellBegins = const char* const*;

[[nodiscard]] inline std::string_view cell_text(CellBegins begins, int first, int last) noexcept {
  return {begins[first], static_cast<std::size_t>(begins[last + 1] - begins[first] - 1)};
}

class CellCache {
 public:
  // The cells that make up the key; neighbours are compared at one go.
  explicit CellCache(std::vector<int> cells);

  // Forgets the row before, whose text is about to go away.
  void begin_block() noexcept { last_known_ = false; }

  template <typename Ask>
  [[nodiscard]] std::uint32_t find(CellBegins begins, Ask&& ask) {
    if (last_known_ && same_as_last(begins)) return last_number_;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const std::string_view text = cell_text(begins, groups_[i].first, groups_[i].last);
      last_[i] = text;
      hash = (hash ^ checksum(std::as_bytes(std::span(text)))) * 0x9e3779b97f4a7c15U;
    }
    last_known_ = true;
    const std::size_t place = (hash >> 32) & (kPlaces - 1);
    for (const std::size_t way : {place, place ^ 1}) {
      const Entry& entry = entries_[way];
      if (entry.hash == hash && is_key(entry.key)) return last_number_ = entry.number;
    }
    // The way that was filled longer ago makes room.
    Entry& entry = entries_[place ^ (turn_ ^= 1)];
    entry.hash = hash;
    entry.number = ask();
    entry.key.clear();
    for (const std::string_view text : last_) entry.key.append(text).push_back('\n');
    return last_number_ = entry.number;
  }

 private:
  static constexpr std::size_t kPlaces = 2048;
  struct Group {
    int first;
    int last;
  };
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t number = 0;
    std::string key;
  };

  [[nodiscard]] bool same_as_last(CellBegins begins) const noexcept {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (cell_text(begins, groups_[i].first, groups_[i].last) != last_[i]) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_key(std::string_view key) const noexcept {
    for (const std::string_view text : last_) {
      if (key.size() <= text.size() || key[text.size()] != '\n' || !key.starts_with(text)) return false;
      key.remove_prefix(text.size() + 1);
    }
    return key.empty();
  }

  std::vector<Group> groups_;
  std::vector<std::string_view> last_;
  std::vector<Entry> entries_;
  std::uint32_t last_number_ = 0;
  std::size_t turn_ = 0;
  bool last_known_ = false;
};

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
