// Gathers what an import skipped, mended or guessed, counted by kind and table, and writes it as quality entries at
// the end: one sentence each, with what to try.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/table_reader.h"
#include "capture/sources/base/line_blocks.h"
#include "core/chunk/chunk_format.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources {

// Of a part of a file that was never written to its disk: it reads as zeros. Goes with their number.
[[nodiscard]] std::string hole_in_words(std::uint64_t first_byte);

// A chunk holds so many columns of a file at most: three are its own, three the sorter's.
inline constexpr std::size_t kMostFileColumns = kMaxChunkColumns - 6;

// Of a text whose last line has no end, and was read all the same.
inline constexpr std::string_view kLastLineIsOpen =
    "the last line of the file has no end: the file may have been cut there, so its last row or value may be wrong, "
    "and "
    "rows may be missing; copy it completely, or let its writer end properly";

// How many rows of a table the file holds, and how many of them were read, as events, facts or arrows: that nothing was
// skipped is said only where these are the same. Each row of the file belongs to one table.
void set_row_counts(SessionWriter& writer, std::string_view table, std::uint64_t in_file, std::uint64_t read);

class ImportReport {
 public:
  // The first detail of a kind is the one that is shown. Nothing is noted of a count of 0.
  void note(QualityKind kind, std::string detail, std::uint64_t count = 1);
  // A row that could not become an event. The offset is that of the first such row.
  void skipped_row(std::string_view table, std::string_view reason, std::uint64_t offset);
  [[nodiscard]] std::uint64_t skipped_rows(std::string_view table) const;
  void add(const json::JsonProblem& problem);
  // Of a table with these columns, of which only the first kMostFileColumns were read.
  void note_columns(std::string_view table, std::span<const std::string> columns);
  // Columns, tables or records of the input that nobody here reads: named, so that nothing is left out unsaid.
  void note_unread(std::string_view where, const std::vector<std::string>& names, std::string_view what = "columns");
  // Of a file of lines that was read to its end: a part that could not be read, holes, a last line that may be cut.
  // `file` is named where several are read.
  void add(const LineBlocks& blocks, const std::string& file = {});
  // What the offsets of skipped rows count: "byte", unless told otherwise.
  void count_places_in(std::string_view word) { place_word_ = word; }
  void write(SessionWriter& writer) const;

 private:
  struct Skipped {
    std::uint64_t count = 0;
    std::uint64_t offset = 0;
  };
  std::string place_word_ = "byte";
  std::map<std::pair<std::string, std::string>, QualityEntry> entries_;          // by kind and detail
  std::map<std::pair<std::string, std::string>, Skipped, std::less<>> skipped_;  // by table and reason
};

}  // namespace accelscope::capture::sources
