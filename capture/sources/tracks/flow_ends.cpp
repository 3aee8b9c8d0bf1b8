#include "capture/sources/tracks/flow_ends.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "capture/sources/tracks/held_events.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tracks {
namespace {

constexpr std::uint64_t kMostPairs = 4096;  // of one key

[[nodiscard]] std::uint32_t likeness_of(std::int64_t duration, StringId name) noexcept {
  return static_cast<std::uint32_t>(flow_key(static_cast<std::uint64_t>(duration), name) >> 32U);
}

constexpr ColumnSpec kFlowColumns[] = {
    {"source_event", columns::kUnsigned, "", columns::kIds, "", "The event that had to come first.",
     Role::flow_source_event},
    {"target_event", columns::kUnsigned, "", columns::kIds, "", "The event that follows from it.",
     Role::flow_target_event},
    {"id", columns::kInt, "", columns::kIds, "", "The flow's id or correlation in the file."},
    {"id_text", columns::kString, "", columns::kIds, "", "The flow's id, where it is no number."},
    {"cat", columns::kString, "", columns::kIds, "", "The flow's category in the file."},
};

}  // namespace

Schema make_flow_schema() { return make_schema({"dependency", EventKind::flow, "name"}, kFlowColumns); }

bool FlowEnds::ByKey::before(const End& a, const End& b) noexcept {
  const auto order = [](const End& end) {
    return std::tuple(end.key, static_cast<unsigned>(end.is_target), end.start, static_cast<std::uint64_t>(end.event));
  };
  return order(a) < order(b);
}

bool FlowEnds::ByPlace::before(const End& a, const End& b) noexcept {
  return std::tie(a.track, a.start, a.likeness, a.serial) < std::tie(b.track, b.start, b.likeness, b.serial);
}

bool FlowEnds::ByTarget::before(const Joined& a, const Joined& b) noexcept {
  return std::tie(a.target_start, a.target, a.source, a.id, a.name) <
         std::tie(b.target_start, b.target, b.source, b.id, b.name);
}

void FlowEnds::add(FlowSide side, std::uint64_t key, std::uint64_t id, StringId name, const WrittenEvent& event) {
  End end;
  end.key = key;
  end.id = id;
  end.start = event.start;
  end.track = event.track;
  end.serial = event.serial;
  end.likeness = likeness_of(event.duration, event.name);
  end.name = name;
  end.is_target = side == FlowSide::target ? 1 : 0;
  if (event.id == kNoEvent) return sought_->add(end);
  end.event = event.id & kNotFound;
  if (tracks_.size() <= event.track) tracks_.resize(event.track + 1);
  tracks_[event.track] = true;
  placed_->add(end);
}

// Events that had a place when they were written and lost it, because one that should have come before came later.
Result<void> FlowEnds::seek_moved(const TrackEvents& events) {
  bool any = false;
  for (std::uint32_t track = 0; track < tracks_.size(); ++track)
    any = any || (tracks_[track] && !events.ids_hold(track));
  if (!any) return {};
  auto placed = std::make_unique<PlacedEnds>();
  const Result<void> done = placed_->merge([&](End end) {
    if (events.ids_hold(end.track)) {
      placed->add(end);
    } else {
      end.event = kNotFound;
      sought_->add(end);
    }
    return true;
  });
  placed_ = std::move(placed);
  return done;
}

// The events of one track, and its ends that begin with them: both come by their begins.
class FlowEnds::OneTrack {
 public:
  OneTrack(HeldSink& held, PlacedEnds& placed, Counts& counts) : held_(held), placed_(placed), counts_(counts) {
    for (std::size_t lane = 0; lane < held.lanes().size(); ++lane) {
      if (!held.lanes()[lane].dropped) of_track_[held.lanes()[lane].lane.track].push_back(lane);
    }
  }

  // Ends whatever was begun.
  Result<void> begin(TrackNumber track) {
    if (Result<void> done = place(); !done) return done;
    lanes_.clear();
    waiting_.clear();
    for (const std::size_t lane : of_track_[track]) lanes_.emplace_back(held_.lanes()[lane], held_.spill());
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      if (Result<void> done = advance(lane); !done) return done;
    }
    return {};
  }

  Result<void> add(const End& end) {
    if (!ends_.empty() && ends_.front().start != end.start) {
      if (Result<void> done = place(); !done) return done;
    }
    ends_.push_back(end);
    return {};
  }

  // Finds the events of the ends that begin at one time.
  Result<void> place() {
    if (ends_.empty()) return {};
    const std::int64_t start = ends_.front().start;
    found_.assign(ends_.size(), kNone);
    while (!waiting_.empty() && waiting_.front().first <= start) {
      const std::uint32_t lane = waiting_.front().second;
      if (waiting_.front().first == start) take(lanes_[lane].event());
      std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
      waiting_.pop_back();
      if (Result<void> done = advance(lane); !done) return done;
    }
    for (const End& end : ends_) {
      if (end.event == kNotFound) {
        ++counts_.without_event;
      } else {
        placed_.add(end);
      }
    }
    ends_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // All flows of one event; another one that is alike has ends of its own.
  void take(const HeldEvent& event) {
    const std::uint32_t likeness = likeness_of(event.end - event.begin, event.name);
    const auto alike = std::lower_bound(ends_.begin(), ends_.end(), likeness,
                                        [](const End& end, std::uint32_t value) { return end.likeness < value; });
    if (alike == ends_.end() || alike->likeness != likeness) return;
    std::size_t& next = found_[static_cast<std::size_t>(alike - ends_.begin())];
    if (next == kNone) next = static_cast<std::size_t>(alike - ends_.begin());
    if (next == ends_.size() || ends_[next].likeness != likeness) return;
    for (const std::uint32_t serial = ends_[next].serial;
         next < ends_.size() && ends_[next].likeness == likeness && ends_[next].serial == serial; ++next)
      ends_[next].event = event.id & kNotFound;
  }

  Result<void> advance(std::uint32_t lane) {
    const bool any = TRY(lanes_[lane].next());
    if (!any) return {};
    waiting_.emplace_back(lanes_[lane].event().begin, lane);
    std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
    return {};
  }

  HeldSink& held_;
  PlacedEnds& placed_;
  Counts& counts_;
  std::unordered_map<TrackNumber, std::vector<std::size_t>> of_track_;
  std::deque<HeldEvents> lanes_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> waiting_;  // a heap: the begin of each lane's next event
  std::vector<End> ends_;                                        // of one begin, those that are alike together
  std::vector<std::size_t> found_;  // by the first end of those that are alike: how far their events are found
};

Result<void> FlowEnds::find_events(const TrackEvents& events, HeldSink& held) {
  if (sought_->size() == 0) return {};
  OneTrack track(held, *placed_, counts_);
  std::optional<std::uint32_t> current;
  Result<void> status;
  const Result<void> done = sought_->merge([&](const End& end) {
    if (end.track != current) {
      current = end.track;
      status = track.begin(events.number(end.track));
    }
    if (status) status = track.add(end);
    return status.ok();
  });
  sought_.reset();
  if (!done) return done;
  return status ? track.place() : status;
}

// The ends of one key, until the next one begins.
class FlowEnds::OneKey {
 public:
  OneKey(JoinedEnds& joined, Counts& counts) : joined_(joined), counts_(counts) {}

  void add(const End& end) {
    if (any_ && end.key != key_) finish();
    any_ = true;
    key_ = end.key;
    (end.is_target != 0 ? targets_ : sources_).push_back(end);
  }

  void finish() {
    counts_.without_target += any_ && targets_.empty() ? 1 : 0;
    counts_.without_source += any_ && sources_.empty() ? 1 : 0;
    // So many of one key were not told apart by their source: each target follows from the last one before it.
    const bool is_reused = sources_.size() * targets_.size() > kMostPairs;
    auto before = sources_.begin();
    for (auto to = targets_.begin(); to != targets_.end() && !sources_.empty(); ++to) {
      while (is_reused && before + 1 != sources_.end() && (before + 1)->start <= to->start) ++before;
      const auto last = is_reused ? before + 1 : sources_.end();
      for (auto from = is_reused ? before : sources_.begin(); from != last; ++from)
        joined_.add({from->event, to->event, to->start, to->id, from->name});
    }
    sources_.clear();
    targets_.clear();
    any_ = false;
  }

 private:
  JoinedEnds& joined_;
  Counts& counts_;
  std::uint64_t key_ = 0;
  bool any_ = false;
  std::vector<End> sources_, targets_;
};

Result<void> FlowEnds::join(const TrackEvents& events, HeldSink& held,
                            const std::function<bool(const Joined&)>& visit) {
  if (Result<void> done = seek_moved(events); !done) return done;
  if (Result<void> done = find_events(events, held); !done) return done;
  JoinedEnds joined;
  OneKey key(joined, counts_);
  const Result<void> done = placed_->merge([&](const End& end) {
    key.add(end);
    return true;
  });
  placed_.reset();
  if (!done) return done;
  key.finish();
  return joined.merge(visit);
}

}  // namespace accelscope::capture::sources::tracks
