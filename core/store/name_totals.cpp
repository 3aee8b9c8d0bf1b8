#include "core/store/name_totals.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace accelscope {

NameTotals::NameTotals() = default;
NameTotals::~NameTotals() = default;

void NameTotals::add_chunk(std::span<const NameTotal> totals, std::uint64_t event_count) { add(0, totals, event_count); }

void NameTotals::add(std::size_t level, std::span<const NameTotal> totals, std::uint64_t events) {
  const bool kept = !totals.empty() && totals.size() * kEventsPerName <= std::max<std::uint64_t>(events, kEventsPerName);
  // Below the highest level a stretch that is not kept is still needed until its parent is made of it.
  push(level, totals, kept, events);
  if (level + 1 == kLevels) return;

  std::vector<Pending>& waiting = pending_[level];
  waiting.push_back({{totals.begin(), totals.end()}, events});
  if (waiting.size() < kFanout) return;

  std::unordered_map<StringId, NameTotal> sums;
  std::uint64_t all_events = 0;
  for (const Pending& child : waiting) {
    all_events += child.events;
    for (const NameTotal& total : child.totals) {
      NameTotal& sum = sums[total.name];
      sum.name = total.name;
      sum.count = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(std::uint64_t{sum.count} + total.count, std::numeric_limits<std::uint32_t>::max()));
      sum.busy += total.busy;
    }
  }
  waiting.clear();
  std::vector<NameTotal> merged;
  merged.reserve(sums.size());
  for (const auto& [name, sum] : sums) merged.push_back(sum);
  add(level + 1, merged, all_events);
}

void NameTotals::push(std::size_t level, std::span<const NameTotal> totals, bool kept, std::uint64_t events) {
  Entry entry{nullptr, 0, kept ? 1U : 0U, events};
  if (kept && !totals.empty()) {
    auto storage = std::make_unique_for_overwrite<NameTotal[]>(totals.size());
    std::copy(totals.begin(), totals.end(), storage.get());
    entry.totals = storage.get();
    entry.size = static_cast<std::uint32_t>(totals.size());
    memory_bytes_ += totals.size() * sizeof(NameTotal);
    storage_.push_back(std::move(storage));
  }
  memory_bytes_ += sizeof(Entry);
  levels_[level].push_back(entry);
}

NameTotals::Counts NameTotals::counts() const noexcept {
  Counts counts;
  for (std::size_t level = 0; level < kLevels; ++level) {
    counts.stretches[level] = static_cast<std::uint32_t>(levels_[level].size());
  }
  return counts;
}

NameTotals::Stretch NameTotals::stretch(std::size_t level, std::size_t index) const noexcept {
  const Entry& entry = levels_[level][index];
  return {entry.totals, entry.size, entry.kept != 0};
}

void NameTotals::restore(std::size_t level, std::span<const NameTotal> totals, bool kept, std::uint64_t events) {
  push(level, totals, kept, events);
}

}  // namespace accelscope
