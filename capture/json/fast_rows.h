// Reads the rows of a window that are JSON to the letter, faster than JsonCursor: simdjson, in programs that link it.
// In the agent that is copied to other hosts there is none (it would need simdjson there), and JsonRowParser reads
// every row leniently, which comes to the same fields.
#pragma once

#include <cstddef>
#include <memory>

#include "capture/json/row_parser.h"

namespace accelscope::capture::json {

class FastRows {
 public:
  FastRows() = default;
  FastRows(const FastRows&) = delete;
  FastRows& operator=(const FastRows&) = delete;
  virtual ~FastRows() = default;

  // The number of rows handed out before the first that it does not take.
  [[nodiscard]] virtual std::size_t read(const JsonWindow& window, JsonRowHandler& handler) = 0;
};

// Null: this program has none.
[[nodiscard]] std::unique_ptr<FastRows> make_fast_rows();

}  // namespace accelscope::capture::json
