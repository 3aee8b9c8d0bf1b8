// The part of the stand-in for libcupti that samples counters, and that of a host which knows a chip's metrics. One
// GPU, of the chip that STAND_IN_CHIP names (GH100): sample k of those that stand_in_pm_play() asks for begins k
// periods after a given time, and the metric with number m of those that are sampled is k + m / 100. Where nothing is
// played and STAND_IN_PM is "live" it samples from its start on, for as long as it runs, as a GPU does.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kinds/cuda/pm_sampling_abi.h"
#include "tests/support/cuda/stand_in_cupti.h"

namespace {

namespace pm = accelscope::capture::kinds::cuda::pm;

constexpr int kInvalidParameter = 1, kInvalidMetric = 42, kUnknown = 999;
constexpr std::size_t kMostMetrics = 12;  // of one pass, of a chip with few counters

struct Host {
  std::vector<std::string> metrics;
};

struct State {
  std::mutex mutex;
  StandInPm play{};
  std::size_t given = 0;  // samples that were decoded
  bool is_full = false;   // the overflow was reported, and nothing is sampled until it is begun anew
  bool is_enabled = false, is_started = false;
  std::uint64_t interval = 0, starts = 0;
  std::uint32_t trigger = 9;
  std::size_t first = 0, count = 0;  // of the image
  bool is_reset = false;
  bool is_live = false;
};
State& state() {
  static State* all = new State;
  return *all;
}

std::string chip() {
  const char* name = std::getenv("STAND_IN_CHIP");
  return name == nullptr ? "GH100" : name;
}

// A chip that starts with GH knows all; another none of the sets that are made to be sampled together, nor NVLink.
bool is_known(std::string_view metric) {
  if (chip().starts_with("GH")) return true;
  return metric.find("Triage") == std::string_view::npos && !metric.starts_with("nvl");
}

std::uint64_t monotonic_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// Under the lock: how many there are by now.
std::size_t sample_count() {
  const StandInPm& play = state().play;
  return state().is_live ? static_cast<std::size_t>((monotonic_now() - play.begin) / play.period) : play.samples;
}

int forbidden(const char* what) {
  const char* forbids = std::getenv("STAND_IN_PM_FORBIDS");
  return forbids != nullptr && std::strcmp(forbids, what) == 0 ? pm::kInsufficientPrivileges : pm::kSuccess;
}

}  // namespace

extern "C" {

void stand_in_pm_play(const StandInPm* play) {
  const std::lock_guard lock(state().mutex);
  state().play = *play;
  state().given = 0;
  state().is_full = false;
  state().starts = 0;
  state().is_live = false;
}
std::uint64_t stand_in_pm_interval(std::uint32_t* trigger) {
  const std::lock_guard lock(state().mutex);
  *trigger = state().trigger;
  return state().interval;
}
std::uint64_t stand_in_pm_starts() {
  const std::lock_guard lock(state().mutex);
  return state().starts;
}

int cuptiProfilerInitialize(pm::Initialize* params) {
  return params->size == sizeof *params ? pm::kSuccess : kInvalidParameter;
}
int cuptiProfilerDeInitialize(pm::Initialize*) { return pm::kSuccess; }

int cuptiDeviceGetChipName(pm::ChipName* params) {
  static std::string name;
  name = chip();
  params->name = name.c_str();
  return params->device == 0 ? pm::kSuccess : kInvalidParameter;
}

int cuptiProfilerHostInitialize(pm::HostInitialize* params) {
  if (params->kind != pm::kPmSampling || chip() != params->chip) return kInvalidParameter;
  params->host = new Host;
  return pm::kSuccess;
}
int cuptiProfilerHostDeinitialize(pm::HostDeinitialize* params) {
  delete static_cast<Host*>(params->host);
  return pm::kSuccess;
}
int cuptiProfilerHostConfigAddMetrics(pm::AddMetrics* params) {
  Host& host = *static_cast<Host*>(params->host);
  for (std::size_t i = 0; i < params->count; ++i) {
    if (!is_known(params->names[i])) return kInvalidMetric;
    host.metrics.emplace_back(params->names[i]);
  }
  return pm::kSuccess;
}
int cuptiProfilerHostGetConfigImageSize(pm::ConfigSize* params) {
  params->bytes = sizeof(std::size_t);
  return pm::kSuccess;
}
int cuptiProfilerHostGetConfigImage(pm::ConfigImage* params) {
  const std::size_t count = static_cast<Host*>(params->host)->metrics.size();
  std::memcpy(params->image, &count, sizeof count);
  return pm::kSuccess;
}
int cuptiProfilerHostGetNumOfPasses(pm::PassCount* params) {
  std::size_t count = 0;
  std::memcpy(&count, params->image, sizeof count);
  params->passes = chip().starts_with("GH") || count <= kMostMetrics ? 1 : 2;
  return pm::kSuccess;
}
int cuptiProfilerHostEvaluateToGpuValues(pm::Evaluate* params) {
  const Host& host = *static_cast<Host*>(params->host);
  const std::lock_guard lock(state().mutex);
  if (params->sample >= state().count || params->count != host.metrics.size()) return kInvalidParameter;
  const std::size_t number = state().first + params->sample;
  if (number == state().play.unreadable) return kUnknown;
  for (std::size_t m = 0; m < params->count; ++m) {
    if (host.metrics[m] != params->names[m]) return kInvalidParameter;
    params->values[m] = static_cast<double>(state().is_live ? number % 100 : number) + static_cast<double>(m) / 100;
  }
  if (number == state().play.not_finite) params->values[0] = std::numeric_limits<double>::quiet_NaN();
  return pm::kSuccess;
}

int cuptiPmSamplingGetCounterAvailability(pm::Availability* params) {
  params->bytes = 16;
  return forbidden("availability");
}
int cuptiPmSamplingEnable(pm::Enable* params) {
  const std::lock_guard lock(state().mutex);
  if (const int result = forbidden("enable"); result != pm::kSuccess) return result;
  state().is_enabled = true;
  params->sampler = &state();
  return pm::kSuccess;
}
int cuptiPmSamplingDisable(pm::OfSampler*) {
  const std::lock_guard lock(state().mutex);
  state().is_enabled = false;
  return pm::kSuccess;
}
int cuptiPmSamplingSetConfig(pm::SetConfig* params) {
  const std::lock_guard lock(state().mutex);
  if (!state().is_enabled || params->bytes == 0 || params->buffer_bytes == 0) return kInvalidParameter;
  state().interval = params->interval;
  state().trigger = params->trigger;
  return pm::kSuccess;
}
int cuptiPmSamplingStart(pm::OfSampler*) {
  const std::lock_guard lock(state().mutex);
  if (state().is_started) return kInvalidParameter;
  state().is_started = true;
  state().is_full = false;
  ++state().starts;
  if (const char* how = std::getenv("STAND_IN_PM"); how != nullptr && state().play.period == 0) {
    state().is_live = std::strcmp(how, "live") == 0;
    state().play.begin = monotonic_now();
    state().play.period = state().interval;
  }
  return pm::kSuccess;
}
int cuptiPmSamplingStop(pm::OfSampler*) {
  const std::lock_guard lock(state().mutex);
  state().is_started = false;
  return pm::kSuccess;
}
int cuptiPmSamplingGetCounterDataSize(pm::DataSize* params) {
  params->bytes = 64;
  return params->most_samples > 0 ? pm::kSuccess : kInvalidParameter;
}
int cuptiPmSamplingCounterDataImageInitialize(pm::InitializeData*) {
  const std::lock_guard lock(state().mutex);
  state().count = 0;
  state().is_reset = true;
  return pm::kSuccess;
}

int cuptiPmSamplingDecodeData(pm::Decode* params) {
  const std::lock_guard lock(state().mutex);
  State& now = state();
  if (!now.is_started || !now.is_reset || params->size != offsetof(pm::Decode, overflow) + 1) return kInvalidParameter;
  now.is_reset = false;
  now.first = now.given;
  params->stop_reason = 2;
  params->overflow = 0;
  const std::size_t samples = sample_count();
  if (now.is_full || now.given >= samples) return pm::kSuccess;
  if (now.play.fails_at != 0 && now.given >= now.play.fails_at) return kUnknown;
  std::size_t until = std::min(samples, now.given + now.play.image_samples);
  if (now.given < now.play.overflow_at && until >= now.play.overflow_at) {
    until = now.play.overflow_at;
    now.is_full = true;
    params->overflow = 1;
  }
  now.count = until - now.given;
  now.given = until;
  params->stop_reason = until < samples ? pm::kCounterDataFull : 2;
  return pm::kSuccess;
}
int cuptiPmSamplingGetCounterDataInfo(pm::DataInfo* params) {
  const std::lock_guard lock(state().mutex);
  params->total = params->populated = params->completed = state().count;
  if (state().play.lies) params->completed = std::size_t{1} << 60U;
  return pm::kSuccess;
}
int cuptiPmSamplingCounterDataGetSampleInfo(pm::SampleInfo* params) {
  const std::lock_guard lock(state().mutex);
  if (params->sample >= state().count) return kInvalidParameter;
  const std::size_t number = state().first + params->sample;
  params->start = state().play.begin + number * state().play.period;
  params->end = params->start + state().play.period;
  if (number == state().play.backwards) params->start = params->end + 5;
  return pm::kSuccess;
}
}
