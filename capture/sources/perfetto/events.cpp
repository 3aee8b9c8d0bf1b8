// Track events: which track and table they are of, what they carry, and the old forms of them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "capture/sources/perfetto/importer.h"
#include "capture/sources/perfetto/write/gpu_events.h"
#include "core/base/capped.h"

namespace accelscope::capture::sources::perfetto {
namespace {

constexpr std::int64_t kMostMicroseconds = INT64_MAX / 1000;
// Of begins and of durations, so that ends are numbers too.
constexpr std::int64_t kMostNs = std::int64_t{1} << 62;
constexpr std::uint64_t kExactInDouble = std::uint64_t{1} << 53;
constexpr std::uint64_t kHashPrime = 0x9E3779B97F4A7C15U;

// Calls of a device's API and operators of a framework, where the exporter names no category.
struct NameRule {
  std::string_view begin;
  bool capital_next;  // "cuLaunchKernel", not "cute"
  EventTableKind table;
};
constexpr NameRule kNameRules[] = {
    {"aten::", false, EventTableKind::cpu_op},     {"autograd::", false, EventTableKind::cpu_op},
    {"c10d::", false, EventTableKind::cpu_op},     {"cuda", true, EventTableKind::runtime_call},
    {"cu", true, EventTableKind::runtime_call},    {"hip", true, EventTableKind::runtime_call},
    {"hsa_", false, EventTableKind::runtime_call},
};

[[nodiscard]] EventTableKind table_of_name(std::string_view name) {
  for (const NameRule& rule : kNameRules) {
    if (!name.starts_with(rule.begin)) continue;
    if (!rule.capital_next) return rule.table;
    if (name.size() > rule.begin.size() && name[rule.begin.size()] >= 'A' && name[rule.begin.size()] <= 'Z' &&
        name.find_first_of(" :(") == std::string_view::npos) {
      return rule.table;
    }
  }
  return EventTableKind::event;
}

constexpr std::string_view kGpuApis[] = {"GPU_API_UNDEFINED", "GPU_API_OPEN_GL", "GPU_API_VULKAN",
                                         "GPU_API_OPEN_CL",   "GPU_API_CUDA",    "GPU_API_HIP"};

struct Location {
  std::string_view file;
  std::string_view function;
  std::int64_t line = 0;
};

[[nodiscard]] Location read_location(std::string_view message) {
  Location location;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) location.file = fields.bytes();
    if (fields.number() == 3) location.function = fields.bytes();
    if (fields.number() == 4) location.line = fields.integer();
  }
  return location;
}

[[nodiscard]] bool is_asynchronous(char phase) noexcept {
  return std::string_view("benSTpF").find(phase) != std::string_view::npos;
}

}  // namespace

InternedText* PerfettoImporter::name_entry(SequenceState& state) {
  const std::optional<std::uint64_t> iid = event_.name_iid ? event_.name_iid : event_.legacy.name_iid;
  return iid ? state.names.find(*iid) : nullptr;
}

EventTableKind PerfettoImporter::table_of_event(SequenceState& state, const PerfettoTrack* track) {
  const auto of_category = [](InternedText& entry) {
    constexpr std::uint8_t kNotAsked = 255;
    if (entry.table == kNotAsked) entry.table = static_cast<std::uint8_t>(table_of_tool_category(entry.text));
    return static_cast<EventTableKind>(entry.table);
  };
  EventTableKind table = EventTableKind::event;
  for (const std::uint64_t iid : event_.category_iids) {
    InternedText* const entry = state.categories.find(iid);
    if (entry != nullptr && table == EventTableKind::event) table = of_category(*entry);
  }
  for (const std::string_view category : event_.categories) {
    if (table == EventTableKind::event) table = table_of_tool_category(category);
  }
  if (table != EventTableKind::event) return table;
  if (!event_.gpu_correlation.empty() || event_.gpu_api) return EventTableKind::runtime_call;
  if (event_.category_iids.empty() && event_.categories.empty()) {
    InternedText* const entry = name_entry(state);
    if (entry == nullptr) {
      table = table_of_name(event_.name);
    } else {
      constexpr std::uint8_t kNotAsked = 255;
      if (entry->table == kNotAsked) entry->table = static_cast<std::uint8_t>(table_of_name(entry->text));
      table = static_cast<EventTableKind>(entry->table);
    }
  }
  return track == nullptr ? table : book_.table_by_name(*track, table);
}

void PerfettoImporter::learn_event(std::string_view message, SequenceState& state) {
  event_.read(message);
  EventTableKind table = table_of_event(state, nullptr);
  const bool instant =
      event_.type == TrackEventFields::kInstant ||
      (event_.legacy.phase != 0 && std::string_view("iIRnTp").find(event_.legacy.phase) != std::string_view::npos);
  if (instant) table = EventTableKind::instant;
  const bool allocation = book_.holds_allocations(event_.track ? *event_.track : state.default_track.value_or(0));
  if (allocation) table = EventTableKind::memory;
  // Ends have no category; what they carry are columns of the begins.
  std::vector<EventTableKind> tables = {table};
  if (event_.type == TrackEventFields::kEnd && table == EventTableKind::event) {
    for (const EventTableKind other : {EventTableKind::runtime_call, EventTableKind::cpu_op}) tables.push_back(other);
  }
  // Tracks of devices are known by their names, which are not looked at here.
  if (table == EventTableKind::event) {
    tables.push_back(EventTableKind::kernel);
    tables.push_back(EventTableKind::memcpy);
  }
  for (const std::string_view annotation : event_.annotations) {
    const Argument argument = read_annotation(annotation, state, scratch_);
    for (const EventTableKind each : tables) tables_.learn(each, argument);
  }
  const std::pair<bool, OwnColumn> seen[] = {
      {!event_.source_location.empty() || event_.source_location_iid, OwnColumn::source_location},
      {!event_.source_location.empty() || event_.source_location_iid, OwnColumn::function},
      {!event_.task_execution.empty(), OwnColumn::source_location},
      {!event_.task_execution.empty(), OwnColumn::function},
      {!event_.log_message.empty(), OwnColumn::log_message},
      {!event_.log_message.empty(), OwnColumn::source_location},
      {!event_.callstack.empty() || event_.callstack_iid, OwnColumn::stack},
      {event_.correlation.has_value(), OwnColumn::correlation_number},
      {!event_.correlation_text.empty() || event_.correlation_iid, OwnColumn::correlation_text},
      {event_.gpu_api.has_value(), OwnColumn::gpu_api},
      {event_.legacy.phase != 0 && std::string_view("STp").find(event_.legacy.phase) != std::string_view::npos,
       OwnColumn::phase},
      {event_.thread_delta_us || event_.thread_absolute_us, OwnColumn::thread_time},
      {event_.thread_delta_us || event_.thread_absolute_us || event_.legacy.thread_duration_us,
       OwnColumn::thread_duration},
      {event_.instructions_delta || event_.instructions_absolute, OwnColumn::instructions},
      {event_.instructions_delta || event_.instructions_absolute || event_.legacy.instructions,
       OwnColumn::instruction_count},
  };
  for (const auto& [any, column] : seen) {
    if (any) tables_.learn(table, column);
  }
  Fields correlation(event_.gpu_correlation);
  while (correlation.next()) {
    if (correlation.number() == 1) gpu_.learn_submission();
    if (correlation.number() == 2) gpu_.learn_wait();
  }
}

bool PerfettoImporter::event_times(SequenceState& state, const std::optional<std::int64_t>& packet_ns,
                                   SliceMark& mark) {
  const auto has_time = [this, &mark](const std::optional<std::int64_t>& ns) {
    if (ns) mark.ns = *ns;
    if (!ns) ++counts_.without_time;
    return ns.has_value();
  };
  if (event_.any_seldom()) {
    std::optional<std::int64_t> ns = packet_ns;
    if (!seldom_times(state, ns, mark)) return false;
    if (!has_time(ns)) return false;
  } else if (!has_time(packet_ns)) {
    return false;
  }
  if (mark.ns >= kMostNs || mark.ns <= -kMostNs) {
    ++counts_.bad_times;
    return false;
  }
  return true;
}

// Of events that say themselves when they were, as old ones do.
bool PerfettoImporter::seldom_times(SequenceState& state, std::optional<std::int64_t>& ns, SliceMark& mark) {
  const bool any_delta = event_.delta_us || event_.thread_delta_us || event_.instructions_delta;
  if (any_delta && !state.times_valid) {
    ++counts_.without_state;
    return false;
  }
  for (const auto* us : {&event_.delta_us, &event_.absolute_us, &event_.thread_delta_us, &event_.thread_absolute_us}) {
    if (*us && (**us > kMostMicroseconds || **us < -kMostMicroseconds)) {
      ++counts_.bad_times;
      return false;
    }
  }
  // The old forms are of the monotonic clock.
  if (event_.delta_us) {
    state.time_ns = capped_sum(state.time_ns, *event_.delta_us * 1000);
    ns = to_trace(kMonotonic, state.time_ns);
  } else if (event_.absolute_us && *event_.absolute_us != 0) {
    ns = to_trace(kMonotonic, *event_.absolute_us * 1000);
  }
  if (event_.thread_delta_us) {
    state.thread_time_ns = capped_sum(state.thread_time_ns, *event_.thread_delta_us * 1000);
    mark.thread_ns = state.thread_time_ns;
  } else if (event_.thread_absolute_us) {
    mark.thread_ns = *event_.thread_absolute_us * 1000;
  }
  if (event_.instructions_delta) {
    state.instructions = capped_sum(state.instructions, *event_.instructions_delta);
    mark.instructions = state.instructions;
  } else if (event_.instructions_absolute) {
    mark.instructions = *event_.instructions_absolute;
  }
  return true;
}

PerfettoTrack& PerfettoImporter::event_track(const PacketFields& packet, const SequenceState& state) {
  const std::uint64_t uuid = event_.track ? *event_.track : state.default_track.value_or(0);
  if (uuid != 0) return book_.of_uuid(uuid);
  const LegacyFields& legacy = event_.legacy;
  const bool known = state.pid.has_value();
  const bool falls_back = ((!event_.track || !event_.has_type) && known) || legacy.pid || (legacy.tid && known);
  if (!falls_back) return book_.of_uuid(0);
  const std::int64_t pid = legacy.pid ? *legacy.pid : state.pid.value_or(0);
  constexpr std::int64_t kNobody = -1;
  const std::int64_t tid = legacy.tid ? *legacy.tid : legacy.pid ? kNobody : state.tid.value_or(kNobody);
  if (pid == kNobody) return book_.of_uuid(0);
  return tid == kNobody ? book_.of_process(packet.machine, pid) : book_.of_thread(packet.machine, pid, tid);
}

void PerfettoImporter::add_category(SequenceState& state, SliceMark& mark) {
  const std::size_t count = event_.category_iids.size() + event_.categories.size();
  if (count == 0) return;
  if (count == 1 && event_.categories.empty()) {
    InternedText* const entry = state.categories.find(event_.category_iids.front());
    if (entry == nullptr) {
      ++counts_.unknown_names;
      return;
    }
    if (entry->id == 0) entry->id = session_.intern(entry->text);
    mark.category = entry->id;
    return;
  }
  joined_.clear();
  const auto add = [this](std::string_view category) {
    if (!joined_.empty()) joined_ += ',';
    joined_ += category;
  };
  for (const std::uint64_t iid : event_.category_iids) {
    if (const InternedText* const entry = state.categories.find(iid)) add(entry->text);
  }
  for (const std::string_view category : event_.categories) add(category);
  mark.category = session_.intern(joined_);
}

void PerfettoImporter::add_location(SequenceState& state, const EventTable& table, SliceMark& mark) {
  const auto put = [&](const Location& location) {
    if (!location.file.empty()) {
      joined_.assign(location.file);
      if (location.line > 0) fmt::format_to(std::back_inserter(joined_), ":{}", location.line);
      tables_.set_text(table, OwnColumn::source_location, joined_, mark.values, mark.rest);
    }
    tables_.set_text(table, OwnColumn::function, location.function, mark.values, mark.rest);
  };
  const auto of_entry = [](const InternedLocation* entry) {
    return entry == nullptr ? Location{} : Location{entry->file, entry->function, entry->line};
  };
  if (event_.source_location_iid) {
    InternedLocation* const entry = state.locations.find(*event_.source_location_iid);
    if (entry == nullptr) return;
    // Every event has one where any has; its texts are asked for once.
    const std::uint32_t place = table.column(OwnColumn::source_location);
    const std::uint32_t function = table.column(OwnColumn::function);
    if (place == EventTable::kNoColumn || function == EventTable::kNoColumn) return put(of_entry(entry));
    if (!entry->known) {
      entry->known = true;
      if (!entry->file.empty()) {
        entry->place_id =
            session_.intern(entry->line > 0 ? fmt::format("{}:{}", entry->file, entry->line) : entry->file);
      }
      if (!entry->function.empty()) entry->function_id = session_.intern(entry->function);
    }
    if (entry->place_id != 0) mark.values.string(place, entry->place_id);
    if (entry->function_id != 0) mark.values.string(function, entry->function_id);
    return;
  }
  if (!event_.source_location.empty()) return put(read_location(event_.source_location));
  if (event_.task_execution.empty()) return;
  Fields fields(event_.task_execution);
  while (fields.next()) {
    if (fields.number() == 1) put(of_entry(state.locations.find(fields.whole())));
  }
}

void PerfettoImporter::add_log_message(SequenceState& state, const EventTable& table, SliceMark& mark) {
  std::string_view body;
  Fields fields(event_.log_message);
  while (fields.next()) {
    if (fields.number() == 1) {
      const InternedLocation* const entry = state.locations.find(fields.whole());
      if (entry != nullptr) {
        joined_ = entry->line > 0 ? fmt::format("{}:{}", entry->file, entry->line) : entry->file;
        tables_.set_text(table, OwnColumn::source_location, joined_, mark.values, mark.rest);
      }
    }
    if (fields.number() == 2) {
      const InternedText* const entry = state.log_bodies.find(fields.whole());
      if (entry != nullptr) body = entry->text;
    }
  }
  tables_.set_text(table, OwnColumn::log_message, body, mark.values, mark.rest);
}

void PerfettoImporter::add_stack(SequenceState& state, const EventTable& table, SliceMark& mark) {
  if (event_.callstack_iid) {
    InternedCallstack* const entry = state.callstacks.find(*event_.callstack_iid);
    if (entry == nullptr) return;
    tables_.set_text(table, OwnColumn::stack, state.stack_text(*entry), mark.values, mark.rest);
    return;
  }
  std::vector<std::string> frames;
  Fields fields(event_.callstack);
  while (fields.next()) {
    if (fields.number() != 1) continue;
    std::string_view function;
    std::string_view file;
    std::uint64_t line = 0;
    Fields inner(fields.bytes());
    while (inner.next()) {
      if (inner.number() == 1) function = inner.bytes();
      if (inner.number() == 2) file = inner.bytes();
      if (inner.number() == 3) line = inner.whole();
    }
    frames.push_back(file.empty() ? std::string(function)
                     : line > 0   ? fmt::format("{} ({}:{})", function, file, line)
                                  : fmt::format("{} ({})", function, file));
  }
  std::reverse(frames.begin(), frames.end());  // they come outermost first
  tables_.set_text(table, OwnColumn::stack, fmt::format("{}", fmt::join(frames, "\n")), mark.values, mark.rest);
}

void PerfettoImporter::add_arguments(SequenceState& state, const EventTable& table, SliceMark& mark) {
  for (const std::string_view annotation : event_.annotations) {
    tables_.bind(table, read_annotation(annotation, state, scratch_), mark.values, mark.rest);
  }
  if (event_.source_location_iid || !event_.source_location.empty() || !event_.task_execution.empty()) {
    add_location(state, table, mark);
  }
  if (!event_.log_message.empty()) add_log_message(state, table, mark);
  if (event_.callstack_iid || !event_.callstack.empty()) add_stack(state, table, mark);
  if (event_.correlation) {
    tables_.set_number(table, OwnColumn::correlation_number, static_cast<std::int64_t>(*event_.correlation),
                       mark.values, mark.rest);
  }
  std::string_view correlation = event_.correlation_text;
  if (event_.correlation_iid) {
    const InternedText* const entry = state.correlations.find(*event_.correlation_iid);
    if (entry != nullptr) correlation = entry->text;
  }
  tables_.set_text(table, OwnColumn::correlation_text, correlation, mark.values, mark.rest);
  if (event_.gpu_api && *event_.gpu_api < std::size(kGpuApis)) {
    tables_.set_text(table, OwnColumn::gpu_api, kGpuApis[*event_.gpu_api], mark.values, mark.rest);
  }
  if (event_.unread_field != 0) ++counts_.unread_arguments[event_.unread_field];
}

void PerfettoImporter::add_flows(std::int64_t ns, SliceMark& mark) const {
  for (const std::uint64_t id : event_.flows) mark.flows.push_back({id, id, ns, FlowRole::pass});
  for (const std::uint64_t id : event_.ending_flows) mark.flows.push_back({id, id, ns, FlowRole::terminate});
  const LegacyFields& legacy = event_.legacy;
  if (legacy.bind_id && legacy.direction >= 1 && legacy.direction <= 3) {
    constexpr FlowRole kRoles[] = {FlowRole::end, FlowRole::begin, FlowRole::step};
    const std::uint64_t key = tracks::flow_key(*legacy.bind_id, 0xB1);
    mark.flows.push_back({key, *legacy.bind_id, ns, kRoles[legacy.direction - 1]});
  }
  if (!event_.gpu_correlation.empty()) add_gpu_flows(mark);
}

void PerfettoImporter::add_gpu_flows(SliceMark& mark) const {
  Fields fields(event_.gpu_correlation);
  while (fields.next()) {
    const FlowRole role = fields.number() == 1 ? FlowRole::submits : FlowRole::waits;
    if (fields.number() > 2) continue;
    fields.each(WireType::varint, [&](std::uint64_t id) { mark.flows.push_back({id, id, mark.ns, role}); });
  }
}

void PerfettoImporter::add_counter(std::uint64_t uuid, std::uint32_t sequence, std::int64_t ns, double value) {
  PerfettoTrack& track = book_.of_uuid(uuid);
  if (track.kind != PerfettoTrack::Kind::counter) {
    ++counts_.counters_without_track;
    return;
  }
  value *= track.counter.multiplier;
  if (track.counter.incremental) {
    double& base = track.counter_base[sequence];
    base += value;
    value = base;
  }
  book_.saw_event(track, ns, {});
  session_.sample(book_.counter_row(track), ns, value);
  ++counts_.samples;
}

void PerfettoImporter::take_counter(SequenceState& state, const PacketFields& packet, std::int64_t ns) {
  const std::optional<std::uint64_t> uuid = event_.track ? event_.track : state.default_track;
  if (!uuid) {
    ++counts_.counters_without_track;
  } else if (event_.counter) {
    const auto bits = static_cast<std::uint64_t>(*event_.counter);
    const std::uint64_t size = *event_.counter < 0 ? 0 - bits : bits;
    if (size >= kExactInDouble && size >> std::countr_zero(size) >= kExactInDouble) ++counts_.rounded_counters;
    add_counter(*uuid, packet.sequence, ns, static_cast<double>(*event_.counter));
  } else if (event_.real_counter) {
    add_counter(*uuid, packet.sequence, ns, *event_.real_counter);
  } else {
    ++counts_.counters_without_value;
  }
}

void PerfettoImporter::take_extra_counters(SequenceState& state, std::int64_t ns) {
  const std::vector<std::uint64_t>& tracks = event_.extra_tracks.empty() ? state.extra_counters : event_.extra_tracks;
  for (std::size_t i = 0; i < event_.extra_values.size(); ++i) {
    if (i < tracks.size()) {
      add_counter(tracks[i], state.id, ns, static_cast<double>(event_.extra_values[i]));
    } else {
      ++counts_.counters_without_track;
    }
  }
  const std::vector<std::uint64_t>& real_tracks =
      event_.extra_real_tracks.empty() ? state.extra_real_counters : event_.extra_real_tracks;
  for (std::size_t i = 0; i < event_.extra_real_values.size(); ++i) {
    if (i < real_tracks.size()) {
      add_counter(real_tracks[i], state.id, ns, event_.extra_real_values[i]);
    } else {
      ++counts_.counters_without_track;
    }
  }
}

// Old events say their thread's time themselves, new ones by a counter: both become one.
void PerfettoImporter::add_thread_counter(const PerfettoTrack& thread, std::string_view name, std::int64_t value,
                                          std::int64_t ns) {
  if (thread.kind != PerfettoTrack::Kind::thread) return;
  joined_ = fmt::format("{} {}", name, thread.uuid);
  PerfettoTrack& track = book_.own(joined_, thread.uuid);
  track.kind = PerfettoTrack::Kind::counter;
  if (track.name.empty()) track.name = name;
  book_.saw_event(track, ns, {});
  session_.sample(book_.counter_row(track), ns, static_cast<double>(value));
  ++counts_.samples;
}

void PerfettoImporter::take_event(const PacketFields& packet, SequenceState& state,
                                  const std::optional<std::int64_t>& packet_ns) {
  event_.read(packet.message);
  ++counts_.track_events;
  if (event_.broken) ++counts_.broken_packets;
  mark_.clear();
  if (!event_times(state, packet_ns, mark_)) return;
  const std::int64_t ns = mark_.ns;
  saw(ns);
  if (!event_.extra_values.empty() || !event_.extra_real_values.empty()) take_extra_counters(state, ns);
  if (event_.type == TrackEventFields::kCounter) return take_counter(state, packet, ns);

  PerfettoTrack& track = event_track(packet, state);
  if (mark_.thread_ns) add_thread_counter(track, "thread_time", *mark_.thread_ns, ns);
  if (mark_.instructions) add_thread_counter(track, "thread_instruction_count", *mark_.instructions, ns);
  InternedText* const entry = event_.has_name ? nullptr : name_entry(state);
  std::string_view name = event_.name;
  if (entry != nullptr) {
    if (entry->id == 0) entry->id = session_.intern(entry->text);
    mark_.name = entry->id;
    name = entry->text;
  } else if (event_.has_name) {
    mark_.name = session_.intern(name);
  } else if (event_.name_iid || event_.legacy.name_iid) {
    ++counts_.unknown_names;
    scratch_ = fmt::format("name {}", event_.name_iid ? *event_.name_iid : *event_.legacy.name_iid);
    mark_.name = session_.intern(scratch_);
  }
  add_category(state, mark_);
  if (event_.legacy.phase != 0 || event_.type == TrackEventFields::kNone) {
    return take_legacy(track, packet.machine, state, mark_, name);
  }
  using Kind = SliceMark::Kind;
  switch (event_.type) {
    case TrackEventFields::kBegin:
      mark_.kind = Kind::begin;
      mark_.table = table_of_event(state, &track);
      break;
    case TrackEventFields::kEnd:
      mark_.kind = Kind::end;
      mark_.table = slices_.open_table(track).value_or(EventTableKind::event);
      break;
    case TrackEventFields::kInstant:
      mark_.kind = Kind::instant;
      mark_.table = track.holds_allocations() ? EventTableKind::memory : EventTableKind::instant;
      break;
    case TrackEventFields::kState:
      if (track.kind == PerfettoTrack::Kind::thread || track.kind == PerfettoTrack::Kind::process) {
        ++counts_.states_without_track;
        return;
      }
      mark_.kind = Kind::state;
      mark_.table = EventTableKind::thread_state;
      break;
    default:
      ++counts_.without_type;
      return;
  }
  if (mark_.kind != Kind::end) book_.saw_event(track, ns, mark_.kind == Kind::state ? std::string_view{} : name);
  add_arguments(state, tables_.open(mark_.table), mark_);
  add_flows(ns, mark_);
  slices_.add(track, mark_);
}

PerfettoTrack& PerfettoImporter::async_track(const PerfettoTrack& beside, std::string_view name, std::int64_t machine,
                                             const SequenceState& /*state*/) {
  const LegacyFields& legacy = event_.legacy;
  const std::int64_t pid = book_.process_of(beside);
  const bool local = legacy.id_kind == LegacyFields::Id::local;
  std::uint64_t key = tracks::flow_key(mark_.category, legacy.id);
  for (const char letter : legacy.scope) key = (key ^ static_cast<unsigned char>(letter)) * kHashPrime;
  if (local) key = tracks::flow_key(key, static_cast<std::uint64_t>(pid));
  joined_ = fmt::format("async {:x} {} {}", key, local, local ? machine : 0);
  PerfettoTrack& process = book_.of_process(machine, pid);
  const std::uint64_t parent = pid == 0 ? 0 : process.uuid;
  PerfettoTrack& track = book_.own(joined_, parent);
  track.asynchronous = true;
  track.machine = machine;
  if (track.name.empty()) track.name = name;
  return track;
}

// The letters of the JSON format, in traces of Chrome.
void PerfettoImporter::take_legacy(PerfettoTrack& of, std::int64_t machine, SequenceState& state, SliceMark& mark,
                                   std::string_view name) {
  using Kind = SliceMark::Kind;
  const LegacyFields& legacy = event_.legacy;
  constexpr char kPhases[] = {0, 'B', 'E', 'i', 'C'};
  const char phase = legacy.phase != 0                  ? legacy.phase
                     : event_.type < std::size(kPhases) ? kPhases[event_.type]
                                                        : static_cast<char>(0);
  if (phase == 0) {
    ++counts_.without_type;
    return;
  }
  PerfettoTrack* track = &of;
  if (is_asynchronous(phase)) {
    if (legacy.id_kind == LegacyFields::Id::none) {
      ++counts_.async_without_id;
      return;
    }
    track = &async_track(of, name, machine, state);
  }
  switch (phase) {
    case 'B':
    case 'b':
    case 'S':
      mark.kind = Kind::begin;
      mark.table = table_of_event(state, track);
      break;
    case 'E':
    case 'e':
    case 'F':
      mark.kind = Kind::end;
      mark.table = slices_.open_table(*track).value_or(EventTableKind::event);
      break;
    case 'X':
      mark.kind = Kind::complete;
      mark.table = table_of_event(state, track);
      if (legacy.duration_us >= kMostNs / 1000 || legacy.duration_us < 0) {
        ++counts_.bad_times;
        return;
      }
      mark.duration = legacy.duration_us * 1000;
      saw(mark.ns + mark.duration);
      break;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
    case 'T':
    case 'p':
      mark.kind = Kind::instant;
      mark.table = EventTableKind::instant;
      if (legacy.instant_scope == 1) track = &book_.of_uuid(0);
      if (legacy.instant_scope == 2) track = &book_.of_process(machine, book_.process_of(of));
      break;
    case 's':
    case 't':
    case 'f': {
      mark.kind = Kind::instant;
      mark.flows_to_enclosing = true;
      mark.flows_to_next = phase == 'f' && !legacy.bind_to_enclosing;
      std::uint64_t key = tracks::flow_key(tracks::flow_key(mark.category, mark.name), legacy.id);
      if (legacy.id_kind == LegacyFields::Id::local) {
        key = tracks::flow_key(key, static_cast<std::uint64_t>(book_.process_of(of)));
      }
      const FlowRole role = phase == 's' ? FlowRole::begin : phase == 't' ? FlowRole::step : FlowRole::end;
      mark.flows.push_back({key, legacy.id, mark.ns, role});
      return slices_.add(*track, mark);
    }
    case 'M':
      return take_metadata(of, state, name);
    default:
      ++counts_.unknown_phases[phase];
      return;
  }
  const EventTable& table = tables_.open(mark.table);
  if (mark.kind != Kind::end) book_.saw_event(*track, mark.ns, name);
  add_arguments(state, table, mark);
  if (phase == 'S' || phase == 'T' || phase == 'p') {
    tables_.set_text(table, OwnColumn::phase, std::string_view(&phase, 1), mark.values, mark.rest);
  }
  if (mark.kind == Kind::complete && legacy.thread_duration_us) {
    tables_.set_number(table, OwnColumn::thread_duration,
                       capped_product(*legacy.thread_duration_us, std::int64_t{1000}), mark.values, mark.rest);
  }
  if (mark.kind == Kind::complete && legacy.instructions) {
    tables_.set_number(table, OwnColumn::instruction_count, *legacy.instructions, mark.values, mark.rest);
  }
  if (is_asynchronous(phase) && !legacy.use_async_tts) {
    mark.thread_ns.reset();
    mark.instructions.reset();
  }
  add_flows(mark.ns, mark);
  slices_.add(*track, mark);
}

void PerfettoImporter::take_metadata(const PerfettoTrack& track, SequenceState& state, std::string_view name) {
  std::string value;
  for (const std::string_view annotation : event_.annotations) {
    const Argument argument = read_annotation(annotation, state, scratch_);
    value = json_field_of(argument, joined_).text;
  }
  const std::int64_t pid = book_.process_of(track);
  if (name == "process_name") {
    book_.name_process(track.machine, pid, value);
  } else if (name == "thread_name") {
    book_.name_thread(track.machine, pid, book_.thread_of(track), value);
  } else {
    ++counts_.unknown_phases['M'];
  }
}

// What is done once every packet was read: open slices, flows, rows, the report.

namespace {

struct PacketName {
  std::uint32_t field;
  std::string_view name;
};
// Kinds of packets that are not read, as the format calls them.
constexpr PacketName kPacketNames[] = {
    {1, "ftrace events (scheduler and kernel)"},
    {5, "Chrome JSON within the trace"},
    {7, "statistics of processes"},
    {9, "battery counters"},
    {33, "the trace's configuration"},
    {34, "ftrace statistics"},
    {35, "statistics of the tracing service"},
    {36, "marks of the service"},
    {37, "heap profiles"},
    {38, "power rails"},
    {39, "Android logs"},
    {40, "statistics of the system"},
    {45, "facts about the system"},
    {46, "triggers"},
    {48, "Android packages"},
    {49, "Chrome benchmarks"},
    {51, "facts about Chrome"},
    {54, "sampled call stacks (streaming profile)"},
    {56, "heap graphs"},
    {57, "graphics frames"},
    {63, "Vulkan memory"},
    {64, "GPU logs"},
    {65, "Vulkan calls"},
    {66, "sampled call stacks (perf)"},
    {67, "CPU facts"},
    {72, "descriptions of extensions"},
    {74, "Android energy"},
    {75, "service events"},
    {90, "ranges of interest"},
    {135, "sampled call stacks"},
};

[[nodiscard]] std::string packet_name(std::uint32_t field) {
  for (const PacketName& name : kPacketNames) {
    if (name.field == field) return std::string(name.name);
  }
  return fmt::format("packets of field {}", field);
}

constexpr PacketName kArgumentNames[] = {
    {24, "cc_scheduler_state"},     {25, "chrome_user_event"},        {26, "chrome_keyed_service"},
    {27, "chrome_legacy_ipc"},      {28, "chrome_histogram_sample"},  {29, "chrome_latency_info"},
    {32, "chrome_frame_reporter"},  {35, "chrome_message_pump"},      {38, "chrome_mojo_event_info"},
    {39, "application_state_info"}, {40, "renderer_scheduler_state"}, {41, "window_handle_event_info"},
    {43, "content_settings"},       {49, "active_processes"},         {50, "screenshot"},
};

[[nodiscard]] std::string argument_name(std::uint32_t field) {
  for (const PacketName& name : kArgumentNames) {
    if (name.field == field) return std::string(name.name);
  }
  return fmt::format("field {}", field);
}

}  // namespace

Result<void> PerfettoImporter::finish(const PacketStream::Losses& losses) {
  gpu_.finish();
  if (Result<void> done = slices_.finish(last_ns_); !done) return done;
  flows_.join();
  book_.describe_rows();
  write_report(losses);
  tracks::UnorderedSession::Finish options;
  options.path = name_;
  options.unix_ns = clocks_.unix_at_zero();
  options.about_rows = [this] {
    book_.write_tables();
    gpu_.write_tables();
  };
  options.unjoined_sources = "calls name work of a GPU that is not in the trace, so there is no arrow for them";
  return session_.finish(options);
}

void PerfettoImporter::write_report(const PacketStream::Losses& losses) {
  SessionWriter& writer = session_.writer();
  writer.set_meta("source_format", "Perfetto trace");
  const auto& gpu = gpu_.counts();
  const auto set_counts = [&](std::string_view table, std::uint64_t packets, std::uint64_t left_out) {
    if (packets > 0) set_row_counts(writer, table, packets, packets - std::min(packets, left_out));
  };
  set_counts("track_event", counts_.track_events,
             counts_.bad_times + counts_.without_type + counts_.async_without_id + counts_.states_without_track +
                 counts_.counters_without_value + counts_.counters_without_track);
  set_counts("gpu_render_stage_event", gpu.stages, gpu.without_queue);
  std::uint64_t unread = counts_.without_state;
  for (const auto& [field, count] : counts_.unread_packets) unread += count;
  set_counts("other_packet", counts_.packets - std::min(counts_.packets, counts_.track_events + gpu.stages), unread);
  tracks::UnorderedSession& session = session_;
  ImportReport& report = session.report();
  const SliceStacks::Counts& slices = slices_.counts();
  report.note("begin_without_end",
              "slices had not ended when the trace did; they are drawn until its end and marked \"unfinished\"",
              slices.unfinished);
  report.note("ends_without_begin", "ends of slices whose begin is not in the trace were left out",
              slices.ends_without_begin);
  report.note("flow_without_event", "flows that are bound to a slice, where there is none, were left out",
              slices.flows_without_slice);
  report.note("flow_without_partner", "flows go on or end that have not begun, so there is no arrow for them",
              flows_.without_begin());
  report.note("values_left_out", "arguments of slices' ends were left out, because it was not known what they are of",
              slices.arguments_lost);
  report.note("values_left_out", "slices carry more than can be sorted; what has no columns of its own was left out",
              slices.too_large);
  report.note("values_left_out", "arguments were left out of events that carry more than any event should",
              tables_.arguments_left_out());
  for (const auto& [field, count] : counts_.unread_packets) {
    report.note("unknown_types", fmt::format("{} are not read here", packet_name(field)), count);
  }
  for (const auto& [field, count] : counts_.unread_arguments) {
    report.note("unknown_fields", fmt::format("arguments of the type {} are not read here", argument_name(field)),
                count);
  }
  for (const auto& [phase, count] : counts_.unknown_phases) {
    report.note("unknown_phase", fmt::format("old events of the phase \"{}\" are not read here", phase), count);
  }
  report.note("names_left_out", "tracks have no descriptor in the trace; they are called as their first event",
              book_.undescribed());
  report_losses(losses);
}

void PerfettoImporter::report_losses(const PacketStream::Losses& losses) {
  ImportReport& report = session_.report();
  if (!losses.failure.empty()) report.note("unreadable", losses.failure);
  report.note(
      "truncated",
      fmt::format("the file ends within a packet, at byte {}; copy it completely or record it again", losses.cut_at),
      losses.cut_packets);
  report.note("stray_bytes",
              fmt::format("bytes that are no packets were skipped, the first at byte {}; the file is damaged: copy or "
                          "record it again",
                          losses.skipped_at),
              losses.skipped_bytes);
  report.note(
      "unreadable_events",
      fmt::format("compressed packets could not be inflated wholly, the first at byte {}", losses.broken_pack_at),
      losses.broken_packs);
  report.note(
      "rows_mended",
      fmt::format("packets are damaged and were read as far as they go, the first at byte {}", counts_.broken_at),
      counts_.broken_packets);
  report.note("lost_events",
              "times that packets were lost before one of their sequence: the recorder's buffer was full",
              counts_.lost_before);
  report.note("rows_skipped",
              "packets were skipped because what they refer to was lost, or has not been in the trace yet",
              counts_.without_state);
  report.note("clocks_not_aligned",
              "times are in a clock that no snapshot relates to the trace's; they were taken as they are",
              counts_.guessed_clocks);
  report.note("rows_skipped", "events without a time were skipped", counts_.without_time);
  report.note("rows_skipped", "events whose time is out of range were skipped", counts_.bad_times);
  report.note("rows_skipped", "events that do not say whether they begin or end something were skipped",
              counts_.without_type);
  report.note("rows_skipped", "asynchronous events without an id were skipped", counts_.async_without_id);
  report.note("rows_skipped", "states on a track that is a thread's or a process's own were skipped",
              counts_.states_without_track);
  report.note("rows_skipped", "work of a GPU on a queue that is not in the trace was skipped",
              gpu_.counts().without_queue);
  report.note("bad_counter", "counter events without a value or a track were skipped",
              counts_.counters_without_value + counts_.counters_without_track);
  report.note(
      "rounded_counter",
      "counters hold whole numbers beyond 2^53; they were rounded to the nearest of the 53 bits that a sample has",
      counts_.rounded_counters);
  report.note("bad_counter", "samples of GPU counters without a time were skipped",
              gpu_.counts().counters_without_time);
  report.note("bad_counter", "GPU counters that no descriptor names were skipped", gpu_.counts().counters_without_name);
  report.note("names_left_out", "names refer to texts that are not in the trace; they are shown as numbers",
              counts_.unknown_names);
}

}  // namespace accelscope::capture::sources::perfetto
