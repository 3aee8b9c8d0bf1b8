#include "core/analysis/advice/exposed_moves.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "core/scan/column_values.h"

namespace accelscope::analysis {
namespace {

struct MoveLane {
  bool copies = false;
  bool streams = false;  // kernels too: only those that are named as collectives count
  std::optional<std::size_t> bytes;
};

bool is_earlier_move(const DeviceMove& a, const DeviceMove& b) {
  return std::tie(a.begin_ns, a.event) < std::tie(b.begin_ns, b.event);
}

}  // namespace

Result<DeviceMoves> device_moves(const QueryContext& query, const DeviceSum& device, const TimeRange& range) {
  struct NameWords {
    bool collective = false;
    CopyWords copy;
  };
  const Snapshot& snapshot = *query.snapshot;
  const WorkKinds kinds(snapshot);
  const TrackDevices devices(snapshot);
  std::vector<MoveLane> lanes(snapshot.lanes.size());
  LaneIndices chosen;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (snapshot.lanes[lane].event_count == 0 || devices.label(devices.of_lane(lane)) != device.device) continue;
    const WorkKind kind = kinds.of_lane(lane);
    const Track& track = *devices.track_of_lane(lane).track;
    const bool streams = kind == WorkKind::compute && track.kind == "stream";
    const bool wanted =
        kind == WorkKind::transfer || (!device.collectives_alone.empty() && (kind == WorkKind::collective || streams));
    if (!kinds.covers_time(lane) || !wanted) continue;
    lanes[lane] = {kind == WorkKind::transfer, streams, snapshot.lanes[lane].schema->find(Role::bytes)};
    chosen.push_back(lane);
  }
  DeviceMoves moves;
  std::mutex mutex;
  std::vector<std::unordered_map<StringId, NameWords>> known(query.pool.concurrency());  // by worker
  const auto words_of = [&](StringId name, std::size_t worker) -> const NameWords& {
    const auto [words, is_new] = known[worker].try_emplace(name);
    const std::string_view text = is_new ? snapshot.strings->text(name) : std::string_view();
    if (is_new) words->second = {names_collective(text), copy_words(text)};
    return words->second;
  };
  const auto scanned = scan_chunks(query, chosen, range, [&](const ScannedChunk& chunk, std::size_t worker) {
    const MoveLane& lane = lanes[chunk.lane_index];
    std::vector<DeviceMove> found;
    NumberBlock bytes;
    chunk.for_each_block([&](const ScannedBlock& block) {
      if (lane.bytes) bytes.read(block.reader, *lane.bytes, chunk.lane.schema->columns[*lane.bytes].type);
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const NameWords& words = words_of(block.name(i), worker);
        if (lane.streams && !words.collective) continue;
        DeviceMove move{block.id(i),
                        chunk.lane.track,
                        block.name(i),
                        std::max(range.begin_ns, block.begin_ns(i)),
                        std::min(range.end_ns, block.end_ns(i)),
                        lane.bytes ? bytes[i] : 0,
                        0,
                        lane.copies ? words.copy : CopyWords{}};
        if (move.begin_ns >= move.end_ns) continue;
        const Stretches& alone = lane.copies ? device.transfers_alone : device.collectives_alone;
        move.alone_ns = shared_ns(alone, move.begin_ns, move.end_ns);
        found.push_back(move);
      }
    });
    const std::scoped_lock lock(mutex);
    std::vector<DeviceMove>& all = lane.copies ? moves.copies : moves.collectives;
    if (all.size() + found.size() > DeviceMoves::kMost) {
      moves.cut = true;
      return;
    }
    all.insert(all.end(), found.begin(), found.end());
  });
  if (!scanned) return scanned.error();
  std::ranges::sort(moves.copies, is_earlier_move);
  std::ranges::sort(moves.collectives, is_earlier_move);
  return moves;
}

}  // namespace accelscope::analysis
