// The events of a held lane, decoded a block at a time: for what can only be said once every event has its place.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "capture/sources/tracks/held_sink.h"

namespace accelscope::capture::sources::tracks {

struct HeldEvent {
  EventId id = kNoEvent;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  StringId name = 0;
  std::array<std::uint64_t, 2> numbers = {};  // of the columns asked for, two at most, of type int64; 0: none
};

template <typename Visit>
Result<void> for_each_event(const HeldSink::HeldLane& lane, ChunkSpill& spill,
                            std::initializer_list<std::optional<std::size_t>> columns, Visit visit) {
  using Words = std::array<std::uint64_t, kBlockEvents>;
  BlockTimes times;
  Words names;
  std::array<Words, 2> numbers;
  std::uint64_t ordinal = 0;
  for (const std::size_t index : lane.chunks) {
    const Result<Bytes> bytes = spill.copy(index);
    if (!bytes) return bytes.error();
    const Result<ChunkView> chunk = ChunkView::parse(bytes.value());
    if (!chunk) return chunk.error();
    for (std::uint32_t block = 0; block < chunk->block_count(); ++block) {
      chunk->times(block, times);
      chunk->names(block, names.data());
      std::array<std::uint64_t, 2> valid = {};
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::optional<std::size_t> column = columns.begin()[i];
        if (column) valid[i] = chunk->validity(*column, block);
        if (valid[i] != 0) chunk->values(*column, block, numbers[i].data());
      }
      for (std::uint32_t row = 0; row < chunk->block_size(block); ++row) {
        HeldEvent event{make_event_id(lane.lane.number, ordinal + row),
                        times.begins[row],
                        times.ends[row],
                        static_cast<StringId>(names[row]),
                        {}};
        for (std::size_t i = 0; i < columns.size(); ++i) {
          if (valid[i] >> row & 1) event.numbers[i] = numbers[i][row] ^ (std::uint64_t{1} << 63);
        }
        visit(event);
      }
      ordinal += chunk->block_size(block);
    }
  }
  return {};
}

}  // namespace accelscope::capture::sources::tracks
