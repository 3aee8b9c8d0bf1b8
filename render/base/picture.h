// An image in memory and its way to a PNG file. Two pictures with the same pixels give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace accelscope::render {

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;  // 4 bytes a pixel, rows from top to bottom
};

[[nodiscard]] Result<std::vector<std::uint8_t>> encode_png(const Picture& picture);
[[nodiscard]] Result<void> write_png(const Picture& picture, const std::string& path);

}  // namespace accelscope::render
