#include "app/view/selection.h"

#include <algorithm>

#include "app/content/event_details.h"
#include "app/session/analysis.h"
#include "core/listing/terms.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::view {

namespace {

// Not wider than the session with its margin, not narrower than a few ns, and overlapping the session.
[[nodiscard]] session::ViewRange held(session::ViewRange view, const SessionSpan& session) {
  const double length = std::max(session.end_ns - session.begin_ns, kLeastSpanNs);
  const double margin = length * kFitMargin;
  const double span = std::clamp(view.span_ns(), kLeastSpanNs, length + 2 * margin);
  // A view may show nothing but one edge of the session, no more: half of it stays inside.
  const double lowest = session.begin_ns - std::max(margin, span / 2);
  const double highest = session.end_ns + std::max(margin, span / 2) - span;
  const double begin = std::clamp(view.begin_ns, lowest, std::max(lowest, highest));
  return {begin, begin + span};
}

constexpr double kStretchMargin = 0.1;
constexpr double kSeenFromPixels = 2;          // what is narrower is lost among its neighbours
constexpr double kShownAsPixels = 40;          // how wide it becomes
constexpr std::size_t kMostDependencies = 64;  // lit and listed; an event with more is a barrier
constexpr std::size_t kMostChain = 64;         // links each way

void bring_into_view(session::SessionTab& tab, const EventRecord& event, bool nearer) {
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

void select_and_show(session::SessionTab& tab, EventId id, bool nearer) {
  tab.selected = id;
  tab.events->when_known(session::EventIntent::selection, {id}, [&tab, id, nearer] {
    const EventRecord* event = tab.events->find(id);
    if (event == nullptr) tab.last_error = tab.events->problem(id);
    if (event != nullptr && tab.selected == id) bring_into_view(tab, *event, nearer);
  });
}

void keep_tracks(std::vector<TrackNumber>& tracks, const Snapshot& snapshot, const EventFilter& without) {
  std::vector<TrackNumber> retained;
  for (const TrackSnapshot& each : snapshot.tracks) {
    const TrackNumber number = each.track->number;
    const bool shown = tracks.empty() || std::ranges::find(tracks, number) != tracks.end();
    if (shown && !without.has_track(number)) retained.push_back(number);
  }
  if (!retained.empty()) tracks = std::move(retained);  // none would mean all
}

void add_term(std::vector<FilterTerm>& terms, FilterTerm term) {
  if (std::ranges::find(terms, term) == terms.end()) terms.push_back(std::move(term));
}

void filter_by_part(session::SessionTab& tab) {
  const EventFilter part = selected_part(tab).filter;
  tab.follow = false;
  if (tab.region && part.range) {
    tab.view = {static_cast<double>(part.range->begin_ns), static_cast<double>(part.range->end_ns)};
  }
  tab.change([&](session::ViewChoices& choices) { choices.filter = both(choices.filter, part); });
  tab.region.reset();
}

}  // namespace

SessionSpan session_span(const Snapshot& snapshot) {
  // Session time begins at zero, also where nothing happens before the work; but not where times count from 1970.
  constexpr double kLongestIdle = 10'000;  // times the length of what happens
  const auto first = static_cast<double>(snapshot.begin_ns);
  const auto end = static_cast<double>(snapshot.end_ns);
  const double begin = first > (end - first) * kLongestIdle ? first : std::min(first, 0.0);
  return {begin, std::max(end, begin + kLeastSpanNs)};
}

session::ViewRange zoomed(const session::ViewRange& view, double at_ns, double factor, const SessionSpan& session) {
  const double longest = (session.end_ns - session.begin_ns) * (1 + 2 * kFitMargin);
  const double span = std::clamp(view.span_ns() / factor, kLeastSpanNs, std::max(longest, kLeastSpanNs));
  const double share = (at_ns - view.begin_ns) / view.span_ns();
  const double begin = at_ns - share * span;
  return held({begin, begin + span}, session);
}

session::ViewRange panned(const session::ViewRange& view, double by_ns, const SessionSpan& session) {
  return held({view.begin_ns + by_ns, view.end_ns + by_ns}, session);
}

session::ViewRange fitted(double begin_ns, double end_ns, const SessionSpan& session, double margin) {
  const double length = std::max(end_ns - begin_ns, kLeastSpanNs);
  return held({begin_ns - length * margin, begin_ns + length * (1 + margin)}, session);
}

session::ViewRange with_in_sight(const session::ViewRange& view, double begin_ns, double end_ns,
                                 const SessionSpan& session) {
  const double span = view.span_ns();
  if (end_ns - begin_ns > span * (1 - 2 * kFitMargin)) return fitted(begin_ns, end_ns, session, 1.0);
  const double margin = span * kFitMargin;
  if (begin_ns >= view.begin_ns + margin && end_ns <= view.end_ns - margin) return view;
  const double middle = (begin_ns + end_ns) / 2;
  return held({middle - span / 2, middle + span / 2}, session);
}

void show_stretch(session::SessionTab& tab, std::int64_t begin_ns, std::int64_t end_ns) {
  const auto begin = static_cast<double>(begin_ns);
  const double span = std::max(static_cast<double>(end_ns) - begin, 1.0);
  tab.show({begin - span * kStretchMargin, begin + span * (1 + kStretchMargin)});
}

void select_event(session::SessionTab& tab, EventId id) { select_and_show(tab, id, true); }

void select_in_view(session::SessionTab& tab, EventId id) { select_and_show(tab, id, false); }

void clear_selection(session::SessionTab& tab) {
  tab.operation.reset();
  tab.events->drop(session::EventIntent::selection);
  tab.selected.reset();
  tab.selected_source.clear();
  tab.related.clear();
  tab.lit.reset();
}

void step_selection(session::SessionTab& tab, session::EventStep step,
                    std::function<void(const session::StepPlace&)> arrived) {
  tab.events->step({tab.selected, tab.lane_step, {}}, std::move(step),
                   [&tab, from = tab.selected, arrived = std::move(arrived)](const Result<session::StepPlace>& place) {
                     if (!place) tab.last_error = place.message();
                     if (place && tab.selected == from) arrived(*place);
                   });
}

void SelectionFollower::update(session::SessionTab& tab) {
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

void SelectionFollower::follow_source(session::SessionTab& tab) {
  if (!source_wanted_) return;
  const EventRecord* event = tab.events->find(*seen_);
  source_wanted_ = event == nullptr && tab.events->problem(*seen_).empty();
  const std::string source = event != nullptr ? content::describe_event(*event, *tab.snapshot).source : "";
  if (!source.empty()) tab.selected_source = source;
}

void SelectionFollower::light_dependencies(session::SessionTab& tab) {
  if (!seen_) return;
  const auto dependencies = tab.analysis->dependencies();
  if (!dependencies || lit_version_ == dependencies->snapshot_version()) return;
  if (lit_version_) tab.related.clear();  // of what there was before
  lit_version_ = dependencies->snapshot_version();
  for (const analysis::Dependency& d : dependencies->predecessors(*seen_, kMostDependencies).dependencies) {
    tab.related.push_back(d.source);
  }
  for (const analysis::Dependency& d : dependencies->successors(*seen_, kMostDependencies).dependencies) {
    tab.related.push_back(d.target);
  }
}

void SelectionFollower::follow_chain(session::SessionTab& tab) {
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
        return std::shared_ptr<const analysis::DependencyChain>(std::make_shared<analysis::DependencyChain>(
            accelscope::analysis::dependency_chain(*dependencies, event, reader, kMostChain, c)));
      });
}

std::vector<SharedTrait> traits_of(const EventRecord& event, const Snapshot& snapshot) {
  std::vector<SharedTrait> traits;
  const auto by_text = [&](std::string id, const std::string& label, const std::string& search) {
    traits.push_back({std::move(id), label, {.range = {}, .tracks = {}, .terms = {{search, false}}}});
  };
  if (!event.name_text.empty())
    by_text("name", "named " + event.name_text, listing::search_of_text("name", event.name_text));
  const Schema* schema = event.lane != nullptr ? event.lane->schema.get() : nullptr;
  const auto by_role = [&](Role role, const char* id) {
    const auto column = schema != nullptr ? schema->find(role) : std::nullopt;
    if (!column || *column >= event.fields.size()) return;
    const auto* text = std::get_if<std::string>(&event.fields[*column]);
    if (text == nullptr || text->empty()) return;
    by_text(id, std::string("of the ") + id + " " + *text,
            listing::search_of_text(schema->columns[*column].name, *text));
  };
  by_role(Role::source_location, "line");
  by_role(Role::layer, "layer");
  if (event.lane != nullptr) {
    if (const TrackSnapshot* track = snapshot.find_track(event.lane->track)) {
      traits.push_back(
          {"lane", "of the lane " + track->track->name, {.range = {}, .tracks = {event.lane->track}, .terms = {}}});
    }
  }
  return traits;
}

void show_only(session::SessionTab& tab, const EventFilter& trait) {
  tab.change([&](session::ViewChoices& choices) {
    if (!trait.tracks.empty()) choices.filter.tracks = trait.tracks;
    for (const FilterTerm& term : trait.terms) add_term(choices.filter.terms, term);
  });
}

void hide(session::SessionTab& tab, const EventFilter& trait) {
  tab.change([&](session::ViewChoices& choices) {
    if (!trait.tracks.empty()) keep_tracks(choices.filter.tracks, *tab.snapshot, trait);
    for (const FilterTerm& term : trait.terms) add_term(choices.filter.terms, {term.search, !term.excluded});
  });
}

SelectedPart selected_part(const session::SessionTab& tab) {
  if (tab.region) return {*tab.region, "Zoom in and filter in by selection"};
  if (tab.selected) {
    const EventRecord* event = tab.events->find(*tab.selected);
    if (event != nullptr && !event->name_text.empty()) {
      return {{.range = {}, .tracks = {}, .terms = {{listing::search_of_text("name", event->name_text), false}}},
              "Filter in all named " + event->name_text};
    }
  }
  return {{.range = tab.view.whole_ns(), .tracks = {}, .terms = {}}, "Filter in what is visible"};
}

void filter_by_selection(session::SessionTab& tab) {
  if (tab.region || !tab.selected) return filter_by_part(tab);
  tab.events->when_known(session::EventIntent::filter, {*tab.selected}, [&tab] { filter_by_part(tab); });
}

}  // namespace accelscope::app::view
