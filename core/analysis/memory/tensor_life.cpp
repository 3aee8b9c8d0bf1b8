#include "core/analysis/memory/tensor_life.h"

#include <algorithm>
#include <tuple>

#include "core/analysis/time/work_kind.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"

namespace accelscope {
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
  void merge(const TensorLife& other) {
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
  std::vector<LifeTally> workers(query.pool.concurrency(), LifeTally(range, std::max<std::size_t>(1, cells)));
  const Result<void> scanned = scan_chunks(query, requests, [&](const ScannedChunk& chunk, std::size_t worker) {
    workers[worker].add(chunk, kinds.of_lane(chunk.lane_index) == WorkKind::transfer);
  });
  if (!scanned) return scanned.error();
  LifeTally all(range, std::max<std::size_t>(1, cells));
  for (const LifeTally& worker : workers) all.merge(worker.life());
  return std::make_shared<const TensorLife>(all.life());
}

std::vector<TensorStay> tensor_stays(const MemoryUsage& usage, std::string_view tensor, std::int64_t session_end_ns) {
  std::vector<TensorStay> stays;
  for (const Allocation& each : usage.allocations) {
    if (each.tensor >= usage.tensors.size() || usage.tensors[each.tensor] != tensor) continue;
    stays.push_back({each.pool, {each.begin_ns, each.end_ns.value_or(session_end_ns)}, !each.end_ns});
  }
  std::sort(stays.begin(), stays.end(), [](const TensorStay& a, const TensorStay& b) {
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

}  // namespace accelscope
