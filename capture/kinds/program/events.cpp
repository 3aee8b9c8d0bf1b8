#include "capture/kinds/program/events.h"

#include <utility>

#include "core/base/format.h"

namespace accelscope::capture::kinds::program {
namespace {

// A dictionary is for names that recur; the text of every line is in its column anyway.
constexpr std::size_t kMostLineNames = 4'096;
constexpr std::size_t kNameChars = 60;
constexpr std::size_t kNameBytes = 4 * kNameChars;  // of the line's beginning that are looked at for it

enum LifeColumn : std::size_t { kCommand, kDirectory, kId, kStatus, kSignal, kUser, kSystem, kResident };
enum LineColumn : std::size_t { kText, kLine, kPiece, kRewrites };

[[nodiscard]] Schema life_schema() {
  Schema schema;
  schema.name = "program";
  schema.kind = EventKind::slice;
  schema.name_column = "program";
  schema.name_explanation = "The program that ran, as it was called.";
  schema.columns = {
      {"command", ColumnType::text, "", "Operation", "Command", "The program with its arguments."},
      {"directory", ColumnType::text, "", "Operation", "Folder", "The folder in which it ran."},
      {"process_id", ColumnType::int64, "", "IDs", "Process", "Its number on the host."},
      {"exit_status", ColumnType::int64, "", "Operation", "Exit status",
       "What it returned; 128 and the signal's number if one ended it."},
      {"signal", ColumnType::string, "", "Operation", "Signal", "The signal that ended it, if one did."},
      {"user_ns", ColumnType::int64, "ns", "Timing", "User time",
       "CPU time in the program's own code, with that of the processes it waited for."},
      {"system_ns", ColumnType::int64, "ns", "Timing", "System time", "CPU time in the system on its behalf."},
      {"max_resident_bytes", ColumnType::int64, "B", "Memory", "Largest resident size",
       "Of the largest of the program and the processes it waited for."},
  };
  return schema;
}

[[nodiscard]] Schema line_schema() {
  Schema schema;
  schema.name = kLineSchemaName;
  schema.kind = EventKind::instant;
  schema.name_column = "shown";
  schema.name_explanation =
      "The beginning and end of the line; once there were thousands of different ones, the stream's name.";
  schema.columns = {
      {"text", ColumnType::text, "", "Operation", "Text", "What the program printed, without colours."},
      {.name = "line",
       .type = ColumnType::int64,
       .group = "Operation",
       .title = "Line",
       .explanation = "Number of the line in its stream, from 1.",
       .required = true},
      {"piece", ColumnType::int64, "", "Operation", "Piece",
       "Which part of the line this is, where it was too long or stood unfinished for a while."},
      {"rewrites", ColumnType::int64, "", "Operation", "Rewritten",
       "How often the line was drawn over itself, as progress bars are; the last state is kept."},
  };
  return schema;
}

[[nodiscard]] Schema counter_schema(std::string name, ColumnType type, std::string unit, std::string explanation) {
  Schema schema;
  schema.name = std::move(name);
  schema.kind = EventKind::counter;
  schema.columns = {{"value", type, std::move(unit), "Operation", "Value", std::move(explanation), Role::value, true}};
  return schema;
}

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
  life_ = writer_.add_track({.name = "Program",
                             .kind = "process",
                             .device = facts_.name,
                             .schema = writer_.add_schema(life_schema()),
                             .order = kLifeOrder});
  if (with_lines) define_lines();
  if (with_counters) define_counters();
}

void ProgramEvents::set_command(std::string command, std::string directory) {
  facts_.command = std::move(command);
  facts_.directory = std::move(directory);
}

void ProgramEvents::define_lines() {
  const SchemaNumber schema = writer_.add_schema(line_schema());
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
  const auto add = [this](std::string name, std::string unit, Schema schema, std::int64_t order) {
    return writer_.add_track({.name = std::move(name),
                              .kind = "counter",
                              .device = facts_.name,
                              .unit = std::move(unit),
                              .schema = writer_.add_schema(std::move(schema)),
                              .order = order});
  };
  cpu_ = add("CPU", "%",
             counter_schema("program_cpu", ColumnType::float64, "%",
                            "CPU time of the program and its children since the last sample; 100 % is one CPU."),
             kCpuOrder);
  memory_ = add("Memory", "B",
                counter_schema("program_memory", ColumnType::int64, "B",
                               "Resident memory, summed over the processes: what they share counts for each."),
                kMemoryOrder);
  threads_ = add("Threads", "",
                 counter_schema("program_threads", ColumnType::int64, "", "Threads of the program and its children."),
                 kThreadsOrder);
  processes_ =
      add("Processes", "", counter_schema("program_processes", ColumnType::int64, "", "The program and its children."),
          kCountOrder);
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
  row.text(kText, piece.text);
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
