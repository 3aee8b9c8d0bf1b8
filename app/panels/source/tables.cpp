#include <algorithm>
#include <array>
#include <filesystem>

#include "app/panels/source/panel.h"
#include "app/view/selection.h"
#include "core/base/text.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

// The lines and the files of a session as tables by cost: what the source panel shows without a text, or on wish.

namespace {

constexpr float kWholePaths = 760;  // units of width from which whole paths are shown

// A column of figures, left out where every line has nothing in it.
struct Figure {
  content::Heat heat;
  const char* title;
  const char* tooltip;
};
constexpr std::array kFigures = {
    Figure{content::Heat::events, "Events", "Events that name the line"},
    Figure{content::Heat::busy, "Busy",
           "Time of these events without waiting. An event that runs inside another counts in both lines."},
    Figure{content::Heat::wait, "Wait", "Time that these events waited, and of events that do nothing else"},
    Figure{content::Heat::bytes, "Bytes", "Bytes that these events read, wrote or moved"}};

struct CostTable {
  std::vector<TableColumn> columns;
  std::vector<content::CostOrder> orders;  // of the columns; the first `texts` are by place
  std::size_t texts = 0;
};

CostTable cost_table(std::vector<TableColumn> first, const content::LineCost& total, content::Heat heat) {
  CostTable result;
  result.texts = first.size();
  result.columns = std::move(first);
  result.orders.assign(result.texts, std::nullopt);
  for (const Figure& figure : kFigures) {
    if (content::heat_value(total, figure.heat) <= 0) continue;
    result.columns.push_back({.title = figure.title,
                              .width = figure.heat == heat                    ? 124.0F
                                       : figure.heat == content::Heat::events ? 64.0F
                                                                              : 78.0F,
                              .align = Align::right,
                              .tooltip = figure.tooltip});
    result.orders.emplace_back(figure.heat);
  }
  return result;
}

// The order that the head shows; without a choice, by the heat.
content::CostOrder sorted_by(const TableState& state, const CostTable& table, content::Heat heat) {
  const auto chosen = static_cast<std::size_t>(state.sort_column);
  return state.sort_column >= 0 && chosen < table.orders.size() ? table.orders[chosen] : content::CostOrder(heat);
}

void show_order(TableState& state, const CostTable& table, content::Heat heat) {
  if (state.sort_column >= 0) return;
  const auto column = std::ranges::find(table.orders, content::CostOrder(heat));
  if (column == table.orders.end()) return;
  state.sort_column = static_cast<int>(column - table.orders.begin());
  state.descending = true;
}

TableCell figure_cell(const content::LineCost& cost, content::Heat shown, content::Heat heat, double most) {
  TableCell cell{.text = content::heat_text(cost, shown)};
  if (cell.text.empty()) {
    cell.text = "–";
    cell.colour = Colour::text3;
  } else if (shown == heat && most > 0) {
    cell.bar = content::heat_value(cost, shown) / most;
  }
  return cell;
}

constexpr std::size_t kMostLookedInto = 100'000;  // events of a line whose waits are looked into, one by one

std::string duration_or_none(std::int64_t ns) { return ns > 0 ? format_duration(ns) : "–"; }

std::string share_text(double part, double whole) {
  return std::to_string(static_cast<int>(whole > 0 ? part / whole * 100 + 0.5 : 0)) + " %";
}

}  // namespace

void SourcePanel::draw_narrow(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  fill(ui, row, ui.colour(Colour::bg2));
  Rect place = padded(ui, row);
  if (missing_texts_ > 0) {
    const ButtonOptions choose{
        .label = storing_.valid() ? "Reading ..." : "Choose a folder...",
        .icon = icon::kFolderOpen,
        .kind = ButtonKind::quiet,
        .disabled = storing_.valid(),
        .tooltip = "Reads the files that events name from below a folder, and stores them with the session"};
    if (button_right(ui, "source.folder", place, choose, size::kSmallControl)) {
      choose_folder(context);
    }
    place.cut_right(ui.px(8));
    const std::string lack =
        format_count(missing_texts_) + (missing_texts_ == 1 ? " file" : " files") + " without text";
    draw_text(ui, place.cut_right(text_width(ui, TextStyle::small, lack)), lack, kHintText);
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
  content::LineCost total;
  for (const analysis::SourceLine& line : all_->lines) total += content::cost_of(line);
  const CostTable layout = cost_table({{.title = "Line", .tooltip = "File and line that events name"}}, total, heat_);
  show_order(lines_table_, layout, heat_);
  if (std::exchange(order_stale_, false)) {
    order_ = content::ordered_lines(*all_, narrow_, sorted_by(lines_table_, layout, heat_), lines_table_.descending);
  }
  double most = 0;
  for (const std::uint32_t i : order_)
    most = std::max(most, content::heat_value(content::cost_of(all_->lines[i]), heat_));
  const bool whole = area.width() >= context.ui.px(kWholePaths);
  const auto& sources = context.tab.snapshot->sources;
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const analysis::SourceLine& line = all_->lines[order_[row]];
    if (column >= layout.texts) return figure_cell(content::cost_of(line), *layout.orders[column], heat_, most);
    TableCell cell{.text = (whole ? line.path : file_name(line.path)) + ":" + std::to_string(line.line),
                   .fit = Fit::middle};
    cell.link = find_source(sources, line.path).has_value();
    return cell;
  };
  const auto is_lit = [&](std::size_t row) {
    const analysis::SourceLine& line = all_->lines[order_[row]];
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
    const analysis::SourceLine& line = all_->lines[order_[row]];
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
  content::LineCost total;
  double most = 0;
  for (const content::FileCost& file : files_) {
    total += file.cost;
    most = std::max(most, content::heat_value(file.cost, heat_));
  }
  const CostTable layout = cost_table(
      {{.title = "File", .tooltip = "A click opens it"},
       {.title = "Lines", .width = 52, .align = Align::right, .sortable = false, .tooltip = "Lines that events name"}},
      total, heat_);
  show_order(files_table_, layout, heat_);
  const bool whole = area.width() >= context.ui.px(kWholePaths);
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const content::FileCost& file = files_[row];
    if (column >= layout.texts) return figure_cell(file.cost, *layout.orders[column], heat_, most);
    if (column == 1) return {.text = format_count(file.line_count), .colour = Colour::text2};
    return {.text = whole ? file.path : file_name(file.path),
            .fit = Fit::middle,
            .icon = file.text ? icon::kFileCode : icon::kFile,
            .link = true};
  };
  const TableResult result =
      table(context.ui, "source.files_by_cost", area, layout.columns, files_.size(), content, files_table_);
  if (result.sort_changed) content::sort_files(files_, sorted_by(files_table_, layout, heat_), files_table_.descending);
  if (const auto row = result.clicked_link ? result.clicked_link : result.double_clicked) {
    show_page(context, Page::text, files_[*row].path);
  }
}

// The foot of the source panel: what the lit line cost, what it waited for, and the way to its events.

content::LineCost SourcePanel::lit_cost() const {
  content::LineCost cost;
  for (const analysis::SourceLine& line : all_->lines) {
    if (line.line == lit_->line && same_source(line.path, lit_->path)) cost += content::cost_of(line);
  }
  return cost;
}

// Once a line's events are known, a worker looks for what they waited for.
void SourcePanel::find_causes(const PanelContext& context) {
  if (causes_task_.ready()) {
    auto causes = causes_task_.take();
    causes_ = causes ? std::move(*causes) : analysis::WaitCauses{};  // what failed is not tried again in each frame
    if (!causes) context.actions.notify(Severity::warning, causes.message());
  }
  if (causes_task_.valid() || !lit_ || lit_events_of_ != lit_ || lit_events_.events.empty()) return;
  const auto dependencies = context.analysis().dependencies();
  if (!dependencies || (causes_ && causes_version_ == dependencies->snapshot_version())) return;
  causes_version_ = dependencies->snapshot_version();
  std::vector<EventId> events = lit_events_.events;
  if (events.size() > kMostLookedInto) events.resize(kMostLookedInto);
  causes_task_ = pool_.start([dependencies, events = std::move(events), store = context.tab.store,
                              snapshot = context.tab.snapshot](TaskControl& control) {
    EventReader reader(*store, snapshot);
    return analysis::wait_causes(*dependencies, events, reader, control);
  });
}

// To the event of the line after or before the selected one; the events are asked for first where they are not known.
void SourcePanel::step_event(const PanelContext& context, int step) {
  session::SessionTab& tab = context.tab;
  if (lit_events_of_ != lit_) {
    step_when_ready_ = step;
    return context.analysis().ask_line_events(lit_->path, lit_->line);
  }
  const auto& events = lit_events_.events;
  if (events.empty()) return;
  if (tab.selected) {  // selected elsewhere since
    const auto selected = std::ranges::find(events, *tab.selected);
    if (selected != events.end()) lit_at_ = static_cast<std::size_t>(selected - events.begin());
  }
  const std::size_t last = events.size() - 1;
  if (!lit_at_) {
    lit_at_ = step > 0 ? 0 : last;
  } else if (step > 0) {
    lit_at_ = *lit_at_ == last ? 0 : *lit_at_ + 1;
  } else {
    lit_at_ = *lit_at_ == 0 ? last : *lit_at_ - 1;
  }
  tab.lit = lit_events_.mask;  // something else may have been selected since
  view::select_event(tab, events[*lit_at_]);
  context.actions.reveal(events[*lit_at_]);
}

void SourcePanel::draw_foot(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  fill(ui, area, ui.colour(Colour::bg2));
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  Rect rest = area.inset(ui.px(size::kPanelPadding), ui.px(6));
  Rect head = rest.cut_top(ui.px(28));
  const bool known = lit_events_of_ == lit_;
  const bool none = known ? lit_events_.total == 0 : lit_cost().event_count == 0;
  const ButtonOptions show{.label = "Show on timeline",
                           .disabled = none,
                           .tooltip = none ? "No event names this line" : "Zoom to the events of this line"};
  const ButtonOptions step{.disabled = none};
  if (button_right(ui, "source.show", head, show, size::kSmallControl)) {
    fit_when_ready_ = true;
    light_line(context, *lit_);
  }
  const float side = ui.px(size::kSmallControl);
  head.cut_right(ui.px(4));
  if (icon_button(ui, "source.editor", head.cut_right(side).middle(side), icon::kFileCode,
                  "Open the line in your editor (F4)")) {
    context.actions.run("open_in_editor");
  }
  head.cut_right(ui.px(4));
  if (icon_button(ui, "source.event.next", head.cut_right(side).middle(side), icon::kArrowRight,
                  "Next event of this line", step)) {
    step_event(context, 1);
  }
  if (icon_button(ui, "source.event.previous", head.cut_right(side).middle(side), icon::kArrowLeft,
                  "Previous event of this line", step)) {
    step_event(context, -1);
  }
  head.cut_right(ui.px(6));
  const std::string title =
      page_ == Page::text ? "Line " + std::to_string(lit_->line)
                          : std::filesystem::path(lit_->path).filename().string() + ":" + std::to_string(lit_->line);
  head.cut_left(draw_text(ui, head, title, {.style = TextStyle::heading, .fit = Fit::middle}) + ui.px(12));
  draw_text(ui, head, lit_text(context), kHintText);
  draw_figures(context, rest);
}

// "3 of 36,985", "36,985 events lit", "36,985 events lit, none in view".
std::string SourcePanel::lit_text(const PanelContext& context) const {
  const session::SessionTab& tab = context.tab;
  if (lit_events_of_ != lit_ || !tab.lit) return "";
  const std::string total = format_count(lit_events_.total);
  if (tab.selected && lit_at_ && *lit_at_ < lit_events_.events.size() &&
      lit_events_.events[*lit_at_] == *tab.selected) {
    return format_count(*lit_at_ + 1) + " of " + total;
  }
  const TimeRange& stretch = lit_events_.stretch;
  const bool away = static_cast<double>(stretch.end_ns) < tab.view.begin_ns ||
                    static_cast<double>(stretch.begin_ns) > tab.view.end_ns;
  return total + (lit_events_.total == 1 ? " event lit" : " events lit") + (away ? ", none in view" : "");
}

void SourcePanel::draw_figures(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const content::LineCost cost = lit_cost();
  const auto busy = static_cast<double>(cost.busy_ns), wait = static_cast<double>(cost.wait_ns);
  struct Figure {
    const char* label;
    std::string value;
    std::string explanation;
    Colour colour = Colour::text1;
  };
  std::vector<Figure> figures = {
      {"Events", format_count(cost.event_count), "Events that name this line"},
      {"Busy", duration_or_none(cost.busy_ns), "Time of these events without waiting"},
      {"Wait", duration_or_none(cost.wait_ns), "Time that these events waited"},
      {"Bytes", cost.bytes > 0 ? format_bytes(cost.bytes) : "–", "Bytes that these events read, wrote or moved"}};
  Figure bound{"Bound by", "–", "Nothing is known of waiting or work of this line"};
  const bool waits = wait > busy;
  if (wait > 0 || busy > 0) {
    bound.value = waits ? "waiting " + share_text(wait, wait + busy) : "its work " + share_text(busy, wait + busy);
    bound.explanation = "Of " + format_duration(wait + busy) + " it waited " + share_text(wait, wait + busy) +
                        " and worked " + share_text(busy, wait + busy) + ".";
    if (waits) bound.colour = Colour::warning;
  }
  const bool causes_known = lit_events_of_ == lit_ && causes_ && !causes_->causes.empty();
  if (causes_known) {
    const analysis::WaitCause& first = causes_->causes.front();
    if (waits) bound.value = first.name.empty() ? first.track : first.name;
    const bool part = lit_events_.events.size() > kMostLookedInto;
    bound.explanation += part ? " The first " + format_count(kMostLookedInto) + " of its events waited most for:"
                              : " It waited most for:";
    for (std::size_t i = 0; i < std::min<std::size_t>(causes_->causes.size(), 4); ++i) {
      const analysis::WaitCause& cause = causes_->causes[i];
      bound.explanation += "\n" + cause.name + (cause.name.empty() ? "" : " on ") + cause.track + ", " +
                           format_duration(cause.wait_ns) + " (" +
                           share_text(static_cast<double>(cause.wait_ns), static_cast<double>(causes_->wait_ns)) + ")";
    }
  }
  figures.push_back(std::move(bound));
  const float width = area.width() / (static_cast<float>(figures.size()) + 0.6F);  // the last is text
  for (std::size_t i = 0; i < figures.size(); ++i) {
    Rect cell = i + 1 < figures.size() ? area.cut_left(width) : area;
    const Rect whole = cell;
    draw_text(ui, cell.cut_top(ui.px(22)), figures[i].label, {.colour = Colour::text2});
    draw_text(ui, cell.cut_top(ui.px(22)), figures[i].value,
              {.style = TextStyle::mono, .colour = figures[i].colour, .fit = Fit::middle});
    const Interaction response = interact(ui, std::string("source.figure.") + figures[i].label, whole,
                                          {.group = "source.figures", .label = figures[i].label});
    tooltip(ui, response, whole, figures[i].explanation);
    if (response.clicked) context.copy(figures[i].value, std::string(figures[i].label) + ": " + figures[i].value);
  }
}

}  // namespace accelscope::app::panels
