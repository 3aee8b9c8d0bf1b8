// The memory tracker: allocations with their lifetimes out of the events of kind memory, the use of every pool
// over time with its peak, and who holds what. An event with a duration lives exactly as long; otherwise a
// release (Role::allocation < 0) ends the allocation of the same Role::key, else of the same pool and address,
// else of the same pool, tensor and size. What is never released lives to the end. Every device of every host has pools
// of its own.
//
// What the session says about a pool is taken over: the meta entry "capacity.NAME" (bytes) is its capacity, and the
// quality note "memory_estimated" says that allocations with a duration stand for lifetimes that the source guessed.
// Samples of a pool's use (counters) become pools without allocations.
//
// What an allocator holds in order to cut a pool's allocations from it (Role::reserved) is kept by piece: segments.h
// tells what of it is free.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct Allocation {
  EventId event = kNoEvent;
  EventId release = kNoEvent;
  std::uint32_t pool = 0;    // index into MemoryUsage::pools
  std::uint32_t tensor = 0;  // index into MemoryUsage::tensors
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;  // none: alive at the end
  std::uint32_t site = 0;              // index into MemoryUsage::sites
  std::uint32_t stack = 0;             // index into MemoryUsage::stacks
  std::uint64_t requested = 0;         // of the bytes, what was asked for; all of them where nobody says
};

// Memory that an allocator holds, as it got it.
struct ReservedPiece {
  EventId event = kNoEvent;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;  // none: held at the end
  bool joins = false;                  // it goes on where the one that it touches ends
};

struct PoolStep {
  std::int64_t ns = 0;
  std::uint64_t bytes = 0;  // in use from here to the next step
};

struct PoolChange {
  std::int64_t ns = 0;
  std::int64_t bytes = 0;
  std::uint32_t allocation = 0;  // index into MemoryUsage::allocations
};

struct AddressSpan {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const AddressSpan&) const = default;
};

struct PoolUsage {
  std::string name;                 // "SBUF", or "nc0 SBUF" where several devices have one
  std::vector<PoolChange> changes;  // every allocation and release, by time
  std::vector<PoolStep> steps;      // rising in time, one per instant at which the use changes
  std::uint64_t peak_bytes = 0;
  std::int64_t peak_ns = 0;  // when it is first reached
  std::uint64_t allocation_count = 0;
  std::uint64_t never_freed = 0;
  std::string device, base_name;  // "nc0" as TrackDevices names it, "SBUF"
  std::string host;               // of a pool that is of no device
  std::optional<std::uint64_t> capacity_bytes;
  bool estimated = false;                // lifetimes or use are a guess
  bool sampled = false;                  // made of a counter's samples: no allocations
  std::vector<ReservedPiece> reserved;   // by begin; empty: nobody tells what is held
  std::vector<PoolStep> reserved_steps;  // as steps, of what is held
  // What the source itself states as in use, by time: it knows of allocations from before the recording too. Empty: it
  // states nothing.
  std::vector<PoolStep> stated_steps;
  PoolStep stated_peak;
  std::string note;                  // how it was estimated, a sentence for the user
  std::vector<AddressSpan> touched;  // every address that was ever taken, rising, apart from each other

  // What finds the allocations of a time without going through all: their indices by begin, and the latest end of
  // every kAliveFan of them, of every kAliveFan of those, and so on.
  std::vector<std::uint32_t> by_begin;
  std::vector<std::vector<std::int64_t>> latest_ends;
};

// The most that was in use at once: as the source states it where it does, else of the allocations or samples.
struct PoolPeak {
  std::uint64_t bytes = 0;
  std::int64_t ns = 0;  // when it is first reached
  bool stated = false;
};

enum class UsageGrouping : std::uint8_t { tensor, size_class, site, stack };

// Stacked areas for a plot: values[series][pixel] in bytes. Every pixel shows the moment of its peak, so that its
// column adds up to the most that was in use within it.
struct StackedUsage {
  std::vector<std::string> names;  // groups, the largest shown first; "other" last if some were left out
  std::vector<std::vector<std::uint64_t>> values;
  std::vector<std::uint64_t> total;  // of the whole pool
};

struct MemoryUsage {
  std::uint64_t snapshot_version = 0;
  std::vector<std::string> tensors;
  std::vector<std::string> sites;         // source locations that allocate; "" where none is known
  std::vector<std::string> stacks;        // innermost first, by '\n'; "" where none is known
  std::vector<std::string> stack_titles;  // what they are called: the tensor that is allocated there, numbered
  std::vector<PoolUsage> pools;
  std::vector<PoolUsage> sampled;        // known by samples only
  std::vector<Allocation> allocations;   // by begin
  std::uint64_t unmatched_releases = 0;  // releases of what was never allocated
  std::uint64_t implied_releases = 0;    // allocations whose address was handed out again before a release

  // Works out everything that follows from the allocations; once, when they are complete.
  void index();

  // Pools are followed by the sampled ones: a number below pool_count() is one of either.
  [[nodiscard]] std::size_t pool_count() const noexcept { return pools.size() + sampled.size(); }
  [[nodiscard]] const PoolUsage& pool(std::size_t number) const noexcept {
    return number < pools.size() ? pools[number] : sampled[number - pools.size()];
  }
  [[nodiscard]] std::optional<std::uint32_t> find_pool(std::string_view name) const noexcept;
  // The one peak of figures, panels and reports. Without a range of all of it.
  [[nodiscard]] PoolPeak peak(std::uint32_t pool, const TimeRange& range = {}) const noexcept;
  [[nodiscard]] std::uint64_t used_at(std::uint32_t pool, std::int64_t ns) const noexcept;
  // The most that is held within every pixel; none where nobody tells.
  [[nodiscard]] std::vector<std::uint64_t> reserved_most(std::uint32_t pool, const TimeRange& range,
                                                         std::size_t pixels) const;
  [[nodiscard]] std::uint64_t reserved_at(std::uint32_t pool, std::int64_t ns) const noexcept;
  // Visits the allocations that begin at or before `to_ns` and end after `from_ns`, by begin: a number of steps that
  // follows from how many there are, not from how many the pool has.
  void visit(std::uint32_t pool, std::int64_t from_ns, std::int64_t to_ns,
             const std::function<void(std::uint32_t)>& visitor) const;
  // Indices into allocations of those alive at the time and of at least min_bytes, largest first.
  [[nodiscard]] std::vector<std::uint32_t> alive_at(std::uint32_t pool, std::int64_t ns,
                                                    std::uint64_t min_bytes = 0) const;
  // Allocations smaller than min_bytes, and groups after the first max_series, go into "other".
  [[nodiscard]] StackedUsage stacked(std::uint32_t pool, const TimeRange& range, std::size_t pixels,
                                     std::size_t max_series, std::uint64_t min_bytes = 0,
                                     UsageGrouping grouping = UsageGrouping::tensor) const;
  [[nodiscard]] std::uint32_t group_of(const Allocation& allocation, UsageGrouping grouping) const noexcept;
  [[nodiscard]] std::size_t group_count(UsageGrouping grouping) const noexcept;
  [[nodiscard]] const std::string& group_name(std::uint32_t group, UsageGrouping grouping) const noexcept;
};

[[nodiscard]] Result<std::shared_ptr<const MemoryUsage>> memory_usage(const QueryContext& query);

}  // namespace accelscope::analysis
