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
       std::uint8_t* wait, LaneStrip& strip)
      : lane_(lane), detail_(detail), ticks_(ticks), width_(width), cover_(cover), wait_(wait), strip_(strip) {}

  void run() {
    const LaneTree<SliceNode>& tree = lane_.data->slices;
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t parents = level + 1 < kTreeLevels ? lane_.tree.nodes[level + 1] : 0;
      for (std::size_t i = parents * kTreeFanout; i < lane_.tree.nodes[level]; ++i) {
        if (!visit(tree.node(level, i), level, i)) return close_pixel();
      }
    }
    close_pixel();
  }
  [[nodiscard]] double busy_pixels() const noexcept { return busy_pixels_; }
  [[nodiscard]] double wait_pixels() const noexcept { return wait_pixels_; }

 private:
  // False: this and everything after it lies right of the view.
  bool visit(const SliceNode& node, std::size_t level, std::size_t index) {
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
    // Children lie side by side: see AppendOnlyArray.
    const SliceNode* children = &lane_.data->slices.node(level - 1, index * kTreeFanout);
    for (std::size_t i = 0; i < kTreeFanout; ++i) {
      if (!visit(children[i], level - 1, index * kTreeFanout + i)) return false;
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
    if (pixel != open_pixel_) {
      close_pixel();
      open_pixel_ = pixel;
      open_cover_ = cover_[pixel];
    }
    const auto free = static_cast<std::uint32_t>(kFull - (open_cover_ >> 48));
    open_cover_ += colour * std::min(std::max(amount, 1U), free);
  }
  void close_pixel() noexcept { cover_[open_pixel_] = open_cover_; }

  // Spreads `pixels` of busy time evenly over [x0, x1).
  void add_busy(double x0, double x1, double pixels, std::uint64_t colour) noexcept {
    const int first = static_cast<int>(std::max(x0, 0.0));
    if (x0 >= 0 && x1 <= first + 1) {  // all of it in one pixel, the usual case
      const int amount = static_cast<int>(pixels * kFull + 0.5);
      busy_pixels_ += pixels;
      return cover(first, static_cast<std::uint32_t>(amount), colour);
    }
    spread_busy(x0, x1, pixels, colour);
  }

  void spread_busy(double x0, double x1, double pixels, std::uint64_t colour) noexcept {
    const double share = x1 > x0 ? pixels / (x1 - x0) : 0;
    const double begin = std::max(x0, 0.0);
    const double end = std::min<double>(x1, width_);
    busy_pixels_ += share * (end - begin);
    for (int pixel = static_cast<int>(begin); pixel < end; ++pixel) {
      const double seen = std::min<double>(end, pixel + 1) - std::max<double>(begin, pixel);
      cover(pixel, static_cast<std::uint32_t>(seen * share * kFull + 0.5), colour);
    }
  }

  void add_wait(double x0, double x1, double pixels) noexcept {
    const int first = static_cast<int>(std::max(x0, 0.0));
    if (x0 >= 0 && x1 <= first + 1) {
      wait_pixels_ += pixels;
      wait_[first] = 1;
      return;
    }
    const double begin = std::max(x0, 0.0);
    const double end = std::min<double>(x1, width_);
    wait_pixels_ += x1 > x0 ? pixels * (end - begin) / (x1 - x0) : 0;
    for (int pixel = first; pixel < end; ++pixel) wait_[pixel] = 1;
  }

  // A slice too narrow for a rectangle of its own: whole pixels, with a gap on its right.
  void add_block(double x0, double x1, std::uint64_t colour) noexcept {
    const int begin = std::clamp(static_cast<int>(std::lround(x0)), 0, width_ - 1);
    const int end = std::clamp(static_cast<int>(std::lround(x1)) - 1, begin + 1, width_);
    for (int pixel = begin; pixel < end; ++pixel) cover(pixel, kFull, colour);
  }

  const LaneSnapshot& lane_;
  LaneDetail* detail_;
  const Ticks& ticks_;
  int width_;
  std::uint64_t* cover_;
  std::uint8_t* wait_;
  LaneStrip& strip_;
  int open_pixel_ = 0;  // the pixel being covered is kept out of memory until the next one begins
  std::uint64_t open_cover_ = 0;
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

void collect_runs(const std::vector<std::uint8_t>& wait, std::vector<PixelRun>& runs) {
  auto begin = std::find(wait.begin(), wait.end(), 1);
  while (begin != wait.end()) {
    const auto end = std::find(begin, wait.end(), 0);
    runs.push_back({static_cast<int>(begin - wait.begin()), static_cast<int>(end - wait.begin())});
    begin = std::find(end, wait.end(), 1);
  }
}

template <typename Ticks>
void walk(const LaneSnapshot& lane, LaneDetail* detail, const Ticks& ticks, const TimeView& view,
          std::vector<std::uint64_t>& cover, std::vector<std::uint8_t>& wait, LaneStrip& strip) {
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
  collect_runs(wait_, strip.waits);
}

}  // namespace accelscope::render
