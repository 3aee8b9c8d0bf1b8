// The user's own editor: how a file is opened in it at a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::app {

inline constexpr std::string_view kEditorSetting = "editor.command";
inline constexpr std::string_view kEditorExample = "code -g {file}:{line}";

// The words of a command with {file} and {line} filled in; the file comes last where the command does not say where.
//   code -g {file}:{line}    emacsclient -n +{line} {file}    clion --line {line} {file}    xterm -e vim +{line} {file}
[[nodiscard]] Result<std::vector<std::string>> editor_arguments(std::string_view command, std::string_view file,
                                                                std::uint32_t line);
// Starts it and does not wait for its end; it lives on when the viewer ends. For a worker. Errors name the program that
// is missing, or give the command and why it could not be started.
Result<void> start_editor(std::string_view command, const std::string& file, std::uint32_t line);

}  // namespace accelscope::app
