// Writes what one device's allocator did: blocks, segments, totals, failures. The rows of a device stand together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "capture/sources/base/import_report.h"
#include "capture/sources/torch_memory/allocator_replay.h"
#include "capture/sources/torch_memory/snapshot_file.h"
#include "capture/sources/torch_memory/stack_names.h"
#include "capture/sources/tracks/doubtful_times.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::torch_memory {

struct TorchTables {
  SchemaNumber blocks = kNone, segments = kNone, failures = kNone, moments = kNone, totals = kNone;
};

class DeviceWriter {
 public:
  struct Times {
    std::int64_t begin = 0;  // of the trace, in ns: what is older lies there
    std::int64_t end = 0;    // when the snapshot was taken
    bool known = false;      // entries say when they happened
  };
  DeviceWriter(SnapshotFile& file, std::int64_t device, const BlockSizes& sizes, SessionWriter& writer,
               StackNames& names, ImportReport& report);

  // Looks at its times, where it has any. Those beyond the bounds of all devices' are taken for none.
  void look(tracks::TimeExtremes& extremes);
  [[nodiscard]] const tracks::TimeSketch& sketch() const noexcept { return sketch_; }
  void set_bounds(const tracks::TimeBounds& bounds) noexcept { bounds_ = bounds; }
  void add_tracks(const TorchTables& tables, ClockNumber clock, std::int64_t& order);
  void write(const Times& times, const std::function<void(std::uint64_t entries)>& progress);
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t entries_read() const noexcept { return entries_read_; }

 private:
  static constexpr std::size_t kTotals = 6;

  void undo_all();
  void write_begin();
  void write_entry(std::size_t number, const TraceEntry& entry);
  void write_block(std::size_t number, const TraceEntry& entry);
  void write_segment(std::size_t number, const TraceEntry& entry);
  void write_failure(std::size_t number, const TraceEntry& entry);
  void write_moment(std::string_view name, std::int64_t entry);
  void write_totals();
  void write_end(const Times& times);
  void check_end();
  void release(std::uint64_t address, const LiveBlock& block, std::string_view why);
  void held(std::uint64_t begin, std::uint64_t end, std::string_view action, const HeldRun& run);
  [[nodiscard]] Row begin_segment_row(std::uint64_t address, std::int64_t bytes, std::string_view action);
  void set_stack(Row& row, PickleValue frames, std::size_t stack, std::size_t source);
  void set_text(Row& row, std::size_t column, PickleValue value);
  [[nodiscard]] std::int64_t time_of(std::size_t number, const TraceEntry& entry);

  SnapshotFile& file_;
  std::int64_t device_;
  const TorchDevice& of_;
  SessionWriter& writer_;
  StackNames& names_;
  ImportReport& report_;
  AllocatorReplay replay_;
  TrackNumber blocks_ = kNone, segments_ = kNone, failures_ = kNone, moments_ = kNone;
  std::array<TrackNumber, kTotals> totals_ = {};
  std::array<std::int64_t, kTotals> last_totals_ = {};
  bool any_totals_ = false;
  std::map<std::uint64_t, std::uint64_t> pieces_;  // of segments as they were written: begins and ends
  std::int64_t now_ = 0;
  bool times_known_ = false;
  tracks::TimeSketch sketch_;
  tracks::TimeBounds bounds_;
  std::int64_t begin_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t entries_read_ = 0, late_times_ = 0, doubtful_times_ = 0, missing_times_ = 0, unknown_actions_ = 0;
  std::uint64_t peak_allocated_ = 0, peak_reserved_ = 0;
};

}  // namespace accelscope::capture::sources::torch_memory
