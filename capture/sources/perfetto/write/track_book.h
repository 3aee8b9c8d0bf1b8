// The tracks of a trace: what their descriptors say, the rows that their events go to, and how those rows are called,
// nested and ordered once everything was read.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "capture/sources/perfetto/write/event_tables.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/model/track_kinds.h"

namespace accelscope::capture::sources::perfetto {

struct CounterInfo {
  std::string unit;
  double multiplier = 1;
  bool incremental = false;
};

struct PerfettoTrack {
  enum class Kind : std::uint8_t { plain, process, thread, counter, state };
  enum class Merging : std::uint8_t { by_name, none, by_key };
  enum class Ordering : std::uint8_t { unknown, lexicographic, chronological, explicit_rank };

  std::uint64_t uuid = 0;
  std::uint64_t parent = 0;
  bool described = false;
  Kind kind = Kind::plain;
  std::string name;
  std::string description;
  std::optional<TrackWords> own;  // of a track that a session was exported to
  std::uint32_t of = kNone;       // of a process or thread: which one, in the book
  std::int64_t machine = 0;
  bool first_packet = false;  // described by the first packet of a sequence
  CounterInfo counter;
  Merging merging = Merging::by_name;
  std::string merge_key;
  Ordering ordering = Ordering::unknown;
  std::int64_t rank = 0;
  std::optional<std::int64_t> first_ns;
  bool named_by_event = false;
  bool asynchronous = false;                         // of old events that are joined by their ids
  std::uint32_t stack = kNone;                       // see SliceStacks
  std::array<std::uint32_t, kEventTableCount> rows;  // kNone: none yet
  std::uint32_t counter_row = kNone;
  bool shares_rows = false;
  std::unordered_map<std::uint32_t, double> counter_base;  // of incremental counters, by sequence

  PerfettoTrack() { rows.fill(kNone); }
  [[nodiscard]] bool holds_allocations() const noexcept { return own && !own->columns.empty(); }
};

// Within a sandbox threads are numbered from 1: made one of a kind by their process.
[[nodiscard]] constexpr std::int64_t sandboxed_tid(std::int64_t pid, std::int64_t tid) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(pid) << 32 |
                                   (static_cast<std::uint64_t>(tid) & 0xffffffff));
}

class TrackBook {
 public:
  TrackBook(tracks::UnorderedSession& session, EventTables& tables) : session_(session), tables_(tables) {}

  // What is to be known of a message TrackDescriptor before the columns of tables are chosen.
  void learn(std::string_view message);
  // A message TrackDescriptor. `first_packet`: of its sequence.
  void describe(std::string_view message, std::int64_t machine, bool first_packet);
  // Messages ProcessDescriptor and ThreadDescriptor. A system uses its numbers again: another uuid than before is
  // another process or thread.
  std::uint32_t describe_process(std::string_view message, std::int64_t machine, std::uint64_t uuid = 0);
  std::uint32_t describe_thread(std::string_view message, std::int64_t machine, std::uint64_t uuid = 0,
                                bool sandboxed = false);
  void name_process(std::int64_t machine, std::int64_t pid, std::string_view name);
  void name_thread(std::int64_t machine, std::int64_t pid, std::int64_t tid, std::string_view name);

  [[nodiscard]] bool holds_allocations(std::uint64_t uuid) const {
    const PerfettoTrack* const track = find(uuid);
    return track != nullptr && track->holds_allocations();
  }
  // Events of tracks without a descriptor are of a track all the same. Threads are one track each, whatever uuids name
  // them.
  [[nodiscard]] PerfettoTrack& of_uuid(std::uint64_t uuid);
  [[nodiscard]] PerfettoTrack& of_thread(std::int64_t machine, std::int64_t pid, std::int64_t tid);
  [[nodiscard]] PerfettoTrack& of_process(std::int64_t machine, std::int64_t pid);
  // The pid of the track's process, the tid of its thread; 0: none.
  [[nodiscard]] std::int64_t process_of(const PerfettoTrack& track) const;
  [[nodiscard]] std::int64_t thread_of(const PerfettoTrack& track) const;
  // A track of the importer's own: of asynchronous events, say.
  [[nodiscard]] PerfettoTrack& own(std::string_view key, std::uint64_t parent);

  // Made when they are first wanted.
  [[nodiscard]] std::uint32_t row(PerfettoTrack& track, EventTableKind table);
  [[nodiscard]] std::uint32_t counter_row(PerfettoTrack& track);
  // A track that names none is called as its first event is.
  void saw_event(PerfettoTrack& track, std::int64_t ns, std::string_view name);
  // Kernels and copies on tracks that tools draw for a device's queues.
  [[nodiscard]] EventTableKind table_by_name(const PerfettoTrack& track, EventTableKind otherwise) const;

  [[nodiscard]] std::uint64_t undescribed() const noexcept { return undescribed_; }
  // What the rows are called, and where they stand.
  void describe_rows();
  // The tables "process", "thread" and "track_descriptor", once rows have their numbers.
  void write_tables();

 private:
  struct Process {
    std::int64_t machine = 0;
    std::int64_t pid = 0;
    std::string name;
    std::optional<std::int64_t> order;
    std::vector<std::string> labels;
    std::string package;  // the app that a browser runs in
    std::uint64_t uuid = 0;
  };
  struct Thread {
    std::uint32_t process = 0;
    std::int64_t tid = 0;
    std::string name;
    std::optional<std::int64_t> order;
    std::uint64_t uuid = 0;
  };
  using ProcessKey = std::pair<std::int64_t, std::int64_t>;
  using ThreadKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  [[nodiscard]] std::uint32_t process(std::int64_t machine, std::int64_t pid, std::uint64_t uuid = 0);
  [[nodiscard]] std::uint32_t thread(std::int64_t machine, std::int64_t pid, std::int64_t tid, std::uint64_t uuid = 0);
  [[nodiscard]] std::uint32_t process_index(const PerfettoTrack& track) const;  // kNone: it is in none
  [[nodiscard]] std::string process_label(std::uint32_t process) const;
  [[nodiscard]] PerfettoTrack& at(std::uint64_t uuid);
  [[nodiscard]] const PerfettoTrack* find(std::uint64_t uuid) const;
  [[nodiscard]] const PerfettoTrack* owner(const PerfettoTrack& track) const;  // the process or thread that it lies in
  [[nodiscard]] std::string shared_key(const PerfettoTrack& track, std::string_view table) const;
  [[nodiscard]] std::string label_of(const PerfettoTrack& track) const;
  [[nodiscard]] std::string host_of(const PerfettoTrack& track) const;
  [[nodiscard]] std::vector<EventTableKind> tables_of(const PerfettoTrack& track) const;
  void find_children();
  void sort_children(std::vector<std::uint32_t>& children, const PerfettoTrack* parent) const;
  [[nodiscard]] bool wanted(std::uint32_t track) const;  // it, or what lies in it, has rows
  void place(std::uint32_t track, std::uint32_t above, int depth);
  [[nodiscard]] Track on_device(const PerfettoTrack& track, EventTableKind table) const;

  tracks::UnorderedSession& session_;
  EventTables& tables_;
  std::deque<PerfettoTrack> tracks_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_uuid_;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  std::map<ProcessKey, std::uint32_t> process_numbers_;  // the newest of each
  std::map<ThreadKey, std::uint32_t> thread_numbers_;
  std::map<std::string, std::uint64_t, std::less<>> own_;
  std::map<std::string, std::pair<std::uint32_t, std::uint64_t>>
      shared_;  // the row of tracks that are one, and its first
  std::uint64_t next_own_ = 1;
  std::uint64_t last_uuid_ = 0;
  PerfettoTrack* last_ = nullptr;
  std::uint64_t undescribed_ = 0;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<int> ranks_;          // of processes
  bool processes_ordered_ = false;  // by the ranks of their tracks
  bool threads_ordered_ = false;
  std::vector<std::int64_t> places_;  // of tracks
  std::vector<bool> placed_rows_;
  std::int64_t next_place_ = 0;
};

}  // namespace accelscope::capture::sources::perfetto
