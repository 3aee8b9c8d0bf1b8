#include "core/analysis/memory_usage.h"

#include <algorithm>
#include <unordered_map>

#include "core/query/column_values.h"

namespace accelscope {
namespace {

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
  Names pools;
  Names tensors;
};

void collect_chunk(const ScannedChunk& chunk, const Snapshot& snapshot, Collected& collected) {
  const Schema& schema = *chunk.lane.schema;
  const StringPool& strings = *snapshot.strings;
  const std::optional<std::size_t> allocation = schema.find(Role::allocation);
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
  std::uint64_t names[kBlockEvents];
  chunk.for_each_block([&](const ScannedBlock& block) {
    chunk.view.names(block.block, names);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      const std::uint32_t row = block.first_row + i;
      const auto bytes = number_at(chunk.view, *allocation, schema.columns[*allocation].type, row);
      if (!bytes || *bytes == 0) continue;
      MemoryEvent event;
      event.id = chunk.event_id(row);
      event.begin_ns = chunk.lane.clock->to_ns(block.times.begins[i]);
      event.end_ns = chunk.lane.clock->to_ns(block.times.ends[i]);
      event.bytes = *bytes;
      event.address = number(Role::address, row);
      event.key = number(Role::key, row);
      event.pool = collected.pools.number(text(Role::pool, row, track_name));
      event.tensor = collected.tensors.number(text(Role::tensor, row, strings.text(chunk.session_string(names[i]))));
      collected.events.push_back(event);
    }
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
    return {std::uint64_t{event.pool} << 32 | event.tensor,
            static_cast<std::uint64_t>(event.bytes > 0 ? event.bytes : -event.bytes)};
  }
  [[nodiscard]] bool alive(std::uint32_t index) const { return !usage_.allocations[index].end_ns.has_value(); }

  void allocate(const MemoryEvent& event) {
    const auto index = static_cast<std::uint32_t>(usage_.allocations.size());
    usage_.allocations.push_back({event.id, kNoEvent, event.pool, event.tensor, event.address,
                                  static_cast<std::uint64_t>(event.bytes), event.begin_ns, std::nullopt});
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

void build_steps(MemoryUsage& usage) {
  for (const Allocation& allocation : usage.allocations) {
    PoolUsage& pool = usage.pools[allocation.pool];
    ++pool.allocation_count;
    const auto bytes = static_cast<std::int64_t>(allocation.bytes);
    pool.changes.push_back({allocation.begin_ns, bytes, allocation.tensor});
    if (allocation.end_ns) pool.changes.push_back({*allocation.end_ns, -bytes, allocation.tensor});
  }
  for (PoolUsage& pool : usage.pools) {
    std::stable_sort(pool.changes.begin(), pool.changes.end(),
                     [](const PoolChange& a, const PoolChange& b) { return a.ns < b.ns; });
    std::uint64_t used = 0;
    for (std::size_t i = 0; i < pool.changes.size();) {
      const std::int64_t ns = pool.changes[i].ns;
      const std::uint64_t before = used;
      for (; i < pool.changes.size() && pool.changes[i].ns == ns; ++i) {
        used += static_cast<std::uint64_t>(pool.changes[i].bytes);
      }
      if (used == before) continue;
      pool.steps.push_back({ns, used});
      if (used > pool.peak_bytes) {
        pool.peak_bytes = used;
        pool.peak_ns = ns;
      }
    }
  }
}

std::vector<PoolStep>::const_iterator step_after(const PoolUsage& pool, std::int64_t ns) {
  return std::upper_bound(pool.steps.begin(), pool.steps.end(), ns,
                          [](std::int64_t time, const PoolStep& step) { return time < step.ns; });
}

// For every pixel the moment of its peak.
std::vector<PoolStep> peaks(const PoolUsage& pool, const TimeRange& range, std::size_t pixels) {
  std::vector<PoolStep> result(pixels);
  const double pixel_ns = static_cast<double>(range.length_ns()) / static_cast<double>(pixels);
  const auto pixel_begin = [&](std::size_t pixel) {
    return range.begin_ns + static_cast<std::int64_t>(std::floor(pixel_ns * static_cast<double>(pixel)));
  };
  auto next = step_after(pool, range.begin_ns);
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    const std::int64_t begin_ns = pixel_begin(pixel);
    const std::int64_t end_ns = pixel + 1 == pixels ? range.end_ns : pixel_begin(pixel + 1);
    while (next != pool.steps.end() && next->ns <= begin_ns) ++next;
    PoolStep peak{begin_ns, next == pool.steps.begin() ? 0 : (next - 1)->bytes};
    for (; next != pool.steps.end() && next->ns < end_ns; ++next) {
      if (next->bytes > peak.bytes) peak = *next;
    }
    result[pixel] = peak;
  }
  return result;
}

}  // namespace

std::optional<std::uint32_t> MemoryUsage::find_pool(std::string_view name) const noexcept {
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    if (pools[i].name == name) return i;
  }
  return std::nullopt;
}

std::uint64_t MemoryUsage::used_at(std::uint32_t pool, std::int64_t ns) const noexcept {
  const auto next = step_after(pools[pool], ns);
  return next == pools[pool].steps.begin() ? 0 : (next - 1)->bytes;
}

std::vector<std::uint32_t> MemoryUsage::alive_at(std::uint32_t pool, std::int64_t ns, std::uint64_t min_bytes) const {
  std::vector<std::uint32_t> alive;
  for (std::uint32_t i = 0; i < allocations.size() && allocations[i].begin_ns <= ns; ++i) {
    const Allocation& allocation = allocations[i];
    if (allocation.pool != pool || allocation.bytes < min_bytes) continue;
    if (!allocation.end_ns || ns < *allocation.end_ns) alive.push_back(i);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return allocations[a].bytes > allocations[b].bytes; });
  return alive;
}

StackedUsage MemoryUsage::stacked(std::uint32_t pool_index, const TimeRange& range, std::size_t pixels,
                                  std::size_t max_series, std::uint64_t min_bytes) const {
  StackedUsage stack;
  if (range.empty() || pixels == 0) return stack;
  const PoolUsage& pool = pools[pool_index];
  const std::vector<PoolStep> samples = peaks(pool, range, pixels);
  for (const PoolStep& sample : samples) stack.total.push_back(sample.bytes);

  std::vector<char> large(tensors.size(), 0);
  for (const Allocation& allocation : allocations) {
    if (allocation.pool == pool_index && allocation.bytes >= min_bytes) large[allocation.tensor] = 1;
  }
  std::vector<std::uint64_t> used(tensors.size(), 0);
  std::size_t change = 0;
  // Brings `used` to a sample's moment and tells which tensors changed on the way.
  const auto advance = [&](const PoolStep& sample, auto&& changed) {
    const std::size_t first = change;
    for (; change < pool.changes.size() && pool.changes[change].ns <= sample.ns; ++change) {
      used[pool.changes[change].tensor] += static_cast<std::uint64_t>(pool.changes[change].bytes);
    }
    for (std::size_t i = first; i < change; ++i) changed(pool.changes[i].tensor);
  };
  std::vector<std::uint64_t> most(tensors.size(), 0);  // by tensor, over all samples
  for (const PoolStep& sample : samples) {
    advance(sample, [&](std::uint32_t tensor) { most[tensor] = std::max(most[tensor], used[tensor]); });
  }
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t tensor = 0; tensor < tensors.size(); ++tensor) {
    if (large[tensor] != 0) candidates.push_back(tensor);
  }
  std::erase_if(candidates, [&](std::uint32_t tensor) { return most[tensor] == 0; });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return most[a] > most[b]; });
  if (candidates.size() > max_series) candidates.resize(max_series);

  for (const std::uint32_t tensor : candidates) stack.names.push_back(tensors[tensor]);
  stack.values.assign(candidates.size(), std::vector<std::uint64_t>(pixels, 0));
  std::vector<std::uint64_t> rest = stack.total;
  std::fill(used.begin(), used.end(), 0);
  change = 0;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    advance(samples[pixel], [](std::uint32_t) {});
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      stack.values[i][pixel] = used[candidates[i]];
      rest[pixel] -= used[candidates[i]];
    }
  }
  if (std::any_of(rest.begin(), rest.end(), [](std::uint64_t bytes) { return bytes > 0; })) {
    stack.names.emplace_back("other");
    stack.values.push_back(std::move(rest));
  }
  return stack;
}

Result<std::shared_ptr<const MemoryUsage>> memory_usage(const QueryContext& query) {
  const Snapshot& snapshot = *query.snapshot;
  LaneIndices lanes = lanes_with_role(snapshot, Role::allocation);
  std::erase_if(lanes, [&](std::uint32_t lane) { return snapshot.lanes[lane].data->kind != EventKind::memory; });
  std::vector<Collected> workers(query.pool.concurrency());
  const Result<void> scanned = scan_chunks(query, lanes, {}, [&](const ScannedChunk& chunk, std::size_t worker) {
    collect_chunk(chunk, snapshot, workers[worker]);
  });
  if (!scanned) return scanned.error();

  std::vector<MemoryEvent> events;
  std::vector<std::pair<const Names*, const Names*>> names_of;  // by event: in whose numbers it speaks
  auto usage = std::make_shared<MemoryUsage>();
  usage->snapshot_version = snapshot.version;
  for (Collected& worker : workers) {
    events.insert(events.end(), worker.events.begin(), worker.events.end());
    names_of.insert(names_of.end(), worker.events.size(), {&worker.pools, &worker.tensors});
  }
  std::vector<std::uint32_t> order(events.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return events[a].begin_ns != events[b].begin_ns ? events[a].begin_ns < events[b].begin_ns
                                                    : events[a].id < events[b].id;
  });
  // Numbered anew in the order of time, so that the answer does not depend on the threads.
  Names pools;
  Names tensors;
  Matcher matcher(*usage);
  for (const std::uint32_t index : order) {
    MemoryEvent event = events[index];
    event.pool = pools.number(names_of[index].first->texts()[event.pool]);
    event.tensor = tensors.number(names_of[index].second->texts()[event.tensor]);
    matcher.add(event);
  }
  usage->tensors = tensors.texts();
  for (const std::string& name : pools.texts()) usage->pools.emplace_back().name = name;
  build_steps(*usage);
  return std::shared_ptr<const MemoryUsage>(usage);
}

}  // namespace accelscope
