// Markers, tags and view state: small rows beside the data, written in short transactions of their own.
#include "core/store/overlay.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>

#include "core/model/time_range.h"
#include "core/store/session_check.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

Error overlay_error(const Error& cause) {
  return Error{
      fmt::format("markers and view state cannot be kept: {}; save the session under another name", cause.message)};
}

constexpr const char* kSelectMarkers = "SELECT id, set_name, ts_ns, end_ns, name, note FROM marker ORDER BY ts_ns, id";
constexpr const char* kPutMarker =
    "INSERT OR REPLACE INTO marker(id, set_name, ts_ns, end_ns, name, note) VALUES(?, ?, ?, ?, ?, ?)";
constexpr const char* kPutValue = "INSERT OR REPLACE INTO overlay(key, value) VALUES(?, ?)";
constexpr const char* kTakeValue = "DELETE FROM overlay WHERE key = ?";
constexpr int kPatienceMs = 2000;            // while another program writes
constexpr int kLongestValueBytes = 1 << 20;  // tags, names and view states are far shorter
constexpr std::size_t kMostOverlayBytes = 16 << 20;

// Files come from anywhere: what lies in a sidecar runs nothing either, and no value fills the memory.
void restrain(Database& database) {
  sqlite3* handle = database.handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  sqlite3_busy_timeout(handle, kPatienceMs);
}

enum class OverlayPlace : std::uint8_t { session, sidecar };

Result<void> check_plain(Database& database, const std::string& path, OverlayPlace place) {
  if (place == OverlayPlace::session) {
    if (Result<void> plain = check_session_schema(database, path); !plain) return plain;
  }
  const std::int64_t others = TRY(
      database.integer("SELECT (SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')) + "
                       "(SELECT count(*) FROM sqlite_schema WHERE name = 'overlay' AND sql NOT LIKE 'CREATE TABLE%') + "
                       "(SELECT count(*) FROM pragma_table_xinfo('overlay') WHERE hidden <> 0)"));
  if (others > 0) return Error{path + ": what it keeps beside the events lies in no plain table"};
  return {};
}

// Before it is opened: opening a pipe would wait for ever, and a link may lead to any file.
[[nodiscard]] bool sidecar_exists(const std::string& sidecar) {
  std::error_code error;
  return std::filesystem::symlink_status(sidecar, error).type() != std::filesystem::file_type::not_found;
}
Result<void> check_sidecar_file(const std::string& sidecar) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(sidecar, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return {};
  return Error{sidecar + ": is no plain file; move it away"};
}

Result<OverlayValues> read_values(const std::string& path, OverlayPlace place) {
  std::unique_ptr<Database> database = TRY(Database::open(path, way_to_open(path, OpenMode::read_only).mode));
  restrain(*database);
  const ReadingLimit limit(*database, path);
  TRY(check_plain(*database, path, place));
  const std::int64_t has_table =
      TRY(database->integer("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'overlay'"));
  OverlayValues values;
  if (has_table == 0) return values;
  Result<Statement> keys = database->prepare("SELECT key FROM overlay");
  Result<Statement> select = database->prepare("SELECT value FROM overlay WHERE key = ?");
  if (!keys || !select) return keys ? select.error() : keys.error();
  const auto too_long = [&] { return sqlite3_errcode(database->handle()) == SQLITE_TOOBIG; };
  std::size_t bytes = 0;
  Result<bool> row = keys->step();
  for (; row && *row && bytes < kMostOverlayBytes; row = keys->step()) {
    const std::string key(keys->text(0));
    select->reset();
    const Result<bool> found = select->bind(1, std::string_view(key)).step();
    if (!found && !too_long()) return found.error();
    if (!found || !*found) continue;  // the others are there all the same
    bytes += key.size() + select->text(0).size();
    values[key] = select->text(0);
  }
  if (!row && !too_long()) return row.error();  // behind a key that is too long nothing is found
  return values;
}

Result<void> put_value(Database& database, const std::string& path, OverlayPlace place, const std::string& key,
                       const std::string& value) {
  restrain(database);
  const ReadingLimit limit(database, path);
  if (Result<void> plain = check_plain(database, path, place); !plain) return plain;
  if (Result<void> made = database.execute(kOverlayTables); !made) return made;
  // In a sidecar "" stays, so that it hides what the file says.
  const bool takes_away = value.empty() && place == OverlayPlace::session;
  Statement put = TRY(database.prepare(takes_away ? kTakeValue : kPutValue));
  return takes_away ? put.run(std::string_view(key)) : put.run(std::string_view(key), std::string_view(value));
}

Result<std::unique_ptr<Database>> open_sidecar(const std::string& sidecar) {
  TRY(check_sidecar_file(sidecar));
  if (sidecar_exists(sidecar)) {
    const OpenWay way = way_to_open(sidecar, OpenMode::create);
    if (way.mode == OpenMode::create) return Database::open(sidecar, way.mode);
    return Error{
        fmt::format("{}: it is not written to, because {} lies beside it and is not known to be its own; move it away",
                    sidecar, way.passed_over.empty() ? "a log of SQLite" : way.passed_over)};
  }
  Result<std::unique_ptr<Database>> made = Database::open(sidecar, OpenMode::create);
  if (!made) return made;
  TRY(give_identity(**made));
  return made;
}

}  // namespace

Result<void> Store::Implementation::copy_overlay(Database& from, Database& out) {
  if (Result<void> result = out.execute(kOverlayTables); !result) return result;
  Result<Statement> markers = from.prepare(kSelectMarkers);
  Result<Statement> put = out.prepare(kPutMarker);
  if (!markers || !put) return markers ? put.error() : markers.error();
  Result<bool> row = markers->step();
  for (; row && *row; row = markers->step()) {
    put->bind(1, markers->integer(0)).bind(2, markers->text(1)).bind(3, markers->integer(2));
    if (!markers->is_null(3)) put->bind(4, markers->integer(3));
    if (Result<void> done = put->bind(5, markers->text(4)).bind(6, markers->text(5)).run(); !done) return done;
  }
  if (!row) return row.error();
  Result<Statement> values = from.prepare("SELECT key, value FROM overlay");
  put = out.prepare(kPutValue);
  if (!values || !put) return values ? put.error() : values.error();
  row = values->step();
  for (; row && *row; row = values->step()) {
    if (Result<void> done = put->run(values->text(0), values->text(1)); !done) return done;
  }
  return row ? Result<void>() : Result<void>(row.error());
}

Result<void> Store::Implementation::open_overlay() {
  if (!read_only) return database->execute(kOverlayTables);
  const std::string sidecar_path = path + ".overlay";
  Result<std::unique_ptr<Database>> sidecar = open_sidecar(sidecar_path);
  if (sidecar) {
    restrain(**sidecar);
    const ReadingLimit limit(**sidecar, sidecar_path);
    const bool sound = check_plain(**sidecar, sidecar_path, OverlayPlace::sidecar).ok();
    if (!sound || !(*sidecar)->execute(kOverlayTables)) sidecar = Error{sidecar_path};
  }
  if (sidecar) {
    overlay = std::move(*sidecar);
    return {};
  }
  // Neither the file nor its folder can be written: kept in memory and said so.
  if (Result<void> retained = keep_overlay_in_memory(); !retained) return retained;
  count_quality({"overlay_in_memory", 1,
                 "the session file and its folder are read-only: markers live until the session is closed; save it "
                 "elsewhere to keep them"});
  return {};
}

Result<void> Store::Implementation::keep_overlay_in_memory() {
  std::unique_ptr<Database> memory = TRY(Database::open("", OpenMode::memory));
  overlay = std::move(memory);
  return overlay->execute(kOverlayTables);
}

std::vector<Marker> Store::markers() const {
  const auto lock = impl_->lock_database();
  std::vector<Marker> markers;
  Result<Statement> select = impl_->overlay_database().prepare(kSelectMarkers);
  if (!select) return markers;
  for (Result<bool> row = select->step(); row && *row; row = select->step()) {
    Marker marker;
    marker.id = select->integer(0);
    marker.set_name = select->text(1);
    const auto time = [&](int column) { return std::clamp(select->integer(column), -kFarthestTime, kFarthestTime); };
    marker.ts_ns = time(2);
    if (!select->is_null(3)) marker.end_ns = time(3);
    marker.name = select->text(4);
    marker.note = select->text(5);
    markers.push_back(std::move(marker));
  }
  return markers;
}

Result<std::int64_t> Store::put_marker(const Marker& marker) {
  std::int64_t id = marker.id;
  {
    const auto lock = impl_->lock_database();
    Database& database = impl_->overlay_database();
    Result<Statement> put = database.prepare(kPutMarker);
    if (!put) return overlay_error(put.error());
    if (id != 0) put->bind(1, id);
    put->bind(2, marker.set_name).bind(3, marker.ts_ns).bind(5, marker.name).bind(6, marker.note);
    if (marker.end_ns) put->bind(4, *marker.end_ns);
    if (Result<void> result = put->run(); !result) return overlay_error(result.error());
    if (id == 0) id = database.last_insert_rowid();
  }
  ++impl_->version;
  return id;
}

Result<void> Store::remove_marker(std::int64_t id) {
  {
    const auto lock = impl_->lock_database();
    Result<Statement> remove = impl_->overlay_database().prepare("DELETE FROM marker WHERE id = ?");
    if (!remove) return overlay_error(remove.error());
    if (Result<void> result = remove->run(id); !result) return overlay_error(result.error());
  }
  ++impl_->version;
  return {};
}

std::string Store::overlay_value(const std::string& key) const {
  const auto lock = impl_->lock_database();
  Result<Statement> select = impl_->overlay_database().prepare("SELECT value FROM overlay WHERE key = ?");
  if (!select) return {};
  const Result<bool> row = select->bind(1, std::string_view(key)).step();
  return row && *row ? std::string(select->text(0)) : std::string();
}

Result<void> Store::set_overlay_value(const std::string& key, const std::string& value) {
  const auto lock = impl_->lock_database();
  Result<Statement> put = impl_->overlay_database().prepare(kPutValue);
  if (!put) return overlay_error(put.error());
  if (Result<void> result = put->run(std::string_view(key), std::string_view(value)); !result) {
    return overlay_error(result.error());
  }
  return {};
}

Result<OverlayValues> read_overlay(const std::string& path, std::string* passed_over) {
  TRY(check_session_file(path));
  Result<OverlayValues> values = read_values(path, OverlayPlace::session);
  if (!values) return values;
  const std::string sidecar = path + ".overlay";
  if (sidecar_exists(sidecar)) {
    const Result<void> plain = check_sidecar_file(sidecar);
    Result<OverlayValues> beside = plain ? read_values(sidecar, OverlayPlace::sidecar) : plain.error();
    if (beside) {
      for (auto& [key, value] : *beside) (*values)[key] = std::move(value);
    } else if (passed_over != nullptr) {
      *passed_over = beside.message();
    }
  }
  std::erase_if(*values, [](const auto& each) { return each.second.empty(); });
  return values;
}

Result<void> write_overlay_value(const std::string& path, const std::string& key, const std::string& value) {
  if (Result<void> is_session = check_session_file(path); !is_session) return is_session;
  const std::string sidecar = path + ".overlay";
  if (!sidecar_exists(sidecar)) {  // else its values hide those of the file
    const Result<std::unique_ptr<Database>> file = Database::open(path, way_to_open(path, OpenMode::read_write).mode);
    if (file && sqlite3_db_readonly((*file)->handle(), "main") == 0) {
      const Result<void> in_place = put_value(**file, path, OverlayPlace::session, key, value);
      return in_place ? in_place : Result<void>(overlay_error(in_place.error()));
    }
  }
  const Result<std::unique_ptr<Database>> opened = open_sidecar(sidecar);
  if (!opened) return overlay_error(opened.error());
  const Result<void> beside = put_value(**opened, sidecar, OverlayPlace::sidecar, key, value);
  return beside ? beside : Result<void>(overlay_error(beside.error()));
}

}  // namespace accelscope
