// What mending a thing needs to know of the events of a work graph beside their times: which transfers they are parts
// of, where these read and write, what engines compute, and what of on-chip memory instructions read and write. Read
// once, on the pool; of a vendor that tells nothing of it, nothing is known.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/analysis/critical_path/work_graph.h"
#include "core/analysis/vendors/vendor.h"

namespace accelscope::analysis {

// A limit below one, of the share of cycles in which engines may work.
struct DeviceLimit {
  std::int64_t begin_ns = 0, end_ns = 0;
  double limit = 1;
  bool warms_up = false;  // until the engine has been busy for a while; else it is a cap
};

// By time, where several hold the lowest alone.
[[nodiscard]] std::vector<DeviceLimit> lowest_limits(const std::vector<DeviceLimit>& limits);

// A transfer as its program knows it: one event, or the packets that it was done in.
struct WholeTransfer {
  std::vector<NodeIndex> nodes;  // in the graph's order
  EventId event = kNoEvent;
  std::int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0, line = 0;
  TrackNumber queue = 0;
  std::uint32_t device = 0;   // as TrackDevices counts them
  std::uint32_t stretch = 0;  // its device had stood idle so often before
  std::uint32_t packets = 0;  // with a payload
  std::int64_t bytes = 0;     // of these
  double packets_ns = 0;
  NodeIndex trigger = kNoNode;  // what set it off, where it was matched with that
  bool into_chip = false, from_spill = false, to_spill = false;
  bool is_round_trip = false;  // a spill that no source calls one: what was written to device memory is read back
  [[nodiscard]] double packet_bytes() const noexcept { return packets > 0 ? static_cast<double>(bytes) / packets : 0; }
};

struct WorkDetails {
  struct Address {
    NodeIndex node = kNoNode;
    std::uint64_t address = 0;
    bool written = false;
  };
  static constexpr std::size_t kMostLimits = 100'000;
  const Vendor* words = nullptr;  // of the engines' maker
  TimeRange range;
  std::vector<float> flops;                // by node; empty: none is known
  std::vector<std::uint8_t> transposes;    // by node; empty: none does
  std::vector<std::int64_t> bytes;         // by node, of transfers
  std::vector<WholeTransfer> transfers;    // in the graph's order
  std::vector<std::uint32_t> transfer_of;  // by node, into transfers; kNone: it is no part of any
  std::vector<NodeIndex> only_target;  // by node: what alone waits for it, of a transfer its first part; else kNoNode
  std::vector<Address> addresses;      // by node
  std::vector<std::uint32_t> devices;  // by lane of the graph, as TrackDevices counts them
  std::vector<std::pair<std::uint32_t, DeviceLimit>> limits;  // by device and time; the first kMostLimits

  // Of the events that lie wholly inside of the range. Addresses only where they are wanted: they are texts.
  [[nodiscard]] static Result<WorkDetails> read(const QueryContext& query, const WorkGraph& graph,
                                                const TimeRange& range, bool wants_addresses);

  [[nodiscard]] bool holds(const WorkGraph& graph, NodeIndex node) const noexcept {
    return graph.begin_ns[node] >= range.begin_ns && graph.end_ns[node] <= range.end_ns;
  }
  // An instruction that only sets off this transfer or collective.
  [[nodiscard]] bool is_trigger(const WorkGraph& graph, NodeIndex node, NodeIndex target) const noexcept {
    return only_target[node] == target && graph.lane(node).kind == WorkKind::compute && graph.waits[node] == 0;
  }
  // What the node writes over what the source had to read first: with more buffers it need not wait for it.
  [[nodiscard]] bool reuses_buffer(NodeIndex source, NodeIndex node) const noexcept;
  [[nodiscard]] std::uint64_t written_address(NodeIndex node) const noexcept;  // 0: none is known
};

}  // namespace accelscope::analysis
