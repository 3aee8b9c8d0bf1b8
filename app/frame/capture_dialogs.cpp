// What a capture asks of the user: ssh's prompts, and whether an agent is the right one.
#include <algorithm>
#include <utility>

#include "app/connect/form_layout.h"
#include "app/frame/app_state.h"
#include "capture/security/known_agents.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/interact.h"
#include "render/widgets/popup.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing
using capture::client::CaptureQuestion;

namespace {

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
void text_part(AppState& state, FormLayout& layout, const std::string& text, bool draws) {
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
        state.say("Copied the fingerprint");
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
  FormLayout measured(ui, {0, 0, ui.px(kWidth - 40), 1});
  text_part(state, measured, question.text, false);
  const float height = measured.used() / ui.scale() + kFrame + (yes_no ? 12 : 46);
  Modal modal(ui, kName, question.title.empty() ? question.place : question.title, kWidth, height);
  std::optional<std::optional<std::string>> answer;
  if (!modal.open()) {  // Esc and the x are a no
    answer.emplace(std::nullopt);
  } else {
    FocusScope keyboard(ui, kName);
    FormLayout layout(ui, modal.body());
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

}  // namespace accelscope::app
