// Where a source puts what it makes: a store in this process, or the wire to a viewer. Definitions come before
// the chunks that use them. Either call may block while the receiver is behind (back-pressure).
#pragma once

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/model/definitions.h"

namespace accelscope {

// A chunk as it travels: see core/chunk/chunk_format.h.
struct SealedChunk {
  Bytes bytes;
  LaneNumber lane = 0;
  std::uint64_t first_ordinal = 0;
  std::uint32_t count = 0;
};

class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  virtual Result<void> define(const Definition& definition) = 0;
  virtual Result<void> append(SealedChunk chunk) = 0;
  // True once the user has cancelled or the peer is gone: the source should return soon.
  [[nodiscard]] virtual bool cancelled() const { return false; }
  // True while the user has paused the capture: a live source collects nothing.
  [[nodiscard]] virtual bool paused() const { return false; }
};

}  // namespace accelscope
