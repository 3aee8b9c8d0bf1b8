// Cuts a file into windows, makes something of each on several threads, and hands them out in the order of the file:
// see core/base/ordered_pipeline.h. A few windows wait at most.
#pragma once

#include <atomic>
#include <functional>

#include "capture/json/table_reader.h"
#include "core/base/ordered_pipeline.h"

namespace accelscope::capture::json {

struct NothingMade {};

template <typename Made = NothingMade>
class WindowPipeline {
 public:
  struct Slot {
    JsonWindow window;
    Made made;
  };
  using MakeWork = typename OrderedPipeline<Slot>::MakeWork;

  explicit WindowPipeline(JsonTableReader reader, unsigned threads = 1, MakeWork make_work = {})
      : reader_(std::move(reader)),
        bytes_total_(reader_.source().file_bytes()),
        windows_(
            threads, std::size_t{threads} + 2,
            [this](Slot& slot) {
              const bool more = reader_.next(slot.window);
              bytes_done_ = reader_.source().file_bytes_read();
              return more;
            },
            std::move(make_work)) {}

  // The next window, valid until the next call; null at the end of the file.
  [[nodiscard]] Slot* next() { return windows_.next(); }
  // Once next() returned null.
  [[nodiscard]] const JsonTableReader& reader() const noexcept { return reader_; }
  [[nodiscard]] std::uint64_t bytes_done() const noexcept { return bytes_done_; }
  [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_total_; }

 private:
  JsonTableReader reader_;
  std::uint64_t bytes_total_;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  OrderedPipeline<Slot> windows_;
};

}  // namespace accelscope::capture::json
