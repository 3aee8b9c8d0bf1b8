#include "app/panels/warnings/error_tables.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/targets.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/layout.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kErrorsShare = 0.45F, kAroundHead = 26;

const std::array<TableColumn, 4>& error_columns() {
  static const std::array<TableColumn, 4> kColumns = {{
      {.title = "Time", .width = 120, .align = Align::right, .sortable = false},
      {.title = "Error", .width = 240, .sortable = false},
      {.title = "Details", .sortable = false, .tooltip = "What was reported with it"},
      {.title = "Device", .width = 70, .sortable = false},
  }};
  return kColumns;
}

const std::array<TableColumn, 6>& around_columns() {
  static const std::array<TableColumn, 6> kColumns = {{
      {.title = "Where", .width = 140, .sortable = false},
      {.title = "Ran", .width = 130, .sortable = false},
      {.title = "State", .width = 90, .sortable = false, .tooltip = "When the error was reported"},
      {.title = "Since",
       .width = 84,
       .align = Align::right,
       .sortable = false,
       .tooltip = "From its begin to the error",
       .data_title = "since_ns"},
      {.title = "Operands", .sortable = false},
      {.title = "Source", .width = 170, .sortable = false},
  }};
  return kColumns;
}

TableCell text_cell(const std::string& text, TextStyle style) {
  if (text.empty()) return {.text = "–", .colour = Colour::text3, .style = style};
  return {.text = text, .style = style, .fit = Fit::middle};
}

TableCell error_cell(const ReportedError& error, std::size_t column) {
  switch (column) {
    case 0:
      return {.text = format_time_exact(error.incident.begin_ns)};
    case 1:
      return {.text = error.name, .style = TextStyle::body, .icon = icon::kError, .icon_colour = Colour::error};
    case 2:
      return text_cell(error.details, TextStyle::body);
    default:
      return text_cell(error.device, TextStyle::body);
  }
}

TableCell around_cell(const Snapshot& snapshot, const ReportedError& error, const RanAround& ran, std::size_t column) {
  const TrackSnapshot* track = snapshot.find_track(ran.track);
  const std::int64_t since = error.incident.begin_ns - ran.begin_ns;
  switch (column) {
    case 0:
      return text_cell(track == nullptr ? "" : track->track->name, TextStyle::body);
    case 1:
      return text_cell(ran.name, TextStyle::mono);
    case 2:
      return {.text = ran.under_way ? "under way" : "last before",
              .colour = ran.under_way ? Colour::text1 : Colour::text3,
              .style = TextStyle::body};
    case 3:
      return {.text = format_duration(static_cast<double>(since)),
              .exact = format_time_exact(since),
              .data = std::to_string(since)};
    case 4:
      return text_cell(ran.operands, TextStyle::mono);
    default: {
      const std::string& source = ran.source.empty() ? error.source : ran.source;
      TableCell cell = text_cell(source.substr(source.rfind('/') + 1), TextStyle::mono);
      cell.link = !source.empty();
      cell.exact = source;
      return cell;
    }
  }
}

}  // namespace

void ErrorTables::draw_errors(const PanelContext& context, const Rect& area) {
  const auto& errors = report_->errors;
  const TableResult hand =
      table(context.ui, "warnings.errors", area, error_columns(), errors.size(),
            [&](std::size_t row, std::size_t column) { return error_cell(errors[row], column); }, errors_,
            {.selected = [&](std::size_t row) { return errors[row].incident.event == chosen_; }});
  const std::optional<std::size_t> row = hand.double_clicked ? hand.double_clicked : hand.clicked;
  if (!row) return;
  chosen_ = errors[*row].incident.event;
  select_target(context, chosen_, hand.double_clicked.has_value());
}

void ErrorTables::draw_around(const PanelContext& context, const Rect& area, const ReportedError& error) {
  const Snapshot& snapshot = *context.tab.snapshot;
  const TableResult hand = table(
      context.ui, "warnings.around", area, around_columns(), error.around.size(),
      [&](std::size_t row, std::size_t column) { return around_cell(snapshot, error, error.around[row], column); },
      around_, {.selected = [&](std::size_t row) { return context.tab.selected == error.around[row].event; }});
  if (hand.clicked_link) {
    const RanAround& ran = error.around[*hand.clicked_link];
    context.tab.selected_source = ran.source.empty() ? error.source : ran.source;
    context.actions.show_panel("source");
  }
  const std::optional<std::size_t> row = hand.double_clicked ? hand.double_clicked : hand.clicked;
  if (row) select_target(context, error.around[*row].event, hand.double_clicked.has_value());
}

void ErrorTables::draw(const PanelContext& context, Rect area, const std::shared_ptr<const ErrorReport>& report) {
  Ui& ui = context.ui;
  report_ = report;
  const auto is_chosen = [&](const ReportedError& each) { return each.incident.event == chosen_; };
  auto chosen = std::find_if(report_->errors.begin(), report_->errors.end(), is_chosen);
  if (chosen == report_->errors.end()) {
    chosen = report_->errors.begin();
    chosen_ = chosen->incident.event;
  }
  const Rect left = area.cut_left(std::round(area.width() * kErrorsShare));
  draw_errors(context, left);
  vertical_line(ui, area.x0, area.y0, area.y1, ui.colour(Colour::line2));
  const std::string since = "at " + format_time_exact(chosen->incident.begin_ns);
  heading(ui, area.cut_top(ui.px(kAroundHead)).inset(ui.px(size::kPanelPadding), 0), "What ran around it", since);
  draw_around(context, area, *chosen);
}

}  // namespace accelscope::app
