#include "capture/sources/pickle/pickle_data.h"

#include <algorithm>
#include <limits>

namespace accelscope::capture::sources::pickle {
namespace {

constexpr std::uint64_t kNoneWord = 0, kFalseWord = 1, kTrueWord = 2;
constexpr std::size_t kLongestShared = 4096;   // longer lists are hardly ever equal
constexpr std::size_t kLongestSharedDict = 4;  // a frame of a stack has three keys
constexpr std::int64_t kSmallest = -(std::int64_t{1} << 60), kLargest = (std::int64_t{1} << 60) - 1;

[[nodiscard]] std::uint64_t hash_of(std::span<const PickleValue> values, std::uint64_t seed) noexcept {
  std::uint64_t hash = seed + values.size();
  for (const PickleValue value : values) {
    hash = (hash ^ value.word) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

PickleData::PickleData() {
  lists_.push_back({});  // the empty one
  shapes_.push_back(0);
  known_shapes_.emplace(0, 0);
}

PickleKind PickleData::kind(PickleValue value) noexcept {
  switch (tag(value)) {
    case kSimple:
      return payload(value) == kNoneWord ? PickleKind::none : PickleKind::boolean;
    case kSmall:
    case kWide:
      return PickleKind::integer;
    case kReal:
      return PickleKind::real;
    case kText:
      return PickleKind::text;
    case kList:
      return PickleKind::list;
    case kDict:
      return PickleKind::dict;
    case kObject:
      break;
  }
  return PickleKind::none;
}

std::optional<std::int64_t> PickleData::to_int64(PickleValue value) const noexcept {
  switch (tag(value)) {
    case kSimple:
      return payload(value) == kNoneWord ? std::nullopt : std::optional<std::int64_t>(payload(value) == kTrueWord);
    case kSmall:
      return static_cast<std::int64_t>(value.word) >> kTagBits;
    case kWide: {
      const Wide& wide = wide_[payload(value)];
      const bool fits = wide.negative || wide.bits <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
      return fits ? std::optional(static_cast<std::int64_t>(wide.bits)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> PickleData::to_uint64(PickleValue value) const noexcept {
  if (tag(value) == kWide) {
    const Wide& wide = wide_[payload(value)];
    return wide.negative ? std::nullopt : std::optional(wide.bits);
  }
  const auto number = to_int64(value);
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::optional<double> PickleData::to_double(PickleValue value) const noexcept {
  if (tag(value) == kReal) return reals_[payload(value)];
  if (const auto number = to_int64(value)) return static_cast<double>(*number);
  const auto number = to_uint64(value);
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

std::string_view PickleData::text(PickleValue value) const noexcept {
  return tag(value) == kText ? std::string_view(texts_[payload(value)]) : std::string_view{};
}

std::span<const PickleValue> PickleData::list(PickleValue value) const noexcept {
  if (tag(value) != kList) return {};
  const Run& run = lists_[payload(value)];
  return {at(run.offset), run.count};
}

std::uint32_t PickleData::shape(PickleValue dict) const noexcept {
  return tag(dict) == kDict ? static_cast<std::uint32_t>(payload(dict) >> kOffsetBits) : 0;
}

std::span<const PickleValue> PickleData::keys(std::uint32_t shape) const noexcept {
  const Run& run = lists_[shapes_[shape]];
  return {at(run.offset), run.count};
}

std::span<const PickleValue> PickleData::values(PickleValue dict) const noexcept {
  const std::size_t count = keys(shape(dict)).size();
  if (count == 0) return {};
  return {at(payload(dict) & ((std::uint64_t{1} << kOffsetBits) - 1)), count};
}

PickleValue PickleData::find(PickleValue dict, std::string_view key) const noexcept {
  const std::span<const PickleValue> names = keys(shape(dict));
  for (std::size_t i = names.size(); i-- > 0;) {  // of equal keys the last one counts
    if (tag(names[i]) == kText && text(names[i]) == key) return values(dict)[i];
  }
  return {};
}

PickleValue PickleData::boolean(bool value) noexcept { return tagged(kSimple, value ? kTrueWord : kFalseWord); }

PickleValue PickleData::integer(std::int64_t value) {
  if (value >= kSmallest && value <= kLargest) return tagged(kSmall, static_cast<std::uint64_t>(value));
  wide_.push_back({static_cast<std::uint64_t>(value), value < 0});
  return tagged(kWide, wide_.size() - 1);
}

PickleValue PickleData::unsigned_integer(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(kLargest)) return tagged(kSmall, value);
  wide_.push_back({value, false});
  return tagged(kWide, wide_.size() - 1);
}

PickleValue PickleData::real(double value) {
  reals_.push_back(value);
  return tagged(kReal, reals_.size() - 1);
}

PickleValue PickleData::make_text(std::string_view text) {
  if (const auto known = known_texts_.find(text); known != known_texts_.end()) return tagged(kText, known->second);
  texts_.emplace_back(text);
  text_bytes_ += text.size();
  known_texts_.emplace(texts_.back(), texts_.size() - 1);
  return tagged(kText, texts_.size() - 1);
}

std::uint64_t PickleData::keep(std::span<const PickleValue> values) {
  constexpr std::size_t kBlock = std::size_t{1} << kBlockBits;
  if (blocks_.empty() || room_ - used_ < values.size()) {
    room_ = std::max(kBlock, values.size());
    used_ = 0;
    blocks_.push_back(std::make_unique_for_overwrite<PickleValue[]>(room_));
  }
  PickleValue* const place = blocks_.back().get() + used_;
  std::copy(values.begin(), values.end(), place);
  const std::uint64_t offset = std::uint64_t{blocks_.size() - 1} << kBlockBits | used_;
  used_ += values.size();
  retained_words_ += values.size();
  // What is longer than a block has one of its own, whose further places no offset reaches.
  if (room_ > kBlock) used_ = room_;
  return offset;
}

const PickleValue* PickleData::at(std::uint64_t offset) const noexcept {
  if (blocks_.empty()) return nullptr;
  return blocks_[offset >> kBlockBits].get() + (offset & ((std::uint64_t{1} << kBlockBits) - 1));
}

std::uint32_t PickleData::number_list(std::span<const PickleValue> items) {
  if (items.empty()) return 0;
  const bool shared = items.size() <= kLongestShared;
  const std::uint64_t hash = shared ? hash_of(items, 1) : 0;
  if (shared) {
    if (const auto known = known_lists_.find(hash); known != known_lists_.end()) {
      const Run& run = lists_[known->second];
      if (std::equal(items.begin(), items.end(), at(run.offset), at(run.offset) + run.count)) return known->second;
    }
  }
  const auto number = static_cast<std::uint32_t>(lists_.size());
  const std::uint64_t offset = keep(items);
  lists_.push_back({offset, static_cast<std::uint32_t>(items.size())});
  if (shared) known_lists_.emplace(hash, number);
  return number;
}

PickleValue PickleData::make_list(std::span<const PickleValue> items) { return tagged(kList, number_list(items)); }

std::optional<std::uint32_t> PickleData::number_shape(std::span<const PickleValue> keys) {
  const std::uint32_t list = number_list(keys);
  if (const auto known = known_shapes_.find(list); known != known_shapes_.end()) return known->second;
  if (shapes_.size() >> kShapeBits != 0) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back(list);
  known_shapes_.emplace(list, number);
  return number;
}

std::optional<PickleValue> PickleData::make_dict(std::span<const PickleValue> pairs) {
  const bool shared = pairs.size() <= 2 * kLongestSharedDict;
  const std::uint64_t hash = shared ? hash_of(pairs, 2) : 0;
  scratch_keys_.clear();
  scratch_values_.clear();
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    scratch_keys_.push_back(pairs[i]);
    scratch_values_.push_back(pairs[i + 1]);
  }
  const auto number = number_shape(scratch_keys_);
  if (!number) return std::nullopt;
  if (shared) {
    if (const auto known = known_dicts_.find(hash); known != known_dicts_.end() && shape(known->second) == *number) {
      const auto same = values(known->second);
      if (std::equal(same.begin(), same.end(), scratch_values_.begin(), scratch_values_.end())) return known->second;
    }
  }
  const PickleValue made = tagged(kDict, std::uint64_t{*number} << kOffsetBits | keep(scratch_values_));
  if (shared) known_dicts_.emplace(hash, made);
  return made;
}

}  // namespace accelscope::capture::sources::pickle
