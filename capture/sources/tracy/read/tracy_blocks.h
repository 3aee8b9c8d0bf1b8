// The container of a .tracy file: blocks of at most 64 KiB, packed by LZ4 or zstd, dealt in turn to one stream or
// several. A stream's blocks refer to those before them, so all are unpacked, in order.
//
//   tlZ\x04 (LZ4) or tZst (zstd): one stream; since 0.11: tr\xfdP, a byte for the packing (0 LZ4, 1 zstd), a byte for
//   the number of streams; then again and again the packed size (u32) and as many bytes. All is little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/byte_source.h"
#include "core/base/result.h"

namespace accelscope::capture::sources::tracy {

inline constexpr std::size_t kTracyBlockBytes = 64U << 10;

enum class BlocksEnd : std::uint8_t {
  none,     // more may follow
  whole,    // the last block was whole
  cut,      // the file ends within a block
  damaged,  // a block cannot be unpacked; what lies behind it neither
};

// Whether a file that begins so is a .tracy file.
[[nodiscard]] bool begins_as_tracy(std::string_view head) noexcept;

class TracyBlocks {
 public:
  // Reads the first bytes. Fails if they are none of a .tracy file.
  [[nodiscard]] static Result<TracyBlocks> open(std::unique_ptr<json::ByteSource> source);
  TracyBlocks(TracyBlocks&&) noexcept;
  TracyBlocks& operator=(TracyBlocks&&) noexcept;
  ~TracyBlocks();

  // The next block unpacked, until the one after it is asked for; empty at the end.
  [[nodiscard]] std::span<const char> next();
  [[nodiscard]] BlocksEnd end() const noexcept { return end_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }  // why it is damaged or cut
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept { return position_; }
  [[nodiscard]] const json::ByteSource& source() const noexcept { return *source_; }

 private:
  struct Stream;
  TracyBlocks(std::unique_ptr<json::ByteSource> source, bool zstd, std::size_t streams);
  // How many of the bytes there were.
  [[nodiscard]] std::size_t read(std::span<char> out);
  void stop(BlocksEnd end, std::string problem);

  std::unique_ptr<json::ByteSource> source_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<char> packed_;
  std::size_t turn_ = 0;
  std::uint64_t position_ = 0;
  bool zstd_ = false;
  BlocksEnd end_ = BlocksEnd::none;
  std::string problem_;
};

}  // namespace accelscope::capture::sources::tracy
