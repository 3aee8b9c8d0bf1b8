// SQLite as the tables for SQL use it: linked into our programs, or, where they are built as an extension, the SQLite
// of the program that loads them.
#pragma once

#ifdef ACCELSCOPE_SQLITE_EXTENSION
#include <sqlite3ext.h>
extern "C" {
SQLITE_EXTENSION_INIT3
}
inline constexpr bool kOwnConnection = false;
#else
#include <sqlite3.h>
inline constexpr bool kOwnConnection = true;  // its functions are what they are by default
#endif
