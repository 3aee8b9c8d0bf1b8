#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/critical_path/graph_scan.h"
#include "core/analysis/critical_path/work_graph.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"

namespace accelscope::analysis {
namespace {

// Waits of streams for events of other streams, where a trace tells of them (Kineto's "Stream Wait Event"): what a
// stream was given after the wait comes after what the other one had been given when the event was recorded.
struct StreamWait {
  NodeIndex target = kNoNode, source = kNoNode;
};

// A wait as a row tells of it; calls by the keys that they have in their source.
struct ReportedWait {
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
    TRY(read_waits());
    if (reported_.empty()) return std::vector<StreamWait>{};
    TRY(read_records());
    std::vector<StreamWait> found;
    for (const ReportedWait& each : reported_) {
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
    std::ranges::sort(found, order);
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
        reported_.push_back({*streams_.of_track(chunk.lane.track), *of, chunk.lane.clock->to_ns(begin_ticks),
                             std::pair(scope_of(chunk.lane.track), *call)});
      }
    });
  }

  // When the events were recorded that are waited for.
  Result<void> read_records() {
    for (const ReportedWait& each : reported_) recorded_ns_.emplace(each.recorded, each.asked_ns);
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
    std::ranges::sort(known->second);
    return known->second;
  }

  QueryContext query_;
  const WorkGraph& graph_;
  const std::function<std::optional<std::int64_t>(NodeIndex)>& launched_ns_;
  DeviceStreams streams_;
  std::vector<ReportedWait> reported_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> recorded_ns_;  // by key of the call
  std::map<std::size_t, std::vector<std::pair<std::int64_t, NodeIndex>>> given_;
};

// By target. `launched_ns` says when the host gave a node to its stream; nothing where that is not known. Fails when
// cancelled.
[[nodiscard]] Result<std::vector<StreamWait>> recorded_stream_waits(
    const QueryContext& query, const WorkGraph& graph,
    const std::function<std::optional<std::int64_t>(NodeIndex)>& launched_ns) {
  return StreamWaitFinder(query, graph, launched_ns).run();
}

struct RawEdge {
  NodeIndex target = kNoNode, source = kNoNode;
  EdgeKind kind = EdgeKind::none;
  EdgeConfidence confidence = EdgeConfidence::recorded;
};
struct RawEdges {
  std::vector<RawEdge> all;
  std::uint64_t contradicted = 0;
  TransferWaits waits;
  std::vector<NodeIndex> unknown_waits;
};

class EdgeBuilder {
 public:
  EdgeBuilder(const QueryContext& query, GraphParts& parts, WorkGraph& graph)
      : query_(query), parts_(parts), graph_(graph) {
    for (std::uint32_t i = 0; i < graph.lanes.size(); ++i) {
      if (!graph.lanes[i].is_thread) lane_place_[query.snapshot->lanes[graph.lanes[i].lane].number()] = i;
    }
  }

  Result<void> run(const Dependencies& dependencies) {
    find_packets_that_go_on();
    const auto& all = dependencies.all();
    in_pieces(all.size(), [&](std::size_t i, RawEdges& edges) { add_dependency(all[i], edges); });
    in_pieces(parts_.host.joined().size(), [&](std::size_t i, RawEdges& edges) {
      const HostWork::Joined& joined = parts_.host.joined()[i];
      add(joined.target, joined.source, EdgeKind::dependency, edges);
    });
    in_pieces(parts_.matched.size(), [&](std::size_t i, RawEdges& edges) {
      const auto [packet, trigger] = parts_.matched[i];
      if (!continues(packet)) add(packet, trigger, EdgeKind::dependency, edges, EdgeConfidence::matched);
    });
    if (query_.control.cancelled()) return cancelled_error();
    index_edges();
    add_issue_order();
    if (query_.control.cancelled()) return cancelled_error();
    if (const Result<void> done = add_semaphores(); !done) return done;
    add_synchronisation();
    if (const Result<void> done = add_stream_waits(); !done) return done;
    add_stream_joins();
    std::ranges::sort(graph_.unknown_waits);
    write_edges();
    return {};
  }

 private:
  // Calls body(i, edges) for all i below count on the pool; the edges come in the order of i.
  template <typename Body>
  void in_pieces(std::size_t count, Body&& body) {
    constexpr std::size_t kPiece = std::size_t{1} << 15;
    std::vector<RawEdges> pieces((count + kPiece - 1) / kPiece);
    query_.pool.for_each(pieces.size(), query_.control, [&](std::size_t piece, std::size_t) {
      const std::size_t last = std::min(count, (piece + 1) * kPiece);
      for (std::size_t i = piece * kPiece; i < last; ++i) body(i, pieces[piece]);
    });
    std::size_t size = raw_.size();
    for (const RawEdges& piece : pieces) size += piece.all.size();
    raw_.reserve(size);
    for (RawEdges& piece : pieces) {
      raw_.insert(raw_.end(), piece.all.begin(), piece.all.end());
      graph_.contradicted += piece.contradicted;
      graph_.transfer_waits.recorded += piece.waits.recorded;
      graph_.transfer_waits.matched += piece.waits.matched;
      graph_.transfer_waits.inferred += piece.waits.inferred;
      graph_.transfer_waits.unknown += piece.waits.unknown;
      graph_.unknown_waits.insert(graph_.unknown_waits.end(), piece.unknown_waits.begin(), piece.unknown_waits.end());
      piece = {};
    }
  }

  [[nodiscard]] NodeIndex node_of(EventId event) const {
    const auto found = lane_place_.find(lane_of(event));
    return found == lane_place_.end() ? kNoNode : graph_.node_of(found->second, event);
  }

  [[nodiscard]] NodeIndex any_node_of(EventId event) const {
    const NodeIndex node = node_of(event);
    return node != kNoNode ? node : parts_.host.first_of(graph_, event);
  }

  // The nodes of an event: its own, or the packets of a transfer that nothing of it comes before (or after) on their
  // engine, since what it waits for all of them wait for, and it has ended when the last of them has.
  template <typename Body>
  void each_node(EventId event, bool last, Body&& body) const {
    const auto found = parts_.transfer_places.find(event);
    // What comes after an instruction that set off a transfer comes after that.
    const bool matched = last && found != parts_.transfer_places.end() && found->second >= graph_.first_matched;
    const NodeIndex node = matched ? kNoNode : last ? node_of(event) : any_node_of(event);
    if (node != kNoNode) return body(node);
    if (found == parts_.transfer_places.end()) return;
    const std::uint32_t transfer = found->second;
    for (std::size_t i = parts_.first_packet[transfer]; i < parts_.first_packet[transfer + 1]; ++i) {
      const NodeIndex packet = parts_.packets[i];
      if (last ? !goes_on_[packet] : !continues(packet)) body(packet);
    }
  }
  // The packet before it on its engine is of the same transfer.
  [[nodiscard]] bool continues(NodeIndex packet) const {
    const NodeIndex before = graph_.server_before[packet];
    return before != kNoNode && graph_.parts[before] == graph_.parts[packet];
  }
  void find_packets_that_go_on() {
    if (parts_.packets.empty()) return;
    goes_on_.assign(graph_.count(), false);
    for (const NodeIndex packet : parts_.packets) {
      if (continues(packet)) goes_on_[graph_.server_before[packet]] = true;
    }
  }

  void add_dependency(const Dependency& dependency, RawEdges& edges) const {
    each_node(dependency.target, false, [&](NodeIndex target) {
      const NodeIndex call = parts_.host.last_of(graph_, dependency.source, graph_.settled_ns(target));
      if (call != kNoNode) return add(target, call, EdgeKind::dependency, edges);
      each_node(dependency.source, true, [&](NodeIndex source) {
        const bool matched = graph_.trigger_of(source) != kNoNode;
        add(target, source, EdgeKind::dependency, edges, matched ? EdgeConfidence::matched : EdgeConfidence::recorded);
      });
    });
  }

  void add(NodeIndex target, NodeIndex source, EdgeKind kind, RawEdges& edges,
           EdgeConfidence confidence = EdgeConfidence::recorded) const {
    if (target == source) return;
    const std::int64_t until = graph_.settled_ns(target);
    if (graph_.end_ns[source] > until && (graph_.begin_ns[source] > until || graph_.waits[source] != 0)) {
      ++edges.contradicted;
      return;
    }
    edges.all.push_back({target, source, kind, confidence});
  }

  // By target, so that those of one event can be asked for.
  void index_edges() {
    first_edge_.assign(graph_.count() + 1, 0);
    for (const RawEdge& edge : raw_) ++first_edge_[edge.target + 1];
    for (std::size_t i = 1; i < first_edge_.size(); ++i) first_edge_[i] += first_edge_[i - 1];
    const auto earlier = [](const RawEdge& a, const RawEdge& b) { return a.target < b.target; };
    dependencies_ = raw_.size();
    if (std::ranges::is_sorted(raw_, earlier)) return;
    std::vector<std::uint32_t> next(first_edge_.begin(), first_edge_.end() - 1);
    std::vector<RawEdge> sorted(raw_.size());
    for (const RawEdge& edge : raw_) sorted[next[edge.target]++] = edge;
    raw_ = std::move(sorted);
  }
  template <typename Body>
  void each_dependency(NodeIndex target, Body&& body) const {
    for (std::uint32_t i = first_edge_[target]; i < first_edge_[target + 1]; ++i) body(raw_[i]);
  }

  // Rows of one engine: what begins on one began after what had begun on another.
  void add_issue_order() {
    std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::uint32_t>> engines;
    const TrackDevices devices(*query_.snapshot);
    for (std::uint32_t i = 0; i < graph_.lanes.size(); ++i) {
      if (parts_.engine_of_lane[i] == kNone) continue;
      engines[{devices.of_lane(graph_.lanes[i].lane), parts_.engine_of_lane[i]}].push_back(i);
    }
    for (const auto& [engine, lanes] : engines) {
      const bool several = std::ranges::any_of(
          lanes, [&](std::uint32_t i) { return graph_.lanes[i].track != graph_.lanes[lanes[0]].track; });
      std::vector<NodeIndex> all;
      for (const std::uint32_t i : lanes) {
        for (NodeIndex k = 0; k < graph_.lanes[i].count; ++k) all.push_back(graph_.lanes[i].first + k);
      }
      std::ranges::sort(all, [&](NodeIndex a, NodeIndex b) {
        return std::pair(graph_.begin_ns[a], a) < std::pair(graph_.begin_ns[b], b);
      });
      several ? add_issue_order(lanes, all) : add_overlaps(all);
    }
  }
  // What an engine begins before it has done what it began last is issued after that.
  void add_overlaps(const std::vector<NodeIndex>& by_begin) {
    for (std::size_t i = 1; i < by_begin.size(); ++i) {
      const NodeIndex node = by_begin[i], last = by_begin[i - 1];
      if (graph_.waits[last] != 0 || graph_.end_ns[last] <= graph_.begin_ns[node]) continue;
      if (graph_.begin_ns[last] < graph_.begin_ns[node]) raw_.push_back({node, last, EdgeKind::issue});
    }
  }
  void add_issue_order(const std::vector<std::uint32_t>& lanes, const std::vector<NodeIndex>& by_begin) {
    std::map<TrackNumber, std::uint32_t> numbers;
    std::vector<std::uint32_t> row_of_lane(graph_.lanes.size(), kNone);
    for (const std::uint32_t lane : lanes) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      row_of_lane[lane] = numbers.try_emplace(graph_.lanes[lane].track, next).first->second;
    }
    const auto track = [&](NodeIndex node) { return row_of_lane[graph_.graph_lane[node]]; };
    // Which row prepares what another one works with.
    std::vector<std::uint64_t> joined(numbers.size() * numbers.size());
    const auto joined_by = [&](std::uint32_t from, std::uint32_t to) -> std::uint64_t& {
      return joined[from * numbers.size() + to];
    };
    for (const NodeIndex node : by_begin) {
      each_dependency(node, [&](const RawEdge& edge) {
        if (track(edge.source) != kNone) ++joined_by(track(edge.source), track(node));
      });
    }
    for (std::size_t i = 1; i < by_begin.size(); ++i) {
      const NodeIndex node = by_begin[i];
      if (graph_.waits[node] != 0) continue;
      // Of what began at the same time the one that prepares came later: it was let go by the other's begin.
      NodeIndex source = kNoNode;
      const auto look_at = [&](NodeIndex other) {
        if (track(other) == track(node) || graph_.waits[other] != 0) return;
        const bool together = graph_.begin_ns[other] == graph_.begin_ns[node];
        if (!together || joined_by(track(node), track(other)) > joined_by(track(other), track(node))) source = other;
      };
      for (std::size_t k = i + 1; k < by_begin.size() && graph_.begin_ns[by_begin[k]] == graph_.begin_ns[node]; ++k) {
        look_at(by_begin[k]);
      }
      for (std::size_t k = i; source == kNoNode && k > 0 && i - k < kFarthestIssue; --k) look_at(by_begin[k - 1]);
      if (source != kNoNode) raw_.push_back({node, source, EdgeKind::issue});
    }
  }

  Result<void> add_semaphores() {
    index_signals(graph_);
    if (graph_.conditions.empty()) return {};
    const TrackDevices devices(*query_.snapshot);
    std::map<StoryKey, SemaphoreStory>& stories = parts_.stories;
    const auto device_of = [&](NodeIndex node) { return devices.of_lane(graph_.lane(node).lane); };
    for (const SemaphoreUpdate& update : graph_.updates) {
      stories[{device_of(update.node), update.semaphore}].setters.push_back(update.node);
    }
    add_collectives(devices, stories);
    for (auto& [key, story] : stories) finish(story);
    index_signals(graph_);
    find_unnamed_ends(devices);
    in_pieces(graph_.conditions.size(), [&](std::size_t i, RawEdges& edges) {
      const SemaphoreCondition& condition = graph_.conditions[i];
      const std::size_t device = device_of(condition.node);
      const auto story = stories.find({device, condition.semaphore});
      const bool known = story != stories.end() && resolve(condition, story->second, edges);
      if (!known && condition.of_transfers && has_waited(condition.node)) infer(condition.node, device, edges);
    });
    if (query_.control.cancelled()) return cancelled_error();
    return {};
  }

  // A semaphore that no instruction and no packet adds to is the collectives'.
  void add_collectives(const TrackDevices& devices, std::map<StoryKey, SemaphoreStory>& stories) {
    std::set<std::uint32_t> waited;
    for (const SemaphoreCondition& condition : graph_.conditions) waited.insert(condition.semaphore);
    std::vector<SemaphoreUpdate> more;
    for (auto& [key, story] : stories) {
      if (!story.setters.empty() || story.values.empty() || !waited.contains(key.second)) continue;
      for (const GraphLane& lane : graph_.lanes) {
        if (lane.kind != WorkKind::collective || devices.of_lane(lane.lane) != key.first) continue;
        for (NodeIndex k = 0; k < lane.count; ++k) {
          story.setters.push_back(lane.first + k);
          more.push_back({lane.first + k, key.second});
        }
      }
      story.of_collectives = true;
    }
    if (more.empty()) return;
    graph_.updates.insert(graph_.updates.end(), more.begin(), more.end());
    sort_updates(graph_.updates);
  }

  void finish(SemaphoreStory& story) const {
    std::ranges::sort(story.setters, [&](NodeIndex a, NodeIndex b) {
      return std::pair(graph_.end_ns[a], a) < std::pair(graph_.end_ns[b], b);
    });
    std::int64_t before = 0;
    for (const auto& [time, value] : story.values) {
      story.adds.push_back(story.add_count);
      if (value > before) ++story.add_count;
      before = value;
    }
  }

  [[nodiscard]] bool has_waited(NodeIndex node) const {
    return graph_.waits[node] != 0 || (!graph_.wait_ns.empty() && graph_.wait_ns[node] > 0);
  }

  // Packets whose semaphore nothing tells, by their end: those that signal where there are any.
  void find_unnamed_ends(const TrackDevices& devices) {
    if (std::ranges::none_of(graph_.conditions,
                             [](const SemaphoreCondition& condition) { return condition.of_transfers; })) {
      return;
    }
    for (const GraphLane& lane : graph_.lanes) {
      if (lane.kind != WorkKind::transfer) continue;
      std::vector<NodeIndex>& ends = unnamed_ends_[devices.of_lane(lane.lane)];
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        const bool signals = graph_.has_signal.empty() || graph_.has_signal[node] != 0;
        if (signals && !graph_.semaphore_of(node)) ends.push_back(node);
      }
    }
    for (auto& [device, ends] : unnamed_ends_) {
      std::ranges::sort(ends, [&](NodeIndex a, NodeIndex b) {
        return std::pair(graph_.end_ns[a], a) < std::pair(graph_.end_ns[b], b);
      });
    }
  }

  // A wait for transfers that ended shortly after one of them had.
  void infer(NodeIndex node, std::size_t device, RawEdges& edges) const {
    const std::int64_t until = graph_.settled_ns(node);
    const auto ends = unnamed_ends_.find(device);
    if (ends != unnamed_ends_.end()) {
      const auto after =
          std::upper_bound(ends->second.begin(), ends->second.end(), until,
                           [&](std::int64_t time, NodeIndex each) { return time < graph_.end_ns[each]; });
      if (after != ends->second.begin() && until - graph_.end_ns[*(after - 1)] <= kLatestSignalNs) {
        ++edges.waits.inferred;
        return add(node, *(after - 1), EdgeKind::semaphore, edges, EdgeConfidence::inferred);
      }
    }
    ++edges.waits.unknown;
    edges.unknown_waits.push_back(node);
  }

  // False where nothing tells who set it.
  bool resolve(const SemaphoreCondition& condition, const SemaphoreStory& story, RawEdges& edges) const {
    const NodeIndex node = condition.node;
    const bool waits = graph_.waits[node] != 0;
    // The instruction after a wait says whose results it needed; an instruction that waits by itself says so itself.
    const GraphLane& lane = graph_.lane(node);
    const NodeIndex asked = waits ? node + 1 : node;
    bool reported = false, reported_matched = false;
    if (asked < lane.first + lane.count) {
      each_dependency(asked, [&](const RawEdge& edge) {
        if (graph_.semaphore_of(edge.source) != condition.semaphore) return;
        reported = true;
        reported_matched = edge.confidence == EdgeConfidence::matched;
        if (waits) add(node, edge.source, EdgeKind::semaphore, edges, edge.confidence);
      });
    }
    std::uint64_t uncounted = 0;
    if (reported) {
      ++(!condition.of_transfers ? uncounted : reported_matched ? edges.waits.matched : edges.waits.recorded);
      return true;
    }
    const NodeIndex setter = setter_of(condition, story);
    if (setter == kNoNode) return false;
    const bool matched = graph_.trigger_of(setter) != kNoNode;
    const EdgeConfidence confidence = matched ? EdgeConfidence::matched : EdgeConfidence::recorded;
    add(node, setter, EdgeKind::semaphore, edges, confidence);
    ++(!condition.of_transfers ? uncounted : matched ? edges.waits.matched : edges.waits.recorded);
    if (!matched) return true;
    // All that signals a transfer's end has to: with a change another one may be the last.
    for (const NodeIndex other : story.setters) {
      if (other != setter && graph_.parts[other] == graph_.parts[setter]) {
        add(node, other, EdgeKind::semaphore, edges, confidence);
      }
    }
    return true;
  }

  // Who brought the semaphore to the value that a wait ended with.
  [[nodiscard]] NodeIndex setter_of(const SemaphoreCondition& condition, const SemaphoreStory& story) const {
    if (story.values.empty() || story.setters.empty()) return kNoNode;
    const std::size_t place = story.held_since(condition, graph_.settled_ns(condition.node));
    if (place == kNone) return kNoNode;
    const std::int64_t time = story.values[place].first;
    if (story.add_count == story.setters.size()) {
      // What it fell to is of the last that added to it before.
      const std::uint32_t rises = place + 1 < story.adds.size() ? story.adds[place + 1] : story.add_count;
      return rises == 0 ? kNoNode : story.setters[rises - 1];
    }
    auto near = std::lower_bound(story.setters.begin(), story.setters.end(), time,
                                 [&](NodeIndex each, std::int64_t t) { return graph_.end_ns[each] < t; });
    if (near == story.setters.end()) --near;
    if (near != story.setters.begin() && time - graph_.end_ns[*(near - 1)] < std::abs(graph_.end_ns[*near] - time)) {
      --near;
    }
    // Updates that are far from the end of any event come from outside.
    return std::abs(graph_.end_ns[*near] - time) <= kFarthestUpdateNs ? *near : kNoNode;
  }

  // A call of a host that waits ends with the last work of the streams that its process launches on, but for those that
  // go on: it did not wait for them, unless for something that just ended there.
  void add_synchronisation() {
    const TrackDevices devices(*query_.snapshot);
    std::map<std::size_t, std::set<std::uint32_t>> launched;  // servers, by process
    for (std::size_t i = 0; i < dependencies_; ++i) {
      if (graph_.lane(raw_[i].source).kind != WorkKind::host) continue;
      const GraphLane& target = graph_.lane(raw_[i].target);
      if (is_device_work(target.kind))
        launched[devices.of_lane(graph_.lane(raw_[i].source).lane)].insert(target.server);
    }
    std::vector<std::vector<std::uint32_t>> lanes(graph_.server_latencies_ns.size());
    for (std::uint32_t i = 0; i < graph_.lanes.size(); ++i) lanes[graph_.lanes[i].server].push_back(i);
    RawEdges edges;
    for (const GraphLane& lane : graph_.lanes) {
      if (lane.kind != WorkKind::host) continue;
      const auto found = launched.find(devices.of_lane(lane.lane));
      if (found == launched.end()) continue;
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        if (graph_.waits[node] == 0 || has_dependency(node) || !parts_.host.is_of_device_calls(graph_.event(node)))
          continue;
        for (const std::uint32_t server : found->second) add_end_of(lanes[server], node, edges);
      }
    }
    raw_.insert(raw_.end(), edges.all.begin(), edges.all.end());
    graph_.contradicted += edges.contradicted;
  }
  [[nodiscard]] bool has_dependency(NodeIndex node) const { return first_edge_[node] != first_edge_[node + 1]; }
  void add_end_of(const std::vector<std::uint32_t>& lanes, NodeIndex node, RawEdges& edges) const {
    NodeIndex last = kNoNode;
    bool goes_on = false;
    for (const std::uint32_t i : lanes) {
      const NodeIndex ended = graph_.last_ended(graph_.lanes[i], graph_.end_ns[node]);
      const NodeIndex next = ended == kNoNode ? graph_.lanes[i].first : ended + 1;
      goes_on = goes_on ||
                (next < graph_.lanes[i].first + graph_.lanes[i].count && graph_.begin_ns[next] < graph_.end_ns[node]);
      if (ended != kNoNode && (last == kNoNode || graph_.end_ns[ended] > graph_.end_ns[last])) last = ended;
    }
    if (last == kNoNode || graph_.end_ns[last] <= graph_.begin_ns[node]) return;
    if (goes_on && graph_.end_ns[node] - graph_.end_ns[last] > kSlowestReturnNs) return;
    add(node, last, EdgeKind::dependency, edges);
  }

  Result<void> add_stream_waits() {
    const auto launched_ns = [&](NodeIndex node) {
      std::optional<std::int64_t> at;
      each_dependency(node, [&](const RawEdge& edge) {
        if (graph_.lane(edge.source).kind == WorkKind::host) at = graph_.begin_ns[edge.source];
      });
      return at;
    };
    const auto waits = TRY(recorded_stream_waits(query_, graph_, launched_ns));
    RawEdges edges;
    for (const StreamWait& each : waits) add(each.target, each.source, EdgeKind::dependency, edges);
    raw_.insert(raw_.end(), edges.all.begin(), edges.all.end());
    graph_.contradicted += edges.contradicted;
    return {};
  }

  // What begins on a stream right after something of another one of its device, though its launch and its own stream
  // would have let it begin long before, waited for that: an event that nobody recorded.
  void add_stream_joins() {
    const TrackDevices devices(*query_.snapshot);
    std::map<std::size_t, std::vector<std::uint32_t>> streams;  // lanes of the graph, by device
    for (std::uint32_t i = 0; i < graph_.lanes.size(); ++i) {
      if (graph_.lanes[i].waits_when_idle) streams[devices.of_lane(graph_.lanes[i].lane)].push_back(i);
    }
    RawEdges edges;
    for (const auto& [device, lanes] : streams) {
      for (const std::uint32_t i : lanes) {
        const GraphLane& lane = graph_.lanes[i];
        for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
          std::int64_t explained = INT64_MIN;
          if (graph_.server_before[node] != kNoNode) explained = graph_.end_ns[graph_.server_before[node]];
          bool launched = false;
          each_dependency(node, [&](const RawEdge& edge) {
            launched = true;
            const bool from_begin = graph_.end_ns[edge.source] > graph_.begin_ns[node];
            explained = std::max(explained, from_begin ? graph_.begin_ns[edge.source] : graph_.end_ns[edge.source]);
          });
          if (!launched || graph_.begin_ns[node] - explained < kLeastUnexplainedNs) continue;
          NodeIndex last = kNoNode;
          for (const std::uint32_t other : lanes) {
            if (graph_.lanes[other].server == lane.server) continue;
            const NodeIndex ended = graph_.last_ended(graph_.lanes[other], graph_.begin_ns[node]);
            if (ended != kNoNode && (last == kNoNode || graph_.end_ns[ended] > graph_.end_ns[last])) last = ended;
          }
          if (last == kNoNode || graph_.end_ns[last] <= explained) continue;
          if (graph_.begin_ns[node] - graph_.end_ns[last] <= kRightAfterNs)
            add(node, last, EdgeKind::dependency, edges);
        }
      }
    }
    raw_.insert(raw_.end(), edges.all.begin(), edges.all.end());
  }

  // By target, each with the class of its latency: the least that the session shows between the two tracks.
  void write_edges() {
    std::map<std::tuple<TrackNumber, TrackNumber, EdgeKind, bool>, std::uint16_t> classes;
    graph_.latencies_ns.assign(1, 0);  // of classes beyond those that can be told apart
    graph_.latency_tracks.assign(1, {kNone, kNone});
    std::fill(graph_.edges_from.begin(), graph_.edges_from.end(), 0U);
    for (const RawEdge& edge : raw_) ++graph_.edges_from[edge.target + 1];
    for (std::size_t i = 1; i < graph_.edges_from.size(); ++i) graph_.edges_from[i] += graph_.edges_from[i - 1];
    std::vector<std::uint32_t> next(graph_.edges_from.begin(), graph_.edges_from.end() - 1);
    graph_.edges.resize(raw_.size());
    std::tuple<TrackNumber, TrackNumber, EdgeKind, bool> last_key;
    std::uint16_t last_class = 0;
    for (const RawEdge& raw : raw_) {
      const std::int64_t until = graph_.settled_ns(raw.target);
      const bool from_begin = raw.kind == EdgeKind::issue || graph_.end_ns[raw.source] > until;
      const std::int64_t since = from_begin ? graph_.begin_ns[raw.source] : graph_.end_ns[raw.source];
      const std::tuple key(graph_.lane(raw.source).track, graph_.lane(raw.target).track, raw.kind, from_begin);
      if (last_class == 0 || key != last_key) {
        auto known = classes.find(key);
        if (known == classes.end() && classes.size() < UINT16_MAX) {
          known = classes.emplace(key, static_cast<std::uint16_t>(graph_.latencies_ns.size())).first;
          graph_.latencies_ns.push_back(INT64_MAX);
          graph_.latency_tracks.emplace_back(std::get<0>(key), std::get<1>(key));
        }
        last_class = known == classes.end() ? std::uint16_t{0} : known->second;
        last_key = key;
      }
      if (last_class != 0) {
        graph_.latencies_ns[last_class] = std::min(graph_.latencies_ns[last_class], until - since);
      }
      GraphEdge& edge = graph_.edges[next[raw.target]++];
      edge.source = raw.source;
      edge.latency = last_class;
      edge.kind = raw.kind;
      edge.confidence = raw.confidence;
      edge.from_begin = from_begin;
    }
    raw_ = {};
    measure_latencies();
    measure_stream_pauses();
  }

  // Only what ended last of all that an event came after shows how long it takes from there. Where no edge between two
  // tracks did, it is the least of all edges between such tracks.
  void measure_latencies() {
    using Kinds = std::tuple<WorkKind, WorkKind, EdgeKind, bool>;
    std::vector<std::int64_t> shown(graph_.latencies_ns.size(), INT64_MAX);
    std::vector<Kinds> kinds(shown.size());
    for (NodeIndex node = 0; node < graph_.count(); ++node) {
      const auto edges = graph_.edges_of(node);
      if (edges.empty()) continue;
      const bool waits = graph_.waits[node] != 0;
      const std::int64_t until = waits ? graph_.end_ns[node] : graph_.begin_ns[node];
      const auto since = [&](const GraphEdge& edge) {
        return edge.from_begin ? graph_.begin_ns[edge.source] : graph_.end_ns[edge.source];
      };
      std::int64_t last = INT64_MIN;
      if (waits) {
        last = graph_.begin_ns[node];
      } else if (graph_.server_before[node] != kNoNode) {
        last = graph_.end_ns[graph_.server_before[node]];
      }
      for (const GraphEdge& edge : edges) last = std::max(last, since(edge));
      for (const GraphEdge& edge : edges) {
        kinds[edge.latency] = {graph_.lane(edge.source).kind, graph_.lane(node).kind, edge.kind, edge.from_begin};
        if (since(edge) == last) shown[edge.latency] = std::min(shown[edge.latency], until - last);
      }
    }
    std::map<Kinds, std::int64_t> least;
    for (std::size_t i = 1; i < shown.size(); ++i) {
      std::int64_t& known = least.try_emplace(kinds[i], INT64_MAX).first->second;
      known = std::min(known, shown[i]);
    }
    for (std::size_t i = 1; i < shown.size(); ++i) {
      const std::int64_t usual = least[kinds[i]] == INT64_MAX ? 0 : least[kinds[i]];
      // At most what any of its edges took, so that none begins before it may.
      graph_.latencies_ns[i] = std::min(graph_.latencies_ns[i], shown[i] != INT64_MAX ? shown[i] : usual);
    }
  }

  // How long a stream takes from one event to the next shows only where the next had been launched long before: other
  // pauses are its host's.
  void measure_stream_pauses() {
    std::vector<std::int64_t> shown(graph_.server_latencies_ns.size(), INT64_MAX);
    std::int64_t least = INT64_MAX;  // of all streams
    for (const GraphLane& lane : graph_.lanes) {
      if (!lane.waits_when_idle) continue;
      for (NodeIndex node = lane.first; node < lane.first + lane.count; ++node) {
        const NodeIndex before = graph_.server_before[node];
        if (before == kNoNode) continue;
        const auto edges = graph_.edges_of(node);
        const bool queued = std::ranges::any_of(edges, [&](const GraphEdge& edge) {
          return graph_.lane(edge.source).is_thread && graph_.end_ns[edge.source] < graph_.end_ns[before] - kQueuedNs;
        });
        if (queued) shown[lane.server] = std::min(shown[lane.server], graph_.begin_ns[node] - graph_.end_ns[before]);
      }
      least = std::min(least, shown[lane.server]);
    }
    for (const GraphLane& lane : graph_.lanes) {
      if (!lane.waits_when_idle) continue;
      const std::int64_t own = shown[lane.server] == INT64_MAX ? least : shown[lane.server];
      graph_.server_latencies_ns[lane.server] = own == INT64_MAX ? 0 : own;
    }
  }

  static constexpr std::int64_t kQueuedNs = 1'000;             // launched so long before the one before it ended
  static constexpr std::size_t kFarthestIssue = 64;            // events of another row that are looked back over
  static constexpr std::int64_t kLatestSignalNs = 1'000;       // from a packet's end to the end of a wait for it
  static constexpr std::int64_t kFarthestUpdateNs = 200;       // between an event's end and its semaphore's update
  static constexpr std::int64_t kSlowestReturnNs = 30'000;     // of a call that waited for what ended in a stream
  static constexpr std::int64_t kLeastUnexplainedNs = 10'000;  // longer than launches take to reach a stream
  static constexpr std::int64_t kRightAfterNs = 5'000;
  const QueryContext& query_;
  GraphParts& parts_;
  WorkGraph& graph_;
  std::unordered_map<LaneNumber, std::uint32_t> lane_place_;
  std::vector<bool> goes_on_;  // of packets: the next one on its engine is of the same transfer; empty: there are none
  std::map<std::size_t, std::vector<NodeIndex>> unnamed_ends_;  // by device
  std::vector<std::uint32_t> first_edge_;                       // of each target among the dependencies of raw_
  std::vector<RawEdge> raw_;
  std::size_t dependencies_ = 0;  // of raw_, by target
};

}  // namespace

Result<void> add_graph_edges(const QueryContext& query, const Dependencies& dependencies, GraphParts& parts,
                             WorkGraph& graph) {
  return EdgeBuilder(query, parts, graph).run(dependencies);
}

}  // namespace accelscope::analysis
