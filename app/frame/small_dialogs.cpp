// Dialogs of one line: a stretch of time or a link to go to, the name of a layout or a set of markers.
#include "app/frame/app_state.h"
#include "app/plan/editor.h"
#include "app/view/link.h"
#include "app/view/marker_sets.h"
#include "render/widgets/controls.h"
#include "render/widgets/popup.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

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
  done ? state.say(text) : state.workspace.notify(Severity::error, done.message());
}

}  // namespace

bool draw_editor_command(AppState& state, Ui& ui) {
  if (!state.dialog_focused && state.dialog_text.empty())
    state.dialog_text = state.workspace.settings().value(kEditorSetting);
  LineDialog line{"editor_command", "Command of the editor", kEditorExample.data(), "Keep"};
  line.hint =
      "{file} and {line} are filled in:\ncode -g {file}:{line},  emacsclient -n +{line} {file},  clion --line {line} "
      "{file},\nxterm -e vim +{line} {file}";
  if (!state.dialog_text.empty()) {
    const auto words = editor_arguments(state.dialog_text, "file.py", 1);
    line.may_finish = words.ok();
    if (!words) line.error = words.message();
  }
  return draw_line_dialog(state, ui, line, [&] {
    state.workspace.settings().set(kEditorSetting, state.dialog_text);
    state.workspace.write_settings();
    state.say("F4 opens the source line in it");
  });
}

bool draw_go_to_time(AppState& state, Ui& ui) {
  SessionTab* tab = state.tab();
  LineDialog line{"go_to_time", "Go to time", "12.5us:40us", "Go"};
  line.hint = "A time: 12.5us, 10% or #marker.\nA stretch: 12.5us:40us, 10%:20% or #A:#B.";
  TimeRange wanted;
  if (tab != nullptr && !state.dialog_text.empty()) {
    const TimeRange session{tab->snapshot->begin_ns, tab->snapshot->end_ns};
    const auto range = parse_place(state.dialog_text, session, tab->markers, whole_time(tab->view.span_ns()));
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
    const Result<ViewLink> link = read_view_link(state.dialog_text);
    line.may_finish = link && state.tab() != nullptr;
    if (!link) line.error = link.message();
  }
  return draw_line_dialog(state, ui, line, [&] { go_to_link(state, state.dialog_text); });
}

bool draw_save_markers(AppState& state, Ui& ui) {
  SessionTab* tab = state.tab();
  if (tab == nullptr) return false;
  SessionMarkerSets& sets = state.panels_of(*tab).marker_sets();
  const std::string& name = state.dialog_text;
  const bool known = sets.of(*tab).find(name) != nullptr;
  LineDialog line{"save_markers", "Save the markers as a set", "Name of the set", known ? "Replace" : "Save"};
  line.hint = known ? "There is a set of this name; it will be replaced."
                    : "All markers of the session, to be loaded again by this name.";
  line.may_finish = !name.empty();
  return draw_line_dialog(state, ui, line, [&] { tell(state, sets.save(*tab, name), "Saved the markers as " + name); });
}

bool draw_load_markers(AppState& state, Ui& ui) {
  SessionTab* tab = state.tab();
  if (tab == nullptr) return false;
  SessionMarkerSets& sets = state.panels_of(*tab).marker_sets();
  std::string known;
  for (const MarkerSet& set : sets.of(*tab).all()) known += (known.empty() ? "" : ", ") + set.name;
  const std::string& name = state.dialog_text;
  LineDialog line{"load_markers", "Load a set of markers", "Name of the set", "Load"};
  line.may_finish = sets.of(*tab).find(name) != nullptr;
  if (!line.may_finish && !name.empty()) line.error = "there is no such set; there are " + known;
  line.hint = "It takes the place of the markers that are there. There are " + known + ".";
  return draw_line_dialog(
      state, ui, line, [&] { tell(state, sets.load(*tab, name, LoadMarkers::replace), "Loaded the markers " + name); });
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
    state.say("Saved the layout " + name);
  });
}

}  // namespace accelscope::app
