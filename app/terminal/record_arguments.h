// The options of `accelscope record` and the plan that they make; record_command() of capture/client/capture_status.h
// is the way back.
#pragma once

#include <string>
#include <vector>

#include "capture/client/capture_status.h"
#include "capture/request/option_cli.h"
#include "core/base/result.h"

namespace accelscope::command_line {
class OptionSet;
}

namespace accelscope::app {

class RecordArguments {
 public:
  void declare(command_line::OptionSet& options);  // lives until after the parse
  [[nodiscard]] Result<capture::client::CapturePlan> plan(const std::string& output_path) const;

 private:
  void declare_request(command_line::OptionSet& options);

  capture::client::CapturePlan plan_;
  capture::request::KindOptions kind_options_;
  std::string places_;
  std::string kinds_;
  std::string script_file_;
  std::vector<std::string> program_;
  bool watch_ = false;
  bool take_up_ = false;
};

}  // namespace accelscope::app
