#include "app/panels/alive_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "app/selection.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "render/icons.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::size_t kMostTiles = 12;  // allocations listed under one tensor

const std::array<TableColumn, 5>& columns() {
  static const std::array<TableColumn, 5> kColumns = {
      {{.title = "Tensor", .sortable = false},
       {.title = "Tiles", .width = 48, .align = Align::right, .sortable = false},
       {.title = "Size", .width = 78, .align = Align::right, .sortable = false},
       {.title = "Address", .width = 84, .align = Align::right, .sortable = false},
       {.title = "Lives", .width = 84, .align = Align::right, .sortable = false}}};
  return kColumns;
}

TableCell missing() { return {.text = "–", .colour = Colour::text3}; }

}  // namespace

Pixel AliveTable::colour_of(const Ui& ui, std::uint32_t tensor) const {
  return ui.theme().slice(palette_slot(moment_.usage->tensors[tensor]));
}

void AliveTable::refresh(const Moment& moment) {
  if (moment == moment_) return;
  moment_ = moment;
  tensors_ = alive_by_tensor(*moment.usage, moment.pool, moment.ns, moment.min_bytes);
  bytes_ = 0;
  allocations_ = 0;
  for (const AliveTensor& tensor : tensors_) {
    bytes_ += tensor.bytes;
    allocations_ += tensor.allocations.size();
  }
}

std::vector<AliveTable::Row> AliveTable::rows() const {
  std::vector<Row> rows;
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const AliveTensor& tensor = tensors_[t];
    if (tensor.allocations.size() == 1) {
      rows.push_back({t, tensor.allocations.front(), 0});
      continue;
    }
    rows.push_back({t, std::nullopt, 0});
    if (!expanded_.contains(tensor.tensor)) continue;
    const std::size_t shown = std::min(kMostTiles, tensor.allocations.size());
    for (std::size_t i = 0; i < shown; ++i) rows.push_back({t, tensor.allocations[i], 0});
    if (tensor.allocations.size() > shown) rows.push_back({t, std::nullopt, tensor.allocations.size() - shown});
  }
  return rows;
}

void AliveTable::draw_head(Ui& ui, const char* title, Rect row) {
  const char* noun = allocations_ == 1 ? " allocation, " : " allocations, ";
  draw_text(ui, row.cut_right(ui.px(230)),
            format_count(allocations_) + noun + format_bytes(static_cast<double>(bytes_)),
            {.style = TextStyle::mono, .colour = Colour::text2, .align = Align::right});
  draw_text(ui, row, title, {.style = TextStyle::heading});
}

void AliveTable::draw_bar(Ui& ui, Rect bar) {
  const double peak = std::max(1.0, static_cast<double>(moment_.usage->pools[moment_.pool].peak_bytes));
  const float whole = bar.width();
  fill(ui, bar, ui.colour(Colour::bg4));
  for (const AliveTensor& tensor : tensors_) {
    const Rect part = bar.cut_left(static_cast<float>(static_cast<double>(tensor.bytes) / peak) * whole);
    fill(ui, part, ui.theme().area(colour_of(ui, tensor.tensor)));
    if (part.width() <= ui.px(30)) continue;
    draw_text(ui, part.inset(ui.px(4), 0), moment_.usage->tensors[tensor.tensor],
              {.style = TextStyle::mono_small, .colour = Colour::ink, .align = Align::centre, .fit = Fit::middle});
  }
}

TableCell AliveTable::cell(const Ui& ui, const Row& row, std::size_t column) const {
  const AliveTensor& tensor = tensors_[row.tensor];
  if (row.hidden > 0) {
    return {.text = column == 0 ? format_count(row.hidden) + " more tiles" : "", .colour = Colour::text3, .indent = 1};
  }
  const Allocation* allocation = row.allocation ? &moment_.usage->allocations[*row.allocation] : nullptr;
  const bool is_tile = allocation != nullptr && tensor.allocations.size() > 1;
  switch (column) {
    case 0: {
      const std::string& name = moment_.usage->tensors[tensor.tensor];
      TableCell cell{.text = name.empty() ? "unnamed" : name, .indent = is_tile ? 1 : 0};
      if (!is_tile) cell.swatch = colour_of(ui, tensor.tensor);
      if (allocation == nullptr) cell.expanded = expanded_.contains(tensor.tensor);
      return cell;
    }
    case 1:
      return {.text = is_tile ? "" : format_count(tensor.allocations.size())};
    case 2:
      return {.text = format_bytes(static_cast<double>(allocation != nullptr ? allocation->bytes : tensor.bytes))};
    case 3: {
      if (allocation == nullptr || !allocation->address) return missing();
      std::array<char, 24> text{};
      std::snprintf(text.data(), text.size(), "0x%llX", static_cast<unsigned long long>(*allocation->address));
      return {.text = text.data()};
    }
    default:
      if (allocation == nullptr || !allocation->end_ns) return missing();
      return {.text = format_duration(static_cast<double>(*allocation->end_ns - allocation->begin_ns))};
  }
}

std::optional<EventId> AliveTable::draw(const PanelContext& context, const Moment& moment, const char* title,
                                        Rect area) {
  Ui& ui = context.ui;
  refresh(moment);
  draw_head(ui, title, area.cut_top(ui.px(32)).inset(ui.px(size::kPanelPadding), 0));
  if (bytes_ > 0) draw_bar(ui, area.cut_top(ui.px(22)).inset(ui.px(size::kPanelPadding), ui.px(4)));
  const std::vector<Row> shown = rows();
  if (shown.empty()) {
    empty_state(ui, "memory.none_alive", area, icon::kAreaChart,
                "Nothing is alive here. Move the cursor over the plot.");
    return std::nullopt;
  }
  const auto event_of = [&](const Row& row) {
    return row.allocation ? std::optional(moment_.usage->allocations[*row.allocation].event) : std::nullopt;
  };
  const TableResult result = table(ui, "memory.alive", area, columns(), shown.size(),
                                   [&](std::size_t row, std::size_t column) { return cell(ui, shown[row], column); },
                                   table_, {.selected = [&](std::size_t row) {
                                     return event_of(shown[row]) && context.tab.selected == event_of(shown[row]);
                                   }});
  const auto chosen = result.toggled ? result.toggled : result.clicked;
  if (!chosen) return std::nullopt;
  const auto event = event_of(shown[*chosen]);
  if (event && !result.toggled) {
    select_event(context.tab, *event);
    return event;
  }
  const std::uint32_t tensor = tensors_[shown[*chosen].tensor].tensor;
  if (expanded_.erase(tensor) == 0) expanded_.insert(tensor);
  return std::nullopt;
}

}  // namespace accelscope::app
