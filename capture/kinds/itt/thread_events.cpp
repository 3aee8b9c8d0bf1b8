// Events and locks of a thread: what may overlap within it.
#include <algorithm>

#include "capture/kinds/itt/process.h"

namespace accelscope::capture::kinds::itt {

using namespace probe::itt;

bool IttProcess::read_event(Thread& thread, RecordType type, std::uint32_t site, IttWords& words) {
  if (!words.has(1)) return false;
  const std::int64_t ns = to_ns(words.next());
  const auto found = thread.open_events.find(site);
  if (type == RecordType::event_end) {
    if (found == thread.open_events.end()) {
      ++counts_.ends_without_begin;
      return true;
    }
    end_event(thread, site, found->second, ns);
    thread.open_events.erase(found);
    return true;
  }
  // One that begins again without an end was a point in time.
  if (found != thread.open_events.end()) {
    end_event(thread, site, found->second, found->second.begin_ns);
    thread.open_events.erase(found);
  }
  thread.open_events[site] = {ns, thread.event_lanes.take()};
  return true;
}

void IttProcess::end_event(Thread& thread, std::uint32_t site, const OpenEvent& event, std::int64_t end_ns) {
  if (thread.events == kNone) thread.events = tracks_.events(thread.row());
  OpenTask task;
  task.site = site;
  task.begin_ns = event.begin_ns;
  tasks_.write(thread.events, event.lane, task, end_ns, false);
  thread.event_lanes.give_back(event.lane);
}

bool IttProcess::read_lock(Thread& thread, RecordType type, bool shared, IttWords& words) {
  if (!words.has(2)) return false;
  const std::int64_t ns = to_ns(words.next());
  const std::uint64_t lock = words.next();
  switch (type) {
    case RecordType::lock_wait:
      thread.waited.push_back({lock, ns});
      return true;
    case RecordType::lock_cancel:
      end_wait(thread, lock, ns, shared);
      return true;
    case RecordType::lock_obtain: {
      end_wait(thread, lock, ns, shared);
      // Without marks of its releases an object is held anew each time.
      if (!names_.lock(lock).declared) {
        std::erase_if(thread.held, [&](const Held& held) {
          if (held.lock != lock) return false;
          thread.hold_lanes.give_back(held.lane);
          return true;
        });
      }
      thread.held.push_back({lock, ns, thread.hold_lanes.take(), shared});
      return true;
    }
    default: {
      const auto found =
          std::find_if(thread.held.rbegin(), thread.held.rend(), [&](const Held& held) { return held.lock == lock; });
      if (found == thread.held.rend()) return true;  // obtained while nothing was collected, or on another thread
      end_hold(thread, static_cast<std::size_t>(thread.held.rend() - found) - 1, ns);
      return true;
    }
  }
}

void IttProcess::end_wait(Thread& thread, std::uint64_t lock, std::int64_t ns, bool shared) {
  const auto found = std::find_if(thread.waited.rbegin(), thread.waited.rend(),
                                  [&](const Waited& waited) { return waited.lock == lock; });
  if (found == thread.waited.rend()) return;
  if (thread.waits == kNone) thread.waits = tracks_.lock_waits(thread.row());
  write_lock(thread.waits, 0, lock, found->begin_ns, ns, shared);
  thread.waited.erase(std::next(found).base());
}

void IttProcess::end_hold(Thread& thread, std::size_t index, std::int64_t ns) {
  const Held held = thread.held[index];
  thread.held.erase(thread.held.begin() + static_cast<std::ptrdiff_t>(index));
  thread.hold_lanes.give_back(held.lane);
  if (thread.holds == kNone) thread.holds = tracks_.lock_holds(thread.row());
  write_lock(thread.holds, held.lane, held.lock, held.begin_ns, ns, held.shared);
}

void IttProcess::write_lock(TrackNumber track, std::uint32_t lane, std::uint64_t lock, std::int64_t begin_ns,
                            std::int64_t end_ns, bool shared) {
  const IttLock& known = names_.lock(lock);
  Row row = writer_.begin_event_at(track, lane, begin_ns, end_ns - begin_ns, known.name);
  if (known.place != 0) row.string(kLockPlace, known.place);
  if (shared) row.boolean(kLockShared, true);
  row.unsigned_integer(kLockAddress, lock);
}

// Waits and holds that are open say where a program hangs; of objects whose releases are not told nothing is known.
void IttProcess::close(Thread& thread, std::int64_t ns) {
  tasks_.close_all(thread.tasks, ns);
  for (const auto& [site, event] : thread.open_events) end_event(thread, site, event, event.begin_ns);
  thread.open_events.clear();
  while (!thread.waited.empty()) end_wait(thread, thread.waited.back().lock, ns, false);
  while (!thread.held.empty()) {
    if (names_.lock(thread.held.back().lock).declared) {
      end_hold(thread, thread.held.size() - 1, ns);
    } else {
      thread.hold_lanes.give_back(thread.held.back().lane);
      thread.held.pop_back();
    }
  }
}

}  // namespace accelscope::capture::kinds::itt
