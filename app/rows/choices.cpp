#include <algorithm>
#include <array>

#include "app/persist/persist.h"
#include "app/rows/rows.h"
#include "core/base/text.h"

namespace accelscope::app::rows {
namespace {

constexpr std::array<std::string_view, 3> kSizes = {"normal", "small", "tall"};
constexpr std::array<std::string_view, 3> kModes = {"separate", "overlaid", "stacked"};

template <typename Enum, std::size_t N>
[[nodiscard]] std::string name_of(const std::array<std::string_view, N>& names, Enum value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

template <typename Enum, std::size_t N>
void put(const std::array<std::string_view, N>& names, const persist::TextRecord& record,
         std::map<std::string, Enum>& into) {
  const auto name = std::find(names.begin(), names.end(), record[2]);
  if (name != names.end()) into[record[1]] = static_cast<Enum>(name - names.begin());
}

[[nodiscard]] std::uint32_t whole_number(const std::string& text) {
  std::uint32_t number = 0;
  return read_number(text, number) ? number : 0;
}

// First words of lines that read_line() understands.
constexpr std::array<std::string_view, 12> kKnown = {"open",          "hidden",      "pinned",   "size",
                                                     "order",         "filter",      "counters", "shared_scale",
                                                     "counter_lines", "layer_depth", "minimal",  "platform"};

void read_line(const persist::TextRecord& record, RowChoices& choices) {
  if (record.size() < 2) return;
  const std::string& what = record[0];
  const std::string& key = record[1];
  if (what == "hidden") choices.hidden.insert(key);
  if (what == "pinned") choices.pinned.push_back(key);
  if (what == "filter") choices.name_filter = key;
  if (what == "shared_scale") choices.shared_scale.insert(key);
  if (what == "counter_lines") choices.counter_lines.insert(key);
  if (what == "layer_depth") choices.layer_depth = whole_number(key);
  if (what == "minimal") choices.minimal = key == "yes";
  if (what == "platform") choices.platform = key == "yes";
  if (what == "order") choices.order[key].assign(record.begin() + 2, record.end());
  if (record.size() < 3) return;
  if (what == "open") choices.open[key] = record[2] == "yes";
  if (what == "size") put(kSizes, record, choices.sizes);
  if (what == "counters") put(kModes, record, choices.counter_mode);
}

}  // namespace

RowSize RowChoices::size_of(const std::string& key) const {
  const auto chosen = sizes.find(key);
  return chosen == sizes.end() ? RowSize::normal : chosen->second;
}

CounterMode RowChoices::counter_mode_of(const std::string& group) const {
  const auto chosen = counter_mode.find(group);
  return chosen == counter_mode.end() ? CounterMode::separate : chosen->second;
}

std::string RowChoices::to_text() const {
  std::string text;
  const auto line = [&text](const persist::TextRecord& record) { text += persist::encode_record(record) + '\n'; };
  for (const auto& [key, is_open] : open) line({"open", key, is_open ? "yes" : "no"});
  for (const std::string& key : hidden) line({"hidden", key});
  for (const std::string& key : pinned) line({"pinned", key});
  for (const auto& [key, size] : sizes) line({"size", key, name_of(kSizes, size)});
  for (const auto& [key, rows] : order) {
    persist::TextRecord record = {"order", key};
    record.insert(record.end(), rows.begin(), rows.end());
    line(record);
  }
  if (!name_filter.empty()) line({"filter", name_filter});
  for (const auto& [key, mode] : counter_mode) line({"counters", key, name_of(kModes, mode)});
  for (const std::string& key : shared_scale) line({"shared_scale", key});
  for (const std::string& key : counter_lines) line({"counter_lines", key});
  if (layer_depth > 0) line({"layer_depth", std::to_string(layer_depth)});
  if (minimal) line({"minimal", "yes"});
  if (platform) line({"platform", "yes"});
  return text;
}

RowChoices RowChoices::from_text(std::string_view text, std::vector<std::string>* passed_over) {
  RowChoices choices;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const persist::TextRecord record = persist::decode_record(text.substr(0, end));
    read_line(record, choices);
    const bool known = std::find(kKnown.begin(), kKnown.end(), record.front()) != kKnown.end();
    if (!known && passed_over != nullptr) passed_over->push_back(record.front());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return choices;
}

}  // namespace accelscope::app::rows
