// The loop over all events, which both readings share. Included by the importer's own files.
#pragma once

#include "capture/sources/xplane/importer.h"

namespace accelscope::capture::sources::xplane {

template <typename Visit>
bool XPlaneImporter::each_event(const SpaceBytes& bytes, std::uint64_t done_before, Visit visit) {
  constexpr std::size_t kLongestEvent = 16U << 20;
  constexpr std::uint64_t kOften = 4096;
  SpaceWindow window(bytes);
  EventRecord event;
  std::uint64_t steps = 0;
  for (PlaneState& plane : planes_) {
    for (LineState& line : plane.lines) {
      MessageWalk walk(window, line.index.bytes.begin, line.index.bytes.begin + line.index.bytes.size);
      for (WireField field; walk.next(field);) {
        if (!field.is_bytes(line_fields::kEvents)) continue;
        if (++steps % kOften == 0 && !goes_on(done_before + field.begin)) return false;
        if (field.cut) {
          ++counts_.cut_events;
          continue;
        }
        if (field.size > kLongestEvent) {
          ++counts_.long_events;
          continue;
        }
        const std::string_view message = window.at(field.begin, static_cast<std::size_t>(field.size));
        if (message.size() < field.size || !read_event(message, event)) {
          count_broken(field.begin);
          continue;
        }
        visit(plane, line, event);
      }
    }
  }
  return goes_on(done_before + bytes.size());
}

}  // namespace accelscope::capture::sources::xplane
