#include "capture/sources/sqlite/foreign_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "capture/json/json_cursor.h"
#include "capture/sources/sqlite/cut_file.h"

namespace accelscope::capture::sources::sqlite {

bool ForeignRows::next() {
  if (ended_) return false;
  const Result<bool> row = statement_.step();
  if (!row) status_ = row.error();
  ended_ = !row || !row.value();
  return !ended_;
}

void ForeignRows::restart(std::int64_t value) {
  if (statement_.column_count() == 0) return;
  statement_.reset();
  statement_.bind(1, value);
  status_ = {};
  ended_ = false;
}

bool ForeignRows::has(std::size_t column) const { return places_[column] >= 0 && !statement_.is_null(places_[column]); }

std::int64_t ForeignRows::integer(std::size_t column) const {
  return places_[column] < 0 ? 0 : statement_.integer(places_[column]);
}

double ForeignRows::real(std::size_t column) const {
  return places_[column] < 0 ? 0 : statement_.real(places_[column]);
}

std::string_view ForeignRows::text(std::size_t column) const {
  return places_[column] < 0 ? std::string_view{} : statement_.text(places_[column]);
}

ByteView ForeignRows::blob(std::size_t column) const {
  return places_[column] < 0 ? ByteView{} : statement_.blob(places_[column]);
}

std::optional<std::int64_t> ForeignRows::number(std::size_t column) const {
  if (places_[column] < 0 || !statement_.is_integer(places_[column])) return std::nullopt;
  return statement_.integer(places_[column]);
}

std::string_view valid_text(std::string_view text, std::string& scratch) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  if (plain) return text;
  scratch = json::mend_utf8(text);
  return scratch;
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char character : name) {
    quoted += character;
    if (character == '"') quoted += character;
  }
  return quoted + "\"";
}

// What a journal holds is worked into the copy when it is opened for writing. Where that fails the file alone is read.
Result<std::unique_ptr<Database>> ForeignDatabase::open_database(const std::string& path, const DatabaseCopy& copy,
                                                                 const char* layer) {
  if (copy.exists()) {
    Result<std::unique_ptr<Database>> opened = Database::open(copy.path(), OpenMode::read_write, layer);
    if (opened && (*opened)->integer("SELECT count(*) FROM sqlite_master")) return opened;
    return Database::open(copy.path(), OpenMode::unchanging, layer);
  }
  return Database::open(path, keeps_journal_beside(path) ? OpenMode::unchanging : OpenMode::read_only, layer);
}

Result<ForeignDatabase> ForeignDatabase::open(const std::string& path) {
  Result<DatabaseCopy> copy = DatabaseCopy::make(path);
  if (!copy) return copy.error();
  const bool cut = is_cut_database(copy->exists() ? copy->path() : path);
  Result<std::unique_ptr<Database>> opened = open_database(path, *copy, cut ? cut_file_layer() : nullptr);
  if (!opened) return opened.error();
  ForeignDatabase file(std::move(opened).value());
  file.path_ = path;
  file.copy_ = std::move(*copy);
  file.cut_ = cut;
  if (cut) file.tolerate_damage();
  Result<void> listed = file.list_tables();
  if (!listed && !cut) {
    file.damaged_ = true;
    file.tolerate_damage();
    const Result<void> again = file.list_tables();
    if (again || !file.tables_.empty()) return file;
  }
  if (!listed && file.tables_.empty()) return Error{fmt::format("{}: {}", path, listed.message())};
  return file;
}

Result<ForeignDatabase> ForeignDatabase::another() const {
  Result<std::unique_ptr<Database>> opened = open_database(path_, copy_, cut_ ? cut_file_layer() : nullptr);
  if (!opened) return opened.error();
  ForeignDatabase file(std::move(opened).value());
  file.path_ = path_;
  file.tables_ = tables_;
  file.read_ = read_;
  file.cut_ = cut_;
  file.damaged_ = damaged_;
  if (cut_ || damaged_) file.tolerate_damage();
  return file;
}

// A table whose description is damaged does not take the others with it. The file is open for reading only, so that
// nothing is at risk.
void ForeignDatabase::tolerate_damage() {
  sqlite3_db_config(database_->handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  (void)database_->execute("PRAGMA writable_schema=ON");  // without it the file is refused as before
}

Result<void> ForeignDatabase::list_tables() {
  tables_.clear();
  Result<ForeignRows> names = select("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
  if (!names) return names.error();
  while (names->next()) tables_.emplace_back(names->text(0));
  return names->status();
}

bool ForeignDatabase::has_table(std::string_view table) const {
  return std::find(tables_.begin(), tables_.end(), table) != tables_.end();
}

std::vector<std::string> ForeignDatabase::columns(std::string_view table) const {
  std::vector<std::string> names;
  if (!has_table(table)) return names;
  Result<ForeignRows> found = select(fmt::format("PRAGMA table_info({})", quoted_name(table)));
  while (found && found->next()) names.emplace_back(found->text(1));
  return names;
}

Result<std::int64_t> ForeignDatabase::row_count(std::string_view table) const {
  if (!has_table(table)) return std::int64_t{0};
  return database_->integer(fmt::format("SELECT count(*) FROM {}", quoted_name(table)));
}

void ForeignDatabase::count_as_read(std::string_view table) const {
  const std::lock_guard lock(read_->mutex);
  read_->names.emplace(table);
}

std::vector<std::string> ForeignDatabase::unread_tables() const {
  std::vector<std::string> unread;
  Result<ForeignRows> tables = select("SELECT name FROM sqlite_master WHERE type = 'table'");
  while (tables && tables->next()) {
    const std::string table(tables->text(0));
    {
      const std::lock_guard lock(read_->mutex);
      if (table.starts_with("sqlite_") || read_->names.contains(table)) continue;
    }
    const Result<std::int64_t> rows = row_count(table);
    if (!rows || *rows > 0) unread.push_back(rows ? fmt::format("{} ({} rows)", table, *rows) : table);
  }
  return unread;
}

std::vector<std::string> ForeignDatabase::unread_columns() const {
  std::vector<std::string> unread;
  const std::lock_guard lock(read_->mutex);
  Result<ForeignRows> tables = select("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  while (tables && tables->next()) {
    const std::string table(tables->text(0));
    const auto read = read_->columns.find(table);
    const Result<std::int64_t> rows = row_count(table);
    if (read == read_->columns.end() || !rows || *rows == 0) continue;
    for (const std::string& column : columns(table)) {
      if (!read->second.contains(column)) unread.push_back(fmt::format("{}.{}", table, column));
    }
  }
  return unread;
}

Result<ForeignRows> ForeignDatabase::rows(std::string_view table, std::span<const std::string_view> columns,
                                          std::string_view further) const {
  ForeignRows rows;
  rows.places_.assign(columns.size(), -1);
  if (!has_table(table)) return rows;
  count_as_read(table);
  const std::vector<std::string> there = this->columns(table);
  {
    // What rows are chosen or ordered by is read as well.
    const std::lock_guard lock(read_->mutex);
    auto& read = read_->columns[std::string(table)];
    for (const std::string& column : there) {
      if (std::find(columns.begin(), columns.end(), column) != columns.end() ||
          further.find(quoted_name(column)) != std::string_view::npos) {
        read.insert(column);
      }
    }
  }
  std::string sql;
  int places = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (std::find(there.begin(), there.end(), columns[i]) == there.end()) continue;
    sql += (sql.empty() ? "" : ", ") + quoted_name(columns[i]);
    rows.places_[i] = places++;
  }
  if (sql.empty()) sql = "NULL";
  Result<Statement> statement =
      database_->prepare(fmt::format("SELECT {} FROM {}{}", sql, quoted_name(table), further));
  if (!statement) return statement.error();
  rows.statement_ = std::move(statement).value();
  rows.ended_ = false;
  return rows;
}

bool ForeignDatabase::has_index(std::string_view table, std::string_view column) const {
  Result<ForeignRows> plan = select(
      fmt::format("EXPLAIN QUERY PLAN SELECT {0} FROM {1} WHERE {0} = 1", quoted_name(column), quoted_name(table)));
  constexpr std::size_t kDetail = 3;
  return plan && plan->next() && plan->text(kDetail).starts_with("SEARCH");
}

Result<ForeignRows> ForeignDatabase::select(std::string_view sql) const {
  Result<Statement> statement = database_->prepare(sql);
  if (!statement) return statement.error();
  ForeignRows rows;
  rows.statement_ = std::move(statement).value();
  rows.ended_ = false;
  for (int place = 0; place < rows.statement_.column_count(); ++place) rows.places_.push_back(place);
  return rows;
}

}  // namespace accelscope::capture::sources::sqlite
