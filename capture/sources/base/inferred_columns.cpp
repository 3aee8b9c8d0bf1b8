#include "capture/sources/base/inferred_columns.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace accelscope::capture::sources {
namespace {

constexpr std::size_t kMaxDistinct = 4096;
constexpr std::uint64_t kEnoughTexts = 64;
constexpr std::uint64_t kLongText = 100;

}  // namespace

std::optional<std::uint64_t> to_bits(ColumnType type, const json::JsonField& value) noexcept {
  const auto bits = [](const auto& read) {
    return read ? std::optional(static_cast<std::uint64_t>(*read)) : std::nullopt;
  };
  switch (type) {
    case ColumnType::int64:
      return bits(json::to_int64(value));
    case ColumnType::uint64:
      return json::to_uint64(value);
    case ColumnType::float64: {
      const std::optional<double> real = json::to_double(value);
      return real ? std::optional(std::bit_cast<std::uint64_t>(*real)) : std::nullopt;
    }
    case ColumnType::boolean:
      return bits(json::to_boolean(value));
    case ColumnType::string:
    case ColumnType::text:
      break;
  }
  return std::nullopt;
}

void InferredColumns::add(std::string_view key, const json::JsonField& value) {
  auto found = keys_.find(key);
  if (found == keys_.end()) {
    if (keys_.size() >= rules_.most_columns) return;
    found = keys_.emplace(std::string(key), Seen{}).first;
    order_.emplace_back(key);
  }
  Seen& seen = found->second;
  switch (value.kind) {
    case json::JsonKind::number:
      if (json::to_int64(value)) {
        ++seen.integers;
      } else if (json::to_uint64(value)) {
        ++seen.wide_integers;
      } else {
        ++seen.reals;
      }
      break;
    case json::JsonKind::boolean:
      ++seen.booleans;
      break;
    case json::JsonKind::array:
    case json::JsonKind::object:
      ++seen.nested;
      [[fallthrough]];
    case json::JsonKind::string:
      ++seen.texts;
      seen.text_bytes += value.text.size();
      if (seen.distinct.size() < kMaxDistinct) seen.distinct.insert(std::hash<std::string_view>{}(value.text));
      break;
    case json::JsonKind::null:
    case json::JsonKind::not_finite:
      break;
  }
}

ColumnType InferredColumns::type(std::string_view key) const {
  const Seen& seen = keys_.find(key)->second;
  const std::uint64_t numbers = seen.integers + seen.wide_integers + seen.reals;
  if (seen.nested > 0 && !rules_.any_text_recurs) return ColumnType::text;
  if (seen.texts > 0 || (seen.booleans > 0 && numbers > 0)) {
    const bool mostly_unique =
        seen.texts > kEnoughTexts && seen.distinct.size() * 2 > std::min<std::uint64_t>(seen.texts, kMaxDistinct);
    const bool is_long = !rules_.any_text_recurs && seen.texts > 0 && seen.text_bytes / seen.texts > kLongText;
    return mostly_unique || is_long ? ColumnType::text : ColumnType::string;
  }
  if (seen.booleans > 0) return ColumnType::boolean;
  if (seen.reals > 0) return ColumnType::float64;
  if (seen.wide_integers > 0) return ColumnType::uint64;
  if (numbers > 0) return ColumnType::int64;
  return rules_.any_text_recurs ? ColumnType::string : ColumnType::text;
}

}  // namespace accelscope::capture::sources
