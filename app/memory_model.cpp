#include "app/memory_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace accelscope::app {

namespace {
constexpr int kSmallestPower = 8;  // 256 B
constexpr int kLargestPower = 24;  // 16 MiB
constexpr int kSliderSteps = kLargestPower - kSmallestPower + 1;
}  // namespace

std::vector<AliveTensor> alive_by_tensor(const MemoryUsage& usage, std::uint32_t pool, std::int64_t ns,
                                         std::uint64_t min_bytes) {
  std::vector<AliveTensor> tensors;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (const std::uint32_t index : usage.alive_at(pool, ns, min_bytes)) {
    const Allocation& allocation = usage.allocations[index];
    const auto [place, is_new] = places.try_emplace(allocation.tensor, tensors.size());
    if (is_new) tensors.push_back({allocation.tensor, 0, allocation.begin_ns, {}});
    AliveTensor& tensor = tensors[place->second];
    tensor.bytes += allocation.bytes;
    tensor.begin_ns = std::min(tensor.begin_ns, allocation.begin_ns);
    tensor.allocations.push_back(index);
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const AliveTensor& a, const AliveTensor& b) { return a.bytes > b.bytes; });
  return tensors;
}

AddressMap address_map(const MemoryUsage& usage, std::uint32_t pool, const TimeRange& range, std::size_t pixels,
                       std::uint64_t min_bytes, std::int64_t session_end_ns) {
  AddressMap map;
  std::unordered_map<std::uint64_t, std::size_t> last_at;  // address -> its newest block
  const double scale = static_cast<double>(pixels) / std::max(1.0, static_cast<double>(range.length_ns()));
  const auto pixel_of = [&](std::int64_t ns) {
    const double x = (static_cast<double>(ns) - static_cast<double>(range.begin_ns)) * scale;
    return static_cast<float>(std::clamp(x, -2.0, static_cast<double>(pixels) + 2.0));
  };
  bool any = false;
  for (std::uint32_t i = 0; i < usage.allocations.size(); ++i) {
    const Allocation& allocation = usage.allocations[i];
    if (allocation.pool != pool || !allocation.address) continue;
    map.lowest = any ? std::min(map.lowest, *allocation.address) : *allocation.address;
    map.highest = std::max(map.highest, *allocation.address + allocation.bytes);
    any = true;
    const std::int64_t end_ns = allocation.end_ns.value_or(session_end_ns);
    if (allocation.bytes < min_bytes || allocation.begin_ns > range.end_ns || end_ns < range.begin_ns) continue;
    const float x0 = pixel_of(allocation.begin_ns);
    const float x1 = std::max(pixel_of(end_ns), x0 + 1);
    const auto [place, is_new] = last_at.try_emplace(*allocation.address, map.blocks.size());
    AddressBlock* last = is_new ? nullptr : &map.blocks[place->second];
    if (last != nullptr && last->bytes == allocation.bytes && last->tensor == allocation.tensor && x0 < last->x1) {
      last->x1 = std::max(last->x1, x1);
      continue;
    }
    place->second = map.blocks.size();
    map.blocks.push_back({x0, x1, *allocation.address, allocation.bytes, allocation.tensor, i});
  }
  return map;
}

std::optional<std::uint32_t> allocation_at(const MemoryUsage& usage, std::uint32_t pool, std::int64_t ns,
                                           std::uint64_t address) {
  for (const std::uint32_t index : usage.alive_at(pool, ns)) {
    const Allocation& allocation = usage.allocations[index];
    if (allocation.address && *allocation.address <= address && address - *allocation.address < allocation.bytes) {
      return index;
    }
  }
  return std::nullopt;
}

std::vector<std::uint64_t> byte_ticks(std::uint64_t most, std::size_t count) {
  if (most == 0 || count == 0) return {};
  const std::uint64_t step = std::bit_ceil(std::max<std::uint64_t>(most / count, 1));
  std::vector<std::uint64_t> ticks;
  for (std::uint64_t at = step; at <= most; at += step) ticks.push_back(at);
  return ticks;
}

std::uint64_t slider_to_bytes(float position) noexcept {
  const int step = static_cast<int>(std::lround(std::clamp(position, 0.0F, 1.0F) * kSliderSteps));
  return step == 0 ? 0 : std::uint64_t{1} << (kSmallestPower + step - 1);
}

float bytes_to_slider(std::uint64_t bytes) noexcept {
  if (bytes == 0) return 0;
  const int power = std::clamp(static_cast<int>(std::bit_width(bytes)) - 1, kSmallestPower, kLargestPower);
  return static_cast<float>(power - kSmallestPower + 1) / static_cast<float>(kSliderSteps);
}

}  // namespace accelscope::app
