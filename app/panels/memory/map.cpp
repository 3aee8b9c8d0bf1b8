// The address map: which addresses are taken when, and which never.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/memory/panel.h"
#include "app/panels/rect_batch.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "imgui.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
// Addresses of a whole machine are told apart by their distance from the first.
bool is_long(const AddressScale& scale) { return !scale.empty() && scale.parts().back().span.end >> 32 != 0; }
float y_of_share(const Rect& rect, double share) { return rect.y1 - static_cast<float>(share) * rect.height(); }
}  // namespace

void MemoryPanel::draw_map_title(const PanelContext& context, Rect title, const Places& places) {
  Ui& ui = context.ui;
  begin_title(context, places, "Address map", title);
  if (places.main_switch.empty()) choose_map(context, title);
  std::string hint = "which addresses are taken, and for how long";
  if (passing_.mask) hint = "what passes the filter; " + hint;
  if (data_ && is_long(data_->scale)) hint += "; from " + address_text(data_->scale.parts().front().span.begin);
  draw_text(ui, title, hint, {.style = TextStyle::small, .colour = Colour::text3});
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
    found.allocation = allocation_at(*usage, wanted.pool, wanted.ns, wanted.address);
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
  const auto clicked_ns = handle_plot(context, plot, "memory.map", map_hand_);
  const bool pointed = hovered_ns_ && plot.rect.contains(ui.input().mouse);
  if (pointed) find_hovered(context, plot);
  const bool current = hover_.version == usage_->snapshot_version && hover_.pool == chosen_pool_;
  std::optional<std::uint32_t> hovered;
  if (pointed && current) hovered = hover_.allocation;
  if (clicked_ns) {
    const double share = static_cast<double>((plot.rect.y1 - ui.input().mouse.y) / plot.rect.height());
    const auto clicked = allocation_at(*usage_, chosen_pool_, *clicked_ns, data_->scale.address_at(share));
    if (clicked) {
      select_event(context.tab, usage_->allocations[*clicked].event);
      side_part_ = Part::allocation;
    }
  }
  ui.draw()->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  draw_blocks(context, plot);
  draw_never_used(context, plot);
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
  if (hovered && !map_hand_.drag_from_x && !map_hand_.pan_from_x) explain_block(context, plot, *hovered);
}

void MemoryPanel::draw_address_labels(const PanelContext& context, const Plot& plot, const Rect& labels) const {
  Ui& ui = context.ui;
  const float least = ui.px(30);
  float last = plot.rect.y1 + least;
  for (const AddressPart& part : data_->scale.parts()) {
    const std::uint64_t length = part.span.end - part.span.begin;
    const double height = (part.end - part.begin) * static_cast<double>(plot.rect.height());
    std::vector<std::uint64_t> offsets = {0};
    if (part.used) {
      for (const std::uint64_t tick : byte_ticks(length, static_cast<std::size_t>(height / 60) + 1)) {
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
          is_long(data_->scale) ? "+" + format_bytes(static_cast<double>(address - first)) : address_text(address);
      const Rect row{labels.x0 + ui.px(2), y - ui.px(8), labels.x1 - ui.px(6), y + ui.px(8)};
      draw_text(ui, row, fitted_text(ui, TextStyle::mono_small, text, row.width(), Fit::middle),
                {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
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
  for (const AddressBlock& block : data_->map) {
    const float y0 = plot.rect.y1 - block.y1 * row;
    const float y1 = plot.rect.y1 - block.y0 * row;
    batch.add(from + block.x0 * step, y0, from + block.x1 * step, y1 - (y1 - y0 > 3 ? 1.0F : 0.0F),
              block.slot < colours.size() ? colours[block.slot] : several);
  }
}

void MemoryPanel::draw_never_used(const PanelContext& context, const Plot& plot) const {
  Ui& ui = context.ui;
  std::uint64_t whole = 0;
  for (const AddressPart& part : data_->scale.parts()) whole += part.span.end - part.span.begin;
  for (const AddressPart& part : data_->scale.parts()) {
    if (part.used) continue;
    const Rect gap{plot.rect.x0, y_of_share(plot.rect, part.end), plot.rect.x1, y_of_share(plot.rect, part.begin)};
    fill(ui, gap, ui.colour(Colour::hatch_bg));
    hatch(ui, ui.draw(), gap, ui.colour(Colour::hatch));
    const std::string text = "never used: " + format_bytes(static_cast<double>(part.span.end - part.span.begin)) +
                             " of " + format_bytes(static_cast<double>(whole));
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
  const Allocation& shown = usage_->allocations[allocation];
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
  const Allocation& shown = usage_->allocations[allocation];
  const std::string& name = usage_->tensors[shown.tensor];
  HoverCard card;
  card.title = name.empty() ? "unnamed" : name;
  card.title_value = format_bytes(static_cast<double>(shown.bytes));
  card.swatch = ui.theme().slice(palette_slot(name));
  if (shown.address) card.rows.push_back({.label = "Address", .value = address_text(*shown.address)});
  card.rows.push_back({.label = "From", .value = format_time_exact(shown.begin_ns)});
  card.rows.push_back({.label = "Lives",
                       .value = shown.end_ns ? format_duration(static_cast<double>(*shown.end_ns - shown.begin_ns))
                                             : std::string("never freed")});
  if (!usage_->sites[shown.site].empty()) card.rows.push_back({.label = "Line", .value = usage_->sites[shown.site]});
  const Rect block = block_rect(context, plot, allocation).value_or(plot.rect).intersected(plot.rect);
  hover_card(ui, card, block, {ui.input().mouse.x - ui.px(2), plot.rect.y0, ui.input().mouse.x + ui.px(2), block.y1});
}

}  // namespace accelscope::app
