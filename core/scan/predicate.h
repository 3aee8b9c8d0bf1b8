// What must hold of an event, ready to be tested on the blocks of one lane: conditions on times, ids, names and
// columns, and a mask. Searches, the filter and SQL compile to it. It leaves out chunks by their place, the mask, their
// totals by name and the statistics of their columns, and blocks by the lane's tree, before anything is decoded. Once
// made it is not changed: any number of threads may test blocks at the same time, each with its own BlockReader.
//
//   LanePredicate predicate(lane, lane_index, mask);
//   predicate.add({.source = ValuePlace::Source::duration}, within(IntegerBounds{1000}));
//   const ChunkPart part = predicate.part(chunk);
//   if (part.any && predicate.names_may_match(chunk) && predicate.may_match(reader.view()))  // then, per block:
//     const std::uint64_t bits = predicate.matches(reader, part);
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/scan/block_reader.h"
#include "core/scan/chunk_scan.h"
#include "core/store/string_pool.h"

namespace accelscope {

// A test of texts that looks at each distinct string of a session once, by any number of threads.
//
//   StringTest test([](std::string_view text) { return text.starts_with("mat"); }, *snapshot.strings);
//   test.keeps(session_string_id);

using TextTest = std::function<bool(std::string_view)>;  // may be called by several threads

class StringTest {
 public:
  // The pool must outlive the test.
  StringTest(TextTest keeps, const StringPool& pool) : keeps_(std::move(keeps)), pool_(pool), known_(pool.size()) {}

  // Looks at all strings at once, so that later questions cost a look-up. Before others use the test.
  void answer_all(WorkerPool& workers, TaskControl& control);

  [[nodiscard]] bool keeps(std::string_view text) const { return keeps_(text); }
  // Of the pool.
  [[nodiscard]] bool keeps(StringId id) const {
    if (id < known_.size()) [[likely]] {
      const std::uint8_t known = std::atomic_ref(known_[id]).load(std::memory_order_relaxed);
      if (known != kUnknown) [[likely]]
        return known == kRetained;
    }
    return find_out(id);
  }

 private:
  static constexpr std::uint8_t kUnknown = 0;
  static constexpr std::uint8_t kRetained = 1;
  static constexpr std::uint8_t kLeftOut = 2;
  bool find_out(StringId id) const;

  TextTest keeps_;
  const StringPool& pool_;
  mutable std::vector<std::uint8_t> known_;  // by session-wide id
};

// A closed stretch of values, as conditions have them.

// Values min to max, both included; empty once min > max.
template <typename T>
struct Bounds {
  static constexpr bool kReal = std::numeric_limits<T>::has_infinity;
  static constexpr T kLeast = kReal ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  static constexpr T kGreatest = kReal ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  T min = kLeast;
  T max = kGreatest;

  [[nodiscard]] constexpr bool empty() const noexcept { return min > max; }
  [[nodiscard]] constexpr bool unbounded() const noexcept { return min == kLeast && max == kGreatest; }
  [[nodiscard]] constexpr bool holds(T value) const noexcept { return min <= value && value <= max; }
  // Whether some or all values of the other are in it; neither is empty.
  [[nodiscard]] constexpr bool meets(const Bounds& other) const noexcept {
    return min <= other.max && other.min <= max;
  }
  [[nodiscard]] constexpr bool covers(const Bounds& other) const noexcept {
    return min <= other.min && other.max <= max;
  }
  constexpr void at_least(T value) noexcept { min = std::max(min, value); }
  constexpr void at_most(T value) noexcept { max = std::min(max, value); }
  constexpr void intersect(const Bounds& other) noexcept {
    at_least(other.min);
    at_most(other.max);
  }
  constexpr void clear() noexcept {
    min = kGreatest;
    max = kLeast;
  }
};
using IntegerBounds = Bounds<std::int64_t>;
using UnsignedBounds = Bounds<std::uint64_t>;
using RealBounds = Bounds<double>;

struct AnyValue {};  // there is a value
// Bounds are alternatives: any of them must hold. Of the type of the values; strings and texts alike take a StringTest.
using ValueTest = std::variant<AnyValue, std::vector<IntegerBounds>, std::vector<UnsignedBounds>,
                               std::vector<RealBounds>, std::shared_ptr<const StringTest>>;

// An event without the value meets no condition but one that asks for no value: AnyValue, negated.
struct Condition {
  ValuePlace place;
  ValueTest test;
  bool negated = false;

  [[nodiscard]] const StringTest* strings() const noexcept {
    const auto* test_of_strings = std::get_if<std::shared_ptr<const StringTest>>(&test);
    return test_of_strings == nullptr ? nullptr : test_of_strings->get();
  }
};

// What the place of a chunk leaves to be tested event by event.
struct ChunkPart {
  bool any = false;
  bool times = false;
  bool ordinals = false;
  bool mask = false;
  [[nodiscard]] bool whole() const noexcept { return any && !times && !ordinals && !mask; }
};

class LanePredicate {
 public:
  // mask: null where every event passes. It and the lane must outlive the predicate.
  LanePredicate(const LaneSnapshot& lane, std::uint32_t lane_index, const EventMask* mask);
  // All that are added must hold. A constant that is a string is the caller's to test.
  void add(const ValuePlace& place, const ValueTest& test, bool negated = false);
  void add_nothing() noexcept { nothing_ = true; }

  [[nodiscard]] const LaneSnapshot& lane() const noexcept { return *lane_; }
  [[nodiscard]] std::uint32_t lane_index() const noexcept { return lane_index_; }
  [[nodiscard]] bool nothing() const noexcept;  // no event can meet it
  // Those that are tested event by event.
  [[nodiscard]] const std::vector<Condition>& conditions() const noexcept { return conditions_; }

  // Chunks outside of it hold no match.
  [[nodiscard]] ChunkSpan chunks() const noexcept;
  [[nodiscard]] ChunkPart part(std::uint32_t chunk) const noexcept;
  // False if the totals by name show that no event of the chunk has a wanted name.
  [[nodiscard]] bool names_may_match(std::uint32_t chunk) const;
  [[nodiscard]] bool keeps_name(StringId name) const {
    return std::ranges::all_of(name_tests_,
                               [name](const NameTest& each) { return each.test->keeps(name) != each.negated; });
  }
  // False if the statistics of its columns rule out every event of the chunk.
  [[nodiscard]] bool may_match(const ChunkView& view) const noexcept;
  // The matches of the reader's block, which is one of the part's chunk.
  [[nodiscard]] std::uint64_t matches(BlockReader& reader, const ChunkPart& part) const;

 private:
  struct NameTest {
    const StringTest* test;
    bool negated;
  };
  [[nodiscard]] bool skips(const BlockReader& reader, const ChunkPart& part) const noexcept;

  const LaneSnapshot* lane_;
  std::uint32_t lane_index_;
  const EventMask* mask_;
  bool nothing_ = false;
  IntegerBounds begin_ticks_;
  IntegerBounds end_ticks_;
  IntegerBounds ordinals_;
  std::int64_t shortest_ns_ = 0;  // shorter events do not match
  std::vector<Condition> conditions_;
  std::vector<NameTest> name_tests_;  // those of them that are about the name
};

template <typename T>
[[nodiscard]] ValueTest within(Bounds<T> bounds) {
  return std::vector{bounds};
}

// Whether a whole number meets a test of whole numbers; any number, where only its presence is asked for.
[[nodiscard]] bool holds(const ValueTest& test, std::int64_t value) noexcept;

}  // namespace accelscope
