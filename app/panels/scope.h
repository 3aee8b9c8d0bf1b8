// What of the session a panel's numbers are of: all of it, what the timeline shows, or what is selected; always within
// the filter.
//
//   const OwnSelection own(context.tab, scope_);                     // first of all in Panel::draw()
//   draw_scope(context, "statistics.scope", head, scope_);           // takes its room at the right of `head`
//   const EventFilter wanted = scope_filter(context.tab, scope_);
//
// What a panel selects by itself, by a click in its table, is shown everywhere else, but is no new question to the
// panel itself: its numbers stay those of what was selected elsewhere, until something else is selected there or the
// scope is chosen anew.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/content/listings/base/listing.h"
#include "app/panels/context.h"

namespace accelscope::app {

enum class Scope : std::uint8_t { session, visible, selection };

class PanelScope {
 public:
  PanelScope(Scope scope) noexcept : scope_(scope) {}  // NOLINT: a scope is what it is
  [[nodiscard]] bool operator==(Scope scope) const noexcept { return scope_ == scope; }
  [[nodiscard]] Scope chosen() const noexcept { return scope_; }
  // What Scope::selection is of; nothing: nothing was selected.
  [[nodiscard]] const std::optional<EventFilter>& selection() const noexcept { return selection_; }
  void choose(Scope scope, const SessionTab& tab);

 private:
  friend class OwnSelection;
  Scope scope_;
  std::optional<EventFilter> selection_;
  std::optional<EventFilter> seen_;  // what was selected when the panel was drawn last
};

// While it lives, the panel itself is what selects.
class OwnSelection {
 public:
  OwnSelection(const SessionTab& tab, PanelScope& scope);
  ~OwnSelection();
  OwnSelection(const OwnSelection&) = delete;
  OwnSelection& operator=(const OwnSelection&) = delete;

 private:
  const SessionTab& tab_;
  PanelScope& scope_;
};

// Without anything selected, Scope::selection is the session.
[[nodiscard]] EventFilter scope_filter(const SessionTab& tab, const PanelScope& scope);
// "the session", "1.2 ms in view", "what is selected", "what was selected" where the panel has selected something else
// since; "... that passes the filter".
[[nodiscard]] std::string scope_text(const SessionTab& tab, const PanelScope& scope);
// True when it has changed. Segments, or a drop-down where `rest`, units that others in the row take, leaves no room
// for them. They register as NAME.0 (session), NAME.1 (visible range), NAME.2 (selection), those of the drop-down while
// it is open; the drop-down as NAME.
bool draw_scope(const PanelContext& context, std::string_view name, render::Rect& row, PanelScope& scope,
                float rest = 320);

// What a row, a bar, a box or a point of a panel speaks of, selected on the timeline and so in every panel.

// An event becomes the selected one and comes into sight; a filter becomes what is selected. zoom: the view goes to it,
// where it has a range of its own.
void select_target(const PanelContext& context, const ListingTarget& target, bool zoom);
[[nodiscard]] bool is_selected(const SessionTab& tab, const ListingTarget& target);

}  // namespace accelscope::app
