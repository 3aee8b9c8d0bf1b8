// One import of a Perfetto trace: its first packets tell which columns there are, then all of them are read, one after
// another. Tracks keep what is open on them; rows get their names at the end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/base/source.h"
#include "capture/sources/perfetto/read/packet_stream.h"
#include "capture/sources/perfetto/read/sequence_state.h"
#include "capture/sources/perfetto/read/wire.h"
#include "capture/sources/perfetto/write/event_tables.h"
#include "capture/sources/perfetto/write/gpu_events.h"
#include "capture/sources/perfetto/write/slice_stacks.h"
#include "capture/sources/perfetto/write/track_book.h"
#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::perfetto {

// The fields of a message TrackEvent, as they come.

class Fields;

struct LegacyFields {
  bool present = false;
  std::optional<std::uint64_t> name_iid;
  char phase = 0;
  std::int64_t duration_us = 0;
  std::optional<std::int64_t> thread_duration_us;
  std::optional<std::int64_t> instructions;
  enum class Id : std::uint8_t { none, unscoped, local, global };
  Id id_kind = Id::none;
  std::uint64_t id = 0;
  std::string_view scope;
  std::optional<std::uint64_t> bind_id;
  bool bind_to_enclosing = false;
  bool use_async_tts = false;
  std::uint64_t direction = 0;      // of the flow: 1 in, 2 out, 3 both
  std::uint64_t instant_scope = 0;  // 1 global, 2 process, 3 thread
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
};

struct TrackEventFields {
  enum Type : std::uint64_t { kNone = 0, kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4, kState = 5 };
  std::uint64_t type = kNone;
  bool has_type = false;
  std::optional<std::uint64_t> track;
  std::optional<std::uint64_t> name_iid;
  std::string_view name;
  bool has_name = false;
  std::vector<std::uint64_t> category_iids;
  std::vector<std::string_view> categories;
  std::vector<std::string_view> annotations;
  std::optional<std::int64_t> counter;
  std::optional<double> real_counter;
  std::vector<std::uint64_t> flows;
  std::optional<std::uint64_t> source_location_iid;
  bool broken = false;
  // Few events have any of these.
  std::vector<std::uint64_t> extra_tracks;
  std::vector<std::int64_t> extra_values;
  std::vector<std::uint64_t> extra_real_tracks;
  std::vector<double> extra_real_values;
  std::vector<std::uint64_t> ending_flows;
  std::optional<std::uint64_t> correlation;
  std::string_view correlation_text;
  std::optional<std::uint64_t> correlation_iid;
  std::string_view callstack;
  std::optional<std::uint64_t> callstack_iid;
  std::string_view source_location;
  std::string_view task_execution;
  std::string_view log_message;
  std::string_view gpu_correlation;
  std::optional<std::uint64_t> gpu_api;
  std::optional<std::int64_t> delta_us;
  std::optional<std::int64_t> absolute_us;
  std::optional<std::int64_t> thread_delta_us;
  std::optional<std::int64_t> thread_absolute_us;
  std::optional<std::int64_t> instructions_delta;
  std::optional<std::int64_t> instructions_absolute;
  LegacyFields legacy;
  std::uint32_t unread_field = 0;  // an argument of a type that is not known here; 0: none

  void clear();
  // Replaces what was read before.
  void read(std::string_view message);
  [[nodiscard]] bool any_seldom() const noexcept { return any_seldom_; }

 private:
  void clear_seldom();
  void read_seldom(Fields& fields);

  bool any_seldom_ = false;  // fields are set that few events have
};

// From the clocks of packets to the time of the trace, by snapshots that tell what several clocks said at one moment.
// Between two snapshots a clock runs as the earlier one has it, as Perfetto does it.

// Clocks of the format that are known by their number.
enum KnownClock : std::uint64_t { kRealtime = 1, kMonotonic = 3, kBoottime = 6, kTraceFile = 11 };
[[nodiscard]] constexpr bool is_clock_of_sequence(std::uint64_t clock) noexcept { return clock >= 64 && clock < 128; }
// Clocks of 64 to 127 are of one sequence each.
[[nodiscard]] constexpr std::uint64_t clock_key(std::uint64_t clock, std::uint32_t sequence) noexcept {
  return is_clock_of_sequence(clock) ? std::uint64_t{sequence} << 32 | clock : clock;
}

class TraceClocks {
 public:
  // The packet's message ClockSnapshot.
  void add_snapshot(std::string_view message, std::uint32_t sequence);

  // A time that a packet of the sequence gives in a clock, in ns of that clock: unit and deltas are taken in, which
  // moves an incremental clock on.
  [[nodiscard]] std::int64_t take(std::uint64_t key, std::uint64_t timestamp);
  // In the trace's time. Nothing if no snapshot leads there yet.
  [[nodiscard]] std::optional<std::int64_t> to_trace(std::uint64_t key, std::int64_t ns);
  [[nodiscard]] std::uint64_t trace_clock() const noexcept { return trace_clock_; }
  // The clock that times are in while no snapshot says otherwise.
  void set_trace_clock(std::uint64_t key) noexcept;
  [[nodiscard]] bool any_snapshot() const noexcept { return snapshots_ > 0; }
  // What time of day it was at the trace's tick 0, in ns since 1970.
  [[nodiscard]] std::optional<std::int64_t> unix_at_zero() const;

 private:
  struct Reading {
    std::uint32_t snapshot = 0;
    std::int64_t ns = 0;
  };
  struct Cached {
    std::int64_t first = 0;  // the stretch in which the offset holds
    std::int64_t last = 0;
    std::int64_t offset = 0;
    std::uint32_t epoch = 0;  // 0: holds nothing
  };
  struct ClockState {
    std::vector<Reading> readings;  // by snapshot
    Cached to_trace;
    bool rising = true;  // by time too
    std::int64_t unit = 1;
    std::int64_t last = 0;  // of an incremental one
    bool incremental = false;
  };
  // The offset of one clock to another at a time of the former.
  [[nodiscard]] std::int64_t step(const ClockState& from, const ClockState& to, std::int64_t ns, Cached& stretch) const;
  [[nodiscard]] std::vector<std::uint64_t> way(std::uint64_t from) const;

  std::unordered_map<std::uint64_t, ClockState> clocks_;
  std::map<std::uint64_t, std::set<std::uint64_t>> beside_;  // clocks of one snapshot
  std::size_t pairs_ = 0;                                    // in beside_
  std::uint64_t trace_clock_ = kBoottime;
  bool trace_clock_said_ = false;
  std::uint32_t snapshots_ = 0;
  std::uint32_t epoch_ = 1;  // changes whenever offsets may
};

// The bytes are gone through twice: the beginning, then all of them.
using OpenBytes = std::function<Result<std::unique_ptr<json::ByteSource>>()>;

class PerfettoImporter {
 public:
  PerfettoImporter(std::string name, const ImportOptions& options, EventSink& sink);
  Result<void> run(const OpenBytes& open);

 private:
  struct Counts {
    std::uint64_t packets = 0;
    std::uint64_t broken_packets = 0;
    std::uint64_t broken_at = 0;
    std::uint64_t without_state = 0;
    std::uint64_t lost_before = 0;
    std::uint64_t guessed_clocks = 0;
    std::uint64_t without_time = 0;
    std::uint64_t without_type = 0;
    std::uint64_t bad_times = 0;
    std::uint64_t unknown_names = 0;
    std::uint64_t counters_without_value = 0;
    std::uint64_t counters_without_track = 0;
    std::uint64_t rounded_counters = 0;
    std::uint64_t async_without_id = 0;
    std::uint64_t states_without_track = 0;
    std::uint64_t track_events = 0;
    std::uint64_t samples = 0;
    std::map<std::uint32_t, std::uint64_t> unread_packets;    // by field
    std::map<std::uint32_t, std::uint64_t> unread_arguments;  // by field
    std::map<char, std::uint64_t> unknown_phases;
  };

  // Reading: importer.cpp
  Result<void> learn(const OpenBytes& open);
  Result<void> read(const OpenBytes& open);
  [[nodiscard]] SequenceState& sequence_of(std::uint32_t id);
  // False: the packet is to be left out.
  bool update_state(const PacketFields& packet, SequenceState& state, bool learning);
  void learn_packet(const PacketFields& packet);
  void take_packet(const PacketFields& packet);
  void set_time(const PacketFields& packet, SequenceState& state, std::optional<std::int64_t>& ns);
  [[nodiscard]] std::int64_t to_trace(std::uint64_t key, std::int64_t ns);
  void take_message(const PacketFields& packet, SequenceState& state, const std::optional<std::int64_t>& ns);
  void take_thread_descriptor(std::string_view message, bool sandboxed, SequenceState& state);
  void take_process_tree(std::string_view message, std::int64_t machine);
  void take_uuid(std::string_view message);
  // Facts of Chrome's, which other writers use too. False: it holds what is not read.
  [[nodiscard]] bool take_chrome_facts(std::string_view message);
  void saw(std::int64_t ns) noexcept { last_ns_ = any_time_ ? std::max(last_ns_, ns) : ns, any_time_ = true; }

  // Track events: events.cpp
  void learn_event(std::string_view message, SequenceState& state);
  void take_event(const PacketFields& packet, SequenceState& state, const std::optional<std::int64_t>& packet_ns);
  // False: it has none that can be used.
  [[nodiscard]] bool event_times(SequenceState& state, const std::optional<std::int64_t>& packet_ns, SliceMark& mark);
  [[nodiscard]] bool seldom_times(SequenceState& state, std::optional<std::int64_t>& ns, SliceMark& mark);
  [[nodiscard]] PerfettoTrack& event_track(const PacketFields& packet, const SequenceState& state);
  [[nodiscard]] PerfettoTrack& async_track(const PerfettoTrack& beside, std::string_view name, std::int64_t machine,
                                           const SequenceState& state);
  [[nodiscard]] EventTableKind table_of_event(SequenceState& state, const PerfettoTrack* track);
  [[nodiscard]] InternedText* name_entry(SequenceState& state);
  void take_counter(SequenceState& state, const PacketFields& packet, std::int64_t ns);
  void take_extra_counters(SequenceState& state, std::int64_t ns);
  void add_counter(std::uint64_t uuid, std::uint32_t sequence, std::int64_t ns, double value);
  void add_thread_counter(const PerfettoTrack& thread, std::string_view name, std::int64_t value, std::int64_t ns);
  void add_flows(std::int64_t ns, SliceMark& mark) const;
  void add_category(SequenceState& state, SliceMark& mark);
  void add_arguments(SequenceState& state, const EventTable& table, SliceMark& mark);
  void add_location(SequenceState& state, const EventTable& table, SliceMark& mark);
  void add_log_message(SequenceState& state, const EventTable& table, SliceMark& mark);
  void add_stack(SequenceState& state, const EventTable& table, SliceMark& mark);
  void take_legacy(PerfettoTrack& track, std::int64_t machine, SequenceState& state, SliceMark& mark,
                   std::string_view name);
  void take_metadata(const PerfettoTrack& track, SequenceState& state, std::string_view name);
  void add_gpu_flows(SliceMark& mark) const;

  // The end: events.cpp
  Result<void> finish(const PacketStream::Losses& losses);
  void write_report(const PacketStream::Losses& losses);
  void report_losses(const PacketStream::Losses& losses);

  std::string name_;
  ImportOptions options_;
  tracks::UnorderedSession session_;
  EventTables tables_;
  TrackBook book_;
  FlowChains flows_;
  SliceStacks slices_;
  GpuEvents gpu_;
  TraceClocks clocks_;
  TraceClocks early_clocks_;  // those of the first packets, for packets that come before a snapshot
  std::unordered_map<std::uint32_t, SequenceState> sequences_;
  SequenceState* last_sequence_ = nullptr;
  TrackEventFields event_;
  SliceMark mark_;
  std::string scratch_;
  std::string joined_;
  std::int64_t last_ns_ = 0;
  bool any_time_ = false;
  bool learning_ = false;
  Counts counts_;
};

}  // namespace accelscope::capture::sources::perfetto
