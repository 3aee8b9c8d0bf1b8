// Kernels and operations of the devices by total time, with work sizes, resources, occupancy and stalls where they were
// recorded. A click selects all events of a row, and every view follows; a double click opens the source of the longest
// beside its instruction listing.
#pragma once

#include <memory>
#include <optional>

#include "app/content/listings/hotspots.h"
#include "app/panels/answer_table.h"
#include "app/panels/scope.h"

namespace accelscope::app {

class HotspotsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override { return kept_.task.valid(); }

 private:
  struct HotspotTable {
    HotspotList hotspots;
    Listing listing;
  };
  void draw_head(const PanelContext& context, render::Rect head);

  PanelScope scope_ = Scope::session;
  SessionAnalysis::Kept<HotspotTable, SessionAnalysis::Filtered<EventFilter>> kept_;
  std::shared_ptr<const HotspotTable> shown_;
  AnswerTable rows_;
};

}  // namespace accelscope::app
