// Which metrics CUPTI's PM sampling takes of a chip, and what the images that it decodes hold.
//
//   PmLibrary library;
//   if (!library.read(handle)) ...                                    // of a libcupti that is loaded
//   PmChoice choice = choose_metrics(library, "GH100", {});     // one metric for each figure
//   ... choice.config.image() is what the hardware is configured with
//   const auto times = read_sample(library, choice, sampler, data, 0, values, not_finite);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/kinds/cuda/pm_sampling.h"
#include "capture/kinds/cuda/pm_sampling_abi.h"

namespace accelscope::capture::kinds::cuda {

inline constexpr std::size_t kMostImageBytes = std::size_t{1} << 30U;

template <typename Params>
using PmCall = pm::Result (*)(Params*);

// The functions of a libcupti that is there.
struct PmLibrary {
  PmCall<pm::Initialize> initialize, deinitialize;
  PmCall<pm::ChipName> get_chip_name;
  PmCall<pm::HostInitialize> host_initialize;
  PmCall<pm::HostDeinitialize> host_deinitialize;
  PmCall<pm::AddMetrics> add_metrics;
  PmCall<pm::ConfigSize> get_config_size;
  PmCall<pm::ConfigImage> get_config;
  PmCall<pm::PassCount> get_pass_count;
  PmCall<pm::Evaluate> evaluate;
  PmCall<pm::Availability> get_availability;
  PmCall<pm::Enable> enable;
  PmCall<pm::OfSampler> disable, start, stop;
  PmCall<pm::SetConfig> set_config;
  PmCall<pm::DataSize> get_data_size;
  PmCall<pm::InitializeData> initialize_data;
  PmCall<pm::Decode> decode;
  PmCall<pm::DataInfo> get_data_info;
  PmCall<pm::SampleInfo> get_sample_info;

  // False: it is older than CUDA 12.6.
  [[nodiscard]] bool read(void* library);
};

// A host object with metrics of a chip, and the image by which they are sampled.
class PmConfig {
 public:
  PmConfig() = default;
  PmConfig(const PmLibrary& library, const std::string& chip, const std::vector<std::uint8_t>& availability);
  ~PmConfig();
  PmConfig(PmConfig&& from) noexcept
      : library_(from.library_), host_(std::exchange(from.host_, nullptr)), image_(std::move(from.image_)) {}
  PmConfig& operator=(PmConfig&& from) noexcept {
    std::swap(library_, from.library_);
    std::swap(host_, from.host_);
    std::swap(image_, from.image_);
    return *this;
  }

  [[nodiscard]] void* host() const noexcept { return host_; }
  [[nodiscard]] const std::vector<std::uint8_t>& image() const noexcept { return image_; }

  // Whether the metrics are known and fit into one pass; only once.
  [[nodiscard]] bool sample(std::vector<const char*> metrics);

 private:
  const PmLibrary* library_ = nullptr;
  void* host_ = nullptr;
  std::vector<std::uint8_t> image_;
};

// What is sampled, one metric for each figure, and how.
struct PmChoice {
  std::vector<PmFigure> figures;
  std::vector<const char*> metrics;
  PmConfig config;
};
// availability: as CUPTI gives it for a device; empty: of any device with this chip.
[[nodiscard]] PmChoice choose_metrics(const PmLibrary& library, const std::string& chip,
                                      const std::vector<std::uint8_t>& availability);

// Chips before sample by their clock alone.
[[nodiscard]] bool triggers_by_time(std::string_view chip);

using PmValues = std::array<double, kPmFigureCount>;  // by PmFigure; NaN where there are none
struct PmTimes {
  std::uint64_t start = 0, end = 0;  // as CUPTI gives them
};
// A sample of an image; nothing: CUPTI cannot read it. Values that are no numbers are counted and left out.
[[nodiscard]] std::optional<PmTimes> read_sample(const PmLibrary& library, PmChoice& choice, void* sampler,
                                                 const std::vector<std::uint8_t>& data, std::size_t number,
                                                 PmValues& values, std::uint64_t& not_finite);
// What follows from the others: what a pipe can do in the cycles in which it was active.
void derive_operations(std::string_view chip, double multiprocessors, PmValues& values);

}  // namespace accelscope::capture::kinds::cuda
