// What the lanes are coloured by. What passes the filter and the selected region stays bright, what the search found
// gets its bar, what is lit its outline.
#include <algorithm>

#include "app/session/analysis.h"
#include "app/timeline/frame.h"

namespace accelscope::app {

using namespace render;

void hold_masks(TimelineFrame& frame) {
  TimelineState& state = frame.state;
  SessionTab& tab = frame.tab;
  if (tab.analysis) {
    state.colours = tab.analysis->colours(wanted_colours(frame.snapshot, tab.choices, state.legend));
    state.legend_mask = state.legend.lit.empty() ? nullptr : tab.analysis->mask(MaskUse::legend, state.legend.lit);
    state.filter_mask = tab.analysis->mask(MaskUse::filter, tab.choices.filter);
    state.region_mask = tab.region ? tab.analysis->mask(MaskUse::region, *tab.region) : nullptr;
    const EventFilter search{.range = {}, .tracks = {}, .terms = {{tab.choices.search, false}}};
    state.search_mask = tab.choices.search.empty() ? nullptr : tab.analysis->mask(MaskUse::search, search);
  }
  ShadedBy now{state.filter_mask, state.region_mask,  state.search_mask, state.legend_mask,           tab.lit,
               state.colours,     tab.choices.filter, tab.region,        frame.ui.colour(Colour::bg1)};
  if (now == state.shaded_by) return;
  state.shaded_by = std::move(now);
  state.shade_keeps = std::make_shared<const ShadedBy>(state.shaded_by);
  ++state.shade_version;
}

LaneShade shade_of(const TimelineFrame& frame, std::uint32_t lane_index) {
  const SessionTab& tab = frame.tab;
  LaneShade shade;
  shade.lane_index = lane_index;
  shade.hits = frame.state.search_mask.get();
  shade.lit = tab.lit.get();
  const TrackNumber track = frame.snapshot.lanes[lane_index].track;
  const auto narrow = [&](const EventFilter& filter) {
    if (!filter.has_track(track)) shade.dimmed = true;
    if (!filter.range) return;
    shade.bright_begin_ns = std::max(shade.bright_begin_ns, static_cast<double>(filter.range->begin_ns));
    shade.bright_end_ns = std::min(shade.bright_end_ns, static_cast<double>(filter.range->end_ns));
  };
  narrow(tab.choices.filter);
  if (!tab.choices.filter.terms.empty()) shade.bright = frame.state.filter_mask.get();
  if (tab.region) {
    narrow(*tab.region);
    if (!tab.region->terms.empty()) shade.region = frame.state.region_mask.get();
  }
  if (frame.state.legend_mask) shade.region = frame.state.legend_mask.get();
  shade.colour_by(frame.state.colours.get());
  const Pixel background = frame.ui.colour(Colour::bg1);
  shade.background = (background & 0xffU) << 16 | (background & 0xff00U) | (background >> 16 & 0xffU);
  return shade;
}

Pixel event_colour(const TimelineFrame& frame, const EventRecord& event) {
  const std::vector<LaneSnapshot>& lanes = frame.snapshot.lanes;
  for (std::uint32_t i = 0; frame.state.colours && i < lanes.size(); ++i) {
    if (lanes[i].number() != lane_of(event.id)) continue;
    const LaneColours* colours = frame.state.colours->lane(i);
    const std::uint32_t chunk = lanes[i].chunk_of_ordinal(ordinal_of(event.id));
    if (colours == nullptr || chunk >= lanes[i].chunk_count) break;
    const ChunkPlace& place = lanes[i].chunk(chunk);
    const auto row = static_cast<std::uint32_t>(ordinal_of(event.id) - place.first_ordinal);
    return opaque(colours->event(place.first_leaf + row / kBlockEvents, row % kBlockEvents));
  }
  return frame.ui.theme().slice(frame.snapshot.strings->slot(event.name));
}

}  // namespace accelscope::app
