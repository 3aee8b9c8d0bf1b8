#include <cstddef>

#include "app/panels/answer_table.h"
#include "app/panels/panel.h"
#include "app/panels/rect_batch.h"
#include "core/analysis/iterations/iterations.h"
#include "core/base/text.h"
#include "core/listing/iterations.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// What repeats on engines, streams and threads, found by itself or by name or marker: the loops in a table, the
// iterations of the chosen one as bars and its body folded over them beside it; or regions by name with the spread of
// their lengths, of which those clicked last stand beside each other. A click on a bar or on the row of an iteration
// goes there.

// The iterations of a loop as bars in their order, as high as they are long: warm-up and outliers stand out, the median
// of the steady state is a line. Where there are more than there is room, of neighbours the farthest from the median
// stands for them. A click opens the iteration: it is selected and the timeline goes to it.

class IterationBars {
 public:
  void draw(const PanelContext& context, Rect area, const analysis::FoldedLoop& loop);

 private:
  // Which iterations stand where; made anew when the loop or the room changes.
  struct Slots {
    const analysis::FoldedLoop* of = nullptr;
    std::size_t count = 0;
    std::vector<std::size_t> shown;  // iterations
    std::int64_t most_ns = 1;
  };
  void place(const analysis::FoldedLoop& loop, std::size_t room);
  void draw_bars(const PanelContext& context, const Rect& plot, float slot, const analysis::FoldedLoop& loop) const;
  void touch(const PanelContext& context, const Rect& plot, float slot, const analysis::FoldedLoop& loop) const;

  Slots slots_;
};

class IterationsPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override {
    return page_ == Page::regions ? regions_.task.valid() : loops_.task.valid();
  }

 private:
  enum class Page : std::uint8_t { body, iterations, regions };
  struct FoundLoops {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const analysis::IterationList> list;
    std::string note;
    listing::Listing loops;
  };
  struct FoundRegions {
    std::shared_ptr<const analysis::RegionList> list;
    listing::Listing listing;  // a row each
  };

  void ask(const PanelContext& context);
  void draw_head(const PanelContext& context, Rect head);
  void draw_depth(Ui& ui, Rect head);
  void draw_loops(const PanelContext& context, Rect area);
  void draw_chosen(const PanelContext& context, Rect area);
  void draw_regions(const PanelContext& context, Rect area);
  void choose(std::size_t loop);
  void compare(const std::string& region);

  PanelScope scope_ = Scope::session;
  Page page_ = Page::body;
  std::string text_, by_;  // what is typed, and what was asked for: see IterationQuestion
  struct RegionChoice {
    int kind = 0;           // of the table
    std::size_t depth = 0;  // of layers; 0: all levels
    bool operator==(const RegionChoice&) const = default;
  };
  RegionChoice region_;
  std::vector<std::string> compared_;  // names of regions, as they were clicked
  FilteredAnswer<FoundLoops, std::string> loops_;
  FilteredAnswer<FoundRegions, RegionChoice> regions_;
  std::shared_ptr<const FoundLoops> shown_;
  std::shared_ptr<const FoundRegions> shown_regions_;
  std::size_t chosen_ = 0;                                   // of the loops
  std::shared_ptr<const listing::Listing> body_, each_one_;  // of the chosen loop
  AnswerTable loop_rows_, body_rows_, iteration_rows_, region_rows_;
  IterationBars bars_;
};

constexpr float kIterationAxis = 18, kLengthScale = 62;
constexpr float kLeastBar = 3, kMostBar = 40;  // units
constexpr unsigned kSteadySlot = 0;            // of the slice palette

[[nodiscard]] EventFilter iteration_target(const analysis::LoopIteration& iteration) {
  EventFilter filter;
  filter.range = TimeRange{iteration.begin_ns, std::max(iteration.end_ns, iteration.begin_ns + 1)};
  return filter;
}

[[nodiscard]] double from_steady(const analysis::FoldedLoop& loop, std::size_t i) {
  return static_cast<double>(loop.iterations[i].length_ns()) - loop.steady_ns;
}

[[nodiscard]] std::string deviation_text(const analysis::FoldedLoop& loop, std::size_t i) {
  const double share = from_steady(loop, i) / loop.steady_ns;
  return fmt::format("{}{}", share < 0 ? "−" : "+", format_share(std::abs(share)));
}

// Up to three regions beside each other, each as a strip on one axis from nothing to the longest: its distribution, and
// below it least to most as a line, p10 to p90 as a bar, the median as a mark, and how its median stands to that of the
// first.
inline constexpr std::size_t kMostComparedRegions = 3;

void draw_spreads(Ui& ui, Rect area, const std::vector<const analysis::NamedRegion*>& regions);

constexpr float kStripName = 18, kStripBins = 24, kStripBar = 12, kStripFoot = 18, kStripGap = 6;

// How many of the regions are how long, between the shortest and the longest.
void draw_bins(Ui& ui, const Rect& area, const analysis::NamedRegion& region, float from, float to) {
  const std::uint32_t most = *std::ranges::max_element(region.bins);
  const float width = (to - from) / static_cast<float>(region.bins.size());
  RectBatch batch(*ui.draw());
  for (std::size_t bin = 0; bin < region.bins.size(); ++bin) {
    if (region.bins[bin] == 0) continue;
    const float x = std::round(from + width * static_cast<float>(bin));
    const float height =
        std::max(ui.px(2), area.height() * static_cast<float>(region.bins[bin]) / static_cast<float>(most));
    batch.add(x, std::round(area.y1 - height), std::max(x + 1, std::round(x + width) - 1), area.y1,
              ui.colour(Colour::text3));
  }
}

void draw_spreads(Ui& ui, Rect area, const std::vector<const analysis::NamedRegion*>& regions) {
  double most = 1;
  for (const analysis::NamedRegion* each : regions) most = std::max(most, each->duration_ns.max);
  const auto at = [&](double ns) { return std::round(area.x0 + area.width() * static_cast<float>(ns / most)); };
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const analysis::FoldedValues& values = regions[i]->duration_ns;
    if (area.height() < ui.px(kStripName + kStripBins + kStripBar + kStripFoot)) return;
    const double first = regions.front()->duration_ns.median;
    std::string hint = format_duration(values.median);
    if (i > 0 && first > 0) hint += fmt::format(", {} times the first", format_number(values.median / first));
    const Rect name = area.cut_top(ui.px(kStripName));
    const float room = name.width() - text_width(ui, TextStyle::small, hint) - ui.px(12);
    heading(ui, name, fitted_text(ui, TextStyle::heading, regions[i]->name, room, Fit::middle), hint);
    draw_bins(ui, area.cut_top(ui.px(kStripBins)), *regions[i], at(values.min),
              std::max(at(values.min) + 1, at(values.max)));
    const Rect bar = area.cut_top(ui.px(kStripBar));
    ui.register_widget(fmt::format("iterations.spread.{}", i), bar);
    fill(ui, bar, ui.colour(Colour::bg1));
    horizontal_line(ui, at(values.min), std::max(at(values.min) + 1, at(values.max)), std::round((bar.y0 + bar.y1) / 2),
                    ui.colour(Colour::text3));
    fill(ui, {at(values.p10), bar.y0 + ui.px(3), std::max(at(values.p10) + 1, at(values.p90)), bar.y1 - ui.px(3)},
         ui.theme().slice(static_cast<unsigned>(i)));
    const float median = std::min(at(values.median), bar.x1 - ui.px(2));
    fill(ui, {median, bar.y0, median + ui.px(2), bar.y1}, ui.colour(Colour::text1));
    area.cut_top(ui.px(kStripGap));
  }
  Rect foot = area.cut_top(ui.px(kStripFoot));
  const std::string end = format_duration(most);
  draw_text(ui, foot.cut_right(text_width(ui, TextStyle::mono_small, end)), end, kMonoHint);
  draw_text(ui, foot, "Bars: how many are so long; below p10 to p90, least to most, and the median", kHintText);
}

constexpr float kIterationsHead = 36, kRoomForLoopNote = 100, kBarsHeight = 110, kLeastBelowBars = 90;
constexpr float kLoopsShare = 0.42F, kRoomBeside = 760, kRoomForThree = 1'200, kThreeLoops = 0.36F, kThreeBars = 0.24F,
                kSpreadsShare = 0.36F;

struct RegionKind {
  std::string_view by, label, tooltip;
};
constexpr std::string_view kLayerRegions = "layer";
constexpr std::size_t kMostRegionDepth = 8;
constexpr DropdownOptions kRegionDepth = {.label = "Depth ",
                                          .tooltip = "Layers that have these levels in common are one"};
constexpr std::array<RegionKind, 5> kRegionKinds = {
    {{"annotation", "Annotations", "What the program names on its threads"},
     {kLayerRegions, "Layers", "Layers of the model, whole or down to a level"},
     {"function", "Functions", "Functions of the program that an engine or a thread is in"},
     {"collective", "Collectives", "What devices do together"},
     {"marker", "Markers", "Spans of the session's markers"}}};

}  // namespace

void IterationBars::place(const analysis::FoldedLoop& loop, std::size_t room) {
  const std::size_t all = loop.iterations.size(), count = std::min(room, all);
  if (slots_.of == &loop && slots_.count == count) return;
  slots_ = {&loop, count, {}, 1};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * all / count, last = (i + 1) * all / count;
    std::size_t farthest = first;
    for (std::size_t k = first; k < last; ++k) {
      if (std::abs(from_steady(loop, k)) > std::abs(from_steady(loop, farthest))) farthest = k;
    }
    slots_.shown.push_back(farthest);
    slots_.most_ns = std::max(slots_.most_ns, loop.iterations[farthest].length_ns());
  }
}

void IterationBars::draw_bars(const PanelContext& context, const Rect& plot, float slot,
                              const analysis::FoldedLoop& loop) const {
  Ui& ui = context.ui;
  const float per_ns = (plot.height() - ui.px(4)) / static_cast<float>(slots_.most_ns);
  {
    RectBatch batch(*ui.draw());
    for (std::size_t i = 0; i < slots_.count; ++i) {
      const std::size_t number = slots_.shown[i];
      const analysis::LoopIteration& each = loop.iterations[number];
      const float x0 = std::round(plot.x0 + slot * static_cast<float>(i)),
                  x1 = std::max(x0 + 1, std::round(plot.x0 + slot * static_cast<float>(i + 1)) - 1);
      const float top = std::min(plot.y1 - 1, plot.y1 - per_ns * static_cast<float>(each.length_ns()));
      const Pixel colour = number < loop.warm_up ? ui.colour(Colour::text3)
                           : each.outlier        ? ui.colour(Colour::warning_line)
                                                 : ui.theme().slice(kSteadySlot);
      batch.add(x0, std::round(top), x1, plot.y1, colour);
      if (is_selected(context.tab, iteration_target(each)))
        batch.add(x0, plot.y1 - ui.px(2), x1, plot.y1, ui.colour(Colour::selection));
    }
  }
  if (loop.steady_ns <= 0) return;
  const float y = std::round(plot.y1 - per_ns * static_cast<float>(loop.steady_ns));
  horizontal_line(ui, plot.x0, plot.x1, y, ui.colour(Colour::marker));
}

void IterationBars::draw(const PanelContext& context, Rect area, const analysis::FoldedLoop& loop) {
  Ui& ui = context.ui;
  const Rect foot = area.cut_bottom(ui.px(kIterationAxis));
  Rect plot = area;
  Rect scale = plot.cut_left(ui.px(kLengthScale));
  if (plot.width() < ui.px(40) || plot.height() < ui.px(24) || loop.iterations.empty()) return;
  place(loop, static_cast<std::size_t>(plot.width() / ui.px(kLeastBar)));
  fill(ui, plot, ui.colour(Colour::bg1));
  const float slot = std::min(ui.px(kMostBar), plot.width() / static_cast<float>(slots_.count));
  draw_bars(context, plot, slot, loop);
  horizontal_line(ui, plot.x0, plot.x1, plot.y1, ui.colour(Colour::line2));
  draw_text(ui, scale.cut_top(ui.px(16)), format_duration(slots_.most_ns), kMonoHint);
  std::string axis =
      fmt::format("{} iterations, median {}", format_count(loop.iterations.size()), format_duration(loop.steady_ns));
  if (slots_.count < loop.iterations.size()) axis += "; of neighbours the farthest from it";
  draw_text(ui, {plot.x0, foot.y0, foot.x1, foot.y1}, axis, kHintText);
  touch(context, plot, slot, loop);
}

void IterationBars::touch(const PanelContext& context, const Rect& plot, float slot,
                          const analysis::FoldedLoop& loop) const {
  Ui& ui = context.ui;
  const Interaction response =
      interact(ui, "iterations.bars", plot, {.keys = FocusStopKind::pointer, .label = "Turns of the loop"});
  if (!response.hovered) return;
  const auto at = static_cast<std::size_t>(std::max(0.0F, (ui.input().mouse.x - plot.x0) / slot));
  if (at >= slots_.shown.size()) return;
  set_cursor(Cursor::response);
  const std::size_t number = slots_.shown[at];
  const analysis::LoopIteration& each = loop.iterations[number];
  if (response.clicked) select_target(context, iteration_target(each), true);
  if (response.hovered_for < kHoverCardDelay) return;
  HoverCard card;
  card.title = fmt::format("Iteration {}", format_count(number + 1));
  card.title_value = fmt::format("of {}", format_count(loop.iterations.size()));
  card.rows.push_back({"Takes", format_duration(each.length_ns())});
  if (loop.steady_ns > 0) card.rows.push_back({"From the median", deviation_text(loop, number)});
  if (number + 1 < loop.iterations.size()) {
    const std::int64_t next = loop.iterations[number + 1].begin_ns - each.begin_ns;
    card.rows.push_back({"To the next", format_duration(next)});
  }
  if (number < loop.warm_up || each.outlier) card.rows.push_back({"Is", number < loop.warm_up ? "warm-up" : "outlier"});
  const float x0 = plot.x0 + slot * static_cast<float>(at);
  hover_card(ui, card, {x0, plot.y0, x0 + slot, plot.y1});
}

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
  session::SessionAnalysis& analysis = context.analysis();
  if (page_ == Page::regions) {
    shown_regions_ = analysis.ask_of(
        regions_, wanted, region_, [range, of = region_](const QueryContext& query) -> FoundAnswer<FoundRegions> {
          const std::string by(kRegionKinds[static_cast<std::size_t>(of.kind)].by);
          auto list = TRY(analysis::find_regions(query, range, by, by == kLayerRegions ? of.depth : 0));
          std::vector<const analysis::NamedRegion*> all;
          for (const analysis::NamedRegion& each : list->regions) all.push_back(&each);
          listing::Listing listing = listing::regions_listing(*list, *query.snapshot, all, by);
          return std::make_shared<const FoundRegions>(FoundRegions{std::move(list), std::move(listing)});
        });
    return;
  }
  const auto found =
      analysis.ask_of(loops_, wanted, by_, [range, by = by_](const QueryContext& query) -> FoundAnswer<FoundLoops> {
        auto list = TRY(analysis::find_iterations(query, range, {by}));
        auto made = std::make_shared<FoundLoops>();
        made->snapshot = query.snapshot;
        made->note = listing::iterations_note(*list, {by});
        made->loops = listing::loops_listing(*list, *query.snapshot);
        made->list = std::move(list);
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
  draw_head(context, padded(ui, rest.cut_top(ui.px(kIterationsHead))));
  if (page_ == Page::regions) return draw_regions(context, rest);
  if (draw_missing(ui, "iterations", rest, loops_.error, shown_ != nullptr, "Looking for what repeats ...")) return;
  if (shown_->list->loops.empty()) {
    empty_state(ui, "iterations.empty", rest, icon::kHistory,
                capitalised(shown_->note) +
                    (by_.empty() ? ". A name that steps begin with may be typed above, or marker." : "."));
    return;
  }
  if (rest.width() >= ui.px(kRoomBeside)) {
    const float loops = rest.width() >= ui.px(kRoomForThree) ? kThreeLoops : kLoopsShare;
    Rect right = cut_pane(ui, rest, std::round(rest.width() * (1 - loops)));
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
  if (segmented_left(ui, "iterations.page", head, pages, page)) page_ = static_cast<Page>(page);
  head.cut_left(ui.px(12));
  if (page_ == Page::regions) {
    std::vector<Segment> kinds;
    for (const RegionKind& kind : kRegionKinds) kinds.push_back({.label = kind.label, .tooltip = kind.tooltip});
    const float width = segmented_width(ui, kinds);
    if (head.width() < width) return;
    (void)segmented(ui, "iterations.regions", head.cut_left(width).middle(ui.px(size::kControl)), kinds, region_.kind);
    if (kRegionKinds[static_cast<std::size_t>(region_.kind)].by == kLayerRegions) draw_depth(ui, head);
    return;
  }
  const Rect field = head.cut_left(std::min(ui.px(220), head.width())).middle(ui.px(size::kControl));
  const TextInputResult typed =
      text_input(ui, "iterations.by", field, text_, {.placeholder = "By name, or marker", .icon = icon::kSearch});
  if (typed.cancelled) text_.clear();
  if (typed.submitted || typed.cancelled || text_.empty()) by_ = std::string(trimmed(text_));
  head.cut_left(ui.px(12));
  const std::string hint = loops_.stale() ? "of the earlier range" : scope_text(context.tab, scope_);
  draw_text(ui, head, hint, kHintText);
}

void IterationsPanel::draw_depth(Ui& ui, Rect head) {
  head.cut_left(ui.px(12));
  std::vector<std::string> depths = {"all"};
  for (std::size_t depth = 1; depth <= kMostRegionDepth; ++depth) depths.push_back(std::to_string(depth));
  int depth = static_cast<int>(region_.depth);
  const float width = dropdown_width(ui, depths[region_.depth], kRegionDepth);
  if (head.width() < width) return;
  const Rect place = head.cut_left(width).middle(ui.px(size::kControl));
  if (dropdown(ui, "iterations.depth", place, depths, depth, kRegionDepth))
    region_.depth = static_cast<std::size_t>(depth);
}

void IterationsPanel::draw_loops(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  draw_note(ui, area, shown_->note, kRoomForLoopNote);
  const std::shared_ptr<const listing::Listing> listing(shown_, &shown_->loops);
  const AnswerTable::Response response = loop_rows_.draw(context, "iterations.loops", area, listing);
  const std::optional<std::size_t> row = response.double_clicked ? response.double_clicked : response.clicked;
  if (row && *row < shown_->list->loops.size()) choose(*row);
}

void IterationsPanel::draw_chosen(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const analysis::IterationLoop& loop = shown_->list->loops[std::min(chosen_, shown_->list->loops.size() - 1)];
  if (!body_) {
    body_ = std::make_shared<const listing::Listing>(
        listing::iteration_body_listing(*shown_->list, *shown_->snapshot, chosen_));
    each_one_ = std::make_shared<const listing::Listing>(
        listing::iterations_listing(*shown_->list, *shown_->snapshot, chosen_));
  }
  const TrackSnapshot* track = shown_->snapshot->find_track(loop.track);
  const std::string hint =
      fmt::format("median {}, p90 {}, {}", format_duration(loop.folded.duration_ns.median),
                  format_duration(loop.folded.duration_ns.p90), counted(loop.folded.duration_ns.outliers, "outlier"));
  const Rect head = padded(ui, area.cut_top(ui.px(24)));
  const float room = head.width() - text_width(ui, TextStyle::small, hint) - ui.px(12);
  heading(ui, head, fitted_text(ui, TextStyle::heading, track == nullptr ? "" : track->track->name, room, Fit::middle),
          hint);
  if (area.width() >= ui.px(kRoomForThree * (1 - kThreeLoops))) {
    const float share = kThreeBars / (1 - kThreeLoops);
    const Rect bars = padded(ui, area.cut_left(std::round(area.width() * share)));
    bars_.draw(context, bars, loop.folded);
    vertical_line(ui, area.x0, area.y0, area.y1, ui.colour(Colour::line2));
  } else if (area.height() >= ui.px(kBarsHeight + kLeastBelowBars)) {
    bars_.draw(context, padded(ui, area.cut_top(ui.px(kBarsHeight))), loop.folded);
  }
  if (page_ == Page::body) {
    (void)body_rows_.draw(context, "iterations.body", area, body_);
    return;
  }
  const AnswerTable::Response response = iteration_rows_.draw(context, "iterations.each", area, each_one_);
  if (response.clicked) select_target(context, each_one_->targets[*response.clicked], true);
}

void IterationsPanel::draw_regions(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  if (draw_missing(ui, "iterations", area, regions_.error, shown_regions_ != nullptr, "Measuring regions ...")) return;
  const listing::Listing& listing = shown_regions_->listing;
  if (listing.rows.row_count() == 0)
    return empty_sentence(ui, "iterations.none", area, icon::kHistory, "The session has none of these here.");
  draw_note(ui, area, listing.note, kRoomForLoopNote);
  std::vector<const analysis::NamedRegion*> compared;
  for (const std::string& name : compared_) {
    for (const analysis::NamedRegion& each : shown_regions_->list->regions) {
      if (each.name == name) compared.push_back(&each);
    }
  }
  if (!compared.empty() && area.width() >= ui.px(kRoomBeside)) {
    Rect right = cut_pane(ui, area, std::round(area.width() * kSpreadsShare));
    draw_spreads(ui, padded(ui, right), compared);
  }
  const AnswerTable::Response response = region_rows_.draw(
      context, "iterations.named", area, std::shared_ptr<const listing::Listing>(shown_regions_, &listing));
  if (response.clicked && *response.clicked < shown_regions_->list->regions.size())
    compare(shown_regions_->list->regions[*response.clicked].name);
}

std::unique_ptr<Panel> make_iterations_panel(const PanelParts&) { return std::make_unique<IterationsPanel>(); }

}  // namespace accelscope::app::panels
