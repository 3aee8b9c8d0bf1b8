#include "core/index/name_totals.h"

#include <algorithm>
#include <limits>

namespace accelscope {
namespace {

// Beyond so many names in one stretch its totals are hardly smaller than its events; nothing is made of them.
constexpr std::size_t kMostNamesPerChunk = kMaxNamesForTotals;
constexpr std::size_t kMostNamesPerStretch = 262144;

std::uint32_t add_saturating(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t sum = std::uint64_t{a} + b;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

// Both inputs and the result are sorted by name, each name once.
std::vector<NameTotal> merge_sorted(std::span<const NameTotal> a, std::span<const NameTotal> b) {
  std::vector<NameTotal> out;
  out.reserve(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].name == b[j].name) {
      out.push_back({a[i].name, add_saturating(a[i].count, b[j].count), a[i].busy + b[j].busy});
      ++i;
      ++j;
    } else if (a[i].name < b[j].name) {
      out.push_back(a[i++]);
    } else {
      out.push_back(b[j++]);
    }
  }
  out.insert(out.end(), a.begin() + static_cast<std::ptrdiff_t>(i), a.end());
  out.insert(out.end(), b.begin() + static_cast<std::ptrdiff_t>(j), b.end());
  return out;
}

}  // namespace

NameTotals::NameTotals() = default;
NameTotals::~NameTotals() = default;

void NameTotals::add_chunk(std::span<const NameTotal> totals, std::uint64_t event_count) {
  const bool usable = !totals.empty() && totals.size() <= kMostNamesPerChunk;
  add(0, usable ? std::vector<NameTotal>(totals.begin(), totals.end()) : std::vector<NameTotal>(), event_count, usable);
}

void NameTotals::restore(const SavedLevels& saved) {
  for (const Saved& chunk : saved[0]) add(0, chunk.totals, chunk.events, chunk.retained, &saved);
}

void NameTotals::add(std::size_t level, std::vector<NameTotal> totals, std::uint64_t events, bool usable,
                     const SavedLevels* saved) {
  const bool retained = usable && totals.size() * kEventsPerName <= std::max<std::uint64_t>(events, kEventsPerName);
  push(level, totals, retained, events);
  if (level + 1 == kLevels) return;
  // A stretch that is not kept itself is still needed until its parent is made of it.
  std::vector<Pending>& waiting = pending_[level];
  waiting.push_back({std::move(totals), events, usable});
  if (waiting.size() < kFanout) return;

  std::uint64_t all_events = 0;
  bool all_usable = true;
  for (const Pending& child : waiting) {
    all_events += child.events;
    all_usable = all_usable && child.usable;
  }
  std::vector<NameTotal> merged;
  if (all_usable) {
    static_assert(kFanout == 4);
    merged = merge_sorted(merge_sorted(waiting[0].totals, waiting[1].totals),
                          merge_sorted(waiting[2].totals, waiting[3].totals));
    if (merged.size() > kMostNamesPerStretch) {
      all_usable = false;
      merged = {};
    }
  }
  waiting.clear();
  const std::size_t parent = levels_[level + 1].size();
  if (!all_usable && saved != nullptr && parent < (*saved)[level + 1].size() && (*saved)[level + 1][parent].retained) {
    merged = (*saved)[level + 1][parent].totals;
    all_usable = true;
  }
  add(level + 1, std::move(merged), all_events, all_usable, saved);
}

void NameTotals::push(std::size_t level, std::span<const NameTotal> totals, bool retained, std::uint64_t events) {
  Entry entry{nullptr, 0, retained ? 1U : 0U, events};
  if (retained && !totals.empty()) {
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
  return {entry.totals, entry.size, entry.retained != 0};
}

}  // namespace accelscope
