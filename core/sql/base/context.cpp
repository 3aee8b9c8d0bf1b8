#include "core/sql/base/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/text.h"

namespace accelscope::sql {

Result<std::shared_ptr<const LoadedChunk>> ChunkCache::load(const Store& store, const LaneSnapshot& lane,
                                                            std::uint32_t chunk) {
  if (auto known = find(lane.number(), chunk)) return known;
  Result<Bytes> bytes = store.read_chunk(lane, chunk);
  if (!bytes) return bytes.error();
  Result<ChunkView> view = ChunkView::parse(*bytes);
  if (!view) return view.error();
  // The view keeps pointers into the bytes, which stay where they are when the vector moves.
  auto loaded = std::make_shared<LoadedChunk>(std::move(*bytes), std::move(*view));
  keep(lane.number(), chunk, loaded);
  return std::shared_ptr<const LoadedChunk>(std::move(loaded));
}

std::shared_ptr<const LoadedChunk> ChunkCache::find(LaneNumber lane, std::uint32_t chunk) {
  const std::scoped_lock lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.lane != lane || entry.chunk != chunk) continue;
    entry.used = ++uses_;
    return entry.loaded;
  }
  return nullptr;
}

void ChunkCache::keep(LaneNumber lane, std::uint32_t chunk, std::shared_ptr<const LoadedChunk> loaded) {
  const std::scoped_lock lock(mutex_);
  if (entries_.size() < kKept) {
    entries_.push_back({lane, chunk, ++uses_, std::move(loaded)});
    return;
  }
  const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                       [](const Entry& a, const Entry& b) { return a.used < b.used; });
  *oldest = {lane, chunk, ++uses_, std::move(loaded)};
}

void result_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void result_pooled_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void result_uint64(sqlite3_context* context, std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    sqlite3_result_int64(context, static_cast<std::int64_t>(value));
  } else {
    result_text(context, fmt::format("{}", value));
  }
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

}  // namespace accelscope::sql
