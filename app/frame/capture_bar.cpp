// What we are connected to, in the top bar: state, time, counts, pause and stop, and a card with every agent.
#include <algorithm>

#include "app/content/capture/text.h"
#include "app/frame/app_state.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing
using capture::client::CapturePhase;

namespace {

constexpr float kCardWidth = 440, kCardHead = 30, kCardLine = 20, kCardPadding = 12, kMostCard = 520;
constexpr const char* kAgents = "capture.agents";

Colour colour_of(CapturePhase phase) {
  switch (phase) {
    case CapturePhase::streaming:
    case CapturePhase::failed:
      return Colour::error;
    case CapturePhase::preparing:
    case CapturePhase::paused:
    case CapturePhase::reconnecting:
    case CapturePhase::stopping:
      return Colour::warning_line;
    case CapturePhase::ended:
      return Colour::ok;
  }
  return Colour::text3;
}

void draw_record_button(AppState& state, Ui& ui, Rect& row) {
  const ButtonOptions record{.label = "Record",
                             .icon = icon::kCircle,
                             .icon_colour = ui.colour(Colour::error),
                             .tooltip = "Connect to an agent and record",
                             .shortcut = "Ctrl+K"};
  const float width = button_width(ui, record);
  if (row.width() < ui.px(size::kControl)) return;  // the menu has it too
  const bool fits = row.width() >= width;
  const Rect place = row.cut_left(fits ? width : ui.px(size::kControl)).middle(ui.px(size::kControl));
  const bool pressed = fits ? button(ui, "top.record", place, record)
                            : icon_button(ui, "top.record", place, icon::kCircle, "Record: connect to an agent",
                                          {.icon_colour = record.icon_colour, .kind = ButtonKind::flat});
  if (pressed) state.commands.run("connect");
}

float lines_height(Ui& ui, const AgentLine& line, float value_width) {
  return std::max(ui.px(kCardLine),
                  paragraph_height(ui, TextStyle::small, line.value, value_width, ui.px(16)) + ui.px(4));
}

// One agent; returns the height. Draws nothing when `draws` is not set.
float agent_part(AppState& state, Ui& ui, Rect area, const capture::client::AgentStatus& agent, bool draws) {
  const float label_width = ui.px(150);
  const float value_width = area.width() - label_width;
  const float top = area.y0;
  Rect head = area.cut_top(ui.px(kCardHead));
  const bool several = state.tab()->capture.agents.size() > 1 && may_grow(*state.tab());
  if (draws) {
    draw_icon(ui, head.cut_left(ui.px(12)), icon::kCircle, ui.colour(colour_of(agent.phase)), TextStyle::icon12);
    head.cut_left(ui.px(8));
    const ButtonOptions leave{.label = "Remove",
                              .kind = ButtonKind::quiet,
                              .tooltip = "Its connection ends; what came of it stays in the session"};
    if (several && button(ui, std::string(kAgents) + "." + agent.place + ".leave",
                          head.cut_right(button_width(ui, leave)).middle(ui.px(size::kSmallControl)), leave)) {
      state.workspace.remove_agent(*state.workspace.active_index(), agent.place);
    }
    draw_text(ui, head, agent.host.empty() ? agent.place : agent.host, {.style = TextStyle::heading});
  }
  for (const AgentLine& line : agent_lines(agent)) {
    Rect row = area.cut_top(lines_height(ui, line, value_width));
    if (!draws) continue;
    Rect label = row.cut_left(label_width);
    label.y1 = label.y0 + ui.px(kCardLine);
    draw_text(ui, label, line.label, {.style = TextStyle::small, .colour = Colour::text2});
    row.y0 += ui.px(2);
    draw_paragraph(ui, row, line.value, {.style = TextStyle::small, .colour = line.bad ? Colour::error : Colour::text1},
                   ui.px(16));
  }
  return area.y0 - top;
}

void draw_agents(AppState& state, Ui& ui, const Rect& anchor) {
  const std::vector<capture::client::AgentStatus>& agents = state.tab()->capture.agents;
  const float inner = ui.px(kCardWidth - 2 * kCardPadding);
  float height = 2 * ui.px(kCardPadding);
  for (const capture::client::AgentStatus& agent : agents) {
    height += agent_part(state, ui, {0, 0, inner, 1e6F}, agent, false) + ui.px(10);
  }
  Popover card(ui, kAgents, anchor, kCardWidth, std::min(height / ui.scale(), kMostCard));
  if (!card.open()) return;
  ui.request_frame_after(0.25);
  const Rect body = card.body().inset(ui.px(kCardPadding));
  const ScrollArea scroll(ui, "capture.agents.scroll", body, height - 2 * ui.px(kCardPadding));
  Rect rest = scroll.content();
  rest.x1 = scroll.visible().x1;
  bool first = true;
  for (const capture::client::AgentStatus& agent : agents) {
    if (!std::exchange(first, false))
      horizontal_line(ui, rest.x0, rest.x1, rest.y0 - ui.px(5), ui.colour(Colour::line2));
    rest.cut_top(agent_part(state, ui, rest, agent, true) + ui.px(10));
  }
}

// The state in words; what the user must not miss stands on a chip.
void draw_state(Ui& ui, Rect& row, const SessionTab& tab) {
  const CapturePhase phase = tab.capture.phase;
  const bool stands_out = phase == CapturePhase::paused || phase == CapturePhase::reconnecting;
  std::string text = phase_text(phase);
  if (phase == CapturePhase::paused) text = "Paused";
  if (const std::string watching = watching_text(tab.capture); !watching.empty()) text += ", " + watching;
  const float width = text_width(ui, TextStyle::small, text) + (stands_out ? ui.px(12) : 0);
  Rect place = row.cut_left(std::min(width + 1, row.width()));
  row.cut_left(ui.px(10));
  if (stands_out) {
    const Rect chip_box = place.middle(ui.px(20));
    fill(ui, chip_box, ui.colour(Colour::warning_bg), size::kChipRadius);
    place = chip_box.inset(ui.px(6), 0);
  }
  draw_text(ui, place, text, {.style = TextStyle::small, .colour = stands_out ? Colour::warning : Colour::text3});
}

struct CaptureControls {
  ButtonOptions pause;
  ButtonOptions stop;
  std::string watching;
  std::string stop_label;
};

// Fills `controls`, which the texts live in.
void make_controls(const Ui& ui, const SessionTab& tab, CaptureControls& controls) {
  const CapturePhase phase = tab.capture.phase;
  const bool paused = phase == CapturePhase::paused;
  controls.watching = watching_text(tab.capture);
  const bool ours = controls.watching.empty();
  controls.pause = {.label = paused ? "Resume" : "Pause",
                    .icon = paused ? icon::kPlay : icon::kPause,
                    .disabled = !ours || (phase != CapturePhase::streaming && !paused),
                    .tooltip = ours ? std::string_view("While paused nothing is collected; the program goes on")
                                    : std::string_view(controls.watching),
                    .shortcut = "Ctrl+Shift+E"};
  controls.stop_label = (ours ? "Stop " : "Leave ") + elapsed_text(tab.capture_seconds);
  controls.stop = {.label = controls.stop_label,
                   .icon = icon::kStop,
                   .icon_colour = ui.colour(Colour::error),
                   .disabled = phase == CapturePhase::stopping,
                   .tooltip = ours ? "End the capture; all that the agents have still arrives"
                                   : "Stop watching; the capture goes on",
                   .shortcut = "Ctrl+E"};
}

float controls_width(const Ui& ui, const CaptureControls& controls) {
  return button_width(ui, controls.pause) + ui.px(6) + button_width(ui, controls.stop);
}

// Only their icons where the row is narrow; the menu has them where there is no room at all.
void draw_controls(AppState& state, Ui& ui, Rect& row, const CaptureControls& controls) {
  const float icon_width = ui.px(size::kControl);
  const bool whole = row.width() >= controls_width(ui, controls);
  if (!whole && row.width() < 2 * icon_width + ui.px(6)) return;
  const auto pressed = [&](const char* name, const ButtonOptions& options) {
    const Rect place = row.cut_left(whole ? button_width(ui, options) : icon_width).middle(ui.px(size::kControl));
    row.cut_left(ui.px(6));
    if (whole) return button(ui, name, place, options);
    return icon_button(ui, name, place, options.icon, options.tooltip,
                       {.icon_colour = options.icon_colour,
                        .kind = ButtonKind::flat,
                        .disabled = options.disabled,
                        .shortcut = options.shortcut});
  };
  if (pressed("top.pause", controls.pause)) state.commands.run("pause");
  if (pressed("top.stop", controls.stop)) state.commands.run("stop");
}

// The hosts, and every agent once they are clicked.
void draw_hosts(AppState& state, Ui& ui, const Rect& name, const std::string& hosts) {
  const Interaction hand = interact(ui, kAgents, name);
  if (hand.hovered) fill(ui, name.inset(-ui.px(4), 0), ui.colour(Colour::bg4), size::kControlRadius);
  Rect inside = name;
  draw_icon(ui, inside.cut_left(ui.px(10)), icon::kCircle, ui.colour(colour_of(state.tab()->capture.phase)),
            TextStyle::icon12);
  inside.cut_left(ui.px(8));
  draw_icon(ui, inside.cut_right(ui.px(10)), icon::kCaretDown, ui.colour(Colour::text2), TextStyle::icon12);
  draw_text(ui, inside, hosts, {.style = TextStyle::mono, .fit = Fit::middle});
  tooltip(ui, hand, name, "Every agent of this session, its counts and its clock");
  if (hand.clicked) open_popover(ui, kAgents);
  draw_agents(state, ui, name);
}

}  // namespace

void draw_capture_bar(AppState& state, Ui& ui, Rect& row) {
  const auto index = state.workspace.active_index();
  if (!index || state.workspace.link(*index) == nullptr) return draw_record_button(state, ui, row);
  const SessionTab& tab = *state.tab();
  CaptureControls controls;
  make_controls(ui, tab, controls);
  // The controls before the words.
  const float kept = may_grow(tab) ? controls_width(ui, controls) + ui.px(10) : 0;
  Rect words = row.cut_left(std::max(row.width() - kept, 0.0F));
  const std::string hosts = hosts_text(tab.capture);
  const float used_by_name = ui.px(18) + text_width(ui, TextStyle::mono, hosts) + ui.px(18);
  const Rect name = words.cut_left(std::min(used_by_name, words.width())).middle(ui.px(size::kControl));
  words.cut_left(std::min(ui.px(8), words.width()));
  if (name.width() > ui.px(28)) draw_hosts(state, ui, name, hosts);
  draw_state(ui, words, tab);
  row.x0 = words.x0;  // what they did not need
  if (may_grow(tab)) draw_controls(state, ui, row, controls);
}

}  // namespace accelscope::app
