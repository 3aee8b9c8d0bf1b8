#include "core/analysis/selection/lane_cover.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace accelscope {
namespace {

// Parts of a chunk, a bit for each.
static_assert(kMaxChunkEvents / (kBlockEvents * SummaryIndex::kBlocksPerPart) <= 31);

// Measured: an event that is decoded, an entry of a stretch, what a chunk to read costs beside its events. In ns.
constexpr double kEventCost = 20, kEntryCost = 4, kStretchCost = 200, kChunkCost = 30'000;

// Finds the cheapest cover of a range in one lane.
class LanePlanner {
 public:
  LanePlanner(const LaneSnapshot& lane, const TickRange& range, const SummaryIndex::Lane* known)
      : lane_(lane), range_(range), known_(known) {}

  [[nodiscard]] Cover run() const {
    const ChunkSpan span = chunks_in(lane_, range_);
    const bool has_head = known_ != nullptr && known_->head != nullptr && known_->head->is_exact() &&
                          known_->head_chunks <= lane_.chunk_count && span.first < known_->head_chunks;
    if (!has_head) return roots(span.first, span.last, false).inside;
    Cover cover = head(*known_->head, known_->head_chunks);
    cover.add(roots(known_->head_chunks, span.last, false).inside);
    return cover;
  }

 private:
  static constexpr unsigned kBits = std::bit_width(SummaryIndex::kFanout) - 1;
  [[nodiscard]] static constexpr unsigned shift(std::size_t level) noexcept {
    return static_cast<unsigned>(level) * kBits;
  }
  // Whether the stretch lies within what the index knows and the snapshot has.
  [[nodiscard]] bool has(std::size_t level, std::uint32_t index) const {
    if (known_ == nullptr || index >= known_->levels[level].size()) return false;
    return (std::uint64_t{index} + 1) << shift(level) <= lane_.chunk_count;
  }
  [[nodiscard]] const PackedStretch* kept(std::size_t level, std::uint32_t index) const {
    if (known_ == nullptr || index >= known_->levels[level].size()) return nullptr;
    return known_->levels[level][index].get();
  }
  [[nodiscard]] const SummaryIndex::Chunk* known_chunk(std::uint32_t chunk) const {
    return known_ != nullptr && chunk < known_->chunks.size() ? known_->chunks[chunk].get() : nullptr;
  }

  enum class Place : std::uint8_t { outside, cut, inside };
  [[nodiscard]] Place place(std::int64_t begin, std::int64_t end) const noexcept {
    if (begin >= range_.end || end < range_.begin) return Place::outside;
    return range_.covers(begin, end) ? Place::inside : Place::cut;
  }
  [[nodiscard]] Place place(std::size_t level, std::uint32_t index) const {
    const std::uint32_t last = ((index + 1) << shift(level)) - 1;
    return place(lane_.chunk(index << shift(level)).begin_ticks, lane_.chunk(last).end_ticks);
  }

  // All events of the stretch, to be added.
  [[nodiscard]] Cover whole(std::size_t level, std::uint32_t index, bool adds) const {
    Cover cover;
    if (const PackedStretch* stretch = kept(level, index)) {
      cover.cost = cost_of(*stretch);
      cover.stretches.push_back({stretch, index << shift(level), adds});
      return cover;
    }
    if (level == 0) return parts(index, adds);
    for (std::uint32_t i = 0; i < SummaryIndex::kFanout; ++i) {
      cover.add(whole(level - 1, index * SummaryIndex::kFanout + i, adds));
    }
    return cover;
  }
  // What lies inside the range, to be added, and outside of it, to be taken off.
  struct Sides {
    Cover inside, outside;
  };
  [[nodiscard]] Cover head(const PackedStretch& stretch, std::uint32_t chunks) const {
    Sides both;
    if (place(lane_.chunk(0).begin_ticks, lane_.chunk(chunks - 1).end_ticks) == Place::inside) {
      both.inside.stretches.push_back({&stretch, 0, true});
      return both.inside;
    }
    both = roots(0, chunks, true);
    use_whole(stretch, 0, both);
    return both.inside;
  }
  // Of the largest stretches around the chunks [first, last).
  [[nodiscard]] Sides roots(std::uint32_t first, std::uint32_t last, bool wants_outside) const {
    Sides both;
    for (std::uint32_t chunk = first; chunk < last;) {
      std::size_t level = 0;
      while (level + 1 < SummaryIndex::kLevels && has(level + 1, chunk >> shift(level + 1))) ++level;
      const std::uint32_t index = chunk >> shift(level);
      Sides root = sides(level, index, wants_outside);
      both.inside.add(std::move(root.inside));
      both.outside.add(std::move(root.outside));
      chunk = (index + 1) << shift(level);
    }
    return both;
  }
  [[nodiscard]] Sides sides(std::size_t level, std::uint32_t index, bool wants_outside) const {
    const Place where = place(level, index);
    if (where == Place::inside) return {whole(level, index, true), {}};
    if (where == Place::outside) return {{}, wants_outside ? whole(level, index, false) : Cover{}};
    const PackedStretch* stretch = kept(level, index);
    if (stretch != nullptr && !stretch->is_exact()) stretch = nullptr;
    wants_outside = wants_outside || stretch != nullptr;
    Sides both;
    if (level == 0) {
      both.inside = parts(index, true);
      if (wants_outside) both.outside = parts(index, false);
    } else {
      for (std::uint32_t i = 0; i < SummaryIndex::kFanout; ++i) {
        Sides child = sides(level - 1, index * SummaryIndex::kFanout + i, wants_outside);
        both.inside.add(std::move(child.inside));
        both.outside.add(std::move(child.outside));
      }
    }
    if (stretch != nullptr) use_whole(*stretch, index << shift(level), both);
    return both;
  }
  // Each side is also the stretch less its other side.
  static void use_whole(const PackedStretch& stretch, std::uint32_t chunk, Sides& both) {
    const double cost = cost_of(stretch);
    if (both.outside.cost + cost < both.inside.cost) {
      both.inside = both.outside;
      both.inside.cost += cost;
      both.inside.stretches.push_back({&stretch, chunk, true});
    } else if (both.inside.cost + cost < both.outside.cost) {
      both.outside = both.inside;
      both.outside.cost += cost;
      both.outside.stretches.push_back({&stretch, chunk, false});
    }
  }

  // One side of a chunk, from its parts.
  [[nodiscard]] Cover parts(std::uint32_t chunk, bool is_inside) const {
    Cover cover;
    const SummaryIndex::Chunk* known = known_chunk(chunk);
    if (known == nullptr) {
      cover.parts.push_back({chunk, kAllParts, 0});
      cover.cost = kChunkCost + kEventCost * lane_.chunk(chunk).count;
      return cover;
    }
    std::uint32_t decode = 0;
    for (std::size_t p = 0; p < known->parts.size(); ++p) {
      const SummaryIndex::Part& part = known->parts[p];
      const Place where = place(part.begin_ticks, part.end_ticks);
      if (where != Place::cut && (where == Place::inside) != is_inside) continue;
      if (where != Place::cut && part.sums) {
        cover.cost += cost_of(*part.sums);
        cover.stretches.push_back({part.sums.get(), chunk, is_inside});
        continue;
      }
      decode |= std::uint32_t{1} << p;
      cover.cost += kEventCost * events_of(chunk, p) * (where == Place::cut ? share(part, is_inside) : 1);
    }
    if (decode == 0) return cover;
    cover.cost += kChunkCost;
    cover.parts.push_back({chunk, is_inside ? decode : 0, is_inside ? 0 : decode});
    return cover;
  }
  [[nodiscard]] double events_of(std::uint32_t chunk, std::size_t part) const {
    constexpr std::uint32_t kPartEvents = SummaryIndex::kBlocksPerPart * kBlockEvents;
    const std::uint32_t before = static_cast<std::uint32_t>(part) * kPartEvents;
    const std::uint32_t count = lane_.chunk(chunk).count;
    return count > before ? std::min(kPartEvents, count - before) : 0;
  }
  // How much of the part lies on a side.
  [[nodiscard]] double share(const SummaryIndex::Part& part, bool is_inside) const noexcept {
    const auto length = static_cast<double>(part.end_ticks - part.begin_ticks);
    const double shared = static_cast<double>(range_.shared(part.begin_ticks, part.end_ticks));
    const double of_inside = length > 0 ? shared / length : 1;
    return is_inside ? of_inside : 1 - of_inside;
  }
  [[nodiscard]] static double cost_of(const PackedStretch& stretch) noexcept {
    return kStretchCost + kEntryCost * static_cast<double>(stretch.entry_count());
  }

  const LaneSnapshot& lane_;
  TickRange range_;
  const SummaryIndex::Lane* known_;
};

}  // namespace

Cover cheapest_cover(const LaneSnapshot& lane, const TickRange& range, const SummaryIndex::Lane* known) {
  return LanePlanner(lane, range, known).run();
}

}  // namespace accelscope
