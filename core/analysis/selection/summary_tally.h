// Adds events of one lane up for summaries: what a stretch of a lane holds, in ticks, by name, source line, layer, size
// of transfer and duration. SummaryIndex keeps such stretches, selection_summary adds them up.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/analysis/selection/amount_block.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/column_values.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {

// The bins of the histograms of a selection: transfer sizes in powers of two, durations in steps of 1, 2, 5.

// Bin 0 holds what is 0, bin k holds [2^(k-1), 2^k) bytes.
[[nodiscard]] constexpr std::uint32_t size_bin(std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(bytes));
}
// The smallest size in the bin; the next bin's is the first that lies above it.
[[nodiscard]] constexpr std::uint64_t size_bin_begin(std::uint32_t bin) noexcept {
  return bin == 0 ? 0 : std::uint64_t{1} << (bin - 1);
}

namespace detail {
inline constexpr std::size_t kDurationBins = 56;  // 0, then 1, 2, 5, 10 ... ns to the largest that 64 bits hold
constexpr std::array<std::int64_t, kDurationBins> duration_bin_begins() noexcept {
  std::array<std::int64_t, kDurationBins> begins{};
  std::int64_t decade = 1;
  for (std::size_t i = 1; i < kDurationBins; ++i) {
    const std::size_t step = (i - 1) % 3;
    begins[i] = step == 0 ? decade : step == 1 ? 2 * decade : 5 * decade;
    if (step == 2 && i + 1 < kDurationBins) decade *= 10;
  }
  return begins;
}
inline constexpr std::array<std::int64_t, kDurationBins> kDurationBinBegins = duration_bin_begins();
// The bin of the largest number with so many bits: one of its bits more lies at most two bins higher.
constexpr std::array<std::uint8_t, 64> duration_bins_of_widths() noexcept {
  std::array<std::uint8_t, 64> bins{};
  for (std::size_t width = 1; width < bins.size(); ++width) {
    const std::int64_t smallest = std::int64_t{1} << (width - 1);
    std::size_t bin = 0;
    while (bin + 1 < kDurationBins && kDurationBinBegins[bin + 1] <= smallest) ++bin;
    bins[width] = static_cast<std::uint8_t>(bin);
  }
  return bins;
}
inline constexpr std::array<std::uint8_t, 64> kDurationBinsOfWidths = duration_bins_of_widths();
}  // namespace detail

[[nodiscard]] constexpr std::uint32_t duration_bin(std::int64_t ns) noexcept {
  if (ns <= 0) return 0;
  std::uint32_t bin = detail::kDurationBinsOfWidths[std::bit_width(static_cast<std::uint64_t>(ns))];
  while (bin + 1 < detail::kDurationBins && detail::kDurationBinBegins[bin + 1] <= ns) ++bin;
  return bin;
}
[[nodiscard]] constexpr std::int64_t duration_bin_begin(std::uint32_t bin) noexcept {
  return bin < detail::kDurationBins ? detail::kDurationBinBegins[bin] : std::numeric_limits<std::int64_t>::max();
}

// What the entries of a table are by: session-wide string ids of the first three, bins of the others (summary_bins.h).
enum class SummaryTable : std::uint8_t { names, lines, layers, sizes, durations };
inline constexpr std::size_t kSummaryTables = 5;

struct SummaryEntry {
  std::uint32_t key = 0;
  std::uint32_t count = 0;
  std::uint64_t busy_ticks = 0;  // of lines and layers without the events that wait
  std::uint64_t amount = 0;      // bytes, but FLOPs of layers and 0 of durations
};

struct SummaryTotals {
  std::uint64_t events = 0;
  std::uint64_t busy_ticks = 0;
  std::uint64_t wait_ticks = 0;  // of events whose names mean waiting
  std::uint64_t waited_ns = 0;   // before the others began (Role::wait_ns)
  std::uint64_t bytes = 0;
  std::uint64_t flops = 0;
  void add(const SummaryTotals& other) noexcept;
};

// The sums of a stretch of a lane; the entries of one table lie together.
struct SummaryStretch {
  SummaryTotals totals;
  std::array<std::uint32_t, kSummaryTables + 1> offsets{};
  std::vector<SummaryEntry> entries;
  [[nodiscard]] std::span<const SummaryEntry> of(SummaryTable table) const noexcept {
    const auto index = static_cast<std::size_t>(table);
    return std::span(entries).subspan(offsets[index], offsets[index + 1] - offsets[index]);
  }
};

// Which events of a chunk are added up.
enum class TallySide : std::uint8_t {
  inside,   // those in its range, clipped to it
  outside,  // what the others and the clipped parts make: the whole chunk less what lies inside
};

// Which columns of a schema matter to summaries.
struct SummaryColumns {
  explicit SummaryColumns(const Schema* schema);
  struct Text {
    std::size_t column = 0;
    ColumnType type = ColumnType::string;
  };
  std::optional<Text> line, layer;
  std::vector<std::size_t> bytes, flops, waits;
};

class PackedStretch;  // core/analysis/selection/packed_stretch.h

class SummaryTally {
 public:
  // Events of the chunk that lie in its range, clipped to it: one cut by an edge counts as one, its bytes and FLOPs in
  // proportion to the time inside. Of the blocks only those of [first_block, last_block). Of the outside, an event cut
  // by an edge counts as none. What is outside is of all events: there must be no mask.
  void add(const ScannedChunk& chunk, const StringPool& strings, std::uint32_t first_block = 0,
           std::uint32_t last_block = ~std::uint32_t{0}, TallySide side = TallySide::inside);
  void add(const SummaryStretch& stretch);
  void add(const PackedStretch& stretch);
  // Events whose line or layer is in a text column cannot be kept by number.
  struct TextEntry {
    std::uint64_t count = 0, busy_ticks = 0, amount = 0;
  };
  using Texts = std::unordered_map<std::string, TextEntry>;
  [[nodiscard]] const Texts& line_texts() const noexcept { return texts_[0]; }
  [[nodiscard]] const Texts& layer_texts() const noexcept { return texts_[1]; }
  [[nodiscard]] bool has_texts() const noexcept { return !texts_[0].empty() || !texts_[1].empty(); }
  // What was added, and forgets it but for the texts, which clear_texts() does.
  [[nodiscard]] SummaryStretch take();
  void clear_texts();

 private:
  // Entries by key, found through an array over all keys.
  struct Table {
    std::vector<std::uint32_t> places;  // index into entries, + 1
    std::vector<SummaryEntry> entries;
    void add(std::uint32_t key, std::uint32_t count, std::uint64_t busy_ticks, std::uint64_t amount) {
      if (places.size() <= key) places.resize(std::size_t{key} + 1, 0);
      std::uint32_t& place = places[key];
      if (place == 0) {
        entries.push_back({.key = key});
        place = static_cast<std::uint32_t>(entries.size());
      }
      SummaryEntry& entry = entries[place - 1];
      entry.count += count;
      entry.busy_ticks += busy_ticks;
      entry.amount = capped_sum(entry.amount, amount);
    }
  };
  struct Values;
  void add_rows(const ScannedChunk& chunk, const SummaryColumns& columns, const Values& values);
  // `value`: the session's id of a string, or the row that has the text.
  void add_text(std::size_t which, const ScannedChunk& chunk, const SummaryColumns::Text& column, std::uint64_t value,
                std::uint32_t count, std::uint64_t busy_ticks, std::uint64_t amount);
  [[nodiscard]] Table& table(SummaryTable table) noexcept { return tables_[static_cast<std::size_t>(table)]; }

  SummaryTotals totals_;
  std::array<Table, kSummaryTables> tables_;
  std::array<Texts, 2> texts_;
};

}  // namespace accelscope::analysis
