// What an import hands on is taken as a store would take it: what that would refuse is a mistake of the import,
// whatever its input was.
#pragma once

#include <cstdlib>

#include "core/chunk/chunk_view.h"
#include "core/chunk/event_sink.h"

namespace accelscope::fuzz {

class CheckingSink final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    if (!decode_definition(encode(definition))) std::abort();
    return {};
  }
  Result<void> append(SealedChunk chunk) override {
    const Result<ChunkView> view = ChunkView::parse(chunk.bytes);
    if (!view || !view.value().verify_checksums()) std::abort();
    return {};
  }
};

}  // namespace accelscope::fuzz
