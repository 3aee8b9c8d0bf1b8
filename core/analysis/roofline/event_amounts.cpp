#include "core/analysis/roofline/event_amounts.h"

#include <algorithm>
#include <limits>

#include "core/analysis/selection/summary_tally.h"
#include "core/analysis/time/work_kind.h"

namespace accelscope::analysis {

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

bool EventAmounts::any(std::uint32_t i) const {
  bool found = flops(i) > 0;
  for (std::size_t path = 0; path < path_count() && !found; ++path) found = bytes(path, i) > 0;
  return found;
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

DeviceLanes::DeviceLanes(const Snapshot& snapshot) : lanes_(snapshot.lanes.size()) {
  constexpr std::uint32_t kNoDevice = std::numeric_limits<std::uint32_t>::max();
  const TrackDevices devices(snapshot);
  const WorkKinds work(snapshot);
  std::vector<std::size_t> whole(devices.count());
  for (std::size_t device = 0; device < devices.count(); ++device) whole[device] = device;
  for (std::size_t device = 0; device < devices.count(); ++device) {
    for (const std::size_t part : devices.parts(device)) whole[part] = device;
  }
  std::vector<std::uint32_t> ours(devices.count(), kNoDevice);
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (!is_device_work(work.of_lane(i))) continue;
    const std::size_t device = whole[devices.of_lane(i)];
    if (ours[device] == kNoDevice) {
      ours[device] = static_cast<std::uint32_t>(names_.size());
      names_.push_back(devices.label(device));
      words_.push_back(nullptr);
    }
    const Vendor* vendor = vendor_of_work(snapshot.lanes[i]);
    lanes_[i] = {DeviceLane::Tells::amounts, ours[device], vendor, nullptr};
    if (vendor != nullptr && vendor->memory != nullptr) words_[ours[device]] = vendor->memory;
  }
  for (std::size_t i = 0; i < snapshot.lanes.size(); ++i) {
    const std::uint32_t device = ours[whole[devices.of_lane(i)]];
    const bool is_layer = devices.track_of_lane(i).track->kind == "layer";
    DeviceLane& lane = lanes_[i];
    if (device == kNoDevice) continue;
    lane.device = device;
    lane.words = words_[device];
    if (is_layer) lane.tells = DeviceLane::Tells::layer;
    const bool is_work = lane.tells == DeviceLane::Tells::amounts;
    // Where instructions count the bytes, transfers would count them a second time.
    if (is_work && lane.words != nullptr && lane.vendor == nullptr) lane.tells = DeviceLane::Tells::transfer;
    if (lane.tells != DeviceLane::Tells::nothing) telling_.push_back(static_cast<std::uint32_t>(i));
  }
}

}  // namespace accelscope::analysis
