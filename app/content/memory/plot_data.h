// What the memory panel's plots draw, worked out for one range, size and choice of allocations, so that a frame only
// fills rectangles: the use over time as stretches of equal height, and the blocks of the address map.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/memory/model.h"
#include "app/session/analysis.h"

namespace accelscope::app::content {

inline constexpr std::size_t kMostUsageSeries = 10;

// What a plot was made for.
struct MemoryPlotKey {
  std::uint64_t version = 0;  // of the snapshot
  std::uint32_t pool = 0;
  TimeRange range;
  std::size_t pixels = 0;  // of the time axis
  std::size_t rows = 0;    // of the address map; 0: none is shown
  std::uint64_t min_bytes = 0;
  analysis::UsageGrouping grouping = analysis::UsageGrouping::tensor;
  std::uint64_t label_bytes = 0;  // an area at least this tall has room for its name
  std::size_t most_series = kMostUsageSeries;
  PassingEvents passing;  // the map leaves the others out; the use over time is that of all
  bool operator==(const MemoryPlotKey&) const = default;
};

// Pixels from begin to end, in which the use does not change.
struct UsageRun {
  std::uint32_t begin = 0, end = 0;
  std::uint64_t bottom = 0, top = 0;  // bytes; of a line the top counts
};

struct UsageSeries {
  std::string name;
  std::uint8_t slot = 0;  // of the slice palette
  bool is_other = false;
  std::uint64_t most = 0;
  std::vector<UsageRun> areas;    // stacked on the series before it; stretches of nothing are left out
  std::vector<UsageRun> line;     // by itself
  std::optional<UsageRun> label;  // the longest stretch that is as tall as the key's label_bytes all along
};

struct MemoryPlotData {
  MemoryPlotKey key;
  std::shared_ptr<const analysis::MemoryUsage> usage;  // what it was made from
  analysis::StackedUsage stack;
  std::vector<UsageSeries> series;
  std::vector<UsageRun> total;
  std::vector<UsageRun> reserved;  // what the allocator holds; empty: nobody tells
  AddressScale scale;
  std::vector<AddressBlock> map;
};

[[nodiscard]] std::shared_ptr<const MemoryPlotData> make_memory_plot(std::shared_ptr<const analysis::MemoryUsage> usage,
                                                                     const MemoryPlotKey& key,
                                                                     std::int64_t session_end_ns);

// The series that lies at so many bytes above the ground in a pixel of the stack; none above all of them.
[[nodiscard]] std::optional<std::size_t> series_at(const analysis::StackedUsage& stack, std::size_t pixel,
                                                   std::uint64_t bytes);

// The use of memory pools as the timeline draws it, made off the UI thread: a pool may have changed millions of times
// in sight. Until the wanted stack is there the last one of its pool is given.
class UsageStacks {
 public:
  // Null before the pool's first answer; compare the key's range with what was asked for.
  std::shared_ptr<const MemoryPlotData> get(session::SessionAnalysis& analysis,
                                            const std::shared_ptr<const analysis::MemoryUsage>& usage,
                                            std::uint32_t pool, const TimeRange& range, std::size_t pixels,
                                            std::size_t most_series);

 private:
  struct Entry {
    std::shared_ptr<const MemoryPlotData> data;
    Task<std::shared_ptr<const MemoryPlotData>> task;
  };
  std::map<std::uint32_t, Entry> entries_;  // by pool
};

}  // namespace accelscope::app::content
