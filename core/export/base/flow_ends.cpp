#include "core/export/base/flow_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>

#include "core/base/format.h"
#include "core/lod/range_statistics.h"
#include "core/scan/event_mask.h"

namespace accelscope::exporting {
namespace {

[[nodiscard]] std::uint32_t place_of_number(std::size_t place) noexcept { return static_cast<std::uint32_t>(place); }

}  // namespace

FlowEnds::Span FlowEnds::into(EventId first, EventId last) const noexcept {
  const auto before = [](const ExportFlow& flow, EventId event) { return flow.target < event; };
  const auto from = std::lower_bound(flows_.begin(), flows_.end(), first, before);
  const auto to = std::lower_bound(from, flows_.end(), last, before);
  return {place_of_number(static_cast<std::size_t>(from - flows_.begin())),
          place_of_number(static_cast<std::size_t>(to - flows_.begin()))};
}

FlowEnds::Span FlowEnds::out_of(EventId first, EventId last) const noexcept {
  const auto before = [this](std::uint32_t number, EventId event) { return flows_[number].source < event; };
  const auto from = std::lower_bound(by_source_.begin(), by_source_.end(), first, before);
  const auto to = std::lower_bound(from, by_source_.end(), last, before);
  return {place_of_number(static_cast<std::size_t>(from - by_source_.begin())),
          place_of_number(static_cast<std::size_t>(to - by_source_.begin()))};
}

FlowEnds::Span FlowEnds::into(EventId event, const Span& within) const noexcept {
  const auto begin = flows_.begin() + within.first;
  const auto found = std::lower_bound(begin, flows_.begin() + within.last, event,
                                      [](const ExportFlow& flow, EventId id) { return flow.target < id; });
  Span span{place_of_number(static_cast<std::size_t>(found - flows_.begin())), 0};
  span.last = span.first;
  while (span.last < within.last && flows_[span.last].target == event) ++span.last;
  return span;
}

FlowEnds::Span FlowEnds::out_of(EventId event, const Span& within) const noexcept {
  const auto begin = by_source_.begin() + within.first;
  const auto found = std::lower_bound(begin, by_source_.begin() + within.last, event,
                                      [this](std::uint32_t number, EventId id) { return flows_[number].source < id; });
  Span span{place_of_number(static_cast<std::size_t>(found - by_source_.begin())), 0};
  span.last = span.first;
  while (span.last < within.last && flows_[by_source_[span.last]].source == event) ++span.last;
  return span;
}

std::uint64_t FlowEnds::left_out() const noexcept {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(flows_, [](const ExportFlow& flow) { return !flow.retained(); }));
}

Result<FlowEnds> FlowEnds::build(const ExportRequest& request, const ExportPlan& plan) {
  const auto dependencies = TRY(analysis::session_dependencies(request.query));
  FlowEnds ends;
  ends.unresolved_ = dependencies->unresolved();
  ends.flows_.reserve(dependencies->all().size());
  for (const analysis::Dependency& each : dependencies->all()) {
    ExportFlow flow;
    flow.source = each.source;
    flow.target = each.target;
    flow.flow = each.flow;
    flow.kind = each.kind;
    ends.flows_.push_back(flow);
  }
  ends.by_source_.resize(ends.flows_.size());
  std::iota(ends.by_source_.begin(), ends.by_source_.end(), 0U);
  std::ranges::stable_sort(
      ends.by_source_, [&](std::uint32_t a, std::uint32_t b) { return ends.flows_[a].source < ends.flows_[b].source; });
  if (ends.flows_.empty()) return ends;
  TRY(ends.read_times(request, plan));
  return ends;
}

// Each end is written by the one thread that reads its chunk; only the count of ends is shared.
Result<void> FlowEnds::read_times(const ExportRequest& request, const ExportPlan& plan) {
  LaneIndices lanes;
  for (const ExportTrack& track : plan.tracks) {
    for (const std::uint32_t lane : track.snapshot->lanes) {
      const LaneNumber number = request.query.snapshot->lanes[lane].number();
      const EventId first = make_event_id(number, 0);
      const EventId last = make_event_id(number + 1, 0);
      const Span to = into(first, last);
      const Span from = out_of(first, last);
      if (to.first != to.last || from.first != from.last) lanes.push_back(lane);
    }
  }
  return scan_chunks(request.query, lanes, request.range, [&](const ScannedChunk& chunk, std::size_t) {
    const EventId first = chunk.event_id(0);
    const EventId last = chunk.event_id(chunk.view.count());
    const Span to = into(first, last);
    const Span from = out_of(first, last);
    if (to.first == to.last && from.first == from.last) return;
    chunk.for_each_block([&](const ScannedBlock& block) {
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        const EventId id = block.id(i);
        const Span reached = into(id, to);
        for (std::uint32_t n = reached.first; n < reached.last; ++n) {
          flows_[n].target_begin_ns = block.begin_ns(i);
          flows_[n].target_end_ns = block.end_ns(i);
          std::atomic_ref<std::uint8_t>(flows_[n].ends).fetch_add(1, std::memory_order_relaxed);
        }
        const Span left = out_of(id, from);
        for (std::uint32_t n = left.first; n < left.last; ++n) {
          ExportFlow& flow = flows_[by_source_[n]];
          flow.source_begin_ns = block.begin_ns(i);
          flow.source_end_ns = block.end_ns(i);
          std::atomic_ref<std::uint8_t>(flow.ends).fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  });
}

void PieceFlows::open(const PieceReader& reader) {
  chunks_.clear();
  if (flows_ == nullptr) return;
  for (const PieceReader::Chunk& chunk : reader.chunks()) {
    const ChunkPlace& place = chunk.lane->chunk(chunk.index);
    const EventId first = make_event_id(chunk.lane->number(), place.first_ordinal);
    const EventId last = first + place.count;
    chunks_.push_back({flows_->into(first, last), flows_->out_of(first, last)});
  }
}

namespace {

[[nodiscard]] std::uint64_t exported_events(const ExportRequest& request, const TrackSnapshot& track) {
  std::uint64_t events = 0;
  const bool timed = track.schema->kind != EventKind::table;
  for (const std::uint32_t lane : track.lanes) {
    if (timed && request.query.mask != nullptr) {
      events += request.query.mask->count(lane);
    } else if (!timed || request.range == TimeRange{}) {
      events += request.query.snapshot->lanes[lane].event_count;
    } else if (const auto share = lod::lane_share(request.query.store, *request.query.snapshot, lane, request.range)) {
      events += share->event_count;
    }
  }
  return events;
}

}  // namespace

std::vector<std::string> losses_by_kind(const ExportRequest& request, const FormatLimits& limits) {
  const Snapshot& snapshot = *request.query.snapshot;
  std::map<std::string, std::uint64_t> rows, samples, moments;
  std::uint64_t flows = 0;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (track.schema == nullptr) continue;
    const EventKind kind = track.schema->kind;
    if (kind == EventKind::table && limits.rows_without_time) {
      rows[track.track->kind == "table" ? track.track->name : track.schema->name] += exported_events(request, track);
    }
    if (kind == EventKind::counter && limits.samples) samples[track.track->name] += exported_events(request, track);
    const bool is_moment = kind == EventKind::instant || kind == EventKind::memory;
    if (is_moment && limits.moments) moments[track.schema->name] += exported_events(request, track);
    if (kind == EventKind::flow && limits.flows) flows += exported_events(request, track);
  }
  std::vector<std::string> losses;
  const auto add = [&](const std::map<std::string, std::uint64_t>& counts, std::string_view what) {
    std::uint64_t all = 0;
    std::string names;
    std::size_t shown = 0;
    for (const auto& [name, count] : counts) {
      if (count == 0) continue;
      all += count;
      if (++shown <= 6) names += (names.empty() ? "" : ", ") + name;
    }
    if (shown > 6) names += fmt::format(" and {} more", shown - 6);
    if (all > 0) losses.push_back(fmt::format("{} {} are left out: {}", format_count(all), what, names));
  };
  add(rows, "rows without time");
  add(samples, "samples of counters");
  add(moments, "moments, allocations and releases");
  if (flows > 0) losses.push_back(fmt::format("{} dependencies between events are left out", format_count(flows)));
  if (limits.source_files && !snapshot.sources.empty()) {
    losses.push_back(fmt::format("the text of {} source files is left out", format_count(snapshot.sources.size())));
  }
  if (limits.markers) {
    if (const std::size_t marks = request.query.store.markers().size(); marks > 0) {
      losses.push_back(fmt::format("{} markers are left out", format_count(marks)));
    }
  }
  return losses;
}

void add_sample_losses(std::uint64_t values_beside, std::uint64_t without_value, std::vector<std::string>& losses) {
  if (values_beside > 0) {
    losses.push_back(fmt::format("{} names and values of further columns of counters' samples are left out",
                                 format_count(values_beside)));
  }
  if (without_value > 0) {
    losses.push_back(fmt::format("{} samples have no value and are left out", format_count(without_value)));
  }
}

void add_flow_losses(const FlowEnds& flows, std::vector<std::string>& losses) {
  if (flows.left_out() > 0) {
    losses.push_back(fmt::format("{} dependencies are left out because an event at their ends is not exported",
                                 format_count(flows.left_out())));
  }
  if (flows.unresolved() > 0) {
    losses.push_back(
        fmt::format("{} dependencies name no event of the session and are left out", format_count(flows.unresolved())));
  }
}

}  // namespace accelscope::exporting
