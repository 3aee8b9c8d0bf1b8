#include "capture/sources/torch_memory/block_sizes.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace accelscope::capture::sources::torch_memory {
namespace {

constexpr std::uint64_t kLeastBlock = 512;
constexpr std::uint64_t kLeastRest = 1U << 20;  // of a large segment: smaller rests stay with the block
constexpr int kFirstClassBit = 20;              // 1 MiB

}  // namespace

BlockSizes::BlockSizes(const pickle::PickleData& data, pickle::PickleValue settings) {
  if (const auto most = data.to_int64(data.find(settings, "max_split_size")); most && *most > 0) {
    largest_split_ = static_cast<std::uint64_t>(*most);
  }
  const pickle::PickleValue divisions = data.find(settings, "roundup_power2_divisions");
  const auto keys = data.keys(data.shape(divisions));
  const auto values = data.values(divisions);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view key = data.text(keys[i]);  // MiB
    std::uint64_t mib = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), mib);
    if (error != std::errc() || end != key.data() + key.size() || mib == 0) continue;
    const auto place = static_cast<std::size_t>(std::bit_width(mib) - 1);
    if (place < kSizeClasses) divisions_[place] = data.to_uint64(values[i]).value_or(0);
  }
}

std::uint64_t BlockSizes::rounded(std::uint64_t requested) const noexcept {
  if (requested < kLeastBlock) return kLeastBlock;
  const int bits = static_cast<int>(std::bit_width(requested)) - 1;
  const auto place = static_cast<std::size_t>(std::clamp(bits - kFirstClassBit, 0, static_cast<int>(kSizeClasses) - 1));
  const std::uint64_t divisions = divisions_[place];
  const bool in_divisions =
      divisions > 1 && divisions < (std::uint64_t{1} << 32) && requested > kLeastBlock * divisions;
  if (!in_divisions) return (requested + kLeastBlock - 1) / kLeastBlock * kLeastBlock;
  if (std::has_single_bit(requested)) return requested;
  const std::uint64_t below = std::bit_floor(requested);
  const std::uint64_t step = below >> (std::bit_width(divisions) - 1);
  if (step == 0) return below << 1;
  const std::uint64_t floor = requested & ~(step - 1);
  return floor == requested ? requested : floor + step;
}

std::uint64_t BlockSizes::taken(std::uint64_t requested, std::uint64_t room, bool splits_finely) const noexcept {
  const std::uint64_t size = rounded(requested);
  if (size >= room) return std::max(requested, room);
  const std::uint64_t rest = room - size;
  const bool splits = splits_finely ? rest >= kLeastBlock : size < largest_split_ && rest > kLeastRest;
  return splits ? size : room;
}

}  // namespace accelscope::capture::sources::torch_memory
