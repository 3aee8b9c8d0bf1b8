// Cuts Python source into what the source view colours: keywords, strings, numbers, comments, operators, the rest.
// Line by line, with the state that a string in triple quotes carries from one line to the next. Not a parser.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace accelscope::app {

enum class TokenKind : std::uint8_t { text, keyword, string, number, comment, operation };

struct CodeToken {
  std::uint32_t begin = 0;  // bytes in the line
  std::uint32_t end = 0;
  TokenKind kind = TokenKind::text;
  bool operator==(const CodeToken&) const = default;
};

class PythonTokenizer {
 public:
  // Tokens cover the line without gaps, spaces belong to text.
  [[nodiscard]] std::vector<CodeToken> line(std::string_view text);

 private:
  char open_quote_ = 0;  // of a triple-quoted string that goes on in the next line
};

}  // namespace accelscope::app
