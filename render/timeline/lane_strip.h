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

#include <cstdint>
#include <vector>

#include "core/lod/lane_window.h"
#include "core/store/snapshot.h"
#include "render/timeline/lane_shade.h"
#include "render/timeline/pixel_cover.h"
#include "render/timeline/time_view.h"

namespace accelscope::render {

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
  void build(const LaneSnapshot& lane, LaneDetail* detail, const TimeView& view, LaneStrip& strip,
             const LaneShade* shade = nullptr);
  // What can be drawn at once: some dozens of nodes of the tree, each as an evenly filled stretch. Every event that
  // touches the view lights the pixels that it has.
  void build_coarse(const LaneSnapshot& lane, const TimeView& view, LaneStrip& strip, const LaneShade* shade = nullptr);

 private:
  void build(const LaneSnapshot& lane, LaneDetail* detail, const TimeView& view, double whole_pixels, LaneStrip& strip,
             const LaneShade* shade);
  PixelCover cover_;
  std::vector<std::uint8_t> marks_;  // by pixel
};

// A strip as another view sees it, over what `strip` holds already: texels of pixels that the old view reached are its,
// the others stay. What it lit stays lit, however little of it is left. Never complete.
void add_moved(const LaneStrip& made, const TimeView& made_view, const TimeView& view, std::uint32_t background,
               LaneStrip& strip);

}  // namespace accelscope::render
