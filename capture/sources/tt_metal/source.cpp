// tt-metal's device log, profile_log_device.csv, of every shape that the tool has written since 2023, plain or packed
// with gzip or zstd. Tables and columns: read/schemas.h.
//
// Every RISC processor of a core is a track of the chip's; zones are nested in it as its code nests them. A chip's
// cycles are the ticks of its clock, which begins with its first row.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <string_view>
#include <tuple>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tt_metal/read/rows.h"
#include "capture/sources/tt_metal/write/marker_runs.h"
#include "capture/sources/tt_metal/write/writer.h"
#include "core/base/ordered_pipeline.h"

namespace accelscope::capture::sources::tt_metal {
namespace {

// Reads a device log on threads of its own, which cut blocks of lines and understand them; the caller gets them in the
// order of the file. A few blocks exist at a time.
class DeviceLogReader {
 public:
  // `first` are rows of the first block, which was read to find the layout.
  DeviceLogReader(LineBlocks blocks, std::string_view first, const DeviceLogLayout& layout,
                  DeviceLogDictionary& dictionary)
      : blocks_(std::move(blocks)),
        bytes_total_(blocks_.file_bytes()),
        first_(first.begin(), first.end()),
        slots_(
            kThreads, kSlots, [this](Slot& slot) { return cut(slot); },
            [&layout, &dictionary] {
              return [rows = std::make_shared<DeviceLogRows>(layout, dictionary)](Slot& slot) {
                rows->parse(slot.text, slot.block);
              };
            }) {}

  // The next block, valid until the next call; null at the end of the file.
  [[nodiscard]] const LogRowBlock* next() {
    const Slot* slot = slots_.next();
    return slot == nullptr ? nullptr : &slot->block;
  }
  // Once next() returned null.
  [[nodiscard]] const LineBlocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t bytes_done() const noexcept { return bytes_done_; }
  [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_total_; }

 private:
  static constexpr std::size_t kThreads = 3;
  static constexpr std::size_t kSlots = 8;

  struct Slot {
    std::vector<char> buffer;
    std::string_view text;
    LogRowBlock block;
  };
  [[nodiscard]] bool cut(Slot& slot) {
    if (!std::exchange(first_is_cut_, true)) {
      slot.buffer = std::move(first_);
      slot.text = {slot.buffer.data(), slot.buffer.size()};
      return true;
    }
    slot.text = blocks_.next(slot.buffer);
    bytes_done_ = blocks_.file_bytes_read();
    return !slot.text.empty();
  }

  LineBlocks blocks_;
  std::uint64_t bytes_total_;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::vector<char> first_;
  bool first_is_cut_ = false;
  OrderedPipeline<Slot> slots_;
};

constexpr std::size_t kLogSortMemoryBytes = 192U << 20;  // packed markers beyond this go to a temporary file

class DeviceLogImport {
 public:
  DeviceLogImport(std::string name, const ImportOptions& options, EventSink& sink)
      : name_(std::move(name)), options_(options), writer_(sink), spill_(kLogSortMemoryBytes) {}

  Result<void> run(std::unique_ptr<json::ByteSource> source);

 private:
  Result<void> read(LineBlocks blocks, std::string_view first, std::uint64_t lines);
  Result<void> add(const LogRowBlock& block);
  Result<void> write();
  void progress(double share) const;
  [[nodiscard]] Error cancelled() const { return Error{fmt::format("{}: the import was cancelled", name_)}; }

  std::string name_;
  const ImportOptions& options_;
  SessionWriter writer_;
  ChunkSpill spill_;
  DeviceLogLayout layout_;
  DeviceLogDictionary dictionary_;
  std::vector<MarkerRuns> markers_;  // by processor
  std::vector<MarkerTimes> times_;   // of the same
  DeviceLogCounts counts_;
  std::uint64_t bytes_total_ = 0;
};

Result<void> DeviceLogImport::run(std::unique_ptr<json::ByteSource> source) {
  LineBlocks blocks(std::move(source));
  std::vector<char> buffer;
  const std::string_view first = blocks.next(buffer);
  if (first.empty()) {
    if (blocks.long_lines() > 0) return no_device_log(name_, "its lines are too long for a table");
    return Error{blocks.failure().empty() ? fmt::format("{}: the file is empty; was its writer stopped early?", name_)
                                          : blocks.failure()};
  }
  Result<LogPrologue> prologue = read_prologue(first);
  if (!prologue) {
    return no_device_log(name_, prologue.message());
  }
  layout_ = std::move(prologue.value().layout);
  const Result<void> done = read(std::move(blocks), first.substr(prologue.value().bytes), prologue.value().lines);
  if (!done) return done;
  return write();
}

Result<void> DeviceLogImport::read(LineBlocks blocks, std::string_view first, std::uint64_t lines) {
  DeviceLogReader reader(std::move(blocks), first, layout_, dictionary_);
  bytes_total_ = reader.bytes_total();
  while (const LogRowBlock* block = reader.next()) {
    if (writer_.cancelled()) return cancelled();
    counts_.problems.add(block->problems, lines + 1);
    counts_.rows += block->lines - block->blank_lines;
    lines += block->lines;
    if (const Result<void> added = add(*block); !added) return added;
    progress(0.5 * static_cast<double>(reader.bytes_done()) /
             static_cast<double>(std::max(bytes_total_, std::uint64_t{1})));
  }
  counts_.long_lines = reader.blocks().long_lines();
  counts_.unreadable = reader.blocks().failure();
  counts_.ends_in_line = reader.blocks().ends_in_line();
  counts_.hole_bytes = reader.blocks().hole_bytes();
  counts_.first_hole = reader.blocks().first_hole();
  return {};
}

Result<void> DeviceLogImport::add(const LogRowBlock& block) {
  for (const LogRow& row : block.rows) {
    if (row.processor >= markers_.size()) {
      markers_.resize(row.processor + 1);
      times_.resize(row.processor + 1);
    }
    times_[row.processor].add(row.marker.time);
    if (const Result<void> added = markers_[row.processor].add(row.marker, spill_); !added) return added;
  }
  return {};
}

Result<void> DeviceLogImport::write() {
  std::uint64_t total = 0;
  for (MarkerRuns& markers : markers_) {
    total += markers.count();
    if (const Result<void> packed = markers.finish(spill_); !packed) return packed;
  }
  const std::vector<LogProcessor>& processors = dictionary_.processors();
  std::vector<std::size_t> order(markers_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](const LogProcessor& of) { return std::tie(of.chip, of.core_x, of.core_y, of.risc); };
    return key(processors[a]) < key(processors[b]);
  });
  DeviceLogWriter events(layout_, dictionary_, writer_, counts_);
  events.name_runs(options_.operation_name);
  events.expect(static_cast<std::uint32_t>(order.size()));
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const LogProcessor& processor = processors[order[i]];
    MarkerRuns& markers = markers_[order[i]];
    if (markers.count() == 0) continue;
    if (counts_.chips == 0 || processors[order[i - 1]].chip != processor.chip) {
      std::size_t end = i;
      while (end < order.size() && processors[order[end]].chip == processor.chip) ++end;
      std::vector<const MarkerTimes*> of_chip;
      for (std::size_t k = i; k < end; ++k) of_chip.push_back(&times_[order[k]]);
      const ChipTimes times = times_of_chip(of_chip, layout_.frequency_mhz);
      events.set_bounds(processor.chip, times.bounds);
      const Clock clock = events.begin_chip(processor.chip, {.ticks = times.first.value_or(0), .ns = 0});
      writer_.set_meta(shared_clock_fact(clock.name), kOwnClock);
      ++counts_.chips;
    }
    if (const Result<void> written = events.write(processor, markers, spill_); !written) return written;
    if (const Result<void> status = writer_.status(); !status) return status;
    if (writer_.cancelled()) return cancelled();
    done += markers.count();
    progress(0.5 + 0.5 * static_cast<double>(done) / static_cast<double>(total));
  }
  events.write_runs();
  counts_.names_left_out = dictionary_.left_out();
  write_facts(counts_, layout_, writer_);
  write_sources(dictionary_, options_.source_roots, writer_);
  write_report(counts_, layout_, writer_);
  return writer_.finish();
}

void DeviceLogImport::progress(double share) const {
  if (options_.progress)
    options_.progress(static_cast<std::uint64_t>(share * static_cast<double>(bytes_total_)), bytes_total_);
}

}  // namespace

int probe_device_log(std::string_view head, const std::string& /*path*/) { return probe_device_log_text(head); }

Result<void> import_device_log(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                               const ImportOptions& options, EventSink& sink) {
  return DeviceLogImport(name, options, sink).run(std::move(bytes));
}

}  // namespace accelscope::capture::sources::tt_metal
