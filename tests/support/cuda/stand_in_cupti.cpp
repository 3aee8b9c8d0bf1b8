#include "tests/support/cuda/stand_in_cupti.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Requested = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Completed = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using Callback = void (*)(void*, std::uint32_t, std::uint32_t, const void*);

constexpr int kSuccess = 0, kInvalidParameter = 1, kMaxLimitReached = 12, kInvalidKind = 21, kMultipleSubscribers = 39;

struct Size {
  std::uint32_t kind, version, bytes;
};
// From a version on; of one kind the newest first. As the headers of the toolkits have them.
constexpr Size kSizes[] = {
    {1, 26, 96},   {1, 0, 88},    {2, 0, 88},   {3, 130000, 216}, {3, 19, 208}, {3, 0, 200},  {10, 130000, 216},
    {10, 19, 208}, {10, 0, 200},  {4, 0, 40},   {5, 0, 40},       {8, 22, 184}, {8, 0, 176},  {9, 26, 32},
    {9, 22, 24},   {9, 0, 16},    {17, 22, 56}, {17, 20, 48},     {17, 0, 40},  {20, 0, 40},  {22, 0, 96},
    {25, 26, 104}, {25, 0, 64},   {36, 26, 56}, {36, 0, 24},      {37, 0, 24},  {38, 26, 56}, {38, 0, 40},
    {39, 0, 24},   {49, 24, 128}, {49, 0, 120}, {50, 130000, 80}, {50, 0, 72},  {51, 22, 56}, {51, 0, 48},
    {52, 22, 72},  {52, 0, 64},   {53, 0, 56},
};

std::uint32_t number_of(const char* variable, std::uint32_t usual) {
  const char* value = std::getenv(variable);
  return value == nullptr ? usual : static_cast<std::uint32_t>(std::atol(value));
}

const std::uint32_t g_version = number_of("STAND_IN_CUPTI", 130001);

std::size_t size_of(std::uint32_t kind) {
  for (const Size& size : kSizes) {
    if (size.kind == kind && size.version <= g_version) return size.bytes;
  }
  return 0;
}

struct Buffer {
  std::mutex mutex;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  bool is_incomplete = false;
};
struct Full {
  std::uint8_t* bytes;
  std::size_t size, used;
};

// Never destroyed: the program's threads outlive it.
struct State {
  std::mutex mutex;
  Requested requested = nullptr;
  Completed completed = nullptr;
  std::array<std::atomic<bool>, 64> enabled{};
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::atomic<std::size_t> dropped{0};
  std::atomic<std::uint64_t (*)()> clock{nullptr};
  std::atomic<std::uint32_t> last_correlation{0};
  std::atomic<Callback> callback{nullptr};
  void* subscriber = nullptr;
  std::atomic<std::uint64_t> flushes{0}, refusals{0};
  std::array<std::array<std::atomic<bool>, 1024>, 3> callbacks{};  // by domain and number

  std::mutex full_mutex;
  std::condition_variable full_changed;
  std::deque<Full> full;
  int working = 0;
  bool has_worker = false;
};
State& state() {
  static State* all = new State;
  return *all;
}

std::uint64_t now() {
  if (const auto clock = state().clock.load(std::memory_order_relaxed)) return clock();
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::shared_ptr<Buffer>& own_buffer() {
  thread_local std::shared_ptr<Buffer> buffer = [] {
    auto made = std::make_shared<Buffer>();
    const std::lock_guard lock(state().mutex);
    state().buffers.push_back(made);
    return made;
  }();
  return buffer;
}

// Gives the oldest full buffer out; false: there is none.
bool give_one(std::unique_lock<std::mutex>& lock) {
  if (state().full.empty()) return false;
  const Full full = state().full.front();
  state().full.pop_front();
  ++state().working;
  lock.unlock();
  state().completed(nullptr, 0, full.bytes, full.size, full.used);
  lock.lock();
  --state().working;
  state().full_changed.notify_all();
  return true;
}

void work() {
  std::unique_lock lock(state().full_mutex);
  for (;;) {
    if (!give_one(lock)) state().full_changed.wait(lock);
  }
}

void queue_full(Buffer& buffer) {
  const std::lock_guard lock(state().full_mutex);
  state().full.push_back({buffer.bytes, buffer.size, buffer.used});
  buffer.bytes = nullptr;
  if (!state().has_worker) std::thread(work).detach();
  state().has_worker = true;
  state().full_changed.notify_all();
}

// Under the buffer's lock.
std::uint8_t* room(Buffer& buffer, std::size_t bytes) {
  if (buffer.bytes != nullptr && buffer.used + bytes > buffer.size) queue_full(buffer);
  if (buffer.bytes == nullptr) {
    std::size_t most = 0;
    buffer.used = 0;
    state().requested(&buffer.bytes, &buffer.size, &most);
    if (buffer.bytes == nullptr) {
      ++state().dropped;
      return nullptr;
    }
  }
  std::uint8_t* at = buffer.bytes + buffer.used;
  buffer.used += bytes;
  return at;
}

template <typename T>
void set(std::uint8_t* record, std::size_t at, T value) {
  std::memcpy(record + at, &value, sizeof value);
}

bool is_wanted(std::uint32_t kind) {
  return state().completed != nullptr && state().enabled[kind % 64].load(std::memory_order_relaxed);
}

}  // namespace

extern "C" {

bool stand_in_record(const std::uint8_t* record, std::size_t bytes) {
  std::uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  if (!is_wanted(kind)) return false;
  const std::size_t size = size_of(kind);
  Buffer& buffer = *own_buffer();
  const std::lock_guard lock(buffer.mutex);
  std::uint8_t* at = room(buffer, size);
  if (at == nullptr) return false;
  std::memset(at, 0, size);
  std::memcpy(at, record, bytes < size ? bytes : size);
  return true;
}

std::uint32_t stand_in_launch(const char* kernel, std::uint32_t stream) {
  static const std::size_t kKernelBytes = size_of(10);
  static thread_local const auto kThread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  const std::uint32_t correlation = ++state().last_correlation;
  const std::uint64_t begin = now();
  stand_in_call(2, 211, correlation, false);
  stand_in_call(1, 307, correlation, false);
  stand_in_call(1, 307, correlation, true);
  stand_in_call(2, 211, correlation, true);
  const std::uint64_t end = now();
  Buffer& buffer = *own_buffer();
  const std::lock_guard lock(buffer.mutex);
  if (is_wanted(5)) {
    if (std::uint8_t* at = room(buffer, 40)) {
      set(at, 0, std::uint32_t{5});
      set(at, 4, std::uint32_t{211});
      set(at, 8, begin);
      set(at, 16, end);
      set(at, 24, static_cast<std::uint32_t>(::getpid()));
      set(at, 28, kThread);
      set(at, 32, correlation);
      set(at, 36, std::uint32_t{0});
    }
  }
  if (is_wanted(10)) {
    if (std::uint8_t* at = room(buffer, kKernelBytes)) {
      std::memset(at, 0, kKernelBytes);
      set(at, 0, std::uint32_t{10});
      set(at, 16, end);
      set(at, 24, end + 1000);
      set(at, 44, std::uint32_t{1});
      set(at, 48, stream);
      for (std::size_t i = 52; i < 76; i += 4) set(at, i, std::int32_t{1});
      set(at, 92, correlation);
      set(at, 104, kernel);
    }
  }
  return correlation;
}

void stand_in_buffer(const std::uint8_t* bytes, std::size_t count, std::size_t valid) {
  Buffer buffer;
  std::uint8_t* at = room(buffer, 0);
  if (at == nullptr) return;
  std::memset(at, 0, buffer.size);
  std::memcpy(at, bytes, count);
  state().completed(nullptr, 0, buffer.bytes, buffer.size, valid);
}

void stand_in_drop(std::size_t records) { state().dropped += records; }

void stand_in_call(std::uint32_t domain, std::uint32_t id, std::uint32_t correlation, bool is_exit) {
  const Callback callback = state().callback.load(std::memory_order_acquire);
  if (callback == nullptr || !state().callbacks[domain][id].load(std::memory_order_relaxed)) return;
  const std::uint32_t data[18] = {is_exit, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, correlation};
  callback(nullptr, domain, id, data);
}

void stand_in_profiler(bool on) {
  stand_in_call(1, on ? 308 : 309, 0, false);
  stand_in_call(1, on ? 308 : 309, 0, true);
}

void stand_in_incomplete(bool is_incomplete) {
  Buffer& buffer = *own_buffer();
  const std::lock_guard lock(buffer.mutex);
  buffer.is_incomplete = is_incomplete;
}

std::uint64_t stand_in_flushes() { return state().flushes; }
std::uint64_t stand_in_refusals() { return state().refusals; }

int cuptiGetVersion(std::uint32_t* version) {
  *version = g_version;
  return kSuccess;
}

int cuptiGetTimestamp(std::uint64_t* time) {
  timespec real{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  *time = std::getenv("STAND_IN_ANSWERS_REAL_TIME") == nullptr
              ? now()
              : static_cast<std::uint64_t>(real.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(real.tv_nsec);
  return kSuccess;
}

int cuptiGetResultString(int result, const char** text) {
  *text = result == kInvalidKind ? "CUPTI_ERROR_INVALID_KIND" : "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
  return kSuccess;
}

int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t id, const char** name) {
  struct Known {
    std::uint32_t domain, id;
    const char* name;
  };
  static constexpr Known kNames[] = {
      {1, 307, "cuLaunchKernel"},
      {1, 277, "cuMemcpyHtoDAsync_v2"},
      {2, 211, "cudaLaunchKernel_v7000"},
      {2, 41, "cudaMemcpyAsync_v3020"},
      {2, 131, "cudaStreamSynchronize_v3020"},
      {2, 20, "cudaMalloc_v3020"},
      {2, 22, "cudaFree_v3020"},
      {2, 10, "cudaGetLastError_v3020"},
      {2, 135, "cudaEventRecord_v3020"},
      {2, 147, "cudaStreamWaitEvent_v3020"},
      {2, 311, "cudaGraphLaunch_v10000"},
  };
  for (const Known& known : kNames) {
    if (known.domain == domain && known.id == id) {
      *name = known.name;
      return kSuccess;
    }
  }
  *name = nullptr;
  return kInvalidParameter;
}

int cuptiActivityRegisterCallbacks(Requested requested, Completed completed) {
  const std::lock_guard lock(state().mutex);
  state().requested = requested;
  state().completed = completed;
  return kSuccess;
}

int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  const char* own = std::getenv("STAND_IN_OWN_CLOCK");
  if (own == nullptr) state().clock = clock;
  return own == nullptr || std::strcmp(own, "silent") == 0 ? kSuccess : kInvalidParameter;
}

int cuptiSetThreadIdType(std::uint32_t) { return kSuccess; }
int cuptiActivityEnableLatencyTimestamps(std::uint8_t) { return kSuccess; }
int cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) { return kSuccess; }
int cuptiActivityConfigureUnifiedMemoryCounter(void*, std::uint32_t) { return kSuccess; }

int cuptiActivityEnable(std::uint32_t kind) {
  if (size_of(kind) == 0) return kInvalidKind;
  if (number_of("STAND_IN_FORBIDS", 0) == kind) return 35;
  state().enabled[kind % 64] = true;
  return kSuccess;
}
int cuptiActivityDisable(std::uint32_t kind) {
  state().enabled[kind % 64] = false;
  return kSuccess;
}

int cuptiActivityFlushAll(std::uint32_t flag) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  {
    const std::lock_guard lock(state().mutex);
    buffers = state().buffers;
  }
  for (const std::shared_ptr<Buffer>& buffer : buffers) {
    Full full{};
    {
      const std::lock_guard lock(buffer->mutex);
      if (buffer->bytes == nullptr || buffer->used == 0 || (buffer->is_incomplete && flag == 0)) continue;
      full = {buffer->bytes, buffer->size, buffer->used};
      buffer->bytes = nullptr;
    }
    state().completed(nullptr, 0, full.bytes, full.size, full.used);
  }
  std::unique_lock lock(state().full_mutex);
  while (give_one(lock)) {
  }
  state().full_changed.wait(lock, [] { return state().working == 0; });
  ++state().flushes;
  return kSuccess;
}

int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  static const bool kLies = std::getenv("STAND_IN_LIES") != nullptr;
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    const std::size_t size = size_of(kind);
    if (size == 0) {
      if (kLies) return kSuccess;  // the same one for ever
      next = *record + 16;
    } else {
      next = *record + size;
    }
  }
  if (next >= buffer + valid) {
    if (kLies && next == buffer + valid) {
      *record = next + (1 << 20);
      return kSuccess;
    }
    return kMaxLimitReached;
  }
  *record = next;
  return kSuccess;
}

int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  *dropped = state().dropped.exchange(0);
  return kSuccess;
}

int cuptiSubscribe(void** subscriber, Callback callback, void*) {
  if (std::getenv("STAND_IN_SUBSCRIBED") != nullptr || state().subscriber != nullptr) {
    ++state().refusals;
    return kMultipleSubscribers;
  }
  state().callback = callback;
  *subscriber = state().subscriber = &state();
  return kSuccess;
}
int cuptiUnsubscribe(void*) {
  state().subscriber = nullptr;
  state().callback = nullptr;
  return kSuccess;
}
int cuptiEnableCallback(std::uint32_t enable, void*, std::uint32_t domain, std::uint32_t id) {
  state().callbacks[domain][id] = enable != 0;
  return kSuccess;
}

// Handles of the tests are the numbers themselves.
int cuptiGetStreamIdEx(void*, void* stream, std::uint8_t, std::uint32_t* id) {
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  return kSuccess;
}
int cuptiGetContextId(void* context, std::uint32_t* id) { return cuptiGetStreamIdEx(nullptr, context, 0, id); }
}
