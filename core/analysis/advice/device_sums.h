// What the rules need of the devices of a session, gathered in one pass over their events, window by window: which
// units were under way when, how busy each engine was, the gaps between all that works, and sums over the events that
// single rules look for. Times are those inside the range.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/analysis/figures/range_activity.h"
#include "core/analysis/replay/work_details.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/stretches.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {

inline constexpr std::int64_t kLeastGapNs = 1'000;    // shorter ones are the pauses of any stream
inline constexpr std::int64_t kTinyKernelNs = 5'000;  // RuleId::tiny_kernels
inline constexpr std::int64_t kMostPauseNs = 20'000;  // longer ones have another cause than a kernel's size
inline constexpr std::size_t kMostGaps = 1'000'000;   // of a device
inline constexpr std::size_t kMostZones = 2'000'000;  // kernels of cores, that a thread keeps

// Events that a rule rests on.
struct EvidenceSum {
  CoveredTime time;  // in which at least one is under way
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::int64_t sum_ns = 0;  // of all, however many at once
  EventId first = kNoEvent;
  TimeRange stretch{INT64_MAX, INT64_MIN};
  std::unordered_map<StringId, std::int64_t> lines;  // source locations
  std::map<TrackNumber, std::uint64_t> tracks;       // events on them

  // A part of an event that lies in a window; only its `own` part counts it.
  void add(EventId event, TrackNumber track, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t size,
           StringId line, bool own);
  void append(const EvidenceSum& other);
  void clear_open();  // at the end of a window, and before anything is read but the sums
  [[nodiscard]] StringId costliest_line() const;

 private:
  // Not yet in `lines` and `tracks`: looking there for every event would cost more than all the rest.
  static constexpr std::size_t kFirstOpenLines = 4, kOpenLines = 64;  // powers of two
  struct OpenLine {
    StringId line = 0;
    std::int64_t ns = 0;
  };
  std::vector<OpenLine> open_lines_;  // as many as the lines of the window need, up to kOpenLines
  void add_line(StringId line, std::int64_t ns);
  void close_lines();
  TrackNumber open_track_ = 0;
  std::uint64_t open_events_ = 0;
};

// A tensor whose size is known.
struct LoadedTensor {
  std::string name;
  std::uint64_t size = 0;  // 0: unknown
  double stated = 0;       // times loaded, as the source says; 0: it does not
  EvidenceSum loads;
  auto measures() noexcept { return std::tie(loads); }
};

// A gap of a device: nothing of it is under way.
struct DeviceGap {
  std::int64_t begin_ns = 0, end_ns = 0;
  [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - begin_ns; }
};

// A run of a program on all cores of a chip, and the longest and mean time of its cores.
struct ProgramRun {
  EventId event = kNoEvent;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::size_t cores = 0;
  std::int64_t longest_ns = 0;
  double mean_ns = 0;
  TrackNumber longest_track = 0;
  std::size_t part = 0, part_cores = 0;  // of the chip, where its runs keep to parts that share no core; its cores
  // What its cores' computing waited for data and for room for its results, and the longest core's time without.
  std::int64_t data_wait_ns = 0, room_wait_ns = 0;
  std::int64_t without_data_wait_ns = 0, without_room_wait_ns = 0;
};

struct EngineSum {
  TrackNumber track = 0;
  std::int64_t busy_ns = 0;  // covered
  bool is_stream = false;
};

struct DeviceSum {
  std::string device;
  std::array<std::int64_t, 1U << kWorkUnits> times_ns{};  // by the set of units under way
  TimeRange stretch{0, 0};                                // of its work
  std::int64_t compute_ns = 0;                            // at least one engine works, and does not only prepare
  std::vector<EngineSum> engines;                         // with any work
  std::vector<TrackNumber> tracks;                        // of work: where gaps show
  std::vector<TrackNumber> transfer_tracks;
  std::vector<DeviceGap> gaps;  // by time; of at least kLeastGapNs, the longest kMostGaps
  // By time, at most kMostGaps: nothing else of the device is under way. Whole as long as they add up to alone_ns().
  Stretches transfers_alone, collectives_alone;
  std::uint64_t kernels = 0, tiny_kernels = 0;
  std::int64_t tiny_pauses_ns = 0;
  EvidenceSum tiny;
  EvidenceSum small;                     // packets
  std::uint64_t packets = 0;             // with a payload
  double large_bytes = 0, large_ns = 0;  // of packets of twice the least size and more
  EvidenceSum spills;                    // saves and reloads
  std::uint64_t saved_bytes = 0, reloaded_bytes = 0;
  std::uint64_t off_chip_read = 0;  // bytes read from device memory
  EvidenceSum transposes, multiplications;
  double flops = 0;
  EvidenceSum throttled;    // with a limit, while engines work
  double throttled_ns = 0;  // time of the matrix engine under a limit, times one less that
  double warm_up_ns = 0;    // of it: until the engine has been busy for a while
  std::int64_t limited_work_ns = 0;
  std::map<StringId, std::int64_t> limits_ns;  // by kind, how long it was in force
  std::map<StringId, LoadedTensor> tensors;
  std::vector<ProgramRun> runs;      // by begin
  std::uint64_t zones_left_out = 0;  // kernels of cores beyond kMostZones; then the runs' cores and times are not known
  std::size_t cores = 0;             // that have rows, of a device with runs
  std::size_t parts = 1;             // see ProgramRun::part
  bool has_core_waits = false;
  bool has_streams = false, has_packets = false, has_places = false, has_limits = false, has_matrix = false,
       has_waits = false;

  // What windows add; the rest is known before.
  auto measures() noexcept {
    return std::tie(times_ns, compute_ns, gaps, transfers_alone, collectives_alone, kernels, tiny_kernels,
                    tiny_pauses_ns, tiny, small, packets, large_bytes, large_ns, spills, saved_bytes, reloaded_bytes,
                    off_chip_read, transposes, multiplications, flops, throttled, throttled_ns, warm_up_ns,
                    limited_work_ns, limits_ns, tensors, runs, zones_left_out);
  }

  [[nodiscard]] std::int64_t active_ns() const noexcept;
  [[nodiscard]] std::int64_t active_ns(WorkUnit unit) const;  // it is under way
  [[nodiscard]] std::int64_t alone_ns(WorkUnit unit) const noexcept {
    return times_ns[std::size_t{1} << static_cast<unsigned>(unit)];
  }
  [[nodiscard]] Stretches gap_stretches() const;
  [[nodiscard]] bool is_of_engines() const noexcept { return !has_streams && runs.empty() && !engines.empty(); }
};

// Of the devices that have work, in the order of TrackDevices.
[[nodiscard]] Result<std::vector<DeviceSum>> device_sums(const QueryContext& query, const EventFilter& filter);

}  // namespace accelscope::analysis
