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
  constants_ = known_constants_.try_emplace(std::move(constants), known_constants_.size() + 1).first->second;
}

std::vector<FieldValue> GroupReader::key_values(std::size_t group) const {
  const std::uint64_t* words = groups_.keys(group);
  std::vector<FieldValue> values;
  for (std::size_t k = 0; k < keys_.count(); ++k)
    values.push_back(keys_.value(static_cast<Tag>(words[0] >> (4 * k) & 15U), words[k + 1]));
  return values;
}

std::uint32_t GroupReader::group_of(const std::uint64_t* words) {
  std::uint64_t hash = 0;
  const std::size_t count = keys_.count() + 1;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15U;
  Recent& recent = recent_[hash >> 52U];
  bool same = recent.group != ~0U;
  for (std::size_t i = 0; i < count; ++i) same &= words[i] == recent.words[i];  // few: no call for them
  if (same) return recent.group;
  std::copy(words, words + count, recent.words.begin());
  recent.group = static_cast<std::uint32_t>(groups_.find(words));
  return recent.group;
}

// What is known of a string stays known as long as the other keys are the same.
void GroupReader::read_by_string(const ScannedBlock& block, const BlockValues& ids) {
  const Varying& only = varying_.front();
  std::array<std::uint64_t, kWords> words = words_;
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    const std::uint64_t id = ids.has(i) ? ids.values[i] : 0;
    if (id == 0 && !ids.has(i)) {
      words[0] = words_[0];
      words[only.key + 1] = 0;
      block_groups_[i] = group_of(words.data());
      continue;
    }
    if (id >= by_string_.size()) by_string_.resize(std::max<std::size_t>(id + 1, by_string_.size() * 2));
    ByString& known = by_string_[id];
    if (known.constants != constants_) {
      words[0] = words_[0] | tag_bits(Tag::text, only.key);
      words[only.key + 1] = id;
      known = {static_cast<std::uint32_t>(groups_.find(words.data())), constants_};
    }
    block_groups_[i] = known.group;
  }
}

void GroupReader::read_groups(const ScannedBlock& block) {
  if (varying_.empty()) {
    const std::uint32_t group =
        keys_.count() == 0 ? static_cast<std::uint32_t>(groups_.find(words_.data())) : group_of(words_.data());
    std::fill(block_groups_.begin() + block.first, block_groups_.begin() + block.last, group);
    return;
  }
  if (varying_.size() == 1 && varying_.front().place.type == ColumnType::string)
    return read_by_string(block, block.reader.values(varying_.front().place));
  std::array<BlockValues, GroupKeys::kMost> found;
  for (std::size_t v = 0; v < varying_.size(); ++v) found[v] = block.reader.values(varying_[v].place);
  std::array<std::uint64_t, kWords> words = words_;
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    words[0] = words_[0];
    for (std::size_t v = 0; v < varying_.size(); ++v) {
      const Varying& varying = varying_[v];
      std::uint64_t& word = words[varying.key + 1];
      word = 0;
      if (!found[v].has(i)) continue;
      Tag tag = varying.tag;
      word = found[v].values[i];
      if (varying.place.type == ColumnType::text) {
        word = keys_.code_of(chunk_->view.text(varying.place.column, static_cast<std::uint32_t>(word)));
      } else if (varying.place.type == ColumnType::uint64 && (word >> 63U) != 0) {
        tag = Tag::unsigned_integer;
      } else if (tag == Tag::real && std::bit_cast<double>(word) == 0) {
        word = 0;  // of either sign
      }
      words[0] |= tag_bits(tag, varying.key);
    }
    block_groups_[i] = group_of(words.data());
  }
}

void GroupReader::read_values(const ScannedBlock& block, GroupedBlock& out) {
  const BlockValues found = block.reader.values(value_);
  out.valid = found.valid & bits_between(block.first, block.last);
  if (out.valid == 0) return;
  const ColumnType type = value_.type;
  if (type == ColumnType::float64) {
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      block_values_[i] = std::bit_cast<double>(found.values[i]);
      if (!std::isfinite(block_values_[i])) out.valid &= ~(std::uint64_t{1} << i);
    }
  } else if (type == ColumnType::uint64) {
    for (std::uint32_t i = block.first; i < block.last; ++i) block_values_[i] = static_cast<double>(found.values[i]);
  } else {
    for (std::uint32_t i = block.first; i < block.last; ++i)
      block_values_[i] = static_cast<double>(static_cast<std::int64_t>(found.values[i]));
  }
}

GroupedBlock GroupReader::read(const ScannedBlock& block) {
  GroupedBlock out{.groups = block_groups_.data(), .values = block_values_.data()};
  read_values(block, out);
  if (out.valid != 0) read_groups(block);
  return out;
}

}  // namespace accelscope
