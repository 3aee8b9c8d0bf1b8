// The bytes of a file, any part of them at any time: Parquet's footer lies at the end, and its columns beside one
// another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"

namespace accelscope::capture::sources::parquet {

class RandomBytes {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RandomBytes>> open(const std::string& path);
  // Bytes that are in memory already; they must outlive the object.
  [[nodiscard]] static std::unique_ptr<RandomBytes> from_memory(std::span<const char> bytes);

  RandomBytes() = default;
  RandomBytes(const RandomBytes&) = delete;
  RandomBytes& operator=(const RandomBytes&) = delete;
  virtual ~RandomBytes() = default;

  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  // All of `out`, which must lie inside the file. Fails where the file cannot be read.
  virtual Result<void> read(std::uint64_t offset, std::span<char> out) = 0;
};

}  // namespace accelscope::capture::sources::parquet
