#include "app/panels/core_grid/panel.h"

#include "imgui.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

// The range with its brush, and playing.

namespace {

constexpr std::array<double, 4> kPlaySeconds = {4, 10, 30, 60};  // for the whole strip
constexpr double kPlayedShare = 0.05;  // of the strip: the brush that is played where there is none
constexpr float kHandle = 6;           // units: how near to an edge it is held
constexpr float kStripClickSlack = 3;

std::string speed_text(double ns_per_second) {
  const double slower = 1e9 / ns_per_second;
  if (slower >= 1.5) return fmt::format("plays at 1/{} of real speed", format_number(std::round(slower)));
  if (slower > 0.67) return "plays at real speed";
  return fmt::format("plays {}× as fast as it was", format_number(std::round(1 / slower)));
}

constexpr std::size_t kGridFrames = 256;
constexpr float kWideHead = 860;  // units: measure and scope share a row
constexpr float kWideBody = 720;  // the table has room beside the chips
constexpr float kLegendRow = 24, kStripHeight = 84, kLeastTable = 66;
constexpr double kTableSeconds = 0.25;  // while playing, the table follows so often

}  // namespace

void CoreGridPanel::play(const PanelContext& context) {
  Ui& ui = context.ui;
  if (!playing_) return;
  const double passed = std::clamp(ui.time() - played_at_s_, 0.0, 0.25);  // after a pause it goes on, not ahead
  played_at_s_ = ui.time();
  const analysis::GridFrames& frames = *frames_;
  const double length = static_cast<double>(frames.range.length_ns());
  const GridBrush::Stretch now = brush_.of(frames);
  brush_.move_to(frames, now.begin + length * passed / kPlaySeconds[static_cast<std::size_t>(speed_)]);
  if (brush_.of(frames).end >= static_cast<double>(frames.range.end_ns)) {
    playing_ = false;
    return;
  }
  ui.request_frame();
}

void CoreGridPanel::draw_strip(const PanelContext& context, Rect area, const Shown& shown) {
  Ui& ui = context.ui;
  const analysis::GridFrames& frames = shown.frames;
  const TimeRange range = frames.stretch(shown.span.first, shown.span.last);
  Rect head = area.cut_top(ui.px(24));
  std::vector<std::string> speeds;
  for (const double each : kPlaySeconds) speeds.push_back(fmt::format("{:.0f} s", each));
  const DropdownOptions options = {.label = "All in ", .flat = true, .tooltip = "How fast the range is played"};
  dropdown(ui, "grid.speed", head.cut_right(dropdown_width(ui, speeds[static_cast<std::size_t>(speed_)], options)),
           speeds, speed_, options);
  head.cut_right(ui.px(12));
  const bool whole = brush_.whole();
  if (!whole) {
    const float width = link_width(ui, "Whole range", TextStyle::small);
    if (link(ui, "grid.whole", head.cut_right(width), "Whole range", TextStyle::small)) brush_.clear();
    head.cut_right(ui.px(12));
  }
  const std::int64_t start = context.tab.snapshot->begin_ns;
  head.cut_left(heading(ui, head, "Range of the grid") - head.x0 + ui.px(12));
  draw_text(ui, head,
            fmt::format("{} – {}, {}", format_duration(range.begin_ns - start), format_duration(range.end_ns - start),
                        format_duration(range.length_ns())),
            {.style = TextStyle::mono, .colour = Colour::text2});

  Rect foot = area.cut_bottom(ui.px(18));
  const Rect button = area.cut_left(ui.px(28)).middle(ui.px(28));
  if (icon_button(ui, "grid.play", button, playing_ ? icon::kPause : icon::kPlay,
                  playing_ ? "Pause" : "Move the range over the time that is shown",
                  {.kind = ButtonKind::quiet, .active = playing_})) {
    playing_ = !playing_;
    played_at_s_ = ui.time();
    const double length = static_cast<double>(frames.range.length_ns());
    const auto begin = static_cast<double>(frames.range.begin_ns);
    const GridBrush::Stretch now = brush_.of(frames);
    if (playing_ && (whole || now.end - now.begin >= length)) {
      brush_.set(frames, begin, begin + length * kPlayedShare);
    } else if (playing_ && now.end >= static_cast<double>(frames.range.end_ns)) {
      brush_.move_to(frames, begin);
    }
    ui.request_frame();
  }
  area.cut_left(ui.px(10));
  foot.x0 = area.x0;
  draw_curve(context, area, shown);
  take_response(context, area, frames);
  const double ns_per_second =
      static_cast<double>(frames.range.length_ns()) / kPlaySeconds[static_cast<std::size_t>(speed_)];
  const TextOptions hint = {.style = TextStyle::small, .colour = Colour::text3};
  const std::string speed = speed_text(ns_per_second);
  TextOptions right = hint;
  right.align = Align::right;
  foot.cut_right(draw_text(ui, foot, speed, right) + ui.px(12));
  std::string said = analysis::grid_measure_title(frames.measure, *context.tab.snapshot);
  const std::size_t cores = shown.values.measured;
  const char* const what = frames.grid.has_places() ? "core" : "lane";
  said += cores == 1 ? fmt::format(", one {}", what) : fmt::format(", mean of {} {}s", format_count(cores), what);
  draw_text(ui, foot, said, hint);
}

void CoreGridPanel::draw_curve(const PanelContext& context, const Rect& plot, const Shown& shown) {
  Ui& ui = context.ui;
  const analysis::GridFrames& frames = shown.frames;
  if (curve_of_ != frames_) {
    curve_of_ = frames_;
    curve_.assign(frames.count, 0);
    const std::vector<double>& values = frames.cells;
    for (std::size_t i = 0; i < values.size(); ++i) curve_[i % frames.count] += values[i];
    double most = 0;
    for (std::size_t i = 0; i < curve_.size(); ++i) {
      curve_[i] /= static_cast<double>(std::max<std::size_t>(1, shown.values.measured));
      if (frames.measure.is_time()) curve_[i] /= static_cast<double>(frames.stretch(i, i + 1).length_ns());
      most = std::max(most, curve_[i]);
    }
    // In tenths, as the ramp: of a session that is nearly idle the curve is seen, too.
    constexpr double kStep = 0.1;
    const double full = frames.measure.is_time() ? std::max(kStep, std::ceil(most / kStep) * kStep) : most;
    for (double& each : curve_) each = full > 0 ? each / full : 0;
  }
  fill(ui, plot, ui.colour(Colour::bg1), size::kSliceRadius);
  const GridBrush::Stretch at = brush_.of(frames);
  const auto x_of = [&](double ns) {
    return plot.x0 + plot.width() * static_cast<float>((ns - static_cast<double>(frames.range.begin_ns)) /
                                                       static_cast<double>(frames.range.length_ns()));
  };
  const auto count = static_cast<float>(frames.count);
  const float left = std::round(x_of(at.begin)), right = std::max(left + 1, std::round(x_of(at.end)));
  const Pixel line = ui.theme().slice(0);
  const Pixel inside = mix(ui.colour(Colour::bg1), line, 0.45F), outside = mix(ui.colour(Colour::bg1), line, 0.2F);
  const Rect brush = {left, plot.y0, right, plot.y1};
  if (!brush_.whole()) fill(ui, brush, ui.colour(Colour::accent_bg));
  for (std::size_t i = 0; i < curve_.size(); ++i) {
    const float x0 = plot.x0 + plot.width() * static_cast<float>(i) / count;
    const float x1 = plot.x0 + plot.width() * static_cast<float>(i + 1) / count;
    const float least = curve_[i] > 0 ? ui.px(1) : 0;
    const float top = plot.y1 - std::max(least, std::round((plot.height() - ui.px(3)) * static_cast<float>(curve_[i])));
    const bool in = (x0 + x1) / 2 >= left && (x0 + x1) / 2 < right;
    const Rect bar = {std::round(x0), top, std::max(std::round(x0) + 1, std::round(x1)), plot.y1};
    fill(ui, bar, in ? inside : outside);
    fill(ui, {bar.x0, top, bar.x1, std::min(plot.y1, top + ui.px(1))}, in ? line : mix(outside, line, 0.4F));
  }
  if (brush_.whole()) return;
  outline(ui, brush, ui.colour(Colour::accent), 0);
  for (const float x : {left, right}) {
    const Rect handle = Rect{x - ui.px(2), plot.y0, x + ui.px(2), plot.y1}.middle(plot.height() * 0.5F);
    fill(ui, handle, ui.colour(Colour::accent), 2);
  }
}

// A drag from an edge moves the edge, from inside the brush moves it, from outside makes a new one; a double click has
// the whole range again.
void CoreGridPanel::take_response(const PanelContext& context, const Rect& plot, const analysis::GridFrames& frames) {
  Ui& ui = context.ui;
  const Interaction touch =
      interact(ui, "grid.strip", plot, {.keys = FocusStopKind::pointer, .label = "The measure over time"});
  const auto length = static_cast<double>(frames.range.length_ns());
  const double per_pixel = length / static_cast<double>(std::max(1.0F, plot.width()));
  const double at = static_cast<double>(frames.range.begin_ns) +
                    static_cast<double>(std::clamp(ui.input().mouse.x, plot.x0, plot.x1) - plot.x0) * per_pixel;
  const GridBrush::Stretch now = brush_.of(frames);
  const double near = static_cast<double>(ui.px(kHandle)) * per_pixel;
  const auto drag_at = [&] {
    if (brush_.whole()) return Drag::fresh;
    if (std::abs(at - now.begin) <= near && std::abs(at - now.begin) < std::abs(at - now.end)) return Drag::begin;
    if (std::abs(at - now.end) <= near) return Drag::end;
    return at > now.begin && at < now.end ? Drag::move : Drag::fresh;
  };
  if (touch.hovered || touch.held) {
    const Drag would = touch.held ? drag_ : drag_at();
    set_cursor(would == Drag::move ? Cursor::move : would == Drag::fresh ? Cursor::arrow : Cursor::resize_horizontal);
  }
  if (touch.hovered && !touch.held) context.tab.cursor_ns = static_cast<std::int64_t>(at);
  if (touch.pressed) {
    drag_ = drag_at();
    drag_from_ns_ = drag_ == Drag::begin ? now.end : drag_ == Drag::end ? now.begin : at;
    drag_offset_ns_ = at - now.begin;
    dragged_ = false;
    playing_ = false;
  }
  if (touch.held && drag_ != Drag::none) {
    dragged_ = dragged_ || std::abs(at - drag_from_ns_) > static_cast<double>(ui.px(kStripClickSlack)) * per_pixel;
    if (drag_ == Drag::move) {
      brush_.move_to(frames, at - drag_offset_ns_);
    } else if (dragged_) {
      brush_.set(frames, drag_from_ns_, at);
    }
  }
  if (touch.double_clicked) {
    brush_.clear();
    drag_ = Drag::none;
  } else if (touch.clicked) {
    // A click beside the brush brings it there.
    if (drag_ == Drag::fresh && !dragged_ && !brush_.whole()) brush_.move_to(frames, at - (now.end - now.begin) / 2);
    drag_ = Drag::none;
  }
  if (!touch.held && !touch.pressed) drag_ = Drag::none;
  if (drag_ == Drag::none && !playing_ && touch.hovered)
    tooltip(ui, touch, plot, "Drag to choose the range of the grid; double click for all of it");
}

std::optional<bool> CoreGridPanel::has_content(const PanelContext& context) const {
  if (frames_ && context.tab.choices.filter.empty()) return !frames_->grid.empty();
  return analysis::core_grid_of(*context.tab.snapshot).empty() ? std::optional(false) : std::nullopt;
}

void CoreGridPanel::draw(const PanelContext& context, const Rect& area) {
  const OwnSelection own(context.tab, scope_);
  ask(context);
  Rect rest = area;
  draw_head(context, rest);
  if (draw_problem(context, rest)) {
    playing_ = false;
    return;
  }
  play(context);
  draw_body(context, rest);
}

void CoreGridPanel::ask(const PanelContext& context) {
  session::SessionAnalysis& analysis = context.analysis();
  offer_ = analysis.ask_of(
      offer_retained_, {}, NoQuestion{}, [](const QueryContext& query) -> FoundAnswer<analysis::GridOffer> {
        auto offer = TRY(analysis::core_grid_offer(query, analysis::core_grid_of(*query.snapshot)));
        return std::make_shared<const analysis::GridOffer>(std::move(offer));
      });
  const EventFilter wanted = scope_filter(context.tab, scope_);
  frames_ = analysis.ask_of(frames_retained_, wanted, Question{measure_},
                            [wanted, measure = measure_](const QueryContext& query) {
                              return analysis::core_grid_frames(query, wanted, measure, kGridFrames);
                            });
}

void CoreGridPanel::draw_head(const PanelContext& context, Rect& area) {
  Ui& ui = context.ui;
  const bool wide = area.width() >= ui.px(kWideHead);
  Rect row = padded(ui, area.cut_top(ui.px(36)));
  Rect second = wide ? row : padded(ui, area.cut_top(ui.px(28)));
  constexpr float kBesideMeasure = 420, kAlone = 130;
  if (draw_scope(context, "grid.scope", second, scope_, wide ? kBesideMeasure : kAlone)) {
    brush_.clear();
    playing_ = false;
  }
  draw_chip_choice(context, second);
  if (frames_retained_.stale()) {
    const auto share = frames_retained_.share();
    const std::string text =
        share ? fmt::format("of the earlier range; {} done", format_share(*share)) : "of the earlier range";
    Rect hint = wide ? second.cut_right(text_width(ui, TextStyle::small, text) + ui.px(12)) : second;
    draw_text(ui, hint, text, kHintText);
  }
  draw_measure(context, wide ? second : row);
}

void CoreGridPanel::draw_measure(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  std::vector<analysis::GridMeasure> choices(1);
  std::vector<std::string> titles = {"Busy"};
  const auto offer = [&](analysis::GridMeasureKind kind, std::string title) {
    choices.push_back({.kind = kind});
    titles.push_back(std::move(title));
  };
  if (offer_ && offer_->waits) offer(analysis::GridMeasureKind::wait, "Wait");
  offer(analysis::GridMeasureKind::events, "Events");
  std::vector<std::string> zones = {"All"}, parts = {"All"};
  if (offer_) {
    for (const analysis::GridColumn& column : offer_->columns) {
      offer(analysis::GridMeasureKind::column, column.title);
      choices.back().table = column.table;
      choices.back().column = column.column;
    }
    zones.insert(zones.end(), offer_->zones.begin(), offer_->zones.end());
    parts.insert(parts.end(), offer_->parts.begin(), offer_->parts.end());
  }
  const auto place = [](const std::vector<std::string>& of, const std::string& wanted) {
    const auto found = std::find(of.begin() + 1, of.end(), wanted);
    return wanted.empty() || found == of.end() ? 0 : static_cast<int>(found - of.begin());
  };
  int measure = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].kind == measure_.kind && choices[i].table == measure_.table && choices[i].column == measure_.column)
      measure = static_cast<int>(i);
  }
  int zone = place(zones, measure_.zone), part = place(parts, measure_.part);
  const bool has_parts = parts.size() > 1;
  // retained: units for those that follow.
  const auto cut = [&](const std::string& value, const DropdownOptions& options, float retained) {
    const float most = std::max(ui.px(60), row.width() - ui.px(retained));
    const Rect at = row.cut_left(std::min(most, dropdown_width(ui, value, options))).middle(ui.px(size::kControl));
    row.cut_left(ui.px(8));
    return at;
  };
  const DropdownOptions shown = {.tooltip =
                                     "What the cells show. Busy is the time covered by events, each moment once over "
                                     "all processors of a core: a zone that waits inside counts, too"};
  if (dropdown(ui, "grid.measure", cut(titles[static_cast<std::size_t>(measure)], shown, has_parts ? 250 : 110), titles,
               measure, shown)) {
    const analysis::GridMeasure& chosen = choices[static_cast<std::size_t>(measure)];
    measure_.kind = chosen.kind;
    measure_.table = chosen.table;
    measure_.column = chosen.column;
  }
  const DropdownOptions of_zone = {.label = "Zone: ", .tooltip = "Only events of this name"};
  if (dropdown(ui, "grid.zone", cut(zones[static_cast<std::size_t>(zone)], of_zone, has_parts ? 150 : 0), zones, zone,
               of_zone))
    measure_.zone = zone == 0 ? "" : zones[static_cast<std::size_t>(zone)];
  if (!has_parts) return;
  const DropdownOptions of_part = {.label = "Processor: ", .tooltip = "Only what ran on this processor of each core"};
  if (dropdown(ui, "grid.part", cut(parts[static_cast<std::size_t>(part)], of_part, 0), parts, part, of_part))
    measure_.part = part == 0 ? "" : parts[static_cast<std::size_t>(part)];
}

void CoreGridPanel::draw_chip_choice(const PanelContext& context, Rect& row) {
  if (!frames_ || frames_->grid.chips.size() < 2 || chips_.size() == frames_->grid.chips.size()) return;
  Ui& ui = context.ui;
  std::vector<std::string> names;
  for (const analysis::GridChip& chip : frames_->grid.chips) names.push_back(chip.name);
  int chosen = static_cast<int>(std::min(chip_, names.size() - 1));
  const DropdownOptions options = {.tooltip = "Not all chips fit side by side"};
  const float width = dropdown_width(ui, names[static_cast<std::size_t>(chosen)], options);
  const Rect at = row.cut_right(width).middle(ui.px(size::kControl));
  row.cut_right(ui.px(12));
  if (dropdown(ui, "grid.chip", at, names, chosen, options)) chip_ = static_cast<std::size_t>(chosen);
}

// Of whichever work failed.
const std::string& CoreGridPanel::error() const {
  for (const std::string* each : {&frames_retained_.error, &offer_retained_.error, &table_retained_.error}) {
    if (!each->empty()) return *each;
  }
  return frames_retained_.error;
}

bool CoreGridPanel::draw_problem(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  if (const std::string& wrong = context.analysis().mask_error(session::MaskUse::filter); !wrong.empty()) {
    empty_state(ui, "grid.wrong", area, icon::kFilter, wrong);
  } else if (!error().empty()) {
    empty_state(ui, "grid.error", area, icon::kWarning, error());
  } else if (!frames_) {
    const auto share = frames_retained_.share();
    empty_state(ui, "grid.loading", area, icon::kClock,
                share ? fmt::format("Adding up the cores: {} done", format_share(*share)) : "Adding up the cores ...");
  } else if (frames_->grid.empty()) {
    empty_state(ui, "grid.empty", area, icon::kChip,
                "Nothing in this session says on which core it ran. Device logs of tt-metal do "
                "(profile_log_device.csv), and every profile with engines or streams.");
  } else if (frames_->count == 0) {
    if (empty_state(ui, "grid.nothing", area, icon::kChip, "No event lies in this range.", "Show the whole session"))
      scope_.choose(Scope::session, context.tab);
  } else {
    return false;
  }
  return true;
}

CoreGridPanel::Shown CoreGridPanel::make_shown(const PanelContext& context) {
  const analysis::GridFrames& frames = *frames_;
  const FrameSpan span = brush_.span(frames);
  const bool is_time = frames.measure.is_time();
  if (values_of_ != Stretch{frames_, span}) {
    values_of_ = Stretch{frames_, span};
    values_ = is_time ? listing::core_grid_shares(frames, span.first, span.last)
                      : listing::core_grid_values(frames, span.first, span.last);
  }
  Shown shown{.frames = frames, .span = span, .values = values_, .unit = {}};
  shown.unit = is_time ? "share" : analysis::grid_measure_unit(frames.measure, *context.tab.snapshot);
  const double most = values_.spread.max, least = values_.spread.min;
  if (is_time) {
    // In tenths, so that the ramp stands still while little changes; while it is played, of all there can be.
    constexpr double kStep = 0.1;
    shown.low = playing_ ? 0 : std::min(0.9, std::floor(least / kStep) * kStep);
    shown.high = playing_ ? 1 : std::max(shown.low + kStep, std::ceil(most / kStep) * kStep);
  } else {
    shown.low = 0;
    shown.high = most > 0 ? most : 1;
  }
  return shown;
}

void CoreGridPanel::draw_body(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const Shown shown = make_shown(context);
  Rect rest = padded(ui, area);
  rest.cut_bottom(ui.px(4));
  const bool wide = rest.width() > 1.5F * rest.height() && rest.width() >= ui.px(kWideBody);
  const float legend = ui.px(kLegendRow), strip = ui.px(kStripHeight);
  if (wide) {
    const float most = rest.width() * 0.55F;
    const Point used = place_chips(context, shown.frames, {most, rest.height() - legend});
    Rect left = rest.cut_left(std::max(used.x, std::min(ui.px(440), most)));
    rest.cut_left(ui.px(20));
    draw_chips(context, left.cut_top(used.y), shown);
    draw_legend(context, left.cut_top(legend), shown);
    draw_strip(context, rest.cut_top(strip), shown);
    draw_table(context, rest, shown);
    return;
  }
  const float table = ui.px(kLeastTable);
  const Point used = place_chips(context, shown.frames, {rest.width(), rest.height() - legend - strip - table});
  draw_chips(context, rest.cut_top(used.y), shown);
  draw_legend(context, rest.cut_top(legend), shown);
  draw_strip(context, rest.cut_top(strip), shown);
  draw_table(context, {area.x0, rest.y0, area.x1, rest.y1}, shown);
}

void CoreGridPanel::draw_table(const PanelContext& context, const Rect& area, const Shown& shown) {
  Ui& ui = context.ui;
  const std::shared_ptr<const CoreTable> last = table_retained_.value;
  TableQuestion wanted{{frames_, shown.span}, nullptr};
  if (playing_ && last && table_retained_.value_key.of.frames == frames_) wanted.order = last->order;
  const auto found = context.analysis().ask(
      table_retained_, wanted,
      {.of = session::SessionAnalysis::basis_of(frames_retained_),
       .rest_s = playing_ ? kTableSeconds : 0,
       .is_let_end = true,
       .ages = false,
       .tells_itself = true,
       .priority = Priority::drawing},
      [wanted](const QueryContext& query) -> FoundAnswer<CoreTable> {
        const analysis::GridFrames& frames = *wanted.of.frames;
        const FrameSpan span = wanted.of.span;
        CoreTable made{wanted.order, {}};
        if (!made.order)
          made.order = std::make_shared<const std::vector<std::size_t>>(
              listing::core_grid_order(listing::core_grid_values(frames, span.first, span.last)));
        made.listing = listing::core_grid_listing(frames, *query.snapshot, span.first, span.last, *made.order);
        return std::make_shared<const CoreTable>(std::move(made));
      });
  if (!found || area.height() < ui.px(size::kTableHead + size::kTableRow)) return;
  table_.draw(context, "grid.table", area, {found, &found->listing});
}

std::unique_ptr<Panel> make_core_grid_panel(const PanelParts&) { return std::make_unique<CoreGridPanel>(); }

}  // namespace accelscope::app::panels
