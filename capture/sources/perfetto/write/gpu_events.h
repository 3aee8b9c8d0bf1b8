// What a trace tells of GPUs: the work of their queues (GpuRenderStageEvent, kernels and copies too), counters, clocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "capture/sources/chrome/read/tables.h"
#include "capture/sources/perfetto/write/event_tables.h"

namespace accelscope::capture::sources::perfetto {

class GpuEvents {
 public:
  GpuEvents(tracks::UnorderedSession& session, EventTables& tables) : session_(session), tables_(tables) {}

  // Messages of packets; times are the trace's. learn() as EventTables has it.
  void learn_stage(std::string_view message, SequenceState& state);
  // The end of the event.
  std::int64_t take_stage(std::string_view message, SequenceState& state, std::int64_t ns);
  void take_counters(std::string_view message, SequenceState& state, std::optional<std::int64_t> ns);
  void take_frequency(std::string_view message, std::int64_t ns);
  void take_info(std::string_view message);                     // GpuInfo
  void take_memory(std::string_view message, std::int64_t ns);  // GpuMemTotalEvent

  // Whether calls say what work of a GPU they started or waited for.
  void learn_submission() noexcept { any_submission_ = true; }
  void learn_wait() noexcept { any_wait_ = true; }

  void finish();
  // The tables "gpu_queue" and "gpu_counter_group", once rows have their numbers.
  void write_tables();

  struct Counts {
    std::uint64_t stages = 0;
    std::uint64_t without_queue = 0;
    std::uint64_t counters_without_time = 0;
    std::uint64_t counters_without_name = 0;
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  struct StageFields;
  struct CounterTrack {
    std::uint32_t row = kNone;
    bool forwards = false;
    bool any = false;
    std::int64_t last_ns = 0;  // of a counter whose values are of the time before
  };
  struct Queue {
    std::uint32_t row = kNone;
    std::string name;
    std::string description;
    std::int64_t gpu = 0;
    std::uint64_t number = 0;
  };
  struct CounterGroup {
    std::uint64_t id = 0;
    std::string name;
    std::string description;
    std::uint32_t row = kNone;
  };
  struct OldName {
    std::string name;
    std::string description;
  };
  [[nodiscard]] StageFields read_stage(std::string_view message, SequenceState& state) const;
  [[nodiscard]] EventTableKind table_of(const StageFields& fields) const;
  void take_specifications(std::string_view message);
  std::uint32_t stage_row(const StageFields& fields, const EventTable& table, std::string_view queue,
                          std::string_view description);
  void add_groups(std::string_view descriptor, const std::map<std::uint64_t, std::string>& track_keys);
  void bind_launch(const EventTable& table, std::string_view message, SequenceState& state, tracks::EventValues& values,
                   std::string& rest);
  void bind_argument(const EventTable& table, Argument argument, tracks::EventValues& values, std::string& rest);
  void add_descriptor(std::string_view descriptor, std::int64_t gpu, std::map<std::uint64_t, std::string>& track_keys);
  void add_sample(CounterTrack& track, std::int64_t ns, double value);
  CounterTrack& counter_track(std::string_view key) { return counters_.find(key)->second; }

  tracks::UnorderedSession& session_;
  EventTables& tables_;
  std::map<std::string, std::uint32_t, std::less<>> rows_;
  std::map<std::string, CounterTrack, std::less<>> counters_;  // by GPU and name
  std::map<std::uint64_t, std::string> old_counters_;          // ids of descriptors that are not interned
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::map<std::uint64_t, std::string>> interned_counters_;
  std::map<std::uint64_t, OldName> old_queues_;
  std::map<std::uint64_t, OldName> old_stages_;
  std::map<std::uint64_t, std::int64_t> old_contexts_;
  std::vector<Queue> queues_;
  std::vector<CounterGroup> groups_;
  std::uint32_t info_table_ = kNone;
  std::int64_t gpus_ = 0;
  bool any_submission_ = false;
  bool any_wait_ = false;
  Counts counts_;
};

// Names that tools give to the rows of a device's queues: rocprofv3's "COMPUTE AGENT [2] QUEUE [0] GPU", "COPY to AGENT
// [2] THREAD [1] (GPU)" and "STREAM [3]"; engines and queues of neuron-profile.
struct DeviceName {
  std::string_view begin;
  std::string_view within;  // "": anything
  std::string_view kind;    // of the row
  chrome::ChromeTable table;
};

// Null: a row of the host, or a plain one.
[[nodiscard]] const DeviceName* device_of_track(std::string_view name) noexcept;
// "GPU 2" of "COMPUTE AGENT [2] QUEUE [0] GPU"; "GPU" where the name tells no number.
[[nodiscard]] std::string device_label(std::string_view name);
// Where events of a category of rocprofv3 go.
[[nodiscard]] chrome::ChromeTable table_of_tool_category(std::string_view category) noexcept;

}  // namespace accelscope::capture::sources::perfetto
