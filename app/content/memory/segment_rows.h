// The segments that an allocator holds at one instant as rows of a picture: what lies where in each, pixel by pixel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/content/memory/model.h"
#include "core/analysis/memory/segments.h"

namespace accelscope::app::content {

struct SegmentRowsKey {
  std::uint64_t version = 0;  // of the snapshot
  std::uint32_t pool = 0;
  std::int64_t ns = 0;
  std::size_t pixels = 1;  // of a row, which shows all of its segment
  std::uint64_t min_bytes = 0;
  analysis::UsageGrouping grouping = analysis::UsageGrouping::tensor;
  PassingEvents passing = {};
  bool operator==(const SegmentRowsKey&) const = default;
};

// A block of a row, from pixel to pixel; what is between them is free.
struct SegmentStrip {
  std::uint32_t begin = 0, end = 0;
  std::uint8_t slot = 0;  // of the slice palette, by the group's name; or AddressBlock::kSeveralGroups
};

struct SegmentRows {
  SegmentRowsKey key;
  std::shared_ptr<const analysis::MemoryUsage> usage;  // that it was made of
  analysis::SegmentMap map;                            // a row for each of its segments, the largest first
  std::vector<std::vector<SegmentStrip>> rows;
};

[[nodiscard]] std::shared_ptr<const SegmentRows> make_segment_rows(std::shared_ptr<const analysis::MemoryUsage> usage,
                                                                   const SegmentRowsKey& key);

// The address under a pixel of a row, and the allocation that holds it.
struct SegmentPlace {
  std::uint64_t address = 0;
  std::optional<std::uint32_t> allocation;  // none: it is free
  std::uint64_t free_begin = 0, free_end = 0;
};
[[nodiscard]] SegmentPlace place_in_segment(const SegmentRows& rows, std::size_t row, double share);

// "4.24 GiB held, 3.07 GiB in use, ...": of all rows.
[[nodiscard]] std::string segments_text(const analysis::SegmentMap& map);

}  // namespace accelscope::app::content
