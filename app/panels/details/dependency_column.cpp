#include "app/panels/details/dependency_column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/view/selection.h"
#include "core/base/format.h"
#include "core/names/name_forms.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/popup.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kDependencyRow = 20, kDependencyHead = 24;
constexpr float kDistanceWidth = 92;
constexpr std::size_t kMostDirect = 100'000;  // of each kind; only those in sight are read

constexpr std::array<Segment, 2> kReach = {
    Segment{.label = "Direct", .tooltip = "What the event itself depends on, and what depends on it"},
    Segment{.label = "Chain",
            .tooltip = "Step by step back to what ended last before each, and on to what began first after each"}};

std::string distance_text(std::int64_t ns) { return (ns > 0 ? "+" : "") + format_time_exact(ns); }

}  // namespace

void DependencyColumn::clear() { *this = {}; }

void DependencyColumn::refresh(const PanelContext& context, EventId event, std::int64_t begin_ns, std::int64_t end_ns) {
  if (event != event_) {
    clear();
    event_ = event;
    begin_ns_ = begin_ns;
    end_ns_ = end_ns;
  }
  const auto dependencies = context.analysis().dependencies();
  if (!dependencies) return;
  const bool wanted = context.tab.dependency_chain;
  if (wanted) {
    const auto& chain = context.tab.chain;
    const bool there = chain && chain->event == event;
    if (there && !(chain_listed_ && version_ == chain->snapshot_version)) list_chain(*chain);
  } else if (chain_listed_ || version_ != dependencies->snapshot_version()) {
    list_direct(*dependencies);
  }
  if (direct_total_ == 0) {
    direct_total_ = dependencies->predecessors(event, 0).total + dependencies->successors(event, 0).total;
  }
}

void DependencyColumn::list_direct(const Dependencies& dependencies) {
  entries_.clear();
  chain_listed_ = false;
  version_ = dependencies.snapshot_version();
  const DependencyList before = dependencies.predecessors(event_, kMostDirect);
  const DependencyList after = dependencies.successors(event_, kMostDirect);
  for (const Dependency& d : before.dependencies) entries_.push_back({d.source, true});
  for (const Dependency& d : after.dependencies) entries_.push_back({d.target, false});
  total_ = before.total + after.total;
}

void DependencyColumn::list_chain(const DependencyChain& chain) {
  entries_.clear();
  chain_listed_ = true;
  version_ = chain.snapshot_version;
  for (const Dependency& d : chain.before) entries_.push_back({d.source, true});
  for (const Dependency& d : chain.after) entries_.push_back({d.target, false});
  total_ = chain.before_total + chain.after_total;
}

float DependencyColumn::height(const Ui& ui) const {
  return ui.px(kDependencyHead + 4) + static_cast<float>(entries_.size() + 1) * ui.px(kDependencyRow);
}

void DependencyColumn::draw(const PanelContext& context, Rect area, const Rect& visible) {
  Ui& ui = context.ui;
  Rect head{area.x0, area.y0, area.x1, area.y0 + ui.px(kDependencyHead)};
  group_heading(ui, area, "Dependencies");
  int chosen = context.tab.dependency_chain ? 1 : 0;
  const Rect choice = head.cut_right(segmented_width(ui, kReach)).middle(ui.px(20));
  if (segmented(ui, "details.reach", choice, kReach, chosen)) context.tab.dependency_chain = chosen == 1;
  head.cut_right(ui.px(8));
  if (icon_button(ui, "details.successor", head.cut_right(ui.px(20)).middle(ui.px(20)), icon::kArrowRight,
                  "To the first that waited for it", {.shortcut = "]"})) {
    context.actions.run("successor");
  }
  if (icon_button(ui, "details.predecessor", head.cut_right(ui.px(20)).middle(ui.px(20)), icon::kArrowLeft,
                  "To what it waited for longest", {.shortcut = "["})) {
    context.actions.run("predecessor");
  }
  area.cut_top(ui.px(4));
  const float row_height = ui.px(kDependencyRow);
  const auto first = static_cast<std::size_t>(std::max(0.0F, std::floor((visible.y0 - area.y0) / row_height)));
  for (std::size_t i = first; i < entries_.size(); ++i) {
    const float y = area.y0 + static_cast<float>(i) * row_height;
    if (y > visible.y1) break;
    draw_entry(context, i, {area.x0, y, area.x1, y + row_height});
  }
  area.cut_top(row_height * static_cast<float>(entries_.size()));
  std::string hint = "Step along them with [ and ]";
  if (total_ > entries_.size()) {
    hint = format_count(entries_.size()) + " of " + format_count(total_) + " shown. " + hint;
  }
  draw_text(ui, area.cut_top(ui.px(kDependencyRow)), hint, {.style = TextStyle::small, .colour = Colour::text3});
}

// Its name, lane and distance, once it comes into sight.
const DependencyColumn::Entry& DependencyColumn::read(const PanelContext& context, Entry& entry) const {
  if (entry.is_read) return entry;
  const EventRecord* record = context.tab.events->find(entry.event);
  if (record == nullptr) {
    entry.name = context.tab.events->problem(entry.event);
    return entry;
  }
  entry.is_read = true;
  const TrackSnapshot* track = context.tab.snapshot->find_track(record->lane->track);
  entry.name = record->name_text;
  entry.track = track != nullptr ? track->track->name : "";
  entry.palette_slot = context.tab.snapshot->strings->slot(record->name);
  entry.distance_ns = entry.comes_first ? record->end_ns - begin_ns_ : record->begin_ns - end_ns_;
  return entry;
}

void DependencyColumn::draw_entry(const PanelContext& context, std::size_t index, Rect row) {
  Ui& ui = context.ui;
  const Rect whole = row;
  const Entry& other = read(context, entries_[index]);
  const Interaction hand = interact(ui, "details.dependency." + std::to_string(index), row);
  if (hand.hovered) {
    fill(ui, row, ui.colour(Colour::bg3), size::kChipRadius);
    set_cursor(Cursor::hand);
    context.tab.hovered = other.event;
  }
  draw_icon(ui, row.cut_left(ui.px(16)), icon::kArrowRight,
            ui.colour(other.comes_first ? Colour::accent : Colour::selection));
  draw_text(ui, row.cut_left(ui.px(36)), other.comes_first ? "from" : "to",
            {.colour = Colour::text3, .align = Align::right});
  row.cut_left(ui.px(8));
  if (!other.is_read) return draw_text(ui, row, other.name, {.colour = Colour::text3}), void();
  row.cut_left(draw_swatch(ui, row, ui.theme().slice(other.palette_slot)) + ui.px(6));
  draw_text(ui, row.cut_right(ui.px(kDistanceWidth)), distance_text(other.distance_ns),
            {.style = TextStyle::mono, .colour = Colour::text2, .align = Align::right});
  const std::string hint =
      other.name + "\n" + other.track + "\n" + distance_text(other.distance_ns) +
      (other.comes_first ? " from its end to the begin of this event" : " from the end of this event to its begin");
  tooltip(ui, hand, whole, hint);
  draw_text(ui, row.cut_left(row.width() * 0.55F), usual_name(other.name), {.style = TextStyle::mono});
  row.cut_left(ui.px(6));
  draw_text(ui, row, other.track, {.colour = Colour::text3, .fit = Fit::middle});
  if (hand.clicked) {
    const EventId event = other.event;
    select_event(context.tab, event);
    context.actions.reveal(event);
  }
}

}  // namespace accelscope::app
