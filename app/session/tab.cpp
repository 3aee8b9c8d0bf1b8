#include "app/session/tab.h"

#include <cassert>
#include <utility>

namespace accelscope::app {

namespace {
constexpr std::size_t kMostViews = 256;  // a long session must not keep every wheel turn of the day
}

void ViewHistory::push(const ViewState& state) {
  if (!states_.empty()) {
    if (states_[position_] == state) return;
    states_.resize(position_ + 1);
  }
  states_.push_back(state);
  if (states_.size() > kMostViews) states_.erase(states_.begin());
  position_ = states_.size() - 1;
}

const ViewState& ViewHistory::back() {
  assert(can_go_back());
  return states_[--position_];
}

const ViewState& ViewHistory::forward() {
  assert(can_go_forward());
  return states_[++position_];
}

namespace {

struct WorkSpan {
  double begin = 0, end = 0;
};

WorkSpan work_of(const SessionTab& tab) {
  const TimeRange range = tab.active.value_or(TimeRange{tab.snapshot->begin_ns, tab.snapshot->end_ns});
  return {static_cast<double>(range.begin_ns), static_cast<double>(range.end_ns)};
}

}  // namespace

std::optional<LaidBeside> laid_beside(const SessionTab& base, const SessionTab& other, Alignment how) {
  const WorkSpan here = work_of(base), there = work_of(other);
  switch (how) {
    case Alignment::start:
      return LaidBeside{static_cast<double>(base.snapshot->begin_ns), static_cast<double>(other.snapshot->begin_ns)};
    case Alignment::first_activity:
      return LaidBeside{here.begin, there.begin};
    case Alignment::end:
      return LaidBeside{here.end, there.end};
    case Alignment::relative:
      return LaidBeside{here.begin, there.begin,
                        std::max(there.end - there.begin, 1.0) / std::max(here.end - here.begin, 1.0)};
    case Alignment::iteration: {
      if (!base.turns || base.turns->base.empty() || base.turns->other.empty()) return std::nullopt;
      const std::size_t both = std::min(base.turns->base.size(), base.turns->other.size());
      const std::size_t turn = std::min(base.aligned_turn, both - 1);
      return LaidBeside{static_cast<double>(base.turns->base[turn].begin_ns),
                        static_cast<double>(base.turns->other[turn].begin_ns)};
    }
    case Alignment::marker:
      break;
  }
  for (const Marker& marker : base.markers) {
    const auto same = std::ranges::find_if(
        other.markers, [&](const Marker& each) { return !each.name.empty() && each.name == marker.name; });
    if (same != other.markers.end())
      return LaidBeside{static_cast<double>(marker.ts_ns), static_cast<double>(same->ts_ns)};
  }
  return std::nullopt;
}

void attach(SessionTab& tab, WorkerPool& pool, std::shared_ptr<Store> store, RetainedBeside retained) {
  tab.pool = &pool;
  tab.store = std::move(store);
  tab.snapshot = tab.store->snapshot();
  tab.events = std::make_shared<EventCache>(pool, tab.store);
  tab.writer = std::make_shared<StoreWriter>(pool, tab.store);
  tab.markers = std::move(retained.markers);
  tab.retained = std::move(retained.values);
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
