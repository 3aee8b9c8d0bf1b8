// The user's own programs: how a file is opened in the editor at a line, and a page of the guide in the browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app::plan {

inline constexpr std::string_view kEditorSetting = "editor.command";
inline constexpr std::string_view kEditorExample = "code -g {file}:{line}";

// The words of a command with {file} and {line} filled in; the file comes last where the command does not say where.
//   code -g {file}:{line}    emacsclient -n +{line} {file}    clion --line {line} {file}    xterm -e vim +{line} {file}
[[nodiscard]] Result<std::vector<std::string>> editor_arguments(std::string_view command, std::string_view file,
                                                                std::uint32_t line);
// Starts it and does not wait for its end; it lives on when the viewer ends. For a worker. Errors name the program that
// is missing, or give the command and why it could not be started.
Result<void> start_editor(std::string_view command, const std::string& file, std::uint32_t line);
// A page below the guide's folder, likewise. The error says how to get the guide where it is not installed.
Result<void> open_guide_page(const std::string& opener, const std::string& folder, std::string_view page);

// A typed command line as the words that a shell would make of it, and back. Quotes and backslashes only: nothing is
// expanded, since no shell runs.
struct ShellWords {
  std::vector<std::string> words;
  // The first sign outside of quotes that only a shell would act on (| > < & ; $ ` * ?), else 0.
  char shell_sign = 0;
};

// Of what capture::shell_command() made, the same words again. Fails on a quote that is not closed and on a
// backslash at the end.
[[nodiscard]] Result<ShellWords> split_words(std::string_view line);

// A command over several lines of at most `columns` characters where words allow it; all but the last end with " \"
// and all but the first are indented by two. An option stays on one line with its value.
[[nodiscard]] std::vector<std::string> wrap_command(const std::vector<std::string>& words, std::size_t columns);

}  // namespace accelscope::app::plan
