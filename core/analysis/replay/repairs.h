// What of a session's work changes when one thing is mended, as changes of its graph. Each is made on all devices at
// once: they run one program. Of nothing to mend comes nothing.
#pragma once

#include <optional>
#include <vector>

#include "core/analysis/replay/changed_graph.h"
#include "core/analysis/replay/work_details.h"

namespace accelscope::analysis {

// What a mending rests on.
struct RepairedEvent {
  EventId event = kNoEvent;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t bytes = 0;
  StringId line = 0;
  std::uint32_t device = 0;  // as TrackDevices counts them
};
struct Repaired {
  std::vector<RepairedEvent> events;  // in order: the line that they cost most is that of the mending
  std::uint64_t bytes = 0;            // that need not be moved
};

class Repairs {
 public:
  Repairs(const WorkGraph& graph, const WorkDetails& details);

  // Loads of a tensor beyond `size` bytes without a pause of the device never were, and none waits for a buffer.
  [[nodiscard]] std::optional<Repaired> keep_tensor(StringId name, std::int64_t size, ChangedGraph& changed) const;
  [[nodiscard]] std::optional<Repaired> drop_spills(ChangedGraph& changed) const;
  // So many transfers of small packets (kSmallPacketBytes), one after another of one queue, tensor and line, are one:
  // what sets the others off, and its wait, are gone, and each packet of the first carries what theirs on its DMA
  // engine did. A further byte takes what it takes in larger packets of the session, where there are none what the
  // vendor states. `only`: of this tensor; kNone: of any.
  [[nodiscard]] std::optional<Repaired> merge_transfers(StringId only, std::size_t most, ChangedGraph& changed) const;
  // How many small transfers make one of packets of `good` bytes; at least 2.
  [[nodiscard]] std::size_t transfers_of(double good) const;
  // Neighbouring multiplications of a line that fill less than half of what one can move are one.
  [[nodiscard]] std::optional<Repaired> widen_tiles(ChangedGraph& changed) const;
  [[nodiscard]] double columns_of(EventId multiplication) const;
  // Engines may work in all cycles.
  [[nodiscard]] std::optional<Repaired> lift_limits(ChangedGraph& changed) const;
  [[nodiscard]] std::optional<Repaired> drop_transposes(ChangedGraph& changed) const;
  // What waits until a buffer comes free, a reason each: the line that waits and what it waits for; those of most
  // events first.
  struct BufferWait {
    StringId line = 0, name = 0;  // of what waits: a load's tensor
    StringId releaser = 0;        // the name of what it waits for
    bool loads = false;           // a transfer waits, else an engine
    struct OfDevice {
      std::uint32_t device = 0;
      std::vector<std::uint32_t> edges;  // of the graph
      std::vector<NodeIndex> waiting;    // the target of each; of a load its trigger
      std::size_t buffers = 0;
      std::vector<std::uint32_t> transfers;  // of the tensor and line, in order
    };
    std::vector<OfDevice> devices;
    Repaired repaired;
  };
  [[nodiscard]] std::vector<BufferWait> buffer_waits() const;
  // It has twice as many buffers.
  [[nodiscard]] std::optional<Repaired> double_buffers(const BufferWait& wait, ChangedGraph& changed) const;
  // Collectives begin when their data are there, whenever they were asked for.
  struct LateCollective {
    StringId line = 0, name = 0;
    std::vector<NodeIndex> triggers;
    Repaired repaired;
  };
  [[nodiscard]] std::vector<LateCollective> late_collectives() const;
  [[nodiscard]] std::optional<Repaired> ask_early(const LateCollective& late, ChangedGraph& changed) const;

 private:
  template <typename Body>
  void each_trigger(const WholeTransfer& transfer, Body&& body) const;
  [[nodiscard]] bool held(NodeIndex node) const noexcept { return details_.holds(graph_, node); }
  [[nodiscard]] NodeIndex wait_before(NodeIndex node) const noexcept;
  [[nodiscard]] StringId line_of(NodeIndex node) const noexcept {
    return graph_.locations.empty() ? StringId{0} : graph_.locations[node];
  }
  void add(Repaired& repaired, NodeIndex node) const;
  void add(Repaired& repaired, const WholeTransfer& transfer) const;
  [[nodiscard]] static bool is_gone(const WholeTransfer& transfer, const ChangedGraph& changed);
  void take_out_wait(NodeIndex node, ChangedGraph& changed, ChangedGraph::Gone how = ChangedGraph::kGone) const;
  void take_out(const WholeTransfer& transfer, ChangedGraph::Gone how, ChangedGraph& changed) const;
  void move_forward(const BufferWait::OfDevice& of, std::size_t ring, ChangedGraph& changed) const;
  [[nodiscard]] double ns_of_a_byte() const;

  const WorkGraph& graph_;
  const WorkDetails& details_;
  const Vendor& words_;
  StringId multiply_, weights_, copy_;
};

}  // namespace accelscope::analysis
