// A source file ready to be shown: lines with tokens, and what each line cost. Finds the file that a location such
// as "mlp.py:33" means among those a session stores. No drawing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/source/source_lines.h"
#include "core/model/definitions.h"
#include "core/model/source_location.h"

namespace accelscope::app::content {

// Cuts Python source into what the source view colours: keywords, strings, numbers, comments, operators, the rest.
// Line by line, with the state that a string in triple quotes carries from one line to the next. Not a parser.

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

struct CodeLine {
  std::string text;  // tabs are spaces
  std::vector<CodeToken> tokens;
};

struct LineCost {
  std::uint64_t event_count = 0;
  std::int64_t busy_ns = 0;
  std::int64_t wait_ns = 0;
  std::uint64_t bytes = 0;
};

enum class Heat : std::uint8_t { busy, wait, events, bytes };

[[nodiscard]] std::vector<CodeLine> code_lines(const SourceFile& file);

// One entry per line of the file (index = line - 1); lines beyond its end are left out.
[[nodiscard]] std::vector<LineCost> line_costs(const analysis::SourceLines& lines, std::string_view path,
                                               std::size_t count);

// The figure that colours the margin, its text, and its share of the file's largest.
[[nodiscard]] double heat_value(const LineCost& cost, Heat heat) noexcept;
[[nodiscard]] std::string heat_text(const LineCost& cost, Heat heat);  // "" for nothing

}  // namespace accelscope::app::content
