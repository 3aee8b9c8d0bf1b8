#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/memory/panel.h"
#include "app/view/selection.h"
#include "imgui.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

// The head of the memory panel: which pool, what is shown of it and how. What does not fit goes into a menu.

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

constexpr double kSettleSeconds = 0.4;  // a wheel that rests this long has finished
constexpr double kWheelPan = 0.1;       // of the view
constexpr float kClickSlack = 4;        // units: a press that moves less is a click
constexpr std::size_t kMostBack = 100;

}  // namespace

void MemoryPanel::draw_pools(const PanelContext& context, Rect& place) {
  Ui& ui = context.ui;
  std::vector<std::string> names, notes;
  std::size_t family = 0;
  for (std::size_t i = 0; i < families_.size(); ++i) {
    const content::PoolFamily& each = families_[i];
    names.push_back((each.estimated ? "≈ " : "") + (each.name.empty() ? std::string("memory") : each.name));
    notes.push_back(usage_->pool(each.pools.front()).note);
    if (std::ranges::find(each.pools, chosen_pool_) != each.pools.end()) family = i;
  }
  const float most = place.width() * kMostForPools;
  int chosen = static_cast<int>(family);
  if (choose(ui, "memory.pool", place, names, notes, most, chosen) && chosen != static_cast<int>(family)) {
    family = static_cast<std::size_t>(chosen);
    chosen_pool_ = families_[family].pools.front();
    alive_.fold_all();
  }
  const content::PoolFamily& shown = families_[family];
  if (shown.parts.empty()) return;
  place.cut_left(ui.px(8));
  const auto at = std::ranges::find(shown.pools, chosen_pool_);
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
  const session::ViewRange before = view_range(context);
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
      std::vector<analysis::UsageGrouping> which = {analysis::UsageGrouping::tensor,
                                                    analysis::UsageGrouping::size_class};
      const auto offer = [&](const std::vector<std::string>& names, const char* title,
                             analysis::UsageGrouping grouping) {
        if (names.empty() || (names.size() == 1 && names.front().empty())) return;
        groupings.emplace_back(title);
        which.push_back(grouping);
      };
      offer(usage_->sites, "Written by", analysis::UsageGrouping::site);
      offer(usage_->stacks, "Stack", analysis::UsageGrouping::stack);
      Rect place = rect;
      const auto at = std::ranges::find(which, grouping_);
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
      float position = content::bytes_to_slider(min_bytes_);
      if (slider(ui, prefix + "smallest", place.cut_left(ui.px(kSlider)).middle(ui.px(size::kControl)), position, false,
                 "Smallest allocation that is shown")) {
        min_bytes_ = content::slider_to_bytes(position);
      }
      place.cut_left(ui.px(10));
      draw_text(ui, place, min_bytes_ == 0 ? std::string("all") : format_bytes(min_bytes_), {.style = TextStyle::mono});
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
  Rect place = padded(ui, places.head);
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

// Which stretch of time the memory panel shows, how the pointer moves it, and the cursor.

session::ViewRange MemoryPanel::view_range(const PanelContext& context) const {
  if (follow_view_) return context.tab.view;
  const view::SessionSpan session = view::session_span(*context.tab.snapshot);
  return own_range_.value_or(session::ViewRange{session.begin_ns, session.end_ns});
}

void MemoryPanel::move_view(const PanelContext& context, const session::ViewRange& range, bool finished) {
  Ui& ui = context.ui;
  const bool continues = settle_at_s_ > 0;
  settle_at_s_ = finished ? 0 : ui.time() + kSettleSeconds;
  if (!finished) ui.request_frame_after(kSettleSeconds);
  if (follow_view_) {
    if (finished) return context.tab.show(range);
    context.tab.follow = false;
    context.tab.view = range;
    return;
  }
  if (!continues && range != view_range(context)) {
    own_back_.push_back(view_range(context));
    if (own_back_.size() > kMostBack) own_back_.erase(own_back_.begin());
  }
  own_range_ = range;
}

// A wheel that has come to rest is one step of the history, and so is a pan that ended.
void MemoryPanel::settle_view(const PanelContext& context) {
  if (settle_at_s_ == 0 || context.ui.time() < settle_at_s_) return;
  settle_at_s_ = 0;
  if (follow_view_) context.tab.remember_view();
}

void MemoryPanel::go_back() {
  if (own_back_.empty()) return;
  own_range_ = own_back_.back();
  own_back_.pop_back();
  settle_at_s_ = 0;
}

void MemoryPanel::show_all(const PanelContext& context) {
  const view::SessionSpan session = view::session_span(*context.tab.snapshot);
  move_view(context, {session.begin_ns, session.end_ns}, true);
}

// The stretch round the peak in which at least half of it is in use.
void MemoryPanel::go_to_peak(const PanelContext& context) {
  const analysis::PoolUsage& chosen = pool();
  if (chosen.steps.empty()) return;
  pinned_ns_ = chosen.peak_ns;
  const auto at =
      std::ranges::find_if(chosen.steps, [&](const analysis::PoolStep& step) { return step.ns >= chosen.peak_ns; });
  const auto low = [&](const analysis::PoolStep& step) { return step.bytes < chosen.peak_bytes / 2; };
  const auto after = std::find_if(at, chosen.steps.end(), low);
  const auto before = std::find_if(std::make_reverse_iterator(at), chosen.steps.rend(), low);
  const std::int64_t session_end = context.tab.snapshot->end_ns;
  const auto begin = static_cast<double>(before == chosen.steps.rend() ? chosen.steps.front().ns : before->ns);
  const auto end = static_cast<double>(after == chosen.steps.end() ? std::max(session_end, chosen.peak_ns) : after->ns);
  move_view(context, view::fitted(begin, std::max(end, begin + 20), view::session_span(*context.tab.snapshot), 0.1),
            true);
}

void MemoryPanel::handle_pan(const PanelContext& context, const Plot& plot, bool hovered, Response& response) {
  Ui& ui = context.ui;
  const bool down = ui.input().down(MouseButton::right) || ui.input().down(MouseButton::middle);
  const float mouse = ui.input().mouse.x;
  if (hovered && down && !pan_button_down_) {
    response.pan_from_x = mouse;
    response.panned = view_range(context);
  }
  if (!response.pan_from_x) return;
  const double ns_per_pixel = response.panned.span_ns() / std::max(1.0, static_cast<double>(plot.rect.width()));
  const double by_ns = static_cast<double>(*response.pan_from_x - mouse) * ns_per_pixel;
  const session::ViewRange wanted = view::panned(response.panned, by_ns, view::session_span(*context.tab.snapshot));
  if (wanted != view_range(context)) move_view(context, wanted, false);
  if (down) {
    set_cursor(Cursor::move);
    return;
  }
  response.pan_from_x.reset();
}

std::optional<std::int64_t> MemoryPanel::handle_plot(const PanelContext& context, const Plot& plot, const char* name,
                                                     Response& response) {
  Ui& ui = context.ui;
  const Interaction at = interact(ui, name, plot.rect,
                                  {.below_others = true, .keys = FocusStopKind::pointer, .label = "Memory over time"});
  const float mouse = ui.input().mouse.x;
  const view::SessionSpan session = view::session_span(*context.tab.snapshot);
  std::optional<std::int64_t> clicked_ns;
  if (at.hovered) hovered_ns_ = plot.time_at(mouse);
  if (at.hovered) context.tab.cursor_ns = hovered_ns_;
  if (at.pressed) response.drag_from_x = mouse;
  const bool dragged = response.drag_from_x && std::abs(mouse - *response.drag_from_x) > ui.px(kClickSlack);
  if (at.held && dragged) {
    fill(ui,
         {std::min(*response.drag_from_x, mouse), plot.rect.y0, std::max(*response.drag_from_x, mouse), plot.rect.y1},
         with_alpha(ui.colour(Colour::accent), 0.25F));
  }
  if (at.double_clicked) {
    pinned_ns_.reset();  // by its first click
    show_all(context);
  } else if (at.clicked && dragged) {  // a drag zooms, as on the timeline
    move_view(context,
              view::fitted(static_cast<double>(plot.time_at(std::min(mouse, *response.drag_from_x))),
                           static_cast<double>(plot.time_at(std::max(mouse, *response.drag_from_x))), session, 0),
              true);
  } else if (at.clicked && response.drag_from_x) {
    clicked_ns = plot.time_at(mouse);
    pinned_ns_ = clicked_ns;
  }
  if (!at.held) response.drag_from_x.reset();
  handle_pan(context, plot, at.hovered, response);
  const Point wheel = ui.input().wheel;
  if (!at.hovered || (wheel.x == 0 && wheel.y == 0)) return clicked_ns;
  const session::ViewRange view = view_range(context);
  if (ui.input().modifiers().shift || wheel.y == 0) {
    const double notches = static_cast<double>(wheel.x != 0 ? wheel.x : wheel.y);
    move_view(context, view::panned(view, -notches * kWheelPan * view.span_ns(), session), false);
  } else {
    const double factor = std::pow(view::kWheelZoom, static_cast<double>(wheel.y));
    move_view(context, view::zoomed(view, static_cast<double>(plot.time_at(mouse)), factor, session), false);
  }
  return clicked_ns;
}

bool MemoryPanel::rests_on(Ui& ui, const std::string& what) {
  if (rests_on_ != what) {
    rests_on_ = what;
    rests_since_s_ = ui.time();
  }
  const double left_s = kHoverCardDelay - (ui.time() - rests_since_s_);
  if (left_s > 0) ui.request_frame_after(left_s);
  return left_s <= 0;
}

// A held cursor is let go by a click on its chip.
void MemoryPanel::draw_cursor(const PanelContext& context, const Plot& plot, const Places& places) {
  Ui& ui = context.ui;
  const float bottom = places.addresses.empty() ? plot.rect.y1 : places.addresses.y1 - ui.px(8);
  const float top = places.axis.y0;
  if (pinned_ns_ && hovered_ns_ && *hovered_ns_ != *pinned_ns_) {
    vertical_line(ui, std::round(plot.x_of(*hovered_ns_)), plot.rect.y0, bottom, ui.colour(Colour::line2));
  }
  const std::int64_t at = cursor(context);
  if (at < plot.range.begin_ns || at > plot.range.end_ns) return;
  const float x = std::round(plot.x_of(at));
  vertical_line(ui, x, top, bottom, ui.colour(Colour::accent));
  const std::uint64_t used = usage_->used_at(chosen_pool_, at);
  if (!places.usage.empty()) {
    ui.draw()->AddCircleFilled({x, plot.y_of(static_cast<double>(used))}, ui.px(3), ui.colour(Colour::accent));
  }
  const std::string text = format_time_exact(at) + "  " + bytes_text(used) + (pinned_ns_ ? "  ×" : "");
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(12);
  const float left = std::clamp(x - width / 2, plot.rect.x0, std::max(plot.rect.x0, plot.rect.x1 - width));
  const Rect chip{left, top + ui.px(2), left + width, top + ui.px(18)};
  fill(ui, chip, ui.colour(Colour::accent), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_small, .colour = Colour::on_accent, .align = Align::centre});
  if (!pinned_ns_) return;
  const Interaction response = interact(ui, "memory.cursor", chip);
  tooltip(ui, response, chip, "Held here by a click. Click to let the cursor follow the pointer again.");
  if (response.hovered) set_cursor(Cursor::response);
  if (response.clicked) pinned_ns_.reset();
}

}  // namespace accelscope::app::panels
