#include "capture/kinds/cuda/pm_metrics.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace accelscope::capture::kinds::cuda {
namespace {

// Floating point operations that a multiprocessor does at most in a cycle: dense, of 16 bit by the tensor pipe, and of
// 64 bit by its own. From the data sheets: peak / multiprocessors / boost clock.
struct ChipRates {
  std::string_view chip;  // its name begins so
  double tensor, fp64;
};
constexpr ChipRates kChipRates[] = {
    {"TU10", 1024, 4},    {"GA100", 2048, 64},  {"GA10B", 0, 0},      {"GA10", 1024, 4}, {"AD10", 1024, 4},
    {"GH100", 4096, 128}, {"GB100", 8192, 128}, {"GB102", 8192, 128}, {"GB20B", 0, 0},   {"GB20", 1024, 4},
};
[[nodiscard]] ChipRates rates_of(std::string_view chip) {
  const auto* const known =
      std::ranges::find_if(kChipRates, [&](const ChipRates& rates) { return chip.starts_with(rates.chip); });
  return known == std::end(kChipRates) ? ChipRates{} : *known;
}

[[nodiscard]] constexpr std::size_t figure_index(PmFigure figure) noexcept { return static_cast<std::size_t>(figure); }

}  // namespace

bool PmLibrary::read(void* library) {
  const auto take = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  return take("cuptiProfilerInitialize", initialize) && take("cuptiProfilerDeInitialize", deinitialize) &&
         take("cuptiDeviceGetChipName", get_chip_name) && take("cuptiProfilerHostInitialize", host_initialize) &&
         take("cuptiProfilerHostDeinitialize", host_deinitialize) &&
         take("cuptiProfilerHostConfigAddMetrics", add_metrics) &&
         take("cuptiProfilerHostGetConfigImageSize", get_config_size) &&
         take("cuptiProfilerHostGetConfigImage", get_config) &&
         take("cuptiProfilerHostGetNumOfPasses", get_pass_count) &&
         take("cuptiProfilerHostEvaluateToGpuValues", evaluate) &&
         take("cuptiPmSamplingGetCounterAvailability", get_availability) && take("cuptiPmSamplingEnable", enable) &&
         take("cuptiPmSamplingDisable", disable) && take("cuptiPmSamplingStart", start) &&
         take("cuptiPmSamplingStop", stop) && take("cuptiPmSamplingSetConfig", set_config) &&
         take("cuptiPmSamplingGetCounterDataSize", get_data_size) &&
         take("cuptiPmSamplingCounterDataImageInitialize", initialize_data) &&
         take("cuptiPmSamplingDecodeData", decode) && take("cuptiPmSamplingGetCounterDataInfo", get_data_info) &&
         take("cuptiPmSamplingCounterDataGetSampleInfo", get_sample_info);
}

PmConfig::PmConfig(const PmLibrary& library, const std::string& chip, const std::vector<std::uint8_t>& availability)
    : library_(&library) {
  auto params = pm::make<pm::HostInitialize>();
  params.kind = pm::kPmSampling;
  params.chip = chip.c_str();
  params.availability = availability.empty() ? nullptr : availability.data();
  if (library.host_initialize(&params) == pm::kSuccess) host_ = params.host;
}

PmConfig::~PmConfig() {
  if (host_ == nullptr) return;
  auto params = pm::make<pm::HostDeinitialize>();
  params.host = host_;
  (void)library_->host_deinitialize(&params);
}

bool PmConfig::sample(std::vector<const char*> metrics) {
  if (host_ == nullptr) return false;
  auto add = pm::make<pm::AddMetrics>();
  add.host = host_;
  add.names = metrics.data();
  add.count = metrics.size();
  auto size = pm::make<pm::ConfigSize>();
  size.host = host_;
  if (library_->add_metrics(&add) != pm::kSuccess || library_->get_config_size(&size) != pm::kSuccess) return false;
  if (size.bytes > kMostImageBytes) return false;
  image_.resize(size.bytes);
  auto config = pm::make<pm::ConfigImage>();
  config.host = host_;
  config.bytes = image_.size();
  config.image = image_.data();
  auto passes = pm::make<pm::PassCount>();
  passes.bytes = image_.size();
  passes.image = image_.data();
  return library_->get_config(&config) == pm::kSuccess && library_->get_pass_count(&passes) == pm::kSuccess &&
         passes.passes == 1;
}

PmChoice choose_metrics(const PmLibrary& library, const std::string& chip,
                        const std::vector<std::uint8_t>& availability) {
  PmChoice choice;
  for (std::size_t i = 0; i < kPmFigureCount; ++i) {
    for (const char* metric : kPmFigures[i].metrics) {
      if (metric == nullptr) break;
      choice.metrics.push_back(metric);
      PmConfig config(library, chip, availability);
      if (config.sample(choice.metrics)) {
        choice.figures.push_back(static_cast<PmFigure>(i));
        choice.config = std::move(config);
        break;
      }
      choice.metrics.pop_back();
    }
  }
  return choice;
}

bool triggers_by_time(std::string_view chip) { return !chip.starts_with("TU") && chip != "GA100"; }

std::optional<PmTimes> read_sample(const PmLibrary& library, PmChoice& choice, void* sampler,
                                   const std::vector<std::uint8_t>& data, std::size_t number, PmValues& values,
                                   std::uint64_t& not_finite) {
  auto info = pm::make<pm::SampleInfo>();
  info.sampler = sampler;
  info.data = data.data();
  info.bytes = data.size();
  info.sample = number;
  PmValues sampled{};
  auto evaluate = pm::make<pm::Evaluate>();
  evaluate.host = choice.config.host();
  evaluate.data = data.data();
  evaluate.bytes = data.size();
  evaluate.sample = number;
  evaluate.names = choice.metrics.data();
  evaluate.count = choice.metrics.size();
  evaluate.values = sampled.data();
  if (library.get_sample_info(&info) != pm::kSuccess || library.evaluate(&evaluate) != pm::kSuccess) return {};
  values.fill(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < choice.figures.size(); ++i) {
    const std::size_t figure = figure_index(choice.figures[i]);
    if (std::isfinite(sampled[i])) {
      values[figure] = sampled[i] * kPmFigures[figure].scale;
    } else {
      ++not_finite;
    }
  }
  return PmTimes{info.start, info.end};
}

void derive_operations(std::string_view chip, double multiprocessors, PmValues& values) {
  const ChipRates rates = rates_of(chip);
  const auto operations = [&](PmFigure active, double of_cycle) {
    if (of_cycle == 0) return std::numeric_limits<double>::quiet_NaN();
    return values[figure_index(active)] / 100 * values[figure_index(PmFigure::clock)] * 1e6 * multiprocessors *
           of_cycle;
  };
  values[figure_index(PmFigure::tensor_operations)] = operations(PmFigure::tensor_active, rates.tensor);
  values[figure_index(PmFigure::fp64_operations)] = operations(PmFigure::fp64_active, rates.fp64);
}

Result<std::vector<std::string>> sampled_metrics(const std::string& library, const std::string& chip) {
  PmLibrary functions{};
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr || !functions.read(handle)) return Error{fmt::format("{} cannot sample counters", library)};
  const PmChoice choice = choose_metrics(functions, chip, {});
  std::vector<std::string> metrics(kPmFigureCount);
  for (std::size_t i = 0; i < choice.figures.size(); ++i) metrics[figure_index(choice.figures[i])] = choice.metrics[i];
  return metrics;
}

}  // namespace accelscope::capture::kinds::cuda
