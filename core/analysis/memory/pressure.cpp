#include "core/analysis/memory/pressure.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analysis/memory/segments.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/scan/event_reader.h"

namespace accelscope::analysis {
namespace {

constexpr std::string_view kFailureTable = "out_of_memory";
constexpr double kFragmented = 0.1;  // of what is held: free, and not to be had together

// "train.py:41" of "/app/train.py:41"
[[nodiscard]] std::string line_name(std::string_view location) { return std::string(file_name(location)); }

[[nodiscard]] std::vector<MemoryHolder> holders_at(const MemoryUsage& usage, std::uint32_t pool, std::int64_t ns,
                                                   std::uint64_t* all = nullptr) {
  std::map<std::string, MemoryHolder> by_name;
  usage.visit(pool, ns, ns, [&](std::uint32_t index) {
    const Allocation& allocation = usage.allocations[index];
    const std::string& site = usage.sites[allocation.site];
    std::string name = site.empty() ? usage.tensors[allocation.tensor] : line_name(site);
    if (name.empty()) name = "no line";
    MemoryHolder& holder = by_name[name];
    holder.name = std::move(name);
    holder.bytes += allocation.bytes;
    ++holder.count;
    if (all != nullptr) *all += allocation.bytes;
  });
  std::vector<MemoryHolder> holders;
  for (auto& [name, holder] : by_name) holders.push_back(std::move(holder));
  std::ranges::stable_sort(holders, std::ranges::greater{}, &MemoryHolder::bytes);
  if (holders.size() > PoolPressure::kMostHolders) holders.resize(PoolPressure::kMostHolders);
  return holders;
}

[[nodiscard]] PoolPressure pressure_of(const MemoryUsage& usage, std::uint32_t pool, const TimeRange& session) {
  PoolPressure made{.pool = pool, .name = usage.pools[pool].name, .peak = usage.peak(pool, session)};
  made.holders = holders_at(usage, pool, made.peak.ns, &made.held);
  if (usage.pools[pool].reserved.empty()) return made;
  const SegmentMap then = segments_at(usage, pool, made.peak.ns);
  made.reserved = then.bytes;
  made.free = then.free();
  made.largest_free = then.largest_free;
  for (const MemorySegment& segment : segments_at(usage, pool, session.end_ns).segments) {
    if (segment.used > 0) continue;
    ++made.empty_segments;
    made.empty_bytes += segment.bytes;
  }
  return made;
}

[[nodiscard]] std::uint64_t number_in(const EventRecord& record, std::string_view column) {
  const auto* value = value_in<std::int64_t>(record, column);
  return value == nullptr || *value < 0 ? 0 : static_cast<std::uint64_t>(*value);
}

[[nodiscard]] FailedRequest failure_of(const EventRecord& record, const MemoryUsage& usage, std::string_view device) {
  FailedRequest made{.event = record.id, .ns = record.begin_ns};
  made.asked = number_in(record, "asked");
  made.free = number_in(record, "device_free");
  made.held = number_in(record, "allocated");
  made.reserved = number_in(record, "reserved");
  if (const auto* text = value_in<std::string>(record, Role::source_location)) made.source = line_name(*text);
  for (std::uint32_t pool = 0; pool < usage.pools.size(); ++pool) {
    if (usage.pools[pool].device == device) made.holders = holders_at(usage, pool, record.begin_ns);
  }
  return made;
}

}  // namespace

bool is_failure_table(const Schema& schema) noexcept { return schema.name == kFailureTable; }

Result<MemoryPressure> memory_pressure(const QueryContext& query, const MemoryUsage& usage) {
  const Snapshot& snapshot = *query.snapshot;
  const TimeRange session = {snapshot.begin_ns, snapshot.end_ns};
  MemoryPressure made;
  for (std::uint32_t pool = 0; pool < usage.pools.size(); ++pool) {
    if (usage.peak(pool, session).bytes > 0) made.pools.push_back(pressure_of(usage, pool, session));
  }
  std::ranges::stable_sort(made.pools,
                           [](const PoolPressure& a, const PoolPressure& b) { return a.peak.bytes > b.peak.bytes; });
  EventReader reader(query.store, query.snapshot);
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (!lane.schema || !is_failure_table(*lane.schema)) continue;
    const TrackSnapshot* track = snapshot.find_track(lane.track);
    const std::uint64_t count = std::min<std::uint64_t>(lane.event_count, MemoryPressure::kMostFailures);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto record = TRY(reader.read(make_event_id(lane.number(), i)));
      made.failures.push_back(failure_of(record, usage, track == nullptr ? "" : track->track->device));
    }
  }
  std::ranges::stable_sort(made.failures, {}, &FailedRequest::ns);
  return made;
}

std::string holders_text(const std::vector<MemoryHolder>& holders, std::uint64_t of) {
  std::string text;
  for (const MemoryHolder& each : holders) {
    const double share = of > 0 ? static_cast<double>(each.bytes) / static_cast<double>(of) : 0;
    text +=
        fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", each.name, format_bytes(each.bytes), format_share(share));
  }
  return text;
}

std::string failure_text(const FailedRequest& failure) {
  return fmt::format("{} asked for {}, {} free{}", failure.source.empty() ? "a request" : failure.source,
                     format_bytes(failure.asked), format_bytes(failure.free),
                     failure.held > 0 ? fmt::format("; {} held", format_bytes(failure.held)) : "");
}

std::string pressure_text(const MemoryPressure& pressure) {
  if (!pressure.failures.empty()) {
    const FailedRequest& first = pressure.failures.front();
    std::string text = "Out of memory: " + failure_text(first);
    if (!first.holders.empty())
      text += fmt::format(", {} by {}", format_bytes(first.holders.front().bytes), first.holders.front().name);
    if (pressure.failures.size() > 1) text += fmt::format("; the first of {} failures", pressure.failures.size());
    return text;
  }
  if (pressure.pools.empty()) return {};
  const PoolPressure& most = pressure.pools.front();
  return fmt::format("{} peaks at {}, no work was recorded", most.name, format_bytes(most.peak.bytes));
}

std::string pressure_cause(const MemoryPressure& pressure) {
  if (pressure.pools.empty()) return {};
  const PoolPressure& most = pressure.pools.front();
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!most.holders.empty()) add("Held by " + holders_text(most.holders, most.held));
  if (most.reserved > 0 && static_cast<double>(most.free) >= kFragmented * static_cast<double>(most.reserved)) {
    add(fmt::format("{} of {} reserved are free, the longest stretch {}", format_bytes(most.free),
                    format_bytes(most.reserved), format_bytes(most.largest_free)));
  }
  if (most.empty_segments > 0) {
    add(fmt::format("{} of {} hold{} nothing in the end", counted(most.empty_segments, "segment"),
                    format_bytes(most.empty_bytes), most.empty_segments == 1 ? "s" : ""));
  }
  return text;
}

MemoryInRange memory_in_range(const MemoryUsage& usage, const TimeRange& range) {
  constexpr std::size_t kMostTensors = 64;
  MemoryInRange result;
  result.known = true;
  result.any_in_session = usage.pool_count() > 0;
  std::vector<std::pair<MemoryInRange::Pool, std::uint32_t>> found;
  for (std::uint32_t number = 0; number < usage.pool_count(); ++number) {
    const PoolUsage& pool = usage.pool(number);
    const PoolPeak most = usage.peak(number, range);
    MemoryInRange::Pool peak{pool.name, most.bytes, most.ns, pool.capacity_bytes, pool.estimated};
    if (peak.peak_bytes > 0) found.emplace_back(std::move(peak), number);
  }
  // Those whose allocations are known come first: only they say what takes the room.
  std::ranges::stable_sort(found, [&](const auto& a, const auto& b) {
    const bool sampled_a = a.second >= usage.pools.size(), sampled_b = b.second >= usage.pools.size();
    if (sampled_a != sampled_b) return sampled_b;
    if (a.first.peak_bytes != b.first.peak_bytes) return a.first.peak_bytes > b.first.peak_bytes;
    return natural_less(a.first.name, b.first.name);
  });
  for (const auto& [pool, number] : found) result.pools.push_back(pool);
  if (found.empty() || found.front().second >= usage.pools.size()) return result;
  std::map<std::uint32_t, std::uint64_t> by_tensor;
  for (const std::uint32_t index : usage.alive_at(found.front().second, found.front().first.peak_ns)) {
    by_tensor[usage.allocations[index].tensor] += usage.allocations[index].bytes;
  }
  for (const auto& [tensor, bytes] : by_tensor) {
    const bool named = !usage.tensors[tensor].empty() && usage.tensors[tensor] != "[memory]";  // as PyTorch names all
    if (named) result.tensors.emplace_back(usage.tensors[tensor], bytes);
  }
  std::ranges::stable_sort(result.tensors, std::ranges::greater{}, [](const auto& each) { return each.second; });
  if (result.tensors.size() > kMostTensors) result.tensors.resize(kMostTensors);
  return result;
}

}  // namespace accelscope::analysis
