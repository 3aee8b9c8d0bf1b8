#include "core/analysis/selection/packed_stretch.h"

#include <bit>

namespace accelscope::analysis {
namespace {

constexpr std::size_t kSpread = 16;       // keys per entry up to which a walk over all keys beats sorting
constexpr std::uint64_t kLeastEntry = 2;  // bytes: fewer would be luck, so packing is not even tried

}  // namespace

std::size_t PackedStretch::entry_count() const noexcept {
  std::size_t count = 0;
  for (const Table& table : tables_) count += table.count;
  return count;
}

const std::byte* PackedStretch::unpack(const std::byte* in, std::uint32_t count, const std::byte* end,
                                       std::uint64_t (&fields)[kFields][kBlock]) noexcept {
  const std::byte* widths = in;
  in += kFields;
  for (std::size_t f = 0; f < kFields; ++f) {
    const auto width = static_cast<unsigned>(widths[f]);
    if (static_cast<std::size_t>(end - in) >= packed_block_bytes(width) + kSlack) {
      unpack_block(in, width, 0, fields[f]);
    } else {  // the last block of all, cut off behind its last value
      std::byte padded[kBlock * 8 + kSlack];
      std::memcpy(padded, in, static_cast<std::size_t>(end - in));
      unpack_block(padded, width, 0, fields[f]);
    }
    in += packed_bytes(count, width);
  }
  return in;
}

std::unique_ptr<const PackedStretch> StretchPacker::pack(const SummaryStretch& stretch, std::uint64_t most_bytes,
                                                         unsigned levels_below) {
  if (stretch.entries.size() * kLeastEntry > most_bytes) return nullptr;
  auto packed = std::make_unique<PackedStretch>();
  packed->totals_ = stretch.totals;
  packed->levels_below_ = levels_below;
  bytes_.clear();
  for (std::size_t t = 0; t < kSummaryTables; ++t) {
    const std::span<const SummaryEntry> entries = stretch.of(static_cast<SummaryTable>(t));
    if (entries.empty()) continue;
    sort(entries);
    std::uint64_t amounts = 0;
    for (const SummaryEntry& entry : sorted_) amounts |= entry.amount;
    const int shift = amounts == 0 ? 0 : std::countr_zero(amounts);
    packed->tables_[t] = {static_cast<std::uint32_t>(entries.size()), static_cast<std::uint32_t>(bytes_.size()),
                          sorted_.front().key, static_cast<std::uint8_t>(shift)};
    std::uint32_t before = sorted_.front().key;
    for (std::size_t first = 0; first < sorted_.size(); first += PackedStretch::kBlock) {
      const std::size_t count = std::min<std::size_t>(PackedStretch::kBlock, sorted_.size() - first);
      append_block(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count), static_cast<unsigned>(shift),
                   before);
      before = sorted_[first + count - 1].key;
      if (bytes_.size() > most_bytes) return nullptr;
    }
  }
  bytes_.resize(bytes_.size() + PackedStretch::kSlack);
  packed->bytes_ = std::vector<std::byte>(bytes_.begin(), bytes_.end());
  return packed;
}

void StretchPacker::sort(std::span<const SummaryEntry> entries) {
  const auto by_key = [](const SummaryEntry& a, const SummaryEntry& b) { return a.key < b.key; };
  const auto [low, high] = std::minmax_element(entries.begin(), entries.end(), by_key);
  const std::uint32_t smallest = low->key;
  const std::size_t keys = std::size_t{high->key} - smallest + 1;
  if (keys > entries.size() * kSpread) {
    sorted_.assign(entries.begin(), entries.end());
    std::ranges::sort(sorted_, by_key);
    return;
  }
  if (places_.size() < keys) places_.resize(keys, 0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    places_[entries[i].key - smallest] = static_cast<std::uint32_t>(i) + 1;
  }
  sorted_.clear();
  for (std::size_t key = 0; key < keys; ++key) {
    if (places_[key] == 0) continue;
    sorted_.push_back(entries[places_[key] - 1]);
    places_[key] = 0;
  }
}

void StretchPacker::append_block(std::uint32_t first, std::uint32_t count, unsigned shift, std::uint32_t before) {
  std::uint64_t fields[PackedStretch::kFields][PackedStretch::kBlock] = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    const SummaryEntry& entry = sorted_[first + i];
    fields[0][i] = entry.key - before;
    fields[1][i] = entry.count;
    fields[2][i] = entry.busy_ticks;
    fields[3][i] = entry.amount >> shift;
    before = entry.key;
  }
  const std::size_t header = bytes_.size();
  bytes_.resize(header + PackedStretch::kFields);
  for (std::size_t f = 0; f < PackedStretch::kFields; ++f) {
    std::uint64_t all = 0;
    for (const std::uint64_t value : fields[f]) all |= value;
    const unsigned width = packable_width(static_cast<unsigned>(std::bit_width(all)));
    std::byte packed[PackedStretch::kBlock * 8 + PackedStretch::kSlack];
    pack_block(fields[f], width, packed);
    bytes_[header + f] = static_cast<std::byte>(width);
    bytes_.insert(bytes_.end(), packed, packed + PackedStretch::packed_bytes(count, width));
  }
}

}  // namespace accelscope::analysis
