#include "core/scan/string_test.h"

#include <algorithm>

namespace accelscope {

void StringTest::answer_all(WorkerPool& workers, TaskControl& control) {
  constexpr std::size_t kAtOnce = 4096;
  workers.for_each((known_.size() + kAtOnce - 1) / kAtOnce, control, [&](std::size_t index, std::size_t) {
    const std::size_t end = std::min(known_.size(), (index + 1) * kAtOnce);
    for (std::size_t id = index * kAtOnce; id < end; ++id) {
      known_[id] = keeps_(pool_.text(static_cast<StringId>(id))) ? kKept : kLeftOut;
    }
  });
}

bool StringTest::find_out(StringId id) const {
  const bool kept = keeps_(pool_.text(id));
  if (id < known_.size()) std::atomic_ref(known_[id]).store(kept ? kKept : kLeftOut, std::memory_order_relaxed);
  return kept;
}

}  // namespace accelscope
