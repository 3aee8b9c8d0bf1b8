#include "core/sql/planned/lane.h"

#include <algorithm>

#include "core/sql/tables/lane_filter.h"

namespace accelscope::sql {
namespace {

bool tests_name(const NativeLane& lane, const Condition& condition) {
  return condition.strings && lane.columns[condition.input].source == LaneColumn::Source::name;
}

void intersect(IntegerBounds& bounds, const IntegerBounds& other) {
  bounds.at_least(other.min);
  bounds.at_most(other.max);
}

bool holds(const Condition& condition, ValueKind kind, const LaneColumn& column, const TextCodes& texts) {
  if (column.source == LaneColumn::Source::null) return condition.presence && condition.negated;
  if (condition.presence) return !condition.negated;
  if (kind == ValueKind::string) return condition.strings->keeps(texts.text(column.constant)) != condition.negated;
  const bool any = std::any_of(condition.integers.begin(), condition.integers.end(), [&](const IntegerBounds& bounds) {
    return bounds.holds(static_cast<std::int64_t>(column.constant));
  });
  return any != condition.negated;
}

class LaneMaker {
 public:
  LaneMaker(const Context& context, const NativeQuery& query, TextCodes& texts)
      : context_(context), snapshot_(*context.snapshot), query_(query), texts_(texts) {}

  // False if no event of the lane can be a row.
  bool make(std::uint32_t index, NativeLane& made) {
    const LaneSnapshot& lane = snapshot_.lanes[index];
    if (lane.event_count == 0) return false;
    made.mask = context_.mask_of(lane);
    if (made.mask != nullptr && made.mask->count(index) == 0) return false;
    track_ = snapshot_.find_track(lane.track);
    if (query_.joins_tracks && track_ == nullptr) return false;
    made.lane = &lane;
    made.index = index;
    made.exact_durations = lane.clock->is_affine() && lane.clock->ns_per_tick() == 1.0;
    const std::vector<int>& schema_columns = query_.table->schema_columns.at(lane.schema.get());
    for (const Input& input : query_.inputs) {
      made.columns.push_back(input.of_track ? track_column(input) : event_column(lane, input, schema_columns));
    }
    made.ordinals.at_least(0);
    made.ordinals.at_most(static_cast<std::int64_t>(kOrdinalMask));
    for (const Condition& condition : query_.conditions) {
      if (!add_condition(condition, made)) return false;
    }
    return !made.begin_ticks.empty() && !made.end_ticks.empty() && !made.ordinals.empty();
  }

 private:
  static constexpr std::uint64_t kOrdinalMask = (std::uint64_t{1} << kOrdinalBits) - 1;

  [[nodiscard]] static LaneColumn integer(std::uint64_t value) {
    return {LaneColumn::Source::constant, 0, ColumnType::int64, value};
  }
  [[nodiscard]] LaneColumn text(std::string_view text) {
    return {LaneColumn::Source::constant, 0, ColumnType::string, texts_.code(text)};
  }
  // In the order of the table track.
  [[nodiscard]] LaneColumn track_column(const Input& input) {
    const Track& track = *track_->track;
    switch (input.column) {
      case 0:
        return integer(track.number);
      case 1:
        return track.parent == kNone ? LaneColumn{} : integer(track.parent);
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
        return track_->schema ? text(track_->schema->name) : LaneColumn{};
    }
  }
  [[nodiscard]] LaneColumn event_column(const LaneSnapshot& lane, const Input& input,
                                        const std::vector<int>& schema_columns) {
    using Source = LaneColumn::Source;
    const auto built_in = [](Source source) { return LaneColumn{source, 0, ColumnType::int64, 0}; };
    switch (input.field) {
      case EventField::id:
        return built_in(Source::id);
      case EventField::track_id:
        return integer(lane.track);
      case EventField::lane:
        return integer(lane.data->lane.depth);
      case EventField::ts_ns:
        return built_in(Source::begin);
      case EventField::dur_ns:
        return built_in(Source::duration);
      case EventField::end_ns:
        return built_in(Source::end);
      case EventField::name:
        return built_in(Source::name);
      case EventField::schema:
        return text(lane.schema->name);
      case EventField::category:
      case EventField::column:
        break;
    }
    const int column = schema_columns[input.column];
    if (column >= 0) {
      const auto place = static_cast<std::size_t>(column);
      return {Source::stored, place, lane.schema->columns[place].type, 0};
    }
    if (input.field == EventField::category) return text(track_ == nullptr ? "" : track_->track->kind);
    return {};
  }

  bool add_condition(const Condition& condition, NativeLane& made) const {
    const LaneColumn& column = made.columns[condition.input];
    const bool one_range = !condition.negated && condition.integers.size() == 1;
    switch (column.source) {
      case LaneColumn::Source::null:
      case LaneColumn::Source::constant:
        return holds(condition, query_.inputs[condition.input].kind, column, texts_);
      case LaneColumn::Source::begin:
        if (!one_range) break;
        intersect(made.begin_ticks, to_ticks(*made.lane, condition.integers.front()));
        return true;
      case LaneColumn::Source::end:
        if (!one_range) break;
        intersect(made.end_ticks, to_ticks(*made.lane, condition.integers.front()));
        return true;
      case LaneColumn::Source::id: {
        if (!one_range) break;
        const auto first = static_cast<std::int64_t>(make_event_id(made.lane->number(), 0));
        IntegerBounds ids{first, first + static_cast<std::int64_t>(kOrdinalMask)};
        intersect(ids, condition.integers.front());
        if (ids.empty()) return false;
        intersect(made.ordinals, {ids.min - first, ids.max - first});
        return true;
      }
      default:
        break;
    }
    made.conditions.push_back(&condition);
    made.tests_names = made.tests_names || tests_name(made, condition);
    return true;
  }

  const Context& context_;
  const Snapshot& snapshot_;
  const NativeQuery& query_;
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

NativeLane::Part NativeLane::part(const ChunkPlace& place) const noexcept {
  Part part;
  const auto first = static_cast<std::int64_t>(place.first_ordinal);
  const std::int64_t last = first + place.count - 1;
  const bool outside = place.end_ticks < std::max(begin_ticks.min, end_ticks.min) ||
                       place.begin_ticks > std::min(begin_ticks.max, end_ticks.max) || last < ordinals.min ||
                       first > ordinals.max;
  if (outside) return part;
  if (mask != nullptr) {
    const std::uint32_t passing = mask->passing_in(index, place);
    if (passing == 0) return part;
    part.tests_mask = passing < place.count;
  }
  part.any = true;
  part.tests_times = !begin_ticks.holds(place.begin_ticks) || !begin_ticks.holds(place.end_ticks) ||
                     !end_ticks.holds(place.begin_ticks) || !end_ticks.holds(place.end_ticks);
  part.tests_ordinals = first < ordinals.min || last > ordinals.max;
  return part;
}

bool NameAnswers::keeps(const NativeLane& lane, StringId name) {
  std::uint8_t& answer = answers_[name];
  if (answer == 0) {
    const std::string_view text = texts_.text(name);
    const bool kept = std::all_of(lane.conditions.begin(), lane.conditions.end(), [&](const Condition* condition) {
      return !tests_name(lane, *condition) || condition->strings->keeps(text) != condition->negated;
    });
    answer = kept ? 1 : 2;
  }
  return answer == 1;
}

bool NameAnswers::may_match(const NativeLane& lane, std::uint32_t chunk) {
  if (!lane.tests_names || chunk >= lane.lane->totals.stretches[0]) return true;
  const NameTotals::Stretch stretch = lane.lane->data->totals.stretch(0, chunk);
  if (!stretch.kept) return true;
  return std::any_of(stretch.totals, stretch.totals + stretch.size,
                     [&](const NameTotal& total) { return keeps(lane, total.name); });
}

std::vector<NativeLane> native_lanes(const Context& context, const NativeQuery& query, TextCodes& texts) {
  std::vector<NativeLane> lanes;
  LaneMaker maker(context, query, texts);
  for (const std::uint32_t index : query.table->lanes) {
    NativeLane made;
    if (maker.make(index, made)) lanes.push_back(std::move(made));
  }
  return lanes;
}

}  // namespace accelscope::sql
