// PyTorch's memory snapshots (torch.cuda.memory._dump_snapshot): pickles, plain or packed with gzip or zstd, of any
// version that wrote segments. Tables: memory (every alloc and free, and the blocks that were there before),
// memory_segment, out_of_memory, memory_snapshot, user_annotation, counter. Times are ns since 1970; without times in
// the file an entry is a microsecond.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/pickle/pickle_reader.h"
#include "capture/sources/torch_memory/device_writer.h"
#include "capture/sources/torch_memory/schemas.h"
#include "capture/sources/torch_memory/snapshot_file.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::torch_memory {
namespace {

constexpr std::int64_t kBeforeNs = 1000;    // how far before the first entry the state before it lies
constexpr std::size_t kMostSettings = 256;  // and as many values of one
constexpr std::string_view kSettingsPrefix = "allocator.";

class TorchMemoryImport {
 public:
  TorchMemoryImport(std::string name, const ImportOptions& options, EventSink& sink)
      : name_(std::move(name)), options_(options), writer_(sink) {}
  Result<void> run(json::ByteSource& source);

 private:
  Result<void> write(SnapshotFile& file);
  void write_annotations(const SnapshotFile& file, ClockNumber clock, std::int64_t order);
  void write_facts(const SnapshotFile& file, const DeviceWriter::Times& times);
  void write_setting(const PickleData& data, const std::string& key, PickleValue value);
  void note_reading(const pickle::ReadPickle& read);

  std::string name_;
  const ImportOptions& options_;
  SessionWriter writer_;
  ImportReport report_;
  tracks::TimeBounds bounds_;
};

Result<void> TorchMemoryImport::run(json::ByteSource& source) {
  const pickle::PickleOptions options{.name = name_, .kind_of_file = "a memory snapshot", .go_on = [&] {
                                        // Reading is half of the work, writing the other.
                                        if (options_.progress)
                                          options_.progress(source.file_bytes_read() / 2, source.file_bytes());
                                        return !writer_.cancelled();
                                      }};
  pickle::ReadPickle read = TRY(pickle::read_pickle(source, options));
  Result<SnapshotFile> file = SnapshotFile::open(read.data, read.bytes, report_);
  if (!file) {
    return Error{fmt::format("{}: {}{}", name_, file.message(), read.broken.empty() ? "" : "; " + read.broken)};
  }
  note_reading(read);
  if (Result<void> done = write(*file); !done) return done;
  report_.write(writer_);
  return writer_.finish();
}

void TorchMemoryImport::note_reading(const pickle::ReadPickle& read) {
  if (!read.broken.empty()) {
    report_.note("truncated", read.broken +
                                  "; what comes before was read, and as the segments are of the end of the "
                                  "whole trace, the state before is a guess");
  }
  report_.note("values_left_out", "numbers that fit into no 64 bits were left out", read.wide_numbers);
  report_.note("values_left_out", "lists that hold themselves were cut where they do", read.changed_late);
  if (read.bytes_behind) report_.note("trailing_bytes", "something follows the pickle's end; it was not read");
}

Result<void> TorchMemoryImport::write(SnapshotFile& file) {
  const BlockSizes sizes(file.data(), file.settings());
  StackNames names(file.data(), writer_);
  std::deque<DeviceWriter> devices;
  DeviceWriter::Times times;
  tracks::TimeExtremes extremes;
  std::vector<tracks::SketchedTrack> sketches;
  std::uint64_t entries = 0;
  for (const auto& [number, device] : file.devices()) {
    devices.emplace_back(file, number, sizes, writer_, names, report_).look(extremes);
    sketches.push_back({&devices.back().sketch(), false});
    entries += device.entries.size();
    if (devices.back().sketch().count() == 0)
      times.end = std::max(times.end, static_cast<std::int64_t>(device.entries.size()) * kBeforeNs);
  }
  bounds_ = tracks::bounds_of(sketches, 1);
  for (DeviceWriter& device : devices) device.set_bounds(bounds_);
  const std::optional<std::int64_t> first = extremes.first_within(bounds_);
  const bool any = first.has_value();
  if (any) times.begin = *first;
  if (any) times.end = extremes.last_within(bounds_).value_or(*first);
  times.known = any;
  for (const TorchAnnotation& annotation : file.annotations()) {
    const std::int64_t ns = annotation.time_us * 1000;
    if (entries > 0 && !any) break;  // the entries' order is no time
    if (!bounds_.hold(ns, 0)) continue;
    times.begin = times.known ? std::min(times.begin, ns) : ns;
    times.end = times.known ? std::max(times.end, ns) : ns;
    times.known = true;
  }
  times.begin -= any ? kBeforeNs : 0;
  times.end += kBeforeNs;
  const ClockNumber clock = writer_.add_clock({.name = "memory snapshot", .anchors = {{times.begin, 0}}});
  const TorchTables tables{writer_.add_schema(block_schema()), writer_.add_schema(segment_schema()),
                           writer_.add_schema(oom_schema()), writer_.add_schema(snapshot_schema()),
                           writer_.add_schema(total_schema())};
  std::int64_t order = 0;
  for (DeviceWriter& device : devices) device.add_tracks(tables, clock, order);
  std::uint64_t before = 0;
  auto of = file.devices().begin();
  for (DeviceWriter& device : devices) {
    device.write(times, [&](std::uint64_t done) {
      if (options_.progress) options_.progress(entries + before + done, 2 * std::max<std::uint64_t>(entries, 1));
    });
    before += (of++)->second.entries.size();
    if (Result<void> done = writer_.status(); !done) return done;
    if (writer_.cancelled()) return Error{name_ + ": the import was cancelled"};
  }
  report_.note("values_left_out", "the outer frames of stacks were left out: their texts are longer than is kept",
               names.cut());
  write_annotations(file, clock, order);
  write_facts(file, times);
  if (entries > 0 && !any) {
    report_.note("host_times_estimated",
                 "the trace says no times, as versions before 2.2 do not: an entry is shown as a microsecond, in their "
                 "order");
  }
  if (entries == 0) {
    report_.note("no_trace", devices.empty()
                                 ? "the snapshot is empty: the allocator held nothing, and recorded nothing"
                                 : "the snapshot has no trace, only what was there when it was taken; record one with "
                                   "torch.cuda.memory._record_memory_history()");
  }
  for (const auto& [field, count] : file.unknown_fields()) {
    report_.note("unknown_fields", fmt::format("entries have a field \"{}\" that is not known here", field), count);
  }
  return {};
}

// Begins and ends of a name and device, inside one another.
void TorchMemoryImport::write_annotations(const SnapshotFile& file, ClockNumber clock, std::int64_t order) {
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
                                               .clock = clock,
                                               .order = order});
  for (const Range& range : ranges) {
    Row row = writer_.begin_event(track, range.begin, range.end - range.begin, writer_.intern(range.of->name));
    row.integer(kAnnotationDevice, range.of->device);
  }
}

void TorchMemoryImport::write_setting(const PickleData& data, const std::string& key, PickleValue value) {
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

void TorchMemoryImport::write_facts(const SnapshotFile& file, const DeviceWriter::Times& times) {
  writer_.set_meta("source_format", "PyTorch memory snapshot (pickle)");
  if (times.known) {
    writer_.set_meta("begin_unix_ns", std::to_string(times.begin));
  } else {
    writer_.set_meta("time_source", "order of the entries");
  }
  std::uint64_t entries = 0, segments = 0, blocks = 0;
  for (const auto& [number, device] : file.devices()) {
    entries += device.entries.size();
    segments += device.segments.size();
    for (const TorchSegment& segment : device.segments) blocks += segment.blocks.size();
  }
  const auto count = [&](std::string_view table, std::uint64_t read) {
    set_row_counts(writer_, table, read + report_.skipped_rows(table), read);
  };
  count("device_traces", entries - report_.skipped_rows("device_traces"));
  count("segments", segments);
  count("blocks", blocks);
  count("external_annotations", file.annotations().size());
  const PickleData& data = file.data();
  const auto keys = data.keys(data.shape(file.settings()));
  const auto values = data.values(file.settings());
  for (std::size_t i = 0; i < std::min(values.size(), kMostSettings); ++i)
    write_setting(data, std::string(data.text(keys[i])), values[i]);
}

}  // namespace

int probe_torch_memory(std::string_view head, const std::string& /*path*/) {
  constexpr int kCertain = 95, kLikely = 70;
  constexpr std::string_view kNames[] = {"device_traces", "segments", "total_size"};
  if (head.size() < 2 || static_cast<unsigned char>(head[0]) != 0x80 || head[1] < 2) return 0;
  const std::string_view begin = head.substr(0, 4096);
  for (const std::string_view name : kNames) {
    if (begin.find(name) != std::string_view::npos) return kCertain;
  }
  return head.find("total_size") != std::string_view::npos ? kLikely : 0;
}

Result<void> import_torch_memory(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink) {
  return TorchMemoryImport(name, options, sink).run(*bytes);
}

}  // namespace accelscope::capture::sources::torch_memory
