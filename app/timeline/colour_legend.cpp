#include "app/timeline/colour_legend.h"

#include "app/session/analysis.h"
#include "app/timeline/frame.h"
#include "app/view/colour_choices.h"
#include "core/names/short_names.h"

namespace accelscope::app::timeline {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr const char* kCard = "colours.card";
constexpr float kLegendCardWidth = 480, kPadding = 12;
constexpr float kLeastCard = 180, kLegendMostCard = 460, kCardFrame = 112;  // what a card has beside its rows
constexpr float kRowHeight = 22, kHead = 24;

[[nodiscard]] Rect button_rect(const TimelineFrame& frame, float width) {
  Rect place = frame.label(frame.overview);
  place.x1 -= frame.ui.px(6);
  place.y0 += frame.ui.px(3);
  place.y1 = place.y0 + frame.ui.px(20);
  return place.cut_right(width);
}

[[nodiscard]] std::string chosen_text(const TimelineFrame& frame) {
  std::string text;
  for (const auto& [table, column] : frame.tab.choices.colour_by) {
    text += (text.empty() ? "" : "\n") + table + " by " + view::colour_title(frame.snapshot, table, column);
  }
  return text.empty() ? "Every event has the colour of its name." : text;
}

void draw_button(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  const bool chosen = !frame.tab.choices.colour_by.empty();
  const std::string tip = chosen_text(frame);
  const ButtonOptions options{.label = "Colours",
                              .kind = chosen ? ButtonKind::quiet : ButtonKind::flat,
                              .active = frame.state.legend.open || chosen,
                              .tooltip = tip,
                              .shortcut = "Shift+C"};
  if (button(ui, frame.name("colours"), button_rect(frame, button_width(ui, options)), options)) {
    open_popover(ui, kCard);
  }
}

// The table, what it is coloured by, and the way back to names.
void draw_choice(TimelineFrame& frame, Rect row, const std::vector<std::string>& tables) {
  Ui& ui = frame.ui;
  ColourLegend& legend = frame.state.legend;
  const auto at = std::ranges::find(tables, legend.table);
  int chosen = static_cast<int>(at - tables.begin());
  std::vector<std::string> titles;
  for (const std::string& table : tables) titles.push_back(table_title(table));
  const DropdownOptions of_table{.label = "Events: "};
  const float width = std::min(dropdown_width(ui, table_title(legend.table), of_table), row.width() / 2);
  if (dropdown(ui, "colours.table", row.cut_left(width), titles, chosen, of_table)) {
    legend.table = tables[static_cast<std::size_t>(chosen)];
    legend.rows = {};
  }
  row.cut_left(ui.px(8));
  const std::string column = view::colour_column(frame.snapshot, frame.tab.choices, legend.table);
  if (column != view::kByName) {
    if (link(ui, "colours.by_name", row.cut_right(link_width(ui, "By name")), "By name")) {
      view::choose_colour(frame.tab, legend.table, std::string(view::kByName));
    }
    row.cut_right(ui.px(8));
  }
  if (const auto wanted = colour_menu(ui, "colours.column", row, frame.tab, legend.table)) {
    view::choose_colour(frame.tab, legend.table, *wanted);
  }
}

[[nodiscard]] TableCell cell_of(const colour::ColourTable& table, const colour::ColourValue& value, std::size_t column,
                                view::ValueState state) {
  const Colour colour = state == view::ValueState::hidden || value.missing ? Colour::text3 : Colour::text1;
  if (column == 0) return {.text = value.text, .colour = colour, .swatch = opaque(value.colour)};
  if (column == 1) return {.text = format_count(value.events), .colour = Colour::text2};
  const double share = table.ns > 0 ? static_cast<double>(value.ns) / static_cast<double>(table.ns) : 0;
  constexpr double kFaintest = 0.0001;
  const std::string text = share > 0 && share < kFaintest ? "< 0.01 %" : format_share(share);
  return {.text = text, .colour = Colour::text2, .bar = share, .bar_colour = opaque(value.colour)};
}

void draw_values(TimelineFrame& frame, const Rect& area, const colour::ColourTable& listed) {
  Ui& ui = frame.ui;
  ColourLegend& legend = frame.state.legend;
  const std::array<TableColumn, 3> columns = {
      {{.title = view::colour_title(frame.snapshot, listed.table, listed.column), .sortable = false},
       {.title = "Events", .width = 76, .align = Align::right, .sortable = false},
       {.title = "Time", .width = 116, .sortable = false, .tooltip = "Share of the summed durations of the table."}}};
  const EventFilter& filter = frame.tab.choices.filter;
  TableOptions options;
  options.row_height = kRowHeight;
  options.head_height = kHead;
  options.selected = [&](std::size_t row) {
    return view::state_of(filter, listed, listed.values[row]) == view::ValueState::only;
  };
  const TableResult result = table(
      ui, "colours.values", area, columns, listed.values.size(),
      [&](std::size_t row, std::size_t column) {
        const colour::ColourValue& value = listed.values[row];
        return cell_of(listed, value, column, view::state_of(filter, listed, value));
      },
      legend.rows, options);
  EventFilter lit;
  if (result.hovered) lit.terms = {view::term_of(listed, listed.values[*result.hovered])};
  if (lit != std::exchange(legend.lit, lit)) ui.request_frame();  // the lanes of this frame are drawn already
  if (!result.clicked) return;
  const Modifiers modifiers = ui.input().modifiers();
  const colour::ColourValue& value = listed.values[*result.clicked];
  frame.tab.change([&](session::ViewChoices& choices) {
    if (modifiers.ctrl || modifiers.alt) {
      view::toggle_hidden(choices.filter, listed, value);
    } else {
      view::toggle_only(choices.filter, listed, value);
    }
  });
}

[[nodiscard]] std::string foot_text(const colour::ColourTable& listed) {
  std::string text = format_count(listed.events) + " events";
  if (listed.unlisted > 0) text += fmt::format(", {} more values", format_count(listed.unlisted));
  return text + ". Click: only these. Ctrl+click: hide them.";
}

void draw_card(TimelineFrame& frame, Rect body) {
  Ui& ui = frame.ui;
  ColourLegend& legend = frame.state.legend;
  const std::vector<std::string> tables = view::coloured_tables(frame.snapshot);
  if (tables.empty()) {
    draw_text(ui, body, "This session has no events yet.", {.colour = Colour::text2, .align = Align::centre});
    return;
  }
  if (std::ranges::find(tables, legend.table) == tables.end()) legend.table = tables.front();
  draw_choice(frame, body.cut_top(ui.px(size::kSmallControl)), tables);
  body.cut_top(ui.px(8));
  const Rect foot = body.cut_bottom(ui.px(18));
  body.cut_bottom(ui.px(6));
  const colour::ColourTable* listed =
      frame.state.shaded_by.colours ? frame.state.shaded_by.colours->table(legend.table) : nullptr;
  if (listed == nullptr || listed->column != view::colour_column(frame.snapshot, frame.tab.choices, legend.table)) {
    legend.lit = {};
    draw_text(ui, body, "Reading the events ...", {.colour = Colour::text2, .align = Align::centre});
    return;
  }
  draw_values(frame, body, *listed);
  draw_text(ui, foot, foot_text(*listed), kHintText);
}

[[nodiscard]] std::vector<MenuItem> column_items(const Snapshot& snapshot, const std::string& table,
                                                 const std::string& chosen) {
  std::vector<MenuItem> items;
  for (const view::ColourColumn& column : view::colour_columns(snapshot, table)) {
    std::vector<MenuItem>* into = &items;
    if (!column.group.empty()) {
      auto group =
          std::ranges::find_if(items, [&](const MenuItem& item) { return item.id == "group:" + column.group; });
      if (group == items.end()) {
        const bool first =
            std::ranges::none_of(items, [](const MenuItem& item) { return item.id.starts_with("group:"); });
        items.push_back({.id = "group:" + column.group, .label = column.group, .line_above = first});
        group = items.end() - 1;
      }
      into = &group->children;
    }
    into->push_back({.id = column.column, .label = column.title, .checked = column.column == chosen});
  }
  return items;
}

}  // namespace

colour::ColourChoice wanted_colours(const Snapshot& snapshot, const session::ViewChoices& choices,
                                    ColourLegend& legend) {
  if (legend.usual_version != snapshot.version) {
    legend.usual_version = snapshot.version;
    legend.usual.clear();
    for (const auto& schema : snapshot.schemas) {
      if (std::string column = view::usual_colour_column(snapshot, schema->name); column != view::kByName) {
        legend.usual[schema->name] = std::move(column);
      }
    }
  }
  colour::ColourChoice wanted = choices.colour_by;
  wanted.insert(legend.usual.begin(), legend.usual.end());
  if (legend.open && !legend.table.empty()) wanted.emplace(legend.table, std::string(view::kByName));
  return wanted;
}

std::optional<std::string> colour_menu(Ui& ui, const std::string& name, const Rect& rect,
                                       const session::SessionTab& tab, const std::string& table) {
  const std::string chosen = view::colour_column(*tab.snapshot, tab.choices, table);
  const std::string label = "By " + view::colour_title(*tab.snapshot, table, chosen);
  const std::string menu = name + ".menu";
  const ButtonOptions options{.label = label, .icon = icon::kTag, .active = menu_is_open(menu)};
  const Rect place = Rect(rect).cut_left(std::min(button_width(ui, options), rect.width()));
  if (button(ui, name, place, options)) open_menu_below(ui, menu, place);
  if (!menu_is_open(menu)) return std::nullopt;
  return popup_menu(ui, menu, column_items(*tab.snapshot, table, chosen));
}

void draw_legend(TimelineFrame& frame) {
  Ui& ui = frame.ui;
  ColourLegend& legend = frame.state.legend;
  if (!frame.overview.empty()) draw_button(frame);  // below another it has the same colours
  if (std::exchange(legend.open_wanted, false)) open_popover(ui, kCard);
  const Rect anchor = button_rect(frame, ui.px(70));
  const colour::ColourTable* listed =
      frame.state.shaded_by.colours ? frame.state.shaded_by.colours->table(legend.table) : nullptr;
  const float rows = listed != nullptr ? kRowHeight * static_cast<float>(listed->values.size()) : 0;
  Popover card(ui, kCard, anchor, kLegendCardWidth, std::clamp(kCardFrame + rows, kLeastCard, kLegendMostCard));
  if (std::exchange(legend.open, card.open()) != legend.open) ui.request_frame();
  if (!legend.open) {
    legend.lit = {};
    return;
  }
  draw_card(frame, card.body().inset(ui.px(kPadding)));
}

}  // namespace accelscope::app::timeline
