#include "core/model/source_location.h"

#include <utility>

#include "core/base/text.h"

namespace accelscope {

bool parse_source_location(std::string_view text, std::string_view& path, std::uint32_t& line) noexcept {
  const auto split = [](std::string_view whole, std::string_view& before, std::uint32_t& number) {
    const std::size_t colon = whole.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    before = whole.substr(0, colon);
    return read_number(whole.substr(colon + 1), number);
  };
  if (!split(text, path, line)) return false;
  std::string_view shorter;
  std::uint32_t number = 0;
  if (split(path, shorter, number)) {  // what was read is the column
    path = shorter;
    line = number;
  }
  return true;
}

bool same_source(std::string_view a, std::string_view b) noexcept {
  if (a.size() < b.size()) std::swap(a, b);
  if (b.empty() || !a.ends_with(b)) return false;
  return a.size() == b.size() || a[a.size() - b.size() - 1] == '/' || a[a.size() - b.size() - 1] == '\\';
}

std::optional<std::size_t> find_source(const std::vector<std::shared_ptr<const SourceFile>>& sources,
                                       std::string_view path) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i]->path == path) return i;
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (same_source(sources[i]->path, path)) return i;
  }
  return std::nullopt;
}

namespace {

// "file.py(33): gelu"; false if it is written another way.
bool parse_numbered_call(std::string_view text, StackFrame& frame) {
  const std::size_t close = text.find("): ");
  const std::size_t open = close == std::string_view::npos ? close : text.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return false;
  std::uint32_t line = 0;
  if (!read_number(text.substr(open + 1, close - open - 1), line)) return false;
  frame.path = std::string(text.substr(0, open));
  frame.line = line;
  frame.function = std::string(trimmed(text.substr(close + 2)));
  return true;
}

}  // namespace

StackFrame parse_stack_frame(std::string_view text) {
  StackFrame frame;
  frame.text = std::string(trimmed(text));
  if (parse_numbered_call(frame.text, frame)) return frame;
  std::string_view location = frame.text;
  std::string_view function;
  const std::size_t open = location.rfind('(');
  const std::size_t in = location.find(" in ");
  if (open != std::string_view::npos && location.ends_with(')')) {
    function = trimmed(location.substr(0, open));
    location = location.substr(open + 1, location.size() - open - 2);
  } else if (in != std::string_view::npos) {
    function = trimmed(location.substr(in + 4));
    location = trimmed(location.substr(0, in));
  } else if (const std::size_t space = location.rfind(' '); space != std::string_view::npos) {
    const std::string_view first = trimmed(location.substr(0, space));
    const std::string_view last = location.substr(space + 1);
    const bool location_first = first.find(':') != std::string_view::npos && last.find(':') == std::string_view::npos;
    function = location_first ? last : first;
    location = location_first ? first : last;
  }
  std::string_view path;
  if (parse_source_location(location, path, frame.line)) {
    frame.path = std::string(path);
    frame.function = std::string(function);
  } else {
    frame.line = 0;
  }
  return frame;
}

}  // namespace accelscope
