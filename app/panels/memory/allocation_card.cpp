#include "app/panels/memory/allocation_card.h"

#include <algorithm>
#include <cmath>

#include "app/content/axes/time_axis.h"
#include "app/content/memory/model.h"
#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/model/palette.h"
#include "render/widgets/controls.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
constexpr const char* kMissing = "–";

std::string addresses_of(const Allocation& allocation) {
  if (!allocation.address) return kMissing;
  return address_text(*allocation.address) + " – " + address_text(*allocation.address + allocation.bytes - 1);
}

std::string life_text(const Allocation& allocation) {
  if (!allocation.end_ns) return "from " + format_time_exact(allocation.begin_ns) + ", never freed";
  return range_text(static_cast<double>(allocation.begin_ns), static_cast<double>(*allocation.end_ns));
}
}  // namespace

// The allocations of a session are looked through on the pool. Until the answer is there, the last one stands, unless
// it speaks of other data.
bool AllocationCard::choose(const PanelContext& context, const std::shared_ptr<const MemoryUsage>& usage) {
  const std::optional<EventId> selected = context.tab.selected;
  const bool stays = selected && selected == followed_ && usage == usage_;
  if (!stays && (event_ != selected || usage_ != usage)) {
    if (usage_ != usage || !selected) allocation_.reset();
    event_ = selected;
    usage_ = usage;
    followed_ = kNoEvent;
    find_task_ = {};
    if (event_) {
      find_task_ = pool_.start([usage, event = *event_](TaskControl&) {
        const auto found = std::find_if(
            usage->allocations.begin(), usage->allocations.end(),
            [&](const Allocation& allocation) { return allocation.event == event || allocation.release == event; });
        return found == usage->allocations.end()
                   ? std::optional<std::uint32_t>()
                   : std::optional(static_cast<std::uint32_t>(found - usage->allocations.begin()));
      });
    }
  }
  take_answers(context);
  return allocation_.has_value();
}

void AllocationCard::take_answers(const PanelContext& context) {
  if (find_task_.ready()) {
    const std::optional<std::uint32_t> found = find_task_.take();
    allocation_ = found;
    story_.reset();
    story_task_ = {};
    if (found) {
      const SessionTab& tab = context.tab;
      story_task_ = pool_.start([store = tab.store, snapshot = tab.snapshot, usage = usage_, &pool = pool_,
                                 number = *found](TaskControl& control) {
        return allocation_story({.store = *store, .snapshot = snapshot, .pool = pool, .control = control}, *usage,
                                number);
      });
    }
  }
  if (!story_task_.ready()) return;
  auto result = story_task_.take();
  if (result) {
    story_ = std::move(*result);
  } else {
    context.tab.last_error = result.message();
  }
}

void AllocationCard::go_to(const PanelContext& context, EventId event) {
  followed_ = event;
  select_event(context.tab, event);
  context.actions.reveal(event);
}

void AllocationCard::draw_field(const PanelContext& context, Rect& area, const char* label, const std::string& value,
                                EventId target) {
  Ui& ui = context.ui;
  Rect row = area.cut_top(ui.px(20));
  draw_text(ui, row.cut_left(ui.px(112)), label, {.colour = Colour::text2});
  if (target == kNoEvent) {
    draw_text(ui, row, value, {.style = TextStyle::mono, .colour = value == kMissing ? Colour::text3 : Colour::text1});
    return;
  }
  row.x1 = std::min(row.x1, row.x0 + link_width(ui, value, TextStyle::mono));
  if (link(ui, std::string("memory.card.") + label, row, value, TextStyle::mono)) {
    go_to(context, target);
  }
}

// The reads along its life; a click goes to the nearest.
void AllocationCard::draw_ticks(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  fill(ui, area.middle(ui.px(6)), ui.colour(Colour::bg4));
  const Allocation& allocation = usage_->allocations[*allocation_];
  const std::int64_t end_ns = allocation.end_ns.value_or(context.tab.snapshot->end_ns);
  const double life = std::max(1.0, static_cast<double>(end_ns - allocation.begin_ns));
  const auto x_of = [&](const AllocationStory::Read& read) {
    const double share = std::clamp(static_cast<double>(read.ns - allocation.begin_ns) / life, 0.0, 1.0);
    return std::round(area.x0 + static_cast<float>(share) * (area.width() - ui.px(3)));
  };
  const Interaction hand = interact(ui, "memory.card.reads", area);
  const AllocationStory::Read* nearest = nullptr;
  float distance = ui.px(6);
  float last = -1;
  for (const AllocationStory::Read& read : story_->ticks) {
    const float x = x_of(read);
    const float away = std::abs(x + ui.px(1) - ui.input().mouse.x);
    if (hand.hovered && away < distance) {
      nearest = &read;
      distance = away;
    }
    if (x == last) continue;
    last = x;
    fill(ui, {x, area.y0, x + ui.px(3), area.y1}, ui.theme().slice(0));
  }
  if (nearest == nullptr) return;
  const float x = x_of(*nearest);
  fill(ui, {x, area.y0, x + ui.px(3), area.y1}, ui.colour(Colour::accent));
  set_cursor(Cursor::hand);
  tooltip(ui, hand, area, "Read at " + format_time_exact(nearest->ns) + ": click to go there");
  if (hand.clicked) go_to(context, nearest->event);
}

void AllocationCard::draw(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const Allocation& allocation = usage_->allocations[*allocation_];
  const std::string& name = usage_->tensors[allocation.tensor];
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  area = area.inset(ui.px(size::kPanelPadding), ui.px(8));
  Rect head = area.cut_top(ui.px(28));
  const ButtonOptions show{.label = "Show on timeline"};
  if (button(ui, "memory.card.show", head.cut_right(button_width(ui, show)).middle(ui.px(size::kControl)), show)) {
    show_stretch(context.tab, allocation.begin_ns, allocation.end_ns.value_or(context.tab.snapshot->end_ns));
    context.actions.reveal(allocation.event);
  }
  head.cut_left(draw_swatch(ui, head, ui.theme().slice(palette_slot(name))) + ui.px(8));
  head.cut_left(draw_text(ui, head, name.empty() ? "unnamed" : name, {.style = TextStyle::mono_strong}) + ui.px(12));
  draw_text(ui, head, format_bytes(static_cast<double>(allocation.bytes)),
            {.style = TextStyle::mono, .colour = Colour::text2});
  const std::string waiting = pending() ? "..." : kMissing;
  const std::string& site = usage_->sites[allocation.site];
  const bool written = story_ && story_->writer != kNoEvent;
  draw_field(context, area, "Written by", written ? story_->writer_text : (site.empty() ? waiting : site),
             written ? story_->writer : kNoEvent);
  draw_field(context, area, "Address", addresses_of(allocation), kNoEvent);
  draw_field(context, area, "Alive", life_text(allocation), kNoEvent);
  std::string reads = waiting;
  if (story_ && story_->reads_known) reads = format_count(story_->reads) + " " + story_->reader_name;
  draw_field(context, area, "Read by", reads, story_ && story_->reads_known ? story_->first_reader : kNoEvent);
  draw_field(context, area, "Idle",
             story_ && story_->idle_share ? format_share(*story_->idle_share) + " of its life" : waiting, kNoEvent);
  std::string factor = waiting;
  if (story_ && story_->repeat_factor) factor = format_number(*story_->repeat_factor) + " times loaded";
  draw_field(context, area, "Repeat factor", factor, kNoEvent);
  area.cut_top(ui.px(6));
  if (story_ && story_->reads_known) draw_ticks(context, area.cut_top(ui.px(12)));
}

}  // namespace accelscope::app
