#include "capture/sources/parquet/page_codec.h"

#include <fmt/format.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace accelscope::capture::sources::parquet {
namespace {

using accelscope::parquet::Codec;

[[nodiscard]] bool unpack_gzip(std::string_view packed, std::span<char> out) {
  z_stream stream{};
  constexpr int kGzipOrZlib = 15 + 32;
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  // zlib takes the input as one that it might write to, and does not.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int done = Z_OK;
  while (done == Z_OK) {
    done = inflate(&stream, Z_FINISH);
    if (done == Z_STREAM_END && stream.avail_in > 0 && stream.avail_out > 0) done = inflateReset(&stream);
  }
  const bool whole = done == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

[[nodiscard]] bool unpack_lz4_block(std::string_view packed, std::span<char> out) {
  return LZ4_decompress_safe(packed.data(), out.data(), static_cast<int>(packed.size()),
                             static_cast<int>(out.size())) == static_cast<int>(out.size());
}

// Hadoop's frames: unpacked and packed size of each block, both with the highest byte first. Some writers call bare
// blocks so too.
[[nodiscard]] bool unpack_lz4_frames(std::string_view packed, std::span<char> out) {
  constexpr std::size_t kHead = 8;
  const auto number = [&](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(packed[at + i]);
    return value;
  };
  const std::string_view whole = packed;
  std::size_t done = 0;
  while (packed.size() > kHead) {
    const std::size_t plain = number(0);
    const std::size_t size = number(4);
    if (plain > out.size() - done || size > packed.size() - kHead) break;
    if (!unpack_lz4_block(packed.substr(kHead, size), out.subspan(done, plain))) break;
    done += plain;
    packed.remove_prefix(kHead + size);
  }
  return (packed.empty() && done == out.size()) || unpack_lz4_block(whole, out);
}

[[nodiscard]] bool unpack_snappy(std::string_view packed, std::span<char> out) {
  std::size_t size = 0;
  if (snappy_uncompressed_length(packed.data(), packed.size(), &size) != SNAPPY_OK || size != out.size()) return false;
  return snappy_uncompress(packed.data(), packed.size(), out.data(), &size) == SNAPPY_OK && size == out.size();
}

[[nodiscard]] bool unpack_zstd(std::string_view packed, std::span<char> out) {
  return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
}

[[nodiscard]] bool copy_plain(std::string_view packed, std::span<char> out) {
  if (packed.size() != out.size()) return false;
  std::copy(packed.begin(), packed.end(), out.begin());
  return true;
}

struct CodecRow {
  Codec codec;
  bool (*unpack)(std::string_view packed, std::span<char> out);
};
constexpr CodecRow kCodecRows[] = {{Codec::uncompressed, copy_plain},  {Codec::snappy, unpack_snappy},
                                   {Codec::gzip, unpack_gzip},         {Codec::zstd, unpack_zstd},
                                   {Codec::lz4_raw, unpack_lz4_block}, {Codec::lz4, unpack_lz4_frames}};

[[nodiscard]] const CodecRow* row_of(Codec codec) noexcept {
  const auto* const found = std::find_if(std::begin(kCodecRows), std::end(kCodecRows),
                                         [&](const CodecRow& row) { return row.codec == codec; });
  return found == std::end(kCodecRows) ? nullptr : found;
}

}  // namespace

bool can_unpack(Codec codec) noexcept { return row_of(codec) != nullptr; }

Result<void> unpack(Codec codec, std::string_view packed, std::span<char> out) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();  // what these libraries count with
  const CodecRow* row = row_of(codec);
  if (row == nullptr) return Error{fmt::format("codec {} is not read here", static_cast<int>(codec))};
  if (packed.size() > kMost || out.size() > kMost || !row->unpack(packed, out)) {
    return Error{fmt::format("{} bytes do not unpack to {} with {}", packed.size(), out.size(), name_of(codec))};
  }
  return {};
}

}  // namespace accelscope::capture::sources::parquet
