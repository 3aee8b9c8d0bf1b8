// The events of one lane in their order, with their names as small numbers: what the finder of periods looks at.
// Names that come but once and differ from others in their last number alone ("ProfilerStep#17", "ProfilerStep#18")
// are one name, else a numbered step would be no repetition.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "core/scan/chunk_scan.h"
#include "core/store/string_pool.h"

namespace accelscope::analysis {

struct SequenceName {
  StringId name = 0;       // of the first of its events
  std::string numbered;    // "ProfilerStep#*" where it stands for several; "": it is one name
  bool counts_up = false;  // their numbers rise by one step from event to event
};

struct EventSequence {
  static constexpr std::uint32_t kNothing = 0xffffffffU;  // no event in this place, or it does not pass
  std::vector<std::uint32_t> tokens;                      // indices into names
  std::vector<std::int64_t> begins_ns, ends_ns;
  std::vector<SequenceName> names;

  [[nodiscard]] std::size_t size() const noexcept { return tokens.size(); }
};

// `tokens` hold the ids of names, or kNothing; such places go, and ids become tokens. strings may be null: then nothing
// is known of numbers.
void number_names(EventSequence& sequence, const StringPool* strings);

// "ProfilerStep#17" -> "ProfilerStep#*", its last number; "" where it has none.
[[nodiscard]] std::string numbered_pattern(std::string_view name);

// Where each name of a sequence stands, ascending.
class NamePlaces {
 public:
  explicit NamePlaces(const EventSequence& sequence);
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t token) const noexcept {
    return std::span(places_).subspan(firsts_[token], firsts_[token + 1] - firsts_[token]);
  }
  // Those in [begin, end).
  [[nodiscard]] std::span<const std::uint32_t> within(std::size_t token, std::uint32_t begin,
                                                      std::uint32_t end) const noexcept;
  [[nodiscard]] std::size_t names() const noexcept { return firsts_.size() - 1; }

 private:
  std::vector<std::uint32_t> firsts_, places_;
};

// The events of lanes as sequences, read in one scan.

// Of a lane with more events nothing is read: their places are 32-bit numbers.
inline constexpr std::uint64_t kMostLaneEvents = std::uint64_t{1} << 31U;

// As many as lanes; those that share time with the range and pass the query's mask.
[[nodiscard]] Result<std::vector<EventSequence>> read_sequences(const QueryContext& query, const LaneIndices& lanes,
                                                                const TimeRange& range);

// The same of lanes with a column of strings in this role, whose values are the names; events without one are left out.
[[nodiscard]] Result<std::vector<EventSequence>> read_sequences(const QueryContext& query, const LaneIndices& lanes,
                                                                const TimeRange& range, Role role);

// The events of these lanes as one sequence, as they begin: lanes of an engine hold what overlaps there, not calls.
[[nodiscard]] Result<EventSequence> read_joined(const QueryContext& query, const LaneIndices& lanes,
                                                const TimeRange& range);

}  // namespace accelscope::analysis
