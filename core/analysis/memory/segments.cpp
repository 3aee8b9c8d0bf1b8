#include "core/analysis/memory/segments.h"

#include <algorithm>

namespace accelscope::analysis {
namespace {

[[nodiscard]] std::vector<MemorySegment> held_at(const PoolUsage& pool, std::int64_t ns) {
  std::vector<const ReservedPiece*> pieces;
  for (const ReservedPiece& piece : pool.reserved) {
    if (piece.begin_ns > ns) break;
    if (!piece.end_ns || *piece.end_ns > ns) pieces.push_back(&piece);
  }
  std::ranges::sort(pieces, [](const ReservedPiece* a, const ReservedPiece* b) { return a->address < b->address; });
  std::vector<MemorySegment> segments;
  bool joins = false;
  for (const ReservedPiece* piece : pieces) {
    const bool goes_on =
        !segments.empty() && joins && piece->joins && segments.back().address + segments.back().bytes == piece->address;
    joins = piece->joins;
    if (goes_on) {
      segments.back().bytes += piece->bytes;
    } else {
      segments.push_back({.address = piece->address, .bytes = piece->bytes, .event = piece->event});
    }
  }
  return segments;
}

[[nodiscard]] std::vector<MemorySegment> touched_ranges(const PoolUsage& pool) {
  std::vector<MemorySegment> segments;
  for (const AddressSpan& span : pool.touched) {
    segments.push_back({.address = span.begin, .bytes = span.end - span.begin});
  }
  return segments;
}

void find_free(const MemoryUsage& usage, MemorySegment& segment) {
  std::uint64_t next = segment.address;
  for (const std::uint32_t index : segment.allocations) {
    const Allocation& allocation = usage.allocations[index];
    if (*allocation.address > next) segment.largest_free = std::max(segment.largest_free, *allocation.address - next);
    next = std::max(next, *allocation.address + allocation.bytes);
  }
  const std::uint64_t end = segment.address + segment.bytes;
  if (end > next) segment.largest_free = std::max(segment.largest_free, end - next);
}

}  // namespace

double fragmentation(std::uint64_t free, std::uint64_t largest_free) noexcept {
  return free == 0 ? 0 : 1 - static_cast<double>(largest_free) / static_cast<double>(free);
}

SegmentMap segments_at(const MemoryUsage& usage, std::uint32_t number, std::int64_t ns) {
  SegmentMap map;
  const PoolUsage& pool = usage.pool(number);
  map.held = !pool.reserved.empty();
  map.segments = map.held ? held_at(pool, ns) : touched_ranges(pool);
  usage.visit(number, ns, ns, [&](std::uint32_t index) {
    const Allocation& allocation = usage.allocations[index];
    const auto after = [](std::uint64_t address, const MemorySegment& segment) { return address < segment.address; };
    auto place = map.segments.end();
    if (allocation.address) {
      place = std::upper_bound(map.segments.begin(), map.segments.end(), *allocation.address, after);
      place = place == map.segments.begin() ? map.segments.end() : place - 1;
    }
    const bool within = place != map.segments.end() && *allocation.address - place->address < place->bytes &&
                        allocation.bytes <= place->bytes - (*allocation.address - place->address) &&
                        allocation.bytes <= place->free();
    if (!within) {
      map.outside += allocation.bytes;
      return;
    }
    place->used += allocation.bytes;
    place->requested += allocation.requested;
    place->allocations.push_back(index);
  });
  for (MemorySegment& segment : map.segments) {
    std::ranges::sort(segment.allocations, [&](std::uint32_t a, std::uint32_t b) {
      return *usage.allocations[a].address < *usage.allocations[b].address;
    });
    find_free(usage, segment);
    map.bytes += segment.bytes;
    map.used += segment.used;
    map.requested += segment.requested;
    map.largest_free = std::max(map.largest_free, segment.largest_free);
  }
  return map;
}

}  // namespace accelscope::analysis
