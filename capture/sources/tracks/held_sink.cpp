#include "capture/sources/tracks/held_events.h"

namespace accelscope::capture::sources::tracks {

Result<void> HeldSink::define(const Definition& definition) {
  if (const auto* lane = std::get_if<Lane>(&definition)) {
    lanes_.push_back({*lane, {}, false});
    return {};
  }
  if (std::holds_alternative<Track>(definition)) return {};
  return ForwardingSink::define(definition);
}

Result<void> HeldSink::append(SealedChunk chunk) {
  HeldLane& lane = lanes_[chunk.lane()];
  const Result<std::size_t> index = spill_.add(std::move(chunk.bytes));
  if (!index) return index.error();
  lane.chunks.push_back(index.value());
  return {};
}

Result<void> HeldSink::release() {
  for (const HeldLane& held : lanes_) {
    if (held.dropped) continue;
    if (Result<void> done = ForwardingSink::define(held.lane); !done) return done;
  }
  for (HeldLane& held : lanes_) {
    for (const std::size_t index : held.chunks) {
      if (held.dropped) break;
      Result<Bytes> bytes = spill_.take(index);
      if (!bytes) return bytes.error();
      if (Result<void> done = ForwardingSink::append({std::move(bytes).value()}); !done) return done;
      if (cancelled()) return Error{"the import was cancelled"};
    }
    held.chunks = {};
  }
  return {};
}

}  // namespace accelscope::capture::sources::tracks
