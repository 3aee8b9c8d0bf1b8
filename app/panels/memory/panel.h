// The memory tracker: use of a pool over time, stacked by tensor, with its capacity, its peak and the use at the
// cursor; the map of addresses over time below it, on the same time axis, or that of the segments at the cursor; what
// is alive at the cursor as a table, and the story of the selected allocation. Works in the timeline's range or in one
// of its own. Where the four do not fit beside each other, a switch says which are seen.
#pragma once

#include <set>

#include "app/content/memory/model.h"
#include "app/content/memory/plot_data.h"
#include "app/content/memory/segment_rows.h"
#include "app/panels/panel.h"
#include "core/analysis/memory/tensor_life.h"
#include "core/base/worker_pool.h"

namespace accelscope::app::panels {

// The right part of the memory panel: what is alive at an instant, by tensor, as a bar and as a table whose tensors
// open to their allocations.

class AliveTable {
 public:
  explicit AliveTable(WorkerPool& pool) : pool_(pool) {}
  struct Moment {
    std::shared_ptr<const analysis::MemoryUsage> usage;
    std::uint32_t pool = 0;
    std::int64_t ns = 0;
    std::uint64_t min_bytes = 0;
    content::PassingEvents passing;
    bool operator==(const Moment&) const = default;
  };

  // The event of an allocation that was clicked; it is selected. Where there is little height, the head and the bar are
  // left to the table.
  std::optional<EventId> draw(const PanelContext& context, const Moment& moment, const char* title, render::Rect area);
  void fold_all() {
    expanded_.clear();
    unfolded_.clear();
  }
  void take_answer();  // also while it is out of sight
  [[nodiscard]] bool pending() const noexcept { return task_.valid(); }

 private:
  struct Row {
    std::size_t tensor = 0;                   // index into Content::tensors
    std::optional<std::uint32_t> allocation;  // none: the tensor's own row
    std::size_t hidden = 0;                   // > 0: a row that says how many more there are
  };
  struct Intent {
    Moment moment;
    content::AliveColumn column = content::AliveColumn::bytes;
    bool descending = true;
    std::set<std::uint32_t> expanded;  // tensors that show their allocations
    std::set<std::uint32_t> unfolded;  // tensors that show all of them
    bool operator==(const Intent&) const = default;
  };
  struct Content {
    Intent intent;  // what it was computed for
    std::vector<content::AliveTensor> tensors;
    std::vector<Row> rows;
    std::uint64_t bytes = 0;
    std::size_t allocations = 0;
  };
  static std::vector<Row> collect_rows(const Intent& intent, const std::vector<content::AliveTensor>& tensors);
  void refresh(const Moment& moment);
  void draw_head(render::Ui& ui, const char* title, render::Rect row) const;
  void draw_bar(render::Ui& ui, render::Rect bar) const;
  void choose_columns(const render::Ui& ui, float width);
  void toggle(const Row& row);
  [[nodiscard]] render::TableCell cell(const render::Ui& ui, const Row& row, std::size_t column) const;
  [[nodiscard]] render::Pixel colour_of(const render::Ui& ui, std::uint32_t tensor) const;
  [[nodiscard]] const analysis::MemoryUsage& usage() const noexcept { return *content_->intent.moment.usage; }

  WorkerPool& pool_;
  std::shared_ptr<const Content> content_;  // null before the first answer
  std::shared_ptr<const Content> retired_;  // the one before it
  Task<std::shared_ptr<const Content>> task_;
  std::set<std::uint32_t> expanded_, unfolded_;  // as wanted
  render::TableState table_{.sort_column = 2};
  std::vector<bool> narrow_hidden_;  // columns that this table hid by itself
};

// The story of the selected allocation: who wrote it, where it lies, how long, who reads it when.

class AllocationCard {
 public:
  explicit AllocationCard(WorkerPool& pool) : pool_(pool) {}
  // Takes up the session's selected event; false if it is no allocation. Its own links select who wrote or read the
  // allocation: it stays while they are selected.
  bool choose(const PanelContext& context, const std::shared_ptr<const analysis::MemoryUsage>& usage);
  [[nodiscard]] std::optional<std::uint32_t> allocation() const noexcept { return allocation_; }
  void draw(const PanelContext& context, render::Rect area);
  [[nodiscard]] bool pending() const noexcept { return find_task_.valid() || story_task_.valid(); }

 private:
  void take_answers(const PanelContext& context);
  void go_to(const PanelContext& context, EventId event);
  void draw_field(const PanelContext& context, render::Rect& area, const char* label, const std::string& value,
                  EventId target);
  void draw_ticks(const PanelContext& context, const render::Rect& area);

  WorkerPool& pool_;
  std::shared_ptr<const analysis::MemoryUsage> usage_;  // that the answers are of
  std::optional<EventId> event_;                        // that was asked for
  EventId followed_ = kNoEvent;                         // selected by a link of the card
  std::optional<std::uint32_t> allocation_;
  std::shared_ptr<const analysis::AllocationStory> story_;
  Task<std::optional<std::uint32_t>> find_task_;
  Task<Result<std::shared_ptr<const analysis::AllocationStory>>> story_task_;
};

class MemoryPanel final : public Panel {
 public:
  explicit MemoryPanel(WorkerPool& pool) : pool_(pool), alive_(pool), card_(pool) {}
  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  [[nodiscard]] bool pending() const override {
    return task_.valid() || hover_task_.valid() || segments_task_.valid() || touched_task_.valid() ||
           alive_.pending() || card_.pending();
  }

 private:
  enum class Part : std::uint8_t { usage, addresses, segments, alive, allocation };
  struct Plot {  // pixels of the time axis
    render::Rect rect;
    TimeRange range;
    std::uint64_t most = 1;
    bool is_tight = false;  // too low for more words than the peak's
    [[nodiscard]] float x_of(std::int64_t ns) const noexcept;
    [[nodiscard]] std::int64_t time_at(float x) const noexcept;
    [[nodiscard]] float y_of(double bytes) const noexcept;
  };
  // Where everything goes: what is empty is not seen. A switch of one part is none.
  struct Places {
    render::Rect head, axis, usage, addresses, segments, side, alive, card;
    std::vector<Part> main_switch, side_switch;
    bool has_titles = true;  // the plots have a row above them; else the switch is in the head
  };
  struct Response {  // what the pointer does on a plot
    std::optional<float> drag_from_x;
    std::optional<float> pan_from_x;
    session::ViewRange panned;  // the view when the pan began
  };
  // Where an address was asked for, and what was found there.
  struct Hover {
    std::uint64_t version = 0;
    std::uint32_t pool = 0;
    std::int64_t ns = 0;
    std::uint64_t address = 0;
    std::optional<std::uint32_t> allocation;
  };
  // A control of the head row, which goes into a menu where there is no room.
  struct Control {
    std::string label;
    float width = 0, menu_width = 0;
    std::function<void(const render::Rect& rect, const std::string& prefix)> draw;
  };

  [[nodiscard]] const analysis::PoolUsage& pool() const noexcept { return usage_->pool(chosen_pool_); }
  [[nodiscard]] Places lay_out(const render::Ui& ui, const render::Rect& area) const;
  void take_session(const PanelContext& context);
  void follow_filter(const PanelContext& context);
  void refresh_plot(const PanelContext& context, const content::MemoryPlotKey& wanted);
  [[nodiscard]] std::int64_t cursor(const PanelContext& context) const;
  // "≈ 16.03 MiB" where it is an estimate.
  [[nodiscard]] std::string bytes_text(std::uint64_t bytes) const;
  void draw_side(const PanelContext& context, const Places& places);
  void draw_plots(const PanelContext& context, const Places& places);

  // memory/controls.cpp
  void draw_head(const PanelContext& context, const Places& places);
  void draw_pools(const PanelContext& context, render::Rect& place);
  bool draw_switch(const PanelContext& context, const std::vector<Part>& parts, const char* name, render::Rect& place,
                   Part& chosen);
  void begin_title(const PanelContext& context, const Places& places, const char* name, render::Rect& title);
  [[nodiscard]] std::vector<Control> controls(const PanelContext& context);
  void draw_menu(const PanelContext& context, const std::vector<Control>& controls, const render::Rect& anchor);
  [[nodiscard]] render::ButtonOptions peak_button() const;
  void follow_timeline(const PanelContext& context, bool follow);

  // memory/input.cpp
  [[nodiscard]] session::ViewRange view_range(const PanelContext& context) const;
  void move_view(const PanelContext& context, const session::ViewRange& range, bool finished);
  void settle_view(const PanelContext& context);
  void go_back();
  void show_all(const PanelContext& context);
  void go_to_peak(const PanelContext& context);
  // The time of a plain click, after the cursor has been held there; drags, pans and the wheel move the view.
  std::optional<std::int64_t> handle_plot(const PanelContext& context, const Plot& plot, const char* name,
                                          Response& response);
  void handle_pan(const PanelContext& context, const Plot& plot, bool hovered, Response& response);
  void draw_cursor(const PanelContext& context, const Plot& plot, const Places& places);
  // The pointer has been on this part of a plot long enough for a card.
  bool rests_on(render::Ui& ui, const std::string& what);

  // memory/plot.cpp
  void draw_axis(const PanelContext& context, const Plot& plot, const Places& places) const;
  void draw_usage(const PanelContext& context, const Places& places, const Plot& plot);
  void draw_title(const PanelContext& context, render::Rect title, const Places& places);
  void draw_areas(const PanelContext& context, const Plot& plot) const;
  void draw_area_names(const PanelContext& context, const Plot& plot) const;
  void draw_line(const PanelContext& context, const Plot& plot, const std::vector<content::UsageRun>& line,
                 render::Pixel colour, bool dashed) const;
  void draw_scale(const PanelContext& context, const Plot& plot, const render::Rect& labels) const;
  [[nodiscard]] render::Rect draw_capacity(const PanelContext& context,
                                           const Plot& plot) const;  // where its text stands
  void draw_peak(const PanelContext& context, const Plot& plot, const render::Rect& capacity);
  void explain_usage(const PanelContext& context, const Plot& plot);

  // memory/map.cpp
  void draw_addresses(const PanelContext& context, const Places& places, const Plot& plot);
  void draw_map_title(const PanelContext& context, render::Rect title, const Places& places);
  void find_hovered(const PanelContext& context, const Plot& plot);
  void draw_address_labels(const PanelContext& context, const Plot& plot, const render::Rect& labels) const;
  void draw_blocks(const PanelContext& context, const Plot& plot) const;
  void draw_never_used(const PanelContext& context, const Plot& plot) const;
  void find_touched(const PanelContext& context);
  void draw_touched(const PanelContext& context, const Plot& plot) const;
  [[nodiscard]] std::optional<render::Rect> block_rect(const PanelContext& context, const Plot& plot,
                                                       std::uint32_t allocation) const;
  void explain_block(const PanelContext& context, const Plot& plot, std::uint32_t allocation);

  // memory/segments.cpp
  void draw_segments(const PanelContext& context, const Places& places);
  void draw_segments_title(const PanelContext& context, render::Rect title, const Places& places);
  void refresh_segments(const PanelContext& context, std::size_t pixels);
  void draw_segment_row(const PanelContext& context, const render::Rect& row, std::size_t number) const;
  void explain_segment(const PanelContext& context, const render::Rect& row, std::size_t number);
  void choose_map(const PanelContext& context, render::Rect& title);

  WorkerPool& pool_;
  const void* session_ = nullptr;  // whose ranges these are
  std::shared_ptr<const analysis::MemoryUsage> usage_;
  std::vector<content::PoolFamily> families_;  // of usage_
  content::PassingEvents passing_;             // of this frame
  std::string filter_note_;                    // what of the filter is not followed; empty: there is none
  std::uint32_t chosen_pool_ = 0;
  std::uint64_t min_bytes_ = 0;
  analysis::UsageGrouping grouping_ = analysis::UsageGrouping::tensor;
  bool follow_view_ = true;
  bool stacked_ = true;
  Part main_part_ = Part::usage;
  Part side_part_ = Part::alive;
  bool has_card_ = false;
  std::optional<session::ViewRange> own_range_;  // while it does not follow; none: all
  std::vector<session::ViewRange> own_back_;     // the ranges before it
  double settle_at_s_ = 0;                       // when a wheel that rests has finished; 0: nothing is to finish
  std::optional<std::int64_t> pinned_ns_;        // a click holds the cursor here
  std::optional<std::int64_t> hovered_ns_;       // time under the pointer, over a plot of this panel
  std::string rests_on_;                         // the part of a plot under the pointer
  double rests_since_s_ = 0;
  Response usage_response_, map_response_;
  bool pan_button_down_ = false;  // in the last frame
  Hover hover_;                   // the last answer
  Task<Hover> hover_task_;
  // What the selected event wrote and read, and of which event and data that is.
  std::vector<analysis::TouchedAllocation> touched_;
  std::optional<EventId> touched_of_;
  std::shared_ptr<const analysis::MemoryUsage> touched_usage_;
  Task<Result<std::vector<analysis::TouchedAllocation>>> touched_task_;
  std::shared_ptr<const content::MemoryPlotData> data_;
  Task<std::shared_ptr<const content::MemoryPlotData>> task_;
  bool map_at_cursor_ = false;  // the lower plot is that of the segments
  std::shared_ptr<const content::SegmentRows> segments_;
  Task<std::shared_ptr<const content::SegmentRows>> segments_task_;
  AliveTable alive_;
  AllocationCard card_;
};

}  // namespace accelscope::app::panels
