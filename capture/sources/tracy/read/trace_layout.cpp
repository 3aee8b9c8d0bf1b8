#include "capture/sources/tracy/read/trace_layout.h"

#include <fmt/format.h>

#include <array>

namespace accelscope::capture::sources::tracy {
namespace {

constexpr TraceVersion kOldest = {0, 9, 0};
constexpr TraceVersion kTooNew = {0, 15, 0};

constexpr std::array kChanges = {
    LayoutChange{{0, 9, 2}, &TraceLayout::on_demand, true},
    LayoutChange{{0, 11, 1}, &TraceLayout::group_hints, true},
    LayoutChange{{0, 11, 2}, &TraceLayout::dies, true},
    LayoutChange{{0, 11, 3}, &TraceLayout::wakeup_cpu, true},
    LayoutChange{{0, 12, 3}, &TraceLayout::timer_delay, false},
    LayoutChange{{0, 12, 4}, &TraceLayout::gpu_notes, true},
    LayoutChange{{0, 13, 2}, &TraceLayout::message_severity, true},
    LayoutChange{{0, 13, 3}, &TraceLayout::sorted_plots, true},
    LayoutChange{{0, 13, 4}, &TraceLayout::sections, true},
};

}  // namespace

std::string version_text(TraceVersion version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::span<const LayoutChange> layout_changes() noexcept { return kChanges; }

Result<TraceLayout> layout_of(TraceVersion version) {
  if (version < kOldest) {
    return Error{
        fmt::format("a trace of Tracy {}, and those of {} are read; convert it with tracy-update of Tracy 0.10",
                    version_text(version), kVersionsRead)};
  }
  if (version >= kTooNew) {
    return Error{
        fmt::format("a trace of Tracy {}, and those of {} are read; import what that version's tracy-csvexport "
                    "-u writes of it",
                    version_text(version), kVersionsRead)};
  }
  TraceLayout layout;
  layout.version = version;
  for (const LayoutChange& change : kChanges) {
    if (version >= change.since) layout.*change.field = change.value;
  }
  return layout;
}

}  // namespace accelscope::capture::sources::tracy
