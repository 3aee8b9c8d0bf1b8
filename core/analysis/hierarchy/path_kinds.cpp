#include "core/analysis/hierarchy/path_kinds.h"

#include <algorithm>

#include "core/scan/chunk_cache.h"
#include "core/scan/column_values.h"

namespace accelscope {
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
    const auto loaded = load_chunk(store, lane, chunk);
    if (!loaded) return loaded.error();
    const ChunkView& view = loaded->view;
    for (std::uint32_t block = 0; column < view.column_count() && block < view.block_count(); ++block) {
      if (view.validity(column, block) != 0) return true;
    }
  }
  return false;
}

}  // namespace

std::span<const PathKind> path_kinds() noexcept { return kPathKinds; }

const PathKind* find_path_kind(std::string_view name) noexcept {
  const auto found =
      std::find_if(kPathKinds.begin(), kPathKinds.end(), [&](const PathKind& each) { return each.name == name; });
  return found == kPathKinds.end() ? nullptr : &*found;
}

std::optional<std::size_t> path_column(const PathKind& kind, const Schema& schema) {
  if (kind.source != PathSource::column) return std::nullopt;
  const auto text = [&](std::optional<std::size_t> column) {
    return column && is_text(schema.columns[*column].type) ? column : std::nullopt;
  };
  if (kind.role != Role::none) return text(schema.find(kind.role));
  for (const std::string_view name : kind.columns) {
    if (name.empty()) continue;
    if (const auto column = text(schema.find(name))) return column;
  }
  return std::nullopt;
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

}  // namespace accelscope
