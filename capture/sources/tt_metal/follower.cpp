#include "capture/sources/tt_metal/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "capture/sources/base/line_blocks.h"
#include "capture/sources/tt_metal/write/marker_runs.h"
#include "capture/sources/tt_metal/write/writer.h"
#include "core/base/capped.h"
#include "core/base/checksum.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

// The markers of one processor while its log is written: they are handed on by time, so each waits until no earlier one
// is to be expected. Those that come too late all the same are kept until the end.
class HeldMarkers {
 public:
  HeldMarkers(DeviceLogWriter& writer, std::unique_ptr<DeviceLogWriter::Processor> events)
      : writer_(&writer), events_(std::move(events)) {}

  // The firmware runs again: what was before that time is complete.
  void pass_on_before(std::int64_t time);
  // False: it came after later ones had been handed on.
  Result<bool> add(const LogMarker& marker, ChunkSpill& spill);
  void pass_on_all() { forward_on(markers_.size()); }
  // No more comes; `last_time`: of those whose times can be true.
  Result<void> finish(ChunkSpill& spill, std::int64_t last_time);

  [[nodiscard]] const LogProcessor& processor() const noexcept { return events_->facts; }

 private:
  void forward_on(std::size_t count);

  DeviceLogWriter* writer_;
  std::unique_ptr<DeviceLogWriter::Processor> events_;
  std::vector<LogMarker> markers_;
  std::int64_t written_ = std::numeric_limits<std::int64_t>::min();  // the time of the newest that was handed on
  MarkerRuns late_;
};

[[nodiscard]] bool earlier(const LogMarker& a, const LogMarker& b) noexcept { return a.time < b.time; }

void HeldMarkers::pass_on_before(std::int64_t time) {
  const auto end =
      std::partition(markers_.begin(), markers_.end(), [time](const LogMarker& marker) { return marker.time < time; });
  forward_on(static_cast<std::size_t>(end - markers_.begin()));
}

Result<bool> HeldMarkers::add(const LogMarker& marker, ChunkSpill& spill) {
  if (!events_->bounds->hold(marker.time, 0)) {
    std::vector<LogMarker> alone = {marker};
    writer_->add(*events_, alone);
    return true;
  }
  if (marker.time <= written_) {
    TRY(late_.add(marker, spill));
    return false;
  }
  markers_.push_back(marker);
  if (markers_.size() >= MarkerRuns::kHeld) {
    std::sort(markers_.begin(), markers_.end(), earlier);
    forward_on(MarkerRuns::kHeld / 2);
  }
  return true;
}

// The first ones: none of the others is earlier.
void HeldMarkers::forward_on(std::size_t count) {
  if (count == 0) return;
  const auto end = markers_.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(markers_.begin(), end, earlier);
  const std::int64_t last = markers_[count - 1].time;
  // Those of one time go together.
  const auto more = std::partition(end, markers_.end(), [&](const LogMarker& marker) { return marker.time == last; });
  std::vector<LogMarker> of_one_time;
  for (auto at = markers_.begin(); at != more;) {
    const auto next = std::find_if(at, more, [&](const LogMarker& marker) { return marker.time != at->time; });
    of_one_time.assign(at, next);
    if (writer_->add(*events_, of_one_time)) written_ = of_one_time.front().time;
    at = next;
  }
  markers_.erase(markers_.begin(), more);
}

Result<void> HeldMarkers::finish(ChunkSpill& spill, std::int64_t last_time) {
  pass_on_all();
  Result<void> done;
  if (late_.count() > 0) done = late_.finish(spill);
  if (done) {
    done = late_.merge(spill, [this](std::vector<LogMarker>& of_one_time) {
      writer_->add(*events_, of_one_time, true);
      return true;
    });
  }
  writer_->end(*events_, last_time);
  return done;
}

constexpr std::size_t kLateMemoryBytes = 64U << 20;  // packed markers that came late beyond this go to a file
constexpr std::size_t kMostCutRows = 64;             // that are looked for in the file that was written anew

[[nodiscard]] std::uint64_t hash_of(const LogRow& row) {
  const std::array<std::uint64_t, 5> words = {
      static_cast<std::uint64_t>(row.marker.time), row.marker.data, row.marker.extra,
      (std::uint64_t{row.marker.site} << 32) | row.marker.context, row.processor};
  const std::uint64_t hash = checksum(std::as_bytes(std::span(words)));
  return hash == 0 ? 1 : hash;
}

[[nodiscard]] bool same_layout(const DeviceLogLayout& a, const DeviceLogLayout& b) {
  const auto same_extra = [](const DeviceLogLayout::Extra& x, const DeviceLogLayout::Extra& y) {
    return x.place == y.place && x.name == y.name;
  };
  return a.arch == b.arch && a.frequency_mhz == b.frequency_mhz && a.max_compute_cores == b.max_compute_cores &&
         a.places == b.places && a.cell_count == b.cell_count &&
         std::equal(a.extras.begin(), a.extras.end(), b.extras.begin(), b.extras.end(), same_extra);
}

// Nothing but blank lines and lines before the header: more is to come.
[[nodiscard]] bool may_be_a_head(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && !is_prologue_line(line)) return false;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return true;
}

void add_counts(const DeviceLogCounts& of_reading, DeviceLogCounts& counts) {
  counts.rows += of_reading.rows;
  counts.problems.add(of_reading.problems, 0);
  counts.long_lines += of_reading.long_lines;
  counts.ends_in_line = counts.ends_in_line || of_reading.ends_in_line;
  counts.duplicates += of_reading.duplicates;
  for (std::size_t i = 0; i < kLogTableCount; ++i) counts.table_rows[i] += of_reading.table_rows[i];
}

}  // namespace

// One log: files with the same header whose cycles go on.
struct DeviceLogFollower::Log {
  Log(DeviceLogLayout of, SessionWriter& writer, const LiveLog& live)
      : layout(std::move(of)), parser(layout, dictionary), events(layout, dictionary, writer, counts, live) {}
  DeviceLogLayout layout;
  DeviceLogDictionary dictionary;
  DeviceLogRows parser;
  DeviceLogCounts counts;  // of files before the one that is read
  DeviceLogWriter events;
  SeenRows seen;
  ChunkSpill spill{kLateMemoryBytes};
  std::vector<std::unique_ptr<HeldMarkers>> processors;  // by the dictionary's numbers
  std::vector<MarkerTimes> times;                        // of the same
  std::map<std::uint32_t, Chip> chips;
  // Of a processor's markers, of those whose times can be true.
  [[nodiscard]] std::int64_t last_time(std::uint32_t processor) const {
    const auto chip = chips.find(dictionary.processors()[processor].chip);
    return chip == chips.end() ? 0 : times[processor].extremes.last_within(chip->second.bounds).value_or(0);
  }
  // The log is written core by core, all that has happened since it was written last: a processor that comes again
  // after others begins the next such stretch.
  std::set<std::uint32_t> in_stretch;
  std::optional<std::uint32_t> last_processor;
};

DeviceLogFollower::DeviceLogFollower(std::string name, SessionWriter& writer, std::vector<std::string> source_roots)
    : name_(std::move(name)), writer_(writer), source_roots_(std::move(source_roots)) {}
DeviceLogFollower::~DeviceLogFollower() = default;

void DeviceLogFollower::begin_anew(std::uint64_t lost_bytes) {
  // What is held back stays so: a file that repeats it may bring the rows between.
  lost_bytes_ += lost_bytes;
  if (cut_.in_a_line() && cut_rows_.size() < kMostCutRows) cut_rows_.push_back(cut_.take_rest());
  (void)cut_.take_rest();
  head_.clear();
  failure_.clear();
  has_layout_ = false;
  is_unknown_ = log_ != nullptr;
  lines_ = 0;
  ++readings_;
  ++reading_;
}

void DeviceLogFollower::feed(std::string_view bytes, std::int64_t now_ns, bool keep) {
  now_ns_ = now_ns;
  keep_ = keep;
  cut_.feed(bytes, [this](std::string_view lines) { take_lines(lines, true); });
  counts_.long_lines += cut_.take_long_lines();
}

void DeviceLogFollower::take_lines(std::string_view lines, bool complete) {
  if (lines.empty() || !failure_.empty()) return;
  if (complete) forget_found_row(lines);
  if (!has_layout_ && !read_head(lines)) return;
  if (!lines.empty()) take_rows(lines);
}

void DeviceLogFollower::forget_found_row(std::string_view lines) {
  std::erase_if(cut_rows_, [&](const std::string& row) {
    for (std::size_t at = lines.find(row); at != std::string_view::npos; at = lines.find(row, at + 1)) {
      if (at == 0 || lines[at - 1] == '\n') return true;
    }
    return false;
  });
}

// False while the header has not come. Leaves the rows.
bool DeviceLogFollower::read_head(std::string_view& lines) {
  const std::size_t known = head_.size();
  head_ += lines;
  Result<LogPrologue> prologue = read_prologue(head_);
  if (!prologue) {
    if (!may_be_a_head(head_)) failure_ = prologue.message();
    return false;
  }
  has_layout_ = true;
  lines_ = prologue->lines;
  lines.remove_prefix(std::max(prologue->bytes, known) - known);
  if (!log_ || !same_layout(log_->layout, prologue->layout)) begin_log(std::move(prologue.value().layout));
  head_.clear();
  return true;
}

void DeviceLogFollower::begin_log(DeviceLogLayout layout) {
  if (log_) end_log();
  is_unknown_ = false;
  used_.label = ++log_count_ == 1 ? "" : fmt::format("log {} ", log_count_);
  log_ = std::make_unique<Log>(std::move(layout), writer_, used_);
}

void DeviceLogFollower::take_rows(std::string_view lines) {
  while (!lines.empty()) {
    std::string_view some = lines.substr(0, LineBlocks::kBlockBytes);
    if (some.size() < lines.size()) {
      const std::size_t end = some.rfind('\n');
      some = lines.substr(0, end == std::string_view::npos ? lines.find('\n') + 1 : end + 1);
    }
    log_->parser.parse(some, block_);
    if (is_unknown_ && !block_.rows.empty() && is_another_log()) {
      begin_log(DeviceLogLayout(log_->layout));
      log_->parser.parse(some, block_);
    }
    count_lines();
    const std::vector<LogRow> rows = new_rows();
    place_chips(rows);
    for (const LogRow& row : rows) hold(row);
    lines.remove_prefix(some.size());
  }
}

void DeviceLogFollower::count_lines() {
  counts_.problems.add(block_.problems, lines_ + 1);
  counts_.rows += block_.lines - block_.blank_lines;
  rows_ += block_.rows.size();
  lines_ += block_.lines;
}

// By its first rows: whether a file that was written anew repeats the log, goes on with it, or is another one.
bool DeviceLogFollower::is_another_log() {
  is_unknown_ = false;
  bool repeats = false;
  bool is_older = false;
  for (const LogRow& row : block_.rows) {
    repeats = repeats || log_->seen.knows(hash_of(row));
    is_older = is_older || (row.processor < log_->times.size() && row.marker.time < log_->last_time(row.processor));
  }
  if (is_older && !repeats) return true;
  // The file as it is now says how many rows there are, if it repeats what was there.
  if (!repeats) add_counts(counts_, log_->counts);
  counts_ = {};
  return false;
}

std::vector<LogRow> DeviceLogFollower::new_rows() {
  std::vector<LogRow> rows;
  for (const LogRow& row : block_.rows) {
    const SeenRows::Before before = log_->seen.add(hash_of(row), reading_);
    const auto table = static_cast<std::size_t>(table_of(log_->dictionary.site(row.marker.site).kind));
    ++counts_.table_rows[table];
    if (before == SeenRows::Before::this_reading) {
      ++counts_.duplicates;
    } else if (before == SeenRows::Before::earlier_reading) {
      ++repeated_;
    } else if (keep_) {
      rows.push_back(row);
    } else {
      ++left_out_;
    }
  }
  return rows;
}

// The log does not say when a cycle was. It was before its row was written: the newest row so far, seen as soon after
// its cycle as any, bounds the clock. What lay in the file before the capture began is drawn from its begin.
void DeviceLogFollower::place(Chip& chip, const DeviceLogLayout& layout) const {
  const double mhz = layout.frequency_mhz > 0 ? layout.frequency_mhz : 1000;
  const double span_ns = static_cast<double>(chip.last - chip.first) * 1000 / mhz;
  const std::int64_t at_first = std::max<std::int64_t>(capped_difference(now_ns_, capped_integer(span_ns)), 0);
  ClockAnchor& anchor = chip.clock.anchors.front();
  const double to_anchor_ns = static_cast<double>(anchor.ticks - chip.first) * 1000 / mhz;
  const std::int64_t ns = capped_sum(at_first, capped_integer(to_anchor_ns));
  if (chip.placed && ns >= anchor.ns) return;
  anchor.ns = ns;
}

// Most logs lie within so short a time that nothing in them can be far from the rest.
void DeviceLogFollower::judge_times(std::uint32_t number, Chip& chip) {
  constexpr double kHourUs = 3600 * 1e6;
  const double mhz = log_->layout.frequency_mhz > 0 ? log_->layout.frequency_mhz : 1000;
  chip.first = chip.least;
  chip.last = chip.greatest;
  const double range = static_cast<double>(chip.greatest) - static_cast<double>(chip.least);
  if (chip.least > 0 && range < kHourUs * mhz) return;
  std::vector<const MarkerTimes*> processors;
  for (std::size_t i = 0; i < log_->times.size(); ++i) {
    if (log_->dictionary.processors()[i].chip == number) processors.push_back(&log_->times[i]);
  }
  const ChipTimes times = times_of_chip(processors, mhz);
  log_->events.set_bounds(number, times.bounds);
  chip.bounds = times.bounds;
  chip.first = times.first.value_or(chip.least);
  chip.last = times.last.value_or(chip.greatest);
}

void DeviceLogFollower::place_chips(const std::vector<LogRow>& rows) {
  std::set<std::uint32_t> touched;
  for (const LogRow& row : rows) {
    const std::uint32_t number = log_->dictionary.processors()[row.processor].chip;
    touched.insert(number);
    if (row.processor >= log_->times.size()) log_->times.resize(row.processor + 1);
    log_->times[row.processor].add(row.marker.time);
    const auto [place, is_new] = log_->chips.try_emplace(number);
    Chip& chip = place->second;
    if (is_new) chip.least = chip.greatest = row.marker.time;
    chip.least = std::min(chip.least, row.marker.time);
    chip.greatest = std::max(chip.greatest, row.marker.time);
  }
  for (const std::uint32_t number : touched) {
    Chip& chip = log_->chips.at(number);
    judge_times(number, chip);
    if (!chip.placed) chip.clock.anchors = {{.ticks = chip.first, .ns = 0}};
    const std::int64_t before = chip.clock.anchors.front().ns;
    place(chip, log_->layout);
    if (!chip.placed) {
      chip.clock = log_->events.begin_chip(number, chip.clock.anchors.front());
      chip.placed = true;
      ++log_->counts.chips;
    } else if (chip.clock.anchors.front().ns != before) {
      ++chip.clock.version;
      writer_.update_clock(chip.clock);
    }
  }
}

void DeviceLogFollower::hold(const LogRow& row) {
  note_stretch(row.processor);
  if (row.processor >= log_->processors.size()) log_->processors.resize(row.processor + 1);
  std::unique_ptr<HeldMarkers>& held = log_->processors[row.processor];
  if (!held) {
    const LogProcessor& processor = log_->dictionary.processors()[row.processor];
    held = std::make_unique<HeldMarkers>(log_->events,
                                         log_->events.begin(processor, log_->chips.at(processor.chip).clock.number));
  }
  const LogSite& site = log_->dictionary.site(row.marker.site);
  if (site.kind == MarkerKind::zone_begin && site.rank == 0) held->pass_on_before(row.marker.time);
  const Result<bool> in_time = held->add(row.marker, log_->spill);
  if (!in_time) failure_ = in_time.message();
  late_ += in_time && !*in_time ? 1 : 0;
}

void DeviceLogFollower::note_stretch(std::uint32_t processor) {
  if (log_->last_processor == processor) return;
  log_->last_processor = processor;
  if (log_->in_stretch.insert(processor).second) return;
  log_->in_stretch = {processor};
  log_->events.begin_stretch();
}

void DeviceLogFollower::settle() {
  if (!log_) return;
  for (const std::unique_ptr<HeldMarkers>& held : log_->processors) {
    if (held) held->pass_on_all();
  }
  log_->events.write_runs_before_stretch();
}

void DeviceLogFollower::end_log() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < log_->processors.size(); ++i) {
    if (log_->processors[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [](const LogProcessor& of) { return std::tie(of.chip, of.core_x, of.core_y, of.risc); };
    return key(log_->processors[a]->processor()) < key(log_->processors[b]->processor());
  });
  for (const std::uint32_t processor : order) {
    const Result<void> done = log_->processors[processor]->finish(log_->spill, log_->last_time(processor));
    if (!done) failure_ = done.message();
  }
  log_->events.write_runs();
  add_counts(counts_, log_->counts);
  counts_ = {};
  log_->counts.names_left_out = log_->dictionary.left_out();
  write_facts(log_->counts, log_->layout, writer_);
  write_sources(log_->dictionary, source_roots_, writer_);
  write_report(log_->counts, log_->layout, writer_);
  if (log_->seen.not_remembered() > 0) {
    writer_.add_quality({"rows_not_remembered", log_->seen.not_remembered(),
                         "the log has more rows than are remembered while it is followed; if it was written anew, rows "
                         "may be in the session twice: import the file instead"});
  }
  used_ = log_->events.used();
}

Result<void> DeviceLogFollower::finish() {
  const std::string last = cut_.take_rest();
  take_lines(last, false);
  counts_.ends_in_line = !last.empty();
  if (!log_) {
    if (readings_ == 0) return Error{fmt::format("{}: there is no such file", name_)};
    const Result<LogPrologue> prologue = read_prologue(head_);
    return no_device_log(name_, !failure_.empty() ? failure_
                                : prologue        ? std::string("it is empty")
                                                  : prologue.message());
  }
  end_log();
  report_following();
  return writer_.status();
}

void DeviceLogFollower::report_following() {
  const auto note = [&](QualityKind kind, std::uint64_t count, std::string detail) {
    if (count > 0) writer_.add_quality({kind, count, std::move(detail)});
  };
  note("device_clock_estimated", log_->chips.size(),
       "the log does not relate the chip's cycles to the host's time: its events are drawn as late as they can have "
       "been, their rows being written after them; distances between events of a chip are exact");
  note("log_unreadable", failure_.empty() ? 0 : 1, fmt::format("{}: {}", name_, failure_));
  note("log_written_anew", readings_ > 1 ? readings_ - 1 : 0,
       fmt::format("{}: the file was written anew while it was followed; {} rows came again and count once", name_,
                   repeated_));
  note("rows_lost", cut_rows_.size(),
       fmt::format("{}: rows were cut off in their middle when the file was written anew, and did not come again",
                   name_));
  note(
      "bytes_lost", lost_bytes_,
      fmt::format("{}: bytes of the log were gone before they could be read, for the file was cut or replaced; let the "
                  "capture write to a faster viewer or disk",
                  name_));
  note("rows_left_out", left_out_,
       fmt::format("{}: rows that were there before the capture began, or came while it was paused, are not in the "
                   "session",
                   name_));
  note("rows_late", late_,
       fmt::format("{}: rows came after later ones of their processor had been handed on; their zones lie below the "
                   "others. Import the file for the exact nesting",
                   name_));
}

}  // namespace accelscope::capture::sources::tt_metal
