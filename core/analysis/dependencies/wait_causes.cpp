#include "core/analysis/dependencies/wait_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "core/analysis/time/work_kind.h"
#include "core/scan/column_values.h"
#include "core/scan/event_reader.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

std::int64_t wait_of(const EventRecord& record) {
  if (record.waits) return record.end_ns - record.begin_ns;
  const auto column = record.lane->schema ? record.lane->schema->find(Role::wait_ns) : std::nullopt;
  if (!column || *column >= record.fields.size()) return 0;
  if (const auto* wait = std::get_if<std::int64_t>(&record.fields[*column])) return std::max<std::int64_t>(*wait, 0);
  if (const auto* wait = std::get_if<std::uint64_t>(&record.fields[*column])) return static_cast<std::int64_t>(*wait);
  return 0;
}

}  // namespace

Result<WaitCauses> wait_causes(const Dependencies& dependencies, std::span<const EventId> events, EventReader& reader,
                               const TaskControl& control) {
  WaitCauses result;
  std::map<std::pair<StringId, TrackNumber>, WaitCause> causes;
  const std::size_t asked = std::min(events.size(), kMostAsked);
  for (std::size_t i = 0; i < asked; ++i) {
    if (control.cancelled()) return cancelled_error();
    const auto record = TRY(reader.read(events[i * events.size() / asked]));
    ++result.looked_at;
    const std::int64_t wait_ns = wait_of(record);
    if (wait_ns == 0) continue;
    result.wait_ns += wait_ns;
    const auto last = last_predecessor(dependencies, record.id, reader);
    if (!last) continue;
    const auto waited_for = TRY(reader.read(last->source));
    WaitCause& cause = causes[{waited_for.name, waited_for.lane->track}];
    if (cause.count == 0) {
      const TrackSnapshot* track = reader.snapshot().find_track(waited_for.lane->track);
      cause.name = waited_for.name_text;
      if (track != nullptr) cause.track = track->track->name;
    }
    ++cause.count;
    cause.wait_ns += wait_ns;
  }
  for (auto& [key, cause] : causes) result.causes.push_back(std::move(cause));
  std::ranges::stable_sort(result.causes, std::ranges::greater{}, &WaitCause::wait_ns);
  return result;
}

namespace {

struct WaitPart {
  EventId event = kNoEvent;
  std::int64_t wait_ns = 0;
};

// The waits of a chunk's events within a range.
class ChunkWaits {
 public:
  ChunkWaits(const ScannedChunk& chunk, const StringPool& strings, bool all_wait)
      : chunk_(chunk), waits_(chunk.lane.schema.get(), strings), all_wait_(all_wait) {
    const auto column = chunk.lane.schema->find(Role::wait_ns);
    if (column && *column < chunk.view.column_count() && !is_text(chunk.lane.schema->columns[*column].type)) {
      column_ = *column;
    }
  }

  void add_to(std::vector<WaitPart>& parts, const TimeRange& range) {
    NumberBlock waited;
    std::int64_t idle_since = range.begin_ns;
    if (chunk_.chunk_index > 0)
      idle_since = chunk_.lane.clock->to_ns(chunk_.lane.chunk(chunk_.chunk_index - 1).end_ticks);
    chunk_.for_each_block([&](const ScannedBlock& block) {
      if (column_) waited.read(block.reader, *column_, chunk_.lane.schema->columns[*column_].type);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::int64_t begin = block.begin_ns(i);
        const std::int64_t end = block.end_ns(i);
        std::int64_t wait = 0;
        if (all_wait_ || waits_.contains(block.name(i))) {
          wait = std::min(end, range.end_ns) - std::max(begin, range.begin_ns);
        } else if (column_ && waited[i] > 0) {
          const std::int64_t until = std::min(begin, range.end_ns);
          wait = std::min(waited[i], until - std::max(idle_since, range.begin_ns));
        }
        if (wait > 0) parts.push_back({block.id(i), wait});
        idle_since = end;
      }
    });
  }

 private:
  const ScannedChunk& chunk_;
  WaitNames waits_;
  bool all_wait_;
  std::optional<std::size_t> column_;
};

// "qSyncDynamic" of the semaphore that "$S[8]==2" waits for, by the names of the session's semaphores, else "S[8]".
class SemaphoreOwners {
 public:
  explicit SemaphoreOwners(const Snapshot& snapshot) {
    for (const TrackSnapshot& track : snapshot.tracks) {
      const std::string& name = track.track->name;
      const std::size_t open = name.find(" (");
      if (track.track->kind != "semaphore" || open == std::string::npos || !name.ends_with(')')) continue;
      owners_[name.substr(0, open)] = name.substr(open + 2, name.size() - open - 3);
    }
  }
  [[nodiscard]] std::string of(const EventRecord& record) const {
    const auto column = record.lane->schema->find(Role::operands);
    if (!column || *column >= record.fields.size()) return {};
    const auto* text = std::get_if<std::string>(&record.fields[*column]);
    for (std::size_t at = 0; text != nullptr && (at = text->find("S[", at)) != std::string::npos; ++at) {
      const std::size_t end = text->find(']', at);
      if (end == std::string::npos) break;
      const std::string_view rest = std::string_view(*text).substr(end + 1);
      const std::size_t condition = rest.starts_with(" (") ? std::min(rest.find(')'), rest.size() - 1) + 1 : 0;
      if (!rest.substr(condition).starts_with("==") && !rest.substr(condition).starts_with(">=")) continue;
      const std::string semaphore = text->substr(at, end + 1 - at);
      const auto owner = owners_.find(semaphore);
      return owner == owners_.end() ? "semaphore " + semaphore : owner->second;
    }
    return {};
  }

 private:
  std::map<std::string, std::string> owners_;
};

struct WaitLanes {
  LaneIndices lanes;
  std::vector<bool> all_wait;  // by lane

  WaitLanes(const QueryContext& query, const EventFilter& filter) : all_wait(query.snapshot->lanes.size(), false) {
    const WorkKinds kinds(*query.snapshot);
    for (std::uint32_t i = 0; i < query.snapshot->lanes.size(); ++i) {
      const LaneSnapshot& lane = query.snapshot->lanes[i];
      if (lane.event_count == 0 || !filter.has_track(lane.track)) continue;
      const WorkKind kind = kinds.of_lane(i);
      all_wait[i] = kind == WorkKind::wait;
      const bool may_wait = !lane.schema->wait_names.empty() || lane.schema->find(Role::wait_ns);
      const bool works = kind == WorkKind::compute || kind == WorkKind::collective;
      if (all_wait[i] || (works && may_wait && kinds.covers_time(i))) lanes.push_back(i);
    }
  }
};

// Every chunk of the range, or of every `stride` chunks one.
std::vector<ChunkRequest> chosen_chunks(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                                        std::size_t& stride) {
  std::vector<ChunkRequest> all;
  std::uint64_t events = 0;
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = query.snapshot->lanes[index];
    const TickRange ticks = tick_range(lane, range);
    const ChunkSpan span = chunks_in(lane, ticks);
    for (std::uint32_t c = span.first; c < span.last; ++c) {
      all.push_back({index, c, ticks});
      events += lane.chunk(c).count;
    }
  }
  stride = static_cast<std::size_t>(events / kMostWaitEvents) + 1;
  std::vector<ChunkRequest> chosen;
  for (std::size_t i = 0; i < all.size(); i += stride) chosen.push_back(all[i]);
  return chosen;
}

}  // namespace

Result<RangeWaits> range_waits(const QueryContext& query, const EventFilter& filter, const Dependencies* dependencies) {
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  const TimeRange range{std::max(wanted.begin_ns, snapshot.begin_ns), std::min(wanted.end_ns, snapshot.end_ns)};
  RangeWaits result;
  const WaitLanes lanes(query, filter);
  if (range.empty() || lanes.lanes.empty()) return result;
  std::size_t stride = 1;
  const std::vector<ChunkRequest> chunks = chosen_chunks(query, lanes.lanes, range, stride);
  auto found = gather(query, chunks, std::vector<WaitPart>(), [&](const ScannedChunk& chunk, auto& parts) {
    ChunkWaits(chunk, *snapshot.strings, lanes.all_wait[chunk.lane_index]).add_to(parts, range);
  });
  if (!found) return found.error();
  std::vector<WaitPart>& parts = *found;
  std::ranges::sort(parts, {}, &WaitPart::event);
  for (const WaitPart& part : parts) result.wait_ns += part.wait_ns;

  EventReader reader(query.store, query.snapshot);
  const SemaphoreOwners owners(snapshot);
  std::map<std::string, WaitCause> causes;
  const std::size_t asked = std::min(parts.size(), kMostAsked);
  std::int64_t asked_ns = 0;
  for (std::size_t i = 0; i < asked; ++i) {
    if (query.control.cancelled()) return cancelled_error();
    const WaitPart& part = parts[i * parts.size() / asked];
    const auto record = TRY(reader.read(part.event));
    asked_ns += part.wait_ns;
    WaitCause cause;
    const auto last = dependencies == nullptr ? std::nullopt : last_predecessor(*dependencies, record.id, reader);
    if (last) {
      const auto waited_for = TRY(reader.read(last->source));
      const TrackSnapshot* track = snapshot.find_track(waited_for.lane->track);
      cause.name = waited_for.name_text;
      if (track != nullptr) cause.track = track->track->name;
      if (cause.name.empty() || cause.name == "unknown") cause.name = cause.track;
    } else {
      cause.name = owners.of(record);
      if (cause.name.empty()) cause.name = record.name_text;
    }
    WaitCause& sum = causes.try_emplace(cause.name, cause).first->second;
    ++sum.count;
    sum.wait_ns += part.wait_ns;
  }
  result.sampled = stride > 1 || asked < parts.size();
  const double scale = asked_ns > 0 ? static_cast<double>(result.wait_ns) / static_cast<double>(asked_ns) : 0;
  for (auto& [name, cause] : causes) {
    cause.wait_ns = std::llround(static_cast<double>(cause.wait_ns) * scale * static_cast<double>(stride));
    result.causes.push_back(std::move(cause));
  }
  result.wait_ns *= static_cast<std::int64_t>(stride);
  std::ranges::stable_sort(result.causes, std::ranges::greater{}, &WaitCause::wait_ns);
  return result;
}

namespace {

using Seen = std::unordered_set<EventId>;

// The dependency whose other end comes first by `before`, among those whose other end was not seen.
template <typename Before>
std::optional<Dependency> best_of(const DependencyList& list, EventId Dependency::*other, EventReader& reader,
                                  const Seen* seen, Before before) {
  std::optional<Dependency> best;
  TimeRange best_times;
  for (const Dependency& candidate : list.dependencies) {
    if (seen != nullptr && seen->contains(candidate.*other)) continue;
    const auto record = reader.read(candidate.*other);
    if (!record) continue;  // its chunk cannot be read, which the reader of the chunk reports
    const TimeRange times{record->begin_ns, record->end_ns};
    if (best && !before(times, best_times)) continue;
    best = candidate;
    best_times = times;
  }
  return best;
}

std::optional<Dependency> step_back(const Dependencies& dependencies, EventId event, EventReader& reader,
                                    const Seen* seen) {
  return best_of(dependencies.predecessors(event, kMostWeighed), &Dependency::source, reader, seen,
                 [](const TimeRange& a, const TimeRange& b) { return a.end_ns > b.end_ns; });
}

std::optional<Dependency> step_forward(const Dependencies& dependencies, EventId event, EventReader& reader,
                                       const Seen* seen) {
  return best_of(dependencies.successors(event, kMostWeighed), &Dependency::target, reader, seen,
                 [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
}

template <typename Step>
std::uint64_t walk(EventId event, EventId Dependency::*other, std::size_t limit, const TaskControl& control,
                   std::vector<Dependency>& links, Step step) {
  Seen seen{event};
  std::uint64_t total = 0;
  while (total < kMostChainLinks && !control.cancelled()) {
    const std::optional<Dependency> link = step(event, seen);
    if (!link) break;
    ++total;
    if (links.size() < limit) links.push_back(*link);
    event = (*link).*other;
    seen.insert(event);
  }
  return total;
}

}  // namespace

std::optional<Dependency> last_predecessor(const Dependencies& dependencies, EventId event, EventReader& reader) {
  return step_back(dependencies, event, reader, nullptr);
}

std::optional<Dependency> first_successor(const Dependencies& dependencies, EventId event, EventReader& reader) {
  return step_forward(dependencies, event, reader, nullptr);
}

DependencyChain dependency_chain(const Dependencies& dependencies, EventId event, EventReader& reader,
                                 std::size_t limit, const TaskControl& control) {
  DependencyChain chain;
  chain.event = event;
  chain.snapshot_version = dependencies.snapshot_version();
  chain.before_total = walk(event, &Dependency::source, limit, control, chain.before,
                            [&](EventId at, const Seen& seen) { return step_back(dependencies, at, reader, &seen); });
  chain.after_total = walk(event, &Dependency::target, limit, control, chain.after,
                           [&](EventId at, const Seen& seen) { return step_forward(dependencies, at, reader, &seen); });
  return chain;
}

}  // namespace accelscope::analysis
