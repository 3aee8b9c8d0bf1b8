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
  ShadedBy now{.lit_mask = tab.lit,
               .filter = tab.choices.filter,
               .region = tab.region,
               .background = frame.ui.colour(Colour::bg1)};
  if (tab.marked_path) now.path_mask = tab.marked_path->mask;
  if (tab.analysis) {
    SessionAnalysis& analysis = *tab.analysis;
    now.colours = analysis.colours(wanted_colours(frame.snapshot, tab.choices, state.legend));
    if (!state.legend.lit.empty()) now.legend_mask = analysis.mask(MaskUse::legend, state.legend.lit);
    now.filter_mask = analysis.mask(MaskUse::filter, tab.choices.filter);
    if (tab.region) now.region_mask = analysis.mask(MaskUse::region, *tab.region);
    const EventFilter search{.range = {}, .tracks = {}, .terms = {{tab.choices.search, false}}};
    if (!tab.choices.search.empty()) now.search_mask = analysis.mask(MaskUse::search, search);
  }
  if (now == state.shaded_by) return;
  state.shaded_by = std::move(now);
  state.shade_keeps = std::make_shared<const ShadedBy>(state.shaded_by);
  ++state.shade_version;
}

LaneShade shade_of(const TimelineFrame& frame, std::uint32_t lane_index) {
  const SessionTab& tab = frame.tab;
  LaneShade shade;
  shade.lane_index = lane_index;
  shade.hits = frame.state.shaded_by.search_mask.get();
  shade.lit = tab.lit.get();
  const TrackNumber track = frame.snapshot.lanes[lane_index].track;
  const auto narrow = [&](const EventFilter& filter) {
    if (!filter.has_track(track)) shade.dimmed = true;
    if (!filter.range) return;
    shade.bright_begin_ns = std::max(shade.bright_begin_ns, static_cast<double>(filter.range->begin_ns));
    shade.bright_end_ns = std::min(shade.bright_end_ns, static_cast<double>(filter.range->end_ns));
  };
  narrow(tab.choices.filter);
  if (!tab.choices.filter.terms.empty()) shade.bright = frame.state.shaded_by.filter_mask.get();
  if (tab.region) {
    narrow(*tab.region);
    if (!tab.region->terms.empty()) shade.region = frame.state.shaded_by.region_mask.get();
  }
  if (shade.region == nullptr) shade.region = frame.state.shaded_by.path_mask.get();
  if (frame.state.shaded_by.legend_mask) shade.region = frame.state.shaded_by.legend_mask.get();
  shade.colour_by(frame.state.shaded_by.colours.get());
  shade.background = rgb_of(frame.ui.colour(Colour::bg1));
  return shade;
}

Pixel event_colour(const TimelineFrame& frame, const EventRecord& event) {
  const std::vector<LaneSnapshot>& lanes = frame.snapshot.lanes;
  for (std::uint32_t i = 0; frame.state.shaded_by.colours && i < lanes.size(); ++i) {
    if (lanes[i].number() != lane_of(event.id)) continue;
    const LaneColours* colours = frame.state.shaded_by.colours->lane(i);
    const std::uint32_t chunk = lanes[i].chunk_of_ordinal(ordinal_of(event.id));
    if (colours == nullptr || chunk >= lanes[i].chunk_count) break;
    const ChunkPlace& place = lanes[i].chunk(chunk);
    const auto row = static_cast<std::uint32_t>(ordinal_of(event.id) - place.first_ordinal);
    return opaque(colours->event(place.first_leaf + row / kBlockEvents, row % kBlockEvents));
  }
  return frame.ui.theme().slice(frame.snapshot.strings->slot(event.name));
}

}  // namespace accelscope::app
