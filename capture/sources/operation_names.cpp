#include "capture/sources/operation_names.h"

#include <optional>
#include <string_view>
#include <variant>

#include "capture/sources/tt_ops/columns.h"
#include "core/chunk/chunk_view.h"

namespace accelscope::capture::sources {

void OperationNames::see(const Definition& definition) {
  if (const auto* schema = std::get_if<Schema>(&definition); schema != nullptr && schema->name == "op") {
    for (const std::string_view name : tt_ops::OpColumn::call_count) {
      const auto column = name.empty() ? std::nullopt : schema->find(name);
      if (column && schema->columns[*column].type == ColumnType::int64) {
        call_columns_[schema->number] = *column;
        break;
      }
    }
  }
  if (call_columns_.empty()) return;
  if (const auto* track = std::get_if<Track>(&definition); track != nullptr && call_columns_.contains(track->schema)) {
    const std::size_t chip = track->device.rfind("chip ");  // behind the label of its rank
    tracks_[track->number] = {track->schema, chip == std::string::npos ? "chip 0" : track->device.substr(chip)};
  }
  if (const auto* lane = std::get_if<Lane>(&definition); lane != nullptr && tracks_.contains(lane->track)) {
    lanes_[lane->number] = lane->track;
  }
  if (const auto* batch = std::get_if<StringBatch>(&definition)) {
    StringId id = batch->first_id;
    for (const std::string& text : batch->strings) strings_[id++] = text;
  }
}

void OperationNames::see(const SealedChunk& chunk) {
  const auto lane = lanes_.find(chunk.lane());
  if (lane == lanes_.end()) return;
  const auto& [schema, device] = tracks_.at(lane->second);
  const std::size_t column = call_columns_.at(schema);
  const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  if (!view) return;
  for (std::uint32_t row = 0; row < view->count(); ++row) {
    if (!view->has_value(column, row)) continue;
    const auto name = strings_.find(view->name(row));
    if (name == strings_.end()) continue;
    names_.try_emplace({device, static_cast<std::uint64_t>(view->int64(column, row))}, name->second);
  }
}

std::string OperationNames::find(const std::string& device, std::uint64_t call) const {
  const auto found = names_.find({device, call});
  return found == names_.end() ? std::string() : found->second;
}

}  // namespace accelscope::capture::sources
