#include "app/session/retained_beside.h"

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>

#include "app/session/tab.h"

namespace accelscope::app::session {

RetainedBeside read_retained(const Store& store) {
  RetainedBeside retained;
  retained.markers = store.markers();
  for (const char* key : {kProjectKey, kConfigurationKey, kViewKey, kMarkerSetsKey, kSourcePageKey}) {
    if (std::string value = store.overlay_value(key); !value.empty()) retained.values.emplace(key, std::move(value));
  }
  return retained;
}

namespace {

Result<void> made(const StoreWriter::Change& change, Store& store) {
  try {
    return change(store);
  } catch (const std::bad_alloc&) {
    return out_of_memory_error();
  }
}

}  // namespace

struct StoreWriter::Queue {
  struct Wanted {
    Change change;
    Then then;
  };
  struct Done {
    Result<void> result;
    Then then;
  };
  std::shared_ptr<Store> store;
  std::mutex order;  // held while changes are made
  std::mutex mutex;  // of what follows
  std::deque<Wanted> wanted;
  std::vector<Done> done;
  std::size_t open = 0;  // that are not told
  bool at_work = false;
};

StoreWriter::StoreWriter(WorkerPool& pool, std::shared_ptr<Store> store)
    : pool_(pool), queue_(std::make_shared<Queue>()) {
  queue_->store = std::move(store);
}

void StoreWriter::write(Change change, Then then) {
  {
    const std::scoped_lock lock(queue_->mutex);
    queue_->wanted.push_back({std::move(change), std::move(then)});
    ++queue_->open;
    if (std::exchange(queue_->at_work, true)) return;
  }
  // Nobody waits for the task: what came of each change is in the queue.
  (void)pool_.start([queue = queue_](TaskControl&) {
    flush(*queue);
    return 0;
  });
}

void StoreWriter::flush(Queue& queue) {
  const std::scoped_lock in_order(queue.order);
  while (true) {
    Queue::Wanted next;
    {
      const std::scoped_lock lock(queue.mutex);
      queue.at_work = !queue.wanted.empty();
      if (queue.wanted.empty()) return;
      next = std::move(queue.wanted.front());
      queue.wanted.pop_front();
    }
    Result<void> result = made(next.change, *queue.store);
    const std::scoped_lock lock(queue.mutex);
    queue.done.push_back({std::move(result), std::move(next.then)});
  }
}

std::vector<std::string> StoreWriter::begin_frame() {
  std::vector<Queue::Done> done;
  {
    const std::scoped_lock lock(queue_->mutex);
    done.swap(queue_->done);
    queue_->open -= done.size();
  }
  std::vector<std::string> failed;
  for (const Queue::Done& each : done) {
    if (each.then) {
      each.then(each.result);
    } else if (!each.result) {
      failed.push_back(each.result.message());
    }
  }
  return failed;
}

bool StoreWriter::unwritten() const {
  const std::scoped_lock lock(queue_->mutex);
  return queue_->open > queue_->done.size();
}

bool StoreWriter::pending() const {
  const std::scoped_lock lock(queue_->mutex);
  return queue_->open > 0;
}

void put_marker(SessionTab& tab, Marker marker) {
  std::vector<Marker>& markers = tab.markers;
  const auto known =
      std::ranges::find_if(markers, [&](const Marker& each) { return marker.id != 0 && each.id == marker.id; });
  if (marker.id == 0) {
    marker.id = tab.first_marker_id - 1;
    for (const Marker& each : markers) marker.id = std::max(marker.id, each.id);
    ++marker.id;
  }
  if (known != markers.end()) {
    *known = marker;
  } else {
    markers.push_back(marker);
  }
  std::ranges::stable_sort(
      markers, [](const Marker& a, const Marker& b) { return std::tie(a.ts_ns, a.id) < std::tie(b.ts_ns, b.id); });
  note_retained_change(tab);
  tab.writer->write([marker = std::move(marker)](Store& store) {
    const Result<std::int64_t> put = store.put_marker(marker);
    return put ? Result<void>() : Result<void>(put.error());
  });
}

void remove_marker(SessionTab& tab, std::int64_t id) {
  std::erase_if(tab.markers, [id](const Marker& marker) { return marker.id == id; });
  note_retained_change(tab);
  tab.writer->write([id](Store& store) { return store.remove_marker(id); });
}

void keep_value(SessionTab& tab, const std::string& key, std::string value) {
  tab.retained[key] = value;
  tab.writer->write([key, value = std::move(value)](Store& store) { return store.set_overlay_value(key, value); });
}

std::string retained_value(const SessionTab& tab, const std::string& key) {
  const auto found = tab.retained.find(key);
  return found == tab.retained.end() ? std::string() : found->second;
}

bool writes_to_its_file(const SessionTab& tab) { return !tab.path.empty() && tab.store->opened_from() == tab.path; }

void note_retained_change(SessionTab& tab) {
  if (!writes_to_its_file(tab)) tab.modified = true;
}

}  // namespace accelscope::app::session
