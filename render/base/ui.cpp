#include "render/base/ui.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"

namespace accelscope::render {

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
