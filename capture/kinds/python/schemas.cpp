#include "capture/kinds/python/schemas.h"

namespace accelscope::capture::kinds::python {
namespace {

using namespace columns;

constexpr ColumnSpec kCalls[] = {
    {"location", kString, "", kSource, "Source",
     "Where the function begins, or the line that ran. Times of calls hold those of what they called, so a function "
     "that calls itself counts its time for each call.",
     Role::source_location},
    {"module", kString, "", kSource, "Module", "The module that the code belongs to."},
    {"what", kString, "", kOperation, "What",
     "function, module, generator or coroutine (a slice for each time that it runs on), built-in, line, garbage "
     "collection."},
    {"caller", kString, "", kOperation, "Caller", "The function that called it."},
    {"self_ns", kInt, "ns", kTiming, "Own time", "Its time without that of what it called."},
    {"raised", kFlag, "", kOperation, "Raised", "It was left by an exception."},
    {"partial", kFlag, "", kTiming, "Partial",
     "Its own begin or end was not collected: it ran on while the collection was switched on or off, or when the "
     "process ended."},
    {"metadata", kText, "", kOperation, "Metadata", "What append_meta_data() added."},
};
constexpr ColumnSpec kSignposts[] = {
    {"message", kText, "", kOperation, "Message", "The signpost's message."},
    {"location", kString, "", kSource, "Source", "Where it was set.", Role::source_location},
    {"thread", kString, "", kIds, "Thread", "The thread that set it."},
};
constexpr ColumnSpec kTests[] = {
    {"outcome", kString, "", kOperation, "Outcome",
     "passed, failed, skipped, xfailed, xpassed, or error in setup or teardown; unfinished if the process ended."},
    {"location", kString, "", kSource, "Source", "Where the test begins.", Role::source_location},
    {"phase", kString, "", kOperation, "Phase", "test, setup, call or teardown."},
    {"test_id", kString, "", kIds, "Test", "The test that a phase belongs to."},
};

}  // namespace

// By PythonTable.
const std::array<TableSpec, 3> kPythonTables = {{
    {{"python_call", EventKind::slice, "function",
      "The function's qualified name; of a line, its number and its text."},
     kCalls},
    {{"python_signpost", EventKind::instant, "header", "The signpost's header."}, kSignposts},
    {{"python_test", EventKind::slice, "test", "The test's id; within it its setup, call and teardown."}, kTests},
}};

}  // namespace accelscope::capture::kinds::python
