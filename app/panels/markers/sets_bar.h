// The bar over the list of markers: sets of markers by name, loaded, saved, renamed, deleted, exported and imported.
#pragma once

#include <string>

#include "app/panels/context.h"
#include "app/view/marker_sets.h"

namespace accelscope::app {

class MarkerSetsBar {
 public:
  // At the top of the area, which shrinks.
  void draw(const PanelContext& context, render::Rect& area);
  // Of the session that the panel belongs to; commands use them too.
  [[nodiscard]] SessionMarkerSets& sets() noexcept { return sets_; }

 private:
  void draw_chosen(const PanelContext& context, render::Rect row);
  void draw_naming(const PanelContext& context, render::Rect row);
  void tell(const PanelContext& context, const Result<void>& done, const std::string& text) const;
  [[nodiscard]] const MarkerSet* chosen(const PanelContext& context);

  SessionMarkerSets sets_;
  std::string chosen_;  // name of the set in the list
  std::string typed_;   // name to save or rename to
};

}  // namespace accelscope::app
