// `view --table NAME`: one table of a session, as a panel shows it: a listing (app/content/listings), else a table of
// SQL.
#pragma once

#include <string>
#include <vector>

#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/workspace/opening.h"

namespace accelscope::app {

struct TableViewRequest {
  std::vector<std::string> inputs;  // of several one session is made
  OpenSessionOptions input_options;
  std::string table;
  std::vector<std::string> by;   // of a listing that has a choice
  std::string value;             // likewise, what it measures
  FilterOptions filter;          // of a listing
  std::string format = "table";  // or csv, json
  std::string output_file;       // "": the standard output
  bool force = false;
};

// An exit code. An unknown table is an error that names those like it, and those that there are.
[[nodiscard]] int view_table(const TableViewRequest& request, const CommandRun& run);

}  // namespace accelscope::app
