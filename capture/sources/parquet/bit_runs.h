// Parquet's hybrid of runs and packed bits: levels, places in dictionaries, truth values. Also a reader of packed bits
// alone, lowest bit first. Neither reads beyond its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace accelscope::capture::sources::parquet {

// `bits` of a number at a place counted in bits, at most 64 of them; what lies beyond the bytes is 0.
[[nodiscard]] std::uint64_t packed_bits(std::string_view bytes, std::uint64_t place, unsigned bits) noexcept;

class BitRuns {
 public:
  BitRuns() = default;
  // Values of `width` bits, at most 32.
  BitRuns(std::string_view bytes, unsigned width) noexcept : bytes_(bytes), width_(width) {}

  // False where no further value lies in the bytes. Of 0 bits there is no end of zeros.
  [[nodiscard]] bool next(std::uint32_t& value) noexcept {
    if (left_ == 0 && !next_run()) return false;
    --left_;
    if (!packed_) {
      value = repeated_;
      return true;
    }
    value = static_cast<std::uint32_t>(packed_bits(run_, place_, width_));
    place_ += width_;
    return true;
  }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  [[nodiscard]] bool next_run() noexcept;
  [[nodiscard]] bool fail() noexcept {
    failed_ = true;
    return false;
  }

  std::string_view bytes_;  // after the run at hand
  unsigned width_ = 0;
  std::uint64_t left_ = 0;  // of the run at hand
  bool packed_ = false;
  bool failed_ = false;
  std::uint32_t repeated_ = 0;
  std::string_view run_;
  std::uint64_t place_ = 0;  // in run_, in bits
};

// The bytes of a file, any part of them at any time: Parquet's footer lies at the end, and its columns beside one
// another.
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
