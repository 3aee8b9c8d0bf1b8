#include "capture/kinds/cuda/counters.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace accelscope::capture::kinds::cuda {
namespace {

using namespace std::chrono_literals;

constexpr const char* kNvmlVariable = "ACCELSCOPE_NVML";
constexpr const char* kNvml = "libnvidia-ml.so.1";
constexpr auto kPeriod = 100ms;
constexpr int kTurnsOfTraffic = 5;             // between two looks at PCIe, which take long
constexpr std::size_t kMostSamples = 1 << 16;  // that nobody takes
constexpr int kSuccess = 0;
constexpr unsigned kMostGpus = 64;

}  // namespace

// The functions that are used, as NVML declares them; a device is a pointer.
struct GpuCounters::Nvml {
  struct Utilization {
    unsigned gpu, memory;
  };
  struct Memory {
    unsigned long long total, free, used;
  };
  int (*init)();
  int (*shutdown)();
  int (*get_count)(unsigned*);
  int (*get_device)(unsigned, void**);
  int (*get_uuid)(void*, char*, unsigned);
  int (*get_utilization)(void*, Utilization*);
  int (*get_memory)(void*, Memory*);
  int (*get_clock)(void*, unsigned, unsigned*);  // 1: SM, 2: memory
  int (*get_power)(void*, unsigned*);
  int (*get_temperature)(void*, unsigned, unsigned*);
  int (*get_traffic)(void*, unsigned, unsigned*);  // 0: sent, 1: received; KiB/s

  void* library = nullptr;
  struct Device {
    void* handle = nullptr;
    std::string uuid;
  };
  std::vector<Device> devices;

  ~Nvml() {
    if (!devices.empty()) (void)shutdown();
    if (library != nullptr) ::dlclose(library);
  }
  template <typename Function>
  [[nodiscard]] bool take(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
  }
  // Why not; "": it is.
  [[nodiscard]] std::string open() {
    const char* chosen = std::getenv(kNvmlVariable);
    library = ::dlopen(chosen == nullptr ? kNvml : chosen, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return fmt::format("{} is not there; it comes with the driver", kNvml);
    const bool whole =
        take("nvmlInit_v2", init) && take("nvmlShutdown", shutdown) && take("nvmlDeviceGetCount_v2", get_count) &&
        take("nvmlDeviceGetHandleByIndex_v2", get_device) && take("nvmlDeviceGetUUID", get_uuid) &&
        take("nvmlDeviceGetUtilizationRates", get_utilization) && take("nvmlDeviceGetMemoryInfo", get_memory) &&
        take("nvmlDeviceGetClockInfo", get_clock) && take("nvmlDeviceGetPowerUsage", get_power) &&
        take("nvmlDeviceGetTemperature", get_temperature) && take("nvmlDeviceGetPcieThroughput", get_traffic);
    if (!whole) return fmt::format("{} is too old", kNvml);
    unsigned count = 0;
    if (init() != kSuccess) return fmt::format("{} finds no driver", kNvml);
    if (get_count(&count) != kSuccess) count = 0;
    for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
      Device device;
      std::array<char, 96> uuid{};
      if (get_device(i, &device.handle) != kSuccess) continue;
      if (get_uuid(device.handle, uuid.data(), static_cast<unsigned>(uuid.size())) == kSuccess)
        device.uuid = uuid.data();
      devices.push_back(std::move(device));
    }
    return devices.empty() ? fmt::format("{} finds no GPU", kNvml) : "";
  }
};

GpuCounters::GpuCounters(std::chrono::steady_clock::time_point origin) : origin_(origin), nvml_(new Nvml{}) {
  failure_ = nvml_->open();
  if (failure_.empty()) thread_ = std::thread(&GpuCounters::run, this);
}

GpuCounters::~GpuCounters() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  delete nvml_;
}

std::vector<GpuSample> GpuCounters::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(samples_, {});
}

void GpuCounters::run() {
  for (int turn = 0;; ++turn) {
    sample(turn % kTurnsOfTraffic == 0);
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kPeriod, [this] { return over_; })) return;
  }
}

void GpuCounters::sample(bool with_traffic) {
  for (const Nvml::Device& device : nvml_->devices) {
    std::vector<GpuSample> found;
    const auto add = [&](int result, GpuFigure figure, double value) {
      if (result != kSuccess) return;
      const auto now = std::chrono::steady_clock::now() - origin_;
      found.push_back({device.uuid, std::chrono::nanoseconds(now).count(), figure,
                       value * kGpuFigures[static_cast<std::size_t>(figure)].scale});
    };
    Nvml::Utilization utilization{};
    Nvml::Memory memory{};
    unsigned number = 0;
    if (nvml_->get_utilization(device.handle, &utilization) == kSuccess) {
      add(kSuccess, GpuFigure::busy, utilization.gpu);
      add(kSuccess, GpuFigure::memory_busy, utilization.memory);
    }
    int result = nvml_->get_memory(device.handle, &memory);
    add(result, GpuFigure::memory_used, static_cast<double>(memory.used));
    result = nvml_->get_clock(device.handle, 1, &number);
    add(result, GpuFigure::sm_clock, number);
    result = nvml_->get_clock(device.handle, 2, &number);
    add(result, GpuFigure::memory_clock, number);
    result = nvml_->get_power(device.handle, &number);
    add(result, GpuFigure::power, number);
    result = nvml_->get_temperature(device.handle, 0, &number);
    add(result, GpuFigure::temperature, number);
    if (with_traffic) {
      result = nvml_->get_traffic(device.handle, 0, &number);
      add(result, GpuFigure::pcie_sent, number);
      result = nvml_->get_traffic(device.handle, 1, &number);
      add(result, GpuFigure::pcie_received, number);
    }
    const std::lock_guard lock(mutex_);
    if (samples_.size() < kMostSamples) samples_.insert(samples_.end(), found.begin(), found.end());
  }
}

std::string nvml_failure() {
  // Asks nothing: that would wake a sleeping driver.
  void* library = ::dlopen(kNvml, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return fmt::format("{} is not there; it comes with the driver", kNvml);
  ::dlclose(library);
  return {};
}

}  // namespace accelscope::capture::kinds::cuda
