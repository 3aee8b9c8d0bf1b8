#include "app/timeline/frame.h"
#include "app/view/record.h"
#include "core/analysis/figures/session_terms.h"
#include "core/base/text.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

// The name filter of the lanes, in the label column of the marker row, and what stands there when it leaves nothing.

namespace {

constexpr float kFollowRoom = 84;  // units that the follow button takes of a live session

void set_filter(TimelineFrame& frame, std::string text) {
  frame.state.typed_filter.reset();
  rows::RowChoices choices = frame.tab.choices.rows;
  choices.name_filter = std::move(text);
  view::choose_rows(frame.tab, std::move(choices));
}

constexpr float kDragSlack = 4;  // units: a press that moves less is a click

[[nodiscard]] const rows::TimelineRow* find_row(const TimelineState& state, std::string_view key) {
  const auto row = std::ranges::find_if(state.rows, [key](const rows::TimelineRow& each) { return each.key == key; });
  return row == state.rows.end() ? nullptr : &*row;
}

// The heading of the group that the row lies in; itself if it is one.
[[nodiscard]] const rows::TimelineRow* heading_of(const TimelineState& state, const rows::TimelineRow& row) {
  const rows::TimelineRow* at = &row;
  for (int depth = 0; at != nullptr && at->kind != rows::RowKind::group && depth < 16; ++depth) {
    at = find_row(state, at->parent);
  }
  return at != nullptr && at->kind == rows::RowKind::group ? at : nullptr;
}

[[nodiscard]] bool has_counters(const TimelineFrame& frame, const rows::TimelineRow& heading) {
  for (const TrackSnapshot& track : frame.snapshot.tracks) {
    if (!track.schema || track.schema->kind != EventKind::counter) continue;
    if (std::ranges::any_of(heading.members,
                            [&](const rows::RowMember& member) { return member.track == track.track->number; })) {
      return true;
    }
  }
  return false;
}

[[nodiscard]] MenuItem size_menu(const rows::TimelineRow& row) {
  MenuItem menu{.id = "size", .label = "Height"};
  menu.children.push_back({.id = "size:small", .label = "Small", .checked = row.size == rows::RowSize::small});
  menu.children.push_back({.id = "size:normal", .label = "Normal", .checked = row.size == rows::RowSize::normal});
  menu.children.push_back({.id = "size:tall", .label = "Tall", .checked = row.size == rows::RowSize::tall});
  return menu;
}

[[nodiscard]] MenuItem counter_menu(const rows::RowChoices& choices, const std::string& group) {
  const rows::CounterMode mode = choices.counter_mode_of(group);
  MenuItem menu{.id = "counters", .label = "Counters", .icon = icon::kLineChart};
  const auto add = [&menu](const char* id, const char* label, bool checked, bool line_above = false) {
    menu.children.push_back({.id = id, .label = label, .checked = checked, .line_above = line_above});
  };
  add("counters:separate", "A row for each", mode == rows::CounterMode::separate);
  add("counters:overlaid", "Over each other", mode == rows::CounterMode::overlaid);
  add("counters:stacked", "Stacked", mode == rows::CounterMode::stacked);
  add("counters:shared", "One scale for all of a unit", choices.shared_scale.count(group) > 0, true);
  add("counters:lines", "Lines without areas", choices.counter_lines.count(group) > 0);
  return menu;
}

// Every row of the group with a tick at those that are shown.
[[nodiscard]] MenuItem members_menu(const rows::TimelineRow& heading) {
  MenuItem menu{.id = "members", .label = "Rows", .icon = icon::kList};
  menu.children.push_back({.id = "show_all", .label = "Show all", .enabled = heading.hidden_count > 0});
  menu.children.push_back(
      {.id = "hide_all", .label = "Hide all", .enabled = heading.hidden_count < heading.members.size()});
  bool first = true;
  for (const rows::RowMember& member : heading.members) {
    menu.children.push_back(
        {.id = "member:" + member.key, .label = member.label, .checked = !member.hidden, .line_above = first});
    first = false;
  }
  menu.enabled = !heading.members.empty();
  return menu;
}

[[nodiscard]] std::vector<MenuItem> items_of(const TimelineFrame& frame, const rows::TimelineRow& row) {
  const rows::RowChoices& choices = frame.tab.choices.rows;
  const rows::TimelineRow* heading = heading_of(frame.state, row);
  std::vector<MenuItem> items;
  if (row.kind == rows::RowKind::group) {
    items.push_back({.id = "toggle", .label = row.open ? "Collapse" : "Open"});
  } else if (row.series.size() < 2) {  // a shared counter row is none of its counters
    items.push_back({.id = "pin", .label = row.pinned ? "Unpin" : "Pin above the others", .icon = icon::kPin});
  }
  if (row.series.size() < 2) items.push_back({.id = "hide", .label = "Hide"});
  const auto can_step = [&](int step) {
    return rows::with_row_stepped(choices, frame.state.rows, row.key, step) != choices;
  };
  items.push_back(
      {.id = "up", .label = "Move up", .icon = icon::kArrowUp, .enabled = can_step(-1), .line_above = true});
  items.push_back({.id = "down", .label = "Move down", .icon = icon::kArrowDown, .enabled = can_step(1)});
  if (row.kind != rows::RowKind::group) items.push_back(size_menu(row));
  if (heading != nullptr) {
    MenuItem members = members_menu(*heading);
    members.line_above = true;
    items.push_back(std::move(members));
    if (has_counters(frame, *heading)) items.push_back(counter_menu(choices, heading->key));
  }
  items.push_back({.id = "collapse_all", .label = "Collapse all groups", .line_above = true});
  items.push_back({.id = "expand_all", .label = "Expand all groups"});
  items.push_back({.id = "show_everything", .label = "Show all hidden rows", .enabled = !choices.hidden.empty()});
  return items;
}

template <typename Set>
void flip(Set& set, const std::string& key) {
  if (set.erase(key) == 0) set.insert(key);
}

void choose_counters(rows::RowChoices& choices, const std::string& group, std::string_view item) {
  if (item == "separate") choices.counter_mode.erase(group);
  if (item == "overlaid") choices.counter_mode[group] = rows::CounterMode::overlaid;
  if (item == "stacked") choices.counter_mode[group] = rows::CounterMode::stacked;
  if (item == "shared") flip(choices.shared_scale, group);
  if (item == "lines") flip(choices.counter_lines, group);
}

[[nodiscard]] rows::RowChoices after(const TimelineFrame& frame, const rows::TimelineRow& row,
                                     const std::string& item) {
  const TimelineState& state = frame.state;
  rows::RowChoices choices = frame.tab.choices.rows;
  if (item == "up" || item == "down")
    return rows::with_row_stepped(choices, state.rows, row.key, item == "up" ? -1 : 1);
  if (item == "toggle") choices.open[row.key] = !row.open;
  if (item == "pin") flip_pin(choices, row.key);
  if (item == "hide") choices.hidden.insert(row.key);
  if (item == "size:normal") choices.sizes.erase(row.key);
  if (item == "size:small") choices.sizes[row.key] = rows::RowSize::small;
  if (item == "size:tall") choices.sizes[row.key] = rows::RowSize::tall;
  if (item == "collapse_all" || item == "expand_all") open_all(state, choices, item == "expand_all");
  if (item == "show_everything") choices.hidden.clear();
  const rows::TimelineRow* heading = heading_of(state, row);
  if (heading == nullptr) return choices;
  if (item.starts_with("counters:")) choose_counters(choices, heading->key, item.substr(9));
  if (item.starts_with("member:")) {
    flip(choices.hidden, item.substr(7));
    choices.open[heading->key] = true;  // who chooses rows wants to see them
  }
  for (const rows::RowMember& member : heading->members) {
    if (item == "show_all") choices.hidden.erase(member.key);
    if (item == "hide_all") choices.hidden.insert(member.key);
  }
  return choices;
}

// A row and those below it, as they lie on the screen.
struct RowMenuBlock {
  std::string_view key;
  float y0 = 0;
  float y1 = 0;
};

// The rows that the dragged one can change places with, as far as they are seen.
[[nodiscard]] std::vector<RowMenuBlock> blocks_of(const TimelineState& state, const rows::TimelineRow& dragged) {
  std::vector<const DrawnRow*> drawn;
  for (const DrawnRow& each : state.drawn_rows) drawn.push_back(&each);
  std::ranges::sort(drawn, [](const auto* a, const auto* b) { return a->row < b->row; });
  std::vector<RowMenuBlock> blocks;
  for (const DrawnRow* each : drawn) {
    const rows::TimelineRow& row = state.rows[each->row];
    if (row.pinned != dragged.pinned) continue;
    if (row.parent == dragged.parent || (row.pinned && row.depth == 0)) {
      blocks.push_back({row.key, each->rect.y0, each->rect.y1});
    } else if (!blocks.empty() && row.kind != rows::RowKind::group &&
               (row.depth > dragged.depth || dragged.parent.empty())) {
      blocks.back().y1 = each->rect.y1;
    }
  }
  return blocks;
}

[[nodiscard]] const EventRecord* menu_event(const TimelineFrame& frame) {
  return frame.state.menu_event ? frame.tab.events->find(*frame.state.menu_event) : nullptr;
}

constexpr std::size_t kLongestLabel = 48;  // characters of a name in the menu

[[nodiscard]] std::string shortened(const std::string& label) {
  if (label.size() <= kLongestLabel) return label;
  return std::string(utf8_front(label, kLongestLabel)) + "…";
}

// "select:name": what is done, and with which trait of the event.
[[nodiscard]] MenuItem trait_menu(const std::vector<view::SharedTrait>& traits, const std::string& verb,
                                  const char* label) {
  MenuItem menu{.id = verb, .label = label, .enabled = !traits.empty()};
  for (const view::SharedTrait& each : traits) {
    menu.children.push_back({.id = verb + ":" + each.id, .label = "All " + shortened(each.label)});
  }
  return menu;
}

void choose_trait(TimelineFrame& frame, const EventRecord& event, const std::string& item) {
  for (const view::SharedTrait& each : view::traits_of(event, frame.snapshot)) {
    if (item == "select:" + each.id) {
      frame.tab.region = each.filter;
      frame.state.region_made = true;
    }
    if (item == "only:" + each.id) view::show_only(frame.tab, each.filter);
    if (item == "hide:" + each.id) view::hide(frame.tab, each.filter);
  }
}

void choose_of_region(TimelineFrame& frame, const std::string& item) {
  session::SessionTab& tab = frame.tab;
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
  session::SessionTab& tab = frame.tab;
  if (item == "filter_selection") return view::filter_by_selection(tab);
  choose_of_region(frame, item);
  if (item == "drop") drop_marker(tab, state.menu_ns);
  if (item == "fit" && state.menu_event) fit_events(tab, {*state.menu_event});
  if (item == "fit_all") tab.show(view::fitted(frame.session.begin_ns, frame.session.end_ns, frame.session, 0.01));
  if (item == "copy_time") frame.ui.copy_to_clipboard(std::to_string(state.menu_ns));
  if (item == "delete") session::remove_marker(tab, state.menu_marker);
  if (item == "delete_all") {
    while (!tab.markers.empty()) session::remove_marker(tab, tab.markers.back().id);
  }
  const auto marker =
      std::ranges::find_if(tab.markers, [&](const Marker& each) { return each.id == state.menu_marker; });
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
[[nodiscard]] MenuItem differences(const session::SessionTab& tab, std::int64_t marker_id) {
  MenuItem menu{.id = "diff", .label = "Time to"};
  const auto from = std::ranges::find_if(tab.markers, [marker_id](const Marker& each) { return each.id == marker_id; });
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

void draw_row_filter(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  TimelineState& state = frame.state;
  Rect rect = frame.label(frame.markers);
  rect.y1 = rect.y0 + ui.px(size::kMarkerRow);  // further lines of flags do not stretch it
  rect.x0 += ui.px(4);
  rect.x1 -= ui.px(frame.tab.live == session::LiveState::recording ? kFollowRoom : 5);
  rect.y0 += ui.px(1);
  rect.y1 -= ui.px(2);
  const bool filtered = state.typed_filter ? !state.typed_filter->empty() : !frame.tab.choices.rows.name_filter.empty();
  if (filtered) {
    const std::string count = fmt::format("{} of {}", state.row_count.matching, state.row_count.all);
    Rect clear = rect;
    clear = clear.cut_right(ui.px(18));
    rect.x1 = clear.x0;
    Rect number = rect;
    number = number.cut_right(text_width(ui, TextStyle::mono_small, count) + ui.px(4));
    rect.x1 = number.x0 - ui.px(4);
    draw_text(ui, number, count, {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
    const Interaction touch = interact(ui, frame.name("filter.clear"), clear);
    draw_icon(ui, clear, icon::kClose, ui.colour(touch.hovered ? Colour::text1 : Colour::text3), TextStyle::icon12);
    if (touch.clicked) return set_filter(frame, {});
  }
  std::string text = state.typed_filter.value_or(frame.tab.choices.rows.name_filter);
  const rows::RowChoices& chosen = frame.tab.choices.rows;
  const char* hint = chosen.minimal    ? "Minimal view, filter"
                     : chosen.platform ? "Platform view, filter"
                                       : "Filter lanes";
  const TextInputResult input =
      text_input(ui, frame.name("filter"), rect, text,
                 {.placeholder = hint, .icon = icon::kFilter, .focus_now = std::exchange(state.focus_filter, false)});
  // What is typed acts at once, but it is one change of the view, when it is finished.
  if (input.changed) state.typed_filter = text;
  if (input.cancelled) return set_filter(frame, {});
  if (state.typed_filter && (input.submitted || !input.focused)) set_filter(frame, *state.typed_filter);
}

void draw_no_rows(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  const std::string& filter = state.composed_from.choices.name_filter;
  if (analysis::is_program_alone(frame.snapshot) && frame.state.rows.empty()) {
    return empty_sentence(frame.ui, frame.name("no_times"), frame.canvas(frame.scrolled), icon::kTable,
                          "This file has no times: it is a program without a trace. Tables shows what is in it, Data "
                          "quality how to record a trace.");
  }
  if (filter.empty() || state.row_count.matching > 0) return;
  const std::string sentence = fmt::format("No lane is called \"{}\".", filter);
  if (empty_state(frame.ui, frame.name("no_rows"), frame.canvas(frame.scrolled), icon::kFilter, sentence,
                  "Clear the filter")) {
    set_filter(frame, {});
  }
}

// What the user does with a row's label: its menu, and dragging it to another place.

void flip_pin(rows::RowChoices& choices, const std::string& key) {
  if (std::erase(choices.pinned, key) == 0) choices.pinned.push_back(key);
}

void open_all(const TimelineState& state, rows::RowChoices& choices, bool open) {
  for (const rows::TimelineRow& row : state.rows) {
    if (row.kind == rows::RowKind::group) choices.open[row.key] = open;
  }
}

void touch_label(TimelineFrame& frame, const rows::TimelineRow& row, const Interaction& touch) {
  TimelineState& state = frame.state;
  if (touch.pressed && state.gesture == Gesture::none) {
    state.gesture = Gesture::row;
    state.row_drag = {row.key, false};
    state.pressed_at = frame.ui.input().mouse;
  }
  if (touch.right_clicked) {
    state.menu_row = row.key;
    open_menu(frame.ui, frame.name("row_menu"));
  }
}

void drag_row(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  if (state.gesture != Gesture::row) return;
  Ui& ui = frame.ui;
  const float mouse = ui.input().mouse.y;
  if (std::abs(mouse - state.pressed_at.y) > ui.px(kDragSlack)) state.row_drag.moved = true;
  const bool held = ui.input().down(MouseButton::left);
  const rows::TimelineRow* row = find_row(state, state.row_drag.key);
  if (state.row_drag.moved && row != nullptr) {
    const std::vector<RowMenuBlock> blocks = blocks_of(state, *row);
    const auto below =
        std::ranges::find_if(blocks, [mouse](const RowMenuBlock& block) { return mouse < (block.y0 + block.y1) / 2; });
    if (!blocks.empty()) {
      const float y = std::clamp(std::round(below != blocks.end() ? below->y0 : blocks.back().y1), frame.rows.y0,
                                 frame.rows.y1 - ui.px(2));
      fill(ui, {frame.rows.x0, y - ui.px(1), frame.rows.x1, y + ui.px(1)}, ui.colour(Colour::accent));
    }
    set_cursor(Cursor::resize_vertical);
    if (!held) {
      const std::string_view before = below != blocks.end() ? below->key : std::string_view();
      rows::RowChoices choices = rows::with_row_moved(frame.tab.choices.rows, state.rows, state.row_drag.key, before);
      view::choose_rows(frame.tab, std::move(choices));
    }
  }
  if (held) return;
  state.row_drag = {};
  state.gesture = Gesture::none;
}

void draw_row_menu(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  if (!menu_is_open(frame.name("row_menu"))) return;
  const rows::TimelineRow* row = find_row(state, state.menu_row);
  if (row == nullptr) return;
  const std::optional<std::string> chosen = popup_menu(frame.ui, frame.name("row_menu"), items_of(frame, *row));
  if (!chosen) return;
  rows::RowChoices choices = after(frame, *row, *chosen);
  view::choose_rows(frame.tab, std::move(choices));
}

// The menu of the lanes: of the event, the box or the marker under the pointer.

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
                     .label = shortened(view::selected_part(frame.tab).label),
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
      const std::vector<view::SharedTrait> traits = view::traits_of(*at, frame.snapshot);
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

}  // namespace accelscope::app::timeline
