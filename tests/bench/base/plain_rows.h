// The yardstick of everything that stores events: one SQLite row for each, in memory, in one transaction.
#pragma once

#include <cstddef>

namespace accelscope::bench {

// Rows of six integer columns inserted per second through one prepared statement; 0 if SQLite refused.
double plain_rows_per_second(std::size_t count);

}  // namespace accelscope::bench
