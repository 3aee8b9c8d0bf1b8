#include "render/shell/frame_loop.h"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "render/base/imgui_compat.h"

namespace accelscope::render {
namespace {

ImVec4 vec4(Pixel colour) { return ImGui::ColorConvertU32ToFloat4(colour); }

constexpr ImGuiWindowFlags kHostFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                        ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                                        ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse;

// ImGui hides a tooltip, a menu and a dialog in the frame in which they come, while it learns their size.
bool has_hidden_windows() {
  const ImVector<ImGuiWindow*>& windows = ImGui::GetCurrentContext()->Windows;
  return std::ranges::any_of(windows, [](const ImGuiWindow* window) {
    return window->Active && (window->Flags & ImGuiWindowFlags_ChildWindow) == 0 &&
           window->HiddenFramesCannotSkipItems > 0;
  });
}

// Seconds until ImGui shows or hides the caret of a text input: it is seen for 0.8 s of each 1.2 s, and until the time
// is above 0 after a key.
double until_caret_turns() {
  const double at = ImGui::GetCurrentContext()->InputTextState.CursorAnim;
  const double in_period = at > 0 ? std::fmod(at, 1.2) : at;
  return (in_period <= 0.8 ? 0.8 : 1.2) - in_period + 0.01;
}

}  // namespace

struct SharedFonts::Built {
  ImFontAtlas atlas;
  Fonts fonts;
};

SharedFonts::SharedFonts() = default;
SharedFonts::~SharedFonts() = default;

SharedFonts::Built& SharedFonts::of(float scale) {
  std::unique_ptr<Built>& built = built_[scale];
  if (!built) {
    built = std::make_unique<Built>();
    built->fonts.build(built->atlas, scale, font_directories());
  }
  return *built;
}

FrameLoop::FrameLoop(ThemeKind theme, Textures& textures, SharedFonts* fonts)
    : shared_fonts_(fonts), context_(ImGui::CreateContext()) {
  make_current();
  IMGUI_CHECKVERSION();
  ImGuiIO& io = ImGui::GetIO();
  own_atlas_ = io.Fonts;
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  compat::map_keys(io);
  ui_.theme_ = Theme(theme);
  ui_.next_theme_ = theme;
  ui_.textures_ = &textures;
}

FrameLoop::~FrameLoop() {
  make_current();
  compat::use_atlas(*own_atlas_);  // the context deletes it
  ImGui::DestroyContext(context_);
}

void FrameLoop::make_current() const { ImGui::SetCurrentContext(context_); }

const ImDrawData* FrameLoop::draw_data() const {
  make_current();
  return ImGui::GetDrawData();
}

bool FrameLoop::takes_text() const {
  make_current();
  return ImGui::GetCurrentContext()->WantTextInputNextFrame == 1;
}

bool FrameLoop::prepare(int width, int height, float dpi_scale) {
  make_current();
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  ui_.window_ = {0, 0, io.DisplaySize.x, io.DisplaySize.y};
  ui_.zoom_ = ui_.next_zoom_;
  ui_.scale_ = dpi_scale * ui_.zoom_;
  if (ui_.next_theme_ != ui_.theme_.kind()) ui_.theme_ = Theme(ui_.next_theme_);
  apply_style();
  if (ui_.scale_ == built_scale_) return false;
  if (shared_fonts_ != nullptr) {
    SharedFonts::Built& shared = shared_fonts_->of(ui_.scale_);
    compat::use_atlas(shared.atlas);
    ui_.fonts_ = shared.fonts;
  } else {
    ui_.fonts_.build(*io.Fonts, ui_.scale_, font_directories());
  }
  io.FontDefault = ui_.fonts_[TextStyle::body];
  built_scale_ = ui_.scale_;
  return true;
}

// Only what our widgets leave to ImGui: scroll bars, text editing, the frames of popups.
void FrameLoop::apply_style() const {
  ImGuiStyle style;
  style.WindowPadding = style.FramePadding = style.ItemSpacing = style.ItemInnerSpacing = ImVec2(0, 0);
  style.WindowBorderSize = style.ChildBorderSize = style.FrameBorderSize = 0;
  style.PopupBorderSize = ui_.px(1);
  style.PopupRounding = ui_.px(size::kControlRadius);
  style.WindowMinSize = ImVec2(1, 1);
  style.ScrollbarSize = ui_.px(10);
  style.ScrollbarRounding = ui_.px(5);
  style.GrabMinSize = ui_.px(16);
  style.AntiAliasedLinesUseTex = false;
  style.MouseCursorScale = ui_.scale_;
  const std::pair<ImGuiCol, Colour> colours[] = {
      {ImGuiCol_Text, Colour::text1},
      {ImGuiCol_TextDisabled, Colour::text3},
      {ImGuiCol_PopupBg, Colour::bg3},
      {ImGuiCol_Border, Colour::line2},
      {ImGuiCol_ScrollbarGrab, ui_.theme_.kind() == ThemeKind::high_contrast ? Colour::line1 : Colour::bg4},
      {ImGuiCol_ScrollbarGrabHovered, Colour::line2},
      {ImGuiCol_ScrollbarGrabActive, Colour::text3},
      {ImGuiCol_WindowBg, Colour::bg2},
  };
  for (const auto& [target, token] : colours) style.Colors[target] = vec4(ui_.colour(token));
  for (const ImGuiCol target : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_ChildBg,
                                ImGuiCol_ScrollbarBg, ImGuiCol_NavHighlight, ImGuiCol_ModalWindowDimBg}) {
    style.Colors[target] = ImVec4(0, 0, 0, 0);
  }
  style.Colors[ImGuiCol_TextSelectedBg] = vec4(with_alpha(ui_.colour(Colour::accent), 0.35F));
  style.Colors[ImGuiCol_ModalWindowDimBg] = vec4(with_alpha(opaque(0), 0.45F));
  ImGui::GetStyle() = style;
}

namespace {

void count_drawn(FrameTimes& times) {
  const ImDrawData& drawn = *ImGui::GetDrawData();
  times.draw_calls = 0;
  times.vertices = static_cast<std::uint64_t>(drawn.TotalVtxCount);
  for (int i = 0; i < drawn.CmdListsCount; ++i)
    times.draw_calls += static_cast<std::uint64_t>(drawn.CmdLists[i]->CmdBuffer.Size);
}

}  // namespace

void FrameLoop::draw(FrameClient& client, const Input& input, double seconds, bool blinks) {
  const auto begin = std::chrono::steady_clock::now();
  make_current();
  ImGuiIO& io = ImGui::GetIO();
  blinks = blinks && !ui_.reduced_motion_;
  io.DeltaTime = static_cast<float>(std::clamp(seconds, 1e-4, 0.1));  // after a rest nothing jumps
  io.ConfigInputTextCursorBlink = blinks;
  ImGui::GetCurrentContext()->InputTextState.CursorAnim += static_cast<float>(seconds) - io.DeltaTime;
  ui_.frame_requested_ = false;
  ui_.frame_after_ = -1;
  const Input steered = ui_.with_pointer(input);
  compat::feed(io, steered);
  ui_.input_ = steered;
  ui_.time_ += seconds;
  ui_.texts_.clear();
  ui_.clickable_.clear();
  ui_.explained_.clear();

  ImGui::NewFrame();
  ui_.typing_ = io.WantTextInput;
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(io.DisplaySize);
  ImGui::Begin("##host", nullptr, kHostFlags);
  client.frame(ui_);
  ImGui::End();
  ImGui::Render();
  ui_.frame_times_.add(std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count());
  count_drawn(ui_.frame_times_);
  if (has_hidden_windows()) ui_.request_frame();
  if (ui_.typing_ && blinks) ui_.request_frame_after(until_caret_turns());
  ui_.shown_ = std::exchange(ui_.drawn_, {});
}

std::vector<std::function<void(Result<Picture>)>> FrameLoop::take_picture_requests() {
  return std::exchange(ui_.picture_requests_, {});
}

}  // namespace accelscope::render
