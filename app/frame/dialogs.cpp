#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>

#include "app/frame/app_state.h"
#include "app/plan/editor.h"
#include "app/timeline/colour_legend.h"
#include "app/view/colour_choices.h"
#include "app/view/link.h"
#include "app/view/marker_sets.h"
#include "app/view/record.h"
#include "core/base/text.h"
#include "core/names/short_names.h"

namespace accelscope::app::frame {

using namespace render;  // NOLINT: this file is nothing but drawing

// What lies over the window: connect, keys, about, the question before unsaved work is closed, files, pictures.

namespace {

constexpr float kKeyColumn = 216;
constexpr float kKeyRow = 22, kKeyGroup = 36;
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
  if (!state.connect_form.draw(ui, head, body, state.actions.inform)) return true;
  modal.close();
  return false;
}

void draw_key_row(Ui& ui, Rect row, const palette::Command& command) {
  Rect keys = row.cut_left(ui.px(kKeyColumn));
  const float width = key_cap(ui, keys, command.key);
  keys.cut_right(width + ui.px(6));
  if (!command.second_key.empty()) key_cap(ui, keys, command.second_key);
  row.cut_left(ui.px(12));
  draw_text(ui, row, command.title);
}

using KeyRow = std::pair<std::string, std::string>;

float height_of(const Ui& ui, std::span<const KeyRow> rows) {
  return rows.empty() ? 0 : ui.px(kKeyRow) * static_cast<float>(rows.size()) + ui.px(kKeyGroup);
}

void draw_key_rows(Ui& ui, Rect& column, std::string_view title, std::span<const KeyRow> rows) {
  group_heading(ui, column, title);
  for (const auto& [what, does] : rows) {
    Rect row = column.cut_top(ui.px(kKeyRow));
    key_cap(ui, row.cut_left(ui.px(kKeyColumn)), what);
    row.cut_left(ui.px(12));
    draw_text(ui, row, does);
  }
  column.cut_top(ui.px(12));
}

const std::vector<KeyRow>& mouse_rows() {
  static const std::vector<KeyRow> kRows = {
      {"Drag", "zoom to the stretch"},       {"Wheel", "zoom at the pointer"}, {"Shift+wheel", "pan"},
      {"Middle, right drag", "pan"},         {"Click", "select; Esc clears"},  {"Double click", "fit the event"},
      {"Right click", "menu; drop a marker"}};
  return kRows;
}

// What keys do where the keyboard is: in the timeline, where it is nowhere else.
std::vector<KeyRow> keys_here(const std::optional<FocusPlace>& place) {
  std::vector<KeyRow> rows;
  const FocusStopKind kind = place ? place->kind : FocusStopKind::open;
  switch (kind) {
    case FocusStopKind::list:
      rows = {{"Up, Down, Page", "go from row to row"},
              {"Home, End", "go to the first row, to the last"},
              {"Left, Right", "go to the links of the row"},
              {"Enter", "zoom to it or open it"},
              {"Letters", "go to the row that begins with them"},
              {"Ctrl+C", "copies the row"},
              {"Ctrl+A", "chooses all rows"},
              {"Ctrl+Shift+F", "filters rows"}};
      break;
    case FocusStopKind::pointer:
      rows = {{"Arrows", "move a pointer over it"},
              {"Shift+arrows", "drag it, until Shift comes up"},
              {"Enter, Space", "press there"}};
      break;
    case FocusStopKind::handle:
      rows = {{"Arrows", "move it, a marker by a pixel"},
              {"Shift+arrows", "move it further, a marker by ten pixels"},
              {"Home, End", "move it to an end"},
              {"Enter", "as a double click: sets the size back, renames the marker"},
              {"Del", "deletes the marker"}};
      break;
    case FocusStopKind::text:
      rows = {{"Enter", "takes what was typed"}, {"Esc", "takes it back"}};
      break;
    case FocusStopKind::button:
      rows = {{"Enter, Space", "press it"}, {"Ctrl+C", "copies its name"}};
      if (!place->group.empty()) rows.insert(rows.begin(), {"Arrows, Home, End", "go to the others of its group"});
      if (place->letters) rows.emplace_back("Letters", "go to the one that begins with them");
      if (place->group.ends_with(".head")) rows.emplace_back("Ctrl+Left, Right", "make the column narrower, wider");
      break;
    case FocusStopKind::open:
      for (const timeline::TimelineCommand& command : timeline::timeline_commands()) {
        if (command.key[0] == 0) continue;
        rows.emplace_back(command.second_key[0] == 0 ? std::string(command.key)
                                                     : std::string(command.key) + ", " + command.second_key,
                          command.title);
      }
      break;
  }
  if (kind != FocusStopKind::text) rows.emplace_back("Shift+F10", "opens its menu");
  rows.emplace_back("Tab, Shift+Tab", "go to the next control, and back");
  rows.emplace_back("F6, Shift+F6", "go to the next part of the window, and back");
  rows.emplace_back("Alt", "goes to the menus");
  return rows;
}

std::string title_here(const std::optional<FocusPlace>& place) {
  const auto pane = std::ranges::find_if(kPanes, [&](const Pane& each) { return place && place->pane == each.name; });
  const std::string where = pane == kPanes.end() ? kTimelinePane.title : pane->title;
  const std::string what = place && !place->label.empty() && place->label != where ? ": " + place->label : "";
  return "Here, in the " + lower_case(where.substr(0, 1)) + where.substr(1) + what;
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
  const auto listed = [&](const palette::Command& command) {
    const std::string text = command.title + "\n" + command.key + "\n" + command.second_key;
    return !command.key.empty() && lower_case(text).find(wanted) != std::string::npos;
  };
  std::array<float, palette::kMenuCount> heights{};
  float whole = 0;
  for (const palette::Command& command : state.commands.all()) {
    if (listed(command)) heights[static_cast<std::size_t>(command.menu)] += ui.px(kKeyRow);
  }
  for (float& height : heights) whole += height > 0 ? height += ui.px(kKeyGroup) : 0;
  const std::vector<KeyRow> here = keys_here(state.focused);
  if (wanted.empty()) whole += height_of(ui, here) + height_of(ui, mouse_rows());
  // Groups stay whole, so the longer column may have half of one more than the other.
  const float largest = std::max(*std::ranges::max_element(heights), height_of(ui, here));
  const bool narrow = body.width() < ui.px(kTwoColumns);
  const ScrollArea scroll(ui, "keys.scroll", body, narrow ? whole : std::max(body.height(), (whole + largest) / 2));
  Rect content = scroll.content();
  content.cut_right(ui.px(12));
  std::array<Rect, 2> columns = {narrow ? content : content.cut_left(content.width() / 2), content};
  if (narrow) columns[1].y1 = columns[1].y0;  // everything goes into the first
  columns[0].cut_right(ui.px(20));
  if (wanted.empty()) {
    draw_key_rows(ui, columns[0], title_here(state.focused), here);
    draw_key_rows(ui, columns[narrow ? 0 : 1], "Mouse", mouse_rows());
  }
  for (std::size_t menu = 0; menu < palette::kMenuCount; ++menu) {
    if (heights[menu] <= 0) continue;
    Rect& column = columns[columns[0].height() >= columns[1].height() ? 0 : 1];
    group_heading(ui, column, palette::menu_title(static_cast<palette::MenuId>(menu)));
    for (const palette::Command& command : state.commands.all()) {
      if (static_cast<std::size_t>(command.menu) != menu || !listed(command)) continue;
      draw_key_row(ui, column.cut_top(ui.px(kKeyRow)), command);
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
  if (!button(ui, "about.done", foot.cut_right(button_width(ui, close)), close)) return true;
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
  const session::SessionTab& tab = state.workspace.tab(*index);
  Modal modal(ui, "unsaved", "Save before closing?", 480, 170);
  if (!modal.open()) {  // Esc
    state.workspace.answer(workspace::Workspace::Answer::cancel);
    state.quitting = false;
    return;
  }
  const bool recording = session::may_grow(tab);
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
      state.workspace.answer(workspace::Workspace::Answer::cancel);
      state.show_save_dialog(which, true);
    } else {
      state.workspace.answer(workspace::Workspace::Answer::save);
    }
  }
  if (discarded) state.workspace.answer(workspace::Workspace::Answer::discard);
  if (cancelled) {
    state.workspace.answer(workspace::Workspace::Answer::cancel);
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
    state.inform("Wrote " + std::filesystem::absolute(path, error).string());
  });
}

struct LineDialog {
  const char* name;
  const char* title;
  const char* placeholder;
  const char* button;
  std::string error = {};  // in place of the hint
  std::string hint = {};
  bool may_finish = false;
};

// The line, what is wrong with it or a hint below, and its button, which does `finish`. False when it is over.
template <typename Finish>
bool draw_line_dialog(AppState& state, Ui& ui, const LineDialog& line, const Finish& finish) {
  Modal modal(ui, line.name, line.title, 460, 190);
  if (!modal.open()) return false;
  Rect body = modal.body();
  const std::string name = line.name;
  bool& focused = state.dialog_focused;
  const TextInputResult typed = text_input(ui, name + ".text", body.cut_top(ui.px(size::kControl)), state.dialog_text,
                                           {.placeholder = line.placeholder,
                                            .mono = true,
                                            .error = !line.error.empty(),
                                            .focus_now = !std::exchange(focused, true)});
  body.cut_top(ui.px(8));
  const bool right = line.error.empty();
  draw_paragraph(ui, body, right ? line.hint : line.error, {.colour = right ? Colour::text3 : Colour::error});
  Rect foot = modal.buttons();
  const ButtonOptions done{.label = line.button, .kind = ButtonKind::primary, .disabled = !line.may_finish};
  const bool pressed = button(ui, name + ".done", foot.cut_right(std::max(button_width(ui, done), ui.px(88))), done);
  if (typed.submitted && !line.may_finish) focused = false;  // Enter let the keyboard go: what is wrong is mended here
  if (!line.may_finish || (!pressed && !typed.submitted)) return true;
  modal.close();
  finish();
  return false;
}

void tell(AppState& state, const Result<void>& done, const std::string& text) {
  done ? state.inform(text) : state.workspace.notify(Severity::error, done.message());
}

constexpr std::size_t kMostTables = 6;  // of the largest; the legend has them all
constexpr float kLabel = 150, kSettingsRow = 28, kSettingsGap = 14, kCheckRow = 24, kLeastCheck = 120;

void draw_colours(Ui& ui, Rect& area, session::SessionTab& tab) {
  group_heading(ui, area, "Colours");
  std::vector<std::string> tables = view::coloured_tables(*tab.snapshot);
  if (tables.size() > kMostTables) tables.resize(kMostTables);
  for (const std::string& table : tables) {
    Rect row = area.cut_top(ui.px(kSettingsRow));
    draw_text(ui, row.cut_left(ui.px(kLabel)), table_title(table), {.colour = Colour::text2});
    const Rect place = row.middle(ui.px(size::kSmallControl));
    if (const auto column = timeline::colour_menu(ui, "view_settings.colour." + table, place, tab, table)) {
      view::choose_colour(tab, table, *column);
    }
  }
  if (tab.choices.colour_by.empty()) return;
  Rect row = area.cut_top(ui.px(kSettingsRow));
  row.cut_left(ui.px(kLabel));
  constexpr const char* kReset = "Colour all by name";
  if (link(ui, "view_settings.colours.reset", row.cut_left(link_width(ui, kReset)), kReset)) {
    tab.change([](session::ViewChoices& choices) { choices.colour_by.clear(); });
  }
}

void draw_rows(Ui& ui, Rect& area, session::SessionTab& tab) {
  group_heading(ui, area, "Lanes");
  const rows::RowChoices& rows = tab.choices.rows;
  Rect row = area.cut_top(ui.px(kSettingsRow));
  const auto view_button = [&](const char* name, const char* label, bool active, const char* tip) {
    const ButtonOptions options{.label = label, .active = active, .tooltip = tip};
    const Rect place = row.cut_left(button_width(ui, options)).middle(ui.px(size::kSmallControl));
    row.cut_left(ui.px(8));
    return button(ui, name, place, options);
  };
  if (view_button("view_settings.full", "Full view", rows == view::full_view(rows),
                  "Every lane; what was hidden is shown again.")) {
    view::choose_rows(tab, view::full_view(rows));
  }
  if (view_button("view_settings.minimal", "Minimal view", rows == view::minimal_view(rows),
                  "Instructions or kernels, and the counters of utilisation and MFU.")) {
    view::choose_rows(tab, view::minimal_view(rows));
  }
  if (view_button("view_settings.platform", "Platform view", rows == view::platform_view(rows),
                  "Host threads, calls, queues, engines, transfers and counters, in the order of work's way.")) {
    view::choose_rows(tab, view::platform_view(rows));
  }
  if (!rows.hidden.empty()) {
    draw_text(ui, row, fmt::format("{} hidden", rows.hidden.size()), {.colour = Colour::text3});
  }
  const std::uint32_t levels = view::layer_levels(*tab.snapshot);
  if (levels < 2) return;
  Rect depth = area.cut_top(ui.px(kSettingsRow));
  draw_text(ui, depth.cut_left(ui.px(kLabel)), "Levels of layers", {.colour = Colour::text2});
  std::vector<std::string> choices = {"All"};
  for (std::uint32_t level = 1; level < levels; ++level) choices.push_back(std::to_string(level));
  int chosen = static_cast<int>(rows.layer_depth < levels ? rows.layer_depth : 0);
  const Rect place = depth.cut_left(ui.px(110)).middle(ui.px(size::kSmallControl));
  if (dropdown(ui, "view_settings.layers", place, choices, chosen)) {
    rows::RowChoices changed = rows;
    changed.layer_depth = static_cast<std::uint32_t>(chosen);
    view::choose_rows(tab, std::move(changed));
  }
}

void draw_semaphores(AppState& state, Ui& ui, Rect area, session::SessionTab& tab) {
  const std::vector<view::SemaphoreRow> all = view::semaphore_rows(*tab.snapshot);
  group_heading(ui, area, "Semaphores");
  if (all.empty()) {
    draw_text(ui, area.cut_top(ui.px(kSettingsRow)), "This session has no semaphores.", {.colour = Colour::text3});
    return;
  }
  std::vector<view::SemaphoreRow> listed;
  for (const view::SemaphoreRow& row : all) {
    if (matches_words(row.label, state.dialog_text)) listed.push_back(row);
  }
  Rect head = area.cut_top(ui.px(kSettingsRow));
  text_input(ui, "view_settings.semaphores.filter", head.cut_left(ui.px(240)).middle(ui.px(size::kSmallControl)),
             state.dialog_text, {.placeholder = "Filter semaphores", .icon = icon::kFilter});
  head.cut_left(ui.px(12));
  rows::RowChoices changed = tab.choices.rows;
  const auto shown =
      std::ranges::count_if(all, [&](const view::SemaphoreRow& row) { return changed.hidden.count(row.key) == 0; });
  if (link(ui, "view_settings.semaphores.all", head.cut_left(link_width(ui, "Show")), "Show")) {
    view::show_semaphores(changed, listed, true);
  }
  head.cut_left(ui.px(10));
  if (link(ui, "view_settings.semaphores.none", head.cut_left(link_width(ui, "Hide")), "Hide")) {
    view::show_semaphores(changed, listed, false);
  }
  head.cut_left(ui.px(12));
  const std::string count = fmt::format("{} listed, {} of {} shown", listed.size(), shown, all.size());
  draw_text(ui, head, count, kHintTextRight);
  float width = ui.px(kLeastCheck);
  for (const view::SemaphoreRow& row : all) width = std::max(width, checkbox_width(ui, row.label) + ui.px(12));
  const auto across = std::max<std::size_t>(1, static_cast<std::size_t>(area.width() / width));
  const std::size_t lines = (listed.size() + across - 1) / across;
  const ScrollArea scroll(ui, "view_settings.semaphores.list", area, ui.px(kCheckRow) * static_cast<float>(lines));
  Rect content = scroll.content();
  content.x1 = scroll.visible().x1;
  for (std::size_t line = 0; line < lines; ++line) {
    Rect row = content.cut_top(ui.px(kCheckRow));
    if (row.y1 < scroll.visible().y0 || row.y0 > scroll.visible().y1) continue;
    for (std::size_t i = line * across; i < std::min(listed.size(), (line + 1) * across); ++i) {
      bool on = changed.hidden.count(listed[i].key) == 0;
      const Rect place = row.cut_left(width);
      if (checkbox(ui, "view_settings.semaphore." + listed[i].label, place, listed[i].label, on)) {
        view::show_semaphores(changed, {listed[i]}, on);
      }
    }
  }
  view::choose_rows(tab, std::move(changed));
}

// Dialogs of one line: a stretch of time or a link to go to, the name of a layout or a set of markers.

bool draw_editor_command(AppState& state, Ui& ui) {
  if (!state.dialog_focused && state.dialog_text.empty())
    state.dialog_text = state.workspace.settings().value(plan::kEditorSetting);
  LineDialog line{"editor_command", "Command of the editor", plan::kEditorExample.data(), "Keep"};
  line.hint =
      "{file} and {line} are filled in:\ncode -g {file}:{line},  emacsclient -n +{line} {file},  clion --line {line} "
      "{file},\nxterm -e vim +{line} {file}";
  if (!state.dialog_text.empty()) {
    const auto words = plan::editor_arguments(state.dialog_text, "file.py", 1);
    line.may_finish = words.ok();
    if (!words) line.error = words.message();
  }
  return draw_line_dialog(state, ui, line, [&] {
    state.workspace.settings().set(plan::kEditorSetting, state.dialog_text);
    state.workspace.write_settings();
    state.inform("F4 opens the source line in it");
  });
}

bool draw_go_to_time(AppState& state, Ui& ui) {
  session::SessionTab* tab = state.tab();
  LineDialog line{"go_to_time", "Go to time", "12.5us:40us", "Go"};
  line.hint = "A time: 12.5us, 10% or #marker.\nA stretch: 12.5us:40us, 10%:20% or #A:#B.";
  TimeRange wanted;
  if (tab != nullptr && !state.dialog_text.empty()) {
    const TimeRange session{tab->snapshot->begin_ns, tab->snapshot->end_ns};
    const auto range = view::parse_place(state.dialog_text, session, tab->markers, whole_time(tab->view.span_ns()));
    line.may_finish = static_cast<bool>(range);
    if (range) wanted = *range;
    if (!range) line.error = range.message();
  }
  return draw_line_dialog(state, ui, line, [&] {
    tab->show({static_cast<double>(wanted.begin_ns), static_cast<double>(wanted.end_ns)});
  });
}

bool draw_go_to_link(AppState& state, Ui& ui) {
  LineDialog line{"go_to_link", "Go to link", "accelscope-view:1;range=...", "Go"};
  line.hint =
      "A link that was copied with \"Copy link to this view\", in this session or in another of the same program.";
  if (!state.dialog_text.empty()) {
    const Result<view::ViewLink> link = view::read_view_link(state.dialog_text);
    line.may_finish = link && state.tab() != nullptr;
    if (!link) line.error = link.message();
  }
  return draw_line_dialog(state, ui, line, [&] { go_to_link(state, state.dialog_text); });
}

bool draw_save_markers(AppState& state, Ui& ui) {
  session::SessionTab* tab = state.tab();
  if (tab == nullptr) return false;
  view::SessionMarkerSets& sets = state.panels_of(*tab).marker_sets();
  const std::string& name = state.dialog_text;
  const bool known = sets.of(*tab).find(name) != nullptr;
  LineDialog line{"save_markers", "Save the markers as a set", "Name of the set", known ? "Replace" : "Save"};
  line.hint = known ? "There is a set of this name; it will be replaced."
                    : "All markers of the session, to be loaded again by this name.";
  line.may_finish = !name.empty();
  return draw_line_dialog(state, ui, line, [&] { tell(state, sets.save(*tab, name), "Saved the markers as " + name); });
}

bool draw_load_markers(AppState& state, Ui& ui) {
  session::SessionTab* tab = state.tab();
  if (tab == nullptr) return false;
  view::SessionMarkerSets& sets = state.panels_of(*tab).marker_sets();
  std::string known;
  for (const view::MarkerSet& set : sets.of(*tab).all()) known += (known.empty() ? "" : ", ") + set.name;
  const std::string& name = state.dialog_text;
  LineDialog line{"load_markers", "Load a set of markers", "Name of the set", "Load"};
  line.may_finish = sets.of(*tab).find(name) != nullptr;
  if (!line.may_finish && !name.empty()) line.error = "there is no such set; there are " + known;
  line.hint = "It takes the place of the markers that are there. There are " + known + ".";
  return draw_line_dialog(state, ui, line, [&] {
    tell(state, sets.load(*tab, name, view::LoadMarkers::replace), "Loaded the markers " + name);
  });
}

bool draw_save_layout(AppState& state, Ui& ui) {
  const std::string& name = state.dialog_text;
  const bool known = state.layouts.find(name) != nullptr;
  LineDialog line{"save_layout", "Save the layout", "Name of the layout", known ? "Replace" : "Save"};
  line.hint = known ? "There is a layout of this name; it will be replaced."
                    : "Which panels are open, where they lie and how large they are.";
  line.may_finish = !name.empty();
  return draw_line_dialog(state, ui, line, [&] {
    state.layouts.put(name, state.layout.to_text());
    state.layouts_changed = true;
    state.remember_settings();
    state.inform("Saved the layout " + name);
  });
}

// The dialog of the view settings.

bool draw_view_settings(AppState& state, Ui& ui) {
  Modal modal(ui, "view_settings", "View settings", 640, 600);
  session::SessionTab* tab = state.tab();
  if (!modal.open() || tab == nullptr) return false;
  Rect body = modal.body();
  draw_colours(ui, body, *tab);
  body.cut_top(ui.px(kSettingsGap));
  draw_rows(ui, body, *tab);
  body.cut_top(ui.px(kSettingsGap));
  draw_semaphores(state, ui, body, *tab);
  Rect foot = modal.buttons();
  const ButtonOptions close{.label = "Close", .kind = ButtonKind::primary};
  const bool closed =
      button(ui, "view_settings.done", foot.cut_right(std::max(button_width(ui, close), ui.px(88))), close);
  if (closed) modal.close();
  draw_text(ui, foot, "Changes act at once. Alt+Left undoes them when this is closed.", kHintText);
  return !closed;
}

// Says what the frames before it took; it asks for none itself.
void draw_frame_times(AppState& state, Ui& ui) {
  if (!state.shows_frame_times) return;
  const FrameTimes& times = ui.frame_times();
  const auto ms = [&](double share) { return fmt::format("{:.2f} ms", times.percentile(share)); };
  HoverCard card{.title = "Frame times", .title_value = fmt::format("last {}", times.count)};
  card.rows = {{"p50", ms(0.5)},
               {"p99", ms(0.99)},
               {"Draw calls", format_count(times.draw_calls)},
               {"Vertices", format_count(times.vertices)}};
  const Rect window = ui.window();
  const float gap = ui.px(12);
  standing_card(ui, "frame_times", {window.x1 - gap, window.y1 - ui.px(size::kStatusBar) - gap}, card);
}

// A dialog lies over what is told elsewhere.
void draw_told(const AppState& state, Ui& ui) {
  if ((state.dialog.empty() && !state.file_dialog.is_open()) || state.now_s >= state.toast_until_s) return;
  const Rect window = ui.window();
  standing_card(ui, "told", {window.x1 - ui.px(12), window.y1 - ui.px(12)}, {.title = "Note", .footer = state.toast});
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
  draw_frame_times(state, ui);
  state.file_dialog.draw(ui);
  draw_told(state, ui);
  take_picture(state, ui);
}

}  // namespace accelscope::app::frame
