// The filter that drives every panel, as chips between the tabs and the timeline: what each says, a cross that takes it
// away, and what passes. There only while a filter is on.
#pragma once

#include "app/panels/panel.h"

namespace accelscope::app::frame {

// One part of a filter, for the user: "Time 1,972.78 – 1,994.25 µs", "8 of 11 lanes", "Not DMA_TRIGGER".
struct FilterChip {
  enum class Part : std::uint8_t { time, tracks, term };
  Part part = Part::term;
  std::size_t term = 0;  // index, of a term
  std::string text;
};
[[nodiscard]] std::vector<FilterChip> filter_chips(const EventFilter& filter, const Snapshot& snapshot);
void remove_part(EventFilter& filter, const FilterChip& chip);

// Takes its row from the top of the area, if there is a filter.
void draw_filter_bar(const panels::PanelContext& context, render::Rect& area);

}  // namespace accelscope::app::frame
