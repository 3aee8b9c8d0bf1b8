#include "capture/sources/perfetto/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "capture/sources/base/batches_ahead.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/perfetto/read/packet_stream.h"
#include "capture/sources/perfetto/read/wire.h"

namespace accelscope::capture::sources::perfetto {
namespace {

void add_numbers(Fields& fields, WireType wire, std::vector<std::uint64_t>& to) {
  fields.each(wire, [&to](std::uint64_t value) { to.push_back(value); });
}

void read_legacy(std::string_view message, LegacyFields& legacy) {
  legacy.present = true;
  Fields fields(message);
  while (fields.next()) {
    if (fields.into(At{1, legacy.name_iid}, At{3, legacy.duration_us}, At{4, legacy.thread_duration_us},
                    At{7, legacy.scope}, At{8, legacy.bind_id}, At{9, legacy.use_async_tts},
                    At{12, legacy.bind_to_enclosing}, At{13, legacy.direction}, At{14, legacy.instant_scope},
                    At{15, legacy.instructions}, At{18, legacy.pid}, At{19, legacy.tid}))
      continue;
    switch (fields.number()) {
      case 2:
        legacy.phase = static_cast<char>(fields.whole());
        break;
      case 6:
        legacy.id = fields.whole();
        legacy.id_kind = LegacyFields::Id::unscoped;
        break;
      case 10:
        legacy.id = fields.whole();
        legacy.id_kind = LegacyFields::Id::local;
        break;
      case 11:
        legacy.id = fields.whole();
        legacy.id_kind = LegacyFields::Id::global;
        break;
      default:
        break;
    }
  }
}

}  // namespace

void TrackEventFields::clear() {
  type = kNone;
  has_type = false;
  track.reset();
  name_iid.reset();
  name = {};
  has_name = false;
  category_iids.clear();
  categories.clear();
  annotations.clear();
  counter.reset();
  real_counter.reset();
  flows.clear();
  source_location_iid.reset();
  broken = false;
  if (any_seldom_) clear_seldom();
}

void TrackEventFields::clear_seldom() {
  any_seldom_ = false;
  extra_tracks.clear();
  extra_values.clear();
  extra_real_tracks.clear();
  extra_real_values.clear();
  ending_flows.clear();
  correlation.reset();
  correlation_text = {};
  correlation_iid.reset();
  callstack = {};
  callstack_iid.reset();
  source_location = {};
  task_execution = {};
  log_message = {};
  gpu_correlation = {};
  gpu_api.reset();
  delta_us.reset();
  absolute_us.reset();
  thread_delta_us.reset();
  thread_absolute_us.reset();
  instructions_delta.reset();
  instructions_absolute.reset();
  legacy = {};
  unread_field = 0;
}

void TrackEventFields::read(std::string_view message) {
  clear();
  Fields fields(message);
  while (fields.next()) {
    if (fields.into(At{11, track}, At{10, name_iid}, At{30, counter}, At{44, real_counter},
                    At{34, source_location_iid}))
      continue;
    switch (fields.number()) {
      case 9:
        type = fields.whole();
        has_type = true;
        break;
      case 23:
        name = fields.bytes();
        has_name = true;
        break;
      case 3:
        if (fields.type() != WireType::bytes) {
          category_iids.push_back(fields.whole());
        } else {
          add_numbers(fields, WireType::varint, category_iids);
        }
        break;
      case 22:
        categories.push_back(fields.bytes());
        break;
      case 4:
        annotations.push_back(fields.bytes());
        break;
      case 36:
        add_numbers(fields, WireType::varint, flows);
        break;
      case 47:
        add_numbers(fields, WireType::fixed64, flows);
        break;
      default:
        read_seldom(fields);
    }
  }
  broken = fields.broken();
}

void TrackEventFields::read_seldom(Fields& fields) {
  any_seldom_ = true;
  if (fields.into(At{52, correlation}, At{53, correlation_text}, At{54, correlation_iid}, At{55, callstack},
                  At{56, callstack_iid}, At{33, source_location}, At{5, task_execution}, At{21, log_message},
                  At{1, delta_us}, At{16, absolute_us}, At{2, thread_delta_us}, At{17, thread_absolute_us},
                  At{8, instructions_delta}, At{20, instructions_absolute}, At{3000, gpu_correlation},
                  At{3001, gpu_api}))
    return;
  switch (fields.number()) {
    case 31:
      add_numbers(fields, WireType::varint, extra_tracks);
      break;
    case 12:
      fields.each(WireType::varint,
                  [this](std::uint64_t value) { extra_values.push_back(static_cast<std::int64_t>(value)); });
      break;
    case 45:
      add_numbers(fields, WireType::varint, extra_real_tracks);
      break;
    case 46:
      fields.each(WireType::fixed64,
                  [this](std::uint64_t value) { extra_real_values.push_back(std::bit_cast<double>(value)); });
      break;
    case 42:
      add_numbers(fields, WireType::varint, ending_flows);
      break;
    case 48:
      add_numbers(fields, WireType::fixed64, ending_flows);
      break;
    case 57:  // the weight of the stack
      break;
    case 6:
      read_legacy(fields.bytes(), legacy);
      break;
    default:
      unread_field = fields.number();
  }
}

namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] std::int64_t wrapping_product(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
[[nodiscard]] std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
[[nodiscard]] std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// A snapshot has some ten clocks, and a trace a few of each sequence. Those beyond are related to no others.
constexpr std::size_t kMostClocks = 64;
constexpr std::size_t kMostPairs = std::size_t{1} << 20;

struct ClockField {
  std::uint64_t id = 0;
  std::uint64_t timestamp = 0;
  std::int64_t unit = 1;
  bool incremental = false;
};

[[nodiscard]] ClockField read_clock(std::string_view message) {
  ClockField clock;
  Fields fields(message);
  while (fields.next()) {
    if (fields.into(At{1, clock.id}, At{2, clock.timestamp}, At{3, clock.incremental})) continue;
    if (fields.number() == 4) clock.unit = std::max<std::int64_t>(1, fields.integer());
  }
  return clock;
}

}  // namespace

void TraceClocks::set_trace_clock(std::uint64_t key) noexcept {
  trace_clock_ = key;
  ++epoch_;
}

void TraceClocks::add_snapshot(std::string_view message, std::uint32_t sequence) {
  std::vector<std::uint64_t> keys;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2 && !trace_clock_said_) {
      trace_clock_said_ = true;
      set_trace_clock(fields.whole());
    }
    if (fields.number() != 1) continue;
    const ClockField read = read_clock(fields.bytes());
    if (read.id == 0) continue;
    const std::uint64_t key = clock_key(read.id, sequence);
    ClockState& clock = clocks_[key];
    clock.unit = read.unit;
    clock.incremental = read.incremental;
    const std::int64_t ns = wrapping_product(static_cast<std::int64_t>(read.timestamp), read.unit);
    clock.last = ns;
    if (!clock.readings.empty() && clock.readings.back().snapshot == snapshots_) continue;  // named twice
    clock.rising = clock.rising && (clock.readings.empty() || clock.readings.back().ns <= ns);
    clock.readings.push_back({snapshots_, ns});
    if (keys.size() < kMostClocks) keys.push_back(key);
  }
  for (const std::uint64_t one : keys) {
    for (const std::uint64_t other : keys) {
      if (one != other && pairs_ < kMostPairs && beside_[one].insert(other).second) ++pairs_;
    }
  }
  ++snapshots_;
  ++epoch_;
}

std::int64_t TraceClocks::take(std::uint64_t key, std::uint64_t timestamp) {
  const auto found = clocks_.find(key);
  if (found == clocks_.end()) return static_cast<std::int64_t>(timestamp);
  ClockState& clock = found->second;
  std::int64_t ns = wrapping_product(static_cast<std::int64_t>(timestamp), clock.unit);
  if (clock.incremental) clock.last = ns = wrapping_sum(clock.last, ns);
  return ns;
}

std::int64_t TraceClocks::step(const ClockState& from, const ClockState& to, std::int64_t ns, Cached& stretch) const {
  const std::vector<Reading>& readings = from.readings;
  // The last snapshot before that time that has both.
  std::size_t at = readings.size();
  if (from.rising) {
    at = static_cast<std::size_t>(
        std::upper_bound(readings.begin(), readings.end(), ns,
                         [](std::int64_t time, const Reading& reading) { return time < reading.ns; }) -
        readings.begin());
  }
  const auto other = [&](std::size_t index) -> const Reading* {
    const std::uint32_t snapshot = readings[index].snapshot;
    const auto found =
        std::lower_bound(to.readings.begin(), to.readings.end(), snapshot,
                         [](const Reading& reading, std::uint32_t wanted) { return reading.snapshot < wanted; });
    return found != to.readings.end() && found->snapshot == snapshot ? &*found : nullptr;
  };
  std::size_t before = at;
  const Reading* pair = nullptr;
  while (before > 0 && pair == nullptr) pair = other(--before);
  std::size_t next = at;
  if (pair == nullptr) {  // before the first one
    for (before = at; before < readings.size() && pair == nullptr; ++before) pair = other(before);
    --before;
    next = before + 1;
    stretch.first = kLowest;
  } else {
    stretch.first = readings[before].ns;
  }
  while (next < readings.size() && other(next) == nullptr) ++next;
  stretch.last = !from.rising || next >= readings.size() ? kHighest : readings[next].ns - 1;
  if (!from.rising) stretch.first = kLowest;
  return wrapping_difference(pair->ns, readings[before].ns);
}

std::vector<std::uint64_t> TraceClocks::way(std::uint64_t from) const {
  std::map<std::uint64_t, std::uint64_t> came_from = {{from, from}};
  std::deque<std::uint64_t> next = {from};
  while (!next.empty() && !came_from.contains(trace_clock_)) {
    const std::uint64_t clock = next.front();
    next.pop_front();
    const auto beside = beside_.find(clock);
    if (beside == beside_.end()) continue;
    for (const std::uint64_t other : beside->second) {
      if (came_from.try_emplace(other, clock).second) next.push_back(other);
    }
  }
  std::vector<std::uint64_t> clocks;
  if (!came_from.contains(trace_clock_)) return clocks;
  for (std::uint64_t clock = trace_clock_; clock != from; clock = came_from[clock]) clocks.push_back(clock);
  clocks.push_back(from);
  std::reverse(clocks.begin(), clocks.end());
  return clocks;
}

std::optional<std::int64_t> TraceClocks::to_trace(std::uint64_t key, std::int64_t ns) {
  if (key == trace_clock_) return ns;
  const auto found = clocks_.find(key);
  if (found == clocks_.end()) return std::nullopt;
  Cached& cached = found->second.to_trace;
  if (cached.epoch == epoch_ && ns >= cached.first && ns <= cached.last) return wrapping_sum(ns, cached.offset);
  const std::vector<std::uint64_t> clocks = way(key);
  if (clocks.empty()) return std::nullopt;
  Cached whole{kLowest, kHighest, 0, epoch_};
  std::int64_t time = ns;
  for (std::size_t i = 0; i + 1 < clocks.size(); ++i) {
    Cached stretch;
    const std::int64_t offset = step(clocks_.at(clocks[i]), clocks_.at(clocks[i + 1]), time, stretch);
    const auto in_first = [&](std::int64_t edge) {
      return edge == kLowest || edge == kHighest ? edge : wrapping_difference(edge, whole.offset);
    };
    whole.first = std::max(whole.first, in_first(stretch.first));
    whole.last = std::min(whole.last, in_first(stretch.last));
    whole.offset = wrapping_sum(whole.offset, offset);
    time = wrapping_sum(time, offset);
  }
  cached = whole;
  return time;
}

std::optional<std::int64_t> TraceClocks::unix_at_zero() const {
  const auto realtime = clocks_.find(kRealtime);
  const auto trace = clocks_.find(trace_clock_);
  if (trace_clock_ == kRealtime) return 0;
  if (realtime == clocks_.end() || trace == clocks_.end()) return std::nullopt;
  auto other = trace->second.readings.begin();
  for (const Reading& reading : realtime->second.readings) {
    while (other != trace->second.readings.end() && other->snapshot < reading.snapshot) ++other;
    if (other == trace->second.readings.end()) break;
    if (other->snapshot == reading.snapshot) return wrapping_difference(reading.ns, other->ns);
  }
  return std::nullopt;
}

namespace {

// The packets of a trace, found, inflated and taken apart on a thread of their own while those before them are used.
struct PacketBatch {
  std::vector<PacketFields> packets;
  std::string bytes;  // what the packets' messages lie in
  std::uint64_t file_bytes_read = 0;
};

class PacketsAhead {
 public:
  explicit PacketsAhead(std::unique_ptr<json::ByteSource> source)
      : stream_(std::move(source)), batches_([this](PacketBatch& batch) { return fill(batch); }) {}

  // Until the next call. Null at the end.
  [[nodiscard]] const PacketBatch* next() { return batches_.next(); }
  // Once next() has said that this is the end.
  [[nodiscard]] const PacketStream::Losses& losses() const noexcept { return stream_.losses(); }

 private:
  [[nodiscard]] bool fill(PacketBatch& batch);

  PacketStream stream_;
  RawPacket raw_;
  bool waits_ = false;  // the packet did not fit into the batch before
  BatchesAhead<PacketBatch> batches_;
};

// Small enough for a processor's own cache.
constexpr std::size_t kBatchPackets = 1024;
constexpr std::size_t kBatchBytes = 128U << 10;

bool PacketsAhead::fill(PacketBatch& batch) {
  batch.packets.clear();
  batch.bytes.clear();
  // A large packet was alone in its batch.
  if (batch.bytes.capacity() > 2 * kBatchBytes) batch.bytes = {};
  batch.bytes.reserve(kBatchBytes);
  batch.packets.reserve(kBatchPackets);
  while (batch.packets.size() < kBatchPackets) {
    if (!waits_ && !stream_.next(raw_)) {
      batch.file_bytes_read = stream_.file_bytes_read();
      return false;
    }
    // The bytes must stay where they are.
    waits_ = raw_.bytes.size() > batch.bytes.capacity() - batch.bytes.size();
    if (waits_ && !batch.packets.empty()) break;
    batch.bytes.reserve(raw_.bytes.size());
    waits_ = false;
    const char* const at = batch.bytes.data() + batch.bytes.size();
    batch.bytes += raw_.bytes;
    batch.packets.push_back(read_packet({std::string_view(at, raw_.bytes.size()), raw_.offset}));
  }
  batch.file_bytes_read = stream_.file_bytes_read();
  return true;
}

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
  std::unique_ptr<json::ByteSource> source = TRY(open());
  PacketStream packets(std::move(source));
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
  std::unique_ptr<json::ByteSource> source = TRY(open());
  const std::uint64_t file_bytes = source->file_bytes();
  PacketsAhead packets(std::move(source));
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
    if (fields.into(At{1, state.pid}, At{2, state.tid}, At{8, state.instructions})) continue;
    if (fields.number() == 6) state.time_ns = static_cast<std::int64_t>(fields.whole() * 1000);
    if (fields.number() == 7) state.thread_time_ns = static_cast<std::int64_t>(fields.whole() * 1000);
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

// Perfetto's own traces (protobuf): what programs write with its SDK, PyTorch, rocprofv3, neuron-profile and others;
// plain, or packed with gzip or zstd. Recognised by their bytes. Tables: those of Chrome JSON traces (kernel, memcpy,
// runtime_call, cpu_op ...; "event" for every other category), "instant", "counter", and "process", "thread",
// "track_descriptor", "gpu" of what the trace says of them. Times are ns of the trace's clock.

namespace {

constexpr int kNamedSo = 90;
constexpr int kPacketsAlone = 60;  // an XSpace is a series of such messages too

// The first message of field 1 has fields that packets have, in the types that they have.
[[nodiscard]] bool has_packet_fields(std::string_view head) {
  // Of one packet: number, and whether it is a number or a message.
  struct Known {
    std::uint32_t field;
    WireType type;
  };
  constexpr Known kKnown[] = {{8, WireType::varint},  {10, WireType::varint}, {13, WireType::varint},
                              {3, WireType::varint},  {79, WireType::varint}, {6, WireType::bytes},
                              {60, WireType::bytes},  {33, WireType::bytes},  {36, WireType::bytes},
                              {50, WireType::bytes},  {12, WireType::bytes},  {44, WireType::bytes},
                              {43, WireType::bytes},  {53, WireType::bytes},  {52, WireType::bytes},
                              {133, WireType::bytes}, {2, WireType::bytes},   {45, WireType::bytes}};
  int known = 0;
  Fields file(head);
  for (int packets = 0; packets < 16 && file.next(); ++packets) {
    if (file.number() != 1 || file.type() != WireType::bytes) return false;
    Fields packet(file.bytes());
    while (packet.next()) {
      for (const Known& each : kKnown) {
        if (each.field != packet.number()) continue;
        if (each.type != packet.type()) return false;
        if (each.field != 2 && each.field != 3) ++known;  // those of others have these too
      }
    }
    if (packet.broken()) return false;
  }
  return known > 0;
}

}  // namespace

int probe_perfetto(std::string_view head, const std::string& path) {
  if (!looks_like_trace(head, head.size() < kProbeBytes)) return 0;
  if (!has_packet_fields(head)) {
    // One packet may be larger than what is looked at.
    const bool named = path.ends_with(".pftrace") || path.ends_with(".perfetto-trace");
    return named && !head.empty() && head.front() == '\n' ? kPacketsAlone : 0;
  }
  return kNamedSo;
}

Result<void> import_perfetto(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return PerfettoImporter(path, options, sink).run([&] { return json::ByteSource::open(path); });
}

}  // namespace accelscope::capture::sources::perfetto
