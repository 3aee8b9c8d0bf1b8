#include "core/analysis/compilation/launching_calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/analysis/compilation/compile_events.h"
#include "core/analysis/compilation/compile_words.h"
#include "core/analysis/source/own_code.h"
#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/host_threads.h"
#include "core/scan/wait_names.h"

namespace accelscope {
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
  void sort() { std::sort(begins_.begin(), begins_.end()); }
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
    if (const Result<void> found = find_launches(known); !found) return found.error();
    find_lanes();
    if (lanes_.empty()) return std::move(calls_);
    if (const Result<void> counted = count(); !counted) return counted.error();
    if (const Result<void> chosen = choose(); !chosen) return chosen.error();
    std::sort(calls_.list.begin(), calls_.list.end(), call_begins_before);
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
    QueryContext whole = query_;
    whole.mask = nullptr;
    auto launches = host_launches(whole, kinds, known);
    if (!launches) return launches.error();
    any_launch_ = !launches->empty();
    for (HostLaunch& launch : *launches) {
      of_thread_[launch.thread].add(launch.begin_ns);
      calls_.launches[launch.thread].push_back(launch);
    }
    for (LaunchTimes& times : of_thread_) times.sort();
    find_step_threads(processes);
    for (std::vector<HostLaunch>& list : calls_.launches) {
      std::stable_sort(list.begin(), list.end(), [](const HostLaunch& a, const HostLaunch& b) {
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
    std::stable_sort(lanes_.begin(), lanes_.end(), [](const HostLane& a, const HostLane& b) {
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
    QueryContext whole = query_;
    whole.mask = nullptr;
    LaneIndices lanes;
    for (const HostLane& lane : lanes_) lanes.push_back(lane.lane);
    std::vector<Counter> workers(query_.pool.concurrency());
    const auto scanned = scan_chunks(whole, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t worker) {
      Counter& counter = workers[worker];
      const HostLane& lane = lanes_[lane_places_[chunk.lane_index]];
      const WaitNames waits(chunk.lane.schema.get(), *snapshot_.strings);
      chunk.for_each_block([&](const ScannedBlock& block) {
        for (std::uint32_t i = block.first; i < block.last; ++i) {
          const StringId name = block.name(i);
          const Word word = counter.word_of(*snapshot_.strings, name);
          const std::int64_t begin = block.begin_ns(i), end = block.end_ns(i);
          if (!lane.annotates && (word.waits || waits.contains(name))) {
            if (counter.waits.size() < LaunchingCalls::kMost) {
              counter.waits.emplace_back(lane.thread, TimeRange{begin, end});
            } else {
              ++counter.waits_left_out;
            }
            continue;  // what waits launches nothing, though a flow may lead from it to what it waits for
          }
          const bool is_named = word.word == CompileWord::program_call || word.word == CompileWord::step;
          if (is_named || launches(lane, begin, end)) ++counter.counts[{lane.lane, name}];
        }
      });
    });
    if (!scanned) return scanned.error();
    gather(workers);
    return {};
  }

  void gather(std::vector<Counter>& workers) {
    std::unordered_map<std::string, std::uint32_t> numbers;
    const auto function_of = [&](StringId name) {
      const auto known = functions_.find(name);
      if (known != functions_.end()) return known->second;
      const std::string text(without_call_number(snapshot_.strings->text(name)));
      const auto [place, is_new] = numbers.try_emplace(text, static_cast<std::uint32_t>(calls_.functions.size()));
      if (is_new) calls_.functions.push_back(text);
      return functions_[name] = place->second;
    };
    for (const Counter& counter : workers) {
      for (const auto& [key, count] : counter.counts) counts_[{key.first, function_of(key.second)}] += count;
      for (const auto& [thread, wait] : counter.waits) calls_.waits[thread].push_back(wait);
      calls_.waits_left_out += counter.waits_left_out;
    }
    for (const auto& [name, function] : functions_) words_[name] = compile_word_of(snapshot_.strings->text(name));
    for (std::vector<TimeRange>& waits : calls_.waits) {
      std::sort(waits.begin(), waits.end(),
                [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
    }
    for (std::size_t thread = 0; thread < calls_.launches.size(); ++thread) {
      const std::vector<TimeRange>& waits = calls_.waits[thread];
      std::erase_if(calls_.launches[thread], [&](const HostLaunch& launch) {
        auto at = std::lower_bound(waits.begin(), waits.end(), launch.begin_ns,
                                   [](const TimeRange& each, std::int64_t ns) { return each.begin_ns < ns; });
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
    std::vector<std::vector<LaunchingCall>> workers(query_.pool.concurrency());
    for (std::size_t depth = 0;; ++depth) {
      LaneIndices wave;
      for (std::size_t first = 0, i = 0; i < lanes_.size(); ++i) {
        if (lanes_[i].thread != lanes_[first].thread) first = i;
        if (i - first == depth) wave.push_back(lanes_[i].lane);
      }
      if (wave.empty()) return {};
      const auto scanned = scan_chunks(query_, wave, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t worker) {
        choose_of(chunk, workers[worker]);
      });
      if (!scanned) return scanned.error();
      for (std::vector<LaunchingCall>& found : workers) take(found);
      for (auto& levels : chosen_) {
        for (std::vector<TimeRange>& level : levels) {
          std::sort(level.begin(), level.end(),
                    [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; });
        }
      }
    }
  }

  void choose_of(const ScannedChunk& chunk, std::vector<LaunchingCall>& found) const {
    const HostLane& lane = lanes_[lane_places_[chunk.lane_index]];
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const auto function = functions_.find(block.name(i));
        if (function == functions_.end()) continue;
        LaunchingCall call{.begin_ns = block.begin_ns(i),
                           .end_ns = block.end_ns(i),
                           .event = block.id(i),
                           .thread = lane.thread,
                           .function = function->second,
                           .name = block.name(i)};
        if (is_call(lane, call) && !lies_in_chosen(call)) found.push_back(call);
      }
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
    const auto after = std::upper_bound(level.begin(), level.end(), call.begin_ns,
                                        [](std::int64_t ns, const TimeRange& each) { return ns < each.begin_ns; });
    return after != level.begin() && call.end_ns <= std::prev(after)->end_ns;
  }

  void take(std::vector<LaunchingCall>& found) {
    for (const LaunchingCall& call : found) {
      if (calls_.list.size() >= LaunchingCalls::kMost) {
        ++calls_.left_out;
        continue;
      }
      chosen_[call.thread][static_cast<std::size_t>(call.level)].push_back({call.begin_ns, call.end_ns});
      calls_.list.push_back(call);
    }
    found.clear();
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
      std::vector<HostLaunch> kept;
      auto at = launches.begin();
      of_thread[thread].take_stretches([&](std::int64_t begin, std::int64_t end) {
        at = std::lower_bound(at, launches.end(), begin,
                              [](const HostLaunch& each, std::int64_t ns) { return each.begin_ns < ns; });
        for (; at != launches.end() && at->begin_ns < end; ++at) kept.push_back(*at);
      });
      launches = std::move(kept);
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

}  // namespace accelscope
