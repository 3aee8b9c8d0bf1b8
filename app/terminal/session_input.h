// What commands read and write, with a progress line on a terminal: sessions opened as the viewer opens them
// (app/workspace/opening.h), and session files saved.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/session/background_job.h"
#include "app/terminal/command.h"
#include "app/workspace/opening.h"

namespace accelscope::command_line {
class OptionSet;
}

namespace accelscope::app::terminal {

// Adds --nki-source-root.
void declare_source_roots(command_line::OptionSet& options, workspace::OpenSessionOptions& input);

// Says on the error stream what of the input is missing or damaged, unless the command reports that itself.
[[nodiscard]] Result<workspace::OpenedSession> open_input(const std::vector<std::string>& paths,
                                                          const workspace::OpenSessionOptions& options,
                                                          const CommandRun& run, bool reports_quality = false);
// The same of a file that was looked at already.
[[nodiscard]] Result<workspace::OpenedSession> open_recognised(const capture::sources::RecognisedFile& file,
                                                               const workspace::OpenSessionOptions& options,
                                                               const CommandRun& run);

// Writes an answer to the file, to the standard output where it is "-" or "". The status that the command ends with.
int write_answer(const std::string& path, bool is_data, const CommandRun& run,
                 const std::function<void(std::ostream& out)>& write);

Result<void> save_session(Store& store, const std::string& path, const CommandRun& run);

// Runs the work on a thread while a line like "Reading a.json  59 %  312 MiB of 1.2 GiB  212 MB/s  4 s left" is kept
// up to date on a terminal. Ctrl+C cancels the work, which then ends in an orderly way; a second one ends the program.
Result<void> with_progress(const std::string& title, const CommandRun& run, const session::BackgroundJob::Work& work);

}  // namespace accelscope::app::terminal
