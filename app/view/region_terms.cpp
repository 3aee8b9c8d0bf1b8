#include "app/view/region_terms.h"

#include <algorithm>

#include "app/content/selection_terms.h"

namespace accelscope::app {

namespace {

void keep_tracks(std::vector<TrackNumber>& tracks, const Snapshot& snapshot, const EventFilter& without) {
  std::vector<TrackNumber> kept;
  for (const TrackSnapshot& each : snapshot.tracks) {
    const TrackNumber number = each.track->number;
    const bool shown = tracks.empty() || std::find(tracks.begin(), tracks.end(), number) != tracks.end();
    if (shown && !without.has_track(number)) kept.push_back(number);
  }
  if (!kept.empty()) tracks = std::move(kept);  // none would mean all
}

void add_term(std::vector<FilterTerm>& terms, FilterTerm term) {
  if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(std::move(term));
}

}  // namespace

std::vector<SharedTrait> traits_of(const EventRecord& event, const Snapshot& snapshot) {
  std::vector<SharedTrait> traits;
  const auto by_text = [&](std::string id, const std::string& label, const std::string& search) {
    traits.push_back({std::move(id), label, {.range = {}, .tracks = {}, .terms = {{search, false}}}});
  };
  if (!event.name_text.empty()) by_text("name", "named " + event.name_text, search_of_text("name", event.name_text));
  const Schema* schema = event.lane != nullptr ? event.lane->schema.get() : nullptr;
  const auto by_role = [&](Role role, const char* id) {
    const auto column = schema != nullptr ? schema->find(role) : std::nullopt;
    if (!column || *column >= event.fields.size()) return;
    const auto* text = std::get_if<std::string>(&event.fields[*column]);
    if (text == nullptr || text->empty()) return;
    by_text(id, std::string("of the ") + id + " " + *text, search_of_text(schema->columns[*column].name, *text));
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

void show_only(SessionTab& tab, const EventFilter& trait) {
  tab.change([&](ViewChoices& choices) {
    if (!trait.tracks.empty()) choices.filter.tracks = trait.tracks;
    for (const FilterTerm& term : trait.terms) add_term(choices.filter.terms, term);
  });
}

void hide(SessionTab& tab, const EventFilter& trait) {
  tab.change([&](ViewChoices& choices) {
    if (!trait.tracks.empty()) keep_tracks(choices.filter.tracks, *tab.snapshot, trait);
    for (const FilterTerm& term : trait.terms) add_term(choices.filter.terms, {term.search, !term.excluded});
  });
}

SelectedPart selected_part(const SessionTab& tab) {
  if (tab.region) return {*tab.region, "Zoom in and filter in by selection"};
  if (tab.selected) {
    const EventRecord* event = tab.events->find(*tab.selected);
    if (event != nullptr && !event->name_text.empty()) {
      return {{.range = {}, .tracks = {}, .terms = {{search_of_text("name", event->name_text), false}}},
              "Filter in all named " + event->name_text};
    }
  }
  return {{.range = tab.view.whole_ns(), .tracks = {}, .terms = {}}, "Filter in what is visible"};
}

namespace {

void filter_by_part(SessionTab& tab) {
  const EventFilter part = selected_part(tab).filter;
  tab.follow = false;
  if (tab.region && part.range) {
    tab.view = {static_cast<double>(part.range->begin_ns), static_cast<double>(part.range->end_ns)};
  }
  tab.change([&](ViewChoices& choices) { choices.filter = both(choices.filter, part); });
  tab.region.reset();
}

}  // namespace

void filter_by_selection(SessionTab& tab) {
  if (tab.region || !tab.selected) return filter_by_part(tab);
  tab.events->when_known(EventWish::filter, {*tab.selected}, [&tab] { filter_by_part(tab); });
}

}  // namespace accelscope::app
