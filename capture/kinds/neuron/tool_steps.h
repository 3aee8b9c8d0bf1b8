// Runs programs one after another for a kind that needs several - a program, then a vendor's tool - and keeps what they
// print as the kind `program` does: shown as it comes, every line on a track, a slice for each run.
//
//   ToolSteps steps(run, sink, "neuron-profile");
//   Result<StepEnd> ended = steps.run({.name = "capture", .start = {...}, .limit = 1h});
//   ... steps.finish();
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "capture/kinds/program/events.h"
#include "capture/kinds/program/output_lines.h"
#include "capture/request/kind.h"
#include "capture/system/supervised_child.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::neuron {

struct ToolStep {
  system::ChildStart start;
  std::chrono::nanoseconds limit{};                          // 0: none
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  // between asking to end and killing
  bool after_stop = false;                                   // runs although the capture was stopped
};

struct StepEnd {
  int exit_code = 0;
  int signal = 0;
  bool stopped = false;    // by the user
  bool timed_out = false;  // its limit was over
  std::string output;      // what it printed last
};

class ToolSteps {
 public:
  // `device`: heads the tracks.
  ToolSteps(const request::KindRun& run, EventSink& sink, std::string device);

  // Returns when the program has ended; one that is stopped or takes too long is asked to end, then killed. Fails only
  // if it cannot be started or the sink failed.
  Result<StepEnd> run(const ToolStep& step);
  // A line of the kind's own, beside those of the programs.
  void note(std::string_view text);
  [[nodiscard]] SessionWriter& writer() noexcept { return writer_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch(system::SupervisedChild& child, const ToolStep& step, StepEnd& end);
  bool read(system::SupervisedChild& child, system::OutputStream stream, StepEnd& end);
  void show(system::OutputStream stream, std::string_view bytes);
  void flush(Clock::time_point now);

  const request::KindRun& run_;
  SessionWriter writer_;
  kinds::program::ProgramEvents events_;
  std::array<kinds::program::OutputLines, 2> lines_;
  Clock::time_point flushed_at_;
};

}  // namespace accelscope::capture::kinds::neuron
