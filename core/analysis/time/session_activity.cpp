#include "core/analysis/time/session_activity.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/analysis/time/activity.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/session_parts.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/lod/range_statistics.h"
#include "core/model/track_kinds.h"
#include "core/scan/chunk_cache.h"

namespace accelscope {

namespace {

[[nodiscard]] std::vector<std::string_view> setup_names() {
  std::vector<std::string_view> setup;
  for (const Vendor& vendor : vendors()) {
    setup.insert(setup.end(), vendor.setup_names.begin(), vendor.setup_names.end());
    if (!vendor.load_name.empty()) setup.push_back(vendor.load_name);
  }
  return setup;
}

[[nodiscard]] std::vector<std::string_view> device_kinds(bool with_transfers) {
  std::vector<std::string_view> kinds;
  for (const TrackKind& kind : kTrackKinds) {
    if (is_device_work(kind.work) && (with_transfers || kind.work != WorkKind::transfer)) kinds.push_back(kind.name);
  }
  return kinds;
}

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
      const auto share = lane_share(query.store, snapshot, lane, range);
      if (!share) return share.error();
      amount.events += share->event_count;
      amount.busiest_ns = std::max(amount.busiest_ns, share->busy_ns);
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
      const Result<LoadedChunk> loaded = load_chunk(query.store, lane, chunk);
      if (!loaded) return loaded.error();
      BlockTimes times;
      for (std::uint32_t block = 0; block < loaded->view.block_count(); ++block) {
        loaded->view.times(block, times);
        for (std::uint32_t i = 0; i < loaded->view.block_size(block); ++i) {
          const std::int64_t end_ns = lane.clock->to_ns(times.ends[i]);
          const bool holds_begin = lane.clock->to_ns(times.begins[i]) <= range.begin_ns && range.begin_ns < end_ns;
          if (holds_begin && end_ns < range.end_ns) range.begin_ns = end_ns;
        }
      }
    }
  }
  return range;
}

[[nodiscard]] Result<TimeRange> find_shown(const QueryContext& query) {
  const TimeRange recorded = recorded_stretch(*query.snapshot);
  const std::vector<std::string_view> setup = setup_names(), works = device_kinds(true);
  const auto device = active_stretch(query, {.track_kinds = works, .setup_names = setup});
  if (!device) return device.error();
  const auto every = active_stretch(query, {.track_kinds = {}, .setup_names = setup});
  if (!every) return every.error();
  if (!*every) return recorded;
  const TimeRange all = *device ? both(**every, **device) : **every;
  if (*device) {
    const auto amount = amount_in(query, works, **device);
    if (!amount) return amount.error();
    const bool unseen =
        static_cast<double>(amount->busiest_ns) < kLeastShare * static_cast<double>((**device).length_ns());
    if (!unseen && !is_sliver(**device, all, *amount)) return **device;
  }
  const auto amount = amount_in(query, {}, all);
  if (!amount) return amount.error();
  const bool few = amount->events < kFewEvents && is_sliver(all, both(all, recorded), *amount);
  return few ? recorded : all;
}

}  // namespace

Result<std::optional<TimeRange>> find_active_stretch(const QueryContext& query) {
  const std::vector<std::string_view> setup = setup_names();
  // What moves data for an engine begins before it works.
  const std::vector<std::string_view> engines = device_kinds(false), works = device_kinds(true);
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
  auto active = find_active_stretch(query);
  if (!active) return active.error();
  look.active = *active;
  if (query.snapshot->event_count == 0) return look;
  const auto shown = find_shown(query);
  if (!shown) return shown.error();
  const auto after = after_first_pause(query, *shown);
  if (!after) return after.error();
  look.shown = *after;
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
    const auto alone = look_at_part(part_of(query, part));
    if (!alone) return alone.error();
    if (alone->active && alone->shown) works.push_back(*alone->shown);
  }
  // Lanes are shown in the order of their hosts: the view shows work of the lanes that it begins with.
  const auto is_shorter = [](const TimeRange& a, const TimeRange& b) { return a.length_ns() < b.length_ns(); };
  const auto longest = std::max_element(works.begin(), works.end(), is_shorter);
  if (longest == works.end()) return look;
  const TimeRange first = *std::find_if(works.begin(), works.end(), [&](const TimeRange& stretch) {
    return stretch.length_ns() >= longest->length_ns() / kLeastCovered;
  });
  std::sort(works.begin(), works.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
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

}  // namespace accelscope
