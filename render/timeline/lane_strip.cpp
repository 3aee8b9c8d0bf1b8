#include "render/timeline/lane_strip.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/model/palette.h"

namespace accelscope::render {
namespace {

constexpr std::uint32_t kFull = 256;  // cover of a whole pixel

// 0xRRGGBB spread over 16-bit lanes, with a one on top, so that one multiplication weighs colour and cover alike.
[[nodiscard]] constexpr std::uint64_t spread(std::uint32_t rgb) noexcept {
  return std::uint64_t{rgb >> 16 & 0xff} | std::uint64_t{rgb >> 8 & 0xff} << 16 | std::uint64_t{rgb & 0xff} << 32 |
         std::uint64_t{1} << 48;
}

struct CoverTables {
  std::array<std::uint32_t, kFull + 1> reciprocal{};  // 65536 / cover
  std::array<std::uint32_t, kFull + 1> alpha{};       // in the top byte
};

[[nodiscard]] constexpr CoverTables make_tables() {
  CoverTables tables;
  for (std::uint32_t cover = 1; cover <= kFull; ++cover) {
    tables.reciprocal[cover] = 65536 / cover;
    const double strength = kLeastCover + (1 - kLeastCover) * cover / kFull;
    tables.alpha[cover] = static_cast<std::uint32_t>(strength * 255 + 0.5) << 24;
  }
  return tables;
}
constexpr CoverTables kTables = make_tables();

template <typename Ticks>
class Walk {
 public:
  Walk(const LaneSnapshot& lane, LaneDetail* detail, const Ticks& ticks, int width, std::uint64_t* cover,
       std::uint16_t* wait, LaneStrip& strip)
      : lane_(lane), detail_(detail), ticks_(ticks), width_(width), cover_(cover), wait_(wait), strip_(strip) {}

  void run() {
    const LaneTree<SliceNode>& tree = lane_.data->slices;
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t parents = level + 1 < kTreeLevels ? lane_.tree.nodes[level + 1] : 0;
      for (std::size_t i = parents * kTreeFanout; i < lane_.tree.nodes[level]; ++i) {
        if (!visit(tree, level, i)) return;
      }
    }
  }
  [[nodiscard]] double busy_pixels() const noexcept { return busy_pixels_; }
  [[nodiscard]] double wait_pixels() const noexcept { return wait_pixels_; }

 private:
  // False: this and everything after it lies right of the view.
  bool visit(const LaneTree<SliceNode>& tree, std::size_t level, std::size_t index) {
    const SliceNode& node = tree.node(level, index);
    const double x1 = ticks_.x(node.end);
    if (x1 < 0) return true;
    const double x0 = ticks_.x(node.begin);
    if (x0 >= width_) return false;
    if (x1 - x0 <= kNodePixels) {
      add_node(node, x0, x1);
      return true;
    }
    if (level == 0) {
      visit_leaf(node, static_cast<std::uint32_t>(index), x0, x1);
      return true;
    }
    for (std::size_t child = index * kTreeFanout; child < (index + 1) * kTreeFanout; ++child) {
      if (!visit(tree, level - 1, child)) return false;
    }
    return true;
  }

  void visit_leaf(const SliceNode& leaf, std::uint32_t index, double x0, double x1) {
    if (detail_ == nullptr) return add_node(leaf, x0, x1);
    // Where a micro node would be wider than a pixel or two, its events are wanted.
    const bool events = (x1 - x0) * kMicroEvents > kNodePixels * leaf.count;
    if (events) {
      if (const LaneWindow* window = detail_->find(index, WindowDetail::events)) return add_events(*window, index);
      strip_.complete = false;
    }
    const LaneWindow* micro =
        events ? detail_->ready(index, WindowDetail::micro) : detail_->find(index, WindowDetail::micro);
    if (micro != nullptr) return add_micro(*micro, index);
    strip_.complete = false;
    if (const LaneWindow* window = detail_->ready(index, WindowDetail::events)) return add_events(*window, index);
    add_node(leaf, x0, x1);
  }

  void add_micro(const LaneWindow& window, std::uint32_t leaf) {
    const std::uint32_t place = leaf - window.first_leaf;
    const std::uint32_t first = window.first_entry[place];
    for (std::uint32_t i = first; i < window.first_entry[place + 1]; ++i) {
      const SliceNode& node = window.nodes[i];
      const double x1 = ticks_.x(node.end);
      if (x1 < 0) continue;
      const double x0 = ticks_.x(node.begin);
      if (x0 >= width_) return;
      if (x1 - x0 > kNodePixels) {
        // Unevenly filled leaf: this part of it needs its events after all.
        if (const LaneWindow* events = detail_->find(leaf, WindowDetail::events)) {
          const std::uint32_t begin = (i - first) * kMicroEvents;
          add_events(*events, leaf, begin, begin + kMicroEvents);
          continue;
        }
        strip_.complete = false;
      }
      add_node(node, x0, x1);
    }
  }

  void add_events(const LaneWindow& window, std::uint32_t leaf, std::uint32_t begin = 0,
                  std::uint32_t end = std::numeric_limits<std::uint32_t>::max()) {
    const std::uint32_t place = leaf - window.first_leaf;
    const std::uint32_t first = window.first_entry[place];
    end = std::min(end, window.first_entry[place + 1] - first);
    for (std::uint32_t i = begin; i < end; ++i) {
      const WindowEvent& event = window.events[first + i];
      const double x1 = ticks_.x(event.end_ticks);
      if (x1 < 0) continue;
      const double x0 = ticks_.x(event.begin_ticks);
      if (x0 >= width_) return;
      add_event(event, make_event_id(lane_.number(), window.first_ordinal[place] + i), x0, x1);
    }
  }

  void add_event(const WindowEvent& event, EventId id, double x0, double x1) {
    if (x1 <= 0 && x0 < 0) return;
    const std::uint64_t colour = spread(kSlicePalette[event.slot]);
    if (x1 - x0 < kSlicePixels) {
      if (event.waits) {
        add_wait(x0, x1, x1 - x0);
      } else {
        add_busy(x0, x1, x1 - x0, colour);
      }
      return;
    }
    const double seen = std::min<double>(x1, width_) - std::max(x0, 0.0);
    (event.waits ? wait_pixels_ : busy_pixels_) += seen;
    if (event.waits || x1 - x0 >= kSinglePixels) {
      strip_.slices.push_back({id, event.name, event.slot, event.waits, x0, x1});
    } else {
      add_block(x0, x1, colour);
    }
  }

  void add_node(const SliceNode& node, double x0, double x1) {
    if (x1 <= 0 && x0 < 0) return;
    const std::int64_t length = node.end - node.begin;
    if (node.wait > 0) {
      add_wait(x0, x1, ticks_.extent(static_cast<double>(node.wait), x0, x1, length));
      if (node.busy == 0) return;
    }
    add_busy(x0, x1, ticks_.extent(static_cast<double>(node.busy), x0, x1, length), spread(node.colour));
  }

  void cover(int pixel, std::uint32_t amount, std::uint64_t colour) noexcept {
    const auto free = static_cast<std::uint32_t>(kFull - (cover_[pixel] >> 48));
    cover_[pixel] += colour * std::min(std::max(amount, 1U), free);
  }

  // Spreads `pixels` of busy time evenly over [x0, x1).
  void add_busy(double x0, double x1, double pixels, std::uint64_t colour) noexcept {
    const int first = x0 > 0 ? static_cast<int>(x0) : 0;
    if (x1 <= first + 1) {  // all of it in one pixel, the usual case
      busy_pixels_ += x0 < 0 ? pixels * x1 / (x1 - x0) : pixels;
      return cover(first, static_cast<std::uint32_t>(pixels * kFull + 0.5), colour);
    }
    const double share = pixels / (x1 - x0);
    const double end = std::min<double>(x1, width_);
    busy_pixels_ += share * (end - std::max(x0, 0.0));
    for (int pixel = first; pixel < end; ++pixel) {
      const double seen = std::min<double>(end, pixel + 1) - std::max<double>(x0, pixel);
      cover(pixel, static_cast<std::uint32_t>(seen * share * kFull + 0.5), colour);
    }
  }

  void add_wait(double x0, double x1, double pixels) noexcept {
    const double begin = std::max(x0, 0.0);
    const double end = std::min<double>(x1, width_);
    const double share = x1 > x0 ? pixels / (x1 - x0) : 0;
    wait_pixels_ += share * (end - begin);
    const auto amount = static_cast<std::uint32_t>(share * kFull);
    int pixel = static_cast<int>(begin);
    do {
      wait_[pixel] = static_cast<std::uint16_t>(std::min(kFull, wait_[pixel] + std::max(amount, 1U)));
    } while (++pixel < end);
  }

  // A slice too narrow for a rectangle of its own: whole pixels, with a gap on its right.
  void add_block(double x0, double x1, std::uint64_t colour) noexcept {
    const int begin = std::max(0, static_cast<int>(std::lround(x0)));
    const int end = std::min(width_, std::max(begin + 1, static_cast<int>(std::lround(x1)) - 1));
    for (int pixel = begin; pixel < end; ++pixel) cover(pixel, kFull, colour);
    if (begin >= end && begin < width_) cover(begin, kFull, colour);
  }

  const LaneSnapshot& lane_;
  LaneDetail* detail_;
  const Ticks& ticks_;
  int width_;
  std::uint64_t* cover_;
  std::uint16_t* wait_;
  LaneStrip& strip_;
  double busy_pixels_ = 0;
  double wait_pixels_ = 0;
};

[[nodiscard]] std::uint32_t texel(std::uint64_t covered) noexcept {
  const auto cover = static_cast<std::uint32_t>(covered >> 48);
  const std::uint32_t reciprocal = kTables.reciprocal[cover];
  const auto channel = [&](unsigned shift) {
    return (static_cast<std::uint32_t>(covered >> shift & 0xffff) * reciprocal + 0x8000U) >> 16;
  };
  return channel(0) | channel(16) << 8 | channel(32) << 16 | kTables.alpha[cover];
}

void collect_runs(const std::vector<std::uint16_t>& wait, std::vector<PixelRun>& runs) {
  const int width = static_cast<int>(wait.size());
  for (int pixel = 0; pixel < width; ++pixel) {
    if (wait[static_cast<std::size_t>(pixel)] == 0) continue;
    const int begin = pixel;
    while (pixel < width && wait[static_cast<std::size_t>(pixel)] != 0) ++pixel;
    runs.push_back({begin, pixel});
  }
}

template <typename Ticks>
void walk(const LaneSnapshot& lane, LaneDetail* detail, const Ticks& ticks, const TimeView& view,
          std::vector<std::uint64_t>& cover, std::vector<std::uint16_t>& wait, LaneStrip& strip) {
  Walk<Ticks> walk(lane, detail, ticks, view.width, cover.data(), wait.data(), strip);
  walk.run();
  strip.busy_share = std::min(1.0, walk.busy_pixels() / view.width);
  strip.wait_share = std::min(1.0, walk.wait_pixels() / view.width);
}

}  // namespace

void LaneStripBuilder::build(const LaneSnapshot& lane, LaneDetail* detail, const TimeView& view, LaneStrip& strip) {
  const auto width = static_cast<std::size_t>(view.width);
  strip.texels.resize(width);
  strip.waits.clear();
  strip.slices.clear();
  strip.complete = true;
  cover_.assign(width, 0);
  wait_.assign(width, 0);
  static const ClockMap kIdentity;
  const ClockMap& clock = lane.clock ? *lane.clock : kIdentity;
  if (clock.is_affine()) {
    walk(lane, detail, AffineTicks(clock, view), view, cover_, wait_, strip);
  } else {
    walk(lane, detail, MappedTicks(clock, view), view, cover_, wait_, strip);
  }
  for (std::size_t pixel = 0; pixel < width; ++pixel) {
    strip.texels[pixel] = cover_[pixel] == 0 ? 0 : texel(cover_[pixel]);
  }
  if (strip.wait_share > 0) collect_runs(wait_, strip.waits);
}

}  // namespace accelscope::render
