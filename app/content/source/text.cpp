#include "app/content/source/text.h"

#include <algorithm>
#include <array>

#include "app/content/source/costs.h"
#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app::content {
namespace {

constexpr std::array<std::string_view, 38> kKeywords = {
    "False",  "None",     "True",   "and",  "as",   "assert", "async",  "await",    "break", "case",
    "class",  "continue", "def",    "del",  "elif", "else",   "except", "finally",  "for",   "from",
    "global", "if",       "import", "in",   "is",   "lambda", "match",  "nonlocal", "not",   "or",
    "pass",   "raise",    "return", "self", "try",  "while",  "with",   "yield"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0; }
bool is_operator(char c) { return std::string_view("+-*/%=<>!&|^~@:,.;()[]{}").find(c) != std::string_view::npos; }

class LineCutter {
 public:
  explicit LineCutter(std::string_view text) : text_(text) {}

  void add(std::size_t end, TokenKind kind) {
    if (end <= at_) return;
    if (!tokens_.empty() && tokens_.back().kind == kind) {
      tokens_.back().end = static_cast<std::uint32_t>(end);
    } else {
      tokens_.push_back({static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(end), kind});
    }
    at_ = end;
  }

  // To behind the closing triple quote; false when the line ends first.
  bool finish_triple(std::size_t from, char quote) {
    const std::array<char, 3> closing = {quote, quote, quote};
    const std::size_t found = text_.find(std::string_view(closing.data(), 3), from);
    add(found == std::string_view::npos ? text_.size() : found + 3, TokenKind::string);
    return found != std::string_view::npos;
  }

  [[nodiscard]] std::size_t end_of_string(std::size_t from, char quote) const {
    for (std::size_t i = from; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        return i + 1;
      }
    }
    return text_.size();
  }

  [[nodiscard]] std::size_t end_of_word(std::size_t from) const {
    std::size_t i = from;
    while (i < text_.size() && (is_letter(text_[i]) || is_digit(text_[i]))) ++i;
    return i;
  }

  [[nodiscard]] std::size_t end_of_number(std::size_t from) const {
    std::size_t i = from;
    while (i < text_.size() &&
           (is_letter(text_[i]) || is_digit(text_[i]) || text_[i] == '.' ||
            ((text_[i] == '+' || text_[i] == '-') && (text_[i - 1] == 'e' || text_[i - 1] == 'E')))) {
      ++i;
    }
    return i;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<CodeToken> tokens_;
};

bool is_string_prefix(std::string_view word) {
  return word.size() <= 2 && word.find_first_not_of("rRbBfFuU") == std::string_view::npos;
}

}  // namespace

std::vector<CodeToken> PythonTokenizer::line(std::string_view text) {
  LineCutter cutter(text);
  if (open_quote_ != 0 && cutter.finish_triple(0, open_quote_)) open_quote_ = 0;
  while (cutter.at_ < text.size()) {
    const std::size_t at = cutter.at_;
    const char c = text[at];
    if (c == '#') {
      cutter.add(text.size(), TokenKind::comment);
    } else if (c == '"' || c == '\'') {
      if (text.substr(at, 3) == std::string_view(c == '"' ? "\"\"\"" : "'''")) {
        if (!cutter.finish_triple(at + 3, c)) open_quote_ = c;
      } else {
        cutter.add(cutter.end_of_string(at + 1, c), TokenKind::string);
      }
    } else if (is_digit(c)) {
      cutter.add(cutter.end_of_number(at), TokenKind::number);
    } else if (is_letter(c)) {
      const std::size_t end = cutter.end_of_word(at);
      const std::string_view word = text.substr(at, end - at);
      const bool before_quote = end < text.size() && (text[end] == '"' || text[end] == '\'');
      const bool keyword = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
      const TokenKind kind = before_quote && is_string_prefix(word) ? TokenKind::string
                             : keyword                              ? TokenKind::keyword
                                                                    : TokenKind::text;
      cutter.add(end, kind);
    } else {
      cutter.add(at + 1, is_operator(c) ? TokenKind::operation : TokenKind::text);
    }
  }
  return std::move(cutter.tokens_);
}

namespace {

constexpr std::size_t kTabWidth = 4;

std::string expand_tabs(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (const char c : line) {
    if (c == '\t') {
      text.append(kTabWidth - text.size() % kTabWidth, ' ');
    } else if (c != '\r') {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::vector<CodeLine> code_lines(const SourceFile& file) {
  std::vector<CodeLine> lines;
  PythonTokenizer tokenizer;
  std::string_view rest = file.content;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    CodeLine line;
    line.text = expand_tabs(rest.substr(0, end));
    line.tokens = tokenizer.line(line.text);
    lines.push_back(std::move(line));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<LineCost> line_costs(const analysis::SourceLines& lines, std::string_view path, std::size_t count) {
  std::vector<LineCost> costs(count);
  for (const analysis::SourceLine& line : lines.lines) {
    if (line.line == 0 || line.line > count || !same_source(line.path, path)) continue;
    costs[line.line - 1] += cost_of(line);
  }
  return costs;
}

double heat_value(const LineCost& cost, Heat heat) noexcept {
  switch (heat) {
    case Heat::busy:
      return static_cast<double>(cost.busy_ns);
    case Heat::wait:
      return static_cast<double>(cost.wait_ns);
    case Heat::events:
      return static_cast<double>(cost.event_count);
    case Heat::bytes:
      return static_cast<double>(cost.bytes);
  }
  return 0;
}

std::string heat_text(const LineCost& cost, Heat heat) {
  const double value = heat_value(cost, heat);
  if (value <= 0) return "";
  switch (heat) {
    case Heat::busy:
    case Heat::wait:
      return format_duration(value);
    case Heat::events:
      return format_count(cost.event_count);
    case Heat::bytes:
      return format_bytes(value);
  }
  return "";
}

}  // namespace accelscope::app::content
