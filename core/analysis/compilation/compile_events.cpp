#include "core/analysis/compilation/compile_events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "core/analysis/compilation/compile_lines.h"
#include "core/analysis/compilation/compile_words.h"
#include "core/analysis/time/host_threads.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope {
namespace {

constexpr std::string_view kOutputTracks = "output", kLineText = "text";

bool earlier_event(const CompileEvent& a, const CompileEvent& b) {
  return std::tie(a.begin_ns, b.end_ns, a.event) < std::tie(b.begin_ns, a.end_ns, b.event);
}

// What each name of a session says; most sessions have no such name at all.
class WordsOfNames {
 public:
  explicit WordsOfNames(const StringPool& strings) : words_(strings.size()) {
    for (StringId id = 0; id < words_.size(); ++id) {
      words_[id] = compile_word_of(strings.text(id));
      any_ = any_ || words_[id] == CompileWord::compiles || words_[id] == CompileWord::looks_up;
    }
  }
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] CompileWord of(StringId name) const noexcept {
    return name < words_.size() ? words_[name] : CompileWord::none;
  }

 private:
  std::vector<CompileWord> words_;
  bool any_ = false;
};

// The lines of every program, by the program's first output track.
Result<void> add_lines(const QueryContext& query, CompileEvents& events) {
  const Snapshot& snapshot = *query.snapshot;
  using ProgramKey = std::tuple<std::uint32_t, std::string, std::string>;  // scope, host, device
  std::map<ProgramKey, std::size_t> programs;
  std::map<std::uint32_t, std::size_t> program_of_lane;
  std::map<std::uint32_t, std::size_t> column_of_lane;
  LaneIndices lanes;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const auto column =
        track.track->kind == kOutputTracks && track.schema ? track.schema->find(kLineText) : std::nullopt;
    if (!column) continue;
    const ProgramKey key{scope_of(track.track->number), track.track->host, track.track->device};
    const std::size_t program = programs.try_emplace(key, programs.size()).first->second;
    for (const std::uint32_t lane : track.lanes) {
      lanes.push_back(lane);
      program_of_lane[lane] = program;
      column_of_lane[lane] = *column;
    }
  }
  if (lanes.empty()) return {};
  using Lines = std::vector<std::pair<std::size_t, CompileLineAt>>;
  std::vector<Lines> found(query.pool.concurrency());
  std::vector<std::uint64_t> left_out(found.size());
  const auto scanned = scan_chunks(query, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t worker) {
    const std::size_t column = column_of_lane.at(chunk.lane_index);
    for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
      if (!chunk.view.has_value(column, row)) continue;
      const CompileLine line = read_compile_line(chunk.view.text(column, row));
      if (line.role == CompileLineRole::none) continue;
      if (found[worker].size() >= CompileEvents::kMost) {
        ++left_out[worker];
        continue;
      }
      std::int64_t begin_ticks = 0, end_ticks = 0;
      chunk.view.event_times(row, begin_ticks, end_ticks);
      found[worker].push_back({program_of_lane.at(chunk.lane_index),
                               {chunk.lane.clock->to_ns(begin_ticks), chunk.event_id(row), line.role,
                                std::string(line.what), line.took_ns}});
    }
  });
  if (!scanned) return scanned.error();
  for (const std::uint64_t count : left_out) events.left_out += count;
  std::vector<std::vector<CompileLineAt>> by_program(programs.size());
  for (Lines& lines : found) {
    for (auto& [program, line] : lines) by_program[program].push_back(std::move(line));
  }
  for (std::vector<CompileLineAt>& lines : by_program) {
    std::sort(lines.begin(), lines.end(), [](const CompileLineAt& a, const CompileLineAt& b) {
      return std::tie(a.ns, a.event) < std::tie(b.ns, b.event);
    });
    for (CompileStretch& stretch : pair_compile_lines(lines)) {
      CompileEvent event{.begin_ns = stretch.begin_ns,
                         .end_ns = stretch.end_ns,
                         .cost_ns = stretch.end_ns - stretch.begin_ns,
                         .what = std::move(stretch.what),
                         .event = stretch.event};
      event.is_named = !event.what.empty();
      if (stretch.role == CompileLineRole::hits) event.kind = CompileKind::cache_hit;
      if (stretch.role == CompileLineRole::recompiles) event.kind = CompileKind::recompile;
      events.list.push_back(std::move(event));
    }
  }
  return {};
}

// What one thread's calls tell.
struct NamedCalls {
  std::vector<CompileEvent> list;
  std::vector<std::int64_t> programs;  // when calls of programs begin
  std::uint64_t left_out = 0;
};

// Calls within calls are one compilation, and a lookup found nothing after which something is compiled before a program
// is called.
void keep_telling(NamedCalls& of) {
  std::vector<CompileEvent>& calls = of.list;
  std::sort(calls.begin(), calls.end(), earlier_event);
  std::sort(of.programs.begin(), of.programs.end());
  std::int64_t reached = INT64_MIN;
  std::erase_if(calls, [&](const CompileEvent& call) {
    if (call.kind == CompileKind::cache_hit) return false;
    if (call.end_ns <= reached) return true;
    reached = call.end_ns;
    return false;
  });
  std::vector<CompileEvent> kept;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool compiles_next =
        calls[i].kind == CompileKind::cache_hit && i + 1 < calls.size() && calls[i + 1].kind == CompileKind::compile;
    const auto called = std::lower_bound(of.programs.begin(), of.programs.end(), calls[i].begin_ns);
    const bool misses = compiles_next && (called == of.programs.end() || *called >= calls[i + 1].begin_ns);
    if (!misses) kept.push_back(std::move(calls[i]));
  }
  calls = std::move(kept);
}

Result<void> add_calls(const QueryContext& query, CompileEvents& events) {
  const Snapshot& snapshot = *query.snapshot;
  const WordsOfNames words(*snapshot.strings);
  if (!words.any()) return {};
  const WorkKinds kinds(snapshot);
  LaneIndices lanes;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (kinds.of_lane(lane) == WorkKind::host) lanes.push_back(lane);
  }
  std::vector<std::map<std::size_t, NamedCalls>> found(query.pool.concurrency());  // by thread
  std::vector<std::size_t> kept(found.size()), called(found.size());
  const auto scanned = scan_chunks(query, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t worker) {
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const CompileWord word = words.of(block.name(i));
        const bool compiles = word == CompileWord::compiles, calls = word == CompileWord::program_call;
        if (!compiles && !calls && word != CompileWord::looks_up) continue;
        const std::size_t thread = kinds.thread_of_lane(chunk.lane_index);
        NamedCalls& of = found[worker][thread];
        const std::int64_t begin = block.begin_ns(i), end = block.end_ns(i);
        if (calls) {
          if (called[worker]++ < CompileEvents::kMost) of.programs.push_back(begin);
          continue;
        }
        if (kept[worker]++ >= CompileEvents::kMost) {
          ++of.left_out;
          continue;
        }
        of.list.push_back({.kind = compiles ? CompileKind::compile : CompileKind::cache_hit,
                           .basis = CompileBasis::name,
                           .begin_ns = begin,
                           .end_ns = end,
                           .cost_ns = compiles ? end - begin : 0,
                           .what = std::string(snapshot.strings->text(block.name(i))),
                           .event = block.id(i),
                           .thread = thread});
      }
    });
  });
  if (!scanned) return scanned.error();
  std::map<std::size_t, NamedCalls> by_thread;
  for (auto& threads : found) {
    for (auto& [thread, part] : threads) {
      NamedCalls& whole = by_thread[thread];
      std::move(part.list.begin(), part.list.end(), std::back_inserter(whole.list));
      whole.programs.insert(whole.programs.end(), part.programs.begin(), part.programs.end());
      events.left_out += part.left_out;
    }
  }
  for (auto& [thread, calls] : by_thread) {
    keep_telling(calls);
    std::move(calls.list.begin(), calls.list.end(), std::back_inserter(events.list));
  }
  return {};
}

}  // namespace

ProcessNumbers::ProcessNumbers(const Snapshot& snapshot) {
  using ProcessKey = std::tuple<std::uint32_t, std::string, std::string>;
  std::map<ProcessKey, std::size_t> numbers;
  for (const TrackSnapshot& each : snapshot.tracks) {
    const Track& track = *each.track;
    const auto [place, is_new] =
        numbers.try_emplace(ProcessKey{scope_of(track.number), track.host, track.device}, numbers.size());
    if (is_new) {
      hosts_.push_back(track.host);
      scopes_.push_back(scope_of(track.number));
    }
    of_track_.emplace_back(track.number, place->second);
  }
  std::sort(of_track_.begin(), of_track_.end());
}

std::size_t ProcessNumbers::of_track(TrackNumber track) const {
  const auto place =
      std::lower_bound(of_track_.begin(), of_track_.end(), std::pair<TrackNumber, std::size_t>{track, 0});
  return place != of_track_.end() && place->first == track ? place->second : 0;
}

void number_compilations(const Snapshot& snapshot, std::vector<CompileEvent>& events) {
  const ProcessNumbers processes(snapshot);
  using SameKey = std::tuple<std::size_t, CompileBasis, std::string>;
  std::map<SameKey, std::uint32_t> counts;
  const auto counts_of = [&](CompileEvent& event) -> std::uint32_t& {
    return counts[SameKey{processes.of_track(event.track), event.basis, event.what}];
  };
  const auto is_counted = [](const CompileEvent& event) {
    return event.kind != CompileKind::cache_hit && event.basis != CompileBasis::calls && !event.what.empty();
  };
  for (CompileEvent& event : events) {
    if (!is_counted(event)) continue;
    event.number = ++counts_of(event);
    if (event.is_named && event.number > 1) event.kind = CompileKind::recompile;
  }
  for (CompileEvent& event : events) {
    if (is_counted(event)) event.of = counts_of(event);
  }
}

Result<CompileEvents> compile_events(const QueryContext& query) {
  QueryContext whole = query;
  whole.mask = nullptr;
  CompileEvents events;
  if (const Result<void> added = add_lines(whole, events); !added) return added.error();
  if (const Result<void> added = add_calls(whole, events); !added) return added.error();
  std::sort(events.list.begin(), events.list.end(), earlier_event);
  if (events.list.size() > CompileEvents::kMost) {
    events.left_out += events.list.size() - CompileEvents::kMost;
    events.list.resize(CompileEvents::kMost);
  }
  for (CompileEvent& event : events.list) {
    const LaneSnapshot* lane = query.snapshot->find_lane(lane_of(event.event));
    if (lane != nullptr) event.track = lane->track;
  }
  number_compilations(*query.snapshot, events.list);
  return events;
}

}  // namespace accelscope
