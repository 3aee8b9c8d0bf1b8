// Which libcupti is taken: what the environment says, else the one that the program has loaded, else one that belongs
// to it, else the toolkit's, else whatever the loader finds; the first whose version the driver can work with.
#include <dlfcn.h>

#include <new>

#include "capture/probe/cuda/library.h"
#include "capture/probe/cuda/places.h"

namespace accelscope::probe::cuda {
namespace {

template <typename Function>
bool take(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool take_all(void* library, cupti::Library& functions) {
  (void)take(library, "cuptiActivityRegisterTimestampCallback", functions.register_timestamps);
  (void)take(library, "cuptiSetThreadIdType", functions.set_thread_ids);
  (void)take(library, "cuptiActivityEnableLatencyTimestamps", functions.enable_latency_times);
  (void)take(library, "cuptiActivityEnableCudaEventDeviceTimestamps", functions.enable_event_times);
  (void)take(library, "cuptiActivityConfigureUnifiedMemoryCounter", functions.configure_unified_memory);
  (void)take(library, "cuptiGetResultString", functions.get_result_text);
  (void)take(library, "cuptiGetStreamIdEx", functions.get_stream_id);
  (void)take(library, "cuptiGetContextId", functions.get_context_id);
  return take(library, "cuptiGetVersion", functions.get_version) &&
         take(library, "cuptiGetTimestamp", functions.get_timestamp) &&
         take(library, "cuptiGetCallbackName", functions.get_callback_name) &&
         take(library, "cuptiActivityRegisterCallbacks", functions.register_callbacks) &&
         take(library, "cuptiActivityEnable", functions.enable) &&
         take(library, "cuptiActivityDisable", functions.disable) &&
         take(library, "cuptiActivityFlushAll", functions.flush_all) &&
         take(library, "cuptiActivityGetNextRecord", functions.get_next_record) &&
         take(library, "cuptiActivityGetNumDroppedRecords", functions.get_dropped) &&
         take(library, "cuptiSubscribe", functions.subscribe) &&
         take(library, "cuptiUnsubscribe", functions.unsubscribe) &&
         take(library, "cuptiEnableCallback", functions.enable_callback);
}

class Search {
 public:
  Search(std::uint32_t driver, std::string& path, std::string& reason, const LibrarySearch& search)
      : driver_(driver), path_(path), reason_(reason), search_(search) {}

  const cupti::Library* run() {
    if (const char* chosen = std::getenv(kLibraryVariable); chosen != nullptr && *chosen != '\0') {
      if (try_one(chosen, 0)) return found_;
      reason_ = std::string(kLibraryVariable) + " names " + chosen + ": " +
                (reason_.empty() ? "it cannot be loaded" : reason_);
      return nullptr;
    }
    if (!search_.preferred.empty() && try_one(search_.preferred.c_str(), 0)) return found_;
    for (const char* name : kLibraryNames) {
      if (try_one(name, RTLD_NOLOAD)) return found_;
    }
    for (const auto& places : {program_libraries("/proc/self/maps"), toolkit_libraries()}) {
      for (const std::string& place : places) {
        if (try_one(place.c_str(), 0)) return found_;
      }
    }
    for (const char* name : kLibraryNames) {
      if (try_one(name, 0)) return found_;
    }
    const std::string wanted = driver_ == 0 ? "12" : std::to_string(driver_ / 1000);
    reason_ = "libcupti was not found" + (reason_.empty() ? "" : " (" + reason_ + ")") + ", so " + search_.lost +
              "; install the toolkit's package cuda-cupti-" + wanted +
              "-*, or in the program's Python: pip install nvidia-cuda-cupti-cu" + wanted + "; or name it in " +
              kLibraryVariable;
    return nullptr;
  }

 private:
  bool try_one(const char* path, int flags) {
    void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (library == nullptr) return false;
    auto* functions = new (std::nothrow) cupti::Library{};
    if (functions != nullptr && take_all(library, *functions) && fits(path, *functions)) {
      Dl_info place{};
      path_ = ::dladdr(reinterpret_cast<const void*>(functions->get_version), &place) != 0 ? place.dli_fname : path;
      functions->handle = library;
      found_ = functions;
      return true;
    }
    delete functions;
    ::dlclose(library);
    return false;
  }
  bool fits(const char* path, cupti::Library& functions) {
    if (functions.get_version(&functions.version) != cupti::kSuccess) return false;
    const std::uint32_t major = cupti::cuda_major_of(functions.version);
    if (functions.version >= cupti::kVersion11_8 && (driver_ == 0 || major <= driver_ / 1000)) return true;
    reason_ += (reason_.empty() ? "" : "; ") + std::string(path) +
               (functions.version < cupti::kVersion11_8
                    ? " is older than CUDA 11.8"
                    : " is of CUDA " + std::to_string(major) + " and the driver of " + std::to_string(driver_ / 1000));
    return false;
  }

  std::uint32_t driver_;
  std::string& path_;
  std::string& reason_;
  const LibrarySearch& search_;
  const cupti::Library* found_ = nullptr;
};

}  // namespace

const cupti::Library* find_cupti(std::uint32_t driver, std::string& path, std::string& reason,
                                 const LibrarySearch& search) {
  return Search(driver, path, reason, search).run();
}

std::uint32_t driver_version() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  int (*get_version)(int*) = nullptr;
  int version = 0;
  if (driver == nullptr || !take(driver, "cuDriverGetVersion", get_version) || get_version(&version) != 0) return 0;
  return static_cast<std::uint32_t>(version);
}

}  // namespace accelscope::probe::cuda
