// The findings of a session, for what shows them unasked: boxes on the timeline, signs in the source, counts on a tab.
// While a capture runs they are not asked for, which leaves the workers to it, unless a panel has once asked for them.
#pragma once

#include <memory>

#include "app/session/analysis.h"
#include "app/session/tab.h"

namespace accelscope::app::session {

// Null until the first answer.
[[nodiscard]] inline std::shared_ptr<const analysis::Advice> shown_advice(const SessionTab& tab) {
  if (!tab.analysis) return nullptr;
  return may_grow(tab) && !tab.analysis->advice_state().value ? nullptr : tab.analysis->advice();
}

}  // namespace accelscope::app::session
