// Makes long chunks of the short ones of a lane: a capture seals what came in 100 ms, and headers, tables of columns
// and single values take most of such a chunk. Events, ordinals and values stay as they are; what is long already is
// handed on as it is.
//
//   ChunkMerger merger(schema, lane, take);       // take(bytes): the next chunk of the lane
//   merger.add(bytes);                            // the lane's chunks, in order
//   merger.finish();
#pragma once

#include <functional>
#include <vector>

#include "core/chunk/chunk_builder.h"
#include "core/chunk/chunk_view.h"

namespace accelscope {

class ChunkMerger {
 public:
  using Take = std::function<Result<void>(ByteView chunk)>;
  ChunkMerger(const Schema& schema, LaneNumber lane, Take take);

  // Fails with what take() says, and on a chunk that is damaged or has other columns than the schema.
  Result<void> add(ByteView chunk);
  Result<void> finish();

  // Whether a chunk of so many events is handed on as it is.
  [[nodiscard]] static bool is_long(const Schema& schema, std::uint32_t count);
  // How many chunks would come of those with these counts, at least.
  class Forecast {
   public:
    explicit Forecast(const Schema& schema) : schema_(schema) {}
    void add(std::uint32_t count);
    [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_ + (open_ > 0 ? 1 : 0); }

   private:
    const Schema& schema_;
    std::uint64_t chunks_ = 0;
    std::uint64_t open_ = 0;
  };

 private:
  Result<void> append(const ChunkView& chunk, std::uint32_t block);
  void set_column(const ChunkView& chunk, std::size_t column, std::uint32_t block, std::uint32_t first_row);

  Schema schema_;
  Take take_;
  ChunkBuilder builder_;
};

}  // namespace accelscope
