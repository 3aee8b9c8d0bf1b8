// The colours of a session's events by a column of their table instead of their names: four bits an event, a mean
// colour for every node of a lane's tree as the tree itself has one for the names, and what the colours stand for.
// Text gets the palette slot that a name of the same text would have; numbers get steps (core/colour/builder.h),
// but for few whole numbers without a unit, which are mostly ids: each of those is a value like a text.
// Built on the pool; a session that grew costs only what is new, unless its numbers moved the steps.
//
//   auto colours = event_colours(query, {{"dma", "queue"}, {"instruction", "duration"}});
//   if (const LaneColours* lane = colours->lane(lane_index)) lane->event(leaf, i);   // null: by name
//   colours->tables();                                                               // what a legend lists
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/palette.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::colour {

// Table (Schema::name) -> a column of it, or "name" or "duration". Tables that are not in it keep their colours.
using ColourChoice = std::map<std::string, std::string>;

struct ColourValue {
  std::string text;          // the value, or the bounds of its step
  std::uint32_t colour = 0;  // 0xRRGGBB
  std::uint64_t events = 0;
  std::uint64_t ns = 0;               // sum of their durations
  bool missing = false;               // stands for the events that have no value
  std::optional<double> from, below;  // of a step: from <= value < below
};

struct ColourTable {
  static constexpr std::size_t kMostListed = 500;
  std::string table, column;
  std::string unit;
  bool ordered = false;  // numbers: the values are steps in ascending order; else the longest in sum come first
  std::uint64_t events = 0, ns = 0;
  std::uint64_t unlisted = 0;  // values beyond kMostListed
  std::vector<ColourValue> values;
};

class LaneColours {
 public:
  // 0xRRGGBB. What is newer than the colours has that of no value.
  [[nodiscard]] std::uint32_t node(std::size_t level, std::size_t index) const noexcept {
    return level < nodes_.size() && index < nodes_[level].size() ? nodes_[level][index] : kNoValueColour;
  }
  [[nodiscard]] std::uint32_t event(std::uint32_t leaf, std::uint32_t in_leaf) const noexcept {
    const std::size_t word = std::size_t{leaf} * kWordsPerLeaf + in_leaf / kCodesPerWord;
    if (word >= codes_.size()) return kNoValueColour;
    return colours_[codes_[word] >> (in_leaf % kCodesPerWord * kCodeBits) & kNoValue];
  }

  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  friend class ColourBuilder;
  static constexpr std::uint32_t kCodeBits = 4;
  static constexpr std::uint32_t kCodesPerWord = 64 / kCodeBits;
  static constexpr std::uint32_t kWordsPerLeaf = kBlockEvents / kCodesPerWord;
  static constexpr std::uint32_t kNoValue = 15;  // code of events without a value

  std::array<std::uint32_t, 16> colours_{};        // by code
  std::vector<std::uint64_t> codes_;               // by leaf
  std::vector<std::vector<std::uint32_t>> nodes_;  // [level][node]
  std::uint32_t chunk_count_ = 0;                  // that they stand for
};

class EventColours {
 public:
  EventColours();
  ~EventColours();
  EventColours(const EventColours&) = delete;
  EventColours& operator=(const EventColours&) = delete;

  [[nodiscard]] const ColourChoice& choice() const noexcept { return choice_; }
  [[nodiscard]] std::uint64_t snapshot_version() const noexcept { return snapshot_version_; }
  // Differs for any two, so that what was drawn with one is not taken for what another would draw.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const LaneColours* lane(std::uint32_t lane_index) const noexcept {
    return lane_index < lanes_.size() ? lanes_[lane_index].get() : nullptr;
  }
  // One for each table of the choice that the session has.
  [[nodiscard]] const std::vector<ColourTable>& tables() const noexcept { return tables_; }
  [[nodiscard]] const ColourTable* table(std::string_view name) const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  friend class ColourBuilder;
  struct Sums;  // of a table, from which a grown session goes on

  ColourChoice choice_;
  std::uint64_t snapshot_version_ = 0;
  std::uint64_t id_;
  std::vector<std::shared_ptr<const LaneColours>> lanes_;  // by index into Snapshot::lanes
  std::vector<ColourTable> tables_;
  std::vector<std::shared_ptr<const Sums>> sums_;  // by table
};

// Fails when a chunk cannot be read or when cancelled. A column that a table does not have gives every event of it the
// colour of no value. `previous` are colours of an earlier snapshot of the same store, of any choice, or null.
[[nodiscard]] Result<std::shared_ptr<const EventColours>> event_colours(const QueryContext& query,
                                                                        const ColourChoice& choice,
                                                                        const EventColours* previous = nullptr);

}  // namespace accelscope::colour
