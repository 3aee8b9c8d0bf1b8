// A memory snapshot of PyTorch as its own words have it, whichever version wrote it. Reads what it is asked for out of
// the pickle's data and keeps nothing but the segments.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/sources/base/import_report.h"
#include "capture/sources/pickle/pickle_data.h"
#include "core/base/result.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::torch_memory {

using pickle::PickleData;
using pickle::PickleValue;

enum class BlockState : std::uint8_t { inactive, allocated, pending };  // pending: freed, but another stream may use it

struct TorchBlock {
  std::uint64_t address = 0;
  std::uint64_t size = 0;       // what the allocator took for it
  std::uint64_t requested = 0;  // what was asked for
  BlockState state = BlockState::inactive;
  PickleValue frames;
};

struct TorchSegment {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  std::uint64_t stated_allocated = 0, stated_active = 0;  // as the file has them
  bool small = false;
  bool expandable = false;
  std::string pool;  // "(0, 1)" of a private pool, such as a CUDA graph's; "" of the common one
  PickleValue frames;
  std::vector<TorchBlock> blocks;
};

enum class TraceAction : std::uint8_t {
  unknown,
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
};

struct TraceEntry {
  TraceAction action = TraceAction::unknown;
  std::uint64_t address = 0;  // of oom: what was free on the device
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  std::optional<std::int64_t> time_us;
  PickleValue name, frames, compile_context, user_metadata, category;
};

struct TorchAnnotation {
  bool begins = false;
  std::string name;
  std::int64_t device = 0;
  std::int64_t time_us = 0;
};

struct TorchDevice {
  std::vector<TorchSegment> segments;    // rising
  std::span<const PickleValue> entries;  // of its trace
};

class SnapshotFile {
 public:
  // `data` outlives it. Rows that are none are noted in the report. `most_rows`: how many the file has room for, for a
  // list may stand in many places: segments, blocks and entries beyond them are left out.
  [[nodiscard]] static Result<SnapshotFile> open(const PickleData& data, std::uint64_t most_rows, ImportReport& report);

  [[nodiscard]] const std::map<std::int64_t, TorchDevice>& devices() const noexcept { return devices_; }
  // Entries between the trace of the snapshot before and this one's are missing, as whoever took both says.
  [[nodiscard]] bool has_gap(std::int64_t device) const { return gaps_.contains(device); }
  [[nodiscard]] const std::vector<TorchAnnotation>& annotations() const noexcept { return annotations_; }
  [[nodiscard]] PickleValue settings() const noexcept { return settings_; }
  [[nodiscard]] const PickleData& data() const noexcept { return *data_; }

  // Nothing where it is no entry; `why` says so.
  [[nodiscard]] std::optional<TraceEntry> entry(PickleValue value, std::string_view& why);
  // Fields of entries that are not known here, and how often they were counted.
  void count_unknown(PickleValue entry);
  [[nodiscard]] const std::map<std::string, std::uint64_t, std::less<>>& unknown_fields() const noexcept {
    return unknown_fields_;
  }

 private:
  enum Field : std::size_t {
    kAction,
    kAddr,
    kSize,
    kStream,
    kTime,
    kFrames,
    kDeviceFree,
    kCompileContext,
    kUserMetadata,
    kCategory,
    kFieldCount
  };
  struct EntryShape {
    std::array<std::int32_t, kFieldCount> place = {};  // -1: it has none
    std::vector<std::string> unknown;
  };
  SnapshotFile(const PickleData& data, std::uint64_t most_rows) : data_(&data), rows_left_(most_rows) {}
  [[nodiscard]] bool take_row();
  void read_segment(PickleValue value, ImportReport& report);
  void read_blocks(PickleValue value, TorchSegment& segment, ImportReport& report);
  void read_annotations(PickleValue value, ImportReport& report);
  // Names the fields of a dictionary that are not among these.
  void note_unknown(PickleValue dict, std::string_view what, std::span<const std::string_view> known,
                    ImportReport& report);
  [[nodiscard]] const EntryShape& shape_of(PickleValue entry);
  [[nodiscard]] std::optional<std::uint64_t> number(PickleValue dict, std::string_view key) const;

  const PickleData* data_;
  std::uint64_t rows_left_;
  std::uint64_t rows_beyond_ = 0;
  std::map<std::int64_t, TorchDevice> devices_;
  std::set<std::int64_t> gaps_;  // devices
  std::vector<TorchAnnotation> annotations_;
  PickleValue settings_;
  std::unordered_map<std::uint32_t, EntryShape> shapes_;
  std::map<std::string, std::uint64_t, std::less<>> unknown_fields_;
  std::unordered_map<std::uint32_t, std::vector<std::string>> further_fields_;  // of segments and blocks, by shape
};

// What stacks of frames are called: the whole text, the line that a user would look at, and a short name by it. Every
// list of frames is worked out once, however many events have it.
struct StackName {
  StringId name = 0;    // "forward (model.py:33)"; 0: there are no frames
  StringId stack = 0;   // "forward (/home/a/model.py:33)\n...", innermost first
  StringId source = 0;  // "/home/a/model.py:33"
};

class StackNames {
 public:
  StackNames(const pickle::PickleData& data, SessionWriter& writer) : data_(data), writer_(writer) {}
  [[nodiscard]] const StackName& of(pickle::PickleValue frames);
  // Stacks whose outer frames were left out: there are too many, or all texts together have become too long.
  [[nodiscard]] std::uint64_t cut() const noexcept { return cut_; }

 private:
  struct Frame {
    std::string_view function, file;
    std::int64_t line = 0;
  };
  [[nodiscard]] Frame frame_of(pickle::PickleValue value) const;
  [[nodiscard]] StackName make(pickle::PickleValue frames);

  const pickle::PickleData& data_;
  SessionWriter& writer_;
  std::size_t text_left_ = 256U << 20;
  std::uint64_t cut_ = 0;
  std::unordered_map<std::uint64_t, StackName> known_;  // by the word of the frames
};

}  // namespace accelscope::capture::sources::torch_memory
