#include "core/analysis/neuron/device_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/analysis/time/track_devices.h"

namespace accelscope::neuron {
namespace {

[[nodiscard]] std::optional<double> meta_number(const Snapshot& snapshot, std::string_view key) {
  const std::string_view text = snapshot.meta_value(key);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> device_fact(const Snapshot& snapshot, const std::string& device,
                                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string key = fmt::format("metadata.{}", name);
    for (std::size_t space = device.rfind(' '); space != std::string::npos && space > 0;
         space = device.rfind(' ', space - 1)) {
      if (const auto value = meta_number(snapshot, fmt::format("{}.{}", device.substr(0, space), key))) return value;
    }
    if (const auto value = meta_number(snapshot, key)) return value;
    if (const auto value = meta_number(snapshot, name)) return value;
  }
  return std::nullopt;
}

double core_peak_flops(const Snapshot& snapshot, const std::string& device) {
  const double clock = device_fact(snapshot, device, {"pe_clock_freq", "tensor_engine_clock_freq"}).value_or(0);
  const double rows = device_fact(snapshot, device, {"pe_num_rows", "tensor_engine_num_rows"}).value_or(128);
  const double columns = device_fact(snapshot, device, {"pe_num_cols", "tensor_engine_num_cols"}).value_or(128);
  return 2 * rows * columns * clock * 1e9;
}

double physical_cores(const Snapshot& snapshot, const std::string& device) {
  if (const std::size_t parts = parts_of_device(device).size(); parts > 0) return static_cast<double>(parts);
  const std::string name = device.substr(0, device.ends_with(')') ? device.rfind(" (") : std::string::npos);
  const bool is_part = std::any_of(snapshot.tracks.begin(), snapshot.tracks.end(), [&](const TrackSnapshot& track) {
    const std::vector<std::string> parts = parts_of_device(track.track->device);
    return std::any_of(parts.begin(), parts.end(),
                       [&](const std::string& part) { return part == name || name == track.track->host + " " + part; });
  });
  return is_part ? 1 : device_fact(snapshot, device, {"num_physical_cores"}).value_or(1);
}

double peak_flops(const Snapshot& snapshot, const std::string& device) {
  return core_peak_flops(snapshot, device) * physical_cores(snapshot, device);
}

}  // namespace accelscope::neuron
