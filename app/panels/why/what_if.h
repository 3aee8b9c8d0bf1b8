// What the session would be with changes: those that suit it and those that the user has written, each ticked or not
// with what it alone would save, and the replay of the ticked ones beside what was recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/why/what_if.h"
#include "app/panels/panel.h"

namespace accelscope::app::panels {

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
            const std::vector<std::optional<content::ChangeSaving>>& savings);
  // Further ones that suit it, until others do: before those that are there. Until the user ticks the first of them
  // alone is ticked.
  void offer(const std::vector<std::string>& texts);
  // What a row of another list proposes: it is ticked, and added where it is not there.
  void choose(const std::string& text);
  [[nodiscard]] float whole_width(const render::Ui& ui) const;  // in pixels, where each can be read
  [[nodiscard]] const std::vector<ShownChange>& all() const noexcept { return changes_; }

 private:
  void add_typed(const PanelContext& context);

  std::vector<ShownChange> changes_;
  bool touched_ = false;  // the user has ticked or written something
  std::string typed_, wrong_;
};

// The same lanes on one axis: now above, predicted below in a dashed edge; time saved is hatched.

struct GhostTimes {
  std::int64_t before_ns = 0, after_ns = 0;
  std::vector<content::GhostRow> rows;
};

// What the ticked changes give together, and each change alone.
struct WhatIfResult {
  std::vector<std::optional<content::ChangeSaving>> savings;
  std::string of_two;  // what the first two findings save together, where that is not the sum of both
  std::optional<content::WhatIfAnswer> together;
  GhostTimes ghost;
  std::string wrong;
};
void draw_what_if(const PanelContext& context, render::Rect area, const WhatIfResult& result, bool stale);

}  // namespace accelscope::app::panels
