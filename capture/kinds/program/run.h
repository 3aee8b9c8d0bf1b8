// One run of a program: started, read, sampled, stopped and reported. Reads no more than it can hand on: while the sink
// blocks, the pipes fill and the program waits.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "capture/kinds/program/events.h"
#include "capture/kinds/program/output_lines.h"
#include "capture/request/kind.h"
#include "capture/system/supervised_child.h"

namespace accelscope::capture::kinds::program {

struct ProgramRunOptions {
  bool lines = true;
  bool counters = true;
  std::chrono::nanoseconds sample_interval{};
  int stop_signal = 0;
  std::chrono::nanoseconds grace{};    // between the stop signal and SIGKILL
  std::function<void()> on_each_turn;  // some 20 times a second while it runs
};

// What the request's program is called and where it runs, for its tracks.
[[nodiscard]] ProgramFacts facts_of(const request::CaptureRequest& request, const std::string& work_folder);

class ProgramRun {
 public:
  ProgramRun(const request::KindRun& run, EventSink& sink, ProgramRunOptions options)
      : run_(run), sink_(sink), options_(options), writer_(sink) {}

  // Fails if the program cannot be started or the sink failed; not if the program did. `start`: the request's program,
  // or what it is run under; told of is the request's.
  Result<void> run(const system::ChildStart& start);

 private:
  using Clock = std::chrono::steady_clock;

  void set_facts(const system::ChildStart& start, const ProgramFacts& facts);
  bool turn();  // false: it is over
  void read(system::OutputStream stream);
  void show_unfinished(Clock::time_point now);
  void sample(Clock::time_point now);
  void stop_in_order(Clock::time_point now);
  [[nodiscard]] bool over(Clock::time_point now);
  void report(const system::ChildEnd& end, const std::string& command);
  void report_output();

  const request::KindRun& run_;
  EventSink& sink_;
  ProgramRunOptions options_;
  SessionWriter writer_;
  std::unique_ptr<system::SupervisedChild> child_;
  std::optional<ProgramEvents> events_;
  std::optional<ProcessTree> tree_;
  std::array<OutputLines, 2> lines_;
  std::array<Clock::time_point, 2> read_at_{};
  Clock::time_point begin_;
  Clock::time_point flushed_at_;
  Clock::time_point shown_at_;
  Clock::time_point sample_at_;
  std::optional<Clock::time_point> ended_at_;
  std::optional<Clock::time_point> asked_at_;  // to end
  std::uint64_t flushed_events_ = 0;
  bool killed_ = false;
  bool left_open_ = false;  // children hold the streams after the program's end
  bool was_paused_ = true;  // the first sample only sets out from where the program is
};

}  // namespace accelscope::capture::kinds::program
