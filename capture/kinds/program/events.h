// The events of the kind `program`: one slice for the program's life, an instant for every line that it prints on the
// tracks "stdout" and "stderr", and counters of what it and its children use.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "capture/kinds/program/output_lines.h"
#include "capture/system/supervised_child.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::program {

// What a program and everything that it has started use at this moment. Linux tells it in /proc; elsewhere there is
// nothing to read, and available() says so.
//
//   ProcessTree tree(child.id());
//   if (std::optional<TreeUsage> now = tree.sample()) ...      // CPU time since the last call

struct TreeUsage {
  double cpu_share = 0;              // of one CPU, since the last sample: 2.5 is two and a half CPUs
  std::uint64_t resident_bytes = 0;  // sum over the processes; what they share counts for each
  std::uint64_t threads = 0;
  std::uint64_t processes = 0;
};

class ProcessTree {
 public:
  explicit ProcessTree(int root);  // a process that leads its session

  [[nodiscard]] static bool available();
  // Nothing once no process is left. A process that lives between two samples only is not seen; what it used is in the
  // program's totals at its end.
  [[nodiscard]] std::optional<TreeUsage> sample();

 private:
  void find_processes();

  int root_;
  std::map<int, std::int64_t> cpu_ns_;  // used so far, by process
  std::chrono::steady_clock::time_point sampled_at_;
  std::chrono::steady_clock::time_point find_again_at_;
};

// By which those who read a session find what a program printed and how it ended.
inline constexpr std::string_view kLineSchemaName = "output_line";
inline constexpr std::string_view kExitStatusFact = "program.exit_status";
[[nodiscard]] constexpr std::string_view stream_name(system::OutputStream stream) noexcept {
  return stream == system::OutputStream::out ? "stdout" : "stderr";
}

struct ProgramFacts {
  std::string name;       // "python3": heads its tracks
  std::string command;    // as it is typed
  std::string directory;  // in which it runs
};

class ProgramEvents {
 public:
  ProgramEvents(SessionWriter& writer, ProgramFacts facts, bool with_lines, bool with_counters);

  // Of the run that add_line() and add_life() tell of next, for kinds that run several programs.
  void set_command(std::string command, std::string directory);
  void add_line(system::OutputStream stream, std::int64_t now_ns, const OutputPiece& piece);
  void add_usage(std::int64_t now_ns, const TreeUsage& usage);
  void add_life(std::int64_t begin_ns, std::int64_t end_ns, int id, const system::ChildEnd& end);

 private:
  void define_lines();
  void define_counters();
  [[nodiscard]] StringId line_name(std::string_view text, system::OutputStream stream);

  SessionWriter& writer_;
  ProgramFacts facts_;
  TrackNumber life_ = 0;
  std::array<TrackNumber, 2> lines_{};
  TrackNumber cpu_ = 0;
  TrackNumber memory_ = 0;
  TrackNumber threads_ = 0;
  TrackNumber processes_ = 0;
  std::unordered_set<std::string> names_;
};

}  // namespace accelscope::capture::kinds::program
