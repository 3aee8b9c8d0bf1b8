#include "core/analysis/critical_path/host_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/analysis/source/event_costs.h"
#include "core/analysis/source/own_code.h"
#include "core/analysis/time/executors.h"
#include "core/analysis/time/sorted_runs.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/scan/group_by.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {
namespace {

// A thread that waits for another one in a call of its own is held up by it for at least as long, and not much longer
// than that one works.
constexpr std::int64_t kShortestHandoffNs = 20'000;
constexpr std::int64_t kSlowestHandoffNs = 100'000;
constexpr double kLeastOfHandoff = 0.5;
// A call that waits takes no longer where nothing is left to wait for; less where the session shows it.
constexpr std::int64_t kShortestWaitNs = 5'000;
// A call that launches has done so after as long, whatever it does then.
constexpr std::int64_t kLongestLaunchNs = 50'000;

struct HostCall {
  std::int64_t begin_ns = 0, end_ns = 0, rank = 0;
  EventId event = kNoEvent;
  StringId name = 0, line = 0;
  bool waits = false, launches = false;
  // As event_costs.h has them.
  [[nodiscard]] bool operator<(const HostCall& other) const noexcept {
    return std::tie(begin_ns, other.end_ns, rank) < std::tie(other.begin_ns, end_ns, other.rank);
  }
};

// While one call of a thread is the innermost.
struct HostStretch {
  std::int64_t begin_ns = 0, end_ns = 0;
  EventId event = kNoEvent;
  StringId name = 0, line = 0;
  bool waits = false, cut = false;  // cut: a part of a call that waits
};

struct HostThread {
  TrackNumber track = kNone, resource = kNone;
  std::uint32_t lane = 0;  // the first of its lanes
  std::size_t process = 0;
  std::vector<HostCall> calls;
  std::vector<HostStretch> stretches;
  bool launches = false;
};

// Where in a thread a call waits for others, to the end of one of its stretches.
struct Handoff {
  std::size_t thread = 0, stretch = 0;         // that waits
  bool after = false;                          // in what is not recorded after the stretch, not in itself
  std::size_t other = 0, first = 0, last = 0;  // stretches of the other thread
};

}  // namespace

class HostWorkBuilder {
 public:
  HostWorkBuilder(const QueryContext& query, const Dependencies& dependencies, WorkGraph& graph, HostWork& work)
      : query_(query),
        snapshot_(*query.snapshot),
        dependencies_(dependencies),
        graph_(graph),
        work_(work),
        kinds_(snapshot_) {}

  Result<void> run() {
    find_named();
    find_threads();
    if (threads_.empty()) return {};
    if (const Result<void> read = read_calls(); !read) return read;
    query_.pool.for_each(threads_.size(), query_.control, [&](std::size_t t, std::size_t) { walk(threads_[t]); });
    if (query_.control.cancelled()) return cancelled_error();
    find_handoffs();
    return add_nodes();
  }

 private:
  // The calls that dependencies name, and when the copies have ended that they started.
  void find_named() {
    std::unordered_map<LaneNumber, std::size_t> place;
    for (std::size_t i = 0; i < graph_.lanes.size(); ++i) {
      place[snapshot_.lanes[graph_.lanes[i].lane].number()] = i;
    }
    std::unordered_map<LaneNumber, bool> on_host;
    for (std::size_t i = 0; i < snapshot_.lanes.size(); ++i) {
      if (kinds_.of_lane(i) == WorkKind::host) on_host[snapshot_.lanes[i].number()] = true;
    }
    for (const Dependency& each : dependencies_.all()) {
      const bool from_host = on_host.contains(lane_of(each.source));
      if (from_host) work_.named_.try_emplace(each.source);
      if (on_host.contains(lane_of(each.target))) work_.named_.try_emplace(each.target);
      linked_.insert(lane_of(each.source));
      linked_.insert(lane_of(each.target));
      const auto target = place.find(lane_of(each.target));
      if (!from_host || target == place.end()) continue;
      launching_.insert(lane_of(each.source));
      const NodeIndex node = graph_.node_of(target->second, each.target);
      if (node == kNoNode) continue;
      Started& started = started_[each.source];
      started.begin_ns = std::min(started.begin_ns, graph_.begin_ns[node]);
      const GraphLane& lane = graph_.lanes[target->second];
      const bool copies = lane.kind == WorkKind::transfer && !only_fills(*snapshot_.find_track(lane.track));
      if (copies && (started.copy == kNoNode || graph_.end_ns[node] > graph_.end_ns[started.copy])) started.copy = node;
    }
  }

  // Those that launch or are named; where none is, those that may wait, and all of them where no device did anything.
  void find_threads() {
    const HostThreads rows(snapshot_);
    const TrackDevices devices(snapshot_);
    std::map<std::size_t, bool> wanted;
    const bool any_linked = std::ranges::any_of(snapshot_.lanes, [&](const LaneSnapshot& lane) {
      const TrackSnapshot* track = snapshot_.find_track(lane.track);
      return track != nullptr && work_kind_of(*track) == WorkKind::host && linked_.contains(lane.number());
    });
    for (std::uint32_t i = 0; i < snapshot_.lanes.size(); ++i) {
      if (!is_of_calls(i)) continue;
      const auto thread = rows.of_track(snapshot_.lanes[i].track);
      if (!thread) continue;
      const bool waits = !snapshot_.lanes[i].schema->wait_names.empty() || !kinds_.any_device();
      const bool is_wanted = any_linked ? linked_.contains(snapshot_.lanes[i].number()) : waits;
      wanted[*thread] = wanted[*thread] || is_wanted;
    }
    thread_of_lane_.assign(snapshot_.lanes.size(), kNone);
    for (const auto& [thread, is_wanted] : wanted) {
      if (!is_wanted) continue;
      HostThread found;
      for (const std::uint32_t i : rows.lanes(thread)) {
        const TrackSnapshot* track = snapshot_.find_track(snapshot_.lanes[i].track);
        if (!is_of_calls(i) && !(is_annotation(*track) && snapshot_.lanes[i].event_count > 0)) continue;
        thread_of_lane_[i] = static_cast<std::uint32_t>(threads_.size());
        lanes_.push_back(i);
        const bool launches = launching_.contains(snapshot_.lanes[i].number());
        // It goes by the row of its launches, else by its first.
        if (found.track == kNone || (launches && !found.launches)) {
          found.lane = i;
          found.track = snapshot_.lanes[i].track;
          found.resource = track->track->parent != kNone ? track->track->parent : found.track;
        }
        found.launches = found.launches || launches;
        found.process = devices.of_lane(i);
      }
      threads_.push_back(std::move(found));
    }
  }
  // Where no device did anything annotations alone may be all that is known of a thread.
  [[nodiscard]] bool is_of_calls(std::uint32_t i) const {
    const LaneSnapshot& lane = snapshot_.lanes[i];
    if (lane.event_count == 0 || !lane.schema || lane.data->kind != EventKind::slice) return false;
    if (kinds_.of_lane(i) == WorkKind::host) return true;
    const TrackSnapshot* track = snapshot_.find_track(lane.track);
    return !kinds_.any_device() && track != nullptr && is_annotation(*track);
  }

  Result<void> read_calls() {
    struct Part {
      ByPlace<std::vector<HostCall>> calls;  // by thread
      std::vector<std::pair<EventId, HostWork::NamedCall>> named;
      std::unordered_map<StringId, std::pair<bool, bool>> known;
      auto measures() { return std::tie(calls, named); }
    };
    std::map<std::uint32_t, WaitNames> waits;
    for (const std::uint32_t i : lanes_) waits[i] = WaitNames(snapshot_.lanes[i].schema.get(), *snapshot_.strings);
    auto found = gather(
        query_, lanes_, TimeRange{}, Part{ByPlace<std::vector<HostCall>>(threads_.size()), {}, {}},
        [&](const ScannedChunk& chunk, Part& part) {
          const Schema& schema = *chunk.lane.schema;
          const bool linked = linked_.contains(chunk.lane.number());
          const auto line = schema.find(Role::source_location);
          const bool has_line =
              line && *line < chunk.view.column_count() && schema.columns[*line].type == ColumnType::string;
          std::vector<HostCall>& calls = part.calls[thread_of_lane_[chunk.lane_index]];
          const WaitNames& names = waits.at(chunk.lane_index);
          chunk.for_each_block([&](const ScannedBlock& block) {
            const BlockValues lines = has_line ? block.reader.column(*line, ColumnType::string) : BlockValues{};
            for (std::uint32_t i = block.first; i < block.last; ++i) {
              HostCall call{.begin_ns = block.begin_ns(i),
                            .end_ns = block.end_ns(i),
                            .rank = rank_of(chunk.lane_index),
                            .event = block.id(i),
                            .name = block.name(i)};
              call.end_ns = std::max(call.begin_ns, call.end_ns);
              if (linked && work_.named_.contains(call.event)) {
                part.named.emplace_back(call.event, HostWork::NamedCall{call.begin_ns, call.end_ns, chunk.lane_index});
                call.launches = started_.contains(call.event);
              }
              const auto [entry, is_new] = part.known.try_emplace(call.name);
              if (is_new) {
                const std::string_view text = snapshot_.strings->text(call.name);
                entry->second = {is_waiting_call(text), is_mark(text)};
              }
              if (entry->second.second || (call.end_ns == call.begin_ns && !call.launches)) continue;
              call.waits = entry->second.first || names.contains(call.name);
              if (lines.has(i)) call.line = static_cast<StringId>(lines.values[i]);
              calls.push_back(call);
            }
          });
        });
    if (!found) return found.error();
    for (std::size_t t = 0; t < threads_.size(); ++t) merge_part(threads_[t].calls, std::move(found->calls[t]));
    for (const auto& [event, call] : found->named) work_.named_[event] = call;
    return {};
  }
  // Annotations lie around what they name.
  [[nodiscard]] std::int64_t rank_of(std::uint32_t lane) const {
    return kinds_.of_lane(lane) == WorkKind::host ? kinds_.rank_of_lane(lane)
                                                  : std::numeric_limits<std::int64_t>::min();
  }

  struct Open {
    const HostCall* call;  // the one that counts: what lies in a call that waits or launches is its own
    StringId line;         // its own, else of the innermost around it that has one
  };

  void walk(HostThread& thread) const {
    sort_runs(thread.calls);
    bool broken = false;  // by a launch that took no time
    const auto enter = [&broken](const HostCall& call, const Open* outer) {
      broken = broken || call.begin_ns == call.end_ns;
      if (outer != nullptr && (outer->call->waits || outer->call->launches)) return *outer;
      return Open{&call, call.line != 0 || outer == nullptr ? call.line : outer->line};
    };
    const auto spend = [&](const Open& open, std::int64_t from, std::int64_t to) {
      const HostCall& call = *open.call;
      std::vector<HostStretch>& all = thread.stretches;
      if (!broken && !all.empty() && all.back().event == call.event && all.back().end_ns == from) {
        all.back().end_ns = to;
      } else {
        all.push_back({from, to, call.event, call.name, open.line, call.waits, false});
      }
      broken = false;
    };
    walk_nested_calls<Open>(
        thread.calls, TimeRange{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()},
        enter, spend);
    thread.calls = {};
    cut_calls(thread);
  }

  // A call that goes on until its copy has ended waits for it, but for what such calls take at least; one that is long
  // before what it starts begins has started it then.
  void cut_calls(HostThread& thread) const {
    std::unordered_map<StringId, std::int64_t> least;
    const auto copy_of = [&](const HostStretch& stretch) {
      const auto started = started_.find(stretch.event);
      return started == started_.end() ? kNoNode : started->second.copy;
    };
    // Where all of a name wait, others that launch show what a launch takes.
    std::int64_t shortest = kLongestLaunchNs;
    for (const HostStretch& each : thread.stretches) {
      if (copy_of(each) == kNoNode) {
        if (started_.contains(each.event)) shortest = std::min(shortest, each.end_ns - each.begin_ns);
        continue;
      }
      const auto [known, is_new] = least.try_emplace(each.name, each.end_ns - each.begin_ns);
      known->second = std::min(known->second, each.end_ns - each.begin_ns);
    }
    std::vector<HostStretch> cut;
    cut.reserve(thread.stretches.size());
    const auto cut_at = [&](std::int64_t at) {
      const HostStretch whole = cut.back();
      cut.back().end_ns = at;
      cut.push_back(whole);
      cut.back().begin_ns = at;
    };
    for (const HostStretch& each : thread.stretches) {
      cut.push_back(each);
      const auto started = started_.find(each.event);
      if (started == started_.end() || (each.waits && started->second.copy == kNoNode)) continue;
      // A first launch loads a module: what it starts had to wait for that. A copy may wait for the stream instead.
      const std::int64_t begins = started->second.begin_ns;
      const NodeIndex copy = started->second.copy;
      if (copy == kNoNode && begins - each.begin_ns > kLongestLaunchNs && begins < each.end_ns) cut_at(begins);
      if (copy == kNoNode || graph_.end_ns[copy] <= each.begin_ns || graph_.end_ns[copy] > each.end_ns) continue;
      const std::int64_t from = cut.back().begin_ns;
      const std::int64_t at = std::max(from, std::min(each.begin_ns + std::min(shortest, least[each.name]),
                                                      std::max(graph_.begin_ns[copy], each.begin_ns + 1)));
      if (at >= graph_.end_ns[copy]) continue;
      if (at > from) {
        cut_at(at);
        (cut.end() - 2)->waits = false;  // it starts the copy
      }
      cut.back().waits = cut.back().cut = true;
    }
    thread.stretches = std::move(cut);
  }

  // Where a thread's stretch spans what another one of its process does.
  void find_handoffs() {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      std::vector<Handoff> found;
      for (std::size_t other = 0; other < threads_.size(); ++other) {
        if (other != t && threads_[other].process == threads_[t].process && threads_[other].launches) {
          find_handoffs(t, other, found);
        }
      }
      if (found.empty()) continue;
      std::ranges::stable_sort(found, {}, &Handoff::stretch);
      cut_handoffs(threads_[t], found);
    }
  }
  void find_handoffs(std::size_t thread, std::size_t other, std::vector<Handoff>& found) const {
    const std::vector<HostStretch>& theirs = threads_[other].stretches;
    const std::vector<HostStretch>& own = threads_[thread].stretches;
    if (theirs.empty()) return;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!own[i].cut && !started_.contains(own[i].event)) {
        find_handoff({thread, i, false, other, 0, 0}, own[i].begin_ns, own[i].end_ns, theirs, found);
      }
      if (i + 1 < own.size()) {
        find_handoff({thread, i, true, other, 0, 0}, own[i].end_ns, own[i + 1].begin_ns, theirs, found);
      }
    }
  }
  static void find_handoff(Handoff handoff, std::int64_t begin_ns, std::int64_t end_ns,
                           const std::vector<HostStretch>& theirs, std::vector<Handoff>& found) {
    if (end_ns - begin_ns < kShortestHandoffNs) return;
    // The other one may have been asked before: what counts is that it ends in here, and that all goes on then.
    const auto first = std::ranges::upper_bound(theirs, begin_ns, {}, &HostStretch::end_ns);
    const auto behind = std::lower_bound(first, theirs.end(), end_ns,
                                         [](const HostStretch& each, std::int64_t ns) { return each.begin_ns < ns; });
    if (first == behind || (behind - 1)->end_ns > end_ns) return;
    if (end_ns - (behind - 1)->end_ns > std::max(kSlowestHandoffNs, (end_ns - begin_ns) / 10)) return;
    std::int64_t works = 0;
    for (auto at = first; at != behind; ++at) works += at->waits ? 0 : at->end_ns - std::max(begin_ns, at->begin_ns);
    if (static_cast<double>(works) < kLeastOfHandoff * static_cast<double>(end_ns - begin_ns)) return;
    auto asked = first;
    while (asked != theirs.begin() && asked->begin_ns - (asked - 1)->end_ns < kSlowestHandoffNs) --asked;
    handoff.first = static_cast<std::size_t>(asked - theirs.begin());
    handoff.last = static_cast<std::size_t>(behind - theirs.begin() - 1);
    found.push_back(handoff);
  }
  // Works up to where the first of the others begins, and waits from there on.
  void cut_handoffs(HostThread& thread, const std::vector<Handoff>& found) {
    std::vector<HostStretch> cut;
    cut.reserve(thread.stretches.size() + found.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < thread.stretches.size(); ++i) {
      const HostStretch& each = thread.stretches[i];
      if (at == found.size() || found[at].stretch != i) {
        cut.push_back(each);
        continue;
      }
      std::int64_t first = std::numeric_limits<std::int64_t>::max();
      for (; at < found.size() && found[at].stretch == i; ++at) {
        const std::vector<HostStretch>& theirs = threads_[found[at].other].stretches;
        const std::int64_t begin_ns = theirs[found[at].first].begin_ns;
        if (!found[at].after) first = std::min(first, begin_ns);
        handoffs_.push_back({found[at].thread, found[at].other,
                             found[at].after ? thread.stretches[i + 1].begin_ns : each.end_ns, found[at].after,
                             begin_ns, theirs[found[at].last].end_ns});
      }
      if (first == std::numeric_limits<std::int64_t>::max()) {
        cut.push_back(each);
        continue;
      }
      if (first > each.begin_ns) {
        cut.push_back(each);
        cut.back().end_ns = first;
        cut.back().waits = false;
      }
      cut.push_back(each);
      cut.back().begin_ns = std::max(first, each.begin_ns);
      cut.back().waits = cut.back().cut = true;
    }
    thread.stretches = std::move(cut);
  }

  Result<void> add_nodes() {
    std::uint64_t count = graph_.count();
    for (const HostThread& thread : threads_) count += thread.stretches.size();
    if (count >= kNoNode) return Error{"the session has more events than a graph of its work can hold"};
    const auto nodes = static_cast<std::size_t>(count);
    graph_.first_call = static_cast<NodeIndex>(graph_.count());
    graph_.calls.reserve(nodes - graph_.count());
    const bool any_line = std::ranges::any_of(threads_, [](const HostThread& thread) {
      return std::ranges::any_of(thread.stretches, [](const HostStretch& each) { return each.line != 0; });
    });
    for (const LaneNumber lane : launching_) {
      for (const std::uint32_t i : snapshot_.find_track(snapshot_.find_lane(lane)->track)->lanes) {
        work_.launching_.insert(snapshot_.lanes[i].number());
      }
    }
    std::vector<std::uint32_t> places;
    NodeIndex next = graph_.first_call;
    graph_.resize(nodes, any_line);
    for (HostThread& thread : threads_) {
      places.push_back(static_cast<std::uint32_t>(graph_.lanes.size()));
      GraphLane lane;
      lane.lane = thread.lane;
      lane.track = thread.track;
      lane.resource = thread.resource;
      lane.first = next;
      lane.count = static_cast<std::uint32_t>(thread.stretches.size());
      lane.server = static_cast<std::uint32_t>(graph_.server_latencies_ns.size());
      lane.kind = WorkKind::host;
      lane.is_thread = true;
      graph_.server_latencies_ns.push_back(0);
      graph_.lanes.push_back(lane);
      graph_.positions.emplace_back(snapshot_.lanes[thread.lane]);
      std::int64_t shortest = kShortestWaitNs;
      for (const HostStretch& each : thread.stretches) {
        graph_.begin_ns[next] = each.begin_ns;
        graph_.end_ns[next] = each.end_ns;
        graph_.names[next] = each.name;
        graph_.graph_lane[next] = places.back();
        graph_.waits[next] = each.waits ? 1 : 0;
        if (each.line != 0) graph_.locations[next] = each.line;
        graph_.calls.push_back(each.event);
        if (each.waits && !each.cut) shortest = std::min(shortest, each.end_ns - each.begin_ns);
        ++next;
      }
      graph_.shortest_wait_ns.push_back(shortest);
      thread.stretches = {};
    }
    for (auto& [event, call] : work_.named_) {
      const std::uint32_t lane = call.graph_lane;  // of the snapshot up to here; it was lost where there is none
      call.graph_lane = lane == kNone || thread_of_lane_[lane] == kNone ? kNone : places[thread_of_lane_[lane]];
    }
    join(places);
    return {};
  }

  void join(const std::vector<std::uint32_t>& places) {
    for (const auto& [event, started] : started_) {
      if (started.copy == kNoNode) continue;
      const auto call = work_.named_.find(event);
      if (call == work_.named_.end() || call->second.graph_lane == kNone) continue;
      const NodeIndex node = graph_.last_ended(graph_.lanes[call->second.graph_lane], call->second.end_ns);
      if (node != kNoNode && graph_.waits[node] != 0 && graph_.calls[node - graph_.first_call] == event) {
        work_.joined_.push_back({node, started.copy});
      }
    }
    for (const Handed& each : handoffs_) {
      const NodeIndex waits = each.after ? begun_at(places[each.thread], each.end_ns)
                                         : graph_.last_ended(graph_.lanes[places[each.thread]], each.end_ns);
      const NodeIndex last = graph_.last_ended(graph_.lanes[places[each.other]], each.other_end_ns);
      if (waits == kNoNode || last == kNoNode) continue;
      work_.joined_.push_back({waits, last});
      const NodeIndex first = begun_at(places[each.other], each.other_begin_ns);
      const NodeIndex asks = begun_at(places[each.thread], each.other_begin_ns);
      const NodeIndex asked_by = asks == kNoNode ? kNoNode : asks - 1;
      if (first != kNoNode && asked_by != kNoNode && asks > graph_.lanes[places[each.thread]].first) {
        work_.joined_.push_back({first, asked_by});
      }
    }
    const auto order = [](const HostWork::Joined& a, const HostWork::Joined& b) {
      return std::pair(a.target, a.source) < std::pair(b.target, b.source);
    };
    std::ranges::sort(work_.joined_, order);
  }
  [[nodiscard]] NodeIndex begun_at(std::uint32_t place, std::int64_t begin_ns) const {
    const GraphLane& lane = graph_.lanes[place];
    const auto begin = graph_.begin_ns.begin() + lane.first;
    const auto at = std::lower_bound(begin, begin + lane.count, begin_ns);
    return at == begin + lane.count ? kNoNode : static_cast<NodeIndex>(at - graph_.begin_ns.begin());
  }

  struct Started {
    NodeIndex copy = kNoNode;                                          // that ends last
    std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();  // of what begins first
  };
  struct Handed {
    std::size_t thread = 0, other = 0;
    std::int64_t end_ns = 0;  // of the stretch that waits; else the begin of the one that comes after
    bool after = false;
    std::int64_t other_begin_ns = 0, other_end_ns = 0;
  };

  const QueryContext& query_;
  const Snapshot& snapshot_;
  const Dependencies& dependencies_;
  WorkGraph& graph_;
  HostWork& work_;
  WorkKinds kinds_;
  std::set<LaneNumber> linked_, launching_;
  std::unordered_map<EventId, Started> started_;  // by the calls that launch
  std::vector<HostThread> threads_;
  std::vector<std::uint32_t> thread_of_lane_;  // of lanes of the snapshot, into threads_
  LaneIndices lanes_;
  std::vector<Handed> handoffs_;
};

Result<void> HostWork::add(const QueryContext& query, const Dependencies& dependencies, WorkGraph& graph) {
  return HostWorkBuilder(query, dependencies, graph, *this).run();
}

NodeIndex HostWork::last_of(const WorkGraph& graph, EventId call, std::int64_t until_ns) const {
  const auto found = named_.find(call);
  if (found == named_.end() || found->second.graph_lane == kNone) return kNoNode;
  const GraphLane& lane = graph.lanes[found->second.graph_lane];
  const auto first = graph.begin_ns.begin() + lane.first, last = first + lane.count;
  auto at = std::lower_bound(first, last, found->second.end_ns);
  // What of a call waits for what it started did not start it.
  const auto is_late = [&](std::int64_t begin_ns, std::ptrdiff_t node) {
    return begin_ns > until_ns || graph.waits[static_cast<std::size_t>(node)] != 0;
  };
  while (at != first && *(at - 1) > found->second.begin_ns && is_late(*(at - 1), at - 1 - graph.begin_ns.begin())) --at;
  return at == first ? kNoNode : static_cast<NodeIndex>(at - 1 - graph.begin_ns.begin());
}

NodeIndex HostWork::first_of(const WorkGraph& graph, EventId call) const {
  const auto found = named_.find(call);
  if (found == named_.end() || found->second.graph_lane == kNone) return kNoNode;
  const GraphLane& lane = graph.lanes[found->second.graph_lane];
  const auto first = graph.begin_ns.begin() + lane.first, last = first + lane.count;
  const auto at = std::lower_bound(first, last, found->second.begin_ns);
  return at == last ? kNoNode : static_cast<NodeIndex>(at - graph.begin_ns.begin());
}

}  // namespace accelscope::analysis
