#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "render/base/imgui_compat.h"
#include "render/widgets/widgets.h"

namespace accelscope::render {
namespace {

constexpr float kTextInputPadding = 9, kTextInputIconColumn = 24;

void draw_frame(Ui& ui, const Rect& rect, bool focused, const TextInputOptions& options) {
  fill(ui, rect, ui.colour(Colour::bg1), size::kControlRadius);
  if (options.error) {
    outline(ui, rect, ui.colour(Colour::error), size::kControlRadius, size::kFocusRing);
  } else if (focused) {
    outline(ui, rect, ui.colour(Colour::accent), size::kControlRadius, size::kFocusRing);
  } else {
    outline(ui, rect, ui.colour(options.disabled ? Colour::line1 : Colour::line2), size::kControlRadius);
  }
}

FocusStop begin_field(Ui& ui, std::string_view name, const Rect& rect, bool focused, const TextInputOptions& options) {
  ui.register_widget(name, rect);
  if (ui.records_text()) {
    ui.note_clickable({.name = std::string(name),
                       .label = std::string(options.placeholder),
                       .rect = rect,
                       .keys = FocusStopKind::text,
                       .enabled = !options.disabled});
  }
  FocusStop keyboard;
  if (!options.disabled) keyboard = focus_stop(ui, name, rect, FocusStopKind::text, options.placeholder);
  draw_frame(ui, rect, focused, options);
  return keyboard;
}

// ImGui draws its text at the top of the frame plus the padding; this padding puts it on our baseline.
float padding_for_baseline(const Ui& ui, const Rect& rect, TextStyle style) {
  ImFont* font = ui.fonts()[style];
  const float baseline = std::round(rect.centre().y + ui.fonts().baseline_offset(style) - 0.01F);
  return baseline - std::round(compat::glyphs_of(font).Ascent) - rect.y0;
}

struct EditedText {
  bool submitted = false;
  bool focused = false;
  bool cancelled = false;
};

template <typename Edit>
EditedText edit_in_place(Ui& ui, const Rect& inside, TextStyle style, float padding_y, const TextInputOptions& options,
                         const Edit& edit) {
  EditedText result;
  compat::place_next_item(ImVec2(inside.x0, inside.y0));
  compat::push_font(ui.fonts()[style]);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0, padding_y));
  ImGui::SetNextItemWidth(inside.width());
  if (options.focus_now) compat::focus_next_item();
  ImGui::BeginDisabled(options.disabled);
  result.submitted = edit();
  result.focused = ImGui::IsItemActive();
  if (result.focused) ui.register_widget("input.typed", inside);
  result.cancelled = ImGui::IsItemDeactivated() && compat::key_pressed(Key::escape, false);
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  return result;
}

// ImGui's callback: takes and gives the caret. Tab comes as a wish for completion.
int follow_caret(ImGuiInputTextCallbackData* data) {
  TextCaret& caret = *static_cast<TextCaret*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackCompletion) {
    caret.tab = true;
    return 0;
  }
  if (caret.replace) {
    const auto length = static_cast<std::size_t>(data->BufTextLen);
    const std::size_t begin = std::min(caret.replace->begin, length);
    const std::size_t end = std::clamp(caret.replace->end, begin, length);
    data->DeleteChars(static_cast<int>(begin), static_cast<int>(end - begin));
    data->InsertChars(static_cast<int>(begin), caret.replace->text.c_str());
    data->CursorPos = static_cast<int>(begin + caret.replace->text.size());
    data->ClearSelection();
    caret.replace.reset();
  }
  const bool arrow = compat::key_pressed(Key::up, true) || compat::key_pressed(Key::down, true);
  if (caret.hold_keys && arrow) {
    data->CursorPos = static_cast<int>(std::min(caret.at, static_cast<std::size_t>(data->BufTextLen)));
    data->ClearSelection();
  }
  caret.at = static_cast<std::size_t>(data->CursorPos);
  return 0;
}

}  // namespace

TextInputResult text_input(Ui& ui, std::string_view name, const Rect& rect, std::string& text,
                           const TextInputOptions& options) {
  const std::string id = "##" + std::string(name);
  float& focused_before = ui.remembered(id);
  const FocusStop keyboard = begin_field(ui, name, rect, focused_before > 0, options);
  Rect inside = rect.inset(ui.px(kTextInputPadding), 0);
  if (options.icon != nullptr) {
    Rect column = inside.cut_left(ui.px(kTextInputIconColumn - 4));
    column.x1 = column.x0 + ui.px(14);
    draw_icon(ui, column, options.icon, ui.colour(options.disabled ? Colour::disabled : Colour::text2),
              TextStyle::icon14);
  }
  const TextStyle style = options.mono ? TextStyle::mono : TextStyle::body;
  if (text.empty()) {
    Rect hint = inside;
    // The hint is whole; keys stand behind it as far as there is room.
    const float needed = text_width(ui, style, options.placeholder) + ui.px(8);
    for (auto caps = options.key_caps.rbegin(); focused_before <= 0 && caps != options.key_caps.rend(); ++caps) {
      if (hint.width() - key_cap_width(ui, *caps) < needed) break;
      hint.cut_right(key_cap(ui, hint, *caps) + ui.px(4));
    }
    const Colour colour = options.disabled ? Colour::disabled : Colour::text3;
    draw_text(ui, hint, options.placeholder, {.style = style, .colour = colour});
  } else {
    ui.note_text(options.password ? std::string_view("(hidden)") : std::string_view(text), inside);
  }

  TextInputOptions with_focus = options;
  const bool clicked_margin = ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                              rect.contains(ui.input().mouse) && !inside.contains(ui.input().mouse);
  with_focus.focus_now = !options.disabled && (options.focus_now || clicked_margin || keyboard.take_now);
  const std::string before = text;
  const ImGuiInputTextFlags flags = ImGuiInputTextFlags_EnterReturnsTrue |
                                    (options.select_all ? ImGuiInputTextFlags_AutoSelectAll : 0) |
                                    (options.password ? ImGuiInputTextFlags_Password : 0);
  const float padding_y = padding_for_baseline(ui, rect, style);
  const EditedText edited = edit_in_place(ui, {inside.x0, rect.y0, inside.x1, rect.y1}, style, padding_y, with_focus,
                                          [&] { return ImGui::InputText(id.c_str(), &text, flags); });
  focused_before = edited.focused ? 1.0F : 0.0F;
  if (edited.focused) focus_is_at(ui, name);
  return {text != before, edited.submitted, edited.focused, edited.cancelled};
}

TextInputResult text_area(Ui& ui, std::string_view name, const Rect& rect, std::string& text, TextCaret& caret,
                          const TextInputOptions& options) {
  const std::string id = "##" + std::string(name);
  float& focused_before = ui.remembered(id);
  const FocusStop keyboard = begin_field(ui, name, rect, focused_before > 0, options);
  const Rect inside = rect.inset(ui.px(kTextInputPadding), ui.px(5));
  if (text.empty()) {
    Rect line = inside;
    ImFont* font = ui.fonts()[TextStyle::mono];
    draw_text(ui, line.cut_top(compat::font_size(font)), options.placeholder,
              {.style = TextStyle::mono, .colour = Colour::text3});
  } else {
    ui.note_text(text, inside);
  }
  const std::string before = text;
  constexpr ImGuiInputTextFlags kFlags = ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackAlways |
                                         ImGuiInputTextFlags_CallbackCompletion;
  caret.tab = false;
  TextInputOptions with_focus = options;
  with_focus.focus_now = options.focus_now || keyboard.take_now;
  if (focused_before > 0 && caret.hold_keys) ui.keyboard_focus().keeps_tab = true;
  const EditedText edited = edit_in_place(ui, inside, TextStyle::mono, 0, with_focus, [&] {
    return ImGui::InputTextMultiline(id.c_str(), &text, ImVec2(inside.width(), inside.height()), kFlags, follow_caret,
                                     &caret);
  });
  focused_before = edited.focused ? 1.0F : 0.0F;
  if (edited.focused) focus_is_at(ui, name);
  return {text != before, edited.submitted, edited.focused, edited.cancelled};
}

}  // namespace accelscope::render
