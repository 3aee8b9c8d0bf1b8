#include "core/analysis/time/session_activity.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/text.h"
#include "core/lod/range_statistics.h"
#include "core/model/track_kinds.h"
#include "core/scan/chunk_cache.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

[[nodiscard]] std::vector<std::string_view> setup_names() {
  std::vector<std::string_view> setup;
  for (const Vendor& vendor : vendors()) {
    setup.insert(setup.end(), vendor.setup_names.begin(), vendor.setup_names.end());
    if (!vendor.load_name.empty()) setup.push_back(vendor.load_name);
  }
  return setup;
}

[[nodiscard]] std::vector<std::string_view> track_kinds_of(std::initializer_list<WorkKind> works) {
  std::vector<std::string_view> kinds;
  for (const TrackKind& kind : kTrackKinds) {
    if (std::ranges::find(works, kind.work) != works.end()) kinds.push_back(kind.name);
  }
  return kinds;
}

constexpr std::initializer_list<WorkKind> kEngines = {WorkKind::compute, WorkKind::collective};
constexpr std::initializer_list<WorkKind> kDevices = {WorkKind::compute, WorkKind::collective, WorkKind::transfer};

// What the tracks of some kinds hold, waits left out of the time.
struct Amount {
  std::uint64_t events = 0;
  std::int64_t busiest_ns = 0;  // of one lane
};

[[nodiscard]] Result<Amount> amount_in(const QueryContext& query, std::span<const std::string_view> kinds,
                                       const TimeRange& range) {
  const Snapshot& snapshot = *query.snapshot;
  Amount amount;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), track.track->kind) == kinds.end()) continue;
    for (const std::uint32_t lane : track.lanes) {
      if (query.control.cancelled()) return cancelled_error();
      const auto share = TRY(lod::lane_share(query.store, snapshot, lane, range));
      amount.events += share.event_count;
      amount.busiest_ns = std::max(amount.busiest_ns, share.busy_ns);
    }
  }
  return amount;
}

constexpr std::uint64_t kFewEvents = 1'000;
constexpr double kLeastShareOfFew = 0.01, kLeastShare = 0.001;  // of the time around it

// Few events in a sliver of what surrounds them, or a sliver that not even many events make worth a view of its own.
[[nodiscard]] bool is_sliver(const TimeRange& inner, const TimeRange& outer, const Amount& amount) {
  const double least = amount.events < kFewEvents ? kLeastShareOfFew : kLeastShare;
  return static_cast<double>(inner.length_ns()) < least * static_cast<double>(outer.length_ns());
}

[[nodiscard]] TimeRange both(const TimeRange& a, const TimeRange& b) {
  return {std::min(a.begin_ns, b.begin_ns), std::max(a.end_ns, b.end_ns)};
}

// The range from the end of a pause that it begins in: a capture that was started paused may know of its program and
// what that printed, and nothing else.
[[nodiscard]] Result<TimeRange> after_first_pause(const QueryContext& query, TimeRange range) {
  const Snapshot& snapshot = *query.snapshot;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    const TrackSnapshot* track = snapshot.find_track(lane.track);
    if (track == nullptr || is_of_profiler(*track->track) || !tells_of_capture(*track->track)) continue;
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      const LoadedChunk loaded = TRY(load_chunk(query.store, lane, chunk));
      BlockTimes times;
      for (std::uint32_t block = 0; block < loaded.view.block_count(); ++block) {
        loaded.view.times(block, times);
        for (std::uint32_t i = 0; i < loaded.view.block_size(block); ++i) {
          const std::int64_t end_ns = lane.clock->to_ns(times.ends[i]);
          const bool holds_begin = lane.clock->to_ns(times.begins[i]) <= range.begin_ns && range.begin_ns < end_ns;
          if (holds_begin && end_ns < range.end_ns) range.begin_ns = end_ns;
        }
      }
    }
  }
  return range;
}

[[nodiscard]] bool would_be_seen(const Amount& amount, const TimeRange& range) {
  return static_cast<double>(amount.busiest_ns) >= kLeastShare * static_cast<double>(range.length_ns());
}

// What computes, where what is loaded for it lies so far away that a view of both would show neither, and no host works
// in between.
[[nodiscard]] Result<std::optional<TimeRange>> find_dense_engines(const QueryContext& query,
                                                                  std::span<const std::string_view> setup,
                                                                  const TimeRange& all) {
  const std::vector<std::string_view> engines = track_kinds_of(kEngines);
  const auto stretch = TRY(active_stretch(query, {.track_kinds = engines, .setup_names = setup}));
  if (!stretch) return std::optional<TimeRange>();
  const auto computed = TRY(amount_in(query, engines, *stretch));
  const auto on_host = TRY(amount_in(query, track_kinds_of({WorkKind::host}), all));
  if (!would_be_seen(computed, *stretch) || would_be_seen(on_host, all)) return std::optional<TimeRange>();
  return stretch;
}

[[nodiscard]] Result<TimeRange> find_shown(const QueryContext& query) {
  const TimeRange recorded = recorded_stretch(*query.snapshot);
  const std::vector<std::string_view> setup = setup_names(), works = track_kinds_of(kDevices);
  const auto device = TRY(active_stretch(query, {.track_kinds = works, .setup_names = setup}));
  const auto every = active_stretch(query, {.track_kinds = {}, .setup_names = setup});
  if (!every) return every.error();
  if (!*every) return recorded;
  const TimeRange all = device ? both(**every, *device) : **every;
  if (device) {
    const auto amount = TRY(amount_in(query, works, *device));
    const bool seen = would_be_seen(amount, *device);
    if (seen && !is_sliver(*device, all, amount)) return *device;
    if (!seen) {
      const std::optional<TimeRange> alone = TRY(find_dense_engines(query, setup, all));
      if (alone) return *alone;
    }
  }
  const auto amount = TRY(amount_in(query, {}, all));
  const bool few = amount.events < kFewEvents && is_sliver(all, both(all, recorded), amount);
  return few ? recorded : all;
}

}  // namespace

Result<std::optional<TimeRange>> find_active_stretch(const QueryContext& query) {
  const std::vector<std::string_view> setup = setup_names();
  // What moves data for an engine begins before it works.
  const std::vector<std::string_view> engines = track_kinds_of(kEngines), works = track_kinds_of(kDevices);
  const std::array<std::span<const std::string_view>, 3> choices = {engines, works, {}};
  for (const std::span<const std::string_view> kinds : choices) {
    auto stretch = active_stretch(query, {.track_kinds = kinds, .setup_names = setup});
    if (!stretch || stretch->has_value()) return stretch;
  }
  return std::optional<TimeRange>();
}

namespace {

[[nodiscard]] Result<FirstLook> look_at_part(const QueryContext& query) {
  FirstLook look;
  auto active = TRY(find_active_stretch(query));
  look.active = active;
  if (query.snapshot->event_count == 0) return look;
  const auto shown = TRY(find_shown(query));
  const auto after = TRY(after_first_pause(query, shown));
  look.shown = after;
  return look;
}

}  // namespace

Result<FirstLook> find_first_look(const QueryContext& query) {
  constexpr std::int64_t kLeastCovered = 2;  // a half of the view
  auto look = look_at_part(query);
  const std::vector<SessionPart> parts = session_parts(query.snapshot);
  if (!look || parts.size() == 1 || !look->shown) return look;
  std::vector<TimeRange> works;
  for (const SessionPart& part : parts) {
    const auto alone = TRY(look_at_part(part_of(query, part)));
    if (alone.active && alone.shown) works.push_back(*alone.shown);
  }
  // Lanes are shown in the order of their hosts: the view shows work of the lanes that it begins with.
  const auto is_shorter = [](const TimeRange& a, const TimeRange& b) { return a.length_ns() < b.length_ns(); };
  const auto longest = std::max_element(works.begin(), works.end(), is_shorter);
  if (longest == works.end()) return look;
  const TimeRange first = *std::ranges::find_if(
      works, [&](const TimeRange& stretch) { return stretch.length_ns() >= longest->length_ns() / kLeastCovered; });
  std::ranges::sort(works, {}, &TimeRange::begin_ns);
  CoveredTime covered;
  for (const TimeRange& stretch : works) covered.add(stretch.begin_ns, stretch.end_ns);
  covered.close_window();
  if (covered.length_ns() * kLeastCovered < look->shown->length_ns()) look->shown = first;
  return look;
}

TimeRange recorded_stretch(const Snapshot& snapshot) {
  std::optional<TimeRange> recorded;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.event_count == 0 || lane.data->kind == EventKind::table || lane.data->kind == EventKind::flow) continue;
    const TrackSnapshot* track = snapshot.find_track(lane.track);
    if (track != nullptr && (tells_of_capture(*track->track) || track->track->kind == kDoubtfulTrack)) continue;
    const TimeRange own{lane.clock->to_ns(lane.begin_ticks), lane.clock->to_ns(lane.end_ticks)};
    recorded = recorded ? both(*recorded, own) : own;
  }
  return recorded.value_or(TimeRange{snapshot.begin_ns, snapshot.end_ns});
}

namespace {

// Whether a lane's events of a name are work.
class WorkNames {
 public:
  WorkNames(const LaneSnapshot& lane, const StringPool& strings, const std::vector<StringId>& setup)
      : waits_(lane.schema.get(), strings), setup_(setup) {}
  [[nodiscard]] bool contains(StringId name) const noexcept {
    return !waits_.contains(name) && !std::binary_search(setup_.begin(), setup_.end(), name);
  }

 private:
  WaitNames waits_;
  const std::vector<StringId>& setup_;  // sorted
};

// Looks for the first and the last event of a lane that is work, chunk by chunk from either end.
class LaneSearch {
 public:
  LaneSearch(const QueryContext& query, const LaneSnapshot& lane, const std::vector<StringId>& setup)
      : query_(query),
        lane_(lane),
        work_(lane, *query.snapshot->strings, setup),
        strings_(query.snapshot->strings->scope_map(scope_of(lane.number()))) {}

  Result<std::optional<TimeRange>> run() {
    for (std::uint32_t i = 0; i < lane_.chunk_count; ++i) {
      Result<std::optional<TimeRange>> first = in_chunk(i);
      if (!first) return first;
      if (!*first) continue;
      TimeRange range = **first;
      for (std::uint32_t j = lane_.chunk_count - 1; j > i; --j) {
        const std::optional<TimeRange> last = TRY(in_chunk(j));
        if (last) {
          range.end_ns = last->end_ns;
          break;
        }
      }
      return std::optional(range);
    }
    return std::optional<TimeRange>();
  }

 private:
  // Known from the chunk's totals, without reading it.
  [[nodiscard]] bool has_no_work(std::uint32_t chunk) const noexcept {
    if (chunk >= lane_.totals.stretches[0]) return false;
    const NameTotals::Stretch stretch = lane_.data->totals.stretch(0, chunk);
    return stretch.retained && std::none_of(stretch.totals, stretch.totals + stretch.size,
                                            [this](const NameTotal& total) { return work_.contains(total.name); });
  }

  Result<std::optional<TimeRange>> in_chunk(std::uint32_t index) {
    if (query_.control.cancelled()) return cancelled_error();
    if (has_no_work(index)) return std::optional<TimeRange>();
    const LoadedChunk loaded = TRY(load_chunk(query_.store, lane_, index));
    const ChunkView& view = loaded.view;
    std::optional<TimeRange> range;
    std::uint64_t names[kBlockEvents];
    BlockTimes times;
    for (std::uint32_t block = 0; block < view.block_count(); ++block) {
      view.names(block, names);
      view.times(block, times);
      for (std::uint32_t i = 0; i < view.block_size(block); ++i) {
        if (!work_.contains(names[i] < strings_.size() ? strings_[names[i]] : 0)) continue;
        if (!range) range = TimeRange{lane_.clock->to_ns(times.begins[i]), 0};
        range->end_ns = lane_.clock->to_ns(times.ends[i]);
      }
    }
    return range;
  }

  const QueryContext& query_;
  const LaneSnapshot& lane_;
  WorkNames work_;
  std::vector<StringId> strings_;
};

bool takes_part(const Snapshot& snapshot, const LaneSnapshot& lane, const ActivityRule& rule) {
  if (lane.data->kind != EventKind::slice || lane.chunk_count == 0) return false;
  const TrackSnapshot* track = snapshot.find_track(lane.track);
  if (rule.track_kinds.empty())
    return track == nullptr || (!tells_of_capture(*track->track) && track->track->kind != kDoubtfulTrack);
  return track != nullptr && std::find(rule.track_kinds.begin(), rule.track_kinds.end(),
                                       std::string_view(track->track->kind)) != rule.track_kinds.end();
}

}  // namespace

Result<std::optional<TimeRange>> active_stretch(const QueryContext& query, const ActivityRule& rule) {
  const Snapshot& snapshot = *query.snapshot;
  std::vector<StringId> setup;
  for (const std::string_view name : rule.setup_names) {
    if (const StringId id = snapshot.strings->find(name); id != kNone) setup.push_back(id);
  }
  std::ranges::sort(setup);
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (takes_part(snapshot, snapshot.lanes[i], rule)) lanes.push_back(i);
  }
  std::vector<Result<std::optional<TimeRange>>> found(lanes.size(), std::optional<TimeRange>());
  query.control.add_total(lanes.size());
  query.pool.for_each(lanes.size(), query.control, [&](std::size_t index, std::size_t) {
    found[index] = LaneSearch(query, snapshot.lanes[lanes[index]], setup).run();
    query.control.add_done(1);
  });
  if (query.control.cancelled()) return cancelled_error();
  std::optional<TimeRange> all;
  for (const auto& range : found) {
    if (!range) return range.error();
    if (!*range) continue;
    if (!all) all = *range;
    all->begin_ns = std::min(all->begin_ns, (**range).begin_ns);
    all->end_ns = std::max(all->end_ns, (**range).end_ns);
  }
  return all;
}

namespace {

// By track: its host; "" where none of the hosts with devices is known to be its own.
[[nodiscard]] std::vector<std::string> hosts_of_tracks(const Snapshot& snapshot, const std::set<std::string>& hosts) {
  std::map<std::uint32_t, std::set<std::string>> of_scopes;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (hosts.contains(track.track->host)) of_scopes[scope_of(track.track->number)].insert(track.track->host);
  }
  std::vector<std::string> of_tracks;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const std::set<std::string>& of_scope = of_scopes[scope_of(track.track->number)];
    const bool reported = hosts.contains(track.track->host);
    of_tracks.push_back(reported ? track.track->host : of_scope.size() == 1 ? *of_scope.begin() : std::string());
  }
  return of_tracks;
}

void leave_out(LaneSnapshot& lane) {
  lane.chunk_count = 0;
  lane.event_count = 0;
  lane.tree = {};
  lane.totals = {};
  lane.begin_ticks = 0;
  lane.end_ticks = 0;
  lane.index_bytes = 0;
}

// As a store counts them: rows of tables and flows lie in no time.
void count_again(Snapshot& snapshot) {
  snapshot.event_count = 0;
  bool any = false;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    snapshot.event_count += lane.event_count;
    const EventKind kind = lane.data->kind;
    if (lane.event_count == 0 || kind == EventKind::table || kind == EventKind::flow) continue;
    const std::int64_t begin = lane.clock->to_ns(lane.begin_ticks), end = lane.clock->to_ns(lane.end_ticks);
    snapshot.begin_ns = any ? std::min(snapshot.begin_ns, begin) : begin;
    snapshot.end_ns = any ? std::max(snapshot.end_ns, end) : end;
    any = true;
  }
  if (!any) snapshot.begin_ns = snapshot.end_ns = 0;
}

}  // namespace

std::vector<SessionPart> session_parts(const std::shared_ptr<const Snapshot>& snapshot) {
  const std::set<std::string> hosts = device_hosts(*snapshot);
  const bool ranks = std::ranges::any_of(
      snapshot->tracks, [](const TrackSnapshot& track) { return !rank_of_device(track.track->device).empty(); });
  if (hosts.size() < 2 || ranks) return {{"", snapshot}};
  const std::vector<std::string> of_tracks = hosts_of_tracks(*snapshot, hosts);
  std::vector<SessionPart> parts;
  for (const std::string& host : hosts) {
    const auto alone = std::make_shared<Snapshot>(*snapshot);
    for (std::size_t t = 0; t < alone->tracks.size(); ++t) {
      if (of_tracks[t] == host || of_tracks[t].empty()) continue;
      for (const std::uint32_t lane : alone->tracks[t].lanes) leave_out(alone->lanes[lane]);
    }
    count_again(*alone);
    parts.push_back({host, alone});
  }
  std::ranges::sort(parts, [](const SessionPart& a, const SessionPart& b) { return natural_less(a.host, b.host); });
  return parts;
}

std::vector<std::optional<std::size_t>> part_numbers(const std::vector<SessionPart>& parts,
                                                     const TrackDevices& devices) {
  std::vector<std::optional<std::size_t>> found(devices.count());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::vector<LaneSnapshot>& lanes = parts[part].snapshot->lanes;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const bool own = devices.track_of_lane(lane).track->host == parts[part].host;
      if ((own || parts.size() == 1) && lanes[lane].event_count > 0) found[devices.of_lane(lane)] = part;
    }
  }
  return found;
}

std::vector<TimeRange> times_of_devices(const std::shared_ptr<const Snapshot>& snapshot, const TrackDevices& devices) {
  const std::vector<SessionPart> parts = session_parts(snapshot);
  std::vector<TimeRange> times;
  for (const std::optional<std::size_t> part : part_numbers(parts, devices)) {
    const Snapshot& of = part ? *parts[*part].snapshot : *snapshot;
    times.push_back({of.begin_ns, of.end_ns});
  }
  return times;
}

QueryContext part_of(const QueryContext& query, const SessionPart& part) {
  QueryContext alone = query;
  alone.snapshot = part.snapshot;
  return alone;
}

}  // namespace accelscope::analysis
