#include "app/panels/memory_panel.h"

#include <algorithm>
#include <cmath>

#include "app/selection.h"
#include "core/base/format.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kHeadRow = 40, kAxisRow = 20, kTitleRow = 26, kScaleWidth = 88, kSideWidth = 500, kCardHeight = 196;
constexpr float kLeastForTable = 760, kLeastForMap = 460, kLeastForCard = 420;  // units of width and height
constexpr std::size_t kMostSeries = 10;

}  // namespace

std::string MemoryPanel::bytes_text(std::uint64_t bytes) const {
  return (pool().estimated ? "≈ " : "") + format_bytes(static_cast<double>(bytes));
}

TimeRange MemoryPanel::time_range(const PanelContext& context) const {
  const Snapshot& snapshot = *context.tab.snapshot;
  TimeRange range{snapshot.begin_ns, std::max(snapshot.end_ns, snapshot.begin_ns + 1)};
  if (!follow_view_) return own_range_.value_or(range);
  range.begin_ns = static_cast<std::int64_t>(std::floor(context.tab.view.begin_ns));
  range.end_ns = std::max(range.begin_ns + 1, static_cast<std::int64_t>(std::ceil(context.tab.view.end_ns)));
  return range;
}

void MemoryPanel::show_range(const PanelContext& context, double begin_ns, double end_ns) {
  end_ns = std::max(end_ns, begin_ns + 10);
  if (follow_view_) return context.tab.show({begin_ns, end_ns});
  own_range_ = TimeRange{static_cast<std::int64_t>(begin_ns), static_cast<std::int64_t>(end_ns)};
}

std::int64_t MemoryPanel::cursor(const PanelContext& context) const {
  if (pinned_ns_) return *pinned_ns_;
  if (context.tab.cursor_ns) return *context.tab.cursor_ns;
  return pool().peak_ns;
}

// The stretch round the peak in which at least half of it is in use.
void MemoryPanel::go_to_peak(const PanelContext& context) {
  const PoolUsage& chosen = pool();
  if (chosen.steps.empty()) return;
  pinned_ns_ = chosen.peak_ns;
  const auto at = std::find_if(chosen.steps.begin(), chosen.steps.end(),
                               [&](const PoolStep& step) { return step.ns >= chosen.peak_ns; });
  const auto low = [&](const PoolStep& step) { return step.bytes < chosen.peak_bytes / 2; };
  const auto after = std::find_if(at, chosen.steps.end(), low);
  const auto before = std::find_if(std::make_reverse_iterator(at), chosen.steps.rend(), low);
  const std::int64_t session_end = context.tab.snapshot->end_ns;
  const auto begin = static_cast<double>(before == chosen.steps.rend() ? chosen.steps.front().ns : before->ns);
  const auto end = static_cast<double>(after == chosen.steps.end() ? std::max(session_end, chosen.peak_ns) : after->ns);
  const double margin = std::max(end - begin, 20.0) / 10;
  show_range(context, begin - margin, end + margin);
}

void MemoryPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  usage_ = context.analysis().memory();
  if (!usage_) {
    empty_state(ui, "memory.loading", area, icon::kClock, "Reading the allocations ...");
    return;
  }
  if (usage_->pool_count() == 0) {
    empty_state(
        ui, "memory.empty", area, icon::kAreaChart,
        "The session holds no allocations and no samples of memory. Capture PyTorch with profile_memory, Neuron "
        "with --enable-memory-tracker or --enable-dge-notifs, to see who uses the memory.");
    return;
  }
  chosen_pool_ = std::min(chosen_pool_, static_cast<std::uint32_t>(usage_->pool_count() - 1));
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(kHeadRow)));
  const bool has_side = rest.width() >= ui.px(kLeastForTable) && !pool().sampled;
  const Rect side = has_side ? rest.cut_right(std::min(ui.px(kSideWidth), rest.width() * 0.4F)) : Rect{};
  const Rect axis = rest.cut_top(ui.px(kAxisRow));
  const bool has_map = rest.height() >= ui.px(kLeastForMap) && !pool().touched.empty();
  Rect upper = has_map ? rest.cut_top(rest.height() * 0.45F) : rest;
  const auto inner = [&](const Rect& part) {
    return Rect{part.x0 + ui.px(kScaleWidth), part.y0 + ui.px(kTitleRow), part.x1 - ui.px(8), part.y1 - ui.px(8)};
  };
  Plot plot{inner(upper), time_range(context), std::max<std::uint64_t>(pool().peak_bytes, 1)};
  plot.most += plot.most / 8;  // room for the peak's label
  const auto capacity = pool().capacity_bytes;
  if (capacity && *capacity <= plot.most * 4) {
    plot.most = std::max(plot.most, *capacity + *capacity / 12);
  } else if (capacity) {
    plot.most += plot.most / 6;  // for the line of text that says so
  }
  Plot map = plot;
  map.rect = inner(rest);
  const auto pixels = [](float length) { return static_cast<std::size_t>(std::max(1.0F, length)); };
  refresh_plot(context, {usage_->snapshot_version, chosen_pool_, plot.range, pixels(plot.rect.width()),
                         has_map ? pixels(map.rect.height()) : 0, min_bytes_, grouping_});
  draw_usage(context, upper, plot, axis);
  if (has_map) {
    horizontal_line(ui, rest.x0, rest.x1, rest.y0, ui.colour(Colour::line2));
    draw_addresses(context, rest, map);
  }
  draw_cursor(context, plot, {axis.x0, axis.y0, axis.x1, has_map ? map.rect.y1 : plot.rect.y1});
  if (side.empty()) return;
  vertical_line(ui, side.x0, side.y0, side.y1, ui.colour(Colour::line2));
  draw_side(context, side);  // after the plots, which say where the cursor is
}

void MemoryPanel::draw_pools(const PanelContext& context, Rect& place) {
  Ui& ui = context.ui;
  std::vector<Segment> segments;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < usage_->pool_count(); ++i) {
    const PoolUsage& each = usage_->pool(i);
    names.push_back((each.estimated ? "≈ " : "") + (each.name.empty() ? std::string("memory") : each.name));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    segments.push_back({.label = names[i], .tooltip = usage_->pool(i).note});
  }
  int chosen = static_cast<int>(chosen_pool_);
  const float width = segmented_width(ui, segments);
  bool changed = false;
  if (width <= place.width() * 0.4F) {
    changed = segmented(ui, "memory.pool", place.cut_left(width).middle(ui.px(size::kControl)), segments, chosen);
  } else {
    const float narrow = std::min(dropdown_width(ui, names[chosen_pool_]), place.width() * 0.4F);
    changed = dropdown(ui, "memory.pool", place.cut_left(narrow).middle(ui.px(size::kControl)), names, chosen);
  }
  if (!changed) return;
  chosen_pool_ = static_cast<std::uint32_t>(chosen);
  alive_.fold_all();
}

void MemoryPanel::draw_choices(const PanelContext& context, Rect& place) {
  Ui& ui = context.ui;
  std::vector<std::string> groupings = {"Tensor", "Size class"};
  if (usage_->sites.size() > 1 || (usage_->sites.size() == 1 && !usage_->sites.front().empty())) {
    groupings.emplace_back("Written by");
  }
  int grouping = std::min(static_cast<int>(grouping_), static_cast<int>(groupings.size()) - 1);
  place.cut_left(draw_text(ui, place, "Colour", {.colour = Colour::text2}) + ui.px(10));
  const float width = dropdown_width(ui, "Size class");
  if (dropdown(ui, "memory.colour", place.cut_left(width).middle(ui.px(size::kControl)), groupings, grouping)) {
    grouping_ = static_cast<UsageGrouping>(grouping);
  }
  place.cut_left(ui.px(20));
  if (place.width() < ui.px(300)) return;
  place.cut_left(draw_text(ui, place, "Smallest shown", {.colour = Colour::text2}) + ui.px(10));
  float position = bytes_to_slider(min_bytes_);
  if (slider(ui, "memory.smallest", place.cut_left(ui.px(110)).middle(ui.px(size::kControl)), position)) {
    min_bytes_ = slider_to_bytes(position);
  }
  place.cut_left(ui.px(10));
  draw_text(ui, place.cut_left(ui.px(68)),
            min_bytes_ == 0 ? std::string("all") : format_bytes(static_cast<double>(min_bytes_)),
            {.style = TextStyle::mono});
  const std::vector<Segment> shapes = {{.label = "Stacked", .icon = icon::kAreaChart},
                                       {.label = "Lines", .icon = icon::kLineChart}};
  int shape = stacked_ ? 0 : 1;
  const float shapes_width = segmented_width(ui, shapes);
  if (place.width() < shapes_width) return;
  segmented(ui, "memory.shape", place.cut_left(shapes_width).middle(ui.px(size::kControl)), shapes, shape);
  stacked_ = shape == 0;
  place.cut_left(ui.px(20));
}

void MemoryPanel::draw_head(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  horizontal_line(ui, row.x0, row.x1, row.y1 - 1, ui.colour(Colour::line2));
  Rect place = row.inset(ui.px(size::kPanelPadding), 0);
  const ButtonOptions peak{.label = "Go to the peak", .kind = ButtonKind::quiet, .disabled = pool().steps.empty()};
  const Rect peak_rect = place.cut_right(button_width(ui, peak)).middle(ui.px(size::kControl));
  if (button(ui, "memory.peak", peak_rect, peak)) go_to_peak(context);
  place.cut_right(ui.px(16));
  draw_pools(context, place);
  place.cut_left(ui.px(20));
  if (!pool().sampled) draw_choices(context, place);
  const float width = checkbox_width(ui, "Follow timeline range");
  if (place.width() < width) return;
  const TimeRange before = time_range(context);
  checkbox(ui, "memory.follow", place.cut_left(width).middle(ui.px(size::kControl)), "Follow timeline range",
           follow_view_);
  if (!follow_view_ && !own_range_) own_range_ = before;
  if (follow_view_) own_range_.reset();
}

void MemoryPanel::refresh_plot(const PanelContext& context, const PlotKey& wanted) {
  if (task_.valid() && task_.ready()) data_ = task_.take();
  if ((data_ && data_->key == wanted) || task_.valid()) return;
  const std::int64_t end_ns = context.tab.snapshot->end_ns;
  task_ = pool_.start([usage = usage_, wanted, end_ns](TaskControl&) -> std::shared_ptr<const PlotData> {
    auto data = std::make_shared<PlotData>();
    data->key = wanted;
    data->usage = usage;
    data->stack =
        usage->stacked(wanted.pool, wanted.range, wanted.pixels, kMostSeries, wanted.min_bytes, wanted.grouping);
    if (wanted.rows > 0) {
      data->scale = AddressScale(usage->pool(wanted.pool));
      data->map = address_map(
          *usage, data->scale,
          {wanted.pool, wanted.range, wanted.pixels, wanted.rows, wanted.min_bytes, wanted.grouping, end_ns});
    }
    return data;
  });
  context.ui.request_frame_after(0.01);
}

void MemoryPanel::draw_side(const PanelContext& context, const Rect& area) {
  const std::int64_t at = cursor(context);
  const char* title = pinned_ns_              ? "Alive at the cursor (held)"
                      : context.tab.cursor_ns ? "Alive at the cursor"
                                              : "Alive at the peak";
  Rect rest = area;
  const bool has_card = area.height() >= context.ui.px(kLeastForCard) && card_.choose(context, usage_);
  const Rect card = has_card ? rest.cut_bottom(context.ui.px(kCardHeight)) : Rect{};
  if (alive_.draw(context, {usage_, chosen_pool_, at, min_bytes_}, title, rest)) pinned_ns_ = at;
  if (has_card) card_.draw(context, card);
}

}  // namespace accelscope::app
