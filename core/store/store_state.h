// What a Store holds; shared by the files that implement it. index_mutex guards the index state (definitions,
// counts, the cached snapshot), database_mutex the connection; where both are held, database_mutex comes first.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/chunk/chunk_view.h"
#include "core/database/chunk_rows.h"
#include "core/database/database.h"
#include "core/store/definition_limits.h"
#include "core/store/lane_index.h"
#include "core/store/retained_answers.h"
#include "core/store/store.h"

namespace accelscope {

struct ChunkRow;  // saved_index.h

inline constexpr std::int64_t kSessionApplicationId = 0x41435343;  // "ACSC"
inline constexpr std::int64_t kSessionMajor = 1;                   // user_version is major * 1000 + minor
inline constexpr std::int64_t kSessionMinor = 1;                   // 1: chunks of version 2, and merged ones
inline constexpr int kSaveStepPages = 1024;                        // of 8 KiB: 8 MiB a step

// A definition's place in its list, and in the table of definitions.
struct DefinitionPlace {
  std::size_t index = 0;
  std::int64_t row = 0;
};

// A record to be written into the table of definitions: a new row, or in place of what was there.
struct DefinitionRow {
  std::int64_t row = 0;
  Bytes record;
};

// What definitions.cpp keeps of what it took and of what it did not take.
struct DefinitionBook {
  std::unordered_map<SchemaNumber, DefinitionPlace> schemas;
  std::unordered_map<ClockNumber, DefinitionPlace> clocks;
  std::unordered_map<TrackNumber, DefinitionPlace> tracks;
  std::unordered_map<std::string, DefinitionPlace> sources;  // by path
  std::unordered_map<std::string, DefinitionPlace> facts;    // by key
  struct Problem {
    std::size_t index = 0;
    std::int64_t row = 0;       // 0: it is not in the table
    std::uint64_t in_file = 0;  // what that row counts
    std::uint32_t scope = 0;    // and whose it is
  };
  std::unordered_map<std::string, Problem> problems;  // by kind and detail
  std::uint64_t text_bytes = 0;                       // of all but strings and quality entries
  std::uint64_t fact_bytes = 0;                       // of those: facts and metrics
  std::uint64_t problem_bytes = 0;
  std::int64_t last_row = 0;  // of the table
  // By number: those that were left out, so that what belongs to them is, too.
  std::vector<bool> schemas_left_out, clocks_left_out, tracks_left_out, lanes_left_out;
  bool clocks_changed = false;  // the lanes of the next snapshot look them up
};

struct Store::Implementation {
  RetainedAnswers answers;
  StoreOptions options;
  std::string path;  // of the session file it was opened from; empty in memory
  bool in_memory = true;
  bool read_only = false;
  std::string opened_from;

  // The one way to the connection.
  [[nodiscard]] std::unique_lock<std::mutex> lock_database() const {
    if (reported_use) reported_use();
    return std::unique_lock(database_mutex);
  }
  std::function<void()> reported_use;
  mutable std::mutex database_mutex;
  std::unique_ptr<Database> database;
  std::unique_ptr<ChunkRows> chunk_rows;
  Statement insert_definition;
  std::unique_ptr<Database> overlay;  // a read-only file's sidecar, else null: the overlay is in `database`

  mutable std::mutex index_mutex;
  std::shared_ptr<StringPool> strings = std::make_shared<StringPool>();
  std::vector<std::shared_ptr<const Schema>> schemas;
  std::vector<std::shared_ptr<const Clock>> clocks;
  std::vector<std::shared_ptr<const ClockMap>> clock_maps;  // of `clocks`
  std::vector<std::shared_ptr<const Track>> tracks;
  std::vector<std::shared_ptr<const SourceFile>> sources;
  std::vector<MetaEntry> meta;
  std::vector<QualityEntry> quality;
  std::vector<Metric> metrics;
  std::uint64_t most_text_bytes = DefinitionLimits::kMostTexts;
  DefinitionBook book;  // where they are, how much there is of them, and what was left out
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
  std::shared_ptr<const NumberPlaces> places;
  std::uint32_t scope_count = 0;

  class Taking;  // definitions.cpp: what one definition does

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

  // definitions.cpp; need index_mutex. Takes what the limits allow. `row`: where it lies in the file that is read; 0:
  // it is new, and what is to be written because of it is added to `rows`.
  Result<void> apply(Definition definition, std::uint32_t scope, std::int64_t row, std::vector<DefinitionRow>* rows);
  // Why a chunk is not taken, if it is not: of a lane that was left out, or beyond all times.
  [[nodiscard]] std::optional<QualityEntry> why_left_out(LaneNumber number, const ChunkHeader& header) const;
  void count_quality(QualityEntry entry);  // of what is seen while reading: it is not written to the table
  void follow_clocks();                    // puts the lanes on the clocks as they are now
  // Memory of all that is defined, strings included, but for what lies in the database.
  [[nodiscard]] std::uint64_t definition_bytes() const;
  // definitions.cpp; into the lists and the table. Takes both mutexes.
  Result<void> take(Definition definition, std::uint32_t scope);
  // definitions.cpp; needs database_mutex.
  Result<void> write_rows(const std::vector<DefinitionRow>& rows);

  // store.cpp; need index_mutex
  void refresh_lane(std::size_t lane_index);  // the snapshot's view of it, from its data
  void publish(std::size_t lane_index, const ChunkView& chunk);
  [[nodiscard]] std::uint64_t memory_beside_rows() const;
  [[nodiscard]] std::shared_ptr<const Snapshot> build_snapshot();
  [[nodiscard]] std::shared_ptr<const Snapshot> current_snapshot();
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
