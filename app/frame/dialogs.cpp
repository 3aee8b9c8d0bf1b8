// What lies over the window: connect, keys, about, the question before unsaved work is closed, files, pictures.
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "app/frame/app_state.h"
#include "core/base/text.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kKeyColumn = 216;
constexpr float kMouseRows = 202;                         // units that the rows about the mouse take
constexpr float kTwoColumns = 900;                        // units of width from which the keys stand in two columns
constexpr float kConnectFrame = 70, kLeastConnect = 470;  // units: what the dialog adds to its form

// Each is false when it is over.
bool draw_connect(AppState& state, Ui& ui) {
  const float wanted = state.connect_form.wanted_height() / ui.scale() + kConnectFrame;
  Modal modal(ui, "connect", "Connect and record", 780, std::max(wanted, kLeastConnect));
  if (!modal.open()) return false;
  Rect body = modal.body();
  body.y1 = modal.buttons().y1 + ui.px(8);
  Rect head = modal.head();
  head.cut_left(text_width(ui, TextStyle::title, "Connect and record") + ui.px(24));
  if (!state.connect_form.draw(ui, head, body, state.actions.say)) return true;
  modal.close();
  return false;
}

void draw_key_row(Ui& ui, Rect row, const Command& command) {
  Rect keys = row.cut_left(ui.px(kKeyColumn));
  const float width = key_cap(ui, keys, command.key);
  keys.cut_right(width + ui.px(6));
  if (!command.second_key.empty()) key_cap(ui, keys, command.second_key);
  row.cut_left(ui.px(12));
  draw_text(ui, row, command.title);
}

void draw_mouse_rows(Ui& ui, Rect& column) {
  constexpr std::array<std::pair<const char*, const char*>, 7> kMouse = {{
      {"Drag", "zoom to the stretch"},
      {"Wheel", "zoom at the pointer"},
      {"Shift+wheel", "pan"},
      {"Middle, right drag", "pan"},
      {"Click", "select; Esc clears"},
      {"Double click", "fit the event"},
      {"Right click", "menu; drop a marker"},
  }};
  group_heading(ui, column, "Mouse");
  for (const auto& [what, does] : kMouse) {
    Rect row = column.cut_top(ui.px(22));
    key_cap(ui, row.cut_left(ui.px(kKeyColumn)), what);
    row.cut_left(ui.px(12));
    draw_text(ui, row, does);
  }
  column.cut_top(ui.px(12));
}

bool draw_keys(AppState& state, Ui& ui) {
  Modal modal(ui, "keys", "Keys", 1080, 640);
  if (!modal.open()) return false;
  Rect body = modal.body();
  body.y1 = modal.buttons().y1;
  Rect head = modal.head();
  head.cut_left(text_width(ui, TextStyle::title, "Keys") + ui.px(24));
  head.cut_right(ui.px(12));
  text_input(ui, "keys.filter", head.cut_right(ui.px(240)).middle(ui.px(size::kControl)), state.dialog_text,
             {.placeholder = "Filter by name or key", .icon = icon::kSearch});
  const std::string wanted = lower_case(state.dialog_text);
  const auto listed = [&](const Command& command) {
    const std::string text = command.title + "\n" + command.key + "\n" + command.second_key;
    return !command.key.empty() && lower_case(text).find(wanted) != std::string::npos;
  };
  std::array<float, kMenuCount> heights{};
  float whole = 0;
  for (const Command& command : state.commands.all()) {
    if (listed(command)) heights[static_cast<std::size_t>(command.menu)] += ui.px(22);
  }
  for (float& height : heights) whole += height > 0 ? height += ui.px(36) : 0;
  if (wanted.empty()) whole += ui.px(kMouseRows);
  // Groups stay whole, so the longer column may have half of one more than the other.
  const float largest = *std::max_element(heights.begin(), heights.end());
  const bool narrow = body.width() < ui.px(kTwoColumns);
  const ScrollArea scroll(ui, "keys.scroll", body, narrow ? whole : std::max(body.height(), (whole + largest) / 2));
  Rect content = scroll.content();
  content.cut_right(ui.px(12));
  std::array<Rect, 2> columns = {narrow ? content : content.cut_left(content.width() / 2), content};
  if (narrow) columns[1].y1 = columns[1].y0;  // everything goes into the first
  columns[0].cut_right(ui.px(20));
  if (wanted.empty()) draw_mouse_rows(ui, columns[0]);
  for (std::size_t menu = 0; menu < kMenuCount; ++menu) {
    if (heights[menu] <= 0) continue;
    Rect& column = columns[columns[0].height() >= columns[1].height() ? 0 : 1];
    group_heading(ui, column, menu_title(static_cast<MenuId>(menu)));
    for (const Command& command : state.commands.all()) {
      if (static_cast<std::size_t>(command.menu) != menu || !listed(command)) continue;
      draw_key_row(ui, column.cut_top(ui.px(22)), command);
    }
    column.cut_top(ui.px(12));
  }
  return true;
}

bool draw_about(AppState&, Ui& ui) {
  Modal modal(ui, "about", "About Accelscope", 460, 220);
  if (!modal.open()) return false;
  Rect body = modal.body();
  draw_text(ui, body.cut_top(ui.px(30)), std::string("Accelscope ") + ACCELSCOPE_VERSION, {.style = TextStyle::title});
  draw_paragraph(
      ui, body,
      "A profiler for AI accelerators: an agent on the device host streams events over TCP, the viewer keeps "
      "them in SQLite and draws engines, queues, memory and source lines. Apache License 2.0.",
      {.colour = Colour::text2});
  Rect foot = modal.buttons();
  const ButtonOptions close{.label = "Close"};
  if (!button(ui, "about.close", foot.cut_right(button_width(ui, close)), close)) return true;
  modal.close();
  return false;
}

void draw_unsaved_question(AppState& state, Ui& ui) {
  const auto index = state.workspace.question();
  if (!index) {
    state.question_shown = false;
    return;
  }
  if (!std::exchange(state.question_shown, true)) open_modal(ui, "unsaved");
  const SessionTab& tab = state.workspace.tab(*index);
  Modal modal(ui, "unsaved", "Save before closing?", 480, 170);
  if (!modal.open()) {  // Esc
    state.workspace.answer(Workspace::Answer::cancel);
    state.quitting = false;
    return;
  }
  const bool recording = may_grow(tab);
  draw_paragraph(ui, modal.body(),
                 state.workspace.session_title(*index) +
                     (recording ? " is still recording. Closing ends the capture; what was not saved is lost."
                                : " has changes that are in no file yet. Without saving they are lost."),
                 {.colour = Colour::text2});
  Rect foot = modal.buttons();
  const ButtonOptions save{.label = "Save", .kind = ButtonKind::primary};
  const ButtonOptions discard{.label = "Close without saving"};
  const ButtonOptions cancel{.label = "Cancel"};
  const bool saved = button(ui, "unsaved.save", foot.cut_right(std::max(button_width(ui, save), ui.px(88))), save);
  foot.cut_right(ui.px(8));
  const bool discarded = button(ui, "unsaved.discard", foot.cut_right(button_width(ui, discard)), discard);
  foot.cut_right(ui.px(8));
  const bool cancelled = button(ui, "unsaved.cancel", foot.cut_right(button_width(ui, cancel)), cancel);
  if (saved) {
    if (tab.path.empty() || tab.store->is_read_only()) {
      const std::size_t which = *index;
      state.workspace.answer(Workspace::Answer::cancel);
      state.show_save_dialog(which, true);
    } else {
      state.workspace.answer(Workspace::Answer::save);
    }
  }
  if (discarded) state.workspace.answer(Workspace::Answer::discard);
  if (cancelled) {
    state.workspace.answer(Workspace::Answer::cancel);
    state.quitting = false;
  }
  if (saved || discarded || cancelled) modal.close();
}

std::string picture_path() {
  const auto now = static_cast<std::time_t>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  std::array<char, 32> text{};
  std::tm local{};
#if defined(_WIN32)
  localtime_s(&local, &now);
#else
  localtime_r(&now, &local);
#endif
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return "accelscope-" + std::string(text.data(), size) + ".png";
}

void take_picture(AppState& state, Ui& ui) {
  if (!std::exchange(state.picture_wanted, false)) return;
  ui.take_picture([&state, path = picture_path()](Result<Picture> picture) {
    if (!picture) return state.workspace.notify(Severity::error, picture.message());
    if (auto written = write_png(*picture, path); !written) {
      return state.workspace.notify(Severity::error, written.message());
    }
    std::error_code error;
    state.say("Wrote " + std::filesystem::absolute(path, error).string());
  });
}

}  // namespace

void draw_dialogs(AppState& state, Ui& ui) {
  struct DialogRow {
    std::string_view name;
    bool (*draw)(AppState& state, Ui& ui);
  };
  constexpr std::array kDialogs = std::to_array<DialogRow>({{"connect", draw_connect},
                                                            {"keys", draw_keys},
                                                            {"about", draw_about},
                                                            {"editor_command", draw_editor_command},
                                                            {"go_to_time", draw_go_to_time},
                                                            {"save_layout", draw_save_layout},
                                                            {"go_to_link", draw_go_to_link},
                                                            {"save_markers", draw_save_markers},
                                                            {"load_markers", draw_load_markers},
                                                            {"view_settings", draw_view_settings}});
  if (std::exchange(state.dialog_must_open, false)) {
    open_modal(ui, state.dialog);
    if (state.dialog == "connect") state.connect_form.focus();
  }
  for (const DialogRow& row : kDialogs) {
    if (row.name != state.dialog) continue;
    if (!row.draw(state, ui)) state.dialog = {};
    break;
  }
  draw_unsaved_question(state, ui);
  state.file_dialog.draw(ui);
  take_picture(state, ui);
}

}  // namespace accelscope::app
