#include "core/analysis/memory/sampled_pools.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/scan/column_values.h"

namespace accelscope {
namespace {

constexpr std::string_view kShareSuffix = " usage";
constexpr std::string_view kStatedSuffix = " Total Allocated";  // as PyTorch calls what its allocator has in use
constexpr std::array<std::string_view, 6> kUseWords = {"memory", "allocated", "reserved", "used", "usage", "heap"};

bool names_use(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::any_of(kUseWords.begin(), kUseWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

// A counter's lane that tells a pool's use.
struct Gauge {
  PoolUsage pool;
  std::size_t column = 0;
  double scale = 1;  // bytes of one unit
};

bool has_allocations(const MemoryUsage& usage, std::string_view device, std::string_view name) {
  return std::any_of(usage.pools.begin(), usage.pools.end(), [&](const PoolUsage& pool) {
    return pool.device == device && pool.base_name.starts_with(name) && pool.allocation_count > 0;
  });
}

// The allocations of such a device are known to the byte, and what is held besides: counters of the same tell nothing.
bool tells_what_is_held(const MemoryUsage& usage, std::string_view device) {
  return std::any_of(usage.pools.begin(), usage.pools.end(),
                     [&](const PoolUsage& pool) { return pool.device == device && !pool.reserved.empty(); });
}

std::optional<Gauge> gauge_of(const Snapshot& snapshot, std::uint32_t index, const TrackDevices& devices,
                              const MemoryUsage& usage) {
  const LaneSnapshot& lane = snapshot.lanes[index];
  const TrackSnapshot* track = snapshot.find_track(lane.track);
  const std::optional<std::size_t> column = lane.schema->find(Role::value);
  if (track == nullptr || !column || lane.data->kind != EventKind::counter || lane.event_count == 0) return {};
  const std::string& name = track->track->name;
  const std::string device = track->track->device.empty() ? std::string() : devices.name(devices.of_lane(index));
  Gauge gauge;
  gauge.column = *column;
  gauge.pool.device = device;
  if (device.empty()) gauge.pool.host = track->track->host;
  gauge.pool.sampled = true;
  if (track->track->unit == "B" && names_use(name)) {
    if (!device.empty() && tells_what_is_held(usage, device)) return {};
    gauge.pool.base_name = name;
    gauge.pool.note = "sampled by the counter \"" + name + "\"";
    return gauge;
  }
  if (lane.schema->columns[*column].unit != "share" || !name.ends_with(kShareSuffix)) return {};
  gauge.pool.base_name = name.substr(0, name.size() - kShareSuffix.size());
  gauge.pool.capacity_bytes = stated_capacity(snapshot, device, gauge.pool.base_name);
  if (!gauge.pool.capacity_bytes || has_allocations(usage, device, gauge.pool.base_name)) return {};
  gauge.scale = static_cast<double>(*gauge.pool.capacity_bytes);
  gauge.pool.estimated = true;
  gauge.pool.note = "estimated: samples of the share in use times the capacity";
  return gauge;
}

std::optional<double> sample_at(const ScannedChunk& chunk, std::size_t column, std::uint32_t row) {
  if (column >= chunk.view.column_count() || !chunk.view.has_value(column, row)) return std::nullopt;
  const ColumnType type = chunk.lane.schema->columns[column].type;
  return real_number(chunk.view, column, type, chunk.view.stored(column, row));
}

}  // namespace

std::optional<std::uint64_t> stated_capacity(const Snapshot& snapshot, std::string_view device, std::string_view name) {
  // What is said of one host or rank lies under its label: "trn1.capacity.SBUF" is of "trn1 nc0".
  std::vector<std::string> keys = {"capacity." + std::string(device) + " " + std::string(name)};
  for (std::size_t space = device.find(' '); space != std::string_view::npos; space = device.find(' ', space + 1)) {
    const std::string label(device.substr(0, space)), rest(device.substr(space + 1));
    keys.push_back(label + ".capacity." + rest + " " + std::string(name));
    keys.push_back(label + ".capacity." + std::string(name));
    keys.push_back("capacity." + rest + " " + std::string(name));
  }
  keys.push_back("capacity." + std::string(name));
  std::string_view text;
  for (const std::string& key : keys) {
    if (text = snapshot.meta_value(key); !text.empty()) break;
  }
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || bytes == 0) return std::nullopt;
  return bytes;
}

Result<void> add_sampled_pools(const QueryContext& query, MemoryUsage& usage) {
  const Snapshot& snapshot = *query.snapshot;
  const TrackDevices devices(snapshot);
  std::map<std::uint32_t, Gauge> gauges;  // by lane
  LaneIndices lanes;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (auto gauge = gauge_of(snapshot, lane, devices, usage)) {
      gauges.emplace(lane, std::move(*gauge));
      lanes.push_back(lane);
    }
  }
  std::mutex mutex;
  const Result<void> scanned = scan_chunks(query, lanes, {}, [&](const ScannedChunk& chunk, std::size_t) {
    std::vector<PoolStep> steps;
    Gauge& gauge = gauges.at(chunk.lane_index);
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const auto value = sample_at(chunk, gauge.column, block.row(i));
        if (!value || !(*value >= 0) || *value * gauge.scale > 9.2e18) continue;
        steps.push_back({block.begin_ns(i), static_cast<std::uint64_t>(std::llround(*value * gauge.scale))});
      }
    });
    const std::scoped_lock lock(mutex);
    gauge.pool.steps.insert(gauge.pool.steps.end(), steps.begin(), steps.end());
  });
  if (!scanned) return scanned.error();
  for (auto& [lane, gauge] : gauges) {
    PoolUsage& pool = gauge.pool;
    std::stable_sort(pool.steps.begin(), pool.steps.end(),
                     [](const PoolStep& a, const PoolStep& b) { return a.ns < b.ns; });
    const auto peak = std::max_element(pool.steps.begin(), pool.steps.end(),
                                       [](const PoolStep& a, const PoolStep& b) { return a.bytes < b.bytes; });
    if (peak == pool.steps.end()) continue;
    pool.peak_bytes = peak->bytes;
    pool.peak_ns = peak->ns;
    usage.sampled.push_back(std::move(pool));
  }
  // "GPU 0 memory Total Allocated" of "GPU 0 memory"
  for (PoolUsage& pool : usage.pools) {
    const auto stated = std::find_if(usage.sampled.begin(), usage.sampled.end(), [&](const PoolUsage& each) {
      return each.device == pool.device && each.base_name == pool.base_name + std::string(kStatedSuffix);
    });
    if (stated == usage.sampled.end()) continue;
    pool.stated_steps = stated->steps;
    pool.stated_peak = {stated->peak_ns, stated->peak_bytes};
  }
  return {};
}

}  // namespace accelscope
