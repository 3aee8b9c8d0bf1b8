#include "core/export/base/event_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "core/base/json.h"

namespace accelscope::exporting {

std::string_view EventCells::name() const { return snapshot_->strings->text(reader_->name(*event_)); }

std::optional<std::uint64_t> EventCells::stored(std::size_t column) const {
  const BlockValues values = reader_->at(*event_).column(column, schema().columns[column].type);
  const std::uint32_t at = event_->row % kBlockEvents;
  if (!values.has(at)) return std::nullopt;
  return values.values[at];
}

std::optional<std::int64_t> EventCells::integer(std::string_view column) const {
  const std::optional<std::size_t> place = schema().find(column);
  if (!place) return std::nullopt;
  const ColumnType type = schema().columns[*place].type;
  if (type != ColumnType::int64 && type != ColumnType::uint64 && type != ColumnType::boolean) return std::nullopt;
  const std::optional<std::uint64_t> value = stored(*place);
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

std::optional<double> EventCells::real(std::string_view column) const {
  const std::optional<std::size_t> place = schema().find(column);
  if (!place) return std::nullopt;
  if (schema().columns[*place].type == ColumnType::float64) {
    const std::optional<std::uint64_t> value = stored(*place);
    return value ? std::optional(std::bit_cast<double>(*value)) : std::nullopt;
  }
  const std::optional<std::int64_t> whole = integer(column);
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::string EventCells::text(std::string_view column) const {
  const std::optional<std::size_t> place = schema().find(column);
  return place ? text(*place) : std::string();
}

std::string EventCells::text(std::size_t column) const {
  const std::optional<std::uint64_t> value = stored(column);
  if (!value) return {};
  switch (schema().columns[column].type) {
    case ColumnType::int64:
      return fmt::format("{}", static_cast<std::int64_t>(*value));
    case ColumnType::uint64:
      return fmt::format("{}", *value);
    case ColumnType::float64:
      return fmt::format("{}", std::bit_cast<double>(*value));
    case ColumnType::boolean:
      return *value != 0 ? "true" : "false";
    case ColumnType::string:
      return std::string(snapshot_->strings->text(static_cast<StringId>(*value)));
    case ColumnType::text:
      return std::string(reader_->text(*event_, column));
  }
  return {};
}

bool has_table(const Snapshot& snapshot, std::string_view table) {
  return std::ranges::any_of(snapshot.tracks, [&](const TrackSnapshot& track) {
    return track.schema != nullptr && track.schema->name == table;
  });
}

Result<void> for_each_event(const ExportRequest& request, std::string_view table,
                            const std::function<void(const EventCells&)>& visit) {
  const Result<ExportPlan> plan = plan_export(
      request, [&](const TrackSnapshot& track) { return track.schema != nullptr && track.schema->name == table; },
      PieceOrder::rows);
  if (!plan) return plan.error();
  PieceReader reader(request.query, request.range);
  EventCells cells;
  cells.snapshot_ = request.query.snapshot.get();
  cells.reader_ = &reader;
  std::uint64_t done = 0;
  for (const EventPiece& piece : plan->pieces) {
    if (request.query.control.cancelled()) return Error{"cancelled"};
    const ExportTrack& track = plan->tracks[piece.track];
    if (Result<void> opened = reader.open(track, piece); !opened) return opened;
    cells.track_ = track.snapshot->track.get();
    for (const PieceEvent& event : reader.events()) {
      cells.event_ = &event;
      visit(cells);
    }
    done += reader.events().size();
    if (request.progress) request.progress(done, plan->events);
  }
  return {};
}

void append_microseconds(std::string& out, std::int64_t ns) {
  std::uint64_t left = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    out += '-';
    left = 0 - left;
  }
  append_json_integer(out, left / 1000);
  const auto part = static_cast<unsigned>(left % 1000);
  if (part == 0) return;
  const char digits[] = {'.', static_cast<char>('0' + part / 100), static_cast<char>('0' + part / 10 % 10),
                         static_cast<char>('0' + part % 10)};
  std::string_view fraction(digits, sizeof digits);
  while (fraction.back() == '0') fraction.remove_suffix(1);
  out += fraction;
}

const std::string& JsonStrings::quoted(StringId id) {
  const auto known = quoted_.find(id);
  if (known != quoted_.end()) return known->second;
  constexpr std::size_t kMostQuotedTexts = 1U << 16;
  if (quoted_.size() >= kMostQuotedTexts) quoted_.clear();
  std::string text;
  append_json_quoted(text, strings_.text(id));
  return quoted_.emplace(id, std::move(text)).first->second;
}

void append_json_value(std::string& out, ColumnType type, std::uint64_t value, JsonStrings& strings) {
  switch (type) {
    case ColumnType::int64:
      append_json_integer(out, static_cast<std::int64_t>(value));
      break;
    case ColumnType::uint64:
      append_json_integer(out, value);
      break;
    case ColumnType::float64:
      append_json_real(out, std::bit_cast<double>(value));
      break;
    case ColumnType::boolean:
      out += value != 0 ? "true" : "false";
      break;
    case ColumnType::string:
      out += strings.quoted(static_cast<StringId>(value));
      break;
    case ColumnType::text:
      break;
  }
}

}  // namespace accelscope::exporting
