#include "capture/probe/opencl/layer.h"

#include <CL/cl_layer.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "capture/probe/bodies.h"

namespace accelscope::probe::opencl {
namespace {

constexpr char kName[] = "accelscope";

[[nodiscard]] Table& own_table() {
  static Table table{};
  return table;
}

void drain_at_exit() { state().collector.drain(); }

// The parent's objects and threads are not there; locks may be held by threads that are gone.
void begin_anew_in_child() { layer().state.store(new State, std::memory_order_release); }

// Loaders give the table once, before the program's first call comes through.
void set_up(const cl_icd_dispatch* target, std::size_t entries) {
  Layer& all = layer();
  std::memcpy(&all.next, target, entries * sizeof(void*));
  own_table() = all.next;
  all.channel = new Channel("opencl");
  all.state.store(new State, std::memory_order_release);
  if (!all.channel->attached()) return;  // nobody listens: every call goes straight to the drivers
  all.keeps_arguments = all.channel->setting("arguments") != "off";
  all.keeps_calls = all.channel->setting("host-calls") != "off";
  all.keeps_sources = all.channel->setting("sources") != "off";
  for (const auto fill : {fill_commands, fill_transfers, fill_queues, fill_memory, fill_programs, fill_kernels}) {
    fill(own_table());
  }
  pthread_atfork(nullptr, nullptr, begin_anew_in_child);
}

[[nodiscard]] cl_int init(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_ret,
                          const cl_icd_dispatch** table_ret) {
  if (target == nullptr || entries_ret == nullptr || table_ret == nullptr) return CL_INVALID_VALUE;
  constexpr std::size_t kOwnEntries = sizeof(cl_icd_dispatch) / sizeof(void*);
  if (layer().channel == nullptr) set_up(target, std::min<std::size_t>(entries, kOwnEntries));
  *entries_ret = static_cast<cl_uint>(kOwnEntries);
  *table_ret = &own_table();
  return CL_SUCCESS;
}

}  // namespace

cl_int answer(const void* bytes, std::size_t count, std::size_t size, void* value, std::size_t* size_ret) {
  if (value != nullptr) {
    if (size < count) return CL_INVALID_VALUE;
    std::memcpy(value, bytes, count);
  }
  if (size_ret != nullptr) *size_ret = count;
  return CL_SUCCESS;
}

void drain_before_exit() {
  static std::once_flag once;
  std::call_once(once, [] { (void)std::atexit(drain_at_exit); });
}

Layer& layer() {
  static Layer& only = *new Layer;
  return only;
}

std::string device_text(cl_device_id device, cl_device_info what) {
  return text_of([=](std::size_t room, void* to, std::size_t* bytes) {
    return layer().next.clGetDeviceInfo(device, what, room, to, bytes);
  });
}

std::uint32_t number_of_device(cl_device_id device) {
  State& now = state();
  const std::lock_guard lock(now.device_mutex);
  if (const std::uint32_t known = now.devices.find(device); known != 0) return known;
  const std::uint32_t number = now.new_number();
  cl_ulong memory = 0;
  cl_uint units = 0;
  const cl_icd_dispatch& next = layer().next;
  (void)next.clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr);
  (void)next.clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
  BodyWriter body;
  body.number(number).number(std::uint64_t{memory}).number(std::uint64_t{units});
  body.text(device_text(device, CL_DEVICE_NAME)).text(device_text(device, CL_DEVICE_VENDOR));
  body.text(device_text(device, CL_DRIVER_VERSION));
  layer().channel->define(static_cast<std::uint32_t>(DefinitionType::device), body.bytes());
  now.devices.set(device, number);
  return number;
}

void record_call(Call call, std::uint64_t begin_ticks, cl_int result, std::uint32_t object) noexcept {
  if (!layer().keeps_calls) return;
  const std::uint64_t end_ticks = now_ticks();
  ThreadRing* ring = layer().channel->ring();
  if (ring == nullptr) return;
  ring->put(CallRecord{{static_cast<std::uint16_t>(RecordType::call), sizeof(CallRecord) / 8, call.place},
                       begin_ticks,
                       end_ticks,
                       result,
                       object});
}

}  // namespace accelscope::probe::opencl

using namespace accelscope::probe::opencl;

#define ACCELSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

// Only newer loaders know of properties.
struct LayerProperties;

ACCELSCOPE_EXPORT cl_int clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* size_ret) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (what == CL_LAYER_API_VERSION) return answer(&version, sizeof version, size, value, size_ret);
  return what == CL_LAYER_NAME ? answer(kName, sizeof kName, size, value, size_ret) : CL_INVALID_VALUE;
}

ACCELSCOPE_EXPORT cl_int clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_ret,
                                     const cl_icd_dispatch** table_ret) {
  return init(entries, target, entries_ret, table_ret);
}

ACCELSCOPE_EXPORT cl_int clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_ret,
                                                   const cl_icd_dispatch** table_ret,
                                                   const LayerProperties* properties) {
  (void)properties;
  return init(entries, target, entries_ret, table_ret);
}

ACCELSCOPE_EXPORT cl_int clDeinitLayer() {
  if (layer().channel != nullptr) state().collector.drain();
  return CL_SUCCESS;
}
