// What verdict.h measures of a session; the words for it are in verdict.cpp.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/analysis/critical_path/work_graph.h"
#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/figures/metrics.h"
#include "core/analysis/figures/session_terms.h"
#include "core/analysis/figures/verdict.h"
#include "core/analysis/time/session_activity.h"
#include "core/analysis/time/stretches.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/capped.h"
#include "core/lod/range_statistics.h"
#include "core/names/collective_words.h"
#include "core/names/name_forms.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

// What programs of engines did inside an execution that a host's profile shows as a whole.
enum class Scope : std::uint8_t { all, inside_executions };

// Whether a track shows executions as the runtime saw them; a profile of engines may show one of these from inside.
[[nodiscard]] bool shows_executions(const TrackSnapshot& track) noexcept {
  return track.track->kind == "stream" && track.schema && track.schema->name == "trace_event";
}

// As sentences speak of the devices that work: "GPU", "nc4+nc5", "2 GPUs".
std::string spoken_devices(const Snapshot& snapshot, const std::vector<DeviceActivity>& active, bool all) {
  const TrackDevices devices(snapshot);
  std::vector<std::string> labels;
  if (all) {
    for (const std::size_t device : session_devices(snapshot, devices)) labels.push_back(devices.name(device));
  }
  if (labels.empty()) {
    std::transform(active.begin(), active.end(), std::back_inserter(labels),
                   [](const DeviceActivity& each) { return each.device; });
  }
  if (labels.size() != 1) return name_of_devices(labels);
  const std::string kind = kind_of_device(labels.front());
  return kind.empty() ? "device" : kind;
}

class LoadMeasure {
 public:
  LoadMeasure(const QueryContext& query, const TimeRange& active, const ActivityIndex* index, Scope scope = Scope::all)
      : query_(query), snapshot_(*query.snapshot), index_(index), range_(active), kinds_(snapshot_), scope_(scope) {}

  Result<SessionLoad> run() {
    choose_kind();
    if (load_.kind == SessionLoad::Kind::nothing || range_.empty()) return SessionLoad{};
    auto activity = TRY(in_range(range_));
    choose_devices(*activity);
    if (scope_ == Scope::inside_executions) {
      if (devices_.empty()) return SessionLoad{};
      range_ = devices_.front().stretch;
      for (const DeviceActivity& each : devices_) {
        range_ = {std::min(range_.begin_ns, each.stretch.begin_ns), std::max(range_.end_ns, each.stretch.end_ns)};
      }
      activity = TRY(in_range(range_));
      choose_devices(*activity);
    }
    load_.span_ns = range_.length_ns();
    load_.active_ns = activity->active_ns;
    for (const TimeRange& gap : activity->gaps) load_.empty_ns += gap.length_ns();
    if (load_.kind == SessionLoad::Kind::host_only) return host_only(*activity);
    if (devices_.empty()) return SessionLoad{};
    load_.device = spoken_devices(snapshot_, devices_, !mixed_);
    for (const DeviceActivity& each : devices_) {
      const TimeSplit split = each.split(load_.span_ns);
      for (std::size_t part = 0; part < kTimeParts; ++part) {
        load_.split.shares[part] += split.shares[part] / static_cast<double>(devices_.size());
      }
    }
    if (are_parts_of_one()) {
      add_shares_of_parts(activity->active_ns);
    } else {
      add_shares();
    }
    TRY(load_.kind == SessionLoad::Kind::streams ? add_longest_name() : add_busiest_engine());
    TRY(add_gap());
    if (load_.kind == SessionLoad::Kind::engines) {
      TRY(add_ideal());
      TRY(add_transfer_waits());
    }
    return std::move(load_);
  }
  [[nodiscard]] const std::vector<DeviceActivity>& devices() const noexcept { return devices_; }  // that work

 private:
  Result<std::shared_ptr<const RangeActivity>> in_range(const TimeRange& range) {
    EventFilter filter;
    filter.range = range;
    return range_activity(query_, filter, index_);
  }

  // Engines that worked inside an execution are not counted beside it.
  void choose_devices(const RangeActivity& activity) {
    devices_ = activity.devices;
    std::erase_if(devices_, [](const DeviceActivity& each) { return each.stretch.empty(); });
    if (!mixed_) return;
    const TrackDevices devices(snapshot_);
    std::set<std::string> executing;
    for (std::size_t t = 0; t < snapshot_.tracks.size(); ++t) {
      if (shows_executions(snapshot_.tracks[t])) executing.insert(devices.label(devices.of_track(t)));
    }
    std::erase_if(devices_, [&](const DeviceActivity& each) {
      return executing.contains(each.device) == (scope_ == Scope::inside_executions);
    });
  }

  // Devices that a host feeds have streams; others run a program of their own.
  void choose_kind() {
    bool engines = false, streams = false, executions = false;
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const LaneSnapshot& one = snapshot_.lanes[lane];
      if (one.event_count == 0) continue;
      const TrackSnapshot* track = snapshot_.find_track(one.track);
      if (track != nullptr && track->track->kind == kDoubtfulTrack) load_.doubtful += one.event_count;
      if (is_device_work(kinds_.of_lane(lane))) load_.timed += one.event_count;
      const auto of_network = [&](const ProgramTables& each) { return each.network_table == one.schema->name; };
      if (std::ranges::any_of(program_tables(), of_network)) load_.over_network = true;
      if (kinds_.of_lane(lane) != WorkKind::compute) continue;
      if (track == nullptr) continue;
      (track->track->kind == "stream" ? streams : engines) = true;
      executions = executions || shows_executions(*track);
    }
    mixed_ = executions && engines;
    if (scope_ == Scope::inside_executions) {
      load_.kind = mixed_ ? SessionLoad::Kind::engines : SessionLoad::Kind::nothing;
      return;
    }
    if (!kinds_.any_device()) {
      load_.kind = kinds_.any(WorkKind::host) ? SessionLoad::Kind::host_only : SessionLoad::Kind::nothing;
      return;
    }
    load_.kind = streams || !engines ? SessionLoad::Kind::streams : SessionLoad::Kind::engines;
    if (!range_.empty()) range_ = span_of(snapshot_, kinds_, range_);
  }

  Result<SessionLoad> host_only(const RangeActivity& activity) {
    load_.active_ns = activity.host_ns;
    std::int64_t most = 0;
    for (const auto& [name, time] : activity.host.names) {
      if (time.busy_ns <= most) continue;
      most = time.busy_ns;
      load_.busiest = usual_name(snapshot_.strings->text(name));
    }
    const std::int64_t all = std::max<std::int64_t>(1, activity.host.busy_ns);
    load_.busiest_share = static_cast<double>(most) / static_cast<double>(all);
    const bool annotated = std::ranges::any_of(
        snapshot_.tracks, [&](const auto& track) { return is_annotation(track) && took_part(track); });
    if (annotated) {
      TRY(add_annotations());
    }
    return std::move(load_);
  }

  // What threads are at where annotations say more than their calls: by the innermost of both, as a path has them.
  Result<void> add_annotations() {
    const auto graph = TRY(session_graph(query_));
    Stretches works, communicates;
    std::unordered_map<StringId, std::int64_t> names;
    std::int64_t all = 0, most = 0;
    for (const GraphLane& lane : graph->lanes) {
      for (NodeIndex node = lane.first; lane.is_thread && node < lane.first + lane.count; ++node) {
        const std::int64_t begin = std::max(range_.begin_ns, graph->begin_ns[node]);
        const std::int64_t end = std::min(range_.end_ns, graph->end_ns[node]);
        if (end <= begin || graph->waits[node] != 0) continue;
        const StringId name = graph->names[node];
        const std::int64_t spent = names[name] += end - begin;
        all += end - begin;
        add_stretch(works, begin, end);
        if (collective_operation(snapshot_.strings->text(name))) add_stretch(communicates, begin, end);
        if (spent <= most) continue;
        most = spent;
        load_.busiest = usual_name(snapshot_.strings->text(name));
      }
    }
    load_.active_ns = settle(works);
    if (all > 0) load_.busiest_share = static_cast<double>(most) / static_cast<double>(all);
    const auto communicating = static_cast<double>(settle(communicates));
    load_.split.shares[static_cast<std::size_t>(TimePart::communication)] =
        communicating / static_cast<double>(std::max<std::int64_t>(1, load_.span_ns));
    return {};
  }

  // Cores that one device is made of work on one program: what any of them does, it does.
  [[nodiscard]] bool are_parts_of_one() {
    const TrackDevices devices(snapshot_);
    for (std::size_t device = 0; device < devices.count(); ++device) {
      std::size_t found = 0;
      for (const std::size_t part : devices.parts(device)) {
        found += static_cast<std::size_t>(std::ranges::count_if(
            devices_, [&](const DeviceActivity& each) { return each.device == devices.label(part); }));
      }
      joined_ = joined_ || (found > 0 && found == devices_.size());
    }
    return joined_;
  }

  void add_shares_of_parts(std::int64_t active_ns) {
    load_.active_ns = active_ns;
    mean_active_ns_ = static_cast<double>(std::max<std::int64_t>(1, active_ns));
    for (const DeviceActivity& each : devices_) {
      for (std::size_t u = 0; u < kWorkUnits; ++u) {
        const auto unit = static_cast<WorkUnit>(u);
        load_.shares[u] = std::max(load_.shares[u], static_cast<double>(each.active_ns(unit)) / mean_active_ns_);
      }
    }
  }

  void add_shares() {
    double active = 0;
    std::array<double, kWorkUnits> counts{};
    for (const DeviceActivity& each : devices_) {
      const double whole = static_cast<double>(std::max<std::int64_t>(1, each.active_ns()));
      active += static_cast<double>(each.active_ns());
      for (std::size_t u = 0; u < kWorkUnits; ++u) {
        const auto unit = static_cast<WorkUnit>(u);
        load_.shares[u] += static_cast<double>(each.active_ns(unit)) / whole;
        // The DMA engines of one chip of four may be all that was recorded; streams are there for each.
        counts[u] += load_.kind == SessionLoad::Kind::streams || each.active_ns(unit) > 0 ? 1 : 0;
      }
    }
    for (std::size_t u = 0; u < kWorkUnits; ++u) {
      load_.shares[u] /= std::max(1.0, counts[u]);
    }
    mean_active_ns_ = active / static_cast<double>(devices_.size());
    load_.active_ns = capped_integer(mean_active_ns_);
  }

  // Of another host nothing is here but the names.
  [[nodiscard]] bool took_part(const TrackSnapshot& track) const {
    return std::ranges::any_of(track.lanes, [&](std::uint32_t lane) { return snapshot_.lanes[lane].event_count > 0; });
  }

  // Sub-lanes hold what overlaps, so the fullest stands for its engine.
  Result<void> add_busiest_engine() {
    const TrackDevices devices(snapshot_);
    std::map<std::size_t, double> busiest;  // of each device
    double most = -1;
    for (std::size_t t = 0; t < snapshot_.tracks.size(); ++t) {
      const TrackSnapshot& track = snapshot_.tracks[t];
      if (work_kind_of(track) != WorkKind::compute || shows_executions(track)) continue;
      if (!took_part(track)) continue;
      std::int64_t busy_ns = 0;
      for (const std::uint32_t lane : track.lanes) {
        const lod::LaneShare share = TRY(lod::lane_share(query_.store, snapshot_, lane, range_));
        busy_ns = std::max(busy_ns, share.busy_ns);
      }
      double& of_device = busiest[devices.of_track(t)];
      of_device = std::max(of_device, static_cast<double>(busy_ns));
      if (static_cast<double>(busy_ns) > most) load_.busiest = track.track->name;
      most = std::max(most, static_cast<double>(busy_ns));
    }
    double sum = 0;
    for (const auto& [device, busy_ns] : busiest) sum += busy_ns;
    if (mean_active_ns_ > 0 && !busiest.empty()) {
      const double busy_ns = joined_ ? most : sum / static_cast<double>(busiest.size());
      load_.busiest_share = std::clamp(busy_ns / mean_active_ns_, 0.0, 1.0);
    }
    return {};
  }

  // What the programs of cores waited for on the rows of their transfers, of the time in which they ran.
  Result<void> add_transfer_waits() {
    LaneIndices lanes;
    std::int64_t ran_ns = 0;
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const LaneSnapshot& one = snapshot_.lanes[lane];
      if (one.event_count == 0) continue;
      if (kinds_.of_lane(lane) == WorkKind::compute) {
        const lod::LaneShare share = TRY(lod::lane_share(query_.store, snapshot_, lane, range_));
        ran_ns = capped_sum(ran_ns, share.busy_ns);
      } else if (kinds_.of_lane(lane) == WorkKind::transfer && one.schema && !one.schema->wait_names.empty()) {
        lanes.push_back(lane);
      }
    }
    if (lanes.empty() || ran_ns <= 0) return {};
    const QueryContext whole = query_.unmasked();
    const auto names = TRY(lod::name_statistics(whole, lanes, range_));
    const WaitNames waits(snapshot_.lanes[lanes.front()].schema.get(), *snapshot_.strings);
    for (const lod::NameStatistic& each : names.names) {
      if (!waits.contains(each.name)) continue;
      load_.waits_share += static_cast<double>(each.time_ns) / static_cast<double>(ran_ns);
      if (load_.longest_wait.empty()) load_.longest_wait = snapshot_.strings->text(each.name);
    }
    return {};
  }

  Result<void> add_longest_name() {
    LaneIndices lanes;
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (kinds_.of_lane(lane) != WorkKind::compute) continue;
      const TrackSnapshot* track = snapshot_.find_track(snapshot_.lanes[lane].track);
      if (!mixed_ || (track != nullptr && track->track->kind == "stream")) lanes.push_back(lane);
    }
    const QueryContext whole = query_.unmasked();
    const auto names = TRY(lod::name_statistics(whole, lanes, range_));
    const auto longest = std::ranges::find_if(names.names, [&](const lod::NameStatistic& each) {
      return std::ranges::none_of(lanes, [&](std::uint32_t lane) {
        return WaitNames(snapshot_.lanes[lane].schema.get(), *snapshot_.strings).contains(each.name);
      });
    });
    if (longest == names.names.end()) return {};
    load_.busiest = usual_name(snapshot_.strings->text(longest->name));
    const double all = mean_active_ns_ * static_cast<double>(devices_.size());
    if (all > 0) load_.busiest_share = std::min(1.0, static_cast<double>(longest->time_ns) / all);
    return {};
  }

  Result<void> add_gap() {
    for (const DeviceActivity& each : devices_) {
      const auto offer = [&](const TimeRange& gap, StringId before) {
        if (gap.length_ns() <= load_.gap.length_ns()) return;
        load_.gap = gap;
        load_.before_gap = before == 0 ? "" : usual_name(snapshot_.strings->text(before));
      };
      offer(each.gap, each.before_gap);
      offer({range_.begin_ns, each.stretch.begin_ns}, 0);
    }
    if (load_.gap.empty() || !kinds_.any(WorkKind::host)) return {};
    TRY(add_runtime_call());
    const auto host = TRY(host_in(load_.gap));
    std::int64_t most = 0;
    const auto choose = [&](const SelfTimes& times, std::int64_t SelfTime::*part, double least) {
      for (const auto& [name, time] : times) {
        const std::int64_t ns = time.*part;
        if (ns <= most || static_cast<double>(ns) < least * static_cast<double>(load_.gap.length_ns())) continue;
        most = ns;
        const std::string_view text = snapshot_.strings->text(name);
        load_.host_in_gap = usual_name(text);
      }
    };
    // Threads that have nothing to do wait all the time: what works comes first.
    constexpr double kMuch = 0.3, kSome = 0.05;
    choose(host.own_lines, &SelfTime::busy_ns, kMuch);
    if (most == 0) choose(host.names, &SelfTime::busy_ns, kSome);
    if (most == 0) choose(host.names, &SelfTime::wait_ns, kSome);
    if (most > 0) return {};
    // Nothing is recorded of the threads that launch: others that work told them to.
    const auto inside = TRY(in_range(load_.gap));
    choose(inside->host.own_lines, &SelfTime::busy_ns, kMuch);
    if (most == 0) choose(inside->host.names, &SelfTime::busy_ns, kSome);
    return {};
  }

  // Which call of the runtime took longest in the gap, where executions are told by the runtime. Waits say nothing.
  Result<void> add_runtime_call() {
    LaneIndices lanes;
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      const bool of_runtime = snapshot_.lanes[lane].schema && snapshot_.lanes[lane].schema->name == "trace_event";
      if (of_runtime && kinds_.of_lane(lane) == WorkKind::host && snapshot_.lanes[lane].event_count > 0)
        lanes.push_back(lane);
    }
    if (lanes.empty()) return {};
    const QueryContext whole = query_.unmasked();
    const HostTimes times = TRY(host_times(whole, lanes, load_.gap, kinds_));
    std::int64_t most = 0;
    for (const auto& [name, time] : times.names) {
      const std::string_view call = snapshot_.strings->text(name);
      if (time.busy_ns <= most || call.find("wait") != std::string_view::npos) continue;
      most = time.busy_ns;
      load_.runtime_in_gap = call;
    }
    return {};
  }

  // What the threads that launch did; all of them where nothing tells which do.
  Result<HostTimes> host_in(const TimeRange& range) {
    const QueryContext whole = query_.unmasked();
    const auto dependencies = TRY(session_dependencies(whole));
    std::set<LaneNumber> sources;
    for (const Dependency& each : dependencies->all()) {
      const LaneSnapshot* target = snapshot_.find_lane(lane_of(each.target));
      if (target != nullptr && is_device_work(work_kind_of(*snapshot_.find_track(target->track)))) {
        sources.insert(lane_of(each.source));
      }
    }
    std::set<std::size_t> threads;
    for (std::size_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (kinds_.of_lane(lane) == WorkKind::host && sources.contains(snapshot_.lanes[lane].number())) {
        threads.insert(kinds_.thread_of_lane(lane));
      }
    }
    LaneIndices lanes;
    for (std::uint32_t lane = 0; lane < snapshot_.lanes.size(); ++lane) {
      if (kinds_.of_lane(lane) != WorkKind::host || snapshot_.lanes[lane].event_count == 0) continue;
      if (threads.empty() || threads.contains(kinds_.thread_of_lane(lane))) lanes.push_back(lane);
    }
    return host_times(whole, lanes, range, kinds_);
  }

  // max(operations / peak, bytes of device memory / bandwidth), of the slowest device.
  Result<void> add_ideal() {
    const QueryContext whole = query_.unmasked();
    const TrackDevices devices(snapshot_);
    const auto figures = TRY(vendor_figures(whole, devices, range_));
    std::set<std::string> present;
    for (std::size_t t = 0; t < snapshot_.tracks.size(); ++t) {
      if (took_part(snapshot_.tracks[t])) present.insert(devices.label(devices.of_track(t)));
    }
    std::set<std::string> parts;  // of devices that have figures as a whole
    for (std::size_t device = 0; device < devices.count(); ++device) {
      for (const std::size_t part : devices.parts(device)) parts.insert(devices.label(part));
    }
    const auto for_each_known = [&](const std::vector<DeviceFigures>& all, const auto& visit) {
      for (const DeviceFigures& each : all) {
        const DevicePeaks peaks = device_peaks(snapshot_, each.device);
        if (peaks.flops <= 0 || parts.contains(each.device) || !present.contains(each.device)) continue;
        visit(device_work(each.figures), peaks);
      }
    };
    double ideal_ns = 0;
    for_each_known(figures, [&](const DeviceWork& work, const DevicePeaks& peaks) {
      const double memory_ns = peaks.bandwidth > 0 ? work.memory_bytes / peaks.bandwidth * 1e9 : 0;
      ideal_ns = std::max({ideal_ns, work.flops / peaks.flops * 1e9, memory_ns});
    });
    if (ideal_ns > 0 && ideal_ns <= mean_active_ns_) load_.ideal_ns = ideal_ns;
    if (ideal_ns <= 0 || mean_active_ns_ <= 0) return {};
    const auto of_session = TRY(vendor_figures(whole, devices, {}));
    double of_peak = 0;
    std::size_t known = 0;
    for_each_known(of_session, [&](const DeviceWork& work, const DevicePeaks& peaks) {
      if (work.active_ns > 0) of_peak += work.flops / peaks.flops * 1e9 / work.active_ns;
      ++known;
    });
    if (of_peak > 0) load_.of_peak = of_peak / static_cast<double>(known);
    return {};
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  const ActivityIndex* index_;
  TimeRange range_;
  WorkKinds kinds_;
  SessionLoad load_;
  std::vector<DeviceActivity> devices_;
  double mean_active_ns_ = 0;
  bool joined_ = false;  // all devices are parts of one
  bool mixed_ = false;   // executions, and engines inside some of them
  Scope scope_;
};

}  // namespace

double SessionLoad::idle_share() const noexcept {
  if (span_ns <= 0) return 0;
  return std::max(0.0, 1 - static_cast<double>(active_ns) / static_cast<double>(span_ns));
}

namespace {

struct PartLoad {
  SessionLoad load;
  std::vector<DeviceActivity> devices;
};

// Means over the devices of all hosts, each measured in the time in which its host took part; gaps are the longest.
SessionLoad joined_load(const Snapshot& snapshot, const std::vector<PartLoad>& parts) {
  const auto& largest = std::max_element(parts.begin(), parts.end(), [](const PartLoad& a, const PartLoad& b) {
                          return std::tie(a.load.kind, a.load.active_ns) < std::tie(b.load.kind, b.load.active_ns);
                        })->load;
  SessionLoad joined = largest;
  std::vector<DeviceActivity> devices;
  double count = 0, span = 0, active = 0, busiest = 0, of_peak = 0, empty = 0;
  joined.shares = {};
  joined.split = {};
  std::array<double, kWorkUnits> counts{};
  for (const auto& [load, of_part] : parts) {
    if (load.kind != largest.kind) continue;
    const double weight = static_cast<double>(std::max<std::size_t>(1, of_part.size()));
    devices.insert(devices.end(), of_part.begin(), of_part.end());
    count += weight;
    span += weight * static_cast<double>(load.span_ns);
    active += weight * static_cast<double>(load.active_ns);
    empty += weight * static_cast<double>(load.empty_ns);
    busiest += weight * load.busiest_share;
    for (std::size_t part = 0; part < kTimeParts; ++part) joined.split.shares[part] += weight * load.split.shares[part];
    of_peak += weight * load.of_peak.value_or(0);
    if (load.ideal_ns) joined.ideal_ns = std::max(joined.ideal_ns.value_or(0), *load.ideal_ns);
    for (std::size_t u = 0; u < kWorkUnits; ++u) {
      joined.shares[u] += weight * load.shares[u];
      counts[u] += load.kind == SessionLoad::Kind::streams || load.shares[u] > 0 ? weight : 0;
    }
    if (load.gap.length_ns() <= joined.gap.length_ns()) continue;
    joined.gap = load.gap;
    joined.before_gap = load.before_gap;
    joined.host_in_gap = load.host_in_gap;
    joined.runtime_in_gap = load.runtime_in_gap;
  }
  if (!devices.empty()) {
    const bool executions = std::ranges::any_of(snapshot.tracks, shows_executions);
    joined.device = spoken_devices(snapshot, devices, !executions);
  }
  for (std::size_t u = 0; u < kWorkUnits; ++u) {
    joined.shares[u] /= std::max(1.0, counts[u]);
  }
  joined.span_ns = capped_integer(span / count);
  joined.active_ns = capped_integer(active / count);
  joined.empty_ns = capped_integer(empty / count);
  joined.busiest_share = busiest / count;
  for (double& share : joined.split.shares) share /= count;
  if (joined.of_peak) joined.of_peak = of_peak / count;
  return joined;
}

}  // namespace

Result<SessionLoad> executed_load(const QueryContext& query, const TimeRange& active, const ActivityIndex* index) {
  return LoadMeasure(query, active, index, Scope::inside_executions).run();
}

Result<SessionLoad> session_load(const QueryContext& query, const TimeRange& active, const ActivityIndex* index) {
  const std::vector<SessionPart> parts = session_parts(query.snapshot);
  if (parts.size() == 1) return LoadMeasure(query, active, index).run();
  std::vector<PartLoad> loads;
  for (const SessionPart& part : parts) {
    const QueryContext alone = part_of(query, part);
    const auto stretch = TRY(find_active_stretch(alone));
    const TimeRange works = stretch.value_or(TimeRange{0, 0});
    // The index is of all hosts.
    LoadMeasure measure(alone, {std::max(active.begin_ns, works.begin_ns), std::min(active.end_ns, works.end_ns)},
                        nullptr);
    SessionLoad load = TRY(measure.run());
    loads.push_back({std::move(load), measure.devices()});
  }
  return joined_load(*query.snapshot, loads);
}

}  // namespace accelscope::analysis
