// The lines and the files of a session as tables by cost: what the source panel shows without a text, or on wish.
#include <algorithm>
#include <array>
#include <filesystem>

#include "app/panels/source/panel.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kWholePaths = 760;  // units of width from which whole paths are shown

// A column of figures, left out where every line has nothing in it.
struct Figure {
  CostColumn column;
  Heat heat;
  const char* title;
  const char* tooltip;
};
constexpr std::array kFigures = {
    Figure{CostColumn::events, Heat::events, "Events", "Events that name the line"},
    Figure{CostColumn::busy, Heat::busy, "Busy",
           "Time of these events without waiting. An event that runs inside another counts in both lines."},
    Figure{CostColumn::wait, Heat::wait, "Wait", "Time that these events waited, and of events that do nothing else"},
    Figure{CostColumn::bytes, Heat::bytes, "Bytes", "Bytes that these events read, wrote or moved"}};

struct CostTable {
  std::vector<TableColumn> columns;
  std::vector<CostColumn> meaning;
  std::vector<Heat> heats;  // of the columns after the first `texts`
  std::size_t texts = 0;
};

CostTable cost_table(std::vector<TableColumn> first, const LineCost& total, Heat heat) {
  CostTable result;
  result.texts = first.size();
  result.columns = std::move(first);
  result.meaning.assign(result.texts, CostColumn::place);
  for (const Figure& figure : kFigures) {
    if (heat_value(total, figure.heat) <= 0) continue;
    result.columns.push_back({.title = figure.title,
                              .width = figure.heat == heat           ? 124.0F
                                       : figure.heat == Heat::events ? 64.0F
                                                                     : 78.0F,
                              .align = Align::right,
                              .tooltip = figure.tooltip});
    result.meaning.push_back(figure.column);
    result.heats.push_back(figure.heat);
  }
  return result;
}

// The order that the head shows; without a choice, by the heat.
CostColumn sorted_by(const TableState& state, const CostTable& table, Heat heat) {
  const auto chosen = static_cast<std::size_t>(state.sort_column);
  return state.sort_column >= 0 && chosen < table.meaning.size() ? table.meaning[chosen] : column_of(heat);
}

void show_order(TableState& state, const CostTable& table, Heat heat) {
  if (state.sort_column >= 0) return;
  const auto column = std::find(table.meaning.begin(), table.meaning.end(), column_of(heat));
  if (column == table.meaning.end()) return;
  state.sort_column = static_cast<int>(column - table.meaning.begin());
  state.descending = true;
}

TableCell figure_cell(const LineCost& cost, Heat shown, Heat heat, double most) {
  TableCell cell{.text = heat_text(cost, shown)};
  if (cell.text.empty()) {
    cell.text = "–";
    cell.colour = Colour::text3;
  } else if (shown == heat && most > 0) {
    cell.bar = heat_value(cost, shown) / most;
  }
  return cell;
}

}  // namespace

void SourcePanel::draw_narrow(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  fill(ui, row, ui.colour(Colour::bg2));
  Rect place = row.inset(ui.px(size::kPanelPadding), 0);
  if (missing_texts_ > 0) {
    const ButtonOptions choose{
        .label = storing_.valid() ? "Reading ..." : "Choose a folder...",
        .icon = icon::kFolderOpen,
        .kind = ButtonKind::quiet,
        .disabled = storing_.valid(),
        .tooltip = "Reads the files that events name from below a folder, and stores them with the session"};
    if (button(ui, "source.folder", place.cut_right(button_width(ui, choose)).middle(ui.px(size::kSmallControl)),
               choose)) {
      choose_folder(context);
    }
    place.cut_right(ui.px(8));
    const std::string lack =
        format_count(missing_texts_) + (missing_texts_ == 1 ? " file" : " files") + " without text";
    draw_text(ui, place.cut_right(text_width(ui, TextStyle::small, lack)), lack,
              {.style = TextStyle::small, .colour = Colour::text3});
    place.cut_right(ui.px(10));
  }
  if (page_ != Page::lines) return;
  const Rect field =
      Rect{place.x0, place.y0, std::min(place.x1, place.x0 + ui.px(260)), place.y1}.middle(ui.px(size::kSmallControl));
  if (text_input(ui, "source.narrow", field, narrow_, {.placeholder = "Narrow by file", .icon = icon::kFilter})
          .changed) {
    order_stale_ = true;
  }
}

void SourcePanel::draw_lines(const PanelContext& context, const Rect& area) {
  LineCost total;
  for (const SourceLine& line : all_->lines) total += cost_of(line);
  const CostTable layout = cost_table({{.title = "Line", .tooltip = "File and line that events name"}}, total, heat_);
  show_order(lines_table_, layout, heat_);
  if (std::exchange(order_stale_, false)) {
    order_ = ordered_lines(*all_, narrow_, sorted_by(lines_table_, layout, heat_), lines_table_.descending);
  }
  double most = 0;
  for (const std::uint32_t i : order_) most = std::max(most, heat_value(cost_of(all_->lines[i]), heat_));
  const bool whole = area.width() >= context.ui.px(kWholePaths);
  const auto& sources = context.tab.snapshot->sources;
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const SourceLine& line = all_->lines[order_[row]];
    if (column >= layout.texts) return figure_cell(cost_of(line), layout.heats[column - layout.texts], heat_, most);
    TableCell cell{.text = (whole ? line.path : file_name(line.path)) + ":" + std::to_string(line.line),
                   .fit = Fit::middle};
    cell.link = find_source(sources, line.path).has_value();
    return cell;
  };
  const auto is_lit = [&](std::size_t row) {
    const SourceLine& line = all_->lines[order_[row]];
    return lit_ && lit_->line == line.line && same_source(lit_->path, line.path);
  };
  TableOptions options{.selected = is_lit};
  if (std::exchange(show_lit_row_, false)) {
    for (std::size_t row = 0; row < order_.size() && !options.show_row; ++row) {
      if (is_lit(row)) options.show_row = row;
    }
  }
  const TableResult result =
      table(context.ui, "source.lines", area, layout.columns, order_.size(), content, lines_table_, options);
  if (result.sort_changed) order_stale_ = true;
  const auto place_of = [&](std::size_t row) {
    const SourceLine& line = all_->lines[order_[row]];
    return Place{line.path, line.line};
  };
  if (result.clicked) light_line(context, place_of(*result.clicked));
  if (result.double_clicked) {
    fit_when_ready_ = true;
    light_line(context, place_of(*result.double_clicked));
  }
  if (result.clicked_link) {
    const Place place = place_of(*result.clicked_link);
    show_page(context, Page::text, place.path);
    scroll_to_ = place.line;
    light_line(context, place);
  }
}

void SourcePanel::draw_files(const PanelContext& context, const Rect& area) {
  LineCost total;
  double most = 0;
  for (const FileCost& file : files_) {
    total += file.cost;
    most = std::max(most, heat_value(file.cost, heat_));
  }
  const CostTable layout = cost_table(
      {{.title = "File", .tooltip = "A click opens it"},
       {.title = "Lines", .width = 52, .align = Align::right, .sortable = false, .tooltip = "Lines that events name"}},
      total, heat_);
  show_order(files_table_, layout, heat_);
  const bool whole = area.width() >= context.ui.px(kWholePaths);
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const FileCost& file = files_[row];
    if (column >= layout.texts) return figure_cell(file.cost, layout.heats[column - layout.texts], heat_, most);
    if (column == 1) return {.text = format_count(file.line_count), .colour = Colour::text2};
    return {.text = whole ? file.path : file_name(file.path),
            .fit = Fit::middle,
            .icon = file.text ? icon::kFileCode : icon::kFile,
            .link = true};
  };
  const TableResult result =
      table(context.ui, "source.files_by_cost", area, layout.columns, files_.size(), content, files_table_);
  if (result.sort_changed) sort_files(files_, sorted_by(files_table_, layout, heat_), files_table_.descending);
  if (const auto row = result.clicked_link ? result.clicked_link : result.double_clicked) {
    show_page(context, Page::text, files_[*row].path);
  }
}

}  // namespace accelscope::app
