#include "capture/sources/neuron/read/inferred_schema.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "capture/sources/neuron/read/row_binding.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr std::size_t kInferredMaxColumns = 200;  // a chunk holds 512; what is over goes into "extra"
constexpr std::size_t kInferredMaxDistinct = 4096;
constexpr std::array<std::string_view, 3> kStartKeys = {"timestamp", "start_ts", "start"};
constexpr std::array<std::string_view, 4> kLengthKeys = {"duration", "duration_ns", "end", "end_ts"};
constexpr std::array<std::string_view, 6> kNameKeys = {"name", "opcode", "operation", "description", "type", "id"};

[[nodiscard]] bool inferred_is_one_of(std::span<const std::string_view> names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Usable as a table name in SQL without quotes, and apart from the product's own tables.
[[nodiscard]] std::string table_name(std::string_view table) {
  constexpr std::array<std::string_view, 13> kTaken = {"track",  "slice",       "counter",     "flow",        "memory",
                                                       "marker", "source_file", "meta",        "source_line", "quality",
                                                       "metric", "table",       "dma_transfer"};
  std::string name;
  for (const char c : table.substr(0, 80)) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (name.empty()) name = "rows";
  if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "t_");
  if (inferred_is_one_of(kTaken, name)) name += "_rows";
  return name;
}

}  // namespace

void SchemaInference::on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) {
  (void)place;
  for (const json::JsonField& field : fields) {
    const std::string_view key = is_object ? field.key : kValueKey;
    auto found = keys_.find(key);
    if (found == keys_.end()) {
      if (keys_.size() >= kInferredMaxColumns || key == kExtraColumn) continue;
      found = keys_.emplace(std::string(key), Seen{}).first;
      order_.emplace_back(key);
    }
    Seen& seen = found->second;
    switch (field.kind) {
      case json::JsonKind::number:
        if (json::to_int64(field)) {
          ++seen.integers;
        } else if (json::to_uint64(field)) {
          ++seen.wide_integers;
        } else {
          ++seen.reals;
        }
        break;
      case json::JsonKind::boolean:
        ++seen.booleans;
        break;
      case json::JsonKind::string:
        ++seen.strings;
        seen.text_bytes += field.text.size();
        if (seen.distinct.size() < kInferredMaxDistinct)
          seen.distinct.insert(std::hash<std::string_view>{}(field.text));
        break;
      case json::JsonKind::array:
      case json::JsonKind::object:
        ++seen.nested;
        break;
      case json::JsonKind::null:
      case json::JsonKind::not_finite:
        break;
    }
  }
}

void SchemaInference::on_bad_row(std::string_view text, const json::RowPlace& place) {
  (void)text;
  (void)place;
}

void SchemaInference::on_mended_row(const json::RowPlace& place) { (void)place; }

ColumnType SchemaInference::type_of(const Seen& seen) {
  const std::uint64_t numbers = seen.integers + seen.wide_integers + seen.reals;
  if (seen.nested > 0) return ColumnType::text;
  if (seen.strings > 0 || (seen.booleans > 0 && numbers > 0)) {
    constexpr std::uint64_t kLongText = 100;
    const bool mostly_unique =
        seen.strings > 64 && seen.distinct.size() * 2 > std::min<std::uint64_t>(seen.strings, kInferredMaxDistinct);
    const bool long_texts = seen.strings > 0 && seen.text_bytes / seen.strings > kLongText;
    return mostly_unique || long_texts ? ColumnType::text : ColumnType::string;
  }
  if (seen.booleans > 0) return ColumnType::boolean;
  if (seen.reals > 0) return ColumnType::float64;
  if (seen.wide_integers > 0) return ColumnType::uint64;
  return numbers > 0 ? ColumnType::int64 : ColumnType::text;
}

Schema SchemaInference::schema(std::string_view table) const {
  const auto has = [&](std::string_view key) { return keys_.find(key) != keys_.end(); };
  const auto holds_numbers = [&](std::string_view key) {
    const auto found = keys_.find(key);
    return found != keys_.end() && type_of(found->second) != ColumnType::text && found->second.booleans == 0;
  };
  const bool timed = std::any_of(kStartKeys.begin(), kStartKeys.end(), holds_numbers);
  const bool has_length = std::any_of(kLengthKeys.begin(), kLengthKeys.end(), holds_numbers);
  Schema schema;
  schema.name = table_name(table);
  schema.kind = !timed ? EventKind::table : has_length ? EventKind::slice : EventKind::instant;
  const auto name_key = std::find_if(kNameKeys.begin(), kNameKeys.end(), has);
  schema.name_column = name_key == kNameKeys.end() ? "row" : std::string(*name_key);
  for (const std::string& key : order_) {
    const bool built_in = key == schema.name_column ||
                          (timed && (inferred_is_one_of(kStartKeys, key) || inferred_is_one_of(kLengthKeys, key)));
    if (built_in) continue;
    schema.columns.push_back({.name = key,
                              .type = type_of(keys_.find(key)->second),
                              .unit = "",
                              .group = "Details",
                              .title = "",
                              .explanation = "A field that this version knows by its name only."});
  }
  add_extra_column(schema);
  return schema;
}

}  // namespace accelscope::capture::sources::neuron
