#include "core/analysis/hierarchy/nested_paths.h"

#include <algorithm>

#include "core/analysis/selection/amount_block.h"
#include "core/analysis/source/call_nesting.h"
#include "core/analysis/source/event_part.h"
#include "core/analysis/source/own_code.h"
#include "core/scan/wait_names.h"

namespace accelscope {

const NestedPaths::Known& NestedPaths::known_of(StringId name) {
  const auto [known, is_new] = known_.try_emplace(name);
  if (is_new && worker_.plan.kind.source == PathSource::host_calls) {
    const std::string_view text = worker_.plan.snapshot().strings->text(name);
    known->second = {is_waiting_call(text), is_mark(text)};
  }
  return known->second;
}

void NestedPaths::add(const ScannedChunk& chunk, const ScanWindow& window) {
  worker_.open(window);
  const PathPlan& plan = worker_.plan;
  const Schema& schema = *chunk.lane.schema;
  const bool on_host = plan.kind.source == PathSource::host_calls;
  std::vector<Call>& calls = stacks_[on_host ? plan.works.thread_of_lane(chunk.lane_index) : chunk.lane.track];
  const std::int64_t rank =
      on_host ? plan.works.rank_of_lane(chunk.lane_index) : std::int64_t{chunk.lane.data->lane.depth};
  const WaitNames waits(&schema, *plan.snapshot().strings);
  std::vector<std::size_t> byte_columns;
  for (std::size_t i = 0; i < std::min(schema.columns.size(), chunk.view.column_count()); ++i) {
    if (schema.columns[i].role == Role::bytes && !is_text(schema.columns[i].type)) byte_columns.push_back(i);
  }
  auto launch = std::lower_bound(launches_.begin(), launches_.end(), chunk.event_id(0),
                                 [](const HostLaunch& each, EventId id) { return each.source < id; });
  AmountBlock bytes;
  chunk.for_each_block([&](const ScannedBlock& block) {
    if (!byte_columns.empty()) bytes.read(block.reader, schema, byte_columns);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      Call call;
      call.name = block.name(i);
      const Known& known = known_of(call.name);
      if (known.marks) continue;
      call.begin_ns = block.begin_ns(i);
      call.end_ns = block.end_ns(i);
      call.rank = rank;
      call.id = block.id(i);
      call.lane = chunk.lane_index;
      call.waits = known.waits || waits.contains(call.name);
      call.bytes = bytes[i];
      call.owned = window.owns(chunk, block.ticks().begins[i]);
      call.counts = passing_ == nullptr ||
                    passing_->passes(chunk.lane, chunk.lane_index, chunk.place.first_ordinal + block.row(i));
      while (launch != launches_.end() && launch->source < call.id) ++launch;
      call.launch = static_cast<std::uint32_t>(launch - launches_.begin());
      for (; launch != launches_.end() && launch->source == call.id; ++launch) ++call.launch_count;
      calls.push_back(call);
    }
  });
}

void NestedPaths::add_launches(const Call& call, std::uint32_t node, std::uint32_t slot) {
  for (std::uint32_t i = 0; i < call.launch_count; ++i) {
    worker_.add_launch(worker_.sums.at(slot), {node, call.begin_ns, call.end_ns, launches_[call.launch + i].work});
  }
}

NestedPaths::Open NestedPaths::enter(const Call& call, const Open* outer) {
  const std::uint32_t parent = outer == nullptr ? PathTree::kRoot : outer->node;
  Open open{&call, worker_.child(parent, call.name), outer == nullptr ? 0 : outer->counted};
  if (!call.counts) return open;
  open.counted = open.node;
  const std::uint32_t slot = worker_.sums.slot_of(open.node);
  if (!call.owned) return open;
  worker_.add_event(slot, open.node, call.lane, call.id, call.begin_ns, call.end_ns, {.bytes = call.bytes});
  add_launches(call, open.node, slot);
  const bool cut = open.node == parent && parent != PathTree::kRoot;
  worker_.cut_events += cut ? 1 : 0;
  return open;
}

// At each moment the innermost call works or waits, and so do those around it; where a filter leaves it out, the one
// that it lies in.
WindowPart NestedPaths::close(const ScanWindow& window) {
  worker_.open(window);
  const auto enter_call = [this](const Call& call, const Open* outer) { return enter(call, outer); };
  const auto spend = [this](const Open& open, std::int64_t from, std::int64_t to) {
    if (open.counted == PathTree::kRoot) return;
    const std::uint32_t slot = worker_.sums.slot_of(open.counted);
    if (open.call->waits) {
      worker_.sums.at(slot).wait_ns += to - from;
    } else {
      worker_.sums.cover(from, to, slot, worker_.plan.units.of_lane(open.call->lane));
    }
  };
  for (auto& [stack, calls] : stacks_) {
    walk_nested_calls<Open>(calls, window.range, enter_call, spend);
    calls.clear();
  }
  return worker_.close(window);
}

}  // namespace accelscope
