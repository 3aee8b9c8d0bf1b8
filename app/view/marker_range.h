// Time ranges as users write them: 12.5us:40us, 10%:20%, and by markers, #start:#end. A marker that spans time stands
// for its beginning on the left side and its end on the right; #span alone is the whole of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/time_range.h"
#include "core/store/store.h"

namespace accelscope::app {

// What its flag calls a marker: A to Z, then A1, B1 ... in the order in which they were made. A marker keeps its letter
// wherever it is moved and whichever others come and go.
[[nodiscard]] std::string marker_letter(const Marker& marker);
// Its name, else its letter; #A and #start both find it.
[[nodiscard]] std::string marker_called(const Marker& marker);

// An unknown marker is an error that lists the known ones.
[[nodiscard]] Result<TimeRange> parse_marker_range(std::string_view text, const TimeRange& session,
                                                   const std::vector<Marker>& markers);

// The same, and a single time (12.5us, 10%, #marker), which stands for `span_ns` around it.
[[nodiscard]] Result<TimeRange> parse_place(std::string_view text, const TimeRange& session,
                                            const std::vector<Marker>& markers, std::int64_t span_ns);

}  // namespace accelscope::app
