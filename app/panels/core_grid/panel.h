// Any measure of the cores by their places: each chip a picture of cells with their values, a table of the cores beside
// or below it, and the range of time that both are of, which can be dragged and played. A click on a cell selects what
// ran on the core, in every panel, and brings its row into sight on the timeline; a double click pins its rows. The
// core of the selected event is ringed.
#pragma once

#include "app/panels/answer_table.h"
#include "app/panels/panel.h"
#include "core/analysis/core_grid/grid_frames.h"
#include "core/listing/analysis_listings.h"

namespace accelscope::app::panels {

// The stretch of time that the grid is of: whole frames of what was asked for. It is dragged, moved, or moves by itself
// while it is played.

struct FrameSpan {
  std::size_t first = 0, last = 0;  // [first, last)
  bool operator==(const FrameSpan&) const = default;
};

class GridBrush {
 public:
  [[nodiscard]] bool whole() const noexcept { return !stretch_; }
  void clear() noexcept { stretch_.reset(); }
  // Between two times in any order; never less than a frame.
  void set(const analysis::GridFrames& frames, double a_ns, double b_ns) {
    const double least = frame_ns(frames);
    const auto low = static_cast<double>(frames.range.begin_ns), high = static_cast<double>(frames.range.end_ns);
    double begin = std::clamp(std::min(a_ns, b_ns), low, high), end = std::clamp(std::max(a_ns, b_ns), low, high);
    if (end - begin < least) begin = std::clamp(begin, low, high - least), end = begin + least;
    stretch_ = Stretch{begin, end};
  }
  // Keeps its length and stays inside.
  void move_to(const analysis::GridFrames& frames, double begin_ns) {
    const Stretch now = of(frames);
    const auto low = static_cast<double>(frames.range.begin_ns), high = static_cast<double>(frames.range.end_ns);
    const double length = std::min(now.end - now.begin, high - low);
    const double begin = std::clamp(begin_ns, low, high - length);
    stretch_ = Stretch{begin, begin + length};
  }
  struct Stretch {
    double begin = 0, end = 0;  // ns
  };
  // Where it lies in these frames, which may be of another range than when it was set.
  [[nodiscard]] Stretch of(const analysis::GridFrames& frames) const noexcept {
    const auto low = static_cast<double>(frames.range.begin_ns), high = static_cast<double>(frames.range.end_ns);
    if (!stretch_ || stretch_->end <= low || stretch_->begin >= high) return {low, high};
    return {std::max(low, stretch_->begin), std::min(high, stretch_->end)};
  }
  [[nodiscard]] FrameSpan span(const analysis::GridFrames& frames) const noexcept {
    if (frames.count == 0) return {};
    const Stretch at = of(frames);
    const auto nearest = [&](double ns) {
      const double share = (ns - static_cast<double>(frames.range.begin_ns)) /
                           static_cast<double>(std::max<std::int64_t>(1, frames.range.length_ns()));
      return static_cast<std::size_t>(std::lround(share * static_cast<double>(frames.count)));
    };
    const std::size_t first = std::min(nearest(at.begin), frames.count - 1);
    return {first, std::clamp(nearest(at.end), first + 1, frames.count)};
  }

 private:
  [[nodiscard]] static double frame_ns(const analysis::GridFrames& frames) noexcept {
    return static_cast<double>(frames.range.length_ns()) / static_cast<double>(std::max<std::size_t>(1, frames.count));
  }
  std::optional<Stretch> stretch_;
};

class CoreGridPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;

 private:
  // What is drawn in a frame.
  struct Shown {
    const analysis::GridFrames& frames;
    FrameSpan span;
    const listing::CoreValues& values;  // of times: shares
    double low = 0, high = 1;           // of the ramp
    std::string unit;
  };
  struct CellSize {
    float width = 0, height = 0;  // pixels, with the gap
  };
  enum class Drag : std::uint8_t { none, begin, end, move, fresh };

  // panel.cpp
  void ask(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect& area);
  void draw_measure(const PanelContext& context, render::Rect row);
  void draw_chip_choice(const PanelContext& context, render::Rect& row);
  bool draw_problem(const PanelContext& context, const render::Rect& area);
  void draw_body(const PanelContext& context, const render::Rect& area);
  void draw_table(const PanelContext& context, const render::Rect& area, const Shown& shown);
  [[nodiscard]] Shown make_shown(const PanelContext& context);
  [[nodiscard]] const std::string& error() const;
  // cells.cpp
  [[nodiscard]] static CellSize fitting_cells(const PanelContext& context, const analysis::GridFrames& frames,
                                              const std::vector<std::size_t>& chips, render::Point room);
  [[nodiscard]] static float labels_width(const PanelContext& context, const analysis::GridChip& chip);
  [[nodiscard]] render::Point place_chips(const PanelContext& context, const analysis::GridFrames& frames,
                                          render::Point room);
  void draw_chips(const PanelContext& context, render::Rect area, const Shown& shown);
  void draw_chip(const PanelContext& context, std::size_t chip, const render::Rect& area, const Shown& shown);
  void draw_axes(const PanelContext& context, const analysis::GridChip& chip, const render::Rect& cells) const;
  void draw_plan(const PanelContext& context, std::size_t chip, const render::Rect& cells, const Shown& shown);
  void draw_cell(const PanelContext& context, std::size_t cell, const render::Rect& at, const Shown& shown);
  [[nodiscard]] std::string cell_text(double value, const Shown& shown) const;
  [[nodiscard]] std::string value_text(double value, const Shown& shown) const;
  void explain(const PanelContext& context, std::size_t cell, const render::Rect& at, const Shown& shown) const;
  void select_core(const PanelContext& context, std::size_t cell, bool adds, bool pins, const Shown& shown) const;
  void draw_legend(const PanelContext& context, render::Rect row, const Shown& shown) const;
  // panel.cpp
  void play(const PanelContext& context);
  void draw_strip(const PanelContext& context, render::Rect area, const Shown& shown);
  void draw_curve(const PanelContext& context, const render::Rect& plot, const Shown& shown);
  void take_response(const PanelContext& context, const render::Rect& plot, const analysis::GridFrames& frames);

  struct Question {
    analysis::GridMeasure measure;
    bool operator==(const Question&) const = default;
  };
  FilteredAnswer<analysis::GridOffer> offer_retained_;
  FilteredAnswer<analysis::GridFrames, Question> frames_retained_;
  std::shared_ptr<const analysis::GridOffer> offer_;
  std::shared_ptr<const analysis::GridFrames> frames_;
  analysis::GridMeasure measure_;
  PanelScope scope_ = Scope::visible;  // most of a session is idle
  std::size_t chip_ = 0;               // that is shown where not all fit
  CellSize cell_;
  std::vector<std::size_t> chips_;  // that are shown
  bool was_double_ = false;         // the release to come belongs to a double click

  GridBrush brush_;
  Drag drag_ = Drag::none;
  double drag_from_ns_ = 0, drag_offset_ns_ = 0;
  bool dragged_ = false;
  bool playing_ = false;
  double played_at_s_ = 0;
  int speed_ = 1;

  std::vector<double> curve_;  // mean of the cores, by frame; 0 to 1
  std::shared_ptr<const analysis::GridFrames> curve_of_;
  struct Stretch {
    std::shared_ptr<const analysis::GridFrames> frames;
    FrameSpan span;
    bool operator==(const Stretch&) const = default;
  };
  std::optional<Stretch> values_of_;
  listing::CoreValues values_;
  // The table of a stretch. While it is played its rows keep their places.
  using CellOrder = std::shared_ptr<const std::vector<std::size_t>>;
  struct CoreTable {
    CellOrder order;
    listing::Listing listing;
  };
  struct TableQuestion {
    Stretch of;
    CellOrder order;  // null: that of the stretch
    bool operator==(const TableQuestion&) const = default;
  };
  RetainedAnswer<CoreTable, TableQuestion> table_retained_;
  AnswerTable table_;
};

}  // namespace accelscope::app::panels
