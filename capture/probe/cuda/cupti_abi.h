// What the collector uses of CUPTI and of the driver, declared here since their headers are not there where it is
// built. Every version since CUDA 11.8 only appends fields to a record: a field has one place, and a version says how
// far its records reach. `tests/capture/probe/cuda` holds these numbers against the toolkit's own headers where it is
// installed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "capture/probe/client/raw_record.h"

namespace accelscope::probe::cuda::cupti {

using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kInvalidKind = 21;
constexpr Result kInsufficientPrivileges = 35;
constexpr Result kMultipleSubscribers = 39;

constexpr std::uint32_t kFlushForced = 1;
constexpr std::uint32_t kSystemThreadIds = 1;
constexpr std::uint32_t kDriverApi = 1;  // domains of calls
constexpr std::uint32_t kRuntimeApi = 2;
constexpr std::uint32_t kProfilerStart = 308;  // calls of the driver
constexpr std::uint32_t kProfilerStop = 309;
constexpr std::uint32_t kNone = 0xFFFFFFFFU;  // no context, stream or event

// Versions of CUPTI as it numbers them; from CUDA 13 on major * 10,000 + minor * 100 + update.
constexpr std::uint32_t kVersion11_8 = 18;
constexpr std::uint32_t kVersion12_0 = 19;
constexpr std::uint32_t kVersion12_2 = 20;
constexpr std::uint32_t kVersion12_4 = 22;
constexpr std::uint32_t kVersion12_6 = 24;
constexpr std::uint32_t kVersion12_8 = 26;
constexpr std::uint32_t kVersion13_0 = 130'000;

[[nodiscard]] constexpr std::uint32_t cuda_major_of(std::uint32_t version) noexcept {
  return version >= kVersion13_0 ? version / 10'000 : version >= kVersion12_0 ? 12 : 11;
}

enum class Activity : std::uint32_t {
  copy = 1,
  set = 2,
  kernel = 3,
  driver_call = 4,
  runtime_call = 5,
  device = 8,
  context = 9,
  concurrent_kernel = 10,
  overhead = 17,
  environment = 20,
  peer_copy = 22,
  unified_memory = 25,
  cuda_event = 36,
  stream = 37,
  synchronization = 38,
  external_correlation = 39,
  memory = 49,
  memory_pool = 50,
  graph = 51,
  jit = 52,
};

using probe::Field;
using probe::RawRecord;
using probe::U32;

constexpr U32 kKind{0};  // of every record

namespace kernel {
constexpr U8 cache_config{4};
constexpr U16 registers{6};
constexpr U64 start{16}, end{24};
constexpr U32 device{40}, context{44}, stream{48};
constexpr I32 grid_x{52}, grid_y{56}, grid_z{60}, block_x{64}, block_y{68}, block_z{72};
constexpr I32 static_shared{76}, dynamic_shared{80};
constexpr U32 local_per_thread{84}, local_total{88}, correlation{92};
constexpr I64 grid_id{96};
constexpr Text name{104};
constexpr U64 queued{120}, submitted{128};
constexpr U8 launch_type{136}, carveout_requested{137}, carveout{138};
constexpr U32 shared_executed{140};
constexpr U64 graph_node{144};
constexpr U32 shared_limit{152}, graph{156}, channel{168}, channel_type{172};
constexpr U32 cluster_x{176}, cluster_y{180}, cluster_z{184}, cluster_policy{188};
constexpr U64 local_total_wide{192};
constexpr U32 largest_cluster{200}, active_clusters{204};
constexpr U8 device_launched{208};
}  // namespace kernel

namespace copy {
constexpr U8 kind{4}, source_kind{5}, target_kind{6}, flags{7};
constexpr U64 bytes{8}, start{16}, end{24};
constexpr U32 device{32}, context{36}, stream{40}, correlation{44};
constexpr U64 graph_node{64};
constexpr U32 graph{72};
constexpr U64 count{88};
}  // namespace copy

namespace peer_copy {  // the fields before as in copy
constexpr U32 source_device{44}, source_context{48}, target_device{52}, target_context{56}, correlation{60};
constexpr U64 graph_node{72};
constexpr U32 graph{80};
}  // namespace peer_copy

namespace set {
constexpr U32 value{4};
constexpr U64 bytes{8}, start{16}, end{24};
constexpr U32 device{32}, context{36}, stream{40}, correlation{44};
constexpr U16 flags{48}, memory_kind{50};
constexpr U64 graph_node{64};
constexpr U32 graph{72};
}  // namespace set

namespace call {
constexpr U32 id{4};
constexpr U64 start{8}, end{16};
constexpr U32 process{24}, thread{28}, correlation{32}, result{36};
}  // namespace call

namespace synchronization {
constexpr U32 type{4};
constexpr U64 start{8}, end{16};
constexpr U32 correlation{24}, context{28}, stream{32}, event{36};
constexpr U64 event_sync{40};
constexpr U32 result{48};
}  // namespace synchronization

namespace external_correlation {
constexpr U32 kind{4};
constexpr U64 id{8};
constexpr U32 correlation{16};
}  // namespace external_correlation

namespace graph {
constexpr U32 correlation{4};
constexpr U64 start{8}, end{16};
constexpr U32 device{24}, graph{28}, context{32}, stream{36};
}  // namespace graph

namespace jit {
constexpr U32 entry{4}, operation{8}, device{12};
constexpr U64 start{16}, end{24};
constexpr U32 correlation{32};
constexpr U64 operation_correlation{40}, cache_bytes{48};
constexpr Text cache_path{56};
constexpr U32 process{64}, thread{68};
}  // namespace jit

namespace overhead {
constexpr U32 kind{4}, object_kind{8}, process{12}, thread{16};  // process and thread: where the object is one
constexpr U64 start{24}, end{32};
constexpr U32 correlation{40};
constexpr std::uint32_t kThreadObject = 2;
}  // namespace overhead

namespace unified_memory {
constexpr U32 kind{4};
constexpr U64 value{8}, start{16}, end{24}, address{32};
constexpr U32 source{40}, target{44}, stream{48}, process{52}, flags{56};
}  // namespace unified_memory

namespace memory {
constexpr U32 operation{4}, kind{8}, correlation{12};
constexpr U64 address{16}, bytes{24}, time{32}, pc{40};
constexpr U32 process{48}, device{52}, context{56}, stream{60};
constexpr Text name{64};
constexpr U32 is_async{72}, pool_type{80};
constexpr U64 pool_address{88}, pool_threshold{96}, pool_size{104}, pool_used{112};  // size: or the pool's process
}  // namespace memory

namespace memory_pool {
constexpr U32 operation{4}, type{8}, correlation{12}, process{16}, device{20};
constexpr U64 least_bytes{24}, address{32}, size{40}, threshold{48}, time{56}, used{64};
}  // namespace memory_pool

namespace cuda_event {
constexpr U32 correlation{4}, context{8}, stream{12}, event{16}, device{24};
constexpr U64 device_time{40}, sync{48};
}  // namespace cuda_event

namespace stream {
constexpr U32 context{4}, stream{8}, priority{12}, flag{16}, correlation{20};
}  // namespace stream

namespace context {
constexpr U32 context{4}, device{8};
constexpr U16 null_stream{14};
constexpr U32 parent{16};
constexpr U8 is_green{20};
constexpr U16 multiprocessors{22};
}  // namespace context

namespace device {
constexpr U64 memory_bandwidth{8}, memory_bytes{16};
constexpr U32 cache_bytes{28}, warp_threads{32}, clock_khz{36}, multiprocessors{44}, warps{52}, blocks{56};
constexpr U32 shared_bytes{60}, registers{64}, major{104}, minor{108}, id{112};
constexpr U64 uuid_low{120}, uuid_high{128};
constexpr Text name{136};
constexpr U8 is_mig{145};
constexpr U32 gpu_instance{152}, compute_instance{156};
constexpr U64 mig_uuid_low{160}, mig_uuid_high{168};
}  // namespace device

namespace environment {
constexpr U32 device{4};
constexpr U64 time{8};
constexpr U32 kind{16}, first{20}, second{24}, third{28}, fourth{32}, fifth{36};
enum Kind : std::uint32_t { kSpeed = 1, kTemperature, kPower, kCooling };
}  // namespace environment

// From a version on a record of that kind has so many bytes.
struct RecordSize {
  Activity kind;
  std::uint32_t version;
  std::uint32_t bytes;
};
// Of one kind the newest first.
constexpr RecordSize kRecordSizes[] = {
    {Activity::copy, kVersion12_8, 96},
    {Activity::copy, kVersion11_8, 88},
    {Activity::set, kVersion11_8, 88},
    {Activity::kernel, kVersion13_0, 216},
    {Activity::kernel, kVersion12_0, 208},
    {Activity::kernel, kVersion11_8, 200},
    {Activity::concurrent_kernel, kVersion13_0, 216},
    {Activity::concurrent_kernel, kVersion12_0, 208},
    {Activity::concurrent_kernel, kVersion11_8, 200},
    {Activity::driver_call, kVersion11_8, 40},
    {Activity::runtime_call, kVersion11_8, 40},
    {Activity::device, kVersion11_8, 176},
    {Activity::context, kVersion12_4, 24},
    {Activity::context, kVersion11_8, 16},
    {Activity::overhead, kVersion12_2, 48},
    {Activity::overhead, kVersion11_8, 40},
    {Activity::environment, kVersion11_8, 40},
    {Activity::peer_copy, kVersion11_8, 96},
    {Activity::unified_memory, kVersion11_8, 64},
    {Activity::cuda_event, kVersion12_8, 56},
    {Activity::cuda_event, kVersion11_8, 24},
    {Activity::stream, kVersion11_8, 24},
    {Activity::synchronization, kVersion12_8, 56},
    {Activity::synchronization, kVersion11_8, 40},
    {Activity::external_correlation, kVersion11_8, 24},
    {Activity::memory, kVersion11_8, 120},
    {Activity::memory_pool, kVersion11_8, 72},
    {Activity::graph, kVersion11_8, 48},
    {Activity::jit, kVersion12_4, 72},
    {Activity::jit, kVersion11_8, 64},
};

// What of a record is read at most; 0: none of that kind is.
[[nodiscard]] constexpr std::uint32_t record_bytes(Activity kind, std::uint32_t version) noexcept {
  const auto* const found = std::find_if(std::begin(kRecordSizes), std::end(kRecordSizes), [&](const RecordSize& size) {
    return size.kind == kind && size.version <= version;
  });
  return found == std::end(kRecordSizes) ? 0 : found->bytes;
}

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                 std::size_t valid_bytes);
using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t id, const void* data);

// What a callback of a call is given.
struct CallbackData {
  std::uint32_t site;  // 0 on the call's entry, 1 on its exit
  const void* not_read[7];
  std::uint32_t correlation;
};

struct UnifiedMemoryConfig {
  std::uint32_t scope = 2;  // of the process, on all devices
  std::uint32_t kind = 0;
  std::uint32_t device = 0;
  std::uint32_t enable = 1;
};
constexpr std::uint32_t kUnifiedMemoryKinds[] = {1, 2, 3, 4, 8};  // moved to, from and between devices; faults

// Functions of the library that was found. Those above the line are in every version; the others are null where not.
struct Library {
  Result (*get_version)(std::uint32_t*);
  Result (*get_timestamp)(std::uint64_t*);
  Result (*get_callback_name)(std::uint32_t domain, std::uint32_t id, const char** name);
  Result (*register_callbacks)(BufferRequested, BufferCompleted);
  Result (*enable)(Activity);
  Result (*disable)(Activity);
  Result (*flush_all)(std::uint32_t flag);
  Result (*get_next_record)(std::uint8_t* buffer, std::size_t valid_bytes, std::uint8_t** record);
  Result (*get_dropped)(void* context, std::uint32_t stream, std::size_t* dropped);
  Result (*subscribe)(void** subscriber, Callback, void* user);
  Result (*unsubscribe)(void* subscriber);
  Result (*enable_callback)(std::uint32_t enable, void* subscriber, std::uint32_t domain, std::uint32_t id);
  // ---
  Result (*register_timestamps)(std::uint64_t (*)());
  Result (*set_thread_ids)(std::uint32_t type);
  Result (*enable_latency_times)(std::uint8_t enable);
  Result (*enable_event_times)(std::uint8_t enable);
  Result (*configure_unified_memory)(UnifiedMemoryConfig*, std::uint32_t count);
  Result (*get_result_text)(Result, const char**);
  Result (*get_stream_id)(void* context, void* stream, std::uint8_t is_per_thread, std::uint32_t* id);
  Result (*get_context_id)(void* context, std::uint32_t* id);

  std::uint32_t version = 0;
  void* handle = nullptr;  // of the loader, for further functions
};

}  // namespace accelscope::probe::cuda::cupti
