// The events of lines, read on a thread of their own while those before them are used.
//
//   EventsAhead ahead(bytes, lines);
//   while (const EventBatch* batch = ahead.next()) {
//     for (std::size_t i = 0; i < batch->events.size(); ++i) use(batch->lines[i], batch->events[i]);
//   }
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "capture/sources/xplane/read/records.h"
#include "capture/sources/xplane/read/space_index.h"

namespace accelscope::capture::sources::xplane {

// Events that were skipped.
struct SkippedEvents {
  std::uint64_t broken = 0;
  std::uint64_t first_broken = 0;  // where it lies
  std::uint64_t cut = 0;
  std::uint64_t too_long = 0;
};

struct EventBatch {
  std::vector<EventRecord> events;
  std::vector<std::uint32_t> lines;  // of each event, by the place among those that were asked for
  SkippedEvents skipped;
  std::uint64_t done = 0;  // of the file's bytes

 private:
  friend class EventsAhead;
  std::vector<std::size_t> first_stats;  // of each event
  std::vector<StatValue> stats;
  std::string texts;
};

class EventsAhead {
 public:
  EventsAhead(const SpaceBytes& bytes, std::vector<BytesPlace> lines);
  ~EventsAhead();
  EventsAhead(const EventsAhead&) = delete;
  EventsAhead& operator=(const EventsAhead&) = delete;

  // Until the next call. Null at the end.
  [[nodiscard]] const EventBatch* next();

 private:
  void read();
  // False: nobody wants more.
  [[nodiscard]] bool read_line(std::uint32_t line);
  void add_event(std::uint32_t line, std::string_view message, std::uint64_t at);
  [[nodiscard]] bool hand_over(std::uint64_t done);

  const SpaceBytes& bytes_;
  std::vector<BytesPlace> lines_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<EventBatch>> waiting_;
  std::vector<std::unique_ptr<EventBatch>> empty_;
  bool ended_ = false;
  bool stopping_ = false;
  std::unique_ptr<EventBatch> current_;
  // The reader's own.
  SpaceWindow window_;
  std::unique_ptr<EventBatch> batch_;
  std::thread reader_;
};

}  // namespace accelscope::capture::sources::xplane
