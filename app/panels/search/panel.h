// The list of what the search found, in the visible range or everywhere, beside the number of hits and what those in
// view add up to, and what can be done with the search: step through it, make it the filter, select all of it. Without
// a search: how one is written.
#pragma once

#include <memory>
#include <optional>

#include "app/panels/context.h"
#include "core/names/short_names.h"
#include "render/widgets/table.h"

namespace accelscope::app {

// What the hits of the search in the visible range add up to: how many, their time, and by name, source line or lane
// which of them take most of it.

class HitSummaryColumn {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  int by_ = 0;
  render::TableState table_;
};

class SearchPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;

 private:
  void draw_help(const PanelContext& context, const render::Rect& area);
  void draw_head(const PanelContext& context, render::Rect& area);
  void draw_actions(const PanelContext& context, render::Rect& row);
  void draw_found(const PanelContext& context, render::Rect row, render::Rect& below);
  void draw_steps(const PanelContext& context, render::Rect& row) const;
  void draw_list(const PanelContext& context, const render::Rect& area);
  [[nodiscard]] TimeRange range_of(const SessionTab& tab) const;

  bool visible_only_ = false;
  render::TableState table_;
  ShortNames names_;  // of the hits that were drawn
  HitSummaryColumn summary_;
};

}  // namespace accelscope::app
