#include "capture/kinds/program/events.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::kinds::program {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Looking through all processes of the machine may take this part of one CPU's time.
constexpr int kSearchShare = 20;

[[nodiscard]] std::string read_small(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 1024> buffer{};
  const ssize_t got = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string{};
}

struct Stat {
  char state = '?';
  std::int64_t parent = 0;
  std::int64_t session = 0;
  std::uint64_t threads = 0;
  std::uint64_t resident_pages = 0;
};

// proc(5): the name in parentheses may hold anything, so the fields are counted from its end.
[[nodiscard]] std::optional<Stat> read_stat(int id) {
  const std::string text = read_small(fmt::format("/proc/{}/stat", id));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(name_end + 2);
  Stat stat;
  constexpr int kParent = 4;
  constexpr int kSession = 6;
  constexpr int kThreads = 20;
  constexpr int kResident = 24;
  stat.state = rest.front();
  for (int field = 3; field <= kResident && !rest.empty(); ++field) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const char* const end = word.data() + word.size();
    if (field == kParent) std::from_chars(word.data(), end, stat.parent);
    if (field == kSession) std::from_chars(word.data(), end, stat.session);
    if (field == kThreads) std::from_chars(word.data(), end, stat.threads);
    if (field == kResident) std::from_chars(word.data(), end, stat.resident_pages);
  }
  return stat;
}

// All threads of the process, to the ns; /proc counts in steps of 10 ms.
[[nodiscard]] std::int64_t cpu_time_ns(int id) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(id, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

ProcessTree::ProcessTree(int root) : root_(root), sampled_at_(SteadyClock::now()) {}

bool ProcessTree::available() { return !read_small("/proc/self/stat").empty(); }

// Those of the root's session, and children of known ones that have left it.
void ProcessTree::find_processes() {
  const SteadyClock::time_point begin = SteadyClock::now();
  if (begin < find_again_at_) return;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry("/proc", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    int id = 0;
    if (!read_number(name, id) || cpu_ns_.contains(id)) continue;
    const std::optional<Stat> stat = read_stat(id);
    if (!stat) continue;
    const bool ours = id == root_ || stat->session == root_ || cpu_ns_.contains(static_cast<int>(stat->parent));
    if (ours) cpu_ns_.emplace(id, 0);
  }
  const SteadyClock::time_point now = SteadyClock::now();
  find_again_at_ = now + kSearchShare * (now - begin);
}

std::optional<TreeUsage> ProcessTree::sample() {
  find_processes();
  static const auto kPageBytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const SteadyClock::time_point now = SteadyClock::now();
  const auto wall_ns = static_cast<double>(std::chrono::nanoseconds(now - sampled_at_).count());
  sampled_at_ = now;
  TreeUsage usage;
  std::int64_t cpu_ns = 0;
  for (auto known = cpu_ns_.begin(); known != cpu_ns_.end();) {
    const std::optional<Stat> stat = read_stat(known->first);
    const bool gone = !stat || stat->state == 'Z' || stat->state == 'X';
    const std::int64_t used_ns = gone ? 0 : cpu_time_ns(known->first);
    if (gone) {
      known = cpu_ns_.erase(known);
      continue;
    }
    cpu_ns += std::max<std::int64_t>(0, used_ns - known->second);
    known->second = used_ns;
    usage.resident_bytes += stat->resident_pages * kPageBytes;
    usage.threads += stat->threads;
    ++usage.processes;
    ++known;
  }
  if (usage.processes == 0) return std::nullopt;
  if (wall_ns > 0) usage.cpu_share = static_cast<double>(cpu_ns) / wall_ns;
  return usage;
}

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
