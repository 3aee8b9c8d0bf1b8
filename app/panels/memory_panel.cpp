#include "app/panels/memory_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/selection.h"
#include "app/time_axis.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "imgui.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kHeadRow = 40, kAxisRow = 20, kScaleWidth = 88, kAliveWidth = 460;
constexpr float kLeastForTable = 760, kLeastForMap = 460;  // units of width and height
constexpr std::size_t kMostSeries = 10;

float to_pixels(double value) { return static_cast<float>(value); }

}  // namespace

float MemoryPanel::Plot::x_of(std::int64_t ns) const noexcept {
  const double share = (static_cast<double>(ns) - static_cast<double>(range.begin_ns)) /
                       std::max(1.0, static_cast<double>(range.length_ns()));
  return rect.x0 + to_pixels(std::clamp(share, -1.0, 2.0)) * rect.width();
}

std::int64_t MemoryPanel::Plot::time_at(float x) const noexcept {
  const double share = static_cast<double>(x - rect.x0) / std::max(1.0, static_cast<double>(rect.width()));
  return range.begin_ns + std::llround(share * static_cast<double>(range.length_ns()));
}

float MemoryPanel::Plot::y_of(double bytes) const noexcept {
  return rect.y1 - to_pixels(bytes / static_cast<double>(most)) * rect.height();
}

TimeRange MemoryPanel::time_range(const PanelContext& context) const {
  const Snapshot& snapshot = *context.tab.snapshot;
  TimeRange range{snapshot.begin_ns, std::max(snapshot.end_ns, snapshot.begin_ns + 1)};
  if (!follow_view_) return range;
  range.begin_ns = static_cast<std::int64_t>(std::floor(context.tab.view.begin_ns));
  range.end_ns = std::max(range.begin_ns + 1, static_cast<std::int64_t>(std::ceil(context.tab.view.end_ns)));
  return range;
}

std::int64_t MemoryPanel::cursor(const PanelContext& context) const {
  if (pinned_ns_) return *pinned_ns_;
  if (context.tab.cursor_ns) return *context.tab.cursor_ns;
  return usage_->pools[chosen_pool_].peak_ns;
}

void MemoryPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  usage_ = context.analysis().memory();
  if (!usage_) {
    empty_state(ui, "memory.loading", area, icon::kClock, "Reading the allocations ...");
    return;
  }
  if (usage_->pools.empty()) {
    empty_state(
        ui, "memory.empty", area, icon::kAreaChart,
        "The session holds no allocations. Capture with the memory tracker on, or with DMA names and shapes, to "
        "see who uses the memory.");
    return;
  }
  chosen_pool_ = std::min(chosen_pool_, static_cast<std::uint32_t>(usage_->pools.size() - 1));
  Rect rest = area;
  draw_head(context, rest.cut_top(ui.px(kHeadRow)));
  const Rect side = rest.width() >= ui.px(kLeastForTable) ? rest.cut_right(ui.px(kAliveWidth)) : Rect{};
  if (rest.height() >= ui.px(kLeastForMap)) {
    draw_usage(context, rest.cut_top(rest.height() * 0.45F));
    horizontal_line(ui, rest.x0, rest.x1, rest.y0, ui.colour(Colour::line2));
    draw_addresses(context, rest);
  } else {
    draw_usage(context, rest);
  }
  if (side.empty()) return;
  vertical_line(ui, side.x0, side.y0, side.y1, ui.colour(Colour::line2));
  draw_alive(context, side);  // after the plots, which say where the cursor is
}

void MemoryPanel::draw_head(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  horizontal_line(ui, row.x0, row.x1, row.y1 - 1, ui.colour(Colour::line2));
  Rect place = row.inset(ui.px(size::kPanelPadding), 0);
  std::vector<Segment> pools;
  for (const PoolUsage& pool : usage_->pools) {
    pools.push_back({.label = pool.name.empty() ? std::string_view("memory") : std::string_view(pool.name)});
  }
  int chosen = static_cast<int>(chosen_pool_);
  const float pools_width = std::min(segmented_width(ui, pools), place.width() / 2);
  if (segmented(ui, "memory.pool", place.cut_left(pools_width).middle(ui.px(size::kControl)), pools, chosen)) {
    chosen_pool_ = static_cast<std::uint32_t>(chosen);
    alive_.fold_all();
  }
  place.cut_left(ui.px(20));
  place.cut_left(draw_text(ui, place, "Smallest shown", {.colour = Colour::text2}) + ui.px(10));
  float position = bytes_to_slider(min_bytes_);
  if (slider(ui, "memory.smallest", place.cut_left(ui.px(140)).middle(ui.px(size::kControl)), position)) {
    min_bytes_ = slider_to_bytes(position);
  }
  place.cut_left(ui.px(10));
  draw_text(ui, place.cut_left(ui.px(72)),
            min_bytes_ == 0 ? std::string("all") : format_bytes(static_cast<double>(min_bytes_)),
            {.style = TextStyle::mono});
  const Rect stacked_rect = place.cut_left(checkbox_width(ui, "Stacked")).middle(ui.px(size::kControl));
  checkbox(ui, "memory.stacked", stacked_rect, "Stacked", stacked_);
  place.cut_left(ui.px(20));
  const Rect follow_rect = place.cut_left(checkbox_width(ui, "Follow timeline range")).middle(ui.px(size::kControl));
  checkbox(ui, "memory.follow", follow_rect, "Follow timeline range", follow_view_);
}

void MemoryPanel::refresh_plot(const PanelContext& context, const Plot& plot) {
  if (task_.valid() && task_.ready()) {
    data_ = task_.take();
    data_key_ = key_;
  }
  const PlotKey wanted{usage_->snapshot_version, chosen_pool_, plot.range,
                       static_cast<std::size_t>(std::max(1.0F, plot.rect.width())), min_bytes_};
  if (wanted == data_key_ || task_.valid()) return;
  key_ = wanted;
  const std::int64_t end_ns = context.tab.snapshot->end_ns;
  task_ = pool_.start([usage = usage_, wanted, end_ns](TaskControl&) -> std::shared_ptr<const PlotData> {
    return std::make_shared<PlotData>(
        PlotData{usage, usage->stacked(wanted.pool, wanted.range, wanted.pixels, kMostSeries, wanted.min_bytes),
                 address_map(*usage, wanted.pool, wanted.range, wanted.pixels, wanted.min_bytes, end_ns)});
  });
  context.ui.request_frame_after(0.01);
}

void MemoryPanel::draw_usage(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const PoolUsage& pool = usage_->pools[chosen_pool_];
  Rect rest = area;
  Rect title = rest.cut_top(ui.px(26)).inset(ui.px(size::kPanelPadding + 4), 0);
  draw_text(ui, title.cut_right(ui.px(240)), stacked_ ? "line: total; areas: tensors" : "line: total",
            {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right});
  heading(ui, title, "Usage", pool.name + ", " + format_count(pool.allocation_count) + " allocations");
  rest.cut_bottom(ui.px(6));
  const Rect labels = rest.cut_left(ui.px(kScaleWidth));
  rest.cut_right(ui.px(8));
  const Rect axis = rest.cut_top(ui.px(kAxisRow));
  Plot plot{rest, time_range(context), std::max<std::uint64_t>(pool.peak_bytes, 1)};
  plot.most += plot.most / 8;  // room for the peak's label
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  draw_scale(context, plot, labels);
  for (const TimeTick& tick : time_ticks(plot.range, static_cast<std::size_t>(plot.rect.width() / ui.px(110)) + 1)) {
    const float x = std::round(plot.x_of(tick.ns));
    vertical_line(ui, x, axis.y0, plot.rect.y1, ui.colour(Colour::line1));
    draw_text(ui, {x + ui.px(4), axis.y0, plot.rect.x1, axis.y1}, tick.text,
              {.style = TextStyle::mono_small, .colour = Colour::text3});
  }
  refresh_plot(context, plot);
  static_cast<void>(handle_plot(context, plot, "memory.plot", usage_drag_from_x_));
  draw_areas(context, plot);
  draw_peak(context, plot);
  draw_cursor(context, plot, {area.x0, axis.y0, area.x1, area.y1});
}

void MemoryPanel::draw_scale(const PanelContext& context, const Plot& plot, const Rect& labels) {
  Ui& ui = context.ui;
  const auto count = static_cast<std::size_t>(std::max(1.0F, plot.rect.height() / ui.px(36)));
  std::vector<std::uint64_t> ticks = byte_ticks(plot.most, count);
  ticks.insert(ticks.begin(), 0);
  for (const std::uint64_t tick : ticks) {
    const float y = std::round(plot.y_of(static_cast<double>(tick)));
    horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(Colour::line1));
    draw_text(ui, {labels.x0, y - ui.px(8), labels.x1 - ui.px(8), y + ui.px(8)},
              format_bytes(static_cast<double>(tick)),
              {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
  }
}

void MemoryPanel::draw_areas(const PanelContext& context, const Plot& plot) {
  Ui& ui = context.ui;
  if (!data_ || data_->stack.total.empty()) return;
  const StackedUsage& stack = data_->stack;
  ImDrawList* list = ui.draw();
  const std::size_t pixels = stack.total.size();
  const float step = plot.rect.width() / static_cast<float>(pixels);
  list->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  std::vector<std::uint64_t> below(pixels, 0);
  for (std::size_t series = 0; stacked_ && series < stack.names.size(); ++series) {
    const std::vector<std::uint64_t>& values = stack.values[series];
    const bool other = series + 1 == stack.names.size() && stack.names[series] == "other";
    const Pixel slice = other ? ui.colour(Colour::bg4) : ui.theme().slice(palette_slot(stack.names[series]));
    const Pixel colour = ui.theme().area(slice);
    for (std::size_t begin = 0; begin < pixels;) {  // runs of equal height are one rectangle
      std::size_t end = begin + 1;
      while (end < pixels && values[end] == values[begin] && below[end] == below[begin]) ++end;
      if (values[begin] > 0) {
        list->AddRectFilled(
            {plot.rect.x0 + step * static_cast<float>(begin),
             plot.y_of(static_cast<double>(below[begin] + values[begin]))},
            {plot.rect.x0 + step * static_cast<float>(end), plot.y_of(static_cast<double>(below[begin]))}, colour);
      }
      begin = end;
    }
    for (std::size_t i = 0; i < pixels; ++i) below[i] += values[i];
  }
  std::vector<ImVec2> line;
  for (std::size_t i = 0; i < pixels; ++i) {
    const float y = std::round(plot.y_of(static_cast<double>(stack.total[i]))) + 0.5F;
    const float x = plot.rect.x0 + step * static_cast<float>(i);
    if (!line.empty() && line.back().y != y) line.push_back({x, line.back().y});
    if (line.empty() || line.back().y != y) line.push_back({x, y});
  }
  line.push_back({plot.rect.x1, line.back().y});
  list->AddPolyline(line.data(), static_cast<int>(line.size()), ui.colour(Colour::text1), 0, ui.px(1));
  list->PopClipRect();
}

void MemoryPanel::draw_peak(const PanelContext& context, const Plot& plot) {
  Ui& ui = context.ui;
  const PoolUsage& pool = usage_->pools[chosen_pool_];
  if (pool.peak_bytes == 0) return;
  const float y = std::round(plot.y_of(static_cast<double>(pool.peak_bytes))) + 0.5F;
  dashed_line(ui, ui.draw(), {plot.rect.x0, y}, {plot.rect.x1, y}, ui.colour(Colour::text2));
  const std::string text = "Peak " + format_bytes(static_cast<double>(pool.peak_bytes));
  const float width = text_width(ui, TextStyle::small_strong, text) + ui.px(12);
  const Rect chip{plot.rect.x1 - width, y - ui.px(18), plot.rect.x1, y - ui.px(1)};
  fill(ui, chip, ui.colour(Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::small_strong, .align = Align::centre});
  if (pool.peak_ns < plot.range.begin_ns || pool.peak_ns > plot.range.end_ns) return;
  const float x = plot.x_of(pool.peak_ns);
  const float half = ui.px(4);
  ui.draw()->AddTriangleFilled({x - half, y - ui.px(8)}, {x + half, y - ui.px(8)}, {x, y - ui.px(1)},
                               ui.colour(Colour::text1));
}

void MemoryPanel::draw_cursor(const PanelContext& context, const Plot& plot, const Rect& whole) {
  Ui& ui = context.ui;
  const std::int64_t at = cursor(context);
  if (at < plot.range.begin_ns || at > plot.range.end_ns) return;
  const float x = std::round(plot.x_of(at));
  vertical_line(ui, x, plot.rect.y0 - ui.px(8), whole.y1, ui.colour(Colour::accent));
  const std::uint64_t used = usage_->used_at(chosen_pool_, at);
  ui.draw()->AddCircleFilled({x, plot.y_of(static_cast<double>(used))}, ui.px(3), ui.colour(Colour::accent));
  const std::string text = format_time_exact(at) + "  " + format_bytes(static_cast<double>(used));
  const float width = text_width(ui, TextStyle::mono_small, text) + ui.px(12);
  const float left = std::clamp(x - width / 2, plot.rect.x0, std::max(plot.rect.x0, plot.rect.x1 - width));
  const Rect chip{left, whole.y0, left + width, whole.y0 + ui.px(16)};
  fill(ui, chip, ui.colour(Colour::accent), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::mono_small, .colour = Colour::on_accent, .align = Align::centre});
}

std::optional<std::int64_t> MemoryPanel::handle_plot(const PanelContext& context, const Plot& plot, const char* name,
                                                     std::optional<float>& drag_from_x) {
  Ui& ui = context.ui;
  SessionTab& tab = context.tab;
  const Interaction hand = interact(ui, name, plot.rect);
  std::optional<std::int64_t> clicked_ns;
  if (hand.hovered) tab.cursor_ns = plot.time_at(ui.input().mouse.x);
  if (hand.pressed) drag_from_x = ui.input().mouse.x;
  if (hand.held && drag_from_x && std::abs(ui.input().mouse.x - *drag_from_x) > ui.px(4)) {
    const Rect box{std::min(*drag_from_x, ui.input().mouse.x), plot.rect.y0, std::max(*drag_from_x, ui.input().mouse.x),
                   plot.rect.y1};
    fill(ui, box, with_alpha(ui.colour(Colour::accent), 0.25F));
  }
  if (hand.clicked && drag_from_x) {
    const float to = ui.input().mouse.x;
    if (std::abs(to - *drag_from_x) > ui.px(4)) {  // a drag zooms, as on the timeline
      tab.show({static_cast<double>(plot.time_at(std::min(to, *drag_from_x))),
                static_cast<double>(plot.time_at(std::max(to, *drag_from_x)))});
    } else {
      clicked_ns = plot.time_at(to);
      pinned_ns_ = pinned_ns_ ? std::nullopt : clicked_ns;
    }
  }
  if (!hand.held) drag_from_x.reset();
  const float notches = ui.input().wheel.y;
  if (hand.hovered && notches != 0 && follow_view_) {
    const double factor = std::pow(0.8, notches);
    const auto centre = static_cast<double>(plot.time_at(ui.input().mouse.x));
    tab.show({centre - (centre - tab.view.begin_ns) * factor, centre + (tab.view.end_ns - centre) * factor});
  }
  return clicked_ns;
}

void MemoryPanel::draw_addresses(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  Rect rest = area;
  const std::uint64_t lowest = data_ ? data_->map.lowest : 0;
  const std::uint64_t highest = data_ ? data_->map.highest : 0;
  heading(ui, rest.cut_top(ui.px(26)).inset(ui.px(size::kPanelPadding + 4), 0), "Address map",
          "which addresses are taken, and for how long");
  if (highest <= lowest) {
    empty_state(ui, "memory.no_addresses", rest, icon::kAreaChart, "These allocations carry no addresses.");
    return;
  }
  rest.cut_bottom(ui.px(8));
  const Rect labels = rest.cut_left(ui.px(kScaleWidth));
  rest.cut_right(ui.px(8));
  const Plot plot{rest, time_range(context), highest - lowest};
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  if (const auto clicked_ns = handle_plot(context, plot, "memory.map", map_drag_from_x_)) {
    const float height = plot.rect.y1 - ui.input().mouse.y;
    const auto offset =
        static_cast<std::uint64_t>(std::max(0.0F, height / plot.rect.height()) * static_cast<float>(plot.most));
    if (const auto hit = allocation_at(*usage_, chosen_pool_, *clicked_ns, lowest + offset)) {
      pinned_ns_ = clicked_ns;
      select_event(context.tab, usage_->allocations[*hit].event);
    }
  }
  for (const std::uint64_t tick : byte_ticks(plot.most, static_cast<std::size_t>(plot.rect.height() / ui.px(48)) + 1)) {
    const float y = std::round(plot.y_of(static_cast<double>(tick)));
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llX", static_cast<unsigned long long>(lowest + tick));
    horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(Colour::line1));
    draw_text(ui, {labels.x0, y - ui.px(8), labels.x1 - ui.px(8), y + ui.px(8)}, text.data(),
              {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
  }
  ImDrawList* list = ui.draw();
  list->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  const float pixel = plot.rect.width() / static_cast<float>(std::max<std::size_t>(data_key_.pixels, 1));
  for (const AddressBlock& block : data_->map.blocks) {
    const float y0 = plot.y_of(static_cast<double>(block.address - lowest + block.bytes));
    const float y1 = std::max(plot.y_of(static_cast<double>(block.address - lowest)), y0 + 1);
    const ImVec2 from{plot.rect.x0 + block.x0 * pixel, y0};
    const ImVec2 to{plot.rect.x0 + block.x1 * pixel, y1 - (y1 - y0 > 3 ? 1.0F : 0.0F)};
    list->AddRectFilled(from, to, ui.theme().area(ui.theme().slice(palette_slot(data_->usage->tensors[block.tensor]))));
    const bool selected = context.tab.selected == data_->usage->allocations[block.allocation].event;
    if (selected) list->AddRect(from, to, ui.colour(Colour::selection), 0, 0, ui.px(2));
  }
  list->PopClipRect();
  const std::int64_t at = cursor(context);
  if (at >= plot.range.begin_ns && at <= plot.range.end_ns) {
    vertical_line(ui, std::round(plot.x_of(at)), plot.rect.y0, plot.rect.y1, ui.colour(Colour::accent));
  }
}

void MemoryPanel::draw_alive(const PanelContext& context, const Rect& area) {
  const std::int64_t at = cursor(context);
  const char* title = pinned_ns_              ? "Alive at the cursor (held)"
                      : context.tab.cursor_ns ? "Alive at the cursor"
                                              : "Alive at the peak";
  if (alive_.draw(context, {usage_, chosen_pool_, at, min_bytes_}, title, area)) pinned_ns_ = at;
}

}  // namespace accelscope::app
