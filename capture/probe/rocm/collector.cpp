#include "capture/probe/rocm/collector.h"

#include <dlfcn.h>

namespace accelscope::probe::rocm {
namespace {

constexpr std::size_t kBufferBytes = 4U << 20U;
constexpr int kEndPatienceMs = 2000;

using sdk::Layout;
constexpr KindRow kKinds[] = {
    {"KERNEL_DISPATCH", "", Layout::dispatch, false},
    {"MEMORY_COPY", "", Layout::copy, false},
    {"MEMORY_ALLOCATION", "memory", Layout::allocation, true},
    {"SCRATCH_MEMORY", "memory", Layout::scratch, false},
    {"HIP_RUNTIME_API", "hip-calls", Layout::call, false},
    {"RCCL_API", "hip-calls", Layout::call, false},
    {"ROCDECODE_API", "hip-calls", Layout::call, false},
    {"ROCJPEG_API", "hip-calls", Layout::call, false},
    {"HIP_COMPILER_API", "hsa-calls", Layout::call, false},
    {"HSA_CORE_API", "hsa-calls", Layout::call, false},
    {"HSA_AMD_EXT_API", "hsa-calls", Layout::call, false},
    {"KFD_PAGE_MIGRATE", "page-migration", Layout::migration, false},
    {"KFD_PAGE_FAULT", "page-migration", Layout::fault, false},
};

// The number that the library's version has for a name; 0: none.
template <typename GetName>
[[nodiscard]] std::uint32_t number_of(std::string_view wanted, std::uint32_t most, GetName get_name) {
  for (std::uint32_t kind = 1; kind < most; ++kind) {
    const char* name = nullptr;
    std::uint64_t length = 0;
    if (get_name(kind, &name, &length) == sdk::kSuccess && name != nullptr && name == wanted) return kind;
  }
  return 0;
}

}  // namespace

Collector& Collector::instance() {
  static Collector* collector = new Collector;
  return *collector;
}

sdk::Tool* Collector::configure(std::uint32_t version, const void* caller) {
  const std::lock_guard lock(mutex_);
  if (!claim()) return nullptr;
  version_ = version;
  if (!find_library(caller)) return nullptr;
  static sdk::Tool tool{sizeof tool, [](auto, void*) { return instance().initialize() ? 0 : -1; },
                        [](void*) { instance().finish(); }, nullptr};
  return &tool;
}

bool Collector::find_library(const void* caller) {
  if (!sdk::is_known(version_)) {
    trouble("rocprofiler-sdk " + std::to_string(version_ / 10'000) + "." + std::to_string(version_ / 100 % 100) +
            " lays its records out in no known way, so nothing of the GPU is captured; versions 0.4 to 0.6 (ROCm 6.2 "
            "to 6.4) and those from 1.0 (ROCm 7) on can be");
    return false;
  }
  void* library = nullptr;
  Dl_info place{};
  if (::dladdr(caller, &place) != 0 && place.dli_fname != nullptr) {
    path_ = place.dli_fname;
    library = ::dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  const auto take = [&](const char* name, auto& function) {
    for (void* each : {library, static_cast<void*>(RTLD_DEFAULT)}) {
      if (each == nullptr && each == library) continue;
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(each, name));
      if (function != nullptr) return true;
    }
    return false;
  };
  (void)take("rocprofiler_create_callback_thread", library_.create_thread);
  (void)take("rocprofiler_assign_callback_thread", library_.assign_thread);
  (void)take("rocprofiler_configure_external_correlation_id_request_service", library_.configure_requests);
  (void)take("rocprofiler_get_status_string", library_.get_status_text);
  if (take("rocprofiler_get_timestamp", library_.get_timestamp) &&
      take("rocprofiler_create_context", library_.create_context) &&
      take("rocprofiler_start_context", library_.start_context) &&
      take("rocprofiler_stop_context", library_.stop_context) &&
      take("rocprofiler_create_buffer", library_.create_buffer) &&
      take("rocprofiler_flush_buffer", library_.flush_buffer) &&
      take("rocprofiler_configure_buffer_tracing_service", library_.configure_buffer) &&
      take("rocprofiler_configure_callback_tracing_service", library_.configure_callback) &&
      take("rocprofiler_query_buffer_tracing_kind_name", library_.get_buffer_kind) &&
      take("rocprofiler_query_callback_tracing_kind_name", library_.get_callback_kind) &&
      take("rocprofiler_query_buffer_tracing_kind_operation_name", library_.get_operation) &&
      take("rocprofiler_query_available_agents", library_.query_agents)) {
    return true;
  }
  trouble(path_ +
          " is no rocprofiler-sdk that can be used, so nothing of the GPU is captured; install the package "
          "rocprofiler-sdk of ROCm 6.2 or later");
  return false;
}

bool Collector::initialize() {
  const std::lock_guard lock(mutex_);
  if (!make_context(always_, always_buffer_) || !make_context(traced_, traced_buffer_)) {
    trouble("rocprofiler-sdk makes no context or buffer, so nothing of the GPU is captured");
    return false;
  }
  BodyWriter body;
  define(DefinitionType::collector, body.number(version_).text(path_));
  define_agents();
  choose_records();
  choose_callbacks();
  if (const sdk::Status status = library_.start_context(always_); status != sdk::kSuccess) {
    trouble("rocprofiler-sdk does not start: error " + std::to_string(status));
    return false;
  }
  begin("accelscope ROCm");
  return true;
}

bool Collector::make_context(sdk::Context& context, sdk::Buffer& buffer) {
  const int policy = is_on("drop") ? sdk::kDropsWhenFull : sdk::kWaitsWhenFull;
  if (library_.create_context(&context) != sdk::kSuccess ||
      library_.create_buffer(context, kBufferBytes, kBufferBytes / 2, policy, &Collector::taken, nullptr, &buffer) !=
          sdk::kSuccess) {
    return false;
  }
  sdk::CallbackThread thread{};
  if (library_.create_thread != nullptr && library_.assign_thread != nullptr &&
      library_.create_thread(&thread) == sdk::kSuccess) {
    (void)library_.assign_thread(buffer, thread);
  }
  return true;
}

void Collector::choose_records() {
  for (const KindRow& row : kKinds) {
    if (!is_on(row.setting)) continue;
    const std::uint32_t kind = number_of(row.name, kMostKinds, library_.get_buffer_kind);
    const bool is_missing = kind == 0 && row.layout == Layout::migration;
    const sdk::Status status = kind == 0
                                   ? sdk::kSuccess
                                   : library_.configure_buffer(row.while_paused ? always_ : traced_, kind, nullptr, 0,
                                                               row.while_paused ? always_buffer_ : traced_buffer_);
    if (kind != 0 && status == sdk::kSuccess) rows_[kind] = &row;
    if (!is_missing && status == sdk::kSuccess) continue;
    const char* text = library_.get_status_text == nullptr ? nullptr : library_.get_status_text(status);
    trouble(std::string("rocprofiler-sdk collects no ") + row.name + ": " +
            (is_missing                           ? "it does so from ROCm 7 on"
             : status == sdk::kIncompatibleKernel ? "the system's amdgpu driver is too old for it"
             : text != nullptr                    ? text
                                                  : "error " + std::to_string(status)));
  }
}

void Collector::choose_callbacks() {
  const auto choose = [&](const char* name, std::uint32_t& kind) {
    kind = number_of(name, kMostKinds, library_.get_callback_kind);
    const auto callback = version_ >= sdk::kWideIds ? reinterpret_cast<void (*)()>(&Collector::called<sdk::WideIds>)
                                                    : reinterpret_cast<void (*)()>(&Collector::called<sdk::Ids>);
    if (kind != 0 && library_.configure_callback(always_, kind, nullptr, 0, callback, nullptr) != sdk::kSuccess) {
      kind = 0;
    }
  };
  choose("CODE_OBJECT", callbacks_.symbols);
  if (callbacks_.symbols == 0) trouble("rocprofiler-sdk gives no names of kernels");
  if (roctx_) {
    choose("MARKER_CORE_API", callbacks_.marks);
    choose("MARKER_NAME_API", callbacks_.names);
  }
  if (has_profiler_range()) choose("MARKER_CONTROL_API", callbacks_.controls);
  // Which stream a kernel or copy is on is known by the thread that enqueues it.
  choose("HIP_STREAM", callbacks_.streams);
  if (callbacks_.streams != 0 && library_.configure_requests != nullptr) {
    (void)library_.configure_requests(traced_, sdk::kStreamRequests, std::size(sdk::kStreamRequests),
                                      &Collector::requested, nullptr);
  }
}

void Collector::define_agents() {
  const auto each = [](std::uint32_t, const void** agents, std::size_t count, void*) -> sdk::Status {
    struct Fact {
      const char* name;
      U32 field;
    };
    namespace from = sdk::agent;
    static constexpr Fact kFacts[] = {
        {"cu_count", from::compute_units},
        {"wave_front_size", from::wave_lanes},
        {"max_engine_clk_fcompute", from::clock_mhz},
        {"gfx_target_version", from::gfx_version},
        {"lds_size_in_kb", from::lds_kib},
        {"simd_per_cu", from::simds_per_unit},
        {"max_waves_per_simd", from::waves_per_simd},
        {"num_xcc", from::xccs},
        {"num_sdma_engines", from::dma_engines},
        {"workgroup_max_size", from::largest_workgroup},
    };
    for (std::size_t i = 0; i < count; ++i) {
      const auto* begin = static_cast<const std::uint8_t*>(agents[i]);
      const auto bytes = RawRecord{begin, sizeof(std::uint64_t)}.get(sdk::kSize);
      if (bytes < from::kBytes) {
        instance().lost(LossCause::cut, 1);
        continue;
      }
      const RawRecord raw{begin, from::kBytes};
      std::uint64_t memory_bytes = 0;  // the device's own is the first bank
      if (raw.get(from::memory_banks) > 0 && raw.get(from::banks) != nullptr) {
        memory_bytes = RawRecord{raw.get(from::banks), from::kBankBytes}.get(from::first_bank_bytes);
      }
      const auto text = [&](Text field) { return raw.get(field) == nullptr ? "" : raw.get(field); };
      BodyWriter body;
      body.number(raw.get(from::id)).number(std::uint8_t{raw.get(from::type) == sdk::kGpuAgent}).number(memory_bytes);
      body.text(text(from::name)).text(text(from::product)).number(static_cast<std::uint32_t>(std::size(kFacts)));
      for (const Fact& fact : kFacts) body.text(fact.name).number(raw.get(fact.field));
      instance().define(DefinitionType::agent, body);
    }
    return sdk::kSuccess;
  };
  (void)library_.query_agents(sdk::kAgentVersion, each, sdk::agent::kBytes, nullptr);
}

void Collector::switch_tracing(bool on) {
  (void)(on ? library_.start_context(traced_) : library_.stop_context(traced_));
}

void Collector::release() {
  (void)library_.stop_context(traced_);
  (void)library_.stop_context(always_);
}

void Collector::flush() {
  (void)library_.flush_buffer(always_buffer_);
  (void)library_.flush_buffer(traced_buffer_);
}

void Collector::flush_all() {
  constexpr timespec kMillisecond{0, 1'000'000};
  for (const sdk::Buffer buffer : {always_buffer_, traced_buffer_}) {
    for (int i = 0; i < kEndPatienceMs && library_.flush_buffer(buffer) == sdk::kBufferBusy; ++i) {
      (void)::nanosleep(&kMillisecond, nullptr);
    }
  }
}

bool Collector::read_library_clock(std::uint64_t& ns) { return library_.get_timestamp(&ns) == sdk::kSuccess; }

}  // namespace accelscope::probe::rocm

// rocprofiler-sdk calls it in every library that ROCP_TOOL_LIBRARIES names.
extern "C" __attribute__((visibility("default"))) accelscope::probe::rocm::sdk::Tool* rocprofiler_configure(
    std::uint32_t version, const char* /*runtime_version*/, std::uint32_t /*priority*/, void* /*client_id*/) {
  return accelscope::probe::rocm::Collector::instance().configure(version, __builtin_return_address(0));
}
