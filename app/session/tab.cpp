#include "app/session/tab.h"

#include <utility>

namespace accelscope::app {

void attach(SessionTab& tab, WorkerPool& pool, std::shared_ptr<Store> store, KeptBeside kept) {
  tab.pool = &pool;
  tab.store = std::move(store);
  tab.snapshot = tab.store->snapshot();
  tab.events = std::make_shared<EventCache>(pool, tab.store);
  tab.writer = std::make_shared<StoreWriter>(pool, tab.store);
  tab.markers = std::move(kept.markers);
  tab.kept = std::move(kept.values);
}

std::string own_title(const SessionTab& tab) {
  return tab.beside ? tab.title.substr(0, tab.title.rfind(" : " + tab.beside->title)) : tab.title;
}

std::vector<std::string> begin_frame(SessionTab& tab) {
  if (tab.store->version() != tab.snapshot->version) tab.snapshot = tab.store->snapshot();
  tab.events->begin_frame(tab.snapshot);
  return tab.writer->begin_frame();
}

}  // namespace accelscope::app
