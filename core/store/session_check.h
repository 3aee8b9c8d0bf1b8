// Whether a file is a session that can be read without harm: it may come from anywhere.
#pragma once

#include <cstdint>
#include <string>

#include "core/database/database.h"

namespace accelscope {

// What can be told from the first page, before SQLite sees the file.
[[nodiscard]] Result<void> check_session_file(const std::string& path);

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

}  // namespace accelscope
