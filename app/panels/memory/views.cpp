#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/axes/axes.h"
#include "app/panels/memory/panel.h"
#include "app/panels/rect_batch.h"
#include "app/view/selection.h"
#include "core/model/palette.h"
#include "imgui.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

// The address map: which addresses are taken when, and which never.

namespace {

// Addresses of a whole machine are told apart by their distance from the first.
bool is_long(const content::AddressScale& scale) { return !scale.empty() && scale.parts().back().span.end >> 32 != 0; }
float y_of_share(const Rect& rect, double share) { return rect.y1 - static_cast<float>(share) * rect.height(); }

constexpr float kLeastSegmentRow = 7, kMostSegmentRow = 22, kSegmentRowGap = 2;  // units
constexpr float kSegmentRowWithText = 13;                                        // high enough for its size beside it
constexpr float kSegmentScale = 88;                                              // as the plots above it

float to_pixels(double value) { return static_cast<float>(value); }

}  // namespace

void MemoryPanel::draw_map_title(const PanelContext& context, Rect title, const Places& places) {
  Ui& ui = context.ui;
  begin_title(context, places, "Address map", title);
  if (places.main_switch.empty()) choose_map(context, title);
  std::string hint = "which addresses are taken, and for how long";
  if (passing_.mask) hint = "what passes the filter; " + hint;
  if (data_ && is_long(data_->scale))
    hint += "; from " + content::address_text(data_->scale.parts().front().span.begin);
  draw_text(ui, title, hint, kHintText);
}

// The allocation under the pointer is looked for on the pool: as many may be alive as the session has.
void MemoryPanel::find_hovered(const PanelContext& context, const Plot& plot) {
  Ui& ui = context.ui;
  const double share = static_cast<double>((plot.rect.y1 - ui.input().mouse.y) / plot.rect.height());
  const Hover wanted{usage_->snapshot_version, chosen_pool_, plot.time_at(ui.input().mouse.x),
                     data_->scale.address_at(share), std::nullopt};
  const bool known = hover_.version == wanted.version && hover_.pool == wanted.pool && hover_.ns == wanted.ns &&
                     hover_.address == wanted.address;
  if (known || hover_task_.valid()) return;
  hover_task_ = pool_.start([usage = usage_, wanted](TaskControl&) {
    Hover found = wanted;
    found.allocation = content::allocation_at(*usage, wanted.pool, wanted.ns, wanted.address);
    return found;
  });
}

void MemoryPanel::draw_addresses(const PanelContext& context, const Places& places, const Plot& plot) {
  Ui& ui = context.ui;
  const Rect& area = places.addresses;
  if (places.has_titles) draw_map_title(context, {area.x0, area.y0, area.x1, plot.rect.y0}, places);
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  if (!data_ || data_->key.pool != chosen_pool_ || data_->scale.empty()) return;
  draw_address_labels(context, plot, {area.x0, plot.rect.y0, plot.rect.x0, plot.rect.y1});
  const auto clicked_ns = handle_plot(context, plot, "memory.map", map_response_);
  const bool pointed = hovered_ns_ && plot.rect.contains(ui.input().mouse);
  if (pointed) find_hovered(context, plot);
  const bool current = hover_.version == usage_->snapshot_version && hover_.pool == chosen_pool_;
  std::optional<std::uint32_t> hovered;
  if (pointed && current) hovered = hover_.allocation;
  if (clicked_ns) {
    const double share = static_cast<double>((plot.rect.y1 - ui.input().mouse.y) / plot.rect.height());
    const auto clicked = content::allocation_at(*usage_, chosen_pool_, *clicked_ns, data_->scale.address_at(share));
    if (clicked) {
      view::select_event(context.tab, usage_->allocations[*clicked].event);
      side_part_ = Part::allocation;
    }
  }
  ui.draw()->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  draw_blocks(context, plot);
  draw_never_used(context, plot);
  draw_touched(context, plot);
  const std::optional<std::uint32_t> chosen = card_.allocation();
  if (hovered) {
    if (const auto rect = block_rect(context, plot, *hovered)) outline(ui, *rect, ui.colour(Colour::text2), 1, 1);
  }
  if (chosen && usage_->allocations[*chosen].pool == chosen_pool_) {
    if (const auto rect = block_rect(context, plot, *chosen)) {
      outline(ui, rect->inset(-ui.px(1)), ui.colour(Colour::selection), 1, 2);
    }
  }
  ui.draw()->PopClipRect();
  if (hovered && !map_response_.drag_from_x && !map_response_.pan_from_x) explain_block(context, plot, *hovered);
}

// Of an allocation that is selected itself nothing is asked: its card tells who wrote and read it.
void MemoryPanel::find_touched(const PanelContext& context) {
  if (touched_of_ == context.tab.selected && touched_usage_ == usage_) return;
  touched_of_ = context.tab.selected;
  touched_usage_ = usage_;
  touched_.clear();
  touched_task_ = {};
  if (!touched_of_) return;
  const session::SessionTab& tab = context.tab;
  touched_task_ = pool_.start([store = tab.store, snapshot = tab.snapshot, usage = usage_, &pool = pool_,
                               event = *touched_of_](TaskControl& control) {
    return analysis::touched_allocations({.store = *store, .snapshot = snapshot, .pool = pool, .control = control},
                                         *usage, event);
  });
}

// The blocks that the selected event wrote, and those that it read.
void MemoryPanel::draw_touched(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  for (const analysis::TouchedAllocation& each : touched_) {
    if (usage_->allocations[each.allocation].pool != chosen_pool_) continue;
    const auto rect = block_rect(context, plot, each.allocation);
    if (!rect) continue;
    outline(ui, *rect, ui.colour(each.written ? Colour::selection : Colour::accent), 1, 2);
    ui.register_widget(fmt::format("memory.{}.{}", each.written ? "written" : "read", each.allocation), *rect);
  }
}

void MemoryPanel::draw_address_labels(const PanelContext& context, const Plot& plot, const Rect& labels) const {
  Ui& ui = context.ui;
  const float least = ui.px(30);
  float last = plot.rect.y1 + least;
  for (const content::AddressPart& part : data_->scale.parts()) {
    const std::uint64_t length = part.span.end - part.span.begin;
    const double height = (part.end - part.begin) * static_cast<double>(plot.rect.height());
    std::vector<std::uint64_t> offsets = {0};
    if (part.used) {
      for (const std::uint64_t tick : content::byte_ticks(length, static_cast<std::size_t>(height / 60) + 1)) {
        offsets.push_back(tick);
      }
    }
    for (const std::uint64_t offset : offsets) {
      const float y = std::round(y_of_share(plot.rect, data_->scale.share_of(part.span.begin + offset)));
      if (last - y < least) continue;
      last = y;
      horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(Colour::line1));
      const std::uint64_t address = part.span.begin + offset;
      const std::uint64_t first = data_->scale.parts().front().span.begin;
      const std::string text =
          is_long(data_->scale) ? "+" + format_bytes(address - first) : content::address_text(address);
      const Rect row{labels.x0 + ui.px(2), y - ui.px(8), labels.x1 - ui.px(6), y + ui.px(8)};
      draw_text(ui, row, fitted_text(ui, TextStyle::mono_small, text, row.width(), Fit::middle), kMonoHintRight);
    }
  }
}

void MemoryPanel::draw_blocks(const PanelContext& context, const Plot& plot) const {
  const Ui& ui = context.ui;
  const float from = plot.x_of(data_->key.range.begin_ns);
  const float step =
      (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(std::max<std::size_t>(data_->key.pixels, 1));
  const float row = plot.rect.height() / static_cast<float>(std::max<std::size_t>(data_->key.rows, 1));
  std::array<Pixel, kSlicePalette.size()> colours{};
  for (unsigned slot = 0; slot < colours.size(); ++slot) colours[slot] = ui.theme().area(ui.theme().slice(slot));
  const Pixel several = ui.theme().area(ui.colour(Colour::text3));
  RectBatch batch(*ui.draw());
  for (const content::AddressBlock& block : data_->map) {
    const float y0 = plot.rect.y1 - block.y1 * row;
    const float y1 = plot.rect.y1 - block.y0 * row;
    batch.add(from + block.x0 * step, y0, from + block.x1 * step, y1 - (y1 - y0 > 3 ? 1.0F : 0.0F),
              block.slot < colours.size() ? colours[block.slot] : several);
  }
}

void MemoryPanel::draw_never_used(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  std::uint64_t whole = 0;
  for (const content::AddressPart& part : data_->scale.parts()) whole += part.span.end - part.span.begin;
  for (const content::AddressPart& part : data_->scale.parts()) {
    if (part.used) continue;
    const Rect gap{plot.rect.x0, y_of_share(plot.rect, part.end), plot.rect.x1, y_of_share(plot.rect, part.begin)};
    fill(ui, gap, ui.colour(Colour::hatch_bg));
    hatch(ui, ui.draw(), gap, ui.colour(Colour::hatch));
    const std::string text =
        "never used: " + format_bytes(part.span.end - part.span.begin) + " of " + format_bytes(whole);
    const float width = text_width(ui, TextStyle::small, text) + ui.px(16);
    const Rect chip{gap.centre().x - width / 2, gap.centre().y - ui.px(9), gap.centre().x + width / 2,
                    gap.centre().y + ui.px(9)};
    if (gap.height() < ui.px(18) || width > gap.width()) continue;
    fill(ui, chip, ui.colour(Colour::bg1), size::kChipRadius);
    draw_text(ui, chip, text, {.style = TextStyle::small, .colour = Colour::text2, .align = Align::centre});
  }
}

std::optional<Rect> MemoryPanel::block_rect(const PanelContext& context, const Plot& plot,
                                            std::uint32_t allocation) const {
  const analysis::Allocation& shown = usage_->allocations[allocation];
  if (!shown.address) return std::nullopt;
  const float bottom = y_of_share(plot.rect, data_->scale.share_of(*shown.address));
  const float top = y_of_share(plot.rect, data_->scale.share_of(*shown.address + shown.bytes));
  const float x0 = plot.x_of(shown.begin_ns);
  const float x1 = plot.x_of(shown.end_ns.value_or(context.tab.snapshot->end_ns));
  return Rect{x0, top, std::max(x1, x0 + 3), std::max(bottom, top + 3)};
}

void MemoryPanel::explain_block(const PanelContext& context, const Plot& plot, std::uint32_t allocation) {
  Ui& ui = context.ui;
  if (!rests_on(ui, "block " + std::to_string(allocation))) return;
  const analysis::Allocation& shown = usage_->allocations[allocation];
  const std::string& name = usage_->tensors[shown.tensor];
  HoverCard card;
  card.title = name.empty() ? "unnamed" : name;
  card.title_value = format_bytes(shown.bytes);
  card.swatch = ui.theme().slice(palette_slot(name));
  if (shown.address) card.rows.push_back({.label = "Address", .value = content::address_text(*shown.address)});
  card.rows.push_back({.label = "From", .value = format_time_exact(shown.begin_ns)});
  card.rows.push_back(
      {.label = "Lives",
       .value = shown.end_ns ? format_duration(*shown.end_ns - shown.begin_ns) : std::string("never freed")});
  if (!usage_->sites[shown.site].empty()) card.rows.push_back({.label = "Line", .value = usage_->sites[shown.site]});
  const Rect block = block_rect(context, plot, allocation).value_or(plot.rect).intersected(plot.rect);
  hover_card(ui, card, block, {ui.input().mouse.x - ui.px(2), plot.rect.y0, ui.input().mouse.x + ui.px(2), block.y1});
}

// The segments that the allocator holds at the cursor, a row each, the largest first: what lies where, what is free.

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
  const std::string text = "at " + format_time_exact(segments_->key.ns) + ": " + content::segments_text(segments_->map);
  draw_text(ui, title, text, kHintText);
  tooltip(ui, interact(ui, "memory.segments_hint", title, {.keys = FocusStopKind::open}), title, text);
}

void MemoryPanel::refresh_segments(const PanelContext& context, std::size_t pixels) {
  const content::SegmentRowsKey wanted{
      usage_->snapshot_version, chosen_pool_, cursor(context), pixels, min_bytes_, grouping_, passing_};
  if ((segments_ && segments_->key == wanted) || segments_task_.valid()) return;
  segments_task_ =
      pool_.start([usage = usage_, wanted](TaskControl&) { return content::make_segment_rows(usage, wanted); });
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
  if (count == 0)
    return empty_sentence(ui, "memory.no_segments", area, nullptr,
                          "Nothing is held at this time. Move the cursor over the plot.");
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
      draw_text(ui, {label.x0, label.y0, label.x1 - ui.px(8), label.y1}, format_bytes(segments_->map.segments[i].bytes),
                kMonoHintRight);
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
  for (const content::SegmentStrip& strip : segments_->rows[number]) {
    const float x0 = row.x0 + static_cast<float>(strip.begin) * step;
    const float x1 = std::min(row.x1, row.x0 + static_cast<float>(strip.end) * step);
    batch.add(x0, row.y0, x1 - (x1 - x0 > 3 ? 1.0F : 0.0F), row.y1,
              strip.slot < colours.size() ? colours[strip.slot] : several);
  }
}

// What lies under the pointer; a click selects it.
void MemoryPanel::explain_segment(const PanelContext& context, const Rect& row, std::size_t number) {
  Ui& ui = context.ui;
  const Interaction at = interact(ui, "memory.segment." + std::to_string(number), row,
                                  {.keys = FocusStopKind::pointer, .label = "Segment of the pool"});
  if (!at.hovered) return;
  const double share = static_cast<double>((ui.input().mouse.x - row.x0) / std::max(1.0F, row.width()));
  const content::SegmentPlace place = content::place_in_segment(*segments_, number, share);
  const analysis::MemoryUsage& usage = *segments_->usage;
  if (at.clicked && place.allocation) {
    pinned_ns_ = segments_->key.ns;
    view::select_event(context.tab, usage.allocations[*place.allocation].event);
    side_part_ = Part::allocation;
  }
  if (!rests_on(ui, "segment " + std::to_string(number) + " " + content::address_text(place.free_begin))) return;
  const analysis::MemorySegment& segment = segments_->map.segments[number];
  HoverCard card;
  if (place.allocation) {
    const analysis::Allocation& shown = usage.allocations[*place.allocation];
    const std::string& name = usage.tensors[shown.tensor];
    card.title = name.empty() ? "unnamed" : name;
    card.title_value = format_bytes(shown.bytes);
    card.swatch = ui.theme().slice(palette_slot(usage.group_name(usage.group_of(shown, grouping_), grouping_)));
    if (shown.requested < shown.bytes)
      card.rows.push_back({.label = "Requested", .value = format_bytes(shown.requested)});
    card.rows.push_back({.label = "Address", .value = content::address_text(*shown.address)});
  } else {
    card.title = "Free";
    card.title_value = format_bytes(place.free_end - place.free_begin);
    card.rows.push_back({.label = "Address", .value = content::address_text(place.free_begin)});
  }
  card.rows.push_back(
      {.label = "Segment", .value = content::address_text(segment.address) + ", " + format_bytes(segment.bytes)});
  card.rows.push_back({.label = "In use", .value = format_bytes(segment.used)});
  card.rows.push_back({.label = "Free in it",
                       .value = format_bytes(segment.free()) + ", largest " + format_bytes(segment.largest_free) +
                                ", fragmentation " +
                                format_share(analysis::fragmentation(segment.free(), segment.largest_free))});
  hover_card(ui, card, row, {ui.input().mouse.x - ui.px(2), row.y0, ui.input().mouse.x + ui.px(2), row.y1});
}

// The use of the pool over time: areas or lines, and the four lines that tell capacity, peak, total and cursor apart.

float MemoryPanel::Plot::x_of(std::int64_t ns) const noexcept {
  const double share = (static_cast<double>(ns) - static_cast<double>(range.begin_ns)) /
                       std::max(1.0, static_cast<double>(range.length_ns()));
  return rect.x0 + to_pixels(std::clamp(share, -20.0, 20.0)) * rect.width();
}

std::int64_t MemoryPanel::Plot::time_at(float x) const noexcept {
  const double share = static_cast<double>(x - rect.x0) / std::max(1.0, static_cast<double>(rect.width()));
  return range.begin_ns + std::llround(share * static_cast<double>(range.length_ns()));
}

float MemoryPanel::Plot::y_of(double bytes) const noexcept {
  return rect.y1 - to_pixels(bytes / static_cast<double>(most)) * rect.height();
}

void MemoryPanel::draw_axis(const PanelContext& context, const Plot& plot, const Places& places) const {
  Ui& ui = context.ui;
  const Rect& axis = places.axis;
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  const TimeView view{static_cast<double>(plot.range.begin_ns), static_cast<double>(plot.range.end_ns),
                      std::max(1, static_cast<int>(plot.rect.width()))};
  for (const RulerTick& tick : make_ruler(view, ui.px(110)).ticks) {
    if (tick.label.empty() || !(tick.x >= 0 && tick.x <= view.width)) continue;
    const float x = std::round(plot.rect.x0 + to_pixels(tick.x));
    vertical_line(ui, x, axis.y0 + ui.px(12), axis.y1, ui.colour(Colour::line2));
    vertical_line(ui, x, plot.rect.y0, plot.rect.y1, ui.colour(Colour::line1));
    if (x + ui.px(4) + text_width(ui, TextStyle::mono_small, tick.label) > plot.rect.x1) continue;
    draw_text(ui, {x + ui.px(4), axis.y0, plot.rect.x1, axis.y1}, tick.label,
              {.style = TextStyle::mono_small, .colour = Colour::text3, .fit = Fit::clip});
  }
  horizontal_line(ui, axis.x0, axis.x1, axis.y1, ui.colour(Colour::line2));
}

void MemoryPanel::draw_usage(const PanelContext& context, const Places& places, const Plot& plot) {
  Ui& ui = context.ui;
  const Rect& area = places.usage;
  draw_scale(context, plot, {area.x0, plot.rect.y0, plot.rect.x0, plot.rect.y1});
  static_cast<void>(handle_plot(context, plot, "memory.plot", usage_response_));
  // After the hand, which moves the cursor.
  if (places.has_titles) draw_title(context, {area.x0, area.y0, area.x1, plot.rect.y0}, places);
  ui.draw()->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  draw_areas(context, plot);
  ui.draw()->PopClipRect();
  draw_peak(context, plot, draw_capacity(context, plot));
}

void MemoryPanel::draw_title(const PanelContext& context, Rect title, const Places& places) {
  Ui& ui = context.ui;
  const analysis::PoolUsage& chosen = pool();
  begin_title(context, places, "Usage", title);
  const std::string exact = (chosen.estimated ? "≈ " : "") +
                            format_count(usage_->used_at(chosen_pool_, cursor(context))) + " B at the cursor";
  if (text_width(ui, TextStyle::mono_small, exact) > title.width()) return;
  title.cut_right(draw_text(ui, title, exact, kMonoHintRight) + ui.px(16));
  std::string hint = (filter_note_.empty() ? "" : filter_note_ + "; ") + chosen.name;
  if (chosen.sampled) {
    hint += ", " + chosen.note;
  } else {
    hint += ", " + format_count(chosen.allocation_count) + " allocations, " + format_count(chosen.never_freed) +
            " never freed" + (chosen.note.empty() ? "" : "; estimated: " + chosen.note);
    if (!chosen.reserved.empty()) {
      const std::uint64_t held = usage_->reserved_at(chosen_pool_, cursor(context));
      hint += "; upper line: " + format_bytes(held) + " held by the allocator at the cursor";
    }
  }
  draw_text(ui, title, hint, kHintText);
  tooltip(ui, interact(ui, "memory.hint", title, {.keys = FocusStopKind::open}), title, hint);
}

void MemoryPanel::draw_scale(const PanelContext& context, const Plot& plot, const Rect& labels) const {
  Ui& ui = context.ui;
  const auto count = static_cast<std::size_t>(std::max(1.0F, plot.rect.height() / ui.px(36)));
  std::vector<std::uint64_t> ticks = content::byte_ticks(plot.most, count);
  if (plot.is_tight) ticks = {pool().peak_bytes};
  ticks.insert(ticks.begin(), 0);
  for (const std::uint64_t tick : ticks) {
    const float y = std::round(plot.y_of(static_cast<double>(tick)));
    horizontal_line(ui, plot.rect.x0, plot.rect.x1, y, ui.colour(Colour::line1));
    draw_text(ui, {labels.x0, y - ui.px(8), labels.x1 - ui.px(8), y + ui.px(8)}, format_bytes(tick), kMonoHintRight);
  }
}

// Upright pieces join the level ones; short pieces of a dashed line are whole.
void MemoryPanel::draw_line(const PanelContext& context, const Plot& plot, const std::vector<content::UsageRun>& line,
                            Pixel colour, bool dashed) const {
  const Ui& ui = context.ui;
  const float from = plot.x_of(data_->key.range.begin_ns);
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(data_->key.pixels);
  const float thick = ui.px(1);
  const float shortest_dashed = ui.px(8);
  RectBatch batch(*ui.draw());
  float last_y = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const float x0 = from + step * static_cast<float>(line[i].begin);
    const float x1 = from + step * static_cast<float>(line[i].end);
    const float y = std::round(plot.y_of(static_cast<double>(line[i].top)));
    if (i > 0) batch.add(x0, std::min(y, last_y), x0 + thick, std::max(y, last_y) + thick, colour);
    if (dashed && x1 - x0 > shortest_dashed) {
      dashed_line(ui, ui.draw(), {x0, y + thick / 2}, {x1, y + thick / 2}, colour);
    } else {
      batch.add(x0, y, x1, y + thick, colour);
    }
    last_y = y;
  }
}

void MemoryPanel::draw_areas(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  if (!data_ || data_->key.pool != chosen_pool_ || data_->stack.total.empty()) return;
  const float from = plot.x_of(data_->key.range.begin_ns);  // of the data, which may be a frame behind the range
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(data_->key.pixels);
  for (const content::UsageSeries& series : data_->series) {
    const Pixel slice = series.is_other ? ui.colour(Colour::bg4) : ui.theme().slice(series.slot);
    if (!stacked_) {
      draw_line(context, plot, series.line, series.is_other ? ui.colour(Colour::text3) : slice, false);
      continue;
    }
    const Pixel colour = ui.theme().area(slice);
    RectBatch batch(*ui.draw());
    for (const content::UsageRun& run : series.areas) {
      batch.add(from + step * static_cast<float>(run.begin), plot.y_of(static_cast<double>(run.top)),
                from + step * static_cast<float>(run.end), plot.y_of(static_cast<double>(run.bottom)), colour);
    }
  }
  if (stacked_) draw_area_names(context, plot);
  draw_line(context, plot, data_->reserved, ui.colour(Colour::warning), false);
  draw_line(context, plot, data_->total, ui.colour(Colour::text1), pool().estimated || pool().sampled);
}

// The name and the most it holds, or the name alone, in the longest stretch in which the area is tall enough for it.
void MemoryPanel::draw_area_names(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  const float from = plot.x_of(data_->key.range.begin_ns);
  const float step = (plot.x_of(data_->key.range.end_ns) - from) / static_cast<float>(data_->key.pixels);
  for (const content::UsageSeries& series : data_->series) {
    if (!series.label) continue;
    const Rect place{
        from + step * static_cast<float>(series.label->begin), plot.y_of(static_cast<double>(series.label->top)),
        from + step * static_cast<float>(series.label->end), plot.y_of(static_cast<double>(series.label->bottom))};
    const std::string name = series.name.empty() ? "unnamed" : series.name;
    const std::string text = name + "  " + format_bytes(series.most);
    const float room = place.width() - ui.px(8);
    const bool whole = text_width(ui, TextStyle::mono_small, text) <= room;
    if (!whole && text_width(ui, TextStyle::mono_small, name) > room) continue;
    draw_text(ui, place, whole ? text : name,
              {.style = TextStyle::mono_small,
               .colour = series.is_other ? Colour::text1 : Colour::ink,
               .align = Align::centre});
  }
}

// What lies under the pointer: the tensor's share of the use at that time. The card stands beside the pointer's column.
void MemoryPanel::explain_usage(const PanelContext& context, const Plot& plot) {
  Ui& ui = context.ui;
  const Point at = ui.input().mouse;
  if (!hovered_ns_ || !plot.rect.contains(at) || usage_response_.drag_from_x || usage_response_.pan_from_x) return;
  if (!data_ || data_->key.pool != chosen_pool_ || data_->key.range != plot.range || data_->stack.total.empty()) return;
  const double share = static_cast<double>((at.x - plot.rect.x0) / plot.rect.width());
  const std::size_t pixel =
      std::min(static_cast<std::size_t>(share * static_cast<double>(data_->key.pixels)), data_->key.pixels - 1);
  const double above = static_cast<double>((plot.rect.y1 - at.y) / plot.rect.height()) * static_cast<double>(plot.most);
  const auto series = content::series_at(data_->stack, pixel, static_cast<std::uint64_t>(std::max(0.0, above)));
  if (!stacked_ || !series) return;
  if (!rests_on(ui, "area " + data_->series[*series].name)) return;
  const std::uint64_t bytes = data_->stack.values[*series][pixel];
  const std::uint64_t total = data_->stack.total[pixel];
  HoverCard card;
  const content::UsageSeries& shown = data_->series[*series];
  card.title = shown.name.empty() ? "unnamed" : shown.name;
  card.title_value = bytes_text(bytes);
  card.swatch = shown.is_other ? ui.colour(Colour::bg4) : ui.theme().slice(shown.slot);
  card.rows.push_back({.label = "Share of what is in use",
                       .value = format_share(static_cast<double>(bytes) / static_cast<double>(total))});
  card.rows.push_back({.label = "In use", .value = bytes_text(total)});
  if (shown.is_other) card.footer = "Smaller allocations, and tensors after the ten largest in sight";
  hover_card(ui, card, {at.x - ui.px(8), plot.rect.y0, at.x + ui.px(8), plot.rect.y1});
}

Rect MemoryPanel::draw_capacity(const PanelContext& context, const Plot& plot) const {
  const std::optional<std::uint64_t> capacity = pool().capacity_bytes;
  if (!capacity) return {};
  Ui& ui = context.ui;
  const bool above = *capacity > plot.most;
  if (above && plot.is_tight) return {};
  std::string text = "Capacity " + format_bytes(*capacity);
  if (above) text += ", above this scale";
  const float y = above ? plot.rect.y0 + ui.px(7) : std::round(plot.y_of(static_cast<double>(*capacity))) + 0.5F;
  const float begin = plot.rect.x0 + ui.px(10);
  const float end = begin + text_width(ui, TextStyle::small, text) + ui.px(8);
  if (!above) dashed_line(ui, ui.draw(), {plot.rect.x0, y}, {begin, y}, ui.colour(Colour::text3), 6, 3);
  if (!above) dashed_line(ui, ui.draw(), {end, y}, {plot.rect.x1, y}, ui.colour(Colour::text3), 6, 3);
  const Rect place{begin + ui.px(4), y - ui.px(8), end, y + ui.px(8)};
  draw_text(ui, place, text, {.style = TextStyle::small, .colour = Colour::text2, .fit = Fit::clip});
  return place;
}

void MemoryPanel::draw_peak(const PanelContext& context, const Plot& plot, const Rect& capacity) {
  Ui& ui = context.ui;
  const analysis::PoolUsage& chosen = pool();
  if (chosen.peak_bytes == 0) return;
  const float y = std::round(plot.y_of(static_cast<double>(chosen.peak_bytes))) + 0.5F;
  dashed_line(ui, ui.draw(), {plot.rect.x0, y}, {plot.rect.x1, y}, ui.colour(Colour::text2), 3, 2);
  if (plot.is_tight) return;  // the scale tells it
  std::string text = "Peak " + bytes_text(chosen.peak_bytes);
  if (!chosen.stated_steps.empty()) {
    text = fmt::format("Peak stated {}, of recorded allocations {}", bytes_text(chosen.stated_peak.bytes),
                       bytes_text(chosen.peak_bytes));
  }
  if (chosen.capacity_bytes) {
    text += ", " + format_share(static_cast<double>(chosen.peak_bytes) / static_cast<double>(*chosen.capacity_bytes));
  }
  if (chosen.peak_ns < plot.range.begin_ns) text += ", earlier";
  if (chosen.peak_ns > plot.range.end_ns) text += ", later";
  const float width = text_width(ui, TextStyle::small_strong, text) + ui.px(12);
  const float bottom = std::max(y - ui.px(1), plot.rect.y0 + ui.px(17));
  // At the right edge, but not over the peak itself, where the cursor often stands.
  const bool in_view = chosen.peak_ns >= plot.range.begin_ns && chosen.peak_ns <= plot.range.end_ns;
  const float beside = plot.x_of(chosen.peak_ns) - ui.px(8);
  const bool covers = in_view && beside > plot.rect.x1 - width - ui.px(12) && beside - width > plot.rect.x0;
  const float right = covers ? std::min(beside, plot.rect.x1) : plot.rect.x1;
  const Rect chip{right - width, bottom - ui.px(17), right, bottom};
  const Interaction response = interact(ui, "memory.peak_chip", chip);
  tooltip(ui, response, chip, "Go to the peak, at " + format_time_exact(chosen.peak_ns));
  if (response.hovered) set_cursor(Cursor::response);
  fill(ui, chip, ui.colour(response.hovered ? Colour::accent_bg : Colour::bg4), size::kChipRadius);
  draw_text(ui, chip, text, {.style = TextStyle::small_strong, .align = Align::centre});
  if (response.clicked) go_to_peak(context);
  if (!in_view) return;
  const float x = plot.x_of(chosen.peak_ns);
  const float half = ui.px(4);
  ui.draw()->AddTriangleFilled({x - half, y - ui.px(8)}, {x + half, y - ui.px(8)}, {x, y - ui.px(1)},
                               ui.colour(Colour::text1));
  const std::string when = format_time_exact(chosen.peak_ns);
  const float when_width = text_width(ui, TextStyle::mono_small, when);
  const float right_x = x + half + ui.px(4);
  const float room = covers ? plot.rect.x1 : chip.x0;
  const bool left = right_x + when_width > room;
  const float when_x = left ? std::min(x - half, chip.x0) - ui.px(4) - when_width : right_x;
  const Rect place{when_x, y - ui.px(16), when_x + when_width, y - ui.px(1)};
  const bool told = cursor(context) == chosen.peak_ns;  // above, where the cursor's time stands
  if (when_x < plot.rect.x0 || told || place.overlaps(capacity)) return;
  draw_text(ui, place, when, {.style = TextStyle::mono_small, .colour = Colour::text2, .fit = Fit::clip});
}

}  // namespace accelscope::app::panels
