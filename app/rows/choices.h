// What the user has changed about the timeline's rows: plain data that can be compared, kept and written as text.
// Rows are named by their keys (TimelineRow::key), groups by those of their headings.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::app {

enum class RowSize : std::uint8_t { normal, small, tall };
// How the counters of a group share rows: each its own, lines over each other, or areas on top of each other.
enum class CounterMode : std::uint8_t { separate, overlaid, stacked };

struct RowChoices {
  std::map<std::string, bool> open;  // rows that are not open or closed as they are by default
  std::set<std::string> hidden;
  std::vector<std::string> pinned;  // from top to bottom
  std::map<std::string, RowSize> sizes;
  // Rows in the order that the user gave them, by the key of what they belong to; "" has the groups.
  std::map<std::string, std::vector<std::string>> order;
  std::string name_filter;                          // words that must all be in "device group name"
  std::map<std::string, CounterMode> counter_mode;  // by group
  std::set<std::string> shared_scale;               // groups whose counters of one unit have one scale
  std::set<std::string> counter_lines;              // groups whose counters are lines without an area
  std::uint32_t layer_depth = 0;                    // levels of the Layers groups that are shown; 0: all
  // Rows of these tracks and no others; empty: all. For the time being: neither kept nor in links.
  std::vector<std::uint32_t> only;
  bool minimal = false;  // only what executes, and counters of how well it is used

  bool operator==(const RowChoices&) const = default;

  [[nodiscard]] RowSize size_of(const std::string& key) const;
  [[nodiscard]] CounterMode counter_mode_of(const std::string& group) const;

  // One line for each choice. Lines that are not understood are passed over: they only concern the look. Their first
  // words are added to `passed_over`.
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static RowChoices from_text(std::string_view text, std::vector<std::string>* passed_over = nullptr);
};

}  // namespace accelscope::app
