#include "capture/sources/torch_memory/device_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/torch_memory/schemas.h"
#include "capture/sources/tracks/gpu_tables.h"

namespace accelscope::capture::sources::torch_memory {
namespace {
constexpr std::uint64_t kSmallSegment = 2U << 20;  // segments of small blocks have this size; large ones have more
}

AllocatorReplay::AllocatorReplay(const TorchDevice& device, const BlockSizes& sizes)
    : device_(&device), sizes_(&sizes) {
  for (const TorchSegment& segment : device.segments) {
    add_run(segment.address, {segment.address + segment.size, segment.stream, segment.small, segment.expandable});
    for (const TorchBlock& block : segment.blocks) {
      if (block.state == BlockState::inactive || blocks_.contains(block.address)) continue;
      LiveBlock live;
      live.size = block.size;
      live.requested = block.requested;
      live.stream = segment.stream;
      live.frames = block.frames;
      live.pending = block.state == BlockState::pending;
      live.from_before = true;
      add_block(block.address, live);
      final_.emplace(block.address, &block);
      lives_on_.emplace(block.address, true);
    }
  }
}

void AllocatorReplay::add_block(std::uint64_t address, const LiveBlock& block) {
  totals_.active += block.size;
  totals_.requested += block.requested;
  if (!block.pending) totals_.allocated += block.size;
  blocks_.insert_or_assign(address, block);
}

LiveBlock AllocatorReplay::remove_block(Blocks::iterator place) {
  const LiveBlock block = place->second;
  totals_.active -= block.size;
  totals_.requested -= block.requested;
  if (!block.pending) totals_.allocated -= block.size;
  blocks_.erase(place);
  return block;
}

void AllocatorReplay::add_run(std::uint64_t begin, const HeldRun& run) {
  if (begin >= run.end) return;
  (void)remove_run(begin, run.end);  // nothing is held twice
  totals_.reserved += run.end - begin;
  auto place = runs_.insert_or_assign(begin, run).first;
  const auto joins = [](const HeldRun& a, const HeldRun& b) {
    return a.expandable && b.expandable && a.stream == b.stream && a.small == b.small;
  };
  if (const auto next = runs_.find(run.end); next != runs_.end() && joins(run, next->second)) {
    place->second.end = next->second.end;
    runs_.erase(next);
  }
  if (place == runs_.begin()) return;
  const auto before = std::prev(place);
  if (before->second.end != begin || !joins(before->second, place->second)) return;
  before->second.end = place->second.end;
  runs_.erase(place);
}

// False if not all of it was held.
bool AllocatorReplay::remove_run(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t removed = 0;
  auto place = runs_.upper_bound(begin);
  if (place != runs_.begin()) --place;
  while (place != runs_.end() && place->first < end) {
    const std::uint64_t from = place->first;
    const HeldRun run = place->second;
    const std::uint64_t first = std::max(from, begin), last = std::min(run.end, end);
    if (first >= last) {
      ++place;
      continue;
    }
    removed += last - first;
    place = runs_.erase(place);
    if (from < first) {
      HeldRun left = run;
      left.end = first;
      runs_.emplace(from, left);
    }
    if (last < run.end) place = runs_.emplace(last, run).first;
  }
  totals_.reserved -= removed;
  return removed == end - begin;
}

AllocatorReplay::Runs::const_iterator AllocatorReplay::run_at(std::uint64_t address) const {
  auto place = runs_.upper_bound(address);
  if (place == runs_.begin()) return runs_.end();
  --place;
  return address < place->second.end ? place : runs_.end();
}

// What a trace says of a segment is its size alone: the pool follows from that, or from the segments at the end.
HeldRun AllocatorReplay::run_of(const TraceEntry& what) const {
  const bool mapped = what.action == TraceAction::segment_map || what.action == TraceAction::segment_unmap;
  HeldRun run{what.address + what.size, what.stream, what.size <= kSmallSegment, mapped};
  const auto known = std::find_if(device_->segments.begin(), device_->segments.end(), [&](const TorchSegment& segment) {
    return what.address >= segment.address && what.address < segment.address + segment.size &&
           segment.expandable == mapped;
  });
  if (known != device_->segments.end()) run.small = known->small;
  return run;
}

void AllocatorReplay::undo(std::size_t entry, const TraceEntry& what) {
  const auto live = blocks_.find(what.address);
  switch (what.action) {
    case TraceAction::free_completed: {
      if (live != blocks_.end()) {
        ++counts_.contradictions;
        (void)remove_block(live);
      }
      LiveBlock block;
      block.requested = what.size;
      block.stream = what.stream;
      block.pending = true;
      block.from_before = true;
      add_block(what.address, block);
      lives_on_[what.address] = false;
      break;
    }
    case TraceAction::free_requested: {
      LiveBlock block;
      if (live != blocks_.end()) {
        block = remove_block(live);
      } else {
        block.requested = what.size;
        block.stream = what.stream;
        block.from_before = true;
        lives_on_[what.address] = false;
        completes_[entry] = true;
      }
      block.pending = false;
      add_block(what.address, block);
      break;
    }
    case TraceAction::alloc:
      if (live == blocks_.end()) break;  // its end is missing: vanished() tells
      if (lives_on_[what.address]) final_sizes_.emplace(entry, live->second.size);
      lives_on_.erase(what.address);
      (void)remove_block(live);
      break;
    case TraceAction::segment_alloc:
    case TraceAction::segment_map:
      if (!remove_run(what.address, what.address + what.size)) ++counts_.contradictions;
      break;
    case TraceAction::segment_free:
    case TraceAction::segment_unmap:
      add_run(what.address, run_of(what));
      break;
    case TraceAction::unknown:
    case TraceAction::snapshot:
    case TraceAction::oom:
      break;
  }
}

// Blocks that are older than the trace and do not live to its end have no size yet.
void AllocatorReplay::begin(const Blocks& older) {
  for (auto place = blocks_.begin(); place != blocks_.end(); ++place) {
    LiveBlock& block = place->second;
    if (block.size != 0 || block.requested == 0) continue;
    if (const auto known = older.find(place->first);
        known != older.end() && known->second.requested == block.requested) {
      block.size = known->second.size;
      block.estimated = known->second.estimated;
    } else {
      block.size = size_at(place->first, block.requested);
      block.estimated = true;
      ++counts_.estimated_sizes;
    }
    totals_.active += block.size;
    if (!block.pending) totals_.allocated += block.size;
  }
}

void AllocatorReplay::go_on(const TorchDevice& device, const BlockSizes& sizes) {
  device_ = &device;
  sizes_ = &sizes;
  final_.clear();
  final_sizes_.clear();
  completes_.clear();  // what was asked to be freed at the end is freed in a trace to come
  lives_on_.clear();
  for (const TorchSegment& segment : device.segments) {
    for (const TorchBlock& block : segment.blocks) {
      if (block.state == BlockState::inactive) continue;
      final_.emplace(block.address, &block);
      lives_on_.emplace(block.address, true);
    }
  }
}

void AllocatorReplay::look(std::size_t entry, const TraceEntry& what) {
  const bool of_block = what.action == TraceAction::alloc || what.action == TraceAction::free_completed;
  if (!of_block || lives_on_.erase(what.address) == 0 || what.action != TraceAction::alloc) return;
  const TorchBlock& block = *final_.at(what.address);
  if (block.requested == what.size) final_sizes_.emplace(entry, block.size);
}

std::uint64_t AllocatorReplay::size_at(std::uint64_t address, std::uint64_t requested) const {
  const auto run = run_at(address);
  if (run == runs_.end()) return sizes_->rounded(requested);
  const auto next = blocks_.upper_bound(address);
  const std::uint64_t end = next == blocks_.end() ? run->second.end : std::min(run->second.end, next->first);
  return sizes_->taken(requested, end - address, run->second.small || run->second.expandable);
}

AllocatorReplay::Done AllocatorReplay::redo(std::size_t entry, const TraceEntry& what) {
  Done done;
  const auto live = blocks_.find(what.address);
  switch (what.action) {
    case TraceAction::alloc: {
      if (live != blocks_.end()) {
        done.replaced = remove_block(live);
        ++counts_.contradictions;
      }
      done.segment = segment_at(what.address);
      LiveBlock block;
      block.requested = what.size;
      block.stream = what.stream;
      block.frames = what.frames;
      block.size = size_at(what.address, what.size);
      if (const auto known = final_sizes_.find(entry); known != final_sizes_.end()) {
        ++(known->second == block.size ? counts_.sizes_as_computed : counts_.sizes_not_as_computed);
        block.size = known->second;
      }
      add_block(what.address, block);
      done.block = block;
      break;
    }
    case TraceAction::free_requested:
    case TraceAction::free_completed: {
      if (live == blocks_.end()) {
        ++counts_.contradictions;
        break;
      }
      done.segment = segment_at(what.address);
      LiveBlock block = remove_block(live);
      done.released = what.action == TraceAction::free_completed || completes_.contains(entry);
      block.pending = true;
      if (!done.released) add_block(what.address, block);
      done.block = block;
      break;
    }
    case TraceAction::segment_alloc:
    case TraceAction::segment_map:
      add_run(what.address, run_of(what));
      break;
    case TraceAction::segment_free:
    case TraceAction::segment_unmap:
      if (!remove_run(what.address, what.address + what.size)) ++counts_.contradictions;
      break;
    case TraceAction::unknown:
    case TraceAction::snapshot:
    case TraceAction::oom:
      break;
  }
  return done;
}

LiveBlock* AllocatorReplay::find(std::uint64_t address) {
  const auto place = blocks_.find(address);
  return place == blocks_.end() ? nullptr : &place->second;
}

void AllocatorReplay::forget(std::uint64_t address) {
  const auto place = blocks_.find(address);
  if (place == blocks_.end()) return;
  (void)remove_block(place);
  ++counts_.vanished;
}

void AllocatorReplay::add(const ReplayCounts& counts) {
  counts_.contradictions += counts.contradictions;
  counts_.vanished += counts.vanished;
  counts_.estimated_sizes += counts.estimated_sizes;
  counts_.sizes_not_as_computed += counts.sizes_not_as_computed;
  counts_.sizes_as_computed += counts.sizes_as_computed;
}

std::optional<std::uint64_t> AllocatorReplay::segment_at(std::uint64_t address) const {
  const auto run = run_at(address);
  return run == runs_.end() ? std::nullopt : std::optional(run->first);
}

std::vector<std::uint64_t> AllocatorReplay::vanished() const {
  std::vector<std::uint64_t> gone;
  for (const auto& [address, block] : blocks_) {
    if (!final_.contains(address)) gone.push_back(address);
  }
  return gone;
}

namespace {

constexpr std::int64_t kEntryNs = 1000;  // of an entry whose time is not known
constexpr std::uint64_t kEntriesBetweenProgress = 1U << 15;
constexpr std::string_view kBefore = "before the trace";
constexpr std::string_view kBetween = "between two snapshots";
constexpr std::string_view kOlderBlock = "allocated before the trace";
constexpr std::string_view kUnknownStack = "no stack recorded";
constexpr std::string_view kPool = "PyTorch memory";  // of one device

// As other profiles of the same run call it.
[[nodiscard]] std::string device_name(std::int64_t device) { return tracks::gpu_name(device); }

struct TotalRow {
  std::string_view name;
  std::int64_t (*value)(const AllocatorTotals&);
};
[[nodiscard]] std::int64_t as_signed(std::uint64_t value) noexcept { return static_cast<std::int64_t>(value); }
// Segments that a broken file has join may be of 2^63 bytes and more together.
[[nodiscard]] std::int64_t bytes_of(std::uint64_t begin, std::uint64_t end) noexcept {
  return as_signed(std::min<std::uint64_t>(end - begin, INT64_MAX));
}
constexpr TotalRow kTotalRows[] = {
    {"reserved", [](const AllocatorTotals& t) { return as_signed(t.reserved); }},
    {"active", [](const AllocatorTotals& t) { return as_signed(t.active); }},
    {"allocated", [](const AllocatorTotals& t) { return as_signed(t.allocated); }},
    {"requested", [](const AllocatorTotals& t) { return as_signed(t.requested); }},
    {"free in segments",
     [](const AllocatorTotals& t) { return as_signed(t.reserved - std::min(t.active, t.reserved)); }},
    {"lost to rounding", [](const AllocatorTotals& t) { return as_signed(t.active - t.requested); }},
};

}  // namespace

void DeviceWriter::look(OpenSnapshot& snapshot, tracks::TimeExtremes& extremes) {
  static const TorchDevice kUnused;
  const auto listed = snapshot.file.devices().find(device_);
  entries_before_ += of_ != nullptr ? of_->entries.size() : 0;
  snapshot_ = &snapshot;
  of_ = listed != snapshot.file.devices().end() ? &listed->second : &kUnused;
  std::string_view why;
  for (const PickleValue value : of_->entries) {
    const auto entry = snapshot.file.entry(value, why);
    if (!entry || !entry->time_us) continue;
    const std::int64_t ns = *entry->time_us * 1000;
    sketch_.add(ns, 0);
    extremes.add(ns, ns);
  }
  times_known_ = sketch_.count() > 0;
}

void DeviceWriter::add_tracks(const TorchTables& tables, ClockNumber clock, std::int64_t& order) {
  const std::string device = device_name(device_);
  const auto add = [&](std::string_view name, std::string_view kind, SchemaNumber schema, std::string_view unit = {}) {
    return writer_.add_track({.name = std::string(name),
                              .kind = std::string(kind),
                              .device = device,
                              .unit = std::string(unit),
                              .schema = schema,
                              .clock = clock,
                              .order = order++});
  };
  const bool fails = std::any_of(of_->entries.begin(), of_->entries.end(), [&](PickleValue value) {
    std::string_view why;
    const auto entry = snapshot_->file.entry(value, why);
    return entry && entry->action == TraceAction::oom;
  });
  if (fails && failures_ == kNone) failures_ = add("out of memory", "error", tables.failures);
  if (blocks_ != kNone) return;
  blocks_ = add(kPool, "memory", tables.blocks);
  segments_ = add("segments", "memory", tables.segments);
  for (std::size_t i = 0; i < kTotals; ++i) totals_[i] = add(kTotalRows[i].name, "counter", tables.totals, "B");
  moments_ = add("memory snapshots", "layer", tables.moments);
}

void DeviceWriter::undo_all(const AllocatorReplay::Blocks& older) {
  replay_.emplace(*of_, snapshot_->sizes);
  std::string_view why;
  for (std::size_t i = of_->entries.size(); i-- > 0;) {
    if (const auto entry = snapshot_->file.entry(of_->entries[i], why)) replay_->undo(i, *entry);
  }
  replay_->begin(older);
}

void DeviceWriter::go_on() {
  replay_->go_on(*of_, snapshot_->sizes);
  std::string_view why;
  for (std::size_t i = of_->entries.size(); i-- > 0;) {
    if (const auto entry = snapshot_->file.entry(of_->entries[i], why)) replay_->look(i, *entry);
  }
}

void DeviceWriter::write(std::int64_t begin_ns, const std::function<void(std::uint64_t entries)>& progress) {
  if (!replay_) {
    undo_all({});
    now_ = begin_ = begin_ns;
    write_begin();
  } else if (snapshot_->file.has_gap(device_)) {
    ++gaps_;
    const AllocatorReplay before = std::move(*replay_);
    undo_all(before.blocks());
    replay_->add(before.counts());
    now_ = std::max(now_, begin_ns);
    write_changes(before.blocks());
  } else {
    go_on();
  }
  trace_ns_ = begin_ns;
  for (std::size_t i = 0; i < of_->entries.size(); ++i) {
    std::string_view why;
    const auto entry = snapshot_->file.entry(of_->entries[i], why);
    if (!entry) {
      report_.skipped_row("device_traces", why, i);
      continue;
    }
    snapshot_->file.count_unknown(of_->entries[i]);
    now_ = time_of(i, *entry);
    write_entry(i, *entry);
    if (i % kEntriesBetweenProgress == 0) {
      if (writer_.cancelled()) return;
      if (progress) progress(i);
    }
  }
}

// Entries are in the order in which they happened; a clock that steps back does not change that.
std::int64_t DeviceWriter::time_of(std::size_t number, const TraceEntry& entry) {
  if (!times_known_) return begin_ + static_cast<std::int64_t>(number + 1) * kEntryNs;
  if (!entry.time_us) {
    ++missing_times_;
    return now_;
  }
  const std::int64_t ns = *entry.time_us * 1000;
  if (!bounds_.hold(ns, 0)) {
    ++doubtful_times_;
    return now_;
  }
  if (ns < trace_ns_) ++late_times_;
  trace_ns_ = std::max(ns, trace_ns_);
  return std::max(ns, now_);
}

void DeviceWriter::set_stack(Row& row, PickleValue frames, std::size_t stack, std::size_t source) {
  const StackName& name = snapshot_->names.of(frames);
  if (name.stack != 0) row.string(stack, name.stack);
  if (name.source != 0) row.string(source, name.source);
}

void DeviceWriter::set_text(Row& row, std::size_t column, PickleValue value) {
  const std::string_view text = snapshot_->file.data().text(value);
  if (!text.empty() && text != "N/A") row.string(column, writer_.intern(text));
}

Row DeviceWriter::begin_segment_row(std::uint64_t address, std::int64_t bytes, std::string_view action) {
  Row row = writer_.begin_event(segments_, now_, 0, writer_.intern(bytes > 0 ? "segment" : "segment released"));
  row.integer(SegmentColumns::bytes, bytes);
  row.unsigned_integer(SegmentColumns::address, address);
  row.integer(SegmentColumns::device, device_);
  row.string(SegmentColumns::memory, writer_.intern(kPool));
  row.integer(SegmentColumns::reserved, as_signed(replay_->totals().reserved));
  row.string(SegmentColumns::action, writer_.intern(action));
  return row;
}

void DeviceWriter::held(std::uint64_t begin, std::uint64_t end, std::string_view action, const HeldRun& run) {
  Row row = begin_segment_row(begin, bytes_of(begin, end), action);
  row.unsigned_integer(SegmentColumns::stream, run.stream);
  row.boolean(SegmentColumns::joins, run.expandable);
  row.string(SegmentColumns::type, writer_.intern(run.small ? "small" : "large"));
  const auto known = std::find_if(of_->segments.begin(), of_->segments.end(), [&](const TorchSegment& segment) {
    return begin >= segment.address && end <= segment.address + segment.size;
  });
  if (known != of_->segments.end()) {
    if (!known->pool.empty()) row.string(SegmentColumns::pool, writer_.intern(known->pool));
    set_stack(row, known->frames, SegmentColumns::stack, SegmentColumns::source);
  }
  pieces_[begin] = end;
}

void DeviceWriter::write_begin() {
  for (const auto& [begin, run] : replay_->runs()) held(begin, run.end, kBefore, run);
  for (const auto& [address, block] : replay_->blocks()) {
    write_older_block(address, *replay_->find(address), kBefore);
  }
  write_totals();
}

void DeviceWriter::write_older_block(std::uint64_t address, LiveBlock& block, std::string_view action) {
  const StackName& name = snapshot_->names.of(block.frames);
  block.name = name.name != 0 ? name.name : writer_.intern(kOlderBlock);
  Row row = writer_.begin_event(blocks_, now_, 0, block.name);
  row.integer(BlockColumns::bytes, as_signed(block.size));
  row.unsigned_integer(BlockColumns::address, address);
  row.integer(BlockColumns::requested, as_signed(block.requested));
  row.integer(BlockColumns::device, device_);
  row.string(BlockColumns::action, writer_.intern(action));
  row.unsigned_integer(BlockColumns::stream, block.stream);
  if (const auto segment = replay_->segment_at(address)) row.unsigned_integer(BlockColumns::segment, *segment);
  if (block.estimated) row.boolean(BlockColumns::estimated, true);
  set_stack(row, block.frames, BlockColumns::stack, BlockColumns::source);
}

// What came and went between two snapshots in entries that neither has: the state is that of the later one.
void DeviceWriter::write_changes(const AllocatorReplay::Blocks& older) {
  const auto lives_on = [&](std::uint64_t address, const LiveBlock& block) {
    const auto before = older.find(address);
    return before != older.end() && before->second.size == block.size && before->second.requested == block.requested;
  };
  for (const auto& [address, block] : older) {
    LiveBlock* now = replay_->find(address);
    if (now != nullptr && lives_on(address, *now)) {
      now->name = block.name;
    } else {
      release(address, block, kBetween);
    }
  }
  for (auto piece = pieces_.begin(); piece != pieces_.end();) {
    const auto [begin, end] = *piece;
    const auto segment = replay_->segment_at(begin);
    const bool is_held = segment && replay_->runs().at(*segment).end >= end;
    piece = is_held ? std::next(piece) : pieces_.erase(piece);
    if (!is_held) (void)begin_segment_row(begin, -bytes_of(begin, end), kBetween);
  }
  for (const auto& [begin, run] : replay_->runs()) {
    std::uint64_t from = begin;
    for (auto piece = pieces_.lower_bound(begin); piece != pieces_.end() && piece->first < run.end; ++piece) {
      if (from < piece->first) held(from, piece->first, kBetween, run);
      from = piece->second;
    }
    if (from < run.end) held(from, run.end, kBetween, run);
  }
  for (const auto& [address, block] : replay_->blocks()) {
    if (!lives_on(address, block)) write_older_block(address, *replay_->find(address), kBetween);
  }
  write_totals();
}

void DeviceWriter::write_entry(std::size_t number, const TraceEntry& entry) {
  switch (entry.action) {
    case TraceAction::alloc:
    case TraceAction::free_requested:
    case TraceAction::free_completed:
      write_block(number, entry);
      break;
    case TraceAction::segment_alloc:
    case TraceAction::segment_free:
    case TraceAction::segment_map:
    case TraceAction::segment_unmap:
      write_segment(number, entry);
      break;
    case TraceAction::snapshot:
      write_moment("snapshot", entry_number(number));
      break;
    case TraceAction::oom:
      write_failure(number, entry);
      break;
    case TraceAction::unknown:
      ++unknown_actions_;
      write_moment(snapshot_->file.data().text(entry.name), entry_number(number));
      break;
  }
  write_totals();
}

void DeviceWriter::write_block(std::size_t number, const TraceEntry& entry) {
  const AllocatorReplay::Done done = replay_->redo(number, entry);
  if (done.replaced) release(entry.address, *done.replaced, "its release is not in the trace");
  const StackName own = snapshot_->names.of(entry.frames);
  StringId called = own.name != 0 ? own.name : writer_.intern(kUnknownStack);
  const bool allocates = entry.action == TraceAction::alloc;
  if (allocates) {
    if (LiveBlock* block = replay_->find(entry.address)) block->name = called;
  } else if (done.block && done.block->name != 0) {
    called = done.block->name;
  }
  Row row = writer_.begin_event(blocks_, now_, 0, called);
  if (done.block && (allocates || done.released)) {
    row.integer(BlockColumns::bytes, allocates ? as_signed(done.block->size) : -as_signed(done.block->size));
  }
  row.unsigned_integer(BlockColumns::address, entry.address);
  row.integer(BlockColumns::requested, as_signed(entry.size));
  row.integer(BlockColumns::device, device_);
  row.integer(BlockColumns::allocated, as_signed(replay_->totals().allocated));
  row.integer(BlockColumns::reserved, as_signed(replay_->totals().reserved));
  row.string(BlockColumns::action, writer_.intern(snapshot_->file.data().text(entry.name)));
  row.integer(BlockColumns::entry, entry_number(number));
  row.unsigned_integer(BlockColumns::stream, entry.stream);
  if (done.segment) row.unsigned_integer(BlockColumns::segment, *done.segment);
  if (done.block && done.block->estimated) row.boolean(BlockColumns::estimated, true);
  set_stack(row, entry.frames, BlockColumns::stack, BlockColumns::source);
  set_text(row, BlockColumns::compile_context, entry.compile_context);
  set_text(row, BlockColumns::user_metadata, entry.user_metadata);
  set_text(row, BlockColumns::category, entry.category);
}

void DeviceWriter::release(std::uint64_t address, const LiveBlock& block, std::string_view why) {
  Row row = writer_.begin_event(blocks_, now_, 0, block.name != 0 ? block.name : writer_.intern(kUnknownStack));
  row.integer(BlockColumns::bytes, -as_signed(block.size));
  row.unsigned_integer(BlockColumns::address, address);
  row.integer(BlockColumns::requested, as_signed(block.requested));
  row.integer(BlockColumns::device, device_);
  row.string(BlockColumns::action, writer_.intern(why));
}

// An entry that gives back a part of what others got, or several of them at once, becomes an event for each of these.
void DeviceWriter::write_segment(std::size_t number, const TraceEntry& entry) {
  (void)replay_->redo(number, entry);
  const bool gets = entry.action == TraceAction::segment_alloc || entry.action == TraceAction::segment_map;
  const std::string_view action = snapshot_->file.data().text(entry.name);
  const std::uint64_t end = entry.address + entry.size;
  const auto finish = [&](Row& row) {
    row.integer(SegmentColumns::entry, entry_number(number));
    row.unsigned_integer(SegmentColumns::stream, entry.stream);
    set_stack(row, entry.frames, SegmentColumns::stack, SegmentColumns::source);
  };
  if (entry.size == 0) return;
  const bool mapped = entry.action == TraceAction::segment_map || entry.action == TraceAction::segment_unmap;
  auto place = pieces_.upper_bound(entry.address);
  if (place != pieces_.begin() && std::prev(place)->second > entry.address) --place;
  bool any = false;
  while (place != pieces_.end() && place->first < end) {
    const auto [first, last] = *place;
    place = pieces_.erase(place);
    Row row = begin_segment_row(first, -bytes_of(first, last), gets ? "its release is not in the trace" : action);
    if (!gets) finish(row);
    any = true;
    const auto rest = [&](std::uint64_t from, std::uint64_t to) {
      Row retained = begin_segment_row(from, bytes_of(from, to), "the rest of it");
      retained.boolean(SegmentColumns::joins, mapped);
      pieces_[from] = to;
    };
    if (first < entry.address) rest(first, entry.address);
    if (last > end) rest(end, last);
    place = pieces_.lower_bound(std::min(last, end));
  }
  if (gets) {
    const auto run = replay_->runs().upper_bound(entry.address);
    const HeldRun of = run == replay_->runs().begin() ? HeldRun{} : std::prev(run)->second;
    Row row = begin_segment_row(entry.address, as_signed(entry.size), action);
    row.boolean(SegmentColumns::joins, mapped);
    row.string(SegmentColumns::type, writer_.intern(of.small ? "small" : "large"));
    finish(row);
    pieces_[entry.address] = end;
  } else if (!any) {  // nothing of it was known
    Row row = writer_.begin_event(segments_, now_, 0, writer_.intern("segment released"));
    row.unsigned_integer(SegmentColumns::address, entry.address);
    row.integer(SegmentColumns::device, device_);
    row.string(SegmentColumns::action, writer_.intern(action));
    finish(row);
  }
}

void DeviceWriter::write_failure(std::size_t number, const TraceEntry& entry) {
  const AllocatorTotals& totals = replay_->totals();
  Row row = writer_.begin_event(failures_, now_, 0, writer_.intern("out of memory"));
  row.integer(OomColumns::asked, as_signed(entry.size));
  row.integer(OomColumns::device_free, as_signed(entry.address));
  row.integer(OomColumns::device, device_);
  row.integer(OomColumns::allocated, as_signed(totals.allocated));
  row.integer(OomColumns::active, as_signed(totals.active));
  row.integer(OomColumns::reserved, as_signed(totals.reserved));
  row.integer(OomColumns::entry, entry_number(number));
  row.unsigned_integer(OomColumns::stream, entry.stream);
  set_stack(row, entry.frames, OomColumns::stack, OomColumns::source);
  set_text(row, OomColumns::compile_context, entry.compile_context);
  set_text(row, OomColumns::user_metadata, entry.user_metadata);
}

void DeviceWriter::write_moment(std::string_view name, std::int64_t entry) {
  const AllocatorTotals& totals = replay_->totals();
  Row row = writer_.begin_event(moments_, now_, 0, writer_.intern(name));
  row.integer(SnapshotColumns::device, device_);
  row.integer(SnapshotColumns::allocated, as_signed(totals.allocated));
  row.integer(SnapshotColumns::active, as_signed(totals.active));
  row.integer(SnapshotColumns::requested, as_signed(totals.requested));
  row.integer(SnapshotColumns::reserved, as_signed(totals.reserved));
  if (entry >= 0) row.integer(SnapshotColumns::entry, entry);
}

void DeviceWriter::write_totals() {
  const AllocatorTotals& totals = replay_->totals();
  peak_allocated_ = std::max(peak_allocated_, totals.allocated);
  peak_reserved_ = std::max(peak_reserved_, totals.reserved);
  for (std::size_t i = 0; i < kTotals; ++i) {
    const std::int64_t value = kTotalRows[i].value(totals);
    if (any_totals_ && value == last_totals_[i]) continue;
    writer_.sample(totals_[i], now_, value);
    last_totals_[i] = value;
  }
  any_totals_ = true;
}

// The state that the file states, and the moment of it.
void DeviceWriter::write_end(std::int64_t end_ns) {
  now_ = std::max(now_, end_ns);
  for (const std::uint64_t address : replay_->vanished()) {
    const LiveBlock block = *replay_->find(address);
    replay_->forget(address);
    release(address, block, "gone at the end");
  }
  write_totals();
  write_moment("snapshot taken", -1);
  check_end();
  const std::string device = device_name(device_);
  writer_.add_metric({.name = "peak allocated",
                      .group = "Memory",
                      .value = static_cast<double>(peak_allocated_),
                      .unit = "B",
                      .device = device});
  writer_.add_metric({.name = "peak reserved",
                      .group = "Memory",
                      .value = static_cast<double>(peak_reserved_),
                      .unit = "B",
                      .device = device});
}

void DeviceWriter::check_end() {
  const ReplayCounts& counts = replay_->counts();
  const std::string device = device_name(device_);
  AllocatorTotals stated;
  for (const TorchSegment& segment : of_->segments) {
    stated.reserved += segment.size;
    stated.allocated += segment.stated_allocated;
    stated.active += segment.stated_active;
  }
  const AllocatorTotals& made = replay_->totals();
  if (!of_->segments.empty() && (made.reserved != stated.reserved || made.active != stated.active)) {
    report_.note(
        "time_check",
        fmt::format("{}: the trace leads to {} bytes active of {} reserved, the segments state {} of {}; is the "
                    "trace of another moment?",
                    device, made.active, made.reserved, stated.active, stated.reserved));
  }
  report_.note(
      "rows_mended",
      "entries of the trace do not go with what came before them or with the segments; they were taken as they "
      "are, and the state follows the segments",
      counts.contradictions);
  report_.note(
      "relations_open",
      "allocations are not in the segments at the end, though nothing freed them; they are shown up to the end",
      counts.vanished);
  report_.note("memory_estimated",
               "blocks are older than the trace and gone at its end: nothing states their size, which is what the "
               "allocator takes for what was asked for; record with a larger max_entries to have their allocation",
               counts.estimated_sizes);
  report_.note("vendor_value_implausible",
               "blocks at the end have another size than this allocator's rules give; the file's counts, but sizes of "
               "blocks that are gone by then may be off in the same way",
               counts.sizes_not_as_computed);
  report_.note("buffer_overflow",
               "times the trace, which has the newest entries alone, lost its older ones before they were read, or was "
               "begun anew: what they did is shown as one change, and what came and went in between is not there",
               gaps_);
  report_.note("pairs_out_of_order", "entries say an earlier time than the one before; they lie at that one's time",
               late_times_);
  report_.note("rows_mended", "entries say no time; they lie at the one before", missing_times_);
  report_.note("impossible_times",
               "entries have times that all others belie by orders of magnitude; they lie at the one before",
               doubtful_times_);
  report_.note("unknown_types",
               "entries are of actions that are not known here; they are marks among the memory snapshots",
               unknown_actions_);
}

}  // namespace accelscope::capture::sources::torch_memory
