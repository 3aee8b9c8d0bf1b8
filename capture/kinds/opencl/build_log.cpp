#include "capture/kinds/opencl/build_log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "core/base/text.h"

namespace accelscope::capture::kinds::opencl {
namespace {

[[nodiscard]] bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Grade {
  std::string_view word;
  bool is_error;
};
constexpr Grade kGrades[] = {{"fatal error: ", true}, {"error: ", true}, {"warning: ", false}};

// Takes ":LINE:COLUMN:" or ":LINE:" out of the text: what stands before it is a file.
[[nodiscard]] std::uint32_t take_place(std::string_view& text) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    std::uint32_t line = 0;
    const char* begin = text.data() + colon + 1;
    const char* end = text.data() + text.size();
    const auto [after, failure] = std::from_chars(begin, end, line);
    if (failure != std::errc() || after == end || *after != ':') continue;
    std::uint32_t column = 0;
    const auto [after_column, no_column] = std::from_chars(after + 1, end, column);
    const bool has_column = no_column == std::errc() && after_column != end && *after_column == ':';
    const char* rest = (has_column ? after_column : after) + 1;
    text = trimmed(std::string_view(rest, static_cast<std::size_t>(end - rest)));
    return line;
  }
  return 0;
}

[[nodiscard]] std::optional<BuildMessage> parse_line(std::string_view line) {
  for (const Grade& grade : kGrades) {
    const std::size_t at = line.find(grade.word);
    if (at == std::string_view::npos) continue;
    BuildMessage message;
    message.is_error = grade.is_error;
    std::string_view before = line.substr(0, at);
    std::string_view after = line.substr(at + grade.word.size());
    // Only a place may stand before the word: it is no word of a message.
    if (!before.empty()) {
      message.line = take_place(before);
      if (message.line == 0 || !before.empty()) continue;
    } else {
      message.line = take_place(after);
    }
    message.text = trimmed(after);
    return message;
  }
  return std::nullopt;
}

// Whether the word "kernel" stands in the statement before the place.
[[nodiscard]] bool follows_kernel_word(std::string_view source, std::size_t at) {
  const std::size_t statement = source.find_last_of(";}", at);
  const std::size_t begin = statement == std::string_view::npos ? 0 : statement + 1;
  const std::string_view before = source.substr(begin, at - begin);
  for (std::size_t found = before.rfind("kernel"); found != std::string_view::npos && found > 0;
       found = before.rfind("kernel", found - 1)) {
    const bool ends = found + 6 >= before.size() || !is_word(before[found + 6]);
    const bool begins = !is_word(before[found - 1]) || (found >= 2 && before.substr(found - 2, 2) == "__");
    if (ends && begins) return true;
  }
  return before.starts_with("kernel") && (before.size() == 6 || !is_word(before[6]));
}

constexpr std::string_view kQualifiers[] = {
    "__global", "global",   "__constant", "constant", "__local",     "local",     "__private",    "private",
    "const",    "restrict", "__restrict", "volatile", "__read_only", "read_only", "__write_only", "write_only"};

// "__global const float* a" -> float*, a
[[nodiscard]] KernelParameter parse_parameter(std::string_view text) {
  KernelParameter parameter;
  std::vector<std::string> words;
  std::string stars;
  while (!(text = trimmed(text)).empty()) {
    if (!is_word(text.front())) {
      if (text.front() == '*') stars += '*';
      text.remove_prefix(1);
      continue;
    }
    const auto end = std::find_if_not(text.begin(), text.end(), is_word);
    const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    if (std::find(std::begin(kQualifiers), std::end(kQualifiers), word) == std::end(kQualifiers)) {
      words.emplace_back(word);
    }
    text.remove_prefix(word.size());
  }
  if (words.size() < 2) return parameter;
  parameter.name = words.back();
  words.pop_back();
  const bool is_unsigned = words.front() == "unsigned" && words.size() > 1;
  parameter.type = (is_unsigned ? "u" : "") + words.back() + stars;
  return parameter;
}

// What stands before the closing bracket, split at commas that are in no brackets.
[[nodiscard]] std::vector<KernelParameter> parse_parameters(std::string_view text) {
  std::vector<KernelParameter> parameters;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool closes = text[at] == ')';
    if (depth == 0 && (closes || text[at] == ',')) {
      const std::string_view one = trimmed(text.substr(begin, at - begin));
      if (!one.empty() && one != "void") parameters.push_back(parse_parameter(one));
      begin = at + 1;
      if (closes) break;
    }
    depth += text[at] == '(' ? 1 : closes ? -1 : 0;
  }
  return parameters;
}

}  // namespace

std::vector<BuildMessage> parse_build_log(std::string_view log) {
  std::vector<BuildMessage> messages;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    if (std::optional<BuildMessage> message = parse_line(trimmed(log.substr(0, end)))) {
      messages.push_back(std::move(*message));
    }
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return messages;
}

KernelText find_kernel(std::string_view source, std::string_view name) {
  KernelText found;
  if (name.empty()) return found;
  for (std::size_t at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1)) {
    if (at > 0 && is_word(source[at - 1])) continue;
    std::string_view behind = source.substr(at + name.size());
    while (!behind.empty() && std::isspace(static_cast<unsigned char>(behind.front())) != 0) behind.remove_prefix(1);
    if (!behind.starts_with('(') || !follows_kernel_word(source, at)) continue;
    const auto lines = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    found.line = static_cast<std::uint32_t>(lines + 1);
    found.parameters = parse_parameters(behind.substr(1));
    return found;
  }
  return found;
}

}  // namespace accelscope::capture::kinds::opencl
