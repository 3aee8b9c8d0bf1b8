// What is left when a thread or the process ends, and what the session says about it.
#include <fmt/format.h>

#include "capture/kinds/itt/process.h"

namespace accelscope::capture::kinds::itt {

void IttProcess::thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) {
  Thread& ended = of(thread);
  close(ended, now_ns);
  if (!ended.shared) return;
  free_rows_.push_back({ended.shared->named, ended.tasks.track, ended.events, ended.waits, ended.holds});
}

void IttProcess::ended(const probes::ProbeEnd& end) {
  for (const auto& thread : threads_) {
    if (thread) close(*thread, end.end_ns);
  }
  ordered_.finish(end.end_ns);
  report(end);
  report_facts();
}

void IttProcess::report(const probes::ProbeEnd& end) {
  const std::string title = process_.title();
  const auto tell = [&](const char* kind, std::uint64_t count, Severity severity, const char* what) {
    if (count > 0) writer_.add_quality({kind, count, fmt::format("{}: {}", title, what), severity});
  };
  tell("tasks_unfinished", counts_.unfinished, Severity::note,
       end.by_capture
           ? "tasks, regions or frames had not ended when the capture did; they are shown to end there"
           : "tasks, regions or frames had not ended when their thread or process did; they are shown to end there");
  tell("ends_without_begin", counts_.ends_without_begin, Severity::note,
       "ends whose begin was not recorded were left out; pausing and resuming inside tasks leaves such ends");
  tell("releases_unknown", counts_.releases_unknown, Severity::note,
       "releases of memory that was allocated before the capture, or while it was paused, were left out");
  tell("relations_open", counts_.relations_open, Severity::note,
       "relations between things that never ran as tasks have no arrow");
  tell("counter_values_cut", counts_.cut_counters, Severity::warning,
       "counter values over 9223372036854775807 are shown as that");
  tell("ids_over_limit", counts_.ids_over_limit, Severity::note,
       "metadata of ids over the number that can be kept apart was left out");
  tell("times_out_of_capture", counts_.bad_times, Severity::warning,
       "times that the program gave lie outside of the capture; they are shown at its edges");
  tell("bad_records", counts_.bad_records, Severity::warning,
       "records of the program that could not be understood were left out");
}

void IttProcess::report_facts() {
  for (const auto& [key, value] : names_.facts()) {
    if (key == "own_clock") {
      writer_.add_quality({"own_clock_times", 1,
                           fmt::format("{}: calls with times of the program's own clock are shown when they were made",
                                       process_.title()),
                           Severity::note});
    } else if (key == "frame_images") {
      writer_.add_quality({"frame_images_left_out", 1,
                           fmt::format("{}: images of frames are not kept", process_.title()), Severity::note});
    } else {
      writer_.set_meta(fmt::format("{}: {}", process_.title(), key), value);
    }
  }
}

}  // namespace accelscope::capture::kinds::itt
