// The session file: the store's own tables in a file, plus the lanes' indexes, so that opening reads no chunk.
//
//   definition(payload)                                       records of core/model/definitions.h
//   chunk(lane, first_ordinal, count, begin_ticks, end_ticks, payload)
//   lane_index(lane, part, level, payload)                    part: 0 chunk places, 1 tree, 2 name totals; what is
//                                                             read of it must be what the chunk table says
//   marker, overlay                                           see overlay.cpp
//
// Chunks lie in it as they came, or merged: see save.cpp. An older program opens a file of a newer minor version; a
// chunk of a newer version in it is refused by name when it is read.
//
// An index may cover fewer chunks than the file holds (a save while capturing, one after a crash): the
// rest is indexed when the file is opened.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>

#include "core/base/file_system.h"
#include "core/store/session_check.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

constexpr const char* kCreateTables =
    "PRAGMA page_size = 8192;"
    "PRAGMA journal_mode = OFF;"
    "PRAGMA synchronous = OFF;"
    "CREATE TABLE definition(id INTEGER PRIMARY KEY, payload BLOB NOT NULL);"
    "CREATE TABLE chunk(id INTEGER PRIMARY KEY, lane INTEGER NOT NULL, first_ordinal INTEGER NOT NULL,"
    " count INTEGER NOT NULL, begin_ticks INTEGER NOT NULL, end_ticks INTEGER NOT NULL, payload BLOB NOT NULL);"
    "CREATE TABLE lane_index(lane INTEGER NOT NULL, part INTEGER NOT NULL, level INTEGER NOT NULL,"
    " payload BLOB NOT NULL);";

}  // namespace

Result<void> Store::Implementation::create_tables(Database& database) {
  if (Result<void> result = database.execute(kCreateTables); !result) return result;
  const std::string pragmas = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                          kSessionApplicationId, kSessionMajor * 1000 + kSessionMinor);
  if (Result<void> result = database.execute(pragmas.c_str()); !result) return result;
  return database.execute(kOverlayTables);
}

Result<void> Store::Implementation::prepare_statements() {
  if (read_only) return {};
  Statement definition = TRY(database->prepare("INSERT OR REPLACE INTO definition(id, payload) VALUES(?, ?)"));
  insert_definition = std::move(definition);
  return chunk_rows->prepare();
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path) {
  auto impl = std::make_unique<Implementation>();
  TRY(impl->open_file(path, OpenMode::read_write));
  TRY(impl->open_overlay());
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Result<std::unique_ptr<Store>> Store::open_unchanged(const std::string& path) {
  auto impl = std::make_unique<Implementation>();
  TRY(impl->open_file(path, OpenMode::read_only));
  TRY(impl->keep_overlay_in_memory());
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

// All but its overlay.
Result<void> Store::Implementation::open_file(const std::string& file, OpenMode mode) {
  TRY(check_session_file(file));
  in_memory = false;
  path = opened_from = file;
  const OpenWay way = way_to_open(path, mode);
  Result<std::unique_ptr<Database>> opened = Database::open(path, way.mode);
  const bool can_write = opened && sqlite3_db_readonly((*opened)->handle(), "main") == 0;
  if (!can_write && mode == OpenMode::read_write) {
    opened = Database::open(path, way_to_open(path, OpenMode::read_only).mode);
  }
  if (!opened) return opened.error();
  database = std::move(*opened);
  chunk_rows = std::make_unique<ChunkRows>(*database, 0, "");
  read_only = !can_write;
  if (!way.passed_over.empty()) {
    count_quality(
        {"journal_beside", 1,
         fmt::format("{} is not known to be of this file and was left alone: the file was opened as it is, and "
                     "is not written to; move the other away",
                     way.passed_over)});
  }
  const std::int64_t written_as = TRY(database->integer("PRAGMA user_version"));
  if (written_as / 1000 > kSessionMajor) {
    return Error{
        fmt::format("{}: it was written by a newer version (format {}, this program knows {}); update Accelscope", path,
                    written_as / 1000, kSessionMajor)};
  }
  if (Result<void> result = check_session_schema(*database, path); !result) return result;
  const ReadingLimit limit(*database, path);
  if (Result<void> result = load_session(); !result) return result;
  return prepare_statements();
}

Result<void> Store::Implementation::load_session() {
  Statement select = TRY(database->prepare("SELECT id, payload FROM definition ORDER BY id"));
  for (;;) {
    const Result<bool> row = select.step();
    if (!row) return database->error("its definitions cannot be read");
    if (!*row) break;
    const std::int64_t id = select.integer(0);
    const ByteView record = select.blob(1);
    book.last_row = std::max(book.last_row, id);
    const std::uint32_t scope = definition_scope(record);
    Result<std::optional<Definition>> definition = decode_definition(record);
    if (!definition || scope > kMaxScope) {
      count_quality({"damaged_definitions", 1, "definition records of the file are damaged and were skipped"});
      continue;
    }
    if (!*definition) {
      count_quality(
          {QualityKind("unknown_definitions").as(Severity::note), 1, "records of a newer version were skipped"});
      continue;
    }
    scope_count = std::max(scope_count, scope + 1);
    if (Result<void> result = apply(std::move(**definition), scope, id, nullptr); !result) {
      count_quality({"damaged_definitions", 1, result.message()});
    }
  }
  return load_lane_indexes();
}

}  // namespace accelscope
