// Texts that a variant of rocpd (its fact "compression" is "lz4-frame-v1") packs, each for itself, as a frame of LZ4.
#pragma once

#include <string>
#include <string_view>

namespace accelscope::capture::sources::rocm {

[[nodiscard]] bool is_packed_text(std::string_view bytes) noexcept;
// False: the frame is damaged, or its text longer than a megabyte.
[[nodiscard]] bool unpack_text(std::string_view bytes, std::string& text);

}  // namespace accelscope::capture::sources::rocm
