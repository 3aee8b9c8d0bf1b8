// What every panel is written with: the look and input of the frame, the session, the few things it may ask of the
// viewer, what of the session its numbers are of, and the makers of all panels. Panels know neither each other nor the
// window: what one selects, the others see in the tab. This header brings the widgets and the formatting of numbers,
// too.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "app/persist/persist.h"
#include "app/session/analysis.h"
#include "app/session/tab.h"
#include "app/view/selection.h"
#include "core/base/text.h"
#include "core/listing/base/listing.h"
#include "render/widgets/table.h"

namespace accelscope::app::panels {

// What every panel gets: the look and input of the frame, the session, and the few things it may ask of the viewer.
// Panels know neither each other nor the window: what one selects, the others see in the tab.

// What panels ask workers for: an answer that is kept until its question changes, one of what passes a filter, and what
// the work gives back.
using NoQuestion = session::SessionAnalysis::NoKey;
template <typename T, typename Question = NoQuestion>
using RetainedAnswer = session::SessionAnalysis::Retained<T, Question>;
template <typename T, typename Question = NoQuestion>
using FilteredAnswer = session::SessionAnalysis::Retained<T, session::SessionAnalysis::Filtered<Question>>;
template <typename T>
using FoundAnswer = session::SessionAnalysis::Found<T>;

// Another session that is open.
struct OpenSession {
  std::string title;
  std::shared_ptr<const Store> store;
  bool grows = false;
  bool is_earlier = false;  // opened before the one in front
};

struct PanelActions {
  std::function<void(std::string_view id)> run;  // a command of the table
  std::function<void(std::string_view name)> show_panel;
  std::function<void(std::string text)> inform;       // a short confirmation in the status bar
  std::function<void(EventId)> reveal;                // scrolls its lane into sight
  std::function<void(Severity, std::string)> notify;  // something went wrong
  // Another tab on the same session, whose timeline has the rows of these tracks alone and whose filter passes no
  // others: a rank of many.
  std::function<void(std::string title, std::string device, const std::vector<TrackNumber>& tracks)> open_part;
  // Of the other tabs, each session once; none that is in front, alone or in a comparison.
  std::function<std::vector<OpenSession>()> other_sessions;
  // A tab with the timelines of this session and of the other below each other; a comparison gets one more.
  std::function<void(const std::shared_ptr<const Store>& other)> open_comparison;
  std::function<bool(const Store& store)> grows;  // a capture goes on into it
  // Asks for a folder; `chosen` is called only if the user names one.
  std::function<void(std::string title, std::function<void(const std::string& folder)> chosen)> choose_folder;
};

struct PanelContext {
  render::Ui& ui;
  session::SessionTab& tab;
  const PanelActions& actions;

  [[nodiscard]] session::SessionAnalysis& analysis() const { return *tab.analysis; }
  void copy(const std::string& text, const std::string& what) const {
    ui.copy_to_clipboard(text);
    actions.inform("Copied " + what);
  }
  // Opens the glossary at the word: the name of a figure or of a column.
  void look_up(const std::string& word) const {
    tab.looked_up = {word, "", ""};
    actions.show_panel("tables");
  }
};

// What is drawn in a place. Which panels there are says app/frame/places.cpp; each keeps what it shows of one
// session.
class Panel {
 public:
  Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  virtual ~Panel() = default;
  virtual void draw(const PanelContext& context, const render::Rect& area) = 0;
  // Once per frame while it is not seen: what it has put on the timeline is asked for again where the data have grown.
  virtual void keep_up(const PanelContext& context) { (void)context; }
  // The same while the user has another panel in its place, other than Details that came forward by itself: what would
  // only stand in the way there is taken off the timeline.
  virtual void leave(const PanelContext& context) { keep_up(context); }
  // It was asked for by this name, which may be that of a part of it.
  virtual void open_at(std::string_view name) { (void)name; }
  // It waits for a worker: frames go on while it is seen.
  [[nodiscard]] virtual bool pending() const { return false; }
  // Whether it has something to say of this session; nothing until it is known. A panel that was in front of another
  // session does not greet one that it is empty for.
  [[nodiscard]] virtual std::optional<bool> has_content(const PanelContext& context) const {
    (void)context;
    return true;
  }
  // What stands beside its title; "": nothing.
  [[nodiscard]] virtual std::string badge(const session::SessionTab& tab) const {
    (void)tab;
    return "";
  }
};

// The scope of a panel's numbers: its own until the user chooses one in any panel, which all follow.
//
//   const OwnSelection own(context.tab, scope_);                     // first of all in Panel::draw()
//   draw_scope(context, "statistics.scope", head, scope_);           // takes its room at the right of `head`
//   const EventFilter wanted = scope_filter(context.tab, scope_);
//
// What a panel selects by itself, by a click in its table, is shown everywhere else, but is no new question to the
// panel itself: its numbers stay those of what was selected elsewhere, until something else is selected there or the
// scope is chosen anew.

using session::Scope;

class PanelScope {
 public:
  PanelScope(Scope scope) noexcept : scope_(scope) {}  // NOLINT: a scope is what it is
  [[nodiscard]] bool operator==(Scope scope) const noexcept { return scope_ == scope; }
  [[nodiscard]] Scope chosen() const noexcept { return scope_; }
  // What Scope::selection is of; nothing: nothing was selected.
  [[nodiscard]] const std::optional<EventFilter>& selection() const noexcept { return selection_; }
  void choose(Scope scope, session::SessionTab& tab);  // of the user: other panels follow
  void fall_back() noexcept { scope_ = Scope::session; }

 private:
  friend class OwnSelection;
  Scope scope_;
  std::optional<EventFilter> selection_;
  std::optional<EventFilter> seen_;  // what was selected when the panel was drawn last
  std::optional<Scope> followed_;    // of all panels
};

// While it lives, the panel itself is what selects.
class OwnSelection {
 public:
  OwnSelection(const session::SessionTab& tab, PanelScope& scope);
  ~OwnSelection();
  OwnSelection(const OwnSelection&) = delete;
  OwnSelection& operator=(const OwnSelection&) = delete;

 private:
  const session::SessionTab& tab_;
  PanelScope& scope_;
};

// Without anything selected, Scope::selection is the session.
[[nodiscard]] EventFilter scope_filter(const session::SessionTab& tab, const PanelScope& scope);
// "the session", "1.2 ms in view", "what is selected", "what was selected" where the panel has selected something else
// since; "... that passes the filter".
[[nodiscard]] std::string scope_text(const session::SessionTab& tab, const PanelScope& scope);
// True when it has changed. Segments, or a drop-down where `rest`, units that others in the row take, leaves no room
// for them. They register as NAME.0 (session), NAME.1 (visible range), NAME.2 (selection), those of the drop-down while
// it is open; the drop-down as NAME.
bool draw_scope(const PanelContext& context, std::string_view name, render::Rect& row, PanelScope& scope,
                float rest = 320);

// In place of a panel's rows: what is wrong with their answer ("PANEL.wrong"), or that it is being made
// ("PANEL.loading"; what is done of it stands before the dots). False: it is there.
[[nodiscard]] bool draw_missing(render::Ui& ui, const std::string& panel, const render::Rect& area,
                                const std::string& error, bool is_there, std::string_view doing,
                                std::optional<double> share = {});
// A sentence below the rows, where there is one and at least so much room, in units.
void draw_note(render::Ui& ui, render::Rect& area, std::string_view note, float least_height = 0);

// What a row, a bar, a box or a point of a panel speaks of, selected on the timeline and so in every panel.

// An event becomes the selected one and comes into sight; a filter becomes what is selected. zoom: the view goes to it,
// where it has a range of its own.
void select_target(const PanelContext& context, const listing::ListingTarget& target, bool zoom);
[[nodiscard]] bool is_selected(const session::SessionTab& tab, const listing::ListingTarget& target);

// What makes the panels, one of each for a session. Nobody else knows their classes.

struct PanelParts {
  WorkerPool& pool;
  persist::QueryHistory& queries;
  persist::PeakBook& peaks;
};
using PanelMaker = std::unique_ptr<Panel>(const PanelParts& parts);
PanelMaker make_collectives_panel, make_compare_panel, make_compilation_panel, make_core_grid_panel, make_details_panel,
    make_hotspots_panel, make_iterations_panel, make_layers_panel, make_markers_panel, make_memory_panel,
    make_metrics_panel, make_output_panel, make_quality_panel, make_roofline_panel, make_search_panel,
    make_selection_panel, make_source_panel, make_sql_panel, make_stack_panel, make_statistics_panel, make_tables_panel,
    make_why_panel;

}  // namespace accelscope::app::panels
