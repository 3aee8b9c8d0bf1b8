#include "core/store/store.h"

#include <fmt/format.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#include <algorithm>
#include <cstring>

#include "core/chunk/chunk_view.h"
#include "core/model/track_kinds.h"
#include "core/store/store_state.h"

namespace accelscope {
std::uint64_t default_memory_budget() noexcept {
#ifdef _WIN32
  return 8ULL << 30;
#else
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2 : 8ULL << 30;
#endif
}

Store::Store(std::unique_ptr<Implementation> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::create(StoreOptions options) {
  auto impl = std::make_unique<Implementation>();
  impl->options = std::move(options);
  impl->most_text_bytes = DefinitionLimits::texts_within(impl->options.memory_budget_bytes);
  std::unique_ptr<Database> database = TRY(Database::open("", OpenMode::memory));
  impl->database = std::move(database);
  if (impl->options.memory_budget_bytes > 0) {
    TRY(impl->database->execute(ChunkRows::kGiveBackPages));
  }
  impl->chunk_rows =
      std::make_unique<ChunkRows>(*impl->database, impl->options.memory_budget_bytes, impl->options.spill_directory);
  TRY(Implementation::create_tables(*impl->database));
  TRY(impl->prepare_statements());
  const std::string program = impl->options.written_by;
  auto store = std::unique_ptr<Store>(new Store(std::move(impl)));
  if (!program.empty()) {
    TRY(store->define(0, MetaEntry{std::string(kWrittenByFact), program}));
  }
  return store;
}

std::uint32_t Store::new_scope() {
  const std::lock_guard lock(impl_->index_mutex);
  assert(impl_->scope_count <= kMaxScope);
  return impl_->scope_count++;
}

Store::Implementation::Scope& Store::Implementation::scope_state(std::uint32_t scope) {
  if (scopes.size() <= scope) scopes.resize(scope + 1);
  if (scopes[scope] == nullptr) {
    scopes[scope] = std::make_unique<Scope>();
    scopes[scope]->names = std::make_unique<NameTable>(*strings, scope);
  }
  return *scopes[scope];
}

std::uint64_t Store::Implementation::memory_beside_rows() const { return index_bytes + definition_bytes(); }

void Store::add_quality(QualityEntry entry) {
  // Through define, so that it is kept in the file as well. Scope 0: the entry has no numbers.
  const Result<void> retained = define(0, entry);
  if (!retained) {
    const std::lock_guard lock(impl_->index_mutex);
    impl_->count_quality({"not_kept", 1, retained.message()});
  }
}

Result<void> Store::append(std::uint32_t scope, SealedChunk chunk) {
  Result<ChunkView> view = ChunkView::parse(chunk.bytes);
  if (!view) return view.error();
  if (Result<void> sound = view->verify_checksums(); !sound) return sound;
  const LaneNumber number = scoped_number(scope, view->header().lane);
  if (scope != 0) {
    // The lane number of a source becomes the session's; nothing else of a chunk ever changes.
    ChunkHeader header = view->header();
    header.lane = number;
    header.header_checksum = checksum_of_header(header);
    std::memcpy(chunk.bytes.data(), &header, sizeof header);
    view = ChunkView::parse(chunk.bytes);
    if (!view) return view.error();
  }

  return impl_->ingest(number, chunk.bytes, *view);
}

Result<void> Store::Implementation::ingest(LaneNumber number, ByteView bytes, const ChunkView& view) {
  const ChunkHeader& header = view.header();
  std::size_t index = 0;
  std::shared_ptr<LaneData> lane;
  std::shared_ptr<const Schema> schema;
  Scope* names_of_scope = nullptr;
  std::uint64_t expected = 0;
  std::uint64_t beside_rows = 0;
  // What is told of a chunk that is not taken.
  const auto looked_up = [&]() -> Result<std::optional<QualityEntry>> {
    const std::lock_guard lock(index_mutex);
    if (std::optional<QualityEntry> why = why_left_out(number, header)) return why;
    const auto found = lane_by_number.find(number);
    if (found == lane_by_number.end()) {
      return Error{fmt::format("chunk of lane {}, which was never announced", local_of(number))};
    }
    index = found->second;
    lane = lane_data[index];
    schema = lanes[index].schema;
    beside_rows = memory_beside_rows();
    names_of_scope = &scope_state(scope_of(number));
    if (lane->chunks.empty()) return std::optional<QualityEntry>();
    const ChunkPlace& last = lane->chunks[lane->chunks.size() - 1];
    expected = last.first_ordinal + last.count;
    if (header.first_ordinal < expected) {
      duplicates += header.count;
      return std::optional(
          QualityEntry("duplicate_events", header.count, "chunks that came a second time were dropped"));
    }
    if (header.begin_ticks < last.end_ticks) {
      return Error{
          fmt::format("chunk of lane {} begins before the one before it ends; its source is broken", local_of(number))};
    }
    return std::optional<QualityEntry>();
  }();
  if (!looked_up) return looked_up.error();
  if (*looked_up) return take(**looked_up, 0);

  std::int64_t row = 0;
  std::string spill_failure;
  {
    const auto lock = lock_database();
    const Result<std::int64_t> inserted = chunk_rows->insert(header, bytes, beside_rows);
    if (!inserted) return Error{fmt::format("the store cannot take a chunk: {}", inserted.message())};
    row = *inserted;
    spill_failure = chunk_rows->take_failure();
  }
  if (Result<void> indexed = names_of_scope->indexer.add(*lane, *schema, view, row, *names_of_scope->names); !indexed) {
    const auto lock = lock_database();
    if (Result<void> removed = chunk_rows->remove(row); !removed) return removed;
    return Error{fmt::format("lane {}, {}", local_of(number), indexed.message())};
  }

  const std::uint64_t missing = header.first_ordinal - expected;
  {
    const std::lock_guard lock(index_mutex);
    lost += missing;
    chunk_bytes += bytes.size();
    publish(index, view);
  }
  if (missing > 0) {
    Result<void> reported =
        take(QualityEntry("lost_events", missing, "events that were numbered but never arrived"), 0);
    if (!reported) return reported;
  }
  if (spill_failure.empty()) return {};
  return take(QualityEntry("spill_failed", 1,
                           fmt::format("the memory budget is used up, but no file could take over ({}); the capture "
                                       "goes on in memory and tries again",
                                       spill_failure)),
              0);
}

void Store::Implementation::refresh_lane(std::size_t lane_index) {
  LaneSnapshot& lane = lanes[lane_index];
  const LaneData& data = *lane_data[lane_index];
  lane.chunk_count = static_cast<std::uint32_t>(data.chunks.size());
  lane.tree = data.kind == EventKind::counter ? data.counters.counts() : data.slices.counts();
  lane.totals = data.totals.counts();
  index_bytes -= lane.index_bytes;
  lane.index_bytes = data.chunks.memory_bytes() + data.slices.memory_bytes() + data.counters.memory_bytes() +
                     data.totals.memory_bytes();
  index_bytes += lane.index_bytes;
  if (data.chunks.empty()) return;
  lane.begin_ticks = data.chunks[0].begin_ticks;
  lane.end_ticks = data.chunks[data.chunks.size() - 1].end_ticks;
}

void Store::Implementation::publish(std::size_t lane_index, const ChunkView& chunk) {
  refresh_lane(lane_index);
  lanes[lane_index].event_count += chunk.count();
  event_count += chunk.count();
  ++chunk_count;
  ++version;
}

RetainedAnswers& Store::retained() const noexcept { return impl_->answers; }

std::uint64_t Store::version() const noexcept { return impl_->version.load(); }

std::shared_ptr<const Snapshot> Store::snapshot() const {
  const std::lock_guard lock(impl_->index_mutex);
  return impl_->current_snapshot();
}

std::shared_ptr<const Snapshot> Store::Implementation::current_snapshot() {
  if (cached == nullptr || cached->version != version.load()) cached = build_snapshot();
  return cached;
}

std::shared_ptr<const Snapshot> Store::Implementation::build_snapshot() {
  follow_clocks();
  if (places == nullptr || places->lanes.size() != lanes.size() || places->tracks.size() != tracks.size()) {
    auto made = std::make_shared<NumberPlaces>();
    for (std::uint32_t i = 0; i < lanes.size(); ++i) made->lanes[lanes[i].number()] = i;
    for (std::uint32_t i = 0; i < tracks.size(); ++i) made->tracks[tracks[i]->number] = i;
    places = std::move(made);
  }
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->version = version.load();
  snapshot->lanes = lanes;
  snapshot->schemas = schemas;
  snapshot->clocks = clocks;
  snapshot->sources = sources;
  snapshot->meta = meta;
  snapshot->quality = quality;
  snapshot->metrics = metrics;
  snapshot->strings = strings;
  snapshot->event_count = event_count;
  snapshot->places = places;
  for (const auto& track : tracks) {
    TrackSnapshot& entry = snapshot->tracks.emplace_back();
    entry.track = track;
    if (track->schema != kNone) entry.schema = schemas[book.schemas.at(track->schema).index];
  }
  bool any = false;
  for (std::uint32_t i = 0; i < lanes.size(); ++i) {
    const LaneSnapshot& lane = lanes[i];
    TrackSnapshot& track = snapshot->tracks[places->tracks.at(lane.track)];
    track.lanes.push_back(i);
    const EventKind kind = lane.data->kind;
    if (track.track->kind == kDoubtfulTrack || lane.event_count == 0 || kind == EventKind::table ||
        kind == EventKind::flow)
      continue;
    const std::int64_t begin = lane.clock->to_ns(lane.begin_ticks);
    const std::int64_t end = lane.clock->to_ns(lane.end_ticks);
    snapshot->begin_ns = any ? std::min(snapshot->begin_ns, begin) : begin;
    snapshot->end_ns = any ? std::max(snapshot->end_ns, end) : end;
    any = true;
  }
  for (TrackSnapshot& track : snapshot->tracks) {
    std::sort(track.lanes.begin(), track.lanes.end(),
              [&](std::uint32_t a, std::uint32_t b) { return lanes[a].data->lane.depth < lanes[b].data->lane.depth; });
  }
  return snapshot;
}

Result<Bytes> Store::Implementation::read_row(std::int64_t row) const {
  ChunkRows::FilePlace place;
  {
    const auto lock = lock_database();
    place = chunk_rows->place_in_file(row);
    if (place.size == 0) return chunk_rows->read_from_database(row);
  }
  return chunk_rows->read(place);
}

Result<Bytes> Store::read_chunk(const LaneSnapshot& lane, std::uint32_t chunk_index) const {
  const ChunkPlace& place = lane.chunk(chunk_index);
  Result<Bytes> bytes = impl_->read_row(place.row);
  if (!bytes) return bytes;
  // What the index promises must hold, or block numbers taken from it would point outside the chunk.
  const std::optional<ChunkHeader> header = read_chunk_header(*bytes);
  if (!header || header->lane != lane.number() || header->count != place.count ||
      header->first_ordinal != place.first_ordinal || header->begin_ticks != place.begin_ticks ||
      header->end_ticks != place.end_ticks || header->columns != lane.schema->columns.size() + 3 ||
      !impl_->is_checked(lane, chunk_index, *bytes)) {
    return Error{fmt::format("chunk {} of lane {} is not the one its index describes; the file is damaged", chunk_index,
                             lane.number())};
  }
  return bytes;
}

const std::string& Store::opened_from() const noexcept { return impl_->opened_from; }
bool Store::is_read_only() const noexcept { return impl_->read_only; }
void Store::on_database_use(std::function<void()> reported) { impl_->reported_use = std::move(reported); }

StoreStatus Store::status() const {
  StoreStatus status;
  {
    const auto lock = impl_->lock_database();
    status.read_only = impl_->read_only;
    status.file_bytes = impl_->chunk_rows->file_bytes();
    status.in_memory = impl_->in_memory && status.file_bytes == 0;
    status.path = impl_->in_memory ? impl_->chunk_rows->folder() : impl_->path;
    if (impl_->in_memory) status.memory_bytes = impl_->chunk_rows->memory_bytes();
  }
  const std::lock_guard lock(impl_->index_mutex);
  status.memory_bytes += impl_->memory_beside_rows();
  status.chunk_bytes = impl_->chunk_bytes;
  status.chunks = impl_->chunk_count;
  status.duplicates = impl_->duplicates;
  status.lost = impl_->lost;
  return status;
}

}  // namespace accelscope
