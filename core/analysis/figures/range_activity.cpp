#include "core/analysis/figures/range_activity.h"

#include <algorithm>
#include <numeric>

#include "core/analysis/selection/summary.h"
#include "core/analysis/time/track_devices.h"
#include "core/scan/event_mask.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

constexpr std::size_t kMostRetainedNames =
    4096;  // of a piece that is kept: one with more is added up anew when it is asked for

std::optional<WorkUnit> unit_of(WorkKind kind) noexcept {
  if (kind == WorkKind::compute) return WorkUnit::compute;
  if (kind == WorkKind::transfer) return WorkUnit::transfer;
  return kind == WorkKind::collective ? std::optional(WorkUnit::collective) : std::nullopt;
}

// A device's part of a piece. Nothing is known of what lies outside of the piece.
struct DevicePart {
  std::array<std::int64_t, 1U << kWorkUnits> times_ns{};
  std::uint64_t stretches = 0;             // gapless ones that its work consists of
  std::int64_t first_ns = 0, last_ns = 0;  // of its work
  StringId last_name = 0;                  // that ends at last_ns
  TimeRange gap{0, 0};
  StringId before_gap = 0;
  [[nodiscard]] bool any() const noexcept { return last_ns > first_ns; }

  void append(const DevicePart& next) {
    if (!next.any()) return;
    merge_part(times_ns, next.times_ns);
    stretches += next.stretches;
    const auto offer = [&](const TimeRange& between, StringId before) {
      if (between.length_ns() > gap.length_ns()) gap = between, before_gap = before;
    };
    if (any()) {
      offer({last_ns, next.first_ns}, last_name);
    } else {
      first_ns = next.first_ns;
    }
    offer(next.gap, next.before_gap);
    last_ns = next.last_ns;
    last_name = next.last_name;
  }
};

}  // namespace

// What a stretch of time holds; pieces that follow each other are added up.
struct ActivityIndex::Piece {
  TimeRange range;
  ByPlace<DevicePart> devices;
  CoveredTime active;
  LongestGaps gaps;
  std::int64_t working_ns = 0, transfer_ns = 0, host_ns = 0;
  HostTimes host;
  SelfTimes zone_lines;
  ActivityUnions unions;
  bool retained = true;
  auto measures() {
    return std::tie(devices, active, gaps, working_ns, transfer_ns, host_ns, host, zone_lines, unions);
  }
};
namespace {

using ActivityPiece = ActivityIndex::Piece;

constexpr std::size_t kNoPlace = ~std::size_t{0};

// Which lanes are covered together: those of one track, where it has several, and the rings of one queue.
struct CoveredRows {
  std::vector<TrackNumber> tracks;
  std::vector<std::string> queues;
  std::vector<std::size_t> track_of_lane, queue_of_lane;  // kNoPlace: none

  CoveredRows(const Snapshot& snapshot, const WorkKinds& kinds)
      : track_of_lane(snapshot.lanes.size(), kNoPlace), queue_of_lane(snapshot.lanes.size(), kNoPlace) {
    std::map<std::string_view, std::size_t> places;
    for (const TrackSnapshot& track : snapshot.tracks) {
      const WorkKind kind = work_kind_of(track);
      if (kind == WorkKind::host) continue;
      const std::size_t several = track.lanes.size() > 1 ? tracks.size() : kNoPlace;
      if (several != kNoPlace) tracks.push_back(track.track->number);
      for (const std::uint32_t lane : track.lanes) {
        track_of_lane[lane] = several;
        if (kind != WorkKind::transfer || !kinds.covers_time(lane)) continue;
        const std::string_view queue = queue_of_ring(track.track->name);
        const auto [place, is_new] = places.try_emplace(queue, queues.size());
        if (is_new) queues.emplace_back(queue);
        queue_of_lane[lane] = place->second;
      }
    }
  }
};

// What is covered of a window by each name, each row and by copies.
class UnionGatherer {
 public:
  UnionGatherer(const Snapshot& snapshot, const WorkKinds& kinds, const CoveredRows& rows)
      : snapshot_(snapshot), kinds_(kinds), rows_(rows), tracks_(rows.tracks.size()), queues_(rows.queues.size()) {}

  // False where nothing of the chunk is asked for.
  bool open_chunk(const ScannedChunk& chunk) {
    track_ = rows_.track_of_lane[chunk.lane_index];
    queue_ = rows_.queue_of_lane[chunk.lane_index];
    const bool moves = kinds_.of_lane(chunk.lane_index) == WorkKind::transfer;
    names_ = !is_device_work(kinds_.of_lane(chunk.lane_index)) ? nullptr
             : !kinds_.covers_time(chunk.lane_index)           ? (moves ? &whole_ : nullptr)
             : moves                                           ? &transfers_
                                                               : &work_;
    const TrackSnapshot* track = snapshot_.find_track(chunk.lane.track);
    copies_here_ = names_ == &transfers_ && (track == nullptr || !only_fills(*track));
    return names_ != nullptr || track_ != kNoPlace;
  }
  // An event that does not wait, clipped to the window.
  void add(std::int64_t begin, std::int64_t end, StringId name) {
    if (track_ != kNoPlace) tracks_[track_].add(begin, end);
    if (queue_ != kNoPlace) queues_[queue_].add(begin, end);
    if (copies_here_) copies_.add(begin, end);
    if (names_ != nullptr) names_->push_back({begin, end, name});
  }

  void close(ActivityUnions& into) {
    close(work_, into.work);
    close(transfers_, into.transfers);
    close(whole_, into.whole);
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      if (const std::int64_t ns = closed(tracks_[i]); ns > 0) into.tracks[rows_.tracks[i]] += ns;
    }
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      if (const std::int64_t ns = closed(queues_[i]); ns > 0) into.queues[rows_.queues[i]] += ns;
    }
    into.copies_ns += closed(copies_);
  }

 private:
  struct Named {
    std::int64_t begin_ns, end_ns;
    StringId name;
    bool operator<(const Named& other) const noexcept { return begin_ns < other.begin_ns; }
  };
  // In the order of time a name's time goes on from where it has reached.
  static void close(std::vector<Named>& events, ActivityUnions::ByName& into) {
    sort_runs(events);
    struct Reached {
      std::int64_t until_ns = INT64_MIN, sum_ns = 0;
    };
    std::unordered_map<StringId, Reached> reached;
    for (const Named& each : events) {
      Reached& of = reached[each.name];
      if (each.end_ns <= of.until_ns) continue;
      of.sum_ns += each.end_ns - std::max(each.begin_ns, of.until_ns);
      of.until_ns = each.end_ns;
    }
    for (const auto& [name, of] : reached) into[name] += of.sum_ns;
    events.clear();
  }
  static std::int64_t closed(CoveredTime& covered) {
    covered.close_window();
    const std::int64_t ns = covered.length_ns();
    covered = {};
    return ns;
  }

  const Snapshot& snapshot_;
  const WorkKinds& kinds_;
  const CoveredRows& rows_;
  std::vector<Named> work_, transfers_, whole_;
  std::vector<CoveredTime> tracks_, queues_;
  CoveredTime copies_;
  std::size_t track_ = kNoPlace, queue_ = kNoPlace;  // of the chunk
  std::vector<Named>* names_ = nullptr;
  bool copies_here_ = false;
};

// Gathers one window after another on one worker.
class PieceGatherer {
 public:
  PieceGatherer(const Snapshot& snapshot, const WorkKinds& kinds, const TrackDevices& devices, const CoveredRows& rows,
                const std::vector<bool>& counts)
      : snapshot_(snapshot),
        kinds_(kinds),
        devices_(devices),
        counts_(counts),
        calls_(snapshot, kinds),
        zones_(snapshot, kinds),
        unions_(snapshot, kinds, rows),
        work_(devices.count()) {}

  // `passing`: those whose time counts.
  void add(const ScannedChunk& whole, const ScanWindow& window, const EventMask* passing) {
    const WorkKind kind = kinds_.of_lane(whole.lane_index);
    if (kind == WorkKind::host) return calls_.add(whole, passing);
    if (kinds_.has_zones(whole.lane_index)) zones_.add(whole, passing);
    ScannedChunk chunk = whole;
    chunk.mask = passing;
    const WaitNames waits(chunk.lane.schema.get(), *snapshot_.strings);
    add_to_unions(chunk, window.range, waits);
    const std::optional<WorkUnit> unit = unit_of(kind);
    if (!unit) return add_edges(chunk, window.range);
    if (!counts_[chunk.lane_index]) return;
    std::vector<Work>& work = work_[devices_.of_lane(chunk.lane_index)];
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const StringId name = block.name(i);
      const std::int64_t begin = std::max(block.begin_ns(i), window.range.begin_ns);
      const std::int64_t end = std::min(block.end_ns(i), window.range.end_ns);
      if (begin >= end) return;
      if (waits.contains(name)) {
        anything_.add(begin, end);
        return;
      }
      work.push_back(
          {begin, end, name, *unit == WorkUnit::compute && is_collective(name) ? WorkUnit::collective : *unit});
    });
  }

  ActivityPiece close(const TimeRange& range) {
    ActivityPiece piece;
    piece.range = range;
    CoveredTime working, transfer, host;
    piece.devices.resize(work_.size());
    for (std::size_t d = 0; d < work_.size(); ++d) {
      for (const Work& each : work_[d]) {
        piece.active.add(each.begin_ns, each.end_ns);
        (each.unit == WorkUnit::transfer ? transfer : working).add(each.begin_ns, each.end_ns);
      }
      piece.devices[d] = part_of(work_[d]);
      work_[d].clear();
    }
    calls_.close(range, piece.host, &host, &anything_);
    unions_.close(piece.unions);
    HostTimes zones;
    zones_.close(range, zones);
    piece.zone_lines = std::move(zones.lines);
    anything_.add_open(piece.active);
    anything_.add_open(host);
    anything_.close_window(&piece.gaps);
    for (CoveredTime* each : {&piece.active, &working, &transfer, &host}) each->close_window();
    piece.working_ns = working.length_ns();
    piece.transfer_ns = transfer.length_ns();
    piece.host_ns = host.length_ns();
    return piece;
  }

 private:
  void add_to_unions(const ScannedChunk& chunk, const TimeRange& window, const WaitNames& waits) {
    if (!unions_.open_chunk(chunk)) return;
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const std::int64_t begin = std::max(block.begin_ns(i), window.begin_ns);
      const std::int64_t end = std::min(block.end_ns(i), window.end_ns);
      if (begin < end && !waits.contains(block.name(i))) unions_.add(begin, end, block.name(i));
    });
  }

  // What tells of others' work may span a gap, but begins and ends in none.
  void add_edges(const ScannedChunk& chunk, const TimeRange& window) {
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const std::int64_t begin = block.begin_ns(i);
      const std::int64_t end = std::max(block.end_ns(i), begin + 1);
      if (begin >= window.begin_ns) anything_.add(begin, std::min(begin + 1, window.end_ns));
      if (end <= window.end_ns) anything_.add(std::max(end - 1, window.begin_ns), end);
    });
  }

  struct Work {
    std::int64_t begin_ns, end_ns;
    StringId name;
    WorkUnit unit;
  };

  [[nodiscard]] bool is_collective(StringId name) {
    const auto [known, is_new] = collectives_.try_emplace(name, false);
    if (is_new) known->second = names_collective(snapshot_.strings->text(name));
    return known->second;
  }

  static DevicePart part_of(std::vector<Work>& work) {
    DevicePart part;
    if (work.empty()) return part;
    std::ranges::sort(work, {}, &Work::begin_ns);
    part.first_ns = part.last_ns = work.front().begin_ns;
    part.stretches = 1;
    std::array<std::int64_t, kWorkUnits> until{};  // when what is under way of each unit ends
    until.fill(part.first_ns);
    std::int64_t reached = part.first_ns;
    const auto advance = [&](std::int64_t to) {
      while (reached < to) {
        unsigned under_way = 0;
        std::int64_t next = to;
        for (std::size_t u = 0; u < kWorkUnits; ++u) {
          if (until[u] <= reached) continue;
          under_way |= 1U << u;
          next = std::min(next, until[u]);
        }
        if (under_way != 0) part.times_ns[under_way] += next - reached;
        reached = next;
      }
    };
    for (const Work& each : work) {
      advance(each.begin_ns);
      if (each.begin_ns > part.last_ns) ++part.stretches;
      if (each.begin_ns - part.last_ns > part.gap.length_ns()) {
        part.gap = {part.last_ns, each.begin_ns};
        part.before_gap = part.last_name;
      }
      std::int64_t& end = until[static_cast<std::size_t>(each.unit)];
      end = std::max(end, each.end_ns);
      if (each.end_ns > part.last_ns) part.last_ns = each.end_ns, part.last_name = each.name;
    }
    advance(part.last_ns);
    return part;
  }

  const Snapshot& snapshot_;
  const WorkKinds& kinds_;
  const TrackDevices& devices_;
  const std::vector<bool>& counts_;  // by lane of a device: see ActivitySubject
  HostCalls calls_, zones_;
  UnionGatherer unions_;
  CoveredTime anything_;                            // waits and the edges of other rows too
  std::vector<std::vector<Work>> work_;             // by device
  std::unordered_map<StringId, bool> collectives_;  // names on streams
};

// The lanes whose time is added up, and which of the devices they are of.
struct ActivitySubject {
  WorkKinds kinds;
  TrackDevices devices;
  CoveredRows rows;
  LaneIndices device_lanes, host_lanes;
  LaneIndices other_lanes;       // which do not work, but show that something happened, or say the same time again
  std::vector<bool> counts;      // by lane: one of device_lanes
  std::vector<bool> has_work;    // by device
  std::vector<bool> has_engine;  // by device: one that takes part

  ActivitySubject(const Snapshot& snapshot, const EventFilter& filter)
      : kinds(snapshot),
        devices(snapshot),
        rows(snapshot, kinds),
        counts(snapshot.lanes.size(), false),
        has_work(devices.count(), false),
        has_engine(devices.count(), false) {
    for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
      const WorkKind kind = kinds.of_lane(lane);
      if (is_device_work(kind)) has_work[devices.of_lane(lane)] = true;
      if (snapshot.lanes[lane].event_count == 0 || !filter.has_track(snapshot.lanes[lane].track)) continue;
      if (kind == WorkKind::host) host_lanes.push_back(lane);
      if ((kind == WorkKind::none || kind == WorkKind::wait) && tells_of_a_moment(snapshot, snapshot.lanes[lane])) {
        other_lanes.push_back(lane);
      }
    }
    for (const std::uint32_t lane : active_lanes(snapshot, filter)) {
      if (!is_device_work(kinds.of_lane(lane)) || snapshot.lanes[lane].event_count == 0) continue;
      device_lanes.push_back(lane);
      counts[lane] = true;
      if (kinds.of_lane(lane) == WorkKind::compute) has_engine[devices.of_lane(lane)] = true;
    }
    for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
      if (counts[lane] || !is_device_work(kinds.of_lane(lane)) || snapshot.lanes[lane].event_count == 0) continue;
      if (filter.has_track(snapshot.lanes[lane].track)) other_lanes.push_back(lane);
    }
  }

 private:
  static bool tells_of_a_moment(const Snapshot& snapshot, const LaneSnapshot& lane) {
    if (lane.data->kind == EventKind::counter) return false;  // sampled whether or not anything happens
    const TrackSnapshot* track = snapshot.find_track(lane.track);
    return track == nullptr || !is_of_profiler(*track->track);
  }
};

Result<std::vector<ActivityPiece>> gather_pieces(const QueryContext& query, const ActivitySubject& subject,
                                                 const TimeRange& range) {
  struct Part {
    PieceGatherer gatherer;
    std::vector<ActivityPiece> pieces;
    auto measures() { return std::tie(pieces); }
  };
  const QueryContext unmasked = query.unmasked();
  LaneIndices lanes = subject.device_lanes;
  lanes.insert(lanes.end(), subject.host_lanes.begin(), subject.host_lanes.end());
  lanes.insert(lanes.end(), subject.other_lanes.begin(), subject.other_lanes.end());
  auto gathered = gather_windows(
      unmasked, lanes, range,
      Part{PieceGatherer(*query.snapshot, subject.kinds, subject.devices, subject.rows, subject.counts), {}},
      [&](const ScannedChunk& chunk, const ScanWindow& window, Part& part) {
        part.gatherer.add(chunk, window, query.mask.get());
      },
      [](const ScanWindow& window, Part& part) { part.pieces.push_back(part.gatherer.close(window.range)); });
  if (!gathered) return gathered.error();
  std::vector<ActivityPiece> pieces = std::move(gathered->pieces);
  std::ranges::sort(pieces,
                    [](const ActivityPiece& a, const ActivityPiece& b) { return a.range.begin_ns < b.range.begin_ns; });
  return pieces;
}

}  // namespace

std::string_view queue_of_ring(std::string_view track) noexcept {
  return track.substr(0, track.find(track.starts_with('Q') ? "-E" : "-Q"));
}

std::int64_t DeviceActivity::active_ns() const noexcept {
  return std::accumulate(times_ns.begin(), times_ns.end(), cut_ns);
}

std::int64_t DeviceActivity::active_ns(WorkUnit unit) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t set = 0; set < times_ns.size(); ++set) {
    if ((set >> static_cast<unsigned>(unit) & 1U) != 0) sum += times_ns[set];
  }
  return sum;
}

std::int64_t DeviceActivity::working_ns() const noexcept { return active_ns() - alone_ns(WorkUnit::transfer); }

std::string_view name_of(TimePart part) noexcept {
  constexpr std::array<std::string_view, kTimeParts> kNames = {"compute", "communication alone", "copies alone",
                                                               "idle"};
  return kNames[static_cast<std::size_t>(part)];
}

std::int64_t DeviceActivity::part_ns(TimePart part, std::int64_t span_ns) const noexcept {
  switch (part) {
    case TimePart::compute:
      return active_ns(WorkUnit::compute);
    case TimePart::communication:
      return working_ns() - active_ns(WorkUnit::compute);
    case TimePart::copies:
      return alone_ns(WorkUnit::transfer);
    case TimePart::idle:
      return std::max<std::int64_t>(0, span_ns - active_ns());
  }
  return 0;
}

TimeSplit DeviceActivity::split(std::int64_t span_ns) const noexcept {
  TimeSplit split;
  if (span_ns <= 0) return split;
  for (std::size_t part = 0; part < kTimeParts; ++part) {
    split.shares[part] =
        static_cast<double>(part_ns(static_cast<TimePart>(part), span_ns)) / static_cast<double>(span_ns);
  }
  return split;
}

ActivityIndex::ActivityIndex() = default;
ActivityIndex::~ActivityIndex() = default;

Result<std::shared_ptr<const ActivityIndex>> ActivityIndex::build(const QueryContext& query) {
  const QueryContext whole = query.unmasked();
  const Snapshot& snapshot = *query.snapshot;
  auto pieces = TRY(gather_pieces(whole, ActivitySubject(snapshot, {}), {snapshot.begin_ns, snapshot.end_ns}));
  auto index = std::make_shared<ActivityIndex>();
  index->version_ = snapshot.version;
  index->pieces_ = std::move(pieces);
  for (ActivityPiece& piece : index->pieces_) {
    const ActivityUnions& unions = piece.unions;
    if (piece.host.names.size() + piece.host.lines.size() <= kMostRetainedNames &&
        unions.work.size() + unions.transfers.size() + unions.whole.size() <= kMostRetainedNames) {
      continue;
    }
    piece.host = {};
    piece.unions = {};
    piece.zone_lines = {};
    piece.retained = false;
  }
  return std::shared_ptr<const ActivityIndex>(std::move(index));
}

namespace {

// From the pieces that lie in the range and, between and beside them, from the events.
Result<ActivityPiece> sum_up_pieces(const QueryContext& query, const ActivitySubject& subject, const TimeRange& range,
                                    const std::vector<ActivityPiece>* known) {
  ActivityPiece all;
  std::int64_t reached = range.begin_ns;
  const auto read_to = [&](std::int64_t ns) -> Result<void> {
    if (ns <= reached) return {};
    const auto pieces = TRY(gather_pieces(query, subject, {reached, ns}));
    for (const ActivityPiece& piece : pieces) merge_part(all, piece);
    reached = ns;
    return {};
  };
  for (std::size_t i = 0; known != nullptr && i < known->size(); ++i) {
    const ActivityPiece& piece = (*known)[i];
    if (!piece.retained || piece.range.begin_ns < range.begin_ns || piece.range.end_ns > range.end_ns) continue;
    TRY(read_to(piece.range.begin_ns));
    merge_part(all, piece);
    reached = piece.range.end_ns;
  }
  TRY(read_to(range.end_ns));
  return all;
}

}  // namespace

Result<std::shared_ptr<const RangeActivity>> range_activity(const QueryContext& query, const EventFilter& filter,
                                                            const ActivityIndex* index) {
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange wanted = filter.range.value_or(TimeRange{});
  auto answer = std::make_shared<RangeActivity>();
  answer->filter = filter;
  answer->snapshot_version = snapshot.version;
  answer->range = {std::max(wanted.begin_ns, snapshot.begin_ns), std::min(wanted.end_ns, snapshot.end_ns)};
  const ActivitySubject subject(snapshot, filter);
  ActivityPiece all;
  if (!answer->range.empty()) {
    const bool usable = index != nullptr && index->version_ == snapshot.version && !query.mask && filter.tracks.empty();
    ActivityPiece sums = TRY(sum_up_pieces(query, subject, answer->range, usable ? &index->pieces_ : nullptr));
    all = std::move(sums);
  }
  all.devices.resize(subject.devices.count());
  const bool cut = has_cut_times(snapshot);
  for (std::size_t d = 0; d < subject.devices.count(); ++d) {
    if (!subject.has_work[d]) continue;
    const DevicePart& part = all.devices[d];
    DeviceActivity& device = answer->devices.emplace_back(DeviceActivity{.device = subject.devices.label(d),
                                                                         .times_ns = part.times_ns,
                                                                         .stretch = {part.first_ns, part.last_ns},
                                                                         .gap = part.gap,
                                                                         .before_gap = part.before_gap});
    if (cut && subject.has_engine[d]) {
      device.cut_ns = std::min(static_cast<std::int64_t>(part.stretches / 2),
                               std::max<std::int64_t>(0, device.stretch.length_ns() - device.active_ns()));
    }
  }
  const bool any_engine =
      std::find(subject.has_engine.begin(), subject.has_engine.end(), true) != subject.has_engine.end();
  answer->active_ns = subject.device_lanes.empty()
                          ? all.host_ns
                          : std::min(active_ns(all.active, cut && any_engine), answer->range.length_ns());
  answer->working_ns = all.working_ns;
  answer->transfer_ns = all.transfer_ns;
  answer->host_ns = all.host_ns;
  answer->gaps = all.gaps.by_time();
  answer->host = std::move(all.host);
  answer->zone_lines = std::move(all.zone_lines);
  answer->unions = std::move(all.unions);
  return std::shared_ptr<const RangeActivity>(std::move(answer));
}

}  // namespace accelscope::analysis
