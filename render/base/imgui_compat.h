// The differences between the ImGui versions that we build with: 1.86 (keys are our own numbers in io.KeysDown, input
// is written into io), 1.87 to 1.91 (input is events) and 1.92 (a font has glyphs for each size, an atlas knows its
// contexts). Only this file knows them. Include it in .cpp files only.
#pragma once

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <imgui_freetype.h>
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

// Where the next item goes. It sizes no window: from 1.92 on ImGui's own call ends the program where no item follows,
// as where a list is drawn twice in a frame.
inline void place_next_item(ImVec2 position) { ImGui::GetCurrentWindow()->DC.CursorPos = position; }

// A texture's handle is a pointer, or a number from 1.91.4 on.
inline ImTextureID texture_id(std::uintptr_t handle) { return (ImTextureID)handle; }

inline void set_clipboard(void* owner, const char* (*get)(void*), void (*set)(void*, const char*)) {
  ImGuiIO& io = ImGui::GetIO();
  io.ClipboardUserData = owner;
  io.GetClipboardTextFn = get;
  io.SetClipboardTextFn = set;
}

// Every atlas is built at once, with its ranges, and uploaded by us: glyphs have their exact advances and a picture its
// pixels in all versions. 1.92 calls that a renderer without textures.
#if IMGUI_VERSION_NUM < 19200

using Glyphs = const ImFont;  // a font's glyphs at the one size that it is built for

inline Glyphs& glyphs_of(const ImFont* font) { return *font; }
inline float font_size(const ImFont* font) { return font->FontSize; }
inline void push_font(ImFont* font) { ImGui::PushFont(font); }
inline const char* wrap_position(const ImFont* font, const char* text, const char* end, float width) {
  return font->CalcWordWrapPositionA(1, text, end, width);
}

inline void use_freetype(ImFontAtlas& atlas) {
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
}
inline void build_atlas(ImFontAtlas& atlas) { atlas.Build(); }
template <typename Advance>  // float(const ImFontGlyph&)
void set_advances(ImFont& font, const Advance& advance) {
  for (ImFontGlyph& glyph : font.Glyphs) glyph.AdvanceX = advance(glyph);
  font.BuildLookupTable();
}
inline void draw_as(ImFont& font, ImWchar code, ImWchar other) { font.AddRemapChar(code, other); }
inline void finish_atlas(ImFontAtlas& atlas) { atlas.ClearInputData(); }

inline void use_atlas(ImFontAtlas& atlas) { ImGui::GetIO().Fonts = &atlas; }
inline void set_font_texture(ImFontAtlas& atlas, std::uintptr_t handle) { atlas.SetTexID(texture_id(handle)); }
inline bool start_opengl() { return ImGui_ImplOpenGL3_Init("#version 330"); }
inline void create_opengl_objects() {
  ImGui_ImplOpenGL3_CreateDeviceObjects();
  ImGui_ImplOpenGL3_DestroyFontsTexture();
}

#else

using Glyphs = ImFontBaked;

inline Glyphs& glyphs_of(ImFont* font) { return *font->GetFontBaked(font->LegacySize); }
inline float font_size(const ImFont* font) { return font->LegacySize; }
inline void push_font(ImFont* font) { ImGui::PushFont(font, font->LegacySize); }
inline const char* wrap_position(ImFont* font, const char* text, const char* end, float width) {
  return font->CalcWordWrapPosition(font->LegacySize, text, end, width);
}

inline void use_freetype(ImFontAtlas& atlas) {
  atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
  atlas.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
}
inline void build_atlas(ImFontAtlas& atlas) { ImFontAtlasBuildMain(&atlas); }
template <typename Advance>
void set_advances(ImFont& font, const Advance& advance) {
  Glyphs& glyphs = glyphs_of(&font);
  for (ImFontGlyph& glyph : glyphs.Glyphs) {
    glyph.AdvanceX = advance(glyph);
    glyphs.IndexAdvanceX[static_cast<int>(glyph.Codepoint)] = glyph.AdvanceX;
  }
  if (glyphs.FallbackGlyphIndex >= 0) glyphs.FallbackAdvanceX = glyphs.Glyphs[glyphs.FallbackGlyphIndex].AdvanceX;
}
inline void draw_as(ImFont& font, ImWchar code, ImWchar other) {
  font.AddRemapChar(code, other);
  Glyphs& glyphs = glyphs_of(&font);
  const float advance = glyphs.FindGlyph(other)->AdvanceX;
  glyphs.FindGlyph(code)->AdvanceX = advance;
  glyphs.IndexAdvanceX[code] = advance;
}
// No further glyphs: the texture is what it is now.
inline void finish_atlas(ImFontAtlas& atlas) {
  for (ImFont* font : atlas.Fonts) font->Flags |= ImFontFlags_NoLoadGlyphs | ImFontFlags_LockBakedSizes;
  atlas.TexIsBuilt = true;  // glyphs that came after it was built are in the pixels
  ImFontAtlasUpdateNewFrame(&atlas, atlas.Builder->FrameCount + 1, false);
}

inline void use_atlas(ImFontAtlas& atlas) {
  ImGuiIO& io = ImGui::GetIO();
  if (io.Fonts == &atlas) return;
  ImGui::UnregisterFontAtlas(io.Fonts);
  io.Fonts = &atlas;
  ImGui::RegisterFontAtlas(&atlas);
}
inline void set_font_texture(ImFontAtlas& atlas, std::uintptr_t handle) {
  for (ImTextureData* texture : atlas.TexList) {
    texture->SetTexID(ImTextureID_Invalid);
    texture->SetStatus(texture == atlas.TexData ? ImTextureStatus_OK : ImTextureStatus_Destroyed);
  }
  atlas.SetTexID(texture_id(handle));
}
inline bool start_opengl() {
  if (!ImGui_ImplOpenGL3_Init("#version 330")) return false;
  ImGui::GetIO().BackendFlags &= ~ImGuiBackendFlags_RendererHasTextures;
  return true;
}
inline void create_opengl_objects() { ImGui_ImplOpenGL3_CreateDeviceObjects(); }

#endif

}  // namespace accelscope::render::compat
