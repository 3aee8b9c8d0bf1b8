#include "core/export/base/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/export_format.h"
#include "core/export/base/flow_ends.h"
#include "core/export/base/track_groups.h"
#include "core/export/traces/proto_bytes.h"
#include "core/model/track_kinds.h"

namespace accelscope::exporting {
namespace {

// Numbers of fields, as perfetto/protos/perfetto/trace has them.
namespace pf {
constexpr std::uint32_t kPacket = 1;  // of Trace
// TracePacket
constexpr std::uint32_t kChromeEvents = 5, kClockSnapshot = 6, kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11,
                        kInternedData = 12, kSequenceFlags = 13, kDefaults = 59, kTrackDescriptor = 60,
                        kFirstOnSequence = 87;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // of sequence_flags
constexpr std::uint32_t kTrackEventDefaults = 11, kDefaultTrack = 11;
// TrackDescriptor
constexpr std::uint32_t kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParentUuid = 5, kCounter = 8,
                        kChildOrdering = 11, kSiblingRank = 12, kDescription = 14, kMergeBehaviour = 15,
                        kMergeKeyInt = 17, kProcessOrdering = 19, kThreadOrdering = 20;
constexpr std::uint64_t kExplicit = 3, kExplicitOrder = 1, kMergeNone = 2, kMergeByKey = 3;
constexpr std::uint32_t kPid = 1, kProcessName = 6, kThreadPid = 1, kTid = 2, kThreadName = 5;
constexpr std::uint32_t kUnit = 3, kUnitName = 6;
constexpr std::uint64_t kUnitNs = 1, kUnitCount = 2, kUnitBytes = 3;
// TrackEvent
constexpr std::uint32_t kCategoryIids = 3, kAnnotations = 4, kType = 9, kNameIid = 10, kCounterValue = 30,
                        kDoubleCounterValue = 44, kFlowIds = 47, kTerminatingFlowIds = 48;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kSample = 4;
// DebugAnnotation
constexpr std::uint32_t kArgNameIid = 1, kArgBool = 2, kArgUint = 3, kArgInt = 4, kArgDouble = 5, kArgString = 6,
                        kArgStringIid = 17;
// InternedData
constexpr std::uint32_t kCategories = 1, kEventNames = 2, kArgNames = 3, kStringValues = 29;
constexpr std::uint32_t kIid = 1, kText = 2;
// ClockSnapshot
constexpr std::uint32_t kClocks = 1, kPrimaryClock = 2, kClockId = 1, kClockTime = 2;
constexpr std::uint64_t kRealtime = 1, kBoottime = 6;
}  // namespace pf

constexpr std::uint64_t kCategoryIid = 1;
constexpr std::uint32_t kFirstTrackSequence = 2;  // descriptors come on the first
constexpr std::uint64_t kGroupUuid = std::uint64_t{1} << 40;
constexpr std::uint64_t kTrackUuid = std::uint64_t{2} << 40;
constexpr std::uint64_t kLaneUuid = std::uint64_t{3} << 40;
constexpr std::uint64_t kMarkerUuid = std::uint64_t{4} << 40;

// A packet of its own, or of several.
void append_packet(std::string& out, const ProtoBytes& packet) {
  ProtoBytes framed;
  framed.message(pf::kPacket, packet);
  out += framed.view();
}

// Texts of the trace are UTF-8.
void put_text(ProtoBytes& to, std::uint32_t field, std::string_view text) {
  if (is_well_formed_utf8(text)) {
    to.bytes(field, text);
  } else {
    to.bytes(field, repaired_utf8(text));
  }
}

[[nodiscard]] bool is_sample(const Schema& schema) noexcept { return schema.kind == EventKind::counter; }

// What a sequence of packets is about: a track, or a lane of one whose lanes are no stack.
struct Sequence {
  std::uint64_t track_uuid = 0;
  std::uint32_t id = 0;
};

// What is the same for all threads.
struct PerfettoPlan {
  ExportPlan events;
  FlowEnds flows;
  std::int64_t shift_ns = 0;                  // added to the session's times, so that none lies before 0
  std::map<std::uint32_t, Sequence> by_lane;  // index into Snapshot::lanes
  std::map<LaneNumber, std::uint64_t> order;  // of events that begin at the same time: that of the file
  std::atomic<std::uint64_t> flows_backwards{0};
  std::atomic<std::uint64_t> without_value{0};
  std::atomic<std::uint64_t> beside_samples{0};
  std::atomic<std::uint64_t> written{0};
};

// Where a flow reaches its target: where it begins, or where it ends if it began before the flow left. An event of the
// trace must come after the one that the flow leaves from; of those at one time the file's order counts.
enum class Arrival : std::uint8_t { never, begin, end };

[[nodiscard]] Arrival arrival(const PerfettoPlan& plan, const ExportFlow& flow) {
  if (!flow.retained() || flow.source == flow.target) return Arrival::never;
  if (flow.target_begin_ns > flow.source_begin_ns) return Arrival::begin;
  if (flow.target_end_ns > flow.source_begin_ns) return Arrival::end;
  const bool follows = flow.target_begin_ns == flow.source_begin_ns &&
                       plan.order.at(lane_of(flow.target)) > plan.order.at(lane_of(flow.source));
  return follows ? Arrival::begin : Arrival::never;
}

// Writes the pieces of one thread.
class PieceEncoder {
 public:
  PieceEncoder(const ExportRequest& request, PerfettoPlan& plan)
      : plan_(plan),
        strings_(*request.query.snapshot->strings),
        reader_(request.query, request.range),
        flows_(&plan.flows),
        names_(strings_.size()),
        texts_(strings_.size()) {}

  Result<void> write(const EventPiece& piece, std::string& out);

 private:
  void begin_sequence(const EventPiece& piece);
  void begin(const PieceEvent& event);
  void end(const PieceEvent& event);
  void sample(const PieceEvent& event);
  void add_name(const PieceEvent& event);
  void add_args(const PieceEvent& event);
  void add_arg(const PieceEvent& event, std::size_t column, ColumnType type, std::uint64_t value);
  void add_flows_at_begin(const PieceEvent& event);
  void put(std::int64_t ticks);
  // Texts by the order in which a piece meets them, from 1: ids of the session depend on which of the threads that
  // read it met a text first.
  class PieceTexts {
   public:
    explicit PieceTexts(std::size_t count) : numbers_(count) {}
    [[nodiscard]] std::pair<std::uint64_t, bool> number(StringId id) {  // and whether it is new
      if (numbers_[id] != 0) return {numbers_[id], false};
      met_.push_back(id);
      return {numbers_[id] = static_cast<std::uint32_t>(met_.size()), true};
    }
    void clear() {
      for (const StringId id : met_) numbers_[id] = 0;
      met_.clear();
    }

   private:
    std::vector<std::uint32_t> numbers_;
    std::vector<StringId> met_;
  };
  void intern(std::uint32_t table, std::uint64_t iid, std::string_view text) {
    entry_.clear();
    entry_.varint(pf::kIid, iid);
    put_text(entry_, pf::kText, text);
    interned_.message(table, entry_);
  }

  PerfettoPlan& plan_;
  const StringPool& strings_;
  PieceReader reader_;
  PieceFlows flows_;
  PieceTexts names_, texts_;
  const Schema* schema_ = nullptr;
  bool instant_ = false;  // events of no length are moments
  bool whole_ = false;    // samples of a counter of whole numbers
  std::size_t value_column_ = 0;
  std::string tail_;  // of every packet of the sequence
  ProtoBytes event_, arg_, entry_, interned_, packet_, framed_;
  std::string* out_ = nullptr;
  std::uint64_t beside_ = 0;  // values of samples that have no place
};

Result<void> PieceEncoder::write(const EventPiece& piece, std::string& out) {
  const ExportTrack& track = plan_.events.tracks[piece.track];
  if (Result<void> opened = reader_.open(track, piece); !opened) return opened;
  if (reader_.events().empty() && reader_.open_before().empty()) return {};
  flows_.open(reader_);
  out_ = &out;
  schema_ = &reader_.schema();
  instant_ = schema_->kind == EventKind::instant || schema_->kind == EventKind::memory;
  value_column_ = schema_->find(Role::value).value_or(0);
  whole_ = is_sample(*schema_) && schema_->columns[value_column_].type != ColumnType::float64;
  begin_sequence(piece);
  if (is_sample(*schema_)) {
    beside_ = 0;
    for (const PieceEvent& event : reader_.events()) sample(event);
    plan_.beside_samples.fetch_add(beside_, std::memory_order_relaxed);
  } else {
    reader_.walk([this](const PieceEvent& event) { begin(event); }, [this](const PieceEvent& event) { end(event); });
  }
  names_.clear();
  texts_.clear();
  plan_.written.fetch_add(reader_.events().size(), std::memory_order_relaxed);
  return {};
}

// Every piece begins anew, so that pieces can be made at the same time and be cut out of the file.
void PieceEncoder::begin_sequence(const EventPiece& piece) {
  const Sequence& sequence = plan_.by_lane.at(piece.lane);
  ProtoBytes tail;
  tail.varint(pf::kSequenceId, sequence.id);
  tail.varint(pf::kSequenceFlags, pf::kNeedsState);
  tail_ = tail.view();

  interned_.clear();
  intern(pf::kCategories, kCategoryIid, schema_->name);
  if (!is_sample(*schema_)) {
    for (std::size_t column = 0; column < schema_->columns.size(); ++column) {
      intern(pf::kArgNames, column + 1, schema_->columns[column].name);
    }
  }
  ProtoBytes event_defaults, defaults;
  event_defaults.varint(pf::kDefaultTrack, sequence.track_uuid);
  defaults.message(pf::kTrackEventDefaults, event_defaults);
  packet_.clear();
  packet_.varint(pf::kSequenceId, sequence.id);
  packet_.varint(pf::kSequenceFlags, pf::kStateCleared);
  if (piece.first) packet_.varint(pf::kFirstOnSequence, 1);
  packet_.message(pf::kDefaults, defaults);
  packet_.message(pf::kInternedData, interned_);
  append_packet(*out_, packet_);
  interned_.clear();
}

void PieceEncoder::put(std::int64_t ticks) {
  packet_.clear();
  packet_.varint(pf::kTimestamp, static_cast<std::uint64_t>(reader_.ns(ticks) + plan_.shift_ns));
  packet_.append(tail_);
  if (!interned_.empty()) {
    packet_.message(pf::kInternedData, interned_);
    interned_.clear();
  }
  packet_.message(pf::kTrackEvent, event_);
  framed_.clear();
  framed_.message(pf::kPacket, packet_);
  *out_ += framed_.view();
}

void PieceEncoder::add_name(const PieceEvent& event) {
  const StringId name = reader_.name(event);
  if (name == 0) return;
  const auto [iid, is_new] = names_.number(name);
  event_.varint(pf::kNameIid, iid);
  if (is_new) intern(pf::kEventNames, iid, strings_.text(name));
}

void PieceEncoder::begin(const PieceEvent& event) {
  event_.clear();
  event_.varint(pf::kType, instant_ && event.begin == event.end ? pf::kInstant : pf::kBegin);
  event_.varint(pf::kCategoryIids, kCategoryIid);
  add_name(event);
  add_args(event);
  add_flows_at_begin(event);
  put(event.begin);
}

void PieceEncoder::end(const PieceEvent& event) {
  if (instant_ && event.begin == event.end) return;
  event_.clear();
  event_.varint(pf::kType, pf::kEnd);
  flows_.into(event, reader_.id(event), [&](std::uint32_t number, const ExportFlow& flow) {
    if (arrival(plan_, flow) == Arrival::end) event_.fixed64(pf::kTerminatingFlowIds, number + 1);
  });
  put(event.end);
}

void PieceEncoder::add_flows_at_begin(const PieceEvent& event) {
  const EventId id = reader_.id(event);
  flows_.out_of(event, id, [&](std::uint32_t number, const ExportFlow& flow) {
    if (!flow.retained()) return;
    if (arrival(plan_, flow) == Arrival::never) {
      plan_.flows_backwards.fetch_add(1, std::memory_order_relaxed);
    } else {
      event_.fixed64(pf::kFlowIds, number + 1);
    }
  });
  flows_.into(event, id, [&](std::uint32_t number, const ExportFlow& flow) {
    if (arrival(plan_, flow) == Arrival::begin) event_.fixed64(pf::kTerminatingFlowIds, number + 1);
  });
}

void PieceEncoder::sample(const PieceEvent& event) {
  const std::uint32_t at = event.row % kBlockEvents;
  const BlockValues values = reader_.at(event).column(value_column_, schema_->columns[value_column_].type);
  event_.clear();
  event_.varint(pf::kType, pf::kSample);
  if (!values.has(at)) {
    plan_.without_value.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  beside_ += reader_.beside(event, value_column_);
  if (whole_) {
    event_.varint(pf::kCounterValue, values.values[at]);
  } else {
    event_.real(pf::kDoubleCounterValue, std::bit_cast<double>(values.values[at]));
  }
  put(event.begin);
}

void PieceEncoder::add_args(const PieceEvent& event) {
  BlockReader& reader = reader_.at(event);
  const std::uint32_t at = event.row % kBlockEvents;
  for (std::size_t column = 0; column < schema_->columns.size(); ++column) {
    const ColumnType type = schema_->columns[column].type;
    const BlockValues values = reader.column(column, type);
    if (values.has(at)) add_arg(event, column, type, values.values[at]);
  }
}

void PieceEncoder::add_arg(const PieceEvent& event, std::size_t column, ColumnType type, std::uint64_t value) {
  arg_.clear();
  arg_.varint(pf::kArgNameIid, column + 1);
  switch (type) {
    case ColumnType::int64:
      arg_.varint(pf::kArgInt, value);
      break;
    case ColumnType::uint64:
      arg_.varint(pf::kArgUint, value);
      break;
    case ColumnType::float64:
      arg_.real(pf::kArgDouble, std::bit_cast<double>(value));
      break;
    case ColumnType::boolean:
      arg_.varint(pf::kArgBool, value);
      break;
    case ColumnType::string: {
      const auto id = static_cast<StringId>(value);
      if (id == 0) {
        arg_.bytes(pf::kArgString, {});
        break;
      }
      const auto [iid, is_new] = texts_.number(id);
      arg_.varint(pf::kArgStringIid, iid);
      if (is_new) intern(pf::kStringValues, iid, strings_.text(id));
      break;
    }
    case ColumnType::text:
      put_text(arg_, pf::kArgString, reader_.text(event, column));
      break;
  }
  event_.message(pf::kAnnotations, arg_);
}

// What comes before the events: clocks, facts, tracks.
class PreambleWriter {
 public:
  PreambleWriter(const ExportRequest& request, PerfettoPlan& plan)
      : request_(request), snapshot_(*request.query.snapshot), plan_(plan) {}

  std::string write();

 private:
  void add_clocks();
  void add_facts();
  void add_groups();
  void add_tracks();
  void order_lanes(const ExportTrack& track);
  void add_track(const ExportTrack& track, std::int64_t rank);
  void add_markers();
  std::uint64_t described(const Track& track);  // its uuid, after those above it
  void describe_below(const Track& track);
  void put_descriptor(const ProtoBytes& descriptor) {
    ProtoBytes packet;
    packet.varint(pf::kSequenceId, 1);
    packet.message(pf::kTrackDescriptor, descriptor);
    append_packet(out_, packet);
  }
  void name_track(ProtoBytes& descriptor, std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                  std::int64_t rank) const {
    descriptor.varint(pf::kUuid, uuid);
    if (parent != 0) descriptor.varint(pf::kParentUuid, parent);
    put_text(descriptor, pf::kTrackName, name);
    descriptor.varint(pf::kChildOrdering, pf::kExplicit);
    descriptor.varint(pf::kSiblingRank, static_cast<std::uint64_t>(rank));
  }
  void describe(ProtoBytes& descriptor, const Track& track) const {
    const TrackSnapshot* const of = snapshot_.find_track(track.number);
    put_text(descriptor, pf::kDescription,
             track_description(words_of_track(track, of == nullptr ? nullptr : of->schema.get())));
  }
  [[nodiscard]] bool is_thread(const Track& track) const;

  const ExportRequest& request_;
  const Snapshot& snapshot_;
  PerfettoPlan& plan_;
  std::unique_ptr<TrackGroups> groups_;
  std::map<TrackNumber, std::uint64_t> uuids_;
  std::uint32_t next_thread_ = 1;
  std::uint32_t next_sequence_ = kFirstTrackSequence;
  std::int64_t rank_ = 0;
  std::string out_;
};

// The time of the trace is that of the session; where the time of day is known, that is said beside.
void PreambleWriter::add_clocks() {
  const std::optional<std::int64_t> unix_ns = unix_begin_ns(snapshot_);
  if (!unix_ns) return;
  ProtoBytes snapshot;
  const auto add = [&](std::uint64_t clock, std::int64_t ns) {
    ProtoBytes one;
    one.varint(pf::kClockId, clock);
    one.varint(pf::kClockTime, static_cast<std::uint64_t>(ns));
    snapshot.message(pf::kClocks, one);
  };
  add(pf::kBoottime, plan_.shift_ns);
  add(pf::kRealtime, *unix_ns);
  snapshot.varint(pf::kPrimaryClock, pf::kBoottime);
  ProtoBytes packet;
  packet.varint(pf::kTimestamp, static_cast<std::uint64_t>(plan_.shift_ns));
  packet.varint(pf::kSequenceId, 1);
  packet.message(pf::kClockSnapshot, snapshot);
  append_packet(out_, packet);
}

void PreambleWriter::add_facts() {
  ProtoBytes bundle;
  for (const auto& [name, value] : session_facts(snapshot_)) {
    ProtoBytes fact;
    put_text(fact, pf::kIid, name);
    put_text(fact, pf::kText, value);
    bundle.message(2, fact);
  }
  if (bundle.empty()) return;
  ProtoBytes packet;
  packet.varint(pf::kTimestamp, static_cast<std::uint64_t>(plan_.shift_ns + snapshot_.begin_ns));
  packet.varint(pf::kSequenceId, 1);
  packet.message(pf::kChromeEvents, bundle);
  append_packet(out_, packet);
}

// Ids of processes and threads are made up: what a session keeps of them is names.
void PreambleWriter::add_groups() {
  ProtoBytes root;
  root.varint(pf::kUuid, 0);
  root.varint(pf::kChildOrdering, pf::kExplicit);
  root.varint(pf::kProcessOrdering, pf::kExplicitOrder);
  root.varint(pf::kThreadOrdering, pf::kExplicitOrder);
  put_descriptor(root);
  for (std::size_t i = 0; i < groups_->all().size(); ++i) {
    ProtoBytes process;
    process.varint(pf::kPid, next_thread_++);
    put_text(process, pf::kProcessName, groups_->all()[i].title);
    ProtoBytes descriptor;
    descriptor.varint(pf::kUuid, kGroupUuid + i);
    descriptor.message(pf::kProcess, process);
    descriptor.varint(pf::kChildOrdering, pf::kExplicit);
    descriptor.varint(pf::kSiblingRank, i);
    put_descriptor(descriptor);
  }
}

// The topmost tracks of threads are threads to Perfetto too.
bool PreambleWriter::is_thread(const Track& track) const {
  if (track.kind != "host_thread") return false;
  const TrackSnapshot* above = track.parent == kNone ? nullptr : snapshot_.find_track(track.parent);
  return above == nullptr || above->track->kind != "host_thread";
}

std::uint64_t PreambleWriter::described(const Track& track) {
  std::vector<const Track*> unknown;  // however deep they lie, and even where they lie in each other
  for (const Track* each = &track; each != nullptr;) {
    if (!uuids_.try_emplace(each->number, kTrackUuid + each->number).second) break;
    unknown.push_back(each);
    const TrackSnapshot* above = each->parent == kNone ? nullptr : snapshot_.find_track(each->parent);
    each = above == nullptr ? nullptr : &*above->track;
  }
  for (auto each = unknown.rbegin(); each != unknown.rend(); ++each) describe_below(**each);
  return uuids_.at(track.number);
}

// One that is known by its uuid, below one that is described.
void PreambleWriter::describe_below(const Track& track) {
  const std::uint64_t uuid = uuids_.at(track.number);
  const std::size_t group = groups_->of(track);
  const TrackSnapshot* above = track.parent == kNone ? nullptr : snapshot_.find_track(track.parent);
  const std::uint64_t parent = above != nullptr ? uuids_.at(above->track->number) : kGroupUuid + group;
  ProtoBytes descriptor;
  if (is_thread(track)) {
    ProtoBytes thread;
    thread.varint(pf::kThreadPid, group + 1);
    thread.varint(pf::kTid, next_thread_++);
    put_text(thread, pf::kThreadName, track.name);
    name_track(descriptor, uuid, kGroupUuid + group, track.name, rank_++);
    describe(descriptor, track);
    descriptor.message(pf::kThread, thread);
  } else {
    name_track(descriptor, uuid, parent, track.name, rank_++);
    describe(descriptor, track);
    descriptor.varint(pf::kMergeBehaviour, pf::kMergeNone);
  }
  put_descriptor(descriptor);
}

void PreambleWriter::add_track(const ExportTrack& track, std::int64_t rank) {
  const Track& of = *track.snapshot->track;
  const Schema& schema = *track.snapshot->schema;
  const TrackSnapshot* above = of.parent == kNone ? nullptr : snapshot_.find_track(of.parent);
  if (is_sample(schema)) {
    const std::uint64_t parent = above != nullptr ? described(*above->track) : kGroupUuid + groups_->of(of);
    ProtoBytes counter;
    if (of.unit == Unit::ns) counter.varint(pf::kUnit, pf::kUnitNs);
    if (of.unit == Unit::bytes) counter.varint(pf::kUnit, pf::kUnitBytes);
    if (!of.unit.empty() && of.unit != Unit::ns && of.unit != Unit::bytes) put_text(counter, pf::kUnitName, of.unit);
    for (const std::uint32_t lane : track.snapshot->lanes) {
      const std::uint64_t uuid = kLaneUuid + snapshot_.lanes[lane].number();
      ProtoBytes descriptor;
      name_track(descriptor, uuid, parent, of.name, rank);
      describe(descriptor, of);
      descriptor.message(pf::kCounter, counter);
      descriptor.varint(pf::kMergeBehaviour, pf::kMergeNone);
      put_descriptor(descriptor);
      plan_.by_lane[lane] = {uuid, next_sequence_++};
    }
    return;
  }
  const std::vector<std::uint32_t>& lanes = track.snapshot->lanes;
  if (track.nested || lanes.size() == 1) {
    plan_.by_lane[lanes.front()] = {described(of), next_sequence_++};
    return;
  }
  // Lanes that overlap anyhow: siblings that are drawn as one.
  const std::uint64_t parent = is_thread(of)      ? described(of)
                               : above != nullptr ? described(*above->track)
                                                  : kGroupUuid + groups_->of(of);
  for (const std::uint32_t lane : lanes) {
    const std::uint64_t uuid = kLaneUuid + snapshot_.lanes[lane].number();
    ProtoBytes descriptor;
    name_track(descriptor, uuid, parent, of.name, rank);
    describe(descriptor, of);
    descriptor.varint(pf::kMergeBehaviour, pf::kMergeByKey);
    descriptor.varint(pf::kMergeKeyInt, of.number + 1);
    put_descriptor(descriptor);
    plan_.by_lane[lane] = {uuid, next_sequence_++};
  }
}

void PreambleWriter::add_tracks() {
  for (const ExportTrack& track : plan_.events.tracks) {
    add_track(track, rank_++);
    order_lanes(track);
  }
}

void PreambleWriter::order_lanes(const ExportTrack& track) {
  for (const std::uint32_t lane : track.snapshot->lanes) {
    plan_.order.emplace(snapshot_.lanes[lane].number(), plan_.order.size());
  }
}

// The user's marks: a track of their own.
void PreambleWriter::add_markers() {
  const std::vector<Marker> markers = request_.query.store.markers();
  if (markers.empty()) return;
  for (std::size_t i = 0; i < markers.size(); ++i) {  // spans may overlap: a track each, drawn as one
    const Marker& marker = markers[i];
    const std::int64_t end = marker.end_ns.value_or(marker.ts_ns);
    if (!request_.range.holds(marker.ts_ns, end) || marker.ts_ns + plan_.shift_ns < 0) continue;
    const std::uint64_t uuid = kMarkerUuid + i;
    ProtoBytes descriptor;
    name_track(descriptor, uuid, 0, "Markers", rank_);
    descriptor.varint(pf::kMergeBehaviour, pf::kMergeByKey);
    descriptor.varint(pf::kMergeKeyInt, 0);
    put_descriptor(descriptor);
    const auto add = [&](std::uint64_t type, std::int64_t ns) {
      ProtoBytes event;
      event.varint(pf::kType, type);
      event.varint(11, uuid);
      if (type != pf::kEnd) {
        event.bytes(22, "marker");
        put_text(event, 23, marker.name);
        ProtoBytes note;
        note.bytes(10, "note");
        put_text(note, pf::kArgString, marker.note);
        if (!marker.note.empty()) event.message(pf::kAnnotations, note);
      }
      ProtoBytes packet;
      packet.varint(pf::kTimestamp, static_cast<std::uint64_t>(ns + plan_.shift_ns));
      packet.varint(pf::kSequenceId, 1);
      packet.message(pf::kTrackEvent, event);
      append_packet(out_, packet);
    };
    if (marker.end_ns) {
      add(pf::kBegin, marker.ts_ns);
      add(pf::kEnd, end);
    } else {
      add(pf::kInstant, marker.ts_ns);
    }
  }
}

std::string PreambleWriter::write() {
  std::vector<const TrackSnapshot*> tracks;
  for (const ExportTrack& track : plan_.events.tracks) {
    for (const Track* above : tracks_above(snapshot_, *track.snapshot->track)) {
      tracks.push_back(snapshot_.find_track(above->number));
    }
    tracks.push_back(track.snapshot);
  }
  groups_ = std::make_unique<TrackGroups>(tracks);
  add_clocks();
  add_facts();
  add_groups();
  add_tracks();
  add_markers();
  return std::move(out_);
}

[[nodiscard]] bool has_place(const TrackSnapshot& track) {
  return track.schema->kind != EventKind::table && track.schema->kind != EventKind::flow;
}

}  // namespace

Result<ExportReport> write_perfetto(const ExportRequest& request, ExportOutput& output) {
  PerfettoPlan plan;
  ExportPlan events = TRY(plan_export(request, has_place));
  plan.events = std::move(events);
  FlowEnds flows = TRY(FlowEnds::build(request, plan.events));
  plan.flows = std::move(flows);
  const Snapshot& snapshot = *request.query.snapshot;
  plan.shift_ns = snapshot.begin_ns < 0 ? -snapshot.begin_ns : 0;

  ExportReport report;
  const auto put = [&](std::string_view bytes) -> Result<void> {
    report.bytes += bytes.size();
    return output.write(bytes);
  };
  TRY(put(PreambleWriter(request, plan).write()));
  std::vector<std::unique_ptr<PieceEncoder>> encoders(request.query.pool.concurrency());
  const Result<void> written = write_pieces(
      request.query, plan.events.pieces.size(),
      [&](std::size_t piece, std::size_t worker, std::string& out) -> Result<void> {
        if (!encoders[worker]) encoders[worker] = std::make_unique<PieceEncoder>(request, plan);
        return encoders[worker]->write(plan.events.pieces[piece], out);
      },
      [&](std::size_t, std::string_view bytes) -> Result<void> {
        if (request.progress) request.progress(plan.written.load(std::memory_order_relaxed), plan.events.events);
        return put(bytes);
      });
  if (!written) return written.error();

  report.rows = plan.written - plan.without_value;
  report.losses = losses_by_kind(request, {.markers = false});
  add_flow_losses(plan.flows, report.losses);
  if (plan.flows_backwards > 0) {
    report.losses.push_back(
        fmt::format("{} dependencies lead to events that had ended when their source began, "
                    "which flows cannot; they are left out",
                    format_count(plan.flows_backwards)));
  }
  add_sample_losses(plan.beside_samples, plan.without_value, report.losses);
  return report;
}

}  // namespace accelscope::exporting
