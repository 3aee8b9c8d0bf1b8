#include "core/listing/analysis_listings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analysis/memory/segments.h"
#include "core/base/format.h"

namespace accelscope::listing {
namespace {

struct GroupingRow {
  std::string_view name;
  analysis::UsageGrouping grouping;
};
constexpr GroupingRow kAliveGroupings[] = {
    {"tensor", analysis::UsageGrouping::tensor},
    {"size", analysis::UsageGrouping::size_class},
    {"line", analysis::UsageGrouping::site},
    {"stack", analysis::UsageGrouping::stack},
};

[[nodiscard]] std::int64_t instant_of(const QueryContext& query, const ListingRequest& request) {
  return request.filter.range ? std::min(request.filter.range->end_ns, query.snapshot->end_ns) : query.snapshot->end_ns;
}

}  // namespace

Result<Listing> list_segments(const QueryContext& query, const ListingRequest& request) {
  const auto usage = TRY(analysis::memory_usage(query));
  const std::int64_t ns = instant_of(query, request);
  Listing listing({{"pool", "Memory", "", "Whose allocations lie in it"},
                   {"address", "Segment", "", "Where it begins"},
                   {"size_bytes", "Size", "B", "What the allocator got from the driver"},
                   {"active_bytes", "In use", "B", "Blocks that are in use, or not yet free for every stream"},
                   {"requested_bytes", "Requested", "B", "What was asked for with these"},
                   {"inactive_bytes", "Free", "B", "Between and behind the blocks"},
                   {"largest_free_bytes", "Largest free", "B", "The longest stretch without a block"},
                   {"fragmentation",
                    "Fragmentation",
                    "share",
                    "1 - largest free / free: 0 where all that is free lies together",
                    {.bar = true}},
                   {"blocks", "Blocks", "", "In use"}});
  analysis::SegmentMap all;
  for (std::uint32_t pool = 0; pool < usage->pools.size(); ++pool) {
    const analysis::SegmentMap map = analysis::segments_at(*usage, pool, ns);
    for (const analysis::MemorySegment& segment : map.segments) {
      ListingTarget target;
      if (segment.event != kNoEvent) target = segment.event;
      listing.add({usage->pools[pool].name, fmt::format("0x{:X}", segment.address), count_cell(segment.bytes),
                   count_cell(segment.used), count_cell(segment.requested), count_cell(segment.free()),
                   count_cell(segment.largest_free), analysis::fragmentation(segment.free(), segment.largest_free),
                   static_cast<std::int64_t>(segment.allocations.size())},
                  target);
    }
    all.bytes += map.bytes;
    all.used += map.used;
    all.requested += map.requested;
    all.outside += map.outside;
    all.held = all.held || map.held;
  }
  if (all.bytes == 0) return listing;
  listing.note = fmt::format("at {}: {} held, {} in use, {} free in segments, {} lost to rounding",
                             format_time_exact(ns), format_bytes(all.bytes), format_bytes(all.used),
                             format_bytes(all.bytes - all.used), format_bytes(all.used - all.requested));
  if (!all.held) listing.note += "; nobody tells what is held: these are the addresses that were ever in use";
  return listing;
}

Result<Listing> list_alive(const QueryContext& query, const ListingRequest& request) {
  const std::string by = request.by.empty() ? "tensor" : request.by.front();
  const auto known = std::find_if(std::begin(kAliveGroupings), std::end(kAliveGroupings),
                                  [&](const GroupingRow& row) { return row.name == by; });
  if (known == std::end(kAliveGroupings)) {
    return Error{fmt::format("--by {}: allocations are grouped by tensor, size, line or stack", by)};
  }
  const auto made = TRY(analysis::memory_usage(query));
  const analysis::MemoryUsage& usage = *made;
  const std::int64_t ns = instant_of(query, request);
  Listing listing({{"pool", "Memory", "", ""},
                   {"name", "What", "", "By what --by says"},
                   {"allocations", "Allocations", "", "Alive"},
                   {"bytes", "Size", "B", "Of them together"},
                   {"requested_bytes", "Requested", "B", "What was asked for with these"},
                   {"share", "Share", "share", "Of what is in use of this memory", {.bar = true}},
                   {"stack", "Stack", "", "Of the largest one, innermost first", {.aside = true}}});
  struct Group {
    std::int64_t count = 0;
    std::uint64_t bytes = 0, requested = 0;
    std::optional<std::uint32_t> largest;
  };
  for (std::uint32_t pool = 0; pool < usage.pools.size(); ++pool) {
    std::map<std::uint32_t, Group> groups;
    std::uint64_t whole = 0;
    for (const std::uint32_t index : usage.alive_at(pool, ns)) {  // the largest first
      const analysis::Allocation& allocation = usage.allocations[index];
      if (query.mask && !query.mask->passes(*query.snapshot, allocation.event)) continue;
      Group& group = groups[usage.group_of(allocation, known->grouping)];
      ++group.count;
      group.bytes += allocation.bytes;
      group.requested += allocation.requested;
      if (!group.largest) group.largest = index;
      whole += allocation.bytes;
    }
    std::vector<std::pair<std::uint32_t, Group>> order(groups.begin(), groups.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    for (const auto& [number, group] : order) {
      listing.add({usage.pools[pool].name, usage.group_name(number, known->grouping), group.count,
                   count_cell(group.bytes), count_cell(group.requested),
                   static_cast<double>(group.bytes) / static_cast<double>(std::max<std::uint64_t>(whole, 1)),
                   usage.stacks[usage.allocations[*group.largest].stack]},
                  usage.allocations[*group.largest].event);
    }
  }
  listing.note = "at " + format_time_exact(ns);
  return listing;
}

}  // namespace accelscope::listing
