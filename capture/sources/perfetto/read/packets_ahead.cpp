#include "capture/sources/perfetto/read/packets_ahead.h"

#include <algorithm>

namespace accelscope::capture::sources::perfetto {
namespace {

// Small enough for a processor's own cache.
constexpr std::size_t kBatchPackets = 1024;
constexpr std::size_t kBatchBytes = 128U << 10;

}  // namespace

bool PacketsAhead::fill(PacketBatch& batch) {
  batch.packets.clear();
  batch.bytes.clear();
  // A large packet was alone in its batch.
  if (batch.bytes.capacity() > 2 * kBatchBytes) batch.bytes = {};
  batch.bytes.reserve(kBatchBytes);
  batch.packets.reserve(kBatchPackets);
  while (batch.packets.size() < kBatchPackets) {
    if (!waits_ && !stream_.next(raw_)) {
      batch.file_bytes_read = stream_.file_bytes_read();
      return false;
    }
    // The bytes must stay where they are.
    waits_ = raw_.bytes.size() > batch.bytes.capacity() - batch.bytes.size();
    if (waits_ && !batch.packets.empty()) break;
    batch.bytes.reserve(raw_.bytes.size());
    waits_ = false;
    const char* const at = batch.bytes.data() + batch.bytes.size();
    batch.bytes += raw_.bytes;
    batch.packets.push_back(read_packet({std::string_view(at, raw_.bytes.size()), raw_.offset}));
  }
  batch.file_bytes_read = stream_.file_bytes_read();
  return true;
}

}  // namespace accelscope::capture::sources::perfetto
