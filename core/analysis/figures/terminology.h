// What every figure of a vendor's summary means, and every general figure of any session, in our own words,
// and how we compute it: for the metrics panel's tooltips and `view --terminology`. Names that differ in one word
// are one term, a family: "<engine>_engine_active_time".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace accelscope::analysis {

struct FigureTerm {
  std::string_view name;   // of a metric; what stands in <> is one or more characters
  std::string_view group;  // overall_stats, data_movement, <engine>_engine ...; "general" for any source's
  std::string_view unit;   // "s", "share" (1 = all), "B", "flop", "flop/B", "cycles"; "" for counts and texts
  std::string_view text;   // one or two plain sentences
  std::string_view how;    // one sentence: how we compute it; empty where we only pass the vendor's on
  bool exact = true;       // false: the file does not hold all that it is made of, `how` says what is missing
};

// By group, in the order in which the vendor shows them.
[[nodiscard]] std::span<const FigureTerm> figure_terms();

// The term of a metric: its own, else the family that it belongs to, else null. Case does not matter.
[[nodiscard]] const FigureTerm* find_term(std::string_view metric);

// The same of a word by which views speak of a session: "active" is active_time, "events" session_event_count.
[[nodiscard]] const FigureTerm* find_word(std::string_view word);

// The group of a metric: that of its term, with the family's word filled in; "overall_stats" for unknown names.
[[nodiscard]] std::string metric_group(std::string_view metric);

// The place of a group among others.
[[nodiscard]] std::size_t rank_of_group(std::string_view group) noexcept;

}  // namespace accelscope::analysis
