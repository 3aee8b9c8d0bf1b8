// The scopes of one capture in a store: each kind's is made when it is first asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "capture/ingest/stream_ingest.h"
#include "core/store/store.h"

namespace accelscope::capture::ingest {

class StoreScopes final : public SinkProvider {
 public:
  explicit StoreScopes(Store& store) : store_(store) {}
  EventSink& sink(std::uint32_t scope) override {
    std::unique_ptr<StoreSink>& found = sinks_[scope];
    if (!found) found = std::make_unique<StoreSink>(store_);
    return *found;
  }

 private:
  Store& store_;
  std::map<std::uint32_t, std::unique_ptr<StoreSink>> sinks_;
};

}  // namespace accelscope::capture::ingest
