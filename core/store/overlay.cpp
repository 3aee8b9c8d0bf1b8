// Markers, tags and view state: small rows beside the data, written in short transactions of their own.
#include "core/store/overlay.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>

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
constexpr int kPatienceMs = 2000;  // while another program writes

Result<void> add_values(const std::string& path, bool is_sidecar, OverlayValues& values) {
  Result<std::unique_ptr<Database>> database = Database::open(path, OpenMode::read_only);
  if (!database) return database.error();
  sqlite3_busy_timeout((*database)->handle(), kPatienceMs);
  if (!is_sidecar) {
    if (Result<void> plain = check_session_schema(**database, path); !plain) return plain;
  }
  const ReadingLimit limit(**database, path);
  const Result<std::int64_t> has_table = (*database)->integer(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'overlay' AND sql LIKE 'CREATE TABLE%'");
  if (!has_table) return has_table.error();
  if (*has_table == 0) return {};
  Result<Statement> select = (*database)->prepare("SELECT key, value FROM overlay");
  if (!select) return select.error();
  Result<bool> row = select->step();
  for (; row && *row; row = select->step()) values[std::string(select->text(0))] = select->text(1);
  return row ? Result<void>() : Result<void>(row.error());
}

Result<void> put_value(const std::string& path, OpenMode mode, const std::string& key, const std::string& value) {
  Result<std::unique_ptr<Database>> database = Database::open(path, mode);
  if (!database) return database.error();
  sqlite3_busy_timeout((*database)->handle(), kPatienceMs);
  if (mode != OpenMode::create) {
    if (Result<void> plain = check_session_schema(**database, path); !plain) return plain;
  }
  if (Result<void> made = (*database)->execute(kOverlayTables); !made) return made;
  if (value.empty()) {
    Result<Statement> remove = (*database)->prepare("DELETE FROM overlay WHERE key = ?");
    return remove ? remove->run(std::string_view(key)) : Result<void>(remove.error());
  }
  Result<Statement> put = (*database)->prepare(kPutValue);
  return put ? put->run(std::string_view(key), std::string_view(value)) : Result<void>(put.error());
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
  Result<std::unique_ptr<Database>> sidecar = Database::open(path + ".overlay", OpenMode::create);
  if (sidecar && (*sidecar)->execute(kOverlayTables)) {
    overlay = std::move(*sidecar);
    return {};
  }
  // Neither the file nor its folder can be written: kept in memory and said so.
  Result<std::unique_ptr<Database>> memory = Database::open("", OpenMode::memory);
  if (!memory) return memory.error();
  overlay = std::move(*memory);
  count_quality({"overlay_in_memory", 1,
                 "the session file and its folder are read-only: markers live until the session is closed; save it "
                 "elsewhere to keep them"});
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
    marker.ts_ns = select->integer(2);
    if (!select->is_null(3)) marker.end_ns = select->integer(3);
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

Result<OverlayValues> read_overlay(const std::string& path) {
  if (Result<void> is_session = check_session_file(path); !is_session) return is_session.error();
  OverlayValues values;
  if (Result<void> read = add_values(path, false, values); !read) return read.error();
  const std::string sidecar = path + ".overlay";
  std::error_code error;
  if (std::filesystem::exists(sidecar, error)) {
    if (Result<void> read = add_values(sidecar, true, values); !read) return read.error();
  }
  return values;
}

Result<void> write_overlay_value(const std::string& path, const std::string& key, const std::string& value) {
  if (Result<void> is_session = check_session_file(path); !is_session) return is_session;
  const std::string sidecar = path + ".overlay";
  std::error_code error;
  const bool has_sidecar = std::filesystem::exists(sidecar, error);  // its values hide those of the file
  const Result<void> in_place =
      has_sidecar ? Result<void>(Error{sidecar}) : put_value(path, OpenMode::read_write, key, value);
  if (in_place) return {};
  const Result<void> beside = put_value(sidecar, OpenMode::create, key, value);
  return beside ? beside : Result<void>(overlay_error(has_sidecar ? beside.error() : in_place.error()));
}

}  // namespace accelscope
