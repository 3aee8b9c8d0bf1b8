// A session as a Perfetto trace (protobuf): tracks under their hosts and devices in the session's order, slices with
// names, categories (the event's table) and arguments (its columns, exact), counters, and dependencies as flows. Tracks
// whose lanes are levels of a stack are one track; lanes that overlap in other ways are sibling tracks that Perfetto
// draws as one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/export/base/export_format.h"

namespace accelscope {

// What a session knows of a track and Perfetto does not, as the track's description: an import takes it from there.
struct TrackWords {
  std::string kind, device, host;
  std::vector<std::pair<Role, std::string>> columns;  // of allocations: which is which
};
[[nodiscard]] TrackWords words_of_track(const Track& track, const Schema* schema);
[[nodiscard]] std::string track_description(const TrackWords& words);
[[nodiscard]] std::optional<TrackWords> read_track_description(std::string_view description);

[[nodiscard]] Result<ExportReport> write_perfetto(const ExportRequest& request, ExportOutput& output);

}  // namespace accelscope
