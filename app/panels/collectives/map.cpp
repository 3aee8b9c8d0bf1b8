// The heat map: instances in the order of time along it, ranks by host below each other.
#include "app/panels/collectives/panel.h"
#include "app/panels/panel.h"
#include "app/panels/rect_batch.h"
#include "core/analysis/statistics/estimates.h"
#include "core/listing/analysis_listings.h"
#include "imgui.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kSkewHeight = 26, kHostsWidth = 72, kLatenessWidth = 92, kLatenessBar = 58, kAxisHeight = 16,
                kLegendHeight = 18, kLeastRow = 3, kMostRow = 22, kLeastColumn = 2, kMostColumn = 40, kLowest = 44;
constexpr std::array<std::string_view, 3> kMeasureWords = {"after the first", "from the last arrival to the end",
                                                           "waiting for the last"};

[[nodiscard]] std::string signed_duration(double ns) { return (ns > 0 ? "+" : "") + format_duration(ns); }

}  // namespace

CollectivesPanel::MapPlaces CollectivesPanel::place_map(const Ui& ui, const Rect& area) const {
  const analysis::CollectivesReport& report = *shown_->report;  // the map's too
  MapPlaces places;
  Rect rest = area;
  // A low panel keeps the rows of ranks: first it lacks the legend, then the skews, then the numbers of instances.
  const float height = area.height();
  places.legend = rest.cut_bottom(height < ui.px(kLowest * 3) ? 0 : ui.px(kLegendHeight));
  places.axis = rest.cut_bottom(height < ui.px(kLowest) ? 0 : ui.px(kAxisHeight));
  places.skews = rest.cut_top(height < ui.px(kLowest * 2) ? 0 : ui.px(kSkewHeight));
  rest.cut_top(ui.px(4));
  places.hosts = rest.cut_left(ui.px(kHostsWidth));
  places.lateness = rest.cut_right(ui.px(kLatenessWidth));
  rest.cut_right(ui.px(8));
  const auto ranks = static_cast<float>(report.of->ranks.size());
  const auto columns = static_cast<float>(report.instances.size());
  places.row = std::clamp(std::floor(rest.height() / ranks), ui.px(kLeastRow), ui.px(kMostRow));
  places.column = std::clamp(rest.width() / std::max(1.0F, columns), ui.px(kLeastColumn), ui.px(kMostColumn));
  places.cells = {rest.x0, rest.y0, rest.x1, rest.y0 + places.row * ranks};
  for (Rect* each : {&places.hosts, &places.lateness}) each->y1 = places.cells.y1;
  return places;
}

std::pair<std::size_t, std::size_t> CollectivesPanel::MapPlaces::ranks_in(const Rect& seen, std::size_t count) const {
  const auto at = [&](float y) {
    const float rank = (y - cells.y0) / std::max(row, 1e-3F);
    return static_cast<std::size_t>(std::clamp(rank, 0.0F, static_cast<float>(count)));
  };
  return {at(seen.y0), std::min(count, at(seen.y1) + 1)};
}

void CollectivesPanel::draw_map(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const analysis::CollectivesReport& report = *shown_->report;
  if (report.instances.empty())
    return empty_sentence(ui, "collectives.none_here", area, icon::kBalance, "No collective in this range.");
  MapPlaces places = place_map(ui, area);
  const auto room = static_cast<std::size_t>(std::max(1.0F, places.cells.width() / ui.px(kLeastColumn)));
  columns_ = room;
  const std::size_t columns = std::min(room, report.instances.size());
  if (!map_ || map_->measure != measure_ || map_->columns != columns) {
    const auto grid = context.analysis().ask(grid_, GridQuestion{{shown_->report}, measure_, columns}, {.ages = false},
                                             [of = shown_->report, measure = measure_,
                                              columns](const QueryContext&) -> FoundAnswer<content::CollectiveGrid> {
                                               return content::make_collective_grid(of, measure, columns);
                                             });
    if (grid && grid->of == shown_->report) map_ = grid;
  }
  if (!map_ || map_->columns == 0) return;
  places.column = std::min(places.cells.width() / static_cast<float>(map_->columns), ui.px(kMostColumn));
  places.cells.x1 = places.x_of(map_->columns);
  // Beside few instances the bars stand where the cells end.
  places.lateness = {places.cells.x1 + ui.px(8), places.lateness.y0, places.cells.x1 + ui.px(8 + kLatenessWidth),
                     places.lateness.y1};
  if (!places.skews.empty()) draw_skews(context, places);
  const Rect seen{area.x0, places.cells.y0, area.x1, std::min(places.cells.y1, places.axis.y0)};
  draw_rows(context, places, seen);
  const float below = seen.y1 + ui.px(2);
  const Rect axis = places.axis, legend = places.legend;
  places.axis = {axis.x0, std::min(below, axis.y0), axis.x1, std::min(below, axis.y0) + axis.height()};
  places.legend = {legend.x0, places.axis.y1, legend.x1, places.axis.y1 + legend.height()};
  draw_axis(context, places);
}

// All that has a line for each rank: it scrolls where there are more ranks than room.
void CollectivesPanel::draw_rows(const PanelContext& context, MapPlaces places, const Rect& seen) {
  Ui& ui = context.ui;
  const float height = places.cells.height();
  ScrollArea scroll(ui, "collectives.scroll", seen, height);
  for (Rect* each : {&places.cells, &places.hosts, &places.lateness}) {
    each->y0 = scroll.content().y0;
    each->y1 = scroll.content().y0 + height;
  }
  draw_cells(context, places, seen);
  draw_hosts(context, places, seen);
  draw_lateness(context, places, seen);
  draw_marks(context, places);
  touch_cells(context, places, seen);
  if (std::exchange(scrolled_, true)) return;  // the straggler comes into sight at first
  const auto straggler = map_->of->straggler;
  if (straggler)
    scroll.show(
        {seen.x0, places.y_of(*straggler) - seen.height() / 2, seen.x1, places.y_of(*straggler) + seen.height() / 2});
}

void CollectivesPanel::draw_cells(const PanelContext& context, const MapPlaces& places, const Rect& seen) const {
  const Ui& ui = context.ui;
  const std::vector<analysis::CollectiveRank>& ranks = map_->of->of->ranks;
  constexpr std::size_t kShades = 128;
  std::array<Pixel, kShades + 1> shades;
  std::array<Pixel, kShades + 1> dimmed;
  for (std::size_t i = 0; i <= kShades; ++i) {
    shades[i] = heat_colour(ui.theme(), static_cast<double>(i) / static_cast<double>(kShades));
    dimmed[i] = ui.theme().dimmed(shades[i]);
  }
  const float row_gap = places.row >= ui.px(4) ? 1.0F : 0.0F, column_gap = places.column >= ui.px(4) ? 1.0F : 0.0F;
  const Pixel none = ui.colour(Colour::bg1);
  const float scale = map_->most_ns > 0 ? static_cast<float>(kShades) / map_->most_ns : 0;
  const auto [first, last] = places.ranks_in(seen, ranks.size());
  RectBatch batch(*ui.draw());
  for (std::size_t column = 0; column < map_->columns; ++column) {
    const float x0 = std::round(places.x_of(column)), x1 = std::round(places.x_of(column + 1)) - column_gap;
    for (std::size_t rank = first; rank < last; ++rank) {
      if (ranks[rank].missing) continue;
      const float value = map_->at(column, rank);
      const auto shade = static_cast<std::size_t>(std::min(value * scale, static_cast<float>(kShades)));
      const Pixel colour = value < 0 ? none : map_->is_dimmed(column, rank) ? dimmed[shade] : shades[shade];
      batch.add(x0, places.y_of(rank), x1, places.y_of(rank + 1) - row_gap, colour);
    }
  }
}

void CollectivesPanel::draw_hosts(const PanelContext& context, const MapPlaces& places, const Rect& seen) const {
  Ui& ui = context.ui;
  const std::vector<analysis::CollectiveRank>& ranks = map_->of->of->ranks;
  const auto [from, to] = places.ranks_in(seen, ranks.size());
  for (std::size_t r = from; r < to; ++r) {
    if (!ranks[r].missing) continue;
    const Rect row{places.cells.x0, places.y_of(r), places.cells.x1, places.y_of(r + 1)};
    fill(ui, row, ui.colour(Colour::hatch_bg));
    hatch(ui, ui.draw(), row, ui.colour(Colour::hatch));
    ui.register_widget(fmt::format("collectives.missing.{}", r), row);
  }
  const bool by_host = !ranks.front().host.empty() && ranks.back().host != ranks.front().host;
  float last = -1e9F;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t end = first + 1;
    while (by_host && end < ranks.size() && ranks[end].host == ranks[first].host) ++end;
    const float y0 = places.y_of(first), y1 = places.y_of(end), middle = (y0 + y1) / 2;
    if (by_host && first > 0) horizontal_line(ui, places.hosts.x0, places.cells.x1, y0 - 1, ui.colour(Colour::line2));
    const bool in_sight = y1 >= seen.y0 && y0 <= seen.y1;
    if (in_sight && middle - last >= ui.px(14)) {
      const bool chosen = chosen_rank_ && *chosen_rank_ >= first && *chosen_rank_ < end;
      draw_text(ui, {places.hosts.x0, middle - ui.px(8), places.hosts.x1 - ui.px(6), middle + ui.px(8)},
                by_host ? ranks[first].host : ranks[first].name,
                {.style = chosen ? TextStyle::small_strong : TextStyle::small,
                 .colour = chosen ? Colour::text1 : Colour::text2});
      last = middle;
    }
    first = end;
  }
}

void CollectivesPanel::draw_skews(const PanelContext& context, const MapPlaces& places) {
  Ui& ui = context.ui;
  if (map_->of->of->present() < 2) return;
  const Interaction bar =
      interact(ui, "collectives.skews", {places.cells.x0, places.skews.y0, places.cells.x1, places.skews.y1},
               {.keys = FocusStopKind::pointer, .label = "Skew of each operation"});
  const auto under =
      std::min(map_->columns - 1,
               static_cast<std::size_t>(std::max(0.0F, (ui.input().mouse.x - places.cells.x0) / places.column)));
  if (bar.hovered) set_cursor(Cursor::response);
  if (bar.clicked) choose_instance(context, map_->chosen[under]);
  if (bar.hovered && bar.hovered_for >= kHoverCardDelay) explain(context, places, under, map_->of->of->ranks.size());
  draw_text(ui, {places.hosts.x0, places.skews.y1 - ui.px(16), places.hosts.x1 - ui.px(6), places.skews.y1}, "skew",
            kHintText);
  const Rect late{places.lateness.x0, places.skews.y1 - ui.px(16), places.lateness.x1, places.skews.y1};
  draw_text(ui, late, "⌀ late", kHintText);
  if (map_->most_skew_ns <= 0) return;
  const float gap = places.column >= ui.px(4) ? 1.0F : 0.0F;
  const auto number = chosen_instance_ ? content::number_of(*map_->of, *chosen_instance_) : std::nullopt;
  const std::size_t chosen = number ? map_->column_of(*number) : map_->columns;
  RectBatch batch(*ui.draw());
  for (std::size_t column = 0; column < map_->columns; ++column) {
    const float height = std::max(1.0F, std::round(map_->skews[column] / map_->most_skew_ns * places.skews.height()));
    batch.add(std::round(places.x_of(column)), places.skews.y1 - height, std::round(places.x_of(column + 1)) - gap,
              places.skews.y1, ui.colour(column == chosen ? Colour::selection : Colour::text3));
  }
}

void CollectivesPanel::draw_lateness(const PanelContext& context, const MapPlaces& places, const Rect& seen) const {
  Ui& ui = context.ui;
  const analysis::CollectivesReport& report = *map_->of;
  double most = 0;
  for (const analysis::RankLateness& each : report.ranks) most = std::max(most, each.mean_late_ns());
  if (most <= 0 || report.of->present() < 2) return;
  const auto [first, last] = places.ranks_in(seen, report.ranks.size());
  for (std::size_t r = first; r < last; ++r) {
    if (report.of->ranks[r].missing) continue;
    const bool named = report.straggler == r;
    const auto width = std::max(1.0F, static_cast<float>(report.ranks[r].mean_late_ns() / most) * ui.px(kLatenessBar));
    const float thick = std::max(2.0F, std::min(places.row - 1, ui.px(6)));
    const float y = (places.y_of(r) + places.y_of(r + 1) - thick) / 2;
    fill(ui, {places.lateness.x0, y, places.lateness.x0 + width, y + thick},
         ui.colour(named ? Colour::warning_line : Colour::text3));
    if (!named) continue;
    const std::optional<std::uint32_t>& number = report.of->ranks[r].number;
    const Rect label{places.lateness.x0 + width + ui.px(4), y + thick / 2 - ui.px(8), places.lateness.x1,
                     y + thick / 2 + ui.px(8)};
    draw_text(ui, label, number ? fmt::format("{}", *number) : report.of->ranks[r].name,
              {.style = TextStyle::mono_small, .colour = Colour::warning});
  }
}

void CollectivesPanel::draw_marks(const PanelContext& context, const MapPlaces& places) const {
  Ui& ui = context.ui;
  const analysis::CollectivesReport& report = *map_->of;
  const auto row_box = [&](std::uint32_t rank, Colour colour) {
    outline(ui, Rect{places.cells.x0, places.y_of(rank), places.cells.x1, places.y_of(rank + 1)}.inset(-1),
            ui.colour(colour), 2, 1);
  };
  if (report.straggler) row_box(*report.straggler, Colour::warning_line);
  if (chosen_rank_ && report.straggler != chosen_rank_) row_box(*chosen_rank_, Colour::accent);
  const auto number = chosen_instance_ ? content::number_of(report, *chosen_instance_) : std::nullopt;
  if (!number) return;
  const std::size_t column = map_->column_of(*number);
  const Rect box{std::round(places.x_of(column)), places.cells.y0, std::round(places.x_of(column + 1)),
                 places.cells.y1};
  outline(ui, box.inset(-1, 0), ui.colour(Colour::selection), 2, 2);
}

void CollectivesPanel::draw_axis(const PanelContext& context, const MapPlaces& places) const {
  Ui& ui = context.ui;
  const analysis::CollectivesReport& report = *map_->of;
  float last = -1e9F;
  for (std::size_t column = 0; column < map_->columns && !places.axis.empty(); ++column) {
    const float x = std::round(places.x_of(column));
    if (x < last + ui.px(24)) continue;
    const std::uint32_t number = report.instances[map_->instances(column).first];
    const std::string text = fmt::format("#{}", number);
    const float width = text_width(ui, TextStyle::mono_small, text);
    if (x + width > places.cells.x1 + ui.px(30)) continue;
    draw_text(ui, {x, places.axis.y0, x + width + ui.px(4), places.axis.y1}, text,
              {.style = TextStyle::mono_small, .colour = Colour::text3, .fit = Fit::clip});
    last = x + width;
  }
  if (places.legend.empty()) return;
  // The ramp, with what it begins and ends with.
  Rect legend = places.legend;
  legend.cut_left(ui.px(kHostsWidth));
  const auto inform = [&](const std::string& text) {
    const float width = draw_text(ui, legend, text, kHintText);
    legend.cut_left(width + ui.px(6));
  };
  inform("0");
  const Rect ramp = legend.cut_left(ui.px(110)).middle(ui.px(6));
  constexpr int kSteps = 55;
  for (int i = 0; i < kSteps; ++i) {
    const float step = ramp.width() / kSteps;
    fill(ui, {ramp.x0 + static_cast<float>(i) * step, ramp.y0, ramp.x0 + static_cast<float>(i + 1) * step, ramp.y1},
         heat_colour(ui.theme(), static_cast<double>(i) / (kSteps - 1)));
  }
  legend.cut_left(ui.px(6));
  std::string text =
      fmt::format("{} {}", format_duration(map_->most_ns), kMeasureWords[static_cast<std::size_t>(map_->measure)]);
  const auto residual = report.of->residual();
  if (!residual) {
    text += "; clocks not known";
  } else if (residual->most_ns > 0 && map_->measure != content::CollectiveMeasure::duration) {
    text += fmt::format("; below {} unknown", format_duration(residual->most_ns));
  }
  inform(text);
  if (map_->columns < report.instances.size()) {
    inform(fmt::format("  {} instances in {} columns: the largest of each", format_count(report.instances.size()),
                       format_count(map_->columns)));
  }
}

void CollectivesPanel::touch_cells(const PanelContext& context, const MapPlaces& places, const Rect& seen) {
  Ui& ui = context.ui;
  const std::size_t ranks = map_->of->of->ranks.size();
  const auto rank_at = [&](float y) {
    return std::min(ranks - 1, static_cast<std::size_t>(std::max(0.0F, (y - places.cells.y0) / places.row)));
  };
  const Point mouse = ui.input().mouse;
  const Interaction cell = interact(ui, "collectives.map", places.cells.intersected(seen),
                                    {.keys = FocusStopKind::pointer, .label = "Ranks and operations"});
  const auto column = std::min(map_->columns - 1,
                               static_cast<std::size_t>(std::max(0.0F, (mouse.x - places.cells.x0) / places.column)));
  for (const Rect& beside : {places.hosts, places.lateness}) {
    const std::string name = beside.x0 == places.hosts.x0 ? "collectives.hosts" : "collectives.lateness";
    const Interaction label =
        interact(ui, name, beside.intersected(seen), {.keys = FocusStopKind::pointer, .label = "Ranks"});
    if (label.hovered) set_cursor(Cursor::response);
    if (label.clicked || label.double_clicked)
      choose_rank(context, static_cast<std::uint32_t>(rank_at(mouse.y)), label.double_clicked);
    if (label.hovered && label.hovered_for >= kHoverCardDelay)
      explain(context, places, map_->columns, rank_at(mouse.y));
  }
  if (!cell.hovered) return;
  set_cursor(Cursor::response);
  if (cell.clicked) {
    if (!map_->of->of->ranks[rank_at(mouse.y)].missing) chosen_rank_ = static_cast<std::uint32_t>(rank_at(mouse.y));
    choose_instance(context, map_->chosen[column]);
  }
  if (cell.hovered_for >= kHoverCardDelay) explain(context, places, column, rank_at(mouse.y));
}

// Its events become what is selected, and the timeline goes there with a margin on both sides.
void CollectivesPanel::choose_instance(const PanelContext& context, std::size_t number) {
  const analysis::CollectivesReport& report = *map_->of;
  const analysis::Collectives& all = *report.of;
  const analysis::CollectiveInstance& instance = all.instances[report.instances[number]];
  chosen_instance_ = report.instances[number];
  chosen_event_ = all.cells_of(instance).front().event;
  looked_for_.reset();
  context.tab.operation = content::shown_operation(report, number);
  select_target(context, listing::instance_events(all, instance), true);
}

// rank: as many as there are for a whole column. column: as many as there are for a whole rank.
void CollectivesPanel::explain(const PanelContext& context, const MapPlaces& places, std::size_t column,
                               std::size_t rank) const {
  Ui& ui = context.ui;
  const analysis::CollectivesReport& report = *map_->of;
  const analysis::Collectives& all = *report.of;
  HoverCard card;
  const auto inform = [&](std::string label, std::string value, Colour colour = Colour::text1) {
    card.rows.push_back({.label = std::move(label), .value = std::move(value), .colour = colour});
  };
  Rect explained{places.cells.x0, places.cells.y0, places.cells.x1, places.cells.y1};
  if (rank >= all.ranks.size()) explained.y0 = places.skews.y0, explained.y1 = places.skews.y1;
  if (rank < all.ranks.size()) explained.y0 = places.y_of(rank), explained.y1 = places.y_of(rank + 1);
  if (column < map_->columns) explained.x0 = places.x_of(column), explained.x1 = places.x_of(column + 1);
  if (column >= map_->columns) {
    const analysis::RankLateness& late = report.ranks[rank];
    card.title = all.ranks[rank].name;
    card.title_value = all.ranks[rank].host;
    if (all.ranks[rank].missing) {
      card.footer = "Of the group, but not in the session.";
    } else {
      inform("Last in", fmt::format("{} of {}", format_count(late.last_in), format_count(late.instances)));
      inform("⌀ late", format_duration(late.mean_late_ns()));
      inform("Waited for others", format_duration(late.waited_ns));
      inform("Others waited for it", format_duration(late.others_waited_ns),
             report.straggler == rank ? Colour::warning : Colour::text1);
      const std::optional<double>& residual = all.ranks[rank].residual_ns;
      inform("Clock residual", residual ? format_duration(*residual) : std::string("not known"));
    }
    hover_card(ui, card, explained);
    return;
  }
  const std::size_t number = map_->chosen[column];
  const analysis::CollectiveInstance& instance = all.instances[report.instances[number]];
  const analysis::CollectiveKind& kind = all.kinds[instance.kind];
  card.swatch = ui.theme().slice(context.tab.snapshot->strings->slot(kind.name));
  card.title = fmt::format("#{}", report.instances[number]);
  const analysis::CollectiveCell* cell =
      rank < all.ranks.size() ? all.cell(instance, static_cast<std::uint32_t>(rank)) : nullptr;
  if (rank < all.ranks.size()) card.title += ", " + all.ranks[rank].name;
  if (rank < all.ranks.size() && cell == nullptr) {
    card.footer = all.ranks[rank].missing ? "Of the group, but not in the session." : "It took no part.";
  } else if (cell != nullptr) {
    if (cell->hidden) card.footer = "The filter hides its event.";
    card.title_value = signed_duration(static_cast<double>(cell->arrival_ns - instance.first_arrival_ns));
    std::vector<std::int64_t> others;
    std::size_t place = 1;
    for (const analysis::CollectiveCell& other : all.cells_of(instance)) {
      if (other.rank == cell->rank) continue;
      others.push_back(other.arrival_ns - instance.first_arrival_ns);
      if (other.arrival_ns < cell->arrival_ns) ++place;
    }
    if (!others.empty()) {
      inform("Arrives", fmt::format("{} of {}", place, instance.count));
      inform("Median of the others", signed_duration(static_cast<double>(analysis::middle_value(others))));
      inform("Waits", format_duration(analysis::Collectives::wait_ns(instance, *cell)));
    }
  }
  if (instance.count > 1) {
    const auto noise = all.noise_ns(instance.last_rank, instance.second_rank);
    const std::int64_t alone = instance.last_arrival_ns - instance.second_last_ns;
    const bool reported = noise && static_cast<double>(alone) > *noise;
    if (cell == nullptr) inform("Skew", format_duration(instance.skew_ns()));
    if (cell == nullptr || cell->rank == instance.last_rank)
      inform(cell == nullptr ? "Last" : "Others wait for it",
             !reported         ? std::string("below the residual")
             : cell == nullptr ? all.ranks[instance.last_rank].name + ", by " + format_duration(alone)
                               : format_duration(alone),
             reported ? Colour::warning : Colour::text2);
  }
  inform(listing::collective_title(kind), format_duration(instance.duration_ns()));
  if (kind.bytes > 0 && instance.duration_ns() > 0) {
    const double rate = static_cast<double>(kind.bytes) * 1e9 / static_cast<double>(instance.duration_ns());
    inform("Algorithm bandwidth", format_rate(rate));
    inform("Bus bandwidth", format_rate(rate * kind.bus_factor));
  }
  if (instance.count < instance.expected)
    inform("Ranks here", fmt::format("{} of {}", instance.count, instance.expected), Colour::warning);
  const auto [first, last] = map_->instances(column);
  if (last - first > 1)
    card.footer = fmt::format("The largest skew of {} instances, #{} to #{}", last - first, report.instances[first],
                              report.instances[last - 1]);
  hover_card(ui, card, explained);
}

}  // namespace accelscope::app::panels
