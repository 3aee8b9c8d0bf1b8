// What packets of one sequence refer to: texts and descriptions that came before them, defaults, the thread that old
// packets are about. All of it ends where the sequence clears its state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/ids.h"

namespace accelscope::capture::sources::perfetto {

// What a number stands for; numbers are small nearly always.
template <typename Entry>
class InternTable {
 public:
  [[nodiscard]] Entry* find(std::uint64_t iid) noexcept {
    if (iid < dense_.size() && dense_[iid].second) return &dense_[iid].first;
    if (sparse_.empty()) return nullptr;
    const auto found = sparse_.find(iid);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  Entry& set(std::uint64_t iid, Entry entry) {
    constexpr std::uint64_t kMostAhead = 64;
    if (iid >= dense_.size()) {
      // Room for as many numbers as there are entries, and a few: gaps cost no more than what the file holds.
      if (iid >= 2 * (entries_ + sparse_.size()) + kMostAhead) return sparse_[iid] = std::move(entry);
      dense_.resize(iid + 1);
    }
    if (!dense_[iid].second) ++entries_;
    dense_[iid] = {std::move(entry), true};
    return dense_[iid].first;
  }
  void clear() {
    dense_.clear();
    sparse_.clear();
    entries_ = 0;
  }

 private:
  std::vector<std::pair<Entry, bool>> dense_;
  std::uint64_t entries_ = 0;  // of dense_
  std::unordered_map<std::uint64_t, Entry> sparse_;
};

struct InternedText {
  std::string text;
  StringId id = 0;           // in the session; 0: not asked for yet
  std::uint8_t table = 255;  // of a category: where its events go; 255: not asked for yet
  // Of the name of an annotation: its column in a table, as EventTables numbers them.
  std::array<std::uint8_t, 24> columns = {};  // 0: not asked for yet, 1: none, else the column + 2
};
struct InternedLocation {
  std::string file;
  std::string function;
  std::int64_t line = 0;
  StringId place_id = 0;  // "file:line" and the function in the session, once `known`
  StringId function_id = 0;
  bool known = false;
};
struct InternedFrame {
  std::uint64_t function = 0;
  std::uint64_t mapping = 0;
  std::uint64_t relative_pc = 0;
  std::uint64_t source_path = 0;
  std::uint64_t line = 0;
};
struct InternedCallstack {
  std::vector<std::uint64_t> frames;  // outermost first
  StringId id = 0;                    // in the session, once it was asked for
};
struct InternedMapping {
  std::vector<std::uint64_t> path;
};
struct InternedContext {
  std::int64_t pid = 0;
  std::uint64_t api = 0;
};
struct InternedStage {  // a hardware queue or a stage of a GPU's work
  std::string name;
  std::string description;
  std::uint64_t category = 0;  // 1: graphics, 2: compute
};
struct InternedKernel {
  std::string name;
  std::string demangled;
  std::string architecture;
  std::vector<std::string> arguments;  // messages ExtraComputeArg
};
struct InternedCounters {
  std::int64_t gpu = 0;
  std::string descriptor;  // the message GpuCounterDescriptor
};

struct SequenceState {
  std::uint32_t id = 0;
  bool valid = false;  // cleared once, and nothing lost since then
  bool seen = false;

  InternTable<InternedText> categories;
  InternTable<InternedText> names;
  InternTable<InternedText> annotation_names;
  InternTable<InternedText> annotation_values;
  InternTable<InternedText> type_names;
  InternTable<InternedText> correlations;
  InternTable<InternedLocation> locations;
  InternTable<InternedText> functions;
  InternTable<InternedFrame> frames;
  InternTable<InternedCallstack> callstacks;
  InternTable<InternedText> mapping_paths;
  InternTable<InternedText> source_paths;
  InternTable<InternedMapping> mappings;
  InternTable<InternedContext> contexts;
  InternTable<InternedStage> stages;
  InternTable<InternedKernel> kernels;
  InternTable<InternedText> kernel_arguments;
  InternTable<InternedCounters> gpu_counters;
  InternTable<InternedText> log_bodies;

  std::optional<std::uint64_t> default_clock;
  std::optional<std::uint64_t> default_track;
  std::vector<std::uint64_t> extra_counters;
  std::vector<std::uint64_t> extra_real_counters;

  // Of old traces: the thread of a sequence, and the time that deltas add to.
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
  bool times_valid = false;
  std::int64_t time_ns = 0;
  std::int64_t thread_time_ns = 0;
  std::int64_t instructions = 0;

  void clear();                                 // SEQ_INCREMENTAL_STATE_CLEARED
  void add_interned(std::string_view message);  // InternedData
  void set_defaults(std::string_view message);  // TracePacketDefaults
  // Frames of a callstack, innermost first, a line each: "function (file:line)".
  [[nodiscard]] std::string stack_text(const InternedCallstack& callstack);
};

}  // namespace accelscope::capture::sources::perfetto
