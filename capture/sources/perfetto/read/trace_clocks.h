// From the clocks of packets to the time of the trace, by snapshots that tell what several clocks said at one moment.
// Between two snapshots a clock runs as the earlier one has it, as Perfetto does it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace accelscope::capture::sources::perfetto {

// Clocks of the format that are known by their number.
enum KnownClock : std::uint64_t { kRealtime = 1, kMonotonic = 3, kBoottime = 6, kTraceFile = 11 };
[[nodiscard]] constexpr bool is_clock_of_sequence(std::uint64_t clock) noexcept { return clock >= 64 && clock < 128; }
// Clocks of 64 to 127 are of one sequence each.
[[nodiscard]] constexpr std::uint64_t clock_key(std::uint64_t clock, std::uint32_t sequence) noexcept {
  return is_clock_of_sequence(clock) ? std::uint64_t{sequence} << 32 | clock : clock;
}

class TraceClocks {
 public:
  // The packet's message ClockSnapshot.
  void add_snapshot(std::string_view message, std::uint32_t sequence);

  // A time that a packet of the sequence gives in a clock, in ns of that clock: unit and deltas are taken in, which
  // moves an incremental clock on.
  [[nodiscard]] std::int64_t take(std::uint64_t key, std::uint64_t timestamp);
  // In the trace's time. Nothing if no snapshot leads there yet.
  [[nodiscard]] std::optional<std::int64_t> to_trace(std::uint64_t key, std::int64_t ns);
  [[nodiscard]] std::uint64_t trace_clock() const noexcept { return trace_clock_; }
  // The clock that times are in while no snapshot says otherwise.
  void set_trace_clock(std::uint64_t key) noexcept;
  [[nodiscard]] bool any_snapshot() const noexcept { return snapshots_ > 0; }
  // What time of day it was at the trace's tick 0, in ns since 1970.
  [[nodiscard]] std::optional<std::int64_t> unix_at_zero() const;

 private:
  struct Reading {
    std::uint32_t snapshot = 0;
    std::int64_t ns = 0;
  };
  struct Cached {
    std::int64_t first = 0;  // the stretch in which the offset holds
    std::int64_t last = 0;
    std::int64_t offset = 0;
    std::uint32_t epoch = 0;  // 0: holds nothing
  };
  struct ClockState {
    std::vector<Reading> readings;  // by snapshot
    Cached to_trace;
    bool rising = true;  // by time too
    std::int64_t unit = 1;
    std::int64_t last = 0;  // of an incremental one
    bool incremental = false;
  };
  // The offset of one clock to another at a time of the former.
  [[nodiscard]] std::int64_t step(const ClockState& from, const ClockState& to, std::int64_t ns, Cached& stretch) const;
  [[nodiscard]] std::vector<std::uint64_t> way(std::uint64_t from) const;

  std::unordered_map<std::uint64_t, ClockState> clocks_;
  std::map<std::uint64_t, std::set<std::uint64_t>> beside_;  // clocks of one snapshot
  std::uint64_t trace_clock_ = kBoottime;
  bool trace_clock_said_ = false;
  std::uint32_t snapshots_ = 0;
  std::uint32_t epoch_ = 1;  // changes whenever offsets may
};

}  // namespace accelscope::capture::sources::perfetto
