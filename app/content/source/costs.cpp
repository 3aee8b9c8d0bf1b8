#include "app/content/source/costs.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/base/text.h"

namespace accelscope::app {

namespace {

bool holds(std::string_view text, std::string_view wanted) {
  const auto found = std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                                 [](char a, char b) { return lower_case(a) == lower_case(b); });
  return wanted.empty() || found != text.end();
}

double number_of(const LineCost& cost, CostColumn column) noexcept {
  switch (column) {
    case CostColumn::place:
      return 0;
    case CostColumn::events:
      return heat_value(cost, Heat::events);
    case CostColumn::busy:
      return heat_value(cost, Heat::busy);
    case CostColumn::wait:
      return heat_value(cost, Heat::wait);
    case CostColumn::bytes:
      return heat_value(cost, Heat::bytes);
  }
  return 0;
}

}  // namespace

CostColumn column_of(Heat heat) noexcept {
  switch (heat) {
    case Heat::busy:
      return CostColumn::busy;
    case Heat::wait:
      return CostColumn::wait;
    case Heat::events:
      return CostColumn::events;
    case Heat::bytes:
      return CostColumn::bytes;
  }
  return CostColumn::busy;
}

LineCost cost_of(const SourceLine& line) noexcept { return {line.event_count, line.busy_ns, line.wait_ns, line.bytes}; }

LineCost& operator+=(LineCost& sum, const LineCost& more) noexcept {
  sum.event_count += more.event_count;
  sum.busy_ns += more.busy_ns;
  sum.wait_ns += more.wait_ns;
  sum.bytes += more.bytes;
  return sum;
}

std::vector<FileCost> file_costs(const SourceLines& lines, const SourceFiles& stored) {
  std::map<std::string, FileCost, std::less<>> by_path;
  for (const auto& file : stored) by_path[file->path] = {file->path, file, {}, 0};
  std::string_view named;
  FileCost* file = nullptr;
  for (const SourceLine& line : lines.lines) {  // sorted by path: one look-up per path
    if (file == nullptr || line.path != named) {
      named = line.path;
      const auto found = find_source(stored, line.path);
      const std::string& path = found ? stored[*found]->path : line.path;
      file = &by_path[path];
      file->path = path;
    }
    file->cost += cost_of(line);
    ++file->line_count;
  }
  std::vector<FileCost> files;
  files.reserve(by_path.size());
  for (auto& [path, cost] : by_path) files.push_back(std::move(cost));
  return files;
}

void sort_files(std::vector<FileCost>& files, CostColumn column, bool descending) {
  std::sort(files.begin(), files.end(), [&](const FileCost& a, const FileCost& b) {
    const double left = number_of(a.cost, column), right = number_of(b.cost, column);
    if (left != right) return descending ? left > right : left < right;
    return column == CostColumn::place && descending ? a.path > b.path : a.path < b.path;
  });
}

std::vector<std::uint32_t> ordered_lines(const SourceLines& lines, std::string_view wanted, CostColumn column,
                                         bool descending) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < lines.lines.size(); ++i) {
    if (holds(lines.lines[i].path, wanted)) order.push_back(i);
  }
  const bool by_place_down = column == CostColumn::place && descending;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double left = number_of(cost_of(lines.lines[a]), column), right = number_of(cost_of(lines.lines[b]), column);
    if (left != right) return descending ? left > right : left < right;
    return by_place_down ? a > b : a < b;  // the lines come by path and number
  });
  return order;
}

std::set<std::string> paths_without_text(const SourceLines& lines, const SourceFiles& stored) {
  std::set<std::string> paths;
  for (const SourceLine& line : lines.lines) {
    if (!paths.contains(line.path) && !find_source(stored, line.path)) paths.insert(line.path);
  }
  return paths;
}

std::vector<std::uint32_t> hot_lines(const std::vector<LineCost>& costs, Heat heat) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < costs.size(); ++i) {
    if (heat_value(costs[i], heat) > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return heat_value(costs[a], heat) > heat_value(costs[b], heat);
  });
  return order;
}

std::vector<std::uint32_t> find_lines(const std::vector<CodeLine>& lines, std::string_view wanted) {
  std::vector<std::uint32_t> found;
  if (wanted.empty()) return found;
  std::uint32_t number = 0;
  const char* end = wanted.data() + wanted.size();
  if (const auto [last, code] = std::from_chars(wanted.data(), end, number); code == std::errc() && last == end) {
    if (number > 0 && number <= lines.size()) found.push_back(number - 1);
    return found;
  }
  for (std::uint32_t i = 0; i < lines.size(); ++i) {
    if (holds(lines[i].text, wanted)) found.push_back(i);
  }
  return found;
}

}  // namespace accelscope::app
