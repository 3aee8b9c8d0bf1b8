// What a Store holds; shared by the files that implement it. index_mutex guards the index state (definitions,
// counts, the cached snapshot), database_mutex the connection; where both are held, database_mutex comes first.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/database/chunk_rows.h"
#include "core/database/database.h"
#include "core/store/lane_index.h"
#include "core/store/store.h"

namespace accelscope {

struct ChunkRow;  // saved_index.h

inline constexpr std::int64_t kSessionApplicationId = 0x41435343;  // "ACSC"
inline constexpr std::int64_t kSessionMajor = 1;                   // user_version is major * 1000 + minor
inline constexpr std::int64_t kSessionMinor = 1;                   // 1: chunks of version 2, and merged ones
inline constexpr int kSaveStepPages = 1024;                        // of 8 KiB: 8 MiB a step

struct Store::Implementation {
  StoreOptions options;
  std::string path;  // of the session file it was opened from; empty in memory
  bool in_memory = true;
  bool read_only = false;
  std::string opened_from;

  // The one way to the connection.
  [[nodiscard]] std::unique_lock<std::mutex> lock_database() const {
    if (told_use) told_use();
    return std::unique_lock(database_mutex);
  }
  std::function<void()> told_use;
  mutable std::mutex database_mutex;
  std::unique_ptr<Database> database;
  std::unique_ptr<ChunkRows> rows;
  Statement insert_definition;
  std::unique_ptr<Database> overlay;  // a read-only file's sidecar, else null: the overlay is in `database`

  std::mutex define_mutex;  // before the others
  mutable std::mutex index_mutex;
  std::shared_ptr<StringPool> strings = std::make_shared<StringPool>();
  std::vector<std::shared_ptr<const Schema>> schemas;
  std::vector<std::shared_ptr<const Clock>> clocks;
  std::unordered_map<ClockNumber, std::shared_ptr<const ClockMap>> clock_maps;
  std::vector<std::shared_ptr<const Track>> tracks;
  std::vector<std::shared_ptr<const SourceFile>> sources;
  std::vector<MetaEntry> meta;
  std::vector<QualityEntry> quality;
  std::vector<QualityEntry> unwritten_quality;  // of these, what no definition record tells: a save adds it
  std::vector<Metric> metrics;
  std::unordered_map<SchemaNumber, std::shared_ptr<const Schema>> schema_by_number;
  std::unordered_map<TrackNumber, std::shared_ptr<const Track>> track_by_number;
  // A lane as snapshots see it (counts as of its last published chunk) and as its ingest thread does (data).
  std::vector<LaneSnapshot> lanes;
  std::unordered_map<LaneNumber, std::size_t> lane_by_number;
  std::vector<std::shared_ptr<LaneData>> lane_data;
  std::uint64_t event_count = 0;
  std::uint64_t index_bytes = 0;  // of all lanes
  std::uint64_t chunk_bytes = 0;
  std::uint64_t chunk_count = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t lost = 0;
  std::atomic<std::uint64_t> version{1};
  mutable std::shared_ptr<const Snapshot> cached;
  std::uint32_t scope_count = 0;

  // Per ingesting source; touched only by its thread.
  struct Scope {
    std::unique_ptr<NameTable> names;
    LaneIndexer indexer;
  };
  std::vector<std::unique_ptr<Scope>> scopes;

  // session_file.cpp
  static Result<void> create_tables(Database& database);
  Result<void> prepare_statements();
  Result<void> load_session();
  // The bytes of a row, held for no longer than it takes to copy them.
  [[nodiscard]] Result<Bytes> read_row(std::int64_t row) const;

  // saved_index.cpp
  // Chunks whose index was read from the file, by lane: true until one was seen to be what its index says.
  std::mutex unchecked_mutex;
  std::unordered_map<LaneNumber, std::vector<bool>> unchecked;
  [[nodiscard]] bool is_checked(const LaneSnapshot& lane, std::uint32_t chunk, ByteView bytes);
  Result<void> load_lane_indexes();
  Result<std::vector<std::vector<ChunkRow>>> list_chunk_rows();
  Result<void> index_row(std::size_t lane_index, const ChunkRow& row);

  // store.cpp
  // A chunk whose header names its lane of the session and whose checksums hold: inserted, indexed, published.
  Result<void> ingest(LaneNumber number, ByteView bytes, const ChunkView& view);

  // store.cpp; need index_mutex
  Result<void> apply(const Definition& definition, std::uint32_t scope);
  void refresh_lane(std::size_t lane_index);  // the snapshot's view of it, from its data
  void publish(std::size_t lane_index, const ChunkView& chunk);
  void count_quality(QualityEntry entry);
  void count_unwritten(const QualityEntry& entry);  // of what came in, for the saved file as well
  [[nodiscard]] std::uint64_t memory_beside_rows() const;
  [[nodiscard]] std::shared_ptr<const Snapshot> build_snapshot() const;
  [[nodiscard]] std::shared_ptr<const Snapshot> current_snapshot() const;
  Scope& scope_state(std::uint32_t scope);

  // overlay.cpp
  [[nodiscard]] Database& overlay_database() const { return overlay != nullptr ? *overlay : *database; }
  Result<void> open_file(const std::string& file, OpenMode mode);
  Result<void> open_overlay();
  Result<void> keep_overlay_in_memory();
  static Result<void> copy_overlay(Database& from, Database& out);  // needs database_mutex
};

inline constexpr const char* kInsertDefinition = "INSERT INTO definition(payload) VALUES(?)";

inline constexpr const char* kOverlayTables =
    "CREATE TABLE IF NOT EXISTS marker(id INTEGER PRIMARY KEY, set_name TEXT NOT NULL, ts_ns INTEGER NOT NULL,"
    " end_ns INTEGER, name TEXT NOT NULL, note TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS overlay(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;";

}  // namespace accelscope
