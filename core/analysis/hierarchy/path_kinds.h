// By what the events of a session can be arranged as a tree: the path of their layer, the operator of a graph, the
// calls that they lie in ... A row each in path_kinds.cpp; which of them a session has, its schemas and columns tell.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/time/work_kind.h"
#include "core/model/definitions.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

// How the text of a column becomes levels.
enum class PathSplit : std::uint8_t {
  whole,     // one level
  slash,     // "decoder/layers.2/mlp": three, empty parts left out
  line,      // "kernel.py:33": the file, and below it the line
  function,  // "kernel.py:33": the function that the line stands in
  frames,    // a recorded stack, innermost first and one a line: outermost level first
  levels,    // each of the columns is a level, and the name is the innermost
};

// Where a path comes from.
enum class PathSource : std::uint8_t {
  column,       // a column of the event
  unit,         // what ran it, then its name
  host_calls,   // the events of a host's thread that it lies in
  device_zones  // the same on a track of a device
};

struct PathKind {
  std::string_view name;       // for programs
  std::string_view title;      // of the choice: "Layer path"
  std::string_view level;      // of the table's column: "Layer"
  std::string_view separator;  // between levels, where a path is written as a text
  std::string_view missing;    // what stands for events without it: "(no layer)"
  PathSource source = PathSource::column;
  Role role = Role::none;                        // of the column, or else
  std::array<std::string_view, 4> columns = {};  // its name: the first of these that a schema has; see levels
  PathSplit split = PathSplit::whole;
  bool has_lines = false;         // source lines lie below
  bool borrows = false;           // work without such a column takes the path of what set it off (borrowed_paths.h)
  std::string_view empty_advice;  // what to do where a session has none

  [[nodiscard]] constexpr bool is_nested() const noexcept {
    return source == PathSource::host_calls || source == PathSource::device_zones;
  }
};

[[nodiscard]] std::span<const PathKind> path_kinds() noexcept;
[[nodiscard]] const PathKind* find_path_kind(std::string_view name) noexcept;  // null: none of this name

// The column of the schema that has such paths; of levels the innermost.
[[nodiscard]] std::optional<std::size_t> path_column(const PathKind& kind, const Schema& schema);
// Of levels those of all columns that the schema has as strings.
using LevelColumns = std::array<std::optional<std::size_t>, 4>;
[[nodiscard]] LevelColumns level_columns(const PathKind& kind, const Schema& schema);

// The lanes with events of such paths, commentary left out unless nothing else has them.
[[nodiscard]] LaneIndices lanes_with_paths(const Snapshot& snapshot, const WorkKinds& works, const PathKind& kind);

// Those that events of the session have, in the order of the table. Looks into a few chunks of every lane.
[[nodiscard]] Result<std::vector<const PathKind*>> kinds_of_session(const QueryContext& query);

// In which function a line of a program stands: as a recorded stack says, or as the program's text does where the
// session has it. Functions are named with their file, "mlp.py:gelu", as kernels of one name are in many files.

// By line of a text in Python (index = line - 1): the innermost function around it, "" outside of all.
[[nodiscard]] std::vector<std::string> functions_by_line(std::string_view python);

class FunctionNames {
 public:
  FunctionNames() = default;
  explicit FunctionNames(const std::vector<std::shared_ptr<const SourceFile>>& sources);
  // "" where it is not known.
  [[nodiscard]] std::string of_location(std::string_view location) const;
  // Of the first line of a stack that is written innermost frame first.
  [[nodiscard]] static std::string of_stack(std::string_view stack);

 private:
  std::vector<std::shared_ptr<const SourceFile>> sources_;
  std::vector<std::vector<std::string>> functions_;  // by source and line
};

// What runs the events of a session, at most WindowSums::kMostUnits of them: engines by name over all devices, streams
// by what runs on them, transfers, collectives, threads of the host.
struct HierarchyUnit {
  std::string name;                 // "Tensor"
  std::vector<TrackNumber> tracks;  // with events
};

// Of the lanes that take part. Past the most, further ones are one unit, "Other".
class HierarchyUnits {
 public:
  HierarchyUnits(const Snapshot& snapshot, const WorkKinds& works, const LaneIndices& lanes);
  [[nodiscard]] std::uint32_t of_lane(std::uint32_t lane) const noexcept { return lane_units_[lane]; }
  [[nodiscard]] const std::vector<HierarchyUnit>& units() const noexcept { return units_; }

 private:
  std::vector<HierarchyUnit> units_;
  std::vector<std::uint32_t> lane_units_;  // by lane of the snapshot
};

}  // namespace accelscope::analysis
