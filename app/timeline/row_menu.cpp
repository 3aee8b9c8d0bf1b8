// What the user does with a row's label: its menu, and dragging it to another place.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/timeline/frame.h"
#include "app/view/record.h"
#include "render/base/icons.h"
#include "render/widgets/menu.h"

namespace accelscope::app {
namespace {

using namespace render;

constexpr float kDragSlack = 4;  // units: a press that moves less is a click

[[nodiscard]] const TimelineRow* find_row(const TimelineState& state, std::string_view key) {
  const auto row =
      std::find_if(state.rows.begin(), state.rows.end(), [key](const TimelineRow& each) { return each.key == key; });
  return row == state.rows.end() ? nullptr : &*row;
}

// The heading of the group that the row lies in; itself if it is one.
[[nodiscard]] const TimelineRow* heading_of(const TimelineState& state, const TimelineRow& row) {
  const TimelineRow* at = &row;
  for (int depth = 0; at != nullptr && at->kind != RowKind::group && depth < 16; ++depth) {
    at = find_row(state, at->parent);
  }
  return at != nullptr && at->kind == RowKind::group ? at : nullptr;
}

[[nodiscard]] bool has_counters(const TimelineFrame& frame, const TimelineRow& heading) {
  for (const TrackSnapshot& track : frame.snapshot.tracks) {
    if (!track.schema || track.schema->kind != EventKind::counter) continue;
    if (std::any_of(heading.members.begin(), heading.members.end(),
                    [&](const RowMember& member) { return member.track == track.track->number; })) {
      return true;
    }
  }
  return false;
}

[[nodiscard]] MenuItem size_menu(const TimelineRow& row) {
  MenuItem menu{.id = "size", .label = "Height"};
  menu.children.push_back({.id = "size:small", .label = "Small", .checked = row.size == RowSize::small});
  menu.children.push_back({.id = "size:normal", .label = "Normal", .checked = row.size == RowSize::normal});
  menu.children.push_back({.id = "size:tall", .label = "Tall", .checked = row.size == RowSize::tall});
  return menu;
}

[[nodiscard]] MenuItem counter_menu(const RowChoices& choices, const std::string& group) {
  const CounterMode mode = choices.counter_mode_of(group);
  MenuItem menu{.id = "counters", .label = "Counters", .icon = icon::kLineChart};
  const auto add = [&menu](const char* id, const char* label, bool checked, bool line_above = false) {
    menu.children.push_back({.id = id, .label = label, .checked = checked, .line_above = line_above});
  };
  add("counters:separate", "A row for each", mode == CounterMode::separate);
  add("counters:overlaid", "Over each other", mode == CounterMode::overlaid);
  add("counters:stacked", "Stacked", mode == CounterMode::stacked);
  add("counters:shared", "One scale for all of a unit", choices.shared_scale.count(group) > 0, true);
  add("counters:lines", "Lines without areas", choices.counter_lines.count(group) > 0);
  return menu;
}

// Every row of the group with a tick at those that are shown.
[[nodiscard]] MenuItem members_menu(const TimelineRow& heading) {
  MenuItem menu{.id = "members", .label = "Rows", .icon = icon::kList};
  menu.children.push_back({.id = "show_all", .label = "Show all", .enabled = heading.hidden_count > 0});
  menu.children.push_back(
      {.id = "hide_all", .label = "Hide all", .enabled = heading.hidden_count < heading.members.size()});
  bool first = true;
  for (const RowMember& member : heading.members) {
    menu.children.push_back(
        {.id = "member:" + member.key, .label = member.label, .checked = !member.hidden, .line_above = first});
    first = false;
  }
  menu.enabled = !heading.members.empty();
  return menu;
}

[[nodiscard]] std::vector<MenuItem> items_of(const TimelineFrame& frame, const TimelineRow& row) {
  const RowChoices& choices = frame.tab.choices.rows;
  const TimelineRow* heading = heading_of(frame.state, row);
  std::vector<MenuItem> items;
  if (row.kind == RowKind::group) {
    items.push_back({.id = "toggle", .label = row.open ? "Collapse" : "Open"});
  } else if (row.series.size() < 2) {  // a shared counter row is none of its counters
    items.push_back({.id = "pin", .label = row.pinned ? "Unpin" : "Pin above the others", .icon = icon::kPin});
  }
  if (row.series.size() < 2) items.push_back({.id = "hide", .label = "Hide"});
  const auto can_step = [&](int step) { return with_row_stepped(choices, frame.state.rows, row.key, step) != choices; };
  items.push_back(
      {.id = "up", .label = "Move up", .icon = icon::kArrowUp, .enabled = can_step(-1), .line_above = true});
  items.push_back({.id = "down", .label = "Move down", .icon = icon::kArrowDown, .enabled = can_step(1)});
  if (row.kind != RowKind::group) items.push_back(size_menu(row));
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

void choose_counters(RowChoices& choices, const std::string& group, std::string_view item) {
  if (item == "separate") choices.counter_mode.erase(group);
  if (item == "overlaid") choices.counter_mode[group] = CounterMode::overlaid;
  if (item == "stacked") choices.counter_mode[group] = CounterMode::stacked;
  if (item == "shared") flip(choices.shared_scale, group);
  if (item == "lines") flip(choices.counter_lines, group);
}

[[nodiscard]] RowChoices after(const TimelineFrame& frame, const TimelineRow& row, const std::string& item) {
  const TimelineState& state = frame.state;
  RowChoices choices = frame.tab.choices.rows;
  if (item == "up" || item == "down") return with_row_stepped(choices, state.rows, row.key, item == "up" ? -1 : 1);
  if (item == "toggle") choices.open[row.key] = !row.open;
  if (item == "pin") flip_pin(choices, row.key);
  if (item == "hide") choices.hidden.insert(row.key);
  if (item == "size:normal") choices.sizes.erase(row.key);
  if (item == "size:small") choices.sizes[row.key] = RowSize::small;
  if (item == "size:tall") choices.sizes[row.key] = RowSize::tall;
  if (item == "collapse_all" || item == "expand_all") open_all(state, choices, item == "expand_all");
  if (item == "show_everything") choices.hidden.clear();
  const TimelineRow* heading = heading_of(state, row);
  if (heading == nullptr) return choices;
  if (item.starts_with("counters:")) choose_counters(choices, heading->key, item.substr(9));
  if (item.starts_with("member:")) {
    flip(choices.hidden, item.substr(7));
    choices.open[heading->key] = true;  // who chooses rows wants to see them
  }
  for (const RowMember& member : heading->members) {
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
[[nodiscard]] std::vector<RowMenuBlock> blocks_of(const TimelineState& state, const TimelineRow& dragged) {
  std::vector<const DrawnRow*> drawn;
  for (const DrawnRow& each : state.drawn_rows) drawn.push_back(&each);
  std::sort(drawn.begin(), drawn.end(), [](const auto* a, const auto* b) { return a->row < b->row; });
  std::vector<RowMenuBlock> blocks;
  for (const DrawnRow* each : drawn) {
    const TimelineRow& row = state.rows[each->row];
    if (row.pinned != dragged.pinned) continue;
    if (row.parent == dragged.parent || (row.pinned && row.depth == 0)) {
      blocks.push_back({row.key, each->rect.y0, each->rect.y1});
    } else if (!blocks.empty() && row.kind != RowKind::group && (row.depth > dragged.depth || dragged.parent.empty())) {
      blocks.back().y1 = each->rect.y1;
    }
  }
  return blocks;
}

}  // namespace

void flip_pin(RowChoices& choices, const std::string& key) {
  if (std::erase(choices.pinned, key) == 0) choices.pinned.push_back(key);
}

void open_all(const TimelineState& state, RowChoices& choices, bool open) {
  for (const TimelineRow& row : state.rows) {
    if (row.kind == RowKind::group) choices.open[row.key] = open;
  }
}

void touch_label(TimelineFrame& frame, const TimelineRow& row, const Interaction& touch) {
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
  const TimelineRow* row = find_row(state, state.row_drag.key);
  if (state.row_drag.moved && row != nullptr) {
    const std::vector<RowMenuBlock> blocks = blocks_of(state, *row);
    const auto below = std::find_if(blocks.begin(), blocks.end(),
                                    [mouse](const RowMenuBlock& block) { return mouse < (block.y0 + block.y1) / 2; });
    if (!blocks.empty()) {
      const float y = std::clamp(std::round(below != blocks.end() ? below->y0 : blocks.back().y1), frame.rows.y0,
                                 frame.rows.y1 - ui.px(2));
      fill(ui, {frame.rows.x0, y - ui.px(1), frame.rows.x1, y + ui.px(1)}, ui.colour(Colour::accent));
    }
    set_cursor(Cursor::resize_vertical);
    if (!held) {
      const std::string_view before = below != blocks.end() ? below->key : std::string_view();
      RowChoices choices = with_row_moved(frame.tab.choices.rows, state.rows, state.row_drag.key, before);
      choose_rows(frame.tab, std::move(choices));
    }
  }
  if (held) return;
  state.row_drag = {};
  state.gesture = Gesture::none;
}

void draw_row_menu(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  if (!menu_is_open(frame.name("row_menu"))) return;
  const TimelineRow* row = find_row(state, state.menu_row);
  if (row == nullptr) return;
  const std::optional<std::string> chosen = popup_menu(frame.ui, frame.name("row_menu"), items_of(frame, *row));
  if (!chosen) return;
  RowChoices choices = after(frame, *row, *chosen);
  choose_rows(frame.tab, std::move(choices));
}

}  // namespace accelscope::app
