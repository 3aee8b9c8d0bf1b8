#include "capture/sources/xplane/stat_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/format.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::xplane {
namespace {

constexpr std::size_t kMostFields = 400;  // SQL's tables have 2000 columns at most, views of them fewer
constexpr std::size_t kMostWaitNames = 20'000;
constexpr std::uint64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] std::string number_as_text(const StatValue& value) {
  switch (value.kind) {
    case StatValue::Kind::real:
      return json_number(std::bit_cast<double>(value.bits));
    case StatValue::Kind::natural:
      return std::to_string(value.bits);
    default:
      return std::to_string(static_cast<std::int64_t>(value.bits));
  }
}

[[nodiscard]] double number_as_real(const StatValue& value) {
  switch (value.kind) {
    case StatValue::Kind::real:
      return std::bit_cast<double>(value.bits);
    case StatValue::Kind::natural:
      return static_cast<double>(value.bits);
    default:
      return static_cast<double>(static_cast<std::int64_t>(value.bits));
  }
}

}  // namespace

std::uint32_t StatTable::field(std::string_view stat, Stat known) {
  if (is_told_otherwise(known, table_)) return kNoField;
  if (const auto found = numbers_.find(stat); found != numbers_.end()) return found->second;
  if (fields_.size() >= kMostFields) {
    ++left_out_;
    return kNoField;
  }
  const auto number = static_cast<std::uint32_t>(fields_.size());
  fields_.emplace_back().name = stat;
  numbers_.emplace(stat, number);
  return number;
}

void StatTable::see(std::uint32_t field, const StatValue& value, std::string_view text, bool recurs) {
  if (field == kNoField) return;
  Field& seen = fields_[field];
  switch (value.kind) {
    case StatValue::Kind::real:
      seen.number = true;
      seen.real = true;
      break;
    case StatValue::Kind::natural:
      seen.number = true;
      seen.above_int64 = seen.above_int64 || value.bits > kInt64Max;
      break;
    case StatValue::Kind::whole:
      seen.number = true;
      seen.negative = seen.negative || value.bits > kInt64Max;
      break;
    case StatValue::Kind::text:
    case StatValue::Kind::packed:
    case StatValue::Kind::reference:
      seen.text = true;
      if (recurs || value.kind == StatValue::Kind::reference || seen.texts_until_many > 0) break;
      ++seen.texts;
      seen.distinct.insert(std::hash<std::string_view>{}(text));
      if (seen.distinct.size() >= kMostDistinct) {
        seen.texts_until_many = seen.texts;
        seen.distinct = {};
      }
      break;
    default:
      break;
  }
}

void StatTable::add_wait_name(std::string_view name) {
  if (wait_names_.size() < kMostWaitNames) wait_names_.emplace(name);
}

ColumnType StatTable::type_of(const Field& field) noexcept {
  if (field.text && field.number) return ColumnType::string;
  if (field.text) {
    const bool unique = field.texts_until_many > 0 && field.texts_until_many < 2 * kMostDistinct;
    return unique ? ColumnType::text : ColumnType::string;
  }
  if (field.real) return ColumnType::float64;
  if (field.above_int64) return field.negative ? ColumnType::string : ColumnType::uint64;
  return ColumnType::int64;
}

Schema StatTable::make_schema() {
  const XTableRule& rule = rule_of(table_);
  Schema schema = accelscope::make_schema(rule.schema, rule.columns);
  std::unordered_set<std::string> taken;
  for (const Column& column : schema.columns) taken.insert(lower_case(column.name));
  own_.fill(kNoField);
  for (const OwnColumn own : rule.own) {
    if (!own_seen_[static_cast<std::size_t>(own)]) continue;
    own_[static_cast<std::size_t>(own)] = static_cast<std::uint32_t>(schema.columns.size());
    append_columns(schema, std::span(&spec_of(own), 1));
    taken.insert(lower_case(spec_of(own).name));
  }
  for (Field& field : fields_) {
    if (!field.number && !field.text) continue;
    ColumnSpec spec = spec_of_stat(field.name, table_);
    field.type = type_of(field);
    spec.type = field.type;
    Column column = make_column(spec);
    while (!taken.insert(lower_case(column.name)).second) column.name += " (stat)";
    field.column = static_cast<std::uint32_t>(schema.columns.size());
    schema.columns.push_back(std::move(column));
  }
  for (const std::string& name : wait_names_) schema.wait_names.push_back(name);
  std::sort(schema.wait_names.begin(), schema.wait_names.end());
  return schema;
}

void StatTable::bind(std::uint32_t field, const StatValue& value, std::string_view text, StringId known,
                     const Intern& intern, tracks::EventValues& values) const {
  const Field& to = fields_[field];
  switch (to.type) {
    case ColumnType::int64:
    case ColumnType::uint64:
      values.unsigned_integer(to.column, value.bits);
      break;
    case ColumnType::float64:
      values.real(to.column, number_as_real(value));
      break;
    case ColumnType::string:
      values.string(to.column, known != 0 ? known : intern(value.is_number() ? number_as_text(value) : text));
      break;
    default:
      values.text(to.column, text);
  }
}

}  // namespace accelscope::capture::sources::xplane
