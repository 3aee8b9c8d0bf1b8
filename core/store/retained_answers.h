// Answers about a session that are dear to find and that many ask for, each found once for what the data are and
// shared: the path, warnings, SQL and agents speak of the same graph of work. Of each kind those about the newest data
// are kept for as long as the store is there, one of the whole session and of each host that was asked for.
//
//   return store.kept().find<WorkGraph>(snapshot, control, [&] { return build(); });
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <vector>

#include "core/base/result.h"
#include "core/base/worker_pool.h"
#include "core/store/snapshot.h"

namespace accelscope {

class RetainedAnswers {
 public:
  // The answer of that kind about the snapshot, else what `make` returns, a Result<std::shared_ptr<const Answer>>. One
  // caller makes it while others wait; who is cancelled does not. An error is not kept, nor what `keeps` declines.
  template <typename Answer, typename Make>
  [[nodiscard]] Result<std::shared_ptr<const Answer>> find(const std::shared_ptr<const Snapshot>& snapshot,
                                                           const TaskControl& control, Make make,
                                                           bool (*keeps)(const Answer&) = nullptr) {
    const std::shared_ptr<Slot> slot = slot_of(typeid(Answer));
    std::unique_lock lock(slot->mutex);
    constexpr std::chrono::milliseconds kBetweenLooks{20};
    while (slot->is_made) {
      slot->made.wait_for(lock, kBetweenLooks);
      if (control.cancelled()) return cancelled_error();
    }
    for (const Retained& each : slot->retained) {
      if (is_same(*each.snapshot, *snapshot)) return std::static_pointer_cast<const Answer>(each.answer);
    }
    const Making making(*slot, lock);
    lock.unlock();
    Result<std::shared_ptr<const Answer>> made = make();
    lock.lock();
    if (made && (keeps == nullptr || keeps(**made))) {
      std::erase_if(slot->retained, [&](const Retained& each) { return each.snapshot->version != snapshot->version; });
      if (slot->retained.size() == kMostRetained) slot->retained.erase(slot->retained.begin());
      slot->retained.push_back({snapshot, *made});
    }
    return made;
  }

 private:
  static constexpr std::size_t kMostRetained = 8;  // about one state of the data
  struct Retained {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const void> answer;
  };
  struct Slot {
    std::mutex mutex;
    std::condition_variable made;
    bool is_made = false;  // right now, by somebody
    std::vector<Retained> retained;
  };
  // While one makes an answer, also where that throws.
  class Making {
   public:
    Making(Slot& slot, std::unique_lock<std::mutex>& lock) : slot_(slot), lock_(lock) { slot_.is_made = true; }
    ~Making() {
      if (!lock_.owns_lock()) lock_.lock();
      slot_.is_made = false;
      slot_.made.notify_all();
    }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    Slot& slot_;
    std::unique_lock<std::mutex>& lock_;
  };
  // The parts of a session that are each a host's have its version, and the same lanes, of which others hold nothing.
  static bool is_same(const Snapshot& a, const Snapshot& b) noexcept {
    return a.version == b.version &&
           std::equal(a.lanes.begin(), a.lanes.end(), b.lanes.begin(), b.lanes.end(),
                      [](const LaneSnapshot& x, const LaneSnapshot& y) { return x.event_count == y.event_count; });
  }
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
