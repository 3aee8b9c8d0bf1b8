// What the collector inside one process tells, as events: what ran on devices, the calls that launched it, memory,
// ranges.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/kinds/base/traced_process.h"
#include "capture/kinds/cuda/session.h"
#include "capture/probe/cuda/format.h"
#include "capture/sources/nsys/read/payloads.h"

namespace accelscope::capture::kinds::cuda {

class CudaProcess final : public TracedProcess {
 public:
  CudaProcess(const probes::ProbeProcess& process, CudaSession& session);

  void read_until(std::int64_t now_ns) override;

 private:
  void define_own(std::uint32_t type, probe::BodyReader& body) override;
  void define_name(std::uint32_t number, std::string text) override;
  void record_own(const probes::ProbeThread& thread, probe::RecordHead head,
                  std::span<const std::uint64_t> words) override;
  void write(probe::RecordHead head, const std::uint64_t* words) override;
  void take_clock(const probe::ClockRecord& record) override;
  [[nodiscard]] std::uint64_t settle(std::int64_t end_ns) override;
  void tell_own() override;

  static constexpr std::size_t kMostIds = 300'000;  // of a generation
  struct Name {
    std::string text;
    StringId id = 0;          // of the text as it came
    StringId kernel = 0;      // as people read a kernel's name; 0: not asked for yet
    StringId short_name = 0;  // of the kernel
    bool is_collective = false;
    struct Operations {
      double flops = 0;  // 0: not known
      StringId type = 0, basis = 0;
    };
    std::map<StringId, Operations> operations;  // by grid
  };
  struct Context {
    std::uint32_t device = 0;
    bool is_green = false;
    std::uint32_t multiprocessors = 0;
  };
  enum class StreamRow : std::uint8_t { kernels, graphs, collectives, copies, sets, waits, events };
  struct OpenRange {
    probe::cuda::RangeRecord record{};
    std::uint32_t lane = 0;
    std::string schema;  // name of that of its data
    sources::nsys::NsysPayloads::Payload data;
  };
  struct ThreadRanges {
    std::map<std::uint32_t, std::vector<OpenRange>> open;  // by domain, the innermost last
    std::set<std::uint32_t> lanes;                         // that are taken
  };
  struct Stack {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> frames;  // module and address, until they are asked for
    StringId text = 0;
    StringId caller = 0;  // the innermost function that is not CUDA's; 0: none is known
  };
  struct Work {  // what ran on a device
    std::uint32_t device = 0, context = 0, stream = 0, correlation = 0;
    std::uint64_t start = 0, end = 0;
  };

  void define_collector(probe::BodyReader& body);
  void define_call(probe::BodyReader& body);
  void define_device(probe::BodyReader& body);
  void define_context(probe::BodyReader& body);
  void define_stream(probe::BodyReader& body);
  void define_domain(probe::BodyReader& body);
  void define_category(probe::BodyReader& body);
  void define_module(probe::BodyReader& body);
  void define_stack(probe::BodyReader& body);
  void define_resource(probe::BodyReader& body);
  void define_payload_schema(probe::BodyReader& body);
  void define_payload_words(probe::BodyReader& body);

  template <typename Record>
  void hold_between(probe::RecordHead head, std::span<const std::uint64_t> words, std::uint64_t Record::*start,
                    std::uint64_t Record::*end);
  void check_clock(const probe::cuda::CallRecord& record);
  void begin_range(const probes::ProbeThread& thread, OpenRange range);
  // False: its data are not what a program's collector writes.
  [[nodiscard]] bool read_data(std::span<const std::uint64_t> words, OpenRange& range);
  void end_range(const probes::ProbeThread& thread, std::uint32_t domain, const probe::cuda::RangeEndRecord& record);
  void write_kernel(const probe::cuda::KernelRecord& record);
  void write_copy(const probe::cuda::CopyRecord& record);
  void write_set(const probe::cuda::SetRecord& record);
  void write_call(const probe::cuda::CallRecord& record);
  void write_synchronization(const probe::cuda::SynchronizationRecord& record);
  void write_graph(const probe::cuda::GraphRecord& record);
  void write_jit(const probe::cuda::JitRecord& record);
  void write_overhead(const probe::cuda::OverheadRecord& record);
  void write_unified_memory(const probe::cuda::UnifiedMemoryRecord& record);
  void write_memory(const probe::cuda::MemoryRecord& record);
  void write_memory_pool(const probe::cuda::MemoryPoolRecord& record);
  void write_cuda_event(const probe::cuda::CudaEventRecord& record);
  void write_environment(const probe::cuda::EnvironmentRecord& record);
  void write_range(TrackNumber track, const OpenRange& range, std::int64_t end_ns, std::string_view kind);
  void write_fault(const probe::cuda::UnifiedMemoryRecord& record, const std::string& name);

  void set_work(Row& row, const Work& work);  // the columns that kernels, copies, sets and waits have alike
  void set_transfer(Row& row, const Work& work, std::uint64_t bytes);
  void set_operations(Row& row, std::uint32_t name, StringId grid, const std::int32_t (&blocks)[3]);
  void set_waited_event(Row& row, const probe::cuda::SynchronizationRecord& record);
  [[nodiscard]] bool has_times(std::uint64_t start, std::uint64_t end);
  void set_external(Row& row, std::size_t column, std::uint32_t correlation);
  void set_stack(Row& row, const CudaTable& table, std::uint32_t correlation);
  [[nodiscard]] const Stack* stack_of(std::uint32_t correlation);
  void name_frames(Stack& stack);

  [[nodiscard]] std::uint32_t gpu_of(std::uint32_t device);
  [[nodiscard]] std::uint32_t device_of(std::uint32_t context) const;
  [[nodiscard]] bool is_green(std::uint32_t context) const;
  [[nodiscard]] TrackNumber stream_track(StreamRow row, const Work& work);
  [[nodiscard]] TrackNumber ranges_track(std::uint32_t thread);
  [[nodiscard]] TrackNumber started_track();
  [[nodiscard]] Name& name(std::uint32_t number);
  [[nodiscard]] Name& kernel_name(std::uint32_t number);
  [[nodiscard]] std::string pool_name(const probe::cuda::MemoryRecord& record) const;
  [[nodiscard]] std::int64_t to_ns(std::uint64_t cupti_ns) const noexcept {
    return session_.to_session(bounded_ns(cupti_ns) + clock_offset_);
  }

  CudaSession& session_;
  std::uint64_t process_index_;

  std::unordered_map<std::uint32_t, Name> names_;
  std::unordered_map<std::uint32_t, StringId> calls_;  // by domain and number, as records have them
  std::map<std::uint32_t, std::uint32_t> gpus_;        // of the session, by the process's number
  std::map<std::uint32_t, Context> contexts_;
  std::map<std::uint32_t, std::string> domains_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> categories_;
  std::map<std::uint32_t, TrackNumber> overheads_;  // by thread; 0: of the process
  std::map<std::uint32_t, ThreadRanges> ranges_;
  std::unordered_map<std::uint64_t, OpenRange> started_;
  std::set<std::uint32_t> started_lanes_;
  std::map<std::array<std::uint32_t, 4>, TrackNumber> streams_;                      // row, GPU, context, stream
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first_contexts_;  // of a stream on a GPU
  TrackNumber started_track_ = kNone, faults_ = kNone, builds_ = kNone, host_memory_ = kNone;

  std::map<std::uint32_t, std::string> modules_, stream_names_, context_names_;
  std::unordered_map<std::uint32_t, Stack> stacks_;
  sources::nsys::NsysPayloads payloads_;
  std::map<sources::nsys::NsysPayloads::LayoutKey, std::string> schema_names_;

  Recent<std::uint64_t> external_ids_;  // by correlation, as the next
  Recent<std::uint32_t> stack_numbers_;
  std::unordered_map<std::uint64_t, std::int64_t> allocations_;  // bytes by address
  struct EventRecord {
    std::uint32_t stream = 0, correlation = 0;
  };
  std::map<std::uint32_t, std::vector<EventRecord>> recordings_;  // of CUDA events, the last ones of each
  std::map<std::uint64_t, EventRecord> numbered_recordings_;

  std::int64_t pair_offset_ = 0;  // CUPTI's time to ours by the newest pair of readings
  bool owns_clock_ = false, checked_clock_ = false;
  std::uint64_t not_described_ = 0, cut_stacks_ = 0;
  std::size_t stack_bytes_left_ = 64U << 20U;  // of all texts of stacks
};

}  // namespace accelscope::capture::kinds::cuda
