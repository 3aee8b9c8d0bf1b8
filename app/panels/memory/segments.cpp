// The segments that the allocator holds at the cursor, a row each, the largest first: what lies where, what is free.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/memory/panel.h"
#include "app/panels/rect_batch.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "imgui.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kLeastSegmentRow = 7, kMostSegmentRow = 22, kSegmentRowGap = 2;  // units
constexpr float kSegmentRowWithText = 13;                                        // high enough for its size beside it
constexpr float kSegmentScale = 88;                                              // as the plots above it

}  // namespace

void MemoryPanel::choose_map(const PanelContext& context, Rect& title) {
  Ui& ui = context.ui;
  const std::vector<Segment> shapes = {
      {.label = "Over time", .tooltip = "Addresses over time"},
      {.label = "At the cursor", .tooltip = "Segments and what lies in them, at the cursor's time"}};
  const float width = segmented_width(ui, shapes);
  if (width + ui.px(40) > title.width()) return;
  int chosen = map_at_cursor_ ? 1 : 0;
  const Rect place = title.cut_right(width).middle(std::min(ui.px(size::kControl), title.height() - ui.px(2)));
  if (segmented(ui, "memory.map_shape", place, shapes, chosen)) map_at_cursor_ = chosen == 1;
  title.cut_right(ui.px(12));
}

void MemoryPanel::draw_segments_title(const PanelContext& context, Rect title, const Places& places) {
  Ui& ui = context.ui;
  begin_title(context, places, "Segments", title);
  if (places.main_switch.empty()) choose_map(context, title);
  if (!segments_) return;
  const std::string text = "at " + format_time_exact(segments_->key.ns) + ": " + segments_text(segments_->map);
  draw_text(ui, title, text, {.style = TextStyle::small, .colour = Colour::text3});
  tooltip(ui, interact(ui, "memory.segments_hint", title), title, text);
}

void MemoryPanel::refresh_segments(const PanelContext& context, std::size_t pixels) {
  const SegmentRowsKey wanted{
      usage_->snapshot_version, chosen_pool_, cursor(context), pixels, min_bytes_, grouping_, passing_};
  if ((segments_ && segments_->key == wanted) || segments_task_.valid()) return;
  segments_task_ = pool_.start([usage = usage_, wanted](TaskControl&) { return make_segment_rows(usage, wanted); });
}

void MemoryPanel::draw_segments(const PanelContext& context, const Places& places) {
  Ui& ui = context.ui;
  Rect area = places.segments;
  if (places.has_titles) {
    draw_segments_title(context, area.cut_top(ui.px(places.main_switch.size() > 1 ? 34.0F : 26.0F)), places);
  }
  area = {area.x0, area.y0, area.x1 - ui.px(8), area.y1 - ui.px(8)};
  const float bar = area.width() - ui.px(kSegmentScale);
  if (bar <= 1 || area.height() <= 1) return;
  refresh_segments(context, static_cast<std::size_t>(bar));
  if (!segments_ || segments_->key.pool != chosen_pool_) return;
  const std::size_t count = segments_->rows.size();
  if (count == 0) {
    empty_state(ui, "memory.no_segments", area, nullptr,
                "Nothing is held at this time. Move the cursor over the plot.");
    return;
  }
  const float row = std::clamp(std::floor(area.height() / static_cast<float>(count)), ui.px(kLeastSegmentRow),
                               ui.px(kMostSegmentRow));
  const ScrollArea scroll(ui, "memory.segments", area, row * static_cast<float>(count));
  const Rect content = scroll.content();
  const Rect seen = scroll.visible();
  const auto first = static_cast<std::size_t>(std::max(0.0F, (seen.y0 - content.y0) / row));
  const auto last = std::min(count, static_cast<std::size_t>(std::max(0.0F, (seen.y1 - content.y0) / row)) + 1);
  for (std::size_t i = first; i < last; ++i) {
    const float top = content.y0 + row * static_cast<float>(i);
    Rect line{area.x0, top, content.x1, top + row - ui.px(kSegmentRowGap)};
    const Rect label = line.cut_left(ui.px(kSegmentScale));
    if (row >= ui.px(kSegmentRowWithText)) {
      draw_text(ui, {label.x0, label.y0, label.x1 - ui.px(8), label.y1},
                format_bytes(static_cast<double>(segments_->map.segments[i].bytes)),
                {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
    }
    line.x1 = std::min(line.x1, line.x0 + bar);
    draw_segment_row(context, line, i);
    explain_segment(context, line, i);
  }
}

void MemoryPanel::draw_segment_row(const PanelContext& context, const Rect& row, std::size_t number) const {
  Ui& ui = context.ui;
  std::array<Pixel, kSlicePalette.size()> colours{};
  for (unsigned slot = 0; slot < colours.size(); ++slot) colours[slot] = ui.theme().area(ui.theme().slice(slot));
  const Pixel several = ui.theme().area(ui.colour(Colour::text3));
  const float step = row.width() / static_cast<float>(std::max<std::size_t>(segments_->key.pixels, 1));
  fill(ui, row, ui.colour(Colour::bg4));
  RectBatch batch(*ui.draw());
  for (const SegmentStrip& strip : segments_->rows[number]) {
    const float x0 = row.x0 + static_cast<float>(strip.begin) * step;
    const float x1 = std::min(row.x1, row.x0 + static_cast<float>(strip.end) * step);
    batch.add(x0, row.y0, x1 - (x1 - x0 > 3 ? 1.0F : 0.0F), row.y1,
              strip.slot < colours.size() ? colours[strip.slot] : several);
  }
}

// What lies under the pointer; a click selects it.
void MemoryPanel::explain_segment(const PanelContext& context, const Rect& row, std::size_t number) {
  Ui& ui = context.ui;
  const Interaction at = interact(ui, "memory.segment." + std::to_string(number), row);
  if (!at.hovered) return;
  const double share = static_cast<double>((ui.input().mouse.x - row.x0) / std::max(1.0F, row.width()));
  const SegmentPlace place = place_in_segment(*segments_, number, share);
  const MemoryUsage& usage = *segments_->usage;
  if (at.clicked && place.allocation) {
    pinned_ns_ = segments_->key.ns;
    select_event(context.tab, usage.allocations[*place.allocation].event);
    side_part_ = Part::allocation;
  }
  const auto bytes = [](std::uint64_t value) { return format_bytes(static_cast<double>(value)); };
  if (!rests_on(ui, "segment " + std::to_string(number) + " " + address_text(place.free_begin))) return;
  const MemorySegment& segment = segments_->map.segments[number];
  HoverCard card;
  if (place.allocation) {
    const Allocation& shown = usage.allocations[*place.allocation];
    const std::string& name = usage.tensors[shown.tensor];
    card.title = name.empty() ? "unnamed" : name;
    card.title_value = bytes(shown.bytes);
    card.swatch = ui.theme().slice(palette_slot(usage.group_name(usage.group_of(shown, grouping_), grouping_)));
    if (shown.requested < shown.bytes) card.rows.push_back({.label = "Requested", .value = bytes(shown.requested)});
    card.rows.push_back({.label = "Address", .value = address_text(*shown.address)});
  } else {
    card.title = "Free";
    card.title_value = bytes(place.free_end - place.free_begin);
    card.rows.push_back({.label = "Address", .value = address_text(place.free_begin)});
  }
  card.rows.push_back({.label = "Segment", .value = address_text(segment.address) + ", " + bytes(segment.bytes)});
  card.rows.push_back({.label = "In use", .value = bytes(segment.used)});
  card.rows.push_back({.label = "Free in it",
                       .value = bytes(segment.free()) + ", largest " + bytes(segment.largest_free) +
                                ", fragmentation " +
                                format_share(fragmentation(segment.free(), segment.largest_free))});
  hover_card(ui, card, row, {ui.input().mouse.x - ui.px(2), row.y0, ui.input().mouse.x + ui.px(2), row.y1});
}

}  // namespace accelscope::app
