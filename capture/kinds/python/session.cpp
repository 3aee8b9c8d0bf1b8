#include "capture/kinds/python/session.h"

#include <fmt/format.h>

#include "capture/kinds/base/findings.h"

namespace accelscope::capture::kinds::python {

PythonSession::PythonSession(SessionWriter& pen) : writer(pen), sources(pen), tables(pen, kPythonTables) {
  tables.define_all();
}

void PythonSession::report() {
  tell(writer, "",
       {{"python_calls_open", open_calls,
         "calls in Python whose process ended first (by os._exit, exec, a signal or a crash) are shown until its end"},
        {"python_calls_running", running_calls,
         "calls in Python that ran on when the capture ended are shown until then"},
        {"python_calls_too_deep", deep_calls,
         fmt::format("calls in Python are not shown: a thread is more than {} calls deep, or all together more than "
                     "{}; leave modules out with --skip-modules, or collect parts with --functions enabled",
                     kMaxDepth, kMaxLanes)},
        {"python_threads_left_out", threads_left_out,
         fmt::format("threads in Python are not shown: there were more than {}", kMaxThreads)},
        {"python_records_broken", broken_records, "records of a collector in Python were not understood and left out"},
        {"python_profile_replaced", profile_replaced,
         "a program in Python set a profile function of its own (sys.setprofile, cProfile); what came after is "
         "missing"},
        {"python_trace_replaced", trace_replaced,
         "a program in Python set a trace function of its own (sys.settrace, a debugger, coverage); lines that came "
         "after are missing"},
        {"sources_left_out", sources.left_out(),
         fmt::format("source files of Python are not in the session: larger than {} MiB, or more than {} MiB together",
                     SourceShelf::kMaxFileBytes >> 20, SourceShelf::kMaxAllBytes >> 20)}});
}

}  // namespace accelscope::capture::kinds::python
