// The second reading: events become those of tables and rows.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "capture/sources/tracks/gpu_tables.h"
#include "capture/sources/tracks/kernel_work.h"
#include "capture/sources/xplane/importer.h"
#include "core/base/capped.h"

namespace accelscope::capture::sources::xplane {
namespace {

using tracks::flow_key;
using tracks::FlowSide;
using tracks::KernelColumns;
using tracks::RuntimeColumns;
using tracks::TransferColumns;

constexpr std::uint64_t kLaunchFlows = 1, kFirstContextFlows = 2;
constexpr std::int64_t kMemoryPlace = 50, kTotalsPlace = 60;

}  // namespace

void XPlaneImporter::write_event(PlaneState& plane, LineState& line, const EventRecord& event) {
  MetadataSlot& metadata = metadata_of(plane, event.metadata);
  if (metadata.missing) ++counts_.without_metadata;
  const std::optional<std::int64_t> start = start_of(line, event);
  if (!start) {
    if (counts_.out_of_range++ == 0) counts_.first_out_of_range = line.index.bytes.begin;
    return;
  }
  Meanings meanings;
  slots_.clear();
  for (const StatValue& stat : event.stats) {
    if (stat.kind == StatValue::Kind::bytes) ++counts_.bytes_stats;
    slots_.push_back(&slot_of(plane, stat.id));
    understand(plane, stat, *slots_.back(), meanings);
  }
  if (line.role.of == LineClass::counters) {
    for (const StatValue& stat : event.stats) {
      if (!meanings.counter && stat.is_number()) {
        meanings.counter = stat.kind == StatValue::Kind::real
                               ? std::bit_cast<double>(stat.bits)
                               : static_cast<double>(static_cast<std::int64_t>(stat.bits));
      }
    }
    return write_counter(plane, line, metadata, meanings, *start);
  }
  const XTable which = table_of(line, metadata, meanings, event.is_total);
  TableState& to = table(which);
  values_.clear();
  ++event_number_;
  bind_stats(plane, event, to);
  const tracks::EventValues& constants = constants_of(plane, metadata, event.metadata, to);
  const Schema& schema = session_.table(to.number);
  for (const tracks::BoundValue& value : constants.values()) {
    if (set_[value.column] == event_number_) continue;  // the event's own goes before
    if (schema.columns[value.column].type == ColumnType::text) {
      values_.text(value.column, constants.texts().substr(value.value, value.size));
    } else {
      values_.unsigned_integer(value.column, value.value);
    }
  }
  if (which == XTable::memory) return write_memory(plane, metadata, meanings, event, *start);
  bind_common(plane, line, metadata, meanings, event, to);
  Variant variant = Variant::plain;
  if (which == XTable::kernel && metadata.nccl) variant = Variant::collective;
  const bool works = line.role.of == LineClass::ops || line.role.of == LineClass::async_ops;
  const bool is_half = metadata.async_begin || metadata.async_end;
  if (works && metadata.collective && (line.role.of == LineClass::async_ops || !is_half)) variant = Variant::collective;
  if (line.role.of == LineClass::waits && metadata.wait) variant = Variant::waiting;
  const std::int64_t duration = event.is_total ? 0 : in_ns_ ? start_of_end(line, event) - *start : event.duration_ps;
  const tracks::WrittenEvent written = session_.write(row_of(plane, line, which, variant), event.is_total ? 0 : *start,
                                                      duration, metadata.name, values_);
  add_flows(meanings, which, written);
}

// In ns an event ends where its last ps does.
std::int64_t XPlaneImporter::start_of_end(const LineState& line, const EventRecord& event) const noexcept {
  EventRecord end;
  const bool too_long = __builtin_add_overflow(event.offset_ps, event.duration_ps, &end.offset_ps);
  if (too_long) end.offset_ps = std::numeric_limits<std::int64_t>::max();
  return start_of(line, end).value_or(0);
}

void XPlaneImporter::bind_stats(PlaneState& plane, const EventRecord& event, TableState& to) {
  const auto which = static_cast<std::size_t>(to.table);
  const std::size_t columns = session_.table(to.number).columns.size();
  if (set_.size() < columns) set_.resize(columns, 0);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const StatValue& stat = event.stats[i];
    const StatSlot& slot = *slots_[i];
    const std::uint32_t column = to.stats.column(slot.fields[which]);
    if (column == StatTable::kNoField || stat.kind == StatValue::Kind::bytes || stat.kind == StatValue::Kind::none)
      continue;
    if (set_[column] == event_number_) continue;
    set_[column] = event_number_;
    if (stat.kind == StatValue::Kind::reference) {
      Reference& found = reference(plane, stat);
      if (found.id == 0) found.id = session_.intern(found.text);
      to.stats.bind(slot.fields[which], stat, found.text, found.id, intern_, values_);
    } else {
      to.stats.bind(slot.fields[which], stat, text_of(plane, stat), 0, intern_, values_);
    }
    if (slot.stat == Stat::source) note_source(plane, stat);
  }
}

void XPlaneImporter::note_source(PlaneState& plane, const StatValue& stat) {
  if (stat.kind == StatValue::Kind::reference) {
    Reference& found = reference(plane, stat);
    if (found.is_source) return;
    found.is_source = true;
  }
  sources_.emplace(text_of(plane, stat));
}

const tracks::EventValues& XPlaneImporter::constants_of(PlaneState& plane, MetadataSlot& slot, std::int64_t id,
                                                        TableState& to) {
  for (const auto& [table, values] : slot.constants) {
    if (table == to.table) return *values;
  }
  auto values = std::make_unique<tracks::EventValues>();
  const auto place = plane.index.event_metadata.find(id);
  if (place != plane.index.event_metadata.end()) {
    const std::string message = text_at(*metadata_window_, place->second, 16U << 20);
    EventMetadata metadata;
    (void)read_event_metadata(message, metadata);
    std::vector<bool> bound(session_.table(to.number).columns.size());
    for (const StatValue& stat : metadata.stats) {
      const std::uint32_t field = slot_of(plane, stat.id).fields[static_cast<std::size_t>(to.table)];
      const std::uint32_t column = to.stats.column(field);
      if (stat.kind == StatValue::Kind::bytes) ++counts_.bytes_stats;
      const bool is_shown = stat.kind != StatValue::Kind::bytes && stat.kind != StatValue::Kind::none;
      if (!is_shown || column == StatTable::kNoField || bound[column]) continue;
      bound[column] = true;
      to.stats.bind(field, stat, text_of(plane, stat), 0, intern_, *values);
    }
  }
  slot.constants.emplace_back(to.table, std::move(values));
  return *slot.constants.back().second;
}

void XPlaneImporter::own_integer(TableState& to, OwnColumn column, std::int64_t value) {
  const std::uint32_t place = to.stats.column(column);
  if (place != StatTable::kNoField) values_.integer(place, value);
}

void XPlaneImporter::own_string(TableState& to, OwnColumn column, StringId value) {
  const std::uint32_t place = to.stats.column(column);
  if (place != StatTable::kNoField && value != 0) values_.string(place, value);
}

StringId XPlaneImporter::layer_of(const MetadataSlot& metadata, const Meanings& meanings) {
  const auto reported_by = [&](std::string_view text) {
    const std::string_view reported = layer_of_op(text);
    return reported.empty() ? StringId{0} : session_.intern(reported);
  };
  StringId layer = 0;
  if (Reference* const known = meanings.tf_op_reference; known != nullptr) {
    if (!known->layer) known->layer = reported_by(known->text);
    layer = *known->layer;
  } else if (!meanings.tf_op.empty()) {
    layer = reported_by(meanings.tf_op);
  }
  if (layer == 0) layer = metadata.layer;
  // On GPUs an operation's place in the model may stand under "name", where arguments have theirs too.
  if (layer != 0 || meanings.op_name.find('/') == std::string_view::npos) return layer;
  if (meanings.op_name_reference == nullptr) return session_.intern(meanings.op_name);
  StringId& id = meanings.op_name_reference->id;
  if (id == 0) id = session_.intern(meanings.op_name);
  return id;
}

void XPlaneImporter::bind_common(PlaneState& plane, LineState& line, const MetadataSlot& metadata,
                                 const Meanings& meanings, const EventRecord& event, TableState& to) {
  own_string(to, OwnColumn::hlo, metadata.hlo);
  own_string(to, OwnColumn::layer, layer_of(metadata, meanings));
  const std::string_view category = meanings.category;
  const bool reported = !category.empty();
  const bool is_half =
      metadata.async_begin || metadata.async_end || (reported && (is_async_begin(category) || is_async_end(category)));
  const bool is_holder = metadata.holder || (reported && is_holder_op(category));
  const auto bytes = meanings.bytes ? meanings.bytes : metadata.bytes;
  const auto flops = meanings.flops ? meanings.flops : metadata.flops;
  const bool counts = to.table == XTable::xla_async_op || (!is_half && !is_holder);
  if (bytes && counts) own_integer(to, OwnColumn::bytes, *bytes);
  if (flops && counts) own_integer(to, OwnColumn::flops, *flops);
  if (event.is_total) {
    own_integer(to, OwnColumn::occurrences, static_cast<std::int64_t>(event.occurrences));
    own_integer(to, OwnColumn::total_ps, event.duration_ps);
    return;
  }
  if (event.duration_ps % 1000 != 0) own_integer(to, OwnColumn::dur_ps, event.duration_ps);
  if (event.offset_ps % 1000 != 0 && !in_ns_) own_integer(to, OwnColumn::start_ps, *start_of(line, event));
  if (in_ns_ && (event.duration_ps % 1000 != 0 || event.offset_ps % 1000 != 0)) ++counts_.rounded_times;
  if (to.table == XTable::kernel) {
    bind_kernel(plane, line, meanings, to);
  } else if (to.table == XTable::memcpy || to.table == XTable::memset) {
    bind_transfer(plane, line, meanings, event);
  } else if (to.table == XTable::runtime_call) {
    if (meanings.correlation) values_.integer(RuntimeColumns::correlation, *meanings.correlation);
    if (meanings.transfer_details.empty()) return;
    const tracks::TransferDetails details = tracks::read_transfer_details(meanings.transfer_details);
    counts_.implausible += details.implausible;
    if (details.bytes && *details.bytes > 0) values_.integer(RuntimeColumns::bytes, *details.bytes);
    if (!details.kind.empty()) values_.string(RuntimeColumns::kind, session_.intern(details.kind));
  }
}

const LaunchText& XPlaneImporter::launch_of(const Meanings& meanings) {
  Reference* const known = meanings.kernel_reference;
  if (known != nullptr && known->launch) return *known->launch;
  LaunchText& made = known != nullptr ? known->launch.emplace() : launch_;
  made.details = tracks::read_kernel_details(meanings.kernel_details);
  made.grid = made.details.grid.empty() ? 0 : session_.intern(made.details.grid);
  made.block = made.details.block.empty() ? 0 : session_.intern(made.details.block);
  return made;
}

void XPlaneImporter::bind_kernel(const PlaneState& plane, const LineState& line, const Meanings& meanings,
                                 TableState& to) {
  if (meanings.correlation) values_.integer(KernelColumns::correlation, *meanings.correlation);
  if (plane.role.ordinal >= 0) values_.integer(KernelColumns::device, plane.role.ordinal);
  if (meanings.context) values_.integer(KernelColumns::context, *meanings.context);
  if (line.role.stream) values_.integer(KernelColumns::stream, *line.role.stream);
  if (!meanings.is_kernel) return;
  const LaunchText& launch = launch_of(meanings);
  const tracks::KernelDetails& details = launch.details;
  counts_.implausible += details.implausible;
  if (launch.grid != 0) values_.string(KernelColumns::grid, launch.grid);
  if (launch.block != 0) values_.string(KernelColumns::block, launch.block);
  if (details.registers) values_.integer(KernelColumns::registers, *details.registers);
  if (details.shared_memory) values_.integer(KernelColumns::shared_memory, *details.shared_memory);
  if (details.occupancy) values_.real(KernelColumns::occupancy, *details.occupancy);
  if (details.private_memory) own_integer(to, OwnColumn::private_memory, *details.private_memory);
}

void XPlaneImporter::bind_transfer(const PlaneState& plane, const LineState& line, const Meanings& meanings,
                                   const EventRecord& event) {
  if (meanings.correlation) values_.integer(TransferColumns::correlation, *meanings.correlation);
  if (plane.role.ordinal >= 0) values_.integer(TransferColumns::device, plane.role.ordinal);
  if (meanings.context) values_.integer(TransferColumns::context, *meanings.context);
  if (line.role.stream) values_.integer(TransferColumns::stream, *line.role.stream);
  const tracks::TransferDetails details = tracks::read_transfer_details(meanings.transfer_details);
  counts_.implausible += details.implausible;
  if (!details.kind.empty()) values_.string(TransferColumns::kind, session_.intern(details.kind));
  if (!details.bytes) return;
  values_.integer(TransferColumns::bytes, *details.bytes);
  // B/ps * 1000 = GB/s
  if (event.duration_ps > 0 && *details.bytes > 0) {
    values_.real(TransferColumns::bandwidth,
                 static_cast<double>(*details.bytes) * 1e3 / static_cast<double>(event.duration_ps));
  }
}

void XPlaneImporter::write_memory(PlaneState& /*plane*/, const MetadataSlot& metadata, const Meanings& meanings,
                                  const EventRecord& /*event*/, std::int64_t start) {
  std::optional<std::int64_t> bytes = meanings.allocation;
  if (metadata.release && !bytes && meanings.address) {
    const auto known = allocations_.find(flow_key(
        std::hash<std::string_view>{}(meanings.allocator) + static_cast<std::uint64_t>(meanings.host_index.value_or(0)),
        static_cast<std::uint64_t>(*meanings.address)));
    if (known != allocations_.end()) {
      auto after = std::upper_bound(known->second.begin(), known->second.end(), start,
                                    [](std::int64_t time, const Allocation& each) { return time < each.start; });
      if (after != known->second.begin()) bytes = std::prev(after)->bytes;
    }
    ++(bytes ? counts_.releases_joined : counts_.releases_without_size);
  }
  if (bytes)
    values_.integer(MemoryColumns::bytes, metadata.release ? capped_difference<std::int64_t>(0, *bytes) : *bytes);
  if (meanings.address) values_.integer(MemoryColumns::address, *meanings.address);
  if (meanings.allocated) values_.integer(MemoryColumns::allocated, *meanings.allocated);
  if (meanings.reserved) values_.integer(MemoryColumns::reserved, *meanings.reserved);
  const bool of_device = meanings.allocator.empty() && meanings.host_index;
  std::string device = has_tpu_ && of_device ? fmt::format("TPU {}", *meanings.host_index) : std::string();
  // TensorFlow's allocators are called by their devices: "GPU_0_bfc".
  if (meanings.allocator.starts_with("GPU_")) {
    const std::size_t end = std::min(meanings.allocator.find('_', 4), meanings.allocator.size());
    device = tracks::gpu_name(meanings.allocator.substr(4, end - 4));
  }
  const std::string pool = of_device && !device.empty() ? device + " memory"
                           : of_device                  ? fmt::format("device {} memory", *meanings.host_index)
                           : meanings.allocator.empty() ? std::string("memory")
                                                        : std::string(meanings.allocator);
  const auto [row, is_new] = pools_.try_emplace(pool, kNone);
  if (is_new) {
    row->second = session_.add_track(table(XTable::memory).number, {.name = pool, .kind = "memory", .device = device},
                                     {tracks::kDeviceRows, kMemoryPlace});
  }
  session_.write(row->second, start, 0, metadata.name, values_);
  const auto sample = [&](std::string_view what, const std::optional<std::int64_t>& value) {
    if (!value) return;
    const auto [counter, is_first] = pool_counters_.try_emplace(fmt::format("{} {}", pool, what), kNone);
    if (is_first) {
      counter->second = session_.add_track(session_.counter_table(),
                                           {.name = counter->first, .kind = "counter", .device = device, .unit = "B"},
                                           {tracks::kDeviceRows, kMemoryPlace + 1});
    }
    session_.sample(counter->second, start, static_cast<double>(*value));
  };
  sample("in use", meanings.allocated);
  if (meanings.reserved.value_or(0) != 0) sample("reserved", meanings.reserved);
}

void XPlaneImporter::write_counter(PlaneState& plane, const LineState& line, const MetadataSlot& metadata,
                                   const Meanings& meanings, std::int64_t start) {
  if (!meanings.counter) {
    ++counts_.counters_without_value;
    return;
  }
  const auto [row, is_new] = plane.counters.try_emplace(metadata.name, kNone);
  if (is_new) {
    row->second =
        session_.add_track(session_.counter_table(),
                           {.name = metadata.text,
                            .kind = "counter",
                            .device = plane.role.device,
                            .host = plane.role.device.empty() ? host_ : ""},
                           {plane.role.device.empty() ? tracks::kHostRows : tracks::kDeviceRows, line.role.place});
  }
  session_.sample(row->second, start, *meanings.counter);
}

void XPlaneImporter::add_flows(const Meanings& meanings, XTable which, const tracks::WrittenEvent& written) {
  if (meanings.correlation && *meanings.correlation != 0) {
    const bool on_device = which == XTable::kernel || which == XTable::memcpy || which == XTable::memset;
    const auto id = static_cast<std::uint64_t>(*meanings.correlation);
    if (on_device || which == XTable::runtime_call) {
      session_.add_flow(on_device ? FlowSide::target : FlowSide::source, flow_key(kLaunchFlows, id), id, written);
    }
  }
  const auto add = [&](FlowSide side, const std::optional<std::int64_t>& id, const std::optional<std::int64_t>& type) {
    if (!id) return;
    const std::int64_t kind = type.value_or(0);
    StringId& name = context_names_[kind];
    if (name == 0) name = session_.intern(name_of_context(kind));
    session_.add_flow(side,
                      flow_key(kFirstContextFlows + static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(*id)),
                      static_cast<std::uint64_t>(*id), written, name);
  };
  add(FlowSide::source, meanings.producer, meanings.producer_type);
  add(FlowSide::target, meanings.consumer, meanings.consumer_type);
}

std::uint32_t XPlaneImporter::host_row(LineState& line, XTable which) {
  ThreadState& thread = threads_[line.thread];
  std::uint32_t& row = thread.rows[static_cast<std::size_t>(which)];
  if (row != kNone) return row;
  const bool main = thread.name == "python" || thread.name.starts_with("main");
  const tracks::RowPlace place{main              ? tracks::kMainThreadRows
                               : thread.launches ? tracks::kLaunchingRows
                                                 : tracks::kHostRows,
                               0};
  constexpr std::uint32_t kNoRows = 1U << static_cast<unsigned>(XTable::memory);  // have rows elsewhere
  const bool shared = std::popcount(thread.tables & ~kNoRows) > 1;
  const XTableRule& rule = rule_of(which);
  Track track{.name = thread.name, .kind = "host_thread", .host = host_};
  if (which == XTable::total) track.kind = "table";
  if (!shared) return row = session_.add_track(table(which).number, std::move(track), place);
  if (thread.group == kNone) thread.group = session_.add_group(track, place);
  track.name = fmt::format("{} {}", thread.name, rule.label.empty() ? rule.schema.name : rule.label);
  return row = session_.add_track(table(which).number, std::move(track), {place.rank, rule.place}, thread.group);
}

std::uint32_t XPlaneImporter::row_of(const PlaneState& plane, LineState& line, XTable which, Variant variant) {
  if (plane.role.device.empty()) return host_row(line, which);
  std::uint32_t& row = line.rows[static_cast<std::size_t>(which)][static_cast<std::size_t>(variant)];
  if (row != kNone) return row;
  Track track{.name = line.role.name, .kind = "layer", .device = plane.role.device};
  tracks::RowPlace place{tracks::kDeviceRows, line.role.place};
  switch (line.role.of) {
    case LineClass::stream:
      track.kind = which == XTable::kernel ? "stream" : which == XTable::device_event ? "layer" : "dma_queue";
      place.place += static_cast<std::int64_t>(which);
      if (which != XTable::kernel) {
        track.name =
            fmt::format("{} {}", which == XTable::device_event ? "driver" : rule_of(which).schema.name, line.role.name);
      } else if (variant == Variant::collective) {
        track.name = "NCCL, " + line.role.name;
        track.kind = "collective";
      }
      break;
    case LineClass::ops:
    case LineClass::async_ops:
      track.kind = line.role.of == LineClass::ops ? "engine" : "dma_queue";
      if (variant == Variant::collective) {
        track.name += ", collectives";
        track.kind = "collective";
        ++place.place;
      }
      break;
    case LineClass::waits:
      if (variant == Variant::waiting) {
        track.name += ", waits";
        track.kind = "barrier";
      }
      break;
    case LineClass::profiler:
      place.rank = tracks::kProfilerRows;
      break;
    default:
      break;
  }
  if (which == XTable::total) {
    track.kind = "table";
    place.place += kTotalsPlace;
  }
  return row = session_.add_track(table(which).number, std::move(track), place);
}

}  // namespace accelscope::capture::sources::xplane
