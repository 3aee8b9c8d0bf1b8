#include "app/panels/memory/alive_table.h"

#include <algorithm>
#include <array>

#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "render/base/icons.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::size_t kMostTiles = 12;  // allocations listed under one tensor

const std::array<TableColumn, 6>& columns() {
  static const std::array<TableColumn, 6> kColumns = {
      {{.title = "Tensor"},
       {.title = "Tiles", .width = 46, .align = Align::right},
       {.title = "Size", .width = 90, .align = Align::right},
       {.title = "Address", .width = 84, .align = Align::right},
       {.title = "Since",
        .width = 108,
        .align = Align::right,
        .tooltip = "When it was allocated; of a tensor: its oldest"},
       {.title = "Lives", .width = 84, .align = Align::right, .tooltip = "From its allocation to its release"}}};
  return kColumns;
}

TableCell missing() { return {.text = "–", .colour = Colour::text3}; }

}  // namespace

Pixel AliveTable::colour_of(const Ui& ui, std::uint32_t tensor) const {
  return ui.theme().slice(palette_slot(usage().tensors[tensor]));
}

// The answer before goes with the next work: letting go of a large one takes its time.
void AliveTable::take_answer() {
  if (!task_.ready()) return;
  retired_ = std::move(content_);
  content_ = task_.take();
}

void AliveTable::refresh(const Moment& moment) {
  take_answer();
  const auto column = static_cast<AliveColumn>(std::clamp(table_.sort_column, 0, 5));
  const Wish wish{moment, column, table_.descending, expanded_, unfolded_};
  if ((content_ && wish == content_->wish) || task_.valid()) return;
  task_ = pool_.start([wish, retired = std::move(retired_)](TaskControl&) -> std::shared_ptr<const Content> {
    auto content = std::make_shared<Content>();
    content->wish = wish;
    const Moment& at = wish.moment;
    content->tensors = alive_by_tensor(*at.usage, at.pool, at.ns, at.min_bytes, at.passing);
    sort_alive(*at.usage, wish.column, wish.descending, content->tensors);
    for (const AliveTensor& tensor : content->tensors) {
      content->bytes += tensor.bytes;
      content->allocations += tensor.allocations.size();
    }
    content->rows = collect_rows(wish, content->tensors);
    return content;
  });
}

std::vector<AliveTable::Row> AliveTable::collect_rows(const Wish& wish, const std::vector<AliveTensor>& tensors) {
  std::vector<Row> rows;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const AliveTensor& tensor = tensors[t];
    if (tensor.allocations.size() == 1) {
      rows.push_back({t, tensor.allocations.front(), 0});
      continue;
    }
    rows.push_back({t, std::nullopt, 0});
    if (!wish.expanded.contains(tensor.tensor)) continue;
    const std::size_t most = wish.unfolded.contains(tensor.tensor) ? tensor.allocations.size() : kMostTiles;
    const std::size_t shown = std::min(most, tensor.allocations.size());
    for (std::size_t i = 0; i < shown; ++i) rows.push_back({t, tensor.allocations[i], 0});
    if (tensor.allocations.size() > shown) rows.push_back({t, std::nullopt, tensor.allocations.size() - shown});
  }
  return rows;
}

void AliveTable::toggle(const Row& row) {
  const std::uint32_t tensor = content_->tensors[row.tensor].tensor;
  if (row.hidden > 0) {
    unfolded_.insert(tensor);
  } else if (expanded_.erase(tensor) == 0) {
    expanded_.insert(tensor);
  } else {
    unfolded_.erase(tensor);
  }
}

// Narrow tables begin without the columns that tell least; what the user chose stays.
void AliveTable::choose_columns(const Ui& ui, float width) {
  constexpr float kNarrowUnits = 540, kVeryNarrowUnits = 430;  // units
  constexpr std::size_t kSince = 4, kLives = 5;
  const bool own = table_.hidden.empty() || table_.hidden == narrow_hidden_;
  if (!own) return;
  std::vector<bool> hidden;
  if (width < ui.px(kNarrowUnits)) {
    hidden.assign(columns().size(), false);
    hidden[kSince] = true;
    hidden[kLives] = width < ui.px(kVeryNarrowUnits);
  }
  table_.hidden = narrow_hidden_ = hidden;
}

void AliveTable::draw_head(Ui& ui, const char* title, Rect row) const {
  if (content_) {
    const char* noun = content_->allocations == 1 ? " allocation, " : " allocations, ";
    const std::string sum =
        format_count(content_->allocations) + noun + format_bytes(static_cast<double>(content_->bytes));
    const float width = text_width(ui, TextStyle::mono, sum);
    draw_text(ui, row.cut_right(width), sum, {.style = TextStyle::mono, .colour = Colour::text2});
    row.cut_right(ui.px(12));
  }
  draw_text(ui, row, title, {.style = TextStyle::heading});
}

// The shares of the tensors, and what is free: of the capacity where it is known, else of the peak.
void AliveTable::draw_bar(Ui& ui, Rect bar) const {
  const Moment& moment = content_->wish.moment;
  const PoolUsage& pool = usage().pool(moment.pool);
  const bool of_capacity = pool.capacity_bytes && *pool.capacity_bytes >= pool.peak_bytes;
  const std::uint64_t whole = std::max<std::uint64_t>(of_capacity ? *pool.capacity_bytes : pool.peak_bytes, 1);
  const float width = bar.width();
  fill(ui, bar, ui.colour(Colour::bg4));
  constexpr std::size_t kMostParts = 500;
  for (std::size_t i = 0; i < std::min(kMostParts, content_->tensors.size()); ++i) {
    const AliveTensor& tensor = content_->tensors[i];
    const double share = static_cast<double>(tensor.bytes) / static_cast<double>(whole);
    const Rect part = bar.cut_left(static_cast<float>(share) * width);
    fill(ui, part, ui.theme().area(colour_of(ui, tensor.tensor)));
    if (part.width() <= ui.px(30)) continue;
    draw_text(ui, part.inset(ui.px(4), 0), usage().tensors[tensor.tensor],
              {.style = TextStyle::mono_small, .colour = Colour::ink, .align = Align::centre, .fit = Fit::middle});
  }
  const std::uint64_t used = usage().used_at(moment.pool, moment.ns);
  if (used > whole) return;
  const std::string text =
      format_bytes(static_cast<double>(whole - used)) + (of_capacity ? " free" : " below the peak");
  if (text_width(ui, TextStyle::mono_small, text) + ui.px(8) > bar.width()) return;
  draw_text(ui, bar.inset(ui.px(4), 0), text,
            {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right});
}

TableCell AliveTable::cell(const Ui& ui, const Row& row, std::size_t column) const {
  const AliveTensor& tensor = content_->tensors[row.tensor];
  if (row.hidden > 0) {
    return {.text = column == 0 ? format_count(row.hidden) + " more tiles" : "", .colour = Colour::accent, .indent = 1};
  }
  const Allocation* allocation = row.allocation ? &usage().allocations[*row.allocation] : nullptr;
  const bool is_tile = allocation != nullptr && tensor.allocations.size() > 1;
  switch (column) {
    case 0: {
      const std::string& name = usage().tensors[tensor.tensor];
      TableCell cell{.text = name.empty() ? "unnamed" : name, .indent = is_tile ? 1 : 0};
      if (!is_tile) cell.swatch = colour_of(ui, tensor.tensor);
      if (is_tile) cell.colour = Colour::text2;
      if (allocation == nullptr) cell.expanded = expanded_.contains(tensor.tensor);
      return cell;
    }
    case 1:
      return {.text = is_tile ? "" : format_count(tensor.allocations.size())};
    case 2:
      return {.text = format_bytes(static_cast<double>(allocation != nullptr ? allocation->bytes : tensor.bytes))};
    case 3:
      if (allocation == nullptr || !allocation->address) return missing();
      return {.text = address_text(*allocation->address), .fit = Fit::middle};
    case 4:
      return {.text = format_time_exact(allocation != nullptr ? allocation->begin_ns : tensor.begin_ns)};
    default:
      if (allocation == nullptr) return missing();
      if (!allocation->end_ns) return {.text = "not freed", .colour = Colour::text2};
      return {.text = format_duration(static_cast<double>(*allocation->end_ns - allocation->begin_ns))};
  }
}

std::optional<EventId> AliveTable::draw(const PanelContext& context, const Moment& moment, const char* title,
                                        Rect area) {
  Ui& ui = context.ui;
  constexpr float kHead = 32, kBar = 22, kLeastForHead = 120, kLeastForBar = 160;
  refresh(moment);
  const float height = area.height();
  if (height >= ui.px(kLeastForHead)) {
    draw_head(ui, title, area.cut_top(ui.px(kHead)).inset(ui.px(size::kPanelPadding), 0));
  }
  if (!content_) return std::nullopt;
  if (content_->bytes > 0 && height >= ui.px(kLeastForBar)) {
    draw_bar(ui, area.cut_top(ui.px(kBar)).inset(ui.px(size::kPanelPadding), ui.px(4)));
  }
  const std::vector<Row>& rows = content_->rows;
  if (rows.empty()) {
    empty_state(ui, "memory.none_alive", area, icon::kAreaChart,
                content_->wish.moment.passing.mask
                    ? "Nothing that the filter lets through is alive here. Move the cursor, or end the filter."
                    : "Nothing is alive here. Move the cursor over the plot.");
    return std::nullopt;
  }
  choose_columns(ui, area.width());
  const auto event_of = [&](const Row& row) {
    return row.allocation ? std::optional(usage().allocations[*row.allocation].event) : std::nullopt;
  };
  const TableResult result = table(ui, "memory.alive", area, columns(), rows.size(),
                                   [&](std::size_t row, std::size_t column) { return cell(ui, rows[row], column); },
                                   table_, {.selected = [&](std::size_t row) {
                                     return event_of(rows[row]) && context.tab.selected == event_of(rows[row]);
                                   }});
  const auto chosen = result.toggled ? result.toggled : result.clicked;
  if (!chosen) return std::nullopt;
  const Row row = rows[*chosen];
  const auto event = event_of(row);
  if (event && !result.toggled) {
    select_event(context.tab, *event);
    return event;
  }
  toggle(row);
  return std::nullopt;
}

}  // namespace accelscope::app
