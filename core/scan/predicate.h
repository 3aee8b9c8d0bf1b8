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
#include <memory>
#include <variant>
#include <vector>

#include "core/scan/block_reader.h"
#include "core/scan/bounds.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/string_test.h"

namespace accelscope {

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
    return std::all_of(name_tests_.begin(), name_tests_.end(),
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
