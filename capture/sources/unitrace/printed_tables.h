// The tables that unitrace prints at the end of a run: a heading between equals signs, a line with the names of the
// columns, and rows up to an empty line. Names of kernels hold commas, so rows are cut from their ends.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::unitrace {

class PrintedTables {
 public:
  // A line of the file; false: it is of no table.
  [[nodiscard]] bool take(std::string_view line);
  // A row without time for each row, a track for each table, and figures for lines of totals.
  void write(tracks::UnorderedSession& session) const;
  [[nodiscard]] std::uint64_t rows() const noexcept;
  [[nodiscard]] std::uint64_t bad_rows() const noexcept;
  // Lines under headings of tables that are not known here, by heading.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& unread() const noexcept { return unread_; }

 private:
  struct PrintedTable {
    std::string name;
    std::string heading;  // the nearest one above
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::uint64_t bad_rows = 0;
  };
  struct Total {
    std::string name;
    double value = 0;
  };
  [[nodiscard]] bool take_row(std::string_view line);
  [[nodiscard]] bool take_unknown();

  std::string heading_;
  std::string part_;  // "L0 Backend"
  std::vector<PrintedTable> tables_;
  std::vector<Total> totals_;
  std::size_t at_ = SIZE_MAX;  // the table whose rows come
  std::map<std::string, std::uint64_t> unread_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace accelscope::capture::sources::unitrace
