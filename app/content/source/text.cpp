#include "app/content/source/text.h"

#include <algorithm>

#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::app {

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

std::vector<LineCost> line_costs(const SourceLines& lines, std::string_view path, std::size_t count) {
  std::vector<LineCost> costs(count);
  for (const SourceLine& line : lines.lines) {
    if (line.line == 0 || line.line > count || !same_source(line.path, path)) continue;
    LineCost& cost = costs[line.line - 1];
    cost.event_count += line.event_count;
    cost.busy_ns += line.busy_ns;
    cost.wait_ns += line.wait_ns;
    cost.bytes += line.bytes;
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

}  // namespace accelscope::app
