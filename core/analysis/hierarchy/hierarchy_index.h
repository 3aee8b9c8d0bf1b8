// The tree of a session added up piece by piece in the order of time, so that the tree of any range is that of the
// pieces in it and of the events beside them. Built on the pool, and carried on as the session grows: what lies before
// everything new stays.
//
//   auto index = HierarchyIndex::build(query, "layer", previous);
//   auto tree = session_hierarchy(query, {.kind = "layer"}, range, {.index = index->get()});
//
// A piece is of about 262,144 events, or of more where they meet so many nodes that these would take more
// than kMostBytesPerEvent bytes for each. Trees of calls, and those with work that borrows its path, are built anew
// when the session grows, as what they launched and what set it off may be found later.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/hierarchy/path_scan.h"

namespace accelscope::analysis {

class HierarchyIndex {
 public:
  static constexpr std::uint64_t kMostBytesPerEvent = 4;
  struct Piece {
    TimeRange range;  // pieces follow each other without gap; the first begins, the last ends with time
    std::uint64_t events = 0;
    std::uint64_t cut_events = 0;  // lie deeper than HierarchyQuestion::kMostDepth
    NodePart sums;
    EdgeEvents edges;
  };

  // Of the query's snapshot, whatever mask it has. kind: PathKind::name; "": the first that the session has. The
  // previous one may be null, of another kind or of an older snapshot of the session. Null where the session has no
  // such paths.
  [[nodiscard]] static Result<std::shared_ptr<const HierarchyIndex>> build(
      const QueryContext& query, const std::string& kind, const std::shared_ptr<const HierarchyIndex>& previous,
      std::uint64_t window_events = kWindowEvents);

  [[nodiscard]] const PathKind& kind() const noexcept { return *kind_; }
  [[nodiscard]] std::uint64_t snapshot_version() const noexcept { return version_; }
  [[nodiscard]] PathTree& tree() const noexcept { return *tree_; }
  // Of its snapshot.
  [[nodiscard]] const std::shared_ptr<const BorrowedPaths>& borrowed() const noexcept { return borrowed_; }
  // The pieces that hold in this snapshot: all before the first event that the index does not know.
  [[nodiscard]] std::vector<std::shared_ptr<const Piece>> pieces_of(const Snapshot& snapshot,
                                                                    const PathSubject& subject) const;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;  // of the pieces

 private:
  struct LaneState {
    std::uint32_t lane = 0;  // of the snapshot
    LaneNumber number = 0;
    std::uint32_t unit = 0;
    std::uint64_t device_bits = 0;
    WorkKind work = WorkKind::none;
    std::uint64_t event_count = 0;
    std::shared_ptr<const ClockMap> clock;
  };
  [[nodiscard]] static std::vector<LaneState> states_of(const Snapshot& snapshot, const PathSubject& subject);
  [[nodiscard]] static std::vector<std::string> names_of(const HierarchyUnits& units);
  [[nodiscard]] std::int64_t settled_until(const Snapshot& snapshot, const PathSubject& subject) const;

  const PathKind* kind_ = nullptr;
  std::uint64_t version_ = 0;
  std::shared_ptr<PathTree> tree_;  // later indices add to it
  std::vector<std::shared_ptr<const Piece>> pieces_;
  std::vector<LaneState> lanes_;  // of PathSubject::scanned
  std::vector<std::string> units_;
  std::shared_ptr<const BorrowedPaths> borrowed_;
  std::vector<std::shared_ptr<const SourceFile>> sources_;  // whose text tells functions; one may take another's place
};

}  // namespace accelscope::analysis
