// One import of a Perfetto trace: its first packets tell which columns there are, then all of them are read, one after
// another. Tracks keep what is open on them; rows get their names at the end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/base/source.h"
#include "capture/sources/perfetto/read/packet_fields.h"
#include "capture/sources/perfetto/read/packet_stream.h"
#include "capture/sources/perfetto/read/sequence_state.h"
#include "capture/sources/perfetto/read/trace_clocks.h"
#include "capture/sources/perfetto/read/track_event.h"
#include "capture/sources/perfetto/read/wire.h"
#include "capture/sources/perfetto/source.h"
#include "capture/sources/perfetto/write/event_tables.h"
#include "capture/sources/perfetto/write/flow_chains.h"
#include "capture/sources/perfetto/write/gpu_events.h"
#include "capture/sources/perfetto/write/slice_stacks.h"
#include "capture/sources/perfetto/write/track_book.h"
#include "capture/sources/tracks/unordered_session.h"

namespace accelscope::capture::sources::perfetto {

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

  // The end: finish.cpp
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
