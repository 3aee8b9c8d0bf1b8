#include "core/analysis/replay/launch_replay.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/analysis/time/work_kind.h"
#include "core/scan/chunk_scan.h"

namespace accelscope {
namespace {

constexpr std::int64_t kQueuedNs = 1'000;           // launched so long before the one before it ended: it was queued
constexpr std::int64_t kMostUsualPauseNs = 20'000;  // longer ones have a cause
constexpr std::int64_t kMostUsualLatencyNs = 100'000;
constexpr std::int64_t kRightAfterNs = 10'000;  // of the end of an event of another stream

// "stream 7" of "memcpy stream 7": rows of one stream have one name, but for what they show of it.
std::string stream_of(const std::string& track) {
  const std::size_t at = track.find("stream ");
  return at == std::string::npos ? track : track.substr(at);
}

std::int64_t quantile(std::vector<std::int64_t>& values, std::size_t percent) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * percent / 100);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Of stretches that lie apart, by time: what of them lies between two times that only grow.
class SharedTime {
 public:
  explicit SharedTime(const Stretches& parts) : parts_(parts) {}
  std::int64_t between(std::int64_t begin, std::int64_t end) {
    while (at_ < parts_.size() && parts_[at_].second <= begin) ++at_;
    std::int64_t sum = 0;
    for (std::size_t i = at_; i < parts_.size() && parts_[i].first < end; ++i)
      sum += std::min(end, parts_[i].second) - std::max(begin, parts_[i].first);
    return sum;
  }

 private:
  const Stretches& parts_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<LaunchReplay>> LaunchReplay::build(const QueryContext& query, const Dependencies& dependencies,
                                                          const LaunchedDevice& device) {
  std::unique_ptr<LaunchReplay> replay(new LaunchReplay);
  if (const Result<void> done = replay->read(query, dependencies, device); !done) return done.error();
  if (!replay->place_calls(device)) return std::unique_ptr<LaunchReplay>();
  replay->explain();
  replay->find_awaited();
  const std::int64_t off = replay->total_ns(HostDelay::none) - replay->recorded_ns_;
  if (static_cast<double>(std::abs(off)) > kMostError * static_cast<double>(replay->recorded_ns_)) replay.reset();
  return replay;
}

Result<void> LaunchReplay::read_work(const QueryContext& query, const LaunchedDevice& device) {
  const Snapshot& snapshot = *query.snapshot;
  std::vector<std::uint32_t> stream_of_lane(snapshot.lanes.size(), kNoPlace);
  std::map<std::string, std::uint32_t> streams;
  LaneIndices lanes;
  for (const TrackNumber number : device.tracks) {
    const TrackSnapshot* track = snapshot.find_track(number);
    if (track == nullptr) continue;
    const auto next = static_cast<std::uint32_t>(streams.size());
    const std::uint32_t stream = streams.try_emplace(stream_of(track->track->name), next).first->second;
    for (const std::uint32_t lane : track->lanes) {
      if (stream_of_lane[lane] == kNoPlace) lanes.push_back(lane);
      stream_of_lane[lane] = stream;
    }
  }
  std::uint64_t events = 0;
  for (const std::uint32_t lane : lanes) events += snapshot.lanes[lane].event_count;
  if (events > kMostEvents) return {};
  std::mutex mutex;
  const Result<void> read = scan_chunks(query, lanes, device.stretch, [&](const ScannedChunk& chunk, std::size_t) {
    const std::scoped_lock lock(mutex);
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        Work work;
        work.event = block.id(i);
        work.begin_ns = block.begin_ns(i);
        work.end_ns = block.end_ns(i);
        work.stream = stream_of_lane[chunk.lane_index];
        work.tiny = work.end_ns - work.begin_ns < kTinyNs;
        work_.push_back(work);
      }
    });
  });
  std::sort(work_.begin(), work_.end(), [](const Work& a, const Work& b) {
    return std::tie(a.begin_ns, a.end_ns, a.event) < std::tie(b.begin_ns, b.end_ns, b.event);
  });
  return read;
}

// What runs on the device, by begin, and the calls that launched it.
Result<void> LaunchReplay::read(const QueryContext& query, const Dependencies& dependencies,
                                const LaunchedDevice& device) {
  QueryContext whole = query;
  whole.mask = nullptr;
  if (const Result<void> done = read_work(whole, device); !done) return done;
  if (work_.empty()) return {};
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  std::unordered_map<LaneNumber, std::uint32_t> hosts;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (kinds.of_lane(lane) == WorkKind::host) hosts.emplace(snapshot.lanes[lane].number(), lane);
  }
  std::unordered_map<EventId, std::uint32_t> place;
  place.reserve(work_.size());
  for (std::uint32_t i = 0; i < work_.size(); ++i) place.emplace(work_[i].event, i);
  std::unordered_map<EventId, std::vector<std::uint32_t>> launched;
  LaneIndices lanes;
  for (const Dependency& each : dependencies.all()) {
    const auto target = place.find(each.target);
    if (target == place.end()) continue;
    const auto host = hosts.find(lane_of(each.source));
    if (host == hosts.end()) continue;
    launched[each.source].push_back(target->second);
    if (std::find(lanes.begin(), lanes.end(), host->second) == lanes.end()) lanes.push_back(host->second);
  }
  std::mutex mutex;
  const Result<void> read = scan_chunks(whole, lanes, {}, [&](const ScannedChunk& chunk, std::size_t) {
    const std::scoped_lock lock(mutex);
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (!launched.contains(block.id(i))) continue;
        Call call;
        call.event = block.id(i);
        call.begin_ns = block.begin_ns(i);
        call.end_ns = block.end_ns(i);
        calls_.push_back(call);
      }
    });
  });
  if (!read) return read;
  // Of several calls that an event names, such as an operator and the driver's, that which returned first started it.
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return std::tie(a.end_ns, a.event) < std::tie(b.end_ns, b.event); });
  for (std::uint32_t c = 0; c < calls_.size(); ++c) {
    for (const std::uint32_t target : launched[calls_[c].event]) {
      if (work_[target].call == kNoPlace) work_[target].call = c;
    }
  }
  return {};
}

// False: too little is known of the calls.
bool LaunchReplay::place_calls(const LaunchedDevice& device) {
  if (work_.empty() || calls_.empty()) return false;
  const auto known = std::count_if(work_.begin(), work_.end(), [](const Work& each) { return each.call != kNoPlace; });
  if (static_cast<double>(known) < kLeastLaunched * static_cast<double>(work_.size())) return false;
  Stretches loading = device.loading, waiting;
  for (const auto& [begin, end] : device.waiting) {
    // A call that launches while it waits is an outer one.
    const auto next = std::upper_bound(calls_.begin(), calls_.end(), begin,
                                       [](std::int64_t ns, const Call& call) { return ns < call.end_ns; });
    if (next == calls_.end() || next->end_ns > end) {
      add_stretch(waiting, begin, end);
    } else if (next->begin_ns == begin && next->end_ns == end) {
      next->waits = true;  // a copy that returns when it is done
    }
  }
  settle(loading);
  settle(waiting);
  std::vector<std::uint32_t> moved(calls_.size());
  std::vector<Call> all;
  std::size_t wait = 0;
  for (std::uint32_t c = 0; c <= calls_.size(); ++c) {
    for (; wait < waiting.size() && (c == calls_.size() || waiting[wait].second <= calls_[c].end_ns); ++wait) {
      Call call;
      call.waits = true;
      call.begin_ns = waiting[wait].first;
      call.end_ns = waiting[wait].second;
      all.push_back(call);
    }
    if (c == calls_.size()) break;
    moved[c] = static_cast<std::uint32_t>(all.size());
    all.push_back(calls_[c]);
  }
  calls_ = std::move(all);
  SharedTime in_loader(loading);
  std::int64_t reached = calls_.front().end_ns;
  for (Call& each : calls_) {
    const std::int64_t until = std::max(reached, each.waits ? each.begin_ns : each.end_ns);
    each.loading_ns = in_loader.between(reached, until);
    each.own_ns = until - reached - each.loading_ns;
    if (each.waits) each.begin_ns = until;
    reached = std::max(reached, each.end_ns);
  }
  // What no call is known of comes with what was before it on its stream.
  std::unordered_map<std::uint32_t, std::uint32_t> latest;
  for (Work& each : work_) {
    const auto before = latest.find(each.stream);
    if (each.call != kNoPlace) each.call = moved[each.call];
    if (each.call == kNoPlace) each.call = before == latest.end() ? 0 : before->second;
    latest[each.stream] = each.call;
  }
  std::stable_sort(work_.begin(), work_.end(), [](const Work& a, const Work& b) { return a.call < b.call; });
  for (std::uint32_t i = 0; i < work_.size(); ++i) {
    Call& call = calls_[work_[i].call];
    if (call.last_work == 0) call.first_work = i, call.tiny = true;
    call.last_work = i + 1;
    call.tiny = call.tiny && work_[i].tiny;
  }
  return true;
}

// Which events each began after, and what of its begin they leave open.
void LaunchReplay::explain() {
  std::vector<std::uint32_t> by_end(work_.size());
  for (std::uint32_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
  std::sort(by_end.begin(), by_end.end(),
            [&](std::uint32_t a, std::uint32_t b) { return work_[a].end_ns < work_[b].end_ns; });
  std::unordered_map<std::uint32_t, std::uint32_t> last;
  std::vector<std::int64_t> pauses, latencies;
  for (std::uint32_t i = 0; i < work_.size(); ++i) {
    Work& each = work_[i];
    const std::int64_t launched = each.begin_ns - calls_[each.call].launch_ns();
    if (const auto before = last.find(each.stream); before != last.end()) {
      each.before = before->second;
      const std::int64_t pause = each.begin_ns - work_[each.before].end_ns;
      if (pause >= 0 && pause <= kMostUsualPauseNs && launched - pause > kQueuedNs) pauses.push_back(pause);
      if (pause > launched && launched <= kMostUsualLatencyNs) latencies.push_back(launched);
    }
    last[each.stream] = i;
  }
  const std::int64_t pause = quantile(pauses, 50), latency = quantile(latencies, 10);
  for (std::uint32_t i = 0; i < work_.size(); ++i) {
    Work& each = work_[i];
    const std::int64_t launched = each.begin_ns - calls_[each.call].launch_ns();
    each.latency_ns = std::min(latency, launched);
    std::int64_t open = launched - each.latency_ns;
    if (each.before != kNoPlace) {
      const std::int64_t since = each.begin_ns - work_[each.before].end_ns;
      each.pause_ns = std::min(pause, since);
      open = std::min(open, since - each.pause_ns);
    }
    if (open > 2 * kQueuedNs) {
      const auto after = std::upper_bound(by_end.begin(), by_end.end(), each.begin_ns,
                                          [&](std::int64_t ns, std::uint32_t w) { return ns < work_[w].end_ns; });
      const std::uint32_t other = after == by_end.begin() ? kNoPlace : *(after - 1);
      if (other < i && work_[other].stream != each.stream && each.begin_ns - work_[other].end_ns <= kRightAfterNs) {
        each.other = other;
        each.other_ns = each.begin_ns - work_[other].end_ns;
        open = 0;
      }
    }
    each.delay_ns = std::max<std::int64_t>(0, open);
  }
  std::int64_t first = INT64_MAX, end = INT64_MIN;
  for (const Work& each : work_) {
    first = std::min(first, each.begin_ns);
    end = std::max(end, each.end_ns);
  }
  recorded_ns_ = end - first;
}

// A wait ends after that of the work launched before it which ended last.
void LaunchReplay::find_awaited() {
  std::uint32_t latest = kNoPlace;  // of streams that work in order no older one can end later
  for (Call& each : calls_) {
    for (std::uint32_t i = each.first_work; i < each.last_work; ++i) {
      if (latest == kNoPlace || work_[i].end_ns > work_[latest].end_ns) latest = i;
    }
    if (!each.waits || latest == kNoPlace) continue;
    if (work_[latest].end_ns <= each.end_ns) {
      if (work_[latest].end_ns > each.begin_ns) each.awaited = latest;
      continue;
    }
    // Of one stream among several: what ended last within the wait.
    std::uint32_t best = kNoPlace;
    constexpr std::uint32_t kLooksBack = 4'096;
    const std::uint32_t from = latest > kLooksBack ? latest - kLooksBack : 0;
    for (std::uint32_t i = from; i <= latest; ++i) {
      const std::int64_t end = work_[i].end_ns;
      if (end > each.end_ns || end <= each.begin_ns) continue;
      if (best == kNoPlace || end > work_[best].end_ns) best = i;
    }
    each.awaited = best;
  }
}

std::int64_t LaunchReplay::total_ns(HostDelay without, bool keeps_delays) const {
  std::vector<std::int64_t> begins(work_.size()), ends(work_.size());
  std::int64_t now = calls_.front().end_ns, first = INT64_MAX, last = INT64_MIN;
  for (const Call& call : calls_) {
    const bool own = without != HostDelay::own && !(without == HostDelay::tiny_launches && call.tiny);
    now += own ? call.own_ns : 0;
    now += without != HostDelay::loading ? call.loading_ns : 0;
    for (std::uint32_t i = call.first_work; i < call.last_work; ++i) {
      const Work& each = work_[i];
      const bool no_pause = without == HostDelay::tiny_launches && each.tiny;
      std::int64_t begin = now + each.latency_ns;
      if (each.before != kNoPlace) {
        const std::int64_t pause = no_pause ? std::min<std::int64_t>(0, each.pause_ns) : each.pause_ns;
        begin = std::max(begin, ends[each.before] + pause);
      }
      if (each.other != kNoPlace) begin = std::max(begin, ends[each.other] + each.other_ns);
      begins[i] = begin + (no_pause || !keeps_delays ? 0 : each.delay_ns);
      ends[i] = begins[i] + each.end_ns - each.begin_ns;
      first = std::min(first, begins[i]);
      last = std::max(last, ends[i]);
    }
    if (!call.waits || without == HostDelay::synchronising) continue;
    if (call.awaited == kNoPlace) {
      now += call.end_ns - call.begin_ns;
    } else {
      now = std::max(now, ends[call.awaited]) + (call.end_ns - work_[call.awaited].end_ns);
    }
  }
  return last - first;
}

std::optional<std::int64_t> LaunchReplay::saving_ns(HostDelay without) const {
  const std::int64_t total = total_ns(without);
  const auto unexplained = static_cast<double>(total - total_ns(without, false));
  if (unexplained > kMostUnexplained * static_cast<double>(recorded_ns_)) return std::nullopt;
  return std::max<std::int64_t>(0, total_ns(HostDelay::none) - total);
}

}  // namespace accelscope
