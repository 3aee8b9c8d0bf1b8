#include "app/content/sql/console.h"

#include <array>
#include <chrono>
#include <string_view>

#include "app/session/analysis.h"

namespace accelscope::app {
namespace {

std::optional<std::size_t> find_column(const SqlResult& result, std::string_view name) {
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    if (result.columns[i] == name) return i;
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_in(const SqlResult& result, std::size_t row, std::string_view column) {
  const auto index = find_column(result, column);
  if (!index) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&result.at(row, *index));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

// Whether the query names a table whose ids are not those of events.
bool names_other_ids(std::string_view sql) {
  static const std::array<SqlTable, 2> others = {SqlTable{"track", {}, {}, 0}, SqlTable{"marker", {}, {}, 0}};
  return !named_tables(sql, others).empty();
}

// The event of the track, in the sub-lane if it is given, that begins at the time.
std::optional<EventId> event_of_track(EventReader& reader, std::int64_t track, std::optional<std::int64_t> depth,
                                      std::int64_t begin_ns) {
  const TrackSnapshot* found =
      track < 0 || track > kNone ? nullptr : reader.snapshot().find_track(static_cast<TrackNumber>(track));
  if (found == nullptr) return std::nullopt;
  for (const std::uint32_t index : found->lanes) {
    const LaneSnapshot& lane = reader.snapshot().lanes[index];
    if (depth && *depth != lane.data->lane.depth) continue;
    const auto first = reader.first_from(lane, begin_ns);
    if (!first || !*first) continue;
    const auto event = reader.read(**first);
    if (event && event->begin_ns == begin_ns) return **first;
  }
  return std::nullopt;
}

std::shared_ptr<const SqlAnswer> answer_query(const Store& store, const std::shared_ptr<const Snapshot>& snapshot,
                                              WorkerPool& pool, std::string typed, const std::string& sql,
                                              const EventFilter& filter, const std::shared_ptr<const EventMask>& known,
                                              TaskControl& control) {
  const auto begin = std::chrono::steady_clock::now();
  auto answer = std::make_shared<SqlAnswer>();
  answer->sql = std::move(typed);
  answer->snapshot_version = snapshot->version;
  answer->filter = filter;
  auto mask = filter_mask({store, snapshot, pool, control}, filter, known);
  if (mask) {
    answer->seen = count_passing(*snapshot, mask->get());
    answer->events = count_passing(*snapshot, nullptr);
    SqlSession session(store, snapshot, pool, std::move(*mask));
    auto result = session.run(sql, SqlConsole::kLimits, control);
    if (result) {
      answer->result = std::move(*result);
    } else {
      answer->error = result.message();
    }
  } else {
    answer->error = "The filter: " + mask.message();
  }
  answer->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

}  // namespace

SqlRowPlace place_of_row(const SqlAnswer& answer, std::size_t row, EventReader& reader) {
  const SqlResult& result = answer.result;
  SqlRowPlace place;
  place.begin_ns = integer_in(result, row, "ts_ns");
  if (place.begin_ns) {
    place.end_ns = integer_in(result, row, "end_ns");
    const auto duration = integer_in(result, row, "dur_ns");
    if (!place.end_ns && duration) place.end_ns = *place.begin_ns + *duration;
  }
  for (const std::string_view column : {"event_id", "id", "src_id", "dst_id"}) {
    const auto number = integer_in(result, row, column);
    if (!number || *number < 0) continue;
    if (column == "id" && !place.begin_ns && names_other_ids(answer.sql)) continue;
    const auto id = static_cast<EventId>(*number);
    const LaneSnapshot* lane = reader.snapshot().find_lane(lane_of(id));
    if (lane == nullptr || lane->chunk_of_ordinal(ordinal_of(id)) >= lane->chunk_count) continue;
    const auto event = reader.read(id);
    const bool other_time = column == "id" && place.begin_ns && event && event->begin_ns != *place.begin_ns;
    if (!event || other_time) continue;
    place.event = id;
    return place;
  }
  const auto track = integer_in(result, row, "track_id");
  if (place.begin_ns && track) {
    place.event = event_of_track(reader, *track, integer_in(result, row, "lane"), *place.begin_ns);
  }
  return place;
}

bool SqlConsole::update(const SessionTab& tab) {
  if (tables_task_.ready()) tables_ = tables_task_.take();
  if (!tables_task_.valid() && tables_of_tracks_ != tab.snapshot->tracks.size()) {
    tables_of_tracks_ = tab.snapshot->tracks.size();
    tables_task_ = pool_.start([store = tab.store, snapshot = tab.snapshot, &pool = pool_](TaskControl&) {
      const SqlSession session(*store, snapshot, pool);
      return session.tables();
    });
  }
  if (!task_.ready()) return false;
  answer_ = task_.take();
  return true;
}

void SqlConsole::run(const SessionTab& tab, std::string sql, const EventFilter& filter) {
  const SqlParameters parameters{whole_time(tab.view.begin_ns), whole_time(tab.view.end_ns), tab.selected};
  std::string bound = with_parameters(sql, parameters);
  task_ = pool_.start([store = tab.store, snapshot = tab.snapshot, &pool = pool_, typed = std::move(sql),
                       bound = std::move(bound), filter,
                       known = tab.analysis->known_mask(filter)](TaskControl& control) mutable {
    return answer_query(*store, snapshot, pool, std::move(typed), bound, filter, known, control);
  });
}

void SqlConsole::cancel() { task_ = {}; }

double SqlConsole::share() const noexcept {
  const std::uint64_t total = task_.total();
  return total == 0 ? -1 : static_cast<double>(task_.done()) / static_cast<double>(total);
}

}  // namespace accelscope::app
