// The memory tracker: use of a pool over time, stacked by tensor, with its peak; what is alive at the cursor as a
// table; and, when there is room and addresses are known, the map of addresses over time. Shares its time axis and
// cursor with the timeline.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/memory_model.h"
#include "app/panels/alive_table.h"
#include "app/panels/panel_context.h"
#include "core/query/worker_pool.h"

namespace accelscope::app {

class MemoryPanel {
 public:
  explicit MemoryPanel(WorkerPool& pool) : pool_(pool) {}
  void draw(const PanelContext& context, const render::Rect& area);
  [[nodiscard]] bool pending() const noexcept { return task_.valid(); }

 private:
  // What a stacked plot was computed for.
  struct PlotKey {
    std::uint64_t version = 0;
    std::uint32_t pool = 0;
    TimeRange range;
    std::size_t pixels = 0;
    std::uint64_t min_bytes = 0;
    bool operator==(const PlotKey&) const = default;
  };
  struct PlotData {
    std::shared_ptr<const MemoryUsage> usage;  // what it was made from
    StackedUsage stack;
    AddressMap map;
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
  void draw_usage(const PanelContext& context, const render::Rect& area);
  void draw_areas(const PanelContext& context, const Plot& plot);
  void draw_scale(const PanelContext& context, const Plot& plot, const render::Rect& labels);
  void draw_peak(const PanelContext& context, const Plot& plot);
  void draw_cursor(const PanelContext& context, const Plot& plot, const render::Rect& whole);
  void draw_addresses(const PanelContext& context, const render::Rect& area);
  // The time of a plain click, after the cursor has been moved there; drags and the wheel zoom.
  std::optional<std::int64_t> handle_plot(const PanelContext& context, const Plot& plot, const char* name,
                                          std::optional<float>& drag_from_x);
  void draw_alive(const PanelContext& context, const render::Rect& area);
  void refresh_plot(const PanelContext& context, const Plot& plot);
  [[nodiscard]] TimeRange time_range(const PanelContext& context) const;
  [[nodiscard]] std::int64_t cursor(const PanelContext& context) const;

  WorkerPool& pool_;
  std::shared_ptr<const MemoryUsage> usage_;
  std::uint32_t chosen_pool_ = 0;
  std::uint64_t min_bytes_ = 0;
  bool follow_view_ = true;
  bool stacked_ = true;
  std::optional<std::int64_t> pinned_ns_;                     // a click holds the cursor here
  std::optional<float> usage_drag_from_x_, map_drag_from_x_;  // where a press began
  PlotKey key_;
  std::shared_ptr<const PlotData> data_;
  PlotKey data_key_;
  Task<std::shared_ptr<const PlotData>> task_;
  AliveTable alive_;
};

}  // namespace accelscope::app
