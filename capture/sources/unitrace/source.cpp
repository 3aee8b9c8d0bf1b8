#include "capture/sources/unitrace/source.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "capture/sources/base/async_sink.h"
#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/unordered_session.h"
#include "capture/sources/unitrace/command_name.h"
#include "capture/sources/unitrace/printed_tables.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::unitrace {
namespace {

using namespace columns;
using tracks::GpuTable;
using tracks::KernelColumns;
using tracks::TransferColumns;
using tracks::UnorderedSession;

constexpr std::int64_t kLargestStamp = std::int64_t{1} << 62;
constexpr std::size_t kMostUnread = 1'000;  // values of other names

constexpr ColumnSpec kCommandColumns[] = {
    {"append", kInt, "ns", kTiming, "Append", "When it was put into its list, on the file's own clock."},
    {"submit", kInt, "ns", kTiming, "Submit", "When it was handed to the device, on the file's own clock."},
    {"thread", kInt, "", kIds, "Thread", "The thread that asked for it."},
    {"simd", kInt, "", kLaunch, "SIMD width", "Work items that an instruction does at once."},
};
constexpr std::size_t kCommandColumnCount = std::size(kCommandColumns);
constexpr std::size_t kAppend = 0, kSubmit = 1, kThread = 2, kSimd = 3;

// A line: whose command it is, its name, and its times by what the file calls them.
struct CommandLine {
  std::int64_t thread = 0;
  std::uint64_t device = 0;
  std::string_view name;
  std::optional<std::int64_t> append, submit, start, end;
  std::vector<std::string_view> unread;  // what else it says, by name
};

// Takes the number behind a word.
template <typename Number>
[[nodiscard]] bool take_number(std::string_view& text, std::string_view word, Number& number) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + word.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

[[nodiscard]] std::optional<CommandLine> read_command(std::string_view line) {
  CommandLine found;
  if (!line.starts_with("Thread ") || !take_number(line, "Thread ", found.thread) ||
      !take_number(line, "Device ", found.device)) {
    return std::nullopt;
  }
  const std::size_t begin = line.find('"');
  const std::size_t end = line.rfind('"');
  if (begin == std::string_view::npos || end == begin) return std::nullopt;
  // " Queue 3 : " may stand before the name.
  const std::string_view further = trimmed(line.substr(0, std::min(begin, line.find(" :"))));
  if (!further.empty()) found.unread.push_back(further.substr(0, further.find(' ')));
  found.name = line.substr(begin + 1, end - begin - 1);
  line.remove_prefix(end + 1);
  const std::size_t unit = line.find("[ns]");
  if (unit == std::string_view::npos) return std::nullopt;
  line.remove_prefix(unit + 4);
  const std::array<std::pair<std::string_view, std::optional<std::int64_t>*>, 5> times = {{{"append", &found.append},
                                                                                           {"queued", &found.append},
                                                                                           {"submit", &found.submit},
                                                                                           {"start", &found.start},
                                                                                           {"end", &found.end}}};
  while (true) {
    line = trimmed(line);
    const std::size_t open = line.find('(');
    const std::size_t close = line.find(')', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::optional<std::int64_t> value = csv_integer(line.substr(0, open));
    const std::string_view word = line.substr(open + 1, close - open - 1);
    bool known = false;
    for (const auto& [name, time] : times) {
      known = known || name == word;
      if (name == word && value && *value >= 0 && *value < kLargestStamp) *time = value;
    }
    if (!known) found.unread.push_back(word);
    line.remove_prefix(close + 1);
  }
  return found.start && found.end ? std::optional(found) : std::nullopt;
}

class UnitraceImport {
 public:
  UnitraceImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  void take(std::string_view line);
  void write(const CommandLine& line);
  [[nodiscard]] std::uint32_t row_of(const CommandLine& line, CommandKind kind);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  PrintedTables printed_;
  std::array<std::uint32_t, 4> tables_ = {kNone, kNone, kNone, kNone};  // by CommandKind
  std::array<std::size_t, 4> common_ = {KernelColumns::count, TransferColumns::count, TransferColumns::count, 0};
  std::map<std::uint64_t, std::size_t> devices_;  // by handle: the order in which they come
  std::map<std::tuple<std::uint64_t, std::int64_t, CommandKind>, std::uint32_t> rows_;
  tracks::EventValues values_;
  std::uint64_t commands_ = 0;
  std::uint64_t broken_ = 0;
  std::set<std::string, std::less<>> unread_;
  std::uint64_t other_lines_ = 0;
};

std::uint32_t UnitraceImport::row_of(const CommandLine& line, CommandKind kind) {
  const auto [row, added] = rows_.try_emplace({line.device, line.thread, kind}, kNone);
  if (!added) return row->second;
  struct RowWords {
    const char* prefix;
    const char* kind;
  };
  constexpr std::array<RowWords, 4> kWords = {
      {{"", "stream"}, {"memcpy ", "dma_queue"}, {"memset ", "dma_queue"}, {"commands ", "barrier"}}};
  const RowWords& words = kWords[static_cast<std::size_t>(kind)];
  Track track;
  track.device =
      tracks::gpu_name(static_cast<std::int64_t>(devices_.try_emplace(line.device, devices_.size()).first->second));
  track.name = fmt::format("{}thread {}", words.prefix, line.thread);
  track.kind = words.kind;
  row->second = session_.add_track(tables_[static_cast<std::size_t>(kind)], std::move(track),
                                   {tracks::kDeviceRows, static_cast<std::int64_t>(kind)});
  return row->second;
}

void UnitraceImport::write(const CommandLine& line) {
  const CommandName name = read_command_name(line.name);
  const std::size_t own = common_[static_cast<std::size_t>(name.kind)];
  values_.clear();
  if (name.kind == CommandKind::kernel) {
    if (!name.groups.empty()) values_.string(KernelColumns::grid, session_.intern(name.groups));
    if (!name.group_size.empty()) values_.string(KernelColumns::block, session_.intern(name.group_size));
  } else if (name.bytes && name.kind != CommandKind::other) {
    values_.integer(TransferColumns::bytes, *name.bytes);
  }
  if (line.append) values_.integer(own + kAppend, *line.append);
  if (line.submit) values_.integer(own + kSubmit, *line.submit);
  values_.integer(own + kThread, line.thread);
  if (name.simd) values_.integer(own + kSimd, *name.simd);
  session_.write(row_of(line, name.kind), *line.start, *line.end - *line.start, session_.intern(name.name), values_);
  ++commands_;
  for (const std::string_view other : line.unread) {
    if (unread_.size() < kMostUnread && !unread_.contains(other)) unread_.emplace(other);
  }
}

void UnitraceImport::take(std::string_view line) {
  if (const std::optional<CommandLine> command = read_command(line)) return write(*command);
  if (line.starts_with("Thread ") && line.find(" Device ") != std::string_view::npos) {
    ++broken_;
  } else if (!printed_.take(line) && !trimmed(line).empty()) {
    ++other_lines_;
  }
}

Result<void> UnitraceImport::run(std::unique_ptr<json::ByteSource> bytes) {
  tables_[0] = session_.add_table(make_gpu_schema(GpuTable::kernel, kCommandColumns));
  tables_[1] = session_.add_table(make_gpu_schema(GpuTable::memcpy, kCommandColumns));
  tables_[2] = session_.add_table(make_gpu_schema(GpuTable::memset, kCommandColumns));
  tables_[3] = session_.add_table(make_schema({"device_command", EventKind::slice, "name", "What the device was told."},
                                              std::span(kCommandColumns, kCommandColumnCount)));
  LineBlocks blocks(std::move(bytes));
  std::vector<char> buffer;
  for (std::string_view text = blocks.next(buffer); !text.empty(); text = blocks.next(buffer)) {
    for_each_line(text, [&](std::string_view line) { take(line); });
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(blocks.file_bytes_read(), blocks.file_bytes());
  }
  if (commands_ + printed_.rows() == 0)
    return Error{name_ + ": holds neither commands of a device nor tables of unitrace"};
  printed_.write(session_);
  session_.writer().set_meta("source_format", "unitrace text");
  if (commands_ + broken_ > 0) set_row_counts(session_.writer(), "commands", commands_ + broken_, commands_);
  ImportReport& report = session_.report();
  report.note("rows_skipped", "lines of commands that lack a time, or are cut, were skipped",
              broken_ + printed_.bad_rows() + blocks.long_lines());
  report.note_unread("lines of commands", {unread_.begin(), unread_.end()});
  for (const auto& [heading, lines] : printed_.unread()) {
    report.note("unknown_table",
                fmt::format("lines under the heading \"{}\" are of no table that is known here and "
                            "were not read",
                            heading.substr(0, 80)),
                lines);
  }
  report.note("rows_left_out",
              "lines that are neither commands nor tables, such as a program's own output, were left out",
              other_lines_);
  report.add(blocks);
  return session_.finish({.clock = "device", .path = name_});
}

}  // namespace

int probe_unitrace(std::string_view head, const std::string& /*path*/) {
  constexpr int kLikely = 85;
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  const bool commands = has("Thread ") && has(" Device ") && has("[ns]") && has("(start)") && has("(end)");
  const bool tables = has("=== ") && (has("Timing Summary ===") || has("= Kernel Properties =")) && has("Time (ns)");
  return commands || tables ? kLikely : 0;
}

Result<void> import_unitrace(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                             const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  if (Result<void> done = UnitraceImport(name, options, receiver).run(std::move(bytes)); !done) return done;
  return receiver.finish();
}

Result<void> import_unitrace(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_unitrace(std::move(source).value(), path, options, sink);
}

}  // namespace accelscope::capture::sources::unitrace
