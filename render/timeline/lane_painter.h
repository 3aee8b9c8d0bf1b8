// Draws a lane: hatching where it waits, its row of texels, and its wide slices with their labels. The hover,
// selection and related outlines are drawn by whoever knows what is selected.
#pragma once

#include "render/base/ui.h"
#include "render/timeline/lane_strip.h"
#include "render/timeline/slice_labels.h"
#include "render/timeline/strip_texture.h"

namespace accelscope::render {

struct LanePaint {
  const LaneStrip& strip;
  int texture_row = 0;
  Rect rect;  // of its slices: the canvas' width, whole pixels
  bool labels = true;
};

class LanePainter {
 public:
  // Looks up what all lanes of a frame share.
  LanePainter(Ui& ui, ImDrawList* list, const StripTexture& texture, SliceLabels& labels);
  void paint(const LanePaint& lane) const;

 private:
  void paint_wait(const LanePaint& lane, const WideSlice& slice) const;
  void paint_found(const LanePaint& lane, float x0, float x1) const;
  void paint_lit(const LanePaint& lane, float x0, float x1) const;
  void paint_slice(const LanePaint& lane, const WideSlice& slice) const;
  void paint_label(const WideSlice& slice, const Rect& box, Pixel colour) const;
  [[nodiscard]] std::size_t fitting_characters(float room) const;

  Ui& ui_;
  ImDrawList* list_;
  const StripTexture& texture_;
  SliceLabels& labels_;
  float advance_;   // of a character of the slice font, which is monospaced
  float text_top_;  // from the middle of a slice to the top of its text
  float radius_;
  float gap_;
  bool light_;
};

}  // namespace accelscope::render
