// Events and locks of a thread: what may overlap within it.
#include <optional>

#include "capture/kinds/itt/process.h"

namespace accelscope::capture::kinds::itt {

using namespace probe::itt;

bool IttProcess::read_event(Thread& thread, RecordType type, std::uint32_t site, IttWords& words) {
  if (!words.has(1)) return false;
  const std::int64_t ns = to_ns(words.next());
  const auto end_at = [&](std::optional<std::int64_t> end_ns) {
    return thread.events_open.end(site, [&](std::int64_t begin_ns, std::uint32_t lane) {
      write_event(thread, site, lane, begin_ns, end_ns.value_or(begin_ns));
    });
  };
  if (type == RecordType::event_end) {
    if (!end_at(ns)) ++counts_.ends_without_begin;
    return true;
  }
  end_at(std::nullopt);  // one that begins again without an end was a point in time
  thread.events_open.begin(site, ns);
  return true;
}

void IttProcess::write_event(Thread& thread, std::uint32_t site, std::uint32_t lane, std::int64_t begin_ns,
                             std::int64_t end_ns) {
  if (thread.rows.events == kNone) thread.rows.events = tracks_.events(thread.row());
  OpenTask task{site, begin_ns, nullptr};
  tasks_.write(thread.rows.events, lane, task, end_ns, false);
}

bool IttProcess::read_lock(Thread& thread, RecordType type, bool shared, IttWords& words) {
  if (!words.has(2)) return false;
  const std::int64_t ns = to_ns(words.next());
  const std::uint64_t lock = words.next();
  const auto end_wait = [&] {
    thread.waited.end(lock,
                      [&](std::int64_t begin_ns, std::uint32_t) { write_wait(thread, lock, begin_ns, ns, shared); });
  };
  switch (type) {
    case RecordType::lock_wait:
      thread.waited.begin(lock, ns);
      break;
    case RecordType::lock_cancel:
      end_wait();
      break;
    case RecordType::lock_obtain:
      end_wait();
      // Without marks of its releases an object is held anew each time.
      while (!names_.lock(lock).declared && thread.held.end(lock, [](const Held&, std::uint32_t) {})) {
      }
      thread.held.begin(lock, {ns, shared});
      break;
    default:  // nothing is held: obtained while nothing was collected, or on another thread
      thread.held.end(lock, [&](const Held& held, std::uint32_t lane) { write_hold(thread, lock, lane, held, ns); });
  }
  return true;
}

void IttProcess::write_wait(Thread& thread, std::uint64_t lock, std::int64_t begin_ns, std::int64_t end_ns,
                            bool shared) {
  if (thread.rows.waits == kNone) thread.rows.waits = tracks_.lock_waits(thread.row());
  write_lock(thread.rows.waits, 0, lock, begin_ns, end_ns, shared);
}

void IttProcess::write_hold(Thread& thread, std::uint64_t lock, std::uint32_t lane, const Held& held,
                            std::int64_t end_ns) {
  if (thread.rows.holds == kNone) thread.rows.holds = tracks_.lock_holds(thread.row());
  write_lock(thread.rows.holds, lane, lock, held.begin_ns, end_ns, held.shared);
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
  thread.events_open.end_all([&](std::uint32_t site, std::int64_t begin_ns, std::uint32_t lane) {
    write_event(thread, site, lane, begin_ns, begin_ns);
  });
  thread.waited.end_all(
      [&](std::uint64_t lock, std::int64_t begin_ns, std::uint32_t) { write_wait(thread, lock, begin_ns, ns, false); });
  thread.held.end_all([&](std::uint64_t lock, const Held& held, std::uint32_t lane) {
    if (names_.lock(lock).declared) write_hold(thread, lock, lane, held, ns);
  });
}

}  // namespace accelscope::capture::kinds::itt
