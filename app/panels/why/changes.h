// The changes of a what-if in the panel: those that suit the session and those that the user has written, each ticked
// or not, with what it alone would save.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/why/what_if.h"
#include "app/panels/context.h"

namespace accelscope::app {

struct ShownChange {
  std::string text;
  bool on = false, suggested = false;
};

class ChangeList {
 public:
  // What suits the session comes in place of what suited it before; the user's own stay. The first is ticked until the
  // user ticks.
  void suggest(const std::vector<std::string>& texts);
  void draw(const PanelContext& context, const render::Rect& area,
            const std::vector<std::optional<ChangeSaving>>& savings);
  // Further ones that suit it, until others do: before those that are there. Until the user ticks the first of them
  // alone is ticked.
  void offer(const std::vector<std::string>& texts);
  // What a row of another list proposes: it is ticked, and added where it is not there.
  void choose(const std::string& text);
  [[nodiscard]] const std::vector<ShownChange>& all() const noexcept { return changes_; }

 private:
  void add_typed(const PanelContext& context);

  std::vector<ShownChange> changes_;
  bool touched_ = false;  // the user has ticked or written something
  std::string typed_, wrong_;
};

}  // namespace accelscope::app
