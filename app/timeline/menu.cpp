// The menu of the lanes: of the event, the box or the marker under the pointer.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/timeline/frame.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "render/base/icons.h"
#include "render/widgets/menu.h"

namespace accelscope::app {
namespace {

using namespace render;

[[nodiscard]] const EventRecord* menu_event(const TimelineFrame& frame) {
  return frame.state.menu_event ? frame.tab.events->find(*frame.state.menu_event) : nullptr;
}

constexpr std::size_t kLongestLabel = 48;  // characters of a name in the menu

[[nodiscard]] std::string shortened(const std::string& label) {
  if (label.size() <= kLongestLabel) return label;
  return std::string(utf8_front(label, kLongestLabel)) + "…";
}

// "select:name": what is done, and with which trait of the event.
[[nodiscard]] MenuItem trait_menu(const std::vector<SharedTrait>& traits, const std::string& verb, const char* label) {
  MenuItem menu{.id = verb, .label = label, .enabled = !traits.empty()};
  for (const SharedTrait& each : traits) {
    menu.children.push_back({.id = verb + ":" + each.id, .label = "All " + shortened(each.label)});
  }
  return menu;
}

void choose_trait(TimelineFrame& frame, const EventRecord& event, const std::string& item) {
  for (const SharedTrait& each : traits_of(event, frame.snapshot)) {
    if (item == "select:" + each.id) {
      frame.tab.region = each.filter;
      frame.state.region_made = true;
    }
    if (item == "only:" + each.id) show_only(frame.tab, each.filter);
    if (item == "hide:" + each.id) hide(frame.tab, each.filter);
  }
}

void choose_of_region(TimelineFrame& frame, const std::string& item) {
  SessionTab& tab = frame.tab;
  if (!tab.region) return;
  if (item == "region_clear") return tab.region.reset();
  if (!tab.region->range) return;
  const TimeRange range = *tab.region->range;
  if (item == "region_span") drop_marker(tab, range.begin_ns, range.end_ns);
  if (item == "region_copy") {
    frame.ui.copy_to_clipboard(fmt::format("{}\t{}\t{}", range.begin_ns, range.end_ns, range.length_ns()));
  }
}

void add_region_items(const EventFilter& region, std::vector<MenuItem>& items) {
  items.push_back(
      {.id = "region_span", .label = "Make a span of it", .shortcut = "M", .enabled = region.range.has_value()});
  items.push_back(
      {.id = "region_copy", .label = "Copy its begin, end and length in ns", .enabled = region.range.has_value()});
  items.push_back({.id = "region_clear", .label = "Clear the selection", .shortcut = "Esc"});
}

void choose(TimelineFrame& frame, const std::string& item) {
  TimelineState& state = frame.state;
  SessionTab& tab = frame.tab;
  if (item == "filter_selection") return filter_by_selection(tab);
  choose_of_region(frame, item);
  if (item == "drop") drop_marker(tab, state.menu_ns);
  if (item == "fit" && state.menu_event) fit_events(tab, {*state.menu_event});
  if (item == "fit_all") tab.show(fitted(frame.session.begin_ns, frame.session.end_ns, frame.session, 0.01));
  if (item == "copy_time") frame.ui.copy_to_clipboard(std::to_string(state.menu_ns));
  if (item == "delete") remove_marker(tab, state.menu_marker);
  if (item == "delete_all") {
    while (!tab.markers.empty()) remove_marker(tab, tab.markers.back().id);
  }
  const auto marker = std::find_if(tab.markers.begin(), tab.markers.end(),
                                   [&](const Marker& each) { return each.id == state.menu_marker; });
  if (item == "rename" && marker != tab.markers.end()) state.marker_edit = {marker->id, marker->name, true, false};
  const EventRecord* event = menu_event(frame);
  if (event == nullptr) return;
  choose_trait(frame, *event, item);
  if (item == "copy_name") frame.ui.copy_to_clipboard(event->name_text);
  if (item == "copy_event") {
    frame.ui.copy_to_clipboard(
        fmt::format("{}\t{}\t{}", event->name_text, event->begin_ns, event->end_ns - event->begin_ns));
  }
  if (item == "span") drop_marker(tab, event->begin_ns, event->end_ns);
}

// Differences to every other marker, as items that copy what they say.
[[nodiscard]] MenuItem differences(const SessionTab& tab, std::int64_t marker_id) {
  MenuItem menu{.id = "diff", .label = "Time to"};
  const auto from = std::find_if(tab.markers.begin(), tab.markers.end(),
                                 [marker_id](const Marker& each) { return each.id == marker_id; });
  for (std::size_t i = 0; from != tab.markers.end() && i < tab.markers.size(); ++i) {
    const Marker& other = tab.markers[i];
    if (other.id == marker_id) continue;
    const std::string name = std::string(1, static_cast<char>('A' + i % 26)) + "  " + other.name;
    menu.children.push_back({.id = fmt::format("diff:{}", other.ts_ns - from->ts_ns),
                             .label = name,
                             .shortcut = format_signed(other.ts_ns - from->ts_ns) + " ns"});
  }
  menu.enabled = !menu.children.empty();
  return menu;
}

}  // namespace

void draw_menu(TimelineFrame& frame) {
  if (!menu_is_open(frame.name("menu"))) return;
  TimelineState& state = frame.state;
  std::vector<MenuItem> items;
  if (state.menu_marker != 0) {
    items.push_back({.id = "rename", .label = "Rename the marker", .icon = icon::kEdit});
    items.push_back(differences(frame.tab, state.menu_marker));
    items.push_back({.id = "delete", .label = "Delete the marker", .icon = icon::kTrash, .line_above = true});
    items.push_back({.id = "delete_all", .label = "Delete all markers"});
  } else {
    const EventRecord* at = menu_event(frame);  // it may come a frame after the menu
    const bool event = at != nullptr;
    items.push_back({.id = "filter_selection",
                     .label = shortened(selected_part(frame.tab).label),
                     .shortcut = "Shift+F",
                     .icon = icon::kFilter});
    if (frame.tab.region) add_region_items(*frame.tab.region, items);
    items.push_back(
        {.id = "drop", .label = "Drop a marker here", .shortcut = "M", .icon = icon::kFlag, .line_above = true});
    items.push_back({.id = "span", .label = "Measure the event", .enabled = event});
    items.push_back(
        {.id = "fit", .label = "Fit the event", .icon = icon::kExpand, .enabled = event, .line_above = true});
    items.push_back({.id = "fit_all", .label = "Fit the whole session", .shortcut = "0"});
    if (event) {
      const std::vector<SharedTrait> traits = traits_of(*at, frame.snapshot);
      items.push_back(trait_menu(traits, "select", "Select"));
      items.back().line_above = true;
      items.push_back(trait_menu(traits, "only", "Show only"));
      items.push_back(trait_menu(traits, "hide", "Hide"));
    }
    items.push_back(
        {.id = "copy_name", .label = "Copy the name", .icon = icon::kCopy, .enabled = event, .line_above = true});
    items.push_back({.id = "copy_event", .label = "Copy name, start and duration", .enabled = event});
    items.push_back({.id = "copy_time", .label = "Copy the time in ns"});
  }
  const std::optional<std::string> chosen = popup_menu(frame.ui, frame.name("menu"), items);
  if (!chosen) return;
  if (chosen->starts_with("diff:")) {
    frame.ui.copy_to_clipboard(chosen->substr(5));
  } else {
    choose(frame, *chosen);
  }
}

}  // namespace accelscope::app
