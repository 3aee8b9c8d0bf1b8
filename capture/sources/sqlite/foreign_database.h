// SQLite databases that other programs wrote, read by the names of their tables and columns: versions of a format
// differ in which of them there are, so what is absent reads as nothing.
//
//   Result<ForeignDatabase> file = ForeignDatabase::open(path);
//   Result<ForeignRows> rows = file->rows("CUPTI_ACTIVITY_KIND_KERNEL", {"start", "end", "greenContextId"});
//   while (rows->next()) { rows->integer(0); rows->has(2) ... }
//   if (!rows->status()) ...   // a damaged page, say; the rows before it were good
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/own_files.h"
#include "core/base/result.h"
#include "core/database/database.h"

namespace accelscope::capture::sources::sqlite {

// Databases that cannot be read where they lie: packed ones, and those whose writer left a journal, which SQLite has to
// work into the file before it is whole. Such a file is copied, unpacked where it is packed, into a temporary folder
// that goes away with the object; the original stays as it is.

class DatabaseCopy {
 public:
  // An object without a path if the file can be read where it lies.
  [[nodiscard]] static Result<DatabaseCopy> make(const std::string& path);

  [[nodiscard]] bool exists() const noexcept { return folder_ != nullptr; }
  [[nodiscard]] std::string path() const { return folder_ ? folder_->file("copy.db") : std::string(); }

 private:
  Result<void> unpack(const std::string& path) const;
  Result<void> copy_with_journal(const std::string& path) const;

  std::shared_ptr<OwnTemporaryFolder> folder_;  // for this user alone: profiles name programs and their arguments
};

// Whether the file, if it is no packed one, begins as SQLite's do.
[[nodiscard]] bool is_database(std::string_view first_bytes) noexcept;

// The rows of one table. Columns by their place in the list that was asked for.
class ForeignRows {
 public:
  // False at the end, and where reading fails: see status().
  [[nodiscard]] bool next();
  [[nodiscard]] const Result<void>& status() const noexcept { return status_; }

  // False: NULL, or a column that the table does not have.
  [[nodiscard]] bool has(std::size_t column) const;
  [[nodiscard]] std::int64_t integer(std::size_t column) const;   // 0 if it has none; texts are read as numbers
  [[nodiscard]] double real(std::size_t column) const;            // 0 if it has none
  [[nodiscard]] std::string_view text(std::size_t column) const;  // "" if it has none; until the next row
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t column) const;  // nothing if it has none or is no number
  [[nodiscard]] ByteView blob(std::size_t column) const;                       // until the next row
  [[nodiscard]] StatementValue value(std::size_t column) const {  // null if it has none; until the next row
    return places_[column] < 0 ? StatementValue{} : statement_.value(places_[column]);
  }
  [[nodiscard]] bool has_column(std::size_t column) const noexcept {
    return column < places_.size() && places_[column] >= 0;
  }

  // Asks once more, with this value for "?1".
  void restart(std::int64_t value);

 private:
  friend class ForeignDatabase;
  Statement statement_;
  std::vector<int> places_;  // in the statement; -1: the table has no such column
  Result<void> status_;
  bool ended_ = true;
};

class ForeignDatabase {
 public:
  // Reads the file, packed or not, and, if its writer left one, its journal; writes nothing beside it. Fails if it is
  // no database or damaged where its tables are listed.
  [[nodiscard]] static Result<ForeignDatabase> open(const std::string& path);

  // A second way into the same file, for another thread. It must not outlive this one.
  [[nodiscard]] Result<ForeignDatabase> another() const;

  // Whether the file ends before its last page: what it still holds can be read, and what is missing reads as nothing.
  [[nodiscard]] bool is_cut() const noexcept { return cut_; }

  // Whether the descriptions of tables are damaged: there may have been others.
  [[nodiscard]] bool is_damaged() const noexcept { return damaged_; }

  // Tables and views, as they are called in the file.
  [[nodiscard]] const std::vector<std::string>& tables() const noexcept { return tables_; }
  [[nodiscard]] bool has_table(std::string_view table) const;
  [[nodiscard]] std::vector<std::string> columns(std::string_view table) const;  // none if it is absent
  // Of a table: from its index, else by counting; 0 if it is absent.
  [[nodiscard]] Result<std::int64_t> row_count(std::string_view table) const;

  // Tables with rows that were never asked for, here or through another way into the file: "NAME (7 rows)". Views are
  // none, they repeat what tables have.
  [[nodiscard]] std::vector<std::string> unread_tables() const;
  // Columns that were never asked for, of tables that were and have rows: "TABLE.COLUMN".
  [[nodiscard]] std::vector<std::string> unread_columns() const;
  // What is told of in other words counts as read.
  void count_as_read(std::string_view table) const;

  // Rows in the order of the file, or as `further` (" WHERE ... ORDER BY ...", columns in double quotes) says. No rows
  // and no error where the table is absent.
  [[nodiscard]] Result<ForeignRows> rows(std::string_view table, std::span<const std::string_view> columns,
                                         std::string_view further = {}) const;
  [[nodiscard]] Result<ForeignRows> rows(std::string_view table, std::initializer_list<std::string_view> columns,
                                         std::string_view further = {}) const {
    return rows(table, std::span(columns.begin(), columns.size()), further);
  }
  // Any SELECT; columns by their place in it.
  [[nodiscard]] Result<ForeignRows> select(std::string_view sql) const;
  // For a SELECT with parameters that is run many times.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return database_->prepare(sql); }
  // Whether a row is found by the column without reading the others.
  [[nodiscard]] bool has_index(std::string_view table, std::string_view column) const;

 private:
  explicit ForeignDatabase(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  [[nodiscard]] static Result<std::unique_ptr<Database>> open_database(const std::string& path,
                                                                       const DatabaseCopy& copy, const char* layer);
  Result<void> list_tables();
  void tolerate_damage();

  std::string path_;
  DatabaseCopy copy_;  // goes after what reads it
  std::unique_ptr<Database> database_;
  std::vector<std::string> tables_;
  struct ReadTables {
    std::mutex mutex;
    std::set<std::string, std::less<>> names;
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> columns;  // by table that was read by name
  };
  std::shared_ptr<ReadTables> read_ = std::make_shared<ReadTables>();
  bool cut_ = false;
  bool damaged_ = false;
};

// The text, or what is left of it in `scratch` where not all of it is UTF-8: files hold what programs gave them.
[[nodiscard]] std::string_view valid_text(std::string_view text, std::string& scratch);

// "name" with quotes for SQL.
[[nodiscard]] std::string quoted_name(std::string_view name);

}  // namespace accelscope::capture::sources::sqlite
