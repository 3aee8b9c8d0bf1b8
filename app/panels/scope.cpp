#include "app/panels/scope.h"

#include <array>

#include "core/base/format.h"
#include "render/widgets/controls.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

EventFilter scope_filter(const SessionTab& tab, Scope scope) {
  const EventFilter& filter = tab.choices.filter;
  if (scope == Scope::selection && tab.region) return both(filter, *tab.region);
  if (scope != Scope::visible) return filter;
  EventFilter visible;
  visible.range = tab.view.whole_ns();
  return both(filter, visible);
}

std::string scope_text(const SessionTab& tab, Scope scope) {
  std::string text = "the session";
  if (scope == Scope::visible) text = format_duration(tab.view.span_ns()) + " in view";
  if (scope == Scope::selection && tab.region) text = "what is selected";
  if (scope == Scope::session && !tab.choices.filter.empty()) return "what passes the filter";
  return tab.choices.filter.empty() ? text : text + " that passes the filter";
}

bool draw_scope(const PanelContext& context, std::string_view name, Rect& row, Scope& scope) {
  Ui& ui = context.ui;
  const bool any_selected = context.tab.region.has_value();
  const std::array<Segment, 3> choices = {
      {{.label = "Session"},
       {.label = "Visible range", .tooltip = "Of the stretch that the timeline shows"},
       {.label = "Selection",
        .disabled = !any_selected,
        .tooltip = any_selected ? "Of the box, or of all events of what is selected"
                                : "Select a box, or all events of a name, a line or a layer"}}};
  if (scope == Scope::selection && !any_selected) scope = Scope::session;
  int chosen = static_cast<int>(scope);
  const Rect place = row.cut_right(segmented_width(ui, choices)).middle(ui.px(size::kControl));
  row.cut_right(ui.px(12));
  if (!segmented(ui, name, place, choices, chosen)) return false;
  scope = static_cast<Scope>(chosen);
  return true;
}

}  // namespace accelscope::app
