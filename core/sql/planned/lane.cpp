#include "core/sql/planned/lane.h"

#include <algorithm>
#include <bit>

#include "core/chunk/chunk_format.h"

namespace accelscope::sql {
namespace {

class LaneMaker {
 public:
  LaneMaker(const Context& context, const PlannedQuery& query, TextCodes& texts)
      : context_(context), snapshot_(*context.snapshot), query_(query), texts_(texts) {}

  void make(std::uint32_t index, std::vector<PlannedLane>& made) {
    const LaneSnapshot& lane = snapshot_.lanes[index];
    track_ = snapshot_.find_track(lane.track);
    if (query_.joins_tracks && track_ == nullptr) return;
    PlannedLane planned{LanePredicate(lane, index, context_.mask_of(lane)), {}};
    if (planned.predicate.nothing()) return;
    planned.exact_durations = lane.clock->is_affine() && lane.clock->ns_per_tick() == 1.0;
    const std::vector<int>& schema_columns = query_.table->schema_columns.at(lane.schema.get());
    std::vector<LaneValue> values;
    for (const Input& input : query_.inputs) {
      values.push_back(input.of_track ? track_value(input)
                                      : lane_value(snapshot_, lane, query_.table->columns[input.column],
                                                   schema_columns[input.column]));
      ValuePlace& place = planned.columns.emplace_back(values.back().place);
      const bool text = place.source == ValuePlace::Source::constant && place.type == ColumnType::string;
      if (text) place.constant = texts_.code(values.back().text);
    }
    for (const InputCondition& condition : query_.conditions) {
      add_condition(planned.predicate, values[condition.input], condition.test, condition.negated);
    }
    if (!planned.predicate.nothing()) made.push_back(std::move(planned));
  }

 private:
  // In the order of the table track.
  [[nodiscard]] LaneValue track_value(const Input& input) const {
    using Source = ValuePlace::Source;
    const auto integer = [](std::uint64_t value) { return LaneValue{{.source = Source::constant, .constant = value}}; };
    const auto text = [](std::string_view of_track) {
      return LaneValue{{.source = Source::constant, .type = ColumnType::string}, of_track};
    };
    const Track& track = *track_->track;
    switch (input.column) {
      case 0:
        return integer(track.number);
      case 1:
        return track.parent == kNone ? LaneValue{} : integer(track.parent);
      case 2:
        return text(track.name);
      case 3:
        return text(track.kind);
      case 4:
        return text(track.device);
      case 5:
        return text(track.host);
      case 6:
        return text(track.unit);
      case 7:
        return integer(track_->lanes.size());
      default:
        return track_->schema ? text(track_->schema->name) : LaneValue{};
    }
  }

  const Context& context_;
  const Snapshot& snapshot_;
  const PlannedQuery& query_;
  TextCodes& texts_;
  const TrackSnapshot* track_ = nullptr;
};

}  // namespace

std::uint64_t TextCodes::code(std::string_view text) {
  if (const StringId id = pool_.find(text); id != kNone) return id;
  const auto known = std::find(own_.begin(), own_.end(), text);
  if (known == own_.end()) {
    own_.emplace_back(text);
    return kFirstOwn + own_.size() - 1;
  }
  return kFirstOwn + static_cast<std::uint64_t>(known - own_.begin());
}

std::vector<PlannedLane> planned_lanes(const Context& context, const PlannedQuery& query, TextCodes& texts) {
  std::vector<PlannedLane> lanes;
  LaneMaker maker(context, query, texts);
  for (const std::uint32_t index : query.table->lanes) maker.make(index, lanes);
  return lanes;
}

PlannedChunks chunks_to_read(const std::vector<PlannedLane>& lanes) {
  PlannedChunks chunks;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const LanePredicate& predicate = lanes[i].predicate;
    const ChunkSpan span = predicate.chunks();
    for (std::uint32_t chunk = span.first; chunk < span.last; ++chunk) {
      if (predicate.part(chunk).any && predicate.names_may_match(chunk)) chunks.add(lanes[i], i, chunk);
    }
  }
  return chunks;
}

bool InputReader::open(const ScannedChunk& chunk, const PlannedLane& lane) {
  if (lane_ != &lane) {
    constants_.resize(lane.columns.size());
    for (std::size_t i = 0; i < lane.columns.size(); ++i) constants_[i].fill(lane.columns[i].constant);
  }
  lane_ = &lane;
  part_ = lane.predicate.part(chunk.chunk_index);
  reader_ = &chunk.reader;
  return chunk.view.column_count() >= chunk.lane.schema->columns.size();
}

BlockValues InputReader::values(std::size_t input) {
  const ValuePlace& place = lane_->columns[input];
  if (place.source != ValuePlace::Source::constant) return reader_->values(place);
  return {reader_->all(), constants_[input].data()};
}

listing::SqlValue sql_value(ValueKind kind, std::uint64_t value, const TextCodes& texts) {
  switch (kind) {
    case ValueKind::integer:
      return static_cast<std::int64_t>(value);
    case ValueKind::unsigned_integer:
      if ((value & kSignBit) != 0) return std::to_string(value);
      return static_cast<std::int64_t>(value);
    case ValueKind::real:
      return std::bit_cast<double>(value);
    case ValueKind::string:
      return std::string(texts.text(value));
    case ValueKind::text:
      break;
  }
  return {};
}

}  // namespace accelscope::sql
