#include "core/scan/event_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.h"
#include "core/scan/chunk_scan.h"
#include "core/scan/wait_names.h"

namespace accelscope {
namespace {

constexpr std::size_t kRetainedChunks = 16;

EventId event_id(const LaneSnapshot& lane, std::uint32_t chunk, std::uint32_t row) noexcept {
  return make_event_id(lane.number(), lane.chunk(chunk).first_ordinal + row);
}

FieldValue read_field(const ChunkView& view, std::size_t column, std::uint32_t row, ColumnType type,
                      const StringPool& strings, std::uint32_t scope) {
  if (column >= view.column_count() || !view.has_value(column, row)) return {};
  switch (type) {
    case ColumnType::int64:
      return view.int64(column, row);
    case ColumnType::uint64:
      return view.uint64(column, row);
    case ColumnType::float64:
      return view.float64(column, row);
    case ColumnType::boolean:
      return view.uint64(column, row) != 0;
    case ColumnType::string:
      return std::string(strings.text(strings.session_id(scope, static_cast<std::uint32_t>(view.uint64(column, row)))));
    case ColumnType::text:
      return std::string(view.text(column, row));
  }
  return {};
}

// Whether a chunk may hold events of the name, as far as its totals tell.
bool may_hold(const LaneSnapshot& lane, std::uint32_t chunk, StringId name) {
  if (chunk >= lane.totals.stretches[0]) return true;
  const NameTotals::Stretch totals = lane.data->totals.stretch(0, chunk);
  return !totals.retained || std::any_of(totals.totals, totals.totals + totals.size,
                                         [name](const NameTotal& total) { return total.name == name; });
}

Error no_event(EventId id) {
  return Error{fmt::format("event {}: this session has no such event; it may belong to another session", id)};
}

}  // namespace

EventReader::EventReader(const Store& store, std::shared_ptr<const Snapshot> snapshot)
    : store_(store), snapshot_(std::move(snapshot)), chunks_(std::make_unique<ChunkCache>(kRetainedChunks)) {}

Result<EventRecord> EventReader::read(EventId id) {
  const LaneSnapshot* lane = id == kNoEvent ? nullptr : snapshot_->find_lane(lane_of(id));
  if (lane == nullptr) return no_event(id);
  const std::uint32_t chunk_index = lane->chunk_of_ordinal(ordinal_of(id));
  if (chunk_index >= lane->chunk_count) return no_event(id);
  const std::shared_ptr<const LoadedChunk> loaded = TRY(chunk(*lane, chunk_index));
  const ChunkView& view = loaded->view;
  const auto row = static_cast<std::uint32_t>(ordinal_of(id) - lane->chunk(chunk_index).first_ordinal);
  if (row >= view.count()) return no_event(id);

  const StringPool& strings = *snapshot_->strings;
  const std::uint32_t scope = scope_of(lane->number());
  EventRecord record;
  record.id = id;
  record.lane = lane;
  view.event_times(row, record.begin_ticks, record.end_ticks);
  record.begin_ns = lane->clock->to_ns(record.begin_ticks);
  record.end_ns = lane->clock->to_ns(record.end_ticks);
  record.name = strings.session_id(scope, view.name(row));
  record.name_text = strings.text(record.name);
  record.waits = WaitNames(lane->schema.get(), strings).contains(record.name);
  if (lane->schema) {
    record.fields.reserve(lane->schema->columns.size());
    for (std::size_t i = 0; i < lane->schema->columns.size(); ++i) {
      record.fields.push_back(read_field(view, i, row, lane->schema->columns[i].type, strings, scope));
    }
  }
  return record;
}

Result<std::optional<EventId>> EventReader::first_from(const LaneSnapshot& lane, std::int64_t ns) {
  const std::int64_t ticks = lane.clock->to_ticks(ns);
  const std::uint32_t chunks = chunks_before(lane, ticks);
  if (chunks > 0) {
    const auto loaded = TRY(chunk(lane, chunks - 1));
    const std::uint32_t row = rows_before(loaded->view, ticks);
    if (row < loaded->view.count()) return std::optional(event_id(lane, chunks - 1, row));
  }
  if (chunks < lane.chunk_count) return std::optional(event_id(lane, chunks, 0));
  return std::optional<EventId>();
}

Result<std::optional<EventId>> EventReader::last_before(const LaneSnapshot& lane, std::int64_t ns) {
  const std::int64_t ticks = lane.clock->to_ticks(ns);
  const std::uint32_t chunks = chunks_before(lane, ticks);
  if (chunks == 0) return std::optional<EventId>();
  const auto loaded = TRY(chunk(lane, chunks - 1));
  return std::optional(event_id(lane, chunks - 1, rows_before(loaded->view, ticks) - 1));
}

Result<std::optional<EventId>> EventReader::neighbour(EventId from, bool after, bool same_name,
                                                      const TaskControl& control) {
  const EventRecord event = TRY(read(from));
  const LaneSnapshot& lane = *event.lane;
  const std::uint64_t ordinal = ordinal_of(from);
  const std::uint32_t first = lane.chunk_of_ordinal(ordinal);
  if (!same_name) {
    const ChunkPlace& place = lane.chunk(first);
    const auto row = static_cast<std::uint32_t>(ordinal - place.first_ordinal);
    if (after && row + 1 < place.count) return std::optional(from + 1);
    if (!after && row > 0) return std::optional(from - 1);
    // Of the chunk beside it: between the two events may have been lost.
    if (after ? first + 1 >= lane.chunk_count : first == 0) return std::optional<EventId>();
    return std::optional(after ? event_id(lane, first + 1, 0)
                               : event_id(lane, first - 1, lane.chunk(first - 1).count - 1));
  }
  const StringMap names(snapshot_->strings->scope_map(scope_of(lane.number())));
  for (std::uint32_t i = first; i < lane.chunk_count; after ? ++i : --i) {  // before the first it wraps, and ends
    if (control.cancelled()) return cancelled_error();
    if (!may_hold(lane, i, event.name)) continue;
    const auto loaded = TRY(chunk(lane, i));
    const ChunkView& view = loaded->view;
    const auto own = static_cast<std::uint32_t>(ordinal - lane.chunk(first).first_ordinal);  // in the first chunk
    const std::uint32_t count = view.count();
    std::uint32_t row = after ? (i == first ? own + 1 : 0) : (i == first ? own : count) - 1;
    for (; row < count; after ? ++row : --row) {
      if (names[view.name(row)] == event.name) return std::optional(event_id(lane, i, row));
    }
  }
  return std::optional<EventId>();
}

Result<std::optional<EventId>> EventReader::event_at(const LaneSnapshot& lane, std::int64_t ns, std::int64_t slack_ns) {
  const auto times_of = [&](EventId id, std::int64_t& begin_ns, std::int64_t& end_ns) -> Result<void> {
    const std::uint32_t chunk_index = lane.chunk_of_ordinal(ordinal_of(id));
    const auto loaded = TRY(chunk(lane, chunk_index));
    const auto row = static_cast<std::uint32_t>(ordinal_of(id) - lane.chunk(chunk_index).first_ordinal);
    loaded->view.event_times(row, begin_ns, end_ns);
    begin_ns = lane.clock->to_ns(begin_ns);
    end_ns = lane.clock->to_ns(end_ns);
    return {};
  };
  std::optional<EventId> nearest;
  std::int64_t distance = slack_ns;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  const auto before = TRY(last_before(lane, ns + 1));
  if (before) {
    TRY(times_of(*before, begin_ns, end_ns));
    if (ns < end_ns || ns == begin_ns) return before;
    const std::int64_t from_last = ns - std::max(begin_ns, end_ns - 1);  // the end itself is not covered
    if (from_last <= distance) {
      nearest = before;
      distance = from_last;
    }
  }
  const auto after = TRY(first_from(lane, ns + 1));
  if (after) {
    TRY(times_of(*after, begin_ns, end_ns));
    if (begin_ns - ns <= distance && (!nearest || begin_ns - ns < distance)) nearest = after;
  }
  return nearest;
}

std::string field_text(const Column& column, const FieldValue& value) {
  const auto with_unit = [&](std::string text) {
    if (!column.unit.empty()) text += " " + column.unit;
    return text;
  };
  struct Writer {
    const Column& column;
    const decltype(with_unit)& unit;
    // Ids are copied and searched for, never added up: no commas.
    [[nodiscard]] bool plain() const { return column.role == Role::key || column.group == "IDs"; }
    std::string operator()(std::monostate) const { return "–"; }
    std::string operator()(std::int64_t number) const {
      if (plain()) return fmt::format("{}", number);
      return unit(number < 0 ? format_signed(number) : format_count(static_cast<std::uint64_t>(number)));
    }
    std::string operator()(std::uint64_t number) const {
      if (column.role == Role::address) return fmt::format("{:#x}", number);
      if (plain()) return fmt::format("{}", number);
      return unit(format_count(number));
    }
    std::string operator()(double number) const { return unit(format_number(number)); }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{column, with_unit}, value);
}

}  // namespace accelscope
