// What the virtual tables of one SqlSession share: the snapshot, the run in progress, and the texts of each scope's
// strings, looked up once. Internal to core/sql.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/scan/event_mask.h"
#include "core/scan/event_reader.h"
#include "core/sql/base/sqlite_api.h"

namespace accelscope::sql {

// A scope's strings by local id. Texts live as long as the snapshot, so SQLite may keep pointers to them.
class ScopeStrings {
 public:
  ScopeStrings(const StringPool& pool, std::uint32_t scope)
      : pool_(pool), ids_(pool.scope_map(scope)), texts_(ids_.size()) {}
  [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
  [[nodiscard]] StringId session_id(std::uint64_t local) const noexcept {
    return local < ids_.size() ? ids_[local] : StringId{0};
  }
  [[nodiscard]] std::string_view text(std::uint64_t local) {
    if (local >= texts_.size()) return "";
    std::string_view& text = texts_[local];
    if (text.data() == nullptr) {
      text = pool_.text(ids_[local]);
      if (text.data() == nullptr) text = "";
    }
    return text;
  }

 private:
  const StringPool& pool_;
  std::vector<StringId> ids_;
  std::vector<std::string_view> texts_;
};

// The last few chunks that were read, for queries that jump from event to event by id. For any number of threads.
class ChunkCache {
 public:
  [[nodiscard]] Result<std::shared_ptr<const LoadedChunk>> load(const Store& store, const LaneSnapshot& lane,
                                                                std::uint32_t chunk);

 private:
  [[nodiscard]] std::shared_ptr<const LoadedChunk> find(LaneNumber lane, std::uint32_t chunk);
  void keep(LaneNumber lane, std::uint32_t chunk, std::shared_ptr<const LoadedChunk> loaded);
  static constexpr std::size_t kKept = 64;
  struct Entry {
    LaneNumber lane;
    std::uint32_t chunk;
    std::uint64_t used;
    std::shared_ptr<const LoadedChunk> loaded;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
};

struct Context {
  const Store& store;
  std::shared_ptr<const Snapshot> snapshot;
  WorkerPool& pool;
  TaskControl* control = nullptr;  // of the run in progress
  std::string failure = {};        // why a table gave up; better than SQLite's own words
  ScanReport report = {};          // what the run in progress had to leave out
  std::map<std::uint32_t, ScopeStrings> scopes = {};
  ChunkCache chunks = {};
  std::shared_ptr<const EventMask> mask = nullptr;  // given: tables of events hold only those that pass

  // Null: the lane has all its rows. Rows of tables without time pass every filter.
  [[nodiscard]] const EventMask* mask_of(const LaneSnapshot& lane) const noexcept {
    return lane.data->kind == EventKind::table ? nullptr : mask.get();
  }
  [[nodiscard]] bool cancelled() const noexcept { return control != nullptr && control->cancelled(); }
  [[nodiscard]] ScopeStrings& strings(std::uint32_t scope) {
    return scopes.try_emplace(scope, *snapshot->strings, scope).first->second;
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
};

void result_text(sqlite3_context* context, std::string_view text);         // copied
void result_pooled_text(sqlite3_context* context, std::string_view text);  // outlives the run
void result_uint64(sqlite3_context* context, std::uint64_t value);         // text from 2^63 on
[[nodiscard]] std::string quoted_name(std::string_view name);              // "name" for SQL

}  // namespace accelscope::sql
