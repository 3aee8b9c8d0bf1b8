#include "core/export/base/piece_writer.h"

#include <algorithm>
#include <vector>

namespace accelscope {

Result<void> write_pieces(const QueryContext& query, std::size_t pieces, const MakePiece& make, const TakePiece& take) {
  struct Made {
    std::string bytes;
    Result<void> status;
  };
  const std::size_t at_once = 2 * std::max<std::size_t>(1, query.pool.concurrency());
  std::vector<Made> made(std::min(at_once, pieces));
  for (std::size_t first = 0; first < pieces; first += at_once) {
    const std::size_t count = std::min(at_once, pieces - first);
    query.pool.for_each(count, query.control, [&](std::size_t index, std::size_t worker) {
      Made& one = made[index];
      one.bytes.clear();
      one.status = make(first + index, worker, one.bytes);
    });
    if (query.control.cancelled()) return cancelled_error();
    for (std::size_t index = 0; index < count; ++index) {
      if (!made[index].status) return made[index].status;
      if (Result<void> taken = take(first + index, made[index].bytes); !taken) return taken;
    }
  }
  return {};
}

}  // namespace accelscope
