#include "render/timeline/lane_strip.h"

#include <bit>
#include <cmath>
#include <optional>

#include "core/model/palette.h"

namespace accelscope::render {

namespace {

constexpr std::size_t kCovers = 512;  // more than a sum can hold

struct Tables {
  std::array<std::uint32_t, kCovers> reciprocal{};  // 65536 / cover
  std::array<std::uint32_t, kCovers> alpha{};       // in the top byte; 0 for no cover
};

[[nodiscard]] constexpr Tables make_tables() {
  Tables tables;
  for (std::uint32_t cover = 1; cover < kCovers; ++cover) {
    tables.reciprocal[cover] = 65536 / cover;
    const double share = std::min(1.0, static_cast<double>(cover) / PixelCover::kParts);
    const double strength = kLeastCover + (1 - kLeastCover) * share;
    tables.alpha[cover] = static_cast<std::uint32_t>(strength * 255 + 0.5) << 24;
  }
  return tables;
}
constexpr Tables kTables = make_tables();

// Where the stretch lies in the view, whatever its ends are: a caller's arithmetic may give anything.
[[nodiscard]] double within(double x, int width) noexcept { return x > 0 ? std::min<double>(x, width) : 0; }

// std::ceil of what is not negative, without a call: this is where the time goes.
[[nodiscard]] int whole_above(double x) noexcept {
  const int below = static_cast<int>(x);
  return below < x ? below + 1 : below;
}

// A LaneShade at work on one lane of one view: the colour of what is drawn, and the pixels where something was found or
// is lit.
// Used by LaneStripBuilder only.
class Shading {
 public:
  Shading(const LaneShade& shade, const TimeView& view, std::vector<std::uint8_t>& marks)
      : shade_(shade),
        bright_x0_(view.x(shade.bright_begin_ns)),
        bright_x1_(view.x(shade.bright_end_ns)),
        marks_(marks) {
    marks_.assign(static_cast<std::size_t>(view.width), 0);
  }

  [[nodiscard]] std::uint32_t shaded(std::uint32_t colour, double bright) const noexcept {
    return mixed_rgb(colour, shade_.background, kDimShare * (1 - bright));
  }
  // `colour` is the node's own, whatever it is coloured by.
  [[nodiscard]] std::uint32_t of_node(std::uint32_t colour, const SliceNode& node, std::size_t level, std::size_t index,
                                      double x0, double x1) const noexcept {
    mark(x0, x1, shade_.hits != nullptr && shade_.hits->passing(shade_.lane_index, level, index) > 0,
         shade_.lit != nullptr && shade_.lit->passing(shade_.lane_index, level, index) > 0);
    double bright = in_stretch(x0, x1) ? 1 : 0;
    for (const EventMask* mask : {shade_.bright, shade_.region}) {
      if (mask == nullptr || bright == 0) continue;
      const double share =
          static_cast<double>(mask->passing(shade_.lane_index, level, index)) / std::max(1U, node.count);
      bright = std::min(bright, share);
    }
    return shaded(colour, bright);
  }
  [[nodiscard]] std::uint32_t of_micro(std::uint32_t colour, const SliceNode& node, std::uint32_t leaf,
                                       std::uint32_t micro, double x0, double x1) const noexcept {
    const auto of_eight = [micro](std::uint64_t bits) {
      return std::popcount(bits >> (micro * lod::kMicroEvents) & 0xffU);
    };
    mark(x0, x1, shade_.hits != nullptr && of_eight(shade_.hits->bits(shade_.lane_index, leaf)) > 0,
         shade_.lit != nullptr && of_eight(shade_.lit->bits(shade_.lane_index, leaf)) > 0);
    if (!in_stretch(x0, x1)) return shaded(colour, 0);
    const double share = static_cast<double>(of_eight(shade_.bright_bits(leaf))) / std::max(1U, node.count);
    return shaded(colour, std::min(1.0, share));
  }
  [[nodiscard]] bool is_bright(std::uint32_t leaf, std::uint32_t in_leaf, double x0, double x1) const noexcept {
    return in_stretch(x0, x1) && (shade_.bright_bits(leaf) >> in_leaf & 1) != 0;
  }
  [[nodiscard]] bool is_found(std::uint32_t leaf, std::uint32_t in_leaf) const noexcept {
    return shade_.hits != nullptr && (shade_.hits->bits(shade_.lane_index, leaf) >> in_leaf & 1) != 0;
  }
  [[nodiscard]] bool is_lit(std::uint32_t leaf, std::uint32_t in_leaf) const noexcept {
    return shade_.lit != nullptr && (shade_.lit->bits(shade_.lane_index, leaf) >> in_leaf & 1) != 0;
  }
  void mark(double x0, double x1, bool found, bool lit) const noexcept {
    const auto bits = static_cast<std::uint8_t>((found ? kFound : 0U) | (lit ? kLit : 0U));
    const auto width = static_cast<double>(marks_.size());
    if (bits == 0 || x1 < 0 || x0 >= width) return;
    const auto first = static_cast<std::size_t>(std::max(x0, 0.0));
    const auto last = static_cast<std::size_t>(std::clamp(std::ceil(x1), static_cast<double>(first) + 1, width));
    for (std::size_t i = first; i < std::min(last, marks_.size()); ++i) {
      marks_[i] = static_cast<std::uint8_t>(marks_[i] | bits);
    }
  }
  void write(std::vector<PixelRun>& found, std::vector<PixelRun>& lit) const {
    write_runs(kFound, found);
    write_runs(kLit, lit);
  }

 private:
  static constexpr std::uint8_t kFound = 1, kLit = 2;  // bits of a pixel

  void write_runs(std::uint8_t bit, std::vector<PixelRun>& runs) const {
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      if ((marks_[i] & bit) == 0) continue;
      const auto pixel = static_cast<int>(i);
      if (!runs.empty() && runs.back().end == pixel) {
        ++runs.back().end;
      } else {
        runs.push_back({pixel, pixel + 1});
      }
    }
  }
  [[nodiscard]] bool in_stretch(double x0, double x1) const noexcept {
    return !shade_.dimmed && x0 < bright_x1_ && (x1 > bright_x0_ || (x0 == x1 && x0 >= bright_x0_));
  }

  const LaneShade& shade_;
  double bright_x0_;
  double bright_x1_;
  std::vector<std::uint8_t>& marks_;  // by pixel
};

template <typename Ticks>
class SliceWalk {
 public:
  SliceWalk(const LaneSnapshot& lane, lod::LaneDetail* detail, const Ticks& ticks, int width, double whole_pixels,
            PixelCover& cover, LaneStrip& strip, const Shading* shading, const colour::LaneColours* colours)
      : lane_(lane),
        detail_(detail),
        ticks_(ticks),
        width_(width),
        whole_pixels_(whole_pixels),
        cover_(cover),
        strip_(strip),
        shading_(shading),
        colours_(colours) {}

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
    if (x1 - x0 <= whole_pixels_ || (level == 0 && x1 - x0 <= kLeafPixels)) {
      add_node(node, x0, x1, colour_of(node, level, index, x0, x1));
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
        add_inner_node(children[i], x0, x1, colour_of(children[i], level, first + i, x0, x1));
      } else if (!visit(children[i], level, first + i)) {
        return false;
      }
    }
    return true;
  }

  void visit_leaf(const SliceNode& leaf, std::uint32_t index, double x0, double x1) {
    if (detail_ == nullptr) return add_leaf(leaf, index, x0, x1);
    // Where a micro node would be wider than a pixel or two, its events are wanted.
    const bool events = (x1 - x0) * lod::kMicroEvents > kNodePixels * leaf.count;
    if (events) {
      if (const lod::LaneWindow* window = find(index, lod::WindowDetail::events)) return add_events(*window, index);
      if (!detail_->lost(index, lod::WindowDetail::events)) strip_.complete = false;
    }
    const lod::LaneWindow* micro =
        events ? detail_->ready(index, lod::WindowDetail::micro) : find(index, lod::WindowDetail::micro);
    if (micro != nullptr) return add_micro(*micro, index);
    if (!events && !detail_->lost(index, lod::WindowDetail::micro)) strip_.complete = false;
    if (const lod::LaneWindow* window = detail_->ready(index, lod::WindowDetail::events))
      return add_events(*window, index);
    add_leaf(leaf, index, x0, x1);
  }

  // Neighbouring leaves mostly lie in the window of the last one.
  [[nodiscard]] const lod::LaneWindow* find(std::uint32_t leaf, lod::WindowDetail detail) {
    const lod::LaneWindow*& last = last_windows_[static_cast<std::size_t>(detail)];
    const bool holds = last != nullptr && leaf >= last->first_leaf && leaf < last->first_leaf + last->leaf_count;
    if (!holds) last = detail_->find(leaf, detail);
    return last;
  }

  [[nodiscard]] std::uint32_t colour_of(const SliceNode& node, std::size_t level, std::size_t index, double x0,
                                        double x1) const noexcept {
    const std::uint32_t colour = colours_ == nullptr ? node.colour : colours_->node(level, index);
    return shading_ == nullptr ? colour : shading_->of_node(colour, node, level, index, x0, x1);
  }

  // The mean of its events' colours.
  [[nodiscard]] std::uint32_t micro_colour(const lod::LaneWindow& window, std::uint32_t leaf, std::uint32_t entry,
                                           std::uint32_t micro) const noexcept {
    const lod::MicroWeights& weights = window.weights[entry];
    std::uint32_t red = 0, green = 0, blue = 0, all = 0;
    for (std::uint32_t i = 0; i < lod::kMicroEvents; ++i) {
      if (weights[i] == 0) continue;
      const std::uint32_t colour = colours_->event(leaf, micro * lod::kMicroEvents + i);
      red += weights[i] * (colour >> 16 & 0xffU);
      green += weights[i] * (colour >> 8 & 0xffU);
      blue += weights[i] * (colour & 0xffU);
      all += weights[i];
    }
    all = std::max(all, 1U);
    return (red + all / 2) / all << 16 | (green + all / 2) / all << 8 | (blue + all / 2) / all;
  }

  void add_leaf(const SliceNode& leaf, std::uint32_t index, double x0, double x1) {
    add_node(leaf, x0, x1, colour_of(leaf, 0, index, x0, x1));
  }

  void add_micro(const lod::LaneWindow& window, std::uint32_t leaf) {
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
        if (const lod::LaneWindow* events = find(leaf, lod::WindowDetail::events)) {
          const std::uint32_t begin = (i - first) * lod::kMicroEvents;
          add_events(*events, leaf, begin, begin + lod::kMicroEvents);
          continue;
        }
        if (!detail_->lost(leaf, lod::WindowDetail::events)) strip_.complete = false;
      }
      const std::uint32_t colour = colours_ == nullptr ? node.colour : micro_colour(window, leaf, i, i - first);
      add_node(node, x0, x1, shading_ == nullptr ? colour : shading_->of_micro(colour, node, leaf, i - first, x0, x1));
    }
  }

  void add_events(const lod::LaneWindow& window, std::uint32_t leaf, std::uint32_t begin = 0,
                  std::uint32_t end = std::numeric_limits<std::uint32_t>::max()) {
    const std::uint32_t place = leaf - window.first_leaf;
    const std::uint32_t first = window.first_entry[place];
    end = std::min(end, window.first_entry[place + 1] - first);
    for (std::uint32_t i = begin; i < end; ++i) {
      const lod::WindowEvent& event = window.events[first + i];
      const double x1 = ticks_.x(event.end_ticks);
      if (x1 < 0) continue;
      const double x0 = ticks_.x(event.begin_ticks);
      if (x0 >= width_) return;
      add_event(event, make_event_id(lane_.number(), window.first_ordinal[place] + i), leaf, i, x0, x1);
    }
  }

  void add_event(const lod::WindowEvent& event, EventId id, std::uint32_t leaf, std::uint32_t in_leaf, double x0,
                 double x1) {
    if (x1 <= 0 && x0 < 0) return;
    const bool dimmed = shading_ != nullptr && !shading_->is_bright(leaf, in_leaf, x0, x1);
    const bool found = shading_ != nullptr && shading_->is_found(leaf, in_leaf);
    const bool lit = shading_ != nullptr && shading_->is_lit(leaf, in_leaf);
    const std::uint32_t rgb = colours_ == nullptr ? kSlicePalette[event.slot] : colours_->event(leaf, in_leaf);
    const std::uint64_t colour = PixelCover::spread(dimmed ? shading_->shaded(rgb, 0) : rgb);
    const double seen = std::min<double>(x1, width_) - std::max(x0, 0.0);
    (event.waits ? wait_pixels_ : busy_pixels_) += seen;
    if (x1 - x0 < kSlicePixels) {
      if (event.waits) {
        cover_.add_wait(x0, x1);
      } else {
        cover_.add_busy(x0, x1, x1 - x0, colour);
      }
      if (shading_ != nullptr) shading_->mark(x0, x1, found, lit);
      return;
    }
    if (event.waits || x1 - x0 >= kSinglePixels) {
      strip_.slices.push_back({id, event.name, rgb, event.waits, dimmed, found, x0, x1, lit});
    } else {
      if (shading_ != nullptr) shading_->mark(x0, x1, found, lit);
      cover_.add_block(x0, x1, colour);
    }
  }

  // Part of a stretch of so many pixels; 0 of what is no number.
  [[nodiscard]] static double at_most(double pixels, double most) noexcept {
    return pixels > 0 ? std::min(pixels, most) : 0;
  }

  // At most two pixels wide and inside the view.
  void add_inner_node(const SliceNode& node, double x0, double x1, std::uint32_t colour) {
    const std::int64_t length = time_between(node.begin, node.end);
    const double busy = at_most(ticks_.extent(static_cast<double>(node.busy), x0, x1, length), x1 - x0);
    busy_pixels_ += busy;
    const int from = static_cast<int>(x0 * PixelCover::kParts);
    const int to = static_cast<int>(x1 * PixelCover::kParts);
    const bool is_busy = node.busy > 0 || node.wait == 0;  // what only holds instants is busy too
    const auto parts =
        static_cast<std::uint32_t>(std::min(static_cast<int>(busy * PixelCover::kParts + 0.5), to - from));
    cover_.add_narrow(from, to, parts, is_busy, PixelCover::spread(colour));
    if (node.wait == 0) return;
    wait_pixels_ += at_most(ticks_.extent(static_cast<double>(node.wait), x0, x1, length), x1 - x0);
    cover_.add_narrow_wait(from, to);
  }

  void add_node(const SliceNode& node, double x0, double x1, std::uint32_t colour) {
    if (x0 >= 0 && x1 < width_ && x1 - x0 <= kNodePixels) return add_inner_node(node, x0, x1, colour);
    const std::int64_t length = time_between(node.begin, node.end);
    add_wide_node(node, x0, x1, at_most(ticks_.extent(static_cast<double>(node.busy), x0, x1, length), x1 - x0),
                  at_most(ticks_.extent(static_cast<double>(node.wait), x0, x1, length), x1 - x0), colour);
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
  lod::LaneDetail* detail_;
  const Ticks& ticks_;
  int width_;
  double whole_pixels_;
  PixelCover& cover_;
  LaneStrip& strip_;
  const Shading* shading_;
  const colour::LaneColours* colours_;
  std::array<const lod::LaneWindow*, 2> last_windows_{};  // by detail
  double busy_pixels_ = 0;
  double wait_pixels_ = 0;
};

template <typename Ticks>
void walk(const LaneSnapshot& lane, lod::LaneDetail* detail, const TimeView& view, double whole_pixels,
          const ClockMap& clock, PixelCover& cover, LaneStrip& strip, const Shading* shading,
          const colour::LaneColours* colours) {
  const Ticks ticks(clock, view);
  SliceWalk<Ticks> walk(lane, detail, ticks, view.width, whole_pixels, cover, strip, shading, colours);
  walk.run();
  strip.busy_share = std::min(1.0, walk.busy_pixels() / view.width);
  strip.wait_share = std::min(1.0, walk.wait_pixels() / view.width);
}

constexpr double kRounding = 1e-6;  // pixels; edges that are the same must not differ by one

// Pixels [begin, end) of the view, and where they lie in the old one.
struct Reach {
  int begin = 0;
  int end = 0;
  double first = 0;  // of pixel 0 of the view, in the old one's pixels
  double step = 1;

  // Between a view and one that is wider than numbers tell apart there is none.
  [[nodiscard]] bool is_one() const { return std::isfinite(first) && std::isfinite(step) && step > 0; }

  Reach(const TimeView& made, const TimeView& view)
      : first(made.x(view.begin_ns)), step(view.ns_per_pixel() / made.ns_per_pixel()) {
    // What is no number is outside.
    const auto inside = [&view](double x) { return x > 0 ? static_cast<int>(std::min<double>(x, view.width)) : 0; };
    begin = inside(std::ceil(view.x(made.begin_ns) - kRounding));
    end = std::max(begin, inside(std::floor(view.x(made.end_ns) + kRounding)));
  }
};

// Each pixel takes the strongest of the texels that it covers: what is lit stays lit.
void move_texels(const LaneStrip& made, const Reach& reach, LaneStrip& strip) {
  constexpr double kOne =
      4294967296.0;  // a pixel, in fixed point: this loop is run for every lane of a frame that moves
  constexpr auto kRound = static_cast<std::int64_t>(kRounding * kOne);
  const auto width = static_cast<std::int64_t>(made.texels.size());
  const auto step = static_cast<std::int64_t>(std::min(reach.step, static_cast<double>(width)) * kOne);
  constexpr double kFarthest = 1e9;  // pixels; beyond any strip, and within the fixed point
  const double begin = std::clamp(reach.first + reach.begin * reach.step, -kFarthest, kFarthest);
  auto from = static_cast<std::int64_t>(begin * kOne) + kRound;
  for (int pixel = reach.begin; pixel < reach.end; ++pixel, from += step) {
    const std::int64_t low = std::clamp<std::int64_t>(from >> 32, 0, width - 1);
    const std::int64_t last = std::clamp<std::int64_t>((from + step - 2 * kRound) >> 32, low, width - 1);
    Pixel texel = made.texels[static_cast<std::size_t>(low)];
    for (std::int64_t i = low + 1; i <= last; ++i) texel = std::max(texel, made.texels[static_cast<std::size_t>(i)]);
    strip.texels[static_cast<std::size_t>(pixel)] = texel;  // the alpha is on top
  }
}

void add_run(std::vector<PixelRun>& runs, int begin, int end) {
  if (begin >= end) return;
  if (!runs.empty() && begin >= runs.back().begin && begin <= runs.back().end) {
    runs.back().end = std::max(runs.back().end, end);
  } else {
    runs.push_back({begin, end});
  }
}

// The old runs where the old view reaches, those that are there already elsewhere.
void move_runs(const std::vector<PixelRun>& made, const Reach& reach, std::vector<PixelRun>& runs) {
  std::vector<PixelRun> all;
  for (const PixelRun& run : runs) add_run(all, run.begin, std::min(run.end, reach.begin));
  for (const PixelRun& run : made) {
    const double begin = std::floor((run.begin - reach.first) / reach.step);
    const double end = std::ceil((run.end - reach.first) / reach.step);
    if (end <= reach.begin || begin >= reach.end) continue;
    add_run(all, static_cast<int>(std::max<double>(begin, reach.begin)),
            static_cast<int>(std::min<double>(std::max(end, begin + 1), reach.end)));
  }
  for (const PixelRun& run : runs) add_run(all, std::max(run.begin, reach.end), run.end);
  runs = std::move(all);
}

// What has become too narrow to be drawn by itself joins the texels.
void add_narrow(const WideSlice& slice, int width, std::uint32_t background, LaneStrip& strip) {
  const int begin = static_cast<int>(std::clamp<double>(std::floor(slice.x0), 0, width - 1));
  const int end = static_cast<int>(std::clamp<double>(std::ceil(slice.x1), begin + 1, width));
  if (slice.waits) {
    add_run(strip.waits, begin, end);
  } else {
    const std::uint32_t colour = slice.dimmed ? mixed_rgb(slice.colour, background, kDimShare) : slice.colour;
    std::fill(strip.texels.begin() + begin, strip.texels.begin() + end, opaque(colour));
  }
  if (slice.found) add_run(strip.found, begin, end);
  if (slice.lit) add_run(strip.lit, begin, end);
}

}  // namespace

void PixelCover::reset(int width) {
  width_ = width;
  cover_.assign(static_cast<std::size_t>(width) + kPadding, 0);
  wait_.assign(static_cast<std::size_t>(width) + kPadding, 0);
}

void PixelCover::add_busy(double x0, double x1, double busy, std::uint64_t colour) noexcept {
  const double density = x1 > x0 ? busy / (x1 - x0) : 0;
  const double share = density > 0 ? std::min(density, 1.0) : 0;
  const double begin = within(x0, width_);
  const double end = within(x1, width_);
  const int first = std::min(static_cast<int>(begin), width_ - 1);
  const int last = std::max(first, whole_above(end) - 1);
  const auto amount = [share](double seen) {
    return static_cast<std::uint32_t>(std::max(0.0, seen) * share * kFull + 0.5);
  };
  cover(first, amount(std::min<double>(end, first + 1) - begin), colour);
  if (last == first) return;
  const std::uint32_t inner = amount(1);
  for (int pixel = first + 1; pixel < last; ++pixel) cover(pixel, inner, colour);
  cover(last, amount(end - last), colour);
}

void PixelCover::add_wait(double x0, double x1) noexcept {
  const int first = std::min(static_cast<int>(within(x0, width_)), width_ - 1);
  const int end = std::max(first + 1, whole_above(within(x1, width_)));
  std::fill(wait_.begin() + first, wait_.begin() + end, std::uint8_t{1});
}

void PixelCover::add_block(double x0, double x1, std::uint64_t colour) noexcept {
  const int begin = std::clamp(static_cast<int>(std::lround(within(x0, width_))), 0, width_ - 1);
  const int end = std::clamp(static_cast<int>(std::lround(within(x1, width_ + 1))) - 1, begin + 1, width_);
  for (int pixel = begin; pixel < end; ++pixel) cover(pixel, kFull, colour);
}

void PixelCover::write_texels(std::vector<Pixel>& texels) const {
  texels.resize(static_cast<std::size_t>(width_));
  std::uint64_t last = 0;  // coarse pictures and gaps are long runs of one sum
  for (std::size_t i = 0; i < texels.size(); ++i) {
    const std::uint64_t sum = cover_[i];
    if (sum == last) {
      texels[i] = i == 0 ? Pixel() : texels[i - 1];
      continue;
    }
    last = sum;
    if (sum == 0) {
      texels[i] = Pixel();
      continue;
    }
    const std::uint32_t reciprocal = kTables.reciprocal[sum >> 48 & (kCovers - 1)];
    const std::uint32_t red = (static_cast<std::uint32_t>(sum & 0xffff) * reciprocal + 0x8000U) >> 16;
    const std::uint32_t green = (static_cast<std::uint32_t>(sum >> 16 & 0xffff) * reciprocal + 0x8000U) >> 16;
    const std::uint32_t blue = (static_cast<std::uint32_t>(sum >> 32 & 0xffff) * reciprocal + 0x8000U) >> 16;
    texels[i] = Pixel(red | green << 8 | blue << 16 | kTables.alpha[sum >> 48 & (kCovers - 1)]);
  }
}

void PixelCover::write_waits(std::vector<PixelRun>& runs) const {
  runs.clear();
  const auto last = wait_.begin() + width_;
  auto begin = std::find(wait_.begin(), last, std::uint8_t{1});
  while (begin != last) {
    const auto end = std::find(begin, last, std::uint8_t{0});
    runs.push_back({static_cast<int>(begin - wait_.begin()), static_cast<int>(end - wait_.begin())});
    begin = std::find(end, last, std::uint8_t{1});
  }
}

void LaneStripBuilder::build(const LaneSnapshot& lane, lod::LaneDetail* detail, const TimeView& view, LaneStrip& strip,
                             const LaneShade* shade) {
  build(lane, detail, view, render::kNodePixels, strip, shade);
}

void LaneStripBuilder::build_coarse(const LaneSnapshot& lane, const TimeView& view, LaneStrip& strip,
                                    const LaneShade* shade) {
  build(lane, nullptr, view, kCoarsePixels, strip, shade);
  strip.complete = false;
}

void LaneStripBuilder::build(const LaneSnapshot& lane, lod::LaneDetail* detail, const TimeView& view,
                             double whole_pixels, LaneStrip& strip, const LaneShade* shade) {
  strip.slices.clear();
  strip.found.clear();
  strip.lit.clear();
  strip.complete = true;
  cover_.reset(view.width);
  std::optional<Shading> shading;
  if (shade != nullptr && !shade->plain()) shading.emplace(*shade, view, marks_);
  const bool coloured = shade != nullptr && shade->colours != nullptr;
  const colour::LaneColours* colours = coloured ? shade->colours->lane(shade->lane_index) : nullptr;
  static const ClockMap kIdentity;
  const ClockMap& clock = lane.clock ? *lane.clock : kIdentity;
  if (clock.is_affine()) {
    walk<AffineTicks>(lane, detail, view, whole_pixels, clock, cover_, strip, shading ? &*shading : nullptr, colours);
  } else {
    walk<MappedTicks>(lane, detail, view, whole_pixels, clock, cover_, strip, shading ? &*shading : nullptr, colours);
  }
  cover_.write_texels(strip.texels);
  cover_.write_waits(strip.waits);
  if (shading) shading->write(strip.found, strip.lit);
}

// A strip that was made for one view, seen from another.

void add_moved(const LaneStrip& made, const TimeView& made_view, const TimeView& view, std::uint32_t background,
               LaneStrip& strip) {
  strip.complete = false;
  const Reach reach(made_view, view);
  if (!reach.is_one() || (reach.begin == reach.end && made.slices.empty())) return;
  if (reach.begin == 0 && reach.end == view.width) {
    strip.busy_share = made.busy_share;
    strip.wait_share = made.wait_share;
  }
  move_texels(made, reach, strip);
  move_runs(made.waits, reach, strip.waits);
  move_runs(made.found, reach, strip.found);
  move_runs(made.lit, reach, strip.lit);
  for (WideSlice slice : made.slices) {
    slice.x0 = (slice.x0 - reach.first) / reach.step;
    slice.x1 = (slice.x1 - reach.first) / reach.step;
    if (slice.x1 <= 0 || slice.x0 >= view.width) continue;
    if (slice.x1 - slice.x0 < kSlicePixels) {
      add_narrow(slice, view.width, background, strip);
    } else {
      strip.slices.push_back(slice);
    }
  }
}

}  // namespace accelscope::render
