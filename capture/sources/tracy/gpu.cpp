// GPU contexts: zones in the device's time, the host's calls that began them, and what the device noted.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/sources/tracks/flow_ends.h"
#include "capture/sources/tracks/track_events.h"
#include "capture/sources/tracy/importer.h"

namespace accelscope::capture::sources::tracy {
namespace {

constexpr std::size_t kGpuZoneBytes = 8 + 8 + 2 + 3 + 2 + 8;
constexpr std::size_t kDeepestGpuZones = 4'096;
constexpr std::array<std::string_view, 10> kContextTypes = {"GPU",         "OpenGL", "Vulkan", "OpenCL", "Direct3D 12",
                                                            "Direct3D 11", "Metal",  "GPU",    "CUDA",   "ROCm"};
constexpr std::array<std::string_view, 6> kProcessors = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2", "ERISC"};

// "Device: 0, Core (3,1)", as tt-metal calls its contexts.
[[nodiscard]] bool is_core_name(std::string_view name, std::string& device, std::string& core) {
  constexpr std::string_view kDevice = "Device: ";
  constexpr std::string_view kCore = ", Core (";
  const std::size_t middle = name.find(kCore);
  if (!name.starts_with(kDevice) || middle == std::string_view::npos || !name.ends_with(')')) return false;
  device = fmt::format("chip {}", name.substr(kDevice.size(), middle - kDevice.size()));
  const std::string_view place = name.substr(middle + kCore.size());
  core = fmt::format("core {}", place.substr(0, place.size() - 1));
  return true;
}

[[nodiscard]] EventSorter::Options small_batches() { return {.batch_bytes = 8U << 20}; }

}  // namespace

struct TracyImport::GpuEvents {
  explicit GpuEvents(ChunkSpill& spill)
      : zones(tracy_table(TracyTableKind::gpu_zone), spill, small_batches()),
        calls(tracy_table(TracyTableKind::gpu_call), spill, small_batches()),
        markers(tracy_table(TracyTableKind::gpu_marker), spill, small_batches()) {}

  EventSorter zones;
  EventSorter calls;
  EventSorter markers;
  std::vector<Track> zone_rows;
  std::vector<Track> call_rows;
  std::vector<Track> marker_rows;
  std::map<std::uint64_t, std::uint32_t> rows_of_threads;  // among those of calls
  // What the times of a context's zones are held against: each other and the calls, for contexts have clocks of their
  // own.
  struct Times {
    tracks::TimeSketch zones, calls;
    tracks::TimeBounds bounds;
  };
  std::vector<Times> contexts;
  std::vector<std::size_t> context_of_row;  // by row of zones
};

void TracyImport::read_gpu() {
  reader_.skip(16);  // how many zones there are, and how many hold others
  GpuEvents events(spill_);
  std::optional<TrackNumber> notes;
  const std::uint64_t contexts = reader_.count();
  for (std::uint64_t number = 0; number < contexts && !stopped(); ++number) {
    GpuContext context = read_gpu_context(number);
    events.contexts.emplace_back();
    std::vector<std::pair<std::int64_t, std::uint32_t>> note_names;
    for (std::uint64_t left = layout_.gpu_notes ? reader_.count() : 0; left > 0; --left) {
      TraceRecord record = reader_.record(11);
      if (reader_.ended()) break;
      const auto id = record.next<std::int64_t>();
      note_names.emplace_back(id, record.next24());
    }
    context.threads = reader_.count();
    for (std::uint64_t left = context.threads; left > 0 && !reader_.ended(); --left) {
      TraceRecord record = reader_.record(16);
      const auto thread = record.next<std::uint64_t>();
      const auto zones = record.next<std::uint64_t>();
      if (zones > 0) read_gpu_zones(context, thread, zones, events);
    }
    if (layout_.gpu_notes) read_gpu_notes(context, note_names, notes);
    if (layout_.device_markers) read_gpu_markers(context, events);
  }
  write_gpu(events);
}

TracyImport::GpuContext TracyImport::read_gpu_context(std::uint64_t number) {
  TraceRecord record = reader_.record(8 + 1 + 8 + 4 + 1 + 3 + 8);
  (void)record.next<std::uint64_t>();  // the thread that made it
  (void)record.next<std::uint8_t>();
  (void)record.next<std::uint64_t>();
  (void)record.next<float>();
  const auto type = record.next<std::uint8_t>();
  GpuContext context;
  context.name = names_.text_above(record.next24());
  if (is_core_name(context.name, context.device, context.core)) return context;
  const std::string_view kind = kContextTypes[type < kContextTypes.size() ? type : 0];
  context.device = "GPU";
  context.name = context.name.empty() ? fmt::format("{} context {}", kind, number)
                                      : fmt::format("{} ({} context {})", context.name, kind, number);
  return context;
}

Track TracyImport::gpu_track(const GpuContext& context, std::uint64_t thread, TracyTableKind table) {
  constexpr std::uint64_t kProcessorBits = 7;
  const std::uint64_t processor = thread & kProcessorBits;
  std::string name = context.name;
  if (!context.core.empty()) {
    name =
        fmt::format("{} {}", context.core,
                    processor < kProcessors.size() ? kProcessors[processor] : fmt::format("processor {}", processor));
  } else if (context.threads > 1) {
    name += " " + thread_label(thread);
  }
  if (table == TracyTableKind::gpu_marker) name += " markers";
  Track track = track_of(std::move(name), context.core.empty() ? "stream" : "engine", table);
  track.device = context.device;
  return track;
}

void TracyImport::read_gpu_zones(const GpuContext& context, std::uint64_t thread, std::uint64_t count,
                                 GpuEvents& events) {
  const auto row = static_cast<std::uint32_t>(events.zone_rows.size());
  events.zone_rows.push_back(gpu_track(context, thread, TracyTableKind::gpu_zone));
  events.context_of_row.push_back(events.contexts.size() - 1);
  std::vector<OpenGpuZone> open;
  std::uint64_t cpu = 0;
  std::uint64_t gpu = 0;
  std::int64_t last = 0;  // end of the last zone of the level at hand
  const bool called = context.core.empty();
  for (std::uint64_t left = count;;) {
    if (left > 0) {
      TraceRecord record = reader_.record(kGpuZoneBytes);
      if (reader_.ended()) break;
      OpenGpuZone zone;
      cpu += record.next<std::uint64_t>();
      gpu += record.next<std::uint64_t>();
      zone.cpu_begin = static_cast<std::int64_t>(cpu);
      zone.begin = static_cast<std::int64_t>(gpu);
      zone.place = record.next<std::int16_t>();
      zone.callstack = record.next24();
      zone.thread = record.next<std::uint16_t>();
      zone.siblings = left - 1;
      left = record.next<std::uint64_t>();
      zone.last = last;
      last = zone.begin;
      open.push_back(zone);
      if (open.size() > kDeepestGpuZones) reader_.give_up("GPU zones lie in one another deeper than any device runs");
      continue;
    }
    if (open.empty()) return;
    TraceRecord record = reader_.record(16U + (layout_.gpu_notes ? 2U : 0U));
    if (reader_.ended()) break;
    cpu += record.next<std::uint64_t>();
    gpu += record.next<std::uint64_t>();
    std::optional<std::uint16_t> query;
    if (layout_.gpu_notes) query = record.next<std::uint16_t>();
    const OpenGpuZone zone = open.back();
    open.pop_back();
    auto end = static_cast<std::int64_t>(gpu);
    if (zone.begin >= 0 && end < 0) {
      ++unfinished_zones_;
      end = std::max(last, zone.begin);
    }
    hold_gpu_zone(zone, row, thread, static_cast<std::int64_t>(cpu), end, query, called, events);
    last = std::max(zone.last, end);
    left = zone.siblings;
  }
  for (; !open.empty(); open.pop_back()) {
    ++unfinished_zones_;
    hold_gpu_zone(open.back(), row, thread, open.back().cpu_begin, std::max(last, open.back().begin), std::nullopt,
                  called, events);
  }
}

void TracyImport::hold_gpu_zone(const OpenGpuZone& zone, std::uint32_t row, std::uint64_t thread, std::int64_t cpu_end,
                                std::int64_t end, std::optional<std::uint16_t> query, bool called, GpuEvents& events) {
  if (zone.begin < 0) {
    ++gpu_without_times_;
    return;
  }
  if (!is_time(zone.begin) || !is_time(end) || !is_time(zone.cpu_begin) || !is_time(cpu_end)) return;
  if (end < zone.begin) {
    ++negative_zones_;
    end = zone.begin;
  }
  const PlaceIds& where = place(zone.place);
  events.zones.begin();
  if (where.source != 0) events.zones.string(GpuZoneColumns::source, where.source);
  if (where.function != 0) events.zones.string(GpuZoneColumns::function, where.function);
  events.zones.integer(GpuZoneColumns::thread, static_cast<std::int64_t>(called ? names_.thread(zone.thread) : thread));
  events.zones.integer(GpuZoneColumns::cpu_begin, zone.cpu_begin);
  events.zones.integer(GpuZoneColumns::cpu_end, cpu_end);
  if (query) events.zones.integer(GpuZoneColumns::query, *query);
  GpuEvents::Times& times = events.contexts[events.context_of_row[row]];
  times.zones.add(zone.begin, end - zone.begin);
  if (called) times.calls.add(zone.cpu_begin, std::max<std::int64_t>(cpu_end - zone.cpu_begin, 0));
  if (zone.callstack != 0) events.zones.integer(GpuZoneColumns::callstack, zone.callstack);
  if (called) {
    gpu_flows_.push_back({kNoEvent, kNoEvent});
    const auto correlation = static_cast<std::int64_t>(gpu_flows_.size());
    events.zones.integer(GpuZoneColumns::correlation, correlation);
    hold_gpu_call(zone, cpu_end, correlation, events);
  }
  events.zones.commit(row, zone.begin, end - zone.begin, where.name);
}

void TracyImport::hold_gpu_call(const OpenGpuZone& zone, std::int64_t cpu_end, std::int64_t correlation,
                                GpuEvents& events) {
  const std::uint64_t thread = names_.thread(zone.thread);
  const auto [known, added] =
      events.rows_of_threads.try_emplace(thread, static_cast<std::uint32_t>(events.call_rows.size()));
  if (added) {
    events.call_rows.push_back(track_of(thread_label(thread) + " GPU calls", "host_thread", TracyTableKind::gpu_call));
  }
  const PlaceIds& where = place(zone.place);
  events.calls.begin();
  if (where.source != 0) events.calls.string(GpuCallColumns::source, where.source);
  events.calls.integer(GpuCallColumns::thread, static_cast<std::int64_t>(thread));
  events.calls.integer(GpuCallColumns::correlation, correlation);
  events.calls.commit(known->second, zone.cpu_begin, std::max<std::int64_t>(cpu_end - zone.cpu_begin, 0), where.name);
}

// Measured values by the number of a zone's time stamp.
void TracyImport::read_gpu_notes(const GpuContext& context,
                                 std::span<const std::pair<std::int64_t, std::uint32_t>> names,
                                 std::optional<TrackNumber>& track) {
  for (std::uint64_t left = reader_.count(); left > 0 && !reader_.ended(); --left) {
    const auto query = reader_.number<std::uint16_t>();
    for (std::uint64_t notes = reader_.count(); notes > 0; --notes) {
      TraceRecord record = reader_.record(16);
      if (reader_.ended()) return;
      const auto id = record.next<std::int64_t>();
      if (!track) track = lanes_.add_track(track_of("GPU notes", "table", TracyTableKind::gpu_note));
      const auto named = std::find_if(names.begin(), names.end(), [id](const auto& name) { return name.first == id; });
      const std::string_view name = named == names.end() ? std::string_view{} : names_.text_above(named->second);
      std::optional<Row> row;
      if (track) {
        row = lanes_.put(*track, 0, 0, writer_.intern(name.empty() ? fmt::format("note {}", id) : std::string(name)));
      }
      if (!row) continue;
      count_row(TracyTableKind::gpu_note);
      row->string(GpuNoteColumns::context, writer_.intern(context.name));
      row->integer(GpuNoteColumns::query, query);
      row->real(GpuNoteColumns::value, record.next<double>());
    }
  }
}

void TracyImport::read_gpu_markers(const GpuContext& context, GpuEvents& events) {
  for (std::uint64_t threads = reader_.count(); threads > 0 && !reader_.ended(); --threads) {
    const auto thread = reader_.number<std::uint64_t>();
    const auto row = static_cast<std::uint32_t>(events.marker_rows.size());
    events.marker_rows.push_back(gpu_track(context, thread, TracyTableKind::gpu_marker));
    for (std::uint64_t left = reader_.count(); left > 0; --left) {
      TraceRecord record = reader_.record(14);
      if (reader_.ended()) return;
      const auto time = record.next<std::int64_t>();
      if (!is_time(time)) continue;
      const PlaceIds& where = place(record.next<std::int16_t>());
      events.markers.begin();
      if (where.source != 0) events.markers.string(GpuMarkerColumns::source, where.source);
      events.markers.integer(GpuMarkerColumns::kind, record.next<std::uint8_t>());
      events.markers.text(GpuMarkerColumns::meta, names_.text_above(record.next24()));
      events.markers.commit(row, time, 0, where.name);
    }
  }
}

void TracyImport::write_gpu(GpuEvents& events) {
  for (GpuEvents::Times& context : events.contexts) {
    const std::array<tracks::SketchedTrack, 2> sketches = {{{&context.zones, false}, {&context.calls, true}}};
    context.bounds = tracks::bounds_of(sketches, 1);
  }
  std::vector<std::pair<std::int64_t, std::size_t>> order;  // of flows, by the target's begin
  const auto add_flow = [&](const SortedEvent& event, const Row& row) {
    if (!event.has(GpuZoneColumns::correlation)) return;
    const auto flow = static_cast<std::size_t>(event.int64(GpuZoneColumns::correlation) - 1);
    gpu_flows_[flow][1] = row.id();
    order.emplace_back(event.start, flow);
  };
  const auto is_doubtful = [&](const SortedEvent& event) {
    return !events.contexts[events.context_of_row[event.track]].bounds.hold(event.start, event.duration);
  };
  write_sorted(events.zones, events.zone_rows, TracyTableKind::gpu_zone, add_flow, is_doubtful);
  write_sorted(events.calls, events.call_rows, TracyTableKind::gpu_call, [&](const SortedEvent& event, const Row& row) {
    gpu_flows_[static_cast<std::size_t>(event.int64(GpuCallColumns::correlation) - 1)][0] = row.id();
  });
  write_sorted(events.markers, events.marker_rows, TracyTableKind::gpu_marker);
  write_gpu_flows(std::move(order));
  gpu_flows_ = {};
}

void TracyImport::write_gpu_flows(std::vector<std::pair<std::int64_t, std::size_t>> order) {
  if (order.empty()) return;
  std::sort(order.begin(), order.end());
  Track track = {.name = "flows", .kind = "flow"};
  track.schema = writer_.add_schema(tracks::make_flow_schema());
  track.clock = clock_;
  const std::optional<TrackNumber> number = lanes_.add_track(std::move(track));
  const StringId launch = writer_.intern("launch");
  for (const auto& [start, flow] : order) {
    if (!number || gpu_flows_[flow][0] == kNoEvent) continue;
    std::optional<Row> row = lanes_.put_at(*number, 0, start, start, launch);
    if (!row) return;
    row->unsigned_integer(tracks::kFlowSource, gpu_flows_[flow][0]);
    row->unsigned_integer(tracks::kFlowTarget, gpu_flows_[flow][1]);
    row->integer(tracks::kFlowId, static_cast<std::int64_t>(flow + 1));
  }
}

}  // namespace accelscope::capture::sources::tracy
