#include "capture/kinds/cuda/pm_sampling.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "capture/kinds/cuda/pm_metrics.h"
#include "capture/probe/cuda/cupti_abi.h"
#include "capture/probe/cuda/library.h"
#include "capture/probe/cuda/places.h"
#include "core/base/format.h"

namespace accelscope::capture::kinds::cuda {
namespace {

using namespace std::chrono_literals;

constexpr const char* kDriverVariable = "ACCELSCOPE_CUDA_DRIVER";
constexpr const char* kDriverLibrary = "libcuda.so.1";
constexpr auto kDecodePeriod = 100ms;
constexpr auto kSettlePatience = 5s;
constexpr std::size_t kBufferBytes = std::size_t{256} << 20U;  // of the hardware; a large chip fills 300 MB a second
constexpr std::uint32_t kImageSamples = 4096;                  // of one decode
constexpr int kMostDecodes = 64;                               // one after the other while images come back full
constexpr std::size_t kMostWaiting = 1 << 17;                  // samples that nobody takes
constexpr double kUsualCyclesPerSecond = 1.4e9;                // of the clock that triggers where time cannot
constexpr std::int64_t kPlausibleClockNs = 3'600'000'000'000;
constexpr unsigned kSysAdmin = 21;  // CAP_SYS_ADMIN
constexpr const char* kHowToAllow =
    "run the agent as root or with CAP_SYS_ADMIN (a container: --cap-add SYS_ADMIN), or let all users: write 'options "
    "nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file of /etc/modprobe.d and load the driver anew";

[[nodiscard]] std::int64_t steady_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The driver's part: devices by their identity.
struct CudaDriver {
  int (*init)(unsigned);
  int (*get_count)(int*);
  int (*get_device)(int*, int);
  int (*get_uuid)(void*, int);
  int (*get_attribute)(int*, int, int);

  [[nodiscard]] std::string open() {
    const char* chosen = std::getenv(kDriverVariable);
    void* library = ::dlopen(chosen == nullptr ? kDriverLibrary : chosen, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return fmt::format("{} is not there", kDriverLibrary);
    const auto take = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    if (!take("cuInit", init) || !take("cuDeviceGetCount", get_count) || !take("cuDeviceGet", get_device) ||
        !(take("cuDeviceGetUuid_v2", get_uuid) || take("cuDeviceGetUuid", get_uuid)) ||
        !take("cuDeviceGetAttribute", get_attribute)) {
      return fmt::format("{} is too old", kDriverLibrary);
    }
    return init(0) == 0 ? "" : fmt::format("{} finds no GPU", kDriverLibrary);
  }
  // The number of the device for the agent's process, and its multiprocessors; false: it has no such device.
  [[nodiscard]] bool find(const std::array<std::uint64_t, 2>& uuid, int& number, int& multiprocessors) const {
    int count = 0, device = 0;
    if (get_count(&count) != 0) return false;
    for (number = 0; number < count; ++number) {
      std::array<std::uint64_t, 2> own{};
      if (get_device(&device, number) != 0 || get_uuid(own.data(), device) != 0 || own != uuid) continue;
      return get_attribute(&multiprocessors, pm::kMultiprocessorCount, device) == 0;
    }
    return false;
  }
};

}  // namespace

// One thread asks and decodes; CUPTI never has two calls at once.
class PmSampler::Worker {
 public:
  Worker(std::chrono::steady_clock::time_point origin, unsigned rate)
      : origin_ns_(std::chrono::nanoseconds(origin.time_since_epoch()).count()), rate_(rate) {
    thread_ = std::thread(&Worker::run, this);
  }
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void use_library(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (library_path_.empty()) library_path_ = path;
  }
  void add(Device device) {
    {
      const std::lock_guard lock(mutex_);
      new_.push_back(std::move(device));
    }
    changed_.notify_all();
  }
  void settle() {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = ++asked_turns_;
    changed_.notify_all();
    (void)settled_.wait_for(lock, kSettlePatience, [&] { return done_turns_ >= wanted; });
  }
  std::vector<PmSample> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(samples_, {});
  }
  std::vector<QualityEntry> take_notices() {
    const std::lock_guard lock(mutex_);
    return std::exchange(notices_, {});
  }

 private:
  struct Sampled {
    Device device;
    std::string chip;
    double multiprocessors = 0;
    PmChoice choice;
    void* sampler = nullptr;  // null: it has failed, or was stopped
    std::vector<std::uint8_t> data;
    std::int64_t last_end_ns = std::numeric_limits<std::int64_t>::min();
    std::uint64_t samples = 0, bad = 0, not_finite = 0, overflows = 0;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (!over_) {
      const std::uint64_t turns = asked_turns_;
      std::vector<Device> added = std::exchange(new_, {});
      lock.unlock();
      for (Device& device : added) begin(std::move(device));
      decode_all();
      if (turns != done_turns_) report_counts();
      lock.lock();
      done_turns_ = turns;
      settled_.notify_all();
      const auto has_work = [&] { return over_ || !new_.empty() || asked_turns_ != turns; };
      if (sampled_.empty()) {
        changed_.wait(lock, has_work);
      } else {
        changed_.wait_for(lock, kDecodePeriod, has_work);
      }
    }
    lock.unlock();
    for (Sampled& each : sampled_) end(each);
    sampled_.clear();
    if (is_initialized_) {
      auto params = pm::make<pm::Initialize>();
      (void)library_.deinitialize(&params);
    }
  }

  void add_notice(QualityKind kind, std::uint64_t count, std::string text) {
    const std::lock_guard lock(mutex_);
    notices_.emplace_back(kind, count, std::move(text));
  }
  void report_failure(const std::string& text) {
    if (!std::exchange(has_failure_, true)) {
      add_notice("facts_left_out", 1, fmt::format("no counters of the multiprocessors: {}", text));
    }
  }
  [[nodiscard]] std::string result_text(pm::Result result) const {
    const char* text = nullptr;
    if (cupti_->get_result_text == nullptr || cupti_->get_result_text(result, &text) != pm::kSuccess) text = nullptr;
    return text == nullptr ? fmt::format("error {} of CUPTI", result) : std::string(text);
  }

  // Why not; "": the library is there.
  [[nodiscard]] std::string open() {
    if (const std::string failure = driver_.open(); !failure.empty()) return failure;
    std::string path, reason, preferred;
    {
      const std::lock_guard lock(mutex_);
      preferred = library_path_;
    }
    cupti_.reset(probe::cuda::find_cupti(probe::cuda::driver_version(), path, reason,
                                         {.preferred = preferred, .lost = "these counters are not sampled"}));
    if (cupti_ == nullptr) return reason;
    if (!library_.read(cupti_->handle)) {
      return fmt::format("{} is older than CUDA 12.6, which samples them first; install a newer cuda-cupti", path);
    }
    owns_clock_ = cupti_->register_timestamps != nullptr && cupti_->register_timestamps([]() -> std::uint64_t {
      return static_cast<std::uint64_t>(steady_ns());
    }) == pm::kSuccess;
    auto params = pm::make<pm::Initialize>();
    if (const pm::Result result = library_.initialize(&params); result != pm::kSuccess) {
      return fmt::format("CUPTI cannot profile here: {}", result_text(result));
    }
    is_initialized_ = true;
    return {};
  }

  void begin(Device device) {
    if (!std::exchange(is_opened_, true)) {
      if (const std::string failure = open(); !failure.empty()) report_failure(failure);
    }
    if (!is_initialized_) return;
    Sampled& made = sampled_.emplace_back();
    made.device = std::move(device);
    if (const std::string failure = begin(made); !failure.empty()) {
      report_failure(fmt::format("{}: {}", made.device.label, failure));
      end(made);
      sampled_.pop_back();
    }
  }

  [[nodiscard]] std::string begin(Sampled& made) {
    int number = 0, multiprocessors = 0;
    if (!driver_.find(made.device.uuid, number, multiprocessors)) {
      return "the agent does not see this GPU (CUDA_VISIBLE_DEVICES, or a part of one)";
    }
    made.multiprocessors = multiprocessors;
    const auto index = static_cast<std::size_t>(number);
    auto chip = pm::make<pm::ChipName>();
    chip.device = index;
    if (const pm::Result result = library_.get_chip_name(&chip); result != pm::kSuccess || chip.name == nullptr) {
      return refused("cuptiDeviceGetChipName", result);
    }
    made.chip = chip.name;
    auto availability = pm::make<pm::Availability>();
    availability.device = index;
    std::vector<std::uint8_t> image;
    if (library_.get_availability(&availability) == pm::kSuccess && availability.bytes <= kMostImageBytes) {
      image.resize(availability.bytes);
      availability.image = image.data();
      if (library_.get_availability(&availability) != pm::kSuccess) image.clear();
    }
    auto enable = pm::make<pm::Enable>();
    enable.device = index;
    if (const pm::Result result = library_.enable(&enable); result != pm::kSuccess) {
      return refused("cuptiPmSamplingEnable", result);
    }
    made.sampler = enable.sampler;
    made.choice = choose_metrics(library_, made.chip, image);
    if (made.choice.figures.empty()) return fmt::format("CUPTI knows none of their metrics for the chip {}", made.chip);
    report_missing(made);
    return start(made);
  }

  [[nodiscard]] std::string start(Sampled& made) {
    const bool by_time = triggers_by_time(made.chip);
    auto config = pm::make<pm::SetConfig>();
    config.sampler = made.sampler;
    config.bytes = made.choice.config.image().size();
    config.image = made.choice.config.image().data();
    config.buffer_bytes = kBufferBytes;
    config.interval = by_time ? 1'000'000'000 / rate_ : static_cast<std::uint64_t>(kUsualCyclesPerSecond) / rate_;
    config.trigger = by_time ? pm::kByTime : pm::kByClockCycles;
    config.append = pm::kRetainOldest;
    if (const pm::Result result = library_.set_config(&config); result != pm::kSuccess) {
      return refused("cuptiPmSamplingSetConfig", result);
    }
    auto size = pm::make<pm::DataSize>();
    size.sampler = made.sampler;
    size.names = made.choice.metrics.data();
    size.count = made.choice.metrics.size();
    size.most_samples = kImageSamples;
    if (const pm::Result result = library_.get_data_size(&size);
        result != pm::kSuccess || size.bytes > kMostImageBytes) {
      return refused("cuptiPmSamplingGetCounterDataSize", result);
    }
    made.data.resize(size.bytes);
    if (const pm::Result result = reset(made); result != pm::kSuccess) {
      return refused("cuptiPmSamplingCounterDataImageInitialize", result);
    }
    const pm::Result result = of_sampler(library_.start, made);
    return result == pm::kSuccess ? "" : refused("cuptiPmSamplingStart", result);
  }

  [[nodiscard]] std::string refused(const char* call, pm::Result result) const {
    if (result == pm::kInsufficientPrivileges) return kHowToAllow;
    return fmt::format("{} says {}; another tool may sample this GPU", call, result_text(result));
  }
  [[nodiscard]] pm::Result reset(Sampled& of) const {
    auto params = pm::make<pm::InitializeData>();
    params.sampler = of.sampler;
    params.bytes = of.data.size();
    params.data = of.data.data();
    return library_.initialize_data(&params);
  }
  [[nodiscard]] static pm::Result of_sampler(PmCall<pm::OfSampler> call, const Sampled& of) {
    auto params = pm::make<pm::OfSampler>();
    params.sampler = of.sampler;
    return call(&params);
  }

  void report_missing(const Sampled& of) {
    std::string names;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < kPmFigureCount; ++i) {
      if (kPmFigures[i].metrics[0] == nullptr || std::ranges::count(of.choice.figures, static_cast<PmFigure>(i)) > 0) {
        continue;
      }
      names += (count++ == 0 ? "" : ", ") + std::string(kPmFigures[i].name);
    }
    if (count == 0) return;
    add_notice(
        "facts_left_out", count,
        fmt::format("{} ({}) is not sampled for: {}; the chip has no such metric, or not beside the others in one pass",
                    of.device.label, of.chip, names));
  }

  // What has come up since the last time.
  void report_counts() {
    const auto report_some = [this](QualityKind kind, std::uint64_t& count, const std::string& text) {
      if (const std::uint64_t some = std::exchange(count, 0); some > 0) add_notice(kind, some, text);
    };
    for (Sampled& each : sampled_) {
      report_some(
          "buffer_overflow", each.overflows,
          fmt::format("times the hardware's buffer for counters of {} was full, and samples are missing until it was "
                      "read; choose a lower --sampling-rate",
                      each.device.label));
      report_some(
          "bad_counter", each.bad,
          fmt::format("samples of {} without values, or whose times do not rise, were left out", each.device.label));
      report_some("not_finite", each.not_finite,
                  fmt::format("values of counters of {} are no numbers; they were left out", each.device.label));
    }
    std::uint64_t dropped = 0;
    {
      const std::lock_guard lock(mutex_);
      dropped = std::exchange(dropped_, 0);
    }
    report_some("dropped_events", dropped,
                "samples of counters that the capture did not take in time; choose a lower "
                "--sampling-rate");
    std::uint64_t clocks = has_clock_ && !owns_clock_ && !std::exchange(has_residual_, true) ? 1 : 0;
    report_some("clock_residual", clocks,
                fmt::format("CUPTI keeps a clock of its own for counters; their times are right to {}",
                            format_duration(residual_ns_)));
  }

  void decode_all() {
    if (is_initialized_ && !owns_clock_) read_clock();
    for (Sampled& each : sampled_) {
      for (int i = 0; i < kMostDecodes && each.sampler != nullptr && decode(each); ++i) {
      }
    }
  }

  // True: there is more.
  bool decode(Sampled& of) {
    auto params = pm::make<pm::Decode>();
    params.sampler = of.sampler;
    params.data = of.data.data();
    params.bytes = of.data.size();
    const pm::Result result = library_.decode(&params);
    const bool is_over = result == pm::kOutOfMemory || params.overflow != 0;
    if (result != pm::kSuccess && !is_over) {
      fail(of, "cuptiPmSamplingDecodeData", result);
      return false;
    }
    auto info = pm::make<pm::DataInfo>();
    info.data = of.data.data();
    info.bytes = of.data.size();
    if (const pm::Result read = library_.get_data_info(&info); read != pm::kSuccess) {
      fail(of, "cuptiPmSamplingGetCounterDataInfo", read);
      return false;
    }
    const std::size_t count = std::min<std::size_t>(info.completed, kImageSamples);
    of.bad += info.completed - count;
    std::vector<PmSample> found;
    for (std::size_t i = 0; i < count; ++i) read(of, i, found);
    add_samples(of, std::move(found));
    if (const pm::Result emptied = reset(of); emptied != pm::kSuccess) {
      fail(of, "cuptiPmSamplingCounterDataImageInitialize", emptied);
      return false;
    }
    // The hardware has stopped at what it could not store.
    if (is_over) {
      ++of.overflows;
      (void)of_sampler(library_.stop, of);
      if (const pm::Result begun = of_sampler(library_.start, of); begun != pm::kSuccess) {
        fail(of, "cuptiPmSamplingStart", begun);
      }
      return false;
    }
    return params.stop_reason == pm::kCounterDataFull;
  }

  void read(Sampled& of, std::size_t number, std::vector<PmSample>& found) {
    PmSample sample{of.device.gpu, 0, 0, {}};
    const std::optional<PmTimes> times =
        read_sample(library_, of.choice, of.sampler, of.data, number, sample.values, of.not_finite);
    if (times) {
      sample.begin_ns = std::max(to_capture(times->start), of.last_end_ns);  // edges of neighbours may be rounded
      sample.end_ns = to_capture(times->end);
    }
    if (!times || times->start >= times->end || sample.begin_ns >= sample.end_ns) {
      ++of.bad;
      return;
    }
    of.last_end_ns = sample.end_ns;
    derive_operations(of.chip, of.multiprocessors, sample.values);
    found.push_back(sample);
  }

  void add_samples(Sampled& of, std::vector<PmSample> found) {
    of.samples += found.size();
    const std::lock_guard lock(mutex_);
    const std::size_t room = kMostWaiting - std::min(kMostWaiting, samples_.size());
    dropped_ += found.size() - std::min(room, found.size());
    samples_.insert(samples_.end(), found.begin(),
                    found.begin() + static_cast<std::ptrdiff_t>(std::min(room, found.size())));
  }

  // Samples are in the clock that CUPTI was given, or in its own, of which pairs of readings say how far it is away.
  void read_clock() {
    std::uint64_t cupti = 0;
    const std::int64_t before = steady_ns();
    if (cupti_->get_timestamp(&cupti) != pm::kSuccess) return;
    const std::int64_t width = steady_ns() - before;
    const std::int64_t offset = before + width / 2 - static_cast<std::int64_t>(cupti & kClockBits);
    residual_ns_ = std::max(residual_ns_, width / 2 + (has_clock_ ? std::abs(offset - offset_ns_) : 0));
    offset_ns_ = offset;
    has_clock_ = true;
  }
  [[nodiscard]] std::int64_t to_capture(std::uint64_t cupti) {
    const auto time = static_cast<std::int64_t>(cupti & kClockBits);
    if (owns_clock_ && !std::exchange(has_checked_clock_, true) && std::abs(time - steady_ns()) > kPlausibleClockNs) {
      owns_clock_ = false;
      read_clock();
    }
    return time + (owns_clock_ ? 0 : offset_ns_) - origin_ns_;
  }

  void fail(Sampled& of, const char* call, pm::Result result) {
    add_notice("probe_trouble", 1,
               fmt::format("counters of the multiprocessors of {} end after {} samples: {} says {}; NVML's go on",
                           of.device.label, of.samples, call, result_text(result)));
    end(of);
  }
  void end(Sampled& of) {
    if (of.sampler == nullptr) return;
    (void)of_sampler(library_.stop, of);
    (void)of_sampler(library_.disable, of);
    of.sampler = nullptr;
  }

  static constexpr std::uint64_t kClockBits = (std::uint64_t{1} << 62U) - 1;

  std::int64_t origin_ns_;
  unsigned rate_;
  // Of the thread alone.
  CudaDriver driver_{};
  std::unique_ptr<const probe::cuda::cupti::Library> cupti_;
  PmLibrary library_{};
  std::deque<Sampled> sampled_;  // CUPTI may hold on to what it was given
  bool is_opened_ = false, is_initialized_ = false, has_failure_ = false, has_residual_ = false;
  bool owns_clock_ = false, has_checked_clock_ = false, has_clock_ = false;
  std::int64_t offset_ns_ = 0, residual_ns_ = 0;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_, settled_;
  bool over_ = false;
  std::uint64_t asked_turns_ = 0, done_turns_ = 0, dropped_ = 0;
  std::string library_path_;
  std::vector<Device> new_;
  std::vector<PmSample> samples_;
  std::vector<QualityEntry> notices_;
  std::thread thread_;
};

PmSampler::PmSampler(std::chrono::steady_clock::time_point origin, unsigned rate)
    : worker_(std::make_unique<Worker>(origin, rate)) {}
PmSampler::~PmSampler() = default;
void PmSampler::use_library(const std::string& path) { worker_->use_library(path); }
void PmSampler::add(Device device) { worker_->add(std::move(device)); }
void PmSampler::settle() { worker_->settle(); }
std::vector<PmSample> PmSampler::take() { return worker_->take(); }
std::vector<QualityEntry> PmSampler::take_notices() { return worker_->take_notices(); }

namespace {

// Whether the library that the agent finds has PM sampling; "" where none is found: programs may bring theirs.
[[nodiscard]] std::string library_text() {
  for (const std::string& path : probe::cuda::toolkit_libraries()) {
    void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    const bool samples = ::dlsym(library, "cuptiPmSamplingEnable") != nullptr;
    ::dlclose(library);
    return samples ? fmt::format(" ({})", path) : fmt::format(", by CUPTI of CUDA 12.6 or later; {} is older", path);
  }
  return {};
}

[[nodiscard]] bool is_administrator() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("CapEff:")) return (std::strtoull(line.c_str() + 7, nullptr, 16) >> kSysAdmin & 1U) != 0;
  }
  return ::geteuid() == 0;
}

}  // namespace

std::string sampling_rights(const std::string& parameters) {
  std::ifstream file(parameters);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    const bool for_all = !line.ends_with("1");
    if (for_all || is_administrator()) {
      return fmt::format("{} may sample counters of the multiprocessors{}", for_all ? "all users" : "this user",
                         library_text());
    }
    return fmt::format(
        "counters of the multiprocessors are for administrators only; to sample them (else NVML's are captured), {}",
        kHowToAllow);
  }
  return "whether this user may sample counters of the multiprocessors is not known without the driver";
}

}  // namespace accelscope::capture::kinds::cuda
