#include "core/analysis/memory/usage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/time/track_devices.h"
#include "core/base/text.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis {
namespace {

// Pools of memory whose use is known by samples only: counters in bytes that say how much is in use, and counters that
// state the share of a pool ("SBUF usage") whose capacity the session states.

// What the meta entry "capacity.DEVICE NAME", else "capacity.NAME", says, in bytes.
[[nodiscard]] std::optional<std::uint64_t> stated_capacity(const Snapshot& snapshot, std::string_view device,
                                                           std::string_view name);

// Appends to MemoryUsage::sampled. A pool that has allocations of its own gets no share counter beside them.
[[nodiscard]] Result<void> add_sampled_pools(const QueryContext& query, MemoryUsage& usage);

constexpr std::string_view kShareSuffix = " usage";
constexpr std::string_view kStatedSuffix = " Total Allocated";  // as PyTorch calls what its allocator has in use
constexpr std::array<std::string_view, 6> kUseWords = {"memory", "allocated", "reserved", "used", "usage", "heap"};

bool names_use(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::ranges::any_of(kUseWords, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

// A counter's lane that tells a pool's use.
struct Gauge {
  PoolUsage pool;
  std::size_t column = 0;
  double scale = 1;  // bytes of one unit
};

bool has_allocations(const MemoryUsage& usage, std::string_view device, std::string_view name) {
  return std::ranges::any_of(usage.pools, [&](const PoolUsage& pool) {
    return pool.device == device && pool.base_name.starts_with(name) && pool.allocation_count > 0;
  });
}

// The allocations of such a device are known to the byte, and what is held besides: counters of the same tell nothing.
bool tells_what_is_held(const MemoryUsage& usage, std::string_view device) {
  return std::ranges::any_of(usage.pools,
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
  if (track->track->unit == Unit::bytes && names_use(name)) {
    if (!device.empty() && tells_what_is_held(usage, device)) return {};
    gauge.pool.base_name = name;
    gauge.pool.note = "sampled by the counter \"" + name + "\"";
    return gauge;
  }
  if (lane.schema->columns[*column].unit != Unit::share || !name.ends_with(kShareSuffix)) return {};
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
  return read_number(text, bytes) && bytes > 0 ? std::optional(bytes) : std::nullopt;
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
    chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
      const auto value = sample_at(chunk, gauge.column, block.row(i));
      if (!value || !(*value >= 0) || *value * gauge.scale > 9.2e18) return;
      steps.push_back({block.begin_ns(i), static_cast<std::uint64_t>(std::llround(*value * gauge.scale))});
    });
    const std::scoped_lock lock(mutex);
    gauge.pool.steps.insert(gauge.pool.steps.end(), steps.begin(), steps.end());
  });
  if (!scanned) return scanned.error();
  for (auto& [lane, gauge] : gauges) {
    PoolUsage& pool = gauge.pool;
    std::ranges::stable_sort(pool.steps, {}, &PoolStep::ns);
    const auto peak = std::ranges::max_element(pool.steps, {}, &PoolStep::bytes);
    if (peak == pool.steps.end()) continue;
    pool.peak_bytes = peak->bytes;
    pool.peak_ns = peak->ns;
    usage.sampled.push_back(std::move(pool));
  }
  // "GPU 0 memory Total Allocated" of "GPU 0 memory"
  for (PoolUsage& pool : usage.pools) {
    const auto stated = std::ranges::find_if(usage.sampled, [&](const PoolUsage& each) {
      return each.device == pool.device && each.base_name == pool.base_name + std::string(kStatedSuffix);
    });
    if (stated == usage.sampled.end()) continue;
    pool.stated_steps = stated->steps;
    pool.stated_peak = {stated->peak_ns, stated->peak_bytes};
  }
  return {};
}

// An event of kind memory as it was read.
struct MemoryEvent {
  EventId id = kNoEvent;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t bytes = 0;  // < 0 releases
  std::optional<std::uint64_t> address;
  std::optional<std::uint64_t> key;
  std::uint32_t pool = 0;
  std::uint32_t tensor = 0;
  std::uint32_t site = 0;
  std::uint32_t stack = 0;
  std::uint64_t requested = 0;
  bool reserves = false;  // what an allocator holds, no allocation
  bool joins = false;
};

// Numbers texts in the order in which they come.
class Names {
 public:
  std::uint32_t number(std::string_view text) {
    const auto [entry, inserted] = numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
    if (inserted) texts_.emplace_back(text);
    return entry->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

struct Collected {
  std::vector<MemoryEvent> events;
  Names pools;  // device, kSeparator, host, kSeparator, name
  Names tensors;
  Names sites;
  Names stacks;
};

constexpr char kSeparator = '\0';

// Whose a pool is; what is of a device is not told apart by the process that speaks of it.
[[nodiscard]] std::string owner_text(const TrackSnapshot* track, const TrackDevices& devices, std::uint32_t lane) {
  if (track == nullptr) return {kSeparator, kSeparator};
  if (track->track->device.empty()) return kSeparator + track->track->host + kSeparator;
  return devices.name(devices.of_lane(lane)) + kSeparator + kSeparator;
}

// Allocations are positive, releases negative.
[[nodiscard]] constexpr std::uint64_t size_of(std::int64_t bytes) noexcept {
  return bytes < 0 ? 0 - static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
}

void collect_chunk(const ScannedChunk& chunk, const Snapshot& snapshot, const TrackDevices& devices,
                   Collected& collected) {
  const Schema& schema = *chunk.lane.schema;
  const StringPool& strings = *snapshot.strings;
  std::optional<std::size_t> allocation = schema.find(Role::allocation);
  const bool reserves = !allocation;
  if (reserves) allocation = schema.find(Role::reserved);
  if (!allocation) return;
  const TrackSnapshot* track = snapshot.find_track(chunk.lane.track);
  const auto number = [&](Role role, std::uint32_t row) -> std::optional<std::uint64_t> {
    const std::optional<std::size_t> column = schema.find(role);
    if (!column) return std::nullopt;
    const auto value = number_at(chunk.view, *column, schema.columns[*column].type, row);
    return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
  };
  const auto text = [&](Role role, std::uint32_t row, std::string_view otherwise) {
    const std::optional<std::size_t> column = schema.find(role);
    const std::string_view found =
        column ? text_at(chunk, strings, *column, schema.columns[*column].type, row) : std::string_view();
    return found.empty() ? otherwise : found;
  };
  const std::string_view track_name = track != nullptr ? std::string_view(track->track->name) : std::string_view();
  const std::string owner = owner_text(track, devices, chunk.lane_index);
  chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
    const std::uint32_t row = block.row(i);
    const auto bytes = number_at(chunk.view, *allocation, schema.columns[*allocation].type, row);
    if (!bytes || *bytes == 0) return;
    MemoryEvent event;
    event.id = block.id(i);
    event.begin_ns = block.begin_ns(i);
    event.end_ns = block.end_ns(i);
    event.bytes = *bytes;
    event.address = number(Role::address, row);
    event.key = number(Role::key, row);
    event.reserves = reserves;
    event.joins = reserves && number(Role::joins, row).value_or(0) != 0;
    event.pool = collected.pools.number(owner + std::string(text(Role::pool, row, track_name)));
    if (reserves) {
      collected.events.push_back(event);
      return;
    }
    const std::uint64_t size = size_of(*bytes);
    event.requested = std::min(number(Role::requested, row).value_or(size), size);
    event.site = collected.sites.number(text(Role::source_location, row, {}));
    event.stack = collected.stacks.number(text(Role::stack, row, {}));
    event.tensor = collected.tensors.number(text(Role::tensor, row, strings.text(block.name(i))));
    collected.events.push_back(event);
  });
}

struct Handle {
  std::uint64_t kind;  // keys of one scope, or addresses of one pool, or sizes of one tensor in one pool
  std::uint64_t value;
  bool operator==(const Handle&) const = default;
};
struct HandleHash {
  std::size_t operator()(const Handle& handle) const noexcept {
    return std::hash<std::uint64_t>{}(handle.value * 0x9E3779B97F4A7C15U ^ handle.kind);
  }
};

// Goes through the events in the order of time and finds for every release what it releases.
class Matcher {
 public:
  explicit Matcher(MemoryUsage& usage) : usage_(usage) {}

  void add(const MemoryEvent& event) {
    if (event.bytes > 0) {
      allocate(event);
    } else if (!release(event)) {
      ++usage_.unmatched_releases;
    }
  }

 private:
  static Handle by_key(const MemoryEvent& event) { return {scope_of(lane_of(event.id)), *event.key}; }
  static Handle by_address(const MemoryEvent& event) { return {std::uint64_t{event.pool} << 32, *event.address}; }
  static Handle by_size(const MemoryEvent& event) {
    return {std::uint64_t{event.pool} << 32 | event.tensor, size_of(event.bytes)};
  }
  [[nodiscard]] bool alive(std::uint32_t index) const { return !usage_.allocations[index].end_ns.has_value(); }

  void allocate(const MemoryEvent& event) {
    const auto index = static_cast<std::uint32_t>(usage_.allocations.size());
    usage_.allocations.push_back({event.id, kNoEvent, event.pool, event.tensor, event.address,
                                  static_cast<std::uint64_t>(event.bytes), event.begin_ns, std::nullopt, event.site,
                                  event.stack, event.requested});
    if (event.end_ns > event.begin_ns) {
      usage_.allocations.back().end_ns = event.end_ns;
      return;
    }
    if (event.key) keys_[by_key(event)] = index;
    if (event.address) {
      const auto [place, inserted] = addresses_.try_emplace(by_address(event), index);
      if (!inserted && alive(place->second)) {
        usage_.allocations[place->second].end_ns = event.begin_ns;
        ++usage_.implied_releases;
      }
      place->second = index;
    }
    sizes_[by_size(event)].push_back(index);
  }

  bool release(const MemoryEvent& event) {
    if (event.key && end(keys_, by_key(event), event)) return true;
    if (event.address) return end(addresses_, by_address(event), event);
    const auto found = sizes_.find(by_size(event));
    if (found == sizes_.end()) return false;
    while (!found->second.empty()) {
      const std::uint32_t index = found->second.back();
      found->second.pop_back();
      if (alive(index)) return end(index, event);
    }
    return false;
  }
  bool end(std::unordered_map<Handle, std::uint32_t, HandleHash>& handles, const Handle& handle,
           const MemoryEvent& event) {
    const auto found = handles.find(handle);
    if (found == handles.end() || !alive(found->second)) return false;
    const std::uint32_t index = found->second;
    handles.erase(found);
    return end(index, event);
  }
  bool end(std::uint32_t index, const MemoryEvent& event) {
    usage_.allocations[index].end_ns = event.begin_ns;
    usage_.allocations[index].release = event.id;
    return true;
  }

  MemoryUsage& usage_;
  std::unordered_map<Handle, std::uint32_t, HandleHash> keys_;
  std::unordered_map<Handle, std::uint32_t, HandleHash> addresses_;
  std::unordered_map<Handle, std::vector<std::uint32_t>, HandleHash> sizes_;
};

// What is held, by where it lies. A release of what nobody got is left out; what is got twice ends where it is got
// anew.
class ReservedMatcher {
 public:
  void add(const MemoryEvent& event) {
    if (!event.address) return;
    if (pieces_.size() <= event.pool) pieces_.resize(event.pool + std::size_t{1});
    std::vector<ReservedPiece>& pieces = pieces_[event.pool];
    const auto key = std::pair{event.pool, *event.address};
    if (const auto known = open_.find(key); known != open_.end()) {
      pieces[known->second].end_ns = event.begin_ns;
      open_.erase(known);
    }
    if (event.bytes < 0) return;
    open_.emplace(key, pieces.size());
    pieces.push_back(
        {event.id, *event.address, static_cast<std::uint64_t>(event.bytes), event.begin_ns, std::nullopt, event.joins});
  }
  [[nodiscard]] std::vector<ReservedPiece> take(std::size_t pool) {
    return pool < pieces_.size() ? std::move(pieces_[pool]) : std::vector<ReservedPiece>();
  }

 private:
  std::vector<std::vector<ReservedPiece>> pieces_;                       // by pool
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> open_;  // by pool and address
};

// Those of one device in the order of time.
std::vector<std::string> pools_by_owner(const std::vector<MemoryEvent>& events,
                                        const std::vector<const Collected*>& names_of,
                                        const std::vector<std::uint32_t>& order) {
  std::set<const std::string*> seen;
  std::vector<std::string> texts;
  for (const std::uint32_t index : order) {
    const std::string& text = names_of[index]->pools.texts()[events[index].pool];
    if (seen.insert(&text).second && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  const auto owner_of = [](std::string_view text) { return text.substr(0, text.rfind(kSeparator)); };
  std::ranges::stable_sort(
      texts, [&](const std::string& a, const std::string& b) { return natural_less(owner_of(a), owner_of(b)); });
  return texts;
}

// Pools of several devices or hosts are told apart by the owner in front of their name; their capacity is what the
// session states for the one or for all of that name.
void name_pools(const Snapshot& snapshot, MemoryUsage& usage) {
  for (std::vector<PoolUsage>* pools : {&usage.pools, &usage.sampled}) {
    for (PoolUsage& pool : *pools) {
      const bool several = std::ranges::any_of(*pools, [&](const PoolUsage& other) {
        return other.base_name == pool.base_name && (other.device != pool.device || other.host != pool.host);
      });
      const std::string& owner = pool.device.empty() ? pool.host : pool.device;
      pool.name = several && !owner.empty() ? owner + " " + pool.base_name : pool.base_name;
      if (!pool.capacity_bytes) pool.capacity_bytes = stated_capacity(snapshot, pool.device, pool.base_name);
    }
  }
}

// Stacks are called by what is first allocated there; several of one name are numbered.
void name_stacks(MemoryUsage& usage) {
  usage.stack_titles.assign(usage.stacks.size(), {});
  std::vector<char> named(usage.stacks.size(), 0);
  std::unordered_map<std::uint32_t, std::uint32_t> used;  // by tensor
  for (const Allocation& allocation : usage.allocations) {
    if (named[allocation.stack] != 0) continue;
    named[allocation.stack] = 1;
    if (usage.stacks[allocation.stack].empty()) continue;
    const std::uint32_t number = ++used[allocation.tensor];
    std::string& title = usage.stack_titles[allocation.stack];
    title = usage.tensors[allocation.tensor];
    if (number > 1) title += " #" + std::to_string(number);
  }
  for (std::size_t i = 0; i < usage.stacks.size(); ++i) {
    if (usage.stacks[i].empty()) usage.stack_titles[i] = "no stack";
  }
}

// Allocations with a duration are the source's own guess where it says so.
void note_estimates(const Snapshot& snapshot, MemoryUsage& usage) {
  const auto note = std::ranges::find_if(snapshot.quality,
                                         [](const QualityEntry& entry) { return entry.kind == "memory_estimated"; });
  if (note == snapshot.quality.end()) return;
  std::vector<char> stated(usage.pools.size(), 0);
  for (const Allocation& allocation : usage.allocations) {
    if (allocation.address || allocation.release != kNoEvent || !allocation.end_ns) stated[allocation.pool] = 1;
  }
  for (std::size_t i = 0; i < usage.pools.size(); ++i) {
    if (stated[i] != 0) continue;
    usage.pools[i].estimated = true;
    usage.pools[i].note = note->detail;
  }
}

}  // namespace

Result<std::shared_ptr<const MemoryUsage>> memory_usage(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices lanes = lanes_with_role(snapshot, Role::allocation);
  const LaneIndices reserved = lanes_with_role(snapshot, Role::reserved);
  lanes.insert(lanes.end(), reserved.begin(), reserved.end());
  std::erase_if(lanes, [&](std::uint32_t lane) { return snapshot.lanes[lane].data->kind != EventKind::memory; });
  const TrackDevices devices(snapshot);
  std::vector<Collected> workers(query.pool.concurrency());
  const Result<void> scanned = scan_chunks(query, lanes, {}, [&](const ScannedChunk& chunk, std::size_t worker) {
    collect_chunk(chunk, snapshot, devices, workers[worker]);
  });
  if (!scanned) return scanned.error();

  std::vector<MemoryEvent> events;
  std::vector<const Collected*> names_of;  // by event: in whose numbers it speaks
  auto usage = std::make_shared<MemoryUsage>();
  usage->snapshot_version = snapshot.version;
  for (Collected& worker : workers) {
    events.insert(events.end(), worker.events.begin(), worker.events.end());
    names_of.insert(names_of.end(), worker.events.size(), &worker);
  }
  std::vector<std::uint32_t> order(events.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return events[a].begin_ns != events[b].begin_ns ? events[a].begin_ns < events[b].begin_ns
                                                    : events[a].id < events[b].id;
  });
  // Numbered anew in the order of time, so that the answer does not depend on the threads; pools by their owner first.
  Names pools;
  for (const std::string& text : pools_by_owner(events, names_of, order)) (void)pools.number(text);
  Names tensors;
  Names sites;
  Names stacks;
  Matcher matcher(*usage);
  ReservedMatcher held;
  for (const std::uint32_t index : order) {
    MemoryEvent event = events[index];
    const Collected& names = *names_of[index];
    event.pool = pools.number(names.pools.texts()[event.pool]);
    if (event.reserves) {
      held.add(event);
      continue;
    }
    event.tensor = tensors.number(names.tensors.texts()[event.tensor]);
    event.site = sites.number(names.sites.texts()[event.site]);
    event.stack = stacks.number(names.stacks.texts()[event.stack]);
    matcher.add(event);
  }
  usage->tensors = tensors.texts();
  usage->sites = sites.texts();
  usage->stacks = stacks.texts();
  for (const std::string& text : pools.texts()) {
    PoolUsage& pool = usage->pools.emplace_back();
    const std::size_t separator = text.find(kSeparator), second = text.find(kSeparator, separator + 1);
    pool.device = text.substr(0, separator);
    pool.host = text.substr(separator + 1, second - separator - 1);
    pool.base_name = text.substr(second + 1);
    pool.reserved = held.take(usage->pools.size() - 1);
  }
  name_stacks(*usage);
  usage->index();
  note_estimates(snapshot, *usage);
  TRY(add_sampled_pools(query, *usage));
  name_pools(snapshot, *usage);
  return std::shared_ptr<const MemoryUsage>(usage);
}

}  // namespace accelscope::analysis
