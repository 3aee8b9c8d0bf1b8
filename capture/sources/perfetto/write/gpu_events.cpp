#include "capture/sources/perfetto/write/gpu_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "capture/sources/perfetto/read/wire.h"
#include "capture/sources/perfetto/write/slice_stacks.h"
#include "capture/sources/tracks/gpu_tables.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::perfetto {

struct GpuEvents::StageFields {
  std::uint64_t event_id = 0;
  std::int64_t duration = 0;
  std::int64_t gpu = 0;
  std::uint64_t context = 0;
  std::optional<std::uint64_t> queue_iid;
  std::optional<std::uint64_t> stage_iid;
  std::uint64_t queue = 0;  // of old events
  std::uint64_t stage = 0;
  std::optional<std::uint64_t> render_target;
  std::optional<std::uint64_t> render_pass;
  std::optional<std::uint64_t> command_buffer;
  std::optional<std::uint64_t> submission;
  std::string_view name;
  std::string_view stage_name;
  std::string_view stage_description;
  std::uint64_t category = 0;
  std::string_view launch;
  InternedKernel* kernel = nullptr;
  InternedContext* known_context = nullptr;
  std::vector<std::string_view> extra;
  std::vector<std::uint64_t> waits;
  std::string_view specifications;
};

namespace {

constexpr std::uint64_t kComputeStage = 2;

struct StageWord {
  std::string_view word;  // in the stage's name, in small letters
  EventTableKind table;
};
constexpr std::array kStageWords = {
    StageWord{"memcpy", EventTableKind::memcpy},      StageWord{"memory copy", EventTableKind::memcpy},
    StageWord{"memory_copy", EventTableKind::memcpy}, StageWord{"memset", EventTableKind::memset},
    StageWord{"memory set", EventTableKind::memset},  StageWord{"annotation", EventTableKind::gpu_user_annotation},
    StageWord{"sync", EventTableKind::sync},          StageWord{"kernel", EventTableKind::kernel},
    StageWord{"compute", EventTableKind::kernel},
};

// Names that exporters give to what the common tables have under another one.
struct CommonName {
  std::string_view said;
  std::string_view column;
};
constexpr std::array kCommonNames = {
    CommonName{"device id", "device"},
    CommonName{"context id", "context"},
    CommonName{"stream id", "stream"},
    CommonName{"registers_per_thread", "registers per thread"},
    CommonName{"shared_mem_dynamic", "shared memory"},
    CommonName{"memory kind", "kind"},
};
[[nodiscard]] std::string_view common_name(std::string_view said) {
  for (const CommonName& name : kCommonNames) {
    if (name.said == said) return name.column;
  }
  return said;
}

// MeasureUnit of GPU counters, by number.
constexpr std::string_view kMeasureUnits[] = {
    "",   "bit", "Kb", "Mb",     "Gb",    "Tb",        "Pb",       "B",           "KB", "MB", "GB",
    "TB", "PB",  "Hz", "KHz",    "MHz",   "GHz",       "THz",      "PHz",         "ns", "us", "ms",
    "s",  "min", "h",  "Vertex", "Pixel", "Triangle",  "mW",       "W",           "kW", "J",  "V",
    "A",  "C",   "F",  "K",      "%",     "Primitive", "Fragment", "Instruction",
};
[[nodiscard]] std::string_view unit_word(std::uint64_t unit) {
  return unit < std::size(kMeasureUnits) ? kMeasureUnits[unit] : std::string_view("?");
}

struct Dimensions {
  std::uint64_t x = 1;
  std::uint64_t y = 1;
  std::uint64_t z = 1;
};
[[nodiscard]] Dimensions read_dimensions(std::string_view message) {
  Dimensions size;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) size.x = fields.whole();
    if (fields.number() == 2) size.y = fields.whole();
    if (fields.number() == 3) size.z = fields.whole();
  }
  return size;
}

struct CounterSpec {
  std::optional<std::uint64_t> id;
  std::string name;
  std::string unit;
  bool forwards = false;
};
[[nodiscard]] CounterSpec read_spec(std::string_view message) {
  constexpr std::uint64_t kForwards = 2;
  CounterSpec spec;
  std::string below;
  Fields fields(message);
  while (fields.next()) {
    if (fields.into(At{1, spec.id}, At{2, spec.name})) continue;
    switch (fields.number()) {
      case 7:
        fields.each(WireType::varint, [&](std::uint64_t unit) {
          if (!spec.unit.empty()) spec.unit += ':';
          spec.unit += unit_word(unit);
        });
        break;
      case 8:
        fields.each(WireType::varint, [&](std::uint64_t unit) {
          if (unit_word(unit).empty()) return;
          below += below.empty() ? '/' : ':';
          below += unit_word(unit);
        });
        break;
      case 11:
        spec.forwards = fields.whole() == kForwards;
        break;
      default:
        break;
    }
  }
  spec.unit += below;
  return spec;
}

struct ExtraData {
  std::string_view name;
  std::string_view value;
};
[[nodiscard]] ExtraData read_extra(std::string_view message) {
  ExtraData extra;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) extra.name = fields.bytes();
    if (fields.number() == 2) extra.value = fields.bytes();
  }
  return extra;
}

// "stream 7" of "stream 007".
[[nodiscard]] std::string readable_queue(std::string_view name) {
  constexpr std::string_view kStream = "stream ";
  if (!lower_case(name).starts_with(kStream)) return std::string(name);
  std::string_view digits = name.substr(kStream.size());
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::string(name);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return fmt::format("stream {}", digits);
}

constexpr ColumnSpec kGpuColumns[] = {
    {"gpu", columns::kInt, "", columns::kIds, "GPU", "Its number in the trace."},
    {"vendor", columns::kString, "", columns::kDetails, "Vendor", ""},
    {"model", columns::kString, "", columns::kDetails, "Model", ""},
    {"architecture", columns::kString, "", columns::kDetails, "Architecture", ""},
    {"uuid", columns::kString, "", columns::kIds, "UUID", "The vendor's name of this one device."},
    {"pci", columns::kString, "", columns::kIds, "PCI", "Where it is plugged in."},
    {"extra", columns::kString, "", columns::kDetails, "More", "What else the producer says of it, as JSON."},
};

constexpr ColumnSpec kQueueColumns[] = {
    {"gpu", columns::kInt, "", columns::kIds, "GPU", "Its number in the trace."},
    {"number", columns::kInt, "", columns::kIds, "Number", "The queue's number in the trace."},
    {"description", columns::kString, "", columns::kDetails, "Description", "What the trace says of it."},
    {"row", columns::kInt, "", columns::kIds, "Row", "Number of the row of its events."},
};
constexpr ColumnSpec kGroupColumns[] = {
    {"group_id", columns::kInt, "", columns::kIds, "Group", "The format's or the producer's number of it."},
    {"description", columns::kString, "", columns::kDetails, "Description", "What the producer says of it."},
    {"row", columns::kInt, "", columns::kIds, "Row", "Number of the row of the counter that is in it."},
};

}  // namespace

GpuEvents::StageFields GpuEvents::read_stage(std::string_view message, SequenceState& state) const {
  StageFields read;
  Fields fields(message);
  while (fields.next()) {
    if (fields.into(At{1, read.event_id}, At{2, read.duration}, At{3, read.queue}, At{4, read.stage},
                    At{5, read.context}, At{7, read.specifications}, At{8, read.render_target}, At{9, read.render_pass},
                    At{10, read.submission}, At{11, read.gpu}, At{12, read.command_buffer}, At{13, read.queue_iid},
                    At{14, read.stage_iid}, At{17, read.name}, At{21, read.launch}))
      continue;
    switch (fields.number()) {
      case 6:
        read.extra.push_back(fields.bytes());
        break;
      case 18:
        fields.each(WireType::varint, [&](std::uint64_t id) { read.waits.push_back(id); });
        break;
      case 19:
        read.kernel = state.kernels.find(fields.whole());
        break;
      case 20:
        if (const InternedText* const name = state.names.find(fields.whole())) read.name = name->text;
        break;
      default:
        break;
    }
  }
  if (read.stage_iid) {
    if (const InternedStage* const stage = state.stages.find(*read.stage_iid)) {
      read.stage_name = stage->name;
      read.stage_description = stage->description;
      read.category = stage->category;
    }
  } else if (const auto old = old_stages_.find(read.stage); old != old_stages_.end()) {
    read.stage_name = old->second.name;
    read.stage_description = old->second.description;
  }
  read.known_context = state.contexts.find(read.context);
  return read;
}

EventTableKind GpuEvents::table_of(const StageFields& fields) const {
  const std::string name = lower_case(fields.stage_name);
  for (const StageWord& word : kStageWords) {
    if (name.find(word.word) != std::string::npos) return word.table;
  }
  if (fields.kernel != nullptr || !fields.launch.empty()) return EventTableKind::kernel;
  return fields.category == kComputeStage ? EventTableKind::kernel : EventTableKind::device_event;
}

void GpuEvents::take_specifications(std::string_view message) {
  const auto described = [](std::string_view text) {
    OldName name;
    Fields fields(text);
    while (fields.next()) {
      if (fields.number() == 1) name.name = fields.bytes();
      if (fields.number() == 2) name.description = fields.bytes();
    }
    return name;
  };
  std::uint64_t queue = 0;
  std::uint64_t stage = 0;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 2) old_queues_[queue++] = described(fields.bytes());
    if (fields.number() == 3) old_stages_[stage++] = described(fields.bytes());
    if (fields.number() != 1) continue;
    std::uint64_t context = 0;
    std::int64_t pid = 0;
    Fields inner(fields.bytes());
    while (inner.next()) {
      if (inner.number() == 1) context = inner.whole();
      if (inner.number() == 2) pid = inner.integer32();
    }
    old_contexts_[context] = pid;
  }
}

void GpuEvents::learn_stage(std::string_view message, SequenceState& state) {
  const StageFields read = read_stage(message, state);
  if (!read.specifications.empty()) {
    take_specifications(read.specifications);
    return;
  }
  const EventTableKind table = table_of(read);
  any_wait_ = any_wait_ || !read.waits.empty();
  const auto learn = [&](Argument argument) {
    argument.name = common_name(argument.name);
    tables_.learn(table, argument);
  };
  for (const std::string_view message_of : read.extra) {
    const ExtraData extra = read_extra(message_of);
    Argument argument;
    argument.kind = Argument::Kind::text;
    argument.name = extra.name;
    argument.text = extra.value;
    learn(argument);
  }
  if (read.kernel != nullptr) {
    tables_.learn(table, OwnColumn::kernel_name);
    if (!read.kernel->architecture.empty()) tables_.learn(table, OwnColumn::architecture);
    for (const std::string& each : read.kernel->arguments) learn(read_compute_argument(each, state));
  }
  Fields launch(read.launch);
  while (launch.next()) {
    if (launch.number() == 3) learn(read_compute_argument(launch.bytes(), state));
    if (launch.number() == 1 && table != EventTableKind::kernel) tables_.learn(table, OwnColumn::grid);
    if (launch.number() == 2 && table != EventTableKind::kernel) tables_.learn(table, OwnColumn::block);
  }
  tables_.learn(table, OwnColumn::stage);
  tables_.learn(table, OwnColumn::event_id);
  if (!read.stage_description.empty()) tables_.learn(table, OwnColumn::description);
  if (read.known_context != nullptr) tables_.learn(table, OwnColumn::process);
  const std::pair<bool, OwnColumn> optional[] = {{read.render_target.has_value(), OwnColumn::render_target},
                                                 {read.render_pass.has_value(), OwnColumn::render_pass},
                                                 {read.command_buffer.has_value(), OwnColumn::command_buffer},
                                                 {read.submission.has_value(), OwnColumn::submission},
                                                 {read.context != 0, OwnColumn::context}};
  for (const auto& [any, column] : optional) {
    if (any) tables_.learn(table, column);
  }
}

std::uint32_t GpuEvents::stage_row(const StageFields& fields, const EventTable& table, std::string_view queue,
                                   std::string_view description) {
  const std::string name = readable_queue(queue);
  const std::string key =
      fmt::format("{} {} {} {}", fields.gpu, static_cast<int>(table.kind), name, fields.queue_iid ? 0 : fields.queue);
  const auto found = rows_.find(key);
  if (found != rows_.end()) return found->second;
  const chrome::ChromeTableRule& rule = chrome::rule_of(table.kind);
  Track track;
  track.device = tracks::gpu_name(fields.gpu);
  switch (rule.place) {
    case chrome::TablePlace::dma_queue:
      track.kind = "dma_queue";
      break;
    case chrome::TablePlace::annotation:
      track.kind = "layer";
      break;
    case chrome::TablePlace::barrier:
      track.kind = "barrier";
      break;
    default:
      track.kind = "stream";
  }
  track.name = rule.place == chrome::TablePlace::stream ? name : fmt::format("{} {}", rule.label, name);
  const std::uint32_t row = session_.add_track(table.number, std::move(track), {tracks::kDeviceRows, rule.order});
  rows_.emplace(key, row);
  queues_.push_back({row, name, std::string(description), fields.gpu, fields.queue_iid.value_or(fields.queue)});
  return row;
}

void GpuEvents::bind_argument(const EventTable& table, Argument argument, tracks::EventValues& values,
                              std::string& rest) {
  const std::string_view known = common_name(argument.name);
  if (known != argument.name) {
    argument.name = known;
    argument.entry = nullptr;  // its columns are those of the former name
  }
  tables_.bind(table, argument, values, rest);
}

void GpuEvents::bind_launch(const EventTable& table, std::string_view message, SequenceState& state,
                            tracks::EventValues& values, std::string& rest) {
  const auto text = [&](std::size_t common, OwnColumn own, const Dimensions& size) {
    const std::string words = fmt::format("[{}, {}, {}]", size.x, size.y, size.z);
    if (table.kind == EventTableKind::kernel) {
      values.string(common, session_.intern(words));
    } else {
      tables_.set_text(table, own, words, values, rest);
    }
  };
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) text(tracks::KernelColumns::grid, OwnColumn::grid, read_dimensions(fields.bytes()));
    if (fields.number() == 2) text(tracks::KernelColumns::block, OwnColumn::block, read_dimensions(fields.bytes()));
    if (fields.number() == 3) bind_argument(table, read_compute_argument(fields.bytes(), state), values, rest);
  }
}

std::int64_t GpuEvents::take_stage(std::string_view message, SequenceState& state, std::int64_t ns) {
  const StageFields read = read_stage(message, state);
  if (!read.specifications.empty()) take_specifications(read.specifications);
  const bool old_only = !read.queue_iid && !read.stage_iid && read.event_id == 0 && read.duration == 0;
  if (!read.specifications.empty() && old_only) return ns;
  const EventTable& table = tables_.open(table_of(read));
  std::string queue;
  std::string_view queue_description;
  if (read.queue_iid) {
    const InternedStage* const known = state.stages.find(*read.queue_iid);
    if (known == nullptr) {
      ++counts_.without_queue;
      return ns;
    }
    queue = known->name;
    queue_description = known->description;
  } else if (const auto old = old_queues_.find(read.queue); old != old_queues_.end()) {
    queue = old->second.name;
    queue_description = old->second.description;
  } else {
    queue = fmt::format("queue {}", read.queue);
  }
  static thread_local tracks::EventValues values;
  static thread_local std::string rest;
  values.clear();
  rest.clear();
  for (const std::string_view each : read.extra) {
    const ExtraData extra = read_extra(each);
    Argument argument;
    argument.kind = Argument::Kind::text;
    argument.name = extra.name;
    argument.text = extra.value;
    bind_argument(table, argument, values, rest);
  }
  bind_launch(table, read.launch, state, values, rest);
  std::string_view name = read.name;
  if (read.kernel != nullptr) {
    for (const std::string& each : read.kernel->arguments) {
      bind_argument(table, read_compute_argument(each, state), values, rest);
    }
    tables_.set_text(table, OwnColumn::kernel_name, read.kernel->name, values, rest);
    tables_.set_text(table, OwnColumn::architecture, read.kernel->architecture, values, rest);
    if (name.empty()) name = read.kernel->demangled.empty() ? read.kernel->name : read.kernel->demangled;
  }
  std::string made_name;
  if (name.empty() && read.stage_name.empty()) {
    made_name = fmt::format("render stage {}", read.stage_iid.value_or(read.stage));
    name = made_name;
  }
  if (name.empty()) name = read.stage_name;
  tables_.set_text(table, OwnColumn::stage, read.stage_name, values, rest);
  tables_.set_text(table, OwnColumn::description, read.stage_description, values, rest);
  tables_.set_number(table, OwnColumn::event_id, static_cast<std::int64_t>(read.event_id), values, rest);
  const std::pair<std::optional<std::uint64_t>, OwnColumn> handles[] = {
      {read.render_target, OwnColumn::render_target},
      {read.render_pass, OwnColumn::render_pass},
      {read.command_buffer, OwnColumn::command_buffer},
      {read.submission, OwnColumn::submission},
      {read.context == 0 ? std::nullopt : std::optional(read.context), OwnColumn::context}};
  for (const auto& [handle, column] : handles) {
    if (handle) tables_.set_number(table, column, static_cast<std::int64_t>(*handle), values, rest);
  }
  const auto old_context = old_contexts_.find(read.context);
  if (read.known_context != nullptr) {
    tables_.set_number(table, OwnColumn::process, read.known_context->pid, values, rest);
  } else if (old_context != old_contexts_.end()) {
    tables_.set_number(table, OwnColumn::process, old_context->second, values, rest);
  }
  EventTables::set_rest(table, rest, values);
  const std::uint32_t row = stage_row(read, table, queue, queue_description);
  const tracks::WrittenEvent event = session_.write(row, ns, read.duration, session_.intern(name), values);
  ++counts_.stages;
  if (any_submission_) {
    session_.add_flow(tracks::FlowSide::target, submission_key(read.event_id), read.event_id, event);
  }
  if (any_wait_) {
    const StringId wait = session_.intern("wait");
    session_.add_flow(tracks::FlowSide::source, wait_key(read.event_id), read.event_id, event, wait);
    for (const std::uint64_t id : read.waits) {
      session_.add_flow(tracks::FlowSide::target, wait_key(id), id, event, wait);
    }
  }
  return capped_sum(ns, std::max<std::int64_t>(0, read.duration));
}

void GpuEvents::add_descriptor(std::string_view descriptor, std::int64_t gpu,
                               std::map<std::uint64_t, std::string>& track_keys) {
  Fields fields(descriptor);
  while (fields.next()) {
    if (fields.number() != 1) continue;
    const CounterSpec spec = read_spec(fields.bytes());
    if (!spec.id || spec.name.empty()) {
      ++counts_.counters_without_name;
      continue;
    }
    std::string key = fmt::format("{} {}", gpu, spec.name);
    const auto [place, added] = counters_.try_emplace(key);
    if (added) {
      place->second.row =
          session_.add_track(session_.counter_table(),
                             {.name = spec.name, .kind = "counter", .device = tracks::gpu_name(gpu), .unit = spec.unit},
                             {tracks::kDeviceRows, 100});
    }
    place->second.forwards = spec.forwards;
    track_keys.try_emplace(*spec.id, std::move(key));
  }
}

// Groups that counters name, those that the format knows by number and those that the descriptor makes.
void GpuEvents::add_groups(std::string_view descriptor, const std::map<std::uint64_t, std::string>& track_keys) {
  struct Group {
    std::string name;
    std::string description;
    std::vector<std::uint64_t> counters;
  };
  std::map<std::uint64_t, Group> groups;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> named;  // counter and group
  Fields fields(descriptor);
  while (fields.next()) {
    std::uint64_t id = 0;
    if (fields.number() == 1) {
      bool any = false;
      Fields spec(fields.bytes());
      std::vector<std::uint64_t> in;
      while (spec.next()) {
        if (spec.number() == 1) id = spec.whole();
        if (spec.number() == 10)
          spec.each(WireType::varint, [&](std::uint64_t group) { in.push_back(group), any = true; });
      }
      if (!any) in.push_back(0);
      for (const std::uint64_t group : in) named.emplace_back(id, group);
    } else if (fields.number() == 6) {
      Group group;
      Fields inner(fields.bytes());
      while (inner.next()) {
        if (inner.number() == 1) id = inner.whole();
        if (inner.number() == 2) group.name = inner.bytes();
        if (inner.number() == 3) group.description = inner.bytes();
        if (inner.number() == 4)
          inner.each(WireType::varint, [&](std::uint64_t counter) { group.counters.push_back(counter); });
      }
      groups[id] = std::move(group);
    }
  }
  for (const auto& [id, group] : groups) {
    for (const std::uint64_t counter : group.counters) named.emplace_back(counter, id);
  }
  for (const auto& [counter, group] : named) {
    const auto key = track_keys.find(counter);
    if (key == track_keys.end()) continue;
    const Group& of = groups[group];
    const std::uint32_t row = counter_track(key->second).row;
    const bool known = std::any_of(groups_.begin(), groups_.end(), [&, in = group](const CounterGroup& other) {
      return other.row == row && other.id == in;
    });
    if (!known) groups_.push_back({group, of.name, of.description, row});
  }
}

// A value is of the time since the sample before, unless its descriptor says otherwise.
void GpuEvents::add_sample(CounterTrack& track, std::int64_t ns, double value) {
  if (track.forwards) return session_.sample(track.row, ns, value);
  if (track.any) session_.sample(track.row, track.last_ns, value);
  track.any = true;
  track.last_ns = ns;
}

void GpuEvents::take_counters(std::string_view message, SequenceState& state, std::optional<std::int64_t> ns) {
  std::int64_t gpu = 0;
  std::optional<std::uint64_t> iid;
  std::string_view descriptor;
  std::vector<std::string_view> samples;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) descriptor = fields.bytes();
    if (fields.number() == 2) samples.push_back(fields.bytes());
    if (fields.number() == 3) gpu = fields.integer32();
    if (fields.number() == 4) iid = fields.whole();
  }
  std::map<std::uint64_t, std::string>* keys = &old_counters_;
  if (iid) {
    keys = &interned_counters_[{state.id, *iid}];
    InternedCounters* const interned = state.gpu_counters.find(*iid);
    if (interned != nullptr && !interned->descriptor.empty()) {
      keys->clear();
      add_descriptor(interned->descriptor, interned->gpu, *keys);
      add_groups(interned->descriptor, *keys);
      interned->descriptor.clear();  // taken
    }
  }
  if (!descriptor.empty()) {
    add_descriptor(descriptor, gpu, *keys);
    add_groups(descriptor, *keys);
  }
  if (!samples.empty() && !ns) {
    counts_.counters_without_time += samples.size();
    return;
  }
  for (const std::string_view sample : samples) {
    std::optional<std::uint64_t> id;
    std::optional<double> value;
    Fields inner(sample);
    while (inner.next()) {
      if (inner.number() == 1) id = inner.whole();
      if (inner.number() == 2) value = static_cast<double>(inner.integer());
      if (inner.number() == 3) value = inner.real();
    }
    if (!id || !value) continue;
    const auto key = keys->find(*id);
    if (key == keys->end()) {
      ++counts_.counters_without_name;
    } else {
      add_sample(counter_track(key->second), *ns, *value);
    }
  }
}

void GpuEvents::take_frequency(std::string_view message, std::int64_t ns) {
  std::int64_t gpu = 0;
  std::uint64_t frequency = 0;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) gpu = fields.integer();
    if (fields.number() == 2) frequency = fields.whole();
  }
  const std::string key = fmt::format("{} \x01gpufreq", gpu);
  CounterTrack& track = counters_[key];
  if (track.row == kNone) {
    track.forwards = true;
    track.row =
        session_.add_track(session_.counter_table(),
                           {.name = "gpufreq", .kind = "counter", .device = tracks::gpu_name(gpu), .unit = "kHz"},
                           {tracks::kDeviceRows, 100});
  }
  session_.sample(track.row, ns, static_cast<double>(frequency));
}

void GpuEvents::take_memory(std::string_view message, std::int64_t ns) {
  std::int64_t gpu = 0;
  std::int64_t pid = 0;
  std::uint64_t size = 0;
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == 1) gpu = fields.integer();
    if (fields.number() == 2) pid = fields.integer();
    if (fields.number() == 3) size = fields.whole();
  }
  const std::string name = pid == 0 ? "GPU Memory" : fmt::format("GPU Memory, process {}", pid);
  CounterTrack& track = counters_[fmt::format("{} \x01{}", gpu, name)];
  if (track.row == kNone) {
    track.forwards = true;
    track.row = session_.add_track(session_.counter_table(),
                                   {.name = name, .kind = "counter", .device = tracks::gpu_name(gpu), .unit = "B"},
                                   {tracks::kDeviceRows, 101});
  }
  session_.sample(track.row, ns, static_cast<double>(size));
}

void GpuEvents::take_info(std::string_view message) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() != 1) continue;
    if (info_table_ == kNone) {
      info_table_ = session_.add_track(session_.add_table(make_schema({"gpu", EventKind::table, "name"}, kGpuColumns)),
                                       {.name = "GPUs", .kind = "table"}, {1'000'000, 0});
    }
    std::string name;
    std::string more;
    tracks::EventValues values;
    values.integer(0, gpus_);
    Fields gpu(fields.bytes());
    while (gpu.next()) {
      const auto text = [&](std::size_t column) {
        if (!gpu.bytes().empty()) values.string(column, session_.intern(gpu.bytes()));
      };
      switch (gpu.number()) {
        case 1:
          name = gpu.bytes();
          break;
        case 2:
        case 3:
        case 4:
          text(gpu.number() - 1);
          break;
        case 5: {
          std::string hex;
          for (const char byte : gpu.bytes()) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
          if (!hex.empty()) values.string(4, session_.intern(hex));
          break;
        }
        case 6: {
          const ExtraData extra = read_extra(gpu.bytes());
          more += more.empty() ? "{" : ",";
          json::append_json(more, {extra.name, extra.value, json::JsonKind::string});
          break;
        }
        case 7:
          text(5);
          break;
        default:
          break;
      }
    }
    if (!more.empty()) values.string(6, session_.intern(more + "}"));
    session_.write(info_table_, 0, 0, session_.intern(name), values);
    ++gpus_;
  }
}

void GpuEvents::write_tables() {
  tracks::EventValues values;
  const auto text = [&](std::size_t column, std::string_view value) {
    if (!value.empty()) values.string(column, session_.intern(value));
  };
  if (!queues_.empty()) {
    const std::uint32_t row =
        session_.add_track(session_.add_table(make_schema({"gpu_queue", EventKind::table, "name"}, kQueueColumns)),
                           {.name = "Queues of GPUs", .kind = "table"}, {1'000'000, 0});
    for (const Queue& queue : queues_) {
      values.clear();
      values.integer(0, queue.gpu);
      values.integer(1, static_cast<std::int64_t>(queue.number));
      text(2, queue.description);
      values.integer(3, session_.number(queue.row));
      session_.write(row, 0, 0, session_.intern(queue.name), values);
    }
  }
  if (groups_.empty()) return;
  const std::uint32_t row = session_.add_track(
      session_.add_table(make_schema({"gpu_counter_group", EventKind::table, "name"}, kGroupColumns)),
      {.name = "Groups of GPU counters", .kind = "table"}, {1'000'000, 0});
  for (const CounterGroup& group : groups_) {
    values.clear();
    values.integer(0, static_cast<std::int64_t>(group.id));
    text(1, group.description);
    values.integer(2, session_.number(group.row));
    session_.write(row, 0, 0, session_.intern(group.name), values);
  }
}

void GpuEvents::finish() {
  // Nothing says what comes after the last sample.
  for (auto& [key, track] : counters_) {
    if (track.any) session_.sample(track.row, track.last_ns, 0);
  }
}

}  // namespace accelscope::capture::sources::perfetto
