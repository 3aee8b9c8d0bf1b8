#include "app/panels/layers/facts.h"

#include <algorithm>
#include <cmath>

#include "app/content/figure_text.h"
#include "app/panels/layers/flame_graph.h"
#include "core/base/format.h"
#include "render/widgets/layout.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// Units. As many columns as fit stand beside each other: time, work, units.
constexpr float kFactRow = 18, kFactTitle = 20, kFactGap = 16, kFactHead = 34, kFactBlock = 134;
constexpr float kFactColumn = 148, kUnitsColumn = 222, kCountsColumn = 58;

std::size_t columns_beside(const Ui& ui, float width) {
  if (width >= ui.px(2 * (kFactColumn + kFactGap) + kUnitsColumn)) return 3;
  return width >= ui.px(2 * kFactColumn + kFactGap) ? 2 : 1;
}

// Of each row of columns.
std::vector<float> block_heights(const Ui& ui, float width, const Hierarchy& tree) {
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

std::string as_time(std::int64_t ns) { return ns == 0 ? "–" : format_duration(static_cast<double>(ns)); }

void fact_column(Ui& ui, Rect column, std::string_view title, const std::vector<NodeFact>& facts) {
  draw_text(ui, column.cut_top(ui.px(kFactTitle)), title, {.style = TextStyle::small_strong, .colour = Colour::text2});
  for (const NodeFact& fact : facts) {
    if (column.height() < ui.px(kFactRow)) break;
    Rect row = column.cut_top(ui.px(kFactRow));
    draw_text(ui, row, fact.value, {.style = TextStyle::mono, .align = Align::right});
    row.cut_right(text_width(ui, TextStyle::mono, fact.value) + ui.px(8));
    draw_text(ui, row, fact.name, {.style = TextStyle::small, .colour = Colour::text2});
  }
}

// Of each unit: its events, and its time as a share of the longest.
void unit_column(Ui& ui, Rect column, const Hierarchy& tree, std::size_t node) {
  draw_text(ui, column.cut_top(ui.px(kFactTitle)), "By engine",
            {.style = TextStyle::small_strong, .colour = Colour::text2});
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
    draw_text(ui, row, tree.units[unit].name, {.style = TextStyle::small, .colour = Colour::text2});
  }
}

}  // namespace

std::vector<NodeFact> time_facts(const Hierarchy& tree, std::size_t at) {
  const HierarchyNode& node = tree.nodes[at];
  std::vector<NodeFact> facts = {{"Busy, union", as_time(node.cover.busy_ns)},
                                 {"Self, union", as_time(node.cover.self_ns)},
                                 {"Sum of events", as_time(node.totals.sum_ns)}};
  if (node.totals.wait_ns > 0) facts.push_back({"Wait, sum", as_time(node.totals.wait_ns)});
  if (node.totals.launched_events > 0) facts.push_back({"Device time", as_time(node.totals.launched_ns)});
  facts.push_back({"Of all", format_share(tree.share(at))});
  return facts;
}

std::vector<NodeFact> work_facts(const Hierarchy& tree, std::size_t at) {
  const HierarchyNode& node = tree.nodes[at];
  std::vector<NodeFact> facts = {{"Events", format_count(node.totals.events)}};
  const auto busy = static_cast<double>(node.cover.busy_ns);
  if (node.totals.flops > 0) {
    facts.push_back({"FLOPs", measure_text(LayerMeasure::flops, node.totals.flops)});
    facts.push_back({"Achieved", amount_per_second(node.totals.flops, busy, "FLOP/s")});
  }
  if (const auto mfu = tree.mfu(at)) facts.push_back({"MFU", format_share(*mfu)});
  if (node.totals.bytes > 0) {
    facts.push_back({"Moved", format_bytes(static_cast<double>(node.totals.bytes))});
    if (busy > 0) facts.push_back({"Bandwidth", format_rate(static_cast<double>(node.totals.bytes) * 1e9 / busy)});
  }
  if (node.totals.launched_events > 0) facts.push_back({"Launched", format_count(node.totals.launched_events)});
  return facts;
}

float facts_height(const Ui& ui, float width, float most, const Hierarchy& tree) {
  float height = ui.px(kFactHead), fits = 0;
  for (const float block : block_heights(ui, width, tree)) {
    height += block;
    if (height > most) break;
    fits = height;
  }
  return fits;
}

void draw_facts(Ui& ui, Rect area, const Hierarchy& tree, std::size_t node, const std::string& title) {
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

void hover_facts(Ui& ui, const Rect& explained, const Hierarchy& tree, std::size_t node, const std::string& title) {
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

}  // namespace accelscope::app
