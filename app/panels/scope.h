// What of the session a panel's numbers are of: all of it, what the timeline shows, or what is selected; always within
// the filter.
//
//   draw_scope(context, "statistics.scope", head, scope_);          // takes its room at the right of `head`
//   const EventFilter wanted = scope_filter(context.tab, scope_);
#pragma once

#include <string_view>

#include "app/panels/context.h"

namespace accelscope::app {

enum class Scope : std::uint8_t { session, visible, selection };

// Without anything selected, Scope::selection is the session.
[[nodiscard]] EventFilter scope_filter(const SessionTab& tab, Scope scope);
// "the session", "1.2 ms in view", "what is selected"; "... that passes the filter".
[[nodiscard]] std::string scope_text(const SessionTab& tab, Scope scope);
// True when it has changed. Segments register as NAME.0 (session), NAME.1 (visible range), NAME.2 (selection, while
// there is one).
bool draw_scope(const PanelContext& context, std::string_view name, render::Rect& row, Scope& scope);

}  // namespace accelscope::app
