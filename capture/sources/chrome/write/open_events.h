// Joins the begin and end events of a trace: B and E by the stack of their thread, b and e by their id. Files hold them
// in the order in which buffers were written, so they wait a while, sorted by time, before they are joined; some
// 256,000 wait at most, and what comes later still is joined as it comes and counted. What was joined comes out in the
// order in which it began as long as a thread's stack empties now and then.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/chrome/read/event_batch.h"

namespace accelscope::capture::sources::chrome {

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
  struct Handlers {
    std::function<void(const KeptEvent&)> emit;
    // The end's args, which belong to the event as well.
    std::function<void(KeptEvent& event, std::string_view args)> add_args;
    // An end whose begin is nowhere.
    std::function<void(const EventRecord& end)> without_begin;
  };
  explicit OpenEvents(Handlers handlers) : handlers_(std::move(handlers)) {}

  void begin(std::uint64_t key, const EventRecord& record, const EventBatch& batch);
  // Ends the innermost event of that name (any, if the end has none), else the innermost one at all.
  void end(std::uint64_t key, const EventRecord& record, const EventBatch& batch);
  // What is open at the end of the file lasts until then.
  void close_all(std::int64_t end_ns);

  [[nodiscard]] std::uint64_t mismatched_names() const noexcept { return mismatched_names_; }
  [[nodiscard]] std::uint64_t left_open() const noexcept { return left_open_; }
  [[nodiscard]] std::uint64_t too_late() const noexcept { return too_late_; }  // came behind what had been joined

 private:
  static constexpr std::size_t kMostWaiting = 32768;
  static constexpr std::size_t kMostMarks = 1U << 18;
  // A begin or an end that has not been joined yet. Of an end, the text is its args.
  struct Mark {
    KeptEvent event;
    bool is_end = false;
  };
  struct Stack {
    std::deque<Mark> marks;  // those of one time stay as they came
    bool sorted = true;      // by time
    std::int64_t joined_until = INT64_MIN;
    std::vector<KeptEvent> waiting;  // by begin; closed ones wait for those that began before them
    std::vector<std::size_t> open;   // indices into waiting
  };
  void add(std::uint64_t key, Mark mark);
  void join_some();
  void join(Stack& stack, std::size_t count);
  void join(Stack& stack, Mark& mark);
  [[nodiscard]] KeptEvent* find(Stack& stack, StringId name);
  void close(Stack& stack, KeptEvent& event, std::int64_t end_ns);
  void emit_closed(Stack& stack);

  Handlers handlers_;
  std::unordered_map<std::uint64_t, Stack> stacks_;
  std::size_t mark_count_ = 0;
  std::uint64_t mismatched_names_ = 0;
  std::uint64_t left_open_ = 0;
  std::uint64_t too_late_ = 0;
};

}  // namespace accelscope::capture::sources::chrome
