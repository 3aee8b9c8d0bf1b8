// A thin owner of an SQLite connection and of its statements, with errors as values. It knows nothing of
// chunks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace accelscope {

class Database;

enum class SqlType : std::uint8_t { null, integer, real, text, blob };

// A column of a row, as it is kept there.
struct StatementValue {
  SqlType type = SqlType::null;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view bytes;  // of a text or a blob; valid until the next step
};

// A prepared statement. Bound blobs and texts must live until the next reset.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept : statement_(other.statement_) { other.statement_ = nullptr; }
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, ByteView blob);
  Statement& bind_null(int index);
  // True: a row is there. False: done.
  Result<bool> step();
  // For statements without rows: step once and reset.
  Result<void> run();
  // The same with these values, from the first parameter on.
  template <typename... Values>
    requires(sizeof...(Values) > 0)
  Result<void> run(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return run();
  }
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // valid until the next step
  [[nodiscard]] ByteView blob(int column) const;          // valid until the next step
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;  // kept as one; false of texts that look like one
  [[nodiscard]] StatementValue value(int column) const;
  [[nodiscard]] int column_count() const;

 private:
  friend class Database;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  sqlite3_stmt* statement_ = nullptr;
};

// `unchanging`: read_only, of a file that nobody writes to meanwhile: nothing is made beside it, whatever kind it is.
enum class OpenMode : std::uint8_t { memory, read_only, unchanging, read_write, create };

class Database {
 public:
  // `layer`: the name of SQLite's way to files (a VFS); null: the system's.
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path, OpenMode mode,
                                                              const char* layer = nullptr);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Result<void> execute(const char* sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql);  // first column of the first row; 0 if none
  // The blob of one row, copied.
  [[nodiscard]] Result<Bytes> read_blob(const char* table, const char* column, std::int64_t row);
  [[nodiscard]] std::int64_t last_insert_rowid() const;
  [[nodiscard]] std::uint64_t page_bytes() const;  // pages in use, in bytes

  [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }
  [[nodiscard]] Error error(std::string_view what) const;

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  sqlite3* handle_;
  std::string path_;
};

}  // namespace accelscope
