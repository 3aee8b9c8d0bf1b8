#include "app/view/marker_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "core/base/format.h"

namespace accelscope::app {
namespace {

constexpr std::size_t kListedMarkers = 20;

[[nodiscard]] Error unknown_marker(std::string_view name, const std::vector<Marker>& markers) {
  if (markers.empty()) {
    return Error{fmt::format("#{}: the session has no markers; set some in the viewer (M) and save it", name)};
  }
  std::string known;
  for (std::size_t i = 0; i < markers.size() && i < kListedMarkers; ++i)
    known += (i > 0 ? ", #" : "#") + marker_called(markers[i]);
  if (markers.size() > kListedMarkers) known += ", ...";
  return Error{fmt::format("#{}: there is no such marker; there are {}", name, known)};
}

Result<Marker> find_marker(std::string_view name, const std::vector<Marker>& markers) {
  const auto has_name = [&](const Marker& m) { return m.name == name && !name.empty(); };
  auto found = std::find_if(markers.begin(), markers.end(), has_name);
  if (found == markers.end()) {
    found = std::find_if(markers.begin(), markers.end(), [&](const Marker& m) { return marker_letter(m) == name; });
  }
  if (found == markers.end()) return unknown_marker(name, markers);
  return *found;
}

// Where the two sides part: at a colon that no marker's name holds.
[[nodiscard]] std::size_t middle_of(std::string_view text, const std::vector<Marker>& markers) {
  if (!text.starts_with('#')) return text.find(':');
  std::optional<std::size_t> best;
  for (const Marker& marker : markers) {
    for (const std::string& name : {marker.name, marker_letter(marker)}) {
      if (name.empty()) continue;
      if (text.substr(1) == name) return std::string_view::npos;
      const std::size_t end = name.size() + 1;
      if (text.substr(1).starts_with(name) && end < text.size() && text[end] == ':')
        best = std::max(best.value_or(0), end);
    }
  }
  return best ? *best : text.find(':');
}

Result<std::int64_t> side(std::string_view text, bool is_end, const TimeRange& session,
                          const std::vector<Marker>& markers) {
  if (text.empty()) return is_end ? session.end_ns : session.begin_ns;
  if (!text.starts_with('#')) return parse_time(text, session.begin_ns, session.end_ns);
  const Result<Marker> marker = find_marker(text.substr(1), markers);
  if (!marker) return marker.error();
  return is_end ? marker->end_ns.value_or(marker->ts_ns) : marker->ts_ns;
}

}  // namespace

std::string marker_letter(const Marker& marker) {
  const std::int64_t index = std::max<std::int64_t>(marker.id - 1, 0);  // the store counts from 1
  std::string letter(1, static_cast<char>('A' + index % 26));
  if (index >= 26) letter += std::to_string(index / 26);
  return letter;
}

std::string marker_called(const Marker& marker) { return marker.name.empty() ? marker_letter(marker) : marker.name; }

Result<TimeRange> parse_marker_range(std::string_view text, const TimeRange& session,
                                     const std::vector<Marker>& markers) {
  if (text.find('#') == std::string_view::npos) return parse_time_range(text, session);
  TimeRange range;
  const std::size_t middle = middle_of(text, markers);
  if (middle == std::string_view::npos) {
    const Result<Marker> span = find_marker(text.substr(1), markers);
    if (!span) return span.error();
    if (!span->end_ns) {
      return Error{fmt::format("{} is one point in time; a range has two sides, such as {}:#other", text, text)};
    }
    range = {span->ts_ns, *span->end_ns};
  } else {
    const Result<std::int64_t> begin = side(text.substr(0, middle), false, session, markers);
    if (!begin) return begin.error();
    const Result<std::int64_t> end = side(text.substr(middle + 1), true, session, markers);
    if (!end) return end.error();
    range = {*begin, *end};
  }
  if (range.empty()) {
    return Error{fmt::format("the range \"{}\" is empty: {} is not before {}", text, format_time_exact(range.begin_ns),
                             format_time_exact(range.end_ns))};
  }
  return range;
}

Result<TimeRange> parse_place(std::string_view text, const TimeRange& session, const std::vector<Marker>& markers,
                              std::int64_t span_ns) {
  const bool one = middle_of(text, markers) == std::string_view::npos;
  const Result<Marker> marker =
      text.starts_with('#') ? find_marker(text.substr(1), markers) : Result<Marker>(Error{""});
  if (!one || (marker && marker->end_ns)) return parse_marker_range(text, session, markers);
  const Result<std::int64_t> at = side(text, false, session, markers);
  if (!at) return at.error();
  const std::int64_t half = std::max<std::int64_t>(1, span_ns / 2);
  return TimeRange{*at - half, *at + half};
}

}  // namespace accelscope::app
