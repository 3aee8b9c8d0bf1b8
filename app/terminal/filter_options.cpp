#include "app/terminal/filter_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/view/marker_sets.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "core/search/filter_mask.h"
#include "core/search/hint.h"

namespace accelscope::app::terminal {
namespace {

std::vector<TrackNumber> named_tracks(const Snapshot& snapshot, const std::string& text) {
  TrackNumber number = 0;
  if (read_number(text, number) && snapshot.find_track(number) != nullptr) return {number};
  const std::string wanted = lower_case(text);
  std::vector<TrackNumber> exact, partial;
  for (const TrackSnapshot& each : snapshot.tracks) {
    const std::string name = lower_case(each.track->name);
    if (name == wanted) exact.push_back(each.track->number);
    if (name.find(wanted) != std::string::npos) partial.push_back(each.track->number);
  }
  return exact.empty() ? partial : exact;
}

std::string some_names(const Snapshot& snapshot) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> names;
  for (const TrackSnapshot& each : snapshot.tracks) {
    if (!each.lanes.empty() && names.size() < kMost) names.push_back(each.track->name);
  }
  return fmt::format("{}{}", fmt::join(names, ", "), names.size() == kMost ? " ..." : "");
}

// Of each search by itself, excluded ones aside.
Result<void> inform_hints(const QueryContext& query, const EventFilter& filter, const CommandRun& run) {
  const LaneIndices lanes = search::searched_lanes(*query.snapshot);
  for (const FilterTerm& term : filter.terms) {
    if (term.excluded) continue;
    const auto parsed = TRY(search::parse_search(term.search));
    const auto found = TRY(search::EventSearch::run(query, parsed, lanes));
    const auto hint = TRY(search::search_hint(query, parsed, lanes, found.total()));
    if (hint.text.empty()) continue;
    run.inform(fmt::format("accelscope: --filter {}: {}{}", term.search, hint.text,
                           hint.instead.empty() ? "" : fmt::format("; try --filter '{}'", hint.instead)));
  }
  return {};
}

// Parents come before what lies below them in no particular order, so it goes on until nothing is added.
void add_children(const Snapshot& snapshot, std::vector<TrackNumber>& tracks) {
  for (bool added = true; std::exchange(added, false);) {
    for (const TrackSnapshot& each : snapshot.tracks) {
      const auto has = [&](TrackNumber number) { return std::ranges::find(tracks, number) != tracks.end(); };
      if (each.track->parent == kNone || has(each.track->number) || !has(each.track->parent)) continue;
      tracks.push_back(each.track->number);
      added = true;
    }
  }
}

}  // namespace

void declare_filter(command_line::OptionSet& options, FilterOptions& filter) {
  options
      .add_option("--filter", filter.terms,
                  "Only events that match the search, as it is typed in the viewer; --filter='-TEXT' or '!TEXT' leaves "
                  "out what matches. May be given several times")
      .repeats();
  options
      .add_option("--tracks", filter.tracks,
                  "Only these tracks and what lies below them: numbers, names or parts of them")
      .separated_by(',');
  options.add_option("--range", filter.range, "Time range, such as 12.5us:40us, 10%:20% or #marker1:#marker2");
}

Result<EventFilter> read_filter(const FilterOptions& options, const Store& store) {
  EventFilter filter;
  const auto snapshot = store.snapshot();
  if (!options.range.empty()) {
    const auto range = view::parse_marker_range(options.range, {snapshot->begin_ns, snapshot->end_ns}, store.markers());
    if (!range) return Error{fmt::format("--range: {}", range.message())};
    filter.range = *range;
  }
  for (const std::string& text : options.tracks) {
    const std::vector<TrackNumber> found = named_tracks(*snapshot, text);
    if (found.empty()) {
      return Error{fmt::format("--tracks {}: no track is named so; there are {}", text, some_names(*snapshot))};
    }
    filter.tracks.insert(filter.tracks.end(), found.begin(), found.end());
  }
  add_children(*snapshot, filter.tracks);
  std::ranges::sort(filter.tracks);
  filter.tracks.erase(std::unique(filter.tracks.begin(), filter.tracks.end()), filter.tracks.end());
  for (const std::string& text : options.terms) {
    const bool excluded = text.starts_with('-') || text.starts_with('!');
    const std::string search = excluded ? text.substr(1) : text;
    const auto parsed = search::parse_search(search);
    if (!parsed) return Error{fmt::format("--filter {}: {}", text, parsed.message())};
    if (parsed->terms.empty()) return Error{"--filter: the search is empty; try --filter MATMUL"};
    filter.terms.push_back({search, excluded});
  }
  return filter;
}

std::string SessionFilter::text() const {
  if (filter.empty()) return "";
  return fmt::format("{} of {} events pass the filter", format_count(passing), format_count(all));
}

Result<SessionFilter> make_filter(const FilterOptions& options, const Store& store, const CommandRun* run) {
  const auto filter = TRY(read_filter(options, store));
  SessionFilter made;
  made.filter = filter;
  WorkerPool pool;
  TaskControl control;
  const auto snapshot = store.snapshot();
  auto mask = search::filter_mask({store, snapshot, pool, control}, filter);
  if (!mask) return Error{fmt::format("{}{}", options.terms.empty() ? "" : "--filter: ", mask.message())};
  made.mask = std::move(*mask);
  made.passing = count_passing(*snapshot, made.mask.get());
  made.all = count_passing(*snapshot, nullptr);
  if (run != nullptr) TRY(inform_hints({store, snapshot, pool, control}, filter, *run));
  return made;
}

}  // namespace accelscope::app::terminal
