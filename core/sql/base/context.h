// What the virtual tables of one Session share: the snapshot, the run in progress, and the texts of strings, looked
// up once. Internal to core/sql.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/scan/chunk_cache.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/event_mask.h"
#include "core/sql/base/sqlite_api.h"

namespace accelscope::sql {

struct Context {
  static constexpr std::size_t kRetainedChunks = 64;  // for queries that jump from event to event by id

  const Store& store;
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool& pool;
  TaskControl* control = nullptr;  // of the run in progress
  std::string failure = {};        // why a table gave up; better than SQLite's own words
  ScanReport report = {};          // what the run in progress had to leave out
  std::map<std::uint32_t, StringMap> scopes = {};
  std::vector<std::string_view> texts = {};  // by session-wide id, once looked up
  ChunkCache chunks{kRetainedChunks};
  std::shared_ptr<const EventMask> mask = nullptr;  // given: tables of events hold only those that pass

  // Null: the lane has all its rows. Rows of tables without time pass every filter.
  [[nodiscard]] const EventMask* mask_of(const LaneSnapshot& lane) const noexcept {
    return lane.data->kind == EventKind::table ? nullptr : mask.get();
  }
  [[nodiscard]] bool cancelled() const noexcept { return control != nullptr && control->cancelled(); }
  // By one thread at a time.
  [[nodiscard]] const StringMap& strings(std::uint32_t scope);
  // Lives as long as the snapshot, so SQLite may keep a pointer to it. By one thread at a time.
  [[nodiscard]] std::string_view text(StringId id) {
    if (id < texts.size() && texts[id].data() != nullptr) return texts[id];
    return look_up(id);
  }
  [[nodiscard]] Result<std::shared_ptr<const LoadedChunk>> load(const LaneSnapshot& lane, std::uint32_t chunk) {
    return chunks.load(store, lane, chunk);
  }
  // For tables made by an analysis; of all events. Only while a run is in progress.
  [[nodiscard]] QueryContext query() { return {store, snapshot, pool, *control, &report}; }
  // Remembers the message and gives the code that a table returns.
  int fail(const std::string& message) {
    if (cancelled()) return SQLITE_INTERRUPT;
    failure = message;
    return SQLITE_ERROR;
  }

 private:
  std::string_view look_up(StringId id);
};

void result_text(sqlite3_context* context, std::string_view text);         // copied
void result_pooled_text(sqlite3_context* context, std::string_view text);  // outlives the run
void result_uint64(sqlite3_context* context, std::uint64_t value);         // text from 2^63 on
// SQL ends at a NUL: one in a name is shown as U+2400.
[[nodiscard]] std::string shown_name(std::string_view name);
[[nodiscard]] std::string quoted_name(std::string_view name);  // "name" for SQL

}  // namespace accelscope::sql
