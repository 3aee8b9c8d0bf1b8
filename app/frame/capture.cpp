#include "app/content/capture/text.h"
#include "app/frame/app_state.h"
#include "capture/security/identities.h"

namespace accelscope::app::frame {

using namespace render;  // NOLINT: this file is nothing but drawing

// What we are connected to, in the top bar: state, time, counts, pause and stop, and a card with every agent.

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

const char* icon_of(CapturePhase phase) {
  switch (phase) {
    case CapturePhase::failed:
      return icon::kError;
    case CapturePhase::ended:
      return icon::kCheckCircle;
    case CapturePhase::paused:
      return icon::kPause;
    case CapturePhase::reconnecting:
      return icon::kWarning;
    default:
      return icon::kCircle;
  }
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

float lines_height(Ui& ui, const content::AgentLine& line, float value_width) {
  return std::max(ui.px(kCardLine),
                  paragraph_height(ui, TextStyle::small, line.value, value_width, ui.px(16)) + ui.px(4));
}

// One agent; returns the height. Draws nothing when `draws` is not set.
float agent_part(AppState& state, Ui& ui, Rect area, const capture::client::AgentStatus& agent, bool draws) {
  const float label_width = ui.px(150);
  const float value_width = area.width() - label_width;
  const float top = area.y0;
  Rect head = area.cut_top(ui.px(kCardHead));
  const bool several = state.tab()->capture.agents.size() > 1 && session::may_grow(*state.tab());
  if (draws) {
    draw_icon(ui, head.cut_left(ui.px(12)), icon_of(agent.phase), ui.colour(colour_of(agent.phase)), TextStyle::icon12);
    head.cut_left(ui.px(8));
    const ButtonOptions leave{.label = "Remove",
                              .kind = ButtonKind::quiet,
                              .tooltip = "Its connection ends; what came of it stays in the session"};
    if (several &&
        button_right(ui, std::string(kAgents) + "." + agent.place + ".leave", head, leave, size::kSmallControl)) {
      state.workspace.remove_agent(*state.workspace.active_index(), agent.place);
    }
    draw_text(ui, head, agent.host.empty() ? agent.place : agent.host, {.style = TextStyle::heading});
  }
  for (const content::AgentLine& line : content::agent_lines(agent)) {
    Rect row = area.cut_top(lines_height(ui, line, value_width));
    if (!draws) continue;
    Rect label = row.cut_left(label_width);
    label.y1 = label.y0 + ui.px(kCardLine);
    draw_text(ui, label, line.label, kLabelText);
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
void draw_state(Ui& ui, Rect& row, const session::SessionTab& tab) {
  const CapturePhase phase = tab.capture.phase;
  const bool stands_out = phase == CapturePhase::paused || phase == CapturePhase::reconnecting;
  std::string text = content::phase_text(phase);
  if (phase == CapturePhase::paused) text = "Paused";
  if (const std::string watching = content::watching_text(tab.capture); !watching.empty()) text += ", " + watching;
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
void make_controls(const Ui& ui, const session::SessionTab& tab, CaptureControls& controls) {
  const CapturePhase phase = tab.capture.phase;
  const bool paused = phase == CapturePhase::paused;
  controls.watching = content::watching_text(tab.capture);
  const bool ours = controls.watching.empty();
  controls.pause = {.label = paused ? "Resume" : "Pause",
                    .icon = paused ? icon::kPlay : icon::kPause,
                    .disabled = !ours || (phase != CapturePhase::streaming && !paused),
                    .tooltip = ours ? std::string_view("While paused nothing is collected; the program goes on")
                                    : std::string_view(controls.watching),
                    .shortcut = "Ctrl+Shift+E"};
  controls.stop_label = (ours ? "Stop " : "Leave ") + content::elapsed_text(tab.capture_seconds);
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
  const Interaction response = interact(ui, kAgents, name);
  if (response.hovered) fill(ui, name.inset(-ui.px(4), 0), ui.colour(Colour::bg4), size::kControlRadius);
  Rect inside = name;
  draw_icon(ui, inside.cut_left(ui.px(10)), icon::kCircle, ui.colour(colour_of(state.tab()->capture.phase)),
            TextStyle::icon12);
  inside.cut_left(ui.px(8));
  draw_icon(ui, inside.cut_right(ui.px(10)), icon::kCaretDown, ui.colour(Colour::text2), TextStyle::icon12);
  draw_text(ui, inside, hosts, {.style = TextStyle::mono, .fit = Fit::middle});
  tooltip(ui, response, name, "Every agent of this session, its counts and its clock");
  if (response.clicked) open_popover(ui, kAgents);
  draw_agents(state, ui, name);
}

constexpr const char* kName = "question";
constexpr float kWidth = 560, kFrame = 100, kLine = 18;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

void forget(std::string& secret) {
  std::fill(secret.begin(), secret.end(), '\0');
  secret.clear();
}

// Paragraphs, with fingerprints in boxes from which they can be copied. Draws nothing when `draws` is not set.
void text_part(AppState& state, connect::FormLayout& layout, const std::string& text, bool draws) {
  Ui& ui = layout.ui();
  std::size_t boxes = 0;
  for (const std::string& line : lines_of(text)) {
    const std::string shown = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (capture::security::is_fingerprint(shown)) {
      const float inner = layout.strip(0).width() - ui.px(52);
      // As wide as it is, in as many lines as it needs.
      const auto letters = static_cast<std::size_t>(inner / text_width(ui, TextStyle::mono, "0"));
      const std::size_t rows = (shown.size() + letters - 1) / std::max<std::size_t>(1, letters);
      const Rect box = layout.strip(static_cast<float>(rows) * ui.px(kLine) + ui.px(12));
      layout.space(8);
      if (!draws) continue;
      fill(ui, box, ui.colour(Colour::bg1), size::kControlRadius);
      outline(ui, box, ui.colour(Colour::line2), size::kControlRadius);
      Rect inside = box.inset(ui.px(10), ui.px(6));
      const Rect copy = inside.cut_right(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
      if (icon_button(ui, "question.copy." + std::to_string(boxes++), copy, icon::kCopy, "Copy it, to compare it")) {
        ui.copy_to_clipboard(shown);
        state.inform("Copied the fingerprint");
      }
      for (std::size_t at = 0; at < shown.size(); at += letters) {
        draw_text(ui, inside.cut_top(ui.px(kLine)), shown.substr(at, letters),
                  {.style = TextStyle::mono, .fit = Fit::clip});
      }
      continue;
    }
    const float width = layout.strip(0).width();
    const Rect place = layout.strip(std::max(ui.px(6), paragraph_height(ui, TextStyle::body, line, width)));
    layout.space(4);
    if (draws) draw_paragraph(ui, place, line, {.colour = Colour::text2});
  }
}

}  // namespace

void draw_capture_bar(AppState& state, Ui& ui, Rect& row) {
  const auto index = state.workspace.active_index();
  if (!index || state.workspace.link(*index) == nullptr) return draw_record_button(state, ui, row);
  const session::SessionTab& tab = *state.tab();
  CaptureControls controls;
  make_controls(ui, tab, controls);
  // The controls before the words.
  const float retained = session::may_grow(tab) ? controls_width(ui, controls) + ui.px(10) : 0;
  Rect words = row.cut_left(std::max(row.width() - retained, 0.0F));
  const std::string hosts = content::hosts_text(tab.capture);
  const float used_by_name = ui.px(18) + text_width(ui, TextStyle::mono, hosts) + ui.px(18);
  const Rect name = words.cut_left(std::min(used_by_name, words.width())).middle(ui.px(size::kControl));
  words.cut_left(std::min(ui.px(8), words.width()));
  if (name.width() > ui.px(28)) draw_hosts(state, ui, name, hosts);
  draw_state(ui, words, tab);
  row.x0 = words.x0;  // what they did not need
  if (session::may_grow(tab)) draw_controls(state, ui, row, controls);
}

// What a capture asks of the user: ssh's prompts, and whether an agent is the right one.

using capture::client::CaptureQuestion;

void draw_capture_question(AppState& state, Ui& ui) {
  const auto asked = state.workspace.capture_question();
  if (!asked) {
    state.asked_id = 0;
    return;
  }
  const CaptureQuestion& question = asked->question;
  const bool fresh = state.asked_id != question.id;
  if (fresh) {
    forget(state.typed_answer);
    state.asked_id = question.id;
    open_modal(ui, kName);
  }
  const bool yes_no = question.kind == CaptureQuestion::Kind::yes_no;
  connect::FormLayout measured(ui, {0, 0, ui.px(kWidth - 40), 1});
  text_part(state, measured, question.text, false);
  const float height = measured.used() / ui.scale() + kFrame + (yes_no ? 12 : 46);
  Modal modal(ui, kName, question.title.empty() ? question.place : question.title, kWidth, height);
  std::optional<std::optional<std::string>> answer;
  if (!modal.open()) {  // Esc and the x are a no
    answer.emplace(std::nullopt);
  } else {
    connect::FormLayout layout(ui, modal.body());
    text_part(state, layout, question.text, true);
    bool submitted = false;
    if (!yes_no) {
      layout.space(4);
      const Rect field = layout.strip(ui.px(size::kControl));
      const bool secret = question.kind == CaptureQuestion::Kind::secret;
      submitted = text_input(ui, "question.answer", field, state.typed_answer,
                             {.placeholder = secret ? "is not kept" : "",
                              .icon = secret ? icon::kKey : nullptr,
                              .mono = true,
                              .password = secret,
                              .focus_now = fresh})
                      .submitted;
    }
    Rect foot = modal.buttons();
    const ButtonOptions yes{.label = yes_no ? std::string_view(question.yes) : "Continue", .kind = ButtonKind::primary};
    const ButtonOptions no{.label = yes_no ? std::string_view(question.no) : "Cancel"};
    const Rect yes_place = foot.cut_right(std::max(ui.px(88), button_width(ui, yes)));
    foot.cut_right(ui.px(8));
    if (button(ui, "question.no", foot.cut_right(std::max(ui.px(72), button_width(ui, no))), no)) {
      answer.emplace(std::nullopt);
    }
    if (button(ui, "question.yes", yes_place, yes) || submitted) {
      answer.emplace(yes_no ? std::string("yes") : state.typed_answer);
    }
    if (answer) modal.close();
  }
  if (!answer) return;
  state.workspace.answer_capture(*asked, *answer);
  if (*answer) forget(**answer);
  forget(state.typed_answer);
  state.asked_id = 0;
}

}  // namespace accelscope::app::frame
