// What of a session's work changes when one thing is mended, as changes of its replay. Each is made on all devices at
// once: they run one program. Of nothing to mend comes nothing.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/analysis/replay/work_replay.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope {

// A limit below one, of the share of cycles in which engines may work.
struct DeviceLimit {
  std::int64_t begin_ns = 0, end_ns = 0;
  double limit = 1;
};

struct Mending {
  ReplayChange change;
  std::vector<std::uint32_t> nodes;  // that it rests on, in order: the line that they cost most is the finding's
  std::uint64_t bytes = 0;           // that need not be moved
};

class Mendings {
 public:
  Mendings(const WorkReplay& replay, const Snapshot& snapshot);

  // Loads of a tensor beyond `size` bytes without a pause of the device never were, and none waits for a buffer.
  [[nodiscard]] std::optional<Mending> keep_tensor(StringId name, std::uint64_t size) const;
  [[nodiscard]] std::optional<Mending> drop_spills() const;
  // Transfers one after another whose packets are below `least` bytes are one of packets of `good` bytes.
  [[nodiscard]] std::optional<Mending> merge_transfers(double least, double good) const;
  // Neighbouring multiplications of a line that fill less than half of what one can move are one.
  [[nodiscard]] std::optional<Mending> widen_tiles() const;
  struct Throttled {
    std::uint32_t device = 0;
    std::span<const DeviceLimit> limits;
  };
  [[nodiscard]] std::optional<Mending> lift_limits(const std::vector<Throttled>& throttled) const;
  [[nodiscard]] std::optional<Mending> drop_transposes() const;
  // What waits until a buffer comes free has twice as many, a reason each: the line that waits and what it waits for.
  struct BufferWait {
    StringId line = 0, name = 0;  // of what waits: a load's tensor
    StringId releaser = 0;        // the name of what it waits for
    bool loads = false;           // a transfer waits, else an engine
    Mending mending;
  };
  [[nodiscard]] std::vector<BufferWait> double_buffers() const;
  // Collectives begin when their data are there, whenever they were asked for; by name and line.
  [[nodiscard]] std::vector<Mending> early_collectives() const;

 private:
  [[nodiscard]] bool is_trigger(std::uint32_t node) const;
  void take_out(Mending& mending, std::uint32_t transfer, ReplayMode mode) const;
  void move_forward(Mending& mending, const std::vector<std::uint32_t>& loads, std::size_t ring) const;
  void take_out_wait(Mending& mending, std::uint32_t node) const;

  const WorkReplay& replay_;
  const std::vector<ReplayNode>& nodes_;
  const Vendor& words_;
  StringId multiply_, weights_, copy_;
  std::vector<std::uint32_t> uses_;       // by node: edges that come from it
  std::vector<std::uint32_t> triggered_;  // by node: the transfer or collective that it alone sets off
};

}  // namespace accelscope
