// The rows of a table by a column of whole numbers, for tables that cannot be joined in SQL: of damaged files a join
// gives nothing, and of large ones it looks every row up from the root of its index.
//
//   IdRows calls(database, "rocpd_region", {"id", "start", "end"});       // all of them, over damaged pages too
//   while (calls.next()) calls.rows().integer(1) ...
//   report.note("unreadable", ..., calls.gaps());
//
//   KeyedRows arguments(database, "rocpd_arg", "event_id", {"name", "value"});   // those of one id, ids rising
//   for (bool any = arguments.find(id); any; any = arguments.next()) arguments.rows().text(1) ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/sqlite/foreign_database.h"

namespace accelscope::capture::sources::sqlite {

// In the order of the column "id" where there is one, and `order` is "". Where a page is damaged, the rows behind it
// are read.
class IdRows {
 public:
  IdRows(const ForeignDatabase& database, std::string_view table, std::span<const std::string_view> columns,
         std::string_view order = {});

  [[nodiscard]] bool next();
  [[nodiscard]] const ForeignRows& rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t gaps() const noexcept { return gaps_; }             // places where rows could not be read
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }  // why, of the first; or ""

 private:
  static constexpr std::uint64_t kMostGaps = 100'000;  // then the rest is given up
  [[nodiscard]] bool go_on_behind_gap();

  ForeignRows rows_;
  std::optional<std::size_t> id_;  // place of "id" among the columns
  std::int64_t last_id_ = 0;
  bool any_ = false;
  std::uint64_t gaps_ = 0;
  std::string failure_;
};

// Rows that belong to ids of another table. Ids must be asked for in rising order unless the column is the table's
// primary key.
class KeyedRows {
 public:
  // Columns of rows() are those asked for, then the key. No rows where the table is absent.
  KeyedRows(const ForeignDatabase& database, std::string_view table, std::string_view key,
            std::span<const std::string_view> columns, std::string_view condition = {});
  KeyedRows(const ForeignDatabase& database, std::string_view table, std::string_view key,
            std::initializer_list<std::string_view> columns, std::string_view condition = {})
      : KeyedRows(database, table, key, std::span(columns.begin(), columns.size()), condition) {}

  // Whether there is a row with that key; the first one is at hand then.
  [[nodiscard]] bool find(std::int64_t key);
  // The next one with the same key.
  [[nodiscard]] bool next();
  [[nodiscard]] const ForeignRows& rows() const noexcept { return rows_; }
  [[nodiscard]] bool reachable() const noexcept { return found_; }  // the last search found a row
  [[nodiscard]] bool exists() const noexcept { return exists_; }
  [[nodiscard]] std::uint64_t unread() const noexcept { return unread_; }  // keys whose rows lie on damaged pages

 private:
  void step();

  ForeignRows rows_;
  std::size_t key_place_ = 0;
  bool exists_ = false;
  bool primary_ = false;
  bool started_ = false;
  bool any_ = false;  // rows_ is at a row
  bool found_ = false;
  std::int64_t current_ = 0;
  std::uint64_t unread_ = 0;
};

// Whether numbers of the column never fall from one row to the next, in the order of the file.
[[nodiscard]] bool is_rising(const ForeignDatabase& database, std::string_view table, std::string_view column);
// The largest number of the column "id": about the number of rows, without counting them.
[[nodiscard]] std::uint64_t last_id(const ForeignDatabase& database, std::string_view table);

}  // namespace accelscope::capture::sources::sqlite
