// The session file: the store's own tables in a file, plus the lanes' indexes, so that opening reads no chunk.
//
//   definition(payload)                                       records of core/model/definitions.h
//   chunk(lane, first_ordinal, count, begin_ticks, end_ticks, payload)
//   lane_index(lane, part, level, payload)                    part: 0 chunk places, 1 tree, 2 name totals
//   marker, overlay                                           see overlay.cpp
//
// Chunks lie in it as they came, or merged: see save.cpp. An older program opens a file of a newer minor version; a
// chunk of a newer version in it is refused by name when it is read.
//
// An index may cover fewer chunks than the file holds (a save while capturing, a spill file after a crash): the
// rest is indexed when the file is opened.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>

#include "core/base/file_system.h"
#include "core/store/saved_index.h"
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

Store::Implementation::~Implementation() {
  if (spill != nullptr) sqlite3_backup_finish(static_cast<sqlite3_backup*>(spill->backup));
  insert_chunk = Statement();
  insert_definition = Statement();
  database.reset();
  if (spill != nullptr) remove_file(spill->path);
  if (spilled) remove_file(path);
}

Result<void> Store::Implementation::create_tables(Database& database) {
  if (Result<void> result = database.execute(kCreateTables); !result) return result;
  const std::string pragmas = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                          kSessionApplicationId, kSessionMajor * 1000 + kSessionMinor);
  if (Result<void> result = database.execute(pragmas.c_str()); !result) return result;
  return database.execute(kOverlayTables);
}

Result<void> Store::Implementation::prepare_statements() {
  if (read_only) return {};
  Result<Statement> chunk = database->prepare(kInsertChunk);
  if (!chunk) return chunk.error();
  Result<Statement> definition = database->prepare("INSERT OR REPLACE INTO definition(id, payload) VALUES(?, ?)");
  if (!definition) return definition.error();
  insert_chunk = std::move(*chunk);
  insert_definition = std::move(*definition);
  return {};
}

// Moves the in-memory database to a file once it passes the budget, 32 MiB per append, so that no append waits long.
void Store::Implementation::continue_spill() {
  if (!in_memory || options.memory_budget_bytes == 0 || spill_failed) return;
  const auto give_up = [this](const Error& why) {
    spill_failed = true;
    if (spill != nullptr) {
      sqlite3_backup_finish(static_cast<sqlite3_backup*>(spill->backup));
      spill->target.reset();
      remove_file(spill->path);
      spill.reset();
    }
    const std::lock_guard lock(index_mutex);
    count_quality(
        {"spill_failed", 1,
         fmt::format("the memory budget is used up, but no file can take over ({}); the capture goes on in memory",
                     why.message)});
  };
  if (spill == nullptr) {
    if (chunk_bytes < options.memory_budget_bytes) return;
    spill = std::make_unique<Spill>();
    const Result<std::string> made =
        draft_beside(temporary_path(options.spill_directory, "accelscope-spill", ".accel"), FileAccess::owner);
    if (!made) return give_up(made.error());
    spill->path = *made;
    Result<std::unique_ptr<Database>> target = Database::open(spill->path, OpenMode::create);
    if (!target) return give_up(target.error());
    spill->target = std::move(*target);
    // A full disk must cost the insert that met it and nothing else: that one is undone from the journal.
    if (Result<void> result = spill->target->execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;");
        !result) {
      return give_up(result.error());
    }
    spill->backup = sqlite3_backup_init(spill->target->handle(), "main", database->handle(), "main");
    if (spill->backup == nullptr) return give_up(spill->target->error("the spill file cannot be written"));
  }
  auto* backup = static_cast<sqlite3_backup*>(spill->backup);
  const int code = sqlite3_backup_step(backup, 4 * kSaveStepPages);
  if (code == SQLITE_OK) return;
  if (code != SQLITE_DONE) return give_up(spill->target->error("the spill file cannot be written"));
  sqlite3_backup_finish(backup);
  insert_chunk = Statement();
  insert_definition = Statement();
  std::unique_ptr<Database> memory = std::move(database);
  database = std::move(spill->target);
  if (Result<void> result = prepare_statements(); !result) {
    database = std::move(memory);
    spill->backup = nullptr;
    if (Result<void> again = prepare_statements(); !again) return give_up(again.error());
    return give_up(result.error());
  }
  path = spill->path;
  spilled = true;
  in_memory = false;
  spill.reset();
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path) {
  auto impl = std::make_unique<Implementation>();
  if (Result<void> opened = impl->open_file(path, OpenMode::read_write); !opened) return opened.error();
  if (Result<void> result = impl->open_overlay(); !result) return result.error();
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Result<std::unique_ptr<Store>> Store::open_unchanged(const std::string& path) {
  auto impl = std::make_unique<Implementation>();
  if (Result<void> opened = impl->open_file(path, OpenMode::read_only); !opened) return opened.error();
  if (Result<void> result = impl->keep_overlay_in_memory(); !result) return result.error();
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

// All but its overlay.
Result<void> Store::Implementation::open_file(const std::string& file, OpenMode mode) {
  if (Result<void> checked = check_session_file(file); !checked) return checked.error();
  in_memory = false;
  path = opened_from = file;
  Result<std::unique_ptr<Database>> opened = Database::open(path, mode);
  const bool can_write = opened && sqlite3_db_readonly((*opened)->handle(), "main") == 0;
  if (!can_write && mode == OpenMode::read_write) opened = Database::open(path, OpenMode::read_only);
  if (!opened) return opened.error();
  database = std::move(*opened);
  read_only = !can_write;
  const Result<std::int64_t> written_as = database->integer("PRAGMA user_version");
  if (!written_as) return written_as.error();
  if (*written_as / 1000 > kSessionMajor) {
    return Error{
        fmt::format("{}: it was written by a newer version (format {}, this program knows {}); update Accelscope", path,
                    *written_as / 1000, kSessionMajor)};
  }
  if (Result<void> result = check_session_schema(*database, path); !result) return result;
  const ReadingLimit limit(*database, path);
  if (Result<void> result = load_session(); !result) return result;
  return prepare_statements();
}

Result<void> Store::Implementation::load_session() {
  Result<Statement> select = database->prepare("SELECT id, payload FROM definition ORDER BY id");
  if (!select) return select.error();
  for (;;) {
    const Result<bool> row = select->step();
    if (!row) return database->error("its definitions cannot be read");
    if (!*row) break;
    const std::int64_t id = select->integer(0);
    const ByteView record = select->blob(1);
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
  if (Result<void> result = load_lane_indexes(); !result) return result;
  return index_new_rows();
}

Result<void> Store::Implementation::load_lane_indexes() {
  Result<Statement> select = database->prepare("SELECT lane, part, level, payload FROM lane_index ORDER BY rowid");
  if (!select) return select.error();
  std::vector<bool> damaged(lane_data.size());
  for (;;) {
    const Result<bool> row = select->step();
    if (!row) return database->error("its index cannot be read");
    if (!*row) break;
    const auto found = lane_by_number.find(static_cast<LaneNumber>(select->integer(0)));
    if (found == lane_by_number.end()) continue;
    LaneData& data = *lane_data[found->second];
    const bool sound = read_lane_index(data, select->integer(1), select->integer(2), select->blob(3));
    if (!sound) damaged[found->second] = true;
  }
  for (std::size_t i = 0; i < lane_data.size(); ++i) {
    LaneSnapshot& lane = lanes[i];
    if (damaged[i] || !is_consistent(*lane_data[i])) {
      // Start the lane afresh: all its chunks are indexed again.
      auto fresh = std::make_shared<LaneData>();
      fresh->lane = lane_data[i]->lane;
      fresh->kind = lane_data[i]->kind;
      lane_data[i] = fresh;
      lane.data = fresh;
      count_quality({"index_rebuilt", 1, "the index of a lane was damaged and was made again"});
      continue;
    }
    const LaneData& data = *lane_data[i];
    for (std::size_t c = 0; c < data.chunks.size(); ++c) {
      lane.event_count += data.chunks[c].count;
      ++chunk_count;
    }
    refresh_lane(i);
    event_count += lane.event_count;
  }
  return {};
}

Result<void> Store::Implementation::index_new_rows() {
  std::unordered_map<LaneNumber, std::uint64_t> next;
  std::int64_t last_row = 0;
  for (std::size_t i = 0; i < lane_data.size(); ++i) {
    const auto& chunks = lane_data[i]->chunks;
    if (!chunks.empty()) last_row = std::max(last_row, chunks[chunks.size() - 1].row);
  }
  const Result<std::int64_t> rows = database->integer("SELECT count(*) FROM chunk");
  if (!rows) return database->error("its chunks cannot be counted");
  if (static_cast<std::uint64_t>(*rows) == chunk_count) return {};

  // Some rows are not covered; find them by lane and ordinal.
  Result<Statement> select =
      database->prepare("SELECT id, lane, first_ordinal FROM chunk ORDER BY lane, first_ordinal");
  if (!select) return select.error();
  struct Row {
    std::int64_t id;
    std::size_t lane;
    std::uint64_t first_ordinal;
  };
  std::vector<Row> missing;
  for (;;) {
    const Result<bool> row = select->step();
    if (!row) return database->error("its chunks cannot be listed");
    if (!*row) break;
    const auto found = lane_by_number.find(static_cast<LaneNumber>(select->integer(1)));
    if (found == lane_by_number.end()) {
      count_quality({"orphan_chunks", 1, "chunks of lanes that the file does not describe were skipped"});
      continue;
    }
    const auto& chunks = lane_data[found->second]->chunks;
    const auto ordinal = static_cast<std::uint64_t>(select->integer(2));
    const std::uint64_t covered =
        chunks.empty() ? 0 : chunks[chunks.size() - 1].first_ordinal + chunks[chunks.size() - 1].count;
    if (ordinal >= covered) missing.push_back({select->integer(0), found->second, ordinal});
  }
  for (const Row& row : missing) {
    Result<Bytes> bytes = database->read_blob("chunk", "payload", row.id);
    if (!bytes) {
      count_quality({"damaged_chunks", 1, "chunks of the file cannot be read and were skipped"});
      continue;
    }
    const Result<ChunkView> view = ChunkView::parse(*bytes);
    const LaneNumber number = lane_data[row.lane]->lane.number;
    Scope& scope = scope_state(scope_of(number));
    if (!view || !view->verify_checksums() ||
        !scope.indexer.add(*lane_data[row.lane], *lanes[row.lane].schema, *view, row.id, *scope.names)) {
      count_quality({"damaged_chunks", 1, "chunks of the file are damaged and were skipped"});
      continue;
    }
    chunk_bytes += bytes->size();
    publish(row.lane, *view);
  }
  return {};
}

}  // namespace accelscope
