// Whether a stream is a terminal, where progress lines make sense, and how such a line is taken back. The system's part
// of the command line.
#pragma once

#include <cstdio>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/terminal/command.h"
#include "core/base/own_files.h"
#include "core/base/result.h"

namespace accelscope::app::terminal {

// Back to the line's beginning, and nothing left of it: the one control that commands themselves send, past what cleans
// their text (core/base/text.h).
std::ostream& erase_line(std::ostream& stream);

[[nodiscard]] bool is_terminal(std::FILE* stream) noexcept;

// Ctrl+C during a command that can end in an orderly way. While an Interruptible lives, the first SIGINT, SIGTERM
// or SIGHUP (the terminal has gone; not under nohup) is remembered; a second one ends the program at once. One at a
// time.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  [[nodiscard]] bool interrupted() const noexcept;
};

// The exit status of a command that ended for it, as shells have it: 130 after Ctrl+C, 143 after SIGTERM; 0 if no
// signal has come to the last Interruptible.
[[nodiscard]] int interrupted_status() noexcept;
void forget_interrupts() noexcept;

// "-" where a file is meant, and pipes that have names: what they give is kept in a temporary file until the command
// ends, and what goes to the standard output is first written to one. So every command takes and gives them, also those
// that need a file that can be read and written anywhere in it.

inline constexpr std::string_view kStandardStream = "-";

class InputPaths {
 public:
  // Reads the standard input to its end if one of the paths is "-", and pipes to theirs. Ctrl+C ends it with an error.
  [[nodiscard]] static Result<InputPaths> read(std::vector<std::string> given);

  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  [[nodiscard]] std::string shown(std::string message) const;  // with what was given for the temporary files
  // Keeps the temporary file for as long as it lives; null if there is none.
  [[nodiscard]] std::shared_ptr<void> keeper() const { return folder_; }

 private:
  std::vector<std::string> paths_;
  std::vector<std::pair<std::string, std::string>> copies_;  // temporary file, what was given
  std::shared_ptr<OwnTemporaryFolder> folder_;
};

class FileTarget {
 public:
  // Refuses to write bytes to a terminal.
  [[nodiscard]] static Result<FileTarget> open(const std::string& path, const CommandRun& run);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }  // what is to be written
  [[nodiscard]] Result<void> finish(const CommandRun& run) const;           // hands it on

 private:
  std::string path_;
  std::string node_;                            // a pipe or a device that it goes to; "": the standard output
  std::shared_ptr<OwnTemporaryFolder> folder_;  // null: a file of its own
};

// The folders of --source-root: a mistyped one would only be missed later.
[[nodiscard]] Result<void> check_source_roots(const std::vector<std::string>& folders);

}  // namespace accelscope::app::terminal
