// Writes the markers of a device log as tracks and events: of a whole log one processor after the other, so that only
// one processor's chunks are open at a time; of a log that still grows for all of them as they come.
//
//   DeviceLogWriter events(layout, dictionary, writer, counts);       a whole log
//   events.begin_chip(chip, {.ticks = first}); events.write(processor, markers, spill);
//
//   DeviceLogWriter events(layout, dictionary, writer, counts, live);  one that grows
//   auto of_core = events.begin(processor, clock); events.add(*of_core, markers); ... events.end(*of_core, last_time);
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "capture/sources/tracks/doubtful_times.h"
#include "capture/sources/tt_metal/read/dictionary.h"
#include "capture/sources/tt_metal/read/layout.h"
#include "capture/sources/tt_metal/read/rows.h"
#include "capture/sources/tt_metal/read/schemas.h"
#include "capture/sources/tt_metal/write/marker_runs.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::tt_metal {

// What an import of a device log left out, mended or could not know, as quality entries: a sentence each, with what to
// try.

// "core 1,1 BRISC"
[[nodiscard]] std::string processor_name(const LogProcessor& processor);
[[nodiscard]] std::string chip_name(std::uint32_t chip);

// A number of events and the processors they are on, the first few by name.
class CountByProcessor {
 public:
  void add(const LogProcessor& processor, std::uint64_t count);
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::string names() const;

 private:
  static constexpr std::size_t kNamed = 6;
  std::uint64_t total_ = 0;
  std::size_t processors_ = 0;
  std::string names_;
};

struct DeviceLogCounts {
  std::uint64_t rows = 0;  // lines behind the header that are not blank
  RowProblems problems;
  std::uint64_t long_lines = 0;
  std::uint64_t hole_bytes = 0;  // zeros in place of rows
  std::uint64_t first_hole = 0;
  std::string unreadable;                                  // why the file ends early; or ""
  bool ends_in_line = false;                               // the last line has no end
  std::array<std::uint64_t, kLogTableCount> table_rows{};  // a zone has two; ends without a begin count there too
  std::uint64_t duplicates = 0;
  std::uint64_t doubtful = 0;  // markers whose times cannot be true
  std::uint64_t unknown_types = 0;
  std::uint64_t names_left_out = 0;
  CountByProcessor unfinished;
  CountByProcessor lone_ends;
  CountByProcessor left_out;  // events without a lane
  std::size_t chips = 0;
};

// Of a file that is none.
[[nodiscard]] Error no_device_log(const std::string& name, const std::string& reason);

void write_facts(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer);
// The source files that the log names, as far as they lie under the folders.
void write_sources(const DeviceLogDictionary& dictionary, const std::vector<std::string>& roots, SessionWriter& writer);
void write_report(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer);

// Pairs the begins and ends of zones of one processor with a stack, as its code nests them. Markers come by time, those
// of one time together; what comes out does not depend on their order in the file. Markers get lost where a device's
// buffer was full: a begin without an end stays open until its parent ends, or until the same zone begins in another
// run; an end without a begin is handed out alone.

struct MatchedZone {
  const LogMarker* begin = nullptr;
  const LogMarker* end = nullptr;  // null: it has none
  std::int64_t end_time = 0;
  std::uint32_t depth = 0;
};

class ZoneMatcher {
 public:
  static constexpr std::size_t kDeepest = 64;

  using OnZone = std::function<void(const MatchedZone&)>;  // of a depth: by time; of all depths: by end
  using OnLoneEnd = std::function<void(const LogMarker&)>;
  ZoneMatcher(const DeviceLogDictionary& dictionary, OnZone on_zone, OnLoneEnd on_lone_end)
      : dictionary_(dictionary), on_zone_(std::move(on_zone)), on_lone_end_(std::move(on_lone_end)) {}

  // Begins and ends of one time, by canonical_order.
  void add(const std::vector<LogMarker>& of_one_time);
  // Closes what is still open.
  void finish(std::int64_t last_time);

 private:
  struct Open {
    LogMarker begin;
    std::uint32_t zone;
    std::uint8_t rank;
  };
  [[nodiscard]] const LogSite& site(const LogMarker& marker) const noexcept { return dictionary_.site(marker.site); }
  [[nodiscard]] bool close_newest(const LogMarker& end);
  [[nodiscard]] bool close_deeper(const LogMarker& end);
  void close_from(std::size_t place, std::int64_t time);  // without ends
  void open(const LogMarker& begin);
  void add_group(const std::vector<LogMarker>& of_one_time);

  const DeviceLogDictionary& dictionary_;
  OnZone on_zone_;
  OnLoneEnd on_lone_end_;
  std::vector<Open> stack_;
};

// An order of markers of one time that follows from what they say, not from where they stand in the file. Two that say
// the same are neighbours then.
[[nodiscard]] bool canonical_order(const LogMarker& a, const LogMarker& b, const DeviceLogDictionary& dictionary);

struct LiveLog {
  std::string label;         // before the names of its devices; "" for none
  std::uint32_t tracks = 0;  // that the session has already
  std::uint32_t lanes = 0;
};

class DeviceLogWriter {
 public:
  struct TrackState {
    TrackNumber number = kNone;
    std::uint32_t lanes = 0;
  };
  // The events of one processor.
  struct Processor {
    Processor(LogProcessor of, const DeviceLogDictionary& dictionary, const ZoneMatcher::OnZone& on_zone,
              const ZoneMatcher::OnLoneEnd& on_lone_end)
        : facts(std::move(of)), matcher(dictionary, on_zone, on_lone_end), late(dictionary, on_zone, on_lone_end) {}
    LogProcessor facts;
    ClockNumber clock = kNone;
    StringId risc = 0;
    ZoneMatcher matcher;
    ZoneMatcher late;  // of markers that came after later ones had been written
    std::array<TrackState, kLogTableCount> tracks;
    std::map<std::string, TrackState, std::less<>> counter_tracks;
    std::uint64_t unfinished = 0;
    std::uint64_t lone_ends = 0;
    std::uint64_t left_out = 0;
    const tracks::TimeBounds* bounds = nullptr;  // of its chip
    TrackState doubtful;
  };

  DeviceLogWriter(const DeviceLogLayout& layout, const DeviceLogDictionary& dictionary, SessionWriter& writer,
                  DeviceLogCounts& counts);
  // The columns of dispatch cores are there in any case: what the log will hold is not known yet.
  DeviceLogWriter(const DeviceLogLayout& layout, const DeviceLogDictionary& dictionary, SessionWriter& writer,
                  DeviceLogCounts& counts, const LiveLog& live);

  // Markers of a chip beyond these bounds, whose times cannot be true, become moments of a row of their own. As far as
  // is known: those of a log that grows may change.
  void set_bounds(std::uint32_t chip, const tracks::TimeBounds& bounds) { bounds_[chip] = bounds; }
  // So many calls of write() will come: each of them finds a lane at least.
  void expect(std::uint32_t processors) noexcept { processors_left_ = processors; }
  // The clock of a chip, before its processors: where in the session one of its ticks lies.
  Clock begin_chip(std::uint32_t chip, ClockAnchor anchor);
  Result<void> write(const LogProcessor& processor, MarkerRuns& markers, ChunkSpill& spill);
  // A row for each chip with the runs of programs, from their first to their last zone: those that had no zone since
  // the stretch began (see begin_stretch()), or all, once no zone comes any more.
  void write_runs_before_stretch();
  void write_runs();
  // Zones of a growing log come stretch by stretch, each of them processor by processor, and a run lies within one.
  void begin_stretch() noexcept { ++stretch_; }
  // What a run is called whose number a report of the same run knows; "": "run 7".
  using NameOfRun = std::function<std::string(const std::string& device, std::uint64_t run_host_id)>;
  void name_runs(NameOfRun names) { name_of_run_ = std::move(names); }

  [[nodiscard]] std::unique_ptr<Processor> begin(const LogProcessor& processor, ClockNumber clock);
  // Markers of one time; the times never fall. Late ones, which came after later ones were added, make a second pass.
  // False: that time cannot be true.
  bool add(Processor& to, std::vector<LogMarker>& of_one_time, bool late = false);
  // Closes the zones that are open, and counts.
  void end(Processor& of, std::int64_t last_time);
  [[nodiscard]] LiveLog used() const { return {label_, track_count_, lane_count_}; }

 private:
  struct MetaStrings {
    StringId text = 0;
    std::array<StringId, kDispatchKeys.size()> dispatch{};
    bool known = false;
  };
  struct SiteStrings {
    StringId name = 0;
    StringId source = 0;
    StringId type = 0;
    bool known = false;
  };

  // A run of a program on a chip.
  struct Run {
    std::uint32_t chip = 0;
    ClockNumber clock = kNone;
    std::array<std::uint64_t, LogContext::kIds> ids{};
    std::uint8_t present = 0;
    std::int64_t begin = 0, end = 0;   // ticks
    std::vector<std::uint32_t> cores;  // by their places, in order
    std::uint64_t stretch = 0;         // of its last zone so far
  };
  using RunKey = std::tuple<std::uint32_t, std::uint8_t, std::array<std::uint64_t, LogContext::kIds>>;

  void add_schemas();
  void add_to_run(const MatchedZone& zone);
  void write(std::vector<const Run*> runs);
  [[nodiscard]] TrackNumber core_track();
  [[nodiscard]] TrackState& track_of(LogTable table);
  [[nodiscard]] TrackState& counter_track(const LogSite& site);
  [[nodiscard]] TrackNumber add_track(std::string name, std::string kind, LogTable table, TrackNumber parent);
  void seal(const TrackState& track);
  [[nodiscard]] bool has_lane(TrackState& track, std::uint32_t depth);

  void add_event(const LogMarker& marker);
  void add_zone(const MatchedZone& zone);
  void add_instant(const LogMarker& marker, LogTable table, bool lone_end);
  void add_instant(const LogMarker& marker, LogTable table, TrackState& track, bool lone_end);
  void add_doubtful(const LogMarker& marker);
  void add_counter(const LogMarker& marker);
  void fill(Row& row, const LogColumns& at, const LogMarker& marker);
  void fill_meta_data(Row& row, const LogColumns& at, const LogMarker& marker);
  [[nodiscard]] const SiteStrings& strings_of(std::uint32_t site);
  [[nodiscard]] const MetaStrings& strings_of_meta_data(std::uint64_t number);

  static constexpr std::uint32_t kMostTracks = kMaxLocalNumber - 1;
  static constexpr std::uint32_t kMostLanes = kMaxLocalNumber - 1;

  const DeviceLogLayout& layout_;
  const DeviceLogDictionary& dictionary_;
  SessionWriter& writer_;
  DeviceLogCounts& counts_;
  std::array<SchemaNumber, kLogTableCount> schemas_{};
  std::vector<SiteStrings> site_strings_;
  std::vector<MetaStrings> meta_strings_;
  std::string label_;
  bool dispatch_ = false;
  ClockNumber clock_ = kNone;
  std::uint32_t track_count_ = 0;
  std::uint32_t lane_count_ = 0;
  std::map<std::uint32_t, tracks::TimeBounds> bounds_;  // by chip
  std::uint32_t processors_left_ = 0;                   // that have no lane yet

  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, TrackNumber> cores_;  // by chip, x and y
  std::map<RunKey, Run> runs_;
  std::uint64_t stretch_ = 0;
  SchemaNumber run_schema_ = kNone;
  NameOfRun name_of_run_;
  std::map<std::uint32_t, TrackNumber> run_tracks_;  // by chip
  Processor* at_ = nullptr;                          // whose markers are written
  std::vector<LogMarker> zone_markers_;
};

[[nodiscard]] LogTable table_of(MarkerKind kind) noexcept;

}  // namespace accelscope::capture::sources::tt_metal
