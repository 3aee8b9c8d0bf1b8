// Which times of events cannot be true: a start or an end far from all that happened, such as a stamp that was never
// taken, or a length that its in-order stream belies by orders of magnitude, such as an end that was taken late. Judges
// by what the tracks of one clock say of each other; knows no format.
//
//   TimeSketch sketch;                              // one per track, fed with every event
//   const TimeBounds bounds = bounds_of(sketches);  // of all tracks of one clock
//   LengthJudge judge(sketch);                      // of one in-order track: look() at all events, overlap() at all
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/model/ids.h"

namespace accelscope::capture::sources::tracks {

inline constexpr std::size_t kLengthClasses = 65;  // by the number of bits of a length
using LengthCounts = std::array<std::uint32_t, kLengthClasses>;

// What is remembered of a track's times: some starts, evenly among all, the extremes, and how long events are.
class TimeSketch {
 public:
  void add(std::int64_t start, std::int64_t duration);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t first_start() const noexcept { return first_start_; }
  [[nodiscard]] std::int64_t last_start() const noexcept { return last_start_; }
  [[nodiscard]] std::int64_t last_end() const noexcept { return last_end_; }
  [[nodiscard]] const LengthCounts& lengths() const noexcept { return lengths_; }
  [[nodiscard]] std::span<const std::int64_t> starts() const noexcept { return starts_; }
  [[nodiscard]] std::uint64_t stride() const noexcept { return stride_; }  // each of starts() stands for so many

 private:
  std::uint64_t count_ = 0;
  std::uint64_t stride_ = 1;
  std::int64_t first_start_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_start_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_end_ = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> starts_;
  LengthCounts lengths_{};
};

struct SketchedTrack {
  const TimeSketch* times = nullptr;
  bool on_host = false;
};

// Starts beyond `first` and `last`, and ends beyond `end`, cannot be true.
struct TimeBounds {
  std::int64_t first = std::numeric_limits<std::int64_t>::min();
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  // Ends beyond it cannot be true of an event that is far longer than others of its in-order track.
  std::int64_t end_of_long = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool hold(std::int64_t start, std::int64_t duration) const noexcept {
    return start >= first && start <= last && start + duration <= end;
  }
};
[[nodiscard]] TimeBounds bounds_of(std::span<const SketchedTrack> tracks, double ticks_per_ns);

// The least starts and the greatest ends: where all that can be true begins and ends, once its bounds are known.
class TimeExtremes {
 public:
  void add(std::int64_t start, std::int64_t end);
  // Nothing if none lies within.
  [[nodiscard]] std::optional<std::int64_t> first_within(const TimeBounds& bounds) const;
  [[nodiscard]] std::optional<std::int64_t> last_within(const TimeBounds& bounds) const;

 private:
  std::vector<std::int64_t> starts_;  // the greatest on top
  std::vector<std::int64_t> ends_;    // the least on top
};

// Lengths that an in-order track belies: far longer than others of their name, or of the track where the name is rare,
// while events of the track begin and end within. Two passes over the track's events, each in any order.
class LengthJudge {
 public:
  LengthJudge(const TimeSketch& sketch, const TimeBounds& bounds);

  [[nodiscard]] bool suspects() const noexcept { return suspects_; }  // false: nothing is to be looked at
  void look(std::int64_t start, std::int64_t duration, StringId name);
  [[nodiscard]] bool any_candidate();  // between both passes
  void overlap(std::int64_t start, std::int64_t duration);
  [[nodiscard]] bool any_belied() const noexcept;
  // Whether it is one of the events that cannot be true.
  [[nodiscard]] bool is_doubtful(std::int64_t start, std::int64_t duration, StringId name) const noexcept;

 private:
  struct Candidate {
    std::int64_t start = 0;
    std::int64_t duration = 0;
    StringId name = 0;
    bool belied = false;
  };
  TimeBounds bounds_;
  std::uint64_t count_ = 0;
  std::uint32_t typical_class_ = 0;
  bool suspects_ = false;
  std::vector<Candidate> candidates_;  // by start
  std::unordered_map<StringId, LengthCounts> by_name_;
};

}  // namespace accelscope::capture::sources::tracks
