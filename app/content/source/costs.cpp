#include "app/content/source/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "app/content/source/text.h"
#include "core/base/text.h"
#include "core/names/name_forms.h"

namespace accelscope::app::content {
namespace {

bool holds(std::string_view text, std::string_view wanted) {
  const auto found = std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                                 [](char a, char b) { return lower_case(a) == lower_case(b); });
  return wanted.empty() || found != text.end();
}

double number_of(const LineCost& cost, CostOrder by) noexcept { return by ? heat_value(cost, *by) : 0; }

}  // namespace

LineCost cost_of(const analysis::SourceLine& line) noexcept {
  return {line.event_count, line.busy_ns, line.wait_ns, line.bytes};
}

LineCost& operator+=(LineCost& sum, const LineCost& more) noexcept {
  sum.event_count += more.event_count;
  sum.busy_ns += more.busy_ns;
  sum.wait_ns += more.wait_ns;
  sum.bytes += more.bytes;
  return sum;
}

std::vector<FileCost> file_costs(const analysis::SourceLines& lines, const SourceFiles& stored) {
  std::map<std::string, FileCost, std::less<>> by_path;
  for (const auto& file : stored) by_path[file->path] = {file->path, file, {}, 0};
  std::string_view named;
  FileCost* file = nullptr;
  for (const analysis::SourceLine& line : lines.lines) {  // sorted by path: one look-up per path
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

void sort_files(std::vector<FileCost>& files, CostOrder by, bool descending) {
  std::sort(files.begin(), files.end(), [&](const FileCost& a, const FileCost& b) {
    const double left = number_of(a.cost, by), right = number_of(b.cost, by);
    if (left != right) return descending ? left > right : left < right;
    return !by && descending ? a.path > b.path : a.path < b.path;
  });
}

std::vector<std::uint32_t> ordered_lines(const analysis::SourceLines& lines, std::string_view wanted, CostOrder by,
                                         bool descending) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < lines.lines.size(); ++i) {
    if (holds(lines.lines[i].path, wanted)) order.push_back(i);
  }
  const bool by_place_down = !by && descending;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double left = number_of(cost_of(lines.lines[a]), by), right = number_of(cost_of(lines.lines[b]), by);
    if (left != right) return descending ? left > right : left < right;
    return by_place_down ? a > b : a < b;  // the lines come by path and number
  });
  return order;
}

std::set<std::string> paths_without_text(const analysis::SourceLines& lines, const SourceFiles& stored) {
  std::set<std::string> paths;
  for (const analysis::SourceLine& line : lines.lines) {
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
  if (read_number(wanted, number)) {
    if (number > 0 && number <= lines.size()) found.push_back(number - 1);
    return found;
  }
  for (std::uint32_t i = 0; i < lines.size(); ++i) {
    if (holds(lines[i].text, wanted)) found.push_back(i);
  }
  return found;
}

namespace {

// What a call is, by the table of its event.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kCallLevels = {{
    {"kernel", "Kernel"},
    {"memcpy", "Copy"},
    {"memset", "Fill"},
    {"runtime_call", "Runtime"},
    {"cpu_op", "Operator"},
    {"user_annotation", "Annotation"},
    {"nvtx", "Range"},
    {"osrt_call", "System"},
    {"cuda_graph", "Graph"},
    {"gpu_user_annotation", "Annotation"},
    {"python_function", "Python"},
    {"python_call", "Python"},
    {"python_signpost", "Signpost"},
    {"python_test", "Test"},
    {"collective_comm", "Collective"},
    {"cuda_sync", "Wait"},
    {"mtia_ccp_events", "Device"},
    {"hpu_op", "Device"},
    {"device_event", "Device"},
    {"task", "Task"},
    {"instant", "Instant"},
}};

std::string call_level_of(const analysis::StackCall& call, const std::string& location) {
  if (call.event == kNoEvent) return location.find(".py:") != std::string::npos ? "Python" : "Call";
  for (const auto& [table, level] : kCallLevels) {
    if (call.table == table) return std::string(level);
  }
  return call.on_host ? "Call" : "Work";
}

bool is_framework(std::string_view path) noexcept {
  for (const std::string_view begin : {"torch/", "torch\\", "jax/", "jaxlib/", "tensorflow/", "<frozen "}) {
    if (path.starts_with(begin)) return true;
  }
  for (const std::string_view part : {"/site-packages/", "/dist-packages/", "/lib/python3"}) {
    if (path.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// "forward" of "attention.py(57): forward", "linear" of "<built-in method linear of type object at 0x7f>".
std::string called_function(std::string_view name) {
  if (const std::size_t place = name.find("): "); place != std::string_view::npos)
    return std::string(name.substr(place + 3));
  for (const std::string_view begin : {"<built-in method ", "<built-in function "}) {
    if (!name.starts_with(begin)) continue;
    const std::string_view rest = name.substr(begin.size());
    return std::string(rest.substr(0, rest.find_first_of(" >"))) + " (built-in)";
  }
  return std::string(name);
}

CallRow call_row_of(const analysis::StackCall& call) {
  CallRow row;
  row.event = call.event;
  row.recorded = call.name;
  if (call.event == kNoEvent) {
    const StackFrame frame = parse_stack_frame(call.name);
    row.location = frame.line > 0 ? frame.path + ":" + std::to_string(frame.line) : "";
    row.text = frame.line > 0 ? frame.function : frame.text;
  } else {
    row.location = call.on_host ? call.source : "";
    row.text = call.on_host ? called_function(call.name) : usual_name(call.name);
    row.total_ns = call.end_ns - call.begin_ns;
    row.self_ns = call.self_ns;
    row.timed = call.on_host;
  }
  row.level = call_level_of(call, row.location);
  row.framework = is_framework(row.location);
  return row;
}

// "torch.nn" of the paths torch/nn/modules/module.py and torch/nn/functional.py.
std::string package_of(std::string_view path) {
  for (const std::string_view root : {"/site-packages/", "/dist-packages/"}) {
    if (const std::size_t at = path.rfind(root); at != std::string_view::npos) path.remove_prefix(at + root.size());
  }
  const std::size_t end = path.rfind('/');
  std::string package(end == std::string_view::npos ? path.substr(0, path.find('.')) : path.substr(0, end));
  std::replace(package.begin(), package.end(), '/', '.');
  return package;
}

std::string common_package(const std::vector<CallRow>& rows, std::size_t first, std::size_t last) {
  std::string common = package_of(rows[first].location);
  for (std::size_t i = first + 1; i < last; ++i) {
    const std::string other = package_of(rows[i].location);
    while (!common.empty() && other != common && !other.starts_with(common + ".")) {
      const std::size_t dot = common.rfind('.');
      common.resize(dot == std::string::npos ? 0 : dot);
    }
  }
  return common;
}

}  // namespace

std::vector<CallRow> call_rows(const std::vector<analysis::StackCall>& calls) {
  std::vector<CallRow> rows;
  for (const analysis::StackCall& call : calls) {
    CallRow row = call_row_of(call);
    const bool again = !rows.empty() && call.event == kNoEvent && rows.back().event == kNoEvent &&
                       rows.back().recorded == row.recorded;
    if (again) {  // a function that calls itself
      ++rows.back().repeats;
      continue;
    }
    row.first = rows.size();
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CallRow> folded_rows(const std::vector<CallRow>& rows, const std::set<std::size_t>& opened) {
  constexpr std::size_t kFewest = 2;  // that are worth a row of their own
  std::vector<CallRow> shown;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t last = i;
    while (last < rows.size() && rows[last].framework && rows[last].level == rows[i].level) ++last;
    if (last < i + kFewest) {
      shown.push_back(rows[i++]);
      continue;
    }
    CallRow fold;
    fold.level = rows[i].level;
    const std::string package = common_package(rows, i, last);
    fold.text = fmt::format("{} frames of {}", last - i, package.empty() ? "frameworks" : package);
    fold.timed = rows[i].timed;
    fold.total_ns = rows[last - 1].total_ns;
    for (std::size_t k = i; k < last; ++k) fold.self_ns += rows[k].self_ns;
    fold.framework = true;
    fold.folded = last - i;
    fold.first = i;
    shown.push_back(std::move(fold));
    if (opened.contains(i))
      shown.insert(shown.end(), rows.begin() + static_cast<std::ptrdiff_t>(i),
                   rows.begin() + static_cast<std::ptrdiff_t>(last));
    i = last;
  }
  return shown;
}

const analysis::StackRules& stack_rules() {
  static const analysis::StackRules kRules{
      [](const Schema& schema) { return schema.name != "overhead" && schema.name != "trace_span"; }, "Python id",
      "Python parent id"};
  return kRules;
}

std::string_view last_of_path(std::string_view location) noexcept {
  const std::size_t slash = location.find_last_of("/\\");
  return slash == std::string_view::npos ? location : location.substr(slash + 1);
}

}  // namespace accelscope::app::content
