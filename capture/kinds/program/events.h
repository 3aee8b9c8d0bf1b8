// The events of the kind `program`: one slice for the program's life, an instant for every line that it prints on the
// tracks "stdout" and "stderr", and counters of what it and its children use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "capture/kinds/program/output_lines.h"
#include "capture/kinds/program/process_tree.h"
#include "capture/system/supervised_child.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds::program {

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
