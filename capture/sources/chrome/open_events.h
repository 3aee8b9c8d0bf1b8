// Joins the begin and end events of a trace: B and E by the stack of their thread, b and e by their id. What was joined
// comes out in the order in which it began as long as a thread's stack empties now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/chrome/event_batch.h"

namespace accelscope::capture {

// An event with its own copy of what it refers to.
struct KeptEvent {
  EventRecord record;
  std::vector<BoundValue> values;
  std::string text;
  bool closed = false;

  KeptEvent(const EventRecord& source, const EventBatch& batch);
  // Values that the end event has beside those of the begin.
  void add_values(const ValueRange& range, const EventBatch& batch);
};

class OpenEvents {
 public:
  using Emit = std::function<void(const KeptEvent&)>;
  explicit OpenEvents(Emit emit) : emit_(std::move(emit)) {}

  void begin(std::uint64_t key, const EventRecord& record, const EventBatch& batch);
  // The event that an end belongs to: the innermost one of that name (any, if the end has none), else the innermost one
  // at all. Null if nothing is open. Add values to it and call close().
  [[nodiscard]] KeptEvent* find(std::uint64_t key, StringId name);
  void close(std::uint64_t key, KeptEvent& event, std::int64_t end_ns);
  // What is open at the end of the file lasts until then.
  void close_all(std::int64_t end_ns);

  [[nodiscard]] std::uint64_t mismatched_names() const noexcept { return mismatched_names_; }
  [[nodiscard]] std::uint64_t left_open() const noexcept { return left_open_; }

 private:
  static constexpr std::size_t kMostWaiting = 32768;
  struct Stack {
    std::vector<KeptEvent> waiting;  // by begin; closed ones wait for those that began before them
    std::vector<std::size_t> open;   // indices into waiting
  };
  void emit_closed(Stack& stack);

  Emit emit_;
  std::unordered_map<std::uint64_t, Stack> stacks_;
  std::uint64_t mismatched_names_ = 0;
  std::uint64_t left_open_ = 0;
};

}  // namespace accelscope::capture
