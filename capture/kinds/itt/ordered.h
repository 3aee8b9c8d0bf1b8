// What several threads of a process tell about the same thing - counters, frames, regions, overlapped tasks, memory,
// markers, messages, relations, fibers - put into the order of time before it becomes events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/kinds/itt/tasks.h"

namespace accelscope::capture::kinds::itt {

// Relations as the interface numbers them.
constexpr std::uint32_t kParentOf = 3, kChildOf = 5;

constexpr std::uint64_t kNoSeverity = ~std::uint64_t{0};  // of a message

struct OrderedRecord {
  std::int64_t ns = 0;
  probe::itt::RecordType type{};
  std::uint32_t value = 0;  // as RecordHead::value
  const probes::ProbeThread* thread = nullptr;
  probe::itt::Id id, parent;
  std::uint64_t first = 0, second = 0;  // the record's further words
  std::uint32_t fiber = 0;              // site of the fiber that the thread is in; 0: none
  std::string text;
};

class IttOrdered {
 public:
  IttOrdered(SessionWriter& writer, IttSchemas& schemas, IttTracks& tracks, IttNames& names, IttTasks& tasks,
             IttCounts& counts)
      : writer_(writer), schemas_(schemas), tracks_(tracks), names_(names), tasks_(tasks), counts_(counts) {}

  void add(OrderedRecord record) { waiting_.push_back(std::move(record)); }
  // All that happened until then has been added.
  void advance(std::int64_t now_ns);
  // The process has ended: what is open ends with it.
  void finish(std::int64_t end_ns);

 private:
  using Overlapping = OverlappingSpans<probe::itt::Id, OpenTask, IttIdHash>;
  struct Frames {
    OverlappingSpans<probe::itt::Id, std::int64_t, IttIdHash> open;  // from when on
    std::uint64_t count = 0;
    std::optional<std::int64_t> mark_ns;  // where the frame between two marks began
  };
  struct Relation {
    std::uint32_t kind = 0;
    probe::itt::Id head, tail;
    std::uint64_t head_key = 0;  // 0: that of the id
    std::int64_t ns = 0;
  };
  struct CounterState {
    TrackNumber track = kNone;
    std::int64_t sum = 0;
  };

  void apply(OrderedRecord& record);
  void apply_frame(const OrderedRecord& record);
  void apply_memory(const OrderedRecord& record);
  void begin(Overlapping& open, const OrderedRecord& record);
  void end(Overlapping& open, TrackNumber track, const OrderedRecord& record);
  void write_frame(std::uint32_t site, const probe::itt::Id& id, std::uint32_t lane, std::int64_t begin_ns,
                   std::int64_t end_ns);
  void count(const OrderedRecord& record);
  void mark(const OrderedRecord& record);
  void say(const OrderedRecord& record);
  void ran(const probe::itt::Id& id, std::uint64_t key);
  void relate(const Relation& relation);
  [[nodiscard]] std::uint64_t key_of(const probe::itt::Id& id) const;
  void close(Overlapping& open, TrackNumber track, std::int64_t end_ns);

  SessionWriter& writer_;
  IttSchemas& schemas_;
  IttTracks& tracks_;
  IttNames& names_;
  IttTasks& tasks_;
  IttCounts& counts_;
  std::vector<OrderedRecord> waiting_;
  std::vector<OrderedRecord> ready_;
  Overlapping overlapped_, regions_;
  std::map<std::uint32_t, Frames> frames_;                                      // by site
  std::unordered_map<std::uint32_t, CounterState> counters_;                    // by counter
  std::unordered_map<std::uint64_t, std::uint64_t> allocated_;                  // bytes, by pool and address
  std::map<std::uint32_t, TaskStack> fibers_;                                   // by site
  std::unordered_map<probe::itt::Id, std::uint64_t, IttIdHash> keys_;           // of the last that ran
  std::unordered_map<probe::itt::Id, std::vector<Relation>, IttIdHash> later_;  // wait until the id runs
  std::unordered_set<std::string> message_names_;                               // that were given so far
};

}  // namespace accelscope::capture::kinds::itt
