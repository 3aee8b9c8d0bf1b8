// Draws a lane: hatching where it waits, its row of texels, and its wide slices with their labels. The hover,
// selection and related outlines are drawn by whoever knows what is selected.
#pragma once

#include "core/names/short_names.h"
#include "core/store/string_pool.h"
#include "render/base/ui.h"
#include "render/timeline/lane_strip.h"
#include "render/timeline/strip_texture.h"

namespace accelscope::render {

// What is written on a slice. The painter knows how many characters there is room for; whoever knows what the events
// are says it in as many.
class SliceLabels {
 public:
  SliceLabels() = default;
  SliceLabels(const SliceLabels&) = delete;
  SliceLabels& operator=(const SliceLabels&) = delete;
  virtual ~SliceLabels() = default;
  // The longest text of at most so many characters; "": none is short enough. Valid until the next call.
  [[nodiscard]] virtual std::string_view label(const WideSlice& slice, std::size_t characters) = 0;
};

// By name alone.
class NameLabels final : public SliceLabels {
 public:
  explicit NameLabels(const StringPool& strings) : strings_(strings) {}
  [[nodiscard]] std::string_view label(const WideSlice& slice, std::size_t characters) override {
    return names_.fitting(strings_.text(slice.name), characters);
  }

 private:
  const StringPool& strings_;
  ShortNames names_;
};

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
