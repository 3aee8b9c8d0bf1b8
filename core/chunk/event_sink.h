// Where a source puts what it makes: a store in this process, or the wire to a viewer. Definitions come before
// the chunks that use them. Either call may block while the receiver is behind (back-pressure).
#pragma once

#include <memory>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/chunk/chunk_format.h"
#include "core/model/definitions.h"

namespace accelscope {

// A chunk as it travels. What it says of itself stands in its bytes and nowhere else; where they are no chunk, it has
// no events.
struct SealedChunk {
  Bytes bytes;

  [[nodiscard]] ChunkHeader header() const noexcept { return read_chunk_header(bytes).value_or(ChunkHeader{}); }
  [[nodiscard]] LaneNumber lane() const noexcept { return header().lane; }
  [[nodiscard]] std::uint64_t first_ordinal() const noexcept { return header().first_ordinal; }
  [[nodiscard]] std::uint32_t count() const noexcept { return header().count; }
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

// Hands everything on to another sink. Whoever adds one thing on the way derives from it and overrides that.
class ForwardingSink : public EventSink {
 public:
  explicit ForwardingSink(EventSink& next) : next_(next) {}  // which outlives this one
  explicit ForwardingSink(std::unique_ptr<EventSink> next) : owned_(std::move(next)), next_(*owned_) {}

  Result<void> define(const Definition& definition) override { return next_.define(definition); }
  Result<void> append(SealedChunk chunk) override { return next_.append(std::move(chunk)); }
  [[nodiscard]] bool cancelled() const override { return next_.cancelled(); }
  [[nodiscard]] bool paused() const override { return next_.paused(); }

 private:
  std::unique_ptr<EventSink> owned_;
  EventSink& next_;
};

}  // namespace accelscope
