// Answers about a session that are dear to find and that many ask for, each found once for one version of the data and
// shared: the path, warnings, SQL and agents speak of the same graph of work. Of each kind the newest is kept for as
// long as the store is there.
//
//   return store.kept().find<Dependencies>(snapshot->version, control, [&] { return build(); });
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>

#include "core/base/result.h"
#include "core/base/worker_pool.h"

namespace accelscope {

class KeptAnswers {
 public:
  // The answer of that kind and version, else what `make` returns, a Result<std::shared_ptr<const Answer>>. One caller
  // makes it while others wait; who is cancelled does not. An error is not kept. `fits(answer)` says whether a kept one
  // is of what is asked about: parts of a session have its version too.
  template <typename Answer, typename Fits, typename Make>
  [[nodiscard]] Result<std::shared_ptr<const Answer>> find(std::uint64_t version, const TaskControl& control, Fits fits,
                                                           Make make) {
    const std::shared_ptr<Slot> slot = slot_of(typeid(Answer));
    std::unique_lock making(slot->making, std::defer_lock);
    constexpr std::chrono::milliseconds kBetweenLooks{20};
    while (!making.try_lock_for(kBetweenLooks)) {
      if (control.cancelled()) return cancelled_error();
    }
    if (slot->answer && slot->version == version) {
      auto known = std::static_pointer_cast<const Answer>(slot->answer);
      if (fits(*known)) return known;
    }
    Result<std::shared_ptr<const Answer>> made = make();
    if (!made) return made;
    if (fits(**made)) {
      slot->answer = *made;
      slot->version = version;
    }
    return made;
  }

 private:
  struct Slot {
    std::timed_mutex making;
    std::uint64_t version = 0;
    std::shared_ptr<const void> answer;
  };
  std::shared_ptr<Slot> slot_of(const std::type_index& kind) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Slot>& slot = slots_[kind];
    if (!slot) slot = std::make_shared<Slot>();
    return slot;
  }

  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<Slot>> slots_;
};

}  // namespace accelscope
