#include "core/analysis/compilation/compile_events.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "core/analysis/time/executors.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/text.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
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
  struct Part {
    std::vector<std::pair<std::size_t, CompileLineAt>> lines;
    std::uint64_t left_out = 0;
    auto measures() { return std::tie(lines, left_out); }
  };
  auto found = gather(query, lanes, TimeRange{}, Part{}, [&](const ScannedChunk& chunk, Part& part) {
    const std::size_t column = column_of_lane.at(chunk.lane_index);
    for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
      if (!chunk.view.has_value(column, row)) continue;
      const CompileLine line = read_compile_line(chunk.view.text(column, row));
      if (line.role == CompileLineRole::none) continue;
      if (part.lines.size() >= CompileEvents::kMost) {
        ++part.left_out;
        continue;
      }
      std::int64_t begin_ticks = 0, end_ticks = 0;
      chunk.view.event_times(row, begin_ticks, end_ticks);
      part.lines.push_back({program_of_lane.at(chunk.lane_index),
                            {chunk.lane.clock->to_ns(begin_ticks), chunk.event_id(row), line.role,
                             std::string(line.what), line.took_ns}});
    }
  });
  if (!found) return found.error();
  events.left_out += found->left_out;
  std::vector<std::vector<CompileLineAt>> by_program(programs.size());
  for (auto& [program, line] : found->lines) by_program[program].push_back(std::move(line));
  for (std::vector<CompileLineAt>& lines : by_program) {
    std::ranges::sort(lines, [](const CompileLineAt& a, const CompileLineAt& b) {
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
  auto measures() { return std::tie(list, programs, left_out); }
};

// Calls within calls are one compilation, and a lookup found nothing after which something is compiled before a program
// is called.
void keep_telling(NamedCalls& of) {
  std::vector<CompileEvent>& calls = of.list;
  std::ranges::sort(calls, earlier_event);
  std::ranges::sort(of.programs);
  std::int64_t reached = INT64_MIN;
  std::erase_if(calls, [&](const CompileEvent& call) {
    if (call.kind == CompileKind::cache_hit) return false;
    if (call.end_ns <= reached) return true;
    reached = call.end_ns;
    return false;
  });
  std::vector<CompileEvent> retained;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool compiles_next =
        calls[i].kind == CompileKind::cache_hit && i + 1 < calls.size() && calls[i + 1].kind == CompileKind::compile;
    const auto called = std::lower_bound(of.programs.begin(), of.programs.end(), calls[i].begin_ns);
    const bool misses = compiles_next && (called == of.programs.end() || *called >= calls[i + 1].begin_ns);
    if (!misses) retained.push_back(std::move(calls[i]));
  }
  calls = std::move(retained);
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
  struct Part {
    std::map<std::size_t, NamedCalls> threads;
    std::size_t retained = 0, called = 0;
    auto measures() { return std::tie(threads); }
  };
  auto found = gather(query, lanes, TimeRange{}, Part{}, [&](const ScannedChunk& chunk, Part& part) {
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const CompileWord word = words.of(block.name(i));
      const bool compiles = word == CompileWord::compiles, calls = word == CompileWord::program_call;
      if (!compiles && !calls && word != CompileWord::looks_up) return;
      const std::size_t thread = kinds.thread_of_lane(chunk.lane_index);
      NamedCalls& of = part.threads[thread];
      const std::int64_t begin = block.begin_ns(i), end = block.end_ns(i);
      if (calls) {
        if (part.called++ < CompileEvents::kMost) of.programs.push_back(begin);
        return;
      }
      if (part.retained++ >= CompileEvents::kMost) {
        ++of.left_out;
        return;
      }
      of.list.push_back({.kind = compiles ? CompileKind::compile : CompileKind::cache_hit,
                         .basis = CompileBasis::name,
                         .begin_ns = begin,
                         .end_ns = end,
                         .cost_ns = compiles ? end - begin : 0,
                         .what = std::string(snapshot.strings->text(block.name(i))),
                         .event = block.id(i),
                         .thread = thread});
    });
  });
  if (!found) return found.error();
  for (auto& [thread, calls] : found->threads) {
    events.left_out += calls.left_out;
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
  std::ranges::sort(of_track_);
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
  const QueryContext whole = query.unmasked();
  CompileEvents events;
  TRY(add_lines(whole, events));
  TRY(add_calls(whole, events));
  std::ranges::sort(events.list, earlier_event);
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

namespace {

enum class NamePart : std::uint8_t { whole, begin, anywhere };
struct CompileWordRow {
  std::string_view text;
  NamePart part;
  CompileWord word;
};

constexpr CompileWordRow kCompileWords[] = {
    {"TorchDynamo Cache Lookup", NamePart::whole, CompileWord::looks_up},
    {"Torch-Compiled Region", NamePart::begin, CompileWord::program_call},
    {"## Call CompiledFxGraph", NamePart::begin, CompileWord::program_call},
    {"compile_fx", NamePart::anywhere, CompileWord::compiles},
    {"dynamo_timed", NamePart::anywhere, CompileWord::compiles},
    {"_compile.compile_inner", NamePart::anywhere, CompileWord::compiles},
    {"triton/compiler/compiler.py", NamePart::begin, CompileWord::compiles},
    {"backend_compile", NamePart::begin, CompileWord::compiles},
    {"XlaCompile", NamePart::begin, CompileWord::compiles},
    {"neuronx-cc", NamePart::anywhere, CompileWord::compiles},
    {"nvrtcCompileProgram", NamePart::whole, CompileWord::compiles},
    {"hiprtcCompileProgram", NamePart::whole, CompileWord::compiles},
    {"clBuildProgram", NamePart::whole, CompileWord::compiles},
    {"clCompileProgram", NamePart::whole, CompileWord::compiles},
    {"clLinkProgram", NamePart::whole, CompileWord::compiles},
    {"ProfilerStep", NamePart::begin, CompileWord::step},
    {"aten::", NamePart::begin, CompileWord::eager},
    {"autograd::engine::", NamePart::begin, CompileWord::eager},
};

bool fits(const CompileWordRow& row, std::string_view name) noexcept {
  switch (row.part) {
    case NamePart::whole:
      return name == row.text;
    case NamePart::begin:
      return name.starts_with(row.text);
    case NamePart::anywhere:
      return name.find(row.text) != std::string_view::npos;
  }
  return false;
}

}  // namespace

CompileWord compile_word_of(std::string_view name) noexcept {
  for (const CompileWordRow& row : kCompileWords) {
    if (fits(row, name)) return row.word;
  }
  return CompileWord::none;
}

std::string_view without_call_number(std::string_view name) noexcept {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  return end > 1 && end < name.size() && name[end - 1] == '#' ? name.substr(0, end - 1) : name;
}

namespace {

// What stands behind a mark in the line, up to one of some characters; "": the line names nothing.
struct LineRow {
  std::string_view text;  // what the line must hold
  std::string_view also;  // and this, somewhere
  bool at_begin = false;  // nothing but dots and blanks, which compilers print for progress, before `text`
  CompileLineRole role = CompileLineRole::none;
  std::string_view what_after, what_until;
  bool keeps_mark = false;           // `what_after` is a part of the name
  std::string_view took_after = {};  // seconds, such as "1.26 sec" and "4.44s"
};

constexpr std::string_view kModule = "MODULE_", kModuleEnd = " ./'\",";

// Lines as libneuronxla and neuronx-cc, JAX and XLA, torch.compile, Triton and PyOpenCL print them.
constexpr LineRow kLineRows[] = {
    {"CC_WRAPPER||: Call compiler with cmd", "", false, CompileLineRole::begins, kModule, kModuleEnd, true},
    {"Compiling function _NeuronGraph", "with neuron-cc", false, CompileLineRole::begins, "Compiling function ", " "},
    {"Compiling module ", "with neuronx-cc", false, CompileLineRole::begins, "Compiling module ", " "},
    {"No candidate found under ", kModule, false, CompileLineRole::begins, kModule, kModuleEnd, true},
    {"Compiler status ", "", true, CompileLineRole::ends, "", ""},
    {"Compilation Successfully Completed for ", "", false, CompileLineRole::ends, kModule, kModuleEnd, true},
    {"CC_WRAPPER||: Failed compilation with", "", false, CompileLineRole::ends, kModule, kModuleEnd, true},
    {"Using a cached neff at ", "", false, CompileLineRole::hits, kModule, kModuleEnd, true},
    {"Finished XLA compilation of ", " sec", false, CompileLineRole::whole, "compilation of ", " ", false, " in "},
    {"ersistent compilation cache hit for ", "", false, CompileLineRole::hits, "hit for '", "'"},
    {"PERSISTENT COMPILATION CACHE HIT for ", "", false, CompileLineRole::hits, "HIT for '", "'"},
    {"Compiled cluster using XLA!", "", false, CompileLineRole::whole, "", ""},
    {"[__recompiles] Recompiling function ", "", false, CompileLineRole::recompiles, "Recompiling function ", " "},
    {"torchinductor done compiling ", "", false, CompileLineRole::ends, "done compiling ", ""},
    {"torchinductor compiling ", "", false, CompileLineRole::begins, "inductor compiling ", ""},
    {"fx graph cache hit for key ", "", false, CompileLineRole::hits, "for key ", " "},
    {"Triton autotuning for function ", "finished after ", true, CompileLineRole::whole, "for function ", " ", false,
     "finished after "},
    {"Built kernel retrieved from cache.", "", false, CompileLineRole::hits, "", ""},
    {"From-source build succeeded, but resulted in", "", false, CompileLineRole::whole, "", ""},
};

bool holds(const LineRow& row, std::string_view line) noexcept {
  const std::size_t at = line.find(row.text);
  if (at == std::string_view::npos) return false;
  if (row.at_begin && line.find_first_not_of(". \t") != at) return false;
  return row.also.empty() || line.find(row.also) != std::string_view::npos;
}

std::string_view what_of(const LineRow& row, std::string_view line) noexcept {
  if (row.what_after.empty()) return {};
  const std::size_t mark = line.find(row.what_after);
  if (mark == std::string_view::npos) return {};
  const std::size_t first = row.keeps_mark ? mark : mark + row.what_after.size();
  const std::size_t last = row.what_until.empty() ? std::string_view::npos
                                                  : line.find_first_of(row.what_until, mark + row.what_after.size());
  return trimmed(line.substr(first, last == std::string_view::npos ? last : last - first));
}

std::int64_t took_of(const LineRow& row, std::string_view line) noexcept {
  if (row.took_after.empty()) return -1;
  const std::size_t mark = line.rfind(row.took_after);
  if (mark == std::string_view::npos) return -1;
  const std::string_view number = line.substr(mark + row.took_after.size());
  double seconds = 0;
  constexpr double kMostSeconds = 1e7;  // a quarter of a year: what is longer is no duration
  const auto read = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (read.ec != std::errc() || !(seconds >= 0) || seconds > kMostSeconds) return -1;
  return std::llround(seconds * 1e9);
}

// Compilations that have begun and not ended.
class OpenCompilations {
 public:
  static constexpr std::size_t kMost = 256;  // more than a machine compiles at once: then nothing tells their ends

  // The one that is given up for it, where there are too many.
  [[nodiscard]] std::optional<CompileLineAt> begin(const CompileLineAt& line) {
    // The same one is told of several times: it has been open since the first.
    if (!line.what.empty() && find(line.what)) return std::nullopt;
    open_.push_back(line);
    return open_.size() > kMost ? take(0) : std::nullopt;
  }
  // Without a name the one that has been open longest.
  [[nodiscard]] std::optional<CompileLineAt> close(const std::string& what) {
    if (open_.empty()) return std::nullopt;
    const std::optional<std::size_t> at = what.empty() ? std::optional<std::size_t>(0) : find(what);
    return at ? take(*at) : std::nullopt;
  }
  [[nodiscard]] std::size_t count() const noexcept { return open_.size(); }
  [[nodiscard]] const std::vector<CompileLineAt>& left() const noexcept { return open_; }

 private:
  [[nodiscard]] std::optional<std::size_t> find(const std::string& what) const {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (open_[i].what == what) return i;
    }
    return std::nullopt;
  }
  std::optional<CompileLineAt> take(std::size_t at) {
    CompileLineAt taken = std::move(open_[at]);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    return taken;
  }
  std::vector<CompileLineAt> open_;  // a handful; the longest open one first
};

class LinePairs {
 public:
  void add(const CompileLineAt& line) {
    if (line.role == CompileLineRole::begins) {
      if (const auto given_up = open_.begin(line)) add_instant(*given_up);
    } else if (line.role == CompileLineRole::ends) {
      line.what.empty() ? end_unnamed(line) : end_named(line);
    } else {
      const std::int64_t took = std::max<std::int64_t>(0, line.took_ns);
      stretches_.push_back({line.role, line.ns - took, line.ns, line.what, line.event});
    }
  }

  std::vector<CompileStretch> take() {
    for (const CompileLineAt& end : held_) end_oldest(end);
    for (const CompileLineAt& line : open_.left()) add_instant(line);
    std::ranges::stable_sort(stretches_, {}, &CompileStretch::begin_ns);
    return std::move(stretches_);
  }

 private:
  // Of several that are open it is not known which has ended: the line that names it comes next.
  void end_unnamed(const CompileLineAt& line) {
    if (open_.count() > 1 || !held_.empty()) {
      held_.push_back(line);
    } else {
      end_oldest(line);
    }
  }

  // The line without a name that was printed last tells of the same end.
  void end_named(const CompileLineAt& line) {
    const auto begun = open_.close(line.what);
    if (!begun) {
      if (std::find(ended_.begin(), ended_.end(), line.what) == ended_.end()) add_instant(line);
      return;
    }
    std::int64_t end_ns = line.ns;
    if (!held_.empty() && held_.back().ns >= begun->ns) {
      end_ns = held_.back().ns;
      held_.pop_back();
    }
    add_stretch(*begun, end_ns);
  }

  void end_oldest(const CompileLineAt& line) {
    if (const auto begun = open_.close("")) {
      add_stretch(*begun, line.ns);
    } else {
      add_instant(line);
    }
  }

  void add_stretch(const CompileLineAt& begun, std::int64_t end_ns) {
    // Where nothing names the ends, the oldest may have begun after one of them was printed.
    stretches_.push_back({CompileLineRole::whole, begun.ns, std::max(begun.ns, end_ns), begun.what, begun.event});
    if (begun.what.empty()) return;
    std::erase(ended_, begun.what);
    if (ended_.size() >= OpenCompilations::kMost) ended_.erase(ended_.begin());
    ended_.push_back(begun.what);
  }
  void add_instant(const CompileLineAt& line) {
    stretches_.push_back({CompileLineRole::whole, line.ns, line.ns, line.what, line.event});
  }

  std::vector<CompileStretch> stretches_;
  OpenCompilations open_;
  std::vector<CompileLineAt> held_;  // ends without names, by time
  // What has ended, the last at the end: two lines may tell of one end, of which only one names it.
  std::vector<std::string> ended_;
};

}  // namespace

CompileLine read_compile_line(std::string_view line) noexcept {
  for (const LineRow& row : kLineRows) {
    if (holds(row, line)) return {row.role, what_of(row, line), took_of(row, line)};
  }
  return {};
}

std::vector<CompileStretch> pair_compile_lines(const std::vector<CompileLineAt>& lines) {
  LinePairs pairs;
  for (const CompileLineAt& line : lines) pairs.add(line);
  return pairs.take();
}

}  // namespace accelscope::analysis
