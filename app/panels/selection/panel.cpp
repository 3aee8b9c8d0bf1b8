
#include "app/content/figure_text.h"
#include "app/content/visible_summary.h"
#include "app/panels/selection/part_table.h"
#include "core/analysis/figures/range_activity.h"
#include "core/analysis/time/track_devices.h"
#include "core/listing/base/write.h"
#include "core/listing/terms.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

// What is selected holds and costs together: a box, the events of a name, a line, a layer or a bin. Where nothing is
// selected, the visible range in five columns (app/content/visible_summary.h), as the session's filter lets it through.
// A click on a row or a bar narrows the selection to it; a second click widens it again.

class SelectionPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;

 private:
  struct Fact {
    const char* name;
    std::string value, exact;
    const char* explanation;
  };
  void take_answers(const PanelContext& context, const EventFilter& wanted);
  void draw_head(const PanelContext& context, Rect head, bool stale);
  void draw_heading(const PanelContext& context, const Rect& head, bool stale) const;
  void draw_visible(const PanelContext& context, const Rect& area, bool stale);
  void draw_facts(const PanelContext& context, Rect area) const;
  [[nodiscard]] std::vector<Fact> facts_of() const;
  // Of the answer's filter; null while it is not known.
  [[nodiscard]] const analysis::RangeActivity* activity() const noexcept {
    return report_ && report_->activity->filter == answer_->summary->filter ? report_->activity.get() : nullptr;
  }
  [[nodiscard]] std::optional<double> copy_rate() const;  // bytes per second
  void add_times(std::vector<Fact>& facts) const;
  [[nodiscard]] std::vector<SummaryPartTable*> wanted_parts();
  void draw_parts(const PanelContext& context, Rect area, const std::vector<SummaryPartTable*>& parts);
  void draw_bins(const PanelContext& context, Rect area);
  void select(const PanelContext& context, const std::string& search) const;
  void pin(const PanelContext& context) const;

  std::shared_ptr<const session::SessionSummary> answer_;  // that is shown
  std::shared_ptr<const analysis::RangeReport> report_;    // of the same filter once it is there
  std::uint64_t copied_ = 0;                               // bytes, of the answer
  bool of_region_ = false;                                 // what of them is made: parts_ and copied_, else columns_
  std::optional<content::VisibleFacts> facts_;             // of facts_of_
  std::shared_ptr<const Snapshot> facts_of_;
  content::VisibleColumns columns_;  // made of both
  std::array<SummaryPartTable, kSummaryParts> parts_ = {
      SummaryPartTable(SummaryPart::names), SummaryPartTable(SummaryPart::lines), SummaryPartTable(SummaryPart::layers),
      SummaryPartTable(SummaryPart::lanes)};
  int first_part_ = 0;  // of those that have rows, where not all fit
};

namespace {

// The five columns of app/content/visible_summary.h, side by side, or below each other where the panel is narrow.
// Numbers are never cut: bars and then names give way to them. A click on a row selects its events.

// The search of the row that was clicked; rows without one copy their figure, through `copy`.
struct VisibleColumnsResult {
  std::optional<std::string> search;
  std::optional<std::string> copy;
};
VisibleColumnsResult draw_visible_columns(Ui& ui, const Rect& area, const content::VisibleColumns& columns, bool stale);

constexpr float kLeastColumn = 208, kColumnHead = 26, kRow = 20, kBar = 40, kSwatch = 18, kLeastLabel = 56,
                kBetween = 10;
constexpr std::size_t kStackedRows = 6;  // of a column, where columns lie below each other

class ColumnDrawing {
 public:
  ColumnDrawing(Ui& ui, const content::VisibleColumn& column, std::size_t index, bool stale,
                VisibleColumnsResult& result)
      : ui_(ui), column_(column), name_("visible." + std::to_string(index)), stale_(stale), result_(result) {}

  void draw(Rect area) {
    draw_head(area.cut_top(ui_.px(kColumnHead)));
    area.cut_top(ui_.px(2));
    if (column_.rows.empty()) {
      draw_paragraph(ui_, area.inset(0, ui_.px(4)), column_.empty, kHintText);
      return;
    }
    for (const content::VisibleRow& row : column_.rows) texts_.push_back(row.text);
    for (const content::VisibleRow& row : column_.rows) {
      values_ = std::max(values_, text_width(ui_, TextStyle::mono, row.value));
      bars_ = bars_ || row.bar >= 0;
    }
    bars_ = bars_ && bars_leave_room(area.width());
    const float row_height = ui_.px(kRow);
    const ScrollArea scroll(ui_, name_ + ".rows", area, static_cast<float>(column_.rows.size()) * row_height);
    Rect rest = scroll.content();
    for (std::size_t i = 0; i < column_.rows.size(); ++i) {
      const Rect row = rest.cut_top(row_height);
      if (row.y1 >= scroll.visible().y0 && row.y0 <= scroll.visible().y1) draw_row(row, i);
    }
    if (copies_all_of(ui_, name_ + ".rows")) result_.copy = all_rows();
  }

 private:
  void draw_head(Rect head) {
    const Interaction response =
        interact(ui_, name_, head,
                 {.keys = column_.exact.empty() ? FocusStopKind::open : FocusStopKind::button, .label = column_.title});
    const float value = text_width(ui_, TextStyle::mono_strong, column_.value);
    const Rect right = head.cut_right(std::min(value + 1, head.width()));
    head.cut_right(ui_.px(8));
    draw_text(ui_, head, column_.title, kGroupText);
    draw_text(
        ui_, right, column_.value,
        {.style = TextStyle::mono_strong, .colour = stale_ ? Colour::text3 : Colour::text1, .align = Align::right});
    if (!column_.exact.empty()) tooltip(ui_, response, head, column_.title + "\n" + column_.exact);
    if (response.clicked && !column_.exact.empty()) result_.copy = column_.exact;
  }

  [[nodiscard]] float room_of(const content::VisibleRow& row, float width, bool with_bar) const {
    return width - (row.slot >= 0 ? ui_.px(kSwatch) : 0) - values_ - ui_.px(kBetween) -
           (with_bar ? ui_.px(kBar + kBetween) : 0);
  }
  // The longest form that fits, else the shortest.
  [[nodiscard]] const std::string& text_for(const content::VisibleRow& row, float room) const {
    if (row.shorter.empty() || text_width(ui_, TextStyle::body, row.text) <= room) return row.text;
    for (const std::string& form : row.shorter) {
      if (text_width(ui_, TextStyle::body, form) <= room) return form;
    }
    return row.shorter.back();
  }
  // False where names that are cut beside bars are whole without them.
  [[nodiscard]] bool bars_leave_room(float width) const {
    for (std::size_t i = 0; i < std::min(column_.rows.size(), kStackedRows); ++i) {
      const content::VisibleRow& row = column_.rows[i];
      const float with = room_of(row, width, true), without = room_of(row, width, false);
      const float words = text_width(ui_, TextStyle::body, text_for(row, with));
      if (words > with && text_width(ui_, TextStyle::body, text_for(row, without)) <= without) return false;
    }
    return true;
  }

  void draw_row(Rect row, std::size_t index) {
    const content::VisibleRow& content = column_.rows[index];
    const std::string list = name_ + ".rows";
    const Interaction response =
        interact(ui_, name_ + ".row." + std::to_string(index), row, {.group = list, .label = content.text});
    if (response.hovered) fill(ui_, row.inset(-ui_.px(4), 0), ui_.colour(Colour::bg3), size::kChipRadius);
    const Rect whole = row;
    const Rect value = row.cut_right(std::min(values_ + 1, row.width()));
    row.cut_right(ui_.px(kBetween));
    // The bar gives way to the number and to a readable name.
    if (bars_ && room_of(content, whole.width(), true) >= ui_.px(kLeastLabel)) {
      const Rect bar = row.cut_right(ui_.px(kBar)).middle(ui_.px(8));
      row.cut_right(ui_.px(kBetween));
      if (content.bar >= 0) draw_bar(bar, content);
    }
    if (content.slot >= 0) {
      row.cut_left(draw_swatch(ui_, row, ui_.theme().slice(static_cast<unsigned>(content.slot))) + ui_.px(8));
    }
    const float used =
        draw_text(ui_, row, text_for(content, row.width()),
                  {.colour = response.hovered ? Colour::text1 : Colour::text2, .fit = Fit::middle, .beside = texts_});
    if (!content.detail.empty()) {
      Rect behind = row;
      behind.cut_left(used + ui_.px(8));
      draw_text(ui_, behind, content.detail, {.style = TextStyle::mono, .colour = Colour::text3});
    }
    draw_text(ui_, value, content.value,
              {.style = TextStyle::mono, .colour = stale_ ? Colour::text3 : Colour::text1, .align = Align::right});
    tooltip(ui_, response, whole, content.exact + (content.search.empty() ? "\nClick: copy" : "\nClick: select"));
    if (!response.clicked) return;
    (content.search.empty() ? result_.copy : result_.search) = content.search.empty() ? content.exact : content.search;
  }

  [[nodiscard]] std::string all_rows() const {
    std::string text;
    for (const content::VisibleRow& row : column_.rows) text += row.text + '\t' + row.value + '\n';
    return text;
  }

  void draw_bar(Rect bar, const content::VisibleRow& content) {
    fill(ui_, bar, ui_.colour(Colour::bg4));
    const auto share = static_cast<float>(std::clamp(content.bar, 0.0, 1.0));
    bar.x1 = bar.x0 + std::max(share > 0 ? ui_.px(1) : 0.0F, std::round(bar.width() * share));
    fill(ui_, bar,
         content.slot >= 0 ? ui_.theme().slice(static_cast<unsigned>(content.slot)) : ui_.colour(Colour::text3));
  }

  Ui& ui_;
  const content::VisibleColumn& column_;
  const std::string name_;
  const bool stale_;
  VisibleColumnsResult& result_;
  std::vector<std::string> texts_;  // of all rows
  float values_ = 0;                // width of the widest number
  bool bars_ = false;
};

VisibleColumnsResult draw_visible_columns(Ui& ui, const Rect& area, const content::VisibleColumns& columns,
                                          bool stale) {
  VisibleColumnsResult result;
  const float padding = ui.px(size::kPanelPadding);
  const std::size_t count = columns.size();
  const auto fit = static_cast<std::size_t>(std::max(1.0F, area.width() / ui.px(kLeastColumn)));
  if (fit >= count) {
    const float width = std::floor(area.width() / static_cast<float>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const float x = area.x0 + width * static_cast<float>(i);
      if (i > 0) vertical_line(ui, x, area.y0, area.y1, ui.colour(Colour::line1));
      ColumnDrawing(ui, columns[i], i, stale, result).draw(Rect{x, area.y0, x + width, area.y1}.inset(padding, 0));
    }
    return result;
  }
  const std::size_t lines = (count + fit - 1) / fit;
  const float height = ui.px(kColumnHead + 12 + kRow * static_cast<float>(kStackedRows));
  const ScrollArea scroll(ui, "visible.columns", area, height * static_cast<float>(lines));
  const float width = std::floor(scroll.content().width() / static_cast<float>(fit));
  for (std::size_t i = 0; i < count; ++i) {
    const float x = scroll.content().x0 + width * static_cast<float>(i % fit);
    const std::size_t line = i / fit;
    const float y = scroll.content().y0 + height * static_cast<float>(line);
    ColumnDrawing(ui, columns[i], i, stale, result)
        .draw(Rect{x, y, x + width, y + height - ui.px(10)}.inset(padding, 0));
  }
  return result;
}

constexpr float kFactsWidth = 210, kFactRow = 18, kBinsWidth = 250, kSelectionGap = 14;
constexpr float kLeastTable = 440;

EventFilter selected_filter(const session::SessionTab& tab) {
  if (tab.region) return *tab.region;
  EventFilter visible;
  visible.range = tab.view.whole_ns();
  return visible;
}

EventFilter wanted_filter(const session::SessionTab& tab) { return both(tab.choices.filter, selected_filter(tab)); }

// The summary as text, a table after the other.
std::string summary_text(const analysis::SelectionSummary& summary, char separator) {
  const auto quoted = [separator](std::string text) {
    std::replace(text.begin(), text.end(), '	', ' ');
    if (separator != ',') return text;
    std::string cell;
    listing::append_csv_cell(cell, text);
    return cell;
  };
  std::string text;
  const auto line = [&](const std::string& table, const analysis::SummaryRow& row) {
    text += fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}\n", separator, table, quoted(row.text), row.kind,
                        row.count, row.busy_ns, row.bytes, row.flops);
  };
  text += fmt::format("table{0}key{0}kind{0}events{0}busy_ns{0}bytes{0}flops\n", separator);
  line("total", {"", "", summary.event_count, summary.busy_ns, summary.bytes, summary.flops});
  const std::array<std::pair<const char*, const analysis::SummaryRows*>, 3> tables = {
      {{"name", &summary.names}, {"line", &summary.lines}, {"layer", &summary.layers}}};
  for (const auto& [name, rows] : tables) {
    for (const analysis::SummaryRow& row : rows->rows) line(name, row);
  }
  for (const auto& [name, bins] : {std::pair("size", &summary.sizes), std::pair("duration", &summary.durations)}) {
    for (const analysis::SummaryBin& bin : *bins)
      line(name, {std::to_string(bin.begin), "", bin.count, bin.busy_ns, bin.bytes, 0});
  }
  return text;
}

}  // namespace

void SelectionPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const EventFilter wanted = wanted_filter(context.tab);
  take_answers(context, wanted);
  const bool stale = answer_ && answer_->summary->filter != wanted;
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(36))), stale);
  if (!context.analysis().summary_error().empty())
    return empty_sentence(ui, "selection.error", rest, icon::kWarning, context.analysis().summary_error());
  if (!answer_) {
    const std::optional<double> share = context.analysis().summary_index_share();
    if (share) ui.request_frame_after(0.1);  // for the share that is done
    empty_state(ui, "selection.loading", rest, icon::kClock,
                fmt::format("Adding up the session's events ... {:.0f} %", share.value_or(1.0) * 100));
    return;
  }
  if (answer_->summary->event_count == 0)
    return empty_sentence(ui, "selection.none", rest, icon::kTable,
                          context.tab.region
                              ? "No events lie in what is selected."
                              : "No event lies in view; counters, if there are any, stand on the timeline.");
  if (!context.tab.region) return draw_visible(context, rest, stale);
  rest = rest.inset(ui.px(size::kPanelPadding), ui.px(4));
  draw_facts(context, rest.cut_left(ui.px(kFactsWidth)));
  rest.cut_left(ui.px(kSelectionGap));
  if (rest.width() >= ui.px(kLeastTable + kSelectionGap + kBinsWidth)) {
    draw_bins(context, rest.cut_right(ui.px(kBinsWidth)));
    rest.cut_right(ui.px(kSelectionGap));
  }
  draw_parts(context, rest, wanted_parts());
}

void SelectionPanel::take_answers(const PanelContext& context, const EventFilter& wanted) {
  const auto answer = context.analysis().summary(wanted);
  const auto report = context.analysis().report(wanted);
  const bool of_region = context.tab.region.has_value();
  if (answer == answer_ && report == report_ && of_region == of_region_) return;
  answer_ = answer;
  report_ = report;
  of_region_ = of_region;
  if (!answer_) return;
  const Snapshot& snapshot = *context.tab.snapshot;
  if (facts_of_ != context.tab.snapshot) {
    facts_.emplace(snapshot);
    facts_of_ = context.tab.snapshot;
  }
  if (of_region) {
    for (SummaryPartTable& part : parts_) part.take(answer_, activity(), snapshot, facts_->devices);
    copied_ = analysis::copied_bytes(snapshot, facts_->kinds, *answer_->summary);
    return;
  }
  columns_ = content::visible_columns(snapshot, *facts_, *answer_->summary, report_.get());
  // While data come what is not there yet may be in view already.
  if (!report_ || report_->activity->snapshot_version == context.tab.snapshot->version) return;
  for (content::VisibleColumn& column : columns_) column.empty = content::kStillCounted;
}

void SelectionPanel::draw_visible(const PanelContext& context, const Rect& area, bool stale) {
  const VisibleColumnsResult result = draw_visible_columns(context.ui, area, columns_, stale);
  if (result.search) select(context, *result.search);
  if (result.copy) context.copy(*result.copy, "the figure");
}

std::vector<SummaryPartTable*> SelectionPanel::wanted_parts() {
  std::vector<SummaryPartTable*> parts;
  for (SummaryPartTable& part : parts_) {
    if (!part.empty()) parts.push_back(&part);
  }
  return parts;
}

// As many as fit side by side, from the chosen one on; where not all do, their names stand above.
void SelectionPanel::draw_parts(const PanelContext& context, Rect area, const std::vector<SummaryPartTable*>& parts) {
  Ui& ui = context.ui;
  if (parts.empty()) return;
  const float gap = ui.px(kSelectionGap);
  const auto fits = static_cast<std::size_t>((area.width() + gap) / (ui.px(kLeastTable) + gap));
  const std::size_t shown = std::clamp<std::size_t>(fits, 1, parts.size());
  if (shown < parts.size()) {
    std::vector<Segment> names;
    for (const SummaryPartTable* part : parts) names.push_back({.label = part->title()});
    first_part_ = std::min(first_part_, static_cast<int>(parts.size()) - 1);
    const Rect row = area.cut_top(ui.px(size::kSmallControl));
    segmented(ui, "selection.part", {row.x0, row.y0, row.x0 + segmented_width(ui, names), row.y1}, names, first_part_);
    area.cut_top(ui.px(4));
  } else {
    first_part_ = 0;
  }
  const float width = (area.width() - gap * static_cast<float>(shown - 1)) / static_cast<float>(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Rect column = i + 1 == shown ? area : area.cut_left(std::floor(width));
    area.cut_left(gap);
    SummaryPartTable& part = *parts[(static_cast<std::size_t>(first_part_) + i) % parts.size()];
    if (auto narrowed = part.draw(context, column, selected_filter(context.tab))) {
      context.tab.region = std::move(*narrowed);
    }
  }
}

void SelectionPanel::draw_head(const PanelContext& context, Rect head, bool stale) {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const bool ready = answer_ && answer_->summary->event_count > 0;
  const auto action = [&](const char* name, const char* label, const char* symbol, bool disabled, const char* tip) {
    const ButtonOptions options{.label = label, .icon = symbol, .disabled = disabled, .tooltip = tip};
    const bool clicked = button_right(ui, name, head, options);
    head.cut_right(ui.px(8));
    return clicked;
  };
  if (!tab.region) {
    if (action("selection.copy", "Copy", icon::kCopy, !ready, "All columns, tab-separated")) {
      context.copy(content::columns_text(columns_, '\t'), "the summary");
    }
    if (action("selection.csv", "CSV...", icon::kSave, !ready || !ui.can_offer_file(),
               "A file of all names and sums")) {
      ui.offer_file({"visible.csv", [summary = answer_->summary] { return summary_text(*summary, ','); }});
    }
    if (action("selection.filter", "Filter", icon::kFilter, !ready, "Every panel shows only the visible range")) {
      const EventFilter wanted = wanted_filter(tab);
      tab.change([&](session::ViewChoices& choices) { choices.filter = wanted; });
    }
    if (action("selection.out", "Zoom out", icon::kExpand, !ready, "Shows the whole session")) {
      view::show_stretch(tab, tab.snapshot->begin_ns, tab.snapshot->end_ns);
    }
    return draw_heading(context, head, stale);
  }
  if (action("selection.csv", "Export CSV...", icon::kSave, !ready || !ui.can_offer_file(),
             "A file of all tables, with every digit")) {
    ui.offer_file({"selection.csv", [summary = answer_->summary] { return summary_text(*summary, ','); }});
  }
  if (action("selection.copy", "Copy", icon::kCopy, !ready, "All tables, tab-separated")) {
    context.copy(summary_text(*answer_->summary, '\t'), "the summary");
  }
  if (action("selection.pin", "Pin as span", icon::kFlag, !ready, "A marker over this stretch of time")) pin(context);
  if (action("selection.filter", "Filter", icon::kFilter, !tab.region, "Every panel shows only what is selected")) {
    tab.change([wanted = wanted_filter(tab)](session::ViewChoices& choices) { choices.filter = wanted; });
  }
  if (action("selection.zoom", "Zoom in", icon::kExpand, !ready, "Shows this stretch of time")) {
    view::show_stretch(tab, answer_->summary->range.begin_ns, answer_->summary->range.end_ns);
  }
  if (action("selection.clear", "Clear", icon::kClose, false, "Nothing is selected any more")) tab.region.reset();
  draw_heading(context, head, stale);
}

void SelectionPanel::draw_heading(const PanelContext& context, const Rect& head, bool stale) const {
  const session::SessionTab& tab = context.tab;
  std::string hint;
  if (!tab.region && answer_) {
    const analysis::SelectionSummary& summary = *answer_->summary;
    hint = fmt::format("{}, {}; nothing is selected  ", format_duration(summary.range.length_ns()),
                       counted(summary.event_count, "event"));
  }
  for (const FilterTerm& term : tab.region ? tab.region->terms : std::vector<FilterTerm>()) {
    hint += (term.excluded ? "not " : "") + term.search + "  ";
  }
  if (stale) {
    hint += "updating ...";
  } else if (answer_ && tab.region) {
    hint += answer_->summary->scanned ? "every event looked at, " : "";
    hint += fmt::format("in {:.1f} ms", answer_->took_ms);
  }
  heading(context.ui, head, tab.region ? "Selection" : "Visible range", hint);
}

void SelectionPanel::draw_facts(const PanelContext& context, Rect area) const {
  Ui& ui = context.ui;
  const std::vector<Fact> facts = facts_of();
  const float row_height = ui.px(kFactRow);
  const ScrollArea scroll(ui, "selection.facts", area, static_cast<float>(facts.size()) * row_height);
  Rect rest = scroll.content();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const Fact& fact = facts[i];
    const Rect row = rest.cut_top(row_height);
    const Interaction response =
        interact(ui, "selection.fact." + std::to_string(i), row, {.group = "selection.facts", .label = fact.name});
    if (response.hovered) fill(ui, row, ui.colour(Colour::bg3), size::kChipRadius);
    draw_text(ui, row, fact.name, {.colour = Colour::text2});
    draw_text(ui, row, fact.value, {.style = TextStyle::mono, .align = Align::right});
    tooltip(ui, response, row, fact.exact + "\n" + fact.explanation + " Click: copy.");
    if (response.clicked) context.copy(fact.exact, std::string(fact.name) + ": " + fact.exact);
  }
}

// Each moment once; a wait is in none but the last. What is not known yet says so.
void SelectionPanel::add_times(std::vector<Fact>& facts) const {
  const analysis::SelectionSummary& summary = *answer_->summary;
  const analysis::RangeActivity* activity = this->activity();
  const auto share = [&](const char* name, std::int64_t analysis::RangeActivity::*ns, const char* explanation,
                         bool always) {
    if (activity == nullptr) {
      if (always) facts.push_back({name, "...", "...", "Being added up: each moment counts once."});
      return;
    }
    const std::int64_t value = (*activity).*ns;
    if (value == 0 && !always) return;
    const auto span = static_cast<double>(std::max<std::int64_t>(1, activity->range.length_ns()));
    facts.push_back({name, format_duration(value),
                     format_time_exact(value) + ", " + format_share(static_cast<double>(value) / span) + " of the span",
                     explanation});
  };
  share("Active", &analysis::RangeActivity::active_ns, "At least one of the lanes works; each moment counts once.",
        true);
  share("Device work", &analysis::RangeActivity::working_ns, "At least one device computes.", false);
  share("Transfers", &analysis::RangeActivity::transfer_ns, "Data is under way.", false);
  share("Host, self", &analysis::RangeActivity::host_ns, "At least one thread works; waiting calls do not count.",
        false);
  std::int64_t wait = summary.wait_ns + summary.waited_ns;
  if (activity != nullptr) wait = report_->waits.wait_ns + activity->host.wait_ns;
  if (wait > 0) {
    facts.push_back({"Wait", format_duration(wait), format_time_exact(wait),
                     "Of events that do nothing else, and before the others began; units add up."});
  }
}

// Nothing while the time is not known, and where nothing moves.
std::optional<double> SelectionPanel::copy_rate() const {
  const std::int64_t ns = activity() != nullptr ? activity()->unions.copies_ns : 0;
  if (ns <= 0 || copied_ == 0) return std::nullopt;
  return static_cast<double>(copied_) / static_cast<double>(ns) * 1e9;
}

std::vector<SelectionPanel::Fact> SelectionPanel::facts_of() const {
  const analysis::SelectionSummary& summary = *answer_->summary;
  const std::int64_t span_ns = summary.range.length_ns();
  std::vector<Fact> facts;
  const auto time = [&](const char* name, std::int64_t ns, const char* explanation) {
    facts.push_back({name, format_duration(ns), format_time_exact(ns), explanation});
  };
  time("Span", span_ns, "From the begin to the end of the range, no further than events go.");
  facts.push_back({"Events", format_count(summary.event_count), format_count(summary.event_count),
                   "Those that reach into the range count as one."});
  add_times(facts);
  if (summary.bytes > 0) {
    facts.push_back(
        {"Bytes", format_bytes(summary.bytes), format_count(summary.bytes) + " B", "That the events moved."});
    if (const std::optional<double> rate = copy_rate()) {
      facts.push_back({"Bandwidth", format_rate(*rate), fmt::format("{:.0f} B/s", *rate),
                       "Bytes of transfers by the time in which data moves; fills apart."});
    }
  }
  if (summary.flops > 0) {
    const auto flops = static_cast<double>(summary.flops);
    facts.push_back({"Work", content::amount_per_second(flops, 1e9, "FLOP"), format_count(summary.flops) + " FLOP",
                     "Floating-point operations as the events state them, transposes too."});
    if (activity() != nullptr && activity()->active_ns > 0) {
      const auto active = static_cast<double>(activity()->active_ns);
      facts.push_back({"Achieved", content::amount_per_second(flops, active, "FLOP/s"),
                       fmt::format("{:.0f} FLOP/s", flops / active * 1e9),
                       "Work by the active time; a roofline leaves transposes out."});
    }
  }
  return facts;
}

void SelectionPanel::draw_bins(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const analysis::SelectionSummary& summary = *answer_->summary;
  const float row_height = ui.px(18);
  const auto rows = static_cast<float>(summary.sizes.size() + summary.durations.size() + 3);
  const ScrollArea scroll(ui, "selection.bins", area, rows * row_height + ui.px(8));
  Rect rest = scroll.content();
  const auto histogram = [&](std::string_view title, const std::vector<analysis::SummaryBin>& bins, bool sizes) {
    if (bins.empty()) return;
    draw_text(ui, rest.cut_top(row_height), title, kGroupText);
    std::uint64_t most = 1;
    for (const analysis::SummaryBin& bin : bins) most = std::max(most, bin.count);
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const Rect row = rest.cut_top(row_height);
      const std::string name = fmt::format("selection.{}.{}", sizes ? "sizes" : "durations", i);
      const std::string begin = sizes ? format_bytes(bins[i].begin) : format_duration(bins[i].begin);
      const Interaction response =
          interact(ui, name, row, {.group = sizes ? "selection.sizes" : "selection.durations", .label = begin});
      if (response.hovered) fill(ui, row, ui.colour(Colour::bg4));
      Rect part = row;
      draw_text(ui, part.cut_left(ui.px(72)), begin, {.style = TextStyle::mono});
      draw_text(ui, part.cut_left(ui.px(60)), format_count(bins[i].count),
                {.style = TextStyle::mono, .align = Align::right});
      part.cut_left(ui.px(8));
      Rect bar = part.middle(ui.px(8));
      fill(ui, bar, ui.colour(Colour::bg4));
      bar.x1 =
          bar.x0 + bar.width() * static_cast<float>(static_cast<double>(bins[i].count) / static_cast<double>(most));
      fill(ui, bar, ui.colour(Colour::accent));
      const std::string unit = sizes ? " B" : " ns";
      tooltip(ui, response, row,
              "From " + format_count(bins[i].begin) + unit + " to below " + format_count(bins[i].end) + unit + ": " +
                  counted(bins[i].count, "event") + ", busy " + format_time_exact(bins[i].busy_ns));
      if (!response.clicked) continue;
      const auto search =
          sizes ? listing::search_of_sizes(*context.tab.snapshot, bins[i]) : listing::search_of_durations(bins[i]);
      if (search) select(context, *search);
    }
    rest.cut_top(ui.px(8));
  };
  histogram("Transfer sizes", summary.sizes, true);
  histogram("Durations", summary.durations, false);
}

void SelectionPanel::select(const PanelContext& context, const std::string& search) const {
  context.tab.region = listing::with_term_toggled(selected_filter(context.tab), search);
}

void SelectionPanel::pin(const PanelContext& context) const {
  const TimeRange& range = answer_->summary->range;
  Marker marker;
  marker.ts_ns = range.begin_ns;
  marker.end_ns = range.end_ns;
  marker.name = "Selection";
  session::put_marker(context.tab, std::move(marker));
  context.actions.inform("Pinned the selection as a span");
}

std::unique_ptr<Panel> make_selection_panel(const PanelParts&) { return std::make_unique<SelectionPanel>(); }

}  // namespace accelscope::app::panels
