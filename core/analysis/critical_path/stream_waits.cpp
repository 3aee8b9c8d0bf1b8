#include "core/analysis/critical_path/stream_waits.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/analysis/time/device_streams.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"

namespace accelscope {
namespace {

// A wait as a row tells of it; calls by the keys that they have in their source.
struct ToldWait {
  std::size_t stream = 0, other = 0;  // as DeviceStreams numbers them
  std::int64_t asked_ns = 0;          // when the host asked for it
  std::pair<std::uint32_t, std::int64_t> recorded;
};

std::optional<std::int64_t> number_in(const ScannedChunk& chunk, std::size_t column, std::uint32_t row) {
  return number_at(chunk.view, column, chunk.lane.schema->columns[column].type, row);
}

class StreamWaitFinder {
 public:
  StreamWaitFinder(const QueryContext& query, const WorkGraph& graph,
                   const std::function<std::optional<std::int64_t>(NodeIndex)>& launched_ns)
      : query_(query), graph_(graph), launched_ns_(launched_ns), streams_(*query.snapshot) {
    query_.mask = nullptr;
  }

  Result<std::vector<StreamWait>> run() {
    if (const Result<void> read = read_waits(); !read) return read.error();
    if (told_.empty()) return std::vector<StreamWait>{};
    if (const Result<void> read = read_records(); !read) return read.error();
    std::vector<StreamWait> found;
    for (const ToldWait& each : told_) {
      const auto recorded = recorded_ns_.find(each.recorded);
      const std::int64_t until = recorded == recorded_ns_.end() ? each.asked_ns : recorded->second;
      const auto& own = given_to(each.stream);
      const auto& others = given_to(each.other);
      const auto next = std::lower_bound(own.begin(), own.end(), std::pair(each.asked_ns, NodeIndex{0}));
      const auto after = std::lower_bound(others.begin(), others.end(), std::pair(until, NodeIndex{0}));
      if (next == own.end() || after == others.begin()) continue;
      found.push_back({next->second, (after - 1)->second});
    }
    const auto order = [](const StreamWait& a, const StreamWait& b) {
      return std::pair(a.target, a.source) < std::pair(b.target, b.source);
    };
    std::sort(found.begin(), found.end(), order);
    return found;
  }

 private:
  Result<void> read_waits() {
    const StreamWaitWords& words = stream_wait_words();
    LaneIndices lanes;
    for (std::uint32_t i = 0; i < query_.snapshot->lanes.size(); ++i) {
      const LaneSnapshot& lane = query_.snapshot->lanes[i];
      if (lane.event_count == 0 || !lane.schema || !streams_.of_track(lane.track)) continue;
      if (lane.schema->find(words.stream_column) && lane.schema->find(words.record_column)) lanes.push_back(i);
    }
    std::mutex mutex;
    return scan_chunks(query_, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t stream = *chunk.lane.schema->find(words.stream_column);
      const std::size_t record = *chunk.lane.schema->find(words.record_column);
      const std::scoped_lock lock(mutex);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        const auto other = number_in(chunk, stream, row), call = number_in(chunk, record, row);
        if (!other || !call) continue;
        const auto of = streams_.beside(chunk.lane.track, "stream " + std::to_string(*other));
        if (!of) continue;
        std::int64_t begin_ticks = 0, end_ticks = 0;
        chunk.view.event_times(row, begin_ticks, end_ticks);
        told_.push_back({*streams_.of_track(chunk.lane.track), *of, chunk.lane.clock->to_ns(begin_ticks),
                         std::pair(scope_of(chunk.lane.track), *call)});
      }
    });
  }

  // When the events were recorded that are waited for.
  Result<void> read_records() {
    for (const ToldWait& each : told_) recorded_ns_.emplace(each.recorded, each.asked_ns);
    const WorkKinds kinds(*query_.snapshot);
    LaneIndices lanes;
    for (std::uint32_t i = 0; i < query_.snapshot->lanes.size(); ++i) {
      const LaneSnapshot& lane = query_.snapshot->lanes[i];
      if (kinds.of_lane(i) == WorkKind::host && lane.event_count > 0 && lane.schema &&
          lane.schema->find(stream_wait_words().call_column)) {
        lanes.push_back(i);
      }
    }
    std::mutex mutex;
    return scan_chunks(query_, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t column = *chunk.lane.schema->find(stream_wait_words().call_column);
      const std::scoped_lock lock(mutex);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        const auto key = number_in(chunk, column, row);
        if (!key) continue;
        const auto found = recorded_ns_.find({scope_of(chunk.lane.track), *key});
        if (found == recorded_ns_.end()) continue;
        std::int64_t begin_ticks = 0, end_ticks = 0;
        chunk.view.event_times(row, begin_ticks, end_ticks);
        found->second = chunk.lane.clock->to_ns(begin_ticks);
      }
    });
  }

  // What a stream was given, by the time at which it was.
  const std::vector<std::pair<std::int64_t, NodeIndex>>& given_to(std::size_t stream) {
    const auto [known, is_new] = given_.try_emplace(stream);
    if (!is_new) return known->second;
    for (const GraphLane& lane : graph_.lanes) {
      if (lane.is_thread || streams_.of_track(lane.track) != stream) continue;
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        if (const auto at = launched_ns_(node)) known->second.emplace_back(*at, node);
      }
    }
    std::sort(known->second.begin(), known->second.end());
    return known->second;
  }

  QueryContext query_;
  const WorkGraph& graph_;
  const std::function<std::optional<std::int64_t>(NodeIndex)>& launched_ns_;
  DeviceStreams streams_;
  std::vector<ToldWait> told_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> recorded_ns_;  // by key of the call
  std::map<std::size_t, std::vector<std::pair<std::int64_t, NodeIndex>>> given_;
};

}  // namespace

Result<std::vector<StreamWait>> recorded_stream_waits(
    const QueryContext& query, const WorkGraph& graph,
    const std::function<std::optional<std::int64_t>(NodeIndex)>& launched_ns) {
  return StreamWaitFinder(query, graph, launched_ns).run();
}

}  // namespace accelscope
