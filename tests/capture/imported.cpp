#include "tests/capture/imported.h"

namespace accelscope::capture {

std::vector<EventValues> Imported::events(std::string_view table) const {
  std::vector<EventValues> events;
  for (const LaneSnapshot& lane : snapshot_->lanes) {
    if (lane.schema->name != table) continue;
    const TrackSnapshot* track = snapshot_->find_track(lane.track);
    std::uint64_t ordinal = 0;
    for (std::uint32_t chunk = 0; chunk < lane.chunk_count; ++chunk) {
      const Result<Bytes> bytes = store_->read_chunk(lane, chunk);
      REQUIRE(bytes.ok());
      const Result<ChunkView> view = ChunkView::parse(bytes.value());
      REQUIRE(view.ok());
      for (std::uint32_t row = 0; row < view.value().count(); ++row) {
        EventValues event;
        event.track = track->track->name;
        event.kind = track->track->kind;
        event.device = track->track->device;
        event.host = track->track->host;
        event.depth = lane.data->lane.depth;
        event.id = make_event_id(local_of(lane.number()), ordinal++);
        std::int64_t begin = 0;
        std::int64_t end = 0;
        view.value().event_times(row, begin, end);
        event.begin = lane.clock->to_ns(begin);
        event.end = lane.clock->to_ns(end);
        event.name =
            snapshot_->strings->text(snapshot_->strings->session_id(scope_of(lane.number()), view.value().name(row)));
        read_row(view.value(), *lane.schema, row, scope_of(lane.number()), event);
        events.push_back(std::move(event));
      }
    }
  }
  return events;
}

void Imported::read_row(const ChunkView& view, const Schema& schema, std::uint32_t row, std::uint32_t scope,
                        EventValues& event) const {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (!view.has_value(i, row)) continue;
    const std::string& name = schema.columns[i].name;
    switch (schema.columns[i].type) {
      case ColumnType::int64:
        event.integers[name] = view.int64(i, row);
        break;
      case ColumnType::uint64:
      case ColumnType::boolean:
        event.integers[name] = static_cast<std::int64_t>(view.uint64(i, row));
        break;
      case ColumnType::float64:
        event.reals[name] = view.float64(i, row);
        break;
      case ColumnType::string:
        event.strings[name] =
            snapshot_->strings->text(snapshot_->strings->session_id(scope, static_cast<StringId>(view.uint64(i, row))));
        break;
      case ColumnType::text:
        event.strings[name] = view.text(i, row);
        break;
    }
  }
}

}  // namespace accelscope::capture
