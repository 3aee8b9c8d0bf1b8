#include "capture/sources/base/event_sorter.h"

#include <algorithm>
#include <array>

namespace accelscope::capture::sources {
namespace {

constexpr unsigned kTextLengthBits = 26;  // a text lies at offset << 26 | length of its batch

struct SortKey {
  std::uint64_t track;
  std::int64_t start;
  std::int64_t duration;
  std::size_t index;

  bool operator<(const SortKey& other) const noexcept {
    if (track != other.track) return track < other.track;
    if (start != other.start) return start < other.start;
    if (duration != other.duration) return duration > other.duration;  // what encloses comes first
    return index < other.index;
  }
};

}  // namespace

Result<std::size_t> ChunkSpill::add(Bytes chunk) {
  const std::scoped_lock lock(mutex_);
  Place place;
  place.size = chunk.size();
  chunk.shrink_to_fit();
  place.bytes = std::move(chunk);
  if (memory_bytes_ + place.size > memory_limit_) {
    TRY(write(place));
    place.bytes = {};
  } else {
    memory_bytes_ += place.size;
  }
  places_.push_back(std::move(place));
  return places_.size() - 1;
}

Result<void> ChunkSpill::write(Place& place) {
  const std::uint64_t begin = TRY(file_.append(place.bytes));
  place.offset = begin;
  return {};
}

Result<Bytes> ChunkSpill::take(std::size_t index) {
  const std::scoped_lock lock(mutex_);
  Place& place = places_[index];
  if (place.bytes.empty()) return read(place);
  memory_bytes_ -= place.size;
  return std::move(place.bytes);
}

Result<Bytes> ChunkSpill::copy(std::size_t index) {
  const std::scoped_lock lock(mutex_);
  const Place& place = places_[index];
  if (place.bytes.empty()) return read(place);
  return Bytes(place.bytes);
}

Result<Bytes> ChunkSpill::read(const Place& place) {
  Bytes bytes(place.size);
  TRY(file_.read(place.offset, bytes));
  return bytes;
}

// A run during the merge: one chunk loaded, one block of it decoded.
struct SortRun {
  struct Block {
    std::array<std::uint64_t, kBlockEvents> values;
    std::uint64_t valid;
  };

  const std::vector<std::size_t>* chunks = nullptr;
  std::size_t next_chunk = 0;
  Bytes bytes;
  ChunkView view;
  std::uint32_t row = 0;  // of the chunk
  std::size_t columns = 0;
  std::vector<Block> blocks;  // per column of the run's schema
  std::array<std::uint64_t, kBlockEvents> names{};
  SortKey key{};

  [[nodiscard]] std::uint32_t place() const noexcept { return row % kBlockEvents; }

  void decode_block() {
    const std::uint32_t block = row / kBlockEvents;
    view.names(block, names.data());
    for (std::size_t column = 0; column < columns; ++column) {
      Block& out = blocks[column];
      if ((view.entry(column).flags & kAbsent) != 0) {
        out.valid = 0;
        continue;
      }
      view.values(column, block, out.values.data());
      out.valid = view.validity(column, block);
    }
  }

  void read_key(std::size_t index) noexcept {
    const auto signed_value = [&](std::size_t column) {
      return static_cast<std::int64_t>(blocks[column].values[place()] ^ (std::uint64_t{1} << 63));
    };
    key = {blocks[columns - 3].values[place()], signed_value(columns - 2), signed_value(columns - 1), index};
  }

  [[nodiscard]] Result<bool> load_chunk(ChunkSpill& spill) {
    if (next_chunk == chunks->size()) return false;
    Bytes loaded = TRY(spill.take((*chunks)[next_chunk++]));
    bytes = std::move(loaded);
    ChunkView parsed = TRY(ChunkView::parse(bytes));
    view = std::move(parsed);
    row = 0;
    decode_block();
    return true;
  }

  // False at the end of the run.
  [[nodiscard]] Result<bool> advance(ChunkSpill& spill) {
    if (++row == view.count()) return load_chunk(spill);
    if (place() == 0) decode_block();
    return true;
  }
};

bool SortedEvent::has(std::size_t column) const noexcept {
  return (run->blocks[column].valid >> run->place() & 1) != 0;
}
std::uint64_t SortedEvent::uint64(std::size_t column) const noexcept {
  return run->blocks[column].values[run->place()];
}
std::int64_t SortedEvent::int64(std::size_t column) const noexcept {
  return static_cast<std::int64_t>(uint64(column) ^ (std::uint64_t{1} << 63));
}
double SortedEvent::float64(std::size_t column) const noexcept { return run->view.to_float64(column, uint64(column)); }
std::string_view SortedEvent::text(std::size_t column) const noexcept { return run->view.text(column, run->row); }

EventSorter::EventSorter(Schema schema, ChunkSpill& spill, Options options)
    : schema_(std::move(schema)),
      spill_(spill),
      options_(options),
      columns_at_(kValid + (schema_.columns.size() + 63) / 64),
      stride_(columns_at_ + schema_.columns.size()),
      row_(stride_) {
  run_schema_.columns = schema_.columns;
  for (Column& column : run_schema_.columns) column.required = false;
  Column own{.required = true};
  own.type = ColumnType::uint64;
  run_schema_.columns.push_back(own);  // track
  own.type = ColumnType::int64;
  run_schema_.columns.push_back(own);  // start
  run_schema_.columns.push_back(own);  // duration
}

EventSorter::~EventSorter() {
  if (pending_.valid()) pending_.wait();
}

void EventSorter::begin() noexcept {
  std::fill_n(row_.begin() + kValid, columns_at_ - kValid, 0);
  batch_.text.resize(committed_text_);
}

void EventSorter::text(std::size_t column, std::string_view value) {
  value = value.substr(0, (std::size_t{1} << kTextLengthBits) - 1);
  set(column, (std::uint64_t{batch_.text.size()} << kTextLengthBits) | value.size());
  batch_.text += value;
}

void EventSorter::commit(std::uint32_t track, std::int64_t start, std::int64_t duration, StringId name) {
  row_[kTrack] = track;
  row_[kStart] = static_cast<std::uint64_t>(start);
  row_[kDuration] = static_cast<std::uint64_t>(duration);
  row_[kName] = name;
  batch_.words.insert(batch_.words.end(), row_.begin(), row_.end());
  committed_text_ = batch_.text.size();
  ++event_count_;
  if (batch_.words.size() * sizeof(std::uint64_t) + batch_.text.size() >= options_.batch_bytes) start_packing();
}

void EventSorter::start_packing() {
  if (const Result<void> done = wait_for_packing(); !done || batch_.words.empty()) return;
  std::swap(batch_, packing_);
  batch_.words.clear();
  batch_.words.reserve(packing_.words.size());
  batch_.text.clear();
  committed_text_ = 0;
  pending_ = std::async(std::launch::async, [this] { return pack(packing_); });
}

Result<void> EventSorter::wait_for_packing() {
  if (pending_.valid()) {
    PackedRun run = pending_.get();
    if (run.status.ok()) {
      runs_.push_back(std::move(run));
    } else if (!failed_) {
      failed_ = true;
      failure_ = run.status.error();
    }
  }
  if (failed_) return failure_;
  return {};
}

EventSorter::PackedRun EventSorter::pack(const Batch& batch) const {
  const std::size_t count = batch.words.size() / stride_;
  std::vector<SortKey> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t* row = batch.words.data() + i * stride_;
    keys[i] = {row[kTrack], static_cast<std::int64_t>(row[kStart]), static_cast<std::int64_t>(row[kDuration]), i};
  }
  if (!std::is_sorted(keys.begin(), keys.end())) std::sort(keys.begin(), keys.end());

  const std::size_t columns = schema_.columns.size();
  PackedRun run;
  ChunkBuilder builder(run_schema_, 0);
  const auto seal = [&] {
    const Result<std::size_t> index = spill_.add(builder.seal().bytes);
    if (index) {
      run.chunks.push_back(index.value());
    } else {
      run.status = index.error();
    }
    return index.ok();
  };
  for (const SortKey& key : keys) {
    const std::uint64_t* row = batch.words.data() + key.index * stride_;
    if (builder.full() && !seal()) return run;
    const std::uint32_t at = builder.append(0, 0, static_cast<StringId>(row[kName]));
    for (std::size_t column = 0; column < columns; ++column) {
      if ((row[kValid + column / 64] >> (column % 64) & 1) == 0) continue;
      const std::uint64_t stored = row[columns_at_ + column];
      if (schema_.columns[column].type == ColumnType::text) {
        const std::string_view text(batch.text);
        builder.set_text(column, at, text.substr(stored >> kTextLengthBits, stored & ((1U << kTextLengthBits) - 1)));
      } else {
        builder.set_uint64(column, at, stored);
      }
    }
    builder.set_uint64(columns, at, key.track);
    builder.set_int64(columns + 1, at, key.start);
    builder.set_int64(columns + 2, at, key.duration);
  }
  if (!builder.empty()) (void)seal();
  return run;
}

Result<void> EventSorter::flush() {
  start_packing();
  const Result<void> done = wait_for_packing();
  batch_ = {};
  packing_ = {};
  return done;
}

namespace {

// Of a heap whose first run has the least key: the least of the others; null: there are none.
[[nodiscard]] const SortKey* next_key(const std::vector<SortRun*>& heap) noexcept {
  if (heap.size() < 2) return nullptr;
  if (heap.size() == 2) return &heap[1]->key;
  return heap[2]->key < heap[1]->key ? &heap[2]->key : &heap[1]->key;
}

// The first run, whose key was changed, goes to where it belongs.
void sift_down(std::vector<SortRun*>& heap) noexcept {
  if (heap.empty()) return;
  SortRun* const run = heap.front();
  std::size_t place = 0;
  for (std::size_t below = 1; below < heap.size(); below = 2 * place + 1) {
    if (below + 1 < heap.size() && heap[below + 1]->key < heap[below]->key) ++below;
    if (!(heap[below]->key < run->key)) break;
    heap[place] = heap[below];
    place = below;
  }
  heap[place] = run;
}

}  // namespace

Result<void> EventSorter::merge(const std::function<bool(const SortedEvent&)>& visit) {
  if (const Result<void> done = flush(); !done) return done;
  std::vector<std::unique_ptr<SortRun>> runs;
  std::vector<SortRun*> heap;
  const auto later = [](const SortRun* a, const SortRun* b) { return b->key < a->key; };
  for (const PackedRun& packed : runs_) {
    auto run = std::make_unique<SortRun>();
    run->chunks = &packed.chunks;
    run->columns = run_schema_.columns.size();
    run->blocks.resize(run->columns);
    const bool loaded = TRY(run->load_chunk(spill_));
    if (!loaded) continue;
    run->read_key(runs.size());
    heap.push_back(run.get());
    runs.push_back(std::move(run));
  }
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    SortRun& run = *heap.front();
    const SortKey* const next = next_key(heap);
    bool more = true;
    do {
      SortedEvent event;
      event.track = static_cast<std::uint32_t>(run.key.track);
      event.start = run.key.start;
      event.duration = run.key.duration;
      event.name = static_cast<StringId>(run.names[run.place()]);
      event.run = &run;
      if (!visit(event)) return {};
      const bool advanced = TRY(run.advance(spill_));
      more = advanced;
      if (more) run.read_key(run.key.index);
    } while (more && (next == nullptr || run.key < *next));
    if (!more) {
      heap.front() = heap.back();
      heap.pop_back();
    }
    sift_down(heap);
  }
  return {};
}

}  // namespace accelscope::capture::sources
