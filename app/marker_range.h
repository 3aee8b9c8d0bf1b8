// Time ranges as users write them: 12.5us:40us, 10%:20%, and by markers, #start:#end. A marker that spans time stands
// for its beginning on the left side and its end on the right; #span alone is the whole of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/query/time_range.h"
#include "core/store/store.h"

namespace accelscope::app {

// What the flag of the marker is called while it has no name: A to Z, then A1, B1 ...; by place in time.
[[nodiscard]] std::string marker_letter(std::size_t index);

// An unknown marker is an error that lists the known ones.
[[nodiscard]] Result<TimeRange> parse_marker_range(std::string_view text, const TimeRange& session,
                                                   const std::vector<Marker>& markers);

// The same, and a single time (12.5us, 10%, #marker), which stands for `span_ns` around it.
[[nodiscard]] Result<TimeRange> parse_place(std::string_view text, const TimeRange& session,
                                            const std::vector<Marker>& markers, std::int64_t span_ns);

}  // namespace accelscope::app
