// `view --table NAME`: one table of a session, as the Tables panel shows it.
#pragma once

#include <string>

#include "app/terminal/command.h"
#include "app/workspace/opening.h"

namespace accelscope::app {

struct TableViewRequest {
  std::string input;
  OpenSessionOptions input_options;
  std::string table;             // of SQL
  std::string format = "table";  // or csv, json
  std::string output_file;       // "": the standard output
  bool force = false;
};

// An exit code. An unknown table is an error that names those like it, and those that there are.
[[nodiscard]] int view_table(const TableViewRequest& request, const CommandRun& run);

}  // namespace accelscope::app
