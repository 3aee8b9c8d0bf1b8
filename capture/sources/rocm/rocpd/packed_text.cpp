#include "capture/sources/rocm/rocpd/packed_text.h"

#include <lz4frame.h>

#include <memory>

namespace accelscope::capture::sources::rocm {

bool is_packed_text(std::string_view bytes) noexcept {
  constexpr std::string_view kFrame("\x04\x22\x4d\x18", 4);
  return bytes.starts_with(kFrame);
}

bool unpack_text(std::string_view bytes, std::string& text) {
  constexpr std::size_t kLongest = 1U << 20, kPiece = 4096;
  struct FreeContext {
    void operator()(LZ4F_dctx* context) const noexcept { LZ4F_freeDecompressionContext(context); }
  };
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0) return false;
  const std::unique_ptr<LZ4F_dctx, FreeContext> context(made);
  text.clear();
  std::size_t hint = 1;
  while (!bytes.empty() && hint != 0) {
    if (text.size() >= kLongest) return false;
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    std::size_t written = kPiece;
    std::size_t taken = bytes.size();
    hint = LZ4F_decompress(context.get(), text.data() + before, &written, bytes.data(), &taken, nullptr);
    text.resize(before + (LZ4F_isError(hint) != 0 ? 0 : written));
    if (LZ4F_isError(hint) != 0) return false;
    if (taken == 0 && written == 0) return false;
    bytes.remove_prefix(taken);
  }
  return hint == 0;
}

}  // namespace accelscope::capture::sources::rocm
