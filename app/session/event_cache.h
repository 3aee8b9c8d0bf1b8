// Values of single events for the UI thread, which reads no chunk and waits for none: ask in every frame for what is
// shown, a worker reads it, and it is there some frames later and stays as long as it is asked for. What a key or a
// click wants to know is asked for once, and done when it is known. UI thread only.
//
//   if (const EventRecord* event = tab.events->find(id)) ...                     // null: not there yet
//   tab.events->when_known(EventIntent::view, {id}, [&tab, id] { ... });           // find() answers then
//   tab.events->ask(EventIntent::hover, [](EventReader& reader, const TaskControl&) { return ...; },
//                   [](auto answer) { ... });                                    // what needs a search among events
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/scan/event_reader.h"

namespace accelscope::app::session {

// What is waited for: one of each kind at a time; a newer one takes its place.
enum class EventIntent : std::uint8_t { selection, view, marker, filter, hover, menu, link };
inline constexpr std::size_t kEventIntents = 7;

// Steps from lane to lane keep to the time where they began, however the events on the way lie.
struct LaneStep {
  EventId event = kNoEvent;  // that the last step ended at
  std::int64_t ns = 0;
};

// Where steps have led.
struct StepPlace {
  std::optional<EventId> event;
  LaneStep lane_step;
  std::string said;  // of the last step, where it led nowhere or began anew
};
// On a worker; leaves the place as it is where there is nothing to step to.
using EventStep = std::function<Result<void>(EventReader& reader, StepPlace& place, const TaskControl& control)>;

class EventCache {
 public:
  static constexpr std::size_t kDefaultBudget = std::size_t{16} << 20;

  // The pool must outlive it; the store is kept by the work that needs it.
  EventCache(WorkerPool& pool, std::shared_ptr<const Store> store, std::size_t memory_budget = kDefaultBudget);
  ~EventCache();
  EventCache(const EventCache&) = delete;
  EventCache& operator=(const EventCache&) = delete;

  // Once per frame, before anything is asked: takes what has come, and does what waited for it.
  void begin_frame(std::shared_ptr<const Snapshot> snapshot);

  // As of this frame's snapshot; valid until the next frame. Null: not there yet, and asked for now, or unreadable.
  [[nodiscard]] const EventRecord* find(EventId id);
  // Why it cannot be read; "" where it can, or where that is not known yet.
  [[nodiscard]] std::string problem(EventId id) const;

  // Runs `read` on a worker and hands what it returns to `then` in a later frame.
  template <typename Read, typename Then>
  void ask(EventIntent intent, Read read, Then then) {
    using Answer = std::invoke_result_t<Read&, EventReader&, const TaskControl&>;
    auto task = std::make_shared<Task<Answer>>(
        pool_.start(Priority::drawing,
                    [store = store_, snapshot = snapshot_, read = std::move(read)](TaskControl& control) mutable {
                      EventReader reader(*store, snapshot);
                      return read(reader, control);
                    }));
    put(intent, {[task] { return task->ready(); }, [task, then = std::move(then)]() mutable { then(task->take()); },
                 [task] { return !task->ready(); }});
  }
  // Calls `then` once each of the events is known, or known to be unreadable: at once where that is so already.
  void when_known(EventIntent intent, std::vector<EventId> ids, std::function<void()> then);
  // One step on from the place, as a wish for a selection. Steps that are asked for from the same place while one is
  // under way are all made, in order. The event that they led to is known when they have arrived.
  void step(const StepPlace& from, EventStep step, std::function<void(const Result<StepPlace>&)> arrived);
  void drop(EventIntent intent);

  [[nodiscard]] bool pending() const;    // something is still to come, or to be taken
  [[nodiscard]] bool under_way() const;  // a worker is at it
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }

 private:
  struct Entry {
    std::optional<EventRecord> record;
    std::string problem;
    std::uint64_t version = 0;  // of the snapshot that its lane, its times and its problem are of
    std::uint64_t used = 0;     // frame
    std::size_t bytes = 0;
  };
  struct Intent {
    std::function<bool()> ready;
    std::function<void()> then;
    std::function<bool()> under_way;
  };
  struct Shared;  // shared with the worker that reads
  static Result<void> read_wanted(Shared& shared, const TaskControl& control);

  void want(EventId id);
  void keep(EventId id, Result<EventRecord> read, std::uint64_t version);
  void refresh(Entry& entry) const;
  void put(EventIntent intent, Intent made);
  void evict();

  WorkerPool& pool_;
  std::shared_ptr<const Store> store_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::size_t memory_budget_, memory_bytes_ = 0;
  std::uint64_t frame_ = 0;
  std::unordered_map<EventId, Entry> entries_;
  std::shared_ptr<Shared> shared_;
  Task<Result<void>> reading_;
  std::array<std::optional<Intent>, kEventIntents> intents_;
  std::optional<EventId> steps_from_;
  std::vector<EventStep> steps_;  // under way, from there
};

}  // namespace accelscope::app::session
