#include "capture/sources/neuron/read/core_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/capped.h"

namespace accelscope::capture::sources::neuron {
namespace {

// Places: cores by their index, then graphs, then numbers on the chip, then devices by name.
constexpr std::int64_t kFirstGraph = std::int64_t{1} << 20;
constexpr std::int64_t kFirstNumber = std::int64_t{1} << 40;
constexpr std::int64_t kFirstDevice = std::int64_t{1} << 50;
constexpr std::size_t kMostGraphs = 10'000;
constexpr std::size_t kMostDevices = 1000;

// 1 of "sg01".
[[nodiscard]] std::int64_t trailing_number(std::string_view text) noexcept {
  const std::size_t last = text.find_last_not_of("0123456789");
  const std::string_view digits = text.substr(last == std::string_view::npos ? 0 : last + 1);
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return std::max<std::int64_t>(number, 0);
}

}  // namespace

std::int64_t CorePlan::place_of_device(std::string_view device) {
  auto found = std::find(devices_.begin(), devices_.end(), device);
  if (found == devices_.end()) {
    if (devices_.size() >= kMostDevices) return kWhole;
    found = devices_.insert(devices_.end(), std::string(device));
  }
  return kFirstDevice + (found - devices_.begin());
}

std::int64_t CorePlan::place(const Named& named) {
  const bool has_core = named.core && *named.core >= 0 && *named.core < kMostCores;
  if (has_core) most_core_ = std::max(most_core_, *named.core);
  if (!named.device.empty()) {
    if (!named.graph.empty() && named.number) number_of_graph_.try_emplace(std::string(named.graph), *named.number);
    return place_of_device(named.device);
  }
  if (named.graph.empty()) {
    if (has_core) return *named.core;
    return named.number && *named.number >= 0 && *named.number < kFirstGraph ? kFirstNumber + *named.number : kWhole;
  }
  if (last_graph_ >= graphs_.size() || graphs_[last_graph_] != named.graph) {
    const auto known = place_of_graph_.find(named.graph);
    if (known == place_of_graph_.end()) {
      if (graphs_.size() >= kMostGraphs) return has_core ? *named.core : kWhole;
      last_graph_ = graphs_.size();
      graphs_.emplace_back(named.graph);
      place_of_graph_.emplace(named.graph, static_cast<std::int64_t>(last_graph_));
    } else {
      last_graph_ = static_cast<std::size_t>(known->second);
    }
  }
  if (has_core) core_of_graph_.try_emplace(std::string(named.graph), *named.core);
  if (named.number && *named.number >= 0) number_of_graph_.try_emplace(std::string(named.graph), *named.number);
  return has_core ? *named.core : kFirstGraph + static_cast<std::int64_t>(last_graph_);
}

void CorePlan::settle(std::optional<std::int64_t> stated_cores, std::int64_t number) {
  std::set<std::int64_t> numbers;
  for (const auto& [graph, of_graph] : number_of_graph_) numbers.insert(of_graph);
  std::int64_t count = std::max<std::int64_t>(most_core_ + 1, static_cast<std::int64_t>(numbers.size()));
  if (stated_cores && *stated_cores >= 1) count = *stated_cores;
  count = std::clamp<std::int64_t>(count, 1, kMostCores);
  if (!numbers.empty()) number = *numbers.begin();
  numbers_.resize(static_cast<std::size_t>(count));
  for (std::int64_t core = 0; core < count; ++core) numbers_[static_cast<std::size_t>(core)] = capped_sum(number, core);
  // Cores need not follow each other on the chip.
  if (static_cast<std::int64_t>(numbers.size()) == count) std::copy(numbers.begin(), numbers.end(), numbers_.begin());
  for (const auto& [graph, core] : core_of_graph_) {
    const auto known = number_of_graph_.find(graph);
    if (known != number_of_graph_.end() && core < count) numbers_[static_cast<std::size_t>(core)] = known->second;
  }
}

std::optional<std::int64_t> CorePlan::core_numbered(std::int64_t number) const {
  const auto found = std::find(numbers_.begin(), numbers_.end(), number);
  if (found == numbers_.end()) return std::nullopt;
  return found - numbers_.begin();
}

std::int64_t CorePlan::core_of_graph(const std::string& graph) const {
  if (const auto known = core_of_graph_.find(graph); known != core_of_graph_.end()) {
    return known->second < static_cast<std::int64_t>(count()) ? known->second : kWhole;
  }
  if (const auto known = number_of_graph_.find(graph); known != number_of_graph_.end()) {
    return core_numbered(known->second).value_or(kWhole);
  }
  return trailing_number(graph) % static_cast<std::int64_t>(count());
}

std::int64_t CorePlan::core_of(std::int64_t place) const {
  if (place >= kFirstDevice) {
    const std::string& name = devices_[static_cast<std::size_t>(place - kFirstDevice)];
    if (name == device(kWhole)) return kWhole;
    for (std::int64_t core = 0; core < static_cast<std::int64_t>(count()); ++core) {
      if (name == device(core)) return core;
    }
    return kMostCores + place - kFirstDevice;
  }
  if (count() == 1 || place < 0) return kWhole;
  if (place >= kFirstNumber) return core_numbered(place - kFirstNumber).value_or(kWhole);
  if (place >= kFirstGraph) return core_of_graph(graphs_[static_cast<std::size_t>(place - kFirstGraph)]);
  return place < static_cast<std::int64_t>(count()) ? place : kWhole;
}

std::string CorePlan::device(std::int64_t core) const {
  if (core >= kMostCores) return devices_[static_cast<std::size_t>(core - kMostCores)];
  if (core >= 0) return fmt::format("nc{}", numbers_[static_cast<std::size_t>(core)]);
  std::string name;
  for (const std::int64_t number : numbers_) name += fmt::format("{}nc{}", name.empty() ? "" : "+", number);
  return name;
}

}  // namespace accelscope::capture::sources::neuron
