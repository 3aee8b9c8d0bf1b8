// Puts events on sub-lanes of tracks, within the numbers of tracks and lanes that a session has, whatever a damaged
// file claims: what finds no place is counted, never an error.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::tracy {

class LaneSpace {
 public:
  static constexpr std::uint32_t kMostTracks = 6'000;
  static constexpr std::uint32_t kMostLanes = 16'000;
  static constexpr std::uint32_t kMostDepth = 1'024;  // of one track

  explicit LaneSpace(SessionWriter& writer) : writer_(writer) {}

  // Beyond the limit nothing, and it is counted.
  [[nodiscard]] std::optional<TrackNumber> add_track(Track track);
  // An event of a nesting whose depth is known. Where it begins before the last one of its depth has ended, it is
  // shortened to begin then.
  [[nodiscard]] std::optional<Row> put_at(TrackNumber track, std::uint32_t depth, std::int64_t start, std::int64_t end,
                                          StringId name) {
    std::vector<std::int64_t>& ends = ends_[track];
    if (depth >= ends.size() && !grow(ends, depth)) return std::nullopt;
    if (start < ends[depth]) {
      ++shortened_;
      start = ends[depth];
    }
    if (end < start) end = start;
    ends[depth] = end;
    return writer_.begin_event_at(track, depth, start, end - start, name);
  }
  // An event that may overlap others: the topmost sub-lane that is free. They come by their begins.
  [[nodiscard]] std::optional<Row> put(TrackNumber track, std::int64_t start, std::int64_t duration, StringId name);

  [[nodiscard]] std::uint64_t tracks_left_out() const noexcept { return tracks_left_out_; }
  [[nodiscard]] std::uint64_t without_lane() const noexcept { return without_lane_; }
  [[nodiscard]] std::uint64_t shortened() const noexcept { return shortened_; }

 private:
  [[nodiscard]] bool grow(std::vector<std::int64_t>& ends, std::uint32_t depth);

  SessionWriter& writer_;
  std::vector<std::vector<std::int64_t>> ends_;  // by track and depth
  std::uint32_t tracks_ = 0;
  std::uint32_t lanes_ = 0;
  std::uint64_t tracks_left_out_ = 0;
  std::uint64_t without_lane_ = 0;
  std::uint64_t shortened_ = 0;
};

}  // namespace accelscope::capture::sources::tracy
