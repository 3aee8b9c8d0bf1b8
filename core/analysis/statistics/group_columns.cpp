#include "core/analysis/statistics/group_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/analysis/selection/summary.h"
#include "core/analysis/time/track_devices.h"
#include "core/base/natural_order.h"
#include "core/base/text.h"
#include "core/names/table_titles.h"

namespace accelscope {
namespace {

constexpr std::uint64_t kFirstOwnCode = std::uint64_t{1} << 32U;  // strings of the session have the ids below

bool same_column(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower_case(x) == lower_case(y); });
}

bool any_same_column(std::string_view word, std::initializer_list<std::string_view> words) noexcept {
  return std::any_of(words.begin(), words.end(), [word](std::string_view each) { return same_column(word, each); });
}

bool is_measurable(ColumnType type) noexcept { return type != ColumnType::string && type != ColumnType::text; }

// Words for what sources call by different names.
struct RoleWord {
  std::string_view name, title;
  Role role;
  bool groups;  // else it is measured
};
constexpr std::array<RoleWord, 4> kRoleWords = {{{"source", "Source line", Role::source_location, true},
                                                 {"layer", "Layer", Role::layer, true},
                                                 {"bytes", "Bytes", Role::bytes, false},
                                                 {"flops", "FLOPs", Role::flops, false}}};

// The schemas whose events have a time, in the order of their definition.
std::vector<const Schema*> timed_schemas(const Snapshot& snapshot) {
  std::vector<const Schema*> found;
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.event_count == 0 || !lane.schema || !takes_part_in_summaries(lane.data->kind)) continue;
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const Schema* schema) { return schema->name == lane.schema->name; });
    if (!known) found.push_back(lane.schema.get());
  }
  return found;
}

std::string column_title(const Column& column) { return column.title.empty() ? column.name : column.title; }

GroupColumn described(const Schema& schema, const Column& column) {
  return {schema.name, schema.name + "." + column.name, column_title(column), column.unit, column.explanation};
}

bool any_has(const std::vector<const Schema*>& schemas, Role role) {
  return std::any_of(schemas.begin(), schemas.end(), [role](const Schema* schema) { return schema->find(role); });
}

template <typename Text>
bool any_track(const Snapshot& snapshot, Text text) {
  return std::any_of(snapshot.tracks.begin(), snapshot.tracks.end(),
                     [&](const TrackSnapshot& track) { return !text(*track.track).empty(); });
}

ValuePlace constant_text(std::uint64_t code) {
  return {.source = ValuePlace::Source::constant, .type = ColumnType::string, .constant = code};
}

std::string known_columns(const std::vector<GroupColumn>& columns, const std::string& wanted) {
  std::vector<std::string> names;
  for (const GroupColumn& column : columns) {
    names.push_back(column.name);
    if (!column.table.empty()) names.push_back(column.name.substr(column.table.size() + 1));
  }
  const std::string nearest = nearest_name(wanted, names);
  std::string general;
  for (const GroupColumn& column : columns) {
    if (column.table.empty()) general += (general.empty() ? "" : ", ") + column.name;
  }
  return fmt::format("{}there are {} and the columns of its tables",
                     nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest), general);
}

}  // namespace

std::vector<GroupColumn> group_columns(const Snapshot& snapshot) {
  const std::vector<const Schema*> schemas = timed_schemas(snapshot);
  std::vector<GroupColumn> columns = {{"", "name", "Name", "", "What the events are called"},
                                      {"", "track", "Track", "", "The row that they lie on"}};
  if (any_track(snapshot, [](const Track& track) { return track.device; }))
    columns.push_back({"", "device", "Device", "", ""});
  if (any_track(snapshot, [](const Track& track) { return track.host; }))
    columns.push_back({"", "host", "Host", "", ""});
  columns.push_back({"", "table", "Table", "", "The kind of event, as SQL names its table"});
  for (const RoleWord& word : kRoleWords) {
    if (word.groups && any_has(schemas, word.role))
      columns.push_back({"", std::string(word.name), std::string(word.title), "", ""});
  }
  for (const Schema* schema : schemas) {
    if (!schema->name_column.empty() && !schema->find(schema->name_column)) {
      columns.push_back({schema->name, schema->name + "." + schema->name_column, table_title(schema->name_column), "",
                         schema->name_explanation});
    }
    for (const Column& column : schema->columns) columns.push_back(described(*schema, column));
  }
  return columns;
}

std::vector<GroupColumn> value_columns(const Snapshot& snapshot) {
  const std::vector<const Schema*> schemas = timed_schemas(snapshot);
  std::vector<GroupColumn> columns = {{"", "duration", "Duration", "ns", "From its begin to its end"}};
  for (const RoleWord& word : kRoleWords) {
    if (!word.groups && any_has(schemas, word.role))
      columns.push_back(
          {"", std::string(word.name), std::string(word.title), word.role == Role::bytes ? "B" : "FLOP", ""});
  }
  for (const Schema* schema : schemas) {
    for (const Column& column : schema->columns) {
      if (is_measurable(column.type)) columns.push_back(described(*schema, column));
    }
  }
  return columns;
}

std::vector<std::string> track_labels(const Snapshot& snapshot) {
  std::map<std::string, std::vector<std::size_t>> of_name;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < snapshot.tracks.size(); ++i) {
    labels.push_back(snapshot.tracks[i].track->name);
    of_name[labels.back()].push_back(i);
  }
  const TrackDevices devices(snapshot);
  for (const auto& [name, tracks] : of_name) {
    if (tracks.size() == 1) continue;
    for (const std::size_t i : tracks) {
      const std::string& of = devices.label(devices.of_track(i));
      if (!of.empty()) labels[i] = of + " " + name;
    }
  }
  return labels;
}

ColumnName column_name(const Snapshot& snapshot, std::string_view name) noexcept {
  const std::size_t point = name.find('.');
  if (point == std::string_view::npos) return {"", name};
  const std::string_view table = name.substr(0, point);
  const bool known = std::any_of(snapshot.schemas.begin(), snapshot.schemas.end(),
                                 [table](const auto& schema) { return same_column(schema->name, table); });
  return known ? ColumnName{table, name.substr(point + 1)} : ColumnName{"", name};
}

void GroupKeys::set_labels(const Snapshot& snapshot) {
  const std::vector<std::string> of_tracks = track_labels(snapshot);
  const TrackDevices devices(snapshot);
  labels_.resize(snapshot.lanes.size());
  devices_.resize(snapshot.lanes.size());
  for (std::size_t t = 0; t < snapshot.tracks.size(); ++t) {
    for (const std::uint32_t lane : snapshot.tracks[t].lanes) {
      labels_[lane] = of_tracks[t];
      if (!snapshot.tracks[t].track->device.empty()) devices_[lane] = devices.name(devices.of_track(t));
    }
  }
}

// As searches resolve a column: the schema's own first, then the words that are known of all.
std::optional<ValuePlace> GroupKeys::place_of(const Snapshot& snapshot, std::uint32_t lane_index,
                                              const std::string& column) const {
  static const Schema kNoColumns;
  const LaneSnapshot& lane = snapshot.lanes[lane_index];
  const Schema& schema = lane.schema ? *lane.schema : kNoColumns;
  const ColumnName wanted = column_name(snapshot, column);
  if (!wanted.table.empty() && !same_column(wanted.table, schema.name)) return std::nullopt;
  const auto of_column = [&](std::size_t index) {
    return ValuePlace{.source = ValuePlace::Source::column, .column = index, .type = schema.columns[index].type};
  };
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (same_column(schema.columns[i].name, wanted.column)) return of_column(i);
  }
  for (const RoleWord& word : kRoleWords) {
    if (!same_column(wanted.column, word.name)) continue;
    const auto index = schema.find(word.role);
    return index ? std::optional(of_column(*index)) : std::nullopt;
  }
  if (same_column(wanted.column, "name") || same_column(wanted.column, schema.name_column))
    return ValuePlace{.source = ValuePlace::Source::name, .type = ColumnType::string};
  if (any_same_column(wanted.column, {"duration", "dur", "dur_ns"}))
    return ValuePlace{.source = ValuePlace::Source::duration, .type = ColumnType::int64};
  const TrackSnapshot* track = snapshot.find_track(lane.track);
  if (any_same_column(wanted.column, {"track", "lane"})) return constant_text(made_code(labels_[lane_index]));
  if (same_column(wanted.column, "device")) return constant_text(made_code(devices_[lane_index]));
  if (same_column(wanted.column, "host")) return constant_text(made_code(track == nullptr ? "" : track->track->host));
  if (any_same_column(wanted.column, {"table", "kind"})) return constant_text(made_code(schema.name));
  return std::nullopt;
}

Result<std::shared_ptr<const GroupKeys>> GroupKeys::find(const Snapshot& snapshot, const EventFilter& filter,
                                                         std::span<const std::string> by, const std::string& value) {
  if (by.size() > kMost) return Error{fmt::format("group by at most {} columns, not by {}", kMost, by.size())};
  const std::shared_ptr<GroupKeys> keys(new GroupKeys(snapshot));
  keys->by_.assign(by.begin(), by.end());
  keys->set_labels(snapshot);
  keys->of_lanes_.resize(snapshot.lanes.size());
  std::vector<char> has_column(by.size() + 1, 0);  // some lane has it; the value is last
  bool names_table = !column_name(snapshot, value).table.empty();
  for (const std::string& column : by) names_table = names_table || !column_name(snapshot, column).table.empty();
  LaneIndices candidates;
  for (std::uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (!takes_part_in_summaries(snapshot.lanes[lane].data->kind)) continue;
    OfLane& places = keys->of_lanes_[lane];
    bool all = true;
    for (std::size_t k = 0; k < by.size(); ++k) {
      const auto place = keys->place_of(snapshot, lane, by[k]);
      if (place) has_column[k] = 1;
      all = all && place;
      places.keys.push_back(place.value_or(ValuePlace{}));
    }
    const auto measured = keys->place_of(snapshot, lane, value);
    const bool counts = measured && measured->source != ValuePlace::Source::constant &&
                        measured->source != ValuePlace::Source::name && is_measurable(measured->type);
    if (counts) has_column.back() = 1;
    if (!all || !counts) continue;
    places.value = *measured;
    if (filter.has_track(snapshot.lanes[lane].track)) candidates.push_back(lane);
    if (measured->source == ValuePlace::Source::column) {
      keys->of_duration_ = false;
      if (keys->unit_.empty()) keys->unit_ = snapshot.lanes[lane].schema->columns[measured->column].unit;
    }
  }
  if (keys->of_duration_) keys->unit_ = "ns";
  const bool any_lane = std::any_of(snapshot.lanes.begin(), snapshot.lanes.end(),
                                    [](const LaneSnapshot& lane) { return takes_part_in_summaries(lane.data->kind); });
  for (std::size_t k = 0; any_lane && k < by.size(); ++k) {
    if (has_column[k] == 0) {
      return Error{
          fmt::format("no event can be grouped by {}: {}", by[k], known_columns(group_columns(snapshot), by[k]))};
    }
  }
  if (any_lane && has_column.back() == 0)
    return Error{
        fmt::format("no event has a number called {}: {}", value, known_columns(value_columns(snapshot), value))};
  if (!names_table) {
    for (const std::uint32_t lane : working_lanes(snapshot, filter)) {
      if (std::binary_search(candidates.begin(), candidates.end(), lane)) keys->lanes_.push_back(lane);
    }
  }
  const bool any_event = std::any_of(keys->lanes_.begin(), keys->lanes_.end(),
                                     [&](std::uint32_t lane) { return snapshot.lanes[lane].event_count > 0; });
  if (!any_event) keys->lanes_ = std::move(candidates);
  std::sort(keys->lanes_.begin(), keys->lanes_.end());
  return std::shared_ptr<const GroupKeys>(keys);
}

std::optional<std::uint64_t> GroupKeys::code_of(std::string_view text) const {
  const std::scoped_lock lock(mutex_);
  if (const auto known = codes_.find(text); known != codes_.end()) return known->second;
  const StringId id = strings_->find(text);
  if (id != kNone) return id;
  if (codes_.size() >= kMostTexts) return std::nullopt;
  return add_code(text);
}

std::uint64_t GroupKeys::add_code(std::string_view text) const {
  const std::uint64_t code = kFirstOwnCode + codes_.size();
  codes_.emplace(text, code);
  texts_.emplace(code, text);
  return code;
}

// Of what all events of a lane have: there are no more of them than lanes.
std::uint64_t GroupKeys::made_code(std::string_view text) const {
  if (const auto known = code_of(text)) return *known;
  const std::scoped_lock lock(mutex_);
  return add_code(text);
}

std::string_view GroupKeys::text_of(std::uint64_t code) const {
  if (code < kFirstOwnCode) return strings_->text(static_cast<StringId>(code));
  const std::scoped_lock lock(mutex_);
  const auto found = texts_.find(code);
  return found == texts_.end() ? std::string_view() : found->second;
}

FieldValue GroupKeys::value(Tag tag, std::uint64_t word) const {
  switch (tag) {
    case Tag::integer:
      return static_cast<std::int64_t>(word);
    case Tag::unsigned_integer:
      return word;
    case Tag::real:
      return std::bit_cast<double>(word);
    case Tag::boolean:
      return word != 0;
    case Tag::text:
      return std::string(text_of(word));
    default:
      return std::monostate();
  }
}

std::vector<FieldValue> GroupKeys::values_of(const std::uint64_t* words) const {
  std::vector<FieldValue> values;
  for (std::size_t k = 0; k < count(); ++k)
    values.push_back(value(static_cast<Tag>(words[0] >> (4 * k) & 15U), words[k + 1]));
  return values;
}

std::optional<std::vector<std::uint64_t>> GroupKeys::words_of(std::span<const FieldValue> values) const {
  std::vector<std::uint64_t> words(1, 0);
  for (std::size_t k = 0; k < values.size(); ++k) {
    Tag tag = Tag::none;
    std::uint64_t word = 0;
    if (const auto* integer = std::get_if<std::int64_t>(&values[k])) {
      tag = Tag::integer;
      word = static_cast<std::uint64_t>(*integer);
    } else if (const auto* number = std::get_if<std::uint64_t>(&values[k])) {
      tag = Tag::unsigned_integer;
      word = *number;
    } else if (const auto* real = std::get_if<double>(&values[k])) {
      tag = Tag::real;
      word = std::bit_cast<std::uint64_t>(*real);
    } else if (const auto* boolean = std::get_if<bool>(&values[k])) {
      tag = Tag::boolean;
      word = *boolean ? 1 : 0;
    } else if (const auto* text = std::get_if<std::string>(&values[k])) {
      const auto code = code_of(*text);
      if (!code) return std::nullopt;
      tag = Tag::text;
      word = *code;
    }
    words[0] |= static_cast<std::uint64_t>(tag) << (4 * k);
    words.push_back(word);
  }
  return words;
}

}  // namespace accelscope
