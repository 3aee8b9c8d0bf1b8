// What is selected holds and costs together: a box, the events of a name, a line, a layer or a bin. Where nothing is
// selected, the visible range in five columns (app/content/visible_summary.h), as the session's filter lets it through.
// A click on a row or a bar narrows the selection to it; a second click widens it again.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/visible_summary.h"
#include "app/panels/context.h"
#include "app/panels/selection/tables.h"

namespace accelscope::app {

class SelectionPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;

 private:
  struct Fact {
    const char* name;
    std::string value, exact;
    const char* explanation;
  };
  void take_answers(const PanelContext& context, const EventFilter& wanted);
  void draw_head(const PanelContext& context, render::Rect head, bool stale);
  void draw_heading(const PanelContext& context, const render::Rect& head, bool stale) const;
  void draw_visible(const PanelContext& context, const render::Rect& area, bool stale);
  void draw_facts(const PanelContext& context, render::Rect area) const;
  [[nodiscard]] std::vector<Fact> facts_of() const;
  [[nodiscard]] std::optional<double> copy_rate() const;  // bytes per second
  void add_times(std::vector<Fact>& facts) const;
  [[nodiscard]] std::vector<SummaryPartTable*> wanted_parts();
  void draw_parts(const PanelContext& context, render::Rect area, const std::vector<SummaryPartTable*>& parts);
  void draw_bins(const PanelContext& context, render::Rect area);
  void select(const PanelContext& context, const std::string& search) const;
  void pin(const PanelContext& context) const;

  std::shared_ptr<const SessionSummary> answer_;  // that is shown
  std::shared_ptr<const RangeReport> report_;     // of the same filter once it is there
  std::uint64_t copied_ = 0;                      // bytes, of the answer
  VisibleColumns columns_;                        // made of both
  std::array<SummaryPartTable, kSummaryParts> parts_ = {
      SummaryPartTable(SummaryPart::names), SummaryPartTable(SummaryPart::lines), SummaryPartTable(SummaryPart::layers),
      SummaryPartTable(SummaryPart::lanes)};
  int first_part_ = 0;  // of those that have rows, where not all fit
};

}  // namespace accelscope::app
