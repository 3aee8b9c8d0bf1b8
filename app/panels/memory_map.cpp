// The address map: which addresses are taken when, and which never.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "app/panels/memory_panel.h"
#include "app/selection.h"
#include "core/base/format.h"
#include "imgui.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
std::string hex_text(std::uint64_t address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llX", static_cast<unsigned long long>(address));
  return text.data();
}
// Addresses of a whole machine are told apart by their distance from the first.
bool is_long(const AddressScale& scale) { return !scale.empty() && scale.parts().back().span.end >> 32 != 0; }
float y_of_share(const Rect& rect, double share) { return rect.y1 - static_cast<float>(share) * rect.height(); }
}  // namespace

void MemoryPanel::draw_addresses(const PanelContext& context, const Rect& area, const Plot& plot) {
  Ui& ui = context.ui;
  Rect title{area.x0, area.y0, area.x1, plot.rect.y0};
  std::string hint = "which addresses are taken, and for how long";
  if (data_ && is_long(data_->scale)) hint += "; from " + hex_text(data_->scale.parts().front().span.begin);
  heading(ui, title.inset(ui.px(size::kPanelPadding + 4), 0), "Address map", hint);
  fill(ui, plot.rect, ui.colour(Colour::bg1));
  hovered_.reset();
  if (!data_ || data_->key.pool != chosen_pool_ || data_->scale.empty()) return;
  draw_address_labels(context, plot, {area.x0, plot.rect.y0, plot.rect.x0, plot.rect.y1});
  const auto clicked_ns = handle_plot(context, plot, "memory.map", map_drag_from_x_);
  if (plot.rect.contains(ui.input().mouse)) {
    const double share = static_cast<double>((plot.rect.y1 - ui.input().mouse.y) / plot.rect.height());
    hovered_ = allocation_at(*usage_, chosen_pool_, plot.time_at(ui.input().mouse.x), data_->scale.address_at(share));
  }
  if (clicked_ns && hovered_) {
    pinned_ns_ = clicked_ns;
    select_event(context.tab, usage_->allocations[*hovered_].event);
  }
  ui.draw()->PushClipRect({plot.rect.x0, plot.rect.y0}, {plot.rect.x1, plot.rect.y1}, true);
  draw_blocks(context, plot);
  draw_never_used(context, plot);
  const std::optional<std::uint32_t> chosen = card_.allocation();
  if (hovered_) draw_chosen_block(context, plot, *hovered_, ui.colour(Colour::text2), 1);
  if (chosen && usage_->allocations[*chosen].pool == chosen_pool_) {
    draw_chosen_block(context, plot, *chosen, ui.colour(Colour::selection), 2);
  }
  ui.draw()->PopClipRect();
  if (hovered_) explain_block(context, plot, *hovered_);
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
          is_long(data_->scale) ? "+" + format_bytes(static_cast<double>(address - first)) : hex_text(address);
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
  std::vector<Pixel> colours(data_->usage->group_count(data_->key.grouping), 0);
  for (const AddressBlock& block : data_->map) {
    Pixel& colour = colours[block.group];
    if (colour == 0) {
      colour = ui.theme().area(colour_of(ui, data_->usage->group_name(block.group, data_->key.grouping)));
    }
    const float y0 = plot.rect.y1 - block.y1 * row;
    const float y1 = plot.rect.y1 - block.y0 * row;
    ui.draw()->AddRectFilled({from + block.x0 * step, y0}, {from + block.x1 * step, y1 - (y1 - y0 > 3 ? 1.0F : 0.0F)},
                             colour);
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

void MemoryPanel::draw_chosen_block(const PanelContext& context, const Plot& plot, std::uint32_t allocation,
                                    Pixel colour, float thickness) const {
  const Allocation& chosen = usage_->allocations[allocation];
  if (!chosen.address) return;
  const float outside = thickness > 1 ? context.ui.px(1) : 0;
  const float bottom = y_of_share(plot.rect, data_->scale.share_of(*chosen.address)) + outside;
  const float top = y_of_share(plot.rect, data_->scale.share_of(*chosen.address + chosen.bytes)) - outside;
  const float x0 = plot.x_of(chosen.begin_ns) - outside;
  const float x1 = plot.x_of(chosen.end_ns.value_or(context.tab.snapshot->end_ns)) + outside;
  outline(context.ui, {x0, top, std::max(x1, x0 + 3), std::max(bottom, top + 3)}, colour, 1, thickness);
}

void MemoryPanel::explain_block(const PanelContext& context, const Plot& plot, std::uint32_t allocation) const {
  Ui& ui = context.ui;
  if (ui.hovered_for("memory.block." + std::to_string(allocation)) < 0.12) {
    ui.request_frame_after(0.12);
    return;
  }
  const Allocation& shown = usage_->allocations[allocation];
  const std::string& name = usage_->tensors[shown.tensor];
  HoverCard card;
  card.title = name.empty() ? "unnamed" : name;
  card.title_value = format_bytes(static_cast<double>(shown.bytes));
  card.swatch = colour_of(ui, name);
  card.rows.push_back({.label = "Address", .value = hex_text(*shown.address)});
  card.rows.push_back({.label = "From", .value = format_time_exact(shown.begin_ns)});
  card.rows.push_back({.label = "Lives",
                       .value = shown.end_ns ? format_duration(static_cast<double>(*shown.end_ns - shown.begin_ns))
                                             : std::string("never freed")});
  if (!usage_->sites[shown.site].empty()) card.rows.push_back({.label = "Line", .value = usage_->sites[shown.site]});
  const Point at = ui.input().mouse;
  hover_card(ui, card, Rect{at.x - 4, at.y - 4, at.x + 4, at.y + 4}.intersected(plot.rect));
}

}  // namespace accelscope::app
