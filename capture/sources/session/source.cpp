// Replays a session file as if it were captured now: its definitions, then its chunks in order of time, byte for
// byte. Takes sessions of one source; one that joins several is refused, since their strings have separate scopes.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "capture/sources/base/importers.h"
#include "capture/sources/sqlite/foreign_database.h"
#include "core/store/store.h"

namespace accelscope::capture::sources::session {
namespace {

constexpr StringId kStringsPerBatch = 4096;

struct ChunkInTime {
  std::int64_t begin_ns = 0;
  const LaneSnapshot* lane = nullptr;
  std::uint32_t chunk = 0;
};

std::vector<ChunkInTime> chunks_by_time(const Snapshot& snapshot) {
  std::vector<ChunkInTime> chunks;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    for (std::uint32_t i = 0; i < lane.chunk_count; ++i) {
      chunks.push_back({lane.clock->to_ns(lane.chunk(i).begin_ticks), &lane, i});
    }
  }
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const ChunkInTime& a, const ChunkInTime& b) { return a.begin_ns < b.begin_ns; });
  return chunks;
}

bool has_one_scope(const Snapshot& snapshot) {
  return std::all_of(snapshot.lanes.begin(), snapshot.lanes.end(),
                     [](const LaneSnapshot& lane) { return scope_of(lane.number()) == 0; });
}

Result<void> define_strings(const Snapshot& snapshot, EventSink& sink) {
  const std::vector<StringId> ids = snapshot.strings->scope_map(0);
  StringBatch batch;
  for (StringId local = 1; local < ids.size(); ++local) {
    batch.strings.emplace_back(snapshot.strings->text(ids[local]));
    if (batch.strings.size() < kStringsPerBatch && local + 1 < ids.size()) continue;
    const StringId next = local + 1;
    if (Result<void> done = sink.define(batch); !done) return done;
    batch = StringBatch{next, {}};
  }
  return {};
}

template <typename Records>
Result<void> define_all(const Records& records, EventSink& sink) {
  for (const auto& record : records) {
    if (Result<void> done = sink.define(record); !done) return done;
  }
  return {};
}

template <typename Pointers>
Result<void> define_pointees(const Pointers& pointers, EventSink& sink) {
  for (const auto& pointer : pointers) {
    if (Result<void> done = sink.define(*pointer); !done) return done;
  }
  return {};
}

Result<void> define_session(const Snapshot& snapshot, EventSink& sink) {
  if (Result<void> done = define_pointees(snapshot.schemas, sink); !done) return done;
  if (Result<void> done = define_pointees(snapshot.clocks, sink); !done) return done;
  for (const TrackSnapshot& track : snapshot.tracks) {
    if (Result<void> done = sink.define(*track.track); !done) return done;
  }
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (Result<void> done = sink.define(lane.data->lane); !done) return done;
  }
  if (Result<void> done = define_strings(snapshot, sink); !done) return done;
  if (Result<void> done = define_pointees(snapshot.sources, sink); !done) return done;
  if (Result<void> done = define_all(snapshot.meta, sink); !done) return done;
  if (Result<void> done = define_all(snapshot.quality, sink); !done) return done;
  return define_all(snapshot.metrics, sink);
}

}  // namespace

int probe_session(std::string_view head, const std::string& /*path*/) {
  // Behind the magic of every database stands the mark of the program that it belongs to: whatever words its pages
  // hold, it is of nobody else.
  constexpr int kSure = 100;
  constexpr std::size_t kMark = 68;
  return sqlite::is_database(head) && head.size() > kMark && head.substr(kMark).starts_with("ACSC") ? kSure : 0;
}

Result<void> replay_session(const std::string& path, const ImportOptions& options, EventSink& sink) {
  std::unique_ptr<Store> store = TRY(Store::open(path));
  const std::shared_ptr<const Snapshot> snapshot = store->snapshot();
  if (!has_one_scope(*snapshot)) {
    return Error{fmt::format("{}: this session joins several sources; replay the sessions it was made of", path)};
  }
  if (Result<void> done = define_session(*snapshot, sink); !done) return done;
  const std::vector<ChunkInTime> chunks = chunks_by_time(*snapshot);
  std::uint64_t done_chunks = 0;
  for (const ChunkInTime& place : chunks) {
    if (sink.cancelled()) return {};
    Bytes bytes = TRY(store->read_chunk(*place.lane, place.chunk));
    if (Result<void> done = sink.append({std::move(bytes)}); !done) return done;
    if (options.progress) options.progress(++done_chunks, chunks.size());
  }
  return {};
}

}  // namespace accelscope::capture::sources::session
