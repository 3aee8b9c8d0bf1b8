#include "app/panels/core_grid/panel.h"
#include "app/panels/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr std::size_t kGridFrames = 256;
constexpr float kWideHead = 860;  // units: measure and scope share a row
constexpr float kWideBody = 720;  // the table has room beside the chips
constexpr float kLegendRow = 24, kStripHeight = 84, kLeastTable = 66;
constexpr double kTableSeconds = 0.25;  // while playing, the table follows so often

}  // namespace

std::optional<bool> CoreGridPanel::has_content(const PanelContext& context) const {
  if (!frames_ || !context.tab.choices.filter.empty()) return std::nullopt;
  return !frames_->grid.empty();
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
  SessionAnalysis& analysis = context.analysis();
  offer_ = analysis.ask_of(offer_kept_, {}, SessionAnalysis::NoKey{},
                           [](const QueryContext& query) -> SessionAnalysis::Found<GridOffer> {
                             auto offer = core_grid_offer(query, core_grid_of(*query.snapshot));
                             if (!offer) return offer.error();
                             return std::make_shared<const GridOffer>(std::move(*offer));
                           });
  const EventFilter wanted = scope_filter(context.tab, scope_);
  frames_ = analysis.ask_of(frames_kept_, wanted, Question{measure_},
                            [wanted, measure = measure_](const QueryContext& query) {
                              return core_grid_frames(query, wanted, measure, kGridFrames);
                            });
}

void CoreGridPanel::draw_head(const PanelContext& context, Rect& area) {
  Ui& ui = context.ui;
  const bool wide = area.width() >= ui.px(kWideHead);
  Rect row = area.cut_top(ui.px(36)).inset(ui.px(size::kPanelPadding), 0);
  Rect second = wide ? row : area.cut_top(ui.px(28)).inset(ui.px(size::kPanelPadding), 0);
  constexpr float kBesideMeasure = 420, kAlone = 130;
  if (draw_scope(context, "grid.scope", second, scope_, wide ? kBesideMeasure : kAlone)) {
    brush_.clear();
    playing_ = false;
  }
  draw_chip_choice(context, second);
  if (frames_kept_.stale()) {
    const auto share = frames_kept_.share();
    const std::string text =
        share ? fmt::format("of the earlier range; {} done", format_share(*share)) : "of the earlier range";
    Rect hint = wide ? second.cut_right(text_width(ui, TextStyle::small, text) + ui.px(12)) : second;
    draw_text(ui, hint, text, {.style = TextStyle::small, .colour = Colour::text3});
  }
  draw_measure(context, wide ? second : row);
}

void CoreGridPanel::draw_measure(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  std::vector<GridMeasure> choices(1);
  std::vector<std::string> titles = {"Busy"};
  const auto offer = [&](GridMeasureKind kind, std::string title) {
    choices.push_back({.kind = kind});
    titles.push_back(std::move(title));
  };
  if (offer_ && offer_->waits) offer(GridMeasureKind::wait, "Wait");
  offer(GridMeasureKind::events, "Events");
  std::vector<std::string> zones = {"All"}, parts = {"All"};
  if (offer_) {
    for (const GridColumn& column : offer_->columns) {
      offer(GridMeasureKind::column, column.title);
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
  // kept: units for those that follow.
  const auto cut = [&](const std::string& value, const DropdownOptions& options, float kept) {
    const float most = std::max(ui.px(60), row.width() - ui.px(kept));
    const Rect at = row.cut_left(std::min(most, dropdown_width(ui, value, options))).middle(ui.px(size::kControl));
    row.cut_left(ui.px(8));
    return at;
  };
  const DropdownOptions shown = {.tooltip =
                                     "What the cells show. Busy is the time covered by events, each moment once over "
                                     "all processors of a core: a zone that waits inside counts, too"};
  if (dropdown(ui, "grid.measure", cut(titles[static_cast<std::size_t>(measure)], shown, has_parts ? 250 : 110), titles,
               measure, shown)) {
    const GridMeasure& chosen = choices[static_cast<std::size_t>(measure)];
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
  for (const GridChip& chip : frames_->grid.chips) names.push_back(chip.name);
  int chosen = static_cast<int>(std::min(chip_, names.size() - 1));
  const DropdownOptions options = {.tooltip = "Not all chips fit side by side"};
  const float width = dropdown_width(ui, names[static_cast<std::size_t>(chosen)], options);
  const Rect at = row.cut_right(width).middle(ui.px(size::kControl));
  row.cut_right(ui.px(12));
  if (dropdown(ui, "grid.chip", at, names, chosen, options)) chip_ = static_cast<std::size_t>(chosen);
}

// Of whichever work failed.
const std::string& CoreGridPanel::error() const {
  for (const std::string* each : {&frames_kept_.error, &offer_kept_.error, &table_kept_.error}) {
    if (!each->empty()) return *each;
  }
  return frames_kept_.error;
}

bool CoreGridPanel::draw_problem(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  if (const std::string& wrong = context.analysis().mask_error(MaskUse::filter); !wrong.empty()) {
    empty_state(ui, "grid.wrong", area, icon::kFilter, wrong);
  } else if (!error().empty()) {
    empty_state(ui, "grid.error", area, icon::kWarning, error());
  } else if (!frames_) {
    const auto share = frames_kept_.share();
    empty_state(ui, "grid.loading", area, icon::kClock,
                share ? fmt::format("Adding up the cores: {} done", format_share(*share)) : "Adding up the cores ...");
  } else if (frames_->grid.empty()) {
    empty_state(ui, "grid.empty", area, icon::kChip,
                "Nothing in this session says on which core it ran. Device logs of tt-metal do "
                "(profile_log_device.csv), and every profile with engines or streams.");
  } else if (frames_->count == 0) {
    constexpr std::array<std::string_view, 1> kActions = {"Show the whole session"};
    if (empty_state(ui, "grid.nothing", area, icon::kChip, "No event lies in this range.", kActions))
      scope_.choose(Scope::session, context.tab);
  } else {
    return false;
  }
  return true;
}

CoreGridPanel::Shown CoreGridPanel::make_shown(const PanelContext& context) {
  const GridFrames& frames = *frames_;
  const FrameSpan span = brush_.span(frames);
  const bool is_time = frames.measure.is_time();
  if (values_of_ != Stretch{frames_, span}) {
    values_of_ = Stretch{frames_, span};
    values_ =
        is_time ? core_grid_shares(frames, span.first, span.last) : core_grid_values(frames, span.first, span.last);
  }
  Shown shown{.frames = frames, .span = span, .values = values_, .unit = {}};
  shown.unit = is_time ? "share" : grid_measure_unit(frames.measure, *context.tab.snapshot);
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
  Rect rest = area.inset(ui.px(size::kPanelPadding), 0);
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
  const std::shared_ptr<const CoreTable> last = table_kept_.value;
  TableQuestion wanted{{frames_, shown.span}, nullptr};
  if (playing_ && last && table_kept_.value_key.of.frames == frames_) wanted.order = last->order;
  const auto found = context.analysis().ask(table_kept_, wanted,
                                            {.of = SessionAnalysis::basis_of(frames_kept_),
                                             .rest_s = playing_ ? kTableSeconds : 0,
                                             .is_let_end = true,
                                             .ages = false,
                                             .tells_itself = true,
                                             .priority = Priority::drawing},
                                            [wanted](const QueryContext& query) -> SessionAnalysis::Found<CoreTable> {
                                              const GridFrames& frames = *wanted.of.frames;
                                              const FrameSpan span = wanted.of.span;
                                              CoreTable made{wanted.order, {}};
                                              if (!made.order)
                                                made.order = std::make_shared<const std::vector<std::size_t>>(
                                                    core_grid_order(core_grid_values(frames, span.first, span.last)));
                                              made.listing = core_grid_listing(frames, *query.snapshot, span.first,
                                                                               span.last, *made.order);
                                              return std::make_shared<const CoreTable>(std::move(made));
                                            });
  if (!found || area.height() < ui.px(size::kTableHead + size::kTableRow)) return;
  table_.draw(context, "grid.table", area, {found, &found->listing});
}

std::unique_ptr<Panel> make_core_grid_panel(WorkerPool&, QueryHistory&, PeakBook&) {
  return std::make_unique<CoreGridPanel>();
}

}  // namespace accelscope::app
