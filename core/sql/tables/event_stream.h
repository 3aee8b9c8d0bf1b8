// The matching events of some lanes, lane by lane and in order. Chunks are filtered ahead on the worker pool while
// SQLite takes rows; how far ahead grows with the rows taken, so that a LIMIT or a look-up by id reads no more than it
// must. The caller filters too: a busy pool only makes it slower.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "core/sql/tables/event_table.h"
#include "core/sql/tables/lane_scan.h"

namespace accelscope::sql {

class EventStream {
 public:
  // lanes: indices into the snapshot's. ahead: chunks at most that are filtered and not taken yet; 1: none ahead.
  // All but the list of lanes must outlive the stream.
  EventStream(Context& context, const EventTableSpec& spec, const std::vector<EventCondition>& conditions,
              std::vector<std::uint32_t> lanes, std::size_t ahead);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // Leaves out the first rows, reading no chunk that can be left out as a whole. Before the first next().
  void skip(std::uint64_t rows) { offset_ = rows; }
  // False at the end, or when the query was cancelled.
  [[nodiscard]] bool next() {
    while (current_ == nullptr || !current_->next()) {
      if (!next_chunk()) return false;
    }
    return true;
  }
  [[nodiscard]] int status() const noexcept { return status_; }
  // Of the current event.
  [[nodiscard]] LaneScan& scan() noexcept { return *current_; }

 private:
  // A chunk on its way. Who runs it has taken it out of the waiting ones.
  struct Request {
    std::shared_ptr<LaneScan> scan;
    std::uint32_t chunk = 0;
    bool done = false;
    FilteredChunk filtered;
  };
  struct Shared;

  [[nodiscard]] bool next_chunk();
  [[nodiscard]] std::shared_ptr<Request> next_request();  // null after the last one
  [[nodiscard]] bool next_lane();
  void fill();
  void call_workers();
  void finish_front();

  Context& context_;
  const EventTableSpec& spec_;
  const std::vector<EventCondition>& conditions_;
  const std::vector<std::uint32_t> lanes_;
  const std::size_t most_ahead_;
  std::size_t ahead_ = 1;
  std::size_t next_lane_ = 0;
  std::shared_ptr<LaneScan> lane_;  // that requests are made of
  std::uint32_t next_chunk_ = 0;
  std::deque<std::shared_ptr<Request>> requests_;  // in order
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<LaneScan> current_;
  std::uint64_t offset_ = 0;
  int status_ = SQLITE_OK;
};

}  // namespace accelscope::sql
