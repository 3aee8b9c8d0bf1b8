// Reads and cuts the next windows of a file on its own thread while the caller parses the last one. Two windows wait
// at most.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "capture/json/table_reader.h"
#include "core/base/carried_exception.h"

namespace accelscope::capture::json {

class WindowPrefetch {
 public:
  explicit WindowPrefetch(JsonTableReader reader);
  ~WindowPrefetch();
  WindowPrefetch(const WindowPrefetch&) = delete;
  WindowPrefetch& operator=(const WindowPrefetch&) = delete;

  // The next window, valid until the next call; null at the end of the file.
  [[nodiscard]] const JsonWindow* next();
  // Once next() returned null.
  [[nodiscard]] const JsonTableReader& reader() const noexcept { return reader_; }
  [[nodiscard]] std::uint64_t bytes_done() const noexcept { return bytes_done_; }
  [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_total_; }

 private:
  static constexpr std::size_t kSlots = 3;  // one with the caller, two filled or being filled

  void read_all();
  void end();

  JsonTableReader reader_;
  std::uint64_t bytes_total_;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::array<JsonWindow, kSlots> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;  // windows ever filled; window i lies in slot i % kSlots
  std::size_t taken_ = 0;   // windows ever handed to the caller
  std::size_t freed_ = 0;   // windows that the caller is done with
  bool ended_ = false;
  bool stopping_ = false;
  CarriedException thrown_;
  std::jthread thread_;
};

}  // namespace accelscope::capture::json
