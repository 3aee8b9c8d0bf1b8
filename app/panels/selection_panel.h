// What is selected holds and costs together: a box, the events of a name, a line, a layer or a bin, or, where nothing
// is selected, what the session's filter lets through of the visible range. A click on a row or a bar narrows the
// selection to it; a second click widens it again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/panels/panel_context.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class SelectionPanel {
 public:
  void draw(const PanelContext& context, const render::Rect& area);

 private:
  enum class Kind : std::uint8_t { names, lines, layers };
  struct RowTable {
    render::TableState state;
    std::vector<std::size_t> order;  // of the summary's rows
    int sorted_by = -1;
    bool descending = true;
  };
  void draw_head(const PanelContext& context, render::Rect head, bool stale);
  void draw_facts(const PanelContext& context, render::Rect area) const;
  void draw_rows(const PanelContext& context, const render::Rect& area, Kind kind, RowTable& rows);
  void draw_bins(const PanelContext& context, render::Rect area);
  void select(const PanelContext& context, const std::string& search) const;
  void pin(const PanelContext& context) const;
  void sort(const SummaryRows& rows, RowTable& table) const;
  [[nodiscard]] std::string code_of(const PanelContext& context, const std::string& line);

  std::shared_ptr<const SessionSummary> answer_;  // that is shown
  RowTable names_, lines_, layers_;
  std::string code_path_;  // of the file that code_ is the lines of
  std::vector<std::string> code_;
};

}  // namespace accelscope::app
