#include "render/timeline/lane_strip.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "core/model/palette.h"

namespace accelscope::render {
namespace {

// What the walk asks of a shade: the colour of what it draws, and where something was found.
class Shading {
 public:
  Shading(const LaneShade& shade, const TimeView& view, std::vector<std::uint8_t>& found)
      : shade_(shade),
        bright_x0_(view.x(shade.bright_begin_ns)),
        bright_x1_(view.x(shade.bright_end_ns)),
        found_(found) {
    found_.assign(static_cast<std::size_t>(view.width), 0);
  }

  [[nodiscard]] std::uint32_t shaded(std::uint32_t colour, double bright) const noexcept {
    const double dim = kDimShare * (1 - bright);
    std::uint32_t mixed = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
      const double from = colour >> shift & 0xffU;
      const double to = shade_.background >> shift & 0xffU;
      mixed |= static_cast<std::uint32_t>(from + (to - from) * dim + 0.5) << shift;
    }
    return mixed;
  }
  [[nodiscard]] std::uint32_t of_node(const SliceNode& node, std::size_t level, std::size_t index, double x0,
                                      double x1) const noexcept {
    if (shade_.hits != nullptr && shade_.hits->passing(shade_.lane_index, level, index) > 0) mark(x0, x1);
    double bright = in_stretch(x0, x1) ? 1 : 0;
    for (const EventMask* mask : {shade_.bright, shade_.region}) {
      if (mask == nullptr || bright == 0) continue;
      const double share =
          static_cast<double>(mask->passing(shade_.lane_index, level, index)) / std::max(1U, node.count);
      bright = std::min(bright, share);
    }
    return shaded(node.colour, bright);
  }
  [[nodiscard]] std::uint32_t of_micro(const SliceNode& node, std::uint32_t leaf, std::uint32_t micro, double x0,
                                       double x1) const noexcept {
    const auto of_eight = [micro](std::uint64_t bits) { return std::popcount(bits >> (micro * kMicroEvents) & 0xffU); };
    if (shade_.hits != nullptr && of_eight(shade_.hits->bits(shade_.lane_index, leaf)) > 0) mark(x0, x1);
    if (!in_stretch(x0, x1)) return shaded(node.colour, 0);
    const double share = static_cast<double>(of_eight(shade_.bright_bits(leaf))) / std::max(1U, node.count);
    return shaded(node.colour, std::min(1.0, share));
  }
  [[nodiscard]] bool is_bright(std::uint32_t leaf, std::uint32_t in_leaf, double x0, double x1) const noexcept {
    return in_stretch(x0, x1) && (shade_.bright_bits(leaf) >> in_leaf & 1) != 0;
  }
  [[nodiscard]] bool is_found(std::uint32_t leaf, std::uint32_t in_leaf) const noexcept {
    return shade_.hits != nullptr && (shade_.hits->bits(shade_.lane_index, leaf) >> in_leaf & 1) != 0;
  }
  void mark(double x0, double x1) const noexcept {
    const auto width = static_cast<double>(found_.size());
    if (x1 < 0 || x0 >= width) return;
    const auto first = static_cast<std::size_t>(std::max(x0, 0.0));
    const auto last = static_cast<std::size_t>(std::clamp(std::ceil(x1), static_cast<double>(first) + 1, width));
    for (std::size_t i = first; i < std::min(last, found_.size()); ++i) found_[i] = 1;
  }
  void write(std::vector<PixelRun>& runs) const {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i] == 0) continue;
      const auto pixel = static_cast<int>(i);
      if (!runs.empty() && runs.back().end == pixel) {
        ++runs.back().end;
      } else {
        runs.push_back({pixel, pixel + 1});
      }
    }
  }

 private:
  [[nodiscard]] bool in_stretch(double x0, double x1) const noexcept {
    return !shade_.dimmed && x0 < bright_x1_ && (x1 > bright_x0_ || (x0 == x1 && x0 >= bright_x0_));
  }

  const LaneShade& shade_;
  double bright_x0_;
  double bright_x1_;
  std::vector<std::uint8_t>& found_;
};

template <typename Ticks>
class Walk {
 public:
  Walk(const LaneSnapshot& lane, LaneDetail* detail, const Ticks& ticks, int width, PixelCover& cover, LaneStrip& strip,
       const Shading* shading)
      : lane_(lane), detail_(detail), ticks_(ticks), width_(width), cover_(cover), strip_(strip), shading_(shading) {}

  void run() {
    const LaneTree<SliceNode>& tree = lane_.data->slices;
    for (std::size_t level = kTreeLevels; level-- > 0;) {
      const std::size_t parents = level + 1 < kTreeLevels ? lane_.tree.nodes[level + 1] : 0;
      for (std::size_t i = parents * kTreeFanout; i < lane_.tree.nodes[level]; ++i) {
        if (!visit(tree.node(level, i), level, i)) return;
      }
    }
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
    if (x1 - x0 <= kNodePixels || (level == 0 && x1 - x0 <= kLeafPixels)) {
      add_node(node, x0, x1, shading_ == nullptr ? node.colour : shading_->of_node(node, level, index, x0, x1));
      return true;
    }
    if (level == 0) {
      visit_leaf(node, static_cast<std::uint32_t>(index), x0, x1);
      return true;
    }
    return visit_children(level - 1, index * kTreeFanout);
  }

  // Children lie side by side: see AppendOnlyArray. Most of them end here, so this loop is kept tight.
  bool visit_children(std::size_t level, std::size_t first) {
    const SliceNode* children = &lane_.data->slices.node(level, first);
    for (std::size_t i = 0; i < kTreeFanout; ++i) {
      const double x0 = ticks_.x(children[i].begin);
      const double x1 = ticks_.x(children[i].end);
      if (x0 >= 0 && x1 < width_ && x1 - x0 <= kNodePixels) {
        add_inner_node(
            children[i], x0, x1,
            shading_ == nullptr ? children[i].colour : shading_->of_node(children[i], level, first + i, x0, x1));
      } else if (!visit(children[i], level, first + i)) {
        return false;
      }
    }
    return true;
  }

  void visit_leaf(const SliceNode& leaf, std::uint32_t index, double x0, double x1) {
    if (detail_ == nullptr) return add_leaf(leaf, index, x0, x1);
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
    add_leaf(leaf, index, x0, x1);
  }

  void add_leaf(const SliceNode& leaf, std::uint32_t index, double x0, double x1) {
    add_node(leaf, x0, x1, shading_ == nullptr ? leaf.colour : shading_->of_node(leaf, 0, index, x0, x1));
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
      add_node(node, x0, x1, shading_ == nullptr ? node.colour : shading_->of_micro(node, leaf, i - first, x0, x1));
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
      add_event(event, make_event_id(lane_.number(), window.first_ordinal[place] + i), leaf, i, x0, x1);
    }
  }

  void add_event(const WindowEvent& event, EventId id, std::uint32_t leaf, std::uint32_t in_leaf, double x0,
                 double x1) {
    if (x1 <= 0 && x0 < 0) return;
    const bool dimmed = shading_ != nullptr && !shading_->is_bright(leaf, in_leaf, x0, x1);
    const bool found = shading_ != nullptr && shading_->is_found(leaf, in_leaf);
    const std::uint32_t rgb = kSlicePalette[event.slot];
    const std::uint64_t colour = PixelCover::spread(dimmed ? shading_->shaded(rgb, 0) : rgb);
    const double seen = std::min<double>(x1, width_) - std::max(x0, 0.0);
    (event.waits ? wait_pixels_ : busy_pixels_) += seen;
    if (x1 - x0 < kSlicePixels) {
      if (event.waits) {
        cover_.add_wait(x0, x1);
      } else {
        cover_.add_busy(x0, x1, x1 - x0, colour);
      }
      if (found) shading_->mark(x0, x1);
      return;
    }
    if (event.waits || x1 - x0 >= kSinglePixels) {
      strip_.slices.push_back({id, event.name, event.slot, event.waits, dimmed, found, x0, x1});
    } else {
      if (found) shading_->mark(x0, x1);
      cover_.add_block(x0, x1, colour);
    }
  }

  // At most two pixels wide and inside the view.
  void add_inner_node(const SliceNode& node, double x0, double x1, std::uint32_t colour) {
    const double busy = ticks_.extent(static_cast<double>(node.busy), x0, x1, node.end - node.begin);
    busy_pixels_ += busy;
    const int from = static_cast<int>(x0 * PixelCover::kParts);
    const int to = static_cast<int>(x1 * PixelCover::kParts);
    const bool is_busy = node.busy > 0 || node.wait == 0;  // what only holds instants is busy too
    const auto parts =
        static_cast<std::uint32_t>(std::min(static_cast<int>(busy * PixelCover::kParts + 0.5), to - from));
    cover_.add_narrow(from, to, parts, is_busy, PixelCover::spread(colour));
    if (node.wait == 0) return;
    wait_pixels_ += ticks_.extent(static_cast<double>(node.wait), x0, x1, node.end - node.begin);
    cover_.add_narrow_wait(from, to);
  }

  void add_node(const SliceNode& node, double x0, double x1, std::uint32_t colour) {
    if (x0 >= 0 && x1 < width_ && x1 - x0 <= kNodePixels) return add_inner_node(node, x0, x1, colour);
    const std::int64_t length = node.end - node.begin;
    add_wide_node(node, x0, x1, ticks_.extent(static_cast<double>(node.busy), x0, x1, length),
                  ticks_.extent(static_cast<double>(node.wait), x0, x1, length), colour);
  }

  // A leaf without its window, or a node that an edge of the view cuts.
  void add_wide_node(const SliceNode& node, double x0, double x1, double busy, double wait, std::uint32_t colour) {
    if (x1 <= 0 && x0 < 0) return;
    const double seen = x1 > x0 ? (std::min<double>(x1, width_) - std::max(x0, 0.0)) / (x1 - x0) : 1;
    busy_pixels_ += busy * seen;
    wait_pixels_ += wait * seen;
    if (node.wait > 0) cover_.add_wait(x0, x1);
    if (node.busy > 0 || node.wait == 0) cover_.add_busy(x0, x1, busy, PixelCover::spread(colour));
  }

  const LaneSnapshot& lane_;
  LaneDetail* detail_;
  const Ticks& ticks_;
  int width_;
  PixelCover& cover_;
  LaneStrip& strip_;
  const Shading* shading_;
  double busy_pixels_ = 0;
  double wait_pixels_ = 0;
};

template <typename Ticks>
void walk(const LaneSnapshot& lane, LaneDetail* detail, const TimeView& view, const ClockMap& clock, PixelCover& cover,
          LaneStrip& strip, const Shading* shading) {
  const Ticks ticks(clock, view);
  Walk<Ticks> walk(lane, detail, ticks, view.width, cover, strip, shading);
  walk.run();
  strip.busy_share = std::min(1.0, walk.busy_pixels() / view.width);
  strip.wait_share = std::min(1.0, walk.wait_pixels() / view.width);
}

}  // namespace

void LaneStripBuilder::build(const LaneSnapshot& lane, LaneDetail* detail, const TimeView& view, LaneStrip& strip,
                             const LaneShade* shade) {
  strip.slices.clear();
  strip.found.clear();
  strip.complete = true;
  cover_.reset(view.width);
  std::optional<Shading> shading;
  if (shade != nullptr && !shade->plain()) shading.emplace(*shade, view, found_);
  static const ClockMap kIdentity;
  const ClockMap& clock = lane.clock ? *lane.clock : kIdentity;
  if (clock.is_affine()) {
    walk<AffineTicks>(lane, detail, view, clock, cover_, strip, shading ? &*shading : nullptr);
  } else {
    walk<MappedTicks>(lane, detail, view, clock, cover_, strip, shading ? &*shading : nullptr);
  }
  cover_.write_texels(strip.texels);
  cover_.write_waits(strip.waits);
  if (shading) shading->write(strip.found);
}

}  // namespace accelscope::render
