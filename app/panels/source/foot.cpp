// The foot of the source panel: what the lit line cost, what it waited for, and the way to its events.
#include <algorithm>
#include <array>
#include <filesystem>

#include "app/panels/source/panel.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::size_t kMostLookedInto = 100'000;  // events of a line whose waits are looked into, one by one

std::string duration_or_none(std::int64_t ns) { return ns > 0 ? format_duration(static_cast<double>(ns)) : "–"; }

std::string share_text(double part, double whole) {
  return std::to_string(static_cast<int>(whole > 0 ? part / whole * 100 + 0.5 : 0)) + " %";
}

}  // namespace

LineCost SourcePanel::lit_cost() const {
  LineCost cost;
  for (const SourceLine& line : all_->lines) {
    if (line.line == lit_->line && same_source(line.path, lit_->path)) cost += cost_of(line);
  }
  return cost;
}

// Once a line's events are known, a worker looks for what they waited for.
void SourcePanel::find_causes(const PanelContext& context) {
  if (causes_task_.ready()) {
    auto causes = causes_task_.take();
    causes_ = causes ? std::move(*causes) : WaitCauses{};  // what failed is not tried again in each frame
    if (!causes) context.actions.notify(Severity::warning, causes.message());
  }
  if (causes_task_.valid() || !lit_ || lit_events_of_ != lit_ || lit_events_.events.empty()) return;
  const auto dependencies = context.analysis().dependencies();
  if (!dependencies || (causes_ && causes_version_ == dependencies->snapshot_version())) return;
  causes_version_ = dependencies->snapshot_version();
  std::vector<EventId> events = lit_events_.events;
  if (events.size() > kMostLookedInto) events.resize(kMostLookedInto);
  causes_task_ = pool_.start([dependencies, events = std::move(events), store = context.tab.store,
                              snapshot = context.tab.snapshot](TaskControl& control) {
    EventReader reader(*store, snapshot);
    return wait_causes(*dependencies, events, reader, control);
  });
}

// To the event of the line after or before the selected one; the events are asked for first where they are not known.
void SourcePanel::step_event(const PanelContext& context, int step) {
  SessionTab& tab = context.tab;
  if (lit_events_of_ != lit_) {
    step_when_ready_ = step;
    return context.analysis().ask_line_events(lit_->path, lit_->line);
  }
  const auto& events = lit_events_.events;
  if (events.empty()) return;
  if (tab.selected) {  // selected elsewhere since
    const auto selected = std::find(events.begin(), events.end(), *tab.selected);
    if (selected != events.end()) lit_at_ = static_cast<std::size_t>(selected - events.begin());
  }
  const std::size_t last = events.size() - 1;
  if (!lit_at_) {
    lit_at_ = step > 0 ? 0 : last;
  } else if (step > 0) {
    lit_at_ = *lit_at_ == last ? 0 : *lit_at_ + 1;
  } else {
    lit_at_ = *lit_at_ == 0 ? last : *lit_at_ - 1;
  }
  tab.lit = lit_events_.mask;  // something else may have been selected since
  select_event(tab, events[*lit_at_]);
  context.actions.reveal(events[*lit_at_]);
}

void SourcePanel::draw_foot(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  fill(ui, area, ui.colour(Colour::bg2));
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  Rect rest = area.inset(ui.px(size::kPanelPadding), ui.px(6));
  Rect head = rest.cut_top(ui.px(28));
  const bool known = lit_events_of_ == lit_;
  const bool none = known ? lit_events_.total == 0 : lit_cost().event_count == 0;
  const ButtonOptions show{.label = "Show on timeline",
                           .disabled = none,
                           .tooltip = none ? "No event names this line" : "Zoom to the events of this line"};
  const ButtonOptions step{.disabled = none};
  if (button(ui, "source.show", head.cut_right(button_width(ui, show)).middle(ui.px(size::kSmallControl)), show)) {
    fit_when_ready_ = true;
    light_line(context, *lit_);
  }
  const float side = ui.px(size::kSmallControl);
  head.cut_right(ui.px(4));
  if (icon_button(ui, "source.editor", head.cut_right(side).middle(side), icon::kFileCode,
                  "Open the line in your editor (F4)")) {
    context.actions.run("open_in_editor");
  }
  head.cut_right(ui.px(4));
  if (icon_button(ui, "source.event.next", head.cut_right(side).middle(side), icon::kArrowRight,
                  "Next event of this line", step)) {
    step_event(context, 1);
  }
  if (icon_button(ui, "source.event.previous", head.cut_right(side).middle(side), icon::kArrowLeft,
                  "Previous event of this line", step)) {
    step_event(context, -1);
  }
  head.cut_right(ui.px(6));
  const std::string title =
      page_ == Page::text ? "Line " + std::to_string(lit_->line)
                          : std::filesystem::path(lit_->path).filename().string() + ":" + std::to_string(lit_->line);
  head.cut_left(draw_text(ui, head, title, {.style = TextStyle::heading, .fit = Fit::middle}) + ui.px(12));
  draw_text(ui, head, lit_text(context), {.style = TextStyle::small, .colour = Colour::text3});
  draw_figures(context, rest);
}

// "3 of 36,985", "36,985 events lit", "36,985 events lit, none in view".
std::string SourcePanel::lit_text(const PanelContext& context) const {
  const SessionTab& tab = context.tab;
  if (lit_events_of_ != lit_ || !tab.lit) return "";
  const std::string total = format_count(lit_events_.total);
  if (tab.selected && lit_at_ && *lit_at_ < lit_events_.events.size() &&
      lit_events_.events[*lit_at_] == *tab.selected) {
    return format_count(*lit_at_ + 1) + " of " + total;
  }
  const TimeRange& stretch = lit_events_.stretch;
  const bool away = static_cast<double>(stretch.end_ns) < tab.view.begin_ns ||
                    static_cast<double>(stretch.begin_ns) > tab.view.end_ns;
  return total + (lit_events_.total == 1 ? " event lit" : " events lit") + (away ? ", none in view" : "");
}

void SourcePanel::draw_figures(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const LineCost cost = lit_cost();
  const auto busy = static_cast<double>(cost.busy_ns), wait = static_cast<double>(cost.wait_ns);
  struct Figure {
    const char* label;
    std::string value;
    std::string explanation;
    Colour colour = Colour::text1;
  };
  std::vector<Figure> figures = {{"Events", format_count(cost.event_count), "Events that name this line"},
                                 {"Busy", duration_or_none(cost.busy_ns), "Time of these events without waiting"},
                                 {"Wait", duration_or_none(cost.wait_ns), "Time that these events waited"},
                                 {"Bytes", cost.bytes > 0 ? format_bytes(static_cast<double>(cost.bytes)) : "–",
                                  "Bytes that these events read, wrote or moved"}};
  Figure bound{"Bound by", "–", "Nothing is known of waiting or work of this line"};
  const bool waits = wait > busy;
  if (wait > 0 || busy > 0) {
    bound.value = waits ? "waiting " + share_text(wait, wait + busy) : "its work " + share_text(busy, wait + busy);
    bound.explanation = "Of " + format_duration(wait + busy) + " it waited " + share_text(wait, wait + busy) +
                        " and worked " + share_text(busy, wait + busy) + ".";
    if (waits) bound.colour = Colour::warning;
  }
  const bool causes_known = lit_events_of_ == lit_ && causes_ && !causes_->causes.empty();
  if (causes_known) {
    const WaitCause& first = causes_->causes.front();
    if (waits) bound.value = first.name.empty() ? first.track : first.name;
    const bool part = lit_events_.events.size() > kMostLookedInto;
    bound.explanation += part ? " The first " + format_count(kMostLookedInto) + " of its events waited most for:"
                              : " It waited most for:";
    for (std::size_t i = 0; i < std::min<std::size_t>(causes_->causes.size(), 4); ++i) {
      const WaitCause& cause = causes_->causes[i];
      bound.explanation += "\n" + cause.name + (cause.name.empty() ? "" : " on ") + cause.track + ", " +
                           format_duration(static_cast<double>(cause.wait_ns)) + " (" +
                           share_text(static_cast<double>(cause.wait_ns), static_cast<double>(causes_->wait_ns)) + ")";
    }
  }
  figures.push_back(std::move(bound));
  const float width = area.width() / (static_cast<float>(figures.size()) + 0.6F);  // the last is text
  for (std::size_t i = 0; i < figures.size(); ++i) {
    Rect cell = i + 1 < figures.size() ? area.cut_left(width) : area;
    const Rect whole = cell;
    draw_text(ui, cell.cut_top(ui.px(22)), figures[i].label, {.colour = Colour::text2});
    draw_text(ui, cell.cut_top(ui.px(22)), figures[i].value,
              {.style = TextStyle::mono, .colour = figures[i].colour, .fit = Fit::middle});
    const Interaction hand = interact(ui, std::string("source.figure.") + figures[i].label, whole);
    tooltip(ui, hand, whole, figures[i].explanation);
    if (hand.clicked) context.copy(figures[i].value, std::string(figures[i].label) + ": " + figures[i].value);
  }
}

}  // namespace accelscope::app
