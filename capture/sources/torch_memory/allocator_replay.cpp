#include "capture/sources/torch_memory/allocator_replay.h"

#include <algorithm>

namespace accelscope::capture::sources::torch_memory {
namespace {
constexpr std::uint64_t kSmallSegment = 2U << 20;  // segments of small blocks have this size; large ones have more
}

AllocatorReplay::AllocatorReplay(const TorchDevice& device, const BlockSizes& sizes) : device_(device), sizes_(sizes) {
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
      final_.emplace(block.address, block.size);
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
  const auto known = std::find_if(device_.segments.begin(), device_.segments.end(), [&](const TorchSegment& segment) {
    return what.address >= segment.address && what.address < segment.address + segment.size &&
           segment.expandable == mapped;
  });
  if (known != device_.segments.end()) run.small = known->small;
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
void AllocatorReplay::begin() {
  for (auto place = blocks_.begin(); place != blocks_.end(); ++place) {
    LiveBlock& block = place->second;
    if (block.size != 0 || block.requested == 0) continue;
    block.size = size_at(place->first, block.requested);
    block.estimated = true;
    ++counts_.estimated_sizes;
    totals_.active += block.size;
    if (!block.pending) totals_.allocated += block.size;
  }
}

std::uint64_t AllocatorReplay::size_at(std::uint64_t address, std::uint64_t requested) const {
  const auto run = run_at(address);
  if (run == runs_.end()) return sizes_.rounded(requested);
  const auto next = blocks_.upper_bound(address);
  const std::uint64_t end = next == blocks_.end() ? run->second.end : std::min(run->second.end, next->first);
  return sizes_.taken(requested, end - address, run->second.small || run->second.expandable);
}

AllocatorReplay::Done AllocatorReplay::redo(std::size_t entry, const TraceEntry& what) {
  Done done;
  const auto live = blocks_.find(what.address);
  const auto segment_of = [&] {
    const auto run = run_at(what.address);
    if (run != runs_.end()) done.segment = run->first;
  };
  switch (what.action) {
    case TraceAction::alloc: {
      if (live != blocks_.end()) {
        done.replaced = remove_block(live);
        ++counts_.contradictions;
      }
      segment_of();
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
      segment_of();
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

std::vector<std::uint64_t> AllocatorReplay::vanished() const {
  std::vector<std::uint64_t> gone;
  for (const auto& [address, block] : blocks_) {
    if (!final_.contains(address)) gone.push_back(address);
  }
  return gone;
}

}  // namespace accelscope::capture::sources::torch_memory
