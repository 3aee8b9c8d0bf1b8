#include "app/panels/layers/panel.h"

#include "app/content/figure_text.h"
#include "app/content/source/text.h"
#include "core/analysis/hierarchy/hierarchy.h"
#include "core/model/palette.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kUnitColumn = 20;

// The first letter of every name; more, or its capitals, where another one begins with it: "Sc", "Sy", "Te", "TM".
std::vector<std::string> short_unit_names(const std::vector<analysis::HierarchyUnit>& units) {
  std::vector<std::string> names;
  for (const auto& unit : units) {
    std::string capitals;
    for (const char c : unit.name) {
      if (c >= 'A' && c <= 'Z') capitals += c;
    }
    const auto shared =
        std::ranges::count(units, unit.name.substr(0, 1), [](const auto& each) { return each.name.substr(0, 1); });
    const std::string letters = capitals.size() > 1 ? capitals.substr(0, 2) : unit.name.substr(0, 2);
    names.push_back(shared > 1 ? letters : unit.name.substr(0, 1));
  }
  return names;
}

// What one node of a tree took, moved and computed, and on which engines: beside a flame graph, and as a hover card.
struct NodeFact {
  std::string name, value;
};
// Only what the node has.
[[nodiscard]] std::vector<NodeFact> time_facts(const analysis::Hierarchy& tree, std::size_t node);
[[nodiscard]] std::vector<NodeFact> work_facts(const analysis::Hierarchy& tree, std::size_t node);
// Columns beside each other, or below each other where they would be too narrow: how high, of at most so much; the last
// rows are left out where they have no room. 0: nothing fits.
[[nodiscard]] float facts_height(const Ui& ui, float width, float most, const analysis::Hierarchy& tree);
void draw_facts(Ui& ui, Rect area, const analysis::Hierarchy& tree, std::size_t node, const std::string& title);
void hover_facts(Ui& ui, const Rect& explained, const analysis::Hierarchy& tree, std::size_t node,
                 const std::string& title);

// Units. As many columns as fit stand beside each other: time, work, units.
constexpr float kFactRow = 18, kFactTitle = 20, kFactGap = 16, kFactHead = 34, kFactBlock = 134;
constexpr float kFactColumn = 148, kUnitsColumn = 222, kCountsColumn = 58;

std::size_t columns_beside(const Ui& ui, float width) {
  if (width >= ui.px(2 * (kFactColumn + kFactGap) + kUnitsColumn)) return 3;
  return width >= ui.px(2 * kFactColumn + kFactGap) ? 2 : 1;
}

// Of each row of columns.
std::vector<float> block_heights(const Ui& ui, float width, const analysis::Hierarchy& tree) {
  const auto height_of = [&](std::size_t rows) {
    return ui.px(kFactTitle + kFactRow * static_cast<float>(rows) + kFactGap / 2);
  };
  // As many as of the root, whichever node is shown, so that nothing moves from one to the next.
  const float times = height_of(time_facts(tree, 0).size()), work = height_of(work_facts(tree, 0).size());
  const float units = height_of(tree.units.size());
  switch (columns_beside(ui, width)) {
    case 3:
      return {ui.px(kFactBlock)};
    case 2:
      return {std::max(times, work), units};
    default:
      return {times, work, units};
  }
}

std::string as_time(std::int64_t ns) { return ns == 0 ? "–" : format_duration(ns); }

void fact_column(Ui& ui, Rect column, std::string_view title, const std::vector<NodeFact>& facts) {
  draw_text(ui, column.cut_top(ui.px(kFactTitle)), title, kGroupText);
  for (const NodeFact& fact : facts) {
    if (column.height() < ui.px(kFactRow)) break;
    Rect row = column.cut_top(ui.px(kFactRow));
    draw_text(ui, row, fact.value, {.style = TextStyle::mono, .align = Align::right});
    row.cut_right(text_width(ui, TextStyle::mono, fact.value) + ui.px(8));
    draw_text(ui, row, fact.name, kLabelText);
  }
}

// Of each unit: its events, and its time as a share of the longest.
void unit_column(Ui& ui, Rect column, const analysis::Hierarchy& tree, std::size_t node) {
  draw_text(ui, column.cut_top(ui.px(kFactTitle)), "By engine", kGroupText);
  const std::size_t units = tree.units.size();
  const bool has_counts = column.width() >= ui.px(kUnitsColumn - kCountsColumn / 2);
  std::int64_t most = 1;
  for (std::size_t unit = 0; unit < units; ++unit) most = std::max(most, tree.unit_busy_ns[node * units + unit]);
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (column.height() < ui.px(kFactRow)) break;
    Rect row = column.cut_top(ui.px(kFactRow));
    const std::uint64_t events = tree.unit_events[node * units + unit];
    const std::int64_t busy = tree.unit_busy_ns[node * units + unit];
    const TextOptions number{.style = TextStyle::mono, .align = Align::right};
    draw_text(ui, row.cut_right(ui.px(72)), events == 0 ? "–" : as_time(busy), number);
    if (has_counts)
      draw_text(ui, row.cut_right(ui.px(kCountsColumn)), events == 0 ? "–" : format_count(events), number);
    row.cut_right(ui.px(8));
    Rect bar = row.cut_right(std::min(ui.px(32), row.width() * 0.3F)).middle(ui.px(8));
    fill(ui, bar, ui.colour(Colour::bg4));
    bar.x1 = bar.x0 + std::round(bar.width() * static_cast<float>(busy) / static_cast<float>(most));
    fill(ui, bar, ui.colour(Colour::accent));
    row.cut_right(ui.px(8));
    draw_text(ui, row, tree.units[unit].name, kLabelText);
  }
}

std::vector<NodeFact> time_facts(const analysis::Hierarchy& tree, std::size_t at) {
  const analysis::HierarchyNode& node = tree.nodes[at];
  std::vector<NodeFact> facts = {{"Busy, union", as_time(node.cover.busy_ns)},
                                 {"Self, union", as_time(node.cover.self_ns)},
                                 {"Sum of events", as_time(node.totals.sum_ns)}};
  if (node.totals.wait_ns > 0) facts.push_back({"Wait, sum", as_time(node.totals.wait_ns)});
  if (node.totals.launched_events > 0) facts.push_back({"Device time", as_time(node.totals.launched_ns)});
  facts.push_back({"Of all", format_share(tree.share(at))});
  return facts;
}

std::vector<NodeFact> work_facts(const analysis::Hierarchy& tree, std::size_t at) {
  const analysis::HierarchyNode& node = tree.nodes[at];
  std::vector<NodeFact> facts = {{"Events", format_count(node.totals.events)}};
  const auto busy = static_cast<double>(node.cover.busy_ns);
  if (node.totals.flops > 0) {
    facts.push_back({"FLOPs", content::measure_text(content::LayerMeasure::flops, node.totals.flops)});
    facts.push_back({"Achieved", content::amount_per_second(node.totals.flops, busy, "FLOP/s")});
  }
  if (const auto mfu = tree.mfu(at)) facts.push_back({"MFU", format_share(*mfu)});
  if (node.totals.bytes > 0) {
    facts.push_back({"Moved", format_bytes(node.totals.bytes)});
    if (busy > 0) facts.push_back({"Bandwidth", format_rate(static_cast<double>(node.totals.bytes) * 1e9 / busy)});
  }
  if (node.totals.launched_events > 0) facts.push_back({"Launched", format_count(node.totals.launched_events)});
  return facts;
}

float facts_height(const Ui& ui, float width, float most, const analysis::Hierarchy& tree) {
  float height = ui.px(kFactHead), fits = 0;
  for (const float block : block_heights(ui, width, tree)) {
    height += block;
    if (height > most) break;
    fits = height;
  }
  return fits;
}

void draw_facts(Ui& ui, Rect area, const analysis::Hierarchy& tree, std::size_t node, const std::string& title) {
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  area = area.inset(0, ui.px(6));
  Rect head = area.cut_top(ui.px(22));
  if (node != 0) head.cut_left(draw_swatch(ui, head, colour_of_node(tree, node)) + ui.px(8));
  heading(ui, head, title, node == 0 ? "" : tree.path(tree.nodes[node].parent));
  const std::size_t beside = columns_beside(ui, area.width());
  const float gap = ui.px(kFactGap);
  // Units have names, bars and two figures.
  const float narrow = beside == 3   ? (area.width() - 2 * gap) / 3.5F
                       : beside == 2 ? (area.width() - gap) / 2
                                     : area.width();
  const std::vector<float> heights = block_heights(ui, area.width(), tree);
  std::size_t next = 0;
  for (const float height : heights) {
    if (area.height() < std::min(height, ui.px(kFactTitle + kFactRow))) break;
    Rect row = area.cut_top(std::min(height, area.height()));
    for (std::size_t i = 0; i < beside && next < 3; ++i, ++next) {
      const Rect column = next == 2 ? row : row.cut_left(narrow);
      row.cut_left(gap);
      if (next == 0) fact_column(ui, column, "Time", time_facts(tree, node));
      if (next == 1) fact_column(ui, column, "Work", work_facts(tree, node));
      if (next == 2) unit_column(ui, column, tree, node);
    }
  }
}

void hover_facts(Ui& ui, const Rect& explained, const analysis::Hierarchy& tree, std::size_t node,
                 const std::string& title) {
  HoverCard card;
  card.title = title;
  card.title_value = format_share(tree.share(node));
  if (node != 0) {
    card.whole = tree.path(node);
    card.swatch = colour_of_node(tree, node);
  }
  for (const auto& facts : {time_facts(tree, node), work_facts(tree, node)}) {
    for (const NodeFact& fact : facts) card.rows.push_back({fact.name, fact.value});
  }
  hover_card(ui, card, explained);
}

constexpr float kTreeShare = 0.58F, kPathRow = 24;

}  // namespace

// Of another tree there may be other columns: what was sorted by stays so.
void LayersPanel::make_columns() {
  std::optional<Cells> sorted;
  if (table_.sort_column >= 0 && static_cast<std::size_t>(table_.sort_column) < cells_.size()) {
    sorted = cells_[static_cast<std::size_t>(table_.sort_column)];
  }
  columns_.clear();
  cells_.clear();
  by_worth_.clear();
  add_columns();
  rank_columns();
  const auto found = sorted ? std::ranges::find(cells_, *sorted) : cells_.end();
  table_.sort_column = found == cells_.end() ? -1 : static_cast<int>(found - cells_.begin());
  if (table_.hidden.size() == columns_.size()) return;
  table_.hidden.clear();
  fitted_.clear();
}

void LayersPanel::add_columns() {
  const analysis::Hierarchy& tree = shown();
  const auto add = [&](TableColumn column, Cells cells) {
    columns_.push_back(std::move(column));
    cells_.push_back(cells);
  };
  const auto add_measure = [&](content::LayerMeasure measure, float width) {
    if (measure != content::LayerMeasure::events && !content::has_measure(tree, measure)) return;
    const content::LayerMeasureInfo& info = content::info_of(measure);
    const std::string unit = content::scale_of(measure, content::value_of(tree.nodes[0], measure)).name;
    add({.title = unit.empty() ? std::string(info.title) : unit,
         .width = width,
         .align = Align::right,
         .tooltip = std::string(info.explanation)},
        {.kind = Cells::Kind::measure, .measure = measure});
  };
  add({.title = std::string(tree.kind == nullptr ? "Layer" : tree.kind->level)}, {});
  add_measure(content::LayerMeasure::events, 70);
  add_measure(content::LayerMeasure::busy, 82);
  add({.title = "Share", .width = 104, .sortable = false, .tooltip = "Busy time over that of the whole tree"},
      {.kind = Cells::Kind::share});
  add_measure(content::LayerMeasure::self, 82);
  add_measure(content::LayerMeasure::wait, 82);
  add_measure(content::LayerMeasure::device, 82);
  add_measure(content::LayerMeasure::flops, 72);
  if (tree.mfu(0)) {
    add({.title = "MFU",
         .width = 64,
         .align = Align::right,
         .sortable = false,
         .tooltip = "FLOPs over busy time, of what the devices that computed them can do"},
        {.kind = Cells::Kind::mfu});
  } else if (tree.achieved_flops(0)) {
    add({.title = "Achieved", .width = 96, .align = Align::right, .sortable = false, .tooltip = "FLOPs over busy time"},
        {.kind = Cells::Kind::rate});
  }
  add_measure(content::LayerMeasure::bytes, 64);
  const std::vector<std::string> units = short_unit_names(tree.units);
  for (std::size_t unit = 0; unit < tree.units.size() && tree.units.size() > 1; ++unit) {
    add({.title = units[unit],
         .width = kUnitColumn,
         .align = Align::centre,
         .sortable = false,
         .tooltip = tree.units[unit].name + ": its time as a share of the row's busy time",
         .data_title = lower_case(tree.units[unit].name) + "_busy_ns"},
        {.kind = Cells::Kind::unit, .unit = unit});
  }
}

// What says most of a node: its time and share, then what it waited and launched, then its engines.
void LayersPanel::rank_columns() {
  const auto add_worth = [&](auto wanted) {
    for (std::size_t i = 1; i < cells_.size(); ++i) {
      if (wanted(cells_[i]) && std::ranges::find(by_worth_, i) == by_worth_.end()) by_worth_.push_back(i);
    }
  };
  const auto is_measure = [](const Cells& cells, content::LayerMeasure measure) {
    return cells.kind == Cells::Kind::measure && cells.measure == measure;
  };
  add_worth([&](const Cells& cells) { return is_measure(cells, content::LayerMeasure::busy); });
  add_worth([&](const Cells& cells) { return cells.kind == Cells::Kind::share; });
  add_worth([&](const Cells& cells) { return is_measure(cells, content::LayerMeasure::device); });
  add_worth([&](const Cells& cells) { return is_measure(cells, content::LayerMeasure::self); });
  add_worth([&](const Cells& cells) { return is_measure(cells, content::LayerMeasure::wait); });
  add_worth([&](const Cells& cells) { return cells.kind == Cells::Kind::unit; });
  add_worth([&](const Cells& cells) { return cells.kind == Cells::Kind::mfu; });
  add_worth([](const Cells&) { return true; });
}

// Names come first: columns that leave them no room are hidden, until the user asks for them.
void LayersPanel::fit_columns(float width) {
  constexpr float kLeastName = 200, kScrollBar = 24;
  if (!table_.hidden.empty() && table_.hidden != fitted_) return;  // the user has chosen
  const auto units = std::ranges::count_if(cells_, [](const Cells& each) { return each.kind == Cells::Kind::unit; });
  float used = kLeastName + kScrollBar;
  std::vector<bool> hidden(columns_.size(), false);
  bool has_units = false;
  for (const std::size_t column : by_worth_) {
    const bool is_unit = cells_[column].kind == Cells::Kind::unit;
    // Engines are shown all or none.
    const float needed = is_unit && !has_units ? kUnitColumn * static_cast<float>(units) : columns_[column].width;
    hidden[column] = used + needed > width && !(is_unit && has_units);
    if (hidden[column]) continue;
    has_units = has_units || is_unit;
    used += columns_[column].width;
  }
  table_.hidden = fitted_ = std::move(hidden);
}

// The index of the whole session serves every range of it; a filter is looked at event by event.
void LayersPanel::ask_tree(const PanelContext& context) {
  session::SessionAnalysis& analysis = context.analysis();
  const EventFilter filter = scope_filter(context.tab, scope_);
  if (!filter.needs_mask()) {
    (void)analysis.ask(
        index_, question_.kind, {.tells_itself = true},
        [kind = question_.kind, last = index_.value](const QueryContext& query) -> FoundAnswer<RetainedIndex> {
          auto index = TRY(analysis::HierarchyIndex::build(query, kind, last ? last->index : nullptr));
          return std::make_shared<const RetainedIndex>(RetainedIndex{std::move(index)});
        });
    // Of the whole session nothing is sooner there.
    const bool is_whole = !filter.range.has_value();
    if (is_whole && (index_.stale() || !index_.value)) return tree_.drop();
  } else {
    index_.drop();
  }
  const TimeRange range = filter.range.value_or(TimeRange{});
  (void)analysis.ask_of(
      tree_, filter, question_, [question = question_, range, known = index_.value](const QueryContext& query) {
        return analysis::session_hierarchy(query, question, range, {.index = known ? known->index.get() : nullptr});
      });
}

void LayersPanel::ask(const PanelContext& context) {
  session::SessionAnalysis& analysis = context.analysis();
  ask_tree(context);
  if (tree_.value) {
    if (!content::has_measure(*tree_.value, measure_)) measure_ = content::LayerMeasure::busy;
    const ViewKey key{tree_.value, measure_, order(), lower_case(search_)};
    (void)analysis.ask(view_, key, {.ages = false, .tells_itself = true},
                       [key](const QueryContext&) -> FoundAnswer<content::TreeView> {
                         return std::make_shared<const content::TreeView>(key.tree, key.width, key.order, key.text);
                       });
  }
  take_view(context);
  if (!shown_ || search_.empty() || !shown().kind) return marked_.drop();
  analysis::HierarchyQuestion wanted = question_;
  wanted.kind = shown().kind->name;
  wanted.marked = lower_case(search_);
  const TimeRange of_tree = tree_.value_key.filter.range.value_or(TimeRange{});
  (void)analysis.ask_of(marked_, tree_.value_key.filter, wanted,
                        [wanted, of_tree, known = index_.value](const QueryContext& query) -> FoundAnswer<MarkedTime> {
                          const auto tree = TRY(analysis::session_hierarchy(
                              query, wanted, of_tree, {.index = known ? known->index.get() : nullptr}));
                          return std::make_shared<const MarkedTime>(MarkedTime{tree->marked_ns});
                        });
}

// Another tree, or the same in another order: what was selected, zoomed to and seen is found again by its path.
void LayersPanel::take_view(const PanelContext& context) {
  if (shown_ == view_.value) return;
  const bool other_tree = !shown_ || shown_->tree != view_.value->tree;
  const bool other_kind = !shown_ || shown().kind != view_.value->tree->kind;
  const auto path_of = [&](std::optional<std::size_t> row) {
    return row && *row < rows_.rows().size() ? std::optional(rows_.rows()[*row].path) : std::nullopt;
  };
  const auto cursor = path_of(table_.cursor);
  // Who is at the top stays there.
  const auto top =
      top_row_.value_or(0) > 0 && shown_ && shown_->order == view_.value->order ? path_of(top_row_) : std::nullopt;
  shown_ = view_.value;
  if (other_kind) {
    names_ = std::make_unique<ShortNames>();
    selected_.reset();
    selected_before_.clear();
    table_ = {};
  }
  if (other_tree) {
    const bool by_itself = other_kind || (context.tab.choices.filter.empty() && zoomed_ == fork_);
    fork_ = content::name_of_node(shown(), content::first_fork(shown()));
    if (by_itself) zoomed_ = fork_;
    code_.clear();
    sources_ = context.tab.snapshot->sources;
    make_columns();
    find_places();
  }
  if (shown().kind == nullptr) return;
  rows_.update(shown_);
  table_.cursor = cursor && !other_kind ? rows_.row_of_path(*cursor) : std::nullopt;
  keep_row_ = top && !other_kind ? rows_.row_of_path(*top) : std::nullopt;
}

// Once for each tree: siblings are looked through by their texts.
void LayersPanel::find_places() {
  zoomed_node_ = static_cast<std::uint32_t>(content::nearest_node(shown(), zoomed_));
  const auto found = selected_ ? content::find_node(shown(), *selected_) : std::nullopt;
  selected_node_ = found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
  selected_nodes_before_.clear();
  for (const content::NodeName& each : selected_before_) {
    if (const auto node = content::find_node(shown(), each))
      selected_nodes_before_.push_back(static_cast<std::uint32_t>(*node));
  }
}

content::TreeOrder LayersPanel::order() const {
  if (table_.sort_column < 0 || static_cast<std::size_t>(table_.sort_column) >= cells_.size()) return {};
  const Cells& cells = cells_[static_cast<std::size_t>(table_.sort_column)];
  if (cells.kind == Cells::Kind::measure) return {cells.measure, table_.descending};
  return {std::nullopt, table_.descending};
}

std::string LayersPanel::title_of(std::uint32_t node) {
  if (node == 0) return "all";
  return names_->usual(shown().text(node));
}

std::optional<std::uint32_t> LayersPanel::selected(const session::SessionTab& tab) const {
  return selected_ && is_selected(tab, selected_target_) ? selected_node_ : std::nullopt;
}

// With Ctrl held, to those that are selected. False: one search cannot tell all of them.
bool LayersPanel::add_to_selection(const PanelContext& context, std::uint32_t node) {
  if (!context.ui.input().modifiers().ctrl || !selected(context.tab)) return false;
  std::vector<std::uint32_t> nodes = selected_nodes_before_;
  nodes.push_back(*selected_node_);
  if (std::ranges::find(nodes, node) != nodes.end()) return true;
  nodes.push_back(node);
  auto filter = listing::filter_of_nodes(*context.tab.snapshot, shown(), nodes);
  if (!filter) {
    context.actions.inform("One search cannot tell these together: select layers, or nodes of one level");
    return false;
  }
  selected_before_.push_back(*selected_);
  selected_ = content::name_of_node(shown(), node);
  find_places();
  selected_target_ = std::move(*filter);
  select_target(context, selected_target_, false);
  return true;
}

void LayersPanel::select(const PanelContext& context, std::uint32_t node) {
  if (add_to_selection(context, node)) return;
  selected_before_.clear();
  selected_nodes_before_.clear();
  selected_ = content::name_of_node(shown(), node);
  selected_node_ = node;
  rows_.open_to(*selected_);
  listing::NodeTarget target = listing::target_of_node(*context.tab.snapshot, shown(), shown_->names, node);
  selected_target_ = std::move(target.events);
  if (!target.besides.empty()) context.actions.inform(target.besides);
  if (std::holds_alternative<std::monostate>(selected_target_)) return context.actions.inform("It has no events");
  select_target(context, selected_target_, false);
}

std::optional<bool> LayersPanel::has_content(const PanelContext& context) const {
  if (!shown_ || !context.tab.choices.filter.empty()) return std::nullopt;
  return shown().kind != nullptr || !shown().kinds.empty();
}

void LayersPanel::draw(const PanelContext& context, const Rect& area) {
  const OwnSelection own(context.tab, scope_);
  Ui& ui = context.ui;
  ask(context);
  Rect rest = area;
  draw_controls(context, rest);
  if (draw_nothing(context, rest)) return;
  rows_.update(shown_);
  Rect left = rest.cut_left(std::round(rest.width() * kTreeShare));
  vertical_line(ui, left.x1 - ui.px(1), left.y0, left.y1, ui.colour(Colour::line2));
  left.x1 -= ui.px(1);
  draw_table(context, left);
  draw_flame(context, rest.inset(ui.px(8), 0));
}

// Of the last work for what is shown; "": it did not fail.
const std::string& LayersPanel::error() const noexcept {
  for (const std::string* each : {&index_.error, &tree_.error}) {
    if (!each->empty()) return *each;
  }
  return view_.error;
}

bool LayersPanel::draw_nothing(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  if (!error().empty()) {
    empty_state(ui, "layers.wrong", area, icon::kWarning, error());
    return true;
  }
  if (!shown_) {
    const auto share = tree_.task.valid() ? tree_.share() : index_.share();
    empty_state(
        ui, "layers.loading", area, icon::kClock,
        share ? fmt::format("Adding up the layers, {} done", format_share(*share)) : "Adding up the layers ...");
    return true;
  }
  if (shown().kind == nullptr) {
    constexpr std::array<std::string_view, 1> kActions = {"Show what the session has"};
    const bool has_others = !shown().kinds.empty();
    if (empty_state(ui, "layers.empty", area, icon::kSitemap, listing::hierarchy_note(shown(), question_),
                    std::span(kActions).first(has_others ? 1 : 0))) {
      question_.kind.clear();
    }
    return true;
  }
  if (shown().nodes[0].child_count == 0) {
    empty_state(
        ui, "layers.none", area, icon::kFilter,
        fmt::format("No event of {} has a {}.", scope_text(context.tab, scope_), lower_case(shown().kind->level)));
    return true;
  }
  return false;
}

// "49  acc[:, n] += nisa.nc_matmul(aT, w)" where the session has the text of the line.
const std::string& LayersPanel::code_of(std::uint32_t node) {
  const auto [known, is_new] = code_.try_emplace(shown().nodes[node].label);
  if (!is_new) return known->second;
  const std::string& location = shown().text(node);
  known->second = names_->usual(location);
  std::string_view path;
  std::uint32_t line = 0;
  if (!parse_source_location(location, path, line)) return known->second;
  known->second = fmt::format("{}:{}", path.substr(path.find_last_of("/\\") + 1), line);
  const auto source = find_source(sources_, path);
  if (!source) return known->second;
  std::string_view text = sources_[*source]->content;
  for (std::uint32_t i = 1; i < line && !text.empty(); ++i) {
    text.remove_prefix(std::min(text.size(), text.find('\n') == text.npos ? text.size() : text.find('\n') + 1));
  }
  text = text.substr(0, text.find_first_of("\r\n"));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (!text.empty()) known->second = fmt::format("{}  {}", line, text);
  return known->second;
}

TableCell LayersPanel::name_cell(const content::TreeRow& row) {
  const analysis::Hierarchy& tree = shown();
  const analysis::HierarchyNode& node = tree.nodes[row.node];
  TableCell cell{.text = node.detail ? code_of(row.node) : title_of(row.node),
                 .colour = node.missing  ? Colour::text3
                           : node.detail ? Colour::text2
                                         : Colour::text1,
                 .style = node.detail ? TextStyle::mono : TextStyle::body,
                 .fit = node.detail ? Fit::ellipsis : Fit::middle,
                 .exact = tree.path(row.node),
                 .indent = node.depth - 1};
  if (node.child_count > 0) {
    cell.expanded = row.open;
  } else {
    cell.leaf = true;
  }
  if (!node.detail) cell.swatch = colour_of_node(tree, row.node);
  if (hits() != nullptr && hits()->hit[row.node]) {
    const std::size_t at = lower_case(cell.text).find(hits()->text);
    if (at != std::string::npos) cell.mark_begin = at, cell.mark_length = hits()->text.size();
  }
  return cell;
}

TableCell LayersPanel::cell(std::size_t row, std::size_t column) {
  const analysis::Hierarchy& tree = shown();
  const content::TreeRow& at = rows_.rows()[row];
  const analysis::HierarchyNode& node = tree.nodes[at.node];
  const Cells& cells = cells_[column];
  const TableCell none{.text = "–", .colour = Colour::text3};
  switch (cells.kind) {
    case Cells::Kind::name:
      return name_cell(at);
    case Cells::Kind::share:
      return {.text = format_share(tree.share(at.node)),
              .data = fmt::format("{}", tree.share(at.node)),
              .bar = tree.share(at.node)};
    case Cells::Kind::mfu: {
      const auto mfu = tree.mfu(at.node);
      return mfu ? TableCell{.text = format_share(*mfu), .data = fmt::format("{}", *mfu)} : none;
    }
    case Cells::Kind::rate: {
      const auto rate = tree.achieved_flops(at.node);
      return rate
                 ? TableCell{.text = content::amount_per_second(*rate, 1e9, "FLOP/s"), .data = fmt::format("{}", *rate)}
                 : none;
    }
    case Cells::Kind::unit: {
      const std::int64_t busy = tree.unit_busy_ns[at.node * tree.units.size() + cells.unit];
      const std::uint64_t events = tree.unit_events[at.node * tree.units.size() + cells.unit];
      return {.exact = fmt::format("{}: {} events, {}", tree.units[cells.unit].name, format_count(events),
                                   format_duration(busy)),
              .data = std::to_string(busy),
              .bar_colour = opaque(kSlicePalette[cells.unit % kSlicePalette.size()]),
              .level = static_cast<double>(busy) / static_cast<double>(std::max<std::int64_t>(node.cover.busy_ns, 1))};
    }
    case Cells::Kind::measure:
      break;
  }
  return measure_cell(node, cells.measure);
}

TableCell LayersPanel::measure_cell(const analysis::HierarchyNode& node, content::LayerMeasure measure) const {
  const double value = content::value_of(node, measure);
  if (value <= 0) return {.text = "–", .colour = Colour::text3};
  const UnitScale scale = content::scale_of(measure, content::value_of(shown().nodes[0], measure));
  const int decimals = measure == content::LayerMeasure::bytes ? 1 : 3;
  return {.text = scale.name.empty() ? content::measure_text(measure, value)
                                     : fmt::format("{:.{}f}", value / scale.divisor, scale.divisor > 1 ? decimals : 0),
          .exact = measure == content::LayerMeasure::events
                       ? ""
                       : fmt::format("{:.0f} {}", value, content::info_of(measure).unit.name()),
          .data = fmt::format("{:.0f}", value)};
}

void LayersPanel::draw_table(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const std::optional<std::uint32_t> chosen = selected(context.tab);
  const std::vector<content::TreeRow>& rows = rows_.rows();
  fit_columns(area.width() / ui.scale());
  const TableResult response = table(
      ui, "layers.tree", area, columns_, rows.size(),
      [&](std::size_t row, std::size_t column) { return cell(row, column); }, table_,
      {.selected =
           [&](std::size_t row) {
             const auto& before = selected_nodes_before_;
             return chosen && (*chosen == rows[row].node || std::ranges::find(before, rows[row].node) != before.end());
           },
       .show_row = std::exchange(show_row_, std::nullopt),
       .top_row = std::exchange(keep_row_, std::nullopt)});
  top_row_ = response.top_row;
  if (response.toggled) return rows_.toggle(*response.toggled), ui.request_frame(), void();
  const std::optional<std::size_t> picked = response.double_clicked ? response.double_clicked : response.clicked;
  if (!picked) return;
  const std::uint32_t node = rows[*picked].node;
  select(context, node);
  if (!response.double_clicked) return;
  const TimeRange& stretch = shown().nodes[node].totals.stretch;
  if (!stretch.empty()) view::show_stretch(context.tab, stretch.begin_ns, stretch.end_ns);
}

// "all > decoder > mlp": each a link that zooms back to it. Of a long path the last levels.
void LayersPanel::draw_path(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  const std::string_view help = "double click zooms, Backspace goes up";
  const float caret = ui.px(16), help_width = text_width(ui, TextStyle::small, help);
  const auto text_of = [&](std::size_t level) { return level == 0 ? "all" : names_->usual(zoomed_[level - 1]); };
  std::size_t first = zoomed_.size() + 1;
  float used = link_width(ui, "all") + caret + ui.px(24);
  while (first > 1 && used + link_width(ui, text_of(first - 1)) + caret <= row.width()) {
    used += link_width(ui, text_of(--first)) + caret;
  }
  std::optional<std::size_t> wanted;
  const auto add = [&](std::size_t level) {
    const std::string text = text_of(level);
    const Rect place = row.cut_left(link_width(ui, text));
    if (level == zoomed_.size()) return draw_text(ui, place, text), void();
    if (link(ui, fmt::format("layers.path.{}", level), place, text)) wanted = level;
    draw_icon(ui, row.cut_left(caret), icon::kCaretRight, ui.colour(Colour::text3), TextStyle::icon12);
  };
  add(0);
  if (first > 1) draw_text(ui, row.cut_left(ui.px(20)), "…", {.colour = Colour::text3});
  for (std::size_t level = std::max<std::size_t>(first, 1); level <= zoomed_.size(); ++level) add(level);
  if (row.width() > help_width + ui.px(24)) {
    draw_text(ui, row, help, kHintTextRight);
  }
  if (!wanted) return;
  zoomed_.resize(*wanted);
  zoomed_node_ = static_cast<std::uint32_t>(content::nearest_node(shown(), zoomed_));
}

void LayersPanel::draw_flame(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  draw_path(context, area.cut_top(ui.px(kPathRow)));
  const std::optional<std::uint32_t> chosen = selected(context.tab);
  const float facts_room = facts_height(ui, area.width(), area.height() - FlameGraph::height(ui, 5), shown());
  const bool has_facts = facts_room > 0;
  const Rect facts = area.cut_bottom(facts_room);
  const FlameGraph::Response response =
      flame_.draw(ui, "layers.flame", area,
                  {.tree = shown(),
                   .layout = shown_->layout,
                   .zoomed = zoomed_node_,
                   .selected = chosen,
                   .selected_before = chosen ? std::span<const std::uint32_t>(selected_nodes_before_)
                                             : std::span<const std::uint32_t>(),
                   .hits = hits(),
                   .names = *names_,
                   .whole = "all"});
  if (has_facts) {
    const std::uint32_t of = chosen.value_or(zoomed_node_);
    draw_facts(ui, facts, shown(), of, title_of(of));
  }
  if (response.zoom_to) {
    zoomed_ = content::name_of_node(shown(), *response.zoom_to);
    zoomed_node_ = *response.zoom_to;
  }
  if (response.clicked && *response.clicked != 0) {
    select(context, *response.clicked);
    rows_.update(shown_);
    show_row_ = rows_.row_of(*response.clicked);
  }
  if (response.explains) {
    hover_facts(ui, response.hovered_box, shown(), *response.hovered, title_of(*response.hovered));
  }
  if (response.zoom_to || response.clicked) ui.request_frame();
}

std::unique_ptr<Panel> make_layers_panel(const PanelParts&) { return std::make_unique<LayersPanel>(); }

}  // namespace accelscope::app::panels
