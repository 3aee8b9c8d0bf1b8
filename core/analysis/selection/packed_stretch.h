// The sums of a stretch of a lane as SummaryIndex keeps them: the entries of each table in the order of their keys,
// packed in blocks of 64. What takes 24 bytes in a SummaryStretch takes three to five here, so that stretches of a few
// thousand names can be kept for as few as 16,384 events.
//
//   StretchPacker packer;                              // keeps its scratch memory; one per thread
//   auto kept = packer.pack(stretch, most_bytes);      // null: it would take more
//   kept->for_each(SummaryTable::names, [&](const SummaryEntry& entry) { ... });
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "core/analysis/selection/summary_tally.h"
#include "core/chunk/bit_pack.h"

namespace accelscope::analysis {

class PackedStretch {
 public:
  [[nodiscard]] const SummaryTotals& totals() const noexcept { return totals_; }
  [[nodiscard]] std::size_t entry_count() const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof(PackedStretch) + bytes_.capacity(); }
  // How many levels of finer stretches are kept of the same events.
  [[nodiscard]] unsigned levels_below() const noexcept { return levels_below_; }
  // A sum that reached the largest number there is cannot be told from a larger one: nothing can be taken off it.
  [[nodiscard]] bool is_exact() const noexcept {
    constexpr std::uint64_t kCapped = ~std::uint64_t{0};
    return totals_.bytes != kCapped && totals_.flops != kCapped && totals_.waited_ns != kCapped;
  }

  // Calls body(const SummaryEntry&) for each entry of the table, smallest key first.
  template <typename Body>
  void for_each(SummaryTable table, Body&& body) const {
    const Table& of = tables_[static_cast<std::size_t>(table)];
    const std::byte* in = bytes_.data() + of.begin;
    SummaryEntry entry{.key = of.first_key};
    std::uint64_t fields[kFields][kBlock];
    for (std::uint32_t first = 0; first < of.count; first += kBlock) {
      const std::uint32_t count = std::min<std::uint32_t>(kBlock, of.count - first);
      in = unpack(in, count, bytes_.data() + bytes_.size(), fields);
      for (std::uint32_t i = 0; i < count; ++i) {
        entry.key += static_cast<std::uint32_t>(fields[0][i]);
        entry.count = static_cast<std::uint32_t>(fields[1][i]);
        entry.busy_ticks = fields[2][i];
        entry.amount = fields[3][i] << of.shift;
        body(static_cast<const SummaryEntry&>(entry));
      }
    }
  }

 private:
  friend class StretchPacker;
  static constexpr std::uint32_t kBlock = 64;
  static constexpr std::size_t kFields = 4;  // step from the key before, count, busy ticks, amount >> shift
  static constexpr std::size_t kSlack = 8;   // that unpack_block() may load past a block

  struct Table {
    std::uint32_t count = 0;
    std::uint32_t begin = 0;  // of its first block, in bytes_
    std::uint32_t first_key = 0;
    std::uint8_t shift = 0;  // bits that are 0 at the end of all its amounts
  };
  [[nodiscard]] static constexpr std::size_t packed_bytes(std::uint32_t count, unsigned width) noexcept {
    return (std::size_t{count} * width + 7) / 8;
  }
  // The next block; returns where the one after it begins.
  static const std::byte* unpack(const std::byte* in, std::uint32_t count, const std::byte* end,
                                 std::uint64_t (&fields)[kFields][kBlock]) noexcept;

  SummaryTotals totals_;
  std::array<Table, kSummaryTables> tables_;
  std::vector<std::byte> bytes_;
  unsigned levels_below_ = 0;
};

class StretchPacker {
 public:
  // Null where it would take more than most_bytes beside its totals.
  [[nodiscard]] std::unique_ptr<const PackedStretch> pack(const SummaryStretch& stretch, std::uint64_t most_bytes,
                                                          unsigned levels_below);

 private:
  void sort(std::span<const SummaryEntry> entries);
  void append_block(std::uint32_t first, std::uint32_t count, unsigned shift, std::uint32_t before);

  std::vector<std::uint32_t> places_;  // by key less the smallest, index into the entries, + 1; all 0 between calls
  std::vector<SummaryEntry> sorted_;
  std::vector<std::byte> bytes_;
};

}  // namespace accelscope::analysis
