#include "render/widgets/interact.h"

#include <algorithm>
#include <cassert>

#include "render/base/draw.h"
#include "render/base/imgui_compat.h"

namespace accelscope::render {

Interaction interact(Ui& ui, std::string_view name, const Rect& rect, const InteractOptions& options) {
  assert(!name.empty());
  Interaction result;
  if (rect.empty()) return result;
  ui.register_widget(name, rect);
  FocusStop keyboard;
  if (!options.disabled && !options.no_focus) keyboard = focus_stop(ui, name, rect, FocusStopKind::button);
  const ImGuiID id = ImHashStr(name.data(), name.size());
  const ImRect box(rect.x0, rect.y0, rect.x1, rect.y1);
  if (options.below_others) compat::allow_overlap_of_next_item();
  ImGui::KeepAliveID(id);  // made by hand, not by GetID(): without this a drag ends after two frames
  if (!ImGui::ItemAdd(box, id)) return result;  // outside of what is seen
  if (options.disabled) {
    result.hovered = ImGui::IsItemHovered();
    if (result.hovered) result.hovered_for = ui.hovered_for(name);
    return result;
  }
  ImGuiButtonFlags flags = ImGuiButtonFlags_MouseButtonLeft;
  flags |= ImGuiButtonFlags_PressedOnClickRelease;
  if (options.below_others) flags |= compat::kAllowOverlap;
  result.clicked = ImGui::ButtonBehavior(box, id, &result.hovered, &result.held, flags);
  if (options.below_others) compat::allow_overlap_of_last_item();
  if (keyboard.activated) result.clicked = result.pressed = true;
  if (!result.hovered) return result;
  result.hovered_for = ui.hovered_for(name);
  result.pressed = result.pressed || ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  result.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  // Menus open when the button comes up, and not at the end of a drag.
  const auto released_here = [](ImGuiMouseButton button) {
    return ImGui::IsMouseReleased(button) && ImGui::GetIO().MouseDragMaxDistanceSqr[button] < 16;
  };
  result.right_clicked = released_here(ImGuiMouseButton_Right);
  result.middle_clicked = released_here(ImGuiMouseButton_Middle);
  return result;
}

void set_cursor(Cursor cursor) {
  constexpr ImGuiMouseCursor kCursors[] = {ImGuiMouseCursor_Arrow,     ImGuiMouseCursor_Hand,
                                           ImGuiMouseCursor_TextInput, ImGuiMouseCursor_ResizeEW,
                                           ImGuiMouseCursor_ResizeNS,  ImGuiMouseCursor_ResizeAll};
  ImGui::SetMouseCursor(kCursors[static_cast<std::size_t>(cursor)]);
}

namespace {

int popups_open() { return ImGui::GetCurrentContext()->OpenPopupStack.Size; }
int popups_around() { return ImGui::GetCurrentContext()->BeginPopupStack.Size; }

}  // namespace

FocusScope::FocusScope(Ui& ui, std::string_view name) : ui_(ui), lives_(popups_open() == popups_around()) {
  KeyboardFocus& focus = ui.keyboard_focus();
  focus.moved = false;
  if (!lives_) return;
  if (focus.scope != name) focus = {.scope = std::string(name)};
  focus.depth = popups_around();
  focus.alive = true;
  const std::vector<std::string> order = std::exchange(focus.order, {});
  focus.mark.reset();
  if (ui.input().down(MouseButton::left)) focus.by_keyboard = false;
  const bool back = ui.pressed(Key::tab, {.shift = true});
  if (order.empty() || (!back && !ui.pressed(Key::tab))) return;
  const auto now = std::find(order.begin(), order.end(), focus.at);
  const std::size_t count = order.size();
  std::size_t next = back ? count - 1 : 0;
  if (now != order.end()) {
    next = (static_cast<std::size_t>(now - order.begin()) + (back ? count - 1 : 1)) % count;
  }
  ImGui::ClearActiveID();  // a text field lets go of the keyboard
  focus.at = order[next];
  focus.wanted = focus.at;
  focus.moved = focus.by_keyboard = true;
}

FocusScope::~FocusScope() {
  if (!lives_) return;
  KeyboardFocus& focus = ui_.keyboard_focus();
  focus.alive = false;
  focus.wanted.clear();
  if (!focus.by_keyboard || !focus.mark) return;
  ImDrawList* list = focus.mark->list;
  const Rect& clip = focus.mark->clip;
  const Rect ring = focus.mark->rect.inset(-ui_.px(2));
  list->PushClipRect(ImVec2(clip.x0, clip.y0), ImVec2(clip.x1, clip.y1));
  list->AddRect(ImVec2(ring.x0, ring.y0), ImVec2(ring.x1, ring.y1), ui_.colour(Colour::accent),
                (size::kControlRadius + 1) * ui_.scale(), 0, size::kFocusRing * ui_.scale());
  list->PopClipRect();
}

std::optional<Rect> FocusScope::moved_to() const {
  const KeyboardFocus& focus = ui_.keyboard_focus();
  if (!lives_ || !focus.moved || !focus.mark) return std::nullopt;
  return focus.mark->rect;
}

FocusStop focus_stop(Ui& ui, std::string_view name, const Rect& rect, FocusStopKind kind) {
  KeyboardFocus& focus = ui.keyboard_focus();
  FocusStop stop;
  if (!focus.alive || popups_around() != focus.depth) return stop;
  focus.order.emplace_back(name);
  stop.here = focus.at == name;
  if (!stop.here) return stop;
  ImDrawList* list = ui.draw();
  const ImVec2 low = list->GetClipRectMin();
  const ImVec2 high = list->GetClipRectMax();
  focus.mark = {rect, {low.x, low.y, high.x, high.y}, list};
  stop.take_now = kind == FocusStopKind::text && focus.wanted == name;
  stop.activated = kind == FocusStopKind::button && focus.by_keyboard && !focus.moved && !ui.typing() &&
                   (ui.pressed(Key::space, {}, false) || ui.pressed(Key::enter, {}, false));
  return stop;
}

void focus_is_at(Ui& ui, std::string_view name) {
  KeyboardFocus& focus = ui.keyboard_focus();
  if (focus.alive && popups_around() == focus.depth) focus.at = name;
}

}  // namespace accelscope::render
