// How long a device would take if its host were without one of its delays: the host's calls and what they start, run
// again in their order. For savings that are computed, not bounded by gaps: what follows a wait may come late too, and
// what waits for a slow host may hide other waits.
//
//   const auto replay = LaunchReplay::build(query, *dependencies, {tracks, stretch, loading, waiting});
//   if (*replay) saved = (*replay)->saving_ns(HostDelay::synchronising);  // if it can be said
//
// An event of a stream begins when the call that started it has returned, a latency after; when the event before it on
// its stream has ended, a pause after; and, where it began right after an event of another stream, after that. What it
// began later than that is kept as it was. The host's threads are one program: between two calls it takes the time it
// took. A call that waits for the device takes until what it waited for has ended.
//
// Nothing comes of a device with too many events, or of whose events less than kLeastLaunched are known to be launched,
// or whose replay without a change is more than kMostError off; nor of a change after which delays that nothing
// explains would make more than kMostUnexplained of the recorded time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/time/stretches.h"
#include "core/model/time_range.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

enum class HostDelay : std::uint8_t {
  none,
  own,            // all that it does between its calls but for loading and waiting
  loading,        // of data
  synchronising,  // it waits for nothing
  tiny_launches,  // what its calls that start tiny kernels cost it, and the pauses before these
};

// A device and what its host's calls are to it: those that load data, and those that wait until it is done.
struct LaunchedDevice {
  std::vector<TrackNumber> tracks;
  TimeRange stretch;  // of its work
  Stretches loading, waiting;
};

class LaunchReplay {
 public:
  static constexpr std::size_t kMostEvents = 2'000'000;
  static constexpr double kLeastLaunched = 0.9;
  static constexpr double kMostError = 0.01;
  static constexpr double kMostUnexplained = 0.1;
  static constexpr std::int64_t kTinyNs = 5'000;  // shorter kernels are tiny

  // Null where it cannot be replayed.
  [[nodiscard]] static Result<std::unique_ptr<LaunchReplay>> build(const QueryContext& query,
                                                                   const Dependencies& dependencies,
                                                                   const LaunchedDevice& device);

  // At least 0; nothing where it cannot be said.
  [[nodiscard]] std::optional<std::int64_t> saving_ns(HostDelay without) const;

 private:
  static constexpr std::uint32_t kNoPlace = UINT32_MAX;
  struct Work {
    EventId event = kNoEvent;
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t stream = 0;
    std::uint32_t call = kNoPlace;    // of calls_; kNoPlace: not known
    std::uint32_t before = kNoPlace;  // on its stream
    std::uint32_t other = kNoPlace;   // on another stream, that it came right after
    std::int64_t latency_ns = 0, pause_ns = 0, other_ns = 0;
    std::int64_t delay_ns = 0;  // that nothing explains
    bool tiny = false;
  };
  // What the host does up to a point: a launch returns, or a wait ends.
  struct Call {
    EventId event = kNoEvent;
    std::int64_t begin_ns = 0, end_ns = 0;    // begin: of a wait
    std::int64_t own_ns = 0, loading_ns = 0;  // before it
    std::uint32_t awaited = kNoPlace;         // of work_, by a wait
    std::uint32_t first_work = 0, last_work = 0;
    bool waits = false;  // if it starts anything, then when it begins
    bool tiny = false;   // all that it starts is
    [[nodiscard]] std::int64_t launch_ns() const noexcept { return waits ? begin_ns : end_ns; }
  };

  [[nodiscard]] Result<void> read(const QueryContext& query, const Dependencies& dependencies,
                                  const LaunchedDevice& device);
  [[nodiscard]] Result<void> read_work(const QueryContext& query, const LaunchedDevice& device);
  [[nodiscard]] bool place_calls(const LaunchedDevice& device);
  void find_awaited();
  void explain();
  [[nodiscard]] std::int64_t total_ns(HostDelay without, bool keeps_delays = true) const;

  std::vector<Work> work_;  // in the order of the calls
  std::vector<Call> calls_;
  std::int64_t recorded_ns_ = 0;
};

}  // namespace accelscope
