// Flows of a trace: each event says which flows pass through it, and the order of their times makes chains of them. At
// the end every step of a chain becomes a flow of its own from one event to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::perfetto {

enum class FlowRole : std::uint8_t {
  pass,       // begins the flow, or goes on with it
  terminate,  // the last one of the flow, whose id may come again
  begin,      // of old events: begins it anew
  step,       // goes on with it, if it has begun
  end,        // is reached by it and leads nowhere; others may be reached as well
  submits,    // no chain: the call that started the GPU's work of that event id
  waits,      // the call that waited for it
};

struct FlowPoint {
  std::uint64_t key = 0;
  std::uint64_t id = 0;
  std::int64_t ns = 0;
  FlowRole role = FlowRole::pass;
};

// Keys of flows between calls and a GPU's work.
[[nodiscard]] constexpr std::uint64_t submission_key(std::uint64_t event_id) noexcept {
  return tracks::flow_key(1, event_id);
}
[[nodiscard]] constexpr std::uint64_t wait_key(std::uint64_t event_id) noexcept {
  return tracks::flow_key(2, event_id);
}

class FlowChains {
 public:
  explicit FlowChains(tracks::UnorderedSession& session) : session_(session) {}

  void add(const FlowPoint& point, const tracks::WrittenEvent& event);
  // Hands every step to the session. Ends the object.
  void join();
  [[nodiscard]] std::uint64_t without_begin() const noexcept { return without_begin_; }

 private:
  struct Point {
    FlowPoint flow;
    std::uint64_t serial = 0;  // those of one time are in the order of the file
    tracks::WrittenEvent event;
  };
  tracks::UnorderedSession& session_;
  std::vector<Point> points_;
  std::uint64_t without_begin_ = 0;
};

}  // namespace accelscope::capture::sources::perfetto
