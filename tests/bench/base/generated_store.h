// A store of many slices for the figures of queries: 64 lanes, six columns, names drawn evenly from a given number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/store/store.h"

namespace accelscope::bench {

struct GeneratedStore {
  std::unique_ptr<Store> store;
  std::vector<std::uint32_t> names;      // of every event: the plain columns that a yardstick scans
  std::vector<std::uint32_t> durations;  // in the same order
  std::uint32_t name_count = 0;
};

// Null if the store refuses. `text` gives the text of name i.
[[nodiscard]] std::unique_ptr<GeneratedStore> generate_store(std::uint64_t events, std::uint32_t names,
                                                             std::string (*text)(std::uint32_t));
// What a plain loop over two columns in memory needs for the whole session, spread over the same threads.
[[nodiscard]] double plain_scan_seconds(const GeneratedStore& data, WorkerPool& pool);

inline constexpr const char* kGeneratedRecipe =
    "64 lanes of equal length; columns start, duration, name, source line (60 strings), bytes (1 to 4 x 64 KiB), "
    "wait_ns (0 to 511); gaps 0 to 127, durations 64 to 575, names and values uniform; in-memory store; two threads";

}  // namespace accelscope::bench
