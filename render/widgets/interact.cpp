#include "render/widgets/interact.h"

#include <cassert>

#include "render/base/imgui_compat.h"
#include "render/widgets/focus.h"

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

}  // namespace accelscope::render
