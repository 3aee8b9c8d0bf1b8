#include "core/analysis/hierarchy/path_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/analysis/hierarchy/node_sums.h"
#include "core/base/text.h"
#include "core/model/source_location.h"
#include "core/names/short_names.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis {
namespace {

constexpr std::array kPathKinds = std::to_array<PathKind>({
    {.name = "layer",
     .title = "Layer path",
     .level = "Layer",
     .separator = "/",
     .missing = "(no layer)",
     .role = Role::layer,
     .split = PathSplit::slash,
     .has_lines = true,
     .borrows = true,
     .empty_advice = "No layers recorded: compile with HLO metadata"},
    {.name = "operator",
     .title = "Graph operator",
     .level = "Operator",
     .separator = " > ",
     .missing = "(no operator)",
     .columns = {"hlo_name", "hlo_op", "Op Name", "framework_op"},
     .has_lines = true,
     .borrows = true,
     .empty_advice = "No graph operators recorded: compile with HLO metadata"},
    {.name = "compiler",
     .title = "Compiler levels",
     .level = "Level",
     .separator = " > ",
     .missing = "(no level)",
     .columns = {"layer", "hlo_name", "penguin_id", "bir_instruction_name"},
     .split = PathSplit::levels,
     .empty_advice = "No levels of the compiler recorded: compile with HLO metadata"},
    {.name = "function",
     .title = "Kernel function",
     .level = "Function",
     .separator = " > ",
     .missing = "(no function)",
     .role = Role::source_location,
     .split = PathSplit::function,
     .has_lines = true,
     .empty_advice = "No functions known: record stacks, or give the folder of the kernels' source"},
    {.name = "host",
     .title = "Host stack",
     .level = "Call",
     .separator = ";",
     .missing = "(no call)",
     .source = PathSource::host_calls,
     .empty_advice = "No calls of a host recorded: record operators or the calls of its program"},
    {.name = "zone",
     .title = "Zones",
     .level = "Zone",
     .separator = ";",
     .missing = "(no zone)",
     .source = PathSource::device_zones,
     .empty_advice = "No zones of a device recorded: mark them in the kernels"},
    {.name = "line",
     .title = "Source line",
     .level = "Line",
     .separator = " > ",
     .missing = "(no line)",
     .role = Role::source_location,
     .split = PathSplit::line,
     .empty_advice = "No source lines recorded: keep debug information when compiling"},
    {.name = "stack",
     .title = "Recorded stack",
     .level = "Frame",
     .separator = ";",
     .missing = "(no stack)",
     .role = Role::stack,
     .split = PathSplit::frames,
     .empty_advice = "No stacks recorded: record with stacks"},
    {.name = "name",
     .title = "Engine and name",
     .level = "Name",
     .separator = "/",
     .missing = "(no name)",
     .source = PathSource::unit,
     .empty_advice = "No work of a device or a host recorded"},
});

// Tables of events that a kernel marks around its own stretches: they lie within each other.
bool fits_source(const PathKind& kind, WorkKind work, const Schema& schema) {
  if (kind.source == PathSource::host_calls) return work == WorkKind::host;
  if (kind.source == PathSource::device_zones) return nests_zones(work, schema);
  return kind.source == PathSource::unit || path_column(kind, schema).has_value();
}

// Where nothing does, functions would be nothing but "(no function)".
bool tells_functions(const Snapshot& snapshot, const Schema& schema) {
  return schema.find(Role::stack).has_value() || !snapshot.sources.empty();
}

Result<bool> has_values(const Store& store, const LaneSnapshot& lane, std::size_t column) {
  const std::uint32_t last = lane.chunk_count - 1;
  for (const std::uint32_t chunk : {0U, last / 2, last}) {
    const auto loaded = TRY(load_chunk(store, lane, chunk));
    const ChunkView& view = loaded.view;
    for (std::uint32_t block = 0; column < view.column_count() && block < view.block_count(); ++block) {
      if (view.validity(column, block) != 0) return true;
    }
  }
  return false;
}

}  // namespace

std::span<const PathKind> path_kinds() noexcept { return kPathKinds; }

const PathKind* find_path_kind(std::string_view name) noexcept {
  const auto found = std::ranges::find_if(kPathKinds, [&](const PathKind& each) { return each.name == name; });
  return found == kPathKinds.end() ? nullptr : &*found;
}

std::optional<std::size_t> path_column(const PathKind& kind, const Schema& schema) {
  if (kind.source != PathSource::column) return std::nullopt;
  const auto text = [&](std::optional<std::size_t> column) {
    return column && is_text(schema.columns[*column].type) ? column : std::nullopt;
  };
  if (kind.role != Role::none) return text(schema.find(kind.role));
  if (kind.split == PathSplit::levels) return level_columns(kind, schema).back();
  for (const std::string_view name : kind.columns) {
    if (name.empty()) continue;
    if (const auto column = text(schema.find(name))) return column;
  }
  return std::nullopt;
}

LevelColumns level_columns(const PathKind& kind, const Schema& schema) {
  LevelColumns columns;
  for (std::size_t level = 0; level < columns.size(); ++level) {
    const auto column = schema.find(kind.columns[level]);
    if (column && schema.columns[*column].type == ColumnType::string) columns[level] = column;
  }
  return columns;
}

LaneIndices lanes_with_paths(const Snapshot& snapshot, const WorkKinds& works, const PathKind& kind) {
  LaneIndices working, commenting;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (!lane.schema || lane.event_count == 0 || lane.schema->kind != EventKind::slice) continue;
    if (!fits_source(kind, works.of_lane(i), *lane.schema)) continue;
    if (kind.source == PathSource::unit && !works.covers_time(i)) continue;  // its packets are there
    (works.of_lane(i) != WorkKind::none ? working : commenting).push_back(i);
  }
  return working.empty() && kind.source == PathSource::column ? commenting : working;
}

Result<std::vector<const PathKind*>> kinds_of_session(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds works(snapshot);
  std::vector<const PathKind*> kinds;
  for (const PathKind& kind : kPathKinds) {
    bool found = false;
    for (const std::uint32_t index : lanes_with_paths(snapshot, works, kind)) {
      if (query.control.cancelled()) return cancelled_error();
      const LaneSnapshot& lane = snapshot.lanes[index];
      const auto column = path_column(kind, *lane.schema);
      if (kind.split == PathSplit::function && !tells_functions(snapshot, *lane.schema)) continue;
      if (!column) {
        found = true;
      } else if (const auto any = has_values(query.store, lane, *column); any) {
        found = *any;
      } else if (query.report == nullptr) {
        return any.error();
      }
      if (found) break;
    }
    if (found) kinds.push_back(&kind);
  }
  return kinds;
}

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

namespace {

struct UnitRule {
  std::string_view track_kind, unit;
};
constexpr std::array kUnitRules = std::to_array<UnitRule>({
    {"dma_queue", "DMA"},
    {"collective", "Collectives"},
    {"cc_core", "Collectives"},
    {"host_thread", "Host"},
});

// Engines are called as they are on every core and device: "core 1,1 BRISC" -> "BRISC".
std::string unit_of(const TrackSnapshot& track) {
  for (const UnitRule& rule : kUnitRules) {
    if (rule.track_kind == track.track->kind) return std::string(rule.unit);
  }
  const std::string& name = track.track->name;
  const std::size_t space = name.rfind(' ');
  const bool counts =
      space != std::string::npos && name.find_first_not_of("0123456789", space + 1) == std::string::npos;
  if (track.track->kind == "engine" && !counts) return space == std::string::npos ? name : name.substr(space + 1);
  return track.schema ? table_title(track.schema->name) : name;
}

}  // namespace

HierarchyUnits::HierarchyUnits(const Snapshot& snapshot, const WorkKinds& works, const LaneIndices& lanes)
    : lane_units_(snapshot.lanes.size(), 0) {
  std::map<TrackNumber, std::uint32_t> of_track;
  std::map<std::string, std::uint32_t> numbers;
  for (const std::uint32_t lane : lanes) {
    const TrackNumber number = snapshot.lanes[lane].track;
    const auto [known, is_new] = of_track.try_emplace(number, 0);
    if (is_new) {
      const TrackSnapshot* track = snapshot.find_track(number);
      std::string name = track == nullptr ? "Other" : unit_of(*track);
      if (works.of_lane(lane) == WorkKind::none) name = "Marks";
      const bool full = units_.size() + 1 >= WindowSums::kMostUnits && !numbers.contains(name);
      if (full) name = "Other";
      const auto [unit, made] = numbers.try_emplace(name, static_cast<std::uint32_t>(units_.size()));
      if (made) units_.push_back({name, {}});
      units_[unit->second].tracks.push_back(number);
      known->second = unit->second;
    }
    lane_units_[lane] = known->second;
  }
  if (units_.empty()) units_.push_back({"Other", {}});
}

}  // namespace accelscope::analysis
