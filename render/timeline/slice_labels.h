// What is written on a slice. The painter knows how many characters there is room for; whoever knows what the events
// are says it in as many.
#pragma once

#include <string_view>

#include "core/names/short_names.h"
#include "core/store/string_pool.h"
#include "render/timeline/lane_strip.h"

namespace accelscope::render {

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

}  // namespace accelscope::render
