// The differences between the ImGui versions that we build with: 1.86 (keys are our own numbers in io.KeysDown, input
// is written into io) and 1.87 to 1.91 (input is events). Only this file knows them. Include it in .cpp files only.
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

#include "render/base/input.h"

namespace accelscope::render::compat {

struct KeyName {
  Key ours;
  ImGuiKey theirs;
};

inline constexpr KeyName kKeyNames[] = {
    {Key::tab, ImGuiKey_Tab},
    {Key::left, ImGuiKey_LeftArrow},
    {Key::right, ImGuiKey_RightArrow},
    {Key::up, ImGuiKey_UpArrow},
    {Key::down, ImGuiKey_DownArrow},
    {Key::page_up, ImGuiKey_PageUp},
    {Key::page_down, ImGuiKey_PageDown},
    {Key::home, ImGuiKey_Home},
    {Key::end, ImGuiKey_End},
    {Key::insert, ImGuiKey_Insert},
    {Key::del, ImGuiKey_Delete},
    {Key::backspace, ImGuiKey_Backspace},
    {Key::space, ImGuiKey_Space},
    {Key::enter, ImGuiKey_Enter},
    {Key::escape, ImGuiKey_Escape},
#if IMGUI_VERSION_NUM < 18700  // no others than those that it acts on itself, in text fields
    {Key::a, ImGuiKey_A},
    {Key::c, ImGuiKey_C},
    {Key::v, ImGuiKey_V},
    {Key::x, ImGuiKey_X},
    {Key::y, ImGuiKey_Y},
    {Key::z, ImGuiKey_Z},
    {Key::keypad_enter, ImGuiKey_KeyPadEnter},
#else
    {Key::keypad_enter, ImGuiKey_KeypadEnter},
    {Key::comma, ImGuiKey_Comma},
    {Key::period, ImGuiKey_Period},
    {Key::slash, ImGuiKey_Slash},
    {Key::semicolon, ImGuiKey_Semicolon},
    {Key::apostrophe, ImGuiKey_Apostrophe},
    {Key::bracket_left, ImGuiKey_LeftBracket},
    {Key::bracket_right, ImGuiKey_RightBracket},
    {Key::backslash, ImGuiKey_Backslash},
    {Key::grave, ImGuiKey_GraveAccent},
    {Key::minus, ImGuiKey_Minus},
    {Key::equals, ImGuiKey_Equal},
    {Key::left_ctrl, ImGuiKey_LeftCtrl},
    {Key::right_ctrl, ImGuiKey_RightCtrl},
    {Key::left_shift, ImGuiKey_LeftShift},
    {Key::right_shift, ImGuiKey_RightShift},
    {Key::left_alt, ImGuiKey_LeftAlt},
    {Key::right_alt, ImGuiKey_RightAlt},
#endif
};

#if IMGUI_VERSION_NUM < 18700

inline constexpr ImGuiButtonFlags kAllowOverlap = ImGuiButtonFlags_AllowItemOverlap;
inline void allow_overlap_of_last_item() { ImGui::SetItemAllowOverlap(); }
inline void allow_overlap_of_next_item() {}
inline void focus_next_item() { ImGui::SetKeyboardFocusHere(); }

inline void map_keys(ImGuiIO& io) {
  for (const KeyName& name : kKeyNames) io.KeyMap[name.theirs] = static_cast<int>(name.ours);
}

inline bool key_pressed(Key key, bool repeat) { return ImGui::IsKeyPressed(static_cast<int>(key), repeat); }

inline void feed(ImGuiIO& io, const Input& input) {
  io.MousePos =
      input.mouse.x < 0 && input.mouse.y < 0 ? ImVec2(-FLT_MAX, -FLT_MAX) : ImVec2(input.mouse.x, input.mouse.y);
  for (std::size_t button = 0; button < kMouseButtonCount; ++button) io.MouseDown[button] = input.buttons[button];
  io.MouseWheel = input.wheel.y;
  io.MouseWheelH = input.wheel.x;
  for (std::size_t key = 1; key < kKeyCount; ++key) io.KeysDown[key] = input.keys.test(key);
  io.KeyCtrl = input.modifiers().ctrl;
  io.KeyShift = input.modifiers().shift;
  io.KeyAlt = input.modifiers().alt;
  if (!input.text.empty()) io.AddInputCharactersUTF8(input.text.c_str());
}

#else

inline constexpr ImGuiButtonFlags kAllowOverlap = 0;
inline void allow_overlap_of_last_item() {}
inline void allow_overlap_of_next_item() { ImGui::SetNextItemAllowOverlap(); }
// The wish is lost while another window, as that of the rows last clicked, has the keyboard.
inline void focus_next_item() {
  if (GImGui->NavWindow != GImGui->CurrentWindow) ImGui::FocusWindow(GImGui->CurrentWindow);
  ImGui::SetKeyboardFocusHere();
}

inline void map_keys(ImGuiIO& io) { io.ConfigInputTrickleEventQueue = false; }  // InputQueue does it

inline ImGuiKey key_of(Key key) {
  const auto offset = [key](Key first) { return static_cast<int>(key) - static_cast<int>(first); };
  if (key >= Key::a && key <= Key::z) return static_cast<ImGuiKey>(ImGuiKey_A + offset(Key::a));
  if (key >= Key::digit0 && key <= Key::digit9) return static_cast<ImGuiKey>(ImGuiKey_0 + offset(Key::digit0));
  if (key >= Key::f1 && key <= Key::f12) return static_cast<ImGuiKey>(ImGuiKey_F1 + offset(Key::f1));
  for (const KeyName& name : kKeyNames) {
    if (name.ours == key) return name.theirs;
  }
  return ImGuiKey_None;
}

inline bool key_pressed(Key key, bool repeat) { return key != Key::none && ImGui::IsKeyPressed(key_of(key), repeat); }

inline void feed(ImGuiIO& io, const Input& input) {
  if (input.mouse.x < 0 && input.mouse.y < 0) {
    io.AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  } else {
    io.AddMousePosEvent(input.mouse.x, input.mouse.y);
  }
  for (std::size_t button = 0; button < kMouseButtonCount; ++button) {
    io.AddMouseButtonEvent(static_cast<int>(button), input.buttons[button]);
  }
  if (input.wheel.x != 0 || input.wheel.y != 0) io.AddMouseWheelEvent(input.wheel.x, input.wheel.y);
  for (std::size_t key = 1; key < kKeyCount; ++key) io.AddKeyEvent(key_of(static_cast<Key>(key)), input.keys.test(key));
  io.AddKeyEvent(ImGuiMod_Ctrl, input.modifiers().ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, input.modifiers().shift);
  io.AddKeyEvent(ImGuiMod_Alt, input.modifiers().alt);
  if (!input.text.empty()) io.AddInputCharactersUTF8(input.text.c_str());
}

#endif

}  // namespace accelscope::render::compat
