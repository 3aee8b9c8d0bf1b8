#include "capture/sources/torch_memory/snapshot_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "capture/sources/torch_memory/schemas.h"

namespace accelscope::capture::sources::torch_memory {
namespace {

constexpr std::int64_t kBeforeNs = 1000;    // how far before the first entry the state before it lies
constexpr std::size_t kMostSettings = 256;  // and as many values of one
constexpr std::string_view kSettingsPrefix = "allocator.";

}  // namespace

void SnapshotWriter::note_reading(const pickle::ReadPickle& read) {
  if (!read.broken.empty()) {
    report_.note("truncated", read.broken +
                                  "; what comes before was read, and as the segments are of the end of the "
                                  "whole trace, the state before is a guess");
  }
  report_.note("values_left_out", "numbers that fit into no 64 bits were left out", read.wide_numbers);
  report_.note("values_left_out", "lists that hold themselves were cut where they do", read.changed_late);
  if (read.bytes_behind) report_.note("trailing_bytes", "something follows the pickle's end; it was not read");
}

Result<void> SnapshotWriter::write(pickle::ReadPickle read, const Progress& progress) {
  auto next = std::make_unique<Snapshot>(std::move(read));
  Result<SnapshotFile> file = SnapshotFile::open(next->read.data, next->read.bytes, report_);
  if (!file) return Error{file.message() + (next->read.broken.empty() ? "" : "; " + next->read.broken)};
  note_reading(next->read);
  OpenSnapshot& opened = next->open.emplace(std::move(*file), writer_);
  const std::unique_ptr<Snapshot> before = std::exchange(snapshot_, std::move(next));  // devices still are at it
  const std::int64_t begin_ns = place_in_time(opened);
  if (!begin_ns_) begin(begin_ns);
  std::uint64_t entries = 0;
  for (auto& [number, device] : devices_) {
    device.set_bounds(bounds_);
    device.add_tracks(tables_, clock_, order_);
    entries += device.entries_listed();
  }
  std::uint64_t written = 0;
  for (auto& [number, device] : devices_) {
    device.write(begin_ns, [&](std::uint64_t done) {
      if (progress) progress(written + done, entries);
    });
    written += device.entries_listed();
  }
  entries_ += entries;
  frames_cut_ += opened.names.cut();
  for (const auto& [field, count] : opened.file.unknown_fields()) {
    report_.note("unknown_fields", fmt::format("entries have a field \"{}\" that is not known here", field), count);
  }
  return writer_.status();
}

// When the trace begins. Brings all devices to the snapshot.
std::int64_t SnapshotWriter::place_in_time(OpenSnapshot& snapshot) {
  for (const auto& [number, device] : snapshot.file.devices()) devices_.try_emplace(number, number, writer_, report_);
  tracks::TimeExtremes extremes;
  std::vector<tracks::SketchedTrack> sketches;
  std::uint64_t entries = 0;
  for (auto& [number, device] : devices_) {
    device.look(snapshot, extremes);
    sketches.push_back({&device.sketch(), false});
    entries += device.entries_listed();
    if (device.sketch().count() == 0) {
      end_ns_ = std::max(end_ns_, static_cast<std::int64_t>(device.entries_listed() + 1) * kBeforeNs);
    }
  }
  bounds_ = tracks::bounds_of(sketches, 1);
  const std::optional<std::int64_t> first = extremes.first_within(bounds_);
  std::int64_t begin = first.value_or(0), end = first.value_or(0);
  if (first) end = extremes.last_within(bounds_).value_or(*first);
  bool any = first.has_value();
  for (const TorchAnnotation& annotation : snapshot.file.annotations()) {
    const std::int64_t ns = annotation.time_us * 1000;
    if (entries > 0 && !first) break;  // the entries' order is no time
    if (!bounds_.hold(ns, 0)) continue;
    begin = any ? std::min(begin, ns) : ns;
    end = any ? std::max(end, ns) : ns;
    any = true;
  }
  times_known_ = times_known_ || any;
  entry_times_known_ = entry_times_known_ || first;
  end_ns_ = std::max(end_ns_, end + kBeforeNs);
  return begin - (first ? kBeforeNs : 0);
}

void SnapshotWriter::begin(std::int64_t begin_ns) {
  begin_ns_ = begin_ns;
  clock_ = writer_.add_clock(
      {.name = "memory snapshot", .anchors = {{times_known_ ? zero_unix_ns_.value_or(begin_ns) : begin_ns, 0}}});
  tables_ = {writer_.add_schema(block_schema()), writer_.add_schema(segment_schema()), writer_.add_schema(oom_schema()),
             writer_.add_schema(snapshot_schema()), writer_.add_schema(total_schema())};
}

void SnapshotWriter::end() {
  if (!snapshot_) return;
  const SnapshotFile& file = snapshot_->open->file;
  for (auto& [number, device] : devices_) device.write_end(end_ns_);
  report_.note("values_left_out", "the outer frames of stacks were left out: their texts are longer than is kept",
               frames_cut_);
  write_annotations(file);
  write_facts(file);
  if (entries_ > 0 && !entry_times_known_) {
    report_.note("host_times_estimated",
                 "the trace says no times, as versions before 2.2 do not: an entry is shown as a microsecond, in their "
                 "order");
  }
  if (zero_unix_ns_ && !times_known_) {
    report_.note("trace_begin_estimated",
                 "PyTorch's memory snapshot does not say when it was taken: it is drawn from the capture's start on");
  }
  if (entries_ == 0) {
    report_.note("no_trace", devices_.empty()
                                 ? "the snapshot is empty: the allocator held nothing, and recorded nothing"
                                 : "the snapshot has no trace, only what was there when it was taken; record one with "
                                   "torch.cuda.memory._record_memory_history()");
  }
}

// Begins and ends of a name and device, inside one another.
void SnapshotWriter::write_annotations(const SnapshotFile& file) {
  if (file.annotations().empty()) return;
  struct Range {
    std::int64_t begin = 0, end = 0;
    const TorchAnnotation* of = nullptr;
  };
  std::vector<Range> ranges;
  std::map<std::pair<std::int64_t, std::string_view>, std::vector<std::size_t>> open;
  std::uint64_t without_begin = 0;
  std::int64_t last = 0;
  for (const TorchAnnotation& each : file.annotations()) {
    if (bounds_.hold(each.time_us * 1000, 0)) last = each.time_us;
  }
  std::uint64_t doubtful = 0;
  for (const TorchAnnotation& each : file.annotations()) {
    if (!bounds_.hold(each.time_us * 1000, 0)) {
      ++doubtful;
      continue;
    }
    std::vector<std::size_t>& waiting = open[{each.device, each.name}];
    if (each.begins) {
      waiting.push_back(ranges.size());
      ranges.push_back({each.time_us * 1000, last * 1000, &each});
    } else if (waiting.empty()) {
      ++without_begin;
      ranges.push_back({each.time_us * 1000, each.time_us * 1000, &each});
    } else {
      ranges[waiting.back()].end = each.time_us * 1000;
      waiting.pop_back();
    }
  }
  std::uint64_t without_end = 0;
  for (const auto& [key, waiting] : open) without_end += waiting.size();
  report_.note("impossible_times",
               "begins and ends of annotations have times that all others belie by orders of magnitude; they were left "
               "out",
               doubtful);
  report_.note("begin_without_end", "annotations begin but never end; they are shown up to the last one", without_end);
  report_.note("end_without_begin", "annotations end but never begin; they are shown as moments", without_begin);
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  const TrackNumber track = writer_.add_track({.name = "annotations",
                                               .kind = "host_thread",
                                               .host = "program",
                                               .schema = writer_.add_schema(annotation_schema()),
                                               .clock = clock_,
                                               .order = order_});
  for (const Range& range : ranges) {
    Row row = writer_.begin_event(track, range.begin, range.end - range.begin, writer_.intern(range.of->name));
    row.integer(kAnnotationDevice, range.of->device);
  }
}

void SnapshotWriter::write_setting(const PickleData& data, const std::string& key, PickleValue value) {
  std::string text(data.text(value));
  if (PickleData::kind(value) == pickle::PickleKind::boolean) {
    text = data.to_int64(value).value_or(0) != 0 ? "true" : "false";
  } else if (const auto number = data.to_int64(value)) {
    text = std::to_string(*number);
  } else if (const auto real = data.to_double(value)) {
    text = fmt::format("{}", *real);
  }
  const auto keys = data.keys(data.shape(value));
  const auto values = data.values(value);
  for (std::size_t i = 0; i < std::min(values.size(), kMostSettings); ++i) {
    if (data.to_int64(values[i]).value_or(0) == 0) continue;  // as it is without a setting
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", data.text(keys[i]), data.to_int64(values[i]).value_or(0));
  }
  if (!text.empty()) writer_.set_meta(std::string(kSettingsPrefix) + key, text);
}

void SnapshotWriter::write_facts(const SnapshotFile& file) {
  writer_.set_meta("source_format", "PyTorch memory snapshot (pickle)");
  if (times_known_) {
    writer_.set_meta("begin_unix_ns", std::to_string(zero_unix_ns_.value_or(*begin_ns_)));
  } else {
    writer_.set_meta("time_source", "order of the entries");
  }
  std::uint64_t segments = 0, blocks = 0;
  for (const auto& [number, device] : file.devices()) {
    segments += device.segments.size();
    for (const TorchSegment& segment : device.segments) blocks += segment.blocks.size();
  }
  const auto count = [&](std::string_view table, std::uint64_t read) {
    set_row_counts(writer_, table, read + report_.skipped_rows(table), read);
  };
  count("device_traces", entries_ - report_.skipped_rows("device_traces"));
  count("segments", segments);
  count("blocks", blocks);
  count("external_annotations", file.annotations().size());
  const PickleData& data = file.data();
  const auto keys = data.keys(data.shape(file.settings()));
  const auto values = data.values(file.settings());
  for (std::size_t i = 0; i < std::min(values.size(), kMostSettings); ++i)
    write_setting(data, std::string(data.text(keys[i])), values[i]);
}

}  // namespace accelscope::capture::sources::torch_memory
