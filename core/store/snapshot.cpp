#include "core/store/snapshot.h"

#include <algorithm>

namespace accelscope {
namespace {

// The first chunk index in [0, count) for which the predicate holds; it must hold for all after it.
template <typename Predicate>
std::uint32_t first_chunk(std::uint32_t count, Predicate holds) {
  std::uint32_t low = 0;
  std::uint32_t high = count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

std::uint32_t LaneSnapshot::chunk_of_ordinal(std::uint64_t ordinal) const noexcept {
  const std::uint32_t index =
      first_chunk(chunk_count, [&](std::uint32_t i) { return chunk(i).first_ordinal + chunk(i).count > ordinal; });
  return index < chunk_count && chunk(index).first_ordinal <= ordinal ? index : chunk_count;
}

std::uint32_t LaneSnapshot::chunk_of_leaf(std::uint32_t leaf) const noexcept {
  constexpr std::uint32_t kBlock = 64;
  return first_chunk(chunk_count, [&](std::uint32_t i) {
    return chunk(i).first_leaf + (chunk(i).count + kBlock - 1) / kBlock > leaf;
  });
}

std::uint32_t LaneSnapshot::first_chunk_ending_after(std::int64_t ticks) const noexcept {
  // An instant at the very tick ends there, too; so >= and the caller looks at the events.
  return first_chunk(chunk_count, [&](std::uint32_t i) { return chunk(i).end_ticks >= ticks; });
}

const LaneSnapshot* Snapshot::find_lane(LaneNumber number) const noexcept {
  if (places == nullptr) return nullptr;
  const auto found = places->lanes.find(number);
  return found == places->lanes.end() ? nullptr : &lanes[found->second];
}

const TrackSnapshot* Snapshot::find_track(TrackNumber number) const noexcept {
  if (places == nullptr) return nullptr;
  const auto found = places->tracks.find(number);
  return found == places->tracks.end() ? nullptr : &tracks[found->second];
}

std::string_view Snapshot::meta_value(std::string_view key) const noexcept {
  const auto found = std::find_if(meta.begin(), meta.end(), [key](const MetaEntry& m) { return m.key == key; });
  return found == meta.end() ? std::string_view() : std::string_view(found->value);
}

}  // namespace accelscope
