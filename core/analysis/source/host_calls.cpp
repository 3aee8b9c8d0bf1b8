#include "core/analysis/source/host_calls.h"

#include "core/analysis/source/event_costs.h"
#include "core/analysis/source/own_code.h"
#include "core/analysis/source/source_lines.h"
#include "core/base/capped.h"
#include "core/scan/event_mask.h"
#include "core/scan/wait_names.h"

namespace accelscope::analysis {

HostCalls::HostCalls(const Snapshot& snapshot, const WorkKinds& kinds)
    : snapshot_(snapshot), kinds_(kinds), threads_(kinds.thread_count()) {}

bool HostCalls::is_own(StringId line) {
  const auto [known, is_new] = own_.try_emplace(line, false);
  if (!is_new) return known->second;
  std::string_view path;
  std::uint32_t number = 0;
  known->second = parse_source_location(snapshot_.strings->text(line), path, number) && !is_framework_path(path);
  return known->second;
}

const HostCalls::Known& HostCalls::known_of(StringId name) {
  const auto [known, is_new] = known_.try_emplace(name);
  if (is_new) {
    const std::string_view text = snapshot_.strings->text(name);
    known->second = {is_waiting_call(text), is_mark(text)};
  }
  return known->second;
}

void HostCalls::add(const ScannedChunk& chunk, const EventMask* passing, const GroupsOfBlock& groups) {
  const Schema& schema = *chunk.lane.schema;
  auto location = schema.find(Role::source_location);
  if (location && (*location >= chunk.view.column_count() || schema.columns[*location].type != ColumnType::string)) {
    location.reset();
  }
  const WaitNames waits(&schema, *snapshot_.strings);
  std::vector<Call>& calls = threads_[kinds_.thread_of_lane(chunk.lane_index)];
  const std::int64_t rank = kinds_.rank_of_lane(chunk.lane_index);
  chunk.for_each_block([&](const ScannedBlock& block) {
    const BlockValues lines = location ? block.reader.column(*location, ColumnType::string) : BlockValues{};
    const std::uint32_t* of_block = groups ? groups(block) : nullptr;
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      Call call;
      call.begin_ns = block.begin_ns(i);
      call.end_ns = block.end_ns(i);
      if (call.end_ns <= call.begin_ns) continue;
      call.rank = rank;
      call.name = block.name(i);
      if (of_block != nullptr) call.group = of_block[i];
      const Known& known = known_of(call.name);
      if (known.marks) continue;
      call.waits = known.waits || waits.contains(call.name);
      if (lines.has(i)) {
        call.line = static_cast<StringId>(lines.values[i]);
        call.own = call.line != 0 && is_own(call.line);
      }
      const std::uint64_t ordinal = chunk.place.first_ordinal + block.row(i);
      call.counts = passing == nullptr || passing->passes(chunk.lane, chunk.lane_index, ordinal);
      calls.push_back(call);
    }
  });
}

void HostCalls::close(const TimeRange& range, HostTimes& into, CoveredTime* busy, CoveredTime* waiting) {
  for (std::vector<Call>& calls : threads_) {
    run(calls, range, into, busy, waiting);
    calls.clear();
  }
}

// A call with what is told of the time in which it is the innermost one: the lines are its callers' where it has none.
struct HostCalls::Open {
  const Call* call;
  const Call* with_line;  // null: none of its callers has any
  const Call* with_own_line;
};

void HostCalls::run(std::vector<Call>& calls, const TimeRange& range, HostTimes& into, CoveredTime* busy,
                    CoveredTime* waiting) {
  const auto enter = [&into](const Call& call, const Open* outer) {
    if (call.line != 0 && call.counts) into.lines.try_emplace(call.line);  // also where calls within it take all of it
    Open next{&call, call.line != 0 ? &call : nullptr, call.own ? &call : nullptr};
    if (outer == nullptr) return next;
    if (next.with_line == nullptr) next.with_line = outer->with_line;
    if (next.with_own_line == nullptr) next.with_own_line = outer->with_own_line;
    return next;
  };
  const auto spend = [&](const Open& open, std::int64_t from, std::int64_t to) {
    const Call& call = *open.call;
    const SelfTime time = call.waits ? SelfTime{0, to - from} : SelfTime{to - from, 0};
    if (open.with_line != nullptr && open.with_line->counts) into.lines[open.with_line->line].add(time);
    if (open.with_own_line != nullptr && open.with_own_line->counts) {
      into.own_lines[open.with_own_line->line].add(time);
    }
    if (!call.counts) return;
    into.names[call.name].add(time);
    if (call.group != kNone) into.groups[call.group].add(time);
    into.busy_ns = capped_sum(into.busy_ns, time.busy_ns);
    into.wait_ns = capped_sum(into.wait_ns, time.wait_ns);
    if (CoveredTime* covered = call.waits ? waiting : busy; covered != nullptr) covered->add(from, to);
  };
  walk_nested_calls<Open>(calls, range, enter, spend);
}

Result<HostTimes> host_times(const QueryContext& query, const LaneIndices& lanes, const TimeRange& range,
                             const WorkKinds& kinds) {
  struct Part {
    HostCalls calls;
    HostTimes times;
    auto measures() { return std::tie(times); }
  };
  const QueryContext unmasked = query.unmasked();
  auto all = gather_windows(
      unmasked, lanes, range, Part{HostCalls(*query.snapshot, kinds), {}},
      [&](const ScannedChunk& chunk, const ScanWindow&, Part& part) { part.calls.add(chunk, query.mask.get()); },
      [](const ScanWindow& window, Part& part) { part.calls.close(window.range, part.times); });
  if (!all) return all.error();
  return std::move(all->times);
}

}  // namespace accelscope::analysis
