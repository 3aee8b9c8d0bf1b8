#include <imgui.h>

#include "app/content/advice_words.h"
#include "app/content/why/what_if.h"
#include "app/panels/answer_table.h"
#include "app/panels/panel.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/replay/bounds.h"
#include "core/analysis/replay/what_if.h"
#include "core/listing/analysis_listings.h"
#include "core/listing/critical_path.h"
#include "core/model/palette.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// Why the session took as long as it did: what was found, its bounds, gaps, waits and critical path; changes, each with
// what it alone would save, a finding that is clicked among them; and the result of those that are ticked, as a
// timeline beside the one that was recorded. While it is open, the timeline marks the path.

// The changes of a what-if in the panel: those that suit the session and those that the user has written, each ticked
// or not, with what it alone would save.

struct ShownChange {
  std::string text;
  bool on = false, suggested = false;
};

class ChangeList {
 public:
  // What suits the session comes in place of what suited it before; the user's own stay. The first is ticked until the
  // user ticks.
  void suggest(const std::vector<std::string>& texts);
  void draw(const PanelContext& context, const Rect& area, const std::vector<std::optional<ChangeSaving>>& savings);
  // Further ones that suit it, until others do: before those that are there. Until the user ticks the first of them
  // alone is ticked.
  void offer(const std::vector<std::string>& texts);
  // What a row of another list proposes: it is ticked, and added where it is not there.
  void choose(const std::string& text);
  [[nodiscard]] const std::vector<ShownChange>& all() const noexcept { return changes_; }

 private:
  void add_typed(const PanelContext& context);

  std::vector<ShownChange> changes_;
  bool touched_ = false;  // the user has ticked or written something
  std::string typed_, wrong_;
};

// The same lanes on one axis: now above, predicted below in a dashed edge; time saved is hatched.

struct GhostTimes {
  std::int64_t before_ns = 0, after_ns = 0;
  std::vector<GhostRow> rows;
};

class WhyPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  void keep_up(const PanelContext& context) override;
  [[nodiscard]] bool pending() const override { return retained_.task.valid() || replayed_.task.valid(); }

 private:
  struct Found {
    std::shared_ptr<const WorkGraph> graph;
    CriticalPath path;
    std::vector<BoundFigure> bounds;
    Listing gaps, resources, lines, causes, segments;
    std::shared_ptr<const Advice> advice;  // of the range; null: the session's is that of all panels
    std::vector<std::string> suggested;
    std::shared_ptr<const ShownPath> shown;
    std::string headline;
  };
  // What the ticked changes give together, and each change alone.
  struct Replay {
    std::shared_ptr<const Found> found;
    std::vector<std::string> texts, two;  // as asked
    std::vector<std::optional<ChangeSaving>> savings;
    std::string of_two;  // what the first two findings save together, where that is not the sum of both
    std::optional<WhatIfAnswer> together;
    GhostTimes ghost;
    std::string wrong;
  };
  struct ReplayQuestion {
    std::shared_ptr<const Found> found;
    std::vector<std::string> texts;
    std::vector<std::uint8_t> ticked;
    std::vector<std::string> two;  // the changes of the first two findings that have one
    bool operator==(const ReplayQuestion&) const = default;
  };
  // The findings of a range, as a table and the change that mends each.
  struct Findings {
    std::shared_ptr<const Advice> advice;
    Listing rows;
    std::vector<std::string> changes;  // that mend them, of those that have one
  };
  [[nodiscard]] static FoundAnswer<Found> find(const QueryContext& query, const EventFilter& filter, bool finds_advice);
  void ask(const PanelContext& context, const EventFilter& wanted);
  void take_findings(const PanelContext& context);
  // `before`, where it is of the same path, tells what has been replayed already; may be null.
  [[nodiscard]] static FoundAnswer<Replay> replay(const QueryContext& query, const ReplayQuestion& question,
                                                  const std::shared_ptr<const Replay>& before);
  void draw_head(const PanelContext& context, Rect head);
  void draw_found(const PanelContext& context, Rect area);
  void draw_findings(const PanelContext& context, Rect area);
  void draw_bounds(const PanelContext& context, Rect bar) const;
  void draw_result(const PanelContext& context, Rect area);

  PanelScope scope_ = Scope::session;
  int page_ = 0;
  bool marks_ = true;
  ChangeList changes_;
  FilteredAnswer<Found, EventFilter> retained_;
  RetainedAnswer<Replay, ReplayQuestion> replayed_;
  std::shared_ptr<const Found> shown_;
  std::shared_ptr<const Found> drawn_;  // in the last frame that drew it
  std::shared_ptr<const Replay> replay_;
  std::shared_ptr<const Findings> findings_;  // null: not known yet
  AnswerTable rows_, finding_rows_;
};

constexpr float kChangeRow = 26, kChangeSaving = 92, kChangeInput = 26;  // units

constexpr float kGhostGap = 8, kGhostLabel = 18, kLeastGhostRow = 3, kMostGhostRow = 12;  // units

unsigned ghost_slot(WorkKind kind) {
  constexpr unsigned kTransfer = 8, kCompute = 0, kCollective = 7, kHost = 5, kOther = 2;
  switch (kind) {
    case WorkKind::transfer:
      return kTransfer;
    case WorkKind::compute:
      return kCompute;
    case WorkKind::collective:
      return kCollective;
    case WorkKind::host:
      return kHost;
    default:
      return kOther;
  }
}

// Runs of equal cells as one box each, so that a row takes few of them.
void draw_cells(Ui& ui, const Rect& row, const std::vector<float>& cells, Pixel colour) {
  constexpr float kSteps = 5;
  const float width = row.width() / static_cast<float>(cells.size());
  const auto step = [&](std::size_t i) { return std::min(kSteps, std::ceil(cells[i] * kSteps)); };
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t next = i + 1;
    while (next < cells.size() && step(next) == step(i)) ++next;
    if (cells[i] > 0) {
      const Rect box{row.x0 + width * static_cast<float>(i), row.y0, row.x0 + width * static_cast<float>(next), row.y1};
      fill(ui, box, mix(ui.colour(Colour::bg1), colour, step(i) / kSteps));
    }
    i = next;
  }
}

void draw_end(Ui& ui, const Rect& box, float x, const std::string& text, bool predicted) {
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(10);
  const float x1 = std::clamp(x, box.x0 + width, box.x1);
  const Rect chip{x1 - width, box.y1 - ui.px(16), x1, box.y1};
  fill(ui, chip, ui.colour(predicted ? Colour::accent : Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text,
            {.style = TextStyle::mono_small,
             .colour = predicted ? Colour::on_accent : Colour::text1,
             .align = Align::centre,
             .fit = Fit::clip});
}

void draw_ghost(const PanelContext& context, const Rect& area, const GhostTimes& times, bool stale) {
  Ui& ui = context.ui;
  if (times.rows.empty() || area.height() < ui.px(40)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float half = (area.height() - ui.px(kGhostGap)) / 2;
  const auto count = static_cast<float>(times.rows.size());
  const float row_height = std::clamp((half - ui.px(kGhostLabel)) / count, ui.px(kLeastGhostRow), ui.px(kMostGhostRow));
  const auto longest = static_cast<double>(std::max<std::int64_t>({times.before_ns, times.after_ns, 1}));
  const auto x_of = [&](std::int64_t ns) {
    return area.x0 + area.width() * static_cast<float>(static_cast<double>(ns) / longest);
  };
  for (const bool predicted : {false, true}) {
    Rect box = area;
    box.y0 = area.y0 + (predicted ? half + ui.px(kGhostGap) : 0);
    box.y1 = std::min(area.y1, box.y0 + row_height * count + ui.px(kGhostLabel));
    fill(ui, box, ui.colour(Colour::bg1));
    Rect rows = box;
    for (const GhostRow& row : times.rows) {
      const Rect cells = rows.cut_top(row_height).inset(0, std::min(1.0F, row_height / 8));
      draw_cells(ui, cells, predicted ? row.then : row.now, ui.theme().slice(ghost_slot(row.kind)));
      const std::string name = std::string("why.ghost.") + (predicted ? "then." : "now.") + row.label;
      tooltip(ui, interact(ui, name, cells, {.disabled = false, .below_others = true, .no_focus = true}), cells,
              row.label);
    }
    const std::int64_t length_ns = predicted ? times.after_ns : times.before_ns;
    const float end = x_of(length_ns);
    if (predicted && times.after_ns < times.before_ns) {
      const Rect saved{end, box.y0, x_of(times.before_ns), box.y1};
      fill(ui, saved, ui.colour(Colour::hatch_bg));
      hatch(ui, list, saved, ui.colour(Colour::hatch));
    }
    const std::string total = format_duration(length_ns);
    draw_end(ui, box, end, stale && predicted ? "..." : predicted ? "≈ " + total : "now " + total, predicted);
    if (!predicted) continue;
    const Pixel edge = ui.colour(stale ? Colour::text3 : Colour::accent);
    dashed_line(ui, list, {box.x0, box.y0}, {end, box.y0}, edge);
    dashed_line(ui, list, {box.x0, box.y1}, {end, box.y1}, edge);
    dashed_line(ui, list, {box.x0, box.y0}, {box.x0, box.y1}, edge);
    dashed_line(ui, list, {end, box.y0}, {end, box.y1}, edge);
  }
}

constexpr float kWhyHead = 36, kWhyBounds = 22, kWhyNote = 20, kWhyOfTwo = 30;  // units
constexpr float kWhyChanges = 0.21F, kWhyResult = 0.40F;                        // of the width
constexpr float kTermBoth = 140, kTermName = 96;                                // units
constexpr float kRoomForChanges = 720, kRoomForBounds = 120;                    // units
constexpr std::size_t kMostGhostRows = 8, kMostShares = 8;
constexpr std::size_t kMostMarked = 1'000'000;  // parts of a path that the timeline marks

enum WhyPage : std::uint8_t { kFindings, kGaps, kResources, kLines, kWaits, kPath };
constexpr std::array<std::string_view, 6> kWhyPages = {"Findings", "Gaps", "By resource", "By line", "Waits", "Path"};
constexpr double kNotableOverlap = 0.05;  // of what both save

Pixel bound_colour(const Ui& ui, PathBound bound) {
  constexpr std::array<unsigned, kPathBounds> kSlots = {8, 0, 6, 5, 3, 7, 0};
  return bound == PathBound::unknown ? ui.colour(Colour::hatch)
                                     : ui.theme().slice(kSlots[static_cast<std::size_t>(bound)]);
}

// The events of the path; of packets their transfers too.
Result<std::shared_ptr<const EventMask>> mask_of(const QueryContext& query, const WorkGraph& graph,
                                                 const CriticalPath& path) {
  std::vector<EventId> events;
  for (const PathSegment& segment : path.segments) {
    if (segment.is_gap || segment.node == kNoNode) continue;
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

Result<std::shared_ptr<const ShownPath>> marks_of(const QueryContext& query, const WorkGraph& graph,
                                                  const CriticalPath& path) {
  auto shown = std::make_shared<ShownPath>();
  if (path.segments.size() > kMostMarked) return std::shared_ptr<const ShownPath>(shown);
  for (const PathSegment& segment : path.segments) {
    ShownPath::Part part;
    part.begin_ns = segment.begin_ns;
    part.end_ns = segment.end_ns;
    part.is_gap = segment.is_gap;
    if (segment.is_gap) part.reason = wait_reason_name(segment.reason);
    if (segment.node != kNoNode) {
      part.event = graph.event(segment.node);
      part.name = graph.names[segment.node];
      part.event_begin_ns = graph.begin_ns[segment.node];
      part.event_end_ns = graph.end_ns[segment.node];
    }
    shown->parts.push_back(std::move(part));
  }
  auto mask = TRY(mask_of(query, graph, path));
  shown->mask = std::move(mask);
  return std::shared_ptr<const ShownPath>(shown);
}

}  // namespace

void ChangeList::suggest(const std::vector<std::string>& texts) {
  std::vector<ShownChange> retained;
  for (const std::string& text : texts) {
    const auto known = std::ranges::find_if(changes_, [&](const ShownChange& each) { return each.text == text; });
    retained.push_back({text, touched_ && known != changes_.end() && known->on, true});
  }
  for (const ShownChange& each : changes_) {
    const bool there = std::ranges::find(texts, each.text) != texts.end();
    if (!there && (!each.suggested || (touched_ && each.on))) retained.push_back(each);
  }
  changes_ = std::move(retained);
  if (!touched_ && !changes_.empty()) changes_.front().on = true;  // so that there is something to see
}

// Before those that are suggested by the path alone: they mend what was found.
void ChangeList::offer(const std::vector<std::string>& texts) {
  std::vector<ShownChange> offered;
  for (const std::string& text : texts) {
    const auto known = std::ranges::find_if(changes_, [&](const ShownChange& each) { return each.text == text; });
    offered.push_back({text, touched_ && known != changes_.end() && known->on, true});
    if (known != changes_.end()) changes_.erase(known);
  }
  changes_.insert(changes_.begin(), offered.begin(), offered.end());
  if (touched_ || offered.empty()) return;
  for (ShownChange& each : changes_) each.on = &each == changes_.data();
}

void ChangeList::choose(const std::string& text) {
  touched_ = true;
  for (ShownChange& each : changes_) {
    if (each.text != text) continue;
    each.on = true;
    return;
  }
  changes_.push_back({text, true, false});
}

void ChangeList::add_typed(const PanelContext& context) {
  const auto parsed = parse_change(typed_);
  wrong_ = parsed ? std::string() : parsed.message();
  if (!parsed) {
    context.actions.notify(Severity::warning, wrong_);
    return;
  }
  choose(parsed->text);
  typed_.clear();
}

void ChangeList::draw(const PanelContext& context, const Rect& area,
                      const std::vector<std::optional<ChangeSaving>>& savings) {
  Ui& ui = context.ui;
  Rect rest = area;
  Rect foot = rest.cut_bottom(ui.px(kChangeInput + 10)).middle(ui.px(kChangeInput));
  const ButtonOptions clear{.label = "Clear", .kind = ButtonKind::quiet};
  if (button(ui, "why.clear", foot.cut_right(button_width(ui, clear)), clear)) {
    for (ShownChange& each : changes_) each.on = false;
    touched_ = true;
  }
  foot.cut_right(ui.px(6));
  const TextInputResult typed = text_input(
      ui, "why.typed", foot, typed_,
      {.placeholder = "dma bandwidth x1.5, drop reload of w1 ...", .icon = icon::kPlus, .error = !wrong_.empty()});
  if (typed.changed) wrong_.clear();
  if (typed.submitted && !typed_.empty()) add_typed(context);
  ScrollArea scroll(ui, "why.changes", rest, ui.px(kChangeRow) * static_cast<float>(changes_.size()));
  Rect content = scroll.content();
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    Rect row = content.cut_top(ui.px(kChangeRow));
    const std::string saved = i < savings.size() && savings[i] ? total_change_text(*savings[i]) : std::string();
    const Rect saving = row.cut_right(std::max(ui.px(kChangeSaving), text_width(ui, TextStyle::mono, saved)));
    const std::string name = "why.change." + std::to_string(i);
    touched_ = checkbox(ui, name, row, changes_[i].text, changes_[i].on) || touched_;
    if (i >= savings.size()) {
      draw_text(ui, saving, "...", kMonoHintRight);
    } else if (!savings[i]) {
      draw_text(ui, saving, "no effect", kHintTextRight);
    } else {
      const std::int64_t ns = savings[i]->most_ns;
      draw_text(ui, saving, saved,
                {.style = TextStyle::mono,
                 .colour = ns > 0   ? Colour::ok
                           : ns < 0 ? Colour::worse
                                    : Colour::text3,
                 .align = Align::right});
    }
  }
}

FoundAnswer<WhyPanel::Found> WhyPanel::find(const QueryContext& query, const EventFilter& filter, bool finds_advice) {
  auto graph = TRY(session_graph(query));
  const auto range = TRY(path_range(query, *graph, filter.range));
  Found found;
  found.graph = std::move(graph);
  found.path = find_critical_path(*found.graph, range);
  auto bounds = TRY(bounds_of_path(query, *found.graph, found.path, {}));
  found.bounds = std::move(bounds);
  found.headline = bounds_text(found.bounds);
  auto gaps = TRY(gaps_listing(query, *found.graph, found.path));
  found.gaps = std::move(gaps);
  found.resources = shares_listing(*found.graph, found.path, PathBy::resource);
  found.lines = shares_listing(*found.graph, found.path, PathBy::line);
  found.segments = path_listing(*found.graph, found.path);
  auto causes = TRY(causes_listing(query, *found.graph, filter, WaitsBy::reason));
  found.causes = std::move(causes);
  found.suggested = suggested_changes(*found.graph, found.path);
  auto shown = TRY(marks_of(query, *found.graph, found.path));
  found.shown = std::move(shown);
  if (finds_advice) {
    auto advice = TRY(find_advice(query, filter));
    found.advice = std::move(advice);
  }
  return std::make_shared<const Found>(std::move(found));
}

FoundAnswer<WhyPanel::Replay> WhyPanel::replay(const QueryContext& query, const ReplayQuestion& question,
                                               const std::shared_ptr<const Replay>& before) {
  const WorkGraph& graph = *question.found->graph;
  const TimeRange range = question.found->path.range;
  QueryContext whole = query;
  whole.mask = nullptr;
  Replay out;
  out.found = question.found;
  out.texts = question.texts;
  out.two = question.two;
  RetainedDetails details;
  const bool same = before && before->found == question.found;
  const auto known = [&](const std::string& text) -> const std::optional<ChangeSaving>* {
    const auto place = same ? std::ranges::find(before->texts, text) : before->texts.end();
    return place == before->texts.end() ? nullptr
                                        : &before->savings[static_cast<std::size_t>(place - before->texts.begin())];
  };
  const auto saved = [&](std::span<const WhatIfChange> changes) -> std::optional<ChangeSaving> {
    const auto result = replay_range(whole, graph, changes, range, &details);
    if (!result && changes.size() == 1) out.wrong = result.message();
    return result ? std::optional(ChangeSaving{result->least_ns, result->most_ns}) : std::nullopt;
  };
  std::vector<WhatIfChange> ticked, two;
  std::int64_t of_each = 0;
  for (std::size_t i = 0; i < question.texts.size(); ++i) {
    auto change = TRY(parse_change(question.texts[i]));
    const std::string wrong = out.wrong;
    const auto* earlier = same ? known(question.texts[i]) : nullptr;
    const bool reuse = earlier != nullptr && (*earlier || question.ticked[i] == 0);
    out.savings.push_back(reuse ? *earlier : saved({&change, 1}));
    if (query.control.cancelled()) return Error{"cancelled"};
    if (question.ticked[i] == 0) out.wrong = wrong;  // it is of a change that nobody asked for
    const std::optional<ChangeSaving>& saving = out.savings.back();
    if (saving && std::ranges::find(question.two, question.texts[i]) != question.two.end()) {
      two.push_back(change);
      of_each += saving->least_ns;
    }
    if (saving && question.ticked[i] != 0) ticked.push_back(std::move(change));
  }
  if (same && before->two == question.two && two.size() == 2) {
    out.of_two = before->of_two;
  } else if (two.size() == 2) {
    const std::optional<ChangeSaving> both = saved(two);
    if (query.control.cancelled()) return Error{"cancelled"};
    const auto notable = static_cast<std::int64_t>(kNotableOverlap * static_cast<double>(of_each));
    if (both && std::abs(both->least_ns - of_each) > notable) {
      out.of_two =
          fmt::format("1 and 2 {}: both together save {} {}", both->least_ns > of_each ? "hide each other" : "overlap",
                      both->least_ns == both->most_ns ? "≈" : "at least", format_duration(both->least_ns));
    }
  }
  if (ticked.empty()) return std::make_shared<const Replay>(std::move(out));
  auto together = answer_what_if(whole, graph, ticked, range, &details);
  if (!together) {
    out.wrong = together.message();
  } else {
    out.ghost = {together->result.total_before_ns, together->result.total_after_ns,
                 ghost_rows(graph, *together, kMostGhostRows)};
    together->result.begin_ns = {};  // the rows hold what is shown of them
    together->result.end_ns = {};
    out.together = std::move(*together);
  }
  return std::make_shared<const Replay>(std::move(out));
}

void WhyPanel::ask(const PanelContext& context, const EventFilter& wanted) {
  const bool own_advice = scope_ != Scope::session;
  shown_ = context.analysis().ask_of(retained_, wanted, wanted, [wanted, own_advice](const QueryContext& query) {
    return find(query, wanted, own_advice);
  });
  context.tab.marked_path = marks_ && shown_ ? shown_->shown : nullptr;
}

void WhyPanel::keep_up(const PanelContext& context) {
  if (context.tab.marked_path && !context.analysis().is_newest(retained_)) ask(context, retained_.key.filter);
}

void WhyPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const OwnSelection own(context.tab, scope_);
  const auto before = drawn_;
  ask(context, scope_filter(context.tab, scope_));
  const auto findings = findings_;
  take_findings(context);
  if (shown_ && (shown_ != before || findings_ != findings)) {
    changes_.suggest(shown_->suggested);
    if (findings_) changes_.offer(findings_->changes);
  }
  drawn_ = shown_;
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(kWhyHead))));
  // Nobody takes an answer about changes where none are shown, and the panel would wait for it for ever.
  if (!retained_.error.empty() || !shown_ || shown_->graph->count() == 0) replayed_.drop();
  if (draw_missing(ui, "why", rest, retained_.error, shown_ != nullptr, "Following what waited for what ...")) return;
  if (shown_->graph->count() == 0) {
    return empty_sentence(ui, "why.empty", rest, icon::kSitemap,
                          "Nothing of this session works, moves or waits: record engines, streams or calls of a host.");
  }
  ReplayQuestion question{shown_, {}, {}, {}};
  if (findings_ && findings_->changes.size() >= 2) {
    question.two = {findings_->changes[0], findings_->changes[1]};
  }
  for (const ShownChange& change : changes_.all()) {
    question.texts.push_back(change.text);
    question.ticked.push_back(change.on ? 1 : 0);
  }
  replay_ = context.analysis().ask(
      replayed_, question, {.of = SessionAnalysis::basis_of(retained_), .tells_itself = true},
      [question, last = replay_](const QueryContext& query) { return replay(query, question, last); });
  if (rest.width() >= ui.px(kRoomForChanges)) {
    const Rect result = rest.cut_right(rest.width() * kWhyResult);
    Rect changes = rest.cut_right(area.width() * kWhyChanges);
    for (const Rect& part : {result, changes}) vertical_line(ui, part.x0, part.y0, part.y1, ui.colour(Colour::line2));
    changes = padded(ui, changes);
    static const std::vector<std::optional<ChangeSaving>> kNone;
    const bool same = replay_ && replay_->savings.size() == changes_.all().size();
    changes_.draw(context, changes, same ? replay_->savings : kNone);
    draw_result(context, result.inset(ui.px(size::kPanelPadding), ui.px(4)));
  }
  draw_found(context, rest);
}

void WhyPanel::take_findings(const PanelContext& context) {
  const std::shared_ptr<const Advice> advice = shown_ && shown_->advice ? shown_->advice : context.analysis().advice();
  if (!advice || (findings_ && findings_->advice == advice)) return;
  std::vector<std::string> changes;
  for (const Finding& finding : advice->findings) {
    if (!finding.change.empty()) changes.push_back(finding.change);
  }
  findings_ = std::make_shared<const Findings>(Findings{advice, warnings_listing(*advice), std::move(changes)});
}

void WhyPanel::draw_head(const PanelContext& context, Rect head) {
  Ui& ui = context.ui;
  (void)draw_scope(context, "why.scope", head, scope_);
  head.cut_right(ui.px(12));
  const float mark = checkbox_width(ui, "On the timeline");
  (void)checkbox(ui, "why.marks", head.cut_right(mark), "On the timeline", marks_);
  head.cut_right(ui.px(12));
  std::vector<Segment> pages;
  for (const std::string_view page : kWhyPages) pages.push_back({.label = page});
  const float width = segmented_width(ui, pages);
  if (head.width() > width + ui.px(160)) {
    segmented(ui, "why.page", head.cut_right(width).middle(ui.px(size::kControl)), pages, page_);
    head.cut_right(ui.px(12));
  }
  std::string hint = retained_.stale() ? "of the earlier range" : scope_text(context.tab, scope_);
  if (shown_ && shown_->graph->count() > 0) {
    hint = fmt::format("{} of {}", format_duration(shown_->path.range.length_ns()), hint);
  }
  heading(ui, head, shown_ && !shown_->headline.empty() ? shown_->headline : "Why", hint);
}

// One bar of the bounds; each tells its figures where the pointer rests.
void WhyPanel::draw_bounds(const PanelContext& context, Rect bar) const {
  Ui& ui = context.ui;
  const auto total = static_cast<double>(std::max<std::int64_t>(1, shown_->path.range.length_ns()));
  bar = bar.middle(ui.px(14));
  float x = bar.x0;
  for (const BoundFigure& bound : shown_->bounds) {
    const double share = static_cast<double>(bound.path_ns) / total;
    if (share <= 0) continue;
    const Rect box{x, bar.y0, std::min(bar.x1, x + bar.width() * static_cast<float>(share)), bar.y1};
    x = box.x1;
    fill(ui, box, bound_colour(ui, bound.bound));
    const std::string name(path_bound_name(bound.bound));
    const std::string text = fmt::format("{} {}", name, format_share(share));
    if (text_width(ui, TextStyle::small, text) + ui.px(8) < box.width()) {
      draw_text(ui, box, text,
                {.style = TextStyle::small,
                 .colour = bound.bound == PathBound::unknown ? Colour::text1 : Colour::ink,
                 .align = Align::centre,
                 .fit = Fit::clip});
    }
    const std::string ideal = bound.ideal_ns ? "Ideal " + format_duration(*bound.ideal_ns) + ": " + bound.rests_on
                                             : "Ideal unknown: " + bound.rests_on;
    tooltip(ui, interact(ui, "why.bound." + name, box), box,
            fmt::format("{}: {} of the critical path, {}\n{}", name, format_duration(bound.path_ns),
                        format_share(share), ideal));
  }
}

void WhyPanel::draw_found(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  if (area.height() >= ui.px(kRoomForBounds)) {
    draw_bounds(context, padded(ui, area.cut_top(ui.px(kWhyBounds))));
  }
  if (page_ == kFindings) return draw_findings(context, area);
  const std::array<const Listing*, kWhyPages.size()> listings = {nullptr,        &shown_->gaps,   &shown_->resources,
                                                                 &shown_->lines, &shown_->causes, &shown_->segments};
  const Listing* listing = listings[static_cast<std::size_t>(page_)];
  draw_note(ui, area, listing->note, kRoomForBounds);
  if (listing->rows.row_count() == 0) {
    return empty_sentence(ui, "why.none", area, icon::kCheckCircle,
                          page_ == kWaits ? "Nothing says that it waited." : "None.");
  }
  (void)rows_.draw(context, "why.rows", area, std::shared_ptr<const Listing>(shown_, listing));
}

void WhyPanel::draw_findings(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  if (!findings_) return empty_sentence(ui, "why.looking", area, icon::kClock, "Looking for what costs time ...");
  const Advice& advice = *findings_->advice;
  if (advice.findings.empty()) {
    return empty_sentence(ui, "why.nothing", area, icon::kCheckCircle,
                          "Nothing found. " + nothing_found_text(advice, false));
  }
  if (area.height() >= ui.px(kRoomForBounds)) {
    const bool known = replay_ && !replay_->of_two.empty() && findings_->changes.size() >= 2;
    Rect note = padded(ui, area.cut_bottom(ui.px(known ? kWhyOfTwo : kWhyNote)));
    if (known) {
      note = note.inset(0, ui.px(2));
      fill(ui, note, ui.colour(Colour::warning_bg), 3);
      note = note.inset(ui.px(8), 0);
      const ButtonOptions both{.label = "Try both", .kind = ButtonKind::quiet};
      if (button(ui, "why.both", note.cut_right(button_width(ui, both)), both)) {
        for (std::size_t i = 0; i < 2; ++i) changes_.choose(findings_->changes[i]);
      }
      draw_text(ui, note, replay_->of_two, {.style = TextStyle::small, .colour = Colour::warning});
    } else {
      draw_text(ui, note, findings_->rows.note, kHintText);
    }
  }
  const AnswerTable::Response response =
      finding_rows_.draw(context, "why.findings", area, std::shared_ptr<const Listing>(findings_, &findings_->rows));
  if (!response.clicked || *response.clicked >= advice.findings.size()) return;
  const Finding& finding = advice.findings[*response.clicked];
  context.tab.chosen_warning = finding.key;
  if (!finding.change.empty()) changes_.choose(finding.change);
}

void WhyPanel::draw_result(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  if (!replayed_.error.empty()) return empty_sentence(ui, "why.failed", area, icon::kError, replayed_.error);
  if (!replay_) return empty_sentence(ui, "why.replaying", area, icon::kClock, "Replaying ...");
  if (!replay_->together) {
    const std::string why =
        replay_->wrong.empty() ? "Tick changes, and the session is replayed with them here." : replay_->wrong;
    return empty_sentence(ui, "why.untouched", area, icon::kClock, why);
  }
  const WhatIfAnswer& answer = *replay_->together;
  const auto before = static_cast<double>(answer.result.total_before_ns);
  const auto after = static_cast<double>(answer.result.total_after_ns);
  const bool stale = replayed_.stale();
  Rect head = area.cut_top(ui.px(24));
  const std::string totals = fmt::format("{}  →  {}", format_duration(before), then_text(answer.result));
  draw_text(ui, head.cut_left(text_width(ui, TextStyle::mono_strong, totals) + ui.px(12)), totals,
            {.style = TextStyle::mono_strong, .colour = stale ? Colour::text3 : Colour::text1});
  const std::string ratio = ratio_text(answer.result);
  draw_text(ui, head.cut_left(text_width(ui, TextStyle::mono_strong, ratio) + ui.px(12)), ratio,
            {.style = TextStyle::mono_strong, .colour = after <= before ? Colour::ok : Colour::worse});
  const std::string& why = answer.result.rests_on;
  draw_text(ui, head, why.empty() ? answer.bound_before + "  →  " + answer.bound_after : why, kLabelText);
  if (!why.empty()) {
    tooltip(ui, interact(ui, "why.rests", head), head, answer.bound_before + "  →  " + answer.bound_after + "; " + why);
  }
  std::vector<SharePair> shares = answer.shares;
  std::ranges::stable_sort(shares, [](const SharePair& a, const SharePair& b) {
    return std::max(a.before_ns, a.after_ns) > std::max(b.before_ns, b.after_ns);
  });
  shares.resize(std::min(shares.size(), kMostShares));
  const std::size_t term_rows = (shares.size() + 1) / 2;
  const float terms = ui.px(size::kTableRow) * static_cast<float>(term_rows);
  if (area.height() > terms + ui.px(80)) {
    Rect foot = area.cut_bottom(terms);
    area.cut_bottom(ui.px(6));
    Rect left = foot.cut_left(foot.width() / 2 - ui.px(8));
    foot.cut_left(ui.px(16));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      Rect row = (i % 2 == 0 ? left : foot).cut_top(ui.px(size::kTableRow));
      const std::int64_t change = shares[i].after_ns - shares[i].before_ns;
      const std::string sign = change < 0 ? "−" : change > 0 ? "+" : "";
      draw_text(ui, row.cut_right(ui.px(76)), sign + format_duration(change < 0 ? -change : change),
                {.style = TextStyle::mono_small,
                 .colour = change < 0   ? Colour::ok
                           : change > 0 ? Colour::worse
                                        : Colour::text3,
                 .align = Align::right});
      const std::string both =
          fmt::format("{} → {}", format_duration(shares[i].before_ns), format_duration(shares[i].after_ns));
      if (row.width() >= ui.px(kTermBoth + kTermName)) {
        draw_text(ui, row.cut_right(ui.px(kTermBoth)), both,
                  {.style = TextStyle::mono_small, .colour = Colour::text2, .align = Align::right});
      } else {  // what it is called comes first
        tooltip(ui, interact(ui, "why.term." + std::to_string(i), row), row, shares[i].text() + ": " + both);
      }
      draw_text(ui, row, shares[i].text(), {.style = TextStyle::body, .fit = Fit::middle});
    }
  }
  draw_ghost(context, area, replay_->ghost, stale);
}

std::unique_ptr<Panel> make_why_panel(const PanelParts&) { return std::make_unique<WhyPanel>(); }

}  // namespace accelscope::app
