// Where the cycles of a device lie on the host's time, from operations that tell both.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/clock.h"

namespace accelscope::capture::sources::tt_ops {

class DeviceTime {
 public:
  // Of an operation, in cycles and ns; anything but the begin may be unknown.
  void add(std::int64_t first_cycle, std::optional<std::int64_t> last_cycle, std::optional<double> duration_ns,
           std::optional<std::int64_t> host_begin_ns);

  // Cycles per ns: the median over the operations, to a whole MHz where it is within a thousandth of one. Nothing: no
  // operation tells cycles and ns.
  [[nodiscard]] std::optional<double> ticks_per_ns() const;
  // The host's times of cycles, rising in both; empty: no operation tells both times. One anchor where a clock of that
  // rate fits all operations: the earliest for which none begins before its host's. Clocks that rest while nothing runs
  // fall behind by more than kMostSlack over the capture: theirs make up for it between operations, each of which then
  // begins as early as its host and the operations before it allow.
  [[nodiscard]] std::vector<ClockAnchor> anchors(double ticks_per_ns) const;
  [[nodiscard]] std::int64_t first_cycle() const noexcept { return first_cycle_; }

 private:
  static constexpr std::int64_t kMostSlack = 1'000'000;  // ns
  struct Operation {
    std::int64_t first_cycle = 0;
    std::int64_t last_cycle = 0;
    std::optional<std::int64_t> host_ns;
  };
  [[nodiscard]] std::vector<ClockAnchor> following_anchors(double ticks_per_ns) const;

  std::vector<Operation> operations_;
  std::vector<double> rates_;
  std::int64_t first_cycle_ = INT64_MAX;
};

}  // namespace accelscope::capture::sources::tt_ops
