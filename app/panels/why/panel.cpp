#include "app/panels/panel.h"
#include "app/content/advice_words.h"
#include "app/content/why/what_if.h"
#include "app/panels/answer_table.h"
#include "app/panels/why/findings.h"
#include "app/panels/why/what_if.h"
#include "app/session/shown_advice.h"
#include "core/analysis/replay/bounds.h"
#include "core/analysis/replay/what_if.h"
#include "core/listing/analysis_listings.h"
#include "core/listing/critical_path.h"
#include "core/model/palette.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// What is wrong, why, and what if: the findings and the reported errors; the bounds of the time, its critical path,
// waits and gaps; and changes, each with what it alone would save, whose replay stands beside what was recorded. A wide
// place shows the what-if beside the others. While the path's parts are in front, the timeline marks it.

enum WhyPage : std::uint8_t { kFindings, kErrors, kPath, kWaits, kGaps, kResources, kLines, kWhatIf };
constexpr std::size_t kWhyPages = kWhatIf + 1;

class WhyPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  void keep_up(const PanelContext& context) override;
  void leave(const PanelContext& context) override { context.tab.marked_path.reset(); }
  void open_at(std::string_view name) override;
  [[nodiscard]] bool pending() const override {
    return errors_.task.valid() || (follows_ && (retained_.task.valid() || replayed_.task.valid()));
  }
  [[nodiscard]] std::string badge(const session::SessionTab& tab) const override;  // how many findings

 private:
  struct Found {
    std::shared_ptr<const analysis::WorkGraph> graph;
    analysis::CriticalPath path;
    std::vector<analysis::BoundFigure> bounds;
    listing::Listing gaps, resources, lines, causes, segments;
    std::shared_ptr<const analysis::Advice> advice;  // of the range; null: the session's is that of all panels
    std::vector<std::string> suggested;
    std::shared_ptr<const session::ShownPath> shown;
    std::string headline;
  };
  struct Replay {
    std::shared_ptr<const Found> found;
    std::vector<std::string> texts, two;  // as asked
    WhatIfResult result;
  };
  struct ReplayQuestion {
    std::shared_ptr<const Found> found;
    std::vector<std::string> texts;
    std::vector<std::uint8_t> ticked;
    std::vector<std::string> two;  // the changes of the first two findings that have one
    bool operator==(const ReplayQuestion&) const = default;
  };
  [[nodiscard]] bool of_path() const noexcept { return page_ >= kPath; }
  [[nodiscard]] static FoundAnswer<Found> find(const QueryContext& query, const EventFilter& filter, bool finds_advice);
  void ask(const PanelContext& context, const EventFilter& wanted);
  void take_advice(const PanelContext& context);
  void ask_replay(const PanelContext& context);
  // `before`, where it is of the same path, tells what has been replayed already; may be null.
  [[nodiscard]] static FoundAnswer<Replay> replay(const QueryContext& query, const ReplayQuestion& question,
                                                  const std::shared_ptr<const Replay>& before);
  void draw_head(const PanelContext& context, Rect head, const analysis::ErrorReport* errors);
  void draw_pages(const PanelContext& context, Rect& head, const analysis::ErrorReport* errors);
  void draw_hint(const PanelContext& context, const Rect& row) const;
  void draw_findings(const PanelContext& context, Rect area);
  void draw_errors(const PanelContext& context, const Rect& area,
                   const std::shared_ptr<const analysis::ErrorReport>& errors);
  void draw_listing(const PanelContext& context, Rect area);
  void draw_bounds(const PanelContext& context, Rect bar) const;
  void draw_replay(const PanelContext& context, Rect area);
  void try_change(const std::string& change, bool beside);

  PanelScope scope_ = Scope::session;
  WhyPage page_ = kFindings;
  bool page_chosen_ = false;  // by the user
  bool marks_ = true;
  bool follows_ = false;  // it asked for the path in the last frame
  FindingList finding_list_;
  ErrorTables errors_table_;
  ChangeList changes_;
  FilteredAnswer<analysis::ErrorReport> errors_;
  FilteredAnswer<Found, EventFilter> retained_;
  RetainedAnswer<Replay, ReplayQuestion> replayed_;
  std::shared_ptr<const Found> shown_;
  std::shared_ptr<const Found> drawn_;  // in the last frame that drew it
  std::shared_ptr<const Replay> replay_;
  std::shared_ptr<const analysis::Advice> advice_;  // of what the scope is; null: not known yet
  std::vector<std::string> mends_;                  // the changes of its findings
  AnswerTable rows_;
};

constexpr float kWhyHead = 36, kWhyBounds = 22, kWhyOfTwo = 30, kWhyMark = 152;  // units
constexpr float kWhyChanges = 0.34F, kWhyMostChanges = 0.52F, kWhyReplay = 0.61F,
                kReplayBesideFindings = 0.34F;                                            // of the width
constexpr float kRoomForReplay = 720, kRoomBesideFindings = 1'860, kRoomForBounds = 120;  // units
constexpr std::size_t kMostGhostRows = 8;
constexpr std::size_t kMostMarked = 1'000'000;  // parts of a path that the timeline marks
constexpr double kNotableOverlap = 0.05;        // of what both save

Pixel bound_colour(const Ui& ui, analysis::PathBound bound) {
  constexpr std::array<unsigned, analysis::kPathBounds> kSlots = {8, 0, 6, 5, 3, 7, 0};
  return bound == analysis::PathBound::unknown ? ui.colour(Colour::hatch)
                                               : ui.theme().slice(kSlots[static_cast<std::size_t>(bound)]);
}

// The events of the path; of packets their transfers too.
Result<std::shared_ptr<const EventMask>> mask_of(const QueryContext& query, const analysis::WorkGraph& graph,
                                                 const analysis::CriticalPath& path) {
  std::vector<EventId> events;
  for (const analysis::PathSegment& segment : path.segments) {
    if (segment.is_gap || segment.node == analysis::kNoNode) continue;
    for (const EventId event : {graph.event(segment.node), graph.whole_event(segment.node)}) events.push_back(event);
  }
  std::ranges::sort(events);
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < query.snapshot->lanes.size(); ++i) {
    const EventId first = make_event_id(query.snapshot->lanes[i].number(), 0);
    const auto at = std::lower_bound(events.begin(), events.end(), first);
    if (at != events.end() && lane_of(*at) == lane_of(first)) lanes.push_back(i);
  }
  return mask_where(query, lanes, TimeRange{}, [&](const ScannedChunk&, const ScannedBlock& block, std::size_t) {
    const EventId first = block.id(block.first), last = block.id(block.last - 1);
    std::uint64_t bits = 0;
    for (auto at = std::lower_bound(events.begin(), events.end(), first); at != events.end() && *at <= last; ++at) {
      bits |= std::uint64_t{1} << (block.first + (ordinal_of(*at) - ordinal_of(first)));
    }
    return bits;
  });
}

Result<std::shared_ptr<const session::ShownPath>> marks_of(const QueryContext& query, const analysis::WorkGraph& graph,
                                                           const analysis::CriticalPath& path) {
  auto shown = std::make_shared<session::ShownPath>();
  if (path.segments.size() > kMostMarked) return std::shared_ptr<const session::ShownPath>(shown);
  for (const analysis::PathSegment& segment : path.segments) {
    session::ShownPath::Part part;
    part.begin_ns = segment.begin_ns;
    part.end_ns = segment.end_ns;
    part.is_gap = segment.is_gap;
    if (segment.is_gap) part.reason = analysis::wait_reason_name(segment.reason);
    if (segment.node != analysis::kNoNode) {
      part.event = graph.event(segment.node);
      part.name = graph.names[segment.node];
      part.event_begin_ns = graph.begin_ns[segment.node];
      part.event_end_ns = graph.end_ns[segment.node];
    }
    shown->parts.push_back(std::move(part));
  }
  auto mask = TRY(mask_of(query, graph, path));
  shown->mask = std::move(mask);
  return std::shared_ptr<const session::ShownPath>(shown);
}

}  // namespace

FoundAnswer<WhyPanel::Found> WhyPanel::find(const QueryContext& query, const EventFilter& filter, bool finds_advice) {
  auto graph = TRY(analysis::session_graph(query));
  const auto range = TRY(analysis::path_range(query, *graph, filter.range));
  Found found;
  found.graph = std::move(graph);
  found.path = analysis::find_critical_path(*found.graph, range);
  auto bounds = TRY(analysis::bounds_of_path(query, *found.graph, found.path, {}));
  found.bounds = std::move(bounds);
  found.headline = analysis::bounds_text(found.bounds);
  auto gaps = TRY(listing::gaps_listing(query, *found.graph, found.path));
  found.gaps = std::move(gaps);
  found.resources = listing::shares_listing(*found.graph, found.path, analysis::PathBy::resource);
  found.lines = listing::shares_listing(*found.graph, found.path, analysis::PathBy::line);
  found.segments = listing::path_listing(*found.graph, found.path);
  auto causes = TRY(listing::causes_listing(query, *found.graph, filter, analysis::WaitsBy::reason));
  found.causes = std::move(causes);
  found.suggested = content::suggested_changes(*found.graph, found.path);
  auto shown = TRY(marks_of(query, *found.graph, found.path));
  found.shown = std::move(shown);
  if (finds_advice) {
    auto advice = TRY(analysis::find_advice(query, filter));
    found.advice = std::move(advice);
  }
  return std::make_shared<const Found>(std::move(found));
}

FoundAnswer<WhyPanel::Replay> WhyPanel::replay(const QueryContext& query, const ReplayQuestion& question,
                                               const std::shared_ptr<const Replay>& before) {
  const analysis::WorkGraph& graph = *question.found->graph;
  const TimeRange range = question.found->path.range;
  QueryContext whole = query;
  whole.mask = nullptr;
  Replay out;
  out.found = question.found;
  out.texts = question.texts;
  out.two = question.two;
  analysis::RetainedDetails details;
  const bool same = before && before->found == question.found;
  const auto known = [&](const std::string& text) -> const std::optional<content::ChangeSaving>* {
    const auto place = same ? std::ranges::find(before->texts, text) : before->texts.end();
    return place == before->texts.end()
               ? nullptr
               : &before->result.savings[static_cast<std::size_t>(place - before->texts.begin())];
  };
  const auto saved = [&](std::span<const analysis::WhatIfChange> changes) -> std::optional<content::ChangeSaving> {
    const auto result = analysis::replay_range(whole, graph, changes, range, &details);
    if (!result && changes.size() == 1) out.result.wrong = result.message();
    return result ? std::optional(content::ChangeSaving{result->least_ns, result->most_ns}) : std::nullopt;
  };
  std::vector<analysis::WhatIfChange> ticked, two;
  std::int64_t of_each = 0;
  for (std::size_t i = 0; i < question.texts.size(); ++i) {
    auto change = TRY(analysis::parse_change(question.texts[i]));
    const std::string wrong = out.result.wrong;
    const auto* earlier = same ? known(question.texts[i]) : nullptr;
    const bool reuse = earlier != nullptr && (*earlier || question.ticked[i] == 0);
    out.result.savings.push_back(reuse ? *earlier : saved({&change, 1}));
    if (query.control.cancelled()) return Error{"cancelled"};
    if (question.ticked[i] == 0) out.result.wrong = wrong;  // it is of a change that nobody asked for
    const std::optional<content::ChangeSaving>& saving = out.result.savings.back();
    if (saving && std::ranges::find(question.two, question.texts[i]) != question.two.end()) {
      two.push_back(change);
      of_each += saving->least_ns;
    }
    if (saving && question.ticked[i] != 0) ticked.push_back(std::move(change));
  }
  if (same && before->two == question.two && two.size() == 2) {
    out.result.of_two = before->result.of_two;
  } else if (two.size() == 2) {
    const std::optional<content::ChangeSaving> both = saved(two);
    if (query.control.cancelled()) return Error{"cancelled"};
    const auto notable = static_cast<std::int64_t>(kNotableOverlap * static_cast<double>(of_each));
    if (both && std::abs(both->least_ns - of_each) > notable) {
      out.result.of_two = fmt::format(
          "The first two {}: both together save {} {}", both->least_ns > of_each ? "hide each other" : "overlap",
          both->least_ns == both->most_ns ? "≈" : "at least", format_duration(both->least_ns));
    }
  }
  if (ticked.empty()) return std::make_shared<const Replay>(std::move(out));
  auto together = content::answer_what_if(whole, graph, ticked, range, &details);
  if (!together) {
    out.result.wrong = together.message();
  } else {
    out.result.ghost = {together->result.total_before_ns, together->result.total_after_ns,
                        content::ghost_rows(graph, *together, kMostGhostRows)};
    together->result.begin_ns = {};  // the rows hold what is shown of them
    together->result.end_ns = {};
    out.result.together = std::move(*together);
  }
  return std::make_shared<const Replay>(std::move(out));
}

void WhyPanel::ask(const PanelContext& context, const EventFilter& wanted) {
  const bool own_advice = scope_ != Scope::session;
  shown_ = context.analysis().ask_of(retained_, wanted, wanted, [wanted, own_advice](const QueryContext& query) {
    return find(query, wanted, own_advice);
  });
}

void WhyPanel::keep_up(const PanelContext& context) {
  if (!context.tab.marked_path || context.analysis().is_newest(retained_)) return;
  ask(context, retained_.key.filter);
  context.tab.marked_path = shown_ ? shown_->shown : nullptr;
}

void WhyPanel::open_at(std::string_view name) {
  if (name == "why" && !of_path()) page_ = kPath;
  if (name == "warnings") {
    page_ = kFindings;
    page_chosen_ = false;
  }
}

std::string WhyPanel::badge(const session::SessionTab& tab) const {
  const std::shared_ptr<const analysis::Advice> advice = session::shown_advice(tab);
  if (!advice || advice->findings.empty()) return "";
  return std::to_string(advice->findings.size()) +
         (tab.analysis->is_newest(tab.analysis->advice_state()) ? "" : " ...");
}

void WhyPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const OwnSelection own(context.tab, scope_);
  session::SessionAnalysis& analysis = context.analysis();
  const EventFilter& filter = analysis.filter();
  const auto errors = analysis.ask_of(errors_, filter, NoQuestion{}, [filter](const QueryContext& query) {
    return analysis::report_errors(query, filter);
  });
  const bool wide = area.width() >= ui.px(kRoomBesideFindings);
  const bool beside =
      page_ != kErrors && page_ != kWhatIf && (of_path() ? area.width() >= ui.px(kRoomForReplay) : wide);
  follows_ = of_path() || beside || scope_ != Scope::session;
  if (follows_) ask(context, scope_filter(context.tab, scope_));
  context.tab.marked_path = marks_ && of_path() && shown_ ? shown_->shown : nullptr;
  take_advice(context);
  // Where there are errors and nothing else, they are what the user came for.
  const bool only_errors = advice_ && advice_->findings.empty() && errors && !errors->errors.empty();
  if (!page_chosen_ && !of_path() && advice_ && errors) page_ = only_errors ? kErrors : kFindings;
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(kWhyHead))), errors.get());
  const bool can_replay = follows_ && retained_.error.empty() && shown_ && shown_->graph->count() > 0;
  // Nobody takes an answer about changes where none are shown, and the panel would wait for it for ever.
  can_replay && (beside || page_ == kWhatIf) ? ask_replay(context) : replayed_.drop();
  if (page_ == kErrors) return draw_errors(context, rest, errors);
  if (of_path()) {
    if (draw_missing(ui, "why", rest, retained_.error, shown_ != nullptr, "Following what waited for what ...")) return;
    if (shown_->graph->count() == 0) {
      return empty_sentence(
          ui, "why.empty", rest, icon::kSitemap,
          "Nothing of this session works, moves or waits: record engines, streams or calls of a host.");
    }
  }
  if (page_ == kWhatIf) return draw_replay(context, rest);
  if (beside && can_replay) {
    const Rect right = rest.cut_right(std::round(rest.width() * (of_path() ? kWhyReplay : kReplayBesideFindings)));
    vertical_line(ui, right.x0, right.y0, right.y1, ui.colour(Colour::line2));
    draw_replay(context, right);
  }
  page_ == kFindings ? draw_findings(context, rest) : draw_listing(context, rest);
  if (!finding_list_.tried().empty() && page_ == kFindings) try_change(finding_list_.tried(), beside);
}

void WhyPanel::try_change(const std::string& change, bool beside) {
  changes_.choose(change);
  if (beside) return;
  page_ = kWhatIf;
  page_chosen_ = true;
}

void WhyPanel::take_advice(const PanelContext& context) {
  const std::shared_ptr<const analysis::Advice> advice = scope_ == Scope::session ? context.analysis().advice()
                                                         : shown_                 ? shown_->advice
                                                                                  : nullptr;
  const bool other = advice && advice != advice_;
  if (other) {
    advice_ = advice;
    mends_.clear();
    for (const analysis::Finding& finding : advice->findings) {
      if (!finding.change.empty()) mends_.push_back(finding.change);
    }
  }
  if (!shown_ || (shown_ == drawn_ && !other)) return;
  drawn_ = shown_;
  changes_.suggest(shown_->suggested);
  if (advice_) changes_.offer(mends_);
}

void WhyPanel::ask_replay(const PanelContext& context) {
  ReplayQuestion question{shown_, {}, {}, {}};
  if (mends_.size() >= 2) question.two = {mends_[0], mends_[1]};
  for (const ShownChange& change : changes_.all()) {
    question.texts.push_back(change.text);
    question.ticked.push_back(change.on ? 1 : 0);
  }
  replay_ = context.analysis().ask(
      replayed_, question, {.of = session::SessionAnalysis::basis_of(retained_), .tells_itself = true},
      [question, last = replay_](const QueryContext& query) { return replay(query, question, last); });
}

// As segments, or as a drop-down where there is no room for them.
void WhyPanel::draw_pages(const PanelContext& context, Rect& head, const analysis::ErrorReport* errors) {
  Ui& ui = context.ui;
  const std::string findings = advice_ ? fmt::format("Findings  {}", advice_->findings.size()) : "Findings";
  const std::string reported =
      errors == nullptr ? "Errors" : fmt::format("Errors  {}", format_count(errors->errors.size() + errors->left_out));
  const std::array<Segment, kWhyPages> pages = {
      {{.label = findings, .tooltip = "What costs time that could be saved"},
       {.label = reported, .tooltip = "What was reported as an error, with what ran around it on every engine"},
       {.label = "Path", .tooltip = "What the length was made of: each event that the next one waited for"},
       {.label = "Waits", .tooltip = "What was waited for"},
       {.label = "Gaps", .tooltip = "Stretches of the path in which nothing ran"},
       {.label = "By resource"},
       {.label = "By line"},
       {.label = "What-if", .tooltip = "How long it would take with a change"}}};
  int page = page_;
  bool chosen = false;
  if (head.width() >= segmented_width(ui, pages)) {
    chosen = segmented_left(ui, "why.page", head, pages, page);
  } else {
    std::vector<MenuItem> items;
    for (std::size_t i = 0; i < pages.size(); ++i)
      items.push_back({.id = std::to_string(i), .label = std::string(pages[i].label), .checked = page_ == i});
    const std::string_view value = pages[page_].label;
    const Rect place = head.cut_left(std::min(head.width(), dropdown_width(ui, value))).middle(ui.px(size::kControl));
    if (const auto picked = dropdown_menu(ui, "why.pages", place, value, items)) {
      page = std::stoi(*picked);
      chosen = true;
    }
  }
  if (!chosen) return;
  page_ = static_cast<WhyPage>(page);
  page_chosen_ = true;
}

void WhyPanel::draw_head(const PanelContext& context, Rect head, const analysis::ErrorReport* errors) {
  Ui& ui = context.ui;
  constexpr float kAllPages = 620;  // units: the scope becomes a drop-down before the pages do
  (void)draw_scope(context, "why.scope", head, scope_, kAllPages + (of_path() ? kWhyMark : 0));
  if (of_path()) {
    const float mark = checkbox_width(ui, "On the timeline");
    (void)checkbox(ui, "why.marks", head.cut_right(mark), "On the timeline", marks_);
    head.cut_right(ui.px(12));
  }
  draw_pages(context, head, errors);
  head.cut_left(ui.px(16));
  if (!of_path()) return draw_hint(context, head);
  std::string hint = retained_.stale() ? "of the earlier range" : scope_text(context.tab, scope_);
  if (shown_ && shown_->graph->count() > 0) {
    hint = fmt::format("{} of {}", format_duration(shown_->path.range.length_ns()), hint);
  }
  heading(ui, head, shown_ && !shown_->headline.empty() ? shown_->headline : "Why", hint);
}

// What was not judged stands in the tooltip too: the line may be too short for it.
void WhyPanel::draw_hint(const PanelContext& context, const Rect& row) const {
  Ui& ui = context.ui;
  std::string hint, more;
  bool stale = false;
  if (page_ == kFindings && advice_) {
    more = analysis::unjudged_text(*advice_);
    hint = "each alone: savings do not add up; " + analysis::judged_text(*advice_) + (more.empty() ? "" : "; " + more);
    stale = scope_ == Scope::session ? context.analysis().advice_state().stale() : retained_.stale();
    if (scope_ != Scope::session) hint = scope_text(context.tab, scope_) + "; " + hint;
  } else if (page_ == kErrors && errors_.value) {
    hint = "what was under way on every engine when the error was reported, else what began last before";
    stale = errors_.stale();
  }
  if (stale) hint = "of the earlier filter; " + hint;
  draw_text(ui, row, hint, kHintText);
  if (hint.empty()) return;
  const Rect text{row.x0, row.y0, row.x0 + std::min(row.width(), text_width(ui, TextStyle::small, hint)), row.y1};
  tooltip(ui, interact(ui, "warnings.judged", text, {.keys = FocusStopKind::open}), text, hint);
}

// One bar of the bounds; each tells its figures where the pointer rests.
void WhyPanel::draw_bounds(const PanelContext& context, Rect bar) const {
  Ui& ui = context.ui;
  const auto total = static_cast<double>(std::max<std::int64_t>(1, shown_->path.range.length_ns()));
  bar = bar.middle(ui.px(14));
  float x = bar.x0;
  for (const analysis::BoundFigure& bound : shown_->bounds) {
    const double share = static_cast<double>(bound.path_ns) / total;
    if (share <= 0) continue;
    const Rect box{x, bar.y0, std::min(bar.x1, x + bar.width() * static_cast<float>(share)), bar.y1};
    x = box.x1;
    fill(ui, box, bound_colour(ui, bound.bound));
    const std::string name(analysis::path_bound_name(bound.bound));
    const std::string text = fmt::format("{} {}", name, format_share(share));
    if (text_width(ui, TextStyle::small, text) + ui.px(8) < box.width()) {
      draw_text(ui, box, text,
                {.style = TextStyle::small,
                 .colour = bound.bound == analysis::PathBound::unknown ? Colour::text1 : Colour::ink,
                 .align = Align::centre,
                 .fit = Fit::clip});
    }
    const std::string ideal = bound.ideal_ns ? "Ideal " + format_duration(*bound.ideal_ns) + ": " + bound.rests_on
                                             : "Ideal unknown: " + bound.rests_on;
    tooltip(ui, interact(ui, "why.bound." + name, box, {.keys = FocusStopKind::open, .group = "why.bounds"}), box,
            fmt::format("{}: {} of the critical path, {}\n{}", name, format_duration(bound.path_ns),
                        format_share(share), ideal));
  }
}

void WhyPanel::draw_findings(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const auto& state = context.analysis().advice_state();
  const bool of_session = scope_ == Scope::session;
  const std::string& own = of_session ? state.error : retained_.error;
  const std::string& problem = own.empty() ? context.analysis().mask_error(session::MaskUse::filter) : own;
  if (!problem.empty()) {
    const Rect place = area.cut_top(banner_height(ui, area.width(), problem)).inset(ui.px(8), 0);
    banner(ui, place, BannerKind::error, problem, "Try another filter, or open the session again");
  }
  if (of_session ? state.task.valid() : retained_.task.valid()) {
    progress(ui, "warnings.progress", area.cut_top(ui.px(26)),
             {.label = "Looking for what costs time",
              .share = (of_session ? state.share() : retained_.share()).value_or(-1)});
  }
  if (!advice_) return;
  if (advice_->findings.empty()) {
    const bool judged = !advice_->judged.empty(), filtered = !context.analysis().filter().empty();
    empty_state(ui, "warnings.empty", area, judged ? icon::kCheckCircle : icon::kInfo,
                content::nothing_found_text(*advice_, filtered));
    return;
  }
  finding_list_.draw(context, area, advice_);
}

void WhyPanel::draw_errors(const PanelContext& context, const Rect& area,
                           const std::shared_ptr<const analysis::ErrorReport>& errors) {
  Ui& ui = context.ui;
  const std::string& problem =
      errors_.error.empty() ? context.analysis().mask_error(session::MaskUse::filter) : errors_.error;
  if (!problem.empty()) return empty_sentence(ui, "warnings.errors.failed", area, icon::kWarning, problem);
  if (!errors) return empty_sentence(ui, "warnings.errors.loading", area, icon::kClock, "Looking for errors ...");
  if (errors->errors.empty())
    return empty_sentence(
        ui, "warnings.errors.empty", area, icon::kCheckCircle,
        "No error was reported. Errors of hardware come with device profiles (out of bounds, NaN, completion).");
  errors_table_.draw(context, area, errors);
}

void WhyPanel::draw_listing(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  if (area.height() >= ui.px(kRoomForBounds)) {
    draw_bounds(context, padded(ui, area.cut_top(ui.px(kWhyBounds))));
  }
  const std::array<const listing::Listing*, kWhyPages> listings = {
      nullptr, nullptr, &shown_->segments, &shown_->causes, &shown_->gaps, &shown_->resources, &shown_->lines, nullptr};
  const listing::Listing* listing = listings[page_];
  draw_note(ui, area, listing->note, kRoomForBounds);
  if (listing->rows.row_count() == 0) {
    return empty_sentence(ui, "why.none", area, icon::kCheckCircle,
                          page_ == kWaits ? "Nothing says that it waited." : "None.");
  }
  (void)rows_.draw(context, "why.rows", area, std::shared_ptr<const listing::Listing>(shown_, listing));
}

// The changes, and right of them what the ticked ones give.
void WhyPanel::draw_replay(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const bool same = replay_ && replay_->result.savings.size() == changes_.all().size();
  if (replay_ && !replay_->result.of_two.empty() && mends_.size() >= 2 && area.height() >= ui.px(kRoomForBounds)) {
    Rect note = padded(ui, area.cut_bottom(ui.px(kWhyOfTwo))).inset(0, ui.px(2));
    fill(ui, note, ui.colour(Colour::warning_bg), 3);
    note = note.inset(ui.px(8), 0);
    const ButtonOptions both{.label = "Try both", .kind = ButtonKind::quiet};
    if (button(ui, "why.both", note.cut_right(button_width(ui, both)), both)) {
      for (std::size_t i = 0; i < 2; ++i) changes_.choose(mends_[i]);
    }
    draw_text(ui, note, replay_->result.of_two, {.style = TextStyle::small, .colour = Colour::warning});
  }
  const float whole = changes_.whole_width(ui) + 2 * ui.px(size::kPanelPadding);
  const Rect changes =
      area.cut_left(std::round(std::clamp(whole, area.width() * kWhyChanges, area.width() * kWhyMostChanges)));
  vertical_line(ui, changes.x1, changes.y0, changes.y1, ui.colour(Colour::line2));
  static const std::vector<std::optional<content::ChangeSaving>> kNone;
  changes_.draw(context, padded(ui, changes), same ? replay_->result.savings : kNone);
  area = area.inset(ui.px(size::kPanelPadding), ui.px(4));
  if (!replayed_.error.empty()) return empty_sentence(ui, "why.failed", area, icon::kError, replayed_.error);
  if (!replay_) return empty_sentence(ui, "why.replaying", area, icon::kClock, "Replaying ...");
  draw_what_if(context, area, replay_->result, replayed_.stale());
}

std::unique_ptr<Panel> make_why_panel(const PanelParts&) { return std::make_unique<WhyPanel>(); }

}  // namespace accelscope::app::panels
