// What a profile does not hold but its users look for: how busy the systolic array was over time, which instruction
// set off which DMA transfer, and where spilled tensors lay in device memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::capture::sources::neuron {

// Share of the array's multiply-accumulates that did work, in buckets of equal length.
class PeUtilization {
 public:
  // `macs_per_ns` of one physical core.
  PeUtilization(std::int64_t begin, std::int64_t end, std::int64_t ticks_per_ns, double macs_per_ns);
  void add(std::int64_t start, std::int64_t duration, std::int64_t macs);
  [[nodiscard]] bool empty() const noexcept { return !any_; }
  // Samples that hold until the next one; runs of equal values are one sample.
  void samples(const std::function<void(std::int64_t ticks, double share)>& sample) const;

 private:
  std::int64_t begin_;
  std::int64_t bucket_;
  double macs_per_bucket_;
  std::vector<double> macs_;
  bool any_ = false;
};

// An instruction names the start of the transfer that it set off, a transfer the start of its instruction.
class TriggerLinks {
 public:
  void add_instruction(std::int64_t start, std::int64_t triggered_start, std::uint64_t id);
  void add_transfer(std::int64_t start, std::int64_t trigger_start, std::uint64_t id);
  // Pairs in which both sides agree; pairs of one candidate where the instruction names no transfer.
  void links(const std::function<void(std::uint64_t instruction, std::uint64_t transfer, std::int64_t start)>& link);

 private:
  struct End {
    std::int64_t instruction_start;
    std::int64_t transfer_start;
    std::uint64_t id;
    auto operator<=>(const End&) const = default;
  };
  std::vector<End> instructions_;
  std::vector<End> transfers_;
};

// When events began, by the profile's own numbers: asked once all are added.
class EventStarts {
 public:
  void add(std::uint64_t id, std::int64_t start) {
    starts_.push_back({id, start});
    sorted_ = false;
  }
  [[nodiscard]] std::optional<std::int64_t> find(std::uint64_t id);

 private:
  struct Start {
    std::uint64_t id;
    std::int64_t start;
    auto operator<=>(const Start&) const = default;
  };
  std::vector<Start> starts_;
  bool sorted_ = true;
};

// Spilled tensors: alive from the first byte that is saved to the last that is read back.
class SpillLifetimes {
 public:
  void add(std::string_view variable, std::int64_t start, std::int64_t end, std::int64_t bytes, bool is_save);
  struct Block {
    std::string variable;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t bytes = 0;
  };
  // By begin.
  [[nodiscard]] std::vector<Block> blocks() const;

 private:
  struct Move {
    std::int64_t start;
    std::int64_t end;
    std::int64_t bytes;
    bool is_save;
  };
  std::map<std::string, std::vector<Move>, std::less<>> moves_;
};

}  // namespace accelscope::capture::sources::neuron
