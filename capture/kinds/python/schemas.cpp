#include "capture/kinds/python/schemas.h"

namespace accelscope::capture::kinds::python {

Schema call_schema() {
  Schema schema;
  schema.name = "python_call";
  schema.kind = EventKind::slice;
  schema.name_column = "function";
  schema.name_explanation = "The function's qualified name; of a line, its number and its text.";
  schema.columns = {
      {"location", ColumnType::string, "", "Source", "Source",
       "Where the function begins, or the line that ran. Times of calls hold those of what they called, so a function "
       "that calls itself counts its time for each call.",
       Role::source_location},
      {"module", ColumnType::string, "", "Source", "Module", "The module that the code belongs to."},
      {"what", ColumnType::string, "", "Operation", "What",
       "function, module, generator or coroutine (a slice for each time that it runs on), built-in, line, garbage "
       "collection."},
      {"caller", ColumnType::string, "", "Operation", "Caller", "The function that called it."},
      {"self_ns", ColumnType::int64, "ns", "Timing", "Own time", "Its time without that of what it called."},
      {"raised", ColumnType::boolean, "", "Operation", "Raised", "It was left by an exception."},
      {"partial", ColumnType::boolean, "", "Timing", "Partial",
       "Its own begin or end was not collected: it ran on while the collection was switched on or off, or when the "
       "process ended."},
      {"metadata", ColumnType::text, "", "Operation", "Metadata", "What append_meta_data() added."},
  };
  return schema;
}

Schema signpost_schema() {
  Schema schema;
  schema.name = "python_signpost";
  schema.kind = EventKind::instant;
  schema.name_column = "header";
  schema.name_explanation = "The signpost's header.";
  schema.columns = {
      {"message", ColumnType::text, "", "Operation", "Message", "The signpost's message."},
      {"location", ColumnType::string, "", "Source", "Source", "Where it was set.", Role::source_location},
      {"thread", ColumnType::string, "", "IDs", "Thread", "The thread that set it."},
  };
  return schema;
}

Schema test_schema() {
  Schema schema;
  schema.name = "python_test";
  schema.kind = EventKind::slice;
  schema.name_column = "test";
  schema.name_explanation = "The test's id; within it its setup, call and teardown.";
  schema.columns = {
      {"outcome", ColumnType::string, "", "Operation", "Outcome",
       "passed, failed, skipped, xfailed, xpassed, or error in setup or teardown; unfinished if the process ended."},
      {"location", ColumnType::string, "", "Source", "Source", "Where the test begins.", Role::source_location},
      {"phase", ColumnType::string, "", "Operation", "Phase", "test, setup, call or teardown."},
      {"test_id", ColumnType::string, "", "IDs", "Test", "The test that a phase belongs to."},
  };
  return schema;
}

}  // namespace accelscope::capture::kinds::python
