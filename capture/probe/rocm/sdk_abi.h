// What the collector uses of rocprofiler-sdk, declared here since its headers are not there where this is built. Not
// seen on hardware: the places below are those of the project's public headers (include/rocprofiler-sdk: fwd.h,
// agent.h, buffer.h, buffer_tracing.h, callback_tracing.h, context.h, external_correlation.h, registration.h,
// marker/api_id.h, marker/api_args.h), read in three states: 0.6 (ROCm 6.4), 1.0 (ROCm 7.0) and 1.3 (ROCm 7.14).
//
// Two layouts. From 1.0 on the ids of what a thread called (calls, allocations, scratch) have a third number, the call
// that they were made in, so that all behind it lies 8 bytes further: a place is that of 0.x, and RecordPlaces adds
// them. Records of work (dispatches, copies) have no third number. Versions between the two releases (0.7 to 0.9) are
// refused.
//
// Left out, since their layouts differ between versions: page migration of 0.x; arguments of calls.
// Kinds of records have other numbers in each version, and are asked for by name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/probe/client/raw_record.h"

namespace accelscope::probe::rocm::sdk {

using Status = int;
constexpr Status kSuccess = 0;
constexpr Status kBufferBusy = 14;
constexpr Status kIncompatibleKernel = 28;  // of the system: its amdgpu is too old

// As the library gives its version: major * 10,000 + minor * 100 + patch.
constexpr std::uint32_t kFirstKnown = 400;
constexpr std::uint32_t kFirstUnknown = 700;
constexpr std::uint32_t kWideIds = 10'000;
[[nodiscard]] constexpr bool is_known(std::uint32_t version) noexcept {
  return version >= kWideIds || (version >= kFirstKnown && version < kFirstUnknown);
}

constexpr int kDropsWhenFull = 1, kWaitsWhenFull = 2;  // policies of buffers
constexpr std::uint32_t kTracingCategory = 1;          // of records in a buffer
constexpr std::int32_t kEnter = 1, kExit = 2;          // phases of a callback
constexpr std::uint32_t kAgentVersion = 1, kGpuAgent = 2;
constexpr std::int32_t kDeviceSymbol = 2;  // operations on code objects: a kernel is there
constexpr std::int32_t kStreamSet = 3;     // operations on streams: this thread works for one
enum RoctxOperation : std::int32_t { kMark, kPush, kPop, kStart, kStop };
enum RoctxControl : std::int32_t { kPause, kResume };
constexpr std::int32_t kNameThread = 0;
constexpr int kStreamRequests[] = {10, 11};  // ids are asked for when a copy and a kernel are enqueued

// Every record: its own size, then which it is.
constexpr U64 kSize{0};
constexpr U32 kKind{8};
constexpr I32 kOperation{12};
constexpr U64 kCorrelation{16}, kExternal{24};
constexpr U64 kAncestor{32};  // of wide ids
constexpr std::uint16_t kWider = 8;
// A place in a record whose layout is wider in this version by so many bytes.
template <typename T>
[[nodiscard]] constexpr Field<T> behind_ids(Field<T> field, std::uint16_t wider) noexcept {
  return {static_cast<std::uint16_t>(field.offset + wider)};
}

namespace call {
constexpr U64 start{32}, end{40}, thread{48};
}
namespace dispatch {
constexpr U64 thread{32}, start{40}, end{48};
constexpr U64 agent{64}, queue{72}, kernel{80}, dispatch{88};
constexpr U32 private_bytes{96}, group_bytes{100};
constexpr U32 workgroup_x{104}, workgroup_y{108}, workgroup_z{112}, grid_x{116}, grid_y{120}, grid_z{124};
}  // namespace dispatch
namespace copy {
constexpr U64 thread{32}, start{40}, end{48};
constexpr U64 target_agent{56}, source_agent{64}, bytes{72};
constexpr U64 target_address{80}, source_address{88};  // from 1.0 on
}  // namespace copy
namespace allocation {
constexpr U64 thread{32}, start{40}, end{48};
constexpr U64 agent{56}, address{64}, bytes{72};
}  // namespace allocation
namespace scratch {
constexpr U64 agent{32}, queue{40}, thread{48}, start{56}, end{64};
constexpr U32 flags{72};
constexpr U64 bytes{80};  // from 1.3 on
}  // namespace scratch
// Of the system's driver; these have no ids.
namespace migration {
constexpr U64 start{16}, end{24};
constexpr U64 first_address{40}, last_address{48}, source_agent{56}, target_agent{64};
constexpr I32 error{88};
}  // namespace migration
namespace fault {
constexpr U64 start{16}, end{24};
constexpr U64 agent{40}, address{48};
}  // namespace fault

enum class Layout : std::uint8_t { dispatch, copy, allocation, scratch, call, migration, fault };
struct LayoutRow {
  std::uint16_t least_bytes;  // that a record of 0.x has of what is read
  std::uint16_t most_bytes;   // that a record of any version has of it
  bool is_wider;              // from 1.0 on, by kWider
  U64 start, end;
};
inline constexpr LayoutRow kLayouts[] = {
    {128, 128, false, dispatch::start, dispatch::end},
    {80, 96, false, copy::start, copy::end},
    {80, 80, true, allocation::start, allocation::end},
    {76, 88, true, scratch::start, scratch::end},
    {56, 56, true, call::start, call::end},
    {92, 92, false, migration::start, migration::end},
    {56, 56, false, fault::start, fault::end},
};
[[nodiscard]] constexpr const LayoutRow& row_of(Layout layout) noexcept {
  return kLayouts[static_cast<std::size_t>(layout)];
}

namespace agent {
constexpr U64 id{8};
constexpr U32 type{16}, memory_banks{28}, waves_per_simd{48}, lds_kib{52}, wave_lanes{64}, xccs{68}, compute_units{72};
constexpr U32 simds_per_unit{92}, gfx_version{100}, dma_engines{120}, clock_mhz{140}, largest_workgroup{168};
constexpr Field<const std::uint8_t*> banks{224};
constexpr Text name{248}, product{264};
constexpr std::size_t kBytes = 272;
constexpr U64 first_bank_bytes{16};  // of a bank
constexpr std::size_t kBankBytes = 24;
}  // namespace agent

// What a callback of a code object, of ROCTx and of a stream is given; all begin with their size.
namespace symbol {
constexpr U64 kernel{8};
constexpr Text name{24};
constexpr U32 group_bytes{48}, private_bytes{52}, sgprs{56}, vgprs{60}, accum_vgprs{64};
}  // namespace symbol
namespace roctx {
constexpr Text text{8};
constexpr U64 range{8};     // that is stopped
constexpr U64 started{24};  // what the program was given
}  // namespace roctx
namespace stream {
constexpr U64 id{8};
}  // namespace stream

struct Context {
  std::uint64_t handle;
};
struct Buffer {
  std::uint64_t handle;
};
struct CallbackThread {
  std::uint64_t handle;
};
struct RecordHeader {  // of a record in a buffer
  std::uint32_t category, kind;
  const std::uint8_t* record;
};
struct Ids {
  std::uint64_t internal, external;
};
struct WideIds {
  std::uint64_t internal, external, ancestor;
};
template <typename OfCall>
struct CallbackRecord {
  Context context;
  std::uint64_t thread;
  OfCall ids;
  std::uint32_t kind;
  std::int32_t operation, phase;
  const std::uint8_t* payload;
};
static_assert(sizeof(CallbackRecord<Ids>) == 56 && sizeof(CallbackRecord<WideIds>) == 64);

using BufferCallback = void (*)(Context, Buffer, RecordHeader** headers, std::size_t count, void* user,
                                std::uint64_t dropped);
template <typename OfCall>
using TracingCallback = void (*)(CallbackRecord<OfCall> record, std::uint64_t* user_data, void* user);
using AgentsCallback = Status (*)(std::uint32_t version, const void** agents, std::size_t count, void* user);
using RequestCallback = int (*)(std::uint64_t thread, Context, std::uint32_t kind, std::int32_t operation,
                                std::uint64_t internal, std::uint64_t* external, void* user);

// What the library takes from rocprofiler_configure().
struct Tool {
  std::size_t bytes;
  int (*initialize)(void (*finalize)(), void* user);  // `finalize` takes an argument, and is not called
  void (*finalize)(void* user);
  void* user;
};

// Functions of the library that has loaded the collector. Those below the line may be null.
struct Library {
  Status (*get_timestamp)(std::uint64_t*);
  Status (*create_context)(Context*);
  Status (*start_context)(Context);
  Status (*stop_context)(Context);
  Status (*create_buffer)(Context, std::size_t bytes, std::size_t watermark, int policy, BufferCallback, void* user,
                          Buffer*);
  Status (*flush_buffer)(Buffer);
  Status (*configure_buffer)(Context, std::uint32_t kind, const std::int32_t* operations, std::size_t count, Buffer);
  Status (*configure_callback)(Context, std::uint32_t kind, const std::int32_t* operations, std::size_t count,
                               void (*callback)(), void* user);
  Status (*get_buffer_kind)(std::uint32_t kind, const char** name, std::uint64_t* length);
  Status (*get_callback_kind)(std::uint32_t kind, const char** name, std::uint64_t* length);
  Status (*get_operation)(std::uint32_t kind, std::int32_t operation, const char** name, std::uint64_t* length);
  Status (*query_agents)(std::uint32_t version, AgentsCallback, std::size_t agent_bytes, void* user);
  // ---
  Status (*create_thread)(CallbackThread*);
  Status (*assign_thread)(Buffer, CallbackThread);
  Status (*configure_requests)(Context, const int* kinds, std::size_t count, RequestCallback, void* user);
  const char* (*get_status_text)(Status);
};

}  // namespace accelscope::probe::rocm::sdk
