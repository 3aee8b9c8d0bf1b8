// The events of a held lane, decoded a block at a time: for what can only be said once every event has its place.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "core/chunk/event_sink.h"

namespace accelscope::capture::sources::tracks {

// Stands between the writer and the session while a file is read: chunks wait here, in memory up to a limit and then in
// a temporary file, until it is known what their tracks are called and whether their events came in order. Definitions
// other than tracks and lanes pass through.
class HeldSink final : public ForwardingSink {
 public:
  struct HeldLane {
    Lane lane;
    std::vector<std::size_t> chunks;  // in the spill
    bool dropped = false;
  };

  HeldSink(EventSink& receiver, ChunkSpill& spill) : ForwardingSink(receiver), spill_(spill) {}

  Result<void> define(const Definition& definition) override;
  Result<void> append(SealedChunk chunk) override;

  // By number; those of one track in the order of their depth.
  [[nodiscard]] const std::vector<HeldLane>& lanes() const noexcept { return lanes_; }
  [[nodiscard]] ChunkSpill& spill() noexcept { return spill_; }
  // Its chunks were taken and are written anew elsewhere.
  void drop_lane(LaneNumber lane) { lanes_[lane].dropped = true; }
  // Hands every lane and chunk on. The tracks must be defined by now.
  Result<void> release();

 private:
  ChunkSpill& spill_;
  std::vector<HeldLane> lanes_;
};

struct HeldEvent {
  EventId id = kNoEvent;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  StringId name = 0;
  std::array<std::uint64_t, 2> numbers = {};  // of the columns asked for, two at most, of type int64; 0: none
};

// One event after another.
class HeldEvents {
 public:
  HeldEvents(const HeldSink::HeldLane& lane, ChunkSpill& spill,
             std::initializer_list<std::optional<std::size_t>> columns = {})
      : lane_(lane), spill_(spill), column_count_(columns.size()) {
    std::copy(columns.begin(), columns.end(), columns_.begin());
  }
  HeldEvents(const HeldEvents&) = delete;
  HeldEvents& operator=(const HeldEvents&) = delete;

  // False at the end.
  [[nodiscard]] Result<bool> next() {
    if (++row_ >= size_) {
      const Result<bool> any = decode();
      if (!any || !*any) return any;
    }
    event_.id = make_event_id(lane_.lane.number, ordinal_ + row_);
    event_.begin = times_.begins[row_];
    event_.end = times_.ends[row_];
    event_.name = static_cast<StringId>(names_[row_]);
    for (std::size_t i = 0; i < column_count_; ++i) {
      event_.numbers[i] = (valid_[i] >> row_ & 1) != 0 ? numbers_[i][row_] ^ (std::uint64_t{1} << 63) : 0;
    }
    return true;
  }
  [[nodiscard]] const HeldEvent& event() const noexcept { return event_; }

 private:
  using Words = std::array<std::uint64_t, kBlockEvents>;

  // The next block.
  [[nodiscard]] Result<bool> decode() {
    ordinal_ += size_;
    size_ = 0;
    while (!chunk_ || ++block_ >= chunk_->block_count()) {
      if (next_ == lane_.chunks.size()) return false;
      Bytes bytes = TRY(spill_.copy(lane_.chunks[next_++]));
      bytes_ = std::move(bytes);
      ChunkView chunk = TRY(ChunkView::parse(bytes_));
      chunk_ = std::move(chunk);
      block_ = ~std::uint32_t{0};  // before the first
    }
    chunk_->times(block_, times_);
    chunk_->names(block_, names_.data());
    for (std::size_t i = 0; i < column_count_; ++i) {
      valid_[i] = columns_[i] ? chunk_->validity(*columns_[i], block_) : 0;
      if (valid_[i] != 0) chunk_->values(*columns_[i], block_, numbers_[i].data());
    }
    size_ = chunk_->block_size(block_);
    row_ = 0;
    return true;
  }

  const HeldSink::HeldLane& lane_;
  ChunkSpill& spill_;
  std::array<std::optional<std::size_t>, 2> columns_;
  std::size_t column_count_;
  std::size_t next_ = 0;  // chunk
  Bytes bytes_;
  std::optional<ChunkView> chunk_;
  std::uint32_t block_ = 0;
  std::uint32_t size_ = 0;  // of the block
  std::uint32_t row_ = 0;
  std::uint64_t ordinal_ = 0;  // of its first event
  BlockTimes times_;
  Words names_;
  std::array<Words, 2> numbers_;
  std::array<std::uint64_t, 2> valid_ = {};
  HeldEvent event_;
};

template <typename Visit>
Result<void> for_each_event(const HeldSink::HeldLane& lane, ChunkSpill& spill,
                            std::initializer_list<std::optional<std::size_t>> columns, Visit visit) {
  HeldEvents events(lane, spill, columns);
  for (;;) {
    const bool any = TRY(events.next());
    if (!any) return {};
    visit(events.event());
  }
}

}  // namespace accelscope::capture::sources::tracks
