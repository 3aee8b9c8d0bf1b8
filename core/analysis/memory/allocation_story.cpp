#include "core/analysis/memory/allocation_story.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/analysis/time/covered_time.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"

namespace accelscope {
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
  return std::any_of(vendors().begin(), vendors().end(), names);
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
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::optional<bool> written = use_of(chunk, columns, block.row(i), block.name(i));
        if (written) uses.push_back({block.begin_ns(i), block.end_ns(i), block.id(i), block.name(i), *written});
      }
    });
  }

  std::vector<Use> uses;
  bool tells_reads = false;

 private:
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
  [[nodiscard]] std::string_view text(const ScannedChunk& chunk, std::optional<std::size_t> column,
                                      std::uint32_t row) const {
    if (!column) return {};
    return text_at(chunk, strings_, *column, chunk.lane.schema->columns[*column].type, row);
  }
  [[nodiscard]] bool holds(std::uint64_t address) const noexcept {
    return allocation_.address && address >= *allocation_.address && address - *allocation_.address < allocation_.bytes;
  }

  // Whether the event writes (true) or reads (false) the allocation; nothing if it does neither.
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
  std::vector<std::optional<double>> found(query.pool.concurrency());
  const Result<void> scanned = scan_chunks(query, lanes, {}, [&](const ScannedChunk& chunk, std::size_t worker) {
    const std::size_t column = *reload_column(*chunk.lane.schema);
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const std::uint32_t row = block.row(i);
        if (snapshot.strings->text(block.name(i)) != tensor) continue;
        if (column >= chunk.view.column_count() || !chunk.view.has_value(column, row)) continue;
        found[worker] = chunk.view.to_float64(column, chunk.view.stored(column, row));
      }
    });
  });
  if (!scanned) return scanned.error();
  for (const std::optional<double>& value : found) {
    if (value) return value;
  }
  return std::optional<double>();
}

void tell_reads(const Snapshot& snapshot, const std::vector<Use>& uses, AllocationStory& story) {
  std::map<StringId, std::uint64_t> names;
  for (const Use& use : uses) {
    if (use.written) continue;
    if (story.reads++ == 0) story.first_reader = use.event;
    ++names[use.name];
    if (story.ticks.size() < AllocationStory::kMostTicks) story.ticks.push_back({use.begin_ns, use.event});
  }
  const auto most =
      std::max_element(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
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
  std::vector<UseFinder> finders(query.pool.concurrency(), UseFinder(snapshot, usage, allocation));
  const Result<void> scanned =
      scan_chunks(query, lanes_of(snapshot, devices, pool), life,
                  [&](const ScannedChunk& chunk, std::size_t worker) { finders[worker].add(chunk); });
  if (!scanned) return scanned.error();

  auto story = std::make_shared<AllocationStory>();
  std::vector<Use> uses;
  for (const UseFinder& finder : finders) {
    uses.insert(uses.end(), finder.uses.begin(), finder.uses.end());
    story->reads_known = story->reads_known || finder.tells_reads;
  }
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.event < b.event;
  });
  const auto writer = std::find_if(uses.begin(), uses.end(), [](const Use& use) { return use.written; });
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
  auto factor = repeat_factor(query, devices, pool, usage.tensors[allocation.tensor]);
  if (!factor) return factor.error();
  story->repeat_factor = *factor;
  return std::shared_ptr<const AllocationStory>(story);
}

}  // namespace accelscope
