// The memory tracker: use of a pool over time, stacked by tensor, with its capacity, its peak and the use at the
// cursor; the map of addresses over time below it, on the same time axis; what is alive at the cursor as a table, and
// the story of the selected allocation. Works in the timeline's range or in one of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/memory_model.h"
#include "app/panels/alive_table.h"
#include "app/panels/allocation_card.h"
#include "app/panels/panel_context.h"
#include "core/query/worker_pool.h"

namespace accelscope::app {

class MemoryPanel {
 public:
  explicit MemoryPanel(WorkerPool& pool) : pool_(pool), alive_(pool), card_(pool) {}
  void draw(const PanelContext& context, const render::Rect& area);
  [[nodiscard]] bool pending() const noexcept { return task_.valid() || alive_.pending() || card_.pending(); }

 private:
  // What a plot was computed for.
  struct PlotKey {
    std::uint64_t version = 0;
    std::uint32_t pool = 0;
    TimeRange range;
    std::size_t pixels = 0;
    std::size_t rows = 0;  // of the address map; 0: none is shown
    std::uint64_t min_bytes = 0;
    UsageGrouping grouping = UsageGrouping::tensor;
    bool operator==(const PlotKey&) const = default;
  };
  struct PlotData {
    PlotKey key;
    std::shared_ptr<const MemoryUsage> usage;  // what it was made from
    StackedUsage stack;
    AddressScale scale;
    std::vector<AddressBlock> map;
  };
  struct Plot {  // pixels of the time axis
    render::Rect rect;
    TimeRange range;
    std::uint64_t most = 1;
    [[nodiscard]] float x_of(std::int64_t ns) const noexcept;
    [[nodiscard]] std::int64_t time_at(float x) const noexcept;
    [[nodiscard]] float y_of(double bytes) const noexcept;
  };

  void draw_head(const PanelContext& context, render::Rect row);
  void draw_pools(const PanelContext& context, render::Rect& place);
  void draw_choices(const PanelContext& context, render::Rect& place);
  void draw_side(const PanelContext& context, const render::Rect& area);
  void refresh_plot(const PanelContext& context, const PlotKey& wanted);
  [[nodiscard]] const PoolUsage& pool() const noexcept { return usage_->pool(chosen_pool_); }
  [[nodiscard]] TimeRange time_range(const PanelContext& context) const;
  [[nodiscard]] std::int64_t cursor(const PanelContext& context) const;
  void show_range(const PanelContext& context, double begin_ns, double end_ns);
  void go_to_peak(const PanelContext& context);
  // "≈ 16.03 MiB" where it is an estimate.
  [[nodiscard]] std::string bytes_text(std::uint64_t bytes) const;

  // memory_plot.cpp
  void draw_usage(const PanelContext& context, const render::Rect& area, const Plot& plot, const render::Rect& axis);
  void draw_title(const PanelContext& context, render::Rect title) const;
  void draw_areas(const PanelContext& context, const Plot& plot) const;
  void draw_area_names(const PanelContext& context, const Plot& plot, std::size_t series,
                       const std::vector<std::uint64_t>& below) const;
  void draw_line(const PanelContext& context, const Plot& plot, const std::vector<std::uint64_t>& values,
                 render::Pixel colour, bool dashed) const;
  void draw_scale(const PanelContext& context, const Plot& plot, const render::Rect& labels) const;
  void draw_capacity(const PanelContext& context, const Plot& plot) const;
  void draw_peak(const PanelContext& context, const Plot& plot) const;
  void draw_cursor(const PanelContext& context, const Plot& plot, const render::Rect& whole) const;
  [[nodiscard]] render::Pixel colour_of(const render::Ui& ui, std::string_view group) const;
  // The time of a plain click, after the cursor has been moved there; drags and the wheel zoom.
  std::optional<std::int64_t> handle_plot(const PanelContext& context, const Plot& plot, const char* name,
                                          std::optional<float>& drag_from_x);

  // memory_map.cpp
  void draw_addresses(const PanelContext& context, const render::Rect& area, const Plot& plot);
  void draw_address_labels(const PanelContext& context, const Plot& plot, const render::Rect& labels) const;
  void draw_blocks(const PanelContext& context, const Plot& plot) const;
  void draw_never_used(const PanelContext& context, const Plot& plot) const;
  void draw_chosen_block(const PanelContext& context, const Plot& plot, std::uint32_t allocation, render::Pixel colour,
                         float thickness) const;
  void explain_block(const PanelContext& context, const Plot& plot, std::uint32_t allocation) const;

  WorkerPool& pool_;
  std::shared_ptr<const MemoryUsage> usage_;
  std::uint32_t chosen_pool_ = 0;
  std::uint64_t min_bytes_ = 0;
  UsageGrouping grouping_ = UsageGrouping::tensor;
  bool follow_view_ = true;
  bool stacked_ = true;
  std::optional<TimeRange> own_range_;                        // while it does not follow; none: all
  std::optional<std::int64_t> pinned_ns_;                     // a click holds the cursor here
  std::optional<float> usage_drag_from_x_, map_drag_from_x_;  // where a press began
  std::optional<std::uint32_t> hovered_;                      // allocation under the pointer in the map
  PlotKey key_;
  std::shared_ptr<const PlotData> data_;
  Task<std::shared_ptr<const PlotData>> task_;
  AliveTable alive_;
  AllocationCard card_;
};

}  // namespace accelscope::app
