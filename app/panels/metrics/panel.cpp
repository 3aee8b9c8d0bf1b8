#include "app/panels/panel.h"
#include "app/content/figure_text.h"
#include "core/analysis/figures/terminology.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// The figures of the session, by group and device: what the vendor's file states, what we compute from the events, and
// how far they lie apart. By choice of the visible range, where there is only ours. Hovering a figure explains it.
class MetricsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;

 private:
  void draw_head(const PanelContext& context, Rect head, bool stale);
  void refresh_rows(const Ui& ui, std::shared_ptr<const session::SessionFigures> figures);
  void draw_table(const PanelContext& context, const Rect& area, bool stale);
  // Whether the figure stays what it was without the filter's tracks and terms.
  [[nodiscard]] bool not_filtered(const analysis::SessionMetric& metric) const;
  void explain(const PanelContext& context, const content::FigureRow& row, const Rect& at) const;

  PanelScope scope_ = Scope::session;
  std::string filter_;
  TableState table_;
  std::shared_ptr<const session::SessionFigures> figures_;  // that the rows are of
  std::vector<content::FigureRow> rows_;
  std::string rows_filter_;
  int rows_sorted_by_ = -1;
  bool rows_descending_ = true;
  float names_width_ = 0;  // units that titles and names take
};

constexpr int kStated = 2, kComputed = 3, kDifference = 4, kMeaning = 5;  // columns of the table

content::FigureOrder order_of(int column) {
  if (column == 1) return content::FigureOrder::by_name;
  if (column == kStated || column == kComputed) return content::FigureOrder::by_value;
  return column == kDifference ? content::FigureOrder::by_difference : content::FigureOrder::as_given;
}

}  // namespace

void MetricsPanel::draw(const PanelContext& context, const Rect& area) {
  const OwnSelection own(context.tab, scope_);
  Ui& ui = context.ui;
  const EventFilter wanted = scope_filter(context.tab, scope_);
  const auto figures = context.analysis().figures(wanted);
  const bool stale = figures && figures->filter != wanted;
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(36))), stale);
  if (const std::string& wrong = context.analysis().mask_error(session::MaskUse::filter); !wrong.empty())
    return empty_sentence(ui, "metrics.wrong", rest, icon::kFilter, wrong);
  if (!figures) return empty_sentence(ui, "metrics.loading", rest, icon::kClock, "Adding up the figures ...");
  refresh_rows(ui, figures);
  if (figures->metrics.empty())
    return empty_sentence(ui, "metrics.empty", rest, icon::kTable,
                          !figures->filter.empty() ? "No event passes the filter in this range."
                                                   : "The session holds no events and its file states no figures.");
  if (rows_.empty()) {
    if (empty_state(ui, "metrics.none", rest, icon::kSearch, "No metric matches \"" + filter_ + "\".",
                    "Clear the filter")) {
      filter_.clear();
    }
    return;
  }
  draw_table(context, rest, stale);
}

void MetricsPanel::draw_head(const PanelContext& context, Rect head, bool stale) {
  Ui& ui = context.ui;
  text_input(ui, "metrics.filter", head.cut_right(ui.px(240)).middle(ui.px(size::kControl)), filter_,
             {.placeholder = "Name, group or device", .icon = icon::kSearch});
  head.cut_right(ui.px(12));
  (void)draw_scope(context, "metrics.range", head, scope_);
  std::string hint = "what the file states, and what we compute from the events";
  if (scope_ != Scope::session || !context.tab.choices.filter.empty())
    hint = "of " + scope_text(context.tab, scope_) + ", computed from the events";
  if (stale) hint = "updating ...";
  heading(ui, head, "Metrics", hint);
}

void MetricsPanel::refresh_rows(const Ui& ui, std::shared_ptr<const session::SessionFigures> figures) {
  if (figures == figures_ && filter_ == rows_filter_ && table_.sort_column == rows_sorted_by_ &&
      table_.descending == rows_descending_) {
    return;
  }
  figures_ = std::move(figures);
  rows_filter_ = filter_;
  rows_sorted_by_ = table_.sort_column;
  rows_descending_ = table_.descending;
  rows_ = content::figure_rows(figures_->metrics, filter_, order_of(table_.sort_column), table_.descending);
  names_width_ = 0;
  for (const content::FigureRow& row : rows_) {
    const float title = text_width(ui, TextStyle::body, row.title),
                name = text_width(ui, TextStyle::body, row.metric->name);
    constexpr float kMostNames = 440;  // further ones are cut: numbers stand beside their names
    names_width_ = std::max(names_width_, (title + name) / ui.scale() + 12 + 2 * size::kCellPadding + 4);
    names_width_ = std::min(names_width_, kMostNames);
  }
}

bool MetricsPanel::not_filtered(const analysis::SessionMetric& metric) const {
  return figures_->filter.needs_mask() && metric.unfiltered;
}

void MetricsPanel::draw_table(const PanelContext& context, const Rect& area, bool stale) {
  Ui& ui = context.ui;
  constexpr float kFixed = 170 + 150 + 150 + 150, kLeastMeaning = 160;
  const float room = area.width() / ui.scale() - kFixed - 20;
  // A figure stands beside its name: what is left over goes to what it means.
  const bool explained = room >= names_width_ + kLeastMeaning;
  const std::array<TableColumn, 6> all = {
      {{.title = "Group", .width = 170},
       {.title = "Metric",
        .width = explained ? names_width_ : 0,
        .tooltip = "Behind it as the file or the vendor calls it"},
       {.title = "The file states", .width = 150, .align = Align::right},
       {.title = "We compute", .width = 150, .align = Align::right},
       {.title = "Difference",
        .width = 150,
        .align = Align::right,
        .tooltip = "Ours less the file's, as a share of the file's; ± is how far ours may lie beside the truth; above "
                   "1 % it is marked"},
       {.title = "Meaning", .sortable = false}}};
  const std::span columns = std::span(all).first(explained ? 6 : 5);
  const auto content = [&](std::size_t index, std::size_t column) -> TableCell {
    const content::FigureRow& row = rows_[index];
    const bool flagged = row.mark == content::FigureMark::flagged;
    switch (column) {
      case 0: {
        const bool repeated = order_of(table_.sort_column) == content::FigureOrder::as_given && index > 0 &&
                              rows_[index - 1].group == row.group;
        return {.text = repeated ? "" : row.group, .colour = Colour::text2, .style = TextStyle::small_strong};
      }
      case 1:
        return {.text = row.title,
                .style = TextStyle::body,
                .detail = row.metric->name,
                .exact = row.metric->name,
                .data = row.metric->name};
      case kMeaning: {
        const analysis::FigureTerm* term = analysis::find_term(row.metric->name);
        return {
            .text = term != nullptr ? std::string(term->text) : "", .colour = Colour::text3, .style = TextStyle::small};
      }
      case kStated:
        return {.text = row.stated, .colour = Colour::text2, .fit = Fit::middle};
      case kComputed:
        return {.text = row.computed, .colour = stale ? Colour::text3 : Colour::text1};
      default:
        if (not_filtered(*row.metric))
          return {.text = "not filtered", .colour = Colour::text3, .style = TextStyle::body};
        return {.text = row.difference,
                .colour = flagged ? Colour::warning : Colour::text3,
                .icon = flagged ? icon::kWarning : nullptr,
                .icon_colour = Colour::warning_line};
    }
  };
  const std::array<std::string, 1> menu = {"Look it up"};
  const TableResult result = table(ui, "metrics.table", area, columns, rows_.size(), content, table_, {.menu = menu});
  if (result.menu_choice) context.look_up(rows_[result.menu_row].metric->name);
  if (result.double_clicked) {
    const content::FigureRow& row = rows_[*result.double_clicked];
    context.copy(row.metric->name + "\t" + row.shown, "the metric");
  }
  if (!result.hovered || *result.hovered >= rows_.size()) return;
  const std::string name = fmt::format("metrics.table.row.{}", *result.hovered);
  const Rect* at = ui.find_widget(name);
  if (at != nullptr && ui.hovered_for(name) >= kHoverCardDelay) explain(context, rows_[*result.hovered], *at);
}

void MetricsPanel::explain(const PanelContext& context, const content::FigureRow& row, const Rect& at) const {
  const analysis::SessionMetric& metric = *row.metric;
  HoverCard card;
  card.title = row.title;
  card.title_value = metric.device;
  card.rows.push_back({"Name", metric.name});
  if (metric.vendor) card.rows.push_back({"The file states", format_exact(*metric.vendor, metric.unit)});
  if (!metric.vendor_text.empty()) card.rows.push_back({"The file states", metric.vendor_text});
  if (metric.value) card.rows.push_back({"We compute", format_exact(*metric.value, metric.unit)});
  if (!row.difference.empty()) {
    const bool flagged = row.mark == content::FigureMark::flagged;
    card.rows.push_back({"Difference", row.difference, flagged ? Colour::warning : Colour::text1});
  }
  if (const analysis::FigureTerm* term = analysis::find_term(metric.name)) card.footer = term->text;
  if (!metric.how.empty()) card.footer += "\nComputed: " + metric.how;
  if (not_filtered(metric)) {
    card.footer += "\nNot filtered: it is not made of events, so it is of all of the session or of its range.";
  }
  if (metric.value && metric.margin > analysis::kExactMargin) {
    card.footer += metric.exact ? "\nTimes are whole ns: each may lack a part of one."
                                : "\nThe events do not hold all that the file's figure counts.";
  }
  hover_card(context.ui, card, at);
}

std::unique_ptr<Panel> make_metrics_panel(const PanelParts&) { return std::make_unique<MetricsPanel>(); }

}  // namespace accelscope::app::panels
