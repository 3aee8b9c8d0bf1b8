#include "app/panels/why/findings.h"

#include <numeric>

#include "app/content/advice_words.h"
#include "core/analysis/advice/advice.h"
#include "core/base/text.h"

namespace accelscope::app::panels {

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

TableCell error_cell(const analysis::ReportedError& error, std::size_t column) {
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

TableCell around_cell(const Snapshot& snapshot, const analysis::ReportedError& error, const analysis::RanAround& ran,
                      std::size_t column) {
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
      return {.text = format_duration(since), .exact = format_time_exact(since), .data = std::to_string(since)};
    case 4:
      return text_cell(ran.operands, TextStyle::mono);
    default: {
      const std::string& source = ran.source.empty() ? error.source : ran.source;
      TableCell cell = text_cell(file_name(source), TextStyle::mono);
      cell.link = !source.empty();
      cell.exact = source;
      return cell;
    }
  }
}

constexpr float kCardLabel = 96, kCardLine = 18, kCardPause = 8;  // units

constexpr float kFindingCard = 460, kNarrowCard = 360, kLeastFindings = 520;  // units
constexpr float kRoomy = 1'400;
enum FindingColumn : std::size_t { kSaves, kShare, kWhat, kWhere, kEvents, kDevice };

const std::array<TableColumn, 6>& finding_columns() {
  static const std::array<TableColumn, 6> kColumns = {{
      {.title = "Saves up to",
       .width = 136,
       .align = Align::right,
       .tooltip = "What mending this alone would save at most; savings do not add up",
       .data_title = "saving_ns"},
      {.title = "Share",
       .width = 72,
       .align = Align::right,
       .tooltip = "Of the device's active time in the work; of gaps: of the time from its first to its last work",
       .data_title = "share"},
      {.title = "What", .tooltip = "A click selects what it rests on, a double click goes there"},
      {.title = "Where", .width = 176, .tooltip = "The line of source that it costs most"},
      {.title = "Count", .width = 76, .align = Align::right, .tooltip = "Events or gaps that it rests on"},
      {.title = "Device", .width = 84},
  }};
  return kColumns;
}

TableCell finding_cell(const Ui& ui, const analysis::Finding& finding, std::size_t column, std::int64_t largest) {
  switch (column) {
    case kSaves:
      if (finding.is_error) return {.text = "error", .colour = Colour::error, .style = TextStyle::mono_strong};
      return {.text = format_duration(finding.saving_ns),
              .style = TextStyle::mono_strong,
              .exact = analysis::saving_text(finding),
              .data = std::to_string(finding.saving_ns),
              .bar = static_cast<double>(finding.saving_ns) / static_cast<double>(std::max<std::int64_t>(1, largest)),
              .bar_colour = ui.colour(Colour::warning_line)};
    case kShare:
      if (finding.is_error) return {.text = "–", .colour = Colour::text3};
      return {.text = format_share(finding.share), .data = fmt::format("{}", finding.share)};
    case kWhat:
      return {.text = finding.headline,
              .style = TextStyle::body,
              .icon = finding.is_error ? icon::kError : icon::kWarning,
              .icon_colour = finding.is_error ? Colour::error : Colour::warning_line};
    case kWhere:
      if (finding.source.empty()) return {.text = "–", .colour = Colour::text3};
      return {.text = file_name(finding.source), .fit = Fit::middle, .exact = finding.source, .link = true};
    case kEvents:
      return {.text = format_count(finding.count), .data = std::to_string(finding.count)};
    default:
      return {.text = finding.device.empty() ? "–" : finding.device,
              .colour = finding.device.empty() ? Colour::text3 : Colour::text2,
              .style = TextStyle::body};
  }
}

bool comes_first(const analysis::Finding& a, const analysis::Finding& b, int column) {
  switch (static_cast<std::size_t>(column)) {
    case kSaves:
      return a.saving_ns < b.saving_ns;
    case kShare:
      return a.share < b.share;
    case kWhat:
      return a.headline < b.headline;
    case kWhere:
      return a.source < b.source;
    case kEvents:
      return a.count < b.count;
    default:
      return a.device < b.device;
  }
}

}  // namespace

void ErrorTables::draw_errors(const PanelContext& context, const Rect& area) {
  const auto& errors = report_->errors;
  const TableResult response =
      table(context.ui, "warnings.errors", area, error_columns(), errors.size(),
            [&](std::size_t row, std::size_t column) { return error_cell(errors[row], column); }, errors_,
            {.selected = [&](std::size_t row) { return errors[row].incident.event == chosen_; }});
  const std::optional<std::size_t> row = response.double_clicked ? response.double_clicked : response.clicked;
  if (!row) return;
  chosen_ = errors[*row].incident.event;
  select_target(context, chosen_, response.double_clicked.has_value());
}

void ErrorTables::draw_around(const PanelContext& context, const Rect& area, const analysis::ReportedError& error) {
  const Snapshot& snapshot = *context.tab.snapshot;
  const TableResult response = table(
      context.ui, "warnings.around", area, around_columns(), error.around.size(),
      [&](std::size_t row, std::size_t column) { return around_cell(snapshot, error, error.around[row], column); },
      around_, {.selected = [&](std::size_t row) { return context.tab.selected == error.around[row].event; }});
  if (response.clicked_link) {
    const analysis::RanAround& ran = error.around[*response.clicked_link];
    context.tab.selected_source = ran.source.empty() ? error.source : ran.source;
    context.actions.show_panel("source");
  }
  const std::optional<std::size_t> row = response.double_clicked ? response.double_clicked : response.clicked;
  if (row) select_target(context, error.around[*row].event, response.double_clicked.has_value());
}

void ErrorTables::draw(const PanelContext& context, Rect area,
                       const std::shared_ptr<const analysis::ErrorReport>& report) {
  Ui& ui = context.ui;
  report_ = report;
  const auto is_chosen = [&](const analysis::ReportedError& each) { return each.incident.event == chosen_; };
  auto chosen = std::ranges::find_if(report_->errors, is_chosen);
  if (chosen == report_->errors.end()) {
    chosen = report_->errors.begin();
    chosen_ = chosen->incident.event;
  }
  const Rect left = area.cut_left(std::round(area.width() * kErrorsShare));
  draw_errors(context, left);
  vertical_line(ui, area.x0, area.y0, area.y1, ui.colour(Colour::line2));
  const std::string since = "at " + format_time_exact(chosen->incident.begin_ns);
  heading(ui, padded(ui, area.cut_top(ui.px(kAroundHead))), "What ran around it", since);
  draw_around(context, area, *chosen);
}

void FindingList::draw_card(const PanelContext& context, const analysis::Finding& finding, const Rect& area) {
  Ui& ui = context.ui;
  std::vector<content::FindingField> fields = content::finding_fields(*context.tab.snapshot, finding);
  fields.insert(fields.begin(), {"What", finding.headline});  // whole, whatever room the table has
  Rect inner = padded(ui, area);
  Rect head = inner.cut_top(ui.px(34));
  ButtonOptions show{.label = "Show events", .tooltip = "Select what it rests on, and go there"};
  const float title = text_width(ui, TextStyle::heading, finding.rule->title) + ui.px(8);
  if (title + button_width(ui, show) > head.width()) show.label = "Show";
  if (button_right(ui, "warnings.show", head, show, size::kSmallControl)) choose(context, finding, true);
  head.cut_right(ui.px(8));
  const std::string attempt_hint = "What the session would be with this mended: " + finding.change;
  const ButtonOptions attempt{.label = "What if", .kind = ButtonKind::quiet, .tooltip = attempt_hint};
  if (!finding.change.empty()) {
    if (button_right(ui, "warnings.what_if", head, attempt, size::kSmallControl)) tried_ = finding.change;
    head.cut_right(ui.px(8));
  }
  heading(ui, head, finding.rule->title, finding.device);
  const float label = ui.px(kCardLabel), line = ui.px(kCardLine);
  const float width = inner.width() - label - ui.px(16);
  float height = ui.px(kCardPause);
  std::vector<float> heights;
  std::erase_if(fields, [](const content::FindingField& field) { return field.text.empty(); });
  for (const content::FindingField& field : fields) {
    heights.push_back(paragraph_height(ui, TextStyle::small, field.text, width, line) + ui.px(4));
    height += heights.back();
  }
  const ScrollArea scroll(ui, "warnings.card", inner, height);
  Rect content = scroll.content();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Rect row = content.cut_top(heights[i]);
    Rect name = row.cut_left(label);
    draw_text(ui, name.cut_top(line), fields[i].label, kHintText);
    row.x1 = row.x0 + width;
    draw_paragraph(ui, row, fields[i].text,
                   {.style = TextStyle::small, .colour = i < 3 ? Colour::text1 : Colour::text2}, line);
  }
}

void FindingList::choose(const PanelContext& context, const analysis::Finding& finding, bool zoom) {
  session::SessionTab& tab = context.tab;
  tab.chosen_warning = finding.key;
  select_target(context, finding.events, zoom);
  if (zoom && !finding.events.range) {
    const TimeRange range = finding.places.front().range;
    view::show_stretch(tab, range.begin_ns, range.end_ns);
  }
}

void FindingList::order(const analysis::Advice& advice) {
  rows_.resize(advice.findings.size());
  std::iota(rows_.begin(), rows_.end(), 0U);
  if (table_.sort_column < 0) return;
  std::ranges::stable_sort(rows_, [&](std::uint32_t a, std::uint32_t b) {
    return table_.descending ? comes_first(advice.findings[b], advice.findings[a], table_.sort_column)
                             : comes_first(advice.findings[a], advice.findings[b], table_.sort_column);
  });
}

// Columns in which no line of source stands, or every row the same device, only take room; the user may still ask for
// them.
void FindingList::hide_idle_columns(const analysis::Advice& advice) {
  std::vector<bool> idle(finding_columns().size(), false);
  idle[kWhere] = std::ranges::all_of(advice.findings, [](const auto& each) { return each.source.empty(); });
  idle[kDevice] = std::ranges::all_of(advice.findings,
                                      [&](const auto& each) { return each.device == advice.findings.front().device; });
  if (idle == std::exchange(idle_, idle)) return;
  table_.hidden = idle;
}

void FindingList::draw_table(const PanelContext& context, const Rect& area, const analysis::Advice& advice) {
  Ui& ui = context.ui;
  const auto finding_of = [&](std::size_t row) -> const analysis::Finding& { return advice.findings[rows_[row]]; };
  const std::int64_t largest =
      std::ranges::max_element(advice.findings, [](const analysis::Finding& a, const analysis::Finding& b) {
        return a.saving_ns < b.saving_ns;
      })->saving_ns;
  const TableResult response =
      table(ui, "warnings.table", area, finding_columns(), rows_.size(),
            [&](std::size_t row, std::size_t column) { return finding_cell(ui, finding_of(row), column, largest); },
            table_, {.selected = [&](std::size_t row) { return finding_of(row).key == context.tab.chosen_warning; }});
  if (response.sort_changed) order(advice);
  if (response.clicked_link) {
    context.tab.selected_source = finding_of(*response.clicked_link).source;
    context.actions.show_panel("source");
  }
  if (response.clicked) choose(context, finding_of(*response.clicked), false);
  if (response.double_clicked) choose(context, finding_of(*response.double_clicked), true);
}

void FindingList::draw(const PanelContext& context, Rect area, const std::shared_ptr<const analysis::Advice>& advice) {
  Ui& ui = context.ui;
  tried_.clear();
  if (ordered_ != advice) {
    ordered_ = advice;
    order(*advice);
    hide_idle_columns(*advice);
  }
  const auto chosen = std::ranges::find_if(
      advice->findings, [&](const analysis::Finding& each) { return each.key == context.tab.chosen_warning; });
  const float card_width = ui.px(area.width() >= ui.px(kRoomy) ? kFindingCard : kNarrowCard);
  if (area.width() >= card_width + ui.px(kLeastFindings)) {
    const Rect card = cut_pane(ui, area, card_width);
    draw_card(context, chosen == advice->findings.end() ? advice->findings.front() : *chosen, card);
  }
  draw_table(context, area, *advice);
}

}  // namespace accelscope::app::panels
