// What is left when a thread or the process ends, and what the session says about it.
#include <fmt/format.h>

#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/itt/process.h"

namespace accelscope::capture::kinds::itt {

void IttProcess::thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) {
  Thread& ended = of(thread);
  close(ended, now_ns);
  if (ended.rows.shared_by) free_rows_.push_back(ended.rows);
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
  tell(writer_, process_.title() + ": ",
       {{"tasks_unfinished", counts_.unfinished,
         fmt::format("tasks, regions or frames had not ended when {} did; they are shown to end there",
                     end.by_capture ? "the capture" : "their thread or process")},
        {"ends_without_begin", counts_.ends_without_begin,
         "ends whose begin was not recorded were left out; pausing and resuming inside tasks leaves such ends"},
        {"releases_unknown", counts_.releases_unknown,
         "releases of memory that was allocated before the capture, or while it was paused, were left out"},
        {"relations_open", counts_.relations_open, "relations between things that never ran as tasks have no arrow"},
        {"counter_values_cut", counts_.cut_counters, "counter values over 9223372036854775807 are shown as that"},
        {"ids_over_limit", counts_.ids_over_limit,
         "metadata of ids over the number that can be kept apart was left out"},
        {"times_out_of_capture", counts_.bad_times,
         "times that the program gave lie outside of the capture; they are shown at its edges"},
        {"bad_records", counts_.bad_records, "records of the program that could not be understood were left out"}});
}

void IttProcess::report_facts() {
  for (const auto& [key, value] : names_.facts()) {
    if (key == "own_clock") {
      tell(writer_, process_.title() + ": ",
           {{"own_clock_times", 1, "calls with times of the program's own clock are shown when they were made"}});
    } else if (key == "frame_images") {
      tell(writer_, process_.title() + ": ", {{"frame_images_left_out", 1, "images of frames are not kept"}});
    } else {
      writer_.set_meta(fmt::format("{}: {}", process_.title(), key), value);
    }
  }
}

}  // namespace accelscope::capture::kinds::itt
