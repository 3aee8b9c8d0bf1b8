// A sink that keeps what a source makes, in the order in which it came.
#pragma once

#include <utility>
#include <vector>

#include "core/chunk/event_sink.h"

namespace accelscope::test {

class RecordingSink final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    definitions.push_back(definition);
    return {};
  }
  Result<void> append(SealedChunk chunk) override {
    chunks.push_back(std::move(chunk));
    return {};
  }
  std::vector<Definition> definitions;
  std::vector<SealedChunk> chunks;
};

}  // namespace accelscope::test
