#include "capture/sources/chrome/write/held_sink.h"

namespace accelscope::capture::sources::chrome {

Result<void> HeldSink::define(const Definition& definition) {
  if (const auto* lane = std::get_if<Lane>(&definition)) {
    lanes_.push_back({*lane, {}, false});
    return {};
  }
  if (std::holds_alternative<Track>(definition)) return {};
  return receiver_.define(definition);
}

Result<void> HeldSink::append(SealedChunk chunk) {
  HeldLane& lane = lanes_[chunk.lane];
  const Result<std::size_t> index = spill_.add(std::move(chunk.bytes));
  if (!index) return index.error();
  lane.chunks.push_back(index.value());
  return {};
}

Result<void> HeldSink::release() {
  for (const HeldLane& held : lanes_) {
    if (held.dropped) continue;
    if (Result<void> done = receiver_.define(held.lane); !done) return done;
  }
  for (HeldLane& held : lanes_) {
    std::uint64_t ordinal = 0;
    for (const std::size_t index : held.chunks) {
      if (held.dropped) break;
      Result<Bytes> bytes = spill_.take(index);
      if (!bytes) return bytes.error();
      ChunkHeader header;
      std::memcpy(&header, bytes.value().data(), sizeof header);
      SealedChunk chunk{std::move(bytes.value()), held.lane.number, ordinal, header.count};
      ordinal += header.count;
      if (Result<void> done = receiver_.append(std::move(chunk)); !done) return done;
      if (receiver_.cancelled()) return Error{"the import was cancelled"};
    }
    held.chunks = {};
  }
  return {};
}

}  // namespace accelscope::capture::sources::chrome
