// Whether a file is a session that can be read without harm: it may come from anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/database/database.h"

namespace accelscope {

// What can be told from the first page, before SQLite sees the file.
[[nodiscard]] Result<void> check_session_file(const std::string& path);

// How a database that lies among files of any origin may be opened. SQLite works a journal or a log that bears its name
// into it, whatever they are; so they are looked at first.
struct OpenWay {
  OpenMode mode;
  std::string passed_over;  // what lies beside it and is left alone; "" if nothing does
};
// `wanted`, or unchanging where something lies beside the file that is not its own: a journal of this user, of this
// very file (it holds the file's first page) and of no other one is undone as SQLite does it; one of a file that had
// the name before, or of anybody else, is not. A file whose journal is being written by a program that runs is opened
// as wanted.
[[nodiscard]] OpenWay way_to_open(const std::string& path, OpenMode wanted);
// Gives a new database a number of its own, by which a journal is known to be of this very file.
[[nodiscard]] Result<void> give_identity(Database& database);

// Only plain tables with plain columns are read: a view, a generated column or a trigger in their place could do
// anything.
[[nodiscard]] Result<void> check_session_schema(Database& database, const std::string& path);

// While a file is opened: pages that lead in circles must not keep SQLite busy for ever.
class ReadingLimit {
 public:
  ReadingLimit(Database& database, const std::string& path);
  ~ReadingLimit();
  ReadingLimit(const ReadingLimit&) = delete;
  ReadingLimit& operator=(const ReadingLimit&) = delete;

 private:
  static int look(void* self);

  Database& database_;
  std::int64_t left_ = 0;
};

// SQLite databases that other programs have written: not sessions, and not damaged ones either.

// The names of its tables and views. Nothing: the file is no SQLite database, cannot be read, or is a session file,
// whole or damaged.
[[nodiscard]] std::optional<std::vector<std::string>> tables_of_other_database(const std::string& path);

}  // namespace accelscope
