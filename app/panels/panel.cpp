#include "app/panels/panel.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::array<std::string_view, 3> kScopeTitles = {"Session", "Visible range", "Selection"};
constexpr float kScopeGap = 12;  // units, to what stands left of it

// True when another one was chosen.
bool draw_drop_down(Ui& ui, std::string_view name, Rect& row, std::span<const Segment> choices, int& chosen) {
  std::vector<MenuItem> items;
  for (std::size_t i = 0; i < choices.size(); ++i)
    items.push_back({.id = std::to_string(i),
                     .label = std::string(choices[i].label),
                     .enabled = !choices[i].disabled,
                     .checked = static_cast<int>(i) == chosen});
  const std::string_view value = kScopeTitles[static_cast<std::size_t>(chosen)];
  const Rect place = row.cut_right(dropdown_width(ui, value)).middle(ui.px(size::kControl));
  const auto picked = dropdown_menu(ui, name, place, value, items, {.tooltip = "What the numbers are of"});
  if (!picked || std::stoi(*picked) == chosen) return false;
  chosen = std::stoi(*picked);
  return true;
}

}  // namespace

void PanelScope::choose(Scope scope, session::SessionTab& tab) {
  scope_ = scope;
  tab.scope = followed_ = scope;
  selection_ = tab.region;
}

OwnSelection::OwnSelection(const session::SessionTab& tab, PanelScope& scope) : tab_(tab), scope_(scope) {
  if (tab.scope && tab.scope != scope.followed_) scope.scope_ = *tab.scope;
  scope.followed_ = tab.scope;
  if (tab.region == scope.seen_) return;
  scope.seen_ = tab.region;
  scope.selection_ = tab.region;
}

OwnSelection::~OwnSelection() {
  if (tab_.region != scope_.seen_) scope_.seen_ = tab_.region;
}

EventFilter scope_filter(const session::SessionTab& tab, const PanelScope& scope) {
  const EventFilter& filter = tab.choices.filter;
  if (scope == Scope::selection && scope.selection()) return both(filter, *scope.selection());
  if (scope != Scope::visible) return filter;
  EventFilter visible;
  visible.range = tab.view.whole_ns();
  return both(filter, visible);
}

std::string scope_text(const session::SessionTab& tab, const PanelScope& scope) {
  std::string text = "the session";
  if (scope == Scope::visible) text = format_duration(tab.view.span_ns()) + " in view";
  if (scope == Scope::selection && scope.selection())
    text = tab.region == scope.selection() ? "what is selected" : "what was selected";
  if (scope == Scope::session && !tab.choices.filter.empty()) return "what passes the filter";
  return tab.choices.filter.empty() ? text : text + " that passes the filter";
}

bool draw_scope(const PanelContext& context, std::string_view name, Rect& row, PanelScope& scope, float rest) {
  Ui& ui = context.ui;
  const bool any_selected = context.tab.region.has_value() || scope.selection().has_value();
  if (scope == Scope::selection && !any_selected) scope.fall_back();
  const std::array<Segment, 3> choices = {
      {{.label = kScopeTitles[0]},
       {.label = kScopeTitles[1], .tooltip = "Of the stretch that the timeline shows"},
       {.label = kScopeTitles[2],
        .disabled = !any_selected,
        .tooltip = any_selected ? "Of the box, or of all events of what is selected; what is clicked in this panel "
                                  "itself leaves it as it is"
                                : "Select a box, or all events of a name, a line or a layer"}}};
  int chosen = static_cast<int>(scope.chosen());
  const float width = segmented_width(ui, choices);
  bool changed = false;
  if (row.width() >= width + ui.px(kScopeGap + rest)) {
    changed = segmented(ui, name, row.cut_right(width).middle(ui.px(size::kControl)), choices, chosen);
  } else {
    changed = draw_drop_down(ui, name, row, choices, chosen);
  }
  row.cut_right(ui.px(kScopeGap));
  if (changed) scope.choose(static_cast<Scope>(chosen), context.tab);
  return changed;
}

bool draw_missing(Ui& ui, const std::string& panel, const Rect& area, const std::string& error, bool is_there,
                  std::string_view doing, std::optional<double> share) {
  if (error.empty() && is_there) return false;
  if (!error.empty()) {
    empty_sentence(ui, panel + ".wrong", area, icon::kError, error);
  } else {
    empty_sentence(ui, panel + ".loading", area, icon::kClock,
                   share ? fmt::format("{}, {} ...", doing.substr(0, doing.rfind(" ...")), format_share(*share))
                         : std::string(doing));
  }
  return true;
}

void draw_note(Ui& ui, Rect& area, std::string_view note, float least_height) {
  constexpr float kNote = 20;  // units
  if (note.empty() || area.height() < ui.px(least_height)) return;
  draw_text(ui, padded(ui, area.cut_bottom(ui.px(kNote))), note, kHintText);
}

void select_target(const PanelContext& context, const listing::ListingTarget& target, bool zoom) {
  session::SessionTab& tab = context.tab;
  if (const auto* event = std::get_if<EventId>(&target)) {
    view::select_event(tab, *event);
    context.actions.reveal(*event);
    if (zoom) context.actions.run("fit_selection");
  } else if (const auto* events = std::get_if<EventFilter>(&target)) {
    tab.region = *events;
    if (zoom && events->range) view::show_stretch(tab, events->range->begin_ns, events->range->end_ns);
  }
}

bool is_selected(const session::SessionTab& tab, const listing::ListingTarget& target) {
  if (const auto* event = std::get_if<EventId>(&target)) return tab.selected == *event;
  const auto* events = std::get_if<EventFilter>(&target);
  return events != nullptr && tab.region == *events;
}

}  // namespace accelscope::app::panels
