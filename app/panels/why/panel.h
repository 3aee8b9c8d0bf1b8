// Why the session took as long as it did: what was found, its bounds, gaps, waits and critical path; changes, each with
// what it alone would save, a finding that is clicked among them; and the result of those that are ticked, as a
// timeline beside the one that was recorded. While it is open, the timeline marks the path.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/listings/base/listing.h"
#include "app/content/why/what_if.h"
#include "app/panels/answer_table.h"
#include "app/panels/context.h"
#include "app/panels/scope.h"
#include "app/session/shown_path.h"
#include "core/analysis/advice/advice.h"
#include "core/analysis/replay/bounds.h"

namespace accelscope::app {

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
  void draw(const PanelContext& context, const render::Rect& area,
            const std::vector<std::optional<ChangeSaving>>& savings);
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

void draw_ghost(const PanelContext& context, const render::Rect& area, const GhostTimes& times, bool stale);

class WhyPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  void keep_up(const PanelContext& context) override;
  [[nodiscard]] bool pending() const override { return kept_.task.valid() || replayed_.task.valid(); }

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
  [[nodiscard]] static SessionAnalysis::Found<Found> find(const QueryContext& query, const EventFilter& filter,
                                                          bool finds_advice);
  void ask(const PanelContext& context, const EventFilter& wanted);
  void take_findings(const PanelContext& context);
  // `before`, where it is of the same path, tells what has been replayed already; may be null.
  [[nodiscard]] static SessionAnalysis::Found<Replay> replay(const QueryContext& query, const ReplayQuestion& question,
                                                             const std::shared_ptr<const Replay>& before);
  void draw_head(const PanelContext& context, render::Rect head);
  void draw_found(const PanelContext& context, render::Rect area);
  void draw_findings(const PanelContext& context, render::Rect area);
  void draw_bounds(const PanelContext& context, render::Rect bar) const;
  void draw_result(const PanelContext& context, render::Rect area);

  PanelScope scope_ = Scope::session;
  int page_ = 0;
  bool marks_ = true;
  ChangeList changes_;
  SessionAnalysis::Kept<Found, SessionAnalysis::Filtered<EventFilter>> kept_;
  SessionAnalysis::Kept<Replay, ReplayQuestion> replayed_;
  std::shared_ptr<const Found> shown_;
  std::shared_ptr<const Found> drawn_;  // in the last frame that drew it
  std::shared_ptr<const Replay> replay_;
  std::shared_ptr<const Findings> findings_;  // null: not known yet
  AnswerTable rows_, finding_rows_;
};

}  // namespace accelscope::app
