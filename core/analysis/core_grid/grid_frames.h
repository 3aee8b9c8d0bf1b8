// A measure of every core, in equal frames of time: what the grid shows of any stretch, and plays. Frames follow each
// other without gaps and add up to the whole; a value of a stretch of frames is exact.
//
//   const auto frames = core_grid_frames(query, filter, measure, 256);
//   (*frames)->of_cell(cell, 10, 20)   // of frames 10 to 19
//
// Reads every event of the range that is on a core, window by window, so that memory does not grow with the session.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/analysis/core_grid/measures.h"
#include "core/model/event_filter.h"

namespace accelscope {

struct GridFrames {
  CoreGrid grid;
  GridMeasure measure;
  TimeRange range;            // the filter's, no further than the session's events go
  std::size_t count = 0;      // of frames; 0: the range holds nothing
  std::vector<double> cells;  // [cell * count + frame]; ns of times, else the column's unit
  std::vector<double> parts;  // [part * count + frame]: the same of each part by itself; events: those that begin
  std::vector<std::uint32_t> begun;     // [cell * count + frame]: events of the measure that begin in it
  std::vector<std::uint32_t> entering;  // and that began before it and go on in it

  // The core has what is measured: the processor that was asked for. Else its values are 0 and mean nothing.
  [[nodiscard]] bool is_measured(std::size_t cell) const noexcept;
  [[nodiscard]] std::int64_t edge(std::size_t frame) const noexcept;   // where it begins; of `count`: where all end
  [[nodiscard]] std::size_t frame_at(std::int64_t ns) const noexcept;  // the nearest one for times outside
  // Of frames first to last - 1.
  [[nodiscard]] TimeRange stretch(std::size_t first, std::size_t last) const noexcept {
    return {edge(first), edge(last)};
  }
  [[nodiscard]] double of_cell(std::size_t cell, std::size_t first, std::size_t last) const noexcept;
  [[nodiscard]] double of_part(std::size_t part, std::size_t first, std::size_t last) const noexcept;
  [[nodiscard]] std::uint64_t events(std::size_t cell, std::size_t first, std::size_t last) const noexcept;
};

// At most `frames`; fewer where the range is shorter than so many ns. Tracks and terms of the filter are met by the
// query's mask. Fails when a chunk cannot be read or when cancelled.
[[nodiscard]] Result<std::shared_ptr<const GridFrames>> core_grid_frames(const QueryContext& query,
                                                                         const EventFilter& filter,
                                                                         const GridMeasure& measure,
                                                                         std::size_t frames);

}  // namespace accelscope
