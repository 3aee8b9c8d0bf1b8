// Cuts a file into windows and reads them on several threads, and hands them out in the order of the file. Whoever has
// nothing to do cuts the next window; a few windows wait at most.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "capture/json/table_reader.h"
#include "capture/sources/chrome/read/row_reader.h"
#include "core/base/carried_exception.h"

namespace accelscope::capture::sources::chrome {

// The table of events: its key in an object, or the nameless one of a bare array.
[[nodiscard]] bool is_event_table(const json::JsonWindow& window) noexcept;

class WindowPipeline {
 public:
  struct Slot {
    json::JsonWindow window;
    EventBatch batch;  // of a window of events
    bool ready = false;
  };

  WindowPipeline(json::JsonTableReader reader, ChromeVocabulary& vocabulary, unsigned threads);
  ~WindowPipeline();
  WindowPipeline(const WindowPipeline&) = delete;
  WindowPipeline& operator=(const WindowPipeline&) = delete;

  // The next window, valid until the next call; null at the end of the file.
  [[nodiscard]] Slot* next();
  // Once next() returned null.
  [[nodiscard]] const json::JsonTableReader& reader() const noexcept { return reader_; }
  [[nodiscard]] std::uint64_t bytes_done() const noexcept { return bytes_done_; }
  [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_total_; }

 private:
  void work();
  void end_threads();

  json::JsonTableReader reader_;
  ChromeVocabulary& vocabulary_;
  std::uint64_t bytes_total_;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t cut_ = 0;    // windows ever cut; window i lies in slot i % slots
  std::size_t taken_ = 0;  // windows ever handed out
  std::size_t freed_ = 0;  // windows that the caller is done with
  bool cutting_ = false;
  bool ended_ = false;
  bool stopping_ = false;
  CarriedException thrown_;
  std::vector<std::jthread> threads_;
};

}  // namespace accelscope::capture::sources::chrome
