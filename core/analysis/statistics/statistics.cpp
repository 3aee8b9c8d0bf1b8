#include "core/analysis/statistics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/analysis/selection/summary.h"
#include "core/analysis/source/host_calls.h"
#include "core/analysis/time/track_devices.h"
#include "core/analysis/time/work_kind.h"
#include "core/base/text.h"
#include "core/names/short_names.h"
#include "core/scan/column_values.h"
#include "core/scan/event_mask.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

constexpr std::uint64_t kFirstOwnCode = std::uint64_t{1} << 32U;  // strings of the session have the ids below

bool same_column(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower_case(x) == lower_case(y); });
}

bool any_same_column(std::string_view word, std::initializer_list<std::string_view> words) noexcept {
  return std::ranges::any_of(words, [word](std::string_view each) { return same_column(word, each); });
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
    const bool known =
        std::ranges::any_of(found, [&](const Schema* schema) { return schema->name == lane.schema->name; });
    if (!known) found.push_back(lane.schema.get());
  }
  return found;
}

std::string column_title(const Column& column) { return column.title.empty() ? column.name : column.title; }

GroupColumn described(const Schema& schema, const Column& column) {
  return {schema.name, schema.name + "." + column.name, column_title(column), column.unit, column.explanation};
}

bool any_has(const std::vector<const Schema*>& schemas, Role role) {
  return std::ranges::any_of(schemas, [role](const Schema* schema) { return schema->find(role).has_value(); });
}

template <typename Text>
bool any_track(const Snapshot& snapshot, Text text) {
  return std::ranges::any_of(snapshot.tracks, [&](const TrackSnapshot& track) { return !text(*track.track).empty(); });
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
  const bool known =
      std::ranges::any_of(snapshot.schemas, [table](const auto& schema) { return same_column(schema->name, table); });
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
  const bool any_lane = std::ranges::any_of(
      snapshot.lanes, [](const LaneSnapshot& lane) { return takes_part_in_summaries(lane.data->kind); });
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
  const bool any_event =
      std::ranges::any_of(keys->lanes_, [&](std::uint32_t lane) { return snapshot.lanes[lane].event_count > 0; });
  if (!any_event) keys->lanes_ = std::move(candidates);
  std::ranges::sort(keys->lanes_);
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

namespace {

using Tag = GroupKeys::Tag;

Tag tag_of(ColumnType type) noexcept {
  switch (type) {
    case ColumnType::int64:
    case ColumnType::uint64:
      return Tag::integer;  // so that equal numbers of either type are one group
    case ColumnType::float64:
      return Tag::real;
    case ColumnType::boolean:
      return Tag::boolean;
    default:
      return Tag::text;
  }
}

std::uint64_t tag_bits(Tag tag, std::size_t key) noexcept { return static_cast<std::uint64_t>(tag) << (4 * key); }

}  // namespace

GroupReader::GroupReader(const GroupKeys& keys)
    : keys_(keys), groups_(keys.count(), {}, {}), recent_(keys.count() > 0 ? kRecent : 0) {}

GroupReader::GroupReader(const GroupKeys& keys, const Groups& known)
    : keys_(keys), groups_(known), most_groups_(known.size()), recent_(keys.count() > 0 ? kRecent : 0) {}

void GroupReader::open(const ScannedChunk& chunk) {
  chunk_ = &chunk;
  const GroupKeys::OfLane& places = keys_.of_lane(chunk.lane_index);
  value_ = places.value;
  words_.fill(0);
  varying_.clear();
  for (std::size_t k = 0; k < places.keys.size(); ++k) {
    const ValuePlace& place = places.keys[k];
    if (place.source == ValuePlace::Source::constant) {
      words_[k + 1] = place.constant;
      words_[0] |= tag_bits(Tag::text, k);
    } else {
      varying_.push_back({place, k, tag_of(place.type)});
    }
  }
  std::vector<std::uint64_t> constants(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(keys_.count() + 1));
  // A string's number is no number of a column of numbers: what varies belongs to the key as well.
  for (const Varying& varying : varying_) constants[0] |= tag_bits(varying.tag, varying.key);
  constants_ = known_constants_.try_emplace(std::move(constants), known_constants_.size() + 1).first->second;
}

std::uint32_t GroupReader::find_group(const std::uint64_t* words) {
  if (groups_.size() < most_groups_) return static_cast<std::uint32_t>(groups_.find(words));
  const auto known = groups_.find_known(words);
  met_others_ = met_others_ || !known;
  return known ? static_cast<std::uint32_t>(*known) : kRestGroup;
}

std::uint32_t GroupReader::group_of(const std::uint64_t* words) {
  std::uint64_t hash = 0;
  const std::size_t count = keys_.count() + 1;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15U;
  Recent& recent = recent_[hash >> 52U];
  bool same = recent.group != kRestGroup;
  for (std::size_t i = 0; i < count; ++i) same &= words[i] == recent.words[i];  // few: no call for them
  if (same) return recent.group;
  std::copy(words, words + count, recent.words.begin());
  recent.group = find_group(words);
  return recent.group;
}

bool GroupReader::has_codes(const Varying& varying) const noexcept {
  const ColumnType type = varying.place.type;
  return type == ColumnType::string || type == ColumnType::int64 || type == ColumnType::uint64;
}

// What is known of a string or a small number stays known as long as the other keys are the same.
void GroupReader::read_by_code(const ScannedBlock& block, const BlockValues& codes) {
  const Varying& only = varying_.front();
  const std::uint64_t most = only.tag == Tag::text ? ~std::uint64_t{0} : kMostNumbers;
  std::array<std::uint64_t, kWords> words = words_;
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    const std::uint64_t code = codes.values[i];
    if (!codes.has(i) || code >= most) {
      const bool is_large = only.place.type == ColumnType::uint64 && (code >> 63U) != 0;
      words[0] = words_[0] | (codes.has(i) ? tag_bits(is_large ? Tag::unsigned_integer : only.tag, only.key) : 0);
      words[only.key + 1] = codes.has(i) ? code : 0;
      block_groups_[i] = group_of(words.data());
      continue;
    }
    if (code >= by_code_.size()) by_code_.resize(std::max<std::size_t>(code + 1, by_code_.size() * 2));
    ByCode& known = by_code_[code];
    if (known.constants != constants_) {
      words[0] = words_[0] | tag_bits(only.tag, only.key);
      words[only.key + 1] = code;
      known = {find_group(words.data()), constants_};
    }
    block_groups_[i] = known.group;
  }
}

void GroupReader::read_groups(const ScannedBlock& block) {
  if (varying_.empty()) {
    const std::uint32_t group = keys_.count() == 0 ? find_group(words_.data()) : group_of(words_.data());
    std::fill(block_groups_.begin() + block.first, block_groups_.begin() + block.last, group);
    return;
  }
  if (varying_.size() == 1 && has_codes(varying_.front()))
    return read_by_code(block, block.reader.values(varying_.front().place));
  std::array<BlockValues, GroupKeys::kMost> found;
  for (std::size_t v = 0; v < varying_.size(); ++v) found[v] = block.reader.values(varying_[v].place);
  std::array<std::uint64_t, kWords> words = words_;
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    words[0] = words_[0];
    bool is_known = true;
    for (std::size_t v = 0; v < varying_.size(); ++v) {
      const Varying& varying = varying_[v];
      std::uint64_t& word = words[varying.key + 1];
      word = 0;
      if (!found[v].has(i)) continue;
      Tag tag = varying.tag;
      word = found[v].values[i];
      if (varying.place.type == ColumnType::text) {
        const auto code = keys_.code_of(chunk_->view.text(varying.place.column, static_cast<std::uint32_t>(word)));
        is_known = is_known && code;
        word = code.value_or(0);
      } else if (varying.place.type == ColumnType::uint64 && (word >> 63U) != 0) {
        tag = Tag::unsigned_integer;
      } else if (tag == Tag::real && std::bit_cast<double>(word) == 0) {
        word = 0;  // of either sign
      }
      words[0] |= tag_bits(tag, varying.key);
    }
    met_others_ = met_others_ || !is_known;
    block_groups_[i] = is_known ? group_of(words.data()) : kRestGroup;
  }
}

void GroupReader::read_values(const ScannedBlock& block, GroupedBlock& out) {
  const BlockValues found = block.reader.values(value_);
  out.valid = found.valid & bits_between(block.first, block.last);
  if (out.valid == 0) return;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;
  const ColumnType type = value_.type;
  if (type != ColumnType::float64 && type != ColumnType::uint64) {
    out.whole = reinterpret_cast<const std::int64_t*>(found.values);
    return;
  }
  std::uint64_t bits = 0;
  for (std::uint32_t i = block.first; i < block.last; ++i) bits |= found.values[i];
  if (type == ColumnType::uint64 && (bits & kSign) == 0) {
    out.whole = reinterpret_cast<const std::int64_t*>(found.values);
    return;
  }
  out.real = block_values_.data();
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    block_values_[i] =
        type == ColumnType::float64 ? std::bit_cast<double>(found.values[i]) : static_cast<double>(found.values[i]);
    if (!std::isfinite(block_values_[i])) out.valid &= ~(std::uint64_t{1} << i);
  }
}

GroupedBlock GroupReader::read(const ScannedBlock& block) {
  GroupedBlock out{.groups = block_groups_.data()};
  read_values(block, out);
  if (out.valid != 0) read_groups(block);
  return out;
}

namespace {

// What one thread gathers.
struct GroupGatherer {
  explicit GroupGatherer(GroupReader reads) : reader(std::move(reads)) {}
  GroupReader reader;
  std::vector<Distribution> groups;     // as the reader numbers them
  std::vector<ValueCounters> counters;  // of the same: where most values end at once
  Distribution rest;                    // of what the reader does not tell apart

  void add(const ScannedChunk& chunk, std::size_t most_retained) {
    reader.open(chunk);
    chunk.for_each_block([&](const ScannedBlock& block) {
      const GroupedBlock events = reader.read(block);
      if (events.valid == 0) return;
      if (groups.size() < reader.groups().size()) {
        groups.resize(reader.groups().size());
        counters.resize(groups.size());
      }
      if (events.whole != nullptr && events.valid == bits_between(block.first, block.last)) {
        for (std::uint32_t i = block.first; i < block.last; ++i) {
          const std::uint32_t group = events.groups[i];
          if (group < counters.size() && counters[group].count(events.whole[i])) continue;
          add_value(group, events.value(i), most_retained);
        }
        return;
      }
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (events.has(i)) add_value(events.groups[i], events.value(i), most_retained);
      }
    });
  }

 private:
  void add_value(std::uint32_t group, double value, std::size_t most_retained) {
    if (group == kRestGroup) {
      rest.add(value, most_retained);
    } else if (groups[group].add(value, most_retained)) {
      counters[group] = groups[group].counters();
    }
  }
};

std::uint64_t events_in(const Snapshot& snapshot, const LaneIndices& lanes, const TimeRange& range) {
  std::uint64_t events = 0;
  for (const std::uint32_t index : lanes) {
    const LaneSnapshot& lane = snapshot.lanes[index];
    const ChunkSpan span = chunks_in(lane, tick_range(lane, range));
    for (std::uint32_t c = span.first; c < span.last; ++c) events += lane.chunk(c).count;
  }
  return events;
}

// The groups of all threads as one.
struct MergedGroups {
  explicit MergedGroups(std::size_t key_count) : keys(key_count, {}, {}) {}
  Groups keys;
  std::vector<Distribution> values;
  Distribution rest;  // of groups that were not told apart
  std::size_t most_retained = 0;

  // Stops where the query is cancelled.
  void take(GroupGatherer& from, const TaskControl& control) {
    for (std::size_t g = 0; g < from.groups.size() && !control.cancelled(); ++g) {
      if (from.groups[g].empty()) continue;
      const std::size_t into = keys.find(from.reader.groups().keys(g));
      if (into == values.size()) values.emplace_back();
      values[into].merge(std::move(from.groups[g]), most_retained);
    }
    rest.merge(std::move(from.rest), most_retained);
  }
};

// Reads all events once. known: only these groups are told apart.
Result<MergedGroups> gather_once(const QueryContext& query, const GroupKeys& keys, const TimeRange& range,
                                 const Groups* known, bool& met_others) {
  MergedGroups merged(keys.count());
  const bool keep_all = events_in(*query.snapshot, keys.lanes(), range) <= Statistics::kMostExact;
  merged.most_retained = keep_all ? Statistics::kMostExact + 1 : Distribution::kFolded;
  WorkerParts parts(query,
                    [&] { return GroupGatherer(known != nullptr ? GroupReader(keys, *known) : GroupReader(keys)); });
  const Result<void> scanned = scan_chunks(
      query, keys.lanes(), range,
      [&](const ScannedChunk& chunk, std::size_t worker) { parts.of(worker).add(chunk, merged.most_retained); });
  if (!scanned) return scanned.error();
  parts.for_each([&](GroupGatherer& part) {
    merged.take(part, query.control);
    met_others = met_others || part.reader.met_others();
  });
  if (query.control.cancelled()) return cancelled_error();
  return merged;
}

// Numbers of groups, those of most events first.
std::vector<std::size_t> by_events(const std::vector<Distribution>& groups) {
  std::vector<std::uint64_t> counts;
  counts.reserve(groups.size());
  for (const Distribution& group : groups) counts.push_back(group.count());
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  return order;
}

// Where there are more groups than a thread tells apart, what each thread met of one may not be all: those of most
// events are then read once more, by themselves, and the others together.
Result<MergedGroups> gather_groups(const QueryContext& query, const GroupKeys& keys, const TimeRange& range,
                                   Statistics& found) {
  bool met_others = false;
  auto merged = gather_once(query, keys, range, nullptr, met_others);
  if (!merged || !met_others) return merged;
  found.counts_all_groups = false;
  std::vector<std::size_t> order = by_events(merged->values);
  found.left_out_groups = order.size() - std::min(order.size(), Statistics::kMostGroups);
  order.resize(std::min(order.size(), Statistics::kMostGroups));
  Groups known(keys.count(), {}, {});
  for (const std::size_t group : order) static_cast<void>(known.find(merged->keys.keys(group)));
  *merged = MergedGroups(keys.count());
  return gather_once(query, keys, range, &known, met_others);
}

// The self time of the host's calls by the keys of their groups.
class SelfTimesOfGroups {
 public:
  SelfTimesOfGroups(const QueryContext& query, const GroupKeys& keys)
      : kinds_(*query.snapshot), keys_(keys), query_(query) {
    for (const std::uint32_t lane : keys.lanes()) any_host_ = any_host_ || kinds_.of_lane(lane) == WorkKind::host;
    for (std::uint32_t lane = 0; lane < query.snapshot->lanes.size(); ++lane) {
      if (kinds_.of_lane(lane) == WorkKind::host && query.snapshot->lanes[lane].event_count > 0) hosts_.push_back(lane);
    }
  }

  // Adds to `times`, by group of `merged`; those that had none stay nothing.
  Result<void> add_to(const TimeRange& range, const MergedGroups& merged,
                      std::vector<std::optional<std::int64_t>>& times) {
    if (!any_host_ || !keys_.value_is_duration()) return {};
    struct GroupWorker {
      GroupWorker(const Snapshot& snapshot, const WorkKinds& kinds, const GroupKeys& keys, const Groups& known)
          : reader(keys, known), calls(snapshot, kinds) {}
      GroupReader reader;
      HostCalls calls;
      HostTimes times;
    };
    WorkerParts parts(query_, [&] { return GroupWorker(*query_.snapshot, kinds_, keys_, merged.keys); });
    const QueryContext unmasked = query_.unmasked();
    const Snapshot& snapshot = *query_.snapshot;
    const TimeRange within{std::max(range.begin_ns, snapshot.begin_ns), std::min(range.end_ns, snapshot.end_ns)};
    const auto chunk = [&](const ScannedChunk& scanned, const ScanWindow&, std::size_t w) {
      GroupWorker& worker = parts.of(w);
      const bool takes_part = std::binary_search(keys_.lanes().begin(), keys_.lanes().end(), scanned.lane_index);
      if (!takes_part) return worker.calls.add(scanned, query_.mask.get());
      worker.reader.open(scanned);
      worker.calls.add(scanned, query_.mask.get(),
                       [&worker](const ScannedBlock& block) { return worker.reader.read(block).groups; });
    };
    const auto end = [&](const ScanWindow& window, std::size_t w) {
      parts.of(w).calls.close(window.range, parts.of(w).times);
    };
    const Result<void> scanned = scan_windows(unmasked, hosts_, within, {.chunk = chunk, .end = end});
    if (!scanned) return scanned;
    parts.for_each([&](const GroupWorker& part) {
      for (const auto& [group, time] : part.times.groups) {
        if (group < times.size()) times[group] = times[group].value_or(0) + time.busy_ns + time.wait_ns;
      }
    });
    return {};
  }

 private:
  WorkKinds kinds_;
  const GroupKeys& keys_;
  const QueryContext& query_;
  LaneIndices hosts_;
  bool any_host_ = false;
};

}  // namespace

Result<std::shared_ptr<const Statistics>> statistics(const QueryContext& query, const StatisticsQuestion& question) {
  const Snapshot& snapshot = *query.snapshot;
  const auto keys = TRY(GroupKeys::find(snapshot, question.filter, question.by, question.value));
  auto found = std::make_shared<Statistics>();
  found->question = question;
  found->snapshot_version = snapshot.version;
  found->unit = keys->value_unit();
  found->lanes = keys->lanes();
  const TimeRange range = question.filter.range.value_or(TimeRange{});
  auto merged = TRY(gather_groups(query, *keys, range, *found));
  std::vector<std::optional<std::int64_t>> self_times(merged.values.size());
  TRY(SelfTimesOfGroups(query, *keys).add_to(range, merged, self_times));

  // Those of most events are kept, the others are the last row.
  std::vector<std::size_t> order = by_events(merged.values);
  std::optional<std::int64_t> rest_self;
  for (std::size_t i = Statistics::kMostGroups; i < order.size(); ++i) {
    merged.rest.merge(std::move(merged.values[order[i]]), merged.most_retained);
    if (self_times[order[i]]) rest_self = rest_self.value_or(0) + *self_times[order[i]];
    ++found->left_out_groups;
  }
  order.resize(std::min(order.size(), Statistics::kMostGroups));
  std::vector<Distribution*> parts;
  for (const std::size_t group : order) parts.push_back(&merged.values[group]);
  found->has_rest = merged.rest.count() > 0;
  if (found->has_rest) parts.push_back(&merged.rest);
  Distribution all;
  for (const Distribution* part : parts) all.merge(*part, merged.most_retained);
  found->rows.resize(parts.size());
  // The figures of all take longest, so they are first.
  query.pool.for_each(parts.size() + 1, query.control, [&](std::size_t index, std::size_t) {
    if (index == 0) {
      found->all = all.figures();
      return;
    }
    const std::size_t i = index - 1;
    const bool is_rest = i == order.size();
    found->rows[i] = {
        is_rest ? std::vector<FieldValue>(question.by.size()) : keys->values_of(merged.keys.keys(order[i])),
        parts[i]->figures(), is_rest ? rest_self : self_times[order[i]]};
  });
  if (query.control.cancelled()) return cancelled_error();
  const auto last = found->rows.end() - (found->has_rest ? 1 : 0);
  std::sort(found->rows.begin(), last, [](const StatisticsRow& a, const StatisticsRow& b) {
    const bool a_counts = std::isfinite(a.figures.total), b_counts = std::isfinite(b.figures.total);
    if (a_counts != b_counts) return a_counts;
    return a_counts && a.figures.total != b.figures.total ? a.figures.total > b.figures.total : a.keys < b.keys;
  });
  return std::shared_ptr<const Statistics>(std::move(found));
}

}  // namespace accelscope::analysis
