#include "app/panels/iterations/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/panels/iterations/spread_strips.h"
#include "app/panels/targets.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kIterationsHead = 36, kLoopNote = 20, kRoomForLoopNote = 100, kBarsHeight = 110, kLeastBelowBars = 90;
constexpr float kLoopsShare = 0.42F, kRoomBeside = 760, kRoomForThree = 1'200, kThreeLoops = 0.36F, kThreeBars = 0.24F,
                kSpreadsShare = 0.36F;

struct RegionKind {
  std::string_view by, label, tooltip;
};
constexpr std::array<RegionKind, 4> kRegionKinds = {
    {{"annotation", "Annotations", "What the program names on its threads"},
     {"layer", "Layers", "Layers of the model"},
     {"collective", "Collectives", "What devices do together"},
     {"marker", "Markers", "Spans of the session's markers"}}};

}  // namespace

void IterationsPanel::choose(std::size_t loop) {
  chosen_ = loop;
  body_ = nullptr;
  each_one_ = nullptr;
}

// The three clicked last, in that order.
void IterationsPanel::compare(const std::string& region) {
  std::erase(compared_, region);
  compared_.push_back(region);
  if (compared_.size() > kMostComparedRegions) compared_.erase(compared_.begin());
}

void IterationsPanel::ask(const PanelContext& context) {
  const EventFilter wanted = scope_filter(context.tab, scope_);
  const TimeRange range = wanted.range.value_or(TimeRange{});
  SessionAnalysis& analysis = context.analysis();
  if (page_ == Page::regions) {
    const std::string by(kRegionKinds[static_cast<std::size_t>(region_kind_)].by);
    shown_regions_ = analysis.ask_of(
        regions_, wanted, by, [wanted, by](const QueryContext& query) -> SessionAnalysis::Found<FoundRegions> {
          auto list = find_regions(query, wanted.range.value_or(TimeRange{}), by);
          if (!list) return list.error();
          std::vector<const NamedRegion*> all;
          for (const NamedRegion& each : (*list)->regions) all.push_back(&each);
          Listing listing = regions_listing(**list, all);
          return std::make_shared<const FoundRegions>(FoundRegions{std::move(*list), std::move(listing)});
        });
    return;
  }
  const auto found = analysis.ask_of(
      loops_, wanted, by_, [range, by = by_](const QueryContext& query) -> SessionAnalysis::Found<FoundLoops> {
        auto list = find_iterations(query, range, {by});
        if (!list) return list.error();
        auto made = std::make_shared<FoundLoops>();
        made->snapshot = query.snapshot;
        made->note = iterations_note(**list, {by});
        made->loops = loops_listing(**list, *query.snapshot);
        made->list = std::move(*list);
        return std::shared_ptr<const FoundLoops>(std::move(made));
      });
  if (found == shown_) return;
  shown_ = found;
  choose(0);
}

std::optional<bool> IterationsPanel::has_content(const PanelContext& context) const {
  if (page_ == Page::regions) return true;  // which the user chose
  if (!shown_ || !context.tab.choices.filter.empty()) return std::nullopt;
  return !shown_->list->loops.empty();
}

void IterationsPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const OwnSelection own(context.tab, scope_);
  ask(context);
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(kIterationsHead)).inset(ui.px(size::kPanelPadding), 0));
  if (page_ == Page::regions) return draw_regions(context, rest);
  if (!loops_.error.empty()) {
    empty_state(ui, "iterations.wrong", rest, icon::kError, loops_.error);
    return;
  }
  if (!shown_) {
    empty_state(ui, "iterations.loading", rest, icon::kClock, "Looking for what repeats ...");
    return;
  }
  if (shown_->list->loops.empty()) {
    std::string text = shown_->note;
    if (!text.empty()) text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
    empty_state(ui, "iterations.empty", rest, icon::kHistory,
                text + (by_.empty() ? ". A name that steps begin with may be typed above, or marker." : "."));
    return;
  }
  if (rest.width() >= ui.px(kRoomBeside)) {
    const float loops = rest.width() >= ui.px(kRoomForThree) ? kThreeLoops : kLoopsShare;
    Rect right = rest.cut_right(std::round(rest.width() * (1 - loops)));
    vertical_line(ui, right.x0, right.y0, right.y1, ui.colour(Colour::line2));
    draw_chosen(context, right);
  } else {
    draw_chosen(context, rest.cut_bottom(std::round(rest.height() * (1 - kLoopsShare))));
  }
  draw_loops(context, rest);
}

void IterationsPanel::draw_head(const PanelContext& context, Rect head) {
  Ui& ui = context.ui;
  (void)draw_scope(context, "iterations.scope", head, scope_);
  const std::array<Segment, 3> pages = {
      {{.label = "Body", .tooltip = "The operations of an iteration, folded over all of them"},
       {.label = "Iterations", .tooltip = "Each iteration of the chosen loop"},
       {.label = "Regions",
        .tooltip = "Annotations, layers, collectives and markers with the spread of their lengths"}}};
  int page = static_cast<int>(page_);
  if (segmented(ui, "iterations.page", head.cut_left(segmented_width(ui, pages)).middle(ui.px(size::kControl)), pages,
                page))
    page_ = static_cast<Page>(page);
  head.cut_left(ui.px(12));
  if (page_ == Page::regions) {
    std::vector<Segment> kinds;
    for (const RegionKind& kind : kRegionKinds) kinds.push_back({.label = kind.label, .tooltip = kind.tooltip});
    const float width = segmented_width(ui, kinds);
    if (head.width() < width) return;
    (void)segmented(ui, "iterations.regions", head.cut_left(width).middle(ui.px(size::kControl)), kinds, region_kind_);
    return;
  }
  const Rect field = head.cut_left(std::min(ui.px(220), head.width())).middle(ui.px(size::kControl));
  const TextInputResult typed =
      text_input(ui, "iterations.by", field, text_, {.placeholder = "By name, or marker", .icon = icon::kSearch});
  if (typed.cancelled) text_.clear();
  if (typed.submitted || typed.cancelled || text_.empty()) by_ = std::string(trimmed(text_));
  head.cut_left(ui.px(12));
  const std::string hint = loops_.stale() ? "of the earlier range" : scope_text(context.tab, scope_);
  draw_text(ui, head, hint, {.style = TextStyle::small, .colour = Colour::text3});
}

void IterationsPanel::draw_loops(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  if (!shown_->note.empty() && area.height() >= ui.px(kRoomForLoopNote)) {
    draw_text(ui, area.cut_bottom(ui.px(kLoopNote)).inset(ui.px(size::kPanelPadding), 0), shown_->note,
              {.style = TextStyle::small, .colour = Colour::text3});
  }
  const std::shared_ptr<const Listing> listing(shown_, &shown_->loops);
  const AnswerTable::Hand hand = loop_rows_.draw(context, "iterations.loops", area, listing);
  const std::optional<std::size_t> row = hand.double_clicked ? hand.double_clicked : hand.clicked;
  if (row && *row < shown_->list->loops.size()) choose(*row);
}

void IterationsPanel::draw_chosen(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const IterationLoop& loop = shown_->list->loops[std::min(chosen_, shown_->list->loops.size() - 1)];
  if (!body_) {
    body_ = std::make_shared<const Listing>(iteration_body_listing(*shown_->list, *shown_->snapshot, chosen_));
    each_one_ = std::make_shared<const Listing>(iterations_listing(*shown_->list, *shown_->snapshot, chosen_));
  }
  const TrackSnapshot* track = shown_->snapshot->find_track(loop.track);
  const std::string hint =
      fmt::format("median {}, p90 {}, {} outlier{}", format_duration(loop.folded.duration_ns.median),
                  format_duration(loop.folded.duration_ns.p90), format_count(loop.folded.duration_ns.outliers),
                  loop.folded.duration_ns.outliers == 1 ? "" : "s");
  const Rect head = area.cut_top(ui.px(24)).inset(ui.px(size::kPanelPadding), 0);
  const float room = head.width() - text_width(ui, TextStyle::small, hint) - ui.px(12);
  heading(ui, head, fitted_text(ui, TextStyle::heading, track == nullptr ? "" : track->track->name, room, Fit::middle),
          hint);
  if (area.width() >= ui.px(kRoomForThree * (1 - kThreeLoops))) {
    const float share = kThreeBars / (1 - kThreeLoops);
    const Rect bars = area.cut_left(std::round(area.width() * share)).inset(ui.px(size::kPanelPadding), 0);
    bars_.draw(context, bars, loop.folded);
    vertical_line(ui, area.x0, area.y0, area.y1, ui.colour(Colour::line2));
  } else if (area.height() >= ui.px(kBarsHeight + kLeastBelowBars)) {
    bars_.draw(context, area.cut_top(ui.px(kBarsHeight)).inset(ui.px(size::kPanelPadding), 0), loop.folded);
  }
  if (page_ == Page::body) {
    (void)body_rows_.draw(context, "iterations.body", area, body_);
    return;
  }
  const AnswerTable::Hand hand = iteration_rows_.draw(context, "iterations.each", area, each_one_);
  if (hand.clicked) select_target(context, each_one_->targets[*hand.clicked], true);
}

void IterationsPanel::draw_regions(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  if (!regions_.error.empty()) {
    empty_state(ui, "iterations.wrong", area, icon::kError, regions_.error);
    return;
  }
  if (!shown_regions_) {
    empty_state(ui, "iterations.loading", area, icon::kClock, "Measuring regions ...");
    return;
  }
  const Listing& listing = shown_regions_->listing;
  if (listing.rows.row_count() == 0) {
    empty_state(ui, "iterations.none", area, icon::kHistory, "The session has none of these here.");
    return;
  }
  if (!listing.note.empty() && area.height() >= ui.px(kRoomForLoopNote)) {
    draw_text(ui, area.cut_bottom(ui.px(kLoopNote)).inset(ui.px(size::kPanelPadding), 0), listing.note,
              {.style = TextStyle::small, .colour = Colour::text3});
  }
  std::vector<const NamedRegion*> compared;
  for (const std::string& name : compared_) {
    for (const NamedRegion& each : shown_regions_->list->regions) {
      if (each.name == name) compared.push_back(&each);
    }
  }
  if (!compared.empty() && area.width() >= ui.px(kRoomBeside)) {
    Rect right = area.cut_right(std::round(area.width() * kSpreadsShare));
    vertical_line(ui, right.x0, right.y0, right.y1, ui.colour(Colour::line2));
    draw_spreads(ui, right.inset(ui.px(size::kPanelPadding), 0), compared);
  }
  const AnswerTable::Hand hand =
      region_rows_.draw(context, "iterations.named", area, std::shared_ptr<const Listing>(shown_regions_, &listing));
  if (hand.clicked && *hand.clicked < shown_regions_->list->regions.size())
    compare(shown_regions_->list->regions[*hand.clicked].name);
}

}  // namespace accelscope::app
