// Counters of the multiprocessors by PM sampling, from the stand-in for CUPTI to the tracks of a session.
#include "capture/kinds/cuda/pm_sampling.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "capture/probe/cuda/places.h"
#include "capture/request/kind.h"
#include "capture/request/options.h"
#include "tests/capture/kinds/cuda/cuda_run.h"
#include "tests/capture/kinds/kind_run_support.h"
#include "tests/support/cuda/stand_in_cupti.h"
#include "tests/support/sanitized.h"

namespace accelscope::capture {
namespace {

using kinds::cuda::kPmFigureCount;
using kinds::cuda::kPmFigures;
using kinds::cuda::PmFigure;
using kinds::cuda::PmSample;
using kinds::cuda::PmSampler;

constexpr std::int64_t kPeriodNs = 100'000;

[[nodiscard]] std::int64_t monotonic_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Variables of this process, which stands for the agent's.
class Environment {
 public:
  Environment() { set("ACCELSCOPE_CUDA_DRIVER", library("libcuda.so.1")); }
  ~Environment() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  [[nodiscard]] static std::string library(const char* name) {
    return (std::filesystem::path(stand_in_cupti()).parent_path() / name).string();
  }

 private:
  std::vector<std::string> names_;
};

template <typename Function>
[[nodiscard]] Function* of_stand_in(const char* name) {
  void* library = ::dlopen(stand_in_cupti().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library != nullptr, ::dlerror());
  auto* function = reinterpret_cast<Function*>(::dlsym(library, name));
  REQUIRE(bool{function != nullptr});
  return function;
}

struct Sampled {
  std::vector<PmSample> samples;
  std::vector<QualityEntry> notices;
  std::int64_t begin_ns = 0;  // of sample 0, capture time

  [[nodiscard]] const QualityEntry* notice(const std::string& kind) const {
    const auto found = std::ranges::find(notices, kind, &QualityEntry::kind);
    return found == notices.end() ? nullptr : &*found;
  }
  [[nodiscard]] double value(std::size_t sample, PmFigure figure) const {
    return samples.at(sample).values[static_cast<std::size_t>(figure)];
  }
};

// Samples the stand-in's GPU until it has given all that it plays.
[[nodiscard]] Sampled sample_gpu(StandInPm play, unsigned rate = 10'000, std::array<std::uint64_t, 2> uuid = {}) {
  const auto origin = std::chrono::steady_clock::now();
  if (play.begin == 0) play.begin = static_cast<std::uint64_t>(monotonic_now());
  of_stand_in<decltype(stand_in_pm_play)>("stand_in_pm_play")(&play);
  PmSampler sampler(origin, rate);
  sampler.use_library(stand_in_cupti());
  if (uuid[0] == 0) uuid = {0x0807060504030201U, 0x100F0E0D0C0B0A09U};
  sampler.add({.gpu = 0, .label = "GPU 0", .uuid = uuid});
  Sampled all{.begin_ns =
                  static_cast<std::int64_t>(play.begin) - std::chrono::nanoseconds(origin.time_since_epoch()).count()};
  for (int turn = 0; turn < 3; ++turn) {
    sampler.settle();
    for (const PmSample& each : sampler.take()) all.samples.push_back(each);
    for (const QualityEntry& each : sampler.take_notices()) all.notices.push_back(each);
  }
  return all;
}

[[nodiscard]] StandInPm plays(std::size_t samples) { return {.begin = 0, .period = kPeriodNs, .samples = samples}; }

// As the stand-in counts: number of the sample, and the metric's among those that are sampled.
[[nodiscard]] double played(std::size_t sample, std::size_t metric) {
  return static_cast<double>(sample) + static_cast<double>(metric) / 100;
}

TEST_CASE("every sample of PM sampling arrives exact: its times to the ns, its values in the unit of the track") {
  const Environment environment;
  const Sampled found = sample_gpu(plays(2500));  // of three images
  REQUIRE(found.samples.size() == 2500);
  bool times = true, values = true;
  for (std::size_t i = 0; i < 2500; ++i) {
    const auto at = static_cast<std::int64_t>(i) * kPeriodNs + found.begin_ns;
    times = times && found.samples[i].begin_ns == at && found.samples[i].end_ns == at + kPeriodNs;
    // GH100 has all, in the order of the figures.
    for (std::size_t m = 0; m < kPmFigureCount - 2; ++m) {
      values = values && found.samples[i].values[m] == doctest::Approx(played(i, m) * kPmFigures[m].scale);
    }
  }
  CHECK(times);
  CHECK(values);
  // At 200 MHz: 4096 operations of 16 bit in a cycle of each of 132 multiprocessors, and of 64 bit 128.
  const double cycles = found.value(200, PmFigure::clock) * 1e6 * 132;
  CHECK(found.value(200, PmFigure::tensor_operations) == doctest::Approx(played(200, 4) / 100 * cycles * 4096));
  CHECK(found.value(200, PmFigure::fp64_operations) == doctest::Approx(played(200, 9) / 100 * cycles * 128));
  CHECK(found.value(3, PmFigure::fp32_operations) == doctest::Approx(played(3, 7) * 64));
  CHECK(found.notices.empty());
}

TEST_CASE(
    "a chip without a metric, or with few counters, is sampled for the others, and what is missing is said once") {
  Environment environment;
  environment.set("STAND_IN_CHIP", "AD102");
  const Sampled found = sample_gpu(plays(10));
  REQUIRE(found.samples.size() == 10);
  // The second choice of metrics; twelve fit into a pass.
  CHECK(found.value(7, PmFigure::tensor_active) == doctest::Approx(played(7, 4)));
  CHECK(std::isnan(found.value(7, PmFigure::nvlink_sent)));
  CHECK(std::isnan(found.value(7, PmFigure::pcie_write)));
  REQUIRE(found.notices.size() == 1);
  CHECK(found.notices[0].kind == "facts_left_out");
  CHECK(found.notices[0].count == 4);
  CHECK(
      found.notices[0].detail ==
      "GPU 0 (AD102) is not sampled for: PCIe Read Bandwidth, PCIe Write Bandwidth, NVLink Received, NVLink Sent; the "
      "chip has no such metric, or not beside the others in one pass");
}

TEST_CASE("samples are taken as often as chosen, by cycles on chips that cannot by time") {
  const auto interval = of_stand_in<decltype(stand_in_pm_interval)>("stand_in_pm_interval");
  Environment environment;
  std::uint32_t trigger = 9;
  (void)sample_gpu(plays(1), 20'000);
  CHECK(interval(&trigger) == 50'000);
  CHECK(trigger == 1);
  environment.set("STAND_IN_CHIP", "GA100");
  (void)sample_gpu(plays(1), 10'000);
  CHECK(interval(&trigger) == 140'000);
  CHECK(trigger == 0);
}

TEST_CASE("without the right to sample, the exact permission is said, for the host and for containers") {
  Environment environment;
  environment.set("STAND_IN_PM_FORBIDS", "enable");
  const Sampled found = sample_gpu(plays(10));
  CHECK(found.samples.empty());
  REQUIRE(found.notices.size() == 1);
  CHECK(found.notices[0].kind == "facts_left_out");
  for (const char* word : {"NVreg_RestrictProfilingToAdminUsers=0", "CAP_SYS_ADMIN", "root", "--cap-add SYS_ADMIN"}) {
    CHECK(found.notices[0].detail.find(word) != std::string::npos);
  }
}

TEST_CASE("a hardware buffer that was full is counted, and sampling goes on behind it") {
  const Environment environment;
  StandInPm play = plays(3000);
  play.overflow_at = 1500;
  const Sampled found = sample_gpu(play);
  CHECK(found.samples.size() == 3000);
  REQUIRE(found.notice("buffer_overflow") != nullptr);
  CHECK(found.notice("buffer_overflow")->count == 1);
  CHECK(found.notice("buffer_overflow")->detail.find("--sampling-rate") != std::string::npos);
  CHECK(of_stand_in<decltype(stand_in_pm_starts)>("stand_in_pm_starts")() == 2);
}

TEST_CASE("a decode that fails in the middle loses nothing that came before, and the end is said") {
  const Environment environment;
  StandInPm play = plays(5000);
  play.fails_at = 2000;
  const Sampled found = sample_gpu(play);
  CHECK(found.samples.size() == 2000);
  REQUIRE(found.notice("probe_trouble") != nullptr);
  CHECK(found.notice("probe_trouble")->detail.find("GPU 0 end after 2000 samples") != std::string::npos);
}

TEST_CASE("counts, times and values that cannot be are left out and counted, and the others arrive") {
  const Environment environment;
  StandInPm play = plays(10);
  play.unreadable = 2;
  play.backwards = 5;
  play.not_finite = 7;
  const Sampled found = sample_gpu(play);
  CHECK(found.samples.size() == 8);
  REQUIRE(found.notice("bad_counter") != nullptr);
  CHECK(found.notice("bad_counter")->count == 2);
  REQUIRE(found.notice("not_finite") != nullptr);
  CHECK(found.notice("not_finite")->count == 1);
  CHECK(std::isnan(found.value(5, PmFigure::clock)));
  CHECK(found.value(5, PmFigure::sm_active) == doctest::Approx(played(7, 1)));

  play = plays(10);
  play.lies = true;  // there are 2^60 of them
  const Sampled lying = sample_gpu(play);
  CHECK(lying.samples.size() == 10);
  CHECK(lying.notice("bad_counter") != nullptr);
}

TEST_CASE("where CUPTI keeps its own clock, samples lie right within what the pairs of readings say") {
  Environment environment;
  environment.set("STAND_IN_OWN_CLOCK", "refused");
  environment.set("STAND_IN_ANSWERS_REAL_TIME", "1");  // other tests have given it a clock
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  StandInPm play = plays(100);
  play.begin = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  const Sampled found = sample_gpu(play);
  REQUIRE(found.samples.size() == 100);
  CHECK(std::abs(found.samples[0].begin_ns) < 5'000'000'000);
  CHECK(found.samples[99].end_ns - found.samples[0].begin_ns == 100 * kPeriodNs);
  REQUIRE(found.notice("clock_residual") != nullptr);
}

TEST_CASE("without a driver, a library or the GPU, one sentence says which, and nothing else happens") {
  Environment environment;
  CHECK(sample_gpu(plays(10), 10'000, {1, 2}).notices.at(0).detail.find("does not see this GPU") != std::string::npos);
  environment.set("ACCELSCOPE_CUPTI", "/nowhere/libcupti.so");
  CHECK(sample_gpu(plays(10)).notices.at(0).detail.find("ACCELSCOPE_CUPTI names /nowhere") != std::string::npos);
  environment.set("ACCELSCOPE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  const Sampled found = sample_gpu(plays(10));
  REQUIRE(found.notices.size() == 1);
  CHECK(found.notices[0].detail == "no counters of the multiprocessors: libcuda.so.1 is not there");
}

TEST_CASE("counters of the multiprocessors are tracks of their GPU beside NVML's, while the program runs") {
  Environment environment;
  environment.set("ACCELSCOPE_NVML", Environment::library("libnvidia_ml_stand_in.so"));
  StandInPm play = plays(4000);
  play.begin = static_cast<std::uint64_t>(monotonic_now());
  of_stand_in<decltype(stand_in_pm_play)>("stand_in_pm_play")(&play);
  const CudaRun run = run_cuda({"nvml"}, {.options = {{"gpu-counters", "nvml"}, {"pm-sampling", "on"}}});
  std::map<std::string, std::size_t> counts;
  std::int64_t first = -1;
  for (const RecordedEvent& event : run.table("counter")) {
    const Track& track = run.track(event);
    CHECK(track.device == "GPU 0");
    if (++counts[track.name + " " + track.unit] == 1 && track.name == "SMs Active") first = event.start;
  }
  CHECK(counts.at("SMs Active %") == 4000);
  CHECK(counts.at("DRAM Read Bandwidth B/s") == 4000);
  CHECK(counts.at("GPC Clock Frequency MHz") == 4000);
  CHECK(counts.at("Tensor Operations FLOP/s") == 4000);
  CHECK(counts.at("GPU busy %") > 0);
  CHECK(first == static_cast<std::int64_t>(play.begin) - run.origin_ns);
}

TEST_CASE("a rate that CUPTI cannot sample at is refused before anything runs") {
  const request::CaptureKind& kind = **request::find_kind("cuda");
  for (const char* rate : {"999", "21k", "max"}) {
    CAPTURE(rate);
    const Result<request::OptionReader> options = request::read_options(kind, {"cuda", {{"sampling-rate", rate}}});
    CHECK_FALSE(options.ok());
  }
  CHECK(request::read_options(kind, {"cuda", {{"sampling-rate", "20k"}}}).ok());
}

TEST_CASE("doctor says who may sample counters of the multiprocessors, and how those may who may not") {
  const ScratchFolder folder;
  const std::string parameters = (folder.path / "params").string();
  CHECK(kinds::cuda::sampling_rights(parameters).find("not known without the driver") != std::string::npos);
  const auto rights = [&](const char* line) {
    std::ofstream(parameters) << "ResmanDebugLevel: 4294967295\n" << line << "\n";
    return kinds::cuda::sampling_rights(parameters);
  };
  CHECK(rights("RmProfilingAdminOnly: 0").starts_with("all users may sample counters of the multiprocessors"));
  const std::string restricted = rights("RmProfilingAdminOnly: 1");
  if (!restricted.starts_with("this user may")) {  // the tests run as an administrator
    for (const char* word : {"NVreg_RestrictProfilingToAdminUsers=0", "CAP_SYS_ADMIN", "--cap-add SYS_ADMIN"}) {
      CHECK(restricted.find(word) != std::string::npos);
    }
  }
}

// CUPTI's part on a host needs no GPU.
TEST_CASE(
    "the metrics that are sampled are those of the installed CUPTI, in one pass, on every chip that tensors run on") {
  if (test::sanitized()) return;  // NVIDIA's library opens another in a way that sanitizers refuse
  std::string library;
  for (const std::string& path : probe::cuda::toolkit_libraries()) {
    if (kinds::cuda::sampled_metrics(path, "GH100").ok()) library = path;
  }
  if (library.empty()) {
    MESSAGE("skipped: no libcupti of CUDA 12.6 or later is installed");
    return;
  }
  for (const char* chip : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    CAPTURE(chip);
    const std::vector<std::string> metrics = kinds::cuda::sampled_metrics(library, chip).value();
    const auto has = [&](PmFigure figure) { return !metrics[static_cast<std::size_t>(figure)].empty(); };
    for (const PmFigure figure :
         {PmFigure::clock, PmFigure::sm_active, PmFigure::sm_issue, PmFigure::warps_active, PmFigure::l2}) {
      CHECK(has(figure));
    }
    if (std::string(chip) != "GB202") CHECK(has(PmFigure::dram_read));
    if (std::string(chip) != "TU102") CHECK(has(PmFigure::tensor_active));
    if (std::string(chip) == "GH100") {
      for (const PmFigure figure : {PmFigure::fp32_operations, PmFigure::fp64_active, PmFigure::pcie_read,
                                    PmFigure::nvlink_received, PmFigure::nvlink_sent}) {
        CHECK(has(figure));
      }
    }
  }
}

}  // namespace
}  // namespace accelscope::capture
