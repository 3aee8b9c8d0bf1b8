// Layers, operators, host stacks, zones or lines of a session as one tree: as a table and as a flame graph, of the
// whole session, the visible range or the selection. A click on a node selects its events everywhere; a double click
// zooms: the timeline from the table, the flame graph from its box.
#pragma once

#include "app/content/hierarchy/tree_rows.h"
#include "app/panels/flame_graph.h"
#include "app/panels/panel.h"
#include "core/analysis/hierarchy/hierarchy_index.h"
#include "core/listing/analysis_listings.h"

namespace accelscope::app::panels {

class LayersPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override {
    return index_.task.valid() || tree_.task.valid() || view_.task.valid() || marked_.task.valid();
  }

 private:
  struct RetainedIndex {
    std::shared_ptr<const analysis::HierarchyIndex> index;  // null: the session has no such paths
  };
  struct ViewKey {
    std::shared_ptr<const analysis::Hierarchy> tree;
    content::LayerMeasure width = content::LayerMeasure::busy;
    content::TreeOrder order;
    std::string text;  // that is looked for
    bool operator==(const ViewKey&) const = default;
  };
  // How long the nodes that have a text took together.
  struct MarkedTime {
    std::int64_t busy_ns = 0;
  };
  // A column of the table: a measure, what comes of measures, or an engine.
  struct Cells {
    enum class Kind : std::uint8_t { name, measure, share, rate, mfu, unit } kind = Kind::name;
    content::LayerMeasure measure = content::LayerMeasure::busy;
    std::size_t unit = 0;
    bool operator==(const Cells&) const = default;
  };

  void ask(const PanelContext& context);
  void ask_tree(const PanelContext& context);
  void take_view(const PanelContext& context);
  void find_places();
  void make_columns();
  void add_columns();
  void rank_columns();
  void fit_columns(float width);
  // Drop-downs of the head.
  struct ByKind {
    std::vector<const analysis::PathKind*> kinds;
    std::vector<std::string> titles;
    std::size_t chosen = 0;
  };
  struct ByMeasure {
    std::vector<content::LayerMeasure> measures;
    std::vector<std::string> titles;
    std::size_t chosen = 0;
  };
  [[nodiscard]] ByKind kinds_to_choose() const;
  [[nodiscard]] ByMeasure measures_to_choose() const;
  [[nodiscard]] std::string depth_text() const;
  [[nodiscard]] float kinds_width(const render::Ui& ui) const;
  [[nodiscard]] float measures_width(const render::Ui& ui) const;
  void draw_controls(const PanelContext& context, render::Rect& rest);
  void draw_kind(render::Ui& ui, render::Rect& head);
  void draw_width(render::Ui& ui, render::Rect& head);
  void draw_search(const PanelContext& context, render::Rect& head);
  void draw_table(const PanelContext& context, const render::Rect& area);
  [[nodiscard]] render::TableCell cell(std::size_t row, std::size_t column);
  [[nodiscard]] render::TableCell measure_cell(const analysis::HierarchyNode& node,
                                               content::LayerMeasure measure) const;
  [[nodiscard]] const std::string& code_of(std::uint32_t node);
  [[nodiscard]] render::TableCell name_cell(const content::TreeRow& row);
  void draw_flame(const PanelContext& context, render::Rect area);
  void draw_path(const PanelContext& context, render::Rect row);
  bool draw_nothing(const PanelContext& context, const render::Rect& area);
  void select(const PanelContext& context, std::uint32_t node);
  [[nodiscard]] bool add_to_selection(const PanelContext& context, std::uint32_t node);
  [[nodiscard]] std::optional<std::uint32_t> selected(const session::SessionTab& tab) const;
  [[nodiscard]] std::string title_of(std::uint32_t node);
  [[nodiscard]] content::TreeOrder order() const;
  [[nodiscard]] std::string search_hint() const;
  [[nodiscard]] const std::string& error() const noexcept;
  [[nodiscard]] const analysis::Hierarchy& shown() const { return *shown_->tree; }
  [[nodiscard]] const content::LayerHits* hits() const {  // null: nothing is looked for, or nothing has it
    return shown_->hits.count > 0 ? &shown_->hits : nullptr;
  }

  analysis::HierarchyQuestion question_;
  PanelScope scope_ = Scope::session;
  content::LayerMeasure measure_ = content::LayerMeasure::busy;
  std::string search_;
  RetainedAnswer<RetainedIndex, std::string> index_;  // by the kind that was asked for
  FilteredAnswer<analysis::Hierarchy, analysis::HierarchyQuestion> tree_;
  RetainedAnswer<content::TreeView, ViewKey> view_;
  FilteredAnswer<MarkedTime, analysis::HierarchyQuestion> marked_;
  std::shared_ptr<const content::TreeView> shown_;
  content::TreeRows rows_;
  std::vector<render::TableColumn> columns_;
  std::vector<Cells> cells_;           // of the columns
  std::vector<std::size_t> by_worth_;  // columns, the name left out
  std::vector<bool> fitted_;           // hidden for want of room
  render::TableState table_;
  FlameGraph flame_;
  std::unique_ptr<ShortNames> names_ = std::make_unique<ShortNames>();
  std::vector<std::shared_ptr<const SourceFile>> sources_;  // of the session
  std::unordered_map<std::uint32_t, std::string> code_;     // of lines, by label
  content::NodeName zoomed_, fork_;                         // the latter where the flame graph begins by itself
  std::optional<content::NodeName> selected_;
  std::vector<content::NodeName> selected_before_;  // with Ctrl held, together with it
  std::uint32_t zoomed_node_ = 0;                   // of what is shown, as are the next three
  std::optional<std::uint32_t> selected_node_;
  std::vector<std::uint32_t> selected_nodes_before_;
  std::optional<std::size_t> top_row_;  // the topmost row that is seen
  listing::ListingTarget selected_target_;
  std::optional<std::size_t> show_row_, keep_row_;  // of the table's next frame
};

}  // namespace accelscope::app::panels
