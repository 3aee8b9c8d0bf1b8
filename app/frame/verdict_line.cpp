// The verdict of a session in one line above its timeline: what bounds it, the largest single cause, its worst source
// line and what its data lack; what leads somewhere is a link. Its row is there from the start, so that nothing moves
// when the answer comes.
#include <utility>

#include "app/frame/app_state.h"
#include "app/session/analysis.h"
#include "app/view/selection.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::string_view kUpdating = "updating ...";  // of data that there was before
constexpr float kVerdictGap = 20, kLabelGap = 6;

// What it is called, and a link behind it.
struct VerdictFinding {
  const char* name;
  const char* label;
  std::string text;

  [[nodiscard]] float label_width(const Ui& ui) const {
    return *label == 0 ? 0 : text_width(ui, TextStyle::small, label) + ui.px(kLabelGap);
  }
  [[nodiscard]] float width(const Ui& ui) const { return label_width(ui) + link_width(ui, text, TextStyle::small); }
};

bool draw_finding(Ui& ui, Rect& row, const VerdictFinding& finding) {
  row.cut_left(ui.px(kVerdictGap));
  draw_text(ui, row.cut_left(finding.label_width(ui)), finding.label,
            {.style = TextStyle::small, .colour = Colour::text3});
  const Rect place = row.cut_left(link_width(ui, finding.text, TextStyle::small));
  return link(ui, finding.name, place, finding.text, TextStyle::small);
}

void follow(AppState& state, const Verdict& verdict, std::string_view finding) {
  if (finding == "verdict.missing") {
    state.layout.show("quality");
  } else if (finding == "verdict.advice" || finding == "verdict.error") {
    const std::shared_ptr<const Advice> advice = state.tab()->analysis->advice();
    const bool is_error = finding == "verdict.error";
    const Finding* const chosen = !advice ? nullptr : is_error ? reported_error(*advice) : costliest_finding(*advice);
    if (chosen != nullptr) state.tab()->chosen_warning = chosen->key;
    state.layout.show("warnings");
  } else if (finding == "verdict.cause") {
    show_stretch(*state.tab(), verdict.cause_range->begin_ns, verdict.cause_range->end_ns);
  } else {
    state.tab()->selected_source = verdict.worst->path + ":" + std::to_string(verdict.worst->line);
    state.layout.show("source");
  }
}

// The finding that would save most, unless the cause that the verdict names is worth more.
std::string top_advice(const SessionTab& tab, const Verdict& verdict) {
  const std::shared_ptr<const Advice> advice = tab.analysis->advice();
  const Finding* const costliest = advice ? costliest_finding(*advice) : nullptr;
  if (costliest == nullptr) return "";
  const bool less = verdict.cause_range && verdict.cause_range->length_ns() >= costliest->saving_ns;
  return less ? "" : advice_text(*advice);
}

void draw_findings(AppState& state, Ui& ui, Rect row, const Verdict& verdict) {
  std::vector<VerdictFinding> findings;
  const bool leads = verdict.cause_range.has_value();
  const std::shared_ptr<const Advice> advice = state.tab()->analysis->advice();
  const Finding* const error = advice ? reported_error(*advice) : nullptr;
  const bool tells_error = error != nullptr;
  if (tells_error) {
    draw_icon(ui, row.cut_left(ui.px(14)), icon::kError, ui.colour(Colour::error), TextStyle::icon13);
    if (draw_finding(ui, row, {"verdict.error", "", error->tab})) follow(state, verdict, "verdict.error");
    row.cut_left(ui.px(kVerdictGap));
  }
  if (leads) findings.push_back({"verdict.cause", "", verdict.cause});
  if (std::string top = top_advice(*state.tab(), verdict); !top.empty()) {
    findings.push_back({"verdict.advice", "", std::move(top)});
  }
  if (verdict.worst) findings.push_back({"verdict.line", "Worst line", line_text(*verdict.worst)});
  if (!verdict.missing.empty()) findings.push_back({"verdict.missing", "Data quality", verdict.missing});
  const std::string bound_text =
      (state.tab()->choices.filter.empty() ? "" : "Whole session, not filtered: ") + verdict.bound;
  const float wanted = text_width(ui, TextStyle::small_strong, bound_text) + 1;
  float cause =
      leads || verdict.cause.empty() ? 0 : ui.px(kVerdictGap) + text_width(ui, TextStyle::small, verdict.cause) + 1;
  float behind = cause;
  for (const VerdictFinding& finding : findings) behind += ui.px(kVerdictGap) + finding.width(ui);
  // What can be followed says more; the bound's tooltip has the cause too.
  if ((tells_error || !findings.empty()) && wanted + behind > row.width()) behind -= std::exchange(cause, 0.0F);
  while (!findings.empty() && wanted + behind > row.width()) {  // the status bar and the source panel tell them too
    behind -= ui.px(kVerdictGap) + findings.back().width(ui);
    findings.pop_back();
  }
  const Rect place = row.cut_left(std::min(wanted, row.width()));
  if (place.width() > 0) {
    draw_text(ui, place, bound_text, {.style = TextStyle::small_strong});
    tooltip(ui, interact(ui, "verdict.bound", place), place, verdict.bound + "\n" + verdict.cause);
  }
  if (cause > 0) {
    row.cut_left(ui.px(kVerdictGap));
    draw_text(ui, row.cut_left(std::min(cause - ui.px(kVerdictGap), row.width())), verdict.cause,
              {.style = TextStyle::small, .colour = Colour::text2});
  }
  for (const VerdictFinding& finding : findings) {
    if (draw_finding(ui, row, finding)) follow(state, verdict, finding.name);
  }
}

}  // namespace

void draw_verdict(AppState& state, Ui& ui, Rect& area) {
  SessionTab& tab = *state.tab();
  bool& closed = state.panels_of(tab).verdict_closed;
  if (closed || may_grow(tab) || tab.snapshot->event_count == 0) return;
  const Rect strip = area.cut_top(ui.px(size::kStatusBar));
  fill(ui, strip, ui.colour(Colour::bg2));
  horizontal_line(ui, strip.x0, strip.x1, strip.y1 - 1, ui.colour(Colour::line2));
  Rect row = strip.inset(ui.px(size::kPanelPadding), 0);
  const float side = ui.px(size::kStatusBar - 4);
  if (icon_button(ui, "verdict.close", row.cut_right(side).middle(side), icon::kClose,
                  "Close this line (View opens it again)")) {
    closed = true;
  }
  draw_icon(ui, row.cut_left(ui.px(14)), icon::kBalance, ui.colour(Colour::accent), TextStyle::icon13);
  row.cut_left(ui.px(8));
  row.cut_right(ui.px(8));
  (void)tab.analysis->take_older();
  const std::shared_ptr<const Verdict> verdict = tab.analysis->verdict();
  (void)tab.analysis->advice();
  if (tab.analysis->take_older()) {
    const float width = text_width(ui, TextStyle::small, kUpdating);
    draw_text(ui, row.cut_right(width), kUpdating, {.style = TextStyle::small, .colour = Colour::text3});
    row.cut_right(ui.px(8));
  }
  if (verdict) return draw_findings(state, ui, row, *verdict);
  const std::string& problem = tab.analysis->error();
  const char* const waiting = tab.choices.filter.empty() ? "Looking for what bounds it ..."
                                                         : "What bounds the session is told without a filter";
  draw_text(ui, row, problem.empty() ? waiting : problem, {.style = TextStyle::small, .colour = Colour::text3});
}

}  // namespace accelscope::app
