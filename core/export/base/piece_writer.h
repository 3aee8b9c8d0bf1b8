// Text that many pieces of a session are turned into at the same time, handed on in the order of the pieces. No more
// than a few pieces are held at once.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/export/base/export_format.h"

namespace accelscope {

// Appends the bytes of one piece; `worker` is below the pool's concurrency and may index per-thread state.
using MakePiece = std::function<Result<void>(std::size_t piece, std::size_t worker, std::string& out)>;
// Takes the bytes of one piece, in order.
using TakePiece = std::function<Result<void>(std::size_t piece, std::string_view bytes)>;

// Fails with the first piece that fails, with what `take` returns, or when cancelled.
[[nodiscard]] Result<void> write_pieces(const QueryContext& query, std::size_t pieces, const MakePiece& make,
                                        const TakePiece& take);

}  // namespace accelscope
