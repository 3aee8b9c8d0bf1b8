// Collapsed stacks.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/stacks/source.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::stacks {
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
  if (!count || *count < 0 || *count > static_cast<double>(kMostCounts)) return false;
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
  AsyncSink receiver(sink);
  SessionWriter writer(receiver);
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
  if (Result<void> done = writer.finish(); !done) return done;
  return receiver.finish();
}

Result<void> import_collapsed(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_collapsed(std::move(source).value(), path, options, sink);
}

}  // namespace accelscope::capture::sources::stacks
