// Saving: into a draft beside the path, which takes its place once it is whole and on the disk. A session file is
// copied page by page, a capture chunk by chunk: SQLite begins a copy of pages anew with every commit to a database in
// memory, so that it would end only with the capture. A session of many short chunks, a slow capture, is written with
// its chunks merged: they take a third of the room. An event keeps its id, because a chunk carries its first ordinal;
// lane indexes are made of the merged chunks.
#include <fmt/format.h>

#include <sqlite3.h>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <vector>

#include "core/base/file_system.h"
#include "core/chunk/chunk_builder.h"
#include "core/chunk/chunk_view.h"
#include "core/store/saved_index.h"
#include "core/store/session_check.h"
#include "core/store/store_state.h"
#include "core/store/string_pool.h"

namespace accelscope {
namespace {

// Makes long chunks of the short ones of a lane: a capture seals what came in 100 ms, and headers, tables of columns
// and single values take most of such a chunk. Events, ordinals and values stay as they are; what is long already is
// handed on as it is.
//
//   ChunkMerger merger(schema, lane, take);       // take(bytes): the next chunk of the lane
//   merger.add(bytes);                            // the lane's chunks, in order
//   merger.finish();
class ChunkMerger {
 public:
  using Take = std::function<Result<void>(ByteView chunk)>;
  ChunkMerger(const Schema& schema, LaneNumber lane, Take take);

  // Fails with what take() says, and on a chunk that is damaged or has other columns than the schema.
  Result<void> add(ByteView chunk);
  Result<void> finish();

  // Whether a chunk of so many events is handed on as it is.
  [[nodiscard]] static bool is_long(const Schema& schema, std::uint32_t count);
  // How many chunks would come of those with these counts, at least.
  class Forecast {
   public:
    explicit Forecast(const Schema& schema) : schema_(schema) {}
    void add(std::uint32_t count);
    [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_ + (open_ > 0 ? 1 : 0); }

   private:
    const Schema& schema_;
    std::uint64_t chunks_ = 0;
    std::uint64_t open_ = 0;
  };

 private:
  Result<void> append(const ChunkView& chunk, std::uint32_t block);
  void set_column(const ChunkView& chunk, std::size_t column, std::uint32_t block, std::uint32_t first_row);

  Schema schema_;
  Take take_;
  ChunkBuilder builder_;
};

// Nulls are kept, also where the schema promises that there are none.
Schema without_promises(Schema schema) {
  for (Column& column : schema.columns) column.required = false;
  return schema;
}

ChunkMerger::ChunkMerger(const Schema& schema, LaneNumber lane, Take take)
    : schema_(without_promises(schema)), take_(std::move(take)), builder_(schema_, lane) {}

bool ChunkMerger::is_long(const Schema& schema, std::uint32_t count) {
  return count * 2 >= ChunkBuilder::most_events(schema);
}

void ChunkMerger::Forecast::add(std::uint32_t count) {
  if (is_long(schema_, count)) {
    chunks_ += open_ > 0 ? 2 : 1;
    open_ = 0;
    return;
  }
  open_ += count;
  const std::uint32_t most = ChunkBuilder::most_events(schema_);
  for (; open_ >= most; open_ -= most) ++chunks_;
}

Result<void> ChunkMerger::add(ByteView bytes) {
  const ChunkView parsed = TRY(ChunkView::parse(bytes));
  const ChunkView& chunk = parsed;
  if (Result<void> sound = chunk.verify_checksums(); !sound) return sound;
  if (chunk.column_count() != schema_.columns.size()) {
    return Error{fmt::format("chunk of lane {}: it has {} columns, its schema {} has {}", builder_.lane(),
                             chunk.column_count(), schema_.name, schema_.columns.size())};
  }
  const bool follows = builder_.next_ordinal() == chunk.header().first_ordinal;
  if (is_long(schema_, chunk.count()) || !follows) {
    if (Result<void> sealed = finish(); !sealed) return sealed;
  }
  if (is_long(schema_, chunk.count())) return take_(bytes);
  if (builder_.empty()) builder_.go_on_from(chunk.header().first_ordinal);
  for (std::uint32_t block = 0; block < chunk.block_count(); ++block) {
    if (builder_.room() < chunk.block_size(block) || builder_.full()) {
      if (Result<void> sealed = finish(); !sealed) return sealed;
    }
    if (Result<void> appended = append(chunk, block); !appended) return appended;
  }
  return {};
}

Result<void> ChunkMerger::finish() {
  if (builder_.empty()) return {};
  const SealedChunk sealed = builder_.seal();
  return take_(sealed.bytes);
}

Result<void> ChunkMerger::append(const ChunkView& chunk, std::uint32_t block) {
  BlockTimes times;
  std::array<std::uint64_t, kBlockEvents> names;
  chunk.times(block, times);
  chunk.names(block, names.data());
  const std::uint32_t first_row = builder_.count();
  for (std::uint32_t i = 0; i < chunk.block_size(block); ++i) {
    const bool in_order = builder_.empty() || times.begins[i] >= builder_.end_ticks();
    if (!in_order || times.ends[i] < times.begins[i] || names[i] > StringPool::kMostLocalStrings) {
      return Error{fmt::format("chunk of lane {}: its events are not in order, or their names none", builder_.lane())};
    }
    builder_.append(times.begins[i], times.ends[i] - times.begins[i], static_cast<StringId>(names[i]));
  }
  for (std::size_t column = 0; column < schema_.columns.size(); ++column) set_column(chunk, column, block, first_row);
  return {};
}

void ChunkMerger::set_column(const ChunkView& chunk, std::size_t column, std::uint32_t block, std::uint32_t first_row) {
  const std::uint64_t valid = chunk.validity(column, block);
  if (valid == 0) return;
  const ColumnType type = schema_.columns[column].type;
  std::array<std::uint64_t, kBlockEvents> values;
  if (type != ColumnType::text) chunk.values(column, block, values.data());
  for (std::uint32_t i = 0; i < chunk.block_size(block); ++i) {
    if ((valid >> i & 1) == 0) continue;
    if (type == ColumnType::text) {
      builder_.set_text(column, first_row + i, chunk.text(column, block * kBlockEvents + i));
    } else if (type == ColumnType::float64) {
      builder_.set_float64(column, first_row + i, chunk.to_float64(column, values[i]));
    } else {
      builder_.set_stored(column, first_row + i, values[i]);
    }
  }
}

// What the system says of a failed write: SQLite's own words for a full disk and a broken one are alike.
Error write_failure(const Database& database, int code) {
  const int number = sqlite3_system_errno(database.handle());
  const char* why = code == SQLITE_FULL ? "there is no room left" : sqlite3_errstr(code);
  return Error{fmt::format("its pages cannot be written: {}{}", why,
                           number == 0 ? "" : fmt::format(" ({})", std::strerror(number)))};
}

// From a quarter fewer chunks on.
bool worth_merging(const Snapshot& snapshot) {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    ChunkMerger::Forecast forecast(*lane.schema);
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) forecast.add(lane.chunk(i).count);
    before += lane.chunk_count;
    after += forecast.chunks();
  }
  return after * 4 <= before * 3 && after < before;
}

// Writes the chunks of one lane after the other, as they are or merged, and the index of each. What goes wrong with the
// draft is told apart from what is wrong with the session: a session file can still be copied as it is.
class LaneCopies {
 public:
  // `go_on`, told how many bytes of chunks have been read, may stop it.
  LaneCopies(const Store& store, Database& out, std::function<bool(std::uint64_t)> go_on)
      : store_(store), out_(out), go_on_(std::move(go_on)) {}

  Result<void> prepare() {
    Statement chunk = TRY(out_.prepare(kInsertChunk));
    Statement index = TRY(out_.prepare(kInsertLaneIndex));
    insert_chunk_ = std::move(chunk);
    insert_index_ = std::move(index);
    return {};
  }

  // As they are. A chunk that cannot be read any more is left out and counted; the lane is indexed anew when the file
  // is opened.
  Result<void> copy(const LaneSnapshot& lane) {
    std::uint64_t left_out = 0;
    for (std::uint32_t i = 0; i < lane.chunk_count && !stopped_; ++i) {
      const Result<Bytes> bytes = store_.read_chunk(lane, i);
      if (!bytes) {
        ++left_out;
        why_left_out_ = bytes.message();
        continue;
      }
      if (!insert_chunk_row(insert_chunk_, next_row_++, *read_chunk_header(*bytes), *bytes)) return failed_write();
      count(bytes->size());
    }
    left_out_ += left_out;
    if (stopped_ || left_out > 0) return {};
    return write_lane_index(insert_index_, lane, next_row_ - lane.chunk_count) ? Result<void>() : failed_write();
  }

  Result<void> merge(const LaneSnapshot& lane, const StringPool& strings) {
    const auto data = std::make_shared<LaneData>();
    data->lane = lane.data->lane;
    data->kind = lane.data->kind;
    const std::uint32_t scope = scope_of(lane.number());
    NameTable& names = names_.try_emplace(scope, strings, scope).first->second;
    ChunkMerger merger(*lane.schema, lane.number(),
                       [&](ByteView bytes) { return write_merged(bytes, *data, *lane.schema, names); });
    for (std::uint32_t i = 0; i < lane.chunk_count && !stopped_; ++i) {
      const Bytes bytes = TRY(store_.read_chunk(lane, i));
      if (Result<void> added = merger.add(bytes); !added) return added;
      count(bytes.size());
    }
    if (stopped_) return {};
    if (Result<void> finished = merger.finish(); !finished) return finished;
    LaneSnapshot merged;
    merged.data = data;
    merged.chunk_count = static_cast<std::uint32_t>(data->chunks.size());
    merged.tree = data->kind == EventKind::counter ? data->counters.counts() : data->slices.counts();
    merged.totals = data->totals.counts();
    if (merged.chunk_count == 0) return {};
    return write_lane_index(insert_index_, merged, data->chunks[0].row) ? Result<void>() : failed_write();
  }

  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  [[nodiscard]] bool draft_failed() const noexcept { return draft_failed_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] const std::string& why_left_out() const noexcept { return why_left_out_; }

 private:
  Result<void> write_merged(ByteView bytes, LaneData& data, const Schema& schema, NameTable& names) {
    const ChunkView view = TRY(ChunkView::parse(bytes));
    const std::int64_t row = next_row_++;
    if (!insert_chunk_row(insert_chunk_, row, view.header(), bytes)) return failed_write();
    return indexer_.add(data, schema, view, row, names);
  }

  void count(std::size_t bytes) {
    bytes_ += bytes;
    stopped_ = !go_on_(bytes_);
  }

  Error failed_write() {
    draft_failed_ = true;
    return write_failure(out_, sqlite3_errcode(out_.handle()));
  }

  const Store& store_;
  Database& out_;
  std::function<bool(std::uint64_t)> go_on_;
  Statement insert_chunk_, insert_index_;
  LaneIndexer indexer_;
  std::map<std::uint32_t, NameTable> names_;
  std::int64_t next_row_ = 1;
  std::uint64_t bytes_ = 0, left_out_ = 0;
  std::string why_left_out_;
  bool stopped_ = false;
  bool draft_failed_ = false;
};

// Whether all of the database are the rows that are copied one by one: a newer version may have put more there.
bool holds_nothing_else(Database& database) {
  const Result<std::int64_t> version = database.integer("PRAGMA user_version");
  const Result<std::int64_t> others = database.integer(
      "SELECT count(*) FROM sqlite_schema WHERE name NOT IN ('definition', 'chunk', 'lane_index', 'marker', 'overlay')"
      " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
  const Result<std::int64_t> overlay =
      database.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('marker', 'overlay')");
  return version && others && overlay && *version <= kSessionMajor * 1000 + kSessionMinor && *others == 0 &&
         *overlay == 2;
}

// Those after `last` and up to `end`, some at a time; `last` becomes the last one that was copied. True: there may be
// more.
Result<bool> copy_definitions(Database& from, Database& out, std::int64_t& last, std::int64_t end) {
  constexpr std::int64_t kAtOnce = 256;
  Result<Statement> select =
      from.prepare("SELECT id, payload FROM definition WHERE id > ? AND id <= ? ORDER BY id LIMIT ?");
  Result<Statement> insert = out.prepare("INSERT INTO definition(id, payload) VALUES(?, ?)");
  if (!select || !insert) return select ? insert.error() : select.error();
  select->bind(1, last).bind(2, end).bind(3, kAtOnce);
  std::int64_t count = 0;
  Result<bool> row = select->step();
  for (; row && *row; row = select->step(), ++count) {
    last = select->integer(0);
    TRY(insert->run(last, select->blob(1)));
  }
  if (!row) return row.error();
  return count == kAtOnce;
}

Result<void> write_quality(Database& out, const QualityEntry& entry) {
  Statement insert = TRY(out.prepare(kInsertDefinition));
  const Bytes record = encode(Definition(entry), 0);
  return insert.bind(1, ByteView(record)).run();
}

}  // namespace

Result<Store::Copied> Store::copy_pages(Database& out, const Progress& progress) const {
  TRY(out.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"));
  sqlite3_backup* backup = nullptr;
  {
    const auto lock = impl_->lock_database();
    backup = sqlite3_backup_init(out.handle(), "main", impl_->database->handle(), "main");
  }
  if (backup == nullptr) return out.error("no copy can be made");
  std::shared_ptr<const Snapshot> covered;
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
  if (cancelled) return Copied::cancelled;
  if (code != SQLITE_DONE) return write_failure(out, code);
  TRY(write_lane_indexes(out, *covered));
  // A sidecar's markers and view become the saved file's own.
  if (impl_->overlay != nullptr) {
    const auto lock = impl_->lock_database();
    TRY(Implementation::copy_overlay(*impl_->overlay, out));
  }
  return Copied::all;
}

// What was there when it began: a capture that goes on meanwhile is saved up to that moment, and costs what was there.
Result<Store::Copied> Store::copy_rows(Database& out, bool merge, const Progress& progress) const {
  std::shared_ptr<const Snapshot> covered;
  std::uint64_t all_bytes = 0;
  {
    const std::lock_guard lock(impl_->index_mutex);
    covered = impl_->current_snapshot();
    all_bytes = impl_->chunk_bytes;
  }
  // Definitions are stored before the chunks that use them are published: those of the snapshot are there.
  std::int64_t last_definition = 0;
  {
    const auto lock = impl_->lock_database();
    if (!impl_->in_memory && !holds_nothing_else(*impl_->database)) return Copied::not_so;
    const std::int64_t last = TRY(impl_->database->integer("SELECT max(id) FROM definition"));
    last_definition = last;
    if (!impl_->in_memory) all_bytes = impl_->database->page_bytes();
  }
  TRY(Implementation::create_tables(out));
  TRY(out.execute("BEGIN"));
  std::int64_t copied_definition = 0;
  for (bool more = true; more;) {
    const auto lock = impl_->lock_database();
    const bool copied = TRY(copy_definitions(*impl_->database, out, copied_definition, last_definition));
    more = copied;
  }
  LaneCopies copies(*this, out,
                    [&](std::uint64_t done) { return !progress || progress(std::min(done, all_bytes), all_bytes); });
  TRY(copies.prepare());
  for (const LaneSnapshot& lane : covered->lanes) {
    if (lane.chunk_count == 0) continue;
    const Result<void> done = merge ? copies.merge(lane, *covered->strings) : copies.copy(lane);
    if (copies.stopped()) return Copied::cancelled;
    if (!done) return copies.draft_failed() ? Result<Copied>(done.error()) : Result<Copied>(Copied::not_so);
  }
  if (copies.left_out() > 0) {
    const QualityEntry missing(
        "damaged_chunks", copies.left_out(),
        fmt::format("chunks could not be read any more and are missing: {}", copies.why_left_out()));
    TRY(write_quality(out, missing));
  }
  {
    const auto lock = impl_->lock_database();
    TRY(Implementation::copy_overlay(*impl_->database, out));
    if (impl_->overlay != nullptr) {
      TRY(Implementation::copy_overlay(*impl_->overlay, out));
    }
  }
  const Result<void> committed = out.execute("COMMIT");
  if (!committed) return write_failure(out, sqlite3_errcode(out.handle()));
  return Copied::all;
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
  const auto copy = [&](const auto& how) -> Result<Copied> {
    // From the beginning, whatever an attempt before has left.
    std::error_code failure;
    std::filesystem::resize_file(temporary, 0, failure);
    if (failure) return Error{failure.message()};
    const std::unique_ptr<Database> target = TRY(Database::open(temporary, OpenMode::create));
    Result<Copied> done = how(*target);
    if (done && *done == Copied::all) {
      TRY(give_identity(*target));
    }
    return done;
  };
  const auto merged = [&](Database& out) { return copy_rows(out, true, progress); };
  const auto as_they_are = [&](Database& out) {
    return impl_->in_memory ? copy_rows(out, false, progress) : copy_pages(out, progress);
  };
  Result<Copied> copied = Copied::not_so;
  if (worth_merging(*snapshot())) copied = copy(merged);
  // Long chunks, or something about the session that only a plain copy keeps: a damaged chunk, say.
  if (copied && *copied == Copied::not_so) copied = copy(as_they_are);
  if (!copied) return fail(copied.error());
  if (*copied == Copied::cancelled) {
    remove_file(temporary);
    return Error{fmt::format("{}: saving was cancelled; nothing was written", path)};
  }
  if (Result<void> result = sync_file(temporary); !result) return fail(result.error());
  if (Result<void> result = check_session_file(temporary); !result)
    return fail(result.error());  // as it is on the disk
  if (Result<void> result = replace_file(temporary, path); !result) return fail(result.error());
  return {};
}

}  // namespace accelscope
