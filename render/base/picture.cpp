#include "render/base/picture.h"

#include <stb/stb_image_write.h>

#include <cstdio>
#include <memory>

namespace accelscope::render {
namespace {

void append_bytes(void* context, void* data, int size) {
  auto& bytes = *static_cast<std::vector<std::uint8_t>*>(context);
  const auto* first = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), first, first + size);
}

}  // namespace

Result<std::vector<std::uint8_t>> encode_png(const Picture& picture) {
  std::vector<std::uint8_t> bytes;
  if (picture.width <= 0 || picture.height <= 0 ||
      picture.rgba.size() != static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 4) {
    return Error{"The picture is empty: nothing was drawn"};
  }
  if (stbi_write_png_to_func(append_bytes, &bytes, picture.width, picture.height, 4, picture.rgba.data(),
                             picture.width * 4) == 0) {
    return Error{"The picture cannot be encoded as PNG: not enough memory; try a smaller size"};
  }
  return bytes;
}

Result<void> write_png(const Picture& picture, const std::string& path) {
  auto bytes = TRY(encode_png(picture));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (!file) return Error{path + ": cannot be created; check the folder and its permissions"};
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() || std::fflush(file.get()) != 0) {
    return Error{path + ": cannot be written; is the disk full?"};
  }
  return {};
}

}  // namespace accelscope::render
