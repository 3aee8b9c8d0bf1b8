// A model of PyTorch's allocator for tests: random requests against segments of small and large blocks, and the
// snapshot that it would dump, of which the trace has only the last entries. The truth after every entry is kept beside
// it.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace accelscope::test {

struct TorchModelOptions {
  std::uint32_t seed = 1;
  std::size_t requests = 400;
  std::size_t retained_entries = SIZE_MAX;  // of the trace's end
  bool times = true;
  bool expandable = false;
  bool history = false;  // as versions before 2.1 wrote blocks
  int protocol = 4;
  int devices = 1;
  std::size_t requests_between_parts = SIZE_MAX;  // snapshots that are taken meanwhile
  std::size_t lost_part = SIZE_MAX;               // nobody has taken that one: its entries are lost
};

struct TorchModelState {
  std::uint64_t allocated = 0, active = 0, requested = 0, reserved = 0;
};

class TorchModel {
 public:
  explicit TorchModel(const TorchModelOptions& options);

  [[nodiscard]] const std::string& pickle() const noexcept { return pickle_; }
  // Snapshots that each have the entries since the one before; the last one is of the end.
  [[nodiscard]] const std::vector<std::string>& parts() const noexcept { return parts_; }
  // Of device 0, after every entry that the trace has, and before the first of them.
  [[nodiscard]] const std::vector<TorchModelState>& states() const noexcept { return states_; }
  [[nodiscard]] const TorchModelState& before() const noexcept { return before_; }
  [[nodiscard]] std::size_t ooms() const noexcept { return ooms_; }
  // Blocks from before the trace that are gone at its end: their sizes follow from the request alone.
  [[nodiscard]] std::size_t guessed() const noexcept { return guessed_; }

 private:
  struct ModelBlock {
    std::uint64_t size = 0, requested = 0;
    bool active = false, pending = false;
    int stack = 0;
  };
  struct ModelSegment {
    std::uint64_t size = 0;
    bool small = false;
    std::map<std::uint64_t, ModelBlock> blocks;
  };
  struct ModelEntry {
    std::string action;
    std::uint64_t address = 0, size = 0;
    int stack = 0;
    std::int64_t time_us = 0;
    TorchModelState after;
  };
  void run(std::mt19937_64& random);
  void allocate(std::uint64_t size, int stack);
  void release(std::uint64_t address, bool completes);
  void add(std::string action, std::uint64_t address, std::uint64_t size, int stack);
  void merge(ModelSegment& segment, std::map<std::uint64_t, ModelBlock>::iterator block);
  [[nodiscard]] TorchModelState state() const;
  [[nodiscard]] std::string write(std::size_t first, bool has_gap) const;
  void take_part();

  TorchModelOptions options_;
  std::map<std::uint64_t, ModelSegment> segments_;
  std::vector<ModelEntry> entries_;
  std::uint64_t next_address_ = 0x7f0000000000;
  std::int64_t now_us_ = 1'700'000'000'000'000;
  std::size_t first_ = 0;
  std::size_t ooms_ = 0, guessed_ = 0;
  std::string pickle_;
  std::vector<std::string> parts_;
  std::size_t parts_begun_ = 0, part_first_ = 0;
  std::vector<TorchModelState> states_;
  TorchModelState before_;
};

}  // namespace accelscope::test
