// What is selected holds and costs together: a box, the events of a name, a line, a layer or a bin. Where nothing is
// selected, the visible range in five columns (app/content/visible_summary.h), as the session's filter lets it through.
// A click on a row or a bar narrows the selection to it; a second click widens it again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/visible_summary.h"
#include "app/panels/context.h"
#include "core/analysis/figures/range_activity.h"
#include "render/widgets/table.h"

namespace accelscope::app {

// The tables of a selection: its names, source lines, layers and lanes with what each costs. What a cell says, how rows
// are sorted and what a click on one selects; the panel places them.

enum class SummaryPart : std::uint8_t { names, lines, layers, lanes };
inline constexpr std::size_t kSummaryParts = 4;

class SummaryPartTable {
 public:
  explicit SummaryPartTable(SummaryPart part) : part_(part) {}

  // With every new answer. Of a host's calls, zones and tracks of several lanes the
  // time is known with the activity of the same filter, which may be null.
  void take(const std::shared_ptr<const SessionSummary>& answer, const std::shared_ptr<const RangeActivity>& activity,
            const Snapshot& snapshot);
  [[nodiscard]] bool empty() const noexcept { return !rows_ || rows_->empty(); }
  [[nodiscard]] const char* title() const noexcept;  // "Names"
  // What a click on a row selects.
  [[nodiscard]] std::optional<EventFilter> draw(const PanelContext& context, const render::Rect& area,
                                                const EventFilter& selected);

 private:
  enum class Figure : std::uint8_t { text, kind, events, busy, wait, average, bytes, achieved, share };
  struct Rows {  // what a cell needs, also on a worker that exports them
    SummaryPart part;
    std::shared_ptr<const SelectionSummary> summary;
    std::shared_ptr<const std::vector<SummaryRow>> rows;
    std::vector<std::uint32_t> order;
    std::vector<Figure> figures;
    std::int64_t whole_ns = 0;  // of which `share` is
    [[nodiscard]] render::TableCell cell(std::size_t row, std::size_t column) const;
  };
  [[nodiscard]] std::vector<render::TableColumn> choose_columns(float width_units);
  [[nodiscard]] render::TableColumn column_of(Figure figure) const;
  void sort();
  [[nodiscard]] std::vector<SummaryRow> lane_rows(const RangeActivity* activity, const Snapshot& snapshot) const;
  [[nodiscard]] std::optional<EventFilter> narrowed(const PanelContext& context, const EventFilter& selected,
                                                    std::size_t row) const;
  [[nodiscard]] std::string code_of(const PanelContext& context, const std::string& line);

  SummaryPart part_;
  std::shared_ptr<const SelectionSummary> summary_;
  std::shared_ptr<const std::vector<SummaryRow>> rows_;
  std::uint64_t distinct_ = 0;
  bool has_bytes_ = false;
  std::int64_t whole_ns_ = 1;
  std::vector<std::uint32_t> order_;  // of the rows
  std::vector<Figure> figures_;       // of the columns
  render::TableState state_;
  std::optional<Figure> sorted_by_;
  bool descending_ = true;
  std::string code_path_;  // of the file that code_ is the lines of
  std::vector<std::string> code_;
};

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
