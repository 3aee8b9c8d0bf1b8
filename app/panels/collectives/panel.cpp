#include "app/panels/collectives/panel.h"

#include <unordered_set>

#include "core/listing/analysis_listings.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

// Which ranks the timeline shows: all, a few above each other, or one in a tab of its own.

void CollectivesPanel::choose_rank(const PanelContext& context, std::uint32_t rank, bool zoom) {
  const analysis::CollectivesReport& report = *shown_->report;
  if (report.of->ranks[rank].missing) return;
  chosen_rank_ = rank;
  select_target(context, shown_->ranks->targets[rank], zoom);
}

std::size_t CollectivesPanel::shown_ranks(const session::SessionTab& tab) const {
  const analysis::Collectives& all = *shown_->report->of;
  if (tab.choices.rows.only.empty()) return all.present();
  const std::unordered_set<TrackNumber> only(tab.choices.rows.only.begin(), tab.choices.rows.only.end());
  return static_cast<std::size_t>(std::ranges::count_if(all.ranks, [&](const analysis::CollectiveRank& rank) {
    return !rank.tracks.empty() && only.contains(rank.tracks.front());
  }));
}

// None: all of them.
void CollectivesPanel::show_ranks(const PanelContext& context, const std::vector<std::uint32_t>& ranks) const {
  std::vector<TrackNumber> only;
  for (const std::uint32_t rank : ranks) {
    const std::vector<TrackNumber>& tracks = shown_->report->of->ranks[rank].tracks;
    only.insert(only.end(), tracks.begin(), tracks.end());
  }
  context.tab.change([&](session::ViewChoices& choices) { choices.rows.only = std::move(only); });
}

void CollectivesPanel::draw_ranks_menu(const PanelContext& context, Rect& head) {
  Ui& ui = context.ui;
  if (!shown_ || shown_->report->of->present() < 2) return;
  const analysis::CollectivesReport& report = *shown_->report;
  const std::size_t all = report.of->present(), shown = shown_ranks(context.tab);
  const std::string label =
      shown == all ? fmt::format("All {} ranks shown", all) : fmt::format("{} of {} ranks shown", shown, all);
  const ButtonOptions options{
      .label = label, .icon = icon::kEye, .tooltip = "Which ranks the timeline shows above each other"};
  const float width = button_width(ui, options);
  const Rect place = head.cut_right(width).middle(ui.px(size::kControl));
  head.cut_right(ui.px(12));
  if (button(ui, "collectives.shown", place, options)) open_menu_below(ui, "collectives.shown_menu", place);
  const std::vector<std::uint32_t> few = content::ranks_to_compare(report, kUsuallyShown);
  const std::string chosen = chosen_rank_ ? report.of->ranks[*chosen_rank_].name : std::string();
  std::vector<MenuItem> items = {
      {.id = "all", .label = "All ranks in one view", .checked = shown == all},
      {.id = "few",
       .label = fmt::format("{} ranks above each other{}", few.size(),
                            report.straggler ? ", the straggler among them" : "")},
      {.id = "many", .label = fmt::format("{} ranks", content::ranks_to_compare(report, kMostShown).size())}};
  if (chosen_rank_) {
    items.push_back(
        {.id = "add", .label = "Show " + chosen + " too", .enabled = shown < kMostShown, .line_above = true});
    items.push_back({.id = "one", .label = "Only " + chosen});
    items.push_back({.id = "tab", .label = "Open " + chosen + " in a tab"});
  }
  const auto picked = popup_menu(ui, "collectives.shown_menu", items);
  if (!picked) return;
  if (*picked == "all") show_ranks(context, {});
  if (*picked == "few") show_ranks(context, few);
  if (*picked == "many") show_ranks(context, content::ranks_to_compare(report, kMostShown));
  if (*picked == "one") show_ranks(context, {*chosen_rank_});
  if (*picked == "add") {
    std::vector<std::uint32_t> ranks = {*chosen_rank_};
    const std::vector<TrackNumber>& only = context.tab.choices.rows.only;
    for (std::uint32_t r = 0; r < report.of->ranks.size(); ++r) {
      const std::vector<TrackNumber>& tracks = report.of->ranks[r].tracks;
      const bool is_shown = !tracks.empty() && std::ranges::find(only, tracks.front()) != only.end();
      if (is_shown && r != *chosen_rank_) ranks.push_back(r);
    }
    show_ranks(context, ranks);
  }
  if (*picked == "tab") {
    const analysis::CollectiveRank& rank = report.of->ranks[*chosen_rank_];
    context.actions.open_part(rank.name, rank.host.empty() ? rank.device : rank.host + " " + rank.device, rank.tracks);
  }
}

// Two strips below the tables: how long the instances of an operation took, and when the ranks came to the chosen one.

namespace {

constexpr float kStripTitle = 22, kStripAxis = 16;

// A line of time from one value to another, with a tick for each thing on it.
class TickStrip {
 public:
  TickStrip(Ui& ui, const Rect& area, double from, double to) : ui_(ui), plot_(area), from_(from), to_(to) {
    axis_ = plot_.cut_bottom(ui.px(kStripAxis));
    fill(ui, plot_, ui.colour(Colour::bg1));
  }
  [[nodiscard]] float x_of(double value) const {
    const double share = to_ > from_ ? (value - from_) / (to_ - from_) : 0;
    const float inner = plot_.width() - ui_.px(8);
    return std::round(plot_.x0 + ui_.px(4) + static_cast<float>(std::clamp(share, 0.0, 1.0)) * inner);
  }
  void tick(double value, Colour colour) {
    const float x = x_of(value);
    if (colour == last_colour_ && x == last_x_) return;
    last_x_ = x;
    last_colour_ = colour;
    fill(ui_, {x, plot_.y0 + ui_.px(6), x + ui_.px(1), plot_.y1 - ui_.px(6)}, ui_.colour(colour));
  }
  void hatched(double from, double to, const std::string& text) {
    const Rect part{x_of(from), plot_.y0 + ui_.px(6), x_of(to), plot_.y1 - ui_.px(6)};
    if (part.width() < 2) return;
    hatch(ui_, ui_.draw(), part, ui_.colour(Colour::hatch));
    const float width = text_width(ui_, TextStyle::small, text) + ui_.px(12);
    if (width > part.width()) return;
    const Rect chip =
        Rect{part.centre().x - width / 2, part.y0, part.centre().x + width / 2, part.y1}.middle(ui_.px(18));
    fill(ui_, chip, ui_.colour(Colour::bg1), size::kChipRadius);
    draw_text(ui_, chip, text, {.style = TextStyle::small, .colour = Colour::text2, .align = Align::centre});
  }
  // A value on the axis, where there is room beside those before it.
  void label(double value, const std::string& text, Colour colour = Colour::text3) {
    const float width = text_width(ui_, TextStyle::mono_small, text);
    const float x = std::clamp(x_of(value) - width / 2, plot_.x0, std::max(plot_.x0, plot_.x1 - width));
    if (x < labelled_to_) return;
    draw_text(ui_, {x, axis_.y0, x + width + ui_.px(2), axis_.y1}, text,
              {.style = TextStyle::mono_small, .colour = colour, .fit = Fit::clip});
    labelled_to_ = x + width + ui_.px(8);
  }

 private:
  Ui& ui_;
  Rect plot_, axis_;
  double from_, to_;
  float last_x_ = -1;
  Colour last_colour_ = Colour::bg0;
  float labelled_to_ = -1e9F;
};

constexpr float kCollectivesHead = 36, kSentence = 24, kRoomForBoth = 1000, kLeastTables = 460, kRoomForTables = 280,
                kRoomForStrips = 380, kStrips = 88, kBesideScope = 760;

constexpr std::array<std::string_view, 3> kMeasures = {"Arrival", "Duration", "Wait"};
constexpr std::array<std::string_view, 3> kMeasureTips = {"When each rank arrived, after the first of them",
                                                          "From the last arrival to the end, of each rank",
                                                          "From each rank's arrival until the transfer began"};

}  // namespace

void CollectivesPanel::draw_strips(const PanelContext& context, Rect area) const {
  const float gap = context.ui.px(12);
  const bool several = shown_->report->compared > 0;
  if (!several) return draw_durations(context, area);
  const Rect left = area.cut_left((area.width() - gap) / 2);
  area.cut_left(gap);
  draw_durations(context, left);
  draw_arrivals(context, area);
}

void CollectivesPanel::draw_durations(const PanelContext& context, Rect area) const {
  Ui& ui = context.ui;
  const analysis::CollectivesReport& report = *shown_->report;
  const analysis::Collectives& all = *report.of;
  if (report.kinds.empty()) return;  // none in this stretch
  std::uint32_t kind = report.kinds.front().kind;
  if (chosen_instance_) kind = all.instances[*chosen_instance_].kind;
  if (shown_->scope.kind) kind = *shown_->scope.kind;
  const auto figures = std::ranges::find_if(report.kinds, [&](const auto& f) { return f.kind == kind; });
  if (figures == report.kinds.end()) return;
  ui.register_widget("collectives.durations", area);
  heading(ui, area.cut_top(ui.px(kStripTitle)), "Durations of " + listing::collective_title(all.kinds[kind]),
          figures->outliers == 0 ? std::string("no outlier")
                                 : fmt::format("{} above {}",
                                               figures->outliers == 1 ? std::string("1 outlier")
                                                                      : format_count(figures->outliers) + " outliers",
                                               format_duration(figures->fence_ns)));
  TickStrip strip(ui, area, 0, static_cast<double>(figures->max_ns));
  for (const content::DurationTick& each : shown_->durations[kind]) {
    strip.tick(static_cast<double>(each.share) * static_cast<double>(figures->max_ns),
               each.outlier ? Colour::warning_line : Colour::accent);
  }
  if (chosen_instance_ && all.instances[*chosen_instance_].kind == kind)
    strip.tick(static_cast<double>(all.instances[*chosen_instance_].duration_ns()), Colour::selection);
  strip.label(0, "0");
  const auto mark = [&](const char* what, std::int64_t ns) {
    const auto value = static_cast<double>(ns);
    strip.label(value, fmt::format("{} {}", what, format_duration(value)));
  };
  mark("p50", figures->median_ns);
  mark("max", figures->max_ns);
}

void CollectivesPanel::draw_arrivals(const PanelContext& context, Rect area) const {
  Ui& ui = context.ui;
  const analysis::Collectives& all = *shown_->report->of;
  const Rect title = area.cut_top(ui.px(kStripTitle));
  ui.register_widget("collectives.arrivals", area);
  if (!chosen_instance_) {
    heading(ui, title, "Arrivals", "click on a column of the map");
    TickStrip(ui, area, 0, 1);
    return;
  }
  const analysis::CollectiveInstance& instance = all.instances[*chosen_instance_];
  heading(ui, title, fmt::format("Arrivals in #{}", *chosen_instance_),
          fmt::format("{} ranks, a tick each", instance.count));
  TickStrip strip(ui, area, 0, static_cast<double>(instance.skew_ns()));
  const auto since = [&](std::int64_t ns) { return static_cast<double>(ns - instance.first_arrival_ns); };
  const auto noise = instance.count < 2 ? std::nullopt : all.noise_ns(instance.last_rank, instance.second_rank);
  const double alone = since(instance.last_arrival_ns) - since(instance.second_last_ns);
  const bool reported = noise && alone > *noise;
  if (reported) {
    strip.hatched(since(instance.second_last_ns), since(instance.last_arrival_ns),
                  fmt::format("{} wait {} for one", instance.count - 1, format_duration(alone)));
  }
  for (const analysis::CollectiveCell& cell : all.cells_of(instance)) {
    const bool last = reported && cell.rank == instance.last_rank;
    strip.tick(since(cell.arrival_ns), last ? Colour::warning_line : Colour::accent);
  }
  strip.label(0, "0");
  if (reported) {
    strip.label(
        since(instance.last_arrival_ns),
        fmt::format("{} +{}", all.ranks[instance.last_rank].name, format_duration(since(instance.last_arrival_ns))),
        Colour::warning);
  } else {
    strip.label(since(instance.last_arrival_ns), "+" + format_duration(since(instance.last_arrival_ns)));
  }
}

// All collectives first, whatever the range: a rank that came before it belongs to them.
void CollectivesPanel::ask(const PanelContext& context) {
  session::SessionAnalysis& analysis = context.analysis();
  EventFilter filter = scope_filter(context.tab, scope_);
  const TimeRange range = filter.range.value_or(TimeRange{});
  filter.range.reset();
  const auto found =
      analysis.ask_of(found_, filter, question_,
                      [clocks = question_.clocks](const QueryContext& query) -> FoundAnswer<analysis::Collectives> {
                        return analysis::find_collectives(query, clocks);
                      });
  if (!found) return;
  if (const auto reported = ask_reported(context, found, range); reported && reported != shown_) adopt(reported);
  // What is marked on the timeline may have had ranks to come.
  const bool is_marked = shown_ && context.tab.operation && shown_->chosen && shown_->chosen_event == chosen_event_;
  if (is_marked && marked_of_ != shown_)
    context.tab.operation = content::shown_operation(*shown_->report, *shown_->chosen);
  marked_of_ = shown_;
}

void CollectivesPanel::keep_up(const PanelContext& context) {
  if (context.tab.operation && !context.analysis().is_newest(found_)) ask(context);
}

// What is chosen by the user is looked for in it too, so that it stays chosen when this is shown.
std::shared_ptr<const CollectivesPanel::Reported> CollectivesPanel::ask_reported(
    const PanelContext& context, const std::shared_ptr<const analysis::Collectives>& found, const TimeRange& range) {
  analysis::CollectivesScope scope{range, std::nullopt};
  for (std::uint32_t k = 0; k < found->kinds.size() && kind_; ++k) {
    if (found->kinds[k].is_like(*kind_)) scope.kind = k;
  }
  return context.analysis().ask_of(
      reported_, EventFilter{}, ReportQuestion{{found}, scope},
      [found, scope, asked = found_.value_key, measure = measure_, columns = columns_,
       chosen = chosen_event_](const QueryContext& query) -> FoundAnswer<Reported> {
        auto made = std::make_shared<Reported>();
        made->asked = asked;
        made->scope = scope;
        made->report = analysis::report_collectives(found, scope);
        const analysis::CollectivesReport& report = *made->report;
        made->operations =
            std::make_shared<const listing::Listing>(listing::collectives_listing(report, *query.snapshot));
        made->ranks = std::make_shared<const listing::Listing>(listing::ranks_listing(report));
        made->durations = content::duration_ticks(report);
        made->operation_titles = {fmt::format("All {}", found->kinds.size())};
        for (const analysis::CollectiveKind& kind : found->kinds)
          made->operation_titles.push_back(listing::collective_title(kind));
        made->straggler = content::straggler_text(report, *query.snapshot);
        made->clocks = listing::clocks_text(*found);
        made->lacking = listing::lacking_text(report);
        if (columns > 0) made->grid = content::make_collective_grid(made->report, measure, columns);
        made->chosen_event = chosen;
        if (chosen != kNoEvent) made->chosen = content::instance_with(report, chosen);
        if (report.straggler) {
          const auto cause = TRY(analysis::late_cause(query, *found, *report.straggler, scope.range));
          made->cause = content::cause_text(cause, *query.snapshot);
        }
        return std::shared_ptr<const Reported>(std::move(made));
      },
      {.of = session::SessionAnalysis::basis_of(found_)});
}

// Ranks and instances have other numbers in it.
void CollectivesPanel::adopt(std::shared_ptr<const Reported> reported) {
  if (shown_ && chosen_rank_) {
    const analysis::CollectiveRank& before = shown_->report->of->ranks[*chosen_rank_];
    const std::vector<analysis::CollectiveRank>& ranks = reported->report->of->ranks;
    const auto same = std::ranges::find_if(ranks, [&](const analysis::CollectiveRank& rank) {
      return rank.name == before.name && rank.host == before.host && rank.device == before.device;
    });
    chosen_rank_ = same == ranks.end() ? std::nullopt : std::optional(static_cast<std::uint32_t>(same - ranks.begin()));
  }
  chosen_instance_.reset();
  if (chosen_event_ == reported->chosen_event && reported->chosen) {
    chosen_instance_ = reported->report->instances[*reported->chosen];
  } else if (!looked_for_ && chosen_event_ != reported->chosen_event) {  // chosen since it was asked for
    looked_for_ = chosen_event_;
  }
  map_ = reported->grid;
  shown_ = std::move(reported);
}

bool CollectivesPanel::is_stale() const {
  return shown_ && (!(shown_->asked == found_.key) || shown_->scope.range != reported_.key.question.scope.range ||
                    shown_->scope.kind.has_value() != reported_.key.question.scope.kind.has_value());
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
      [report = shown_->report, event = *looked_for_](const QueryContext&) -> FoundAnswer<OfSelected> {
        return std::make_shared<const OfSelected>(OfSelected{event, content::instance_with(*report, event)});
      });
  if (!found || !(selected_.value_key == question)) return;
  looked_for_.reset();
  if (!found->number) return;
  chosen_event_ = question.event;
  chosen_instance_ = shown_->report->instances[*found->number];
  context.tab.operation = content::shown_operation(*shown_->report, *found->number);
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
  draw_head(context, padded(ui, rest.cut_top(ui.px(kCollectivesHead))), narrow);
  const std::string& wrong = !found_.error.empty() ? found_.error : reported_.error;
  if (!wrong.empty()) return empty_sentence(ui, "collectives.wrong", rest, icon::kError, wrong);
  if (!shown_) {
    const auto share = found_.share();
    empty_state(ui, "collectives.loading", rest, icon::kClock,
                share ? fmt::format("Matching collectives, {:.0f} % ...", *share * 100)
                      : std::string("Matching collectives ..."));
    return;
  }
  if (shown_->report->of->instances.empty())
    return empty_sentence(
        ui, "collectives.empty", rest, icon::kBalance,
        context.tab.choices.filter.empty()
            ? "No collective operation in this session: AllReduce and its like come from profiles of several "
              "devices, on tracks of collectives or as kernels of NCCL and RCCL."
            : "No collective operation passes the filter.");
  // One rank alone neither comes late nor waits for others that are known.
  if (shown_->report->of->present() < 2) measure_ = content::CollectiveMeasure::duration;
  rest = padded(ui, rest);
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
  if (other) measure_ = static_cast<content::CollectiveMeasure>(measure);
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
      question_.clocks = static_cast<analysis::RankClocks>(clocks);
    head.cut_left(ui.px(10));
  }
  if (is_stale()) {
    draw_text(ui, head, "updating ...", kHintText);
    return;
  }
  draw_text(ui, head, shown_->clocks, kLabelText);
}

void CollectivesPanel::draw_operations_choice(const PanelContext& context, Rect& head) {
  Ui& ui = context.ui;
  if (!shown_) return;
  const std::vector<analysis::CollectiveKind>& kinds = shown_->report->of->kinds;
  if (kinds.size() < 2) return;
  const std::vector<std::string>& items = shown_->operation_titles;
  const auto same = std::ranges::find_if(kinds, [&](const auto& each) { return kind_ && each.is_like(*kind_); });
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
  const auto inform = [&](const std::string& text, TextStyle style, Colour colour) {
    if (text.empty() || row.empty()) return;
    row.cut_left(draw_text(ui, row, text, {.style = style, .colour = stale ? Colour::text3 : colour}) + ui.px(10));
  };
  inform(shown_->straggler.who, TextStyle::heading, named ? Colour::warning : Colour::text1);
  inform(shown_->straggler.what, TextStyle::body, Colour::text1);
  inform(shown_->cause, TextStyle::body, Colour::text2);
  inform(shown_->lacking, TextStyle::small, Colour::text3);
}

void CollectivesPanel::draw_tables(const PanelContext& context, Rect area) {
  if (area.height() < context.ui.px(kRoomForTables)) {
    if (part_ == Part::map) part_ = Part::operations;
    Ui& ui = context.ui;
    const std::array<Segment, 2> parts = {{{.label = "By operation"}, {.label = "By rank"}}};
    int part = part_ == Part::ranks ? 1 : 0;
    Rect head = area.cut_top(ui.px(28));
    if (segmented_left(ui, "collectives.table", head, parts, part, size::kSmallControl)) {
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
  const auto response = ranks_.draw(context, "collectives.ranks", area, shown_->ranks);
  if (response.clicked) chosen_rank_ = static_cast<std::uint32_t>(*response.clicked);
}

std::unique_ptr<Panel> make_collectives_panel(const PanelParts&) { return std::make_unique<CollectivesPanel>(); }

}  // namespace accelscope::app::panels
