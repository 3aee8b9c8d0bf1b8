// The session file: the store's own tables in a file, plus the lanes' indexes, so that opening reads no chunk.
//
//   definition(payload)                                       records of core/model/definitions.h
//   chunk(lane, first_ordinal, count, begin_ticks, end_ticks, payload)
//   lane_index(lane, part, level, payload)                    part: 0 chunk places, 1 tree, 2 name totals
//   marker, overlay                                           see overlay.cpp
//
// An index may cover fewer chunks than the file holds (a save while capturing, a spill file after a crash): the
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

enum IndexPart : std::int64_t { kPlaces = 0, kTree = 1, kTotals = 2 };

template <typename T>
void put_value(Bytes& out, const T& value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), raw, raw + sizeof value);
}

// An index blob ends with the checksum of what is before it.
void close_blob(Bytes& blob) { put_value(blob, checksum(blob)); }

bool open_blob(ByteView& blob) {
  if (blob.size() < sizeof(std::uint64_t)) return false;
  const ByteView body = blob.first(blob.size() - sizeof(std::uint64_t));
  std::uint64_t sum = 0;
  std::memcpy(&sum, blob.data() + body.size(), sizeof sum);
  blob = body;
  return checksum(body) == sum;
}

template <typename T>
Bytes pack_array(std::size_t count, const T& at) {
  Bytes blob;
  blob.reserve(count * sizeof(at(0)) + sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) put_value(blob, at(i));
  close_blob(blob);
  return blob;
}

// Calls add for every element; false if the size does not fit the type.
template <typename T, typename Add>
bool unpack_array(ByteView blob, const Add& add) {
  if (blob.size() % sizeof(T) != 0) return false;
  for (std::size_t i = 0; i < blob.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, blob.data() + i, sizeof value);
    add(value);
  }
  return true;
}

struct StretchHead {
  std::uint32_t size;
  std::uint32_t kept;
  std::uint64_t events;
};

Bytes pack_totals(const NameTotals& totals, std::size_t level, std::uint32_t count) {
  Bytes blob;
  for (std::uint32_t i = 0; i < count; ++i) {
    const NameTotals::Stretch stretch = totals.stretch(level, i);
    put_value(blob, StretchHead{stretch.size, stretch.kept ? 1U : 0U, totals.stretch_events(level, i)});
    for (std::uint32_t k = 0; k < stretch.size; ++k) put_value(blob, stretch.totals[k]);
  }
  close_blob(blob);
  return blob;
}

bool unpack_totals(ByteView blob, std::size_t level, NameTotals& totals) {
  ByteReader in(blob);
  std::vector<NameTotal> list;
  while (in.remaining() > 0) {
    StretchHead head{};
    const ByteView raw = in.raw(sizeof head);
    if (!in.ok()) return false;
    std::memcpy(&head, raw.data(), sizeof head);
    const ByteView entries = in.raw(std::size_t{head.size} * sizeof(NameTotal));
    if (!in.ok()) return false;
    list.resize(head.size);
    if (head.size > 0) std::memcpy(list.data(), entries.data(), entries.size());
    totals.restore(level, list, head.kept != 0, head.events);
  }
  return true;
}

Result<void> write_lane_index(Statement& insert, const LaneSnapshot& lane) {
  const auto put = [&](std::int64_t part, std::size_t level, const Bytes& blob) {
    return insert.bind(1, std::int64_t{lane.number()})
        .bind(2, part)
        .bind(3, static_cast<std::int64_t>(level))
        .bind(4, ByteView(blob))
        .run();
  };
  const LaneData& data = *lane.data;
  Result<void> result = put(kPlaces, 0, pack_array(lane.chunk_count, [&](std::size_t i) { return data.chunks[i]; }));
  for (std::size_t level = 0; result && level < kTreeLevels && lane.tree.nodes[level] > 0; ++level) {
    const std::uint32_t count = lane.tree.nodes[level];
    result = put(kTree, level,
                 data.kind == EventKind::counter
                     ? pack_array(count, [&](std::size_t i) { return data.counters.node(level, i); })
                     : pack_array(count, [&](std::size_t i) { return data.slices.node(level, i); }));
  }
  for (std::size_t level = 0; result && level < NameTotals::kLevels && lane.totals.stretches[level] > 0; ++level) {
    result = put(kTotals, level, pack_totals(data.totals, level, lane.totals.stretches[level]));
  }
  return result;
}

Result<void> write_indexes(Database& target, const Snapshot& snapshot) {
  if (Result<void> result = target.execute("BEGIN; DELETE FROM lane_index;"); !result) return result;
  Result<Statement> insert = target.prepare("INSERT INTO lane_index(lane, part, level, payload) VALUES(?, ?, ?, ?)");
  if (!insert) return insert.error();
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.chunk_count == 0) continue;
    if (Result<void> result = write_lane_index(*insert, lane); !result)
      return target.error("its index cannot be written");
  }
  return target.execute("COMMIT;");
}

// The parts of a loaded index must fit each other: readers go from one to the other without looking.
bool consistent(const LaneData& data) {
  std::uint64_t ordinal = 0;
  std::uint64_t leaf = 0;
  for (std::size_t i = 0; i < data.chunks.size(); ++i) {
    const ChunkPlace& place = data.chunks[i];
    if (place.count == 0 || place.count > kMaxChunkEvents || place.first_ordinal < ordinal ||
        place.first_leaf != leaf || place.end_ticks < place.begin_ticks) {
      return false;
    }
    ordinal = place.first_ordinal + place.count;
    leaf += (place.count + kBlockEvents - 1) / kBlockEvents;
  }
  const TreeCounts tree = data.kind == EventKind::counter ? data.counters.counts() : data.slices.counts();
  if (tree.nodes[0] != leaf) return false;
  for (std::size_t level = 1; level < kTreeLevels; ++level) {
    if (tree.nodes[level] != tree.nodes[level - 1] / kTreeFanout) return false;
  }
  const NameTotals::Counts totals = data.totals.counts();
  if (totals.stretches[0] != data.chunks.size()) return false;
  for (std::size_t level = 1; level < NameTotals::kLevels; ++level) {
    if (totals.stretches[level] != totals.stretches[level - 1] / NameTotals::kFanout) return false;
  }
  return true;
}

// What the system says of a failed write: SQLite's own words for a full disk and a broken one are alike.
Error write_failure(const Database& database, int code) {
  const int number = sqlite3_system_errno(database.handle());
  const char* why = code == SQLITE_FULL ? "there is no room left" : sqlite3_errstr(code);
  return Error{fmt::format("its pages cannot be written: {}{}", why,
                           number == 0 ? "" : fmt::format(" ({})", std::strerror(number)))};
}

}  // namespace

Store::Implementation::~Implementation() {
  if (spill != nullptr) sqlite3_backup_finish(static_cast<sqlite3_backup*>(spill->backup));
  insert_chunk = Statement();
  insert_definition = Statement();
  database.reset();
  if (spill != nullptr) remove_file(spill->path);
  if (spilled) remove_file(path);
}

Result<void> Store::Implementation::create_tables() {
  if (Result<void> result = database->execute(kCreateTables); !result) return result;
  const std::string pragmas = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                          kSessionApplicationId, kSessionMajor * 1000 + kSessionMinor);
  if (Result<void> result = database->execute(pragmas.c_str()); !result) return result;
  return database->execute(kOverlayTables);
}

Result<void> Store::Implementation::prepare_statements() {
  if (read_only) return {};
  Result<Statement> chunk = database->prepare(
      "INSERT INTO chunk(lane, first_ordinal, count, begin_ticks, end_ticks, payload) VALUES(?, ?, ?, ?, ?, ?)");
  if (!chunk) return chunk.error();
  Result<Statement> definition = database->prepare("INSERT INTO definition(payload) VALUES(?)");
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
                     why.message),
         Severity::warning});
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

Result<void> Store::save(const std::string& given_path, const Progress& progress, FileAccess access) {
  const std::string path = behind_links(given_path);
  std::string temporary;
  const auto fail = [&](const Error& why) {
    if (!temporary.empty()) remove_file(temporary);
    return Error{
        fmt::format("{}: the session cannot be saved: {}; check the free space and permissions, or save elsewhere",
                    path, why.message)};
  };
  const Result<std::string> draft = draft_beside(path, access);
  if (!draft) return fail(draft.error());
  temporary = *draft;
  std::shared_ptr<const Snapshot> covered;
  {
    Result<std::unique_ptr<Database>> target = Database::open(temporary, OpenMode::create);
    if (!target) return fail(target.error());
    Database& out = **target;
    if (Result<void> result = out.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"); !result) {
      return fail(result.error());
    }
    sqlite3_backup* backup = nullptr;
    {
      const auto lock = impl_->lock_database();
      backup = sqlite3_backup_init(out.handle(), "main", impl_->database->handle(), "main");
    }
    if (backup == nullptr) return fail(out.error("no copy can be made"));
    int code = SQLITE_OK;
    bool cancelled = false;
    while (code == SQLITE_OK && !cancelled) {
      {
        const auto lock = impl_->lock_database();
        code = sqlite3_backup_step(backup, kSaveStepPages);
        // Chunks are inserted before they are published: what is published now is in the copy.
        if (code == SQLITE_DONE) covered = snapshot();
      }
      if (progress) {
        const auto total = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup));
        const auto left = static_cast<std::uint64_t>(sqlite3_backup_remaining(backup));
        constexpr std::uint64_t kPage = 8192;
        cancelled = !progress((total - left) * kPage, total * kPage);
      }
    }
    {
      const auto lock = impl_->lock_database();
      sqlite3_backup_finish(backup);
    }
    if (cancelled) {
      target->reset();
      remove_file(temporary);
      return Error{fmt::format("{}: saving was cancelled; nothing was written", path)};
    }
    if (code != SQLITE_DONE) return fail(write_failure(out, code));
    if (Result<void> result = write_indexes(out, *covered); !result) return fail(result.error());
    // A sidecar's markers and view become the saved file's own.
    if (impl_->overlay != nullptr) {
      const auto lock = impl_->lock_database();
      if (Result<void> result = impl_->copy_sidecar(out); !result) return fail(result.error());
    }
  }
  if (Result<void> result = sync_file(temporary); !result) return fail(result.error());
  if (Result<void> result = check_session_file(temporary); !result)
    return fail(result.error());  // as it is on the disk
  if (Result<void> result = replace_file(temporary, path); !result) return fail(result.error());
  return {};
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path) {
  if (Result<void> checked = check_session_file(path); !checked) return checked.error();
  auto impl = std::make_unique<Implementation>();
  impl->in_memory = false;
  impl->path = impl->opened_from = path;
  Result<std::unique_ptr<Database>> database = Database::open(path, OpenMode::read_write);
  if (database && sqlite3_db_readonly((*database)->handle(), "main") == 0) {
    impl->database = std::move(*database);
  } else {
    Result<std::unique_ptr<Database>> reader = Database::open(path, OpenMode::read_only);
    if (!reader) return reader.error();
    impl->database = std::move(*reader);
    impl->read_only = true;
  }
  const Result<std::int64_t> version = impl->database->integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*version / 1000 > kSessionMajor) {
    return Error{
        fmt::format("{}: it was written by a newer version (format {}, this program knows {}); update Accelscope", path,
                    *version / 1000, kSessionMajor)};
  }
  if (Result<void> result = check_session_schema(*impl->database, path); !result) return result.error();
  const ReadingLimit limit(*impl->database, path);
  if (Result<void> result = impl->load_session(); !result) return result.error();
  if (Result<void> result = impl->prepare_statements(); !result) return result.error();
  if (Result<void> result = impl->open_overlay(); !result) return result.error();
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Result<void> Store::Implementation::load_session() {
  Result<Statement> select = database->prepare("SELECT payload FROM definition ORDER BY id");
  if (!select) return select.error();
  for (;;) {
    const Result<bool> row = select->step();
    if (!row) return database->error("its definitions cannot be read");
    if (!*row) break;
    const ByteView record = select->blob(0);
    const std::uint32_t scope = definition_scope(record);
    Result<std::optional<Definition>> definition = decode_definition(record);
    if (!definition || scope > kMaxScope) {
      count_quality(
          {"damaged_definitions", 1, "definition records of the file are damaged and were skipped", Severity::error});
      continue;
    }
    if (!*definition) {
      count_quality({"unknown_definitions", 1, "records of a newer version were skipped", Severity::note});
      continue;
    }
    scope_count = std::max(scope_count, scope + 1);
    if (Result<void> result = apply(**definition, scope); !result) {
      count_quality({"damaged_definitions", 1, result.message(), Severity::error});
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
    const auto level = static_cast<std::size_t>(select->integer(2));
    ByteView blob = select->blob(3);
    bool sound = open_blob(blob);
    if (sound && select->integer(1) == kPlaces) {
      sound = unpack_array<ChunkPlace>(blob, [&](const ChunkPlace& place) { data.chunks.push_back(place); });
    } else if (sound && select->integer(1) == kTree && level < kTreeLevels) {
      sound =
          data.kind == EventKind::counter
              ? unpack_array<CounterNode>(blob, [&](const CounterNode& node) { data.counters.restore(level, node); })
              : unpack_array<SliceNode>(blob, [&](const SliceNode& node) { data.slices.restore(level, node); });
    } else if (sound && select->integer(1) == kTotals && level < NameTotals::kLevels) {
      sound = unpack_totals(blob, level, data.totals);
    }
    if (!sound) damaged[found->second] = true;
  }
  for (std::size_t i = 0; i < lane_data.size(); ++i) {
    LaneSnapshot& lane = lanes[i];
    if (damaged[i] || !consistent(*lane_data[i])) {
      // Start the lane afresh: all its chunks are indexed again.
      auto fresh = std::make_shared<LaneData>();
      fresh->lane = lane_data[i]->lane;
      fresh->kind = lane_data[i]->kind;
      lane_data[i] = fresh;
      lane.data = fresh;
      count_quality({"index_rebuilt", 1, "the index of a lane was damaged and was made again", Severity::note});
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
      count_quality(
          {"orphan_chunks", 1, "chunks of lanes that the file does not describe were skipped", Severity::error});
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
      count_quality({"damaged_chunks", 1, "chunks of the file cannot be read and were skipped", Severity::error});
      continue;
    }
    const Result<ChunkView> view = ChunkView::parse(*bytes);
    const LaneNumber number = lane_data[row.lane]->lane.number;
    Scope& scope = scope_state(scope_of(number));
    if (!view || !view->verify_checksums() ||
        !scope.indexer.add(*lane_data[row.lane], *lanes[row.lane].schema, *view, row.id, *scope.names)) {
      count_quality({"damaged_chunks", 1, "chunks of the file are damaged and were skipped", Severity::error});
      continue;
    }
    chunk_bytes += bytes->size();
    publish(row.lane, *view);
  }
  return {};
}

}  // namespace accelscope
