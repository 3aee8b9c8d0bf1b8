// Dialogs of one line: a stretch of time or a link to go to, the name of a layout or a set of markers.
#include "app/frame/app_state.h"
#include "app/view/link.h"
#include "app/view/marker_range.h"
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
};

// The line, what is wrong with it or a hint below, and its button. True when it is done.
bool draw_line_dialog(AppState& state, Ui& ui, const LineDialog& line, const std::string& error, const char* hint,
                      bool may_finish) {
  Modal modal(ui, line.name, line.title, 460, 190);
  if (!modal.open()) {
    state.dialog = Dialog::none;
    return false;
  }
  Rect body = modal.body();
  const std::string name = line.name;
  bool& focused = state.dialog_focused;
  const TextInputResult typed = text_input(ui, name + ".text", body.cut_top(ui.px(size::kControl)), state.dialog_text,
                                           {.placeholder = line.placeholder,
                                            .mono = true,
                                            .error = !error.empty(),
                                            .focus_now = !std::exchange(focused, true)});
  body.cut_top(ui.px(8));
  draw_paragraph(ui, body, error.empty() ? hint : error, {.colour = error.empty() ? Colour::text3 : Colour::error});
  Rect foot = modal.buttons();
  const ButtonOptions done{.label = line.button, .kind = ButtonKind::primary, .disabled = !may_finish};
  const bool pressed = button(ui, name + ".done", foot.cut_right(std::max(button_width(ui, done), ui.px(88))), done);
  if (typed.submitted && !may_finish) focused = false;  // Enter let the keyboard go: what is wrong is mended here
  if (!may_finish || (!pressed && !typed.submitted)) return false;
  state.dialog = Dialog::none;
  modal.close();
  return true;
}

}  // namespace

void draw_go_to_time(AppState& state, Ui& ui) {
  SessionTab* tab = state.tab();
  std::string error;
  std::optional<TimeRange> wanted;
  if (tab != nullptr && !state.dialog_text.empty()) {
    const TimeRange session{tab->snapshot->begin_ns, tab->snapshot->end_ns};
    auto range = parse_place(state.dialog_text, session, tab->markers, static_cast<std::int64_t>(tab->view.span_ns()));
    range ? wanted = *range : wanted = std::nullopt;
    if (!range) error = range.message();
  }
  const LineDialog line{"go_to_time", "Go to time", "12.5us:40us", "Go"};
  if (!draw_line_dialog(state, ui, line, error,
                        "A time: 12.5us, 10% or #marker.\nA stretch: 12.5us:40us, 10%:20% or #A:#B.",
                        wanted.has_value())) {
    return;
  }
  tab->show({static_cast<double>(wanted->begin_ns), static_cast<double>(wanted->end_ns)});
}

void draw_go_to_link(AppState& state, Ui& ui) {
  std::string error;
  if (!state.dialog_text.empty()) {
    const Result<ViewLink> link = read_view_link(state.dialog_text);
    if (!link) error = link.message();
  }
  const LineDialog line{"go_to_link", "Go to link", "accelscope-view:1;range=...", "Go"};
  const bool right = error.empty() && !state.dialog_text.empty() && state.tab() != nullptr;
  if (!draw_line_dialog(state, ui, line, error,
                        "A link that was copied with \"Copy link to this view\", in this session or in another of the "
                        "same program.",
                        right)) {
    return;
  }
  go_to_link(state, state.dialog_text);
}

void draw_save_markers(AppState& state, Ui& ui) {
  SessionTab* tab = state.tab();
  if (tab == nullptr) {
    state.dialog = Dialog::none;
    return;
  }
  SessionMarkerSets& sets = state.panels_of(*tab).markers.sets();
  const bool known = sets.of(*tab).find(state.dialog_text) != nullptr;
  const LineDialog line{"save_markers", "Save the markers as a set", "Name of the set", known ? "Replace" : "Save"};
  const char* hint = known ? "There is a set of this name; it will be replaced."
                           : "All markers of the session, to be loaded again by this name.";
  const std::string name = state.dialog_text;
  if (!draw_line_dialog(state, ui, line, "", hint, !name.empty())) return;
  const Result<void> saved = sets.save(*tab, name);
  saved ? state.say("Saved the markers as " + name) : state.workspace.notify(Severity::error, saved.message());
}

void draw_load_markers(AppState& state, Ui& ui) {
  SessionTab* tab = state.tab();
  if (tab == nullptr) {
    state.dialog = Dialog::none;
    return;
  }
  SessionMarkerSets& sets = state.panels_of(*tab).markers.sets();
  std::string known;
  for (const MarkerSet& set : sets.of(*tab).all()) known += (known.empty() ? "" : ", ") + set.name;
  const std::string name = state.dialog_text;
  const bool found = sets.of(*tab).find(name) != nullptr;
  const std::string error = found || name.empty() ? "" : "there is no such set; there are " + known;
  const std::string hint = "It takes the place of the markers that are there. There are " + known + ".";
  const LineDialog line{"load_markers", "Load a set of markers", "Name of the set", "Load"};
  if (!draw_line_dialog(state, ui, line, error, hint.c_str(), found)) return;
  const Result<void> loaded = sets.load(*tab, name, LoadMarkers::replace);
  loaded ? state.say("Loaded the markers " + name) : state.workspace.notify(Severity::error, loaded.message());
}

void draw_save_layout(AppState& state, Ui& ui) {
  const bool known = state.layouts.find(state.dialog_text) != nullptr;
  const LineDialog line{"save_layout", "Save the layout", "Name of the layout", known ? "Replace" : "Save"};
  const char* hint = known ? "There is a layout of this name; it will be replaced."
                           : "Which panels are open, where they lie and how large they are.";
  const std::string name = state.dialog_text;
  if (!draw_line_dialog(state, ui, line, "", hint, !name.empty())) return;
  state.layouts.put(name, state.layout.to_text());
  state.layouts_changed = true;
  state.remember_settings();
  state.say("Saved the layout " + name);
}

}  // namespace accelscope::app
