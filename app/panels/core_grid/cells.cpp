// The chips, the ramp, hovering and selecting.
#include <numeric>

#include "app/content/figure_text.h"
#include "app/panels/core_grid/panel.h"
#include "app/panels/panel.h"
#include "app/rows/groups.h"
#include "core/base/format.h"
#include "imgui.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kAxisRow = 18, kChipTitle = 18, kChipGap = 24;  // units
constexpr float kMostCell = 44, kMostLabelledCell = 110, kMostHeight = 34, kLeastCell = 5;
constexpr float kNumberedCell = 22;  // the least width in which values stand

// "831", "1.2k", "34M": as much as a cell has room for.
std::string short_number(double value, double base) {
  constexpr std::array<const char*, 6> kLetters = {"", "k", "M", "G", "T", "P"};
  std::size_t letter = 0;
  while (std::abs(value) >= 999.5 && letter + 1 < kLetters.size()) value /= base, ++letter;
  return fmt::format("{:.{}f}{}", value, letter > 0 && std::abs(value) < 9.95 ? 1 : 0, kLetters[letter]);
}

float titles_height(const Ui& ui, const analysis::GridFrames& frames) {
  return frames.grid.chips.size() > 1 ? ui.px(kChipTitle) : 0;
}

}  // namespace

float CoreGridPanel::labels_width(const PanelContext& context, const analysis::GridChip& chip) {
  const Ui& ui = context.ui;
  float widest = ui.px(20);
  for (const std::string& label : chip.row_labels)
    widest = std::max(widest, text_width(ui, TextStyle::mono_small, label) + ui.px(8));
  return std::min(widest, ui.px(110));
}

CoreGridPanel::CellSize CoreGridPanel::fitting_cells(const PanelContext& context, const analysis::GridFrames& frames,
                                                     const std::vector<std::size_t>& chips, Point room) {
  const Ui& ui = context.ui;
  float columns = 0, labels = 0, rows = 1;
  bool labelled = false;
  for (const std::size_t number : chips) {
    const analysis::GridChip& chip = frames.grid.chips[number];
    columns += static_cast<float>(chip.columns);
    rows = std::max(rows, static_cast<float>(chip.rows));
    labels += labels_width(context, chip);
    labelled = labelled || !chip.column_labels.empty();
  }
  const float gaps = ui.px(kChipGap) * static_cast<float>(chips.size() - 1);
  CellSize size;
  size.width =
      std::min((room.x - labels - gaps) / std::max(1.0F, columns), ui.px(labelled ? kMostLabelledCell : kMostCell));
  size.height = std::min((room.y - ui.px(kAxisRow) - titles_height(ui, frames)) / rows, ui.px(kMostHeight));
  if (!labelled) {  // nearly square
    size.width = std::min(size.width, size.height * 2);
    size.height = std::min(size.height, size.width);
  }
  size.width = std::floor(std::max(size.width, ui.px(kLeastCell)));
  size.height = std::floor(std::max(size.height, ui.px(kLeastCell)));
  return size;
}

// Chooses which chips are shown and how large their cells are; the room that they take.
Point CoreGridPanel::place_chips(const PanelContext& context, const analysis::GridFrames& frames, Point room) {
  const Ui& ui = context.ui;
  std::vector<std::size_t> all(frames.grid.chips.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  chip_ = std::min(chip_, all.size() - 1);
  const CellSize of_one = fitting_cells(context, frames, {chip_}, room);
  const CellSize of_all = fitting_cells(context, frames, all, room);
  const bool fits = of_all.width >= std::min(of_one.width, ui.px(kNumberedCell));
  chips_ = fits ? all : std::vector<std::size_t>{chip_};
  cell_ = fits ? of_all : of_one;
  Point used{0, 0};
  for (const std::size_t number : chips_) {
    const analysis::GridChip& chip = frames.grid.chips[number];
    used.x += labels_width(context, chip) + static_cast<float>(chip.columns) * cell_.width;
    used.y = std::max(used.y, static_cast<float>(chip.rows) * cell_.height);
  }
  used.x += ui.px(kChipGap) * static_cast<float>(chips_.size() - 1);
  used.y = std::min(used.y + ui.px(kAxisRow) + titles_height(ui, frames), std::max(0.0F, room.y));
  return used;
}

void CoreGridPanel::draw_chips(const PanelContext& context, Rect area, const Shown& shown) {
  Ui& ui = context.ui;
  ui.draw()->PushClipRect({area.x0, area.y0 - ui.px(2)}, {area.x1, area.y1 + ui.px(2)}, true);
  for (const std::size_t number : chips_) {
    const analysis::GridChip& chip = shown.frames.grid.chips[number];
    const float width = labels_width(context, chip) + static_cast<float>(chip.columns) * cell_.width;
    draw_chip(context, number, area.cut_left(width), shown);
    area.cut_left(ui.px(kChipGap));
  }
  ui.draw()->PopClipRect();
}

void CoreGridPanel::draw_chip(const PanelContext& context, std::size_t number, const Rect& area, const Shown& shown) {
  Ui& ui = context.ui;
  const analysis::GridChip& chip = shown.frames.grid.chips[number];
  Rect cells = area;
  if (shown.frames.grid.chips.size() > 1) {
    Rect title = cells.cut_top(ui.px(kChipTitle));
    title.cut_left(labels_width(context, chip));
    draw_text(ui, title, chip.name, kGroupText);
  }
  cells.cut_top(ui.px(kAxisRow));
  cells.cut_left(labels_width(context, chip));
  draw_axes(context, chip, cells);
  draw_plan(context, number, cells, shown);
  const analysis::CoreGrid& grid = shown.frames.grid;
  for (std::size_t cell = 0; cell < grid.cells.size(); ++cell) {
    const analysis::GridCell& at = grid.cells[cell];
    if (at.chip != number) continue;
    const float x = cells.x0 + static_cast<float>(at.x - chip.x0) * cell_.width;
    const float y = cells.y0 + static_cast<float>(at.y - chip.y0) * cell_.height;
    draw_cell(context, cell, {x, y, x + cell_.width, y + cell_.height}, shown);
  }
}

void CoreGridPanel::draw_axes(const PanelContext& context, const analysis::GridChip& chip, const Rect& cells) const {
  Ui& ui = context.ui;
  const auto label = [](const std::vector<std::string>& names, int first, int place) {
    return names.empty() ? std::to_string(first + place) : names[static_cast<std::size_t>(place)];
  };
  const TextOptions quiet = {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::centre};
  const int column_step = chip.column_labels.empty() ? static_cast<int>(std::ceil(ui.px(18) / cell_.width)) : 1;
  const auto column_text = [&](int x) { return label(chip.column_labels, chip.x0, x); };
  // What a neighbour leaves of its room; beyond the edges there is some.
  const auto free_at = [&](int x) {
    if (x < 0 || x >= chip.columns) return ui.px(12);
    return std::max(0.0F, (cell_.width - text_width(ui, quiet.style, column_text(x))) / 2 - ui.px(3));
  };
  for (int x = 0; x < chip.columns; x += column_step) {
    const float left = cells.x0 + static_cast<float>(x) * cell_.width;
    const float more = chip.column_labels.empty() ? 0 : std::min(free_at(x - 1), free_at(x + 1));
    draw_text(ui,
              {left - more, cells.y0 - ui.px(kAxisRow), left + cell_.width * static_cast<float>(column_step) + more,
               cells.y0},
              column_text(x), quiet);
  }
  const int row_step = static_cast<int>(std::ceil(ui.px(12) / cell_.height));
  TextOptions right = quiet;
  right.align = Align::right;
  for (int y = 0; y < chip.rows; y += row_step) {
    const float top = cells.y0 + static_cast<float>(y) * cell_.height;
    draw_text(ui, {cells.x0 - labels_width(context, chip), top, cells.x0 - ui.px(5), top + cell_.height},
              label(chip.row_labels, chip.y0, y), right);
  }
}

// What is known to be no worker is hatched; workers of which nothing was recorded are outlines.
void CoreGridPanel::draw_plan(const PanelContext& context, std::size_t number, const Rect& cells, const Shown& shown) {
  const analysis::GridChip& chip = shown.frames.grid.chips[number];
  if (chip.plan == nullptr) return;
  Ui& ui = context.ui;
  for (int y = 0; y < chip.rows; ++y) {
    for (int x = 0; x < chip.columns; ++x) {
      if (shown.frames.grid.find(number, x, y)) continue;
      const Rect at =
          Rect{cells.x0 + static_cast<float>(x) * cell_.width, cells.y0 + static_cast<float>(y) * cell_.height,
               cells.x0 + static_cast<float>(x + 1) * cell_.width, cells.y0 + static_cast<float>(y + 1) * cell_.height};
      const char place = chip.plan->at(x, y);
      const Rect inside = {at.x0, at.y0, at.x1 - ui.px(1), at.y1 - ui.px(1)};
      if (place == analysis::kWorkerPlace) {
        fill(ui, inside, ui.colour(Colour::bg1), size::kSliceRadius);
        outline(ui, inside, ui.colour(Colour::line1), size::kSliceRadius);
      } else {
        fill(ui, at, ui.colour(Colour::hatch_bg));
        hatch(ui, ui.draw(), at, ui.colour(Colour::hatch));
      }
      const Interaction touch = interact(ui, fmt::format("grid.place.{}.{}.{}", number, x, y), at,
                                         {.keys = FocusStopKind::open, .group = "grid.cells"});
      if (touch.hovered)
        tooltip(ui, touch, at,
                place == analysis::kWorkerPlace
                    ? fmt::format("{},{}: nothing recorded. Not used, reserved for dispatch, or harvested", x, y)
                    : fmt::format("{},{}: {}", x, y, analysis::place_name(place)));
    }
  }
}

std::string CoreGridPanel::value_text(double value, const Shown& shown) const {
  return format_value(value, shown.unit);
}

std::string CoreGridPanel::cell_text(double value, const Shown& shown) const {
  if (shown.unit == Unit::share) return value > 0 && value < 0.005 ? "<1" : fmt::format("{:.0f}", value * 100);
  return short_number(value, shown.unit == Unit::bytes ? 1024 : 1000);
}

void CoreGridPanel::draw_cell(const PanelContext& context, std::size_t cell, const Rect& at, const Shown& shown) {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const analysis::GridCell& of = shown.frames.grid.cells[cell];
  const std::optional<double> value = shown.values.cells[cell];
  const Rect inside = {at.x0, at.y0, at.x1 - ui.px(1), at.y1 - ui.px(1)};
  // What is not measured here is no value: an outline, as where nothing was recorded.
  const Pixel colour =
      value ? heat_colour(ui.theme(), (*value - shown.low) / (shown.high - shown.low)) : ui.colour(Colour::bg1);
  fill(ui, inside, colour, size::kSliceRadius);
  if (!value || ui.theme().kind() == ThemeKind::light)
    outline(ui, inside, ui.colour(value ? Colour::line2 : Colour::line1), size::kSliceRadius);
  const std::string text = value ? cell_text(*value, shown) : "–";
  if (at.width() >= ui.px(kNumberedCell) && at.height() >= ui.px(14) &&
      text_width(ui, TextStyle::mono_small, text) <= inside.width()) {
    draw_text(ui, inside, text,
              {.style = TextStyle::mono_small,
               .align = Align::centre,
               .fit = Fit::clip,
               .pixel = value ? text_on(colour) : ui.colour(Colour::text3)});
  }
  const Interaction touch =
      interact(ui, fmt::format("grid.cell.{}.{}.{}", of.chip, of.x, of.y), at, {.group = "grid.cells"});
  const auto core_of = [&](const std::optional<EventId>& event) -> std::optional<std::size_t> {
    const LaneSnapshot* lane = event ? tab.snapshot->find_lane(lane_of(*event)) : nullptr;
    if (lane == nullptr) return std::nullopt;
    return shown.frames.grid.cell_of_lane(static_cast<std::uint32_t>(lane - tab.snapshot->lanes.data()));
  };
  const bool in_region = tab.region && !tab.region->tracks.empty() &&
                         tab.region->has_track(shown.frames.grid.parts[of.first_part].tracks.front());
  const bool selected = core_of(tab.selected) == cell, hovered = core_of(tab.hovered) == cell;
  if (selected) ui.register_widget("grid.selected", at);
  if (in_region || selected) {
    // On a rim, so that it is seen on every colour of the ramp; the accent is one of them.
    outline(ui, inside.inset(ui.px(2)), ui.colour(Colour::bg1), 0);
    outline(ui, inside, ui.colour(Colour::selection), size::kSliceRadius, 2);
  }
  if (touch.hovered || hovered) outline(ui, inside, ui.colour(Colour::text2), size::kSliceRadius);
  if (touch.hovered) {
    set_cursor(Cursor::response);
    if (touch.hovered_for >= kHoverCardDelay) explain(context, cell, at, shown);
  }
  if (touch.double_clicked) {
    was_double_ = true;
    select_core(context, cell, false, true, shown);
  } else if (touch.clicked && !std::exchange(was_double_, false)) {
    select_core(context, cell, ui.input().modifiers().ctrl, false, shown);
  }
}

// What ran on the core becomes what is selected, and the timeline shows its row; one more with Ctrl; a second click
// takes it back. Pinned: its row comes to the top of the timeline, and the range of the grid into view.
void CoreGridPanel::select_core(const PanelContext& context, std::size_t cell, bool adds, bool pins,
                                const Shown& shown) const {
  session::SessionTab& tab = context.tab;
  const std::vector<TrackNumber> tracks = shown.frames.grid.tracks_of(cell);
  EventFilter wanted;
  if (adds && tab.region) wanted.tracks = tab.region->tracks;
  const bool had = std::ranges::find(wanted.tracks, tracks.front()) != wanted.tracks.end();
  if (had) {
    std::erase_if(wanted.tracks, [&](TrackNumber each) { return std::ranges::find(tracks, each) != tracks.end(); });
  } else {
    wanted.tracks.insert(wanted.tracks.end(), tracks.begin(), tracks.end());
  }
  const bool again = !adds && !pins && tab.region == wanted;
  if (again || wanted.tracks.empty()) {
    tab.region.reset();
  } else {
    tab.region = wanted;
    const TrackSnapshot* const row = had ? nullptr : tab.snapshot->find_track(tracks.front());
    if (row != nullptr && !row->lanes.empty())
      context.actions.reveal(make_event_id(tab.snapshot->lanes[row->lanes.front()].number(), 0));
  }
  if (!pins) return;
  const std::string key = rows::row_key(rows::TrackNames(*tab.snapshot), shown.frames.grid.cells[cell].track);
  tab.change([&](session::ViewChoices& choices) {
    auto& pinned = choices.rows.pinned;
    if (std::ranges::find(pinned, key) == pinned.end()) pinned.push_back(key);
    choices.rows.open[key] = true;
  });
  context.actions.inform("Pinned " + shown.frames.grid.cells[cell].name);
  const TimeRange range = shown.frames.stretch(shown.span.first, shown.span.last);
  if (!brush_.whole()) view::show_stretch(tab, range.begin_ns, range.end_ns);
}

void CoreGridPanel::explain(const PanelContext& context, std::size_t cell, const Rect& at, const Shown& shown) const {
  const analysis::GridFrames& frames = shown.frames;
  const analysis::GridCell& of = frames.grid.cells[cell];
  const FrameSpan span = shown.span;
  const double value = frames.of_cell(cell, span.first, span.last);
  const auto length = static_cast<double>(frames.stretch(span.first, span.last).length_ns());
  HoverCard card;
  card.title = frames.grid.chips.size() > 1 ? frames.grid.chips[of.chip].name + ", " + of.name : of.name;
  if (!shown.values.cells[cell]) {
    card.rows.push_back({frames.measure.part, "this core has none", Colour::text2});
    hover_card(context.ui, card, at);
    return;
  }
  card.title_value = value_text(*shown.values.cells[cell], shown);
  const std::string title = analysis::grid_measure_title(frames.measure, *context.tab.snapshot);
  if (frames.measure.is_time()) {
    card.rows.push_back({title, format_time_exact(std::llround(value))});
    if (of.ticks_per_ns > 0)
      card.rows.push_back({"Cycles", format_count(static_cast<std::uint64_t>(std::llround(value * of.ticks_per_ns)))});
  } else {
    card.rows.push_back({title, format_exact(value, shown.unit)});
  }
  card.rows.push_back({"Events", format_count(frames.events(cell, span.first, span.last))});
  for (std::size_t p = 0; p < of.part_count; ++p) {
    const std::size_t part = of.first_part + p;
    const std::string& name = frames.grid.parts[part].name;
    if (name.empty() || (!frames.measure.part.empty() && name != frames.measure.part)) continue;
    const double own = frames.of_part(part, span.first, span.last);
    card.rows.push_back({name,
                         frames.measure.is_time()
                             ? fmt::format("{}  {}", format_duration(own), format_share(own / std::max(1.0, length)))
                             : format_value(own, shown.unit),
                         Colour::text2});
  }
  if (shown.values.spread.mean > 0)
    card.rows.push_back({"To the mean", fmt::format("{:.2f}×", *shown.values.cells[cell] / shown.values.spread.mean)});
  hover_card(context.ui, card, at);
}

void CoreGridPanel::draw_legend(const PanelContext& context, Rect row, const Shown& shown) const {
  Ui& ui = context.ui;
  const TextOptions quiet = {.style = TextStyle::mono_small, .colour = Colour::text2};
  const analysis::CoreSpread& spread = shown.values.spread;
  const std::string facts = fmt::format("⌀ {}, min {}, max {}", value_text(spread.mean, shown),
                                        value_text(spread.min, shown), value_text(spread.max, shown));
  const std::string more =
      spread.imbalance > 0 && shown.values.measured > 1 ? fmt::format(", max / ⌀ {:.2f}×", spread.imbalance) : "";
  const auto end_text = [&](double value) {
    return shown.unit == Unit::share ? fmt::format("{:.0f} %", value * 100) : value_text(value, shown);
  };
  row.cut_left(draw_text(ui, row, end_text(shown.low), quiet) + ui.px(8));
  const std::string high = end_text(shown.high);
  const float after = text_width(ui, TextStyle::mono_small, high) + ui.px(16);
  const float room = row.width() - after;
  const float whole = text_width(ui, TextStyle::mono_small, facts + more),
              brief = text_width(ui, TextStyle::mono_small, facts);
  const std::string& said = whole + ui.px(60) <= room ? facts + more : facts;
  const Rect ramp = row.cut_left(std::clamp(room - (said == facts ? brief : whole) - ui.px(8), ui.px(30), ui.px(110)))
                        .middle(ui.px(10));
  constexpr int kSteps = 48;
  for (int step = 0; step < kSteps; ++step) {
    const float x0 = ramp.x0 + ramp.width() * static_cast<float>(step) / kSteps;
    const float x1 = ramp.x0 + ramp.width() * static_cast<float>(step + 1) / kSteps;
    fill(ui, {std::floor(x0), ramp.y0, std::ceil(x1), ramp.y1},
         heat_colour(ui.theme(), (static_cast<double>(step) + 0.5) / kSteps));
  }
  row.cut_left(ui.px(8));
  row.cut_left(draw_text(ui, row, high, quiet) + ui.px(8));
  TextOptions right = quiet;
  right.align = Align::right;
  draw_text(ui, row, said, right);
  ui.register_widget("grid.legend", ramp);
}

}  // namespace accelscope::app::panels
