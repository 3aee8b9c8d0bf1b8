#include "app/plan/editor.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/plan/shell_words.h"
#include "capture/system/detached_child.h"
#include "capture/system/supervised_child.h"

namespace accelscope::app {
namespace {

// True if there was one to replace.
bool replace_all(std::string& text, std::string_view what, std::string_view with) {
  bool any = false;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
    any = true;
  }
  return any;
}

}  // namespace

Result<std::vector<std::string>> editor_arguments(std::string_view command, std::string_view file, std::uint32_t line) {
  auto words = split_words(command);
  if (!words) return words.error();
  std::vector<std::string> arguments = std::move(words->words);
  if (arguments.empty())
    return Error{fmt::format("the command of the editor is empty; give one such as {}", kEditorExample)};
  bool has_file = false;
  for (std::string& word : arguments) {
    replace_all(word, "{line}", std::to_string(line));
    has_file = replace_all(word, "{file}", file) || has_file;
  }
  if (!has_file) arguments.emplace_back(file);
  return arguments;
}

Result<void> start_editor(std::string_view command, const std::string& file, std::uint32_t line) {
  auto arguments = editor_arguments(command, file, line);
  if (!arguments) return arguments.error();
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return Error{fmt::format("{}: is not on this computer; the session holds its text only", file)};
  const auto program = capture::system::find_start({.program = arguments->front()});
  if (!program) {
    return Error{fmt::format("{}; or change the command of the editor, such as {}", program.message(), kEditorExample)};
  }
  arguments->front() = *program;
  return capture::system::start_detached(*arguments);
}

}  // namespace accelscope::app
