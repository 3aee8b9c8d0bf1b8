#include "capture/kinds/program/events.h"

#include <utility>

#include "core/base/format.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::kinds::program {
namespace {

// A dictionary is for names that recur; the text of every line is in its column anyway.
constexpr std::size_t kMostLineNames = 4'096;
constexpr std::size_t kNameChars = 60;
constexpr std::size_t kNameBytes = 4 * kNameChars;  // of the line's beginning that are looked at for it

enum LifeColumn : std::size_t { kCommand, kDirectory, kId, kStatus, kSignal, kUser, kSystem, kResident };
enum LineColumn : std::size_t { kLineText, kLine, kPiece, kRewrites };

using namespace columns;

constexpr ColumnSpec kLife[] = {
    {"command", kText, "", kOperation, "Command", "The program with its arguments."},
    {"directory", kText, "", kOperation, "Folder", "The folder in which it ran."},
    {"process_id", kInt, "", kIds, "Process", "Its number on the host."},
    {"exit_status", kInt, "", kOperation, "Exit status",
     "What it returned; 128 and the signal's number if one ended it."},
    {"signal", kString, "", kOperation, "Signal", "The signal that ended it, if one did."},
    {"user_ns", kInt, "ns", kTiming, "User time",
     "CPU time in the program's own code, with that of the processes it waited for."},
    {"system_ns", kInt, "ns", kTiming, "System time", "CPU time in the system on its behalf."},
    {"max_resident_bytes", kInt, "B", kMemory, "Largest resident size",
     "Of the largest of the program and the processes it waited for."},
};
constexpr ColumnSpec kLines[] = {
    {"text", kText, "", kOperation, "Text", "What the program printed, without colours."},
    {"line", kInt, "", kOperation, "Line", "Number of the line in its stream, from 1.", Role::none, true},
    {"piece", kInt, "", kOperation, "Piece",
     "Which part of the line this is, where it was too long or stood unfinished for a while."},
    {"rewrites", kInt, "", kOperation, "Rewritten",
     "How often the line was drawn over itself, as progress bars are; the last state is kept."},
};

enum TrackOrder : std::int64_t {
  kLifeOrder,
  kOutOrder,
  kErrOrder,
  kCpuOrder,
  kMemoryOrder,
  kThreadsOrder,
  kCountOrder
};

}  // namespace

ProgramEvents::ProgramEvents(SessionWriter& writer, ProgramFacts facts, bool with_lines, bool with_counters)
    : writer_(writer), facts_(std::move(facts)) {
  life_ = writer_.add_track(
      {.name = "Program",
       .kind = "process",
       .device = facts_.name,
       .schema = writer_.add_schema(
           make_schema({"program", EventKind::slice, "program", "The program that ran, as it was called."}, kLife)),
       .order = kLifeOrder});
  if (with_lines) define_lines();
  if (with_counters) define_counters();
}

void ProgramEvents::set_command(std::string command, std::string directory) {
  facts_.command = std::move(command);
  facts_.directory = std::move(directory);
}

void ProgramEvents::define_lines() {
  const SchemaNumber schema = writer_.add_schema(make_schema(
      {kLineSchemaName, EventKind::instant, "shown",
       "The beginning and end of the line; once there were thousands of different ones, the stream's name."},
      kLines));
  for (const system::OutputStream stream : {system::OutputStream::out, system::OutputStream::err}) {
    lines_[static_cast<std::size_t>(stream)] =
        writer_.add_track({.name = std::string(stream_name(stream)),
                           .kind = "output",
                           .device = facts_.name,
                           .schema = schema,
                           .order = stream == system::OutputStream::out ? kOutOrder : kErrOrder});
  }
}

void ProgramEvents::define_counters() {
  const auto add = [this](const char* name, std::int64_t order, const char* schema, ColumnType type, const char* unit,
                          const char* explanation) {
    return writer_.add_track({.name = name,
                              .kind = "counter",
                              .device = facts_.name,
                              .unit = unit,
                              .schema = writer_.add_schema(make_schema(
                                  {schema, EventKind::counter},
                                  {{"value", type, unit, kOperation, "Value", explanation, Role::value, true}})),
                              .order = order});
  };
  cpu_ = add("CPU", kCpuOrder, "program_cpu", kReal, "%",
             "CPU time of the program and its children since the last sample; 100 % is one CPU.");
  memory_ = add("Memory", kMemoryOrder, "program_memory", kInt, "B",
                "Resident memory, summed over the processes: what they share counts for each.");
  threads_ = add("Threads", kThreadsOrder, "program_threads", kInt, "", "Threads of the program and its children.");
  processes_ = add("Processes", kCountOrder, "program_processes", kInt, "", "The program and its children.");
}

StringId ProgramEvents::line_name(std::string_view text, system::OutputStream stream) {
  std::string name = shorten_middle(text.size() > kNameBytes ? text.substr(0, kNameBytes) : text, kNameChars);
  if (names_.size() >= kMostLineNames && !names_.contains(name)) return writer_.intern(stream_name(stream));
  const StringId id = writer_.intern(name);
  names_.insert(std::move(name));
  return id;
}

void ProgramEvents::add_line(system::OutputStream stream, std::int64_t now_ns, const OutputPiece& piece) {
  const TrackNumber track = lines_[static_cast<std::size_t>(stream)];
  Row row = writer_.begin_event(track, now_ns, 0, line_name(piece.text, stream));
  row.text(kLineText, piece.text);
  row.integer(kLine, static_cast<std::int64_t>(piece.line));
  if (piece.piece > 0) row.integer(kPiece, static_cast<std::int64_t>(piece.piece));
  if (piece.rewrites > 0) row.integer(kRewrites, static_cast<std::int64_t>(piece.rewrites));
}

void ProgramEvents::add_usage(std::int64_t now_ns, const TreeUsage& usage) {
  writer_.sample(cpu_, now_ns, usage.cpu_share * 100);
  writer_.sample(memory_, now_ns, static_cast<std::int64_t>(usage.resident_bytes));
  writer_.sample(threads_, now_ns, static_cast<std::int64_t>(usage.threads));
  writer_.sample(processes_, now_ns, static_cast<std::int64_t>(usage.processes));
}

void ProgramEvents::add_life(std::int64_t begin_ns, std::int64_t end_ns, int id, const system::ChildEnd& end) {
  const std::string_view command = facts_.command;
  Row row = writer_.begin_event(life_, begin_ns, end_ns - begin_ns,
                                writer_.intern(shorten_middle(command.substr(0, kNameBytes), kNameChars)));
  row.text(kCommand, facts_.command);
  row.text(kDirectory, facts_.directory);
  row.integer(kId, id);
  row.integer(kStatus, end.exit_code);
  if (end.signal != 0) row.string(kSignal, writer_.intern(system::signal_name(end.signal)));
  row.integer(kUser, end.user_ns);
  row.integer(kSystem, end.system_ns);
  row.integer(kResident, static_cast<std::int64_t>(end.max_resident_bytes));
}

}  // namespace accelscope::capture::kinds::program
