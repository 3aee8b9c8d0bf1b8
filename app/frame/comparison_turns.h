// Between and above the timelines of two sessions: the turns of the loop that both run, which is which, how their
// lengths compare, and where the work of each ends.
#pragma once

#include <cstdint>
#include <memory>

#include "app/session/analysis.h"
#include "app/session/tab.h"
#include "core/analysis/iterations/iterations.h"
#include "render/base/ui.h"

namespace accelscope::app {

inline constexpr float kTurnStrip = 18, kTurnLinks = 24;  // units

using TurnsKept = SessionAnalysis::Kept<SharedTurns>;

// Empty where they have no loop in common; null while that is not known, and where looking for one failed, which then
// is the error of `kept`.
[[nodiscard]] std::shared_ptr<const SharedTurns> ask_shared_turns(SessionAnalysis& base, TurnsKept& kept,
                                                                  const SessionTab& other, bool grows);

[[nodiscard]] bool has_links(const SessionTab& comparison);

// What a timeline's lanes take up of the window.
struct LaneHeight {
  float top = 0, bottom = 0;
};

// The turns of `side`, which is the comparison or the session below it, in the time that it shows; a click on one lays
// both so that it begins at the same place. A line through the lanes stands at the end of its work.
void draw_turns(render::Ui& ui, const render::Rect& strip, SessionTab& comparison, const SessionTab& side,
                const LaneHeight& lanes);
// From each turn above to the same turn below, with the ratio of their lengths.
void draw_turn_links(render::Ui& ui, const render::Rect& strip, const SessionTab& comparison);

}  // namespace accelscope::app
