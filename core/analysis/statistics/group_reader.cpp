#include "core/analysis/statistics/group_reader.h"

#include <bit>
#include <cmath>

#include "core/scan/column_values.h"

namespace accelscope {
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

}  // namespace accelscope
