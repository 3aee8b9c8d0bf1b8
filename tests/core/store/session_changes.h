// A small session with all that an index has, altered by somebody who mends every checksum: of a file that came by mail
// nothing may be believed. For the fuzz target and for the tests that use what is left in every way.
#pragma once

#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/critical_path/critical_path.h"
#include "core/analysis/iterations/iterations.h"
#include "core/analysis/replay/what_if.h"
#include "core/base/checksum.h"
#include "core/chunk/session_writer.h"
#include "core/database/database.h"
#include "core/export/formats/formats.h"
#include "core/lod/lane_window.h"
#include "core/lod/range_statistics.h"
#include "core/sql/base/sql.h"
#include "core/store/saved_index.h"
#include "core/store/store.h"
#include "tests/support/recording_sink.h"

namespace accelscope::test {

// Two engines of many names, a queue, waits, a counter and dependencies, in chunks of some 200 events.
inline Result<void> write_changeable_session(EventSink& sink, int events = 1500) {
  SessionWriter writer(sink);
  const SchemaNumber work =
      writer.add_schema({.name = "work",
                         .wait_names = {"WAIT"},
                         .columns = {{.name = "id", .type = ColumnType::uint64, .role = Role::key},
                                     {.name = "layer", .type = ColumnType::string, .role = Role::layer},
                                     {.name = "bytes", .type = ColumnType::int64, .role = Role::bytes},
                                     {.name = "note", .type = ColumnType::text}}});
  const SchemaNumber flow =
      writer.add_schema({.name = "dependency",
                         .kind = EventKind::flow,
                         .columns = {{.name = "in", .type = ColumnType::uint64, .role = Role::flow_source_event},
                                     {.name = "out", .type = ColumnType::uint64, .role = Role::flow_target_event}}});
  const SchemaNumber pending =
      writer.add_schema({.name = "pending",
                         .kind = EventKind::counter,
                         .columns = {{.name = "value", .type = ColumnType::float64, .role = Role::value}}});
  const ClockNumber cycles = writer.add_clock({.name = "cycles", .ticks_per_ns = 1.4, .anchors = {{1000, 500}}});
  const std::array tracks{
      writer.add_track({.name = "Engine", .kind = "engine", .device = "d", .schema = work}),
      writer.add_track({.name = "Vector", .kind = "engine", .device = "d", .schema = work, .clock = cycles}),
      writer.add_track({.name = "q0", .kind = "dma_queue", .device = "d", .schema = work})};
  const TrackNumber flows = writer.add_track({.name = "flows", .kind = "flow", .device = "d", .schema = flow});
  const TrackNumber counter =
      writer.add_track({.name = "pending", .kind = "counter", .device = "d", .schema = pending});
  std::array<std::int64_t, tracks.size()> at{};
  std::array<EventId, tracks.size()> last{};
  for (int i = 0; i < events; ++i) {
    const auto t = static_cast<std::size_t>(i) % tracks.size();
    const std::string name = i % 11 == 0 ? "WAIT" : "op" + std::to_string(i % (t == 1 ? 3 : 7));
    const std::int64_t duration = 20 + i % 13;
    Row row = writer.begin_event(tracks[t], at[t], duration, writer.intern(name));
    row.unsigned_integer(0, static_cast<std::uint64_t>(i) + 1);
    row.string(1, writer.intern("layers." + std::to_string(i / 500) + "/mlp"));
    row.integer(2, i % 64 * 512);
    row.text(3, "note " + std::to_string(i % 5));
    at[t] += duration + i % 3;
    if (last[(t + 1) % tracks.size()] != 0 && i % 2 == 0) {
      Row join = writer.begin_event(flows, 0, 0, writer.intern("needs"));
      join.unsigned_integer(0, last[(t + 1) % tracks.size()]);
      join.unsigned_integer(1, row.id());
    }
    last[t] = row.id();
    if (i % 3 == 0) writer.sample(counter, i * 10, static_cast<double>(i % 17));
    if (i % 600 == 599) writer.flush();
  }
  return writer.finish();
}

// A session file with these chunks, one row each, and the index that goes with them. A save merges short ones.
inline Result<void> save_in_rows(const std::string& path, const RecordingSink& recorded) {
  {
    auto store = Store::create();
    if (!store) return store.error();
    StoreSink sink(**store);
    for (const Definition& definition : recorded.definitions) {
      if (Result<void> done = sink.define(definition); !done) return done;
    }
    if (Result<void> saved = (*store)->save(path); !saved) return saved;
  }
  auto database = Database::open(path, OpenMode::read_write);
  if (!database) return database.error();
  {
    auto insert = (*database)->prepare(
        "INSERT INTO chunk(lane, first_ordinal, count, begin_ticks, end_ticks, payload) VALUES(?, ?, ?, ?, ?, ?)");
    if (!insert) return insert.error();
    for (const SealedChunk& chunk : recorded.chunks) {
      const ChunkHeader header = chunk.header();
      if (Result<void> done =
              insert->run(std::int64_t{header.lane}, static_cast<std::int64_t>(header.first_ordinal),
                          std::int64_t{header.count}, header.begin_ticks, header.end_ticks, ByteView(chunk.bytes));
          !done) {
        return done;
      }
    }
  }
  std::shared_ptr<const Snapshot> indexed;
  {
    auto opened = Store::open(path);
    if (!opened) return opened.error();
    indexed = (*opened)->snapshot();
  }
  return write_lane_indexes(**database, *indexed);
}

inline Result<void> save_changeable_session(const std::string& path) {
  RecordingSink recorded;
  if (Result<void> written = write_changeable_session(recorded); !written) return written;
  return save_in_rows(path, recorded);
}

// Steps of eight bytes: what, then numbers that say where and what is put there.
class SessionChanges {
 public:
  static constexpr std::size_t kStep = 8;

  explicit SessionChanges(const std::string& path) {
    Result<std::unique_ptr<Database>> opened = Database::open(path, OpenMode::read_write);
    if (!opened) std::abort();
    database_ = std::move(*opened);
  }
  void apply(std::span<const std::uint8_t> steps) {
    run("BEGIN");
    for (; steps.size() >= kStep; steps = steps.subspan(kStep)) change(steps.first<kStep>());
    run("COMMIT");
  }

 private:
  using Step = std::span<const std::uint8_t, kStep>;

  void run(const std::string& sql) {
    if (!database_->execute(sql.c_str())) return;  // what cannot be done leaves the session as it is
  }
  std::int64_t integer(const std::string& sql) {
    const Result<std::int64_t> found = database_->integer(sql);
    return found ? *found : 0;
  }
  // The row of a table that a number picks.
  std::int64_t row_of(const std::string& table, const char* key, std::uint8_t number) {
    const std::int64_t count = integer("SELECT count(*) FROM " + table);
    if (count == 0) return 0;
    return integer("SELECT " + std::string(key) + " FROM " + table + " ORDER BY " + key + " LIMIT 1 OFFSET " +
                   std::to_string(number % count));
  }
  static std::int64_t number_of(Step step) {
    constexpr std::array<std::int64_t, 16> kNumbers = {
        0,     1,   -1,  INT32_MAX,  INT64_C(1) << 31, UINT32_MAX, INT64_C(1) << 62, INT64_MAX, INT64_MIN, 16383,
        16384, 512, 255, 0x00f00000, INT64_C(1) << 39, 65};
    return step[6] < 192 ? kNumbers[step[6] % kNumbers.size()] : std::int64_t{step[7]} << (step[6] % 8 * 8);
  }
  // A number of one, two, four or eight bytes, aligned or not.
  static void put(Bytes& bytes, std::size_t from, Step step) {
    if (bytes.size() <= from) return;
    const std::size_t size = std::size_t{1} << (step[5] % 4);
    std::size_t at = from + (std::size_t{step[3]} << 8U | step[4]) % (bytes.size() - from);
    if (step[5] % 8 < 6) at = from + (at - from) / size * size;
    const std::int64_t value = number_of(step);
    for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
    }
  }
  template <typename T>
  static void store_at(Bytes& bytes, std::size_t at, const T& value) {
    if (bytes.size() >= at + sizeof value) std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  template <typename T>
  static T load_at(const Bytes& bytes, std::size_t at) {
    T value{};
    if (bytes.size() >= at + sizeof value) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }
  template <typename Change>
  void change_payload(const std::string& table, const char* key, std::int64_t row, const Change& change) {
    Result<Bytes> bytes = database_->read_blob(table.c_str(), "payload", row);
    if (!bytes || bytes->size() < 32) return;
    change(*bytes);
    Result<Statement> update =
        database_->prepare("UPDATE " + table + " SET payload = ? WHERE " + std::string(key) + " = ?");
    if (!update || !update->run(ByteView(*bytes), row)) return;
  }

  void change_index(Step step) {
    change_payload("lane_index", "rowid", row_of("lane_index", "rowid", step[1]), [&](Bytes& blob) {
      blob.resize(blob.size() - sizeof(std::uint64_t));
      for (int i = 0; i <= step[2] % 4; ++i) put(blob, static_cast<std::size_t>(i) * 16 % blob.size(), step);
      append_checksum(blob);
    });
  }
  // All names of a lane's sums are another one.
  void rename_totals(Step step) {
    const std::int64_t row = integer("SELECT rowid FROM lane_index WHERE part = 2 ORDER BY rowid LIMIT 1 OFFSET " +
                                     std::to_string(step[1] % 4));
    change_payload("lane_index", "rowid", row, [&](Bytes& blob) {
      blob.resize(blob.size() - sizeof(std::uint64_t));
      for (std::size_t at = 0; at + 16 <= blob.size();) {
        const auto size = load_at<std::uint32_t>(blob, at);
        at += 16;
        for (std::uint32_t i = 0; i < size && at + 16 <= blob.size(); ++i, at += 16) {
          store_at(blob, at, static_cast<std::uint32_t>(number_of(step)));
        }
      }
      append_checksum(blob);
    });
  }
  void change_chunk(Step step) {
    change_payload("chunk", "id", row_of("chunk", "id", step[1]), [&](Bytes& blob) {
      const std::size_t from = step[2] % 2 == 0 ? 12 : sizeof(ChunkHeader);
      put(blob, from, step);
      if (blob.size() < sizeof(ChunkHeader)) return;
      auto header = load_at<ChunkHeader>(blob, 0);
      header.length = static_cast<std::uint32_t>(blob.size());
      header.payload_checksum = checksum(ByteView(blob).subspan(sizeof header));
      header.header_checksum = checksum_of_header(header);
      store_at(blob, 0, header);
    });
  }
  void change_definition(Step step) {
    change_payload("definition", "id", row_of("definition", "id", step[1]), [&](Bytes& record) {
      constexpr std::size_t kHead = 24;
      put(record, kHead, step);
      const std::uint64_t body = record.size() - kHead;
      const std::uint64_t sum = checksum(ByteView(record).subspan(kHead)) ^
                                (std::uint64_t{load_at<std::uint16_t>(record, 4)} << 48U) ^
                                (std::uint64_t{load_at<std::uint32_t>(record, 12)} << 32U) ^ body;
      store_at(record, 16, sum);
    });
  }
  void change(Step step) {
    const std::string chunk = std::to_string(row_of("chunk", "id", step[1]));
    switch (step[0] % 12) {
      case 0:
      case 1:
      case 2:
        return change_index(step);
      case 3:
        return rename_totals(step);
      case 4:
      case 5:
        return change_chunk(step);
      case 6:
        return change_definition(step);
      case 7: {
        constexpr std::array kColumns = {"lane", "first_ordinal", "count", "begin_ticks", "end_ticks"};
        return run("UPDATE chunk SET " + std::string(kColumns[step[2] % kColumns.size()]) + " = " +
                   std::to_string(number_of(step)) + " WHERE id = " + chunk);
      }
      case 8:  // a hole, or an index that covers only some
        return run(step[2] % 2 == 0 ? "DELETE FROM chunk WHERE id = " + chunk
                                    : "DELETE FROM lane_index WHERE part = " + std::to_string(step[3] % 3));
      case 9:
        return run(
            "INSERT INTO chunk(lane, first_ordinal, count, begin_ticks, end_ticks, payload) SELECT lane, "
            "first_ordinal, count, begin_ticks, end_ticks, payload FROM chunk WHERE id = " +
            chunk);
      case 10:
        return run("UPDATE chunk SET payload = (SELECT payload FROM chunk WHERE id = " +
                   std::to_string(row_of("chunk", "id", step[2])) + ") WHERE id = " + chunk);
      default:
        return run("INSERT INTO definition(payload) SELECT payload FROM definition WHERE id = " +
                   std::to_string(row_of("definition", "id", step[1])));
    }
  }

  std::unique_ptr<Database> database_;
};

// What panels, queries and exports do with a session, each without a look at the other's answer. Failures are answers,
// too: nothing is checked but that it ends well.
class SessionUse {
 public:
  explicit SessionUse(std::shared_ptr<const Store> store) : store_(std::move(store)), snapshot_(store_->snapshot()) {}

  void draw() {
    lod::LaneWindows windows(pool_);
    for (int frame = 0; frame < 2; ++frame) {
      windows.begin_frame(store_, snapshot_);
      for (const LaneSnapshot& lane : snapshot_->lanes) {
        lod::LaneDetail& detail = windows.lane(lane);
        for (std::uint32_t leaf = 0; leaf < lane.tree.nodes[0]; leaf += lod::kWindowLeaves) {
          for (const lod::WindowDetail wanted : {lod::WindowDetail::micro, lod::WindowDetail::events}) {
            if (detail.find(leaf, wanted) == nullptr) ++missing_;
          }
        }
      }
      windows.end_frame();
      windows.wait_until_settled();
    }
  }
  void ask() {
    ScanReport report;
    const QueryContext query{*store_, snapshot_, pool_, control_, &report};
    const std::int64_t middle = snapshot_->begin_ns / 2 + snapshot_->end_ns / 2;
    for (const TimeRange& range : {TimeRange{}, TimeRange{snapshot_->begin_ns, middle}, TimeRange{middle, INT64_MAX}}) {
      note(lod::name_statistics(query, all_lanes(*snapshot_), range));
      for (std::uint32_t lane = 0; lane < snapshot_->lanes.size(); ++lane) {
        note(lod::lane_share(*store_, *snapshot_, lane, range));
      }
    }
    note(analysis::find_iterations(query, TimeRange{}));
    const Result<analysis::SessionPath> path = analysis::session_path(query, std::nullopt);
    note(path);
    for (const char* text : {"dma bandwidth x2", "layer mlp x0.5", "engine Vector x0.5", "merge dmas x4"}) {
      const auto change = analysis::parse_change(text);
      if (path && change) note(analysis::replay_with_changes(query, *path->graph, {&*change, 1}, 0));
    }
  }
  void query() {
    sql::Session sql(*store_, snapshot_, pool_);
    for (const char* text :
         {"SELECT count(*), sum(dur_ns), min(ts_ns), max(ts_ns), max(id) FROM slice",
          "SELECT name, count(*), sum(dur_ns) FROM slice GROUP BY name ORDER BY 3 DESC",
          "SELECT * FROM work WHERE bytes > 100 LIMIT 50", "SELECT * FROM flow LIMIT 50", "SELECT * FROM counter",
          "SELECT count(*) FROM dependency", "SELECT kind, count FROM quality"}) {
      note(sql.run(text, {}, control_));
    }
  }
  void write_out() {
    class Nowhere final : public exporting::ExportOutput {
      Result<void> begin_file(const std::string&) override { return {}; }
      Result<void> write(std::string_view) override { return {}; }
    } nowhere;
    ScanReport report;
    for (const exporting::ExportFormat& format : exporting::export_formats()) {
      if (format.applies != nullptr && !format.applies(*snapshot_)) continue;
      note(format.write({.query = {*store_, snapshot_, pool_, control_, &report}}, nowhere));
    }
  }

  [[nodiscard]] const Snapshot& snapshot() const noexcept { return *snapshot_; }
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }

 private:
  template <typename T>
  void note(const Result<T>& result) {
    answers_ += result.ok() ? 1 : 0;
  }

  std::shared_ptr<const Store> store_;
  std::shared_ptr<const Snapshot> snapshot_;
  WorkerPool pool_{1};
  TaskControl control_;
  std::uint64_t answers_ = 0;
  std::uint64_t missing_ = 0;
};

}  // namespace accelscope::test
