// `view --output-format json`: a session as the vendor's JSON tables, and a folder of results as one such file for each
// of its profiles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/export/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/workspace/opening.h"
#include "core/export/json_tables.h"

namespace accelscope::app {

struct JsonViewRequest {
  std::vector<std::string> inputs;
  OpenSessionOptions input_options;
  std::string output_file;  // "": the vendor's default name; a folder for several
  FilterOptions filter;
  bool force = false;
  bool memory_tracker = false;
};

// An exit code.
[[nodiscard]] int view_json(const JsonViewRequest& request, const CommandRun& run);

// All that passes the filter, as those tables.
[[nodiscard]] Result<JsonExportReport> write_json_tables(const Store& store, const SessionFilter& filter,
                                                         OutputFile& output, const std::string& title,
                                                         const CommandRun& run);

// What --enable-memory-tracker finds in this session, in a sentence.
[[nodiscard]] std::string memory_tracker_note(const Snapshot& snapshot);

}  // namespace accelscope::app
