// `view --bundle F.tar`: what the tools of tt-metal write of a run, in one archive, under names with the time:
// statistics of zones as text and CSV, time stamps by core, the operations report, the report in the style of tt-perf,
// the figures and the data-quality report. What the session cannot give is left out and named.
#pragma once

#include <string>
#include <vector>

#include "app/terminal/command.h"
#include "app/terminal/filter_options.h"
#include "app/workspace/opening.h"

namespace accelscope::app {

struct BundleRequest {
  std::vector<std::string> inputs;  // of several one session is made
  OpenSessionOptions input_options;
  std::string bundle;
  FilterOptions filter;
  bool force = false;
};

[[nodiscard]] int view_bundle(const BundleRequest& request, const CommandRun& run);

}  // namespace accelscope::app
