// Saving: into a draft beside the path, which takes its place once it is whole and on the disk. A session of long
// chunks is copied page by page. One of many short ones, a slow capture, is written anew with its chunks merged: they
// take a third of the room. An event keeps its id, because a chunk carries its first ordinal; lane indexes are made of
// the merged chunks.
#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "core/base/file_system.h"
#include "core/store/chunk_merger.h"
#include "core/store/saved_index.h"
#include "core/store/session_check.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

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

// Writes the chunks of all lanes, merged, and the indexes of what was written. What goes wrong with the draft is told
// apart from what is wrong with the session: the latter can still be copied as it is.
class LaneCopies {
 public:
  LaneCopies(const Store& store, Database& out) : store_(store), out_(out) {}

  Result<void> prepare() {
    Result<Statement> insert = out_.prepare(kInsertChunk);
    if (!insert) return insert.error();
    insert_ = std::move(*insert);
    return {};
  }

  // What the snapshot has beyond the last one. `go_on`, told how many events are written, may stop it.
  Result<void> add(const Snapshot& snapshot, const std::function<bool(std::uint64_t)>& go_on) {
    copies_.resize(snapshot.lanes.size());
    for (std::size_t i = 0; i < snapshot.lanes.size() && !stopped_; ++i) {
      if (copies_[i].chunks == snapshot.lanes[i].chunk_count) continue;
      if (Result<void> done = add_lane(snapshot, i, go_on); !done) return done;
    }
    return {};
  }

  Result<void> write_indexes() {
    Result<Statement> insert = out_.prepare(kInsertLaneIndex);
    if (!insert) return failed_write();
    for (const Copy& copy : copies_) {
      if (copy.data == nullptr) continue;
      LaneSnapshot lane;
      lane.data = copy.data;
      lane.chunk_count = static_cast<std::uint32_t>(copy.data->chunks.size());
      lane.tree = copy.data->kind == EventKind::counter ? copy.data->counters.counts() : copy.data->slices.counts();
      lane.totals = copy.data->totals.counts();
      if (!write_lane_index(*insert, lane)) return failed_write();
    }
    return {};
  }

  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  [[nodiscard]] bool draft_failed() const noexcept { return draft_failed_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  struct Copy {
    std::shared_ptr<LaneData> data;
    std::uint32_t chunks = 0;  // of the session that are written
  };

  Result<void> add_lane(const Snapshot& snapshot, std::size_t index, const std::function<bool(std::uint64_t)>& go_on) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    Copy& copy = copies_[index];
    if (copy.data == nullptr) {
      copy.data = std::make_shared<LaneData>();
      copy.data->lane = lane.data->lane;
      copy.data->kind = lane.data->kind;
    }
    const std::uint32_t scope = scope_of(lane.number());
    NameTable& names = names_.try_emplace(scope, *snapshot.strings, scope).first->second;
    ChunkMerger merger(*lane.schema, lane.number(),
                       [&](ByteView bytes) { return write(bytes, *copy.data, *lane.schema, names); });
    for (; copy.chunks < lane.chunk_count && !stopped_; ++copy.chunks) {
      const Result<Bytes> bytes = store_.read_chunk(lane, copy.chunks);
      if (!bytes) return bytes.error();
      if (Result<void> added = merger.add(*bytes); !added) return added;
      events_ += lane.chunk(copy.chunks).count;
      stopped_ = !go_on(events_);
    }
    return merger.finish();
  }

  Result<void> write(ByteView bytes, LaneData& data, const Schema& schema, NameTable& names) {
    const Result<ChunkView> view = ChunkView::parse(bytes);
    if (!view) return view.error();
    if (!insert_chunk_row(insert_, view->header(), bytes)) return failed_write();
    return indexer_.add(data, schema, *view, out_.last_insert_rowid(), names);
  }

  Error failed_write() {
    draft_failed_ = true;
    return write_failure(out_, sqlite3_errcode(out_.handle()));
  }

  const Store& store_;
  Database& out_;
  Statement insert_;
  LaneIndexer indexer_;
  std::map<std::uint32_t, NameTable> names_;
  std::vector<Copy> copies_;  // by lane
  std::uint64_t events_ = 0;
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

// Those after `last`, which becomes the last one that was copied; some at a time. True: there may be more.
Result<bool> copy_definitions(Database& from, Database& out, std::int64_t& last) {
  constexpr std::int64_t kAtOnce = 256;
  Result<Statement> select = from.prepare("SELECT id, payload FROM definition WHERE id > ? ORDER BY id LIMIT ?");
  Result<Statement> insert = out.prepare("INSERT INTO definition(id, payload) VALUES(?, ?)");
  if (!select || !insert) return select ? insert.error() : select.error();
  select->bind(1, last).bind(2, kAtOnce);
  std::int64_t count = 0;
  Result<bool> row = select->step();
  for (; row && *row; row = select->step(), ++count) {
    last = select->integer(0);
    if (Result<void> done = insert->run(last, select->blob(1)); !done) return done.error();
  }
  if (!row) return row.error();
  return count == kAtOnce;
}

}  // namespace

Result<Store::Copied> Store::copy_pages(Database& out, const Progress& progress) const {
  if (Result<void> result = out.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"); !result) {
    return result.error();
  }
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
  if (Result<void> result = write_lane_indexes(out, *covered); !result) return result.error();
  // A sidecar's markers and view become the saved file's own.
  if (impl_->overlay != nullptr) {
    const auto lock = impl_->lock_database();
    if (Result<void> result = Implementation::copy_overlay(*impl_->overlay, out); !result) return result.error();
  }
  return Copied::all;
}

Result<Store::Copied> Store::copy_merged(Database& out, const Progress& progress) const {
  std::uint64_t all_bytes = 0;
  {
    const auto lock = impl_->lock_database();
    if (!holds_nothing_else(*impl_->database)) return Copied::not_so;
    all_bytes = impl_->database->page_bytes();
  }
  LaneCopies lanes(*this, out);
  if (Result<void> made = Implementation::create_tables(out); !made) return made.error();
  if (Result<void> begun = out.execute("BEGIN"); !begun) return begun.error();
  if (Result<void> prepared = lanes.prepare(); !prepared) return prepared.error();

  // A capture goes on meanwhile: what came in is added, until a round finds little.
  constexpr int kMostRounds = 4;
  std::int64_t last_definition = 0;
  for (int round = 0; round < kMostRounds && !lanes.stopped(); ++round) {
    const std::shared_ptr<const Snapshot> covered = snapshot();
    // Definitions are stored before the chunks that use them are published: those of the snapshot are there.
    for (bool more = true; more;) {
      const auto lock = impl_->lock_database();
      const Result<bool> copied = copy_definitions(*impl_->database, out, last_definition);
      if (!copied) return copied.error();
      more = *copied;
    }
    if (covered->event_count == lanes.events()) break;
    const auto go_on = [&](std::uint64_t events) {
      const double share = static_cast<double>(events) / static_cast<double>(covered->event_count);
      return !progress || progress(static_cast<std::uint64_t>(share * static_cast<double>(all_bytes)), all_bytes);
    };
    if (Result<void> added = lanes.add(*covered, go_on); !added) {
      return lanes.draft_failed() ? Result<Copied>(added.error()) : Result<Copied>(Copied::not_so);
    }
  }
  if (lanes.stopped()) return Copied::cancelled;
  if (Result<void> written = lanes.write_indexes(); !written) return written.error();
  {
    const auto lock = impl_->lock_database();
    if (Result<void> done = Implementation::copy_overlay(*impl_->database, out); !done) return done.error();
    if (impl_->overlay != nullptr) {
      if (Result<void> done = Implementation::copy_overlay(*impl_->overlay, out); !done) return done.error();
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
  const auto copy = [&](bool merged) -> Result<Copied> {
    const Result<std::unique_ptr<Database>> target = Database::open(temporary, OpenMode::create);
    if (!target) return target.error();
    Result<Copied> done = merged ? copy_merged(**target, progress) : copy_pages(**target, progress);
    if (done && *done == Copied::all) {
      if (Result<void> named = give_identity(**target); !named) return named.error();
    }
    return done;
  };
  Result<Copied> copied = Copied::not_so;
  if (worth_merging(*snapshot())) copied = copy(true);
  if (copied && *copied == Copied::not_so) {
    // Long chunks, or something about the session that only a plain copy keeps: a damaged chunk, say.
    std::error_code failure;
    std::filesystem::resize_file(temporary, 0, failure);
    if (failure) return fail(Error{failure.message()});
    copied = copy(false);
  }
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
