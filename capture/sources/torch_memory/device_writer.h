// Writes what one device's allocator did: blocks, segments, totals, failures. The rows of a device stand together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/base/import_report.h"
#include "capture/sources/torch_memory/schemas.h"
#include "capture/sources/torch_memory/snapshot_file.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::torch_memory {

// What the allocator held at every moment of a trace. The trace is a ring that has lost its begin, and the segments are
// the state at its end: so the state at the begin is found by undoing every entry, from the last to the first, and then
// the entries are done again, one by one. Whatever is alive at the end has the size that the file says; other blocks
// get the one that the allocator's own rules give them, which depends on what lies behind them at that moment. A
// further snapshot whose trace goes on where the one before ended needs no undoing.

struct AllocatorTotals {
  std::uint64_t allocated = 0;  // blocks in use
  std::uint64_t active = 0;     // and those that were freed, but may still be used by another stream
  std::uint64_t requested = 0;  // of the active ones, what was asked for
  std::uint64_t reserved = 0;   // segments
  bool operator==(const AllocatorTotals&) const = default;
};

struct LiveBlock {
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  std::uint64_t stream = 0;
  PickleValue frames;  // of its allocation
  bool pending = false;
  bool estimated = false;    // its size
  bool from_before = false;  // it is older than the trace
  std::uint32_t name = 0;    // of whoever asked for it, for the caller's use
};

// A stretch of addresses that the allocator has from the driver: a segment, or mapped pieces of an expandable one that
// touch each other.
struct HeldRun {
  std::uint64_t end = 0;
  std::uint64_t stream = 0;
  bool small = false;
  bool expandable = false;
};

struct ReplayCounts {
  std::uint64_t contradictions = 0;   // entries that do not go with the others or the segments
  std::uint64_t vanished = 0;         // allocations whose end is not in the trace, and that the segments do not have
  std::uint64_t estimated_sizes = 0;  // of blocks from before the trace that do not live to its end
  std::uint64_t sizes_not_as_computed = 0;  // of those at the end: a check of the rules
  std::uint64_t sizes_as_computed = 0;
};

class AllocatorReplay {
 public:
  using Blocks = std::map<std::uint64_t, LiveBlock>;
  using Runs = std::map<std::uint64_t, HeldRun>;

  AllocatorReplay(const TorchDevice& device, const BlockSizes& sizes);

  // From the last entry to the first; `entry` as its place in the trace.
  void undo(std::size_t entry, const TraceEntry& what);
  // Once all are undone: the state is that of the begin. `older`: what an earlier snapshot knows of it.
  void begin(const Blocks& older);
  // The trace of another snapshot goes on from here.
  void go_on(const TorchDevice& device, const BlockSizes& sizes);
  // Then, from the last entry to the first: which of them made what is there at the end.
  void look(std::size_t entry, const TraceEntry& what);
  [[nodiscard]] const Blocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const Runs& runs() const noexcept { return runs_; }
  [[nodiscard]] const AllocatorTotals& totals() const noexcept { return totals_; }
  [[nodiscard]] const ReplayCounts& counts() const noexcept { return counts_; }

  struct Done {
    std::optional<LiveBlock> block;        // that was allocated, asked to be freed or freed
    bool released = false;                 // the block is gone
    std::optional<std::uint64_t> segment;  // where the block's segment begins
    std::optional<LiveBlock> replaced;     // lay at the address, though nobody had freed it
  };
  // From the first to the last.
  [[nodiscard]] Done redo(std::size_t entry, const TraceEntry& what);
  [[nodiscard]] LiveBlock* find(std::uint64_t address);
  void forget(std::uint64_t address);  // what is gone without an entry

  [[nodiscard]] std::optional<std::uint64_t> segment_at(std::uint64_t address) const;  // where it begins
  void add(const ReplayCounts& counts);                                                // of the replay before this one

  // Blocks at the end that are not in the segments, by address.
  [[nodiscard]] std::vector<std::uint64_t> vanished() const;

 private:
  void add_block(std::uint64_t address, const LiveBlock& block);
  [[nodiscard]] LiveBlock remove_block(Blocks::iterator place);
  void add_run(std::uint64_t begin, const HeldRun& run);
  [[nodiscard]] bool remove_run(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] Runs::const_iterator run_at(std::uint64_t address) const;
  [[nodiscard]] HeldRun run_of(const TraceEntry& what) const;
  [[nodiscard]] std::uint64_t size_at(std::uint64_t address, std::uint64_t requested) const;

  const TorchDevice* device_;
  const BlockSizes* sizes_;
  Blocks blocks_;
  Runs runs_;
  std::map<std::uint64_t, const TorchBlock*> final_;            // blocks at the end, by address
  std::unordered_map<std::size_t, std::uint64_t> final_sizes_;  // by the entry that allocated them
  std::unordered_map<std::size_t, bool> completes_;  // requests to free without a completion: they end the block
  std::map<std::uint64_t, bool> lives_on_;           // while undoing: the block at the address is that of the end
  AllocatorTotals totals_;
  ReplayCounts counts_;
};

struct TorchTables {
  SchemaNumber blocks = kNone, segments = kNone, failures = kNone, moments = kNone, totals = kNone;
};

// A snapshot that has been read, with what its devices need of it.
struct OpenSnapshot {
  OpenSnapshot(SnapshotFile opened, SessionWriter& writer)
      : file(std::move(opened)), sizes(file.data(), file.settings()), names(file.data(), writer) {}
  SnapshotFile file;
  BlockSizes sizes;
  StackNames names;
};

class DeviceWriter {
 public:
  DeviceWriter(std::int64_t device, SessionWriter& writer, ImportReport& report)
      : device_(device), writer_(writer), report_(report) {}

  // Goes on to a snapshot, which outlives the next call. Looks at its times, where it has any. Those beyond the bounds
  // of all devices' are taken for none.
  void look(OpenSnapshot& snapshot, tracks::TimeExtremes& extremes);
  [[nodiscard]] const tracks::TimeSketch& sketch() const noexcept { return sketch_; }
  void set_bounds(const tracks::TimeBounds& bounds) noexcept { bounds_ = bounds; }
  // Those that are not there yet.
  void add_tracks(const TorchTables& tables, ClockNumber clock, std::int64_t& order);
  // The entries of the snapshot's trace. `begin_ns`: what is older, and not known from the snapshot before, lies there.
  void write(std::int64_t begin_ns, const std::function<void(std::uint64_t entries)>& progress);
  // The state that the last snapshot states, and the moment of it.
  void write_end(std::int64_t end_ns);
  [[nodiscard]] std::uint64_t entries_listed() const noexcept { return of_->entries.size(); }  // of the snapshot

 private:
  static constexpr std::size_t kTotals = 6;

  void undo_all(const AllocatorReplay::Blocks& older);
  void go_on();
  void write_begin();
  void write_older_block(std::uint64_t address, LiveBlock& block, std::string_view action);
  void write_changes(const AllocatorReplay::Blocks& older);
  void write_entry(std::size_t number, const TraceEntry& entry);
  void write_block(std::size_t number, const TraceEntry& entry);
  void write_segment(std::size_t number, const TraceEntry& entry);
  void write_failure(std::size_t number, const TraceEntry& entry);
  void write_moment(std::string_view name, std::int64_t entry);
  void write_totals();
  void check_end();
  void release(std::uint64_t address, const LiveBlock& block, std::string_view why);
  void held(std::uint64_t begin, std::uint64_t end, std::string_view action, const HeldRun& run);
  [[nodiscard]] Row begin_segment_row(std::uint64_t address, std::int64_t bytes, std::string_view action);
  void set_stack(Row& row, PickleValue frames, std::size_t stack, std::size_t source);
  void set_text(Row& row, std::size_t column, PickleValue value);
  [[nodiscard]] std::int64_t time_of(std::size_t number, const TraceEntry& entry);
  [[nodiscard]] std::int64_t entry_number(std::size_t place) const noexcept {
    return static_cast<std::int64_t>(entries_before_ + place);
  }

  std::int64_t device_;
  SessionWriter& writer_;
  ImportReport& report_;
  OpenSnapshot* snapshot_ = nullptr;
  const TorchDevice* of_ = nullptr;
  std::optional<AllocatorReplay> replay_;
  TrackNumber blocks_ = kNone, segments_ = kNone, failures_ = kNone, moments_ = kNone;
  std::array<TrackNumber, kTotals> totals_ = {};
  std::array<std::int64_t, kTotals> last_totals_ = {};
  bool any_totals_ = false;
  std::map<std::uint64_t, std::uint64_t> pieces_;  // of segments as they were written: begins and ends
  std::int64_t now_ = 0;
  std::int64_t trace_ns_ = 0;  // the latest time of the snapshot's trace: two snapshots differ by some us
  bool times_known_ = false;
  tracks::TimeSketch sketch_;
  tracks::TimeBounds bounds_;
  std::int64_t begin_ = 0;
  std::uint64_t entries_before_ = 0;  // in the snapshots before
  std::uint64_t late_times_ = 0, doubtful_times_ = 0, missing_times_ = 0, unknown_actions_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t peak_allocated_ = 0, peak_reserved_ = 0;
};

}  // namespace accelscope::capture::sources::torch_memory
