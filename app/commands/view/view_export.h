// `view --output-format FORMAT` for the formats of core/export/formats: the session, a range or what passes a filter.
#pragma once

#include <string>
#include <vector>

#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/workspace/opening.h"
#include "core/export/base/export_format.h"

namespace accelscope::app {

struct ExportViewRequest {
  std::vector<std::string> inputs;  // of several one session is made
  OpenSessionOptions input_options;
  const ExportFormat* format = nullptr;
  std::string output_file;  // "": named after the input
  FilterOptions filter;
  bool force = false;
};

// An exit code.
[[nodiscard]] int view_export(const ExportViewRequest& request, const CommandRun& run);

}  // namespace accelscope::app
