#include "render/base/ui.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"

namespace accelscope::render {

float FrameTimes::percentile(double share) const {
  if (count == 0) return 0;
  std::vector<float> sorted(ms.begin(), ms.begin() + static_cast<std::ptrdiff_t>(count));
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(count))) - 1;
  const auto at = sorted.begin() + std::clamp<std::ptrdiff_t>(rank, 0, std::ssize(sorted) - 1);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

void Ui::set_theme(ThemeKind kind) {
  if (kind == theme_.kind()) return;
  next_theme_ = kind;
  request_frame();
}

void Ui::set_zoom(float zoom) {
  next_zoom_ = std::clamp(zoom, 0.5F, 3.0F);
  if (next_zoom_ != zoom_) request_frame();
}

float Ui::px(float units) const noexcept {
  const float pixels = std::round(units * scale_);
  return units > 0 ? std::max(1.0F, pixels) : pixels;
}

// What lies below an open menu or dialog gets none of the keys that are typed into that.
bool Ui::pressed(Key key, Modifiers modifiers, bool repeat) const {
  const bool chord = modifiers.ctrl || modifiers.alt || (key >= Key::f1 && key <= Key::f12);
  if (!chord && keys_go_elsewhere()) return false;
  return input_.modifiers() == modifiers && compat::key_pressed(key, repeat);
}

// One that nobody draws any more has no keys either, though ImGui still keeps it as open.
bool Ui::keys_go_elsewhere() const {
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  for (int i = context.BeginPopupStack.Size; i < context.OpenPopupStack.Size; ++i) {
    const ImGuiPopupData& popup = context.OpenPopupStack[i];
    const bool drawn = popup.Window != nullptr && (popup.Window->Active || popup.Window->WasActive);
    if (drawn || context.FrameCount - popup.OpenFrameCount <= 1) return true;
  }
  return false;
}

ImDrawList* Ui::draw() const { return ImGui::GetWindowDrawList(); }

void Ui::request_frame_after(double seconds) noexcept {
  frame_after_ = frame_after_ < 0 ? seconds : std::min(frame_after_, seconds);
}

void Ui::copy_to_clipboard(const std::string& text) const { ImGui::SetClipboardText(text.c_str()); }

void Ui::register_widget(std::string_view name, const Rect& rect) {
  const ImDrawList* list = draw();
  const ImVec2 low = list->GetClipRectMin();
  const ImVec2 high = list->GetClipRectMax();
  const Rect visible = rect.intersected({low.x, low.y, high.x, high.y});
  if (!visible.empty()) drawn_.insert_or_assign(std::string(name), visible);
}

void Ui::note_clickable(Control control) {
  const auto known = clickable_.find(control.name);
  if (known == clickable_.end()) {
    clickable_.emplace(control.name, std::move(control));
  } else if (known->second.rect != control.rect) {
    doubled_.insert(known->first);
  }
}

void Ui::note_explanation(std::string_view name, std::string_view text) {
  if (records_text_ && !name.empty()) explained_.insert_or_assign(std::string(name), std::string(text));
}

// What is out of sight is none.
std::vector<Control> Ui::controls() const {
  std::vector<Control> controls;
  for (const auto& [name, drawn] : clickable_) {
    const auto seen = shown_.find(name);
    if (seen == shown_.end()) continue;
    Control control = drawn;
    std::string inside;
    for (const VisibleText& text : texts_) {
      if (drawn.rect.contains(text.rect.centre())) inside += (inside.empty() ? "" : " ") + text.text;
    }
    if (control.label.empty()) control.label = std::move(inside);
    if (const auto text = explained_.find(name); control.label.empty() && text != explained_.end()) {
      control.label = text->second;
    }
    control.rect = seen->second;
    controls.push_back(std::move(control));
  }
  return controls;
}

KeyboardFocus& Ui::begin_focus(std::string_view scope) { return *(focus_ = &focuses_[std::string(scope)]); }

namespace {

bool is_letter(Key key) { return key >= Key::a && key <= Key::digit9; }
bool moves_in_list(Key key) { return key >= Key::left && key <= Key::end; }

}  // namespace

bool Ui::focus_takes(Key key, Modifiers modifiers) const {
  const KeyboardFocus& focus = *focus_;
  if (focus.moved && modifiers == Modifiers{}) return true;  // by this key
  if (!focus.place || focus.place->name != focus.at) return false;
  if (modifiers == Modifiers{.ctrl = true} && (key == Key::a || key == Key::c)) {
    const bool has_name = focus.place->kind == FocusStopKind::button && !focus.place->label.empty();
    const bool in_list = focus.by_keyboard && !focus.place->group.empty() && focus.place->letters;
    return focus.place->kind == FocusStopKind::list || in_list || (key == Key::c && has_name && focus.by_keyboard);
  }
  if (focus.place->kind == FocusStopKind::handle && (modifiers == Modifiers{} || modifiers == Modifiers{.shift = true}))
    return moves_in_list(key) || key == Key::enter || key == Key::del;
  if (focus.place->kind == FocusStopKind::pointer && modifiers == Modifiers{.shift = true})
    return focus.by_keyboard && moves_in_list(key);
  if (modifiers != Modifiers{}) return false;
  const bool presses = key == Key::enter || key == Key::space;
  switch (focus.place->kind) {
    case FocusStopKind::list:
      return moves_in_list(key) || presses || (focus.by_keyboard && is_letter(key));
    case FocusStopKind::pointer:
      return focus.by_keyboard && (moves_in_list(key) || presses);
    case FocusStopKind::button:
      if (!focus.by_keyboard) return false;
      return presses || moves_in_list(key) || (focus.place->letters && is_letter(key));
    case FocusStopKind::handle:
    case FocusStopKind::text:
    case FocusStopKind::open:
      break;
  }
  return false;
}

void Ui::point_at(Point place, bool presses) {
  if (!pointer_) mouse_ = input_.mouse;
  pointer_ = place;
  pointer_presses_ = pointer_presses_ || presses;
  request_frame();
}

void Ui::drag_to(Point from, Point place) {
  if (pointer_holds_) return point_at(place, false);
  point_at(from, false);
  pointer_holds_ = true;
  pointer_next_ = place;
}

Input Ui::with_pointer(const Input& input) {
  if (pointer_ && (input.mouse.x != mouse_.x || input.mouse.y != mouse_.y)) pointer_.reset();
  if (!pointer_) return input;
  Input steered = input;
  steered.mouse = *pointer_;
  pointer_holds_ = pointer_holds_ && input.modifiers().shift;
  steered.buttons[static_cast<std::size_t>(MouseButton::left)] |=
      std::exchange(pointer_presses_, false) || pointer_holds_;
  if (pointer_next_) pointer_ = std::exchange(pointer_next_, {}), request_frame();
  return steered;
}

const Rect* Ui::find_widget(std::string_view name) const {
  const auto key = std::string(name);
  if (const auto now = drawn_.find(key); now != drawn_.end()) return &now->second;
  const auto before = shown_.find(key);
  return before == shown_.end() ? nullptr : &before->second;
}

void Ui::note_text(std::string_view text, const Rect& rect) {
  if (!records_text_ || text.empty()) return;
  if (ImGui::GetCurrentContext()->CurrentWindow->Hidden) return;  // the first frame of a card is not seen
  texts_.push_back({std::string(text), rect});
}

double Ui::hovered_for(std::string_view name) {
  const int frame = ImGui::GetFrameCount();
  const bool goes_on = hovered_name_ == name && frame - hovered_frame_ <= 1;
  if (!goes_on) {
    hovered_name_ = name;
    hovered_since_ = time_;
  }
  hovered_frame_ = frame;
  const double seconds = time_ - hovered_since_;
  if (seconds < kHoverCardDelay) request_frame_after(kHoverCardDelay - seconds);
  return seconds;
}

std::string& Ui::type_ahead(std::string_view menu) {
  constexpr double kPause = 1;  // after it a new word begins
  if (typed_into_ != menu || time_ - typed_at_ > kPause) type_ahead_.clear();
  typed_into_ = menu;
  if (!input_.text.empty()) typed_at_ = time_;
  return type_ahead_;
}

float& Ui::remembered(std::string_view name, float initial) {
  return remembered_.try_emplace(std::string(name), initial).first->second;
}

}  // namespace accelscope::render
