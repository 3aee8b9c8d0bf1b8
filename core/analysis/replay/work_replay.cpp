#include "core/analysis/replay/work_replay.h"

#include <algorithm>
#include <set>

#include "core/analysis/replay/readings.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope::analysis {
namespace {

// Engines of which somebody says what they wait for, and not too much to run again and again.
bool may_be_replayed(const Snapshot& snapshot) {
  const WorkKinds kinds(snapshot);
  std::uint64_t events = 0;
  bool has_engines = false;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const WorkKind kind = kinds.of_lane(i);
    if (!is_device_work(kind) || snapshot.lanes[i].event_count == 0) continue;
    const TrackSnapshot* track = snapshot.find_track(snapshot.lanes[i].track);
    if (track != nullptr && track->track->kind == "stream") return false;
    if (!kinds.covers_time(i)) continue;
    has_engines = has_engines || kind == WorkKind::compute;
    events += snapshot.lanes[i].event_count;
  }
  return has_engines && events <= WorkReplay::kMostEvents;
}

}  // namespace

WorkReplay::WorkReplay(const QueryContext& query, std::shared_ptr<const WorkGraph> graph, WorkDetails details)
    : query_(query), graph_(std::move(graph)), details_(std::move(details)), repairs_(*graph_, details_) {
  std::set<StringId> setup;  // names of events that are no work
  for (const Vendor& vendor : vendors()) {
    for (const std::string_view name : vendor.setup_names) setup.insert(graph_->snapshot->strings->find(name));
  }
  counts_.resize(graph_->count());
  begin_ns_ = INT64_MAX;
  for (NodeIndex node = 0; node < graph_->count(); ++node) {
    if (!details_.holds(*graph_, node)) continue;
    begin_ns_ = std::min(begin_ns_, graph_->begin_ns[node]);
    const bool counts = graph_->lane(node).kind != WorkKind::transfer && !setup.contains(graph_->names[node]);
    counts_[node] = counts ? 1 : 0;
  }
}

std::int64_t WorkReplay::end_of(const std::vector<std::int64_t>& ends_ns, const ChangedGraph* changed) const noexcept {
  std::int64_t end = begin_ns_;
  for (NodeIndex node = 0; node < counts_.size(); ++node) {
    if (counts_[node] == 0 || (changed != nullptr && changed->is_left_out(node))) continue;
    end = std::max(end, ends_ns[node]);
  }
  return end;
}

Result<std::unique_ptr<WorkReplay>> WorkReplay::build(const QueryContext& query, const Dependencies& dependencies,
                                                      const TimeRange& range) {
  if (dependencies.total() == 0 || !may_be_replayed(*query.snapshot)) return std::unique_ptr<WorkReplay>{};
  auto graph = TRY(session_graph(query));
  if (graph->edges.empty()) return std::unique_ptr<WorkReplay>{};
  auto details = TRY(WorkDetails::read(query, *graph, range, true));
  auto made = std::make_unique<WorkReplay>(query, std::move(graph), std::move(details));
  ChangedGraph prompt(made->graph());
  prompt.without_delays = true;
  const auto replay = TRY(GraphReplay::run(query, made->graph(), prompt));
  const auto explained = static_cast<double>(made->end_of(replay->end_ns, &prompt) - made->begin_ns_);
  if (explained < kLeastExplained * static_cast<double>(made->total_ns())) return std::unique_ptr<WorkReplay>{};
  return made;
}

bool WorkReplay::has_engines(std::uint32_t device) const noexcept {
  for (std::size_t i = 0; i < graph_->lanes.size(); ++i) {
    if (details_.devices[i] == device && graph_->lanes[i].kind == WorkKind::compute) return true;
  }
  return false;
}

Result<WorkReplay::Saving> WorkReplay::saving(const ChangedGraph& changed) const {
  Saving saving{INT64_MAX, INT64_MIN};
  const Readings readings(*graph_, changed);
  const auto replayed =
      readings.each(query_, [&](const std::unique_ptr<GraphReplay>& replay, const ChangedGraph& read, bool) {
        const std::int64_t saved_ns = end_of(graph_->end_ns, nullptr) - end_of(replay->end_ns, &read);
        saving.least_ns = std::min(saving.least_ns, saved_ns);
        saving.most_ns = std::max(saving.most_ns, saved_ns);
      });
  if (!replayed) return replayed.error();
  if (!changed.loose.empty()) saving.most_ns = std::max(saving.most_ns, readings.waited_ns(details_.range));
  return saving;
}

}  // namespace accelscope::analysis
