#include "core/analysis/roofline/event_amounts.h"

#include <algorithm>

#include "core/analysis/selection/summary_tally.h"

namespace accelscope {

EventAmounts::Numbers EventAmounts::numbers(const Schema& schema, std::string_view name) {
  Numbers found{.column = schema.find(name)};
  if (found.column) found.type = schema.columns[*found.column].type;
  return found;
}

EventAmounts::EventAmounts(const ScannedChunk& chunk, const DeviceLane& lane, const StringPool& strings)
    : words_(lane.words) {
  if (!chunk.lane.schema) return;
  const Schema& schema = *chunk.lane.schema;
  if (lane.vendor != nullptr) work_ = lane.vendor->event_work(chunk.lane, strings);
  const SummaryColumns roles(&schema);
  const auto by_role = [&](const std::vector<std::size_t>& columns, std::vector<Numbers>& into) {
    for (const std::size_t column : columns) into.push_back({column, schema.columns[column].type, {}});
  };
  if (!work_) by_role(roles.flops, flops_);
  if (words_ == nullptr) {
    by_role(roles.bytes, paths_);
    return;
  }
  for (const MemoryPathWords& path : words_->paths) paths_.push_back(numbers(schema, path.column));
  const auto engine = schema.find(words_->engine_column);
  if (engine && *engine < chunk.view.column_count() && schema.columns[*engine].type == ColumnType::string)
    engine_column_ = engine;
  matrix_ = strings.find(words_->matrix_engine);
}

void EventAmounts::read(BlockReader& reader) {
  if (work_) work_->read(reader);
  for (std::vector<Numbers>* all : {&paths_, &flops_}) {
    for (Numbers& each : *all) {
      if (each.column) each.values.read(reader, *each.column, each.type);
    }
  }
  if (engine_column_) engines_ = reader.column(*engine_column_, ColumnType::string);
}

double EventAmounts::flops(std::uint32_t i) const {
  if (work_) return work_->at(i);
  double sum = 0;
  for (const Numbers& each : flops_) sum += each.at(i);
  return sum;
}

bool EventAmounts::is_matrix(std::uint32_t i) const {
  return matrix_ != kNone && engines_.has(i) && static_cast<StringId>(engines_.values[i]) == matrix_;
}

bool EventAmounts::sets_off_transfers(std::uint32_t i) const {
  if (words_ == nullptr) return false;
  for (std::size_t path = 0; path < paths_.size(); ++path) {
    if (words_->paths[path].of == MemoryPathWords::Of::transfers && paths_[path].at(i) > 0) return true;
  }
  return false;
}

double EventAmounts::bytes(std::size_t path, std::uint32_t i) const {
  const double bytes = paths_[path].at(i);
  if (bytes == 0 || words_ == nullptr) return bytes;
  switch (words_->paths[path].of) {
    case MemoryPathWords::Of::transfers:
      return bytes;
    case MemoryPathWords::Of::matrix:
      return is_matrix(i) ? bytes : 0;
    case MemoryPathWords::Of::others:
      return is_matrix(i) || sets_off_transfers(i) ? 0 : bytes;
  }
  return 0;
}

}  // namespace accelscope
