// Any bytes handed to the chunk decoder are refused or read within their bounds.
#include <cstdlib>

#include "core/chunk/chunk_view.h"

using namespace accelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes = std::as_bytes(std::span(data, size));
  const Result<ChunkView> view = ChunkView::parse(bytes);
  if (!view) return 0;
  BlockTimes times;
  std::array<std::uint64_t, kBlockEvents> values;
  std::uint64_t sum = 0;
  for (std::uint32_t block = 0; block < view->block_count(); ++block) {
    view->times(block, times);
    view->names(block, values.data());
    for (std::size_t column = 0; column < view->column_count(); ++column) {
      view->values(column, block, values.data());
      sum += view->validity(column, block) + values[0];
    }
  }
  for (std::uint32_t row = 0; row < view->count(); row += 37) {
    for (std::size_t column = 0; column < view->column_count(); ++column) {
      sum += view->has_value(column, row) ? view->stored(column, row) : 0;
      for (const char c : view->text(column, row)) sum += static_cast<std::uint8_t>(c);
    }
  }
  if (sum == 0x5eed5eed5eed5eed) std::abort();  // keeps the reads from being optimised away
  return 0;
}
