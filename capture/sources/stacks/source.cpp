// Call stacks of sampled programs, as text: what perf script prints, and collapsed stacks.
// What perf script prints. A sample stands for the time until the next one of its thread: for its period where clocks
// were counted, else for as long as samples of a running thread lie apart at most.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/analysis/statistics/estimates.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::stacks {
namespace {

using namespace columns;
using tracks::UnorderedSession;

constexpr std::size_t kMostFrames = 4096;
constexpr std::size_t kMostStackBytes = 64U << 10;

constexpr ColumnSpec kSampleColumns[] = {
    {"stack", kString, "", kSource, "Stack", "The frames, innermost first.", Role::stack},
    {"module", kString, "", kSource, "Module", "The library or program that the innermost frame is in."},
    {"event", kString, "", kOperation, "Event", "What was counted up to this sample."},
    {"period", kInt, "", kOperation, "Period", "How much of the event the sample stands for."},
    {"cpu", kInt, "", kIds, "CPU", "The processor that it ran on."},
    {"pid", kInt, "", kIds, "Process", "The process."},
    {"tid", kInt, "", kIds, "Thread", "The thread."},
    {"fields", kText, "", kDetails, "Fields", "What else the sample's line says, such as a tracepoint's fields."},
};
constexpr std::size_t kStackColumn = 0, kModuleColumn = 1, kEventColumn = 2, kPeriodColumn = 3, kCpuColumn = 4,
                      kPidColumn = 5, kTidColumn = 6, kFieldsColumn = 7;

// What is printed of frames, as perf calls it, and not kept.
enum FramePart : std::uint8_t { kAddress = 1, kOffset = 2, kSourceLine = 4 };
constexpr std::pair<FramePart, const char*> kFrameParts[] = {
    {kAddress, "ip"}, {kOffset, "symoff"}, {kSourceLine, "srcline"}};

struct PerfSample {
  std::string command;
  std::optional<std::int64_t> pid, tid, cpu, period;
  std::int64_t time_ns = 0;
  std::string event;
  std::string stack;
  std::string innermost;
  std::string module;
  std::string fields;  // what stands behind the event
  std::size_t frames = 0;
  bool on_one_line = false;   // the frame stands behind the event
  bool is_cut = false;        // it has more frames
  unsigned unread_parts = 0;  // of FramePart
};

// "12.345678901" in s, exactly.
[[nodiscard]] std::optional<std::int64_t> seconds_to_ns(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::optional<std::int64_t> whole = csv_integer(text.substr(0, point));
  constexpr std::int64_t kMostSeconds = 4'000'000'000;
  if (!whole || *whole < 0 || *whole > kMostSeconds || point == std::string_view::npos) return std::nullopt;
  std::int64_t fraction = 0;
  std::int64_t unit = 1'000'000'000;
  for (const char digit : text.substr(point + 1)) {
    if (!is_digit(digit)) return std::nullopt;
    unit /= 10;
    fraction += (digit - '0') * unit;
  }
  return *whole * 1'000'000'000 + fraction;
}

[[nodiscard]] bool is_address(std::string_view word) noexcept {
  return !word.empty() && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "work.c:31": below the frame that it is of.
[[nodiscard]] bool is_source_line(std::string_view line) noexcept {
  const std::size_t colon = line.rfind(':');
  return colon != std::string_view::npos && colon > 0 && line[colon - 1] != ':' && colon + 1 < line.size() &&
         line.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

// "    7f12ab34 do_work+0x12 (/usr/lib/libwork.so)" below a sample's line.
void take_frame(std::string_view line, PerfSample& sample) {
  std::string_view frame = trimmed(line);
  if (frame.empty()) return;
  if (sample.frames > 0 && is_source_line(frame)) {
    sample.unread_parts |= kSourceLine;
    return;
  }
  std::string_view module;
  if (frame.ends_with(')')) {
    const std::size_t open = frame.rfind(" (");
    if (open != std::string_view::npos) {
      module = frame.substr(open + 2, frame.size() - open - 3);
      frame = trimmed(frame.substr(0, open));
    }
  }
  const std::size_t blank = frame.find(' ');
  const std::string_view address = frame.substr(0, blank);
  if (is_address(address)) {
    frame = blank == std::string_view::npos ? std::string_view{} : trimmed(frame.substr(blank));
    sample.unread_parts |= kAddress;
  }
  if (const std::size_t offset = frame.rfind("+0x"); offset != std::string_view::npos) {
    frame = frame.substr(0, offset);
    sample.unread_parts |= kOffset;
  }
  std::string name(frame.empty() || frame == "[unknown]" ? (module.empty() ? address : module) : frame);
  if (sample.frames++ == 0) {
    sample.innermost = name;
    sample.module = module;
  } else if (sample.frames > kMostFrames || sample.stack.size() + name.size() > kMostStackBytes) {
    sample.is_cut = true;
    return;
  } else {
    sample.stack += '\n';
  }
  sample.stack += name;
}

// "python3 1234/1235 [003] 12.345678:     250000 cycles:u: " - the command may hold blanks, so the time is looked for
// first: the first word of digits, a point and digits that ends with a colon.
[[nodiscard]] bool read_sample_head(std::string_view line, PerfSample& sample) {
  sample = {};
  std::size_t time_begin = std::string_view::npos;
  std::size_t time_end = 0;
  for (std::size_t at = line.find(": "); at != std::string_view::npos || line.ends_with(':');) {
    const std::size_t colon = at == std::string_view::npos ? line.size() - 1 : at;
    const std::size_t blank = line.rfind(' ', colon);
    const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
    if (const auto time = seconds_to_ns(line.substr(begin, colon - begin))) {
      sample.time_ns = *time;
      time_begin = begin;
      time_end = colon + 1;
      break;
    }
    if (at == std::string_view::npos) break;
    at = line.find(": ", at + 1);
  }
  if (time_begin == std::string_view::npos) return false;
  std::string_view before = trimmed(line.substr(0, time_begin));
  if (before.ends_with(']')) {
    const std::size_t open = before.rfind('[');
    if (open == std::string_view::npos) return false;
    sample.cpu = csv_integer(before.substr(open + 1, before.size() - open - 2));
    before = trimmed(before.substr(0, open));
  }
  const std::size_t blank = before.rfind(' ');
  const std::string_view ids = before.substr(blank == std::string_view::npos ? 0 : blank + 1);
  const std::size_t slash = ids.find('/');
  sample.tid = csv_integer(slash == std::string_view::npos ? ids : ids.substr(slash + 1));
  if (slash != std::string_view::npos) sample.pid = csv_integer(ids.substr(0, slash));
  if (!sample.tid) return false;
  sample.command = trimmed(before.substr(0, blank == std::string_view::npos ? 0 : blank));
  std::string_view after = trimmed(line.substr(time_end));
  const std::size_t word = after.find(' ');
  if (const auto period = csv_integer(after.substr(0, word)); period && word != std::string_view::npos) {
    sample.period = period;
    after = trimmed(after.substr(word));
  }
  const std::size_t name_end = after.find(": ");
  std::string_view event = name_end == std::string_view::npos ? after : after.substr(0, name_end);
  if (event.ends_with(':')) event.remove_suffix(1);
  sample.event = event;
  // Without call chains the one frame stands behind it: an address, a function, the file it is in.
  const std::string_view frame =
      name_end == std::string_view::npos ? std::string_view{} : trimmed(after.substr(name_end + 1));
  sample.on_one_line = is_address(frame.substr(0, frame.find(' ')));
  sample.fields = frame;
  if (sample.on_one_line) take_frame(frame, sample);
  return true;
}

class PerfScriptImport {
 public:
  PerfScriptImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  void take(std::string_view line);
  void write();
  void write_all();
  [[nodiscard]] std::int64_t usual_distance() const;
  [[nodiscard]] std::uint32_t row_of(const PerfSample& sample);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  std::uint32_t samples_ = kNone;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> rows_;
  tracks::EventValues values_;
  PerfSample sample_;
  bool open_ = false;
  bool ended_by_blank_ = false;  // a sample was
  bool in_strange_ = false;
  struct RetainedSample {
    std::uint32_t row = 0;
    std::int64_t time_ns = 0;
    StringId name = 0, stack = 0, module = 0, event = 0;
    std::string fields;
    std::optional<std::int64_t> period, cpu, pid;
    std::int64_t tid = 0;
    bool counts_clock = false;
  };
  std::vector<RetainedSample> retained_;
  std::uint64_t strange_lines_ = 0;
  std::uint64_t cut_stacks_ = 0;
  unsigned unread_parts_ = 0;
};

std::uint32_t PerfScriptImport::row_of(const PerfSample& sample) {
  const std::int64_t process = sample.pid.value_or(*sample.tid);
  const auto [row, added] = rows_.try_emplace({sample.pid ? process : -1, *sample.tid}, kNone);
  if (!added) return row->second;
  Track track;
  track.name = fmt::format("{} {}", sample.command.empty() ? "thread" : sample.command, *sample.tid);
  track.kind = "host_thread";
  track.host = sample.pid ? fmt::format("process {}", process) : std::string("host");
  row->second = session_.add_track(samples_, std::move(track),
                                   {process == *sample.tid ? tracks::kMainThreadRows : tracks::kHostRows, *sample.tid});
  return row->second;
}

void PerfScriptImport::write() {
  if (!open_) return;
  open_ = false;
  const auto text = [&](const std::string& of) { return of.empty() ? StringId{0} : session_.intern(of); };
  const std::string& name = sample_.innermost.empty() ? sample_.event : sample_.innermost;
  retained_.push_back({row_of(sample_), sample_.time_ns, text(name), text(sample_.stack), text(sample_.module),
                       text(sample_.event), sample_.on_one_line ? std::string() : std::move(sample_.fields),
                       sample_.period, sample_.cpu, sample_.pid, *sample_.tid,
                       sample_.event.find("clock") != std::string::npos});
  cut_stacks_ += sample_.is_cut ? 1 : 0;
  unread_parts_ |= sample_.unread_parts;
}

// How far a running thread's samples lie apart at most, as a rule: half of all distances are no longer.
std::int64_t PerfScriptImport::usual_distance() const {
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < retained_.size(); ++i) {
    if (retained_[i].row == retained_[i - 1].row && retained_[i].time_ns > retained_[i - 1].time_ns)
      distances.push_back(retained_[i].time_ns - retained_[i - 1].time_ns);
  }
  return distances.empty() ? 0 : analysis::middle_value(distances);
}

void PerfScriptImport::write_all() {
  std::stable_sort(retained_.begin(), retained_.end(), [](const RetainedSample& a, const RetainedSample& b) {
    return std::tie(a.row, a.time_ns) < std::tie(b.row, b.time_ns);
  });
  const std::int64_t usual = usual_distance();
  for (std::size_t i = 0; i < retained_.size(); ++i) {
    const RetainedSample& sample = retained_[i];
    const bool has_next = i + 1 < retained_.size() && retained_[i + 1].row == sample.row;
    std::int64_t duration = sample.counts_clock && sample.period ? std::max<std::int64_t>(*sample.period, 0) : usual;
    if (has_next) duration = std::min(duration, retained_[i + 1].time_ns - sample.time_ns);
    values_.clear();
    if (sample.stack != 0) values_.string(kStackColumn, sample.stack);
    if (sample.module != 0) values_.string(kModuleColumn, sample.module);
    if (sample.event != 0) values_.string(kEventColumn, sample.event);
    if (sample.period) values_.integer(kPeriodColumn, *sample.period);
    if (sample.cpu) values_.integer(kCpuColumn, *sample.cpu);
    if (sample.pid) values_.integer(kPidColumn, *sample.pid);
    values_.integer(kTidColumn, sample.tid);
    if (!sample.fields.empty()) values_.text(kFieldsColumn, sample.fields);
    session_.write(sample.row, sample.time_ns, duration, sample.name, values_);
  }
}

void PerfScriptImport::take(std::string_view line) {
  if (trimmed(line).empty()) {
    ended_by_blank_ = ended_by_blank_ || open_;
    in_strange_ = false;
    return write();
  }
  if (line.starts_with('#')) return;
  PerfSample next;
  const bool head = read_sample_head(line, next);
  if (!head && open_ && is_blank(line.front())) {
    // What stands behind the event of a sample with a stack is no frame, but the address of data.
    if (sample_.on_one_line) {
      sample_.stack.clear();
      sample_.frames = 0;
      sample_.on_one_line = false;
    }
    return take_frame(line, sample_);
  }
  // Frames below a line that is no sample are of what it was.
  if (!head && in_strange_ && is_blank(line.front())) return;
  write();
  open_ = head;
  in_strange_ = !head;
  if (head) sample_ = std::move(next);
  strange_lines_ += head ? 0 : 1;
}

Result<void> PerfScriptImport::run(std::unique_ptr<json::ByteSource> bytes) {
  samples_ = session_.add_table(
      make_schema({"cpu_sample", EventKind::slice, "symbol", "The innermost function."}, kSampleColumns));
  LineBlocks blocks(std::move(bytes));
  std::vector<char> buffer;
  for (std::string_view text = blocks.next(buffer); !text.empty(); text = blocks.next(buffer)) {
    for_each_line(text, [&](std::string_view line) { take(line); });
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(blocks.file_bytes_read(), blocks.file_bytes());
  }
  // An empty line ends the frames of every sample; without call chains there are none.
  const bool cut = open_ && !sample_.on_one_line && (sample_.frames > 0 || ended_by_blank_);
  write();
  write_all();
  if (retained_.empty()) {
    return Error{name_ +
                 ": holds no samples of perf script; print them with perf script -F "
                 "comm,pid,tid,cpu,time,period,event,ip,sym,dso"};
  }
  session_.writer().set_meta("source_format", "perf script");
  strange_lines_ += blocks.long_lines();
  set_row_counts(session_.writer(), "cpu_sample", retained_.size() + strange_lines_, retained_.size());
  ImportReport& report = session_.report();
  report.note("rows_skipped", "lines that are neither a sample nor a frame of one were skipped", strange_lines_);
  report.note(QualityKind("values_left_out").as(Severity::warning),
              fmt::format("stacks are deeper than {} frames, or longer than {} KiB; those further out were left out",
                          kMostFrames, kMostStackBytes >> 10),
              cut_stacks_);
  std::vector<std::string> unread;
  for (const auto& [part, name] : kFrameParts) {
    if ((unread_parts_ & part) != 0) unread.emplace_back(name);
  }
  report.note_unread("the frames of samples", unread);
  report.add(blocks);
  if (cut && !blocks.ends_in_line()) {
    report.note(QualityKind("truncated").as(Severity::warning),
                "the file ends within the frames of a sample, which an empty line would end: the outer frames of its "
                "last stack may be missing, and samples behind it; copy it completely");
  }
  return session_.finish({.clock = "perf", .path = name_});
}

}  // namespace

int probe_perf_script(std::string_view head, const std::string& /*path*/) {
  constexpr int kLikely = 70;
  constexpr int kMostLines = 64;
  bool sample = false;
  for (int i = 0; i < kMostLines && !head.empty(); ++i) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.starts_with('#') || trimmed(line).empty()) continue;
    PerfSample found;
    const bool is_sample = read_sample_head(line, found) && !found.event.empty();
    if (!is_sample) return sample && is_blank(line.front()) ? kLikely : 0;  // a frame below it
    if (found.frames > 0) return kLikely;
    sample = true;
  }
  return sample ? kLikely / 2 : 0;
}

Result<void> import_perf_script(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink) {
  return PerfScriptImport(name, options, sink).run(std::move(bytes));
}

namespace {

constexpr std::int64_t kNsOfCount = 1'000;
constexpr std::size_t kMostDepth = 1'000;
constexpr std::int64_t kMostCounts = (std::int64_t{1} << 61) / kNsOfCount;

constexpr ColumnSpec kFrameColumns[] = {
    {"depth", columns::kInt, "", columns::kOperation, "Depth", "How many frames it lies within."},
    {"counts", columns::kInt, "", columns::kOperation, "Counts", "How often it was met, or what the file counts."},
};

struct CollapsedLine {
  std::vector<std::string_view> frames;  // outermost first
  std::int64_t count = 0;
  bool is_cut = false;  // it has more frames
};

[[nodiscard]] bool read_collapsed(std::string_view line, CollapsedLine& found) {
  line = trimmed(line);
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos) return false;
  const std::optional<double> count = csv_real(line.substr(blank + 1));
  if (!count || !(*count >= 0 && *count <= static_cast<double>(kMostCounts))) return false;
  found.count = static_cast<std::int64_t>(*count);
  found.frames.clear();
  const std::string_view stack = trimmed(line.substr(0, blank));
  std::size_t at = 0;
  while (at <= stack.size() && found.frames.size() < kMostDepth) {
    const std::size_t end = std::min(stack.find(';', at), stack.size());
    found.frames.push_back(stack.substr(at, end - at));
    at = end + 1;
  }
  found.is_cut = at <= stack.size();
  return !stack.empty();
}

// The frames that are open, each since when, and how deep; a line closes those that it does not share.
class FlameGraph {
 public:
  explicit FlameGraph(SessionWriter& writer) : writer_(writer) {
    Track track;
    track.name = "Stacks";
    track.kind = "host_thread";
    track.host = "samples";
    track.schema =
        writer.add_schema(make_schema({"frame", EventKind::slice, "function", "The function."}, kFrameColumns));
    track_ = writer.add_track(std::move(track));
  }

  void take(const CollapsedLine& line) {
    std::size_t shared = 0;
    while (shared < open_.size() && shared < line.frames.size() && open_[shared].name == line.frames[shared]) ++shared;
    close_to(shared);
    for (std::size_t i = shared; i < line.frames.size(); ++i) open_.push_back({std::string(line.frames[i]), at_});
    at_ += line.count;
  }
  void close_to(std::size_t depth) {
    // The events of a lane come by their begins: of frames that end together the outer ones were there first.
    for (std::size_t i = open_.size(); i-- > depth;) {
      const OpenFrame& frame = open_[i];
      Row row = writer_.begin_event_at(track_, static_cast<std::uint32_t>(i), frame.begin * kNsOfCount,
                                       (at_ - frame.begin) * kNsOfCount, writer_.intern(frame.name));
      row.integer(0, static_cast<std::int64_t>(i));
      row.integer(1, at_ - frame.begin);
    }
    open_.resize(std::min(depth, open_.size()));
  }
  [[nodiscard]] std::int64_t counts() const noexcept { return at_; }

 private:
  struct OpenFrame {
    std::string name;
    std::int64_t begin = 0;
  };
  SessionWriter& writer_;
  TrackNumber track_ = kNone;
  std::vector<OpenFrame> open_;
  std::int64_t at_ = 0;
};

}  // namespace

int probe_collapsed(std::string_view head, const std::string& /*path*/) {
  constexpr int kPerhaps = 30;
  constexpr int kMostLines = 32;
  CollapsedLine line;
  int stacks = 0;
  int several = 0;
  for (int i = 0; i < kMostLines && head.find('\n') != std::string_view::npos; ++i) {
    const std::size_t end = head.find('\n');
    const std::string_view text = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (trimmed(text).empty()) continue;
    if (!read_collapsed(text, line)) return 0;
    ++stacks;
    several += line.frames.size() > 1 ? 1 : 0;
  }
  if (stacks == 0 && read_collapsed(head, line)) several += line.frames.size() > 1 ? 1 : 0;
  return several > 0 ? kPerhaps : 0;
}

Result<void> import_collapsed(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink) {
  SessionWriter writer(sink);
  FlameGraph graph(writer);
  LineBlocks blocks(std::move(bytes));
  std::vector<char> buffer;
  CollapsedLine line;
  std::uint64_t stacks = 0;
  std::uint64_t strange = 0;
  std::uint64_t cut = 0;
  for (std::string_view text = blocks.next(buffer); !text.empty(); text = blocks.next(buffer)) {
    for_each_line(text, [&](std::string_view row) {
      if (trimmed(row).empty()) return;
      if (!read_collapsed(row, line) || line.count > kMostCounts - graph.counts()) {
        ++strange;
        return;
      }
      graph.take(line);
      ++stacks;
      cut += line.is_cut ? 1 : 0;
    });
    if (writer.cancelled()) return Error{fmt::format("{}: the import was cancelled", name)};
    if (options.progress) options.progress(blocks.file_bytes_read(), blocks.file_bytes());
  }
  graph.close_to(0);
  if (stacks == 0) return Error{name + ": holds no collapsed stacks: lines like \"main;work;read 12\""};
  writer.set_meta("source_format", "collapsed stacks");
  strange += blocks.long_lines();
  set_row_counts(writer, "stack", stacks + strange, stacks);
  writer.set_meta("counts", fmt::format("{}", graph.counts()));
  ImportReport report;
  report.note("time_unit", "collapsed stacks have no times: they lie one after another, and a count is shown as 1 us");
  report.note("rows_skipped", "lines that are no stack with a count were skipped", strange);
  report.note(QualityKind("values_left_out").as(Severity::warning),
              fmt::format("stacks are deeper than {} frames; those further in were left out", kMostDepth), cut);
  report.add(blocks);
  report.write(writer);
  return writer.finish();
}

}  // namespace accelscope::capture::sources::stacks
