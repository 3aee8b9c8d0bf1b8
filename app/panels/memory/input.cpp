// Which stretch of time the memory panel shows, how the pointer moves it, and the cursor.
#include <algorithm>
#include <cmath>

#include "app/panels/memory/panel.h"
#include "app/view/motion.h"
#include "core/base/format.h"
#include "imgui.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
constexpr double kSettleSeconds = 0.4;  // a wheel that rests this long has finished
constexpr double kWheelPan = 0.1;       // of the view
constexpr float kClickSlack = 4;        // units: a press that moves less is a click
constexpr std::size_t kMostBack = 100;
}  // namespace

ViewRange MemoryPanel::view_range(const PanelContext& context) const {
  if (follow_view_) return context.tab.view;
  const SessionSpan session = session_span(*context.tab.snapshot);
  return own_range_.value_or(ViewRange{session.begin_ns, session.end_ns});
}

void MemoryPanel::move_view(const PanelContext& context, const ViewRange& range, bool finished) {
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
  const SessionSpan session = session_span(*context.tab.snapshot);
  move_view(context, {session.begin_ns, session.end_ns}, true);
}

// The stretch round the peak in which at least half of it is in use.
void MemoryPanel::go_to_peak(const PanelContext& context) {
  const PoolUsage& chosen = pool();
  if (chosen.steps.empty()) return;
  pinned_ns_ = chosen.peak_ns;
  const auto at = std::find_if(chosen.steps.begin(), chosen.steps.end(),
                               [&](const PoolStep& step) { return step.ns >= chosen.peak_ns; });
  const auto low = [&](const PoolStep& step) { return step.bytes < chosen.peak_bytes / 2; };
  const auto after = std::find_if(at, chosen.steps.end(), low);
  const auto before = std::find_if(std::make_reverse_iterator(at), chosen.steps.rend(), low);
  const std::int64_t session_end = context.tab.snapshot->end_ns;
  const auto begin = static_cast<double>(before == chosen.steps.rend() ? chosen.steps.front().ns : before->ns);
  const auto end = static_cast<double>(after == chosen.steps.end() ? std::max(session_end, chosen.peak_ns) : after->ns);
  move_view(context, fitted(begin, std::max(end, begin + 20), session_span(*context.tab.snapshot), 0.1), true);
}

void MemoryPanel::handle_pan(const PanelContext& context, const Plot& plot, bool hovered, Hand& hand) {
  Ui& ui = context.ui;
  const bool down = ui.input().down(MouseButton::right) || ui.input().down(MouseButton::middle);
  const float mouse = ui.input().mouse.x;
  if (hovered && down && !pan_button_down_) {
    hand.pan_from_x = mouse;
    hand.panned = view_range(context);
  }
  if (!hand.pan_from_x) return;
  const double ns_per_pixel = hand.panned.span_ns() / std::max(1.0, static_cast<double>(plot.rect.width()));
  const double by_ns = static_cast<double>(*hand.pan_from_x - mouse) * ns_per_pixel;
  const ViewRange wanted = panned(hand.panned, by_ns, session_span(*context.tab.snapshot));
  if (wanted != view_range(context)) move_view(context, wanted, false);
  if (down) {
    set_cursor(Cursor::move);
    return;
  }
  hand.pan_from_x.reset();
}

std::optional<std::int64_t> MemoryPanel::handle_plot(const PanelContext& context, const Plot& plot, const char* name,
                                                     Hand& hand) {
  Ui& ui = context.ui;
  const Interaction at = interact(ui, name, plot.rect, {.below_others = true});
  const float mouse = ui.input().mouse.x;
  const SessionSpan session = session_span(*context.tab.snapshot);
  std::optional<std::int64_t> clicked_ns;
  if (at.hovered) hovered_ns_ = plot.time_at(mouse);
  if (at.hovered) context.tab.cursor_ns = hovered_ns_;
  if (at.pressed) hand.drag_from_x = mouse;
  const bool dragged = hand.drag_from_x && std::abs(mouse - *hand.drag_from_x) > ui.px(kClickSlack);
  if (at.held && dragged) {
    fill(ui, {std::min(*hand.drag_from_x, mouse), plot.rect.y0, std::max(*hand.drag_from_x, mouse), plot.rect.y1},
         with_alpha(ui.colour(Colour::accent), 0.25F));
  }
  if (at.double_clicked) {
    pinned_ns_.reset();  // by its first click
    show_all(context);
  } else if (at.clicked && dragged) {  // a drag zooms, as on the timeline
    move_view(context,
              fitted(static_cast<double>(plot.time_at(std::min(mouse, *hand.drag_from_x))),
                     static_cast<double>(plot.time_at(std::max(mouse, *hand.drag_from_x))), session, 0),
              true);
  } else if (at.clicked && hand.drag_from_x) {
    clicked_ns = plot.time_at(mouse);
    pinned_ns_ = clicked_ns;
  }
  if (!at.held) hand.drag_from_x.reset();
  handle_pan(context, plot, at.hovered, hand);
  const Point wheel = ui.input().wheel;
  if (!at.hovered || (wheel.x == 0 && wheel.y == 0)) return clicked_ns;
  const ViewRange view = view_range(context);
  if (ui.input().modifiers().shift || wheel.y == 0) {
    const double notches = static_cast<double>(wheel.x != 0 ? wheel.x : wheel.y);
    move_view(context, panned(view, -notches * kWheelPan * view.span_ns(), session), false);
  } else {
    const double factor = std::pow(kWheelZoom, static_cast<double>(wheel.y));
    move_view(context, zoomed(view, static_cast<double>(plot.time_at(mouse)), factor, session), false);
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
  const Interaction hand = interact(ui, "memory.cursor", chip);
  tooltip(ui, hand, chip, "Held here by a click. Click to let the cursor follow the pointer again.");
  if (hand.hovered) set_cursor(Cursor::hand);
  if (hand.clicked) pinned_ns_.reset();
}

}  // namespace accelscope::app
