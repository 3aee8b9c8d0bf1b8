// The work of engines, DMA queues and collectives as a graph that can be run again with a change: how long the session
// would then take. For savings that are computed, not bounded.
//
//   const auto replay = WorkReplay::build(query, *dependencies, range);
//   if (*replay) {
//     ReplayChange change = (*replay)->no_change();
//     change.modes[node] = ReplayMode::removed;
//     const std::int64_t saved = (*replay)->total_ns() - (*replay)->total_ns(change);
//   }
//
// An event begins when the one before it on its track and all that the session's dependencies name have ended, and a
// latency after each: the least that the session shows between the two tracks. What an event began later than that is
// kept as it was. A wait ends when what follows it may begin; the parts of a transfer are done by their DMA engines in
// the order in which they began, those of a collective begin together. Where a device stood idle, what follows comes
// after all that was before.
//
// Nothing comes of a session that holds too many events, whose replay without a change is more than kMostError off, or
// of whose time the dependencies explain less than kLeastExplained: as much as would pass if no event were late.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/time/track_devices.h"
#include "core/model/time_range.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {

enum class ReplayKind : std::uint8_t { work, wait, transfer, collective };
enum class ReplayMode : std::uint8_t {
  kept,
  removed,   // it never was: nothing waits for it
  bypassed,  // what waited for it waits for what it waited for
};

struct ReplayNode {
  EventId event = kNoEvent;
  std::int64_t begin_ns = 0, end_ns = 0;
  StringId name = 0, line = 0;
  std::uint32_t track = 0;   // index of the snapshot's tracks
  std::uint32_t device = 0;  // as TrackDevices counts them
  ReplayKind kind = ReplayKind::work;
  bool into_chip = false, from_spill = false, to_spill = false;  // of a transfer
  bool transposes = false;
  bool counts = false;  // it is work of an engine or a collective: the session lasts until the last of these
  double flops = 0;
  std::uint64_t bytes = 0;                       // of a transfer
  std::uint32_t packets = 0;                     // of a transfer, with a payload; 0: not known
  std::uint32_t first_part = 0, part_count = 0;  // of a transfer: what each DMA engine did of it
  std::uint32_t first_edge = 0, edge_count = 0;
  std::uint32_t before = 0;    // on its track, of transfers without parts the device's; kNoReplayNode: it is the first
  std::uint32_t begun_by = 0;  // its own engine's event that had to begin before; kNoReplayNode: none
  std::uint32_t idle_before = 0;  // the device stood idle before it for the n-th time; 0: never
  std::int64_t delay_ns = 0;      // that nothing explains
  std::int64_t tail_ns = 0;       // of a transfer: from the end of its last part to its own
  [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - begin_ns; }
};
inline constexpr std::uint32_t kNoReplayNode = std::numeric_limits<std::uint32_t>::max();

struct ReplayEdge {
  std::uint32_t source = kNoReplayNode;
  std::int64_t latency_ns = 0;
};

// What a DMA engine did of a transfer.
struct ReplayShare {
  std::uint32_t server = 0;  // counted over all devices
  std::int64_t begin_ns = 0, length_ns = 0;
  std::int64_t delay_ns = 0;  // that neither the engine nor the transfer explains
};

struct ReplayChange {
  std::vector<ReplayMode> modes;  // by node
  // By node; of a wait the least. A transfer's parts are all longer or shorter by what it differs from no change.
  std::vector<std::int64_t> lengths_ns;
  std::vector<std::uint32_t> sources;                       // by edge; kNoReplayNode: it does not hold
  std::unordered_map<std::uint32_t, std::uint32_t> places;  // nodes that come directly after others in the program
};

class WorkReplay {
 public:
  static constexpr std::size_t kMostNodes = 4'000'000;
  static constexpr double kMostError = 0.01;
  static constexpr double kLeastExplained = 0.9;

  // Null where it cannot be replayed.
  [[nodiscard]] static Result<std::unique_ptr<WorkReplay>> build(const QueryContext& query,
                                                                 const Dependencies& dependencies,
                                                                 const TimeRange& range);

  [[nodiscard]] const std::vector<ReplayNode>& nodes() const noexcept { return nodes_; }  // in an order that holds
  [[nodiscard]] const std::vector<ReplayEdge>& edges() const noexcept { return edges_; }
  // What the DMA engines did of a transfer; empty where that is not known.
  [[nodiscard]] std::span<const ReplayShare> shares(const ReplayNode& node) const noexcept {
    return {shares_.data() + node.first_part, node.part_count};
  }
  // The wait directly before a node on its track, that its edges explain; kNoReplayNode: none.
  [[nodiscard]] std::uint32_t wait_of(std::uint32_t node) const noexcept;
  [[nodiscard]] bool replays(std::uint32_t device) const noexcept;
  // What the node writes over what the source had to read first: with more buffers it need not wait for it.
  [[nodiscard]] bool reuses_buffer(std::uint32_t source, std::uint32_t node) const noexcept;
  [[nodiscard]] std::uint64_t written_address(std::uint32_t node) const noexcept;  // 0: none is known
  [[nodiscard]] ReplayChange no_change() const;
  [[nodiscard]] std::int64_t total_ns() const noexcept { return total_ns_; }
  [[nodiscard]] std::int64_t total_ns(const ReplayChange& change) const { return run(change); }

 private:
  struct Address {
    std::uint32_t node;
    std::uint64_t address;
    bool written;
  };
  friend class ReplayBuilder;
  [[nodiscard]] std::int64_t run(const ReplayChange& change) const;
  // Without delays, but for those of idle devices.
  [[nodiscard]] std::int64_t explained_ns();
  [[nodiscard]] std::vector<std::uint32_t> order_of(const ReplayChange& change) const;
  [[nodiscard]] std::pair<const Address*, const Address*> addresses_of(std::uint32_t node) const noexcept;

  std::vector<ReplayNode> nodes_;
  std::vector<ReplayEdge> edges_;
  std::vector<ReplayShare> shares_;
  std::uint32_t servers_ = 0;
  std::vector<Address> addresses_;       // by node
  std::vector<std::uint32_t> meetings_;  // by node of a collective: the first of its group; else itself
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> parts_of_;  // by the first of a group
  std::vector<std::int64_t> track_latency_ns_;                              // by track
  std::vector<std::uint32_t> devices_;
  std::vector<std::int64_t> base_lengths_;  // by node: of a wait that an event explains the least
  std::vector<bool> shortened_;             // by node: such a wait
  std::int64_t begin_ns_ = 0, total_ns_ = 0;
};

}  // namespace accelscope
