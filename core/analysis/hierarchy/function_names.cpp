#include "core/analysis/hierarchy/function_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/model/source_location.h"

namespace accelscope {
namespace {

std::string with_file(std::string_view path, std::string_view function) {
  if (function.empty()) return {};
  const std::size_t folder = path.find_last_of("/\\");
  return fmt::format("{}:{}", folder == std::string_view::npos ? path : path.substr(folder + 1), function);
}

// "gelu" of "async def gelu(x):"; "" of any other line.
std::string_view defined_function(std::string_view line) {
  if (line.starts_with("async ")) line = trimmed(line.substr(6));
  if (!line.starts_with("def ")) return {};
  line = trimmed(line.substr(4));
  return line.substr(0, std::min(line.find_first_of("(:[ \t"), line.size()));
}

// What of Python's lines tells which of them continue others: brackets and long texts that are open.
class OpenText {
 public:
  [[nodiscard]] bool is_open() const noexcept { return brackets_ > 0 || quote_ != 0; }
  void read(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      const bool is_long = i + 2 < line.size() && line[i + 1] == c && line[i + 2] == c;
      if (quote_ != 0) {
        if (c == '\\') {
          ++i;
        } else if (c == quote_ && (!long_ || is_long)) {
          i += long_ ? 2U : 0U;
          quote_ = 0;
        }
      } else if (c == '#') {
        return;
      } else if (c == '"' || c == '\'') {
        quote_ = c;
        long_ = is_long;
        i += long_ ? 2U : 0U;
      } else if (c == '(' || c == '[' || c == '{') {
        ++brackets_;
      } else if (c == ')' || c == ']' || c == '}') {
        brackets_ = std::max(0, brackets_ - 1);
      }
    }
    if (!long_) quote_ = 0;  // a text of one line ends with it
  }

 private:
  int brackets_ = 0;
  char quote_ = 0;
  bool long_ = false;
};

}  // namespace

std::vector<std::string> functions_by_line(std::string_view python) {
  struct Function {
    std::size_t indent;
    std::string name;
  };
  std::vector<std::string> functions;
  std::vector<Function> around;
  OpenText open;
  while (!python.empty()) {
    const std::size_t end = std::min(python.find('\n'), python.size());
    const std::string_view line = python.substr(0, end);
    python.remove_prefix(std::min(end + 1, python.size()));
    const std::string_view code = trimmed(line);
    if (!open.is_open() && !code.empty() && code[0] != '#') {
      const std::size_t indent = line.find_first_not_of(" \t");
      while (!around.empty() && indent <= around.back().indent) around.pop_back();
      if (const std::string_view name = defined_function(code); !name.empty()) {
        around.push_back({indent, std::string(name)});
      }
    }
    functions.push_back(around.empty() ? std::string() : around.back().name);
    open.read(line);
  }
  return functions;
}

FunctionNames::FunctionNames(const std::vector<std::shared_ptr<const SourceFile>>& sources) : sources_(sources) {
  for (const auto& source : sources_) functions_.push_back(functions_by_line(source->content));
}

std::string FunctionNames::of_location(std::string_view location) const {
  std::string_view path;
  std::uint32_t line = 0;
  if (!parse_source_location(location, path, line)) return {};
  const auto source = find_source(sources_, path);
  if (!source || line == 0 || line > functions_[*source].size()) return {};
  return with_file(path, functions_[*source][line - 1]);
}

std::string FunctionNames::of_stack(std::string_view stack) {
  const StackFrame frame = parse_stack_frame(stack.substr(0, stack.find('\n')));
  return with_file(frame.path, frame.function);
}

}  // namespace accelscope
