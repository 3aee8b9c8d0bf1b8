#include "app/content/memory/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/base/text.h"
#include "core/model/palette.h"

namespace accelscope::app::content {

namespace {
constexpr int kSmallestPower = 8;  // 256 B
constexpr int kLargestPower = 24;  // 16 MiB
constexpr int kCoarsestPass = 8;   // of the address map: holes of 65,536 pixels are filled
constexpr int kSliderSteps = kLargestPower - kSmallestPower + 1;
}  // namespace

bool meets_allocations(const EventMask& mask, const Snapshot& snapshot) {
  for (std::uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    if (snapshot.lanes[i].data->kind == EventKind::memory && mask.count(i) > 0) return true;
  }
  return false;
}

std::vector<AliveTensor> alive_by_tensor(const analysis::MemoryUsage& usage, std::uint32_t pool, std::int64_t ns,
                                         std::uint64_t min_bytes, const PassingEvents& passing) {
  std::vector<AliveTensor> tensors;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (const std::uint32_t index : usage.alive_at(pool, ns, min_bytes)) {
    const analysis::Allocation& allocation = usage.allocations[index];
    if (!passing.takes(allocation)) continue;
    const auto [place, is_new] = places.try_emplace(allocation.tensor, tensors.size());
    if (is_new) tensors.push_back({allocation.tensor, 0, allocation.begin_ns, {}});
    AliveTensor& tensor = tensors[place->second];
    tensor.bytes += allocation.bytes;
    tensor.begin_ns = std::min(tensor.begin_ns, allocation.begin_ns);
    tensor.allocations.push_back(index);
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const AliveTensor& a, const AliveTensor& b) { return a.bytes > b.bytes; });
  return tensors;
}

void sort_alive(const analysis::MemoryUsage& usage, AliveColumn column, bool descending,
                std::vector<AliveTensor>& tensors) {
  const auto by = [&](auto value) {
    return [value, descending](const auto& a, const auto& b) {
      const auto left = value(a);
      const auto right = value(b);
      if (left.has_value() != right.has_value()) return left.has_value();
      if (!left) return false;
      return descending ? *right < *left : *left < *right;
    };
  };
  const auto lives = [&](std::uint32_t i) -> std::optional<std::int64_t> {
    const analysis::Allocation& allocation = usage.allocations[i];
    if (!allocation.end_ns) return std::nullopt;
    return *allocation.end_ns - allocation.begin_ns;
  };
  const auto longest = [&](const AliveTensor& tensor) {
    std::optional<std::int64_t> most;
    for (const std::uint32_t i : tensor.allocations) most = std::max(most, lives(i));
    return most;
  };
  const auto sort_all = [&](auto of_tensor, auto of_allocation) {
    std::stable_sort(tensors.begin(), tensors.end(), by(of_tensor));
    for (AliveTensor& tensor : tensors) {
      std::stable_sort(tensor.allocations.begin(), tensor.allocations.end(), by(of_allocation));
    }
  };
  const auto bytes = [&](std::uint32_t i) { return std::optional(usage.allocations[i].bytes); };
  switch (column) {
    case AliveColumn::tensor:
      return std::stable_sort(tensors.begin(), tensors.end(), by([&](const AliveTensor& tensor) {
                                return std::optional(std::string_view(usage.tensors[tensor.tensor]));
                              }));
    case AliveColumn::tiles:
      return sort_all([](const AliveTensor& tensor) { return std::optional(tensor.allocations.size()); }, bytes);
    case AliveColumn::bytes:
      return sort_all([](const AliveTensor& tensor) { return std::optional(tensor.bytes); }, bytes);
    case AliveColumn::address: {
      const auto address = [&](std::uint32_t i) { return usage.allocations[i].address; };
      return sort_all([&](const AliveTensor& tensor) { return address(tensor.allocations.front()); }, address);
    }
    case AliveColumn::since:
      return sort_all([](const AliveTensor& tensor) { return std::optional(tensor.begin_ns); },
                      [&](std::uint32_t i) { return std::optional(usage.allocations[i].begin_ns); });
    case AliveColumn::lives:
      return sort_all(longest, lives);
  }
}

AddressScale::AddressScale(const analysis::PoolUsage& pool) {
  if (pool.touched.empty()) return;
  const std::uint64_t first = pool.touched.front().begin;
  const std::uint64_t last = pool.touched.back().end;
  const bool from_zero = pool.capacity_bytes && last <= *pool.capacity_bytes;
  std::uint64_t used = 0;
  for (const analysis::AddressSpan& span : pool.touched) used += span.end - span.begin;
  constexpr std::uint64_t kShortest = 24;  // of which a gap must be one part of the used, to be drawn as a gap
  constexpr double kTallestGap = 0.35;     // of the used
  std::uint64_t at = from_zero ? 0 : first;
  const auto add_gap = [&](std::uint64_t to) {
    if (to <= at) return;
    if (!parts_.empty() && to - at < used / kShortest) {
      parts_.back().span.end = to;
    } else {
      parts_.push_back({{at, to}, 0, 0, false});
    }
    at = to;
  };
  for (const analysis::AddressSpan& span : pool.touched) {
    add_gap(span.begin);
    if (!parts_.empty() && parts_.back().used) {
      parts_.back().span.end = span.end;
    } else {
      parts_.push_back({span, 0, 0, true});
    }
    at = span.end;
  }
  if (from_zero) add_gap(*pool.capacity_bytes);
  const auto used_height = static_cast<double>(used);
  double gaps = 0;
  double total = 0;
  for (const AddressPart& part : parts_) {
    const auto length = static_cast<double>(part.span.end - part.span.begin);
    (part.used ? total : gaps) += part.used ? length : std::min(length, kTallestGap * used_height);
  }
  const double shrink = gaps > total ? total / gaps : 1;
  total += gaps * shrink;
  double height = 0;
  for (AddressPart& part : parts_) {
    const auto length = static_cast<double>(part.span.end - part.span.begin);
    part.begin = height / total;
    height += part.used ? length : std::min(length, kTallestGap * used_height) * shrink;
    part.end = height / total;
  }
}

double AddressScale::share_of(std::uint64_t address) const noexcept {
  const auto next = std::upper_bound(parts_.begin(), parts_.end(), address,
                                     [](std::uint64_t at, const AddressPart& part) { return at < part.span.end; });
  if (next == parts_.end()) return 1;
  if (address < next->span.begin) return next->begin;
  return next->begin + (next->end - next->begin) * static_cast<double>(address - next->span.begin) /
                           static_cast<double>(next->span.end - next->span.begin);
}

std::uint64_t AddressScale::address_at(double share) const noexcept {
  for (const AddressPart& part : parts_) {
    if (share >= part.end) continue;
    const double within = std::max(0.0, share - part.begin) / (part.end - part.begin);
    return part.span.begin + static_cast<std::uint64_t>(within * static_cast<double>(part.span.end - part.span.begin));
  }
  return parts_.empty() ? 0 : parts_.back().span.end - 1;
}

std::vector<AddressBlock> address_map(const analysis::MemoryUsage& usage, const AddressScale& scale,
                                      const AddressMapIntent& intent) {
  const double per_ns =
      static_cast<double>(intent.pixels) / std::max(1.0, static_cast<double>(intent.range.length_ns()));
  const auto pixel_of = [&](std::int64_t ns) {
    const double x = (static_cast<double>(ns) - static_cast<double>(intent.range.begin_ns)) * per_ns;
    return static_cast<float>(std::clamp(x, -2.0, static_cast<double>(intent.pixels) + 2.0));
  };
  const auto rows = static_cast<double>(intent.rows);
  std::vector<AddressBlock> blocks;
  std::unordered_map<std::uint32_t, std::uint8_t> slots;  // by group
  const auto slot_of = [&](std::uint32_t group) {
    const auto [place, is_new] = slots.try_emplace(group, std::uint8_t{0});
    if (is_new) place->second = palette_slot(usage.group_name(group, intent.grouping));
    return place->second;
  };
  // Where it is too much for a frame, holes of a few pixels are filled, and then blocks of several groups become one.
  for (int pass = 0; pass <= kCoarsestPass; ++pass) {
    const bool any_group = pass > 1;
    const float gap = pass == 0 ? 0 : std::exp2(static_cast<float>(2 * pass));
    blocks.clear();
    std::unordered_map<std::uint64_t, std::size_t> last_at;  // pixel rows -> their newest block
    usage.visit(intent.pool, intent.range.begin_ns, intent.range.end_ns, [&](std::uint32_t index) {
      if (pass < kCoarsestPass && blocks.size() > kMostBlocks) return;  // too many already
      const analysis::Allocation& allocation = usage.allocations[index];
      if (!allocation.address || allocation.bytes < intent.min_bytes || !intent.passing.takes(allocation)) return;
      AddressBlock block;
      block.x0 = pixel_of(allocation.begin_ns);
      block.x1 = std::max(pixel_of(allocation.end_ns.value_or(intent.session_end_ns)), block.x0 + 1);
      block.y0 = static_cast<float>(std::floor(scale.share_of(*allocation.address) * rows));
      block.y1 = static_cast<float>(std::round(scale.share_of(*allocation.address + allocation.bytes) * rows));
      block.y1 = std::max(block.y1, block.y0 + 1);
      block.group = usage.group_of(allocation, intent.grouping);
      block.allocation = index;
      const auto height = static_cast<std::uint32_t>(block.y1 - block.y0);
      const auto tall = any_group ? static_cast<std::uint32_t>(std::bit_width(height)) : height;
      const auto key = static_cast<std::uint64_t>(block.y0) << 32 | tall;
      const auto [place, is_new] = last_at.try_emplace(key, blocks.size());
      AddressBlock* last = is_new ? nullptr : &blocks[place->second];
      if (last != nullptr && (any_group || last->group == block.group) && block.x0 <= last->x1 + gap) {
        last->x1 = std::max(last->x1, block.x1);
        last->y1 = std::max(last->y1, block.y1);
        if (last->group != block.group) last->slot = AddressBlock::kSeveralGroups;
        return;
      }
      block.slot = slot_of(block.group);
      place->second = blocks.size();
      blocks.push_back(block);
    });
    if (blocks.size() <= kMostBlocks) break;
  }
  return blocks;
}

std::optional<std::uint32_t> allocation_at(const analysis::MemoryUsage& usage, std::uint32_t pool, std::int64_t ns,
                                           std::uint64_t address) {
  std::optional<std::uint32_t> found;
  usage.visit(pool, ns, ns, [&](std::uint32_t index) {
    const analysis::Allocation& allocation = usage.allocations[index];
    if (!allocation.address || *allocation.address > address) return;
    if (address - *allocation.address < allocation.bytes) found = index;
  });
  return found;
}

namespace {
// "SBUF partition 32" is part 32 of "SBUF".
struct PoolPart {
  std::string_view family, part;
  std::uint64_t number = 0;
};
std::optional<PoolPart> part_of(std::string_view name) {
  for (const std::string_view word : {" partition ", " bank "}) {
    const std::size_t at = name.rfind(word);
    if (at == std::string_view::npos || at == 0) continue;
    PoolPart part{name.substr(0, at), name.substr(at + 1), 0};
    if (read_number(name.substr(at + word.size()), part.number)) return part;
  }
  return std::nullopt;
}
}  // namespace

std::vector<PoolFamily> pool_families(const analysis::MemoryUsage& usage) {
  std::vector<PoolFamily> families;
  std::map<std::tuple<std::string_view, bool, bool>, std::size_t> known;
  for (std::uint32_t i = 0; i < usage.pool_count(); ++i) {
    const analysis::PoolUsage& pool = usage.pool(i);
    const std::optional<PoolPart> part = part_of(pool.name);
    if (!part) {
      families.push_back({pool.name, pool.estimated, {i}, {}});
      continue;
    }
    const auto [place, is_new] = known.try_emplace({part->family, pool.estimated, pool.sampled}, families.size());
    if (is_new) families.push_back({std::string(part->family), pool.estimated, {}, {}});
    families[place->second].pools.push_back(i);
  }
  for (PoolFamily& family : families) {
    if (family.pools.size() == 1) {
      family.name = usage.pool(family.pools.front()).name;
      continue;
    }
    std::stable_sort(family.pools.begin(), family.pools.end(), [&](std::uint32_t a, std::uint32_t b) {
      return part_of(usage.pool(a).name)->number < part_of(usage.pool(b).name)->number;
    });
    for (const std::uint32_t pool : family.pools) family.parts.emplace_back(part_of(usage.pool(pool).name)->part);
  }
  return families;
}

std::vector<std::uint64_t> byte_ticks(std::uint64_t most, std::size_t count) {
  if (most == 0 || count == 0) return {};
  const std::uint64_t step = std::bit_ceil(std::max<std::uint64_t>(most / count, 1));
  std::vector<std::uint64_t> ticks;
  for (std::uint64_t at = step; at <= most; at += step) ticks.push_back(at);
  return ticks;
}

std::uint64_t slider_to_bytes(float position) noexcept {
  const int step = static_cast<int>(std::lround(std::clamp(position, 0.0F, 1.0F) * kSliderSteps));
  return step == 0 ? 0 : std::uint64_t{1} << (kSmallestPower + step - 1);
}

float bytes_to_slider(std::uint64_t bytes) noexcept {
  if (bytes == 0) return 0;
  const int power = std::clamp(static_cast<int>(std::bit_width(bytes)) - 1, kSmallestPower, kLargestPower);
  return static_cast<float>(power - kSmallestPower + 1) / static_cast<float>(kSliderSteps);
}

std::string address_text(std::uint64_t address) { return fmt::format("0x{:X}", address); }

}  // namespace accelscope::app::content
