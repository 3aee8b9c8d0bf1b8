// One capture with the vendor's tool: programs run, traces found and processed, their profiles written into sinks of
// their own.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kinds/neuron/settings.h"
#include "capture/kinds/program/events.h"
#include "capture/kinds/program/output_lines.h"
#include "capture/kinds/program/tool_traces.h"
#include "capture/request/kind.h"
#include "capture/sources/neuron/tool.h"
#include "capture/system/supervised_child.h"
#include "core/base/result.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::neuron {

// Runs programs one after another for a kind that needs several - a program, then a vendor's tool - and keeps what they
// print as the kind `program` does: shown as it comes, every line on a track, a slice for each run.
//
//   ToolSteps steps(run, sink, "neuron-profile");
//   Result<StepEnd> ended = steps.run({.name = "capture", .start = {...}, .limit = 1h});
//   ... steps.finish();

struct ToolStep {
  system::ChildStart start;
  std::chrono::nanoseconds limit{};                          // 0: none
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  // between asking to end and killing
  bool after_stop = false;                                   // runs although the capture was stopped
  // Asked each turn whether the program has done what it was started for: then it is ended. `stopping`: the user has
  // stopped the capture, which waits for a yes. Null: it ends by itself, or when it is stopped.
  std::function<bool(bool stopping)> done;
};

struct StepEnd {
  int exit_code = 0;
  int signal = 0;
  bool stopped = false;    // by the user
  bool timed_out = false;  // its limit was over
  bool done = false;       // ended because it had done what it was started for
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

// The profile of a vLLM server on this host: begun as soon as the server answers, ended after a time or when asked to.
// Asked each turn while the server runs; requests are made on a thread of their own.
class ServerProfile {
 public:
  // `note` tells people what is done. time: 0: until `stopping`.
  ServerProfile(std::uint16_t port, std::chrono::nanoseconds time, std::function<void(std::string_view)> note);

  // Whether the profile is written, or there never was one to be ended. `stopping`: it is to end now.
  [[nodiscard]] bool done(bool stopping);
  [[nodiscard]] bool was_begun() const noexcept { return state_ != State::waiting; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }  // of the last request

 private:
  enum class State : std::uint8_t { waiting, running, ending, ended };
  using Clock = std::chrono::steady_clock;
  void ask(const char* path);

  std::uint16_t port_;
  std::chrono::nanoseconds time_;
  std::function<void(std::string_view)> note_;
  State state_ = State::waiting;
  Clock::time_point since_;
  std::string problem_;
  std::future<Result<int>> answer_;  // the HTTP status
};

// The files of a Neuron capture: NEFFs that a program has compiled, traces that the tool has written, inputs.

// The one of the program's NEFFs that is meant: "largest" (the newest of those), "newest", its number from 1, or a part
// of its path. Fails with the list if none or several fit. `files` is not empty.
[[nodiscard]] Result<std::size_t> choose_neff(const std::vector<kinds::program::FolderWatch::File>& files,
                                              const std::string& which);

// A raw trace that the tool wrote: "profile_rank_3_exec_2.ntff" is of rank 3, execution 2.
struct NeuronTrace {
  std::string path;
  std::string label;  // "rank 3"; "" if the name says none
  std::optional<std::uint64_t> execution;
};
// One trace of each rank, ranks in order: that of execution `nth`, else of the last one.
struct ChosenTraces {
  std::vector<NeuronTrace> chosen;
  std::vector<std::string> left;    // of other executions
  std::vector<std::string> beyond;  // of the ranks after the first `most`
};
inline constexpr std::size_t kMostRanks =
    60;  // of one host: a capture joins 64 sources, those of other kinds among them
[[nodiscard]] ChosenTraces choose_traces(const std::vector<std::string>& paths, std::optional<std::uint64_t> nth,
                                         std::size_t most = kMostRanks);

// Whether every value of an input, .npy or raw, is zero. Fails if it cannot be read, is empty or is no .npy file.
[[nodiscard]] Result<bool> is_all_zero(const std::string& path);

class NeuronRun {
 public:
  // `tool`: its whole path.
  NeuronRun(const request::KindRun& run, EventSink& sink, NeuronSettings settings, std::string tool);

  // A capture that is stopped ends without an error.
  Result<void> run();

 private:
  Result<void> capture_neff(const std::string& neff);
  Result<void> capture_compiled();
  Result<void> inspect_program();
  Result<void> record_program();

  Result<StepEnd> run_tool(const std::vector<std::string>& arguments, const std::string& folder,
                           std::chrono::nanoseconds limit, std::function<bool()> written = {});
  Result<StepEnd> run_program(const ToolStep& step);
  Result<std::string> choose_compiled(const kinds::program::FolderWatch& watch, const StepEnd& ended);
  Result<void> check_inputs();
  Result<void> process(const std::string& neff, const std::vector<NeuronTrace>& traces);
  // Has the tool write a profile into request.output. Fails if it writes none.
  Result<void> convert(const sources::neuron::ViewRequest& request, const std::string& of);
  Result<void> import_captured(const std::string& written, const std::string& name);
  // After a program that was recorded while it ran. One that was stopped, as servers have to be, has its profile.
  void go_on_after_stop();
  // Before a program runs: what its profile will lack because of how it is compiled.
  void report_debug_facts(const std::vector<std::string>& environment);
  Result<void> import_folder(const std::string& folder);
  [[nodiscard]] Result<std::string> new_folder(const std::string& base, const std::string& name);
  [[nodiscard]] Error failure(const std::vector<std::string>& arguments, const StepEnd& ended) const;
  void warn(QualityKind kind, std::string detail, std::uint64_t count = 1);
  void report_dropped(const std::string& output);

  const request::KindRun& run_;
  EventSink& sink_;
  NeuronSettings settings_;
  std::string tool_;
  std::string tool_name_;
  std::string base_;  // in which the tool and the program run
  ToolSteps steps_;
  bool stopped_ = false;     // by the user: nothing more is done
  bool after_stop_ = false;  // the program was stopped; what it recorded is read
};

// The path of a file that the viewer sent, else of one of this host: relative to the request's folder.
[[nodiscard]] std::string host_path(const std::string& file, const request::CaptureRequest& request,
                                    const std::string& work_folder);

}  // namespace accelscope::capture::kinds::neuron
