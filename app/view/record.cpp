#include "app/view/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/rows/groups.h"
#include "app/rows/rows.h"
#include "app/view/colour_choices.h"
#include "app/view/selection.h"

namespace accelscope::app::view {
namespace {

// The keys of rows as this session has them: another machine's rows are found by all but its name.
[[nodiscard]] rows::RowChoices with_own_keys(rows::RowChoices rows, const rows::TrackNames& names) {
  const auto own = [&names](const std::string& key) {
    const auto name = rows::track_in_key(key);
    const auto track = name ? names.find(*name) : std::nullopt;
    return track ? rows::row_key(names, *track) : key;
  };
  const auto own_set = [&own](std::set<std::string>& keys) {
    std::set<std::string> found;
    for (const std::string& key : keys) found.insert(own(key));
    keys = std::move(found);
  };
  const auto own_map = [&own](auto& values) {
    std::remove_reference_t<decltype(values)> found;
    for (auto& [key, value] : values) found.emplace(own(key), std::move(value));
    values = std::move(found);
  };
  own_map(rows.open);
  own_set(rows.hidden);
  std::transform(rows.pinned.begin(), rows.pinned.end(), rows.pinned.begin(), own);
  own_map(rows.sizes);
  own_map(rows.order);
  for (auto& [parent, keys] : rows.order) std::transform(keys.begin(), keys.end(), keys.begin(), own);
  return rows;
}

// Tracks of the filter, and the names of those that there are not: a lack of them is told.
[[nodiscard]] std::vector<TrackNumber> own_tracks(const ViewLink& link, const rows::TrackNames& names, bool grows,
                                                  std::vector<std::string>& missing,
                                                  std::vector<std::string>& reported) {
  std::vector<TrackNumber> tracks;
  for (const std::string& name : link.filter_tracks) {
    if (const auto track = names.find(name)) {
      tracks.push_back(*track);
    } else {
      missing.push_back(name);
    }
  }
  const char* const lack = grows ? "have not come yet" : "are not in this session";
  if (!missing.empty() && tracks.empty()) {
    reported.push_back(fmt::format("The lanes of the view's filter {}; all lanes pass", lack));
  } else if (!missing.empty()) {
    reported.push_back(
        fmt::format("{} of {} lanes of the view's filter {}", missing.size(), link.filter_tracks.size(), lack));
  }
  return tracks;
}

// Colours by columns that the session's tables have; the others are told. Tables that it does not have may come.
void keep_own_colours(const Snapshot& snapshot, session::ViewChoices& choices, std::vector<std::string>& reported) {
  std::erase_if(choices.colour_by, [&](const auto& choice) {
    const std::vector<ColourColumn> columns = colour_columns(snapshot, choice.first);
    const bool known = columns.empty() || std::ranges::any_of(columns, [&](const ColourColumn& column) {
                         return column.column == choice.second;
                       });
    if (!known) {
      reported.push_back(
          fmt::format("The view colours {} by {}, which this session does not have; they are coloured by name",
                      choice.first, choice.second));
    }
    return !known;
  });
}

[[nodiscard]] bool meets_session(const session::ViewRange& range, const Snapshot& snapshot) {
  const SessionSpan span = session_span(snapshot);
  return range.begin_ns <= span.end_ns && range.end_ns >= span.begin_ns;
}

void show_view(session::SessionTab& tab, const std::string& text, const TellLinked& tell) {
  if (text.empty()) return;
  const Result<ViewLink> link = read_view_link(text);
  if (!link) return tell(fmt::format("The view that the session was saved with cannot be shown: {}", link.message()));
  follow_link(tab, *link, tell);
}

void select_linked(session::SessionTab& tab, const std::optional<LinkedEvent>& event, const TellLinked& tell,
                   const std::function<void(EventId)>& reveal) {
  clear_selection(tab);
  tab.also_selected.clear();
  if (!event) return;
  tab.events->when_known(session::EventIntent::selection, {event->id}, [&tab, event = *event, tell, reveal] {
    const EventRecord* record = tab.events->find(event.id);
    if (record == nullptr || record->name_text != event.name) {
      return tell(fmt::format("The event that was selected, {}, is not in this session", event.name));
    }
    tab.selected = event.id;
    if (reveal) reveal(event.id);
  });
}

}  // namespace

ViewLink link_to_view(const session::SessionTab& tab) {
  ViewLink link;
  link.range = tab.view;
  link.choices = tab.choices;
  if (!tab.choices.filter.tracks.empty()) {
    const rows::TrackNames names(*tab.snapshot);
    for (const TrackNumber track : tab.choices.filter.tracks) link.filter_tracks.push_back(names.of(track));
    link.choices.filter.tracks.clear();
  }
  if (!tab.selected) return link;
  const EventRecord* record = tab.events->find(*tab.selected);
  if (record != nullptr) link.selected = LinkedEvent{*tab.selected, record->name_text};
  return link;
}

void follow_link(session::SessionTab& tab, const ViewLink& link, const TellLinked& tell,
                 const std::function<void(EventId)>& reveal) {
  std::vector<std::string> reported;
  const rows::TrackNames names(*tab.snapshot);
  session::ViewState state{tab.view, link.choices};
  state.choices.rows = with_own_keys(link.choices.rows, names);
  std::vector<std::string> missing;
  state.choices.filter.tracks = own_tracks(link, names, session::may_grow(tab), missing, reported);
  tab.awaited = {std::move(missing), state.choices.filter, tab.snapshot->tracks.size()};
  keep_own_colours(*tab.snapshot, state.choices, reported);
  if (link.range && meets_session(*link.range, *tab.snapshot)) {
    state.view = *link.range;
  } else if (link.range) {
    reported.emplace_back("The view's range lies outside this session; the range stays");
  }
  tab.restore(state);
  tab.remember_view();
  for (std::string& each : reported) tell(std::move(each));
  select_linked(tab, link.selected, tell, reveal);
  for (const std::string& part : link.passed_over) {
    tell(fmt::format("The view's part \"{}\" is of a newer version and was passed over", part));
  }
}

void take_awaited_lanes(session::SessionTab& tab) {
  session::AwaitedLanes& awaited = tab.awaited;
  if (awaited.names.empty() || awaited.among == tab.snapshot->tracks.size()) return;
  awaited.among = tab.snapshot->tracks.size();
  if (tab.choices.filter != awaited.filter) return awaited.names.clear();
  const rows::TrackNames names(*tab.snapshot);
  std::erase_if(awaited.names, [&](const std::string& name) {
    const auto track = names.find(name);
    if (track) awaited.filter.tracks.push_back(*track);
    return track.has_value();
  });
  tab.choices.filter = awaited.filter;
}

void keep_view(session::SessionTab& tab, session::StoreWriter::Then then) {
  tab.writer->write(
      [link = link_to_view(tab), selected = tab.selected, snapshot = tab.snapshot,
       key = tab.view_key](Store& store) mutable {
        if (selected && !link.selected) {  // so new that nobody has read it yet
          const Result<EventRecord> record = EventReader(store, snapshot).read(*selected);
          if (record) link.selected = LinkedEvent{*selected, record->name_text};
        }
        return store.set_overlay_value(key, to_text(link));
      },
      std::move(then));
}

void show_retained_view(session::SessionTab& tab, const TellLinked& tell) {
  show_view(tab, session::retained_value(tab, tab.view_key), tell);
}

void ask_retained_view(session::SessionTab& tab, const TellLinked& tell) {
  auto text = std::make_shared<std::string>();
  tab.writer->write(
      [text, key = tab.view_key](Store& store) {
        *text = store.overlay_value(key);
        return Result<void>();
      },
      [&tab, text, tell](const Result<void>&) { show_view(tab, *text, tell); });
}

void choose_rows(session::SessionTab& tab, rows::RowChoices rows) {
  if (rows == tab.choices.rows) return;
  tab.change([&](session::ViewChoices& choices) { choices.rows = std::move(rows); });
}

rows::RowChoices full_view(rows::RowChoices choices) {
  choices.hidden.clear();
  choices.name_filter.clear();
  choices.layer_depth = 0;
  choices.minimal = choices.platform = false;
  return choices;
}

rows::RowChoices minimal_view(rows::RowChoices choices) {
  choices = full_view(std::move(choices));
  choices.minimal = true;
  return choices;
}

rows::RowChoices platform_view(rows::RowChoices choices) {
  choices = full_view(std::move(choices));
  choices.platform = true;
  return choices;
}

std::uint32_t layer_levels(const Snapshot& snapshot) {
  std::size_t levels = 0;
  for (const rows::TrackPlace& place : rows::placed_tracks(snapshot)) {
    if (rows::is_layer_group(place.group)) levels = std::max(levels, place.track->lanes.size());
  }
  return static_cast<std::uint32_t>(levels);
}

std::vector<SemaphoreRow> semaphore_rows(const Snapshot& snapshot) {
  std::vector<SemaphoreRow> rows;
  for (const rows::TimelineRow& heading : rows::compose_rows(snapshot, nullptr, {})) {
    if (heading.kind != rows::RowKind::group || !rows::is_semaphore_group(heading.group)) continue;
    const std::string_view title = rows::row_group(heading.group).title;
    std::string device = heading.label;  // "nc0 Semaphores"
    device.resize(device.size() - title.size());
    for (const rows::RowMember& member : heading.members)
      rows.push_back({member.key, heading.key, device + member.label});
  }
  return rows;
}

void show_semaphores(rows::RowChoices& choices, const std::vector<SemaphoreRow>& rows, bool shown) {
  for (const SemaphoreRow& row : rows) {
    if (!shown) {
      choices.hidden.insert(row.key);
      continue;
    }
    choices.hidden.erase(row.key);
    choices.open[row.heading] = true;
  }
}

}  // namespace accelscope::app::view
