#include "core/analysis/source/event_costs.h"

#include <algorithm>

#include "core/base/capped.h"
#include "core/scan/chunk_scan.h"

namespace accelscope::analysis {

EventCosts::EventCosts(const Schema& schema, const Snapshot& snapshot, const TimeRange& range)
    : schema_(schema),
      range_(range),
      first_ns_(std::max(range.begin_ns, snapshot.begin_ns)),
      waits_(&schema, *snapshot.strings) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (is_text(schema.columns[i].type)) continue;
    if (schema.columns[i].role == Role::wait_ns) waited_.columns.push_back(i);
    if (schema.columns[i].role == Role::bytes) moved_.columns.push_back(i);
  }
  waited_.numbers.resize(waited_.columns.size());
  moved_.numbers.resize(moved_.columns.size());
}

void EventCosts::Amounts::read(const Schema& schema, const ScannedBlock& block) {
  for (std::size_t k = 0; k < columns.size(); ++k)
    numbers[k].read(block.reader, columns[k], schema.columns[columns[k]].type);
}

std::uint64_t EventCosts::Amounts::sum(std::uint32_t i) const noexcept {
  std::uint64_t sum = 0;
  for (const NumberBlock& column : numbers) {
    sum = capped_sum(sum, static_cast<std::uint64_t>(std::max<std::int64_t>(column[i], 0)));
  }
  return sum;
}

void EventCosts::read(const ScannedBlock& block) {
  waited_.read(schema_, block);
  moved_.read(schema_, block);
}

EventCost EventCosts::of(const ScannedChunk& chunk, const ScannedBlock& block, std::uint32_t i) const {
  const std::int64_t begin_ns = block.begin_ns(i), end_ns = block.end_ns(i);
  const std::int64_t inside_ns =
      std::max<std::int64_t>(0, std::min(end_ns, range_.end_ns) - std::max(begin_ns, range_.begin_ns));
  EventCost cost;
  if (waits_.contains(block.name(i))) {
    cost.wait_ns = inside_ns;
  } else {
    cost.busy_ns = inside_ns;
    if (const std::uint64_t before_ns = waited_.sum(i); before_ns > 0) {
      const auto most_ns = static_cast<std::uint64_t>(longest_wait_ns(chunk, block, i, first_ns_));
      cost.wait_ns = static_cast<std::int64_t>(std::min(before_ns, most_ns));
    }
  }
  cost.bytes = part_of_amount(moved_.sum(i), share_inside(range_, begin_ns, end_ns));
  return cost;
}

}  // namespace accelscope::analysis
