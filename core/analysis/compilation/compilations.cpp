#include "core/analysis/compilation/compilations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/analysis/compilation/compile_events.h"
#include "core/analysis/source/own_code.h"
#include "core/analysis/statistics/estimates.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/executors.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

bool call_begins_before(const LaunchingCall& a, const LaunchingCall& b) {
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

// What a lane of a host is to calls.
struct HostLane {
  std::uint32_t lane = 0;
  std::size_t thread = 0;
  std::int64_t rank = 0;  // outer ones first
  bool annotates = false;
};

// Begins of launches, for asking whether a call holds one.
class LaunchTimes {
 public:
  void add(std::int64_t begin_ns) { begins_.push_back(begin_ns); }
  void sort() { std::ranges::sort(begins_); }
  [[nodiscard]] bool empty() const noexcept { return begins_.empty(); }
  [[nodiscard]] bool any_in(std::int64_t begin_ns, std::int64_t end_ns) const {
    const auto first = std::lower_bound(begins_.begin(), begins_.end(), begin_ns);
    return first != begins_.end() && *first < end_ns;
  }

 private:
  std::vector<std::int64_t> begins_;
};

class CallFinder {
 public:
  explicit CallFinder(const QueryContext& query) : query_(query), snapshot_(*query.snapshot), threads_(snapshot_) {}

  Result<LaunchingCalls> run(const Dependencies* known) {
    TRY(find_launches(known));
    find_lanes();
    if (lanes_.empty()) return std::move(calls_);
    TRY(count());
    TRY(choose());
    std::ranges::sort(calls_.list, call_begins_before);
    drop_inner();
    drop_launches();
    return std::move(calls_);
  }

 private:
  struct Word {
    CompileWord word = CompileWord::none;
    bool waits = false;
  };
  using CountKey = std::pair<std::uint32_t, StringId>;  // lane, name
  struct CountHash {
    std::size_t operator()(const CountKey& key) const noexcept {
      return (std::size_t{key.first} << 32U | key.second) * 0x9e3779b97f4a7c15ULL;
    }
  };
  using Counts = std::unordered_map<CountKey, std::uint64_t, CountHash>;
  struct Counter {
    Counts counts;
    std::vector<std::pair<std::size_t, TimeRange>> waits;
    std::uint64_t waits_left_out = 0;
    std::unordered_map<StringId, Word> words;
    Word word_of(const StringPool& strings, StringId name) {
      const auto [place, is_new] = words.try_emplace(name);
      if (is_new) place->second = {compile_word_of(strings.text(name)), is_waiting_call(strings.text(name))};
      return place->second;
    }
    auto measures() { return std::tie(counts, waits, waits_left_out); }
  };

  Result<void> find_launches(const Dependencies* known) {
    const WorkKinds kinds(snapshot_);
    const ProcessNumbers processes(snapshot_);
    calls_.launches.resize(threads_.count());
    calls_.waits.resize(threads_.count());
    calls_.process_of_thread.resize(threads_.count());
    of_thread_.resize(threads_.count());
    of_process_.resize(processes.count());
    for (std::size_t thread = 0; thread < threads_.count(); ++thread) {
      if (!threads_.lanes(thread).empty())
        calls_.process_of_thread[thread] = processes.of_track(snapshot_.lanes[threads_.lanes(thread).front()].track);
    }
    const QueryContext whole = query_.unmasked();
    auto launches = TRY(host_launches(whole, kinds, known));
    any_launch_ = !launches.empty();
    for (HostLaunch& launch : launches) {
      of_thread_[launch.thread].add(launch.begin_ns);
      calls_.launches[launch.thread].push_back(launch);
    }
    for (LaunchTimes& times : of_thread_) times.sort();
    find_step_threads(processes);
    for (std::vector<HostLaunch>& list : calls_.launches) {
      std::ranges::stable_sort(list, [](const HostLaunch& a, const HostLaunch& b) {
        return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.source < b.source;
      });
    }
    return {};
  }

  void find_step_threads(const ProcessNumbers& processes) {
    calls_.step_threads.resize(processes.count());
    for (std::size_t process = 0; process < processes.count(); ++process) {
      std::vector<std::size_t> own, of_source;
      for (std::size_t thread = 0; thread < threads_.count(); ++thread) {
        const std::size_t of = calls_.process_of_thread[thread];
        if (calls_.launches[thread].empty() || processes.scope(of) != processes.scope(process)) continue;
        (of == process ? own : of_source).push_back(thread);
      }
      calls_.step_threads[process] = own.empty() ? std::move(of_source) : std::move(own);
      for (const std::size_t thread : calls_.step_threads[process]) {
        for (const HostLaunch& launch : calls_.launches[thread]) of_process_[process].add(launch.begin_ns);
      }
      of_process_[process].sort();
    }
  }

  void find_lanes() {
    for (const TrackSnapshot& track : snapshot_.tracks) {
      const auto thread = threads_.of_track(track.track->number);
      const bool annotates = is_annotation(track);
      if (!thread || (!annotates && work_kind_of(track) != WorkKind::host)) continue;
      const LaunchTimes& times = annotates ? of_process_[calls_.process_of_thread[*thread]] : of_thread_[*thread];
      for (const std::uint32_t lane : track.lanes) {
        if (snapshot_.lanes[lane].event_count == 0) continue;
        if (any_launch_ && times.empty() && !annotates) continue;  // nor are programs called from there
        const std::int64_t rank = track.track->order * 4096 + snapshot_.lanes[lane].data->lane.depth;
        lanes_.push_back({lane, *thread, rank, annotates});
      }
    }
    std::ranges::stable_sort(lanes_, [](const HostLane& a, const HostLane& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.rank < b.rank;
    });
    lane_places_.resize(snapshot_.lanes.size(), lanes_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) lane_places_[lanes_[i].lane] = i;
  }

  [[nodiscard]] bool launches(const HostLane& lane, std::int64_t begin_ns, std::int64_t end_ns) const {
    if (!any_launch_) return !lane.annotates;
    const LaunchTimes& times =
        lane.annotates ? of_process_[calls_.process_of_thread[lane.thread]] : of_thread_[lane.thread];
    return times.any_in(begin_ns, end_ns);
  }

  // How often each name launches on each lane, which is a depth of a thread: what lies within itself lies on others and
  // does not recur by that. And where threads wait.
  Result<void> count() {
    const QueryContext whole = query_.unmasked();
    LaneIndices lanes;
    for (const HostLane& lane : lanes_) lanes.push_back(lane.lane);
    const auto found = gather(whole, lanes, TimeRange{}, Counter{}, [&](const ScannedChunk& chunk, Counter& counter) {
      const HostLane& lane = lanes_[lane_places_[chunk.lane_index]];
      const WaitNames waits(chunk.lane.schema.get(), *snapshot_.strings);
      chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
        const StringId name = block.name(i);
        const Word word = counter.word_of(*snapshot_.strings, name);
        const std::int64_t begin = block.begin_ns(i), end = block.end_ns(i);
        if (!lane.annotates && (word.waits || waits.contains(name))) {
          if (counter.waits.size() < LaunchingCalls::kMost) {
            counter.waits.emplace_back(lane.thread, TimeRange{begin, end});
          } else {
            ++counter.waits_left_out;
          }
          return;  // what waits launches nothing, though a flow may lead from it to what it waits for
        }
        const bool is_named = word.word == CompileWord::program_call || word.word == CompileWord::step;
        if (is_named || launches(lane, begin, end)) ++counter.counts[{lane.lane, name}];
      });
    });
    if (!found) return found.error();
    take(*found);
    return {};
  }

  void take(const Counter& found) {
    std::unordered_map<std::string, std::uint32_t> numbers;
    const auto function_of = [&](StringId name) {
      const auto known = functions_.find(name);
      if (known != functions_.end()) return known->second;
      const std::string text(without_call_number(snapshot_.strings->text(name)));
      const auto [place, is_new] = numbers.try_emplace(text, static_cast<std::uint32_t>(calls_.functions.size()));
      if (is_new) calls_.functions.push_back(text);
      return functions_[name] = place->second;
    };
    for (const auto& [key, count] : found.counts) counts_[{key.first, function_of(key.second)}] += count;
    for (const auto& [thread, wait] : found.waits) calls_.waits[thread].push_back(wait);
    calls_.waits_left_out += found.waits_left_out;
    for (const auto& [name, function] : functions_) words_[name] = compile_word_of(snapshot_.strings->text(name));
    for (std::vector<TimeRange>& waits : calls_.waits) {
      std::ranges::sort(waits, {}, &TimeRange::begin_ns);
    }
    for (std::size_t thread = 0; thread < calls_.launches.size(); ++thread) {
      const std::vector<TimeRange>& waits = calls_.waits[thread];
      std::erase_if(calls_.launches[thread], [&](const HostLaunch& launch) {
        auto at = std::ranges::lower_bound(waits, launch.begin_ns, {}, &TimeRange::begin_ns);
        for (; at != waits.end() && at->begin_ns == launch.begin_ns; ++at) {
          if (at->end_ns == launch.end_ns) return true;
        }
        return false;
      });
    }
  }

  // Lane by lane of every thread, outer ones first: what lies within a chosen call is none.
  Result<void> choose() {
    chosen_.resize(threads_.count());
    for (std::size_t depth = 0;; ++depth) {
      LaneIndices wave;
      for (std::size_t first = 0, i = 0; i < lanes_.size(); ++i) {
        if (lanes_[i].thread != lanes_[first].thread) first = i;
        if (i - first == depth) wave.push_back(lanes_[i].lane);
      }
      if (wave.empty()) return {};
      const auto found = gather(query_, wave, TimeRange{}, std::vector<LaunchingCall>(),
                                [&](const ScannedChunk& chunk, auto& calls) { choose_of(chunk, calls); });
      if (!found) return found.error();
      take(*found);
      for (auto& levels : chosen_) {
        for (std::vector<TimeRange>& level : levels) {
          std::ranges::sort(level, {}, &TimeRange::begin_ns);
        }
      }
    }
  }

  void choose_of(const ScannedChunk& chunk, std::vector<LaunchingCall>& found) const {
    const HostLane& lane = lanes_[lane_places_[chunk.lane_index]];
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const auto function = functions_.find(block.name(i));
      if (function == functions_.end()) return;
      LaunchingCall call{.begin_ns = block.begin_ns(i),
                         .end_ns = block.end_ns(i),
                         .event = block.id(i),
                         .thread = lane.thread,
                         .function = function->second,
                         .name = block.name(i)};
      if (is_call(lane, call) && !lies_in_chosen(call)) found.push_back(call);
    });
  }

  // Says its level too.
  [[nodiscard]] bool is_call(const HostLane& lane, LaunchingCall& call) const {
    const CompileWord word = words_.at(call.name);
    if (word == CompileWord::program_call) {
      call.level = CallLevel::program;
      return true;
    }
    call.level = lane.annotates || word == CompileWord::step ? CallLevel::step : CallLevel::call;
    const auto count = counts_.find({lane.lane, call.function});
    const bool recurs = count != counts_.end() && count->second > 1;
    if (word == CompileWord::step) return true;
    return recurs && call.end_ns > call.begin_ns && launches(lane, call.begin_ns, call.end_ns);
  }

  [[nodiscard]] bool lies_in_chosen(const LaunchingCall& call) const {
    const std::vector<TimeRange>& level = chosen_[call.thread][static_cast<std::size_t>(call.level)];
    const auto after = std::ranges::upper_bound(level, call.begin_ns, {}, &TimeRange::begin_ns);
    return after != level.begin() && call.end_ns <= std::prev(after)->end_ns;
  }

  void take(const std::vector<LaunchingCall>& found) {
    for (const LaunchingCall& call : found) {
      if (calls_.list.size() >= LaunchingCalls::kMost) {
        ++calls_.left_out;
        continue;
      }
      chosen_[call.thread][static_cast<std::size_t>(call.level)].push_back({call.begin_ns, call.end_ns});
      calls_.list.push_back(call);
    }
  }

  // Of two that were found on lanes of different kinds the inner one may have come first.
  void drop_inner() {
    std::vector<std::array<std::int64_t, 3>> reached(threads_.count(), {INT64_MIN, INT64_MIN, INT64_MIN});
    std::erase_if(calls_.list, [&](const LaunchingCall& call) {
      std::int64_t& end = reached[call.thread][static_cast<std::size_t>(call.level)];
      if (call.end_ns <= end) return true;
      end = call.end_ns;
      return false;
    });
  }

  // What lies in no call that is kept, of its own thread or a step, is never asked for.
  void drop_launches() {
    std::vector<CoveredTime> of_thread(calls_.launches.size()), of_steps(calls_.step_threads.size());
    for (const LaunchingCall& call : calls_.list) {
      of_thread[call.thread].add(call.begin_ns, call.end_ns);
      if (call.level == CallLevel::step)
        of_steps[calls_.process_of_thread[call.thread]].add(call.begin_ns, call.end_ns);
    }
    for (std::size_t process = 0; process < of_steps.size(); ++process) {
      of_steps[process].take_stretches([&](std::int64_t begin, std::int64_t end) {
        for (const std::size_t thread : calls_.step_threads[process]) of_thread[thread].add(begin, end);
      });
    }
    for (std::size_t thread = 0; thread < calls_.launches.size(); ++thread) {
      std::vector<HostLaunch>& launches = calls_.launches[thread];
      std::vector<HostLaunch> retained;
      auto at = launches.begin();
      of_thread[thread].take_stretches([&](std::int64_t begin, std::int64_t end) {
        at = std::lower_bound(at, launches.end(), begin,
                              [](const HostLaunch& each, std::int64_t ns) { return each.begin_ns < ns; });
        for (; at != launches.end() && at->begin_ns < end; ++at) retained.push_back(*at);
      });
      launches = std::move(retained);
    }
  }

  const QueryContext& query_;
  const Snapshot& snapshot_;
  HostThreads threads_;
  LaunchingCalls calls_;
  bool any_launch_ = false;
  std::vector<LaunchTimes> of_thread_, of_process_;
  std::vector<HostLane> lanes_;           // by thread, outer ones first
  std::vector<std::size_t> lane_places_;  // by lane of the snapshot
  std::unordered_map<StringId, std::uint32_t> functions_;
  std::unordered_map<StringId, CompileWord> words_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts_;  // by lane and function
  std::vector<std::array<std::vector<TimeRange>, 3>> chosen_;                // by thread and level
};

}  // namespace

Result<LaunchingCalls> find_launching_calls(const QueryContext& query, const Dependencies* known) {
  return CallFinder(query).run(known);
}

namespace {

using Stretch = std::pair<std::int64_t, std::int64_t>;

[[nodiscard]] std::vector<TimeRange> joined_stretches(const std::vector<TimeRange>& stretches) {
  CoveredTime covered;
  for (const TimeRange& each : stretches) covered.add(each.begin_ns, each.end_ns);
  std::vector<TimeRange> joined;
  covered.take_stretches([&](std::int64_t begin, std::int64_t end) { joined.push_back({begin, end}); });
  return joined;
}

[[nodiscard]] std::int64_t covered_ns(const std::vector<Stretch>& parts) {
  CoveredTime covered;
  for (const auto& [begin, end] : parts) covered.add(begin, end);
  covered.close_window();
  return covered.length_ns();
}

[[nodiscard]] bool of_one_host(const std::string& a, const std::string& b) { return a == b || a.empty() || b.empty(); }

// The processes that may have printed a line: those of its source or, where no calls are recorded there, those of its
// host.
[[nodiscard]] std::vector<std::size_t> printers_of(TrackNumber track, const ProcessNumbers& processes,
                                                   const std::vector<bool>& has_threads) {
  const std::size_t own = processes.of_track(track);
  std::vector<std::size_t> of_source, of_host;
  for (std::size_t process = 0; process < has_threads.size(); ++process) {
    if (!has_threads[process]) continue;
    if (processes.scope(process) == processes.scope(own)) of_source.push_back(process);
    if (of_one_host(processes.host(own), processes.host(process))) of_host.push_back(process);
  }
  return of_source.empty() ? of_host : of_source;
}

}  // namespace

struct CallCosts::Parts {
  std::vector<Stretch> compiling, launching, waiting, work;
};

CallCosts::CallCosts(const Snapshot& snapshot, const LaunchingCalls& calls, const std::vector<CompileEvent>& events)
    : calls_(&calls), compiling_(calls.process_of_thread.size()) {
  const ProcessNumbers processes(snapshot);
  lines_.resize(processes.count());
  std::vector<bool> has_threads(processes.count());
  for (const std::size_t process : calls.process_of_thread) has_threads[process] = true;
  std::map<TrackNumber, std::vector<std::size_t>> printers_of_track;
  for (const CompileEvent& event : events) {
    if (event.kind == CompileKind::cache_hit || event.basis == CompileBasis::calls) continue;
    if (event.thread) {
      compiling_[*event.thread].push_back({event.begin_ns, event.end_ns});
      continue;
    }
    const auto [printers, is_new] = printers_of_track.try_emplace(event.track);
    if (is_new) printers->second = printers_of(event.track, processes, has_threads);
    for (const std::size_t process : printers->second) lines_[process].push_back({event.begin_ns, event.end_ns});
  }
  for (std::vector<TimeRange>& stretches : compiling_) stretches = joined_stretches(stretches);
  for (std::vector<TimeRange>& stretches : lines_) stretches = joined_stretches(stretches);
}

void CallCosts::add_long_calls(const std::vector<CompileEvent>& events) {
  for (const CompileEvent& event : events) {
    if (event.basis != CompileBasis::calls || event.kind == CompileKind::cache_hit) continue;
    compiling_[*event.thread].push_back({event.begin_ns, event.begin_ns + event.cost_ns});
  }
  for (std::vector<TimeRange>& stretches : compiling_) stretches = joined_stretches(stretches);
}

void CallCosts::add_compiling(const std::vector<TimeRange>& stretches, const TimeRange& within, Parts& parts) const {
  auto at = std::partition_point(stretches.begin(), stretches.end(),
                                 [&](const TimeRange& each) { return each.end_ns <= within.begin_ns; });
  for (; at != stretches.end() && at->begin_ns < within.end_ns; ++at) {
    parts.compiling.emplace_back(std::max(at->begin_ns, within.begin_ns), std::min(at->end_ns, within.end_ns));
  }
}

void CallCosts::add_launches(std::size_t thread, const LaunchingCall& call, const TimeRange& within,
                             const TimeRange& range, Parts& parts, CallCost& cost) const {
  const std::vector<HostLaunch>& launches = calls_->launches[thread];
  auto at = std::partition_point(launches.begin(), launches.end(),
                                 [&](const HostLaunch& each) { return each.begin_ns < call.begin_ns; });
  EventId last = kNoEvent;
  for (; at != launches.end() && at->begin_ns < call.end_ns; ++at) {
    parts.work.emplace_back(std::max(at->work.begin_ns, range.begin_ns), std::min(at->work.end_ns, range.end_ns));
    if (!within.holds(at->begin_ns, at->end_ns)) continue;
    parts.launching.emplace_back(std::max(at->begin_ns, within.begin_ns), std::min(at->end_ns, within.end_ns));
    ++cost.works;
    if (at->source != last) ++cost.launches;
    last = at->source;
  }
  const std::vector<TimeRange>& waits = calls_->waits[thread];
  auto wait = std::partition_point(waits.begin(), waits.end(),
                                   [&](const TimeRange& each) { return each.begin_ns < call.begin_ns; });
  for (; wait != waits.end() && wait->begin_ns < within.end_ns; ++wait) {
    parts.waiting.emplace_back(std::max(wait->begin_ns, within.begin_ns), std::min(wait->end_ns, within.end_ns));
  }
}

CallCost CallCosts::of(const LaunchingCall& call, const TimeRange& range) const {
  CallCost cost;
  const TimeRange within{std::max(call.begin_ns, range.begin_ns), std::min(call.end_ns, range.end_ns)};
  cost.span_ns = within.length_ns();
  Parts parts;
  const std::size_t process = calls_->process_of_thread[call.thread];
  const auto add_thread = [&](std::size_t thread) {
    add_compiling(compiling_[thread], within, parts);
    add_launches(thread, call, within, range, parts, cost);
  };
  add_compiling(lines_[process], within, parts);
  add_thread(call.thread);
  if (call.level == CallLevel::step) {
    for (const std::size_t thread : calls_->step_threads[process]) {
      if (thread != call.thread) add_thread(thread);
    }
  }
  std::vector<Stretch> all = std::move(parts.compiling);
  cost.compile_ns = covered_ns(all);
  all.insert(all.end(), parts.launching.begin(), parts.launching.end());
  const std::int64_t dispatched = covered_ns(all);
  cost.dispatch_ns = dispatched - cost.compile_ns;
  cost.host_ns = cost.span_ns - dispatched;
  all.insert(all.end(), parts.waiting.begin(), parts.waiting.end());
  cost.wait_ns = covered_ns(all) - dispatched;
  cost.kernel_ns = covered_ns(parts.work);
  return cost;
}

namespace {

using FunctionKey = std::tuple<std::size_t, std::uint32_t, CallLevel>;  // process, function
using CallsOfFunctions = std::map<FunctionKey, std::vector<std::size_t>>;

[[nodiscard]] FunctionKey function_key(const LaunchingCalls& calls, std::size_t index) {
  const LaunchingCall& call = calls.list[index];
  return {calls.process_of_thread[call.thread], call.function, call.level};
}

// What one function's calls tell by their lengths.
class CallLengths {
 public:
  CallLengths(Compilations& all, const std::vector<std::size_t>& calls) : all_(all), calls_(calls) {}

  void judge() {
    if (calls_.size() <= kLeastOtherCalls) return;
    measure();
    std::vector<std::int64_t> others(lengths_.begin() + 1, lengths_.end());
    usual_ns_ = middle_value(std::move(others));
    if (!is_long(0)) return;
    if (!is_reported(0)) add(0, CompileKind::compile);
    for (std::size_t i = 1; i < calls_.size(); ++i) {
      const bool again =
          is_long(i) && static_cast<double>(lengths_[i]) >= kAsLongAgain * static_cast<double>(lengths_[0]);
      if (again && !is_reported(i)) {
        add(i, CompileKind::recompile);
      } else if (!is_long(i) && compiling_[i] == 0) {
        add(i, CompileKind::cache_hit);
      }
    }
  }

 private:
  // Waiting is no compiling, however long.
  void measure() {
    for (const std::size_t index : calls_) {
      const CallCost cost = all_.costs.of(all_.calls.list[index], TimeRange{});
      lengths_.push_back(cost.span_ns - cost.wait_ns);
      compiling_.push_back(cost.compile_ns);
    }
  }
  [[nodiscard]] bool is_long(std::size_t i) const {
    return lengths_[i] / kTimesUsual >= usual_ns_ && lengths_[i] - usual_ns_ >= kLeastBeyondUsualNs;
  }
  // Lines and names tell of most of it.
  [[nodiscard]] bool is_reported(std::size_t i) const {
    return compiling_[i] > 0 && 2 * compiling_[i] >= lengths_[i] - usual_ns_;
  }
  void add(std::size_t i, CompileKind kind) {
    const LaunchingCall& call = all_.calls.list[calls_[i]];
    const CallFacts& facts = all_.facts[calls_[i]];
    const bool hits = kind == CompileKind::cache_hit;
    if (hits && all_.events.size() >= Compilations::kMostHits) {
      ++all_.left_out;
      return;
    }
    all_.events.push_back({.kind = kind,
                           .basis = CompileBasis::calls,
                           .begin_ns = call.begin_ns,
                           .end_ns = call.end_ns,
                           .cost_ns = hits ? 0 : lengths_[i] - usual_ns_,
                           .what = all_.calls.functions[call.function],
                           .is_named = true,
                           .event = call.event,
                           .thread = call.thread,
                           .number = facts.number,
                           .of = facts.of});
  }

  Compilations& all_;
  const std::vector<std::size_t>& calls_;
  std::vector<std::int64_t> lengths_, compiling_;  // of calls_
  std::int64_t usual_ns_ = 0;
};

void keep_passing(const QueryContext& query, std::vector<CompileEvent>& events) {
  if (!query.mask) return;
  std::erase_if(events, [&](const CompileEvent& event) { return !query.mask->passes(*query.snapshot, event.event); });
}

// Which events compile, which are hits, and when something compiled.
void sort_out(Compilations& all) {
  CoveredTime compiling;
  for (std::uint32_t i = 0; i < all.events.size(); ++i) {
    const CompileEvent& event = all.events[i];
    (event.kind == CompileKind::cache_hit ? all.hits : all.compiled).push_back(i);
    if (event.kind != CompileKind::cache_hit) compiling.add(event.begin_ns, event.begin_ns + event.cost_ns);
  }
  compiling.take_stretches([&](std::int64_t begin, std::int64_t end) { all.compiling.push_back({begin, end}); });
}

void add_cost(CallCost& sum, const CallCost& cost) {
  sum.span_ns += cost.span_ns;
  sum.host_ns += cost.host_ns;
  sum.compile_ns += cost.compile_ns;
  sum.dispatch_ns += cost.dispatch_ns;
  sum.wait_ns += cost.wait_ns;
  sum.kernel_ns += cost.kernel_ns;
  sum.launches += cost.launches;
  sum.works += cost.works;
}

void sum_up(const Compilations& all, const std::vector<CallRow>& rows, CallFunctionRow& function) {
  std::vector<std::int64_t> others;
  for (const std::size_t row : function.rows) {
    const CallCost& cost = rows[row].cost;
    add_cost(function.sum, cost);
    if (cost.compile_ns > 0) ++function.compiled;
    if (all.facts[rows[row].call].number == 1) {
      function.has_first = true;
      function.first_ns = cost.span_ns;
      continue;
    }
    others.push_back(cost.span_ns);
    function.rest_ns += cost.span_ns;
  }
  function.median_ns = middle_value(std::move(others));
}

}  // namespace

Result<std::shared_ptr<const Compilations>> find_compilations(const QueryContext& query, const Dependencies* known) {
  auto all = std::make_shared<Compilations>();
  all->snapshot_version = query.snapshot->version;
  auto events = TRY(compile_events(query));
  auto calls = TRY(find_launching_calls(query, known));
  all->calls = std::move(calls);
  all->costs = CallCosts(*query.snapshot, all->calls, events.list);
  all->left_out = events.left_out;
  all->events = std::move(events.list);
  keep_passing(query, all->events);
  all->facts.resize(all->calls.list.size());
  CallsOfFunctions functions;
  for (std::size_t i = 0; i < all->calls.list.size(); ++i) functions[function_key(all->calls, i)].push_back(i);
  for (const auto& [key, list] : functions) {
    if (query.control.cancelled()) return cancelled_error();
    for (std::size_t i = 0; i < list.size(); ++i) {
      all->facts[list[i]].number = static_cast<std::uint32_t>(i + 1);
      all->facts[list[i]].of = static_cast<std::uint32_t>(list.size());
    }
    const bool eager = compile_word_of(all->calls.functions[std::get<1>(key)]) == CompileWord::eager;
    if (std::get<2>(key) == CallLevel::call && !eager) CallLengths(*all, list).judge();
  }
  for (CompileEvent& event : all->events) {
    const LaneSnapshot* lane = event.track == kNone ? query.snapshot->find_lane(lane_of(event.event)) : nullptr;
    if (lane != nullptr) event.track = lane->track;
  }
  std::ranges::stable_sort(all->events, {}, &CompileEvent::begin_ns);
  all->costs.add_long_calls(all->events);
  sort_out(*all);
  return std::shared_ptr<const Compilations>(std::move(all));
}

std::vector<CallRow> call_rows(const Compilations& all, const TimeRange& range) {
  std::vector<CallRow> rows;
  for (std::size_t i = 0; i < all.calls.list.size(); ++i) {
    const LaunchingCall& call = all.calls.list[i];
    if (call.begin_ns >= range.end_ns) break;
    if (!range.holds(call.begin_ns, call.end_ns)) continue;
    rows.push_back({i, all.costs.of(call, range)});
  }
  return rows;
}

std::vector<CallFunctionRow> call_functions(const Compilations& all, const std::vector<CallRow>& rows) {
  std::map<FunctionKey, CallFunctionRow> functions;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const FunctionKey key = function_key(all.calls, rows[row].call);
    CallFunctionRow& function = functions[key];
    std::tie(function.process, function.function, function.level) = key;
    function.rows.push_back(row);
  }
  std::vector<CallFunctionRow> list;
  for (auto& [key, function] : functions) {
    sum_up(all, rows, function);
    list.push_back(std::move(function));
  }
  std::ranges::stable_sort(
      list, [](const CallFunctionRow& a, const CallFunctionRow& b) { return a.sum.span_ns > b.sum.span_ns; });
  return list;
}

CompileSummary sum_compilations(const Compilations& all, const TimeRange& range) {
  CompileSummary sum;
  std::map<std::size_t, std::int64_t> long_call_ends;  // by thread
  for (const CompileEvent& event : all.events) {
    const bool is_long_call = event.basis == CompileBasis::calls && event.kind != CompileKind::cache_hit;
    if (is_long_call) long_call_ends[*event.thread] = event.end_ns;
    const auto around = event.thread ? long_call_ends.find(*event.thread) : long_call_ends.end();
    // What is named within a call that compiled by its length is a part of that.
    if (!is_long_call && around != long_call_ends.end() && event.end_ns <= around->second) continue;
    if (!range.holds(event.begin_ns, event.end_ns)) continue;
    if (event.kind == CompileKind::cache_hit) {
      ++sum.hits;
      continue;
    }
    ++sum.compilations;
    if (is_repeated(event)) ++sum.repeated;
    if (event.basis == CompileBasis::calls) ++sum.by_length;
  }
  for (const TimeRange& each : all.compiling) {
    sum.time_ns += TimeRange{std::max(each.begin_ns, range.begin_ns), std::min(each.end_ns, range.end_ns)}.length_ns();
  }
  return sum;
}

std::string basis_text(const CompileEvent& event) {
  switch (event.basis) {
    case CompileBasis::line:
      return "line";
    case CompileBasis::name:
      return "name";
    case CompileBasis::calls:
      break;
  }
  return event.number == 1 ? fmt::format("first call of {}", event.of)
                           : fmt::format("call {} of {}", event.number, event.of);
}

std::string_view kind_text(CompileKind kind) noexcept {
  switch (kind) {
    case CompileKind::compile:
      return "compile";
    case CompileKind::recompile:
      return "recompile";
    case CompileKind::cache_hit:
      break;
  }
  return "cache hit";
}

}  // namespace accelscope::analysis
