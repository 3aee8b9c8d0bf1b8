#include <algorithm>
#include <set>

#include "core/analysis/critical_path/graph_scan.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

using Queue = std::pair<std::size_t, std::int64_t>;          // device, number
using QueueName = std::pair<std::size_t, std::string_view>;  // device, as its semaphores name it

class TransferJoins {
 public:
  TransferJoins(const QueryContext& query, WorkGraph& graph, GraphParts& parts)
      : query_(query), graph_(graph), parts_(parts), devices_(*query.snapshot) {}

  Result<void> run() {
    limit_waits();
    graph_.first_matched = static_cast<std::uint32_t>(graph_.transfers.size());
    if (graph_.conditions.empty() && parts_.triggers.empty()) return {};
    if (const Result<void> read = read_stories(); !read) return read;
    index_signals(graph_);
    find_waits_before();
    if (!graph_.has_signal.empty()) match_queues();
    return {};
  }

 private:
  // An event begins to wait when its engine has come to it, the first one when the clock begins.
  void limit_waits() {
    if (graph_.wait_ns.empty()) return;
    for (NodeIndex node = 0; node < graph_.count(); ++node) {
      std::int32_t& wait = graph_.wait_ns[node];
      if (wait <= 0) continue;
      const NodeIndex before = graph_.server_before[node];
      const std::int64_t since =
          before == kNoNode ? std::min<std::int64_t>(0, graph_.begin_of_all_ns) : graph_.begin_ns[before];
      wait = static_cast<std::int32_t>(std::clamp<std::int64_t>(graph_.begin_ns[node] - since, 0, wait));
    }
  }

  Result<void> read_stories() {
    const Snapshot& snapshot = *query_.snapshot;
    LaneIndices lanes;
    std::map<std::uint32_t, StoryKey> key_of_lane;
    for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
      const TrackSnapshot* track = snapshot.find_track(snapshot.lanes[i].track);
      if (track == nullptr || track->track->kind != "semaphore" || !snapshot.lanes[i].schema) continue;
      if (!snapshot.lanes[i].schema->find(Role::value)) continue;
      for (const Vendor& vendor : vendors()) {
        const std::int64_t number = vendor.signals == nullptr ? -1 : vendor.signals->number(track->track->name);
        if (number < 0) continue;
        key_of_lane[i] = {devices_.of_lane(i), static_cast<std::uint32_t>(number)};
        parts_.stories[key_of_lane[i]].queue = vendor.signals->queue(track->track->name);
        lanes.push_back(i);
        break;
      }
    }
    using ValuesOfLanes = std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>>;
    auto found = gather(query_, lanes, TimeRange{}, ValuesOfLanes(), [&](const ScannedChunk& chunk, ValuesOfLanes& of) {
      const std::size_t column = *chunk.lane.schema->find(Role::value);
      const ColumnType type = chunk.lane.schema->columns[column].type;
      chunk.for_each_event([&](const ScannedBlock& block, std::uint32_t i) {
        const auto value = number_at(chunk.view, column, type, block.row(i));
        if (value) of[chunk.lane_index].emplace_back(block.begin_ns(i), *value);
      });
    });
    if (!found) return found.error();
    for (const auto& [lane, values] : *found) merge_part(parts_.stories[key_of_lane[lane]].values, values);
    for (auto& [key, story] : parts_.stories) {
      std::ranges::stable_sort(story.values, {}, [](const auto& each) { return each.first; });
    }
    return {};
  }

  // What waits by name may have done so before it began, like any other instruction: then its values were reached while
  // its engine stood still.
  void find_waits_before() {
    if (graph_.wait_ns.empty()) return;
    for (std::size_t i = 0; i < graph_.conditions.size();) {
      const NodeIndex node = graph_.conditions[i].node;
      bool held = true, waited = false;
      for (; i < graph_.conditions.size() && graph_.conditions[i].node == node; ++i) {
        const auto story = parts_.stories.find({device_of(node), graph_.conditions[i].semaphore});
        const std::size_t since = story == parts_.stories.end()
                                      ? kNone
                                      : story->second.held_since(graph_.conditions[i], graph_.begin_ns[node]);
        held = held && since != kNone;
        const NodeIndex before = graph_.server_before[node];
        waited = waited ||
                 (since != kNone && (before == kNoNode || story->second.values[since].first >= graph_.end_ns[before]));
      }
      if (graph_.waits[node] == 0 || graph_.wait_ns[node] <= 0 || !held || !waited) continue;
      graph_.waited_before.resize(graph_.count());
      graph_.waited_before[node] = 1;
      graph_.waits[node] = 0;
    }
  }

  struct QueueSignals {
    std::vector<NodeIndex> packets;                         // by end
    std::map<std::uint32_t, std::vector<NodeIndex>> units;  // by server, by end
  };
  struct Rise {
    std::int64_t time_ns = 0;
    std::uint32_t semaphore = 0;
  };
  struct QueueRises {
    std::vector<Rise> rises;                        // by time
    std::map<std::uint32_t, std::uint32_t> counts;  // by semaphore
  };

  void match_queues() {
    std::map<Queue, QueueSignals> signals = unnamed_signals();
    if (signals.empty()) return;
    std::set<Queue> taken;
    std::vector<SemaphoreUpdate> more;
    for (const auto& [name, rises] : rises_of_queues()) {
      const Queue* best = nullptr;
      std::int64_t least = kWidestMatchNs + 1;
      for (const auto& [queue, found] : signals) {
        if (queue.first != name.first || taken.contains(queue) || found.packets.size() != rises.rises.size()) continue;
        const std::int64_t spread = spread_of(found, rises);
        if (spread < least) {
          least = spread;
          best = &queue;
        }
      }
      if (best == nullptr) continue;
      taken.insert(*best);
      name_lanes(*best, name.second);
      match(*best, signals.at(*best), name, rises, more);
    }
    if (more.empty()) return;
    graph_.updates.insert(graph_.updates.end(), more.begin(), more.end());
    sort_updates(graph_.updates);
    index_signals(graph_);
  }

  [[nodiscard]] std::map<Queue, QueueSignals> unnamed_signals() const {
    std::map<Queue, QueueSignals> signals;
    for (std::size_t place = 0; place < graph_.lanes.size(); ++place) {
      const GraphLane& lane = graph_.lanes[place];
      if (lane.is_thread || parts_.queue_of_lane[place] < 0) continue;
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        if (graph_.has_signal[node] == 0 || graph_.parts[node] != kNone || graph_.semaphore_of(node)) continue;
        QueueSignals& of = signals[{devices_.of_lane(lane.lane), parts_.queue_of_lane[place]}];
        of.packets.push_back(node);
        of.units[lane.server].push_back(node);
      }
    }
    const auto earlier = [&](NodeIndex a, NodeIndex b) {
      return std::pair(graph_.end_ns[a], a) < std::pair(graph_.end_ns[b], b);
    };
    for (auto& [queue, of] : signals) {
      std::ranges::sort(of.packets, earlier);
      for (auto& [server, packets] : of.units) std::ranges::sort(packets, earlier);
    }
    return signals;
  }

  // Of semaphores that no packet names.
  [[nodiscard]] std::map<QueueName, QueueRises> rises_of_queues() const {
    std::set<StoryKey> named;
    for (const SemaphoreUpdate& update : graph_.updates) named.insert({device_of(update.node), update.semaphore});
    std::map<QueueName, QueueRises> queues;
    for (const auto& [key, story] : parts_.stories) {
      if (story.queue.empty() || named.contains(key)) continue;
      QueueRises& of = queues[{key.first, story.queue}];
      std::int64_t before = 0;
      for (const auto& [time, value] : story.values) {
        if (value > before) {
          of.rises.push_back({time, key.second});
          ++of.counts[key.second];
        }
        before = value;
      }
    }
    for (auto& [name, of] : queues) {
      std::ranges::stable_sort(of.rises, {}, &Rise::time_ns);
    }
    return queues;
  }

  // How far the times from a signal to its rise differ; too far where one is not after the other.
  [[nodiscard]] std::int64_t spread_of(const QueueSignals& signals, const QueueRises& rises) const {
    std::int64_t least = INT64_MAX, most = INT64_MIN;
    for (std::size_t i = 0; i < rises.rises.size(); ++i) {
      const std::int64_t after = rises.rises[i].time_ns - graph_.end_ns[signals.packets[i]];
      least = std::min(least, after);
      most = std::max(most, after);
    }
    return least < 0 || most > kLatestRiseNs ? INT64_MAX : most - least;
  }

  void name_lanes(const Queue& queue, std::string_view name) {
    const StringId id = graph_.snapshot->strings->find(std::string(name));
    for (std::size_t place = 0; place < graph_.lanes.size(); ++place) {
      if (parts_.queue_of_lane[place] != queue.second || graph_.lanes[place].is_thread) continue;
      if (devices_.of_lane(graph_.lanes[place].lane) == queue.first) graph_.lanes[place].queue = id;
    }
  }

  void match(const Queue& queue, const QueueSignals& signals, const QueueName& name, const QueueRises& rises,
             std::vector<SemaphoreUpdate>& more) {
    std::vector<TransferTrigger> triggers;
    for (const TransferTrigger& trigger : parts_.triggers) {
      if (device_of(trigger.node) == name.first && rises.counts.contains(trigger.semaphore))
        triggers.push_back(trigger);
    }
    std::ranges::stable_sort(triggers, [&](const TransferTrigger& a, const TransferTrigger& b) {
      return graph_.begin_ns[a.node] < graph_.begin_ns[b.node];
    });
    if (!serves_in_order(signals, triggers, rises)) {
      for (std::size_t i = 0; i < rises.rises.size(); ++i) {
        more.push_back({signals.packets[i], rises.rises[i].semaphore});
      }
      return;
    }
    const auto first = static_cast<std::uint32_t>(graph_.transfers.size());
    for (const TransferTrigger& trigger : triggers) {
      parts_.transfer_places.emplace(graph_.event(trigger.node), static_cast<std::uint32_t>(graph_.transfers.size()));
      graph_.transfers.push_back(graph_.event(trigger.node));
      graph_.triggers.push_back(trigger.node);
    }
    std::vector<std::vector<NodeIndex>> packets(triggers.size());
    for (const auto& [server, ends] : signals.units) {
      std::size_t at = 0;
      for (const NodeIndex node : packets_of(queue, server)) {
        if (at == ends.size()) break;
        packets[at].push_back(node);
        if (node != ends[at]) continue;
        more.push_back({node, triggers[at].semaphore});
        ++at;
      }
    }
    if (parts_.first_packet.empty()) parts_.first_packet.push_back(0);
    for (std::size_t i = 0; i < triggers.size(); ++i) {
      const StringId line = graph_.locations.empty() ? 0 : graph_.locations[triggers[i].node];
      for (const NodeIndex node : packets[i]) {
        graph_.parts[node] = first + static_cast<std::uint32_t>(i);
        if (line != 0) graph_.locations[node] = line;
        parts_.packets.push_back(node);
        parts_.matched.emplace_back(node, triggers[i].node);
      }
      parts_.first_packet.push_back(static_cast<std::uint32_t>(parts_.packets.size()));
    }
  }

  // Each DMA engine of the queue has one signal for each transfer, and together they make the values.
  [[nodiscard]] static bool serves_in_order(const QueueSignals& signals, const std::vector<TransferTrigger>& triggers,
                                            const QueueRises& rises) {
    if (triggers.empty()) return false;
    std::map<std::uint32_t, std::uint32_t> counts;
    for (const TransferTrigger& trigger : triggers) {
      if (trigger.increment != signals.units.size()) return false;
      counts[trigger.semaphore] += trigger.increment;
    }
    return counts == rises.counts &&
           std::ranges::all_of(signals.units, [&](const auto& unit) { return unit.second.size() == triggers.size(); });
  }

  [[nodiscard]] std::vector<NodeIndex> packets_of(const Queue& queue, std::uint32_t server) const {
    std::vector<NodeIndex> packets;
    for (std::size_t place = 0; place < graph_.lanes.size(); ++place) {
      const GraphLane& lane = graph_.lanes[place];
      if (lane.server != server || parts_.queue_of_lane[place] != queue.second) continue;
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        if (graph_.parts[node] == kNone) packets.push_back(node);
      }
    }
    std::ranges::sort(packets, [&](NodeIndex a, NodeIndex b) {
      return std::pair(graph_.end_ns[a], a) < std::pair(graph_.end_ns[b], b);
    });
    return packets;
  }

  [[nodiscard]] std::size_t device_of(NodeIndex node) const { return devices_.of_lane(graph_.lane(node).lane); }

  static constexpr std::int64_t kLatestRiseNs = 5'000;   // after the end of the packet that makes a semaphore rise
  static constexpr std::int64_t kWidestMatchNs = 1'000;  // by which that differs within a queue
  const QueryContext& query_;
  WorkGraph& graph_;
  GraphParts& parts_;
  TrackDevices devices_;
};

}  // namespace

std::size_t SemaphoreStory::held_since(const SemaphoreCondition& condition, std::int64_t time_ns) const noexcept {
  const auto holds = [&](std::int64_t value) {
    return condition.exactly ? value == condition.value : value >= condition.value;
  };
  const auto at = std::ranges::upper_bound(values, time_ns, {}, [](const auto& each) { return each.first; });
  auto place = static_cast<std::size_t>(at - values.begin());
  while (place > 0 && !holds(values[place - 1].second)) --place;
  if (place == 0) return kNone;
  --place;
  while (place > 0 && holds(values[place - 1].second) && values[place - 1].second <= values[place].second) --place;
  return place;
}

Result<void> join_transfers(const QueryContext& query, WorkGraph& graph, GraphParts& parts) {
  return TransferJoins(query, graph, parts).run();
}

}  // namespace accelscope::analysis
