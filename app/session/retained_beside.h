// What a session keeps beside its events: markers, their sets, the view, the configuration. Read from the store while
// the session is opened; from then on the tab has it, and what changes there is written by a worker, in order.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/store/store.h"

namespace accelscope::app::session {

struct SessionTab;

// Overlay values of a session by their keys: the configuration that it was captured with, the view that it was left
// with, sets of markers, and the page of the source panel: "lines", "files", or "text PATH".
inline constexpr const char* kProjectKey = "project";
inline constexpr const char* kConfigurationKey = "configuration";
inline constexpr const char* kViewKey = "view";
inline constexpr const char* kMarkerSetsKey = "marker_sets";
inline constexpr const char* kSourcePageKey = "source.page";

struct RetainedBeside {
  std::vector<Marker> markers;
  std::map<std::string, std::string> values;  // those that there are
};
[[nodiscard]] RetainedBeside read_retained(const Store& store);  // waits for the store

// Changes of a store that the UI thread wants and does not wait for, made one after another by a worker. Those that are
// not made when it goes are made all the same. UI thread only, but for flush().
class StoreWriter {
 public:
  using Change = std::function<Result<void>(Store&)>;
  using Then = std::function<void(const Result<void>&)>;

  // The pool must outlive it.
  StoreWriter(WorkerPool& pool, std::shared_ptr<Store> store);

  void write(Change change, Then then = {});  // then: in a later frame
  // Once per frame. Returns what failed and has no `then`.
  [[nodiscard]] std::vector<std::string> begin_frame();
  [[nodiscard]] bool unwritten() const;  // something is not written yet
  [[nodiscard]] bool pending() const;    // or not told

  // Makes what is left on this thread, a worker's: before a save.
  struct Queue;
  static void flush(Queue& queue);
  [[nodiscard]] const std::shared_ptr<Queue>& queue() const noexcept { return queue_; }

 private:
  WorkerPool& pool_;
  std::shared_ptr<Queue> queue_;
};

// Changes of the tab that are written behind it. A marker whose id is 0 gets one.
void put_marker(SessionTab& tab, Marker marker);
void remove_marker(SessionTab& tab, std::int64_t id);
void keep_value(SessionTab& tab, const std::string& key, std::string value);
[[nodiscard]] std::string retained_value(const SessionTab& tab, const std::string& key);  // "" if absent

// Whether what is kept lies in the session's own file at once. It does not where the store is in memory, or in the file
// that the session was saved as a copy of.
[[nodiscard]] bool writes_to_its_file(const SessionTab& tab);
// After a change of what is kept: there is something to save, unless the file has it already.
void note_retained_change(SessionTab& tab);

}  // namespace accelscope::app::session
