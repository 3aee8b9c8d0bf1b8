#include "app/session/tab.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace accelscope::app::session {

static auto values_of(const Marker& marker) {
  return std::tie(marker.id, marker.set_name, marker.ts_ns, marker.end_ns, marker.name, marker.note);
}

bool EditState::operator==(const EditState& other) const {
  return shown == other.shown && marker_sets == other.marker_sets &&
         std::ranges::equal(markers, other.markers, {}, values_of, values_of);
}

void note_edits(SessionTab& tab) {
  if (const ViewState* shown = tab.history.current()) {
    tab.edits.push({*shown, tab.markers, retained_value(tab, kMarkerSetsKey)});
  }
}

static void restore_markers(SessionTab& tab, const std::vector<Marker>& wanted) {
  const std::vector<Marker> before = tab.markers;
  const auto has = [](const std::vector<Marker>& markers, const Marker& marker, bool whole) {
    return std::ranges::any_of(markers, [&](const Marker& each) {
      return whole ? values_of(each) == values_of(marker) : each.id == marker.id;
    });
  };
  for (const Marker& marker : before) {
    if (!has(wanted, marker, false)) remove_marker(tab, marker.id);
  }
  for (const Marker& marker : wanted) {
    if (!has(before, marker, true)) put_marker(tab, marker);
  }
}

std::string undo_edit(SessionTab& tab, bool forward) {
  if (!tab.follow) tab.remember_view();  // a zoom under way counts as finished
  note_edits(tab);
  if (!(forward ? tab.edits.can_go_forward() : tab.edits.can_go_back())) return "";
  const EditState from = *tab.edits.current();
  const EditState to = forward ? tab.edits.forward() : tab.edits.back();
  std::string what = to.shown.choices.filter != from.shown.choices.filter ? "the filter"
                     : to.shown.choices.rows != from.shown.choices.rows   ? "the rows"
                     : to.shown.choices != from.shown.choices             ? "what is shown"
                     : to.shown.view != from.shown.view                   ? "the view"
                                                                          : "";
  tab.restore(to.shown);
  tab.remember_view();
  if (!std::ranges::equal(to.markers, from.markers, {}, values_of, values_of)) {
    restore_markers(tab, to.markers);
    what += (what.empty() ? "" : " and ") + std::string("the markers");
  }
  if (to.marker_sets != from.marker_sets) {
    note_retained_change(tab);
    keep_value(tab, std::string(kMarkerSetsKey), to.marker_sets);
    what += (what.empty() ? "" : " and ") + std::string("the sets of markers");
  }
  return (forward ? "Did again: " : "Undid: ") + what;
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

std::optional<LaidBeside> laid_beside(const SessionTab& tab, const ComparedSession& compared, Alignment how) {
  const SessionTab& other = *compared.session;
  const WorkSpan here = work_of(tab), there = work_of(other);
  switch (how) {
    case Alignment::start:
      return LaidBeside{static_cast<double>(tab.snapshot->begin_ns), static_cast<double>(other.snapshot->begin_ns)};
    case Alignment::first_activity:
      return LaidBeside{here.begin, there.begin};
    case Alignment::end:
      return LaidBeside{here.end, there.end};
    case Alignment::relative:
      return LaidBeside{here.begin, there.begin,
                        std::max(there.end - there.begin, 1.0) / std::max(here.end - here.begin, 1.0)};
    case Alignment::iteration: {
      const analysis::SharedTurns* turns = compared.turns.get();
      if (turns == nullptr || turns->base.empty() || turns->other.empty()) return std::nullopt;
      const std::size_t turn = std::min({tab.aligned_turn, turns->base.size() - 1, turns->other.size() - 1});
      return LaidBeside{static_cast<double>(turns->base[turn].begin_ns),
                        static_cast<double>(turns->other[turn].begin_ns)};
    }
    case Alignment::marker:
      break;
  }
  for (const Marker& marker : tab.markers) {
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

std::vector<SessionTab*> sessions_of(SessionTab& tab) {
  std::vector<SessionTab*> all;
  for (const std::size_t number : tab.order) all.push_back(&compared_session(tab, number));
  return all;
}

void exchange_base(SessionTab& tab, std::size_t place) {
  std::swap(tab.order.front(), tab.order[place]);
  name_comparison(tab);
}

void remove_side(SessionTab& tab, std::size_t number) {
  std::erase(tab.order, number);
  for (std::size_t& each : tab.order) each -= each > number ? 1U : 0U;
  if (tab.touched == number) tab.touched = 0;
  if (tab.touched > number) --tab.touched;
  tab.beside.erase(tab.beside.begin() + static_cast<std::ptrdiff_t>(number - 1));
  name_comparison(tab);
}

void name_comparison(SessionTab& tab) {
  std::string title;
  for (const SessionTab* each : sessions_of(tab)) title += (title.empty() ? "" : " : ") + own_title(*each);
  tab.title = std::move(title);
}

std::vector<std::string> begin_frame(SessionTab& tab) {
  if (tab.store->version() != tab.snapshot->version) tab.snapshot = tab.store->snapshot();
  tab.events->begin_frame(tab.snapshot);
  return tab.writer->begin_frame();
}

}  // namespace accelscope::app::session
