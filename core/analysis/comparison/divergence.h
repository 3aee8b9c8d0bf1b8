// Where the data of two runs first differ: checksums that a device takes of what its instructions read and wrote
// (columns "crc_in" and "crc_out") and its DMAs moved ("crc"), event beside event.
//
//   auto found = find_divergence(base, other);
//   if (!found->events.empty()) ... found->events.front().base.name, .source, .tensor
//
// Events are paired by table, track, name and program counter, and of those that are alike in all of it in their order:
// the first with the first. What stands on one side alone is counted. A checksum of 65535 was not taken. An event whose
// input agrees and whose output does not is where numbers went apart; one whose input differs was handed them by what
// it waited for, as far as the session tells of dependencies. What fetches the program is left out: that programs
// differ says nothing of their results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

struct CheckedEvent {
  EventId id = kNoEvent;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::string track, name;
  std::string instruction;  // what the program calls it, its operands; "" where it has none
  std::string tensor;       // that it moves; "" where that is not known
  std::string source;       // "mlp.py:33"; "" where it has none
};

struct DivergentPair {
  CheckedEvent base;
  EventId other = kNoEvent;
  std::int64_t other_begin_ns = 0;
  // The checksums; -1: none was taken.
  std::int64_t base_in = -1, other_in = -1, base_out = -1, other_out = -1;
  std::optional<CheckedEvent> produced_by;  // of the base: what handed it other data, the last of them that differs

  [[nodiscard]] bool input_differs() const noexcept { return base_in >= 0 && other_in >= 0 && base_in != other_in; }
};

// The first difference of a tensor or a line.
struct DivergentPlace {
  std::string name;
  std::uint64_t events = 0;  // that differ
  EventId first = kNoEvent;  // of the base
  std::int64_t first_ns = 0;
};

struct Divergence {
  static constexpr std::size_t kMostEvents = 1'000;    // that are described
  static constexpr std::size_t kMostPlaced = 100'000;  // whose tensor and line are looked up
  std::uint64_t with_checksums = 0, other_with_checksums = 0;
  std::uint64_t compared = 0;  // pairs of which both have one
  std::uint64_t differing = 0;
  std::uint64_t base_alone = 0, other_alone = 0;  // events with checksums that have no counterpart
  std::vector<DivergentPair> events;              // by the time of the base's, the first ones
  std::vector<DivergentPlace> tensors, lines;     // by their first difference

  // Enough of both has a counterpart for the pairs to be of one program; else which event is which is a guess.
  [[nodiscard]] bool is_one_program() const noexcept;
  // The first that is an instruction, where numbers are made; where only transfers differ the first of them; null:
  // none.
  [[nodiscard]] const DivergentPair* first() const noexcept;
};

// Whether a table of the session has columns of checksums.
[[nodiscard]] bool has_checksums(const Snapshot& snapshot) noexcept;

// Fails where a chunk cannot be read or when cancelled. Keeps 40 bytes for each event with a checksum.
[[nodiscard]] Result<Divergence> find_divergence(const QueryContext& base, const QueryContext& other);

}  // namespace accelscope::analysis
