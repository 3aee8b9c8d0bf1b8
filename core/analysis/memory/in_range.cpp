#include "core/analysis/memory/in_range.h"

#include <algorithm>
#include <map>

#include "core/base/natural_order.h"

namespace accelscope {

MemoryInRange memory_in_range(const MemoryUsage& usage, const TimeRange& range) {
  constexpr std::size_t kMostTensors = 64;
  MemoryInRange result;
  result.known = true;
  result.any_in_session = usage.pool_count() > 0;
  std::vector<std::pair<MemoryInRange::Pool, std::uint32_t>> found;
  for (std::uint32_t number = 0; number < usage.pool_count(); ++number) {
    const PoolUsage& pool = usage.pool(number);
    const PoolPeak most = usage.peak(number, range);
    MemoryInRange::Pool peak{pool.name, most.bytes, most.ns, pool.capacity_bytes, pool.estimated};
    if (peak.peak_bytes > 0) found.emplace_back(std::move(peak), number);
  }
  // Those whose allocations are known come first: only they say what takes the room.
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    const bool sampled_a = a.second >= usage.pools.size(), sampled_b = b.second >= usage.pools.size();
    if (sampled_a != sampled_b) return sampled_b;
    if (a.first.peak_bytes != b.first.peak_bytes) return a.first.peak_bytes > b.first.peak_bytes;
    return natural_less(a.first.name, b.first.name);
  });
  for (const auto& [pool, number] : found) result.pools.push_back(pool);
  if (found.empty() || found.front().second >= usage.pools.size()) return result;
  std::map<std::uint32_t, std::uint64_t> by_tensor;
  for (const std::uint32_t index : usage.alive_at(found.front().second, found.front().first.peak_ns)) {
    by_tensor[usage.allocations[index].tensor] += usage.allocations[index].bytes;
  }
  for (const auto& [tensor, bytes] : by_tensor) {
    const bool named = !usage.tensors[tensor].empty() && usage.tensors[tensor] != "[memory]";  // as PyTorch names all
    if (named) result.tensors.emplace_back(usage.tensors[tensor], bytes);
  }
  std::stable_sort(result.tensors.begin(), result.tensors.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (result.tensors.size() > kMostTensors) result.tensors.resize(kMostTensors);
  return result;
}

}  // namespace accelscope
