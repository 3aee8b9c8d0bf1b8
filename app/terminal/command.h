// The program's command line as data: a command is one row of a table, with a function that declares its options and
// returns what runs once they are read. A new command adds its file and its row in command_line.cpp; the list of
// commands, --help, --quiet, --json and the exit codes come by themselves.
//
// An action prints to the streams it is given and returns an exit code; it never ends the program.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::command_line {
class OptionSet;
}

namespace accelscope::app::terminal {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  // the input or the run
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;  // Ctrl+C, as shells have it

struct CommandStreams {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;  // progress lines are shown only then
  bool out_is_terminal = false;
};

struct CommandRun {
  CommandStreams streams;
  bool quiet = false;
  bool json = false;

  // "accelscope: FILE: what is wrong; what to try"
  int fail(const std::string& message) const;
  int fail_usage(const std::string& command, const std::string& message) const;
  void inform(const std::string& line) const;  // to err, unless quiet
  // For results that other programs read (JSON, CSV, bytes), which must come out as they are. All else that is written
  // to the streams is cleaned of what could steer a terminal (core/base/text.h); data too if it goes to one.
  [[nodiscard]] std::ostream& data_out() const;
  [[nodiscard]] bool shows_progress() const noexcept { return streams.err_is_terminal && !quiet; }
};

using CommandAction = std::function<int(const CommandRun&)>;

struct ProgramCommand {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view example;
  CommandAction (*declare)(command_line::OptionSet& options);
  std::string_view usage = "";                              // after the options; "": as they are declared
  std::string (*topic)(const std::string& word) = nullptr;  // what `--help WORD` shows; "" if that is nothing
};

}  // namespace accelscope::app::terminal
