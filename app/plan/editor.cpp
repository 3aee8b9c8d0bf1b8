#include "app/plan/editor.h"

#include <fmt/format.h>

#include <filesystem>

#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"
#include "capture/system/supervised_child.h"

namespace accelscope::app::plan {
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

constexpr std::string_view kShellSigns = "|><&;$`*?";

// The words of the line so far, and where it stands.
class Splitter {
 public:
  Result<ShellWords> split(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote_ != 0) {
        const bool escapes = quote_ == '"' && c == '\\' && i + 1 < line.size() && is_escapable(line[i + 1]);
        if (escapes) {
          word_ += line[++i];
        } else if (c == quote_) {
          quote_ = 0;
        } else {
          word_ += c;
        }
      } else if (c == '\\') {
        if (i + 1 == line.size()) return Error{"a backslash ends the line; write \\\\ for a backslash itself"};
        if (line[++i] != '\n') take(line[i]);
      } else if (c == '\'' || c == '"') {
        quote_ = c;
        in_word_ = true;
      } else if (c == ' ' || c == '\t' || c == '\n') {
        end_word();
      } else {
        if (result_.shell_sign == 0 && kShellSigns.find(c) != std::string_view::npos) result_.shell_sign = c;
        take(c);
      }
    }
    if (quote_ != 0) return Error{std::string("the quote ") + quote_ + " is not closed"};
    end_word();
    return std::move(result_);
  }

 private:
  static bool is_escapable(char c) { return c == '"' || c == '\\' || c == '$' || c == '`'; }
  void take(char c) {
    word_ += c;
    in_word_ = true;
  }
  void end_word() {
    if (in_word_) result_.words.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  ShellWords result_;
  std::string word_;
  char quote_ = 0;
  bool in_word_ = false;  // an empty pair of quotes is a word too
};

}  // namespace

Result<std::vector<std::string>> editor_arguments(std::string_view command, std::string_view file, std::uint32_t line) {
  auto words = TRY(split_words(command));
  std::vector<std::string> arguments = std::move(words.words);
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
  auto arguments = TRY(editor_arguments(command, file, line));
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return Error{fmt::format("{}: is not on this computer; the session holds its text only", file)};
  const auto program = capture::system::find_start({.program = arguments.front()});
  if (!program) {
    return Error{fmt::format("{}; or change the command of the editor, such as {}", program.message(), kEditorExample)};
  }
  arguments.front() = *program;
  return capture::system::start_detached(arguments);
}

Result<void> open_guide_page(const std::string& opener, const std::string& folder, std::string_view page) {
  std::error_code error;
  const std::string file = std::filesystem::weakly_canonical(std::filesystem::path(folder) / page, error).string();
  if (folder.empty() || !std::filesystem::exists(file, error)) {
    return Error{
        "No guide is installed beside this program. The package brings it; in a folder of sources, "
        "sh third_party/install.sh --packages && cmake --workflow --preset release builds it"};
  }
  const auto program = capture::system::find_start({.program = opener});
  if (!program) return Error{fmt::format("{}; or open {} in a browser", program.message(), file)};
  return capture::system::start_detached({*program, file});
}

Result<ShellWords> split_words(std::string_view line) { return Splitter().split(line); }

std::vector<std::string> wrap_command(const std::vector<std::string>& words, std::size_t columns) {
  std::vector<std::string> pieces;  // an option with its value, or a word
  bool options_over = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string piece = capture::system::shell_quote(words[i]);
    options_over = options_over || words[i] == "--";
    const bool option = !options_over && words[i].starts_with('-') && i + 1 < words.size();
    if (option && !words[i + 1].starts_with('-')) piece += " " + capture::system::shell_quote(words[++i]);
    pieces.push_back(std::move(piece));
  }
  constexpr std::size_t kContinuation = 2;  // " \"
  std::vector<std::string> lines(1);
  for (const std::string& piece : pieces) {
    std::string& line = lines.back();
    const bool fresh = line.find_first_not_of(' ') == std::string::npos;
    if (!fresh && line.size() + 1 + piece.size() + kContinuation > columns) {
      line += " \\";
      lines.push_back("  " + piece);
    } else {
      line += (fresh ? "" : " ") + piece;
    }
  }
  return lines;
}

}  // namespace accelscope::app::plan
