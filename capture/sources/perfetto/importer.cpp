#include "capture/sources/perfetto/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/perfetto/read/packets_ahead.h"

namespace accelscope::capture::sources::perfetto {
namespace {

// So many packets, or bytes of them, tell which columns there are.
constexpr std::uint64_t kLearntPackets = 60'000;
constexpr std::uint64_t kLearntBytes = 24U << 20;

constexpr std::uint64_t kNeedsState = 2;

}  // namespace

PerfettoImporter::PerfettoImporter(std::string name, const ImportOptions& options, EventSink& sink)
    : name_(std::move(name)),
      options_(options),
      session_(sink),
      tables_(session_),
      book_(session_, tables_),
      flows_(session_),
      slices_(session_, book_, tables_, flows_),
      gpu_(session_, tables_) {}

Result<void> PerfettoImporter::run(const OpenBytes& open) {
  if (Result<void> done = learn(open); !done) return done;
  return read(open);
}

Result<void> PerfettoImporter::learn(const OpenBytes& open) {
  Result<std::unique_ptr<json::ByteSource>> source = open();
  if (!source) return source.error();
  PacketStream packets(std::move(source.value()));
  learning_ = true;
  RawPacket raw;
  for (std::uint64_t i = 0; i < kLearntPackets && packets.bytes_read() < kLearntBytes && packets.next(raw); ++i) {
    learn_packet(read_packet(raw));
  }
  learning_ = false;
  early_clocks_ = std::move(clocks_);
  clocks_ = {};
  clocks_.set_trace_clock(early_clocks_.trace_clock());
  sequences_.clear();
  last_sequence_ = nullptr;
  return {};
}

Result<void> PerfettoImporter::read(const OpenBytes& open) {
  Result<std::unique_ptr<json::ByteSource>> source = open();
  if (!source) return source.error();
  const std::uint64_t file_bytes = source.value()->file_bytes();
  PacketsAhead packets(std::move(source.value()));
  while (const PacketBatch* const batch = packets.next()) {
    for (const PacketFields& packet : batch->packets) take_packet(packet);
    counts_.packets += batch->packets.size();
    if (session_.cancelled()) {
      if (const Result<void> status = session_.status(); !status) return status;
      return Error{fmt::format("{}: the import was cancelled", name_)};
    }
    if (options_.progress) options_.progress(batch->file_bytes_read, file_bytes);
  }
  const PacketStream::Losses& losses = packets.losses();
  if (counts_.packets == 0) {
    if (!losses.failure.empty()) return Error{losses.failure};
    if (losses.cut_packets > 0) {
      return Error{
          fmt::format("{}: the file ends within its first packet; copy it completely or record it again", name_)};
    }
    return Error{fmt::format("{}: holds no packets; a Perfetto trace is a series of messages TracePacket", name_)};
  }
  return finish(losses);
}

SequenceState& PerfettoImporter::sequence_of(std::uint32_t id) {
  if (last_sequence_ != nullptr && last_sequence_->id == id) return *last_sequence_;
  SequenceState& state = sequences_[id];
  state.id = id;
  last_sequence_ = &state;
  return state;
}

bool PerfettoImporter::update_state(const PacketFields& packet, SequenceState& state, bool learning) {
  if (packet.cleared) {
    state.clear();
  } else if (packet.dropped) {
    // On a sequence's first packet this says only that it is the first.
    if (state.seen && !packet.first && !learning) ++counts_.lost_before;
    if (state.seen) state.valid = false;
    state.times_valid = false;
  }
  state.seen = true;
  if (packet.has_defaults) state.set_defaults(packet.defaults);
  if (!packet.interned.empty()) state.add_interned(packet.interned);
  if ((packet.flags & kNeedsState) == 0 || state.valid) return true;
  if (!learning) ++counts_.without_state;
  return false;
}

void PerfettoImporter::learn_packet(const PacketFields& packet) {
  SequenceState& state = sequence_of(packet.sequence);
  if (!update_state(packet, state, true)) return;
  switch (packet.field) {
    case PacketFields::kClockSnapshot:
      clocks_.add_snapshot(packet.message, packet.sequence);
      break;
    case PacketFields::kThreadDescriptor:
      take_thread_descriptor(packet.message, false, state);
      break;
    case PacketFields::kTrackDescriptor:
      book_.learn(packet.message);
      break;
    case PacketFields::kTrackEvent:
      learn_event(packet.message, state);
      break;
    case PacketFields::kGpuStage:
      gpu_.learn_stage(packet.message, state);
      break;
    default:
      break;
  }
}

void PerfettoImporter::take_packet(const PacketFields& packet) {
  if (packet.broken && counts_.broken_packets++ == 0) counts_.broken_at = packet.offset;
  SequenceState& state = sequence_of(packet.sequence);
  if (!update_state(packet, state, false)) return;
  // A snapshot says what the clocks are that its own packet's time is in.
  if (packet.field == PacketFields::kClockSnapshot) return clocks_.add_snapshot(packet.message, packet.sequence);
  std::optional<std::int64_t> ns;
  set_time(packet, state, ns);
  if (packet.field != 0) take_message(packet, state, ns);
}

std::int64_t PerfettoImporter::to_trace(std::uint64_t key, std::int64_t ns) {
  if (const auto time = clocks_.to_trace(key, ns)) return *time;
  if (const auto time = early_clocks_.to_trace(key, ns)) return *time;
  if (key != clocks_.trace_clock() && clocks_.any_snapshot()) ++counts_.guessed_clocks;
  return ns;
}

// Deltas add up over every packet of the sequence, whatever it holds.
void PerfettoImporter::set_time(const PacketFields& packet, SequenceState& state, std::optional<std::int64_t>& ns) {
  if (!packet.timestamp) return;
  const std::optional<std::uint64_t>& clock = packet.clock ? packet.clock : state.default_clock;
  if (!clock) {
    ns = static_cast<std::int64_t>(*packet.timestamp);
    return;
  }
  const std::uint64_t key = clock_key(*clock, packet.sequence);
  ns = to_trace(key, clocks_.take(key, *packet.timestamp));
}

void PerfettoImporter::take_message(const PacketFields& packet, SequenceState& state,
                                    const std::optional<std::int64_t>& ns) {
  const auto at_time = [&](auto take) {
    if (!ns) {
      ++counts_.without_time;
      return;
    }
    saw(*ns);
    take(*ns);
  };
  switch (packet.field) {
    case PacketFields::kTrackEvent:
      return take_event(packet, state, ns);
    case PacketFields::kTrackDescriptor: {
      // Old writers say by it what thread their deltas are of.
      bool sandboxed = false;
      std::string_view thread;
      Fields fields(packet.message);
      while (fields.next()) {
        if (fields.number() == 4) thread = fields.bytes();
        if (fields.number() != 7) continue;
        Fields chrome_thread(fields.bytes());
        while (chrome_thread.next()) sandboxed = chrome_thread.number() == 3 ? chrome_thread.flag() : sandboxed;
      }
      if (!thread.empty() && state.valid) take_thread_descriptor(thread, sandboxed, state);
      return book_.describe(packet.message, packet.machine, packet.first);
    }
    case PacketFields::kThreadDescriptor:
      (void)book_.describe_thread(packet.message, packet.machine);
      return take_thread_descriptor(packet.message, false, state);
    case PacketFields::kProcessDescriptor:
      (void)book_.describe_process(packet.message, packet.machine);
      return;
    case PacketFields::kProcessTree:
      return take_process_tree(packet.message, packet.machine);
    case PacketFields::kTraceUuid:
      return take_uuid(packet.message);
    case PacketFields::kChromeEvents:
      if (!take_chrome_facts(packet.message)) ++counts_.unread_packets[packet.field];
      return;
    case PacketFields::kGpuInfo:
      return gpu_.take_info(packet.message);
    case PacketFields::kGpuStage:
      return at_time([&](std::int64_t time) { saw(gpu_.take_stage(packet.message, state, time)); });
    case PacketFields::kGpuCounter:
      if (ns) saw(*ns);
      return gpu_.take_counters(packet.message, state, ns);
    case PacketFields::kGpuFrequency:
      return at_time([&](std::int64_t time) { gpu_.take_frequency(packet.message, time); });
    case PacketFields::kGpuMemory:
      return at_time([&](std::int64_t time) { gpu_.take_memory(packet.message, time); });
    default:
      ++counts_.unread_packets[packet.field];
  }
}

void PerfettoImporter::take_thread_descriptor(std::string_view message, bool sandboxed, SequenceState& state) {
  Fields fields(message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        state.pid = fields.integer();
        break;
      case 2:
        state.tid = fields.integer();
        break;
      case 6:
        state.time_ns = static_cast<std::int64_t>(fields.whole() * 1000);
        break;
      case 7:
        state.thread_time_ns = static_cast<std::int64_t>(fields.whole() * 1000);
        break;
      case 8:
        state.instructions = fields.integer();
        break;
      default:
        break;
    }
  }
  if (sandboxed) state.tid = sandboxed_tid(state.pid.value_or(0), state.tid.value_or(0));
  state.times_valid = true;
}

void PerfettoImporter::take_process_tree(std::string_view message, std::int64_t machine) {
  Fields fields(message);
  while (fields.next()) {
    std::int64_t first = 0;
    std::int64_t group = 0;
    std::string_view name;
    const bool process = fields.number() == 1;
    if (!process && fields.number() != 2) continue;
    Fields inner(fields.bytes());
    while (inner.next()) {
      if (inner.number() == 1) first = inner.integer();
      if (inner.number() == 3 && process && name.empty()) name = inner.bytes();
      if (inner.number() == 3 && !process) group = inner.integer();
      if (inner.number() == 2 && !process) name = inner.bytes();
    }
    if (name.empty()) continue;
    if (process) {
      book_.name_process(machine, first, name);
    } else {
      book_.name_thread(machine, group, first, name);
    }
  }
}

void PerfettoImporter::take_uuid(std::string_view message) {
  std::uint64_t most = 0;
  std::uint64_t least = 0;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) most = fields.whole();
    if (fields.number() == 2) least = fields.whole();
  }
  session_.writer().set_meta("trace_uuid", fmt::format("{:016x}{:016x}", most, least));
}

bool PerfettoImporter::take_chrome_facts(std::string_view message) {
  constexpr std::uint32_t kFact = 2, kName = 1, kText = 2, kFlag = 3, kNumber = 4, kJson = 5;
  bool whole = true;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() != kFact) {
      whole = false;
      continue;
    }
    std::string_view name;
    std::string value;
    Fields fact(fields.bytes());
    while (fact.next()) {
      if (fact.number() == kName) name = fact.bytes();
      if (fact.number() == kText || fact.number() == kJson) value = fact.bytes();
      if (fact.number() == kFlag) value = fact.flag() ? "yes" : "no";
      if (fact.number() == kNumber) value = fmt::format("{}", fact.integer());
    }
    session_.writer().set_meta(fmt::format("chrome.{}", name), value);
  }
  return whole;
}

}  // namespace accelscope::capture::sources::perfetto
