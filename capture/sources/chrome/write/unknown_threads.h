// PyTorch's profiler writes the Python frames of threads that it does not know to thread 0 of process 0. Each frame
// names the one that called it: frames of one root are of one thread, and roots that overlap are of different threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace accelscope::capture::sources::chrome {

class UnknownThreads {
 public:
  // From 1. Frames come after those that called them; one without an id, or whose caller is not known, begins a thread.
  [[nodiscard]] std::size_t slot_of(std::optional<std::int64_t> id, std::optional<std::int64_t> parent,
                                    std::int64_t begin_ns, std::int64_t end_ns) {
    std::size_t slot = 0;
    if (const auto caller = parent ? slots_.find(*parent) : slots_.end(); caller != slots_.end()) {
      slot = caller->second;
    } else {
      while (slot < ends_.size() && ends_[slot] > begin_ns) ++slot;
      if (slot == ends_.size()) ends_.push_back(end_ns);
      ends_[slot++] = end_ns;
    }
    if (id) slots_[*id] = slot;
    return slot;
  }

 private:
  std::unordered_map<std::int64_t, std::size_t> slots_;  // by the frame's id
  std::vector<std::int64_t> ends_;                       // of each thread's last root
};

}  // namespace accelscope::capture::sources::chrome
