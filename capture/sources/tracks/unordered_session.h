// A session whose events come in any order and whose tracks are named at any time: what most profiles of GPUs are.
// Events wait, in memory up to a limit and then in a temporary file; at the end they are sorted where they have to be,
// flows are joined, tracks are put in order and everything goes to the sink.
//
//   UnorderedSession session(sink);
//   const std::uint32_t kernels = session.add_table(make_gpu_schema(GpuTable::kernel));
//   const std::uint32_t track = session.add_track(kernels, {.name = "stream 7", .kind = "stream", .device = "GPU 0"});
//   const WrittenEvent event = session.write(track, start, duration, session.intern("gemm"), values);
//   session.add_flow(FlowSide::target, flow_key(process, correlation), correlation, event);
//   session.finish({.clock = "trace", .path = path});
//
// The first failure sticks: see status(), or wait for finish().
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/import_report.h"
#include "capture/sources/tracks/event_values.h"
#include "capture/sources/tracks/flow_ends.h"
#include "capture/sources/tracks/track_events.h"

namespace accelscope::capture::sources::tracks {

// Where a row stands among all: by rank, then by place, then by host, device and name in natural order. A row within
// another follows it.
struct RowPlace {
  int rank = 0;  // see RowRank
  std::int64_t place = 0;
};
// Ranks as profiles of GPUs use them.
enum RowRank : int { kDeviceRows = 0, kMainThreadRows = 1, kLaunchingRows = 2, kHostRows = 3, kProfilerRows = 4 };

class UnorderedSession {
 public:
  static constexpr std::size_t kMostRows = 6'000;  // a session has numbers for some more

  explicit UnorderedSession(EventSink& sink);

  // For meta data, metrics, quality entries and source files, and for clocks besides that of finish(); not for tracks
  // and events.
  [[nodiscard]] SessionWriter& writer() noexcept { return writer_; }
  [[nodiscard]] ImportReport& report() noexcept { return report_; }  // written by finish()
  [[nodiscard]] StringId intern(std::string_view text) { return writer_.intern(text); }

  [[nodiscard]] std::uint32_t add_table(Schema schema);
  [[nodiscard]] const Schema& table(std::uint32_t table) const noexcept { return tables_[table].schema; }
  // The table of counters: a value for each sample.
  [[nodiscard]] std::uint32_t counter_table();

  // A row of events. Its number, schema and order are set by this class, its clock by finish() unless it has one;
  // `above`: the row that it lies in. Beyond kMostRows, rows of one table share one, which the report says.
  [[nodiscard]] std::uint32_t add_track(std::uint32_t table, Track track, RowPlace place = {},
                                        std::uint32_t above = kNone);
  // A row without events of its own, for others to lie in.
  [[nodiscard]] std::uint32_t add_group(Track track, RowPlace place = {}, std::uint32_t above = kNone);
  // What is said of a row may change until finish().
  [[nodiscard]] Track& row(std::uint32_t row) noexcept { return rows_[row].track; }
  [[nodiscard]] RowPlace& place(std::uint32_t row) noexcept { return rows_[row].place; }
  // Of a row of events in the session: known from Finish::about_rows on.
  [[nodiscard]] TrackNumber number(std::uint32_t row) const noexcept { return events_.number(rows_[row].events); }
  [[nodiscard]] std::uint32_t& above(std::uint32_t row) noexcept { return rows_[row].above; }

  // Ticks are those of the row's clock. A negative duration is written as 0 and counted.
  WrittenEvent write(std::uint32_t row, std::int64_t start, std::int64_t duration, StringId name,
                     const EventValues& values);
  // The same at a known depth among nested events: see TrackEvents::write_at().
  WrittenEvent write_at(std::uint32_t row, std::uint32_t depth, std::int64_t start, std::int64_t duration,
                        StringId name, const EventValues& values);
  // What was written to a row, taken back: see TrackEvents::take().
  bool take(std::uint32_t row, const std::function<void(TrackEvents::TakenEvent&)>& visit) {
    return events_.take(rows_[row].events, visit);
  }
  void sample(std::uint32_t row, std::int64_t ticks, double value);  // of a row of counter_table()

  // `name`: what kind of flow it is; 0: "launch".
  void add_flow(FlowSide side, std::uint64_t key, std::uint64_t id, const WrittenEvent& event, StringId name = 0);

  struct Finish {
    std::string clock = "trace";
    double ticks_per_ns = 1;
    std::optional<std::int64_t> unix_ns;  // what time it was at tick 0
    std::string path;                     // for messages
    std::string_view unjoined_sources;    // a sentence for the report about flows without a target; "": not worth one
    std::string_view unjoined_targets;
    std::function<void()> about_rows;  // writes tables that name rows by their numbers
  };
  Result<void> finish(const Finish& options);
  [[nodiscard]] bool cancelled() const { return writer_.cancelled(); }
  [[nodiscard]] Result<void> status() const { return writer_.status(); }
  [[nodiscard]] std::uint64_t event_count() const noexcept { return events_written_; }

 private:
  struct Table {
    Schema schema;
    SchemaNumber number = 0;
    std::uint32_t overflow = kNone;  // the row that those beyond the limit share
  };
  struct SessionRow {
    Track track;
    RowPlace place;
    std::uint32_t above = kNone;
    std::uint32_t table = kNone;   // kNone: a group
    std::uint32_t events = kNone;  // its number in TrackEvents
  };
  void note_time(const SessionRow& row, std::int64_t& duration);
  Result<void> finish_events(double ticks_per_ns);
  Result<void> write_flows(const Finish& options);
  Result<void> define_rows(ClockNumber clock);
  [[nodiscard]] std::vector<std::uint32_t> rows_in_order() const;
  void report_losses();

  EventSink& sink_;
  ChunkSpill spill_;
  HeldSink held_;
  SessionWriter writer_;
  TrackEvents events_;
  FlowEnds flows_;
  ImportReport report_;
  std::deque<Table> tables_;  // whose schemas must not move
  std::vector<SessionRow> rows_;
  EventValues sample_;
  StringId launch_ = 0;  // what flows are called that have no name of their own; 0: not asked for yet
  std::uint32_t counters_ = kNone;
  std::int64_t first_ = 0;  // of the rows of the main clock, once all are sorted
  bool any_ = false;
  std::uint64_t events_written_ = 0;
  std::uint64_t negative_durations_ = 0;
  std::uint64_t shared_rows_ = 0;
};

}  // namespace accelscope::capture::sources::tracks
