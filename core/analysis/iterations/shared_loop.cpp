#include "core/analysis/iterations/shared_loop.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

namespace accelscope {
namespace {

constexpr double kLeastInCommon = 0.5;  // of the names of both bodies
constexpr std::size_t kMostLoops = 32;  // of each session: those of most time, devices first

struct NamedLoop {
  const IterationLoop* loop = nullptr;
  std::string track, device;
  std::set<std::string> body;
};

std::vector<NamedLoop> outermost(const IterationList& list, const Snapshot& snapshot) {
  std::vector<NamedLoop> loops;
  for (const IterationLoop& loop : list.loops) {
    if (loops.size() == kMostLoops) break;
    if (loop.level != 0 || loop.folded.iterations.empty()) continue;
    const TrackSnapshot* track = snapshot.find_track(loop.track);
    if (track == nullptr) continue;
    NamedLoop named{&loop, track->track->name, track->track->device, {}};
    for (const LoopOperation& operation : loop.folded.body) {
      const std::string name(snapshot.strings->text(operation.name));
      const std::string pattern = operation.numbered.empty() ? numbered_pattern(name) : operation.numbered;
      named.body.insert(pattern.empty() ? name : pattern);
    }
    loops.push_back(std::move(named));
  }
  return loops;
}

std::size_t names_in_common(const NamedLoop& one, const NamedLoop& two) {
  std::vector<std::string> both;
  std::set_intersection(one.body.begin(), one.body.end(), two.body.begin(), two.body.end(), std::back_inserter(both));
  const std::size_t all = one.body.size() + two.body.size() - both.size();
  return static_cast<double>(both.size()) >= kLeastInCommon * static_cast<double>(all) ? both.size() : 0;
}

std::vector<TimeRange> turns_of(const IterationLoop& loop) {
  std::vector<TimeRange> turns;
  for (const LoopIteration& iteration : loop.folded.iterations) turns.push_back({iteration.begin_ns, iteration.end_ns});
  return turns;
}

}  // namespace

std::optional<SharedTurns> shared_turns(const IterationList& base, const Snapshot& base_snapshot,
                                        const IterationList& other, const Snapshot& other_snapshot) {
  const std::vector<NamedLoop> here = outermost(base, base_snapshot), there = outermost(other, other_snapshot);
  struct Match {
    const NamedLoop *base, *other;
    bool first_device, one_track;
    std::size_t names;
    [[nodiscard]] auto rank() const { return std::tuple(first_device, one_track, names); }
  };
  std::optional<Match> best;
  for (const NamedLoop& one : here) {
    for (const NamedLoop& two : there) {
      const Match match{&one, &two, one.device == here.front().device, one.track == two.track,
                        names_in_common(one, two)};
      if (match.names > 0 && (!best || match.rank() > best->rank())) best = match;
    }
  }
  if (best) return SharedTurns{turns_of(*best->base->loop), turns_of(*best->other->loop)};
  return std::nullopt;
}

Result<std::shared_ptr<const SharedTurns>> find_shared_turns(const QueryContext& base, const QueryContext& other) {
  const auto here = find_iterations(base, {});
  if (!here) return here.error();
  const auto there = find_iterations(other, {});
  if (!there) return there.error();
  const std::optional<SharedTurns> found = shared_turns(**here, *base.snapshot, **there, *other.snapshot);
  return std::make_shared<const SharedTurns>(found.value_or(SharedTurns{}));
}

}  // namespace accelscope
