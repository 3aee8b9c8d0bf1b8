// Collectives across ranks. A heat map of instances by ranks, with the skew of each instance above and the mean
// lateness of each rank beside it; the figures of each kind of operation and of each rank as tables; a sentence that
// names the straggler. A click on a column brings the timeline to the instance and marks it there; a rank is chosen,
// shown among a few on the timeline, or opened in a tab of its own.
#pragma once

#include "app/content/collective_grid.h"
#include "app/panels/answer_table.h"
#include "app/panels/panel.h"

namespace accelscope::app::panels {

class CollectivesPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const render::Rect& area) override;
  void keep_up(const PanelContext& context) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;

 private:
  static constexpr std::size_t kMostShown = 8, kUsuallyShown = 4;
  enum class Part : std::uint8_t { map, operations, ranks };  // that is seen where there is no room for all

  // What the answer is of, besides the filter.
  struct Question {
    analysis::RankClocks clocks = analysis::RankClocks::automatic;
    bool operator==(const Question&) const = default;
  };
  // Which answer a question is about. It does not keep it: large ones are freed by workers.
  template <typename T>
  struct Which {
    std::weak_ptr<const T> of;
    bool operator==(const Which& other) const noexcept {
      return !of.owner_before(other.of) && !other.of.owner_before(of);
    }
  };
  struct ReportQuestion {
    Which<analysis::Collectives> of;
    analysis::CollectivesScope scope;
    bool operator==(const ReportQuestion&) const = default;
  };
  // A report with all that is drawn of it: no frame looks at each instance. It takes the place of the one before as a
  // whole, so that nothing is missing in between.
  struct Reported {
    session::SessionAnalysis::Filtered<Question> asked;
    analysis::CollectivesScope scope;
    std::shared_ptr<const analysis::CollectivesReport> report;
    std::shared_ptr<const listing::Listing> operations, ranks;
    std::vector<std::vector<content::DurationTick>> durations;  // by kind
    std::vector<std::string> operation_titles;                  // by kind, after one for all
    content::StragglerText straggler;
    std::string cause, clocks, lacking;
    std::shared_ptr<const content::CollectiveGrid> grid;  // as the map was drawn last; null: it was not
    std::optional<std::size_t> chosen;  // among the report's instances: the one that this event is a part of
    EventId chosen_event = kNoEvent;
  };
  struct GridQuestion {
    Which<analysis::CollectivesReport> of;
    content::CollectiveMeasure measure = content::CollectiveMeasure::arrival;
    std::size_t columns = 0;
    bool operator==(const GridQuestion&) const = default;
  };
  // Where the parts of the map lie, and which column and rank the pointer is on.
  struct MapPlaces {
    render::Rect skews, hosts, cells, lateness, axis, legend;
    float row = 0, column = 0;  // pixels
    [[nodiscard]] float x_of(std::size_t at) const noexcept { return cells.x0 + static_cast<float>(at) * column; }
    [[nodiscard]] float y_of(std::size_t at) const noexcept { return cells.y0 + static_cast<float>(at) * row; }
    // The rows that lie in an area: [first, last).
    [[nodiscard]] std::pair<std::size_t, std::size_t> ranks_in(const render::Rect& seen, std::size_t count) const;
  };

  // The instance that the selected event is a part of; nothing where it is of none.
  struct OfSelected {
    EventId event = kNoEvent;
    std::optional<std::size_t> number;  // among the report's
  };
  struct SelectedQuestion {
    Which<analysis::CollectivesReport> of;
    EventId event = kNoEvent;
    bool operator==(const SelectedQuestion&) const = default;
  };

  void ask(const PanelContext& context);
  [[nodiscard]] std::shared_ptr<const Reported> ask_reported(const PanelContext& context,
                                                             const std::shared_ptr<const analysis::Collectives>& found,
                                                             const TimeRange& range);
  void adopt(std::shared_ptr<const Reported> reported);
  [[nodiscard]] bool is_stale() const;  // what is shown is of another filter, range or choice than was asked for
  void follow_selected(const PanelContext& context);
  void find_chosen(const PanelContext& context);
  void draw_head(const PanelContext& context, render::Rect head, bool narrow);
  void draw_operations_choice(const PanelContext& context, render::Rect& head);
  void draw_sentence(const PanelContext& context, render::Rect row) const;
  void draw_tables(const PanelContext& context, render::Rect area);
  void draw_table(const PanelContext& context, render::Rect area, Part part);
  void draw_rows_of(const PanelContext& context, const render::Rect& area, Part part);

  // panel.cpp
  void draw_strips(const PanelContext& context, render::Rect area) const;
  void draw_durations(const PanelContext& context, render::Rect area) const;
  void draw_arrivals(const PanelContext& context, render::Rect area) const;

  // map.cpp
  void draw_map(const PanelContext& context, const render::Rect& area);
  [[nodiscard]] MapPlaces place_map(const render::Ui& ui, const render::Rect& area) const;
  void draw_cells(const PanelContext& context, const MapPlaces& places, const render::Rect& seen) const;
  void draw_hosts(const PanelContext& context, const MapPlaces& places, const render::Rect& seen) const;
  void draw_rows(const PanelContext& context, MapPlaces places, const render::Rect& seen);
  void draw_skews(const PanelContext& context, const MapPlaces& places);
  void draw_lateness(const PanelContext& context, const MapPlaces& places, const render::Rect& seen) const;
  void draw_axis(const PanelContext& context, const MapPlaces& places) const;
  void draw_marks(const PanelContext& context, const MapPlaces& places) const;
  void touch_cells(const PanelContext& context, const MapPlaces& places, const render::Rect& seen);
  void explain(const PanelContext& context, const MapPlaces& places, std::size_t column, std::size_t rank) const;
  void choose_instance(const PanelContext& context, std::size_t number);

  // panel.cpp
  void choose_rank(const PanelContext& context, std::uint32_t rank, bool zoom);
  void draw_ranks_menu(const PanelContext& context, render::Rect& head);
  void show_ranks(const PanelContext& context, const std::vector<std::uint32_t>& ranks) const;
  [[nodiscard]] std::size_t shown_ranks(const session::SessionTab& tab) const;

  PanelScope scope_ = Scope::session;
  Question question_;
  content::CollectiveMeasure measure_ = content::CollectiveMeasure::arrival;
  Part part_ = Part::map;
  std::optional<analysis::CollectiveKind> kind_;  // only this one
  FilteredAnswer<analysis::Collectives, Question> found_;
  FilteredAnswer<Reported, ReportQuestion> reported_;
  RetainedAnswer<content::CollectiveGrid, GridQuestion> grid_;
  RetainedAnswer<OfSelected, SelectedQuestion> selected_;
  bool had_operation_ = false;   // the tab marked one in the last frame
  EventId followed_ = kNoEvent;  // the selected event that was looked at last
  std::shared_ptr<const Reported> shown_;
  std::shared_ptr<const Reported> marked_of_;           // that the marked operation was looked for in
  std::shared_ptr<const content::CollectiveGrid> map_;  // of what is shown; null: not yet
  std::size_t columns_ = 0;                             // that it had room for
  EventId chosen_event_ = kNoEvent;                     // a part of the chosen instance
  std::optional<EventId> looked_for_;                   // whose instance is to be chosen, if it is of one
  std::optional<std::uint32_t> chosen_instance_;        // index into Collectives::instances
  std::optional<std::uint32_t> chosen_rank_;
  bool scrolled_ = false;  // the straggler has come into sight once
  AnswerTable operations_, ranks_;
};

}  // namespace accelscope::app::panels
