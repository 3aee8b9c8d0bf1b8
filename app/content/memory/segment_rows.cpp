#include "app/content/memory/segment_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/format.h"
#include "core/model/palette.h"

namespace accelscope::app::content {
namespace {

[[nodiscard]] std::vector<SegmentStrip> strips_of(const analysis::MemoryUsage& usage,
                                                  const analysis::MemorySegment& segment, const SegmentRowsKey& key,
                                                  std::unordered_map<std::uint32_t, std::uint8_t>& slots) {
  std::vector<SegmentStrip> strips;
  const double scale = static_cast<double>(key.pixels) / static_cast<double>(std::max<std::uint64_t>(segment.bytes, 1));
  std::uint32_t last_group = 0;
  for (const std::uint32_t index : segment.allocations) {
    const analysis::Allocation& allocation = usage.allocations[index];
    if (allocation.bytes < key.min_bytes || !key.passing.takes(allocation)) continue;
    const std::uint32_t group = usage.group_of(allocation, key.grouping);
    const auto [slot, is_new] = slots.try_emplace(group);
    if (is_new) slot->second = palette_slot(usage.group_name(group, key.grouping));
    const double from = static_cast<double>(*allocation.address - segment.address) * scale;
    SegmentStrip strip{static_cast<std::uint32_t>(from), 0, slot->second};
    strip.end =
        std::max(strip.begin + 1, static_cast<std::uint32_t>(from + static_cast<double>(allocation.bytes) * scale));
    // Blocks that share a pixel are one strip.
    if (!strips.empty() && strip.begin < strips.back().end) {
      if (group != last_group) strips.back().slot = AddressBlock::kSeveralGroups;
      strip.begin = strips.back().end;
      if (strip.end <= strip.begin) continue;
    }
    last_group = group;
    strips.push_back(strip);
  }
  return strips;
}

}  // namespace

std::shared_ptr<const SegmentRows> make_segment_rows(std::shared_ptr<const analysis::MemoryUsage> usage,
                                                     const SegmentRowsKey& key) {
  auto made = std::make_shared<SegmentRows>();
  made->key = key;
  made->map = analysis::segments_at(*usage, key.pool, key.ns);
  std::stable_sort(
      made->map.segments.begin(), made->map.segments.end(),
      [](const analysis::MemorySegment& a, const analysis::MemorySegment& b) { return a.bytes > b.bytes; });
  std::unordered_map<std::uint32_t, std::uint8_t> slots;
  for (const analysis::MemorySegment& segment : made->map.segments)
    made->rows.push_back(strips_of(*usage, segment, key, slots));
  made->usage = std::move(usage);
  return made;
}

SegmentPlace place_in_segment(const SegmentRows& rows, std::size_t row, double share) {
  const analysis::MemorySegment& segment = rows.map.segments[row];
  const double bytes = static_cast<double>(segment.bytes) * std::clamp(share, 0.0, 1.0);
  SegmentPlace place;
  place.address = segment.address + std::min(static_cast<std::uint64_t>(bytes), segment.bytes - 1);
  place.free_begin = segment.address;
  place.free_end = segment.address + segment.bytes;
  for (const std::uint32_t index : segment.allocations) {
    const analysis::Allocation& allocation = rows.usage->allocations[index];
    if (*allocation.address > place.address) {
      place.free_end = *allocation.address;
      break;
    }
    place.free_begin = *allocation.address + allocation.bytes;
    if (place.address < place.free_begin) {
      place.allocation = index;
      break;
    }
  }
  return place;
}

std::string segments_text(const analysis::SegmentMap& map) {
  if (!map.held)
    return fmt::format("{} of addresses ever used, {} in use", format_bytes(map.bytes), format_bytes(map.used));
  std::string text =
      fmt::format("{} held in {}, {} in use, {} free", format_bytes(map.bytes), counted(map.segments.size(), "segment"),
                  format_bytes(map.used), format_bytes(map.free()));
  if (map.free() > 0) {
    text += fmt::format(" (largest {}, fragmentation {})", format_bytes(map.largest_free),
                        format_share(analysis::fragmentation(map.free(), map.largest_free)));
  }
  if (map.used > map.requested) text += fmt::format(", {} lost to rounding", format_bytes(map.used - map.requested));
  return text;
}

}  // namespace accelscope::app::content
