// The options of `accelscope record` and the plan that they make; record_command() of capture/client/capture_status.h
// is the way back.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/client/capture_session.h"
#include "capture/client/capture_status.h"
#include "capture/request/option_cli.h"
#include "core/base/result.h"

namespace accelscope::command_line {
class OptionSet;
}

namespace accelscope::app::terminal {

class RecordArguments {
 public:
  // Lives until after the parse. `own`: an option that the command itself has, in place of a kind's of that name.
  void declare(command_line::OptionSet& options, std::string_view own = "");
  [[nodiscard]] Result<capture::client::CapturePlan> plan(const std::string& output_path) const;

 private:
  void declare_request(command_line::OptionSet& options, std::string_view own);

  capture::client::CapturePlan plan_;
  capture::request::KindOptions kind_options_;
  std::string places_;
  std::string kinds_;
  std::string script_file_;
  std::vector<std::string> program_;
  bool watch_ = false;
  bool take_up_ = false;
};

// Places as typed, with commas between; "@hosts.txt" stands for those in the file, one a line: as typed, or a host with
// or without a user and a port, which ssh reaches. # begins a comment. Errors name the file and the line.
[[nodiscard]] Result<std::vector<std::string>> places_of_text(const std::string& text);

// A program that is given is run, as accelscope-agent run does, where no kind is chosen.
void run_program_by_default(capture::client::CapturePlan& plan);

// On the terminal; what is secret is typed without being seen.
[[nodiscard]] std::optional<std::string> ask_on_terminal(const capture::client::CaptureQuestion& question,
                                                         std::ostream& err);

}  // namespace accelscope::app::terminal
