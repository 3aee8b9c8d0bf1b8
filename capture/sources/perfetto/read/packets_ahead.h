// The packets of a trace, found, inflated and taken apart on a thread of their own while those before them are used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/sources/base/batches_ahead.h"
#include "capture/sources/perfetto/read/packet_fields.h"
#include "capture/sources/perfetto/read/packet_stream.h"

namespace accelscope::capture::sources::perfetto {

struct PacketBatch {
  std::vector<PacketFields> packets;
  std::string bytes;  // what the packets' messages lie in
  std::uint64_t file_bytes_read = 0;
};

class PacketsAhead {
 public:
  explicit PacketsAhead(std::unique_ptr<json::ByteSource> source)
      : stream_(std::move(source)), batches_([this](PacketBatch& batch) { return fill(batch); }) {}

  // Until the next call. Null at the end.
  [[nodiscard]] const PacketBatch* next() { return batches_.next(); }
  // Once next() has said that this is the end.
  [[nodiscard]] const PacketStream::Losses& losses() const noexcept { return stream_.losses(); }

 private:
  [[nodiscard]] bool fill(PacketBatch& batch);

  PacketStream stream_;
  RawPacket raw_;
  bool waits_ = false;  // the packet did not fit into the batch before
  BatchesAhead<PacketBatch> batches_;
};

}  // namespace accelscope::capture::sources::perfetto
