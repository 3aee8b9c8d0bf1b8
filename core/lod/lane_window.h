// Decoded stretches of lanes for the UI thread, which neither reads chunks nor waits: it asks for a window, draws
// the coarser tree while there is none, and finds it some frames later, filled by a worker.
//
//   LaneWindows windows(pool);                    // one per session; calls from the UI thread, but for held lanes
//   windows.begin_frame(store, snapshot);         // takes what the workers have finished
//   LaneDetail detail = windows.lane(lane);
//   detail.find(leaf, WindowDetail::events);      // null: not there yet, and asked for now
//   windows.end_frame();                          // what was missed; older requests go unless they are asked again
//
// Whoever draws on another thread holds the lane: `held_lane()` may be asked there, at any time, and what it finds
// stays for as long as it is held.
//
// A window is 16 neighbouring leaves (up to 1,024 events) at one of two details. Memory is bounded: the windows
// that were not looked at for the longest time go first.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/base/worker_pool.h"
#include "core/chunk/chunk_view.h"
#include "core/model/time_range.h"
#include "core/scan/block_reader.h"
#include "core/store/snapshot.h"
#include "core/store/store.h"

namespace accelscope::lod {

inline constexpr std::uint32_t kWindowLeaves = 16;
inline constexpr std::uint32_t kMicroEvents = 8;  // events that one micro node sums up

enum class WindowDetail : std::uint8_t {
  micro,   // a node for every 8 events of a leaf
  events,  // every event
};

struct WindowEvent {
  std::int64_t begin_ticks = 0;
  std::int64_t end_ticks = 0;
  StringId name = 0;  // session-wide
  std::uint8_t slot = 0;
  bool waits = false;
};

// How much each event of a micro node counts in its mean colour: by duration, the largest 255; 0 for those that do not.
using MicroWeights = std::array<std::uint8_t, kMicroEvents>;

struct WindowSample {
  std::int64_t ticks = 0;
  double value = 0;
};

// Entry vectors hold the leaves one after another; those of leaf i begin at first_entry[i]. Which vector is
// filled follows from the lane's kind and the detail.
struct LaneWindow {
  WindowDetail detail = WindowDetail::micro;
  std::uint32_t first_leaf = 0;
  std::uint32_t leaf_count = 0;  // fewer than kWindowLeaves at the end of a lane that may still grow
  std::array<std::uint32_t, kWindowLeaves + 1> first_entry{};
  std::array<std::uint64_t, kWindowLeaves> first_ordinal{};
  std::vector<SliceNode> nodes;
  std::vector<MicroWeights> weights;  // beside nodes
  std::vector<CounterNode> counter_nodes;
  std::vector<WindowEvent> events;
  std::vector<WindowSample> samples;

  [[nodiscard]] std::size_t memory_bytes() const noexcept;
};

// Where a drawing function finds the windows of one lane.
class LaneDetail {
 public:
  LaneDetail() = default;
  LaneDetail(const LaneDetail&) = delete;
  LaneDetail& operator=(const LaneDetail&) = delete;
  virtual ~LaneDetail() = default;
  // The window that holds the leaf, or null. Asking is what makes it come.
  [[nodiscard]] virtual const LaneWindow* find(std::uint32_t leaf, WindowDetail detail) = 0;
  // The same without asking for it: something to draw meanwhile.
  [[nodiscard]] virtual const LaneWindow* ready(std::uint32_t leaf, WindowDetail detail) const = 0;
  // It cannot be read, and asking again does not help: what is drawn without it is all there is.
  [[nodiscard]] virtual bool lost(std::uint32_t /*leaf*/, WindowDetail /*detail*/) const { return false; }
};

class LaneWindows {
 public:
  static constexpr std::size_t kDefaultBudget = std::size_t{192} << 20;

  // The pool must outlive it. No more than so many of its threads read at a time.
  explicit LaneWindows(WorkerPool& pool, std::size_t memory_budget = kDefaultBudget, unsigned readers = 2);
  ~LaneWindows();
  LaneWindows(const LaneWindows&) = delete;
  LaneWindows& operator=(const LaneWindows&) = delete;

  void begin_frame(std::shared_ptr<const Store> store, std::shared_ptr<const Snapshot> snapshot);
  // A lane of this frame's snapshot. Valid until end_frame().
  [[nodiscard]] LaneDetail& lane(const LaneSnapshot& lane);
  [[nodiscard]] std::shared_ptr<LaneDetail> held_lane(const LaneSnapshot& lane);
  void end_frame();

  // Whether something that the last frame missed is still to come.
  [[nodiscard]] bool pending() const;
  void wait_until_settled() const;  // for screenshots and tests, never for a frame
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  [[nodiscard]] std::string last_error() const;  // of a chunk that could not be read; empty if none

 private:
  class Table;
  struct Readers;
  struct Gone;
  struct Source;
  void evict();
  void bury(std::unique_ptr<const LaneWindow> window);

  std::size_t memory_budget_;
  std::size_t memory_bytes_ = 0;
  std::uint64_t frame_ = 0;
  std::shared_ptr<const Source> source_;  // of this frame
  std::unordered_map<LaneNumber, std::shared_ptr<Table>> tables_;
  std::shared_ptr<Gone> gone_;  // what goes from now on
  WorkerPool& pool_;
  std::shared_ptr<Readers> readers_;  // those that read keep it
};

// What a lane holds in a stretch of time, from its tree and the windows that are decoded already: nothing is read, so
// a thread that draws may ask. The cost follows the tree's height.
struct LaneStretch {
  double events = 0;
  double busy_ns = 0;
  double wait_ns = 0;
  bool exact = true;  // false: leaves at its edges stand in part for events that are not decoded, spread evenly
  std::optional<StringId> name;  // that takes the most of its busy time, as far as the index tells
  std::optional<EventId> lone;   // its only event, where windows tell which one that is
};

// `detail` may be null. Counters hold nothing.
[[nodiscard]] LaneStretch lane_stretch(const LaneSnapshot& lane, const LaneDetail* detail, const TimeRange& range);

// Decodes one LaneWindow out of a lane's chunks. Used by the workers of LaneWindows; one decoder per thread, which
// keeps the last chunk, since neighbouring windows mostly lie in the same one.
class WindowDecoder {
 public:
  using ReadChunk = std::function<Result<Bytes>(const LaneSnapshot& lane, std::uint32_t chunk_index)>;

  explicit WindowDecoder(ReadChunk read_chunk) : read_chunk_(std::move(read_chunk)) {}

  // first_leaf is a multiple of kWindowLeaves and below the lane's number of leaves.
  [[nodiscard]] Result<LaneWindow> decode(const LaneSnapshot& lane, const StringPool& strings, std::uint32_t first_leaf,
                                          WindowDetail detail);

 private:
  struct Name {
    std::uint64_t local = ~std::uint64_t{0};
    StringId session = 0;
    std::uint8_t slot = 0;
    bool waits = false;
  };
  Result<void> load(const LaneSnapshot& lane, std::uint32_t chunk_index);
  void add_events(const LaneSnapshot& lane, const StringPool& strings, LaneWindow& window);
  void add_samples(const LaneSnapshot& lane, std::uint32_t leaf, LaneWindow& window);
  const Name& name(const LaneSnapshot& lane, const StringPool& strings, std::uint64_t local);

  ReadChunk read_chunk_;
  std::shared_ptr<const LaneData> loaded_lane_;  // kept, so that no other lane comes to lie where it lay
  std::uint32_t loaded_chunk_ = 0;
  Bytes bytes_;
  ChunkView view_;
  BlockReader reader_;           // of the chunk
  std::array<Name, 256> names_;  // direct-mapped; the pool takes a lock for every look-up
};

// The node that stands for one event; a run of events is summed up by merge().
[[nodiscard]] SliceNode event_node(const WindowEvent& event) noexcept;

}  // namespace accelscope::lod
