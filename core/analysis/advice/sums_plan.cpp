#include "core/analysis/advice/sums_plan.h"

#include <algorithm>
#include <mutex>

#include "core/scan/column_values.h"

namespace accelscope::analysis {
namespace {

std::optional<std::size_t> string_column(const Schema& schema, std::string_view name) {
  const auto column = schema.find(name);
  return column && schema.columns[*column].type == ColumnType::string ? column : std::nullopt;
}

// "core 1,1" of "core 1,1 BRISC".
std::string core_of(const std::string& track) {
  const std::size_t space = track.rfind(' ');
  return space == std::string::npos ? track : track.substr(0, space);
}

const ProgramTables* program_of(const TrackSnapshot& track) {
  for (const ProgramTables& each : program_tables()) {
    if (track.schema && track.schema->name == each.run_table && track.track->kind == "layer") return &each;
  }
  return nullptr;
}

}  // namespace

SumsPlan::SumsPlan(const QueryContext& query, const EventFilter& filter)
    : kinds(*query.snapshot),
      devices(*query.snapshot),
      lanes(query.snapshot->lanes.size()),
      blank(devices.count()),
      core_tracks(devices.count()) {
  const Snapshot& snapshot = *query.snapshot;
  std::vector<const ProgramTables*> programs(devices.count(), nullptr);
  std::vector<bool> has_transfers(devices.count(), false);
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const std::size_t device = devices.of_track(t);
    blank[device].device = devices.label(device);
    if (const ProgramTables* program = program_of(snapshot.tracks[t])) programs[device] = program;
    for (const std::uint32_t lane : snapshot.tracks[t].lanes) {
      const bool has = snapshot.lanes[lane].event_count > 0 && kinds.of_lane(lane) == WorkKind::transfer;
      if (has && !kinds.covers_time(lane)) has_transfers[device] = true;
    }
  }
  cores.resize(devices.count());
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    const TrackSnapshot& track = snapshot.tracks[t];
    if (!filter.has_track(track.track->number) || !track.schema) continue;
    const std::size_t device = devices.of_track(t);
    LanePlan plan = plan_of(snapshot, t);
    const ProgramTables* const program = programs[device];
    if (program != nullptr && (plan.part == LanePlan::Part::work || track.schema->name == program->total_table))
      plan_core(snapshot, t, *program, plan);
    plan_track(snapshot, t, plan, has_transfers[device]);
  }
  add_tensors(query);
}

// Of a row of a device with runs: which core it is of. What a core has summed up lies in rows below those of its zones.
void SumsPlan::plan_core(const Snapshot& snapshot, std::size_t t, const ProgramTables& program, LanePlan& plan) {
  const TrackSnapshot* track = &snapshot.tracks[t];
  const Schema& schema = *track->schema;
  if (schema.name == program.total_table) {
    plan.total = schema.find(program.total_column);
    plan.part = plan.total ? LanePlan::Part::totals : LanePlan::Part::none;
    plan.data_wait = snapshot.strings->find(program.data_wait);
    plan.room_wait = snapshot.strings->find(program.room_wait);
    if (const TrackSnapshot* above = snapshot.find_track(track->track->parent); above != nullptr) track = above;
  }
  plan.kernel_suffix = program.kernel_suffix;
  const auto [core, is_new] =
      cores[plan.device].try_emplace(core_of(track->track->name), core_tracks[plan.device].size());
  plan.core = core->second;
  if (is_new) core_tracks[plan.device].push_back(track->track->number);
}

void SumsPlan::plan_track(const Snapshot& snapshot, std::size_t t, LanePlan plan, bool has_transfers) {
  for (const std::uint32_t lane : snapshot.tracks[t].lanes) {
    if (snapshot.lanes[lane].event_count == 0) continue;
    LanePlan here = plan;
    if (here.part == LanePlan::Part::work) {
      here.covers = kinds.covers_time(lane);
      here.names_loads = here.vendor != nullptr && here.covers != has_transfers;
      here.matrix_vendor = here.unit == WorkUnit::compute ? vendor_of_work(snapshot.lanes[lane]) : nullptr;
      if (!here.covers && !here.names_loads) here.part = LanePlan::Part::none;
    }
    lanes[lane] = here;
    if (here.part == LanePlan::Part::none) continue;
    chosen.push_back(lane);
    note(here, snapshot.lanes[lane]);
  }
}

LanePlan SumsPlan::plan_of(const Snapshot& snapshot, std::size_t t) const {
  const TrackSnapshot& track = snapshot.tracks[t];
  LanePlan plan;
  plan.device = devices.of_track(t);
  plan.track = t;
  plan.number = track.track->number;
  const Schema& schema = *track.schema;
  const auto line = schema.find(Role::source_location);
  if (line && schema.columns[*line].type == ColumnType::string) plan.line = line;
  plan.bytes = schema.find(Role::bytes);
  if (program_of(track) != nullptr) {
    plan.part = LanePlan::Part::runs;
    return plan;
  }
  for (const Vendor& vendor : vendors()) {
    if (track_kind_of(track.track->kind).alert == Alert::throttling && schema.find(vendor.limit_column)) {
      plan.part = LanePlan::Part::throttle;
      return plan;
    }
  }
  const WorkKind kind = work_kind_of(track);
  if (!is_device_work(kind)) return plan;
  plan.part = LanePlan::Part::work;
  plan.unit = kind == WorkKind::compute    ? WorkUnit::compute
              : kind == WorkKind::transfer ? WorkUnit::transfer
                                           : WorkUnit::collective;
  plan.is_stream = track.track->kind == "stream";
  for (const Vendor& vendor : vendors()) {
    if (plan.unit != WorkUnit::transfer || !string_column(schema, vendor.to_column)) continue;
    plan.vendor = &vendor;
    const StringPool& strings = *snapshot.strings;
    plan.words = {strings.find(vendor.on_chip_place), strings.find(vendor.spill_place),
                  strings.find(vendor.program_purpose)};
    plan.from = string_column(schema, vendor.from_column);
    plan.to = string_column(schema, vendor.to_column);
    plan.purpose = string_column(schema, vendor.purpose_column);
    plan.is_packets = schema.name == vendor.packet_table && plan.bytes.has_value();
  }
  return plan;
}

void SumsPlan::note(const LanePlan& plan, const LaneSnapshot& lane) {
  DeviceSum& device = blank[plan.device];
  device.has_limits = device.has_limits || plan.part == LanePlan::Part::throttle;
  if (plan.part != LanePlan::Part::work) return;
  device.has_streams = device.has_streams || plan.is_stream;
  device.has_packets = device.has_packets || plan.is_packets;
  device.has_places = device.has_places || plan.names_loads;
  device.has_matrix = device.has_matrix || plan.matrix_vendor != nullptr;
  device.has_waits = device.has_waits || (plan.unit == WorkUnit::compute &&
                                          (!lane.schema->wait_names.empty() || lane.schema->find(Role::wait_ns)));
  auto& tracks = plan.unit == WorkUnit::transfer ? device.transfer_tracks : device.tracks;
  if (plan.covers && (tracks.empty() || tracks.back() != plan.number)) tracks.push_back(plan.number);
}

// The rows of the tables that tell the tensors' sizes.
void SumsPlan::add_tensors(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  const QueryContext tables = query.unmasked();
  for (const Vendor& vendor : vendors()) {
    LaneIndices rows;
    for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
      const Schema& schema = *snapshot.lanes[i].schema;
      if (schema.kind == EventKind::table && schema.find(vendor.reload_column)) rows.push_back(i);
    }
    std::mutex mutex;
    const auto read = scan_chunks(tables, rows, {}, [&](const ScannedChunk& chunk, std::size_t) {
      const Schema& schema = *chunk.lane.schema;
      const auto size = schema.find(vendor.size_column);
      const auto stated = schema.find(vendor.reload_column);
      const std::scoped_lock lock(mutex);
      chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
        const StringId name = block.name(i);
        if (name == 0) return;
        LoadedTensor& tensor = blank[devices.of_lane(chunk.lane_index)].tensors[name];
        tensor.name = snapshot.strings->text(name);
        if (size) {
          const auto bytes = number_at(chunk.view, *size, schema.columns[*size].type, block.row(i));
          tensor.size = bytes && *bytes > 0 ? static_cast<std::uint64_t>(*bytes) : 0;
        }
        const ColumnType type = schema.columns[*stated].type;
        if (!is_text(type) && *stated < chunk.view.column_count() && chunk.view.has_value(*stated, block.row(i))) {
          tensor.stated = real_number(chunk.view, *stated, type, chunk.view.stored(*stated, block.row(i)));
        }
      });
    });
    if (!read) continue;  // the pass over the same session says why
  }
}

}  // namespace accelscope::analysis
