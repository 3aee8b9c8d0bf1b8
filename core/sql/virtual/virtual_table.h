// A virtual table of SQLite as two classes, so that a kind of table says what it holds and nothing of SQLite's C
// interface. register_tables() makes a module whose tables come from a function of the arguments of
// CREATE VIRTUAL TABLE. Exceptions (memory) become SQLite's codes here.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/sql/base/sqlite_api.h"

namespace accelscope::sql {

// Functions that give an int give SQLite's codes.
class VirtualCursor {
 public:
  VirtualCursor() = default;
  virtual ~VirtualCursor() = default;
  VirtualCursor(const VirtualCursor&) = delete;
  VirtualCursor& operator=(const VirtualCursor&) = delete;
  virtual int filter(int plan_number, const char* plan, std::span<sqlite3_value*> values) = 0;
  virtual int next() = 0;
  [[nodiscard]] virtual bool at_end() const = 0;
  virtual void column(sqlite3_context* context, int column) = 0;
  virtual int row_id(sqlite3_int64& id) = 0;
};

class VirtualTable {
 public:
  VirtualTable() = default;
  virtual ~VirtualTable() = default;
  VirtualTable(const VirtualTable&) = delete;
  VirtualTable& operator=(const VirtualTable&) = delete;
  [[nodiscard]] virtual std::string declaration() const = 0;  // CREATE TABLE x(...)
  virtual int best_index(sqlite3_index_info& info) = 0;
  [[nodiscard]] virtual std::unique_ptr<VirtualCursor> open() = 0;
  // Why the last call failed; "" leaves it to SQLite's words.
  [[nodiscard]] virtual std::string failure() const { return {}; }
};

using MakeTable = std::function<Result<std::unique_ptr<VirtualTable>>(std::span<const char* const> arguments)>;
int register_tables(sqlite3* database, const char* module, MakeTable make);

// Helps a table declare itself: name, type and what else belongs to a column.
class Declaration {
 public:
  void add(std::string_view name, std::string_view type, bool hidden = false);
  [[nodiscard]] std::string text() const { return sql_ + ")"; }

 private:
  std::string sql_ = "CREATE TABLE x(";
};

}  // namespace accelscope::sql
