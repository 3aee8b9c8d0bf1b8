#include "capture/sources/name_watch.h"

#include <algorithm>
#include <array>
#include <variant>

#include "core/chunk/chunk_view.h"

namespace accelscope::capture::sources {
namespace {

[[nodiscard]] bool has_named_event(const ChunkView& chunk) {
  std::array<std::uint64_t, kBlockEvents> names{};
  for (std::uint32_t block = 0; block < chunk.block_count(); ++block) {
    chunk.names(block, names.data());
    const auto end = names.begin() + chunk.block_size(block);
    if (std::any_of(names.begin(), end, [](std::uint64_t name) { return name != 0; })) return true;
  }
  return false;
}

}  // namespace

void NameWatch::see(const Definition& definition) {
  if (found_) return;
  if (const auto* schema = std::get_if<Schema>(&definition)) kinds_[schema->number] = schema->kind;
  if (const auto* track = std::get_if<Track>(&definition); track != nullptr && kinds_.contains(track->schema)) {
    tracks_[track->number] = kinds_[track->schema];
  }
  if (const auto* lane = std::get_if<Lane>(&definition); lane != nullptr && tracks_.contains(lane->track)) {
    lanes_[lane->number] = tracks_[lane->track];
  }
  found_ = std::holds_alternative<Metric>(definition);
}

void NameWatch::see(const SealedChunk& chunk) {
  if (found_) return;
  const auto kind = lanes_.find(chunk.lane());
  const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  found_ = (kind != lanes_.end() && kind->second == EventKind::counter) || (view && has_named_event(*view));
  if (!found_) nameless_ += chunk.count();
}

}  // namespace accelscope::capture::sources
