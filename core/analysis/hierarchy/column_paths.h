// Events into a tree by a column of theirs, or by what ran them. Calls of a host lie within calls: their time is that
// in which they are the innermost with such a path, as in core/analysis/source/host_calls.h.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/analysis/hierarchy/path_worker.h"

namespace accelscope {

class ColumnPaths {
 public:
  explicit ColumnPaths(const PathPlan& plan) : worker_(plan) {}
  void add(const ScannedChunk& chunk, const ScanWindow& window);
  [[nodiscard]] WindowPart close(const ScanWindow& window);
  [[nodiscard]] PathWorker& worker() noexcept { return worker_; }

 private:
  struct Placed {
    std::uint32_t node = 0;
    bool cut = false;    // it lies deeper
    bool known = false;  // it was looked for; the root then says that there is none
  };
  struct HostCall {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t rank = 0;
    std::uint32_t node = 0, unit = 0;
    bool waits = false, has_path = true;
  };
  struct KnownCall {
    bool waits = false, marks = false;
  };
  [[nodiscard]] const KnownCall& known_of(StringId name);
  [[nodiscard]] Placed place_of_text(std::string_view text);
  [[nodiscard]] const Placed& place_of_string(StringId id);
  [[nodiscard]] Placed place_of_stack(StringId id);
  [[nodiscard]] std::uint32_t start_of(const ScannedChunk& chunk);
  // Where the paths of a chunk lie, and of a block of it.
  struct ChunkColumns {
    bool by_name = false;     // what runs the chunk, then the name
    bool is_kept = false;     // places_ has the nodes of its paths once they were met
    std::uint32_t start = 0;  // of by_name: the node of what runs it
    std::optional<std::size_t> path, line, stack;
    bool borrows = false;                           // its paths are others'
    std::optional<std::size_t> part;                // of borrows: see BorrowedPaths
    const BorrowedPaths::Wholes* wholes = nullptr;  // of part
    ColumnType type = ColumnType::string;           // of path
    BlockValues paths, lines, stacks, parts;
  };
  [[nodiscard]] Placed place_of(const ChunkColumns& columns, const ScannedChunk& chunk, const ScannedBlock& block,
                                std::uint32_t i);
  [[nodiscard]] StringId borrowed_path(const ChunkColumns& columns, const ScannedBlock& block, std::uint32_t i) const;
  [[nodiscard]] std::uint32_t missing_node();
  [[nodiscard]] std::uint32_t line_below(std::uint32_t node, StringId text);

  PathWorker worker_;
  std::unordered_map<StringId, Placed> stack_places_;             // by recorded stack
  std::vector<Placed> places_;                                    // by string of the session
  std::uint32_t missing_ = 0;                                     // the node of events without a value; 0: none yet
  std::unordered_map<std::size_t, std::vector<HostCall>> calls_;  // of a window, by thread
  std::unordered_map<StringId, KnownCall> known_;                 // calls of a host
  // Neighbours mostly come from one line.
  std::uint32_t last_line_ = 0, last_line_parent_ = 0, last_line_node_ = 0;
};

}  // namespace accelscope
