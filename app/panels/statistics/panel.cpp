#include "app/panels/panel.h"
#include "app/content/axes/axes.h"
#include "app/panels/answer_table.h"
#include "core/base/format.h"
#include "core/listing/statistics.h"
#include "core/listing/terms.h"
#include "core/names/short_names.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// Statistics of events by any one or two columns of any schema, or by a preset: a table whose rows select their events,
// the histogram of the chosen row or of all, whose brush becomes a term of the filter, and the outliers as a list.

// The histogram beside a table of statistics: bars, the median and the 99th percentile as dashed lines, and a brush:
// dragging over bars marks a range of values.

using ValueRange = std::pair<double, double>;  // from, to below

class HistogramView {
 public:
  struct Shown {
    const analysis::ValueDetails& details;
    Unit unit;
    std::optional<ValueRange> brush;  // that is a filter now
    bool stale = false;
  };
  // The range that was brushed in this frame, along the edges of bins.
  [[nodiscard]] std::optional<ValueRange> draw(Ui& ui, const Rect& area, const Shown& shown);
  [[nodiscard]] bool hovered() const noexcept { return hovered_; }  // in the last frame that drew it
  // Events of the bars in the range.
  [[nodiscard]] static std::uint64_t count_in(const analysis::ValueBins& bins, const ValueRange& range) noexcept;

 private:
  struct Plot;
  void draw_axes(Ui& ui, const Plot& plot, const Shown& shown) const;
  void draw_bars(Ui& ui, const Plot& plot, const Shown& shown) const;
  void draw_quantiles(Ui& ui, const Plot& plot, const Shown& shown) const;
  [[nodiscard]] std::optional<ValueRange> handle(Ui& ui, const Plot& plot, const Shown& shown);

  std::optional<std::size_t> drag_from_;  // the bin that a drag began at
  std::size_t drag_to_ = 0;
  bool hovered_ = false;
};

class StatisticsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] bool pending() const override { return table_retained_.task.valid() || details_retained_.task.valid(); }

 private:
  // What is grouped by what, and measured.
  struct Choice {
    std::vector<std::string> by = {"name"};
    std::string value = "duration";
    bool also_ns = false;
    bool operator==(const Choice&) const = default;
  };
  struct TableChoice {
    Choice choice;
    EventFilter within;  // what rows select more of: the scope without the session's filter
    bool operator==(const TableChoice&) const = default;
  };
  struct DetailChoice {
    Choice choice;
    analysis::BinScale scale = analysis::BinScale::log;
    std::optional<std::vector<FieldValue>> keys;  // of the chosen row; nothing: of all
    bool operator==(const DetailChoice&) const = default;
  };
  void take_answers(const PanelContext& context);
  void draw_head(const PanelContext& context, Rect head);
  void draw_choices(const PanelContext& context, Rect& head);
  void draw_table(const PanelContext& context, const Rect& area);
  void draw_outliers(const PanelContext& context, const Rect& area);
  void draw_spread(const PanelContext& context, Rect area);
  void draw_brush_foot(const PanelContext& context, Rect foot);
  void draw_progress(const PanelContext& context, const Rect& area) const;
  // False where there is nothing to be drawn but a sentence.
  [[nodiscard]] bool draw_state(const PanelContext& context, const Rect& area);
  void choose(Choice choice);
  // The brush is a term of the session's filter; nothing where that has gone.
  [[nodiscard]] std::optional<ValueRange> brush(const session::SessionTab& tab) const;
  void set_brush(const PanelContext& context, const std::optional<ValueRange>& range);

  PanelScope scope_ = Scope::session;
  Choice choice_;
  int shown_ = 0;  // 0: the groups, 1: the outliers
  analysis::BinScale scale_ = analysis::BinScale::log;
  std::optional<std::vector<FieldValue>> keys_;  // of the chosen row
  bool region_seen_ = false;                     // the chosen row's events were what is selected
  struct Brush {
    FilterTerm term;
    ValueRange range;
  };
  std::optional<Brush> brush_;

  FilteredAnswer<listing::StatisticsTable, TableChoice> table_retained_;
  FilteredAnswer<analysis::ValueDetails, DetailChoice> details_retained_;
  std::shared_ptr<const listing::StatisticsTable> table_;
  std::shared_ptr<const analysis::ValueDetails> details_;
  std::shared_ptr<const listing::Listing> outliers_;           // of details_
  std::shared_ptr<const analysis::ValueDetails> outliers_of_;  // that they were made of
  AnswerTable rows_, outlier_rows_;
  HistogramView histogram_;
  // Of the menus, of the snapshot with so many schemas and tracks.
  std::vector<analysis::GroupColumn> group_columns_, value_columns_;
  std::vector<listing::StatisticsPreset> presets_;
  std::uint64_t columns_version_ = ~std::uint64_t{0};  // of the snapshot that they were looked for in
};

constexpr float kLeastSpread = 280, kLeastTableBeside = 360, kSpreadShare = 0.3F;
constexpr float kHeadWithLabels = 460;  // less is for what is chosen alone
constexpr std::string_view kNothing = "nothing";

// General columns first, then a submenu for each table.
std::vector<MenuItem> column_menu(const std::vector<analysis::GroupColumn>& columns, std::string_view chosen) {
  std::vector<MenuItem> items;
  std::string table;
  for (const analysis::GroupColumn& column : columns) {
    MenuItem item{.id = column.name, .label = column.title, .checked = column.name == chosen};
    if (column.table.empty()) {
      items.push_back(std::move(item));
      continue;
    }
    if (column.table != table) {
      items.push_back({.id = "table." + column.table, .label = table_title(column.table), .line_above = table.empty()});
      table = column.table;
    }
    items.back().children.push_back(std::move(item));
  }
  return items;
}

std::string chosen_title(const std::vector<analysis::GroupColumn>& columns, std::string_view name) {
  const auto found =
      std::ranges::find_if(columns, [name](const analysis::GroupColumn& column) { return column.name == name; });
  return found == columns.end() ? std::string(name) : found->title;
}

std::string keys_text(const std::vector<FieldValue>& keys) {
  std::string text;
  for (const FieldValue& key : keys) text += (text.empty() ? "" : " · ") + listing::key_text(key);
  return text;
}

EventFilter without_term(EventFilter filter, const std::optional<FilterTerm>& term) {
  if (term) std::erase(filter.terms, *term);
  return filter;
}

}  // namespace

struct HistogramView::Plot {
  Rect rect;    // of the bars
  Rect labels;  // of the counts, left of it
  Rect foot;    // of the values, below it
  content::ValueAxis axis;
  double most = 1;  // events at its top
  double step = 1;  // between the counts that are written

  [[nodiscard]] float x_of(double value) const noexcept {
    return rect.x0 + static_cast<float>(std::clamp(axis.place(value), 0.0, 1.0)) * rect.width();
  }
  [[nodiscard]] float y_of(double count) const noexcept {
    return rect.y1 - static_cast<float>(count / most) * rect.height();
  }
  // The bin at a pixel, the nearest outside of the plot.
  [[nodiscard]] std::size_t bin_at(const analysis::ValueBins& bins, float x) const noexcept {
    const double value =
        axis.value(static_cast<double>(x - rect.x0) / std::max(1.0, static_cast<double>(rect.width())));
    const auto above = std::upper_bound(bins.edges.begin(), bins.edges.end(), value) - bins.edges.begin();
    return std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(above - 1, 0)), bins.size() - 1);
  }
};

std::uint64_t HistogramView::count_in(const analysis::ValueBins& bins, const ValueRange& range) noexcept {
  std::uint64_t count = 0;
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins.edges[bin] >= range.first && bins.edges[bin] < range.second) count += bins.counts[bin];
  }
  return count;
}

std::optional<ValueRange> HistogramView::draw(Ui& ui, const Rect& area, const Shown& shown) {
  const analysis::ValueBins& bins = shown.details.bins;
  Plot plot;
  plot.rect = area;
  plot.foot = plot.rect.cut_bottom(ui.px(18));
  plot.rect.cut_top(ui.px(18));  // of the quantiles' labels
  const std::uint64_t most = *std::ranges::max_element(bins.counts);
  const double lines = std::max(1.0, std::floor(static_cast<double>(plot.rect.height() / ui.px(26))));
  plot.step = std::max(1.0, round_step(static_cast<double>(most) / lines));
  plot.most = std::max(1.0, std::ceil(static_cast<double>(most) / plot.step) * plot.step);
  const float widest = text_width(ui, TextStyle::mono_small, format_count(static_cast<std::uint64_t>(plot.most)));
  plot.labels = plot.rect.cut_left(widest + ui.px(8));
  plot.rect.cut_right(ui.px(8));
  plot.foot.x0 = plot.rect.x0;
  plot.axis = content::ValueAxis(bins.edges.front(), bins.edges.back(), shown.details.scale);
  if (plot.rect.width() < ui.px(20) || plot.rect.height() < ui.px(20)) return std::nullopt;
  draw_axes(ui, plot, shown);
  const auto brushed = handle(ui, plot, shown);
  draw_bars(ui, plot, shown);
  draw_quantiles(ui, plot, shown);
  return brushed;
}

void HistogramView::draw_axes(Ui& ui, const Plot& plot, const Shown& shown) const {
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  for (double count = 0; count <= plot.most; count += plot.step) {
    const float y = std::round(plot.y_of(count));
    horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(count == 0 ? Colour::line2 : Colour::line1));
    draw_text(ui, {plot.labels.x0, y - ui.px(8), plot.labels.x1 - ui.px(6), y + ui.px(8)},
              format_count(static_cast<std::uint64_t>(count)), kMonoHintRight);
  }
  const auto most = static_cast<std::size_t>(std::max(1.0F, plot.rect.width() / ui.px(76)));
  float reached = plot.foot.x0 - ui.px(20);
  for (const content::ValueTick& tick : plot.axis.ticks(most, shown.unit)) {
    const float x = std::round(plot.x_of(tick.value));
    vertical_line(ui, x, plot.rect.y1, plot.rect.y1 + ui.px(tick.text.empty() ? 3 : 5), ui.colour(Colour::line2));
    const float width = text_width(ui, TextStyle::mono_small, tick.text);
    const float from = std::clamp(x - width / 2, plot.labels.x0, plot.rect.x1 + ui.px(8) - width);
    if (tick.text.empty() || from < reached + ui.px(8)) continue;
    draw_text(ui, {from, plot.foot.y0 + ui.px(4), from + width + 1, plot.foot.y1}, tick.text,
              {.style = TextStyle::mono_small, .colour = Colour::text3, .fit = Fit::clip});
    reached = from + width;
  }
}

void HistogramView::draw_bars(Ui& ui, const Plot& plot, const Shown& shown) const {
  const analysis::ValueBins& bins = shown.details.bins;
  const Pixel plain = ui.colour(shown.stale ? Colour::disabled : Colour::text3);
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins.counts[bin] == 0) continue;
    const float x0 = std::round(plot.x_of(bins.edges[bin])), x1 = std::round(plot.x_of(bins.edges[bin + 1]));
    // However few they are, they are seen.
    const float y0 = std::min(plot.y_of(static_cast<double>(bins.counts[bin])), plot.rect.y1 - ui.px(1));
    const bool in_brush = shown.brush && bins.edges[bin] >= shown.brush->first && bins.edges[bin] < shown.brush->second;
    const float gap = x1 - x0 > ui.px(3) ? ui.px(1) : 0;
    fill(ui, {x0, std::round(y0), std::max(x1 - gap, x0 + ui.px(1)), plot.rect.y1},
         in_brush ? ui.colour(Colour::accent) : plain);
  }
}

void HistogramView::draw_quantiles(Ui& ui, const Plot& plot, const Shown& shown) const {
  const analysis::ValueFigures& figures = shown.details.figures;
  float reached = plot.labels.x0;
  for (const auto& [name, value] : {std::pair{"p50", figures.median}, {"p99", figures.p99}}) {
    if (plot.axis.place(value) < 0) continue;
    const float x = std::round(plot.x_of(value));
    dashed_line(ui, ui.draw(), {x, plot.rect.y0 - ui.px(2)}, {x, plot.rect.y1}, ui.colour(Colour::text1));
    const std::string text = fmt::format("{} {}", name, format_value(value, shown.unit));
    const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(8);
    const float from = std::min(std::max(x - ui.px(2), reached), plot.rect.x1 + ui.px(8) - width);
    if (from < reached - ui.px(1)) continue;  // no room beside the other one's
    draw_text(ui, {from + ui.px(4), plot.rect.y0 - ui.px(18), from + width, plot.rect.y0 - ui.px(2)}, text,
              {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
    reached = from + width;
  }
}

std::optional<ValueRange> HistogramView::handle(Ui& ui, const Plot& plot, const Shown& shown) {
  const analysis::ValueBins& bins = shown.details.bins;
  const Interaction response = interact(ui, "statistics.histogram", plot.rect,
                                        {.keys = FocusStopKind::pointer, .label = "Distribution of durations"});
  const std::size_t at = plot.bin_at(bins, ui.input().mouse.x);
  const auto mark = [&](double from, double to) {
    const Rect range{std::round(plot.x_of(from)), plot.rect.y0, std::round(plot.x_of(to)), plot.rect.y1};
    fill(ui, range, ui.colour(Colour::accent_bg));
    vertical_line(ui, range.x0, range.y0, range.y1, ui.colour(Colour::accent));
    vertical_line(ui, range.x1 - ui.px(1), range.y0, range.y1, ui.colour(Colour::accent));
  };
  hovered_ = response.hovered;
  if (response.pressed) drag_from_ = at;
  if (response.held && drag_from_) drag_to_ = at;
  if (drag_from_ && *drag_from_ >= bins.size()) drag_from_.reset();  // other bins came meanwhile
  std::optional<ValueRange> brushed;
  if (drag_from_) {
    const std::size_t first = std::min({*drag_from_, drag_to_, bins.size() - 1});
    const std::size_t last = std::min(std::max(*drag_from_, drag_to_), bins.size() - 1);
    mark(bins.edges[first], bins.edges[last + 1]);
    if (!response.held) {
      drag_from_.reset();
      brushed = ValueRange{bins.edges[first], bins.edges[last + 1]};
    }
  } else if (shown.brush) {
    mark(std::max(shown.brush->first, bins.edges.front()), std::min(shown.brush->second, bins.edges.back()));
  }
  if (response.hovered) {
    set_cursor(Cursor::resize_horizontal);
    const std::uint64_t count = bins.counts[at];
    const Rect bar{plot.x_of(bins.edges[at]), plot.rect.y0, plot.x_of(bins.edges[at + 1]), plot.rect.y1};
    if (!response.held) fill(ui, bar, ui.colour(Colour::bg3));
    tooltip(
        ui, response, bar,
        fmt::format("{} to below {}: {}. Drag over bars to filter by them.", format_value(bins.edges[at], shown.unit),
                    format_value(bins.edges[at + 1], shown.unit), counted(count, "event")));
  }
  return brushed;
}

void StatisticsPanel::choose(Choice choice) {
  if (choice.value != choice_.value) brush_.reset();  // its term stays in the filter
  choice_ = std::move(choice);
  keys_.reset();
  shown_ = 0;
}

std::optional<ValueRange> StatisticsPanel::brush(const session::SessionTab& tab) const {
  if (!brush_) return std::nullopt;
  const std::vector<FilterTerm>& terms = tab.choices.filter.terms;
  const bool is_there = std::ranges::find(terms, brush_->term) != terms.end();
  return is_there ? std::optional(brush_->range) : std::nullopt;
}

void StatisticsPanel::set_brush(const PanelContext& context, const std::optional<ValueRange>& range) {
  EventFilter filter = context.tab.choices.filter;
  if (brush_) std::erase(filter.terms, brush_->term);
  brush_.reset();
  if (range) {
    const std::string column(analysis::column_name(*context.tab.snapshot, choice_.value).column);
    brush_ = Brush{{listing::search_of_values(column, range->first, range->second), false}, *range};
    filter.terms.push_back(brush_->term);
  }
  context.tab.change([&](session::ViewChoices& choices) { choices.filter = filter; });
}

void StatisticsPanel::take_answers(const PanelContext& context) {
  const session::SessionTab& tab = context.tab;
  const Snapshot& snapshot = *tab.snapshot;
  if (columns_version_ != snapshot.version) {  // events of known columns may be the first of theirs, too
    columns_version_ = snapshot.version;
    group_columns_ = analysis::group_columns(snapshot);
    value_columns_ = analysis::value_columns(snapshot);
    presets_ = listing::statistics_presets(snapshot);
  }
  const EventFilter wanted = scope_filter(tab, scope_);
  TableChoice asked{.choice = choice_, .within = {}};
  if (scope_ == Scope::visible) asked.within.range = tab.view.whole_ns();
  if (scope_ == Scope::selection && scope_.selection()) asked.within = *scope_.selection();
  table_ = context.analysis().ask_of(
      table_retained_, wanted, asked,
      [wanted, asked](const QueryContext& query) -> FoundAnswer<listing::StatisticsTable> {
        auto made = TRY(listing::statistics_table(query, {wanted, asked.choice.by, asked.choice.value},
                                                  asked.choice.also_ns, asked.within));
        return std::make_shared<const listing::StatisticsTable>(std::move(made));
      });
  if (!table_) return;
  if (keys_ && region_seen_ && !tab.region) keys_.reset();
  // The histogram stays whole under its own brush.
  const EventFilter unbrushed =
      without_term(wanted, brush(tab) ? std::optional(brush_->term) : std::optional<FilterTerm>());
  const DetailChoice detail{choice_, scale_, keys_};
  details_ = context.analysis().ask_of(
      details_retained_, unbrushed, detail,
      [unbrushed, detail,
       known = table_->statistics](const QueryContext& query) -> FoundAnswer<analysis::ValueDetails> {
        return analysis::value_details(query, {unbrushed, detail.choice.by, detail.choice.value}, detail.scale,
                                       detail.keys ? &*detail.keys : nullptr, known);
      });
  if (details_ == outliers_of_ || !details_) return;
  outliers_of_ = details_;
  outliers_ = std::make_shared<const listing::Listing>(listing::outlier_listing(*details_));
}

void StatisticsPanel::draw(const PanelContext& context, const Rect& area) {
  const OwnSelection own(context.tab, scope_);
  Ui& ui = context.ui;
  take_answers(context);
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(36))));
  draw_progress(context, rest);
  if (!draw_state(context, rest)) return;
  const float spread = std::max(ui.px(kLeastSpread), std::floor(rest.width() * kSpreadShare));
  if (rest.width() >= spread + ui.px(kLeastTableBeside)) {
    Rect right = rest.cut_right(spread);
    vertical_line(ui, right.x0, right.y0, right.y1, ui.colour(Colour::line1));
    draw_spread(context, right.inset(ui.px(12), 0));
  }
  const std::string& note = shown_ == 0 ? table_->listing.note : outliers_ ? outliers_->note : table_->listing.note;
  draw_note(ui, rest, note);
  shown_ == 0 ? draw_table(context, rest) : draw_outliers(context, rest);
}

bool StatisticsPanel::draw_state(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const std::string& wrong =
      table_retained_.error.empty() ? context.analysis().mask_error(session::MaskUse::filter) : table_retained_.error;
  if (!wrong.empty()) {
    if (empty_state(ui, "statistics.wrong", area, icon::kWarning, wrong, "Group by name")) choose({});
    return false;
  }
  if (!table_) {
    empty_state(ui, "statistics.loading", area, icon::kClock, "Looking at every event ...");
    return false;
  }
  if (!table_->statistics->rows.empty()) return true;
  const bool filtered = !table_->statistics->question.filter.empty();
  empty_state(ui, "statistics.empty", area, icon::kBarChart,
              filtered ? "No event with such a value passes the filter in this range."
                       : "The session holds no events with a time. Open a profile, or record one.");
  return false;
}

// After 100 ms a bar on top says how much is done.
void StatisticsPanel::draw_progress(const PanelContext& context, const Rect& area) const {
  if (!table_retained_.task.valid()) return;
  Ui& ui = context.ui;
  const auto share = table_retained_.share();
  if (!share || !table_retained_.stale()) return;
  fill(ui, {area.x0, area.y0 - ui.px(2), area.x0 + area.width() * static_cast<float>(*share), area.y0},
       ui.colour(Colour::accent));
}

void StatisticsPanel::draw_choices(const PanelContext& context, Rect& head) {
  Ui& ui = context.ui;
  const bool by_preset = choice_.by.size() > 2 || choice_.also_ns;
  const bool has_labels = head.width() >= ui.px(kHeadWithLabels);
  const auto label = [&](std::string_view text) {
    if (!has_labels) return;
    const float width = text_width(ui, TextStyle::body, text);
    draw_text(ui, head.cut_left(width + 1), text, {.colour = Colour::text2});
    head.cut_left(ui.px(8));
  };
  const auto menu = [&](std::string_view name, const std::string& value, const std::vector<MenuItem>& items,
                        std::string_view tip) {
    const float width = std::min(dropdown_width(ui, value), ui.px(180));
    const Rect place = head.cut_left(width).middle(ui.px(size::kControl));
    head.cut_left(ui.px(8));
    return dropdown_menu(ui, name, place, value, items, {.tooltip = tip});
  };
  label("Group by");
  std::string first = choice_.by.empty() ? std::string(kNothing) : chosen_title(group_columns_, choice_.by.front());
  for (const listing::StatisticsPreset& preset : presets_) {
    if (by_preset && preset.by == choice_.by) first = preset.title;
  }
  std::vector<MenuItem> items = column_menu(group_columns_, by_preset || choice_.by.empty() ? "" : choice_.by.front());
  if (!items.empty()) items.front().line_above = true;
  for (std::size_t i = presets_.size(); i-- > 0;) {
    items.insert(items.begin(), {.id = "preset." + std::string(presets_[i].name),
                                 .label = std::string(presets_[i].title),
                                 .checked = presets_[i].by == choice_.by && presets_[i].value == choice_.value});
  }
  if (const auto chosen = menu("statistics.by", first, items, "What rows are made of: a preset or a column")) {
    const auto preset = std::ranges::find_if(
        presets_, [&](const listing::StatisticsPreset& each) { return *chosen == "preset." + std::string(each.name); });
    if (preset != presets_.end()) return choose({preset->by, preset->value, preset->also_ns});
    Choice next = by_preset ? Choice{} : choice_;
    if (next.by.empty()) next.by.resize(1);
    next.by.front() = *chosen;
    if (next.by.size() > 1 && next.by[1] == *chosen) next.by.resize(1);
    return choose(std::move(next));
  }
  if (!by_preset) {
    label("then");
    const std::string second =
        choice_.by.size() > 1 ? chosen_title(group_columns_, choice_.by[1]) : std::string(kNothing);
    items = column_menu(group_columns_, choice_.by.size() > 1 ? choice_.by[1] : "");
    items.insert(items.begin(), {.id = std::string(kNothing), .label = "Nothing", .checked = choice_.by.size() < 2});
    items[1].line_above = true;
    if (const auto chosen = menu("statistics.then", second, items, "A second column that tells rows apart")) {
      Choice next = choice_;
      next.by.resize(1);
      if (*chosen != kNothing && *chosen != next.by.front()) next.by.push_back(*chosen);
      return choose(std::move(next));
    }
  }
  label("Measure");
  if (const auto chosen = menu("statistics.value", chosen_title(value_columns_, choice_.value),
                               column_menu(value_columns_, choice_.value), "What of each event is measured")) {
    Choice next = choice_;
    next.value = *chosen;
    next.also_ns = false;
    choose(std::move(next));
  }
}

void StatisticsPanel::draw_head(const PanelContext& context, Rect head) {
  Ui& ui = context.ui;
  (void)draw_scope(context, "statistics.scope", head, scope_);
  draw_choices(context, head);
  head.cut_left(ui.px(8));
  if (!table_) return;
  const analysis::Statistics& statistics = *table_->statistics;
  const std::uint64_t outliers = details_ ? details_->outlier_count : 0;
  const std::string far = fmt::format("Outliers {}", details_ ? format_count(outliers) : "–");
  const std::array<Segment, 2> kinds = {
      {{.label = "Groups"},
       {.label = far, .tooltip = "Events more than three times the distance of their group's quartiles beyond these"}}};
  const float width = segmented_width(ui, kinds);
  if (head.width() < width) return;
  segmented(ui, "statistics.shown", head.cut_left(width).middle(ui.px(size::kControl)), kinds, shown_);
  head.cut_left(ui.px(12));
  const bool stale = table_retained_.stale();
  std::string text =
      fmt::format("{}, {} events, total {}", counted(statistics.rows.size(), "row"), format_count(statistics.all.count),
                  format_value(statistics.all.total, statistics.unit));
  if (stale) text = "of the earlier range";
  if (text_width(ui, TextStyle::small, text) <= head.width())
    draw_text(ui, head, text, {.style = TextStyle::small, .colour = stale ? Colour::text3 : Colour::text2});
}

void StatisticsPanel::draw_table(const PanelContext& context, const Rect& area) {
  const std::shared_ptr<const listing::Listing> listing(table_, &table_->listing);
  const AnswerTable::Response response = rows_.draw(context, "statistics.rows", area, listing);
  const std::optional<std::size_t> row = response.double_clicked ? response.double_clicked : response.clicked;
  const analysis::Statistics& statistics = *table_->statistics;
  // The last row then stands for many groups, which have no spread of their own.
  const std::size_t groups = statistics.rows.size() - (statistics.has_rest ? 1 : 0);
  if (!row || *row >= groups) return;
  keys_ = statistics.rows[*row].keys;
  region_seen_ = std::holds_alternative<EventFilter>(table_->listing.targets[*row]);
}

void StatisticsPanel::draw_outliers(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  if (!details_retained_.error.empty() || !outliers_ || outliers_->rows.row_count() == 0) {
    const std::string_view sentence = !details_retained_.error.empty() ? std::string_view(details_retained_.error)
                                      : outliers_ ? "No event lies far from the others of its group."
                                                  : "Looking for events that lie far from the others ...";
    if (empty_state(ui, "statistics.none_far", area, icon::kBarChart, sentence, "Show the groups")) shown_ = 0;
    return;
  }
  outlier_rows_.draw(context, "statistics.outliers", area, outliers_);
}

void StatisticsPanel::draw_spread(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  Rect head = area.cut_top(ui.px(28));
  if (!details_retained_.error.empty())
    return empty_sentence(ui, "statistics.no_spread", area, icon::kWarning, details_retained_.error);
  if (!details_) return;
  const bool stale = details_retained_.stale();
  const std::array<Segment, 2> scales = {{{.label = "linear"}, {.label = "log"}}};
  int scale = scale_ == analysis::BinScale::linear ? 0 : 1;
  const Rect place = head.cut_right(segmented_width(ui, scales)).middle(ui.px(size::kSmallControl));
  if (segmented(ui, "statistics.scale", place, scales, scale))
    scale_ = scale == 0 ? analysis::BinScale::linear : analysis::BinScale::log;
  head.cut_right(ui.px(8));
  const std::uint64_t events = details_->figures.count;
  const std::string name = keys_ ? keys_text(*keys_) : "All";
  const std::string count = counted(events, "event");
  const float hint = text_width(ui, TextStyle::small, count) + ui.px(8);
  const std::string shown = fitted_text(ui, TextStyle::heading, name, head.width() - hint, Fit::middle);
  const float used = draw_text(ui, head, shown, {.style = TextStyle::heading});
  head.cut_left(used + ui.px(8));
  draw_text(ui, head, stale ? "updating ..." : count, kHintText);

  const Rect foot = area.cut_bottom(ui.px(22));
  if (details_->bins.size() == 0) {
    const bool none_above = details_->scale == analysis::BinScale::log && details_->bins.below > 0;
    empty_state(
        ui, "statistics.no_bins", area, icon::kBarChart,
        none_above ? "No value is above 0: a log scale has no place for them." : "This group has no events here.");
    return;
  }
  const HistogramView::Shown what{*details_, details_->statistics->unit, brush(context.tab), stale};
  if (const auto brushed = histogram_.draw(ui, area, what)) set_brush(context, *brushed);
  draw_brush_foot(context, foot);
}

void StatisticsPanel::draw_brush_foot(const PanelContext& context, Rect foot) {
  Ui& ui = context.ui;
  const analysis::ValueBins& bins = details_->bins;
  const std::string& unit = details_->statistics->unit;
  if (const auto range = brush(context.tab)) {
    const bool escapes = ui.pressed(Key::escape, {}, false) && !ui.typing() && histogram_.hovered();
    const float width = link_width(ui, "Clear");
    if (link(ui, "statistics.clear", foot.cut_right(width), "Clear") || escapes)
      return set_brush(context, std::nullopt);
    foot.cut_right(ui.px(8));
    draw_text(ui, foot,
              fmt::format("{} – {}: {} of {}", format_value(range->first, unit), format_value(range->second, unit),
                          format_count(HistogramView::count_in(bins, *range)), format_count(details_->figures.count)),
              kLabelText);
    return;
  }
  std::string text = "Drag over bars to filter by value";
  if (bins.below > 0) text = fmt::format("{} at 0 or below are not shown on a log scale", format_count(bins.below));
  draw_text(ui, foot, text, kHintText);
}

std::unique_ptr<Panel> make_statistics_panel(const PanelParts&) { return std::make_unique<StatisticsPanel>(); }

}  // namespace accelscope::app::panels
