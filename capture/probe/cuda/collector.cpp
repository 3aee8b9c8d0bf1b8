#include "capture/probe/cuda/collector.h"

#include <cstdlib>
#include <new>

namespace accelscope::probe::cuda {
namespace {

using cupti::Activity;

constexpr int kFlushesBetweenSearches = 20;
constexpr std::size_t kMostWaiting = std::size_t{1} << 30U;     // bytes of buffers, where threads wait for the agent
constexpr std::size_t kMostDropping = std::size_t{128} << 20U;  // and where events are dropped
constexpr int kEndPatienceMs = 2000;
constexpr std::uint32_t kMostCallNumbers = 1024;  // of a domain; CUPTI knows some 800

// What begins so launches, copies, sets, allocates or frees.
constexpr std::string_view kCallsWithStacks[] = {
    "cudaLaunch", "cudaGraphLaunch", "cudaMemcpy", "cudaMemset", "cudaMalloc", "cudaFree",       "cudaHostAlloc",
    "cuLaunch",   "cuGraphLaunch",   "cuMemcpy",   "cuMemset",   "cuMemAlloc", "cuMemHostAlloc", "cuMemFree",
};

// Calls of the runtime that the thread is within: what they call of the driver is theirs.
constinit thread_local int t_runtime_calls __attribute__((tls_model("initial-exec"))) = 0;

struct ActivityRow {
  Activity kind;
  const char* name;
  const char* setting;  // that turns it on; "": it is always on
  bool while_paused;
};
// What the others name comes first.
constexpr ActivityRow kActivities[] = {
    {Activity::device, "devices", "", true},
    {Activity::context, "contexts", "", true},
    {Activity::stream, "streams", "", true},
    {Activity::memory, "memory", "memory", true},
    {Activity::memory_pool, "memory pools", "memory", true},
    {Activity::concurrent_kernel, "kernels", "", false},
    {Activity::copy, "copies", "", false},
    {Activity::peer_copy, "copies between devices", "", false},
    {Activity::set, "sets", "", false},
    {Activity::graph, "graphs", "whole-graphs", false},
    {Activity::synchronization, "synchronisations", "", false},
    {Activity::cuda_event, "events", "events", false},
    {Activity::runtime_call, "calls of the runtime", "runtime-calls", false},
    {Activity::driver_call, "calls of the driver", "driver-calls", false},
    {Activity::external_correlation, "external correlation", "", false},
    {Activity::jit, "compilation", "", false},
    {Activity::overhead, "overhead", "", false},
    {Activity::unified_memory, "unified memory", "unified-memory", false},
    {Activity::environment, "clocks and temperature", "environment", false},
};

}  // namespace

std::uint8_t* BufferPool::take() {
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    std::uint8_t* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  if (made_ == most_) return nullptr;
  auto* buffer = static_cast<std::uint8_t*>(std::aligned_alloc(4096, kBufferBytes));
  if (buffer != nullptr) ++made_;
  return buffer;
}

void BufferPool::give_back(std::uint8_t* buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
}

Collector& Collector::instance() {
  static Collector* collector = new Collector;
  return *collector;
}

void Collector::forked() {
  library_ = nullptr;
  subscriber_ = nullptr;
  stacks_ = nullptr;
  calls_.clear();
}

void Collector::start() {
  const std::lock_guard lock(mutex_);
  if (!claim()) return;
  const std::uint32_t driver = driver_version();
  std::string path, reason;
  library_ = find_cupti(driver, path, reason);
  if (library_ == nullptr) return trouble(reason);
  if (is_used_by_another()) {
    library_ = nullptr;
    return trouble(
        "the program is traced through CUPTI already (torch.profiler, Nsight Systems ...), which serves one tool: what "
        "the GPU does is left to that one; take its own trace (kind torch), or start the program without it");
  }
  if (is_on("stacks")) stacks_ = new Stacks;
  if (pool_ == nullptr) pool_ = new BufferPool(is_on("drop") ? kMostDropping : kMostWaiting);
  owns_clock_ = library_->register_timestamps != nullptr &&
                library_->register_timestamps([]() -> std::uint64_t { return monotonic_ns(); }) == cupti::kSuccess;
  if (library_->set_thread_ids != nullptr) (void)library_->set_thread_ids(cupti::kSystemThreadIds);
  if (library_->register_callbacks(&buffer_requested, &buffer_completed) != cupti::kSuccess) {
    library_ = nullptr;
    return trouble("CUPTI gives its records to nobody here; nothing of the GPU is captured");
  }
  BodyWriter body;
  body.number(library_->version).number(driver).text(path).number(std::uint8_t{owns_clock_});
  define(DefinitionType::collector, body);
  choose_activities();
  begin("accelscope CUDA");
  enable_callbacks();
  (void)std::atexit([] { instance().finish(); });
}

// Nothing stays subscribed, so that the program itself can subscribe, except where its own calls say what is collected
// or their stacks are wanted.
bool Collector::is_used_by_another() {
  if (subscriber_ != nullptr) return false;
  void* subscriber = nullptr;
  const cupti::Result result = library_->subscribe(&subscriber, &Collector::called, nullptr);
  if (result == cupti::kMultipleSubscribers) return true;
  if (result != cupti::kSuccess) return false;
  if (has_profiler_range() || is_on("stacks")) {
    subscriber_ = subscriber;
  } else {
    (void)library_->unsubscribe(subscriber);
  }
  return false;
}

void Collector::enable_callbacks() {
  if (subscriber_ == nullptr) return;
  if (has_profiler_range()) {
    (void)library_->enable_callback(1, subscriber_, cupti::kDriverApi, cupti::kProfilerStart);
    (void)library_->enable_callback(1, subscriber_, cupti::kDriverApi, cupti::kProfilerStop);
  }
  for (std::uint32_t domain = cupti::kDriverApi; stacks_ != nullptr && domain <= cupti::kRuntimeApi; ++domain) {
    for (std::uint32_t id = 1; id < kMostCallNumbers; ++id) {
      const char* given = nullptr;
      if (library_->get_callback_name(domain, id, &given) != cupti::kSuccess || given == nullptr) continue;
      const std::string_view name(given);
      if (std::any_of(std::begin(kCallsWithStacks), std::end(kCallsWithStacks),
                      [&](std::string_view begin) { return name.substr(0, begin.size()) == begin; })) {
        (void)library_->enable_callback(1, subscriber_, domain, id);
      }
    }
  }
}

void Collector::called(void*, std::uint32_t domain, std::uint32_t id, const void* given) {
  if (given == nullptr || (domain != cupti::kDriverApi && domain != cupti::kRuntimeApi)) return;
  const auto& data = *static_cast<const cupti::CallbackData*>(given);
  const bool is_exit = data.site != 0;
  if (domain == cupti::kDriverApi && (id == cupti::kProfilerStart || id == cupti::kProfilerStop)) {
    if (id == cupti::kProfilerStart && is_exit) instance().enter_profiler_range();
    if (id == cupti::kProfilerStop && !is_exit) instance().leave_range();
    return;
  }
  if (!is_exit && t_runtime_calls == 0) instance().record_stack(data);
  if (domain == cupti::kRuntimeApi) t_runtime_calls = is_exit ? std::max(0, t_runtime_calls - 1) : t_runtime_calls + 1;
}

// Also in a pause: what is allocated then is in use afterwards.
void Collector::record_stack(const cupti::CallbackData& data) {
  ThreadRing* ring = channel_.ring_even_paused();
  if (ring == nullptr || stacks_ == nullptr) return;
  if (const std::uint32_t number = stacks_->number(); number != 0) {
    ring->put(StackRecord{
        {static_cast<std::uint16_t>(RecordType::stack), sizeof(StackRecord) / 8, number}, data.correlation, 0});
  }
}

void Collector::name_resource(Resource resource, std::uint32_t number, const char* name) {
  BodyWriter body;
  define(DefinitionType::resource, body.number(resource).number(number).text(name));
}

void Collector::name_stream(void* stream, const char* name) {
  std::uint32_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (library_ == nullptr || library_->get_stream_id == nullptr ||
        library_->get_stream_id(nullptr, stream, 0, &number) != cupti::kSuccess) {
      return;
    }
  }
  name_resource(Resource::stream, number, name);
}

void Collector::name_context(void* context, const char* name) {
  std::uint32_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (library_ == nullptr || library_->get_context_id == nullptr ||
        library_->get_context_id(context, &number) != cupti::kSuccess) {
      return;
    }
  }
  name_resource(Resource::context, number, name);
}

void Collector::choose_activities() {
  activities_.clear();
  for (const ActivityRow& row : kActivities) {
    if (is_on(row.setting)) activities_.push_back({row.kind, row.while_paused, false});
  }
  if (is_on("queue-times") && library_->enable_latency_times != nullptr) (void)library_->enable_latency_times(1);
  if (is_on("events") && library_->enable_event_times != nullptr) (void)library_->enable_event_times(1);
  if (!is_on("unified-memory") || library_->configure_unified_memory == nullptr) return;
  std::array<cupti::UnifiedMemoryConfig, std::size(cupti::kUnifiedMemoryKinds)> configs;
  for (std::size_t i = 0; i < configs.size(); ++i) configs[i].kind = cupti::kUnifiedMemoryKinds[i];
  if (library_->configure_unified_memory(configs.data(), static_cast<std::uint32_t>(configs.size())) !=
      cupti::kSuccess) {
    trouble("this driver or device tells nothing of unified memory");
  }
}

void Collector::switch_tracing(bool on) {
  if (another_) return;
  std::string missing;
  cupti::Result reason = cupti::kSuccess;
  for (Chosen& chosen : activities_) {
    const bool wanted = on || (chosen.while_paused && channel_.attached());
    if (chosen.enabled == wanted) continue;
    const cupti::Result result = wanted ? library_->enable(chosen.kind) : library_->disable(chosen.kind);
    chosen.enabled = wanted;
    if (!wanted || result == cupti::kSuccess || result == cupti::kInvalidKind) continue;
    for (const ActivityRow& row : kActivities) {
      if (row.kind == chosen.kind) missing += (missing.empty() ? "" : ", ") + std::string(row.name);
    }
    reason = result;
  }
  if (missing.empty()) return;
  const char* result_text = nullptr;
  if (library_->get_result_text != nullptr) (void)library_->get_result_text(reason, &result_text);
  std::string text = "CUPTI collects no " + missing + ": " +
                     (result_text != nullptr ? result_text : "error " + std::to_string(reason));
  if (reason == cupti::kInsufficientPrivileges) {
    text +=
        "; let all users profile (options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then load "
        "the module anew), or give the program CAP_SYS_ADMIN";
  }
  trouble(text);
}

void Collector::release() {
  switch_tracing(false);
  if (subscriber_ != nullptr) (void)library_->unsubscribe(subscriber_);
  subscriber_ = nullptr;
}

void Collector::flush() {
  if (another_) return;
  (void)library_->flush_all(0);
  if (++flushes_ % kFlushesBetweenSearches != 0 || !is_used_by_another()) return;
  another_ = true;
  trouble(
      "another tool in the program (torch.profiler ...) has taken CUPTI over, which serves one: what the GPU did from "
      "then on is in its trace, not here");
}

// What has ended, in order; then the rest, of which CUPTI may know no end; and what its own thread has in hand. It
// waits for the agent at most, which may be gone.
void Collector::flush_all() {
  for (const std::uint32_t flag : {0U, cupti::kFlushForced}) {
    if (!another_) (void)library_->flush_all(flag);
  }
  constexpr timespec kMillisecond{0, 1'000'000};
  for (int i = 0; i < kEndPatienceMs && translating_.load() != 0; ++i) (void)::nanosleep(&kMillisecond, nullptr);
}

bool Collector::read_library_clock(std::uint64_t& ns) {
  return !another_ && library_->get_timestamp(&ns) == cupti::kSuccess;
}

}  // namespace accelscope::probe::cuda

using accelscope::probe::cuda::Collector;

// The driver calls it while it starts, in every program that has CUDA_INJECTION64_PATH.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  Collector::instance().start();
  return 1;
}
