#include "core/analysis/replay/what_if.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "core/analysis/replay/readings.h"
#include "core/analysis/replay/repairs.h"
#include "core/analysis/vendors/vendor.h"
#include "core/base/text.h"
#include "core/names/short_names.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"

namespace accelscope::analysis {
namespace {

using Effect = WhatIfChange::Effect;

class ChangeReader {
 public:
  ChangeReader(const QueryContext& query, const WorkGraph& graph, const TimeRange& range, RetainedDetails& details)
      : query_(query), graph_(graph), range_(range), details_(details), changed_(graph) {}

  Result<ChangedGraph> run(std::span<const WhatIfChange> changes) {
    wants_addresses_ = std::ranges::any_of(
        changes, [](const WhatIfChange& change) { return change.effect == Effect::double_buffers; });
    for (const WhatIfChange& change : changes) {
      if (query_.mask && !is_of_events(change.effect)) {
        return Error{"the change '" + change.text + "' is of the whole session: it takes a range, but no filter"};
      }
      const std::uint64_t before = changed_.touched;
      TRY(read(change));
      if (changed_.touched > before) continue;
      // Those before it may have left nothing to it; by itself it has to touch something.
      if (before == 0) return nothing(change);
      TRY(ChangeReader(query_, graph_, range_, details_).run({&change, 1}));
    }
    return std::move(changed_);
  }

 private:
  Result<void> read(const WhatIfChange& change) {
    const auto factor = static_cast<float>(change.factor);
    switch (change.effect) {
      case Effect::bandwidth:
        changed_.unknown_waits /= change.factor;
        scale(1 / factor, [&](NodeIndex node) {
          return graph_.lane(node).kind == WorkKind::transfer &&
                 (graph_.has_signal.empty() || graph_.has_signal[node] == 0);
        });
        return {};
      case Effect::dma_latency:
        changed_.unknown_waits *= change.factor;
        scale_latencies(change.factor, [](WorkKind from, WorkKind to) {
          return to == WorkKind::transfer && from != WorkKind::transfer;
        });
        return {};
      case Effect::launch_latency:
        scale_latencies(change.factor,
                        [](WorkKind from, WorkKind to) { return from == WorkKind::host && is_device_work(to); });
        return {};
      case Effect::name: {
        const std::vector<StringId> names = named_so(change.name);
        if (names.empty()) return {};
        scale(factor,
              [&](NodeIndex node) { return std::binary_search(names.begin(), names.end(), graph_.names[node]); });
        shorten_unknown(change.factor);
        return {};
      }
      case Effect::line: {
        const StringId line = graph_.snapshot->strings->find(change.name);
        if (line == kNone || graph_.locations.empty()) return {};
        scale(factor, [&](NodeIndex node) { return graph_.locations[node] == line; });
        return {};
      }
      case Effect::track: {
        const std::vector<std::uint8_t> named = lanes_named(change.name);
        scale(factor, [&](NodeIndex node) { return named[graph_.graph_lane[node]] != 0; });
        shorten_unknown(change.factor);
        return {};
      }
      case Effect::host:
        if (!query_.mask) changed_.host_delays *= change.factor;
        scale(factor, [&](NodeIndex node) { return graph_.lane(node).kind == WorkKind::host; });
        return {};
      case Effect::layer:
        return scale_layer(change);
      case Effect::drop_reload:
        changed_.unknown_waits = 0;  // what is gone may be what they wait for
        return drop_reloads(change);
      case Effect::merge_transfers: {
        changed_.unknown_waits = 0;
        const StringId name = change.name.empty() ? kNone : graph_.snapshot->strings->find(change.name);
        if (name == kNone && !change.name.empty()) return {};
        return repair([&](const Repairs& repairs) {
          (void)repairs.merge_transfers(name, static_cast<std::size_t>(change.factor), changed_);
        });
      }
      case Effect::drop_spills:
        changed_.unknown_waits = 0;
        return repair([this](const Repairs& repairs) { (void)repairs.drop_spills(changed_); });
      case Effect::drop_transposes:
        return repair([this](const Repairs& repairs) { (void)repairs.drop_transposes(changed_); });
      case Effect::lift_throttling:
        return repair([this](const Repairs& repairs) { (void)repairs.lift_limits(changed_); });
      case Effect::widen_tiles:
        return repair([this](const Repairs& repairs) { (void)repairs.widen_tiles(changed_); });
      case Effect::double_buffers:
        return repair([&](const Repairs& repairs) {
          for (const Repairs::BufferWait& wait : repairs.buffer_waits()) {
            if (is(wait.name, change.name) && fits(wait.releaser, change.after) && fits(wait.line, change.line)) {
              (void)repairs.double_buffers(wait, changed_);
            }
          }
        });
      case Effect::ask_early:
        return repair([&](const Repairs& repairs) {
          for (const Repairs::LateCollective& late : repairs.late_collectives()) {
            if (is(late.name, change.name) && fits(late.line, change.line)) (void)repairs.ask_early(late, changed_);
          }
        });
      case Effect::remove_wait:
        remove_wait(change);
        return {};
      case Effect::double_queue: {
        const std::vector<std::uint8_t> named = lanes_named(change.name);
        for (std::size_t i = 0; i < named.size(); ++i) {
          if (named[i] == 0 || graph_.lanes[i].shares_server) continue;
          changed_.doubled[i] = 1;
          changed_.touched += graph_.lanes[i].count;
        }
        return {};
      }
    }
    return {};
  }

  [[nodiscard]] bool passes(NodeIndex node) const {
    const Snapshot& snapshot = *graph_.snapshot;
    return query_.mask->passes(snapshot, graph_.event(node)) || query_.mask->passes(snapshot, graph_.whole_event(node));
  }
  // Edges and what sets off a transfer cannot be told by a filter of events.
  [[nodiscard]] static bool is_of_events(Effect effect) noexcept {
    constexpr std::array kOfEvents = {Effect::bandwidth, Effect::name, Effect::track,
                                      Effect::layer,     Effect::line, Effect::host};
    return std::find(kOfEvents.begin(), kOfEvents.end(), effect) != kOfEvents.end();
  }

  template <typename Wanted>
  void scale(float factor, Wanted wanted) {
    changed_.factors.resize(graph_.count(), 1.0F);
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    std::atomic<std::uint64_t> touched{0};
    query_.pool.for_each((graph_.count() + kPiece - 1) / kPiece, query_.control, [&](std::size_t piece, std::size_t) {
      std::uint64_t here = 0;
      const std::size_t last = std::min(graph_.count(), (piece + 1) * kPiece);
      for (std::size_t node = piece * kPiece; node < last; ++node) {
        // A wait lasts as long as what it waits for.
        if (graph_.waits[node] != 0 || !wanted(static_cast<NodeIndex>(node))) continue;
        if (query_.mask && !passes(static_cast<NodeIndex>(node))) continue;
        changed_.factors[node] *= factor;
        ++here;
      }
      touched += here;
    });
    changed_.touched += touched;
  }

  template <typename Wanted>
  void scale_latencies(double factor, Wanted wanted) {
    std::map<TrackNumber, WorkKind> kinds;
    for (const GraphLane& lane : graph_.lanes) kinds[lane.track] = lane.kind;
    for (std::size_t i = 1; i < changed_.latencies_ns.size(); ++i) {
      const auto& [from, to] = graph_.latency_tracks[i];
      if (!wanted(kinds[from], kinds[to])) continue;
      changed_.latencies_ns[i] = std::llround(static_cast<double>(changed_.latencies_ns[i]) * factor);
      ++changed_.touched;
    }
  }

  // The name itself; else all that are shown so where there is little room: "gemm bf16 128x128".
  std::vector<StringId> named_so(std::string_view name) const {
    if (const StringId exact = graph_.snapshot->strings->find(name); exact != kNone) return {exact};
    std::vector<StringId> all(graph_.names), found;
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    ShortNames shown;
    for (const StringId id : all) shown.add(graph_.snapshot->strings->text(id));
    for (const StringId id : all) {
      const std::string_view text = graph_.snapshot->strings->text(id);
      const std::vector<std::string>& forms = shown.forms(text);
      const bool is_shown = std::find(forms.begin(), forms.end(), name) != forms.end();
      if (is_shown || usual_name(text) == name) found.push_back(id);
    }
    return found;
  }

  // "7" of "stream 7", "stream 7", and "GPU 0 stream 7": as answers name it.
  static bool is_named(const Track& track, std::string_view name) {
    if (track.name == name) return true;
    const std::size_t blank = track.name.find(' ');
    if (blank != std::string::npos && (track.kind == "stream" || track.kind == "dma_queue") &&
        std::string_view(track.name).substr(blank + 1) == name)
      return true;
    return !track.device.empty() && name.size() == track.device.size() + 1 + track.name.size() &&
           name.starts_with(track.device) && name.ends_with(track.name);
  }

  // Transfers take that much of their time: so may what waits for any of them.
  void shorten_unknown(double factor) {
    for (NodeIndex node = 0; node < graph_.count(); ++node) {
      if (changed_.factors.empty() || changed_.factors[node] == 1.0F) continue;
      if (graph_.lane(node).kind != WorkKind::transfer) continue;
      changed_.unknown_waits *= factor;
      return;
    }
  }

  // By lane of the graph: those of the track, and of packets those of their queue.
  std::vector<std::uint8_t> lanes_named(std::string_view name) const {
    std::vector<std::uint8_t> named(graph_.lanes.size(), 0);
    for (std::size_t i = 0; i < named.size(); ++i) {
      for (const TrackNumber number : {graph_.lanes[i].track, graph_.lanes[i].resource}) {
        const TrackSnapshot* track = graph_.snapshot->find_track(number);
        if (track != nullptr && is_named(*track->track, name)) named[i] = 1;
      }
      if (graph_.lanes[i].queue != kNone && graph_.snapshot->strings->text(graph_.lanes[i].queue) == name) named[i] = 1;
    }
    return named;
  }

  Result<void> scale_layer(const WhatIfChange& change) {
    std::vector<std::uint8_t> inside(graph_.count(), 0);
    std::map<std::uint32_t, std::size_t> places;
    LaneIndices indices;
    for (std::size_t i = 0; i < graph_.lanes.size(); ++i) {
      const std::uint32_t lane = graph_.lanes[i].lane;
      if (graph_.lanes[i].is_thread) continue;
      if (!graph_.snapshot->lanes[lane].schema->find(Role::layer)) continue;
      places[lane] = i;
      indices.push_back(lane);
    }
    const Result<void> scanned = scan_chunks(query_, indices, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t column = *chunk.lane.schema->find(Role::layer);
      const NodeIndex first = graph_.first_node(places.at(chunk.lane_index), chunk.chunk_index);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        const std::string_view layer =
            text_at(chunk, *graph_.snapshot->strings, column, chunk.lane.schema->columns[column].type, row);
        inside[first + row] = lies_in(layer, change.name) ? 1 : 0;
      }
    });
    if (!scanned) return scanned;
    scale(static_cast<float>(change.factor), [&](NodeIndex node) { return inside[node] != 0; });
    return {};
  }
  // Whole steps of the path: "mlp" is a step of "layers.3/mlp/up_proj".
  static bool lies_in(std::string_view layer, std::string_view wanted) {
    for (std::size_t at = layer.find(wanted); at != std::string_view::npos; at = layer.find(wanted, at + 1)) {
      const std::size_t end = at + wanted.size();
      if ((at == 0 || layer[at - 1] == '/') && (end == layer.size() || layer[end] == '/')) return true;
    }
    return false;
  }

  // Bytes of a tensor, from a vendor's table; 0: none tells.
  Result<std::int64_t> tensor_bytes(std::string_view tensor) const {
    std::atomic<std::int64_t> bytes{0};
    LaneIndices lanes;
    const auto size_of = [](const Schema& schema) -> std::optional<std::size_t> {
      for (const Vendor& vendor : vendors()) {
        if (const auto column = schema.find(vendor.size_column); column) return column;
      }
      return std::nullopt;
    };
    const Snapshot& snapshot = *graph_.snapshot;
    for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
      const LaneSnapshot& lane = snapshot.lanes[i];
      if (lane.schema && lane.data->kind == EventKind::table && size_of(*lane.schema)) lanes.push_back(i);
    }
    const StringId name = snapshot.strings->find(std::string(tensor));
    const Result<void> scanned = scan_chunks(query_, lanes, TimeRange{}, [&](const ScannedChunk& chunk, std::size_t) {
      const std::size_t column = *size_of(*chunk.lane.schema);
      for (std::uint32_t row = 0; row < chunk.view.count(); ++row) {
        if (chunk.session_string(chunk.view.name(row)) != name) continue;
        const auto size = number_at(chunk.view, column, chunk.lane.schema->columns[column].type, row);
        std::int64_t known = bytes;
        while (size && *size > known && !bytes.compare_exchange_weak(known, *size)) {
        }
      }
    });
    if (!scanned) return scanned.error();
    return bytes.load();
  }

  Result<void> drop_reloads(const WhatIfChange& change) {
    const std::int64_t size = TRY(tensor_bytes(change.name));
    if (size <= 0) return Error{"nothing tells how large " + change.name + " is, so its reloads cannot be told"};
    const StringId name = graph_.snapshot->strings->find(change.name);
    return repair([&](const Repairs& repairs) { (void)repairs.keep_tensor(name, size, changed_); });
  }

  // What the graph does not hold is read once, for the first change that asks.
  template <typename Body>
  Result<void> repair(Body&& body) {
    if (!details_.details || (wants_addresses_ && !details_.has_addresses)) {
      auto read = TRY(WorkDetails::read(query_, graph_, range_, wants_addresses_));
      details_ = {std::move(read), wants_addresses_};
    }
    body(Repairs(graph_, *details_.details));
    return {};
  }
  [[nodiscard]] bool is(StringId id, std::string_view text) const { return graph_.snapshot->strings->text(id) == text; }
  [[nodiscard]] bool fits(StringId id, std::string_view text) const { return text.empty() || is(id, text); }

  void remove_wait(const WhatIfChange& change) {
    ChangedGraph::RemovedWaits removed{change.semaphore, std::vector<std::uint8_t>(graph_.latency_tracks.size(), 0)};
    for (std::size_t i = 1; i < graph_.latency_tracks.size(); ++i) {
      const TrackSnapshot* to = graph_.snapshot->find_track(graph_.latency_tracks[i].second);
      if (!change.name.empty() && (to == nullptr || to->track->name != change.name)) continue;
      removed.classes[i] = changed_.may_lose[i] = 1;
    }
    for (NodeIndex node = 0; node < graph_.count(); ++node) {
      for (const GraphEdge& edge : graph_.edges_of(node)) {
        if (removed.classes[edge.latency] != 0 && graph_.semaphore_of(edge.source) == change.semaphore) {
          ++changed_.touched;
        }
      }
    }
    changed_.removed.push_back(std::move(removed));
  }

  Error nothing(const WhatIfChange& change) const {
    if (change.effect == Effect::merge_transfers && change.name.empty()) {
      return Error{"the change '" + change.text + "' touches nothing: no transfers in a row have packets below 2 KiB"};
    }
    const std::vector<std::uint8_t> named = lanes_named(change.name);
    if (change.effect == Effect::double_queue && std::find(named.begin(), named.end(), 1) != named.end()) {
      return Error{
          "the change '" + change.text +
          "' has no effect: DMA engines that all queues share serve it, and a second queue is served no sooner; "
          "'queue " +
          change.name + " x0.5' is a queue with twice the bandwidth"};
    }
    std::vector<std::string> names;
    if (change.effect == Effect::name || change.effect == Effect::drop_reload ||
        change.effect == Effect::merge_transfers) {
      std::vector<StringId> ids(graph_.names);
      std::ranges::sort(ids);
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      for (const StringId id : ids) names.emplace_back(graph_.snapshot->strings->text(id));
    } else if (change.effect == Effect::track || change.effect == Effect::double_queue) {
      for (const GraphLane& lane : graph_.lanes) {
        const TrackSnapshot* track = graph_.snapshot->find_track(lane.track);
        if (track != nullptr) names.push_back(track->track->name);
      }
      std::ranges::sort(names);
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    std::string text = "the change '" + change.text + "' touches nothing of this session";
    constexpr std::size_t kMostNames = 12;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
      text += (i == 0 ? "; there are " : ", ") + names[i];
    }
    if (names.size() > kMostNames) text += " and others";
    return Error{text};
  }

  const QueryContext& query_;
  const WorkGraph& graph_;
  TimeRange range_;
  bool wants_addresses_ = false;
  RetainedDetails& details_;
  ChangedGraph changed_;
};

}  // namespace

Result<WhatIfResult> replay_with_changes(const QueryContext& query, const WorkGraph& graph,
                                         std::span<const WhatIfChange> changes, std::int64_t begin_ns) {
  return replay_range(query, graph, changes, {begin_ns, INT64_MAX});
}

Result<WhatIfResult> replay_range(const QueryContext& query, const WorkGraph& graph,
                                  std::span<const WhatIfChange> changes, const TimeRange& range,
                                  RetainedDetails* retained) {
  RetainedDetails own;
  const ChangedGraph changed =
      TRY(ChangeReader(query, graph, range, retained == nullptr ? own : *retained).run(changes));
  WhatIfResult result;
  result.least_ns = INT64_MAX;
  result.most_ns = INT64_MIN;
  result.touched = changed.touched;
  const auto totals_of = [&](const GraphReplay& each) {
    if (graph.count() > 0 && range.end_ns < graph.end_of_all_ns) return each.totals(range);
    return RangeTotals{{range.begin_ns, graph.end_of_all_ns},
                       {range.begin_ns, graph.count() == 0 ? range.begin_ns : each.end_of_all_ns()}};
  };
  const Readings readings(graph, changed);
  std::unique_ptr<GraphReplay> replay;
  RangeTotals totals;
  const auto replayed =
      readings.each(query, [&](std::unique_ptr<GraphReplay> each, const ChangedGraph&, bool as_it_is) {
        const RangeTotals read = totals_of(*each);
        const std::int64_t saved_ns = read.before.length_ns() - read.after.length_ns();
        result.least_ns = std::min(result.least_ns, saved_ns);
        result.most_ns = std::max(result.most_ns, saved_ns);
        if (!as_it_is) return;
        totals = read;
        replay = std::move(each);
      });
  if (!replayed) return replayed.error();
  if (range.end_ns < graph.end_of_all_ns && totals.before.empty()) {
    return Error{"no event lies wholly inside of the range"};
  }
  if (!changed.loose.empty()) result.most_ns = std::max(result.most_ns, readings.waited_ns(totals.before));
  if (result.least_ns != result.most_ns) result.rests_on = readings.why();
  result.before = totals.before;
  result.total_before_ns = totals.before.length_ns();
  result.total_after_ns = totals.after.length_ns();
  result.path = replay->path(totals.after);
  result.begin_ns = std::move(replay->begin_ns);
  result.end_ns = std::move(replay->end_ns);
  return result;
}

Result<std::int64_t> total_without_gaps(const QueryContext& query, const WorkGraph& graph,
                                        std::span<const NodeIndex> nodes, std::int64_t begin_ns) {
  ChangedGraph changed(graph);
  for (const NodeIndex node : nodes) changed.take_out(graph, node, ChangedGraph::kAtOnce);
  const auto replay = TRY(GraphReplay::run(query, graph, changed));
  return graph.count() == 0 ? 0 : replay->end_of_all_ns() - begin_ns;
}

namespace {

using Effect = WhatIfChange::Effect;

// What a change begins with, and what follows: a name, a factor, both.
struct ChangeForm {
  std::string_view words;
  Effect effect;
  bool named, scaled;
};
constexpr std::array<ChangeForm, 24> kChangeForms = {{{"dma bandwidth", Effect::bandwidth, false, true},
                                                      {"dma latency", Effect::dma_latency, false, true},
                                                      {"launch latency", Effect::launch_latency, false, true},
                                                      {"opcode", Effect::name, true, true},
                                                      {"kernel", Effect::name, true, true},
                                                      {"tensor", Effect::name, true, true},
                                                      {"event", Effect::name, true, true},
                                                      {"queue", Effect::track, true, true},
                                                      {"engine", Effect::track, true, true},
                                                      {"stream", Effect::track, true, true},
                                                      {"layer", Effect::layer, true, true},
                                                      {"line", Effect::line, true, true},
                                                      {"host", Effect::host, false, true},
                                                      {"drop reload of", Effect::drop_reload, true, false},
                                                      {"merge dmas of", Effect::merge_transfers, true, true},
                                                      {"merge dmas", Effect::merge_transfers, false, true},
                                                      {"remove wait", Effect::remove_wait, true, false},
                                                      {"double queue", Effect::double_queue, true, false},
                                                      {"drop spills", Effect::drop_spills, false, false},
                                                      {"drop transposes", Effect::drop_transposes, false, false},
                                                      {"lift throttling", Effect::lift_throttling, false, false},
                                                      {"widen tiles", Effect::widen_tiles, false, false},
                                                      {"double buffers of", Effect::double_buffers, true, false},
                                                      {"ask early for", Effect::ask_early, true, false}}};
constexpr std::string_view kForms =
    "'dma bandwidth x1.5', 'dma latency x0.5', 'launch latency x0.5', 'opcode NAME x0.5', 'kernel NAME x0.5', "
    "'tensor NAME x0.5', 'queue NAME x0.5', 'engine NAME x0.5', 'stream NAME x0.5', 'layer PATH x0.5', "
    "'line FILE:LINE x0.5', 'host x0.5', 'drop reload of TENSOR', 'merge dmas x8', 'merge dmas of TENSOR x8', "
    "'remove wait S[5] on ENGINE', 'double queue NAME', 'drop spills', 'drop transposes', 'lift throttling', 'widen "
    "tiles', 'double buffers of NAME after NAME at FILE:LINE', 'ask early for COLLECTIVE at FILE:LINE'";

Error wrong_change(std::string_view text, std::string_view why) {
  return Error{"the change '" + std::string(text) + "' " + std::string(why) + "; there are " + std::string(kForms)};
}

// The factor that a text ends with, "x1.5", which is taken off it.
bool take_factor(std::string_view& text, double& factor) {
  const std::size_t place = text.rfind('x');
  if (place == std::string_view::npos || (place > 0 && text[place - 1] != ' ')) return false;
  if (!read_number(text.substr(place + 1), factor) || !(factor >= 0) || factor > 1e6) return false;
  text = trimmed(text.substr(0, place));
  return true;
}

// "S[5] on Vector", "S[5]".
bool read_semaphore(WhatIfChange& change) {
  std::string_view text = change.name;
  if (!text.starts_with("S[")) return false;
  text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), change.semaphore);
  if (error != std::errc() || end == text.data() + text.size() || *end != ']') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  text = trimmed(text);
  std::string track;
  if (!text.empty()) {
    if (!text.starts_with("on ")) return false;
    track = trimmed(text.substr(3));
  }
  change.name = track;
  return true;
}

// " at mlp.py:33" at the end of a name, and the like; "" where it has none.
std::string take_last(std::string& name, std::string_view word) {
  const std::size_t place = name.rfind(word);
  if (place == std::string::npos) return {};
  std::string taken = name.substr(place + word.size());
  name.resize(place);
  return taken;
}

}  // namespace

std::string_view change_forms() noexcept { return kForms; }

Result<WhatIfChange> parse_change(std::string_view text) {
  const std::string_view whole = trimmed(text);
  for (const ChangeForm& form : kChangeForms) {
    if (!whole.starts_with(form.words)) continue;
    std::string_view rest = whole.substr(form.words.size());
    if (!rest.empty() && rest.front() != ' ') continue;
    rest = trimmed(rest);
    WhatIfChange change;
    change.effect = form.effect;
    change.text = whole;
    if (form.scaled && !take_factor(rest, change.factor)) return wrong_change(whole, "needs a factor such as x0.5");
    if (form.effect == Effect::bandwidth && change.factor <= 0) return wrong_change(whole, "leaves no bandwidth");
    if (form.effect == Effect::merge_transfers && (change.factor < 2 || change.factor != std::floor(change.factor))) {
      return wrong_change(whole, "needs how many become one, such as x8");
    }
    if (form.named != !rest.empty()) {
      return wrong_change(whole, form.named ? "needs a name" : "has words that are not known");
    }
    change.name = rest;
    if (form.effect == Effect::remove_wait && !read_semaphore(change)) {
      return wrong_change(whole, "names no semaphore such as S[5]");
    }
    if (form.effect == Effect::double_buffers || form.effect == Effect::ask_early) {
      change.line = take_last(change.name, " at ");
      change.after = take_last(change.name, " after ");
    }
    return change;
  }
  return wrong_change(whole, "is not known");
}

}  // namespace accelscope::analysis
