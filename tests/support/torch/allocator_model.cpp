#include "tests/support/torch/allocator_model.h"

#include <algorithm>
#include <set>

#include "tests/support/torch/pickle_writer.h"

namespace accelscope::test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::uint64_t kSmallSegmentSize = 2 * kMiB, kLargeSegmentSize = 20 * kMiB, kMapped = 2 * kMiB;
constexpr std::uint64_t kDeviceBytes = 400 * kMiB;

}  // namespace

TorchModel::TorchModel(const TorchModelOptions& options) : options_(options) {
  std::mt19937_64 random(options.seed);
  run(random);
  first_ = entries_.size() - std::min(entries_.size(), options.retained_entries);
  before_ = first_ == 0 ? TorchModelState{} : entries_[first_ - 1].after;
  std::set<std::uint64_t> born;
  for (std::size_t i = first_; i < entries_.size(); ++i) {
    states_.push_back(entries_[i].after);
    if (entries_[i].action == "alloc") born.insert(entries_[i].address);
    if (entries_[i].action == "free_completed" && born.erase(entries_[i].address) == 0) ++guessed_;
  }
  pickle_ = write(first_, false);
  take_part();
}

void TorchModel::take_part() {
  const std::size_t number = parts_begun_++;
  if (number != options_.lost_part) parts_.push_back(write(part_first_, number == options_.lost_part + 1));
  part_first_ = entries_.size();
}

TorchModelState TorchModel::state() const {
  TorchModelState sum;
  for (const auto& [address, segment] : segments_) {
    sum.reserved += segment.size;
    for (const auto& [at, block] : segment.blocks) {
      if (!block.active) continue;
      sum.active += block.size;
      sum.requested += block.requested;
      if (!block.pending) sum.allocated += block.size;
    }
  }
  return sum;
}

void TorchModel::add(std::string action, std::uint64_t address, std::uint64_t size, int stack) {
  now_us_ += static_cast<std::int64_t>(entries_.size() % 3);
  entries_.push_back({std::move(action), address, size, stack, now_us_, state()});
}

void TorchModel::run(std::mt19937_64& random) {
  std::vector<std::uint64_t> alive, pending;
  for (std::size_t i = 0; i < options_.requests; ++i) {
    if (i % options_.requests_between_parts == options_.requests_between_parts - 1) take_part();
    const std::uint64_t dice = random() % 100;
    if (dice < 52 || alive.empty()) {
      const std::uint64_t size = dice % 3 == 0   ? 1 + random() % 4000
                                 : dice % 3 == 1 ? 1 + random() % kMiB
                                                 : 1 + random() % (9 * kMiB);
      const std::size_t before = entries_.size();
      allocate(size, static_cast<int>(random() % 7));
      if (entries_.size() > before && entries_.back().action == "alloc") alive.push_back(entries_.back().address);
    } else if (dice < 96) {
      const std::size_t place = random() % alive.size();
      const std::uint64_t address = alive[place];
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(place));
      const bool completes = random() % 5 != 0;
      release(address, completes);
      if (!completes) pending.push_back(address);
    } else if (!pending.empty()) {
      release(pending.back(), true);
      pending.pop_back();
    } else {
      // Segments without blocks go back to the driver, as empty_cache() does it.
      for (auto place = segments_.begin(); place != segments_.end();) {
        const bool empty = place->second.blocks.size() == 1 && !place->second.blocks.begin()->second.active;
        if (!empty) {
          ++place;
          continue;
        }
        const auto [address, size] = std::pair{place->first, place->second.size};
        place = segments_.erase(place);
        if (!options_.expandable) {
          add("segment_free", address, size, 0);
          continue;
        }
        // Given back in one piece, though it was mapped in several.
        add("segment_unmap", address, size, 0);
      }
    }
  }
}

void TorchModel::allocate(std::uint64_t requested, int stack) {
  const std::uint64_t size = std::max<std::uint64_t>((requested + 511) / 512 * 512, 512);
  const bool small = size <= kMiB;
  // The smallest free block that has room.
  ModelSegment* of = nullptr;
  std::map<std::uint64_t, ModelBlock>::iterator best;
  for (auto& [address, segment] : segments_) {
    if (segment.small != small) continue;
    for (auto block = segment.blocks.begin(); block != segment.blocks.end(); ++block) {
      if (block->second.active || block->second.size < size) continue;
      if (of != nullptr && block->second.size >= best->second.size) continue;
      of = &segment;
      best = block;
    }
  }
  if (of == nullptr) {
    std::uint64_t bytes = small ? kSmallSegmentSize : kLargeSegmentSize;
    if (options_.expandable) bytes = (size + kMapped - 1) / kMapped * kMapped;
    if (state().reserved + bytes > kDeviceBytes) {
      ++ooms_;
      return add("oom", kDeviceBytes - state().reserved, size, stack);
    }
    const std::uint64_t address = next_address_;
    next_address_ += bytes + (options_.expandable ? 64 * kMiB : 0);
    ModelSegment& segment = segments_[address];
    segment.small = small;
    if (options_.expandable) {  // piece by piece
      for (std::uint64_t mapped = 0; mapped < bytes; mapped += kMapped) {
        segment.size += kMapped;
        segment.blocks[address].size = segment.size;
        add("segment_map", address + mapped, kMapped, stack);
      }
    } else {
      segment.size = bytes;
      segment.blocks[address].size = bytes;
      add("segment_alloc", address, bytes, stack);
    }
    of = &segment;
    best = segment.blocks.begin();
  }
  const std::uint64_t rest = best->second.size - size;
  if (small || options_.expandable ? rest >= 512 : rest > kMiB) {
    ModelBlock behind;
    behind.size = rest;
    best->second.size = size;
    of->blocks.emplace(best->first + size, behind);
  }
  best->second.active = true;
  best->second.pending = false;
  best->second.requested = requested;
  best->second.stack = stack;
  add("alloc", best->first, requested, stack);
}

void TorchModel::merge(ModelSegment& segment, std::map<std::uint64_t, ModelBlock>::iterator block) {
  const auto next = std::next(block);
  if (next != segment.blocks.end() && !next->second.active) {
    block->second.size += next->second.size;
    segment.blocks.erase(next);
  }
  if (block == segment.blocks.begin()) return;
  const auto before = std::prev(block);
  if (before->second.active) return;
  before->second.size += block->second.size;
  segment.blocks.erase(block);
}

void TorchModel::release(std::uint64_t address, bool completes) {
  auto place = segments_.upper_bound(address);
  ModelSegment& segment = (--place)->second;
  const auto block = segment.blocks.find(address);
  const std::uint64_t requested = block->second.requested;
  const int stack = block->second.stack;
  if (!block->second.pending) {
    block->second.pending = true;
    add("free_requested", address, requested, stack);
  }
  if (!completes) return;
  block->second.active = false;
  merge(segment, block);
  add("free_completed", address, requested, stack);
}

std::string TorchModel::write(std::size_t first, bool has_gap) const {
  PickleWriter writer(options_.protocol);
  std::map<int, std::uint32_t> stacks;
  const auto frames = [&](int stack) {
    writer.text("frames");
    if (const auto known = stacks.find(stack); known != stacks.end()) return writer.get(known->second);
    stacks[stack] = writer.begin_list();
    writer.mark();
    for (int depth = 0; depth < 3; ++depth) {
      writer.begin_dict();
      writer.mark();
      writer.text("name");
      writer.text("f" + std::to_string(stack * 3 + depth));
      writer.text("filename");
      writer.text(depth == 0 ? "/usr/lib/python3/torch/site-packages/op.py" : "/home/a/model.py");
      writer.text("line");
      writer.integer(stack * 10 + depth);
      writer.set_items();
    }
    writer.appends();
  };
  const auto number = [&](std::string_view key, std::uint64_t value) {
    writer.text(key);
    writer.address(value);
  };
  writer.begin_dict();
  writer.mark();
  writer.text("segments");
  writer.begin_list();
  writer.mark();
  for (const auto& [address, segment] : segments_) {
    TorchModelState sum;
    for (const auto& [at, block] : segment.blocks) {
      if (block.active) sum.active += block.size;
      if (block.active && !block.pending) sum.allocated += block.size;
    }
    writer.begin_dict();
    writer.mark();
    number("device", 0);
    number("address", address);
    number("total_size", segment.size);
    number("allocated_size", sum.allocated);
    number("active_size", sum.active);
    number("stream", 0);
    writer.text("segment_type");
    writer.text(segment.small ? "small" : "large");
    if (!options_.history) {
      writer.text("segment_pool_id");
      writer.integer(0);
      writer.integer(0);
      writer.pair();
      writer.text("is_expandable");
      writer.boolean(options_.expandable);
    }
    writer.text("blocks");
    writer.begin_list();
    writer.mark();
    for (const auto& [at, block] : segment.blocks) {
      writer.begin_dict();
      writer.mark();
      number("size", block.size);
      writer.text("state");
      writer.text(!block.active ? "inactive" : block.pending ? "active_pending_free" : "active_allocated");
      if (options_.history) {
        writer.text("history");
        writer.begin_list();
        writer.begin_dict();
        writer.mark();
        number("addr", at);
        number("real_size", block.requested);
        frames(block.stack);
        writer.set_items();
        writer.append();
      } else {
        number("address", at);
        number("requested_size", block.requested);
        frames(block.stack);
      }
      writer.set_items();
    }
    writer.appends();
    writer.set_items();
  }
  writer.appends();
  writer.text("device_traces");
  writer.begin_list();
  writer.mark();
  for (int device = 0; device < options_.devices; ++device) {
    writer.begin_list();
    if (device > 0) continue;
    writer.mark();
    std::size_t batch = 0;
    for (std::size_t i = first; i < entries_.size(); ++i) {
      const ModelEntry& entry = entries_[i];
      writer.begin_dict();
      writer.mark();
      writer.text("action");
      writer.text(entry.action);
      number(entry.action == "oom" ? "device_free" : "addr", entry.address);
      number("size", entry.size);
      number("stream", 0);
      if (options_.times) number("time_us", static_cast<std::uint64_t>(entry.time_us));
      frames(entry.stack);
      writer.set_items();
      if (++batch == 1000) {
        writer.appends();
        writer.mark();
        batch = 0;
      }
    }
    writer.appends();
  }
  writer.appends();
  if (has_gap) {
    writer.text("accelscope");
    writer.begin_dict();
    writer.text("gaps");
    writer.begin_list();
    writer.integer(0);
    writer.append();
    writer.set_item();
  }
  writer.set_items();
  return writer.finish();
}

}  // namespace accelscope::test
