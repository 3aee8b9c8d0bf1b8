// Count and busy time per name over stretches of a lane, so that a range is answered from stretches and only its
// edges are decoded. Level 0 stretches are single chunks, each further level four times as long; a stretch keeps its
// totals only where they are much smaller than its events (one name in 16 events), else the reader goes one level
// down or decodes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/append_only_array.h"
#include "core/model/ids.h"

namespace accelscope {

struct NameTotal {
  StringId name = 0;  // session-wide
  std::uint32_t count = 0;
  std::uint64_t busy = 0;  // ticks
};

// Chunks with more different names than this take no part in totals.
inline constexpr std::size_t kMaxNamesForTotals = 8192;

class NameTotals {
 public:
  static constexpr std::size_t kFanout = 4;
  static constexpr std::size_t kLevels = 14;
  static constexpr std::size_t kEventsPerName = 16;

  struct Counts {
    std::array<std::uint32_t, kLevels> stretches{};
  };

  NameTotals();
  ~NameTotals();

  // The totals of the next chunk, sorted by name, at most one entry per name. Empty: it has too many names.
  void add_chunk(std::span<const NameTotal> totals, std::uint64_t event_count);
  [[nodiscard]] Counts counts() const noexcept;

  // kept is false where the stretch has no totals of its own.
  struct Stretch {
    const NameTotal* totals = nullptr;
    std::uint32_t size = 0;
    bool retained = false;
  };
  [[nodiscard]] Stretch stretch(std::size_t level, std::size_t index) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }

  // A stretch as a session file keeps it.
  struct Saved {
    std::vector<NameTotal> totals;
    std::uint64_t events = 0;
    bool retained = false;
  };
  using SavedLevels = std::array<std::vector<Saved>, kLevels>;
  // Into empty totals: level 0 as it was saved, the others made of it anew. What was saved of those is taken only where
  // a stretch below keeps nothing to make it of. The caller has checked it: see core/store/saved_index.cpp.
  void restore(const SavedLevels& saved);
  [[nodiscard]] std::uint64_t stretch_events(std::size_t level, std::size_t index) const noexcept {
    return levels_[level][index].events;
  }

 private:
  struct Entry {
    const NameTotal* totals;
    std::uint32_t size;
    std::uint32_t retained;
    std::uint64_t events;
  };
  // A stretch whose parent is not complete yet.
  struct Pending {
    std::vector<NameTotal> totals;
    std::uint64_t events;
    bool usable;
  };
  void add(std::size_t level, std::vector<NameTotal> totals, std::uint64_t events, bool usable,
           const SavedLevels* saved = nullptr);
  void push(std::size_t level, std::span<const NameTotal> totals, bool retained, std::uint64_t events);
  std::array<AppendOnlyArray<Entry>, kLevels> levels_;
  std::array<std::vector<Pending>, kLevels> pending_;
  std::vector<std::unique_ptr<NameTotal[]>> storage_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace accelscope
