#include "core/model/time_range.h"

#include <fmt/format.h>

#include "core/base/format.h"

namespace accelscope {

Result<TimeRange> parse_time_range(std::string_view text, const TimeRange& session) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return Error{fmt::format("\"{}\" is not a range; try 12.5us:40us or 10%:20%", text)};
  }
  const std::string_view first = text.substr(0, colon);
  const std::string_view last = text.substr(colon + 1);
  TimeRange range = session;
  if (!first.empty()) {
    const auto begin = TRY(parse_time(first, session.begin_ns, session.end_ns));
    range.begin_ns = begin;
  }
  if (!last.empty()) {
    const auto end = TRY(parse_time(last, session.begin_ns, session.end_ns));
    range.end_ns = end;
  }
  if (range.empty()) {
    return Error{fmt::format("the range \"{}\" is empty: {} is not before {}", text, format_time_exact(range.begin_ns),
                             format_time_exact(range.end_ns))};
  }
  return range;
}

}  // namespace accelscope
