// Arrows from calls to the work that they started, by the ids that the vendor's library gives both. Memory is bounded:
// the oldest calls and the work whose call never comes are forgotten.
//
//   Flows flows(writer);          // of the session
//   Launches launches(flows);     // of each process
//   launches.called(correlation, {row.id(), start_ns});
//   launches.ran(correlation, {row.id(), start_ns});
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "capture/sources/tracks/flow_ends.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::kinds {

class Flows {
 public:
  explicit Flows(SessionWriter& writer) : writer_(writer), launch_(writer.intern("launch")) {}

  // Flows need no time of their own; theirs rises, so that they lie in one lane.
  void write(EventId source, EventId target, std::uint64_t id, std::int64_t ns) {
    if (track_ == kNone) {
      track_ = writer_.add_track(
          {.name = "flows", .kind = "flow", .schema = writer_.add_schema(sources::tracks::make_flow_schema())});
    }
    last_ns_ = std::max(last_ns_, ns);
    Row row = writer_.begin_event(track_, last_ns_, 0, launch_);
    row.unsigned_integer(sources::tracks::kFlowSource, source);
    row.unsigned_integer(sources::tracks::kFlowTarget, target);
    row.integer(sources::tracks::kFlowId, static_cast<std::int64_t>(id));
  }

 private:
  SessionWriter& writer_;
  StringId launch_;
  TrackNumber track_ = kNone;
  std::int64_t last_ns_ = 0;
};

// What came last, by correlation; two generations, so that memory is bounded.
template <typename Value>
class Recent {
 public:
  // The first of one correlation stays.
  void add(std::uint64_t correlation, const Value& value) {
    if (newer_.size() >= kMost) older_ = std::exchange(newer_, {});
    newer_.try_emplace(correlation, value);
  }
  [[nodiscard]] const Value* find(std::uint64_t correlation) const {
    for (const auto* generation : {&newer_, &older_}) {
      if (const auto known = generation->find(correlation); known != generation->end()) return &known->second;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kMost = 300'000;  // of a generation
  std::unordered_map<std::uint64_t, Value> newer_, older_;
};

class Launches {
 public:
  struct Event {
    EventId id = 0;
    std::int64_t ns = 0;  // its begin
  };

  explicit Launches(Flows& flows) : flows_(flows) {}

  // Of several calls with one id, which lie in each other, the first that comes is the outermost.
  void called(std::uint64_t correlation, const Event& call) {
    if (correlation == 0) return;
    for (auto [at, end] = waiting_.equal_range(correlation); at != end; ++at) write(call, at->second, correlation);
    waiting_.erase(correlation);
    calls_.add(correlation, call);
  }
  void ran(std::uint64_t correlation, const Event& work) {
    if (correlation == 0) return;
    if (const Event* call = calls_.find(correlation)) return write(*call, work, correlation);
    if (waiting_.size() >= kMost) waiting_.clear();
    waiting_.emplace(correlation, work);
  }

  // Work that seems to begin before its call, and by how much at most.
  [[nodiscard]] std::uint64_t before_call() const noexcept { return before_call_; }
  [[nodiscard]] std::int64_t most_before_ns() const noexcept { return most_before_ns_; }

 private:
  static constexpr std::size_t kMost = 300'000;

  void write(const Event& call, const Event& work, std::uint64_t correlation) {
    if (work.ns < call.ns) {
      ++before_call_;
      most_before_ns_ = std::max(most_before_ns_, call.ns - work.ns);
    }
    flows_.write(call.id, work.id, correlation, work.ns);
  }

  Flows& flows_;
  Recent<Event> calls_;
  std::unordered_multimap<std::uint64_t, Event> waiting_;  // whose call has not come
  std::uint64_t before_call_ = 0;
  std::int64_t most_before_ns_ = 0;
};

}  // namespace accelscope::capture::kinds
