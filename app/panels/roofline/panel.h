// The memory hierarchy of a device and its roofline beside it, or below it where there is little width: what it moved,
// what it computed, what bounds it. The device's peaks are edited in the place of the hierarchy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/context.h"
#include "app/panels/roofline/levels_view.h"
#include "app/panels/roofline/peaks_editor.h"
#include "app/panels/roofline/roof_plot.h"
#include "app/panels/scope.h"
#include "app/persist/peak_book.h"

namespace accelscope::app {

class RooflinePanel final : public Panel {
 public:
  explicit RooflinePanel(PeakBook& book) : book_(book), editor_(book) {}
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;

 private:
  void ask(const PanelContext& context);
  [[nodiscard]] float levels_height(const render::Ui& ui) const;
  void draw_levels(const PanelContext& context, render::Rect area);
  void draw_roof(const PanelContext& context, render::Rect area);
  void draw_roof_head(const PanelContext& context, render::Rect& area);
  void draw_roof_choices(const PanelContext& context, render::Rect& row);
  void draw_waiting(const PanelContext& context, const render::Rect& area, const std::string& error,
                    std::optional<double> share) const;
  [[nodiscard]] const DeviceLevels* levels() const;
  [[nodiscard]] const Roofline* roofline() const;
  [[nodiscard]] std::vector<std::string> device_names() const;

  PeakBook& book_;
  PeaksEditor editor_;
  LevelsView view_;
  RoofPlot plot_;
  bool editing_ = false;
  PanelScope scope_ = Scope::session;
  EventFilter wanted_;
  std::optional<RoofGrouping> grouping_;        // as the user chose it
  std::uint64_t usual_of_ = ~std::uint64_t{0};  // the snapshot that usual_ is of
  RoofGrouping usual_ = RoofGrouping::name;
  int memory_ = 0, device_ = 0;
  SessionAnalysis::Kept<MemoryLevels, SessionAnalysis::Filtered<PeakEdits>> levels_;
  SessionAnalysis::Kept<Rooflines, SessionAnalysis::Filtered<RoofGrouping>> roofs_;
  std::vector<RoofCeiling> ceilings_;
};

}  // namespace accelscope::app
