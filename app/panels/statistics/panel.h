// Statistics of events by any one or two columns of any schema, or by a preset: a table whose rows select their events,
// the histogram of the chosen row or of all, whose brush becomes a term of the filter, and the outliers as a list.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/content/axes/value_axis.h"
#include "app/content/listings/statistics.h"
#include "app/panels/answer_table.h"
#include "app/panels/context.h"
#include "app/panels/scope.h"

namespace accelscope::app {

// The histogram beside a table of statistics: bars, the median and the 99th percentile as dashed lines, and a brush:
// dragging over bars marks a range of values.

using ValueRange = std::pair<double, double>;  // from, to below

class HistogramView {
 public:
  struct Shown {
    const ValueDetails& details;
    std::string_view unit;
    std::optional<ValueRange> brush;  // that is a filter now
    bool stale = false;
  };
  // The range that was brushed in this frame, along the edges of bins.
  [[nodiscard]] std::optional<ValueRange> draw(render::Ui& ui, const render::Rect& area, const Shown& shown);
  [[nodiscard]] bool hovered() const noexcept { return hovered_; }  // in the last frame that drew it
  // Events of the bars in the range.
  [[nodiscard]] static std::uint64_t count_in(const ValueBins& bins, const ValueRange& range) noexcept;

 private:
  struct Plot;
  void draw_axes(render::Ui& ui, const Plot& plot, const Shown& shown) const;
  void draw_bars(render::Ui& ui, const Plot& plot, const Shown& shown) const;
  void draw_quantiles(render::Ui& ui, const Plot& plot, const Shown& shown) const;
  [[nodiscard]] std::optional<ValueRange> handle(render::Ui& ui, const Plot& plot, const Shown& shown);

  std::optional<std::size_t> drag_from_;  // the bin that a drag began at
  std::size_t drag_to_ = 0;
  bool hovered_ = false;
};

class StatisticsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] bool pending() const override { return table_kept_.task.valid() || details_kept_.task.valid(); }

 private:
  // What is grouped by what, and measured.
  struct Choice {
    std::vector<std::string> by = {"name"};
    std::string value = "duration";
    bool also_ns = false;
    bool operator==(const Choice&) const = default;
  };
  struct TableChoice {
    Choice choice;
    EventFilter within;  // what rows select more of: the scope without the session's filter
    bool operator==(const TableChoice&) const = default;
  };
  struct DetailChoice {
    Choice choice;
    BinScale scale = BinScale::log;
    std::optional<std::vector<FieldValue>> keys;  // of the chosen row; nothing: of all
    bool operator==(const DetailChoice&) const = default;
  };
  template <typename T, typename Question>
  using KeptAnswer = SessionAnalysis::Kept<T, SessionAnalysis::Filtered<Question>>;

  void take_answers(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect head);
  void draw_choices(const PanelContext& context, render::Rect& head);
  void draw_table(const PanelContext& context, const render::Rect& area);
  void draw_outliers(const PanelContext& context, const render::Rect& area);
  void draw_spread(const PanelContext& context, render::Rect area);
  void draw_brush_foot(const PanelContext& context, render::Rect foot);
  void draw_progress(const PanelContext& context, const render::Rect& area) const;
  // False where there is nothing to be drawn but a sentence.
  [[nodiscard]] bool draw_state(const PanelContext& context, const render::Rect& area);
  void choose(Choice choice);
  // The brush is a term of the session's filter; nothing where that has gone.
  [[nodiscard]] std::optional<ValueRange> brush(const SessionTab& tab) const;
  void set_brush(const PanelContext& context, const std::optional<ValueRange>& range);

  PanelScope scope_ = Scope::session;
  Choice choice_;
  int shown_ = 0;  // 0: the groups, 1: the outliers
  BinScale scale_ = BinScale::log;
  std::optional<std::vector<FieldValue>> keys_;  // of the chosen row
  bool region_seen_ = false;                     // the chosen row's events were what is selected
  struct Brush {
    FilterTerm term;
    ValueRange range;
  };
  std::optional<Brush> brush_;

  KeptAnswer<StatisticsTable, TableChoice> table_kept_;
  KeptAnswer<ValueDetails, DetailChoice> details_kept_;
  std::shared_ptr<const StatisticsTable> table_;
  std::shared_ptr<const ValueDetails> details_;
  std::shared_ptr<const Listing> outliers_;          // of details_
  std::shared_ptr<const ValueDetails> outliers_of_;  // that they were made of
  AnswerTable rows_, outlier_rows_;
  HistogramView histogram_;
  // Of the menus, of the snapshot with so many schemas and tracks.
  std::vector<GroupColumn> group_columns_, value_columns_;
  std::vector<StatisticsPreset> presets_;
  std::uint64_t columns_version_ = ~std::uint64_t{0};  // of the snapshot that they were looked for in
};

}  // namespace accelscope::app
