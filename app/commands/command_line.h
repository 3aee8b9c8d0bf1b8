// What the program does with its arguments: the table of commands, and the viewer where none of them is named.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/terminal/command.h"
#include "app/workspace/opening.h"

namespace accelscope::app::commands {

[[nodiscard]] std::span<const terminal::ProgramCommand> program_commands();

// The whole program. `arguments` without the program's name.
int run_program(std::vector<std::string> arguments, const terminal::CommandStreams& streams);

// `accelscope [SESSION | FILE | DIR | HOST:PORT]... [--nki-source-root DIR] [--compare]`. With a dump file, what was
// open and seen is written there as JSON when the window closes: for tests that drive the window from outside.
struct ViewerOptions {
  std::vector<std::string> targets;
  std::string dump_file;
  std::string view;       // link to what the first session shows
  bool compares = false;  // the targets are sessions to compare, the first is A; not files of one run
  workspace::OpenSessionOptions input;
};
int open_viewer(const ViewerOptions& options, const terminal::CommandRun& run);

}  // namespace accelscope::app::commands
