#include "app/view/selection.h"

#include <algorithm>

#include "app/content/event_details.h"
#include "app/session/analysis.h"
#include "app/view/motion.h"
#include "core/scan/event_mask.h"

namespace accelscope::app {

namespace {
constexpr double kStretchMargin = 0.1;
constexpr double kSeenFromPixels = 2;          // what is narrower is lost among its neighbours
constexpr double kShownAsPixels = 40;          // how wide it becomes
constexpr std::size_t kMostDependencies = 64;  // lit and listed; an event with more is a barrier
constexpr std::size_t kMostChain = 64;         // links each way
}  // namespace

void show_stretch(SessionTab& tab, std::int64_t begin_ns, std::int64_t end_ns) {
  const auto begin = static_cast<double>(begin_ns);
  const double span = std::max(static_cast<double>(end_ns) - begin, 1.0);
  tab.show({begin - span * kStretchMargin, begin + span * (1 + kStretchMargin)});
}

namespace {

void bring_into_view(SessionTab& tab, const EventRecord& event, bool nearer) {
  const auto begin = static_cast<double>(event.begin_ns);
  const auto end = static_cast<double>(event.end_ns);
  const double centre = (begin + end) / 2;
  const int pixels = tab.view_pixels;
  const double ns_per_pixel = pixels > 0 ? tab.view.span_ns() / pixels : 0;
  double span = std::max(tab.view.span_ns(), (end - begin) * 1.2);
  if (nearer && end > begin && end - begin < kSeenFromPixels * ns_per_pixel) {
    span = std::max((end - begin) * pixels / kShownAsPixels, kLeastSpanNs);
  } else if (end >= tab.view.begin_ns && begin <= tab.view.end_ns) {
    return;
  }
  tab.show({centre - span / 2, centre + span / 2});
}

void select_and_show(SessionTab& tab, EventId id, bool nearer) {
  tab.selected = id;
  tab.events->when_known(EventWish::selection, {id}, [&tab, id, nearer] {
    const EventRecord* event = tab.events->find(id);
    if (event == nullptr) tab.last_error = tab.events->problem(id);
    if (event != nullptr && tab.selected == id) bring_into_view(tab, *event, nearer);
  });
}

}  // namespace

void select_event(SessionTab& tab, EventId id) { select_and_show(tab, id, true); }

void select_in_view(SessionTab& tab, EventId id) { select_and_show(tab, id, false); }

void clear_selection(SessionTab& tab) {
  tab.operation.reset();
  tab.events->drop(EventWish::selection);
  tab.selected.reset();
  tab.selected_source.clear();
  tab.related.clear();
  tab.lit.reset();
}

void step_selection(SessionTab& tab, EventStep step, std::function<void(const StepPlace&)> arrived) {
  tab.events->step({tab.selected, tab.lane_step, {}}, std::move(step),
                   [&tab, from = tab.selected, arrived = std::move(arrived)](const Result<StepPlace>& place) {
                     if (!place) tab.last_error = place.message();
                     if (place && tab.selected == from) arrived(*place);
                   });
}

void SelectionFollower::update(SessionTab& tab) {
  if (tab.selected != seen_) {
    seen_ = tab.selected;
    source_wanted_ = seen_.has_value();
    lit_version_.reset();
    if (seen_) {
      tab.related.clear();
      // Stepping through the events of a line keeps them all lit.
      if (tab.lit && !tab.lit->passes(*tab.snapshot, *seen_)) tab.lit.reset();
    }
  }
  follow_source(tab);
  light_dependencies(tab);
  follow_chain(tab);
}

void SelectionFollower::follow_source(SessionTab& tab) {
  if (!source_wanted_) return;
  const EventRecord* event = tab.events->find(*seen_);
  source_wanted_ = event == nullptr && tab.events->problem(*seen_).empty();
  const std::string source = event != nullptr ? describe_event(*event, *tab.snapshot).source : "";
  if (!source.empty()) tab.selected_source = source;
}

void SelectionFollower::light_dependencies(SessionTab& tab) {
  if (!seen_) return;
  const auto dependencies = tab.analysis->dependencies();
  if (!dependencies || lit_version_ == dependencies->snapshot_version()) return;
  if (lit_version_) tab.related.clear();  // of what there was before
  lit_version_ = dependencies->snapshot_version();
  for (const Dependency& d : dependencies->predecessors(*seen_, kMostDependencies).dependencies) {
    tab.related.push_back(d.source);
  }
  for (const Dependency& d : dependencies->successors(*seen_, kMostDependencies).dependencies) {
    tab.related.push_back(d.target);
  }
}

void SelectionFollower::follow_chain(SessionTab& tab) {
  if (chain_task_.ready()) tab.chain = chain_task_.take();
  if (!tab.selected || !tab.dependency_chain) return;
  const auto dependencies = tab.analysis->dependencies();
  if (!dependencies) return;
  const bool here =
      tab.chain && tab.chain->event == *tab.selected && tab.chain->snapshot_version == dependencies->snapshot_version();
  if (here || (chain_task_.valid() && chain_of_ == *tab.selected)) return;
  chain_of_ = *tab.selected;
  chain_task_ =
      pool_.start([dependencies, event = chain_of_, store = tab.store, snapshot = tab.snapshot](TaskControl& c) {
        EventReader reader(*store, snapshot);
        return std::shared_ptr<const DependencyChain>(std::make_shared<DependencyChain>(
            accelscope::dependency_chain(*dependencies, event, reader, kMostChain, c)));
      });
}

}  // namespace accelscope::app
