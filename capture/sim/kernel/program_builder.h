// Appends operations to a kernel program: numbers them, interns names, inserts the EVENT_SEMAPHORE of an engine that
// must wait for another, counts semaphore signals, writes operands in the vendor's grammar and places tiles in SBUF.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sim/kernel/program.h"

namespace accelscope::capture::sim {

[[nodiscard]] std::int64_t cycles_to_ns(std::int64_t cycles, double ghz) noexcept;

[[nodiscard]] std::string hex_text(std::uint64_t value);  // "0x2f700"

struct Step {
  Unit unit = Unit::vector;
  std::string_view opcode = {};
  Site site = Site::none;
  Site caller = Site::none;
  std::int64_t duration_ns = 0;
  std::uint32_t jitter_mask = 0;
  std::uint8_t flags = 0;
  std::vector<std::uint32_t> needs = {};  // at most three
};

struct Move {
  Queue queue = Queue::weights1;
  std::string_view tensor;
  std::string_view tile;  // "[7, 2]"
  Site site = Site::none;
  std::int64_t bytes = 0;
  bool to_sbuf = true;
  std::uint64_t address = 0;
  std::vector<std::uint32_t> needs = {};
};

class ProgramBuilder {
 public:
  explicit ProgramBuilder(const CoreModel& core = {});

  void set_layer(std::string_view layer);
  void set_hlo(std::string_view hlo) { hlo_ = hlo; }
  void next_tile() { ++tile_; }

  // The index of the operation; the wait that may come before it has the index below.
  std::uint32_t instruction(const Step& step, OperationText text);
  // The instruction that sets off the transfer, and the transfer, whose index is returned.
  std::uint32_t move(const Move& move);
  std::uint32_t collective(std::string_view operation, Site site, std::int64_t bytes, std::uint32_t trigger,
                           std::uint32_t needs);

  [[nodiscard]] std::uint64_t reserve_sbuf(std::int64_t bytes);
  [[nodiscard]] std::uint64_t reserve_hbm(std::int64_t bytes);
  void hold(Pool pool, std::string_view tensor, Site site, std::int64_t bytes, std::uint64_t address,
            std::uint32_t from, std::uint32_t until);
  void hold_bank(int bank, std::int64_t bytes, std::uint32_t from, std::uint32_t until);
  void tensor(Tensor tensor) { program_.tensors.push_back(std::move(tensor)); }

  [[nodiscard]] std::uint32_t last() const noexcept {
    return static_cast<std::uint32_t>(program_.operations.size() - 1);
  }
  [[nodiscard]] KernelProgram finish();

 private:
  std::uint16_t name(std::string_view text);
  std::uint32_t append(Operation operation, OperationText text);
  void wait_for(const Step& step);
  [[nodiscard]] std::string conditions(const std::vector<std::uint32_t>& needs) const;

  KernelProgram program_;
  std::map<std::string, std::uint16_t, std::less<>> names_;
  std::array<std::int64_t, kUnitCount> unit_signals_ = {};
  std::array<std::int64_t, kQueueCount> queue_signals_ = {};
  std::uint16_t layer_ = 0;
  std::string_view hlo_;
  std::uint16_t tile_ = 0;
  std::uint64_t sbuf_top_ = 0;
  std::uint64_t hbm_top_ = 0;
};

// A sequence of equal tiles through a ring of buffers in SBUF, as a double-buffered load of the kernels: loads are
// placed in the program where their buffer comes free, which is what the DMA queues see.

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
