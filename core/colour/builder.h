// Makes the colours of core/colour/event_colours.h: which lanes take part, the steps of numbers, the code of every
// event with the sums of its value, and the means up each lane's tree. Used by event_colours() only.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/colour/event_colours.h"
#include "core/scan/block_reader.h"
#include "core/scan/wait_names.h"

namespace accelscope::colour {

// Steps for the numbers of a column, so that colours show which are larger: at most eight, with cuts at round numbers,
// equally far apart or, where the numbers span more than a factor of 16, by powers. The cuts follow from a histogram
// alone, and a histogram only adds up, so they are the same in whatever order the events came.

inline constexpr std::size_t kMostSteps = 8;

// How many numbers lie between each eighth of an octave. 256 KiB.
class NumberHistogram {
 public:
  NumberHistogram();
  void add(double value) noexcept;  // finite
  void merge(const NumberHistogram& other) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double min() const noexcept { return min_; }  // needs count() > 0
  [[nodiscard]] double max() const noexcept { return max_; }

  struct Span {
    double low = 0;
    double high = 0;
  };
  // Bounds, at most an eighth of an octave too wide, of all but a share of the numbers at each end; of those above zero
  // if `positive`. {0, 0} if there are none.
  [[nodiscard]] Span span(double left_out, bool positive) const noexcept;

 private:
  std::vector<std::uint64_t> counts_;  // by sign, exponent and first three bits of the fraction
  std::uint64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
};

// What the numbers are, which decides where cuts are round.
struct NumberKind {
  bool whole = false;
  bool binary = false;  // bytes: powers of two
};

// Ascending, at most seven: step i holds the numbers from cuts[i - 1] to below cuts[i]. None where all are equal.
[[nodiscard]] std::vector<double> scale_cuts(const NumberHistogram& histogram, NumberKind kind);

// "1 KiB – 4 KiB", "< 10 µs", "≥ 5", or the number where the step can hold but one. The unit is that of a column ("ns",
// "B", "").
[[nodiscard]] std::string step_text(const std::vector<double>& cuts, std::size_t step, NumberKind kind,
                                    std::string_view unit);

struct ColourSum {
  std::uint64_t events = 0;
  std::uint64_t ns = 0;
  void add(const ColourSum& other) noexcept {
    events += other.events;
    ns += other.ns;
  }
};

// How the numbers of a table lie, and which they are while they are few.
struct MeasuredNumbers {
  static constexpr std::size_t kFew = 64;
  NumberHistogram histogram;
  std::set<std::int64_t> first;  // at most one more than kFew

  [[nodiscard]] bool few() const noexcept { return first.size() <= kFew; }
  void know(std::int64_t number) {
    if (few()) first.insert(number);
  }
  void merge(const MeasuredNumbers& other) {
    histogram.merge(other.histogram);
    for (const std::int64_t number : other.first) know(number);
  }
};

// Where the values of a table come from.
enum class ColourSource : std::uint8_t { none, name, duration, string, text, number };

[[nodiscard]] inline bool is_number(ColourSource source) noexcept {
  return source == ColourSource::number || source == ColourSource::duration;
}

struct EventColours::Sums {
  ColourSource source = ColourSource::none;
  NumberKind kind;
  bool boolean = false;
  std::string unit;
  MeasuredNumbers numbers_met;
  std::vector<double> cuts;
  std::array<ColourSum, kMostSteps> steps;
  std::unordered_map<StringId, ColourSum> strings;
  std::unordered_map<std::string, ColourSum> texts;  // at most kMostTexts
  std::unordered_map<std::int64_t, ColourSum> numbers;
  ColourSum missing, other_texts;

  static constexpr std::size_t kMostTexts = 20'000;  // texts are mostly unique: nobody reads a list of millions
  // Whole numbers without a unit are mostly ids: while there are few, each is a value of its own and has no step.
  bool may_be_ids = false;
  bool as_ids = false;
  void forget_values();
};

class ColourBuilder {
 public:
  ColourBuilder(const QueryContext& query, const ColourChoice& choice, const EventColours* previous);
  [[nodiscard]] Result<std::shared_ptr<const EventColours>> run();

 private:
  using Sums = EventColours::Sums;
  struct LaneWork {
    std::uint32_t lane = 0;
    std::size_t table = 0;
    ColourSource source = ColourSource::none;  // none: the lane's schema lacks the column
    ValuePlace place;
    WaitNames waits;
    std::shared_ptr<const LaneColours> previous;
    std::shared_ptr<LaneColours> colours;
  };
  using Codes = std::array<std::uint8_t, kBlockEvents>;  // of a block
  // What a worker adds up over one chunk.
  struct ChunkSums {
    struct Ticks {
      std::uint64_t events = 0, ticks = 0;
    };
    std::array<Ticks, 16> codes{};
    std::vector<Ticks> strings;  // by session-wide id; zero between chunks
    std::vector<std::uint64_t> touched;
    std::unordered_map<std::string, Ticks> texts;
    std::unordered_map<std::int64_t, Ticks> numbers;
  };

  void add_table(const std::string& table, const std::string& column);
  void add_lanes();
  void choose_source(LaneWork& work, const Schema& schema) const;
  [[nodiscard]] std::vector<ChunkRequest> new_chunks(const LaneWork& work) const;
  [[nodiscard]] Result<void> measure();
  void measure_chunk(const ScannedChunk& chunk, const LaneWork& work, MeasuredNumbers& numbers) const;
  void place_steps();
  [[nodiscard]] static bool has_steps(const Sums& sums);
  [[nodiscard]] static std::array<std::uint32_t, 16> colours_of_codes(const Sums& sums);
  [[nodiscard]] Result<void> paint();
  void prepare(LaneWork& work);
  void paint_chunk(const ScannedChunk& chunk, LaneWork& work, ChunkSums& sums);
  // The code of every event that has a value.
  void read_codes(BlockReader& reader, const LaneWork& work, Codes& out) const;
  void read_numbers(const BlockValues& read, const LaneWork& work, Codes& out) const;
  void merge(const ScannedChunk& chunk, const LaneWork& work, ChunkSums& sums);
  static void fold(LaneColours& colours, const LaneSnapshot& lane);
  [[nodiscard]] ColourTable legend(std::size_t table) const;

  const QueryContext query_;
  const Snapshot& snapshot_;
  const EventColours* previous_;
  std::shared_ptr<EventColours> result_;
  std::vector<std::shared_ptr<Sums>> sums_;  // by table
  std::vector<bool> goes_on_;                // by table: from the previous colours
  std::vector<LaneWork> lanes_;
  std::vector<std::uint8_t> slots_;  // by session string id
  std::mutex mutex_;                 // of sums_ while chunks are painted
};

}  // namespace accelscope::colour
