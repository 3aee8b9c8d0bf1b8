#include "tests/bench/import/import_cost.h"

#include <fmt/format.h>

#include <memory>

#include "core/store/store.h"
#include "tests/bench/base/figure.h"

namespace accelscope::bench {

std::optional<ImportCost> import_cost(const std::string& figure, std::uint64_t least_events,
                                      const std::function<Result<void>(EventSink&)>& import) {
  const Result<std::unique_ptr<Store>> store = Store::create();
  if (!store) return std::nullopt;
  StoreSink sink(**store);
  forget_peak_memory();
  const std::uint64_t before = current_memory_bytes();
  ImportCost cost;
  cost.seconds = seconds([&] {
    if (const Result<void> done = import(sink); !done) fmt::print(stderr, "{}\n", done.message());
  });
  const std::uint64_t peak = peak_memory_bytes();
  cost.peak_bytes = static_cast<double>(peak);
  cost.grown_bytes = static_cast<double>(peak - before);
  cost.retained_bytes = static_cast<double>((*store)->status().memory_bytes);
  cost.events = (*store)->snapshot()->event_count;
  if (cost.events < least_events)
    fmt::print(stderr, "{}: {} of {} events arrived\n", figure, cost.events, least_events);
  return cost;
}

}  // namespace accelscope::bench
