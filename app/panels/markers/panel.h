// The markers of the session: rename, note, delete, go there, the time from any one to another, and sets of them by
// name.
#pragma once

#include "app/panels/panel.h"
#include "app/view/marker_sets.h"

namespace accelscope::app::panels {

// The bar over the list of markers: sets of markers by name, loaded, saved, renamed, deleted, exported and imported.

class MarkerSetsBar {
 public:
  // At the top of the area, which shrinks.
  void draw(const PanelContext& context, render::Rect& area);
  // Of the session that the panel belongs to; commands use them too.
  [[nodiscard]] view::SessionMarkerSets& sets() noexcept { return sets_; }

 private:
  void draw_chosen(const PanelContext& context, render::Rect row);
  void draw_naming(const PanelContext& context, render::Rect row);
  void tell(const PanelContext& context, const Result<void>& done, const std::string& text) const;
  [[nodiscard]] const view::MarkerSet* chosen(const PanelContext& context);

  view::SessionMarkerSets sets_;
  std::string chosen_;  // name of the set in the list
  std::string typed_;   // name to save or rename to
};

class MarkersPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] std::string badge(const session::SessionTab& tab) const override {
    return tab.markers.empty() ? "" : std::to_string(tab.markers.size());
  }
  [[nodiscard]] view::SessionMarkerSets& sets() noexcept { return bar_.sets(); }

 private:
  void draw_editor(const PanelContext& context, const render::Rect& whole, render::Rect area);
  void draw_difference(const PanelContext& context, const Marker& chosen, render::Rect row);

  MarkerSetsBar bar_;
  render::TableState table_;
  std::optional<std::int64_t> base_;  // id of the one that differences are taken from
  Marker retained_;                   // as it was when it came into the editor
  std::string name_, note_, set_;     // what is being typed for it
};

}  // namespace accelscope::app::panels
