// What is sampled: functions of threads, who has a CPU, metrics of devices; and what the profiler says.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "capture/sources/nsys/importer.h"

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::int64_t kWarning = 2, kError = 3;
constexpr std::size_t kMostMessageCharacters = 400;

}  // namespace

void NsysImporter::read_cpu_samples() {
  enum : std::size_t { kId, kStart, kThread, kState, kCount };
  constexpr std::array<std::string_view, kCount> kFields = {"id", "start", "globalTid", "threadState"};
  if (Result<void> done = stacks_.open(file_, "SAMPLING_CALLCHAINS"); !done) {
    session_.report().note("unreadable", done.message());
  }
  const std::uint64_t frames = stacks_.frames_read();
  const StringId unknown = session_.intern("sample");
  each_row("COMPOSITE_EVENTS", NsysTable::cpu_sample, kFields, [&](const Row& row) {
    const auto start = row.number(kStart);
    if (!start) {
      ++counts_.missing_times;
      return;
    }
    values_.clear();
    const NsysStacks::Stack stack = stacks_.stack(row.integer(kId));
    if (stack.frames != 0) values_.string(SampleColumns::stack, stack.frames);
    if (row.has(kState)) set_word(SampleColumns::state, NsysEnum::thread_state, row.integer(kState));
    set_further(NsysTable::cpu_sample, row, kCount);
    saw(*start);
    session_.write(rows_.thread(ThreadRow::samples, row.integer(kThread)), *start, 0,
                   stack.innermost != 0 ? stack.innermost : unknown, values_);
  });
  if (stacks_.any()) read_tables_["SAMPLING_CALLCHAINS"] += stacks_.frames_read() - frames;
}

// A thread gets a CPU and loses it: between these it runs, and else it waits.
void NsysImporter::read_thread_states() {
  enum : std::size_t { kStart, kCpu, kIn, kThread, kState, kBlock, kCount };
  constexpr std::array<std::string_view, kCount> kFields = {"start",     "cpu",         "isSchedIn",
                                                            "globalTid", "threadState", "threadBlock"};
  struct State {
    std::int64_t since = 0;
    std::int64_t cpu = 0;
    bool running = false;
    StringId name = 0;    // of the wait
    StringId reason = 0;  // of the wait; 0: not known
  };
  std::unordered_map<std::int64_t, State> threads;
  const StringId running = session_.intern("Running");
  const auto write = [&](std::int64_t thread, const State& state, std::int64_t until) {
    values_.clear();
    if (state.running) values_.integer(StateColumns::cpu, state.cpu);
    if (state.reason != 0) values_.string(StateColumns::reason, state.reason);
    session_.write(rows_.thread(ThreadRow::states, thread), state.since, until - state.since,
                   state.running ? running : state.name, values_);
  };
  each_row(
      "SCHED_EVENTS", "SCHED_EVENTS", kFields,
      [&](const Row& row) {
        const auto start = row.number(kStart);
        if (!start) {
          ++counts_.missing_times;
          return;
        }
        const std::int64_t thread = row.integer(kThread);
        const bool in = row.integer(kIn) != 0;
        const auto [known, first] = threads.try_emplace(thread);
        // The same said twice: something between got lost.
        if (!first && known->second.running == in) {
          ++counts_.unknown_states;
        } else if (!first) {
          write(thread, known->second, *start);
        } else if (!in) {
          ++counts_.unknown_states;
        }
        State& state = known->second;
        state = {*start, row.integer(kCpu), in, 0, 0};
        saw(*start);
        if (in) return;
        const std::string_view word = words_.word(NsysEnum::thread_state, row.integer(kState));
        state.name = session_.intern(row.integer(kState) == 0 || word.empty() ? "Not running" : word);
        if (row.has(kBlock)) {
          const std::string_view block = words_.word(NsysEnum::thread_block, row.integer(kBlock));
          if (!block.empty()) state.reason = session_.intern(block);
        }
      },
      " ORDER BY \"start\"");
  counts_.open_states += static_cast<std::uint64_t>(
      std::count_if(threads.begin(), threads.end(), [](const auto& each) { return each.second.running; }));
}

void NsysImporter::read_metrics() {
  constexpr std::array<std::string_view, 4> kFields = {"timestamp", "typeId", "metricId", "value"};
  each_row("GPU_METRICS", "counter", kFields, [&](const Row& row) {
    const auto time = row.number(0);
    if (!time) {
      ++counts_.missing_times;
      return;
    }
    if (*time < 0) {
      ++counts_.before_session;
      return;
    }
    saw(*time);
    session_.sample(rows_.metric(row.integer(1), row.integer(2)), *time, row.real(3));
  });
}

void NsysImporter::read_messages() {
  constexpr std::array<std::string_view, 4> kFields = {"timestamp", "severity", "source", "text"};
  each_row("DIAGNOSTIC_EVENT", "diagnostic", kFields, [&](const Row& row) {
    const std::string text(row.text(3));
    const std::int64_t severity = row.integer(1);
    if (severity == kWarning || severity == kError) {
      session_.report().note("profiler_message", fmt::format("nsys says: {}", text.substr(0, kMostMessageCharacters)));
    }
    values_.clear();
    set_word(DiagnosticColumns::severity, NsysEnum::severity, severity);
    set_word(DiagnosticColumns::source, NsysEnum::message_source, row.integer(2));
    values_.integer(DiagnosticColumns::timestamp, row.integer(0));
    // What was said before the session began would put an empty stretch before it.
    const std::int64_t time = std::clamp<std::int64_t>(row.integer(0), 0, std::max<std::int64_t>(last_, 0));
    session_.write(rows_.messages(), time, 0, session_.intern(text), values_);
  });
}

}  // namespace accelscope::capture::sources::nsys
