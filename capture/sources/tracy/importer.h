// One pass over a trace of Tracy: its sections in the order in which they lie in the file, each of them written to the
// session as far as it can be as soon as it is read.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/source.h"
#include "capture/sources/tracy/read/tables.h"
#include "capture/sources/tracy/read/trace_reader.h"
#include "core/base/result.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::tracy {

// Puts events on sub-lanes of tracks, within the numbers of tracks and lanes that a session has, whatever a damaged
// file claims: what finds no place is counted, never an error.

class LaneSpace {
 public:
  static constexpr std::uint32_t kMostTracks = 6'000;
  static constexpr std::uint32_t kMostLanes = 16'000;
  static constexpr std::uint32_t kMostDepth = 1'024;  // of one track

  explicit LaneSpace(SessionWriter& writer) : writer_(writer) {}

  // Beyond the limit nothing, and it is counted.
  [[nodiscard]] std::optional<TrackNumber> add_track(Track track);
  // An event of a nesting whose depth is known. Where it begins before the last one of its depth has ended, it is
  // shortened to begin then.
  [[nodiscard]] std::optional<Row> put_at(TrackNumber track, std::uint32_t depth, std::int64_t start, std::int64_t end,
                                          StringId name) {
    std::vector<std::int64_t>& ends = ends_[track];
    if (depth >= ends.size() && !grow(ends, depth)) return std::nullopt;
    if (start < ends[depth]) {
      ++shortened_;
      start = ends[depth];
    }
    if (end < start) end = start;
    ends[depth] = end;
    return writer_.begin_event_at(track, depth, start, end - start, name);
  }
  // An event that may overlap others: the topmost sub-lane that is free. They come by their begins.
  [[nodiscard]] std::optional<Row> put(TrackNumber track, std::int64_t start, std::int64_t duration, StringId name);

  [[nodiscard]] std::uint64_t tracks_left_out() const noexcept { return tracks_left_out_; }
  [[nodiscard]] std::uint64_t without_lane() const noexcept { return without_lane_; }
  [[nodiscard]] std::uint64_t shortened() const noexcept { return shortened_; }

 private:
  [[nodiscard]] bool grow(std::vector<std::int64_t>& ends, std::uint32_t depth);

  SessionWriter& writer_;
  std::vector<std::vector<std::int64_t>> ends_;  // by track and depth
  std::uint32_t tracks_ = 0;
  std::uint32_t lanes_ = 0;
  std::uint64_t tracks_left_out_ = 0;
  std::uint64_t without_lane_ = 0;
  std::uint64_t shortened_ = 0;
};

// Which fields the traces of a version of Tracy have. The format is the profiler's memory written out in a fixed order,
// without tags; versions differ by the rows of a table.

struct TraceVersion {
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  std::uint8_t patch = 0;
  auto operator<=>(const TraceVersion&) const = default;
};
[[nodiscard]] std::string version_text(TraceVersion version);  // "0.10.0"

// What traces have since a version, or up to one.
struct TraceLayout {
  TraceVersion version;
  bool timer_delay = true;        // a number before all others
  bool on_demand = false;         // a byte after the processor's name
  bool group_hints = false;       // of threads
  bool dies = false;              // in the topology, between packages and cores
  bool wakeup_cpu = false;        // of context switches
  bool gpu_notes = false;         // values beside GPU zones, and the zones' query numbers
  bool message_severity = false;  // and the source of messages
  bool sorted_plots = false;
  bool sections = false;        // after the frames
  bool device_markers = false;  // after each GPU context, in tt-metal's variant, which has no sections
};

struct LayoutChange {
  TraceVersion since;
  bool TraceLayout::*field;
  bool value;
};
[[nodiscard]] std::span<const LayoutChange> layout_changes() noexcept;
inline constexpr std::string_view kVersionsRead = "0.9 to 0.14";

// Refuses versions that are not known, with what to try.
[[nodiscard]] Result<TraceLayout> layout_of(TraceVersion version);

class TracyImport {
 public:
  TracyImport(std::string path, const ImportOptions& options, TracyBlocks blocks, EventSink& sink);
  Result<void> run();

 private:
  struct Section {
    std::string_view name;  // as the report calls it
    void (TracyImport::*read)();
  };
  static std::span<const Section> sections();

  // A frame or a section; both come before the texts that name them.
  struct HeldSlice {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t text = 0;  // above by one
  };
  struct FrameSet {
    std::uint64_t name = 0;
    bool continuous = false;
    std::vector<HeldSlice> frames;
  };
  // Messages come before the threads that say whose they are.
  struct HeldMessage {
    std::uint64_t pointer = 0;
    std::int64_t time = 0;
    std::uint32_t text = kNoText;
    std::uint32_t callstack : 24 = 0;
    std::uint32_t severity : 7 = 0;
    std::uint32_t taken : 1 = 0;
  };
  struct ZoneExtra {
    std::uint32_t callstack = 0;
    std::uint32_t text = 0;  // above by one, as is the name
    std::uint32_t name = 0;
  };
  struct OpenZone {
    std::int64_t start = 0;
    std::uint32_t siblings = 0;  // of its level, behind it
    std::uint32_t extra = 0;
    std::int16_t place = 0;
  };
  struct PlaceIds {
    StringId name = 0;
    StringId source = 0;
    StringId function = 0;
    bool ready = false;
  };
  struct ThreadRow {
    std::uint64_t id = 0;
    std::string name;
    std::optional<TrackNumber> zones;
  };
  struct OpenGpuZone {
    std::int64_t cpu_begin = 0;
    std::int64_t begin = 0;
    std::uint64_t siblings = 0;
    std::int64_t last = 0;  // end of the last zone in it
    std::int16_t place = 0;
    std::uint16_t thread = 0;
    std::uint32_t callstack = 0;
  };
  struct GpuContext {
    std::string name;
    std::string device;
    std::string core;  // of a Tenstorrent device: threads are its processors, and the host's times those of reading
    std::uint64_t threads = 0;
  };
  struct GpuEvents;  // what waits to be sorted
  struct StackFrame {
    std::uint32_t name = 0;  // above by one, as is the file
    std::uint32_t file = 0;
    std::uint32_t line = 0;
  };
  struct FrameGroup {
    std::uint64_t address = 0;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  [[nodiscard]] Result<void> read_version();
  void read_header();
  void read_topology();
  void read_frames();
  void read_marked_sections();
  void read_texts();
  void read_places();
  void skip_zone_counts();
  void read_locks();
  void read_messages();
  void read_zone_extras();
  void read_threads();
  void read_gpu();
  void read_plots();
  void read_memory();
  void read_callstacks();
  void read_app_info();
  void skip_frame_images();
  void read_context_switches();
  void read_cpus();
  void skip_symbols();
  void read_source_files();

  void write_frames();
  void read_lock(EventSorter& sorter, std::vector<Track>& tracks);
  void read_zones(std::uint32_t count, ThreadRow& thread);
  void write_zone(ThreadRow& thread, std::uint32_t depth, const OpenZone& zone, std::int64_t end);
  void set_zone_extra(Row& row, std::uint32_t extra);
  void read_thread_messages(const ThreadRow& thread);
  void write_messages(std::span<const std::uint32_t> messages, const ThreadRow& thread);
  void write_untaken_messages();
  [[nodiscard]] StringId name_of_message(std::string_view text);
  void read_samples(const ThreadRow& thread, bool at_switch);
  [[nodiscard]] GpuContext read_gpu_context(std::uint64_t number);
  void read_gpu_zones(const GpuContext& context, std::uint64_t thread, std::uint64_t count, GpuEvents& events);
  void hold_gpu_zone(const OpenGpuZone& zone, std::uint32_t row, std::uint64_t thread, std::int64_t cpu_end,
                     std::int64_t end, std::optional<std::uint16_t> query, bool called, GpuEvents& events);
  void hold_gpu_call(const OpenGpuZone& zone, std::int64_t cpu_end, std::int64_t correlation, GpuEvents& events);
  void read_gpu_notes(const GpuContext& context, std::span<const std::pair<std::int64_t, std::uint32_t>> names,
                      std::optional<TrackNumber>& track);
  void read_gpu_markers(const GpuContext& context, GpuEvents& events);
  [[nodiscard]] Track gpu_track(const GpuContext& context, std::uint64_t thread, TracyTableKind table);
  void write_gpu(GpuEvents& events);
  void write_gpu_flows(std::vector<std::pair<std::int64_t, std::size_t>> order);
  void read_plot(EventSorter& sorter, std::vector<Track>& tracks);
  void read_pool(EventSorter& sorter, std::vector<Track>& tracks);
  void write_callstacks(const std::vector<std::uint64_t>& addresses, const std::vector<std::uint64_t>& ends,
                        const std::vector<StackFrame>& frames, std::vector<FrameGroup> groups);
  void write_report();
  void report_end();

  // Writes what a sorter holds whose tracks are places in `tracks`; `made` sees every event and its row, but for those
  // whose times cannot be true, which are set aside.
  void write_sorted(EventSorter& sorter, const std::vector<Track>& tracks, TracyTableKind table,
                    const std::function<void(const SortedEvent&, const Row&)>& made = {},
                    const std::function<bool(const SortedEvent&)>& is_doubtful = {});

  [[nodiscard]] SchemaNumber schema(TracyTableKind kind);
  void count_row(TracyTableKind kind, std::uint64_t rows = 1) { rows_[static_cast<std::size_t>(kind)] += rows; }
  [[nodiscard]] const PlaceIds& place(std::int16_t number);
  [[nodiscard]] std::string thread_label(std::uint64_t thread) const;
  [[nodiscard]] Track track_of(std::string name, std::string kind, TracyTableKind table);
  // Whether a time can be one; those that cannot are counted.
  [[nodiscard]] bool is_time(std::int64_t time) noexcept;
  [[nodiscard]] bool stopped();  // read to its end, cancelled, or the sink has failed

  std::string path_;
  const ImportOptions& options_;
  TraceReader reader_;
  SessionWriter writer_;
  LaneSpace lanes_;
  ChunkSpill spill_;
  ImportReport report_;
  TraceLayout layout_;
  TraceNames names_;
  ClockNumber clock_ = 0;
  std::string program_;
  std::int64_t last_time_ = 0;
  std::uint64_t frame_offset_ = 0;
  std::vector<FrameSet> frame_sets_;
  std::vector<HeldSlice> marked_sections_;
  std::vector<HeldMessage> messages_;              // by pointer
  std::unordered_set<std::size_t> message_names_;  // by their hashes
  std::uint64_t unnamed_messages_ = 0;
  std::deque<ZoneExtra> zone_extras_;
  std::vector<PlaceIds> places_;  // by number as unsigned
  std::vector<OpenZone> open_;
  std::set<std::string> files_;
  std::vector<std::array<EventId, 2>> gpu_flows_;  // the call's event and the zone's, by correlation
  std::array<SchemaNumber, kTracyTableKinds> schemas_;
  std::array<std::uint64_t, kTracyTableKinds> rows_ = {};
  std::uint64_t claimed_zones_ = 0;
  std::uint64_t unfinished_zones_ = 0;
  std::uint64_t negative_zones_ = 0;
  std::uint64_t bad_times_ = 0;
  std::uint64_t doubtful_times_ = 0;
  std::uint64_t unknown_places_ = 0;
  std::uint64_t gpu_without_times_ = 0;
  std::uint64_t symbols_ = 0;
  std::uint64_t hardware_samples_ = 0;
  std::uint64_t frame_images_ = 0;
  std::string_view ended_in_;         // the section; "": the trace is whole
  std::vector<std::string> missing_;  // sections behind it
};

}  // namespace accelscope::capture::sources::tracy
