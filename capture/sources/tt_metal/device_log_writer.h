// Writes the markers of a device log as tracks and events, one processor after the other, so that only one processor's
// chunks are open at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/sources/tt_metal/device_log_report.h"
#include "capture/sources/tt_metal/device_log_schemas.h"
#include "capture/sources/tt_metal/marker_runs.h"
#include "capture/sources/tt_metal/zone_matcher.h"
#include "core/model/session_writer.h"

namespace accelscope::capture {

class DeviceLogWriter {
 public:
  DeviceLogWriter(const DeviceLogLayout& layout, const DeviceLogDictionary& dictionary, SessionWriter& writer,
                  DeviceLogCounts& counts);

  // So many calls of write() will come: each of them finds a lane at least.
  void expect(std::uint32_t processors) noexcept { processors_left_ = processors; }
  // The clock of a chip, before its processors: `first` is where its time begins.
  void begin_chip(std::uint32_t chip, std::int64_t first);
  Result<void> write(const LogProcessor& processor, MarkerRuns& markers, ChunkSpill& spill);

 private:
  struct TrackState {
    TrackNumber number = kNone;
    std::uint32_t lanes = 0;
  };
  struct MetaStrings {
    StringId text = 0;
    std::array<StringId, kDispatchKeys.size()> dispatch{};
    bool known = false;
  };
  struct SiteStrings {
    StringId name = 0;
    StringId source = 0;
    StringId type = 0;
    bool known = false;
  };

  [[nodiscard]] TrackState& track_of(LogTable table);
  [[nodiscard]] TrackState& counter_track(const LogSite& site);
  [[nodiscard]] TrackNumber add_track(std::string name, std::string kind, LogTable table, TrackNumber parent);
  void seal(const TrackState& track);
  [[nodiscard]] bool has_lane(TrackState& track, std::uint32_t depth);

  void add(std::vector<LogMarker>& of_one_time);
  void add_event(const LogMarker& marker);
  void add_zone(const MatchedZone& zone);
  void add_instant(const LogMarker& marker, LogTable table, bool lone_end);
  void add_counter(const LogMarker& marker);
  void fill(Row& row, const LogColumns& at, const LogMarker& marker);
  void fill_meta_data(Row& row, const LogColumns& at, std::uint64_t number);
  [[nodiscard]] const SiteStrings& strings_of(std::uint32_t site);
  [[nodiscard]] const MetaStrings& strings_of_meta_data(std::uint64_t number);

  static constexpr std::uint32_t kMostTracks = kMaxLocalNumber - 1;
  static constexpr std::uint32_t kMostLanes = kMaxLocalNumber - 1;

  const DeviceLogLayout& layout_;
  const DeviceLogDictionary& dictionary_;
  SessionWriter& writer_;
  DeviceLogCounts& counts_;
  ZoneMatcher matcher_;
  std::array<SchemaNumber, kLogTableCount> schemas_{};
  std::vector<SiteStrings> site_strings_;
  std::vector<MetaStrings> meta_strings_;
  bool dispatch_ = false;
  ClockNumber clock_ = kNone;
  std::uint32_t track_count_ = 0;
  std::uint32_t lane_count_ = 0;
  std::uint32_t processors_left_ = 0;  // that have no lane yet

  // Of the processor at hand.
  const LogProcessor* processor_ = nullptr;
  StringId risc_ = 0;
  std::array<TrackState, kLogTableCount> tracks_;
  std::map<std::string, TrackState, std::less<>> counter_tracks_;
  std::vector<LogMarker> zone_markers_;
  std::uint64_t unfinished_ = 0;
  std::uint64_t lone_ends_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace accelscope::capture
