// Sorts any number of events of one schema by track and start, with bounded memory: batches are sorted and packed
// into runs of chunks (on another thread while the next batch fills), and merge() goes through all runs at once. For
// files whose rows lie in no order. Events of equal track, start and duration keep the order in which they came.
//
//   ChunkSpill spill(256U << 20);
//   EventSorter sorter(schema, spill, {});
//   sorter.begin(); sorter.integer(0, 33); sorter.commit(track, start, duration, name);
//   sorter.merge([&](const SortedEvent& event) { ... });
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/source_finder.h"
#include "core/chunk/chunk_builder.h"
#include "core/chunk/chunk_view.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources {

// Keeps sealed chunks: in memory up to a limit, then in a temporary file that goes away with the object.
class ChunkSpill {
 public:
  explicit ChunkSpill(std::size_t memory_limit) : memory_limit_(memory_limit) {}

  [[nodiscard]] Result<std::size_t> add(Bytes chunk);   // its index
  [[nodiscard]] Result<Bytes> take(std::size_t index);  // once
  [[nodiscard]] Result<Bytes> copy(std::size_t index);  // before it is taken
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_.size(); }

 private:
  struct Place {
    Bytes bytes;
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };
  [[nodiscard]] Result<void> write(Place& place);
  [[nodiscard]] Result<Bytes> read(const Place& place);

  std::mutex mutex_;
  std::size_t memory_limit_;
  std::size_t memory_bytes_ = 0;
  std::vector<Place> places_;
  TemporaryFile file_;
};

// One event during merge(). Valid during the call.
class SortedEvent {
 public:
  std::uint32_t track = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  StringId name = 0;

  [[nodiscard]] bool has(std::size_t column) const noexcept;
  [[nodiscard]] std::uint64_t uint64(std::size_t column) const noexcept;
  [[nodiscard]] std::int64_t int64(std::size_t column) const noexcept;
  [[nodiscard]] double float64(std::size_t column) const noexcept;
  [[nodiscard]] std::string_view text(std::size_t column) const noexcept;

 private:
  friend class EventSorter;
  const struct SortRun* run = nullptr;
};

class EventSorter {
 public:
  struct Options {
    std::size_t batch_bytes = 24U << 20;  // of unpacked rows; two batches exist at a time
  };

  EventSorter(Schema schema, ChunkSpill& spill, Options options);
  ~EventSorter();
  EventSorter(const EventSorter&) = delete;
  EventSorter& operator=(const EventSorter&) = delete;

  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  [[nodiscard]] std::uint64_t event_count() const noexcept { return event_count_; }

  void begin() noexcept;  // a fresh event; one that was not committed is forgotten
  // Named as those of a Row.
  void integer(std::size_t column, std::int64_t value) noexcept {
    set(column, static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63));
  }
  void unsigned_integer(std::size_t column, std::uint64_t value) noexcept { set(column, value); }
  void real(std::size_t column, double value) noexcept { set(column, std::bit_cast<std::uint64_t>(value)); }
  void string(std::size_t column, StringId value) noexcept { set(column, value); }
  void text(std::size_t column, std::string_view value);
  [[nodiscard]] bool is_set(std::size_t column) const noexcept {
    return (row_[kValid + column / 64] >> (column % 64) & 1) != 0;
  }
  void commit(std::uint32_t track, std::int64_t start, std::int64_t duration, StringId name);

  // Packs what is waiting and gives the batch's memory back; more events may follow.
  Result<void> flush();
  // Hands out every event and ends the sorter. The visitor returns false to stop.
  Result<void> merge(const std::function<bool(const SortedEvent&)>& visit);

 private:
  // A row of words: track, start, duration, name, validity, then the columns.
  static constexpr std::size_t kTrack = 0, kStart = 1, kDuration = 2, kName = 3, kValid = 4;
  struct Batch {
    std::vector<std::uint64_t> words;
    std::string text;
  };

  struct PackedRun {
    std::vector<std::size_t> chunks;  // indices in the spill
    Result<void> status;
  };

  void set(std::size_t column, std::uint64_t stored) noexcept {
    row_[kValid + column / 64] |= std::uint64_t{1} << (column % 64);
    row_[columns_at_ + column] = stored;
  }
  void start_packing();
  [[nodiscard]] Result<void> wait_for_packing();
  [[nodiscard]] PackedRun pack(const Batch& batch) const;

  Schema schema_;
  Schema run_schema_;  // the same and track, start, duration
  ChunkSpill& spill_;
  Options options_;
  std::size_t columns_at_;
  std::size_t stride_;
  std::vector<std::uint64_t> row_;
  std::size_t committed_text_ = 0;  // of the batch, without that of the event at hand
  Batch batch_;
  Batch packing_;
  std::future<PackedRun> pending_;
  std::vector<PackedRun> runs_;
  Error failure_;
  bool failed_ = false;
  std::uint64_t event_count_ = 0;
};

// Every value of the event to a row, or to another sorter, of the same schema.
template <typename Target>
void copy_values(const SortedEvent& event, const Schema& schema, Target& target) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (!event.has(i)) continue;
    switch (schema.columns[i].type) {
      case ColumnType::float64:
        target.real(i, event.float64(i));
        break;
      case ColumnType::text:
        target.text(i, event.text(i));
        break;
      default:
        target.unsigned_integer(i, event.uint64(i));  // as it is stored
    }
  }
}

}  // namespace accelscope::capture::sources
