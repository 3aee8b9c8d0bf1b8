#include "app/panels/selection_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "app/selection.h"
#include "app/selection_terms.h"
#include "app/source_text.h"
#include "app/view_record.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kFactsWidth = 210, kBinsWidth = 250, kGap = 14;
constexpr float kMoreForLines = 0.3F;  // of a table's width, for their code

// What the timeline shows, in whole ns.
TimeRange visible_range(const SessionTab& tab) {
  const auto begin = static_cast<std::int64_t>(std::floor(tab.view.begin_ns));
  return {begin, std::max(begin + 1, static_cast<std::int64_t>(std::ceil(tab.view.end_ns)))};
}

EventFilter selected_filter(const SessionTab& tab) {
  if (tab.region) return *tab.region;
  EventFilter visible;
  visible.range = visible_range(tab);
  return visible;
}

EventFilter wanted_filter(const SessionTab& tab) { return both(tab.choices.filter, selected_filter(tab)); }

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string per_second(double amount, double ns, std::string_view unit) {
  static constexpr std::array<std::pair<double, std::string_view>, 5> kScales = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  const double value = ns > 0 ? amount / ns * 1e9 : 0;
  for (const auto& [scale, letter] : kScales) {
    if (value >= scale) return fmt::format("{} {}{}", format_number(value / scale), letter, unit);
  }
  return fmt::format("{} {}", format_number(value), unit);
}

std::string bin_label(const SummaryBin& bin, bool sizes) {
  if (sizes) return bin.begin == 0 ? "0 B" : format_bytes(static_cast<double>(bin.begin));
  return bin.begin == 0 ? "0 ns" : format_duration(static_cast<double>(bin.begin));
}

// The summary as text, a table after the other, for the clipboard.
std::string summary_text(const SelectionSummary& summary, char separator) {
  const auto quoted = [separator](const std::string& text) {
    if (separator != ',' || text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
  };
  std::string text;
  const auto line = [&](const std::string& table, const std::string& key, std::uint64_t count, std::int64_t busy_ns,
                        std::uint64_t bytes, std::uint64_t flops) {
    text +=
        fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}\n", separator, table, quoted(key), count, busy_ns, bytes, flops);
  };
  text += fmt::format("table{0}key{0}events{0}busy_ns{0}bytes{0}flops\n", separator);
  line("total", "", summary.event_count, summary.busy_ns, summary.bytes, summary.flops);
  const std::array<std::pair<const char*, const SummaryRows*>, 3> tables = {
      {{"name", &summary.names}, {"line", &summary.lines}, {"layer", &summary.layers}}};
  for (const auto& [name, rows] : tables) {
    for (const SummaryRow& row : rows->rows) line(name, row.text, row.count, row.busy_ns, row.bytes, row.flops);
  }
  for (const SummaryBin& bin : summary.sizes) {
    line("size", std::to_string(bin.begin), bin.count, bin.busy_ns, bin.bytes, 0);
  }
  for (const SummaryBin& bin : summary.durations) {
    line("duration", std::to_string(bin.begin), bin.count, bin.busy_ns, bin.bytes, 0);
  }
  return text;
}

}  // namespace

void SelectionPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const EventFilter wanted = wanted_filter(context.tab);
  const auto answer = context.analysis().summary(wanted);
  if (answer != answer_) {
    answer_ = answer;
    for (RowTable* table : {&names_, &lines_, &layers_}) table->order.clear();
  }
  const bool stale = answer_ && (answer_->summary->filter != wanted ||
                                 answer_->summary->snapshot_version != context.tab.snapshot->version);
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(36)).inset(ui.px(size::kPanelPadding), 0), stale);
  if (!context.analysis().summary_error().empty()) {
    empty_state(ui, "selection.error", rest, icon::kWarning, context.analysis().summary_error());
    return;
  }
  if (!answer_) {
    const double share = context.analysis().summary_index_share().value_or(1.0);
    empty_state(ui, "selection.loading", rest, icon::kClock,
                fmt::format("Adding up the session's events ... {:.0f} %", share * 100));
    return;
  }
  if (answer_->summary->event_count == 0) {
    empty_state(ui, "selection.none", rest, icon::kTable, "No events lie in what is selected.");
    return;
  }
  rest = rest.inset(ui.px(size::kPanelPadding), ui.px(4));
  draw_facts(context, rest.cut_left(ui.px(kFactsWidth)));
  rest.cut_left(ui.px(kGap));
  draw_bins(context, rest.cut_right(std::min(ui.px(kBinsWidth), rest.width() / 4)));
  rest.cut_right(ui.px(kGap));
  const SelectionSummary& summary = *answer_->summary;
  std::vector<std::pair<Kind, RowTable*>> shown = {{Kind::names, &names_}};
  if (!summary.lines.rows.empty()) shown.emplace_back(Kind::lines, &lines_);
  if (!summary.layers.rows.empty()) shown.emplace_back(Kind::layers, &layers_);
  const float width = rest.width() / (static_cast<float>(shown.size()) + kMoreForLines);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    Rect column = i + 1 == shown.size()
                      ? rest
                      : rest.cut_left(shown[i].first == Kind::lines ? width * (1 + kMoreForLines) : width);
    if (i + 1 != shown.size()) column.cut_right(ui.px(kGap));
    draw_rows(context, column, shown[i].first, *shown[i].second);
  }
}

void SelectionPanel::draw_head(const PanelContext& context, Rect head, bool stale) {
  Ui& ui = context.ui;
  SessionTab& tab = context.tab;
  const bool ready = answer_ && answer_->summary->event_count > 0;
  const auto action = [&](const char* name, const char* label, const char* symbol, bool disabled, const char* tip) {
    const ButtonOptions options{.label = label, .icon = symbol, .disabled = disabled, .tooltip = tip};
    const bool clicked =
        button(ui, name, head.cut_right(button_width(ui, options)).middle(ui.px(size::kControl)), options);
    head.cut_right(ui.px(8));
    return clicked;
  };
  if (action("selection.csv", "Copy CSV", icon::kTable, !ready, "All tables as comma-separated values")) {
    context.copy(summary_text(*answer_->summary, ','), "the summary as CSV");
  }
  if (action("selection.copy", "Copy", icon::kCopy, !ready, "All tables, tab-separated")) {
    context.copy(summary_text(*answer_->summary, '\t'), "the summary");
  }
  if (action("selection.pin", "Pin as span", icon::kFlag, !ready, "A marker over this stretch of time")) pin(context);
  if (action("selection.filter", "Filter", icon::kFilter, !tab.region, "Every panel shows only what is selected")) {
    const EventFilter wanted = wanted_filter(tab);
    tab.change([&](ViewChoices& choices) { choices.filter = wanted; });
  }
  if (action("selection.zoom", "Zoom in", icon::kExpand, !ready, "Shows this stretch of time")) {
    show_stretch(tab, answer_->summary->range.begin_ns, answer_->summary->range.end_ns);
  }
  if (tab.region && action("selection.clear", "Clear", icon::kClose, false, "Nothing is selected any more")) {
    tab.region.reset();
  }
  std::string hint;
  for (const FilterTerm& term : tab.region ? tab.region->terms : std::vector<FilterTerm>()) {
    hint += (term.excluded ? "not " : "") + term.search + "  ";
  }
  if (stale) {
    hint += "updating ...";
  } else if (answer_) {
    hint += answer_->summary->scanned ? "every event looked at, " : "";
    hint += fmt::format("in {:.1f} ms", answer_->took_ms);
  }
  heading(ui, head, tab.region ? "Selection" : "Visible range", hint);
}

void SelectionPanel::draw_facts(const PanelContext& context, Rect area) const {
  Ui& ui = context.ui;
  const SelectionSummary& summary = *answer_->summary;
  const auto span = static_cast<double>(summary.range.length_ns());
  const auto fact = [&](std::string_view name, const std::string& value) {
    Rect row = area.cut_top(ui.px(20));
    draw_text(ui, row, name, {.colour = Colour::text2});
    draw_text(ui, row, value, {.style = TextStyle::mono, .align = Align::right});
  };
  fact("Span", format_duration(span));
  fact("Events", format_count(summary.event_count));
  fact("Busy", format_duration(static_cast<double>(summary.busy_ns)));
  if (const std::int64_t wait = summary.wait_ns + summary.waited_ns; wait > 0) {
    fact("Wait", format_duration(static_cast<double>(wait)));
  }
  if (summary.bytes > 0) {
    fact("Bytes", format_bytes(static_cast<double>(summary.bytes)));
    fact("Bandwidth", format_rate(span > 0 ? static_cast<double>(summary.bytes) / span * 1e9 : 0));
  }
  if (summary.flops > 0) {
    fact("Work", per_second(static_cast<double>(summary.flops), 1e9, "FLOP"));
    fact("Achieved", per_second(static_cast<double>(summary.flops), span, "FLOP/s"));
  }
}

void SelectionPanel::sort(const SummaryRows& rows, RowTable& table) const {
  const bool same = table.order.size() == rows.rows.size() && table.sorted_by == table.state.sort_column &&
                    table.descending == table.state.descending;
  if (same) return;
  table.sorted_by = table.state.sort_column;
  table.descending = table.state.descending;
  table.order.resize(rows.rows.size());
  std::iota(table.order.begin(), table.order.end(), std::size_t{0});  // longest first
  const auto before = [&](std::size_t a, std::size_t b) {
    const SummaryRow& x = rows.rows[a];
    const SummaryRow& y = rows.rows[b];
    if (table.sorted_by == 0) return x.text < y.text;
    return table.sorted_by == 1 ? x.count < y.count : x.busy_ns < y.busy_ns;
  };
  if (table.sorted_by < 0) return;
  std::stable_sort(table.order.begin(), table.order.end(),
                   [&](std::size_t a, std::size_t b) { return table.descending ? before(b, a) : before(a, b); });
}

void SelectionPanel::draw_rows(const PanelContext& context, const Rect& area, Kind kind, RowTable& rows) {
  Ui& ui = context.ui;
  const SelectionSummary& summary = *answer_->summary;
  const SummaryRows& source = kind == Kind::names   ? summary.names
                              : kind == Kind::lines ? summary.lines
                                                    : summary.layers;
  sort(source, rows);
  const bool lines = kind == Kind::lines;
  const char* const name = kind == Kind::names ? "selection.names" : lines ? "selection.lines" : "selection.layers";
  const char* const title = kind == Kind::names ? "Name" : lines ? "Line" : "Layer";
  // The average goes first where there is little room; of a layer, the share does.
  const bool narrow = area.width() < ui.px(560);
  std::vector<TableColumn> columns = {{.title = title},
                                      {.title = "Events", .width = 64, .align = Align::right},
                                      {.title = "Busy", .width = 84, .align = Align::right}};
  if (kind == Kind::layers) {
    columns.push_back({.title = "Achieved", .width = 108, .align = Align::right, .sortable = false});
  } else if (!narrow) {
    columns.push_back({.title = "Average", .width = 84, .align = Align::right, .sortable = false});
  }
  const bool with_share = kind != Kind::layers || !narrow;
  if (with_share) columns.push_back({.title = lines ? "Of span" : "Share", .width = 90, .sortable = false});
  const bool without_average = kind != Kind::layers && narrow;
  const std::int64_t whole =
      lines ? summary.range.length_ns() : std::max<std::int64_t>(1, summary.busy_ns + summary.wait_ns);
  const auto content = [&](std::size_t index, std::size_t place) -> TableCell {
    const std::size_t column = without_average && place == 3 ? 4 : place;
    const SummaryRow& row = source.rows[rows.order[index]];
    const auto busy = static_cast<double>(row.busy_ns);
    const double share = share_of(row.busy_ns, whole);
    switch (column) {
      case 0: {
        if (kind == Kind::names) return {.text = row.text, .swatch = ui.theme().slice(palette_slot(row.text))};
        const std::string code = lines ? code_of(context, row.text) : std::string();
        const std::size_t slash = lines ? row.text.rfind('/') : std::string::npos;
        const std::string shown = slash == std::string::npos ? row.text : row.text.substr(slash + 1);
        return {.text = code.empty() ? shown : shown + "  " + code, .fit = lines ? Fit::ellipsis : Fit::middle};
      }
      case 1:
        return {.text = format_count(row.count)};
      case 2:
        return {.text = format_duration(busy)};
      case 3:
        if (kind != Kind::layers)
          return {.text = format_duration(busy / static_cast<double>(std::max<std::uint64_t>(1, row.count)))};
        return {.text = row.flops == 0 ? "–" : per_second(static_cast<double>(row.flops), busy, "FLOP/s")};
      default:
        return {.text = format_share(share), .bar = std::min(1.0, share)};
    }
  };
  const auto search = [&](std::size_t index) -> std::optional<std::string> {
    const std::string& text = source.rows[rows.order[index]].text;
    if (kind == Kind::names) return search_of_name(text);
    return lines ? std::optional(search_of_line(text)) : search_of_layer(*context.tab.snapshot, text);
  };
  const TableResult result = table(ui, name, area, columns, rows.order.size(), content, rows.state);
  if (!result.clicked) return;
  if (const auto term = search(*result.clicked)) select(context, *term);
}

// The text of a source line where the session stores its file.
std::string SelectionPanel::code_of(const PanelContext& context, const std::string& line) {
  const StackFrame place = parse_stack_frame(line);
  if (place.path.empty()) return {};
  if (place.path != code_path_) {
    code_path_ = place.path;
    code_.clear();
    const auto& sources = context.tab.snapshot->sources;
    if (const auto file = find_source(sources, place.path)) {
      for (const CodeLine& each : code_lines(*sources[*file])) code_.push_back(each.text);
    }
  }
  if (place.line == 0 || place.line > code_.size()) return {};
  const std::string& text = code_[place.line - 1];
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first);
}

void SelectionPanel::draw_bins(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const SelectionSummary& summary = *answer_->summary;
  const float row_height = ui.px(18);
  const auto rows = static_cast<float>(summary.sizes.size() + summary.durations.size() + 3);
  const ScrollArea scroll(ui, "selection.bins", area, rows * row_height + ui.px(8));
  Rect rest = scroll.content();
  const auto histogram = [&](std::string_view title, const std::vector<SummaryBin>& bins, bool sizes) {
    if (bins.empty()) return;
    draw_text(ui, rest.cut_top(row_height), title, {.style = TextStyle::small_strong, .colour = Colour::text2});
    std::uint64_t most = 1;
    for (const SummaryBin& bin : bins) most = std::max(most, bin.count);
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const Rect row = rest.cut_top(row_height);
      const std::string name = fmt::format("selection.{}.{}", sizes ? "sizes" : "durations", i);
      const Interaction hand = interact(ui, name, row);
      if (hand.hovered) fill(ui, row, ui.colour(Colour::bg4));
      Rect part = row;
      draw_text(ui, part.cut_left(ui.px(72)), bin_label(bins[i], sizes), {.style = TextStyle::mono});
      draw_text(ui, part.cut_left(ui.px(60)), format_count(bins[i].count),
                {.style = TextStyle::mono, .align = Align::right});
      part.cut_left(ui.px(8));
      Rect bar = part.middle(ui.px(8));
      fill(ui, bar, ui.colour(Colour::bg4));
      bar.x1 =
          bar.x0 + bar.width() * static_cast<float>(static_cast<double>(bins[i].count) / static_cast<double>(most));
      fill(ui, bar, ui.colour(Colour::accent));
      if (!hand.clicked) continue;
      const auto search = sizes ? search_of_sizes(*context.tab.snapshot, bins[i]) : search_of_durations(bins[i]);
      if (search) select(context, *search);
    }
    rest.cut_top(ui.px(8));
  };
  histogram("Transfer sizes", summary.sizes, true);
  histogram("Durations", summary.durations, false);
}

void SelectionPanel::select(const PanelContext& context, const std::string& search) const {
  context.tab.region = with_term_toggled(selected_filter(context.tab), search);
}

void SelectionPanel::pin(const PanelContext& context) const {
  const TimeRange& range = answer_->summary->range;
  Marker marker;
  marker.ts_ns = range.begin_ns;
  marker.end_ns = range.end_ns;
  marker.name = "Selection";
  if (const auto kept = context.tab.store->put_marker(marker); !kept) {
    context.actions.notify(Severity::error, kept.message());
    return;
  }
  context.tab.markers = context.tab.store->markers();
  note_kept_change(context.tab);
  context.actions.say("Pinned the selection as a span");
}

}  // namespace accelscope::app
