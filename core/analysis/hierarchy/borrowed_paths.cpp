#include "core/analysis/hierarchy/borrowed_paths.h"

#include <mutex>
#include <set>

#include "core/analysis/vendors/vendor.h"

namespace accelscope::analysis {
namespace {

// Visits the rows of some events, which are sorted; on several threads at once.
template <typename Events, typename IdOf, typename Visit>
Result<void> visit_events(const QueryContext& query, const Events& events, IdOf id_of, Visit visit) {
  LaneIndices lanes;
  const auto from = [&](EventId first) {
    return std::lower_bound(events.begin(), events.end(), first,
                            [&](const auto& each, EventId id) { return id_of(each) < id; });
  };
  for (std::uint32_t i = 0; i < query.snapshot->lanes.size(); ++i) {
    const LaneNumber number = query.snapshot->lanes[i].number();
    const auto found = from(make_event_id(number, 0));
    if (found != events.end() && lane_of(id_of(*found)) == number) lanes.push_back(i);
  }
  return scan_chunks(query, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
    const EventId first = chunk.event_id(0), last = chunk.event_id(chunk.view.count());
    for (auto at = from(first); at != events.end() && id_of(*at) < last; ++at) {
      visit(chunk, static_cast<std::uint32_t>(id_of(*at) - first), *at);
    }
  });
}

// Lanes of work whose table has no such column.
std::set<std::uint32_t> lanes_without(const Snapshot& snapshot, const WorkKinds& works, const PathKind& kind) {
  std::set<std::uint32_t> lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    if (!lane.schema || lane.event_count == 0 || lane.data->kind != EventKind::slice) continue;
    if (is_device_work(works.of_lane(i)) && !path_column(kind, *lane.schema)) lanes.insert(i);
  }
  return lanes;
}

struct Borrower {
  EventId source, target;
};

// Flows from events with paths to those without, by source.
std::vector<Borrower> borrowers(const Snapshot& snapshot, const Dependencies& flows, const LaneIndices& lenders,
                                const std::set<std::uint32_t>& without) {
  std::set<LaneNumber> from, to;
  for (const std::uint32_t lane : lenders) from.insert(snapshot.lanes[lane].number());
  for (const std::uint32_t lane : without) to.insert(snapshot.lanes[lane].number());
  std::vector<Borrower> found;
  for (const Dependency& flow : flows.all()) {
    if (to.contains(lane_of(flow.target)) && from.contains(lane_of(flow.source))) {
      found.push_back({flow.source, flow.target});
    }
  }
  std::ranges::sort(found, [](const Borrower& a, const Borrower& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  return found;
}

}  // namespace

std::optional<std::size_t> BorrowedPaths::part_column(const Schema& schema) {
  for (const Vendor& vendor : vendors()) {
    for (const Vendor::DetailedTable& each : vendor.detailed_tables) {
      if (each.detail == schema.name && !each.part_column.empty()) return schema.find(each.part_column);
    }
  }
  return std::nullopt;
}

Result<BorrowedPaths> BorrowedPaths::find(const QueryContext& query, const PathKind& kind, const WorkKinds& works,
                                          const LaneIndices& lanes) {
  BorrowedPaths paths;
  if (!kind.borrows) return paths;
  const Snapshot& snapshot = *query.snapshot;
  const std::set<std::uint32_t> without = lanes_without(snapshot, works, kind);
  if (without.empty() || lanes.empty()) return paths;
  const QueryContext whole = query.unmasked();
  const auto flows = TRY(session_dependencies(whole));
  const std::vector<Borrower> wanted = borrowers(snapshot, *flows, lanes, without);
  if (wanted.empty()) return paths;
  std::mutex mutex;
  const Result<void> lent = visit_events(
      whole, wanted, [](const Borrower& each) { return each.source; },
      [&](const ScannedChunk& chunk, std::uint32_t row, const Borrower& each) {
        const auto column = path_column(kind, *chunk.lane.schema);
        if (!column || *column >= chunk.view.column_count() || !chunk.view.has_value(*column, row)) return;
        if (chunk.lane.schema->columns[*column].type != ColumnType::string) return;
        const StringId path = chunk.session_string(chunk.view.stored(*column, row));
        const std::scoped_lock lock(mutex);
        if (path != 0) paths.events_.emplace_back(each.target, path);
      });
  if (!lent) return lent.error();
  // Of several that set it off the first by number counts, whichever was read first.
  std::ranges::sort(paths.events_);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  paths.events_.erase(std::unique(paths.events_.begin(), paths.events_.end(), same), paths.events_.end());
  const Result<void> keyed = visit_events(
      whole, paths.events_, [](const auto& each) { return each.first; },
      [&](const ScannedChunk& chunk, std::uint32_t row, const auto& each) {
        const auto key = chunk.lane.schema->find(Role::key);
        if (!key || *key >= chunk.view.column_count() || !chunk.view.has_value(*key, row)) return;
        const std::scoped_lock lock(mutex);
        paths.wholes_[scope_of(chunk.lane.number())].emplace(chunk.view.stored(*key, row), each.second);
      });
  if (!keyed) return keyed.error();
  std::set<LaneNumber> charged;
  for (const auto& [event, path] : paths.events_) charged.insert(lane_of(event));
  for (const std::uint32_t lane : without) {
    if (!works.covers_time(lane)) continue;
    const LaneSnapshot& of = snapshot.lanes[lane];
    const bool has_parts = paths.wholes_of(of.number()) != nullptr && part_column(*of.schema).has_value();
    if (has_parts || charged.contains(of.number())) paths.lanes_.push_back(lane);
  }
  return paths;
}

}  // namespace accelscope::analysis
