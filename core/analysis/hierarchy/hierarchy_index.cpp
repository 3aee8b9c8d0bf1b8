#include "core/analysis/hierarchy/hierarchy_index.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "core/analysis/hierarchy/hierarchy.h"
#include "core/scan/lane_positions.h"

namespace accelscope::analysis {
namespace {

constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kAfterAll = std::numeric_limits<std::int64_t>::max();

// Puts windows, which come in nearly any order, into pieces.
class PieceMaker {
 public:
  PieceMaker(std::int64_t from_ns, std::size_t unit_count)
      : next_ns_(from_ns), unit_count_(unit_count), joiner_(unit_count) {}

  void add(WindowPart&& part) {
    const std::scoped_lock lock(mutex_);
    waiting_.emplace(part.range.begin_ns, std::move(part));
    while (!waiting_.empty() && waiting_.begin()->first == next_ns_) {
      append(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }

  // Once all have come.
  std::vector<std::shared_ptr<const HierarchyIndex::Piece>> take() {
    if (is_begun_) finish();
    return std::move(pieces_);
  }

 private:
  void append(WindowPart& part) {
    if (!is_begun_) pending_.range.begin_ns = part.range.begin_ns;
    is_begun_ = true;
    pending_.range.end_ns = next_ns_ = part.range.end_ns;
    for (const NodePart::Node& node : part.sums.nodes) pending_.events += node.totals.events;
    pending_.events += part.edges.over_end.size();
    pending_.cut_events += part.cut_events;
    pending_.edges.append(part.edges);
    joiner_.add(part.sums);
    // Edges take as much in one piece as in many, so that only nodes are worth waiting for.
    const std::uint64_t bytes = joiner_.node_count() * (sizeof(NodePart::Node) + unit_count_ * sizeof(UnitSum));
    if (bytes <= HierarchyIndex::kMostBytesPerEvent * pending_.events) finish();
  }
  void finish() {
    pending_.sums = joiner_.take();
    pieces_.push_back(std::make_shared<const HierarchyIndex::Piece>(std::exchange(pending_, {})));
    is_begun_ = false;
  }

  std::mutex mutex_;
  std::map<std::int64_t, WindowPart> waiting_;  // by begin
  std::int64_t next_ns_;
  std::size_t unit_count_;
  PartJoiner joiner_;
  HierarchyIndex::Piece pending_;
  bool is_begun_ = false;
  std::vector<std::shared_ptr<const HierarchyIndex::Piece>> pieces_;
};

}  // namespace

std::vector<HierarchyIndex::LaneState> HierarchyIndex::states_of(const Snapshot& snapshot, const PathSubject& subject) {
  std::vector<LaneState> states;
  for (const std::uint32_t lane : subject.scanned) {
    const LaneSnapshot& of = snapshot.lanes[lane];
    states.push_back({lane, of.number(), subject.units.of_lane(lane), subject.device_bits[lane],
                      subject.works.of_lane(lane), of.event_count, of.clock});
  }
  std::ranges::sort(states, {}, &LaneState::number);
  return states;
}

std::vector<std::string> HierarchyIndex::names_of(const HierarchyUnits& units) {
  std::vector<std::string> names;
  for (const HierarchyUnit& unit : units.units()) names.push_back(unit.name);
  return names;
}

// Up to here nothing has come since, and what was there counts as it did.
std::int64_t HierarchyIndex::settled_until(const Snapshot& snapshot, const PathSubject& subject) const {
  if (kind_ != &subject.kind || names_of(subject.units) != units_) return kBeforeAll;
  if (kind_->source == PathSource::host_calls && snapshot.version != version_) return kBeforeAll;
  const bool borrows = !borrowed_->lanes().empty() || !subject.borrowed->lanes().empty();
  if (borrows && snapshot.version != version_) return kBeforeAll;
  if (kind_->split == PathSplit::function && snapshot.sources != sources_) return kBeforeAll;
  std::int64_t until = kAfterAll;
  std::size_t known = 0;
  for (const LaneState& now : states_of(snapshot, subject)) {
    if (known < lanes_.size() && lanes_[known].number < now.number) return kBeforeAll;  // it no longer takes part
    std::uint64_t events = 0;
    if (known < lanes_.size() && lanes_[known].number == now.number) {
      const LaneState& then = lanes_[known++];
      const bool same = then.unit == now.unit && then.device_bits == now.device_bits && then.work == now.work &&
                        then.clock == now.clock && then.event_count <= now.event_count;
      if (!same) return kBeforeAll;
      events = then.event_count;
    }
    if (now.event_count == events) continue;
    const LaneSnapshot& lane = snapshot.lanes[now.lane];
    const std::uint32_t chunk = lane.chunk_of_ordinal(LanePositions(lane).ordinal(events));
    if (chunk >= lane.chunk_count) return kBeforeAll;
    until = std::min(until, lane.clock->to_ns(lane.chunk(chunk).begin_ticks));
  }
  return known == lanes_.size() ? until : kBeforeAll;
}

std::vector<std::shared_ptr<const HierarchyIndex::Piece>> HierarchyIndex::pieces_of(const Snapshot& snapshot,
                                                                                    const PathSubject& subject) const {
  const std::int64_t until = settled_until(snapshot, subject);
  std::vector<std::shared_ptr<const Piece>> pieces;
  for (const auto& piece : pieces_) {
    if (piece->range.end_ns > until) break;
    pieces.push_back(piece);
  }
  return pieces;
}

std::uint64_t HierarchyIndex::memory_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces_) bytes += piece->sums.memory_bytes() + piece->edges.memory_bytes();
  return bytes;
}

Result<std::shared_ptr<const HierarchyIndex>> HierarchyIndex::build(
    const QueryContext& query, const std::string& kind, const std::shared_ptr<const HierarchyIndex>& previous,
    std::uint64_t window_events) {
  const QueryContext whole = query.unmasked();
  const Snapshot& snapshot = *query.snapshot;
  const auto found = TRY(kind_of_question(whole, kind));
  if (found == nullptr) return std::shared_ptr<const HierarchyIndex>();
  const PathSubject known_subject = TRY(PathSubject::find(whole, *found, nullptr));
  const PathSubject& subject = known_subject;
  auto index = std::make_shared<HierarchyIndex>();
  index->kind_ = found;
  index->version_ = snapshot.version;
  index->lanes_ = states_of(snapshot, subject);
  index->units_ = names_of(subject.units);
  index->borrowed_ = subject.borrowed;
  index->sources_ = snapshot.sources;
  if (previous) index->pieces_ = previous->pieces_of(snapshot, subject);
  index->tree_ = index->pieces_.empty() ? std::make_shared<PathTree>() : previous->tree_;
  const bool first = index->pieces_.empty();
  const TimeRange stretch{first ? kBeforeAll : index->pieces_.back()->range.end_ns, kAfterAll};
  if (stretch.empty()) return std::shared_ptr<const HierarchyIndex>(std::move(index));
  const auto launches = TRY(launches_of(whole, subject, nullptr));
  PathPlan plan = subject.plan(whole, {}, HierarchyQuestion::kMostDepth, *index->tree_);
  plan.keeps_edges = true;
  PieceMaker maker(stretch.begin_ns, subject.units.units().size());
  const auto scanned = scan_paths({.query = whole,
                                   .subject = subject,
                                   .plan = plan,
                                   .launches = launches,
                                   .add = [&](WindowPart&& part) { maker.add(std::move(part)); },
                                   .window_events = window_events},
                                  stretch, first);
  if (!scanned) return scanned.error();
  for (auto& piece : maker.take()) index->pieces_.push_back(std::move(piece));
  return std::shared_ptr<const HierarchyIndex>(std::move(index));
}

}  // namespace accelscope::analysis
