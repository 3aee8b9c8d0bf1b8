#include "core/analysis/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/analysis/busy_time.h"
#include "core/analysis/launched_time.h"
#include "core/analysis/track_devices.h"
#include "core/base/format.h"
#include "core/query/range_statistics.h"

namespace accelscope {
namespace {

constexpr double kSaturated = 0.8, kWaitsMuch = 0.3, kHalf = 0.5;

constexpr std::array<VerdictRule, 8> kRules = {{
    {"bound by memory", {{{Load::dma, kSaturated}, {Load::engine_wait, kWaitsMuch}}}, 2},
    {"bound by memory", {{{Load::dma, kSaturated}, {Load::compute, 0, kHalf}}}, 2},
    {"bound by compute", {{{Load::compute, kSaturated}}}, 1},
    {"bound by communication", {{{Load::collectives, kHalf}, {Load::engine_wait, kWaitsMuch}}}, 2},
    {"bound by communication", {{{Load::collectives, kHalf}, {Load::compute, 0, kHalf}}}, 2},
    {"the device is kept busy", {{{Load::streams, kSaturated}}}, 1},
    {"the device mostly idles, look at the host", {{{Load::streams, 0, kHalf}}}, 1},
    {"the engines wait for each other or for their data", {{{Load::engine_wait, kHalf}}}, 1},
}};

// Which tracks make up a share of which at least one must be under way.
struct LoadTracks {
  std::string_view kind;
  Load load;
};
constexpr std::array<LoadTracks, 5> kTracks = {{{"engine", Load::compute},
                                                {"dma_queue", Load::dma},
                                                {"collective", Load::collectives},
                                                {"cc_core", Load::collectives},
                                                {"stream", Load::streams}}};

std::optional<Load> load_of(const TrackSnapshot& track) {
  if (!track.schema || track.schema->kind != EventKind::slice) return std::nullopt;
  const auto* found =
      std::find_if(kTracks.begin(), kTracks.end(), [&](const LoadTracks& t) { return t.kind == track.track->kind; });
  return found == kTracks.end() ? std::nullopt : std::optional(found->load);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Tracks of one device that count as one: busy while any of them is.
struct Union {
  Load load;
  LaneIndices lanes;
};

class LoadMeasure {
 public:
  LoadMeasure(const QueryContext& query, const TimeRange& active) : query_(query), active_(active) {
    load_.active_ns = active.length_ns();
  }

  Result<SessionLoad> run() {
    const TrackDevices devices(*query_.snapshot);
    if (const Result<void> added = add_tracks(devices); !added) return added.error();
    if (const Result<void> scanned = scan_unions(); !scanned) return scanned.error();
    return std::move(load_);
  }

 private:
  [[nodiscard]] double share_of(std::int64_t ns) const noexcept {
    return std::min(1.0, static_cast<double>(ns) / static_cast<double>(load_.active_ns));
  }
  void set(Load load, double share) { load_.shares[static_cast<std::size_t>(load)] = share; }

  Result<void> add_tracks(const TrackDevices& devices) {
    std::map<std::size_t, double> busiest;  // engine of each device
    std::vector<double> waits;
    std::map<std::pair<std::size_t, Load>, std::size_t> places;
    double most = -1;
    for (std::size_t t = 0; t < query_.snapshot->tracks.size(); ++t) {
      const TrackSnapshot& track = query_.snapshot->tracks[t];
      const std::optional<Load> load = load_of(track);
      if (!load) continue;
      if (*load != Load::compute) {
        const auto [place, is_new] = places.try_emplace({devices.of_track(t), *load}, unions_.size());
        if (is_new) unions_.push_back({*load, {}});
        LaneIndices& lanes = unions_[place->second].lanes;
        lanes.insert(lanes.end(), track.lanes.begin(), track.lanes.end());
        continue;
      }
      LaneShare whole;  // of the track: sub-lanes hold what overlaps, so the fullest stands for it
      for (const std::uint32_t lane : track.lanes) {
        const Result<LaneShare> share = lane_share(query_.store, *query_.snapshot, lane, active_);
        if (!share) return share.error();
        whole.event_count += share->event_count;
        whole.busy_ns = std::max(whole.busy_ns, share->busy_ns);
        whole.wait_ns = std::max(whole.wait_ns, share->wait_ns);
      }
      if (whole.event_count == 0) continue;
      const double busy = share_of(whole.busy_ns);
      double& of_device = busiest[devices.of_track(t)];
      of_device = std::max(of_device, busy);
      if (busy > most) load_.busiest_engine = track.track->name;
      most = std::max(most, busy);
      waits.push_back(share_of(whole.wait_ns));
    }
    if (waits.empty()) return {};
    std::vector<double> shares;
    for (const auto& [device, share] : busiest) shares.push_back(share);
    set(Load::compute, mean(shares));
    set(Load::engine_wait, mean(waits));
    return {};
  }

  Result<void> scan_unions() {
    LaneIndices lanes;
    std::vector<std::size_t> union_of_lane(query_.snapshot->lanes.size(), 0);
    for (std::size_t i = 0; i < unions_.size(); ++i) {
      for (const std::uint32_t lane : unions_[i].lanes) union_of_lane[lane] = i;
      lanes.insert(lanes.end(), unions_[i].lanes.begin(), unions_[i].lanes.end());
    }
    std::vector<std::vector<CoveredTime>> covered(query_.pool.concurrency(), std::vector<CoveredTime>(unions_.size()));
    const auto add_chunk = [&](const ScannedChunk& chunk, const ScanWindow& window, std::size_t worker) {
      add_busy(chunk, window, *query_.snapshot->strings, covered[worker][union_of_lane[chunk.lane_index]]);
    };
    const auto end_window = [&](const ScanWindow&, std::size_t worker) {
      for (CoveredTime& busy : covered[worker]) busy.close_window();
    };
    const Result<void> scanned = scan_windows(query_, lanes, active_, {.chunk = add_chunk, .end = end_window});
    if (!scanned) return scanned;
    std::map<Load, std::vector<double>> shares;  // of each device
    for (std::size_t i = 0; i < unions_.size(); ++i) {
      CoveredTime all;
      for (const std::vector<CoveredTime>& worker : covered) all.add(worker[i]);
      shares[unions_[i].load].push_back(share_of(all.length_ns()));
    }
    for (const auto& [load, of_devices] : shares) set(load, mean(of_devices));
    return {};
  }

  const QueryContext& query_;
  const TimeRange active_;
  SessionLoad load_;
  std::vector<Union> unions_;
};

bool holds(const VerdictRule& rule, const SessionLoad& load) {
  for (std::size_t i = 0; i < rule.condition_count; ++i) {
    const LoadCondition& condition = rule.conditions[i];
    const std::optional<double> share = load.share(condition.load);
    if (!share || *share < condition.least || *share > condition.most) return false;
  }
  return true;
}

std::string subject_of(Load load, const SessionLoad& session) {
  switch (load) {
    case Load::compute:
      return session.busiest_engine + " is busy";
    case Load::engine_wait:
      return "engines wait";
    case Load::dma:
      return "DMA is busy";
    case Load::collectives:
      return "collectives run";
    case Load::streams:
      return "streams are busy";
  }
  return "";
}

std::string percent(double share) {  // whole ones are enough to judge by
  return share < 0.1 ? format_share(share) : fmt::format("{:.0f} %", share * 100);
}

std::string said(std::span<const LoadCondition> conditions, const SessionLoad& load) {
  std::string text;
  for (const LoadCondition& condition : conditions) {
    const std::optional<double> share = load.share(condition.load);
    if (!share) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", subject_of(condition.load, load), percent(*share));
    if (text.find("of the active") == std::string::npos) {
      text += " of the active " + format_duration(static_cast<double>(load.active_ns));
    }
  }
  return text;
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string words_of(std::string kind) {
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return kind;
}

}  // namespace

std::span<const VerdictRule> verdict_rules() noexcept { return kRules; }

Result<SessionLoad> session_load(const QueryContext& query, const TimeRange& active) {
  if (active.empty()) return SessionLoad{};
  return LoadMeasure(query, active).run();
}

std::string bound_text(const SessionLoad& load) {
  const bool any =
      std::any_of(load.shares.begin(), load.shares.end(), [](const auto& share) { return share.has_value(); });
  if (!any) return "Cannot tell what bounds it: there are no engine, DMA or stream tracks";
  for (const VerdictRule& rule : kRules) {
    if (!holds(rule, load)) continue;
    return sentence(fmt::format("{}: {}", said({rule.conditions.data(), rule.condition_count}, load), rule.conclusion));
  }
  constexpr std::array<LoadCondition, 5> kAll = {
      {{Load::compute}, {Load::engine_wait}, {Load::dma}, {Load::collectives}, {Load::streams}}};
  return sentence(fmt::format("{}: nothing stands out", said(kAll, load)));
}

std::optional<WorstLine> worst_line(const SourceLines& lines, const SourceLines& launched) {
  const SourceLine* on_device = nullptr;
  const SourceLine* on_host = nullptr;
  const SourceLine* launches = nullptr;
  const auto cost = [](const SourceLine& line) { return std::pair(line.wait_ns, line.busy_ns); };
  for (const SourceLine& line : lines.lines) {
    if (line.busy_ns == 0 && line.wait_ns == 0) continue;
    const SourceLine*& worst = line.host_ns < line.busy_ns + line.wait_ns ? on_device : on_host;
    if (worst == nullptr || cost(line) > cost(*worst)) worst = &line;
  }
  for (const SourceLine& line : launched.lines) {
    if (line.busy_ns > 0 && (launches == nullptr || line.busy_ns > launches->busy_ns)) launches = &line;
  }
  const auto found = [](const SourceLine& line, LineCost why, std::int64_t ns) {
    return WorstLine{line.path, line.line, why, ns};
  };
  if (on_device != nullptr && on_device->wait_ns > 0) return found(*on_device, LineCost::waits, on_device->wait_ns);
  if (on_device != nullptr) return found(*on_device, LineCost::works, on_device->busy_ns);
  if (launches != nullptr) return found(*launches, LineCost::launches, launches->busy_ns);
  if (on_host == nullptr) return std::nullopt;
  return found(*on_host, LineCost::works_on_host, std::max(on_host->busy_ns, on_host->wait_ns));
}

std::string line_text(const WorstLine& line) {
  const std::string file = line.path.substr(line.path.find_last_of("/\\") + 1);
  const std::string time = format_duration(static_cast<double>(line.ns));
  switch (line.cost) {
    case LineCost::waits:
      return fmt::format("{}:{} waits {}", file, line.line, time);
    case LineCost::works:
      return fmt::format("{}:{} works {}", file, line.line, time);
    case LineCost::launches:
      return fmt::format("{}:{} launches {} of device work", file, line.line, time);
    case LineCost::works_on_host:
      return fmt::format("{}:{} works {} on the host", file, line.line, time);
  }
  return "";
}

std::string missing_text(const Snapshot& snapshot) {
  const auto worst =
      std::max_element(snapshot.quality.begin(), snapshot.quality.end(),
                       [](const QualityEntry& a, const QualityEntry& b) { return a.severity < b.severity; });
  if (worst == snapshot.quality.end()) return "";
  return worst->count > 1 ? fmt::format("{} ({})", words_of(worst->kind), format_count(worst->count))
                          : words_of(worst->kind);
}

std::string Verdict::text() const {
  std::string all = bound;
  if (worst) all += "; " + line_text(*worst);
  if (!missing.empty()) all += "; data quality: " + missing;
  return all;
}

Result<Verdict> session_verdict(const QueryContext& query, const std::optional<TimeRange>& active,
                                const SourceLines& lines) {
  const Result<SessionLoad> load = session_load(query, active.value_or(TimeRange{0, 0}));
  if (!load) return load.error();
  Verdict verdict;
  verdict.bound = bound_text(*load);
  const bool host_alone = std::all_of(lines.lines.begin(), lines.lines.end(), [](const SourceLine& line) {
    return line.host_ns == line.busy_ns + line.wait_ns;
  });
  if (host_alone && !lines.lines.empty()) {
    const auto launched = launched_time(query);
    if (!launched) return launched.error();
    verdict.worst = worst_line(lines, **launched);
  } else {
    verdict.worst = worst_line(lines);
  }
  verdict.missing = missing_text(*query.snapshot);
  return verdict;
}

}  // namespace accelscope
