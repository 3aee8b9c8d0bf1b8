// A sequence of equal tiles through a ring of buffers in SBUF, as a double-buffered load of the kernels: loads are
// placed in the program where their buffer comes free, which is what the DMA queues see.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sim/kernel/program_builder.h"

namespace accelscope::capture::sim {

[[nodiscard]] inline std::string tile_name(int first, int second) {
  return "[" + std::to_string(first) + ", " + std::to_string(second) + "]";
}

// A sequence of equal tiles through a ring of buffers: a buffer is loaded again when its tile was used. With
// `resident`, the first `distinct` tiles have a buffer each and are loaded once.
class TileStream {
 public:
  struct Settings {
    Queue queue;
    std::string_view tensor;
    Site site;
    std::string_view layer;
    int tiles;
    int distinct;
    std::int64_t bytes;
    bool resident;
    std::pair<int, int> (*place)(int tile);
  };
  TileStream(ProgramBuilder& builder, const Settings& settings, int buffers)
      : builder_(builder),
        settings_(settings),
        slots_(static_cast<std::size_t>(settings.resident ? settings.distinct : buffers)) {
    for (Slot& slot : slots_) slot.address = builder_.reserve_sbuf(settings_.bytes);
  }

  void load_first(int count) {
    for (int tile = 0; tile < count; ++tile) load_next();
  }
  // The transfer that brings the next tile to be used.
  [[nodiscard]] std::uint32_t next() {
    while (loaded_ <= taken_ && loaded_ < loads()) load_next();
    return slot(taken_).transfer;
  }
  [[nodiscard]] std::uint64_t address() const {
    return slots_[static_cast<std::size_t>(taken_) % slots_.size()].address;
  }
  // The tile of the last next() was used for the last time by that operation: its buffer may be loaded again.
  void used_by(std::uint32_t operation) {
    Slot& used = slot(taken_);
    used.reader = operation;
    const bool last_use = !settings_.resident || taken_ + settings_.distinct >= settings_.tiles;
    if (last_use) {
      builder_.hold(Pool::sbuf, settings_.tensor, settings_.site, settings_.bytes, used.address, used.transfer,
                    operation);
    }
    ++taken_;
    if (loaded_ < loads()) load_next();
  }

 private:
  struct Slot {
    std::uint64_t address = 0;
    std::uint32_t transfer = kNoOperation;
    std::uint32_t reader = kNoOperation;
  };
  [[nodiscard]] int loads() const { return settings_.resident ? settings_.distinct : settings_.tiles; }
  Slot& slot(int tile) { return slots_[static_cast<std::size_t>(tile) % slots_.size()]; }
  void load_next() {
    const auto [first, second] = settings_.place(loaded_);
    Slot& free = slot(loaded_++);
    builder_.set_layer(settings_.layer);
    const std::string tile = tile_name(first, second);
    free.transfer = builder_.move({.queue = settings_.queue,
                                   .tensor = settings_.tensor,
                                   .tile = tile,
                                   .site = settings_.site,
                                   .bytes = settings_.bytes,
                                   .address = free.address,
                                   .needs = {free.reader}});
  }

  ProgramBuilder& builder_;
  Settings settings_;
  std::vector<Slot> slots_;
  int loaded_ = 0;
  int taken_ = 0;
};

}  // namespace accelscope::capture::sim
