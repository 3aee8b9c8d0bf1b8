// Functions that queries have beside SQLite's own: regexp(pattern, text), which is what `text REGEXP pattern` calls, by
// RE2.
#pragma once

#include "core/sql/base/sqlite_api.h"

namespace accelscope::sql {

int register_functions(sqlite3* database);

}  // namespace accelscope::sql
