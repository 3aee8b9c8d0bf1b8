// One lane of slices on its way to pixels: what is narrow becomes one row of texels, what is wide a list of slices
// to draw one by one. The lane's tree is walked down to nodes of at most two pixels, so the cost follows the pixels
// of the view and not the events. Below the tree's leaves it goes on in decoded windows (core/lod/lane_window.h);
// while one is missing its leaf stands for it. Pure: no ImGui, no store.
//
//   LaneStripBuilder builder;                       // keeps its scratch memory; one per thread
//   builder.build(lane, &windows.lane(lane), view, strip);
//
// Every event that touches the view lights at least one pixel or is in the list.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/colour/event_colours.h"
#include "core/lod/lane_window.h"
#include "core/scan/event_mask.h"
#include "core/store/snapshot.h"
#include "render/base/theme.h"
#include "render/timeline/ruler.h"

namespace accelscope::render {

// How much of each pixel of a lane is busy, in which mean colour, and where something waits. The inner loop of
// drawing: everything narrow of 64 lanes passes through here in every frame. Pure.

inline constexpr double kLeastCover = 0.34;  // strength of a texel with hardly any cover

struct PixelRun {
  int begin = 0;
  int end = 0;
};

class PixelCover {
 public:
  static constexpr int kParts = 128;  // of a pixel: the cover of a whole one

  // A colour 0xRRGGBB spread over 16-bit fields with a one on top, so that one multiplication weighs colour and cover
  // alike. Fields hold up to 257 x 255: room for a full pixel and the rounding of what it is made of.
  [[nodiscard]] static constexpr std::uint64_t spread(std::uint32_t rgb) noexcept {
    return std::uint64_t{rgb >> 16 & 0xff} | std::uint64_t{rgb >> 8 & 0xff} << 16 | std::uint64_t{rgb & 0xff} << 32 |
           std::uint64_t{1} << 48;
  }

  void reset(int width);

  // [x0, x1) in parts of a pixel lies in the view and is at most two pixels wide, so it touches three at most. `busy`
  // of its parts are busy. What is not busy at all lights nothing; however little is lights each pixel it touches.
  void add_narrow(int x0, int x1, std::uint32_t busy, bool is_busy, std::uint64_t colour) noexcept {
    const int first = x0 / kParts;
    const int beyond = x1 - (first + 1) * kParts;
    const auto second = static_cast<std::uint32_t>(std::clamp(beyond, 0, kParts));
    const auto third = static_cast<std::uint32_t>(std::max(beyond - kParts, 0));
    const std::uint32_t weight = busy * kReciprocal[static_cast<std::size_t>(x1 - x0)];
    const std::uint32_t in_second = weight * second >> 16;
    const std::uint32_t in_third = weight * third >> 16;
    const auto lit = static_cast<std::uint32_t>(is_busy);
    std::uint64_t* pixel = cover_.data() + first;
    pixel[0] += colour * std::max(busy - in_second - in_third, lit);
    pixel[1] += colour * std::max(in_second, lit & static_cast<std::uint32_t>(second > 0));
    pixel[2] += colour * std::max(in_third, lit & static_cast<std::uint32_t>(third > 0));
  }
  void add_narrow_wait(int x0, int x1) noexcept {
    std::uint8_t* wait = wait_.data() + x0 / kParts;
    const int beyond = x1 - (x0 / kParts + 1) * kParts;
    wait[0] = 1;
    wait[1] |= static_cast<std::uint8_t>(beyond > 0);
    wait[2] |= static_cast<std::uint8_t>(beyond > kParts);
  }

  // Any stretch that touches the view, its busy time spread evenly.
  void add_busy(double x0, double x1, double busy, std::uint64_t colour) noexcept;
  void add_wait(double x0, double x1) noexcept;
  // A slice too narrow for a rectangle of its own: whole pixels, with a gap on its right.
  void add_block(double x0, double x1, std::uint64_t colour) noexcept;

  void write_texels(std::vector<Pixel>& texels) const;  // 0 where nothing is busy
  void write_waits(std::vector<PixelRun>& runs) const;

 private:
  static constexpr std::uint32_t kFull = kParts;
  static constexpr std::size_t kPadding = 3;  // add_narrow touches two pixels past the last

  void cover(int pixel, std::uint32_t amount, std::uint64_t colour) noexcept {
    std::uint64_t& sum = cover_[static_cast<std::size_t>(pixel)];
    const auto covered = static_cast<std::uint32_t>(sum >> 48);
    sum += colour * std::min(std::max(amount, 1U), kFull - std::min(covered, kFull));
  }

  // 65536 / width for widths in parts: the inner loop does not divide. 128 * 128 * 65536 / width stays in 32 bits.
  static constexpr std::array<std::uint32_t, 2 * kParts + 1> kReciprocal = [] {
    std::array<std::uint32_t, 2 * kParts + 1> table{};
    for (std::uint32_t width = 1; width < table.size(); ++width) table[width] = 65536 / width;
    return table;
  }();

  int width_ = 0;
  std::vector<std::uint64_t> cover_;
  std::vector<std::uint8_t> wait_;
};

// What a lane is coloured by, and how it is drawn while something is filtered, selected or searched: what does not pass
// is dimmed toward the background, what was found gets a bar above it, what is lit an outline. Nothing disappears and
// nothing moves.

inline constexpr double kDimShare = 0.74;  // of the way to the background

// Both are 0xRRGGBB.
[[nodiscard]] inline std::uint32_t mixed_rgb(std::uint32_t from, std::uint32_t to, double share) noexcept {
  std::uint32_t mixed = 0;
  for (unsigned shift = 0; shift < 24; shift += 8) {
    const double a = from >> shift & 0xffU, b = to >> shift & 0xffU;
    mixed |= static_cast<std::uint32_t>(a + (b - a) * share + 0.5) << shift;
  }
  return mixed;
}

struct LaneShade {
  std::uint32_t lane_index = 0;                   // into Snapshot::lanes, for the masks
  const EventMask* bright = nullptr;              // events that pass stay bright; null: all do
  const EventMask* region = nullptr;              // the same, of a second filter
  const EventMask* hits = nullptr;                // events that get a bar; null: none does
  const EventMask* lit = nullptr;                 // events that get an accent outline; null: none does
  const colour::EventColours* colours = nullptr;  // null: by name
  std::uint64_t colours_id = 0;                   // of them: an address may come again
  double bright_begin_ns = -std::numeric_limits<double>::infinity();
  double bright_end_ns = std::numeric_limits<double>::infinity();
  bool dimmed = false;           // the whole lane
  std::uint32_t background = 0;  // 0xRRGGBB
  bool operator==(const LaneShade&) const = default;

  void colour_by(const colour::EventColours* chosen) noexcept {
    colours = chosen;
    colours_id = chosen != nullptr ? chosen->id() : 0;
  }
  // Nothing is dimmed, found or lit.
  [[nodiscard]] bool plain() const noexcept {
    return bright == nullptr && region == nullptr && hits == nullptr && lit == nullptr && !dimmed &&
           bright_begin_ns == -std::numeric_limits<double>::infinity() &&
           bright_end_ns == std::numeric_limits<double>::infinity();
  }
  // Of the events of a leaf, those that stay bright as far as the masks say.
  [[nodiscard]] std::uint64_t bright_bits(std::uint32_t leaf) const noexcept {
    std::uint64_t bits = ~std::uint64_t{0};
    if (bright != nullptr) bits &= bright->bits(lane_index, leaf);
    if (region != nullptr) bits &= region->bits(lane_index, leaf);
    return bits;
  }
};

inline constexpr double kNodePixels = 2;     // nodes up to this width are drawn as a whole
inline constexpr double kLeafPixels = 4;     // leaves too: finding their windows is dearer than walking the tree
inline constexpr double kCoarsePixels = 64;  // nodes drawn as a whole while a strip is being made
inline constexpr double kSlicePixels = 3;    // narrower slices join the strip
inline constexpr double kSinglePixels = 8;   // wider slices are drawn one by one, those between as blocks of texels

// x0 and x1 may lie far outside the view: begin and end are true.
struct WideSlice {
  EventId id = kNoEvent;
  StringId name = 0;
  std::uint32_t colour = 0;  // 0xRRGGBB, whatever the lane is coloured by
  bool waits = false;
  bool dimmed = false;
  bool found = false;  // by a search
  double x0 = 0;
  double x1 = 0;
  bool lit = false;
};

struct LaneStrip {
  std::vector<Pixel> texels;      // one per pixel; alpha 0: nothing there
  std::vector<PixelRun> waits;    // pixels where something narrow waits: hatched below the texels
  std::vector<PixelRun> found;    // pixels where something narrow was found
  std::vector<PixelRun> lit;      // pixels where something narrow is lit
  std::vector<WideSlice> slices;  // by time
  double busy_share = 0;          // of the view; exact but for nodes that its edges cut
  double wait_share = 0;
  bool complete = true;  // false: something stands for events that are still being decoded, or for a strip to come
};

class LaneStripBuilder {
 public:
  // `detail` may be null: then leaves are the finest there is. `shade` may be null: nothing is dimmed,
  // found, lit or coloured by anything but its name.
  void build(const LaneSnapshot& lane, lod::LaneDetail* detail, const TimeView& view, LaneStrip& strip,
             const LaneShade* shade = nullptr);
  // What can be drawn at once: some dozens of nodes of the tree, each as an evenly filled stretch. Every event that
  // touches the view lights the pixels that it has.
  void build_coarse(const LaneSnapshot& lane, const TimeView& view, LaneStrip& strip, const LaneShade* shade = nullptr);

 private:
  void build(const LaneSnapshot& lane, lod::LaneDetail* detail, const TimeView& view, double whole_pixels,
             LaneStrip& strip, const LaneShade* shade);
  PixelCover cover_;
  std::vector<std::uint8_t> marks_;  // by pixel
};

// A strip as another view sees it, over what `strip` holds already: texels of pixels that the old view reached are its,
// the others stay. What it lit stays lit, however little of it is left. Never complete.
void add_moved(const LaneStrip& made, const TimeView& made_view, const TimeView& view, std::uint32_t background,
               LaneStrip& strip);

}  // namespace accelscope::render
