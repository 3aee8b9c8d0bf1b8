// What an import costs that goes into a store of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/chunk/event_sink.h"

namespace accelscope::bench {

struct ImportCost {
  double seconds = 0;
  double peak_bytes = 0;      // of the process, the store in it
  double grown_bytes = 0;     // the same, without what the process held before
  double retained_bytes = 0;  // as the store counts them afterwards
  std::uint64_t events = 0;
};

// Nothing if there is no store to be had. Why an import failed, and that fewer events arrived than must, goes to the
// standard error.
[[nodiscard]] std::optional<ImportCost> import_cost(const std::string& figure, std::uint64_t least_events,
                                                    const std::function<Result<void>(EventSink&)>& import);

}  // namespace accelscope::bench
