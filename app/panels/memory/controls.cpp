// The head of the memory panel: which pool, what is shown of it and how. What does not fit goes into a menu.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/memory/panel.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kControlGap = 20;  // units between two controls
constexpr float kMenuRow = 34, kMenuWidth = 420, kMenuLabel = 116, kSlider = 110, kSliderText = 68;
constexpr float kMostForPools = 0.45F;  // of the row's width

const char* name_of(int part) {
  constexpr std::array<const char*, 5> kNames = {"Usage", "Addresses", "Segments", "Alive", "Allocation"};
  return kNames[static_cast<std::size_t>(part)];
}

// As segments where they fit into the width, else as a list that opens.
bool choose(Ui& ui, const char* name, Rect& place, const std::vector<std::string>& labels,
            const std::vector<std::string>& notes, float most, int& chosen) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    segments.push_back({.label = labels[i], .tooltip = i < notes.size() ? notes[i] : std::string_view()});
  }
  const float width = segmented_width(ui, segments);
  if (width <= most) {
    return segmented(ui, name, place.cut_left(width).middle(ui.px(size::kControl)), segments, chosen);
  }
  const float narrow = std::min(dropdown_width(ui, labels[static_cast<std::size_t>(chosen)]), most);
  return dropdown(ui, name, place.cut_left(narrow).middle(ui.px(size::kControl)), labels, chosen);
}

}  // namespace

void MemoryPanel::draw_pools(const PanelContext& context, Rect& place) {
  Ui& ui = context.ui;
  std::vector<std::string> names, notes;
  std::size_t family = 0;
  for (std::size_t i = 0; i < families_.size(); ++i) {
    const PoolFamily& each = families_[i];
    names.push_back((each.estimated ? "≈ " : "") + (each.name.empty() ? std::string("memory") : each.name));
    notes.push_back(usage_->pool(each.pools.front()).note);
    if (std::find(each.pools.begin(), each.pools.end(), chosen_pool_) != each.pools.end()) family = i;
  }
  const float most = place.width() * kMostForPools;
  int chosen = static_cast<int>(family);
  if (choose(ui, "memory.pool", place, names, notes, most, chosen) && chosen != static_cast<int>(family)) {
    family = static_cast<std::size_t>(chosen);
    chosen_pool_ = families_[family].pools.front();
    alive_.fold_all();
  }
  const PoolFamily& shown = families_[family];
  if (shown.parts.empty()) return;
  place.cut_left(ui.px(8));
  const auto at = std::find(shown.pools.begin(), shown.pools.end(), chosen_pool_);
  int part = static_cast<int>(at - shown.pools.begin());
  const float width = dropdown_width(ui, shown.parts[static_cast<std::size_t>(part)]);
  if (dropdown(ui, "memory.pool_part", place.cut_left(width).middle(ui.px(size::kControl)), shown.parts, part)) {
    chosen_pool_ = shown.pools[static_cast<std::size_t>(part)];
    alive_.fold_all();
  }
}

bool MemoryPanel::draw_switch(const PanelContext& context, const std::vector<Part>& parts, const char* name,
                              Rect& place, Part& chosen) {
  if (parts.size() < 2) return false;
  std::vector<std::string> labels;
  int index = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    labels.emplace_back(name_of(static_cast<int>(parts[i])));
    if (parts[i] == chosen) index = static_cast<int>(i);
  }
  const bool changed = choose(context.ui, name, place, labels, {}, place.width(), index);
  if (changed) chosen = parts[static_cast<std::size_t>(index)];
  return true;
}

// The switch, or the name of the plot where it is the only one.
void MemoryPanel::begin_title(const PanelContext& context, const Places& places, const char* name, Rect& title) {
  const Ui& ui = context.ui;
  title = title.inset(ui.px(size::kPanelPadding + 4), 0);
  if (draw_switch(context, places.main_switch, "memory.part", title, main_part_)) {
    title.cut_left(ui.px(12));
  } else {
    title.x0 = heading(context.ui, title, name) + ui.px(10);
  }
}

void MemoryPanel::follow_timeline(const PanelContext& context, bool follow) {
  if (follow == follow_view_) return;
  const ViewRange before = view_range(context);
  follow_view_ = follow;
  own_back_.clear();
  settle_at_s_ = 0;
  if (follow) {
    own_range_.reset();
  } else {
    own_range_ = before;
  }
}

std::vector<MemoryPanel::Control> MemoryPanel::controls(const PanelContext& context) {
  Ui& ui = context.ui;
  std::vector<Control> made;
  const auto add = [&](const char* label, float width, float menu_width, auto draw) {
    made.push_back({label, width, menu_width, draw});
  };
  if (!pool().sampled) {
    const float label = text_width(ui, TextStyle::body, "Colour") + ui.px(10);
    const float list = dropdown_width(ui, "Size class");
    add("Colour", label + list, list, [this, &ui, list](const Rect& rect, const std::string& prefix) {
      std::vector<std::string> groupings = {"Tensor", "Size class"};
      std::vector<UsageGrouping> which = {UsageGrouping::tensor, UsageGrouping::size_class};
      const auto offer = [&](const std::vector<std::string>& names, const char* title, UsageGrouping grouping) {
        if (names.empty() || (names.size() == 1 && names.front().empty())) return;
        groupings.emplace_back(title);
        which.push_back(grouping);
      };
      offer(usage_->sites, "Written by", UsageGrouping::site);
      offer(usage_->stacks, "Stack", UsageGrouping::stack);
      Rect place = rect;
      const auto at = std::find(which.begin(), which.end(), grouping_);
      int chosen = at == which.end() ? 0 : static_cast<int>(at - which.begin());
      place = place.cut_right(list).middle(ui.px(size::kControl));
      if (dropdown(ui, prefix + "colour", place, groupings, chosen))
        grouping_ = which[static_cast<std::size_t>(chosen)];
    });
    const float slider_width = ui.px(kSlider + 10 + kSliderText);
    const float smallest = text_width(ui, TextStyle::body, "Smallest shown") + ui.px(10) + slider_width;
    add("Smallest shown", smallest, slider_width, [this, &ui, slider_width](const Rect& rect, const auto& prefix) {
      Rect place = rect;
      place = place.cut_right(slider_width);
      float position = bytes_to_slider(min_bytes_);
      if (slider(ui, prefix + "smallest", place.cut_left(ui.px(kSlider)).middle(ui.px(size::kControl)), position)) {
        min_bytes_ = slider_to_bytes(position);
      }
      place.cut_left(ui.px(10));
      draw_text(ui, place, min_bytes_ == 0 ? std::string("all") : format_bytes(static_cast<double>(min_bytes_)),
                {.style = TextStyle::mono});
    });
    const std::vector<Segment> shapes = {{.label = "Stacked", .icon = icon::kAreaChart},
                                         {.label = "Lines", .icon = icon::kLineChart}};
    const float width = segmented_width(ui, shapes);
    add("", width, width, [this, &ui, shapes, width](const Rect& rect, const std::string& prefix) {
      Rect place = rect;
      int shape = stacked_ ? 0 : 1;
      segmented(ui, prefix + "shape", place.cut_right(width).middle(ui.px(size::kControl)), shapes, shape);
      stacked_ = shape == 0;
    });
  }
  const char* follow_text = "Follow timeline range";
  const float back = follow_view_ ? 0 : ui.px(size::kControl + 6);
  const float follow_width = checkbox_width(ui, follow_text) + back;
  add("", follow_width, follow_width, [this, &ui, &context, follow_text](const Rect& rect, const std::string& prefix) {
    Rect place = rect.middle(ui.px(size::kControl));
    bool follow = follow_view_;
    checkbox(ui, prefix + "follow", place.cut_left(checkbox_width(ui, follow_text)), follow_text, follow);
    follow_timeline(context, follow);
    if (follow_view_ || place.width() < ui.px(size::kControl)) return;
    place.cut_left(ui.px(6));
    if (icon_button(ui, prefix + "back", place.cut_left(ui.px(size::kControl)), icon::kArrowLeft,
                    "Back to the range before, of this panel", {.disabled = own_back_.empty()})) {
      go_back();
    }
  });
  return made;
}

ButtonOptions MemoryPanel::peak_button() const {
  return {.label = "Go to the peak", .kind = ButtonKind::quiet, .disabled = pool().steps.empty()};
}

// All controls below each other, whether the row has room for them or not.
void MemoryPanel::draw_menu(const PanelContext& context, const std::vector<Control>& controls, const Rect& anchor) {
  Ui& ui = context.ui;
  const float height = kMenuRow * static_cast<float>(controls.size() + 1) + 16;
  Popover menu(ui, "memory.more", anchor, kMenuWidth, height);
  if (!menu.open()) return;
  Rect rest = menu.body().inset(ui.px(size::kPanelPadding), ui.px(8));
  for (const Control& control : controls) {
    Rect row = rest.cut_top(ui.px(kMenuRow));
    if (!control.label.empty()) {
      draw_text(ui, row.cut_left(ui.px(kMenuLabel)), control.label, {.colour = Colour::text2});
    }
    control.draw(row.cut_left(std::min(row.width(), control.menu_width)), "memory.menu.");
  }
  const ButtonOptions peak = peak_button();
  const Rect row = rest.cut_top(ui.px(kMenuRow)).middle(ui.px(size::kControl));
  if (button(ui, "memory.menu.peak", {row.x0, row.y0, row.x0 + button_width(ui, peak), row.y1}, peak)) {
    go_to_peak(context);
  }
}

void MemoryPanel::draw_head(const PanelContext& context, const Places& places) {
  Ui& ui = context.ui;
  horizontal_line(ui, places.head.x0, places.head.x1, places.head.y1 - 1, ui.colour(Colour::line2));
  Rect place = places.head.inset(ui.px(size::kPanelPadding), 0);
  draw_pools(context, place);
  place.cut_left(ui.px(12));
  if (!places.has_titles) {
    const float more = ui.px(size::kControl + 8);
    Rect room{place.x0, place.y0, std::max(place.x0, place.x1 - more), place.y1};
    if (draw_switch(context, places.main_switch, "memory.part", room, main_part_)) place.x0 = room.x0 + ui.px(12);
  }
  const ButtonOptions peak = peak_button();
  const std::vector<Control> all = controls(context);
  float wanted = button_width(ui, peak);
  for (const Control& control : all) wanted += control.width + ui.px(kControlGap);
  const bool fits = wanted <= place.width();
  if (!fits) {
    const Rect anchor = place.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
    if (icon_button(ui, "memory.more", anchor, icon::kMenu, "Colour, smallest shown, lines, range")) {
      open_popover(ui, "memory.more");
    }
    draw_menu(context, all, anchor);
    place.cut_right(ui.px(8));
  }
  if (place.width() >= button_width(ui, peak)) {
    const Rect rect = place.cut_right(button_width(ui, peak)).middle(ui.px(size::kControl));
    if (button(ui, "memory.peak", rect, peak)) go_to_peak(context);
    place.cut_right(ui.px(kControlGap));
  }
  for (const Control& control : all) {
    if (control.width > place.width()) break;
    Rect rect = place.cut_left(control.width);
    if (!control.label.empty()) draw_text(ui, rect, control.label, {.colour = Colour::text2});
    control.draw(rect, "memory.");
    place.cut_left(ui.px(kControlGap));
  }
}

}  // namespace accelscope::app
