#include <numeric>

#include "app/content/advice_words.h"
#include "app/panels/panel.h"
#include "app/session/shown_advice.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/advice/evidence.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// What of the session costs time that could be saved: findings ranked by it, all that is to be said of the chosen one
// beside them; and, on its other page, what ran on every engine around each reported error. The chosen finding is shown
// on the timeline as a box (SessionTab::chosen_warning).

// Reported errors, and what ran on every engine around the chosen one: its operands and its line. Clicks select the
// events on the timeline.

class ErrorTables {
 public:
  // Of a report with at least one error.
  void draw(const PanelContext& context, Rect area, const std::shared_ptr<const ErrorReport>& report);

 private:
  void draw_errors(const PanelContext& context, const Rect& area);
  void draw_around(const PanelContext& context, const Rect& area, const ReportedError& error);

  std::shared_ptr<const ErrorReport> report_;
  EventId chosen_ = kNoEvent;  // the first where it is none of the report
  TableState errors_, around_;
};

class WarningsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] bool pending() const override { return errors_.task.valid(); }
  [[nodiscard]] std::string badge(const SessionTab& tab) const override;  // how many findings

 private:
  enum class Page : std::uint8_t { warnings, errors };
  void draw_head(const PanelContext& context, Rect row, const Advice* advice, const ErrorReport* errors);
  void draw_findings(const PanelContext& context, Rect area, const std::shared_ptr<const Advice>& advice);
  void draw_table(const PanelContext& context, const Rect& area, const Advice& advice);
  void draw_errors(const PanelContext& context, const Rect& area, const std::shared_ptr<const ErrorReport>& errors);
  void order(const Advice& advice);
  void hide_where_nothing_is_known(const Advice& advice);
  static void choose(const PanelContext& context, const Finding& finding, bool zoom);

  Page page_ = Page::warnings;
  bool page_chosen_ = false;  // by the user
  FilteredAnswer<ErrorReport> errors_;
  ErrorTables errors_table_;
  std::shared_ptr<const Advice> ordered_;
  std::vector<std::uint32_t> rows_;  // of ordered_, as they are shown
  TableState table_;
  bool hides_where_ = false;
};

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
      return {.text = format_duration(since), .exact = format_time_exact(since), .data = std::to_string(since)};
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

// All that is to be said of one finding: why it costs time, what to try, what it rests on, and how the rule works.

// True when its events are to be shown ("warnings.show").
bool draw_finding_card(const PanelContext& context, const Finding& finding, const Rect& area);

constexpr float kCardLabel = 96, kCardLine = 18, kCardPause = 8;  // units

bool draw_finding_card(const PanelContext& context, const Finding& finding, const Rect& area) {
  Ui& ui = context.ui;
  std::vector<FindingField> fields = finding_fields(*context.tab.snapshot, finding);
  Rect inner = padded(ui, area);
  Rect head = inner.cut_top(ui.px(34));
  ButtonOptions show{.label = "Show events", .tooltip = "Select what it rests on, and go there"};
  const float title = text_width(ui, TextStyle::heading, finding.rule->title) + ui.px(8);
  if (title + button_width(ui, show) > head.width()) show.label = "Show";
  const bool shown = button_right(ui, "warnings.show", head, show, size::kSmallControl);
  head.cut_right(ui.px(8));
  heading(ui, head, finding.rule->title, finding.device);
  const float label = ui.px(kCardLabel), line = ui.px(kCardLine);
  const float width = inner.width() - label - ui.px(16);
  float height = ui.px(kCardPause);
  std::vector<float> heights;
  std::erase_if(fields, [](const FindingField& field) { return field.text.empty(); });
  for (const FindingField& field : fields) {
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
                   {.style = TextStyle::small, .colour = i < 2 ? Colour::text1 : Colour::text2}, line);
  }
  return shown;
}

constexpr float kFindingCard = 460, kNarrowCard = 360, kLeastFindings = 520;  // units
constexpr float kRoomy = 1'400;
enum FindingColumn : std::size_t { kSaves, kShare, kWhat, kWhere, kEvents, kRule };

const std::array<TableColumn, 6>& finding_columns() {
  static const std::array<TableColumn, 6> kColumns = {{
      {.title = "Saves up to",
       .width = 150,
       .align = Align::right,
       .tooltip = "What mending this alone would save at most; savings do not add up",
       .data_title = "saving_ns"},
      {.title = "Share",
       .width = 72,
       .align = Align::right,
       .tooltip = "Of the device's active time in the work; of gaps: of the time from its first to its last work",
       .data_title = "share"},
      {.title = "What", .tooltip = "A click selects what it rests on, a double click goes there"},
      {.title = "Where", .width = 200, .tooltip = "The line of source that it costs most"},
      {.title = "Count", .width = 76, .align = Align::right, .tooltip = "Events or gaps that it rests on"},
      {.title = "Device", .width = 84},
  }};
  return kColumns;
}

std::string file_and_line(const std::string& source) {
  const std::size_t slash = source.rfind('/');
  return slash == std::string::npos ? source : source.substr(slash + 1);
}

TableCell finding_cell(const Ui& ui, const Finding& finding, std::size_t column, std::int64_t largest) {
  switch (column) {
    case kSaves:
      if (finding.is_error) return {.text = "error", .colour = Colour::error, .style = TextStyle::mono_strong};
      return {.text = format_duration(finding.saving_ns),
              .style = TextStyle::mono_strong,
              .exact = saving_text(finding),
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
      return {.text = file_and_line(finding.source), .fit = Fit::middle, .exact = finding.source, .link = true};
    case kEvents:
      return {.text = format_count(finding.count), .data = std::to_string(finding.count)};
    default:
      return {.text = finding.device.empty() ? "–" : finding.device,
              .colour = finding.device.empty() ? Colour::text3 : Colour::text2,
              .style = TextStyle::body};
  }
}

bool comes_first(const Finding& a, const Finding& b, int column) {
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

// What was not judged stands in the tooltip too: the line may be too short for it.
void draw_hint(Ui& ui, const Rect& row, const std::string& hint, const std::string& more) {
  draw_text(ui, row, hint, kHintText);
  if (more.empty()) return;
  const Rect text{row.x0, row.y0, row.x0 + std::min(row.width(), text_width(ui, TextStyle::small, hint)), row.y1};
  tooltip(ui, interact(ui, "warnings.judged", text), text, more);
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

void ErrorTables::draw_around(const PanelContext& context, const Rect& area, const ReportedError& error) {
  const Snapshot& snapshot = *context.tab.snapshot;
  const TableResult response = table(
      context.ui, "warnings.around", area, around_columns(), error.around.size(),
      [&](std::size_t row, std::size_t column) { return around_cell(snapshot, error, error.around[row], column); },
      around_, {.selected = [&](std::size_t row) { return context.tab.selected == error.around[row].event; }});
  if (response.clicked_link) {
    const RanAround& ran = error.around[*response.clicked_link];
    context.tab.selected_source = ran.source.empty() ? error.source : ran.source;
    context.actions.show_panel("source");
  }
  const std::optional<std::size_t> row = response.double_clicked ? response.double_clicked : response.clicked;
  if (row) select_target(context, error.around[*row].event, response.double_clicked.has_value());
}

void ErrorTables::draw(const PanelContext& context, Rect area, const std::shared_ptr<const ErrorReport>& report) {
  Ui& ui = context.ui;
  report_ = report;
  const auto is_chosen = [&](const ReportedError& each) { return each.incident.event == chosen_; };
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

std::string WarningsPanel::badge(const SessionTab& tab) const {
  const std::shared_ptr<const Advice> advice = shown_advice(tab);
  if (!advice || advice->findings.empty()) return "";
  return std::to_string(advice->findings.size()) +
         (tab.analysis->is_newest(tab.analysis->advice_state()) ? "" : " ...");
}

void WarningsPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  SessionAnalysis& analysis = context.analysis();
  const std::shared_ptr<const Advice> advice = analysis.advice();
  const EventFilter& filter = analysis.filter();
  const std::shared_ptr<const ErrorReport> errors = analysis.ask_of(
      errors_, filter, NoQuestion{}, [filter](const QueryContext& query) { return report_errors(query, filter); });
  // Where there are errors and nothing else, they are what the user came for.
  const bool only_errors = advice && advice->findings.empty() && errors && !errors->errors.empty();
  if (!page_chosen_ && advice && errors) page_ = only_errors ? Page::errors : Page::warnings;
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(36)), advice.get(), errors.get());
  if (page_ == Page::errors) return draw_errors(context, rest, errors);
  draw_findings(context, rest, advice);
}

void WarningsPanel::draw_head(const PanelContext& context, Rect row, const Advice* advice, const ErrorReport* errors) {
  Ui& ui = context.ui;
  row = padded(ui, row);
  const std::string warnings_label =
      advice == nullptr ? "Warnings" : fmt::format("Warnings  {}", advice->findings.size());
  const std::string errors_label =
      errors == nullptr ? "Errors" : fmt::format("Errors  {}", format_count(errors->errors.size() + errors->left_out));
  const std::array<Segment, 2> pages = {
      {{.label = warnings_label, .tooltip = "What costs time that could be saved"},
       {.label = errors_label, .tooltip = "What was reported as an error, with what ran around it on every engine"}}};
  int page = static_cast<int>(page_);
  if (segmented_left(ui, "warnings.page", row, pages, page)) {
    page_ = static_cast<Page>(page);
    page_chosen_ = true;
  }
  row.cut_left(ui.px(16));
  std::string hint, more;
  bool stale = false;
  if (page_ == Page::warnings && advice != nullptr) {
    more = unjudged_text(*advice);
    hint = "each alone: savings do not add up; " + judged_text(*advice) + (more.empty() ? "" : "; " + more);
    stale = context.analysis().advice_state().stale();
  } else if (page_ == Page::errors && errors != nullptr) {
    hint = "what was under way on every engine when the error was reported, else what began last before";
    stale = errors_.stale();
  }
  if (stale) hint = "of the earlier filter; " + hint;
  draw_hint(ui, row, hint, more);
}

void WarningsPanel::choose(const PanelContext& context, const Finding& finding, bool zoom) {
  SessionTab& tab = context.tab;
  tab.chosen_warning = finding.key;
  select_target(context, finding.events, zoom);
  if (zoom && !finding.events.range) {
    const TimeRange range = finding.places.front().range;
    show_stretch(tab, range.begin_ns, range.end_ns);
  }
}

void WarningsPanel::order(const Advice& advice) {
  rows_.resize(advice.findings.size());
  std::iota(rows_.begin(), rows_.end(), 0U);
  if (table_.sort_column < 0) return;
  std::ranges::stable_sort(rows_, [&](std::uint32_t a, std::uint32_t b) {
    return table_.descending ? comes_first(advice.findings[b], advice.findings[a], table_.sort_column)
                             : comes_first(advice.findings[a], advice.findings[b], table_.sort_column);
  });
}

// Without lines of source their column only takes room; the user may still ask for it.
void WarningsPanel::hide_where_nothing_is_known(const Advice& advice) {
  const bool any = std::ranges::any_of(advice.findings, [](const Finding& each) { return !each.source.empty(); });
  if (hides_where_ == !any) return;
  hides_where_ = !any;
  table_.hidden.assign(finding_columns().size(), false);
  table_.hidden[kWhere] = !any;
}

void WarningsPanel::draw_table(const PanelContext& context, const Rect& area, const Advice& advice) {
  Ui& ui = context.ui;
  const auto finding_of = [&](std::size_t row) -> const Finding& { return advice.findings[rows_[row]]; };
  const std::int64_t largest = std::ranges::max_element(advice.findings, [](const Finding& a, const Finding& b) {
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

void WarningsPanel::draw_findings(const PanelContext& context, Rect area, const std::shared_ptr<const Advice>& advice) {
  Ui& ui = context.ui;
  const auto& state = context.analysis().advice_state();
  const std::string& problem = state.error.empty() ? context.analysis().mask_error(MaskUse::filter) : state.error;
  if (!problem.empty()) {
    const Rect place = area.cut_top(banner_height(ui, area.width(), problem)).inset(ui.px(8), 0);
    banner(ui, place, BannerKind::error, problem, "Try another filter, or open the session again");
  }
  if (state.task.valid()) {
    progress(ui, "warnings.progress", area.cut_top(ui.px(26)),
             {.label = "Looking for what costs time", .share = state.share().value_or(-1)});
  }
  if (!advice) return;
  if (advice->findings.empty()) {
    const bool judged = !advice->judged.empty(), filtered = !context.analysis().filter().empty();
    empty_state(ui, "warnings.empty", area, judged ? icon::kCheckCircle : icon::kInfo,
                nothing_found_text(*advice, filtered));
    return;
  }
  if (ordered_ != advice) {
    ordered_ = advice;
    order(*advice);
    hide_where_nothing_is_known(*advice);
  }
  const auto chosen = std::ranges::find_if(advice->findings,
                                           [&](const Finding& each) { return each.key == context.tab.chosen_warning; });
  const Finding& reported = chosen == advice->findings.end() ? advice->findings.front() : *chosen;
  const float card_width = ui.px(area.width() >= ui.px(kRoomy) ? kFindingCard : kNarrowCard);
  if (area.width() >= card_width + ui.px(kLeastFindings)) {
    const Rect card = cut_pane(ui, area, card_width);
    if (draw_finding_card(context, reported, card)) choose(context, reported, true);
  }
  draw_table(context, area, *advice);
}

void WarningsPanel::draw_errors(const PanelContext& context, const Rect& area,
                                const std::shared_ptr<const ErrorReport>& errors) {
  Ui& ui = context.ui;
  const std::string& problem = errors_.error.empty() ? context.analysis().mask_error(MaskUse::filter) : errors_.error;
  if (!problem.empty()) return empty_sentence(ui, "warnings.errors.failed", area, icon::kWarning, problem);
  if (!errors) return empty_sentence(ui, "warnings.errors.loading", area, icon::kClock, "Looking for errors ...");
  if (errors->errors.empty())
    return empty_sentence(
        ui, "warnings.errors.empty", area, icon::kCheckCircle,
        "No error was reported. Errors of hardware come with device profiles (out of bounds, NaN, completion).");
  errors_table_.draw(context, area, errors);
}

std::unique_ptr<Panel> make_warnings_panel(const PanelParts&) { return std::make_unique<WarningsPanel>(); }

}  // namespace accelscope::app
