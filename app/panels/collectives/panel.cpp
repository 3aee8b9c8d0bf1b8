#include "app/panels/collectives/panel.h"
#include "app/panels/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "app/content/listings/analysis_listings.h"
#include "app/session/analysis.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/popup.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kCollectivesHead = 36, kSentence = 24, kRoomForBoth = 1000, kLeastTables = 460, kRoomForTables = 280,
                kRoomForStrips = 380, kStrips = 88, kBesideScope = 760;

constexpr std::array<std::string_view, 3> kMeasures = {"Arrival", "Duration", "Wait"};
constexpr std::array<std::string_view, 3> kMeasureTips = {"When each rank arrived, after the first of them",
                                                          "From the last arrival to the end, of each rank",
                                                          "From each rank's arrival until the transfer began"};

}  // namespace

// All collectives first, whatever the range: a rank that came before it belongs to them.
void CollectivesPanel::ask(const PanelContext& context) {
  SessionAnalysis& analysis = context.analysis();
  EventFilter filter = scope_filter(context.tab, scope_);
  const TimeRange range = filter.range.value_or(TimeRange{});
  filter.range.reset();
  const auto found =
      analysis.ask_of(found_, filter, question_,
                      [clocks = question_.clocks](const QueryContext& query) -> SessionAnalysis::Found<Collectives> {
                        return find_collectives(query, clocks);
                      });
  if (!found) return;
  if (const auto told = ask_told(context, found, range); told && told != shown_) adopt(told);
  // What is marked on the timeline may have had ranks to come.
  const bool is_marked = shown_ && context.tab.operation && shown_->chosen && shown_->chosen_event == chosen_event_;
  if (is_marked && marked_of_ != shown_) context.tab.operation = shown_operation(*shown_->report, *shown_->chosen);
  marked_of_ = shown_;
}

void CollectivesPanel::keep_up(const PanelContext& context) {
  if (context.tab.operation && !context.analysis().is_newest(found_)) ask(context);
}

// What is chosen by the user is looked for in it too, so that it stays chosen when this is shown.
std::shared_ptr<const CollectivesPanel::Told> CollectivesPanel::ask_told(
    const PanelContext& context, const std::shared_ptr<const Collectives>& found, const TimeRange& range) {
  CollectivesScope scope{range, std::nullopt};
  for (std::uint32_t k = 0; k < found->kinds.size() && kind_; ++k) {
    if (found->kinds[k].is_like(*kind_)) scope.kind = k;
  }
  return context.analysis().ask_of(told_, EventFilter{}, ReportQuestion{{found}, scope},
                                   [found, scope, asked = found_.value_key, measure = measure_, columns = columns_,
                                    chosen = chosen_event_](const QueryContext& query) -> SessionAnalysis::Found<Told> {
                                     auto made = std::make_shared<Told>();
                                     made->asked = asked;
                                     made->scope = scope;
                                     made->report = report_collectives(found, scope);
                                     const CollectivesReport& report = *made->report;
                                     made->operations =
                                         std::make_shared<const Listing>(collectives_listing(report, *query.snapshot));
                                     made->ranks = std::make_shared<const Listing>(ranks_listing(report));
                                     made->durations = duration_ticks(report);
                                     made->operation_titles = {fmt::format("All {}", found->kinds.size())};
                                     for (const CollectiveKind& kind : found->kinds)
                                       made->operation_titles.push_back(collective_title(kind));
                                     made->straggler = straggler_text(report, *query.snapshot);
                                     made->clocks = clocks_text(*found);
                                     made->lacking = lacking_text(report);
                                     if (columns > 0) made->grid = make_collective_grid(made->report, measure, columns);
                                     made->chosen_event = chosen;
                                     if (chosen != kNoEvent) made->chosen = instance_with(report, chosen);
                                     if (report.straggler) {
                                       const auto cause = late_cause(query, *found, *report.straggler, scope.range);
                                       if (!cause) return cause.error();
                                       made->cause = cause_text(*cause, *query.snapshot);
                                     }
                                     return std::shared_ptr<const Told>(std::move(made));
                                   },
                                   {.of = SessionAnalysis::basis_of(found_)});
}

// Ranks and instances have other numbers in it.
void CollectivesPanel::adopt(std::shared_ptr<const Told> told) {
  if (shown_ && chosen_rank_) {
    const CollectiveRank& before = shown_->report->of->ranks[*chosen_rank_];
    const std::vector<CollectiveRank>& ranks = told->report->of->ranks;
    const auto same = std::find_if(ranks.begin(), ranks.end(), [&](const CollectiveRank& rank) {
      return rank.name == before.name && rank.host == before.host && rank.device == before.device;
    });
    chosen_rank_ = same == ranks.end() ? std::nullopt : std::optional(static_cast<std::uint32_t>(same - ranks.begin()));
  }
  chosen_instance_.reset();
  if (chosen_event_ == told->chosen_event && told->chosen) {
    chosen_instance_ = told->report->instances[*told->chosen];
  } else if (!looked_for_ && chosen_event_ != told->chosen_event) {  // chosen since it was asked for
    looked_for_ = chosen_event_;
  }
  map_ = told->grid;
  shown_ = std::move(told);
}

bool CollectivesPanel::is_stale() const {
  return shown_ && (!(shown_->asked == found_.key) || shown_->scope.range != told_.key.question.scope.range ||
                    shown_->scope.kind.has_value() != told_.key.question.scope.kind.has_value());
}

// What is selected elsewhere is marked with all parts of its operation.
void CollectivesPanel::follow_selected(const PanelContext& context) {
  const std::optional<EventId> event = context.tab.selected;
  if (!event) followed_ = kNoEvent;
  if (had_operation_ && !context.tab.operation) {
    chosen_instance_.reset();
    chosen_event_ = kNoEvent;
    looked_for_.reset();
  }
  if (event && *event != followed_) {
    followed_ = *event;
    looked_for_ = *event;
  }
  find_chosen(context);
  had_operation_ = context.tab.operation != nullptr;
}

void CollectivesPanel::find_chosen(const PanelContext& context) {
  if (!shown_ || !looked_for_) return;
  const SelectedQuestion question{{shown_->report}, *looked_for_};
  const auto found = context.analysis().ask(
      selected_, question, {.ages = false},
      [report = shown_->report, event = *looked_for_](const QueryContext&) -> SessionAnalysis::Found<OfSelected> {
        return std::make_shared<const OfSelected>(OfSelected{event, instance_with(*report, event)});
      });
  if (!found || !(selected_.value_key == question)) return;
  looked_for_.reset();
  if (!found->number) return;
  chosen_event_ = question.event;
  chosen_instance_ = shown_->report->instances[*found->number];
  context.tab.operation = shown_operation(*shown_->report, *found->number);
}

std::optional<bool> CollectivesPanel::has_content(const PanelContext& context) const {
  if (!shown_ || !context.tab.choices.filter.empty()) return std::nullopt;
  return !shown_->report->of->instances.empty();
}

void CollectivesPanel::draw(const PanelContext& context, const Rect& area) {
  const OwnSelection own(context.tab, scope_);
  Ui& ui = context.ui;
  ask(context);
  follow_selected(context);
  Rect rest = area;
  const bool narrow = area.width() < ui.px(kRoomForBoth);
  draw_head(context, rest.cut_top(ui.px(kCollectivesHead)).inset(ui.px(size::kPanelPadding), 0), narrow);
  const std::string& wrong = !found_.error.empty() ? found_.error : told_.error;
  if (!wrong.empty()) {
    empty_state(ui, "collectives.wrong", rest, icon::kError, wrong);
    return;
  }
  if (!shown_) {
    const auto share = found_.share();
    empty_state(ui, "collectives.loading", rest, icon::kClock,
                share ? fmt::format("Matching collectives, {:.0f} % ...", *share * 100)
                      : std::string("Matching collectives ..."));
    return;
  }
  if (shown_->report->of->instances.empty()) {
    empty_state(ui, "collectives.empty", rest, icon::kBalance,
                context.tab.choices.filter.empty()
                    ? "No collective operation in this session: AllReduce and its like come from profiles of several "
                      "devices, on tracks of collectives or as kernels of NCCL and RCCL."
                    : "No collective operation passes the filter.");
    return;
  }
  // One rank alone neither comes late nor waits for others that are known.
  if (shown_->report->of->present() < 2) measure_ = CollectiveMeasure::duration;
  rest = rest.inset(ui.px(size::kPanelPadding), 0);
  draw_sentence(context, rest.cut_top(ui.px(kSentence)));
  rest.cut_top(ui.px(4));
  rest.y1 -= ui.px(6);
  if (narrow) {
    part_ == Part::map ? draw_map(context, rest) : draw_table(context, rest, part_);
    return;
  }
  const float width = std::max(ui.px(kLeastTables), rest.width() * 0.46F);
  draw_tables(context, rest.cut_right(width));
  const Rect gap = rest.cut_right(ui.px(17));
  vertical_line(ui, gap.x0 + ui.px(8), gap.y0, gap.y1, ui.colour(Colour::line2));
  draw_map(context, rest);
}

void CollectivesPanel::draw_head(const PanelContext& context, Rect head, bool narrow) {
  Ui& ui = context.ui;
  (void)draw_scope(context, "collectives.scope", head, scope_, kBesideScope);
  const auto controls = [&](float width) { return head.cut_left(width).middle(ui.px(size::kControl)); };
  if (narrow) {
    const std::array<Segment, 3> parts = {{{.label = "Map"}, {.label = "Operations"}, {.label = "Ranks"}}};
    int part = static_cast<int>(part_);
    if (segmented(ui, "collectives.part", controls(segmented_width(ui, parts)), parts, part))
      part_ = static_cast<Part>(part);
    head.cut_left(ui.px(10));
  }
  std::array<Segment, 3> measures;
  for (std::size_t i = 0; i < measures.size(); ++i) {
    measures[i].label = kMeasures[i];
    measures[i].tooltip = kMeasureTips[i];
  }
  int measure = static_cast<int>(measure_);
  bool other = false;
  if (const float width = segmented_width(ui, measures); width <= head.width()) {
    other = segmented(ui, "collectives.measure", controls(width), measures, measure);
  } else {
    static const std::vector<std::string> kItems(kMeasures.begin(), kMeasures.end());
    const auto value = static_cast<std::size_t>(measure);
    const float room = std::min(head.width(), dropdown_width(ui, kItems[value]));
    other = dropdown(ui, "collectives.measure", controls(room), kItems, measure, {.tooltip = kMeasureTips[value]});
  }
  if (other) measure_ = static_cast<CollectiveMeasure>(measure);
  head.cut_left(ui.px(10));
  draw_ranks_menu(context, head);
  draw_operations_choice(context, head);
  if (!shown_ || shown_->report->of->present() < 2) return;
  static const std::vector<std::string> kClocks = {"Automatic", "As recorded", "By their ends"};
  int clocks = static_cast<int>(question_.clocks);
  const DropdownOptions options{
      .label = "Clocks: ",
      .tooltip =
          "By their ends: every rank's clock is set so that collectives end together, which they do but for the "
          "last step. Automatic: so where ranks have clocks of their own"};
  const auto chosen = static_cast<std::size_t>(clocks);
  const float width = dropdown_width(ui, kClocks[chosen], options);
  if (head.width() > width + ui.px(10)) {
    if (dropdown(ui, "collectives.clocks", controls(width), kClocks, clocks, options))
      question_.clocks = static_cast<RankClocks>(clocks);
    head.cut_left(ui.px(10));
  }
  if (is_stale()) {
    draw_text(ui, head, "updating ...", {.style = TextStyle::small, .colour = Colour::text3});
    return;
  }
  draw_text(ui, head, shown_->clocks, {.style = TextStyle::small, .colour = Colour::text2});
}

void CollectivesPanel::draw_operations_choice(const PanelContext& context, Rect& head) {
  Ui& ui = context.ui;
  if (!shown_) return;
  const std::vector<CollectiveKind>& kinds = shown_->report->of->kinds;
  if (kinds.size() < 2) return;
  const std::vector<std::string>& items = shown_->operation_titles;
  const auto same =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return kind_ && each.is_like(*kind_); });
  int chosen = same == kinds.end() ? 0 : static_cast<int>(same - kinds.begin()) + 1;
  const DropdownOptions options{.label = "Operations: "};
  const float width = dropdown_width(ui, items[static_cast<std::size_t>(chosen)], options);
  if (width > head.width()) return;
  if (dropdown(ui, "collectives.operations_of", head.cut_left(width).middle(ui.px(size::kControl)), items, chosen,
               options)) {
    kind_ = chosen == 0 ? std::nullopt : std::optional(kinds[static_cast<std::size_t>(chosen - 1)]);
  }
  head.cut_left(ui.px(10));
}

void CollectivesPanel::draw_sentence(const PanelContext& context, Rect row) const {
  Ui& ui = context.ui;
  const bool named = shown_->report->straggler.has_value();
  const bool stale = is_stale();
  ui.register_widget("collectives.sentence", row);
  draw_icon(ui, row.cut_left(ui.px(18)), named ? icon::kBalance : icon::kInfo,
            ui.colour(named ? Colour::warning_line : Colour::text2));
  row.cut_left(ui.px(6));
  const auto say = [&](const std::string& text, TextStyle style, Colour colour) {
    if (text.empty() || row.empty()) return;
    row.cut_left(draw_text(ui, row, text, {.style = style, .colour = stale ? Colour::text3 : colour}) + ui.px(10));
  };
  say(shown_->straggler.who, TextStyle::heading, named ? Colour::warning : Colour::text1);
  say(shown_->straggler.what, TextStyle::body, Colour::text1);
  say(shown_->cause, TextStyle::body, Colour::text2);
  say(shown_->lacking, TextStyle::small, Colour::text3);
}

void CollectivesPanel::draw_tables(const PanelContext& context, Rect area) {
  if (area.height() < context.ui.px(kRoomForTables)) {
    if (part_ == Part::map) part_ = Part::operations;
    Ui& ui = context.ui;
    const std::array<Segment, 2> parts = {{{.label = "By operation"}, {.label = "By rank"}}};
    int part = part_ == Part::ranks ? 1 : 0;
    Rect head = area.cut_top(ui.px(28));
    if (segmented(ui, "collectives.table", head.cut_left(segmented_width(ui, parts)).middle(ui.px(size::kSmallControl)),
                  parts, part)) {
      part_ = part == 1 ? Part::ranks : Part::operations;
    }
    draw_rows_of(context, area, part_);
    return;
  }
  if (area.height() >= context.ui.px(kRoomForStrips)) {
    draw_strips(context, area.cut_bottom(context.ui.px(kStrips)));
    area.cut_bottom(context.ui.px(8));
  }
  const std::size_t rows = shown_->operations->rows.row_count();
  const float wanted = context.ui.px(24 + size::kTableHead + size::kTableRow * (static_cast<float>(rows) + 0.5F) + 14);
  const float height = std::min(wanted, std::round(area.height() * 0.5F));
  draw_table(context, area.cut_top(height), Part::operations);
  area.cut_top(context.ui.px(6));
  draw_table(context, area, Part::ranks);
}

void CollectivesPanel::draw_table(const PanelContext& context, Rect area, Part part) {
  Ui& ui = context.ui;
  const bool operations = part == Part::operations;
  heading(ui, area.cut_top(ui.px(24)), operations ? "By operation" : "By rank",
          operations ? "times from the last arrival: waits are not in them"
                     : "others wait at once: their times are not added up");
  draw_rows_of(context, area, part);
}

void CollectivesPanel::draw_rows_of(const PanelContext& context, const Rect& area, Part part) {
  if (part != Part::ranks) {
    (void)operations_.draw(context, "collectives.operations", area, shown_->operations);
    return;
  }
  const auto hand = ranks_.draw(context, "collectives.ranks", area, shown_->ranks);
  if (hand.clicked) chosen_rank_ = static_cast<std::uint32_t>(*hand.clicked);
}

std::unique_ptr<Panel> make_collectives_panel(WorkerPool&, QueryHistory&, PeakBook&) {
  return std::make_unique<CollectivesPanel>();
}

}  // namespace accelscope::app
