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

void select_event(SessionTab& tab, EventId id) {
  const auto record = tab.reader->read(id);
  const double length = record ? static_cast<double>(record->end_ns - record->begin_ns) : 0;
  const int pixels = tab.view_pixels;
  const double ns_per_pixel = pixels > 0 ? tab.view.span_ns() / pixels : 0;
  if (length <= 0 || length >= kSeenFromPixels * ns_per_pixel) return select_in_view(tab, id);
  tab.selected = id;
  const double centre = static_cast<double>(record->begin_ns) + length / 2;
  const double span = std::max(length * pixels / kShownAsPixels, kLeastSpanNs);
  tab.show({centre - span / 2, centre + span / 2});
}

void select_in_view(SessionTab& tab, EventId id) {
  tab.selected = id;
  auto record = tab.reader->read(id);
  if (!record) {
    tab.last_error = record.message();
    return;
  }
  const auto begin = static_cast<double>(record->begin_ns);
  const auto end = static_cast<double>(record->end_ns);
  if (end >= tab.view.begin_ns && begin <= tab.view.end_ns) return;
  const double centre = (begin + end) / 2;
  const double span = std::max(tab.view.span_ns(), (end - begin) * 1.2);
  tab.show({centre - span / 2, centre + span / 2});
}

void clear_selection(SessionTab& tab) {
  tab.selected.reset();
  tab.selected_source.clear();
  tab.related.clear();
  tab.lit.reset();
}

std::optional<TimeRange> stretch_of(SessionTab& tab, std::span<const EventId> events) {
  constexpr std::size_t kMostRead = 2'000;  // the ends of a long list come sorted by time
  std::optional<TimeRange> stretch;
  const auto include = [&](EventId id) {
    auto record = tab.reader->read(id);
    if (!record) return;
    if (!stretch) stretch = {record->begin_ns, record->end_ns};
    stretch = {std::min(stretch->begin_ns, record->begin_ns), std::max(stretch->end_ns, record->end_ns)};
  };
  const std::size_t head = std::min(events.size(), kMostRead / 2);
  for (std::size_t i = 0; i < head; ++i) include(events[i]);
  for (std::size_t i = std::max(head, events.size() - std::min(events.size(), kMostRead / 2)); i < events.size(); ++i) {
    include(events[i]);
  }
  return stretch;
}

void SelectionFollower::update(SessionTab& tab) {
  if (tab.selected != seen_) {
    seen_ = tab.selected;
    dependencies_wanted_ = seen_.has_value();
    if (seen_) {
      tab.related.clear();
      // Stepping through the events of a line keeps them all lit.
      if (tab.lit && !tab.lit->passes(*tab.snapshot, *seen_)) tab.lit.reset();
      auto record = tab.reader->read(*seen_);
      const std::string source = record ? describe_event(*record, *tab.snapshot).source : "";
      if (!source.empty()) tab.selected_source = source;
    }
  }
  light_dependencies(tab);
  follow_chain(tab);
}

void SelectionFollower::light_dependencies(SessionTab& tab) {
  if (!dependencies_wanted_) return;
  const auto dependencies = tab.analysis->dependencies();
  if (!dependencies) return;
  dependencies_wanted_ = false;
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
