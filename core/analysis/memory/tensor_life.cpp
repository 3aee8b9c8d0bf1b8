#include "core/analysis/memory/tensor_life.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"
#include "core/scan/event_reader.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

class LifeTally {
 public:
  LifeTally(const TimeRange& range, std::size_t cells) : range_(range) {
    life_.range = range;
    life_.moved.resize(cells);
    life_.used.resize(cells);
  }

  void add(const ScannedChunk& chunk, bool transfer) {
    const auto bytes = transfer ? chunk.lane.schema->find(Role::bytes) : std::nullopt;
    chunk.for_each_block([&](const ScannedBlock& block) {
      NumberBlock sizes;
      if (bytes) sizes.read(block.reader, *bytes, chunk.lane.schema->columns[*bytes].type);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::int64_t begin = block.begin_ns(i), end = block.end_ns(i);
        mark(transfer ? life_.moved : life_.used, begin, end);
        ++life_.events;
        if (transfer) ++life_.transfers;
        if (bytes) life_.bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(0, sizes[i]));
        extend({begin, end});
      }
    });
  }
  void append(const LifeTally& tally) {
    const TensorLife& other = tally.life_;
    for (std::size_t i = 0; i < life_.moved.size(); ++i) {
      if (other.moved[i]) life_.moved[i] = true;
      if (other.used[i]) life_.used[i] = true;
    }
    life_.events += other.events;
    life_.transfers += other.transfers;
    life_.bytes += other.bytes;
    if (other.touched) extend(*other.touched);
  }
  [[nodiscard]] const TensorLife& life() const noexcept { return life_; }

 private:
  void extend(const TimeRange& time) {
    TimeRange& all = life_.touched ? *life_.touched : life_.touched.emplace(time);
    all.begin_ns = std::min(all.begin_ns, time.begin_ns);
    all.end_ns = std::max(all.end_ns, time.end_ns);
  }
  void mark(std::vector<bool>& cells, std::int64_t begin, std::int64_t end) const {
    if (!range_.holds(begin, end)) return;
    const auto cell_of = [&](std::int64_t ns) {
      const double share = static_cast<double>(ns - range_.begin_ns) /
                           static_cast<double>(std::max<std::int64_t>(1, range_.length_ns()));
      return std::min(cells.size() - 1,
                      static_cast<std::size_t>(std::max(0.0, share) * static_cast<double>(cells.size())));
    };
    const std::size_t last = cell_of(end > begin ? end - 1 : end);
    for (std::size_t cell = cell_of(begin); cell <= last; ++cell) cells[cell] = true;
  }

  TimeRange range_;
  TensorLife life_;
};

}  // namespace

Result<std::shared_ptr<const TensorLife>> tensor_life(const QueryContext& query, const TimeRange& range,
                                                      std::size_t cells) {
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  std::vector<ChunkRequest> requests;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    const EventKind kind = lane.data->kind;
    if ((kind != EventKind::slice && kind != EventKind::instant) || lane.event_count == 0 || !lane.schema) continue;
    if (!kinds.covers_time(i)) continue;  // its packets are counted
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      if (!query.mask || query.mask->passing_in(i, lane.chunk(chunk)) > 0) requests.push_back({i, chunk, {}});
    }
  }
  const auto all = gather(query, requests, LifeTally(range, std::max<std::size_t>(1, cells)),
                          [&](const ScannedChunk& chunk, LifeTally& part) {
                            part.add(chunk, kinds.of_lane(chunk.lane_index) == WorkKind::transfer);
                          });
  if (!all) return all.error();
  return std::make_shared<const TensorLife>(all->life());
}

std::vector<TensorStay> tensor_stays(const MemoryUsage& usage, std::string_view tensor, std::int64_t session_end_ns) {
  std::vector<TensorStay> stays;
  for (const Allocation& each : usage.allocations) {
    if (each.tensor >= usage.tensors.size() || usage.tensors[each.tensor] != tensor) continue;
    stays.push_back({each.pool, {each.begin_ns, each.end_ns.value_or(session_end_ns)}, !each.end_ns});
  }
  std::ranges::sort(stays, [](const TensorStay& a, const TensorStay& b) {
    return std::tie(a.pool, a.time.begin_ns) < std::tie(b.pool, b.time.begin_ns);
  });
  std::vector<TensorStay> joined;
  for (const TensorStay& each : stays) {
    if (!joined.empty() && joined.back().pool == each.pool && each.time.begin_ns <= joined.back().time.end_ns) {
      joined.back().time.end_ns = std::max(joined.back().time.end_ns, each.time.end_ns);
      joined.back().stays = joined.back().stays || each.stays;
    } else {
      joined.push_back(each);
    }
  }
  return joined;
}

namespace {

struct Use {
  std::int64_t begin_ns = 0, end_ns = 0;
  EventId event = kNoEvent;
  StringId name = 0;
  bool written = false;
};

// Whose on-chip memory a pool is; null where it is none.
[[nodiscard]] const Vendor* on_chip_of(const PoolUsage& pool) {
  for (const Vendor& vendor : vendors()) {
    if (pool.base_name.starts_with(vendor.on_chip_pool)) return &vendor;
  }
  return nullptr;
}

[[nodiscard]] bool names_chip(std::string_view place) {
  const auto names = [&](const Vendor& vendor) { return vendor.on_chip_place == place; };
  return std::ranges::any_of(vendors(), names);
}

// How often a tensor was loaded into on-chip memory, in tables that tell.
[[nodiscard]] std::optional<std::size_t> reload_column(const Schema& schema) {
  for (const Vendor& vendor : vendors()) {
    if (const auto column = schema.find(vendor.reload_column)) return column;
  }
  return std::nullopt;
}

// Finds the uses in one chunk after the other, one finder per thread.
class UseFinder {
 public:
  UseFinder(const Snapshot& snapshot, const MemoryUsage& usage, const Allocation& allocation)
      : strings_(*snapshot.strings),
        allocation_(allocation),
        tensor_(usage.tensors[allocation.tensor]),
        on_chip_(on_chip_of(usage.pools[allocation.pool])) {}

  void add(const ScannedChunk& chunk) {
    const Columns columns(*chunk.lane.schema);
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const std::optional<bool> written = use_of(chunk, columns, block, i);
      if (written) uses.push_back({block.begin_ns(i), block.end_ns(i), block.id(i), block.name(i), *written});
    });
  }

  std::vector<Use> uses;
  bool tells_reads = false;
  auto measures() { return std::tie(uses, tells_reads); }

  struct Columns {
    explicit Columns(const Schema& schema)
        : operands(schema.find(Role::operands)),
          tensor(schema.find(Role::tensor)),
          bytes(schema.find(Role::bytes)),
          source(schema.find("source")),
          dest(schema.find("dest")),
          dest_offset(schema.find("dest_offset")) {}
    std::optional<std::size_t> operands, tensor, bytes, source, dest, dest_offset;
  };
  // Whether an event writes (true) or reads (false) the allocation; nothing if it does neither.
  std::optional<bool> use_of(const ScannedChunk& chunk, const Columns& columns, const ScannedBlock& block,
                             std::uint32_t i) {
    return use_of(chunk, columns, block.row(i), block.name(i));
  }

 private:
  [[nodiscard]] std::string_view text(const ScannedChunk& chunk, std::optional<std::size_t> column,
                                      std::uint32_t row) const {
    if (!column) return {};
    return text_at(chunk, strings_, *column, chunk.lane.schema->columns[*column].type, row);
  }
  [[nodiscard]] bool holds(std::uint64_t address) const noexcept {
    return allocation_.address && address >= *allocation_.address && address - *allocation_.address < allocation_.bytes;
  }

  std::optional<bool> use_of(const ScannedChunk& chunk, const Columns& columns, std::uint32_t row, StringId name) {
    if (columns.operands && on_chip_ != nullptr && allocation_.address) {
      const std::string_view operands = text(chunk, columns.operands, row);
      std::optional<bool> written;
      on_chip_->visit_addresses(operands, [&](std::uint64_t address, bool writes) {
        tells_reads = true;
        if (holds(address)) written = written.value_or(true) && writes;
      });
      return written;
    }
    if (columns.tensor && text(chunk, columns.tensor, row) == tensor_) {
      tells_reads = true;
      return false;
    }
    if (!columns.bytes || strings_.text(name) != tensor_) return std::nullopt;
    const std::string_view dest = text(chunk, columns.dest, row);
    const std::string_view source = text(chunk, columns.source, row);
    if (dest.empty() && source.empty()) return true;
    const bool into_chip = names_chip(dest);
    if (on_chip_ == nullptr) {
      tells_reads = true;
      return !into_chip;
    }
    const std::string_view offset = text(chunk, columns.dest_offset, row);
    const std::size_t hex = offset.find("0x");
    std::uint64_t address = 0;
    if (into_chip && hex != std::string_view::npos && allocation_.address &&
        std::from_chars(offset.data() + hex + 2, offset.data() + offset.size(), address, 16).ec == std::errc()) {
      if (!holds(address)) return std::nullopt;  // of another tile of the tensor
    }
    return into_chip;
  }

  const StringPool& strings_;
  const Allocation& allocation_;
  const std::string& tensor_;
  const Vendor* on_chip_;  // whose memory it is in; null: another one
};

// Whether a lane is of the pool's device, or of its host where it is of none.
[[nodiscard]] bool is_of(const PoolUsage& pool, const Track& track, const TrackDevices& devices, std::uint32_t lane) {
  if (track.device.empty()) return pool.device.empty() && track.host == pool.host;
  return devices.name(devices.of_lane(lane)) == pool.device;
}

// Lanes whose events may use it: of its device, topmost where tracks are nested (a transfer, not its packets).
LaneIndices lanes_of(const Snapshot& snapshot, const TrackDevices& devices, const PoolUsage& pool) {
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneSnapshot& lane = snapshot.lanes[i];
    const TrackSnapshot* track = snapshot.find_track(lane.track);
    if (track == nullptr || lane.data->kind != EventKind::slice || !is_of(pool, *track->track, devices, i)) continue;
    const Schema& schema = *lane.schema;
    const bool tells = schema.find(Role::operands) || schema.find(Role::tensor) || schema.find(Role::bytes);
    if (tells && track->track->parent == kNone) lanes.push_back(i);
  }
  return lanes;
}

std::string writer_text(const Snapshot& snapshot, const Use& use) {
  const LaneSnapshot* lane = snapshot.find_lane(lane_of(use.event));
  const TrackSnapshot* track = lane != nullptr ? snapshot.find_track(lane->track) : nullptr;
  if (track == nullptr) return std::string(snapshot.strings->text(use.name));
  if (track->track->kind == "dma_queue") return "DMA " + track->track->name;
  return std::string(snapshot.strings->text(use.name)) + " on " + track->track->name;
}

Result<std::optional<double>> repeat_factor(const QueryContext& query, const TrackDevices& devices,
                                            const PoolUsage& pool, const std::string& tensor) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices lanes;
  for (const std::uint32_t i : lanes_of_kind(snapshot, EventKind::table)) {
    const TrackSnapshot* track = snapshot.find_track(snapshot.lanes[i].track);
    const bool here = track != nullptr && (track->track->device.empty() || is_of(pool, *track->track, devices, i));
    if (here && reload_column(*snapshot.lanes[i].schema)) lanes.push_back(i);
  }
  const auto found = gather(query, lanes, {}, std::vector<double>(), [&](const ScannedChunk& chunk, auto& factors) {
    const std::size_t column = *reload_column(*chunk.lane.schema);
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const std::uint32_t row = block.row(i);
      if (snapshot.strings->text(block.name(i)) != tensor) return;
      if (column >= chunk.view.column_count() || !chunk.view.has_value(column, row)) return;
      factors.assign(1, chunk.view.to_float64(column, chunk.view.stored(column, row)));
    });
  });
  if (!found) return found.error();
  return found->empty() ? std::optional<double>() : found->front();
}

void tell_reads(const Snapshot& snapshot, const std::vector<Use>& uses, AllocationStory& story) {
  std::map<StringId, std::uint64_t> names;
  for (const Use& use : uses) {
    if (use.written) continue;
    if (story.reads++ == 0) story.first_reader = use.event;
    ++names[use.name];
    if (story.ticks.size() < AllocationStory::kMostTicks) story.ticks.push_back({use.begin_ns, use.event});
  }
  const auto most = std::ranges::max_element(names, {}, [](const auto& each) { return each.second; });
  if (most != names.end()) story.reader_name = snapshot.strings->text(most->first);
}

}  // namespace

Result<std::shared_ptr<const AllocationStory>> allocation_story(const QueryContext& query, const MemoryUsage& usage,
                                                                std::uint32_t number) {
  const Snapshot& snapshot = *query.snapshot;
  const Allocation& allocation = usage.allocations[number];
  const TrackDevices devices(snapshot);
  const PoolUsage& pool = usage.pools[allocation.pool];
  const TimeRange life{allocation.begin_ns,
                       std::max(allocation.end_ns.value_or(snapshot.end_ns), allocation.begin_ns + 1)};
  auto found = gather(query, lanes_of(snapshot, devices, pool), life, UseFinder(snapshot, usage, allocation),
                      [](const ScannedChunk& chunk, UseFinder& finder) { finder.add(chunk); });
  if (!found) return found.error();

  auto story = std::make_shared<AllocationStory>();
  std::vector<Use>& uses = found->uses;
  story->reads_known = found->tells_reads;
  std::ranges::sort(uses, [](const Use& a, const Use& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.event < b.event;
  });
  const auto writer = std::ranges::find_if(uses, [](const Use& use) { return use.written; });
  if (writer != uses.end()) {
    story->writer = writer->event;
    story->writer_text = writer_text(snapshot, *writer);
  }
  tell_reads(snapshot, uses, *story);
  if (story->reads_known) {
    CoveredTime busy;
    for (const Use& use : uses) busy.add(std::max(use.begin_ns, life.begin_ns), std::min(use.end_ns, life.end_ns));
    busy.close_window();
    story->idle_share = 1 - static_cast<double>(busy.length_ns()) / static_cast<double>(life.length_ns());
  }
  auto factor = TRY(repeat_factor(query, devices, pool, usage.tensors[allocation.tensor]));
  story->repeat_factor = factor;
  return std::shared_ptr<const AllocationStory>(story);
}

Result<std::vector<TouchedAllocation>> touched_allocations(const QueryContext& query, const MemoryUsage& usage,
                                                           EventId event) {
  const Snapshot& snapshot = *query.snapshot;
  const auto lane = std::ranges::find(snapshot.lanes, lane_of(event), &LaneSnapshot::number);
  if (lane == snapshot.lanes.end() || lane->data->kind != EventKind::slice) return std::vector<TouchedAllocation>();
  const auto index = static_cast<std::uint32_t>(lane - snapshot.lanes.begin());
  const TrackSnapshot* track = snapshot.find_track(lane->track);
  const auto record = TRY(EventReader(query.store, query.snapshot).read(event));
  const TimeRange time{record.begin_ns, std::max(record.end_ns, record.begin_ns + 1)};
  const TrackDevices devices(snapshot);
  std::vector<std::uint32_t> there;
  for (std::uint32_t i = 0; track != nullptr && i < usage.allocations.size(); ++i) {
    const Allocation& each = usage.allocations[i];
    const bool is_there = each.begin_ns <= time.end_ns && each.end_ns.value_or(snapshot.end_ns) >= time.begin_ns;
    if (is_there && is_of(usage.pools[each.pool], *track->track, devices, index)) there.push_back(i);
  }
  const auto add = [&](const ScannedChunk& chunk, std::vector<TouchedAllocation>& touched) {
    const UseFinder::Columns columns(*chunk.lane.schema);
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      if (block.id(i) != event) return;
      for (const std::uint32_t each : there) {
        const auto written = UseFinder(snapshot, usage, usage.allocations[each]).use_of(chunk, columns, block, i);
        if (written) touched.push_back({each, *written});
      }
    });
  };
  return gather(query.unmasked(), LaneIndices{index}, time, std::vector<TouchedAllocation>(), add);
}

}  // namespace accelscope::analysis
