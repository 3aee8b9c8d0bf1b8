// One process that tells by ITT or by zones: reads its records and writes them as events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/kinds/base/kind_list.h"
#include "capture/kinds/base/open_spans.h"
#include "capture/kinds/itt/names.h"
#include "capture/probe/host/reader.h"

namespace accelscope::capture::kinds::itt {

// The rows of one process: its threads, and what belongs to no thread. Each is made when its first event comes, so that
// a thread has been named by then.

// The tables of what programs tell by ITT and by zones.

enum IttTaskColumn : std::size_t {
  kTaskDomain,
  kTaskSource,
  kTaskFunction,
  kTaskMetadata,
  kTaskValue,
  kTaskColour,
  kTaskId,
  kTaskParent,
  kTaskKey,
  kTaskUnfinished,
};
enum IttFrameColumn : std::size_t { kFrameDomain, kFrameNumber, kFrameId, kFrameSource };
enum IttMarkerColumn : std::size_t { kMarkerDomain, kMarkerScope, kMarkerThread, kMarkerId };
enum IttMessageColumn : std::size_t { kMessageText, kMessageSeverity, kMessageThread, kMessageColour };
enum IttLockColumn : std::size_t { kLockPlace, kLockShared, kLockAddress };
enum IttMemoryColumn : std::size_t { kMemoryBytes, kMemoryAddress, kMemoryPool, kMemoryThread };
enum IttFlowColumn : std::size_t { kFlowSource, kFlowTarget };

enum class IttTable : std::size_t {
  task,
  frame,
  marker,
  message,
  lock_wait,
  lock_hold,
  memory,
  flow,
  whole_counter,
  real_counter,
};

// Of a capture, whatever processes come.
class IttSchemas {
 public:
  explicit IttSchemas(SessionWriter& writer);

  Tables<IttTable> tables;
  // Keys of tasks that others refer to: unique in the capture.
  [[nodiscard]] std::uint64_t next_key() noexcept { return ++last_key_; }
  // The pool's name, with the process where another one has a pool of that name.
  [[nodiscard]] std::string pool(const std::string& name, std::uint32_t process_id) {
    const std::uint32_t owner = pools_.emplace(name, process_id).first->second;
    return owner == process_id ? name : name + " (" + std::to_string(process_id) + ")";
  }

 private:
  std::map<std::string, std::uint32_t> pools_;  // which process had it first
  std::uint64_t last_key_ = 0;
};

class IttTracks {
 public:
  IttTracks(SessionWriter& writer, IttSchemas& schemas, const probes::ProbeProcess& process)
      : writer_(writer), schemas_(schemas), process_(process.title()), process_id_(process.id) {}

  // Rows of a thread, below each other.
  [[nodiscard]] TrackNumber tasks(const probes::ProbeThread& thread) {
    return of_thread(thread, "", 0, schemas_.tables[IttTable::task]);
  }
  [[nodiscard]] TrackNumber events(const probes::ProbeThread& thread) {
    return of_thread(thread, "events", 1, schemas_.tables[IttTable::task]);
  }
  [[nodiscard]] TrackNumber lock_waits(const probes::ProbeThread& thread) {
    return of_thread(thread, "lock waits", 2, schemas_.tables[IttTable::lock_wait]);
  }
  [[nodiscard]] TrackNumber lock_holds(const probes::ProbeThread& thread) {
    return of_thread(thread, "locks held", 3, schemas_.tables[IttTable::lock_hold]);
  }
  // Rows of the process.
  [[nodiscard]] TrackNumber fiber(const std::string& name) {
    return row("fiber " + name, schemas_.tables[IttTable::task]);
  }
  [[nodiscard]] TrackNumber overlapped() { return row("overlapped tasks", schemas_.tables[IttTable::task]); }
  [[nodiscard]] TrackNumber regions() { return row("regions", schemas_.tables[IttTable::task]); }
  [[nodiscard]] TrackNumber frames(const std::string& name) {
    return row("frames: " + name, schemas_.tables[IttTable::frame]);
  }
  [[nodiscard]] TrackNumber markers() { return row("markers", schemas_.tables[IttTable::marker]); }
  [[nodiscard]] TrackNumber messages() { return row("messages", schemas_.tables[IttTable::message]); }
  [[nodiscard]] TrackNumber flows() { return made("flows", schemas_.tables[IttTable::flow], "flow", ""); }
  [[nodiscard]] TrackNumber memory(const std::string& pool) {
    return made(pool, schemas_.tables[IttTable::memory], "memory", "");
  }
  [[nodiscard]] TrackNumber counter(const std::string& name, bool real, const std::string& unit) {
    return made(name, schemas_.tables[real ? IttTable::real_counter : IttTable::whole_counter], "counter", unit);
  }

  [[nodiscard]] std::uint32_t process_id() const noexcept { return process_id_; }
  [[nodiscard]] std::string thread_name(const probes::ProbeThread& thread) const;

 private:
  [[nodiscard]] TrackNumber of_thread(const probes::ProbeThread& thread, const std::string& what, std::int64_t place,
                                      SchemaNumber schema);
  [[nodiscard]] TrackNumber row(const std::string& name, SchemaNumber schema) {
    return made(name, schema, "host_thread", "");
  }
  [[nodiscard]] TrackNumber made(const std::string& name, SchemaNumber schema, const std::string& kind,
                                 const std::string& unit);

  SessionWriter& writer_;
  IttSchemas& schemas_;
  std::string process_;  // heads its tracks
  std::uint32_t process_id_;
  std::map<std::pair<std::string, SchemaNumber>, TrackNumber> made_;
};

// Tasks between their beginning and their end, and how they become events.

struct IttIdHash {
  std::size_t operator()(const probe::itt::Id& id) const noexcept {
    return static_cast<std::size_t>((id.d1 * 0x9E3779B97F4A7C15U ^ id.d2) * 0xC2B2AE3D27D4EB4FU ^ id.d3);
  }
};

// What few tasks have.
struct TaskExtra {
  probe::itt::Id id, parent;
  std::string name;      // in place of the site's; "": none
  std::string metadata;  // a line each
  std::optional<std::uint64_t> value;
  std::uint32_t colour = 0;
  std::uint64_t key = 0;  // 0: nothing refers to it

  void add_line(const std::string& line) { metadata += (metadata.empty() ? "" : "\n") + line; }
};

struct OpenTask {
  std::uint32_t site = 0;
  std::int64_t begin_ns = 0;
  std::unique_ptr<TaskExtra> extra;

  [[nodiscard]] TaskExtra& with_extra() {
    if (!extra) extra = std::make_unique<TaskExtra>();
    return *extra;
  }
};

// Of a thread or a fiber.
struct TaskStack {
  TrackNumber track = kNone;
  NestedSpans<OpenTask> open;
};

struct IttCounts {
  std::uint64_t unfinished = 0;          // tasks, regions, frames
  std::uint64_t ends_without_begin = 0;  // of those
  std::uint64_t releases_unknown = 0;    // of memory
  std::uint64_t relations_open = 0;      // between what never ran
  std::uint64_t bad_records = 0;
  std::uint64_t bad_times = 0;     // outside of the capture
  std::uint64_t cut_counters = 0;  // values over what a column can hold
  std::uint64_t ids_over_limit = 0;
};

struct TaskReported {
  probe::itt::RecordType type{};
  std::uint32_t value = 0;  // as RecordHead::value
  std::int64_t ns = 0;      // of begins and ends
  std::uint64_t number = 0;
  std::string text;
};

class IttTasks {
 public:
  IttTasks(SessionWriter& writer, const IttNames& names, IttCounts& counts)
      : writer_(writer), names_(names), counts_(counts) {}

  // What a thread or fiber tells of a task without an id. An end is that of the innermost open task of its domain.
  void apply(TaskStack& stack, const TaskReported& reported);
  void close_all(TaskStack& stack, std::int64_t ns);
  void write(TrackNumber track, std::uint32_t depth, OpenTask& task, std::int64_t end_ns, bool unfinished);

  // What the program says of an id holds for every task that has it, or belongs to it.
  void note(const probe::itt::Id& id, const std::string& key, const std::string& text);
  void name_id(const probe::itt::Id& id, const std::string& name);
  void own(const probe::itt::Id& child, const probe::itt::Id& parent);

  [[nodiscard]] std::string id_text(const probe::itt::Id& id) const;

 private:
  struct KnownId {
    std::string name;
    std::map<std::string, std::string> metadata;
    probe::itt::Id parent;
  };
  void write_extra(Row& row, const TaskExtra& extra);
  [[nodiscard]] std::string name_of(const probe::itt::Id& id) const;  // its id, where it has none
  [[nodiscard]] auto writer_of(const TaskStack& stack, std::int64_t end_ns) {
    return [this, track = stack.track, end_ns](OpenTask& task, std::size_t depth, bool left_open) {
      write(track, static_cast<std::uint32_t>(depth), task, end_ns, left_open);
    };
  }
  [[nodiscard]] KnownId* known(const probe::itt::Id& id);

  SessionWriter& writer_;
  const IttNames& names_;
  IttCounts& counts_;
  std::unordered_map<probe::itt::Id, KnownId, IttIdHash> ids_;
};

[[nodiscard]] std::string colour_text(std::uint32_t colour);

// What several threads of a process tell about the same thing - counters, frames, regions, overlapped tasks, memory,
// markers, messages, relations, fibers - put into the order of time before it becomes events.

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
  void inform(const OrderedRecord& record);
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
  std::unordered_map<std::uint64_t, std::int64_t> allocated_;                   // bytes, by pool and address
  std::map<std::uint32_t, TaskStack> fibers_;                                   // by site
  std::unordered_map<probe::itt::Id, std::uint64_t, IttIdHash> keys_;           // of the last that ran
  std::unordered_map<probe::itt::Id, std::vector<Relation>, IttIdHash> later_;  // wait until the id runs
  std::unordered_set<std::string> message_names_;                               // that were given so far
};

// The words of a record, read once from memory that the program may still change.
class IttWords {
 public:
  explicit IttWords(std::span<const std::uint64_t> words) : words_(words) {}

  [[nodiscard]] bool has(std::size_t count) const noexcept { return words_.size() >= count; }
  // Both only after has().
  [[nodiscard]] std::uint64_t next() noexcept {
    const std::uint64_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  [[nodiscard]] probe::itt::Id id() noexcept {
    probe::itt::Id id;
    id.d1 = next();
    id.d2 = next();
    id.d3 = next();
    return id;
  }
  [[nodiscard]] bool bytes(std::size_t count, std::string& bytes) const {
    if (count > words_.size_bytes()) return false;
    bytes.assign(reinterpret_cast<const char*>(words_.data()), count);
    return true;
  }
  [[nodiscard]] bool text(std::size_t count, std::string& text) const {
    if (!bytes(count, text)) return false;
    text = json::repair_utf8(text);
    return true;
  }

 private:
  std::span<const std::uint64_t> words_;
};

class IttProcess final : public probes::ProcessReader {
 public:
  IttProcess(const probes::ProbeProcess& process, SessionWriter& writer, IttSchemas& schemas);

  void thread(const probes::ProbeThread& thread) override;
  void define(std::uint32_t type, std::string_view body) override;
  void record(const probes::ProbeThread& thread, probe::RecordHead head, std::span<const std::uint64_t> words) override;
  void thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) override;
  void ended(const probes::ProbeEnd& end) override;
  void read_until(std::int64_t now_ns) override { ordered_.advance(now_ns); }

 private:
  struct Held {
    std::int64_t begin_ns = 0;
    bool shared = false;
  };
  // The tracks of a thread. Programs that start threads without end share them: one that has ended leaves its to
  // another.
  struct Rows {
    std::optional<probes::ProbeThread> shared_by;  // as whom they are named
    TrackNumber tasks = kNone, events = kNone, waits = kNone, holds = kNone;
  };
  struct Thread {
    probes::ProbeThread facts;
    TaskStack tasks;
    Rows rows;
    [[nodiscard]] const probes::ProbeThread& row() const noexcept { return rows.shared_by ? *rows.shared_by : facts; }
    std::uint32_t fiber = 0;                                    // site of the one it runs now
    std::int64_t fiber_ns = 0;                                  // of its last record in one
    OverlappingSpans<std::uint32_t, std::int64_t> events_open;  // by site, from when on
    OverlappingSpans<std::uint64_t, std::int64_t> waited;       // by lock, likewise
    OverlappingSpans<std::uint64_t, Held> held;
  };
  [[nodiscard]] Thread& of(const probes::ProbeThread& thread);
  void share_rows(Thread& thread);
  [[nodiscard]] TaskStack& tasks_of(Thread& thread);  // with its row
  [[nodiscard]] bool read(Thread& thread, probe::itt::RecordType type, std::uint32_t value, IttWords& words);
  [[nodiscard]] bool read_task(Thread& thread, probe::itt::RecordType type, std::uint32_t value, IttWords& words);
  [[nodiscard]] bool read_task_begin(Thread& thread, std::uint32_t site, IttWords& words);
  [[nodiscard]] bool read_metadata(Thread& thread, std::uint32_t key, IttWords& words);
  [[nodiscard]] bool read_relation(Thread& thread, std::uint32_t kind, IttWords& words);
  [[nodiscard]] bool read_event(Thread& thread, probe::itt::RecordType type, std::uint32_t site, IttWords& words);
  [[nodiscard]] bool read_lock(Thread& thread, probe::itt::RecordType type, bool shared, IttWords& words);
  [[nodiscard]] bool read_ordered(Thread& thread, probe::itt::RecordType type, std::uint32_t value, IttWords& words);
  void write_event(Thread& thread, std::uint32_t site, std::uint32_t lane, std::int64_t begin_ns, std::int64_t end_ns);
  void write_wait(Thread& thread, std::uint64_t lock, std::int64_t begin_ns, std::int64_t end_ns, bool shared);
  void write_hold(Thread& thread, std::uint64_t lock, std::uint32_t lane, const Held& held, std::int64_t end_ns);
  void write_lock(TrackNumber track, std::uint32_t lane, std::uint64_t lock, std::int64_t begin_ns, std::int64_t end_ns,
                  bool shared);
  void close(Thread& thread, std::int64_t ns);
  void report(const probes::ProbeEnd& end);
  void report_facts();
  // Programs give some times themselves: none lies before the capture, or after what was read last.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks);

  probes::ProbeProcess process_;
  SessionWriter& writer_;
  IttSchemas& schemas_;
  IttCounts counts_;
  IttNames names_;
  IttTracks tracks_;
  IttTasks tasks_;
  IttOrdered ordered_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Rows> free_rows_;
  std::uint32_t shared_rows_ = 0;
};

}  // namespace accelscope::capture::kinds::itt
