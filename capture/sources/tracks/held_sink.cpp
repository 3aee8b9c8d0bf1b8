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
  const std::size_t index = TRY(spill_.add(std::move(chunk.bytes)));
  lane.chunks.push_back(index);
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
      Bytes bytes = TRY(spill_.take(index));
      if (Result<void> done = ForwardingSink::append({std::move(bytes)}); !done) return done;
      if (cancelled()) return Error{"the import was cancelled"};
    }
    held.chunks = {};
  }
  return {};
}

}  // namespace accelscope::capture::sources::tracks
