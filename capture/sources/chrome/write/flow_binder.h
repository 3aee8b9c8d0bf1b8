// Finds the events that flows join. Launch flows join a runtime call and what it started by their correlation, also
// where the file has no flow events for them, else by the id of the operator or annotation that it was for; other flows
// begin and end at a time of a thread and are bound to the event that encloses it or is the next one; those of the
// format's version 2 name the event itself, which carries a "bind_id". Numbers that count the calls of one process are
// those of others too where traces were merged: work is joined to calls of its own rank, else of the process that fits
// it best. Works on the held chunks once every event has its place.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/sources/chrome/read/event_batch.h"
#include "capture/sources/chrome/read/tables.h"
#include "capture/sources/tracks/held_events.h"

namespace accelscope::capture::sources::chrome {

// A track as the binder sees it.
struct BoundTrack {
  std::uint32_t thread = 0;
  ChromeTable table = ChromeTable::event;
  const Schema* schema = nullptr;
  bool on_thread = false;  // its events happen on the thread, so that flows may bind to them
  std::uint32_t events_track = 0;
  std::uint32_t process = 0;  // of the file, told apart by its pid
  std::uint32_t rank = 0;     // from 1, of a file that several ranks were merged into; 0: not known
};

struct BoundFlow {
  EventId source = kNoEvent;
  EventId target = kNoEvent;
  std::int64_t source_ns = 0;
  std::int64_t target_ns = 0;
  StringId name = 0;
  StringId category = 0;
  std::uint64_t id = 0;
  bool id_is_text = false;
};

struct FlowCounts {
  std::uint64_t without_partner = 0;  // ends with no begin, begins with no end
  std::uint64_t without_work = 0;     // begins with no end, of calls that start nothing on a device
  std::uint64_t without_event = 0;    // no event at its time on its thread
  std::uint64_t doubled = 0;          // begins of a flow that has begun already, by bind_id; the first one counts
};

class FlowBinder {
 public:
  // A record of phase s, t or f.
  void add(const EventRecord& record, bool launch);
  // An event with a bind_id, as it is written: its record has the duration. `name` is that of the flow.
  void add_bound(const EventRecord& record, std::uint32_t events_track, StringId name);

  // A record of phase s or f that says which event of its thread it belongs to. Its begin, end and name, whatever the
  // time of the record is.
  void add_stated(const EventRecord& record, std::int64_t begin, std::int64_t finish, StringId event_name);
  // Whether a call of this name starts work on a device; unless it is set, every one does.
  void set_launches(std::function<bool(StringId)> launches) { launches_ = std::move(launches); }
  // Flows that the file does not state are not looked for.
  void state_all() noexcept { derives_ = false; }

  // By the number of the track in the session.
  using Tracks = std::unordered_map<TrackNumber, BoundTrack>;
  // Sorted by the time of the target.
  Result<std::vector<BoundFlow>> bind(const Tracks& tracks, tracks::HeldSink& held, StringId launch_name);
  [[nodiscard]] const FlowCounts& counts() const noexcept { return counts_; }

 private:
  struct End {
    std::uint64_t key = 0;  // of the flow: category, name, scope and id
    std::uint64_t id = 0;
    std::int64_t ns = 0;
    std::uint32_t thread = 0;
    StringId name = 0;
    StringId category = 0;
    char phase = 's';
    bool encloses = false;  // bind to the enclosing event, else to the next one
    bool exact = false;     // of version 2: bind to the event of that track, time, duration and name
    bool stated = false;    // the same, of any track of the thread
    std::uint32_t events_track = 0;
    std::int64_t finish = 0;
    StringId event_name = 0;  // unless it is exact, of what it is bound to
    std::uint32_t rank = 0;
    bool launch = false;
    bool id_is_text = false;
    EventId event = kNoEvent;
    std::int64_t event_begin = 0;
    std::int64_t event_end = 0;
  };
  struct Correlated {
    std::uint64_t correlation = 0;
    EventId event = kNoEvent;
    std::int64_t ns = 0;
    std::uint32_t process = 0, rank = 0;
    bool operator<(const Correlated& other) const noexcept {
      return correlation != other.correlation ? correlation < other.correlation : event < other.event;
    }
  };
  // What an event of a device says of where it came from.
  struct Work {
    std::uint64_t external_id = 0;
    std::uint64_t correlation = 0;  // 0: none
    EventId event = kNoEvent;
    std::int64_t ns = 0;
    bool annotation = false;  // a range of the program as the device went through it
    std::uint32_t process = 0, rank = 0;
  };
  // Which process's calls started the work of a device, where the numbers of several processes are alike: by the
  // process that the device has, the one of the calls.
  using Launchers = std::unordered_map<std::uint32_t, std::uint32_t>;
  [[nodiscard]] static Launchers find_launchers(const std::vector<Correlated>& calls,
                                                const std::vector<Correlated>& works);
  void part_ends_of_ranks(const Tracks& tracks);
  Result<void> join_correlations(const Tracks& tracks, tracks::HeldSink& held, StringId launch_name);
  Result<void> join_external_ids(const Tracks& tracks, tracks::HeldSink& held, StringId launch_name);
  Result<void> bind_ends(const Tracks& tracks, tracks::HeldSink& held);
  // The ends on a lane's thread by time; those before `next` have seen every event of the lane that may be theirs.
  struct LaneSweep {
    const std::vector<std::uint32_t>& indices;
    std::size_t next = 0;
  };
  struct Candidate {
    std::int64_t begin = 0;
    std::int64_t finish = 0;
    StringId name = 0;
    EventId event = kNoEvent;
  };
  void offer_event(LaneSweep& sweep, const BoundTrack& track, const Candidate& candidate);
  // The next of a flow's ends by time; `open` is where it was last.
  void join_bound(const End*& open, const End& end);
  static void offer(End& end, const Candidate& candidate) noexcept;
  [[nodiscard]] bool starts_nothing(const End& end) const {
    return end.launch && end.event != kNoEvent && launches_ && !launches_(end.event_name);
  }
  void join_ends();

  std::vector<End> ends_;
  std::vector<BoundFlow> flows_;
  std::unordered_set<std::uint64_t> joined_;  // correlations whose events are known, with their ranks
  Launchers launchers_;
  FlowCounts counts_;
  std::function<bool(StringId)> launches_;
  bool derives_ = true;
};

}  // namespace accelscope::capture::sources::chrome
