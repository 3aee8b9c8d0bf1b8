// The memory hierarchy of a device and its roofline beside it, or below it where there is little width: what it moved,
// what it computed, what bounds it. The device's peaks are edited in the place of the hierarchy.
#pragma once

#include <map>

#include "app/content/axes/axes.h"
#include "app/panels/panel.h"
#include "core/analysis/peaks/peaks.h"
#include "core/analysis/roofline/memory_levels.h"
#include "core/analysis/roofline/roofline.h"
#include "core/model/event_filter.h"
#include "core/store/snapshot.h"

namespace accelscope::app::panels {

// The memories of a device as boxes, what goes between them as arrows as wide as their bandwidth, and the same as a
// table. Only what limits is amber, with its reason on a tab.

class LevelsView {
 public:
  // faded: the figures are of an earlier question.
  void draw(const PanelContext& context, const render::Rect& area, const analysis::DeviceLevels& levels, bool faded);
  [[nodiscard]] static float least_height(const render::Ui& ui, const analysis::DeviceLevels& levels);

 private:
  struct Arrow {
    const analysis::LevelPath* path = nullptr;
    std::vector<render::Point> points;  // corners, from begin to end
    render::Rect label;                 // above and below its middle
    bool has_label = true;
  };
  [[nodiscard]] render::Rect rect_of(const render::Ui& ui, const render::Rect& area,
                                     const analysis::LevelBox& box) const;
  void draw_boxes(const PanelContext& context, const render::Rect& area, const analysis::DeviceLevels& levels,
                  bool faded) const;
  void draw_box(const PanelContext& context, const render::Rect& rect, const analysis::DeviceLevels& levels,
                const analysis::LevelBox& box, bool faded) const;
  void draw_arrows(const PanelContext& context, const render::Rect& area, const analysis::DeviceLevels& levels,
                   bool faded) const;
  void draw_arrow(const PanelContext& context, const Arrow& arrow, double most, bool limits, bool faded) const;
  void draw_reason(const PanelContext& context, const render::Rect& area, const analysis::DeviceLevels& levels) const;
  void draw_table(const PanelContext& context, const render::Rect& area, const analysis::DeviceLevels& levels,
                  bool faded);

  render::TableState table_;
};

// Where the points, ceilings and labels of a roofline stand, without drawing: made once for an answer, a size and a
// zoom, in pixels from the upper left corner of the plot. Labels cover no point, no ceiling and no other label; points
// that lie at one place share one.

struct RoofQuestion {
  std::shared_ptr<const analysis::Roofline> line;
  analysis::RoofGrouping grouping = analysis::RoofGrouping::name;
  std::size_t memory = 0;                       // of the line's memories
  std::vector<analysis::RoofCeiling> ceilings;  // none: points without a roof
  EventFilter filter;                           // that the points are within
  float width = 0, height = 0;                  // pixels of the plot
  float unit = 1;                               // pixels
  bool operator==(const RoofQuestion&) const = default;
};

struct RoofLayout {
  static constexpr std::size_t kMostDots = 400;

  struct Dot {
    const analysis::RoofPoint* point = nullptr;
    std::size_t number = 0;  // among the points of the line
    render::Point at;
    float radius = 0;
    std::uint8_t slot = 0;  // of its colour
    EventFilter events;     // that it stands for
    [[nodiscard]] render::Rect box() const noexcept {
      return {at.x - radius, at.y - radius, at.x + radius, at.y + radius};
    }
  };
  struct Segment {
    render::Point from, to;
  };
  struct Ceiling {
    analysis::RoofCeiling::Kind kind;
    Segment line;
  };
  struct Label {
    std::string text;
    render::Rect rect;
    std::optional<analysis::RoofCeiling::Kind> ceiling;  // else it is that of a point
    std::size_t dot = 0;
    std::optional<Segment> leader;  // to a point that is not beside it
  };
  struct GridLine {
    float at = 0;
    std::string text;  // "": a fine line
  };
  content::ValueAxis intensity{analysis::BinScale::log}, rate{analysis::BinScale::log};
  std::int64_t longest_ns = 1;    // of the points
  std::size_t placed = 0;         // points that have a place, drawn or not
  float largest_dot = 0;          // radius
  std::vector<Dot> dots;          // the busiest first
  std::vector<Ceiling> ceilings;  // the roof last, and so on top
  std::vector<Label> labels;      // of ceilings, then of points
  std::vector<GridLine> columns, rows;
  std::string unplaced;  // what has no place, and how much is left out; "": nothing
};

// width_of: of a label's text, in pixels.
using LabelWidth = std::function<float(std::string_view text)>;
[[nodiscard]] RoofLayout lay_out_roof(const RoofQuestion& question, const Snapshot& snapshot,
                                      const LabelWidth& width_of);
[[nodiscard]] std::string roof_point_name(const analysis::RoofPoint& point, analysis::RoofGrouping grouping);

// The layout of the last question.
class RoofLayouts {
 public:
  const RoofLayout& of(RoofQuestion question, const Snapshot& snapshot, const LabelWidth& width_of);
  [[nodiscard]] const RoofLayout& last() const noexcept { return layout_; }
  [[nodiscard]] std::size_t made() const noexcept { return made_; }  // how many so far

 private:
  RoofQuestion question_;
  RoofLayout layout_;
  std::size_t made_ = 0;
};

// The points of a roofline under their roof, on two logarithmic axes that fit them. A click selects the events of a
// point, a double click zooms to them; hovering tells its figures.

class RoofPlot {
 public:
  struct Shown {
    std::shared_ptr<const analysis::Roofline> line;
    analysis::RoofGrouping grouping;
    std::size_t memory;                                  // of the line's memories
    const std::vector<analysis::RoofCeiling>& ceilings;  // none: points without a roof
    const EventFilter& filter;                           // that the points are within
    bool faded = false;
  };
  // True when the user asks for the peaks to be entered.
  [[nodiscard]] bool draw(const PanelContext& context, const render::Rect& area, const Shown& shown);

 private:
  [[nodiscard]] const RoofLayout& layout() const noexcept { return layouts_.last(); }
  [[nodiscard]] render::Point on_screen(render::Point at) const { return {plot_.x0 + at.x, plot_.y0 + at.y}; }
  [[nodiscard]] render::Rect on_screen(const render::Rect& rect) const { return rect.moved(plot_.x0, plot_.y0); }
  void draw_grid(const PanelContext& context, const Shown& shown) const;
  void draw_ceilings(const PanelContext& context) const;
  void draw_dots(const PanelContext& context, const Shown& shown) const;
  void draw_labels(const PanelContext& context) const;
  void draw_foot(const PanelContext& context, render::Rect row) const;
  void handle_input(const PanelContext& context, const Shown& shown);
  void draw_card(const PanelContext& context, const Shown& shown, const RoofLayout::Dot& dot) const;

  render::Rect plot_;
  RoofLayouts layouts_;
  std::optional<std::size_t> hovered_;  // the number of the point under the pointer
  double hovered_since_s_ = 0;
};

// The peaks of a device as fields: what is typed and entered holds for all sessions of a device of that name. An empty
// field, or the arrow beside it, goes back to what is built in.

class PeaksEditor {
 public:
  explicit PeaksEditor(persist::PeakBook& book) : book_(book) {}
  // True when the user is done.
  [[nodiscard]] bool draw(const PanelContext& context, render::Rect area, const analysis::PeakList& peaks);

 private:
  struct Field {
    std::string text;
    std::string error;
    bool touched = false;  // typed into since it was last entered
    bool refocus = false;  // what was entered is wrong: it keeps the keyboard
  };
  void draw_row(const PanelContext& context, render::Rect row, const analysis::PeakList& peaks,
                const analysis::Peak& peak);
  void enter(const PanelContext& context, const analysis::PeakList& peaks, const analysis::Peak& peak, Field& field);
  void reported(const PanelContext& context, const Result<void>& done) const;

  persist::PeakBook& book_;
  std::string model_;                    // that the fields are of
  std::map<std::string, Field> fields_;  // by Peak::what
};

class RooflinePanel final : public Panel {
 public:
  explicit RooflinePanel(persist::PeakBook& book) : book_(book), editor_(book) {}
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
  [[nodiscard]] const analysis::DeviceLevels* levels() const;
  [[nodiscard]] const analysis::Roofline* roofline() const;
  [[nodiscard]] std::vector<std::string> device_names() const;

  persist::PeakBook& book_;
  PeaksEditor editor_;
  LevelsView view_;
  RoofPlot plot_;
  bool editing_ = false;
  PanelScope scope_ = Scope::session;
  EventFilter wanted_;
  std::optional<analysis::RoofGrouping> grouping_;  // as the user chose it
  std::uint64_t usual_of_ = ~std::uint64_t{0};      // the snapshot that usual_ is of
  analysis::RoofGrouping usual_ = analysis::RoofGrouping::name;
  int memory_ = 0, device_ = 0;
  FilteredAnswer<analysis::MemoryLevels, analysis::PeakEdits> levels_;
  FilteredAnswer<analysis::Rooflines, analysis::RoofGrouping> roofs_;
  std::vector<analysis::RoofCeiling> ceilings_;
};

}  // namespace accelscope::app::panels
