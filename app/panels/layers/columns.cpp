#include <algorithm>

#include "app/panels/layers/panel.h"
#include "core/base/text.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kUnitColumn = 18;

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
  const auto found = sorted ? std::find(cells_.begin(), cells_.end(), *sorted) : cells_.end();
  table_.sort_column = found == cells_.end() ? -1 : static_cast<int>(found - cells_.begin());
  if (table_.hidden.size() == columns_.size()) return;
  table_.hidden.clear();
  fitted_.clear();
}

void LayersPanel::add_columns() {
  const Hierarchy& tree = shown();
  const auto add = [&](TableColumn column, Cells cells) {
    columns_.push_back(std::move(column));
    cells_.push_back(cells);
  };
  const auto add_measure = [&](LayerMeasure measure, float width) {
    if (measure != LayerMeasure::events && !has_measure(tree, measure)) return;
    const LayerMeasureInfo& info = info_of(measure);
    const std::string_view unit = scale_of(measure, value_of(tree.nodes[0], measure)).unit;
    add({.title = std::string(unit.empty() ? info.title : unit),
         .width = width,
         .align = Align::right,
         .tooltip = std::string(info.explanation)},
        {.kind = Cells::Kind::measure, .measure = measure});
  };
  add({.title = std::string(tree.kind == nullptr ? "Layer" : tree.kind->level)}, {});
  add_measure(LayerMeasure::events, 70);
  add_measure(LayerMeasure::busy, 82);
  add({.title = "Share", .width = 104, .sortable = false, .tooltip = "Busy time over that of the whole tree"},
      {.kind = Cells::Kind::share});
  add_measure(LayerMeasure::self, 82);
  add_measure(LayerMeasure::wait, 82);
  add_measure(LayerMeasure::device, 82);
  add_measure(LayerMeasure::flops, 72);
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
  add_measure(LayerMeasure::bytes, 64);
  for (std::size_t unit = 0; unit < tree.units.size() && tree.units.size() > 1; ++unit) {
    add({.title = tree.units[unit].name.substr(0, 1),
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
      if (wanted(cells_[i]) && std::find(by_worth_.begin(), by_worth_.end(), i) == by_worth_.end())
        by_worth_.push_back(i);
    }
  };
  const auto is_measure = [](const Cells& cells, LayerMeasure measure) {
    return cells.kind == Cells::Kind::measure && cells.measure == measure;
  };
  add_worth([&](const Cells& cells) { return is_measure(cells, LayerMeasure::busy); });
  add_worth([&](const Cells& cells) { return cells.kind == Cells::Kind::share; });
  add_worth([&](const Cells& cells) { return is_measure(cells, LayerMeasure::device); });
  add_worth([&](const Cells& cells) { return is_measure(cells, LayerMeasure::self); });
  add_worth([&](const Cells& cells) { return is_measure(cells, LayerMeasure::wait); });
  add_worth([&](const Cells& cells) { return cells.kind == Cells::Kind::unit; });
  add_worth([&](const Cells& cells) { return cells.kind == Cells::Kind::mfu; });
  add_worth([](const Cells&) { return true; });
}

// Names come first: columns that leave them no room are hidden, until the user asks for them.
void LayersPanel::fit_columns(float width) {
  constexpr float kLeastName = 200, kScrollBar = 24;
  if (!table_.hidden.empty() && table_.hidden != fitted_) return;  // the user has chosen
  const auto units =
      std::count_if(cells_.begin(), cells_.end(), [](const Cells& each) { return each.kind == Cells::Kind::unit; });
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

}  // namespace accelscope::app
