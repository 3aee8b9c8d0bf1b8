#include "core/database/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace accelscope {
namespace {

// As SQLite's "URI filenames" have it; what means something in an address is written as its number.
[[nodiscard]] std::string address_of_unchanging(const std::string& path) {
  std::string address = "file:";
  for (const char character : path) {
    if (character == '?' || character == '#' || character == '%') {
      address += fmt::format("%{:02x}", static_cast<unsigned char>(character));
    } else {
      address += character;
    }
  }
  return address + "?immutable=1";
}

}  // namespace

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

// A failed bind leaves the parameter null, which the tables' NOT NULL columns refuse at the step.
Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
  return *this;
}
Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind(int index, ByteView blob) {
  sqlite3_bind_blob64(statement_, index, blob.data(), blob.size(), SQLITE_STATIC);
  return *this;
}
Statement& Statement::bind_null(int index) {
  sqlite3_bind_null(statement_, index);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return Error{sqlite3_errmsg(sqlite3_db_handle(statement_))};
}

Result<void> Statement::run() {
  const Result<bool> stepped = step();
  reset();
  if (!stepped) return stepped.error();
  return {};
}

void Statement::reset() { sqlite3_reset(statement_); }

StatementValue Statement::value(int column) const {
  sqlite3_value* value = sqlite3_column_value(statement_, column);
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return {SqlType::integer, sqlite3_value_int64(value), 0, {}};
    case SQLITE_FLOAT:
      return {SqlType::real, 0, sqlite3_value_double(value), {}};
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
      return {SqlType::text, 0, 0, text == nullptr ? std::string_view() : std::string_view(text, size)};
    }
    case SQLITE_BLOB: {
      const auto* blob = static_cast<const char*>(sqlite3_value_blob(value));
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
      return {SqlType::blob, 0, 0, blob == nullptr ? std::string_view() : std::string_view(blob, size)};
    }
    default:
      return {};
  }
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

ByteView Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

bool Statement::is_integer(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_INTEGER; }

int Statement::column_count() const { return sqlite3_column_count(statement_); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

Result<std::unique_ptr<Database>> Database::open(const std::string& path, OpenMode mode, const char* layer) {
  int flags = SQLITE_OPEN_NOMUTEX;
  if (mode == OpenMode::read_only) flags |= SQLITE_OPEN_READONLY;
  if (mode == OpenMode::unchanging) flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  if (mode == OpenMode::read_write) flags |= SQLITE_OPEN_READWRITE;
  if (mode == OpenMode::create || mode == OpenMode::memory) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const std::string name = mode == OpenMode::memory       ? ":memory:"
                           : mode == OpenMode::unchanging ? address_of_unchanging(path)
                                                          : path;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, layer);
  std::unique_ptr<Database> database(new Database(handle));
  database->path_ = path;
  if (code != SQLITE_OK) return database->error("cannot be opened");
  if (mode == OpenMode::create || mode == OpenMode::memory) return database;
  // Files come from anywhere: what is in them runs nothing and changes nothing of how they are read.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Error Database::error(std::string_view what) const {
  const char* reason = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
  if (path_.empty()) return Error{fmt::format("{}: {}", what, reason)};
  return Error{fmt::format("{}: {}: {}", path_, what, reason)};
}

Result<void> Database::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error("the database refused");
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return error("the database refused");
  return Statement(statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  Statement statement = TRY(prepare(sql));
  const Result<bool> row = statement.step();
  if (!row) return error("cannot be read");
  return *row ? statement.integer(0) : 0;
}

Result<Bytes> Database::read_blob(const char* table, const char* column, std::int64_t row) {
  sqlite3_blob* blob = nullptr;
  if (sqlite3_blob_open(handle_, "main", table, column, row, 0, &blob) != SQLITE_OK) {
    const Error failure = error("a chunk cannot be read");
    sqlite3_blob_close(blob);
    return failure;
  }
  Bytes bytes(static_cast<std::size_t>(sqlite3_blob_bytes(blob)));
  const int code = sqlite3_blob_read(blob, bytes.data(), static_cast<int>(bytes.size()), 0);
  Error failure;
  if (code != SQLITE_OK) failure = error("a chunk cannot be read");
  sqlite3_blob_close(blob);
  if (code != SQLITE_OK) return failure;
  return bytes;
}

std::int64_t Database::last_insert_rowid() const { return sqlite3_last_insert_rowid(handle_); }

std::uint64_t Database::page_bytes() const {
  std::int64_t pages = 0;
  std::int64_t size = 0;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, "SELECT page_count, page_size FROM pragma_page_count(), pragma_page_size()", -1,
                         &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    pages = sqlite3_column_int64(statement, 0);
    size = sqlite3_column_int64(statement, 1);
  }
  sqlite3_finalize(statement);
  return static_cast<std::uint64_t>(pages * size);
}

}  // namespace accelscope
