#include "core/export/base/flow_ends.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "core/scan/event_mask.h"

namespace accelscope {
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
      std::count_if(flows_.begin(), flows_.end(), [](const ExportFlow& flow) { return !flow.kept(); }));
}

Result<FlowEnds> FlowEnds::build(const ExportRequest& request, const ExportPlan& plan) {
  const auto dependencies = session_dependencies(request.query);
  if (!dependencies) return dependencies.error();
  FlowEnds ends;
  ends.unresolved_ = (*dependencies)->unresolved();
  ends.flows_.reserve((*dependencies)->all().size());
  for (const Dependency& each : (*dependencies)->all()) {
    ExportFlow flow;
    flow.source = each.source;
    flow.target = each.target;
    flow.flow = each.flow;
    flow.kind = each.kind;
    ends.flows_.push_back(flow);
  }
  ends.by_source_.resize(ends.flows_.size());
  std::iota(ends.by_source_.begin(), ends.by_source_.end(), 0U);
  std::stable_sort(ends.by_source_.begin(), ends.by_source_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return ends.flows_[a].source < ends.flows_[b].source; });
  if (ends.flows_.empty()) return ends;
  if (Result<void> read = ends.read_times(request, plan); !read) return read.error();
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

}  // namespace accelscope
