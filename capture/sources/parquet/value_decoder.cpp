#include "capture/sources/parquet/value_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "capture/sources/parquet/bit_runs.h"

namespace accelscope::capture::sources::parquet {
namespace {

using accelscope::parquet::Encoding;
using accelscope::parquet::PhysicalType;

constexpr std::size_t kInt96Bytes = 12;

// Of values that all take the same; 0: they do not.
[[nodiscard]] std::size_t width_of(PhysicalType type, std::uint32_t length) noexcept {
  switch (type) {
    case PhysicalType::int32:
    case PhysicalType::float32:
      return 4;
    case PhysicalType::int64:
    case PhysicalType::float64:
      return 8;
    case PhysicalType::int96:
      return kInt96Bytes;
    case PhysicalType::fixed_len_byte_array:
      return length;
    default:
      return 0;
  }
}

[[nodiscard]] bool is_whole_number(PhysicalType type) noexcept {
  return type == PhysicalType::int32 || type == PhysicalType::int64;
}

[[nodiscard]] PlainValue value_of_bytes(PhysicalType type, std::string_view bytes) noexcept {
  PlainValue value;
  if (type == PhysicalType::int96 || type == PhysicalType::fixed_len_byte_array) {
    value.bytes = bytes;
    return value;
  }
  std::memcpy(&value.bits, bytes.data(), std::min(bytes.size(), sizeof value.bits));
  if (type == PhysicalType::int32) {
    value.bits = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value.bits)});
  }
  return value;
}

class PlainNumbers final : public ValueDecoder {
 public:
  PlainNumbers(const PageValues& page, std::size_t width) : type_(page.type), bytes_(page.bytes), width_(width) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    if (bytes_.size() < width_) return false;
    value = value_of_bytes(type_, bytes_.substr(0, width_));
    bytes_.remove_prefix(width_);
    return true;
  }

 private:
  PhysicalType type_;
  std::string_view bytes_;
  std::size_t width_;
};

class PlainBooleans final : public ValueDecoder {
 public:
  explicit PlainBooleans(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    if (place_ / 8 >= bytes_.size()) return false;
    value.bits = packed_bits(bytes_, place_++, 1);
    return true;
  }

 private:
  std::string_view bytes_;
  std::uint64_t place_ = 0;
};

class PlainTexts final : public ValueDecoder {
 public:
  explicit PlainTexts(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::uint32_t size = 0;
    if (bytes_.size() < sizeof size) return false;
    std::memcpy(&size, bytes_.data(), sizeof size);
    if (size > bytes_.size() - sizeof size) return false;
    value.bytes = bytes_.substr(sizeof size, size);
    bytes_.remove_prefix(sizeof size + size);
    return true;
  }

 private:
  std::string_view bytes_;
};

class DictionaryValues final : public ValueDecoder {
 public:
  DictionaryValues(BitRuns places, const std::vector<PlainValue>& dictionary)
      : places_(places), dictionary_(dictionary) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::uint32_t place = 0;
    if (!places_.next(place) || place >= dictionary_.size()) return false;
    value = dictionary_[place];
    return true;
  }

 private:
  BitRuns places_;
  const std::vector<PlainValue>& dictionary_;
};

class BooleanRuns final : public ValueDecoder {
 public:
  explicit BooleanRuns(std::string_view bytes) : runs_(bytes, 1) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::uint32_t bit = 0;
    if (!runs_.next(bit)) return false;
    value.bits = bit;
    return true;
  }

 private:
  BitRuns runs_;
};

// DELTA_BINARY_PACKED: blocks of differences to the value before, each less the block's smallest, in packed bits.
class DeltaNumbers {
 public:
  explicit DeltaNumbers(std::string_view bytes) : bytes_(bytes) {
    const std::uint64_t block = varint();
    blocklets_ = varint();
    count_ = varint();
    last_ = zigzag();
    constexpr std::uint64_t kLargestBlock = 1U << 20;
    constexpr std::uint64_t kStep = 32;  // values of a blocklet come in these
    if (blocklets_ == 0 || block > kLargestBlock || blocklets_ > block || block % blocklets_ != 0) failed_ = true;
    per_blocklet_ = failed_ ? kStep : block / blocklets_;
    if (per_blocklet_ % 8 != 0) failed_ = true;
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] bool next(std::int64_t& value) {
    if (failed_ || taken_ >= count_) return false;
    if (taken_ > 0) {
      if (in_blocklet_ == 0 && !next_blocklet()) return false;
      const std::uint64_t delta = packed_bits(packed_, place_, width_);
      place_ += width_;
      --in_blocklet_;
      last_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(last_) + static_cast<std::uint64_t>(least_) + delta);
    }
    ++taken_;
    value = last_;
    return true;
  }
  // What lies behind all values, without taking them.
  [[nodiscard]] std::string_view behind() const {
    DeltaNumbers rest(*this);
    std::uint64_t left = rest.count_ > rest.taken_ ? rest.count_ - rest.taken_ : 0;
    if (rest.taken_ == 0 && left > 0) --left;  // the first value lies in the head
    left -= std::min<std::uint64_t>(left, rest.in_blocklet_);
    while (left > 0) {
      if (!rest.next_blocklet()) return {};
      left -= std::min<std::uint64_t>(left, rest.in_blocklet_);
    }
    return rest.bytes_;
  }

 private:
  [[nodiscard]] std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }
  [[nodiscard]] std::int64_t zigzag() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }

  // Each has a width of its own; they stand together at the begin of the block.
  [[nodiscard]] bool next_blocklet() {
    if (widths_.empty()) {
      least_ = zigzag();
      if (failed_ || bytes_.size() < blocklets_) return fail();
      widths_ = bytes_.substr(0, static_cast<std::size_t>(blocklets_));
      bytes_.remove_prefix(static_cast<std::size_t>(blocklets_));
    }
    constexpr unsigned kWidest = 64;
    width_ = static_cast<unsigned char>(widths_.front());
    widths_.remove_prefix(1);
    if (width_ > kWidest) return fail();
    const std::uint64_t size = per_blocklet_ / 8 * width_;
    if (size > bytes_.size()) return fail();
    packed_ = bytes_.substr(0, static_cast<std::size_t>(size));
    bytes_.remove_prefix(static_cast<std::size_t>(size));
    place_ = 0;
    in_blocklet_ = per_blocklet_;
    return true;
  }
  [[nodiscard]] bool fail() {
    failed_ = true;
    return false;
  }

  std::string_view bytes_;
  std::uint64_t blocklets_ = 0;  // of a block
  std::uint64_t per_blocklet_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t taken_ = 0;
  std::int64_t last_ = 0;
  std::int64_t least_ = 0;   // difference, of the block at hand
  std::string_view widths_;  // of the blocklets to come in it
  std::string_view packed_;  // of the blocklet at hand
  std::uint64_t place_ = 0;
  unsigned width_ = 0;
  std::uint64_t in_blocklet_ = 0;
  bool failed_ = false;
};

class DeltaIntegers final : public ValueDecoder {
 public:
  DeltaIntegers(std::string_view bytes, PhysicalType type) : numbers_(bytes), narrow_(type == PhysicalType::int32) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::int64_t number = 0;
    if (!numbers_.next(number)) return false;
    if (narrow_) number = static_cast<std::int32_t>(number);  // sums wrap at 32 bits
    value.bits = static_cast<std::uint64_t>(number);
    return true;
  }

 private:
  DeltaNumbers numbers_;
  bool narrow_;
};

// Lengths as differences, then all texts.
class DeltaLengthTexts final : public ValueDecoder {
 public:
  explicit DeltaLengthTexts(std::string_view bytes) : lengths_(bytes), bytes_(lengths_.behind()) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::int64_t length = 0;
    if (!lengths_.next(length) || length < 0 || static_cast<std::uint64_t>(length) > bytes_.size()) return false;
    value.bytes = bytes_.substr(0, static_cast<std::size_t>(length));
    bytes_.remove_prefix(static_cast<std::size_t>(length));
    return true;
  }

 private:
  DeltaNumbers lengths_;
  std::string_view bytes_;
};

// How much of the text before each one begins with, then the rests.
class DeltaTexts final : public ValueDecoder {
 public:
  explicit DeltaTexts(std::string_view bytes) : shared_(bytes), rests_(shared_.behind()) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    std::int64_t shared = 0;
    PlainValue rest;
    if (!shared_.next(shared) || shared < 0 || static_cast<std::uint64_t>(shared) > text_.size()) return false;
    if (!rests_.next(rest)) return false;
    text_.resize(static_cast<std::size_t>(shared));
    text_ += rest.bytes;
    value.bytes = text_;
    return true;
  }

 private:
  DeltaNumbers shared_;
  DeltaLengthTexts rests_;
  std::string text_;
};

// The first bytes of all values, then their second bytes.
class SplitNumbers final : public ValueDecoder {
 public:
  SplitNumbers(const PageValues& page, std::size_t width)
      : type_(page.type), bytes_(page.bytes), value_(width, '\0'), count_(page.bytes.size() / width) {}
  [[nodiscard]] bool next(PlainValue& value) override {
    if (taken_ >= count_) return false;
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = bytes_[i * count_ + taken_];
    ++taken_;
    value = value_of_bytes(type_, value_);
    return true;
  }

 private:
  PhysicalType type_;
  std::string_view bytes_;
  std::string value_;
  std::size_t count_;
  std::size_t taken_ = 0;
};

using Made = Result<std::unique_ptr<ValueDecoder>>;

[[nodiscard]] Made wrong_values(Encoding encoding) {
  return Error{fmt::format("its values cannot be in the encoding {}", name_of(encoding))};
}

[[nodiscard]] Made make_plain(const PageValues& page) {
  if (page.type == PhysicalType::boolean) return Made(std::make_unique<PlainBooleans>(page.bytes));
  if (page.type == PhysicalType::byte_array) return Made(std::make_unique<PlainTexts>(page.bytes));
  return Made(std::make_unique<PlainNumbers>(page, width_of(page.type, page.length)));
}

[[nodiscard]] Made make_dictionary(const PageValues& page, const std::vector<PlainValue>& dictionary) {
  if (page.bytes.empty()) return Made(std::make_unique<DictionaryValues>(BitRuns({}, 1), dictionary));  // only nulls
  const unsigned width = static_cast<unsigned char>(page.bytes.front());
  constexpr unsigned kWidest = 32;
  if (width > kWidest) return Error{fmt::format("places of {} bits in its dictionary cannot be", width)};
  return Made(std::make_unique<DictionaryValues>(BitRuns(page.bytes.substr(1), width), dictionary));
}

[[nodiscard]] Made make_boolean_runs(const PageValues& page) {
  std::uint32_t size = 0;
  if (page.type != PhysicalType::boolean) return wrong_values(page.encoding);
  if (page.bytes.size() < sizeof size) return Made(std::make_unique<BooleanRuns>(std::string_view{}));
  std::memcpy(&size, page.bytes.data(), sizeof size);
  return Made(std::make_unique<BooleanRuns>(page.bytes.substr(sizeof size, size)));
}

}  // namespace

Result<std::unique_ptr<ValueDecoder>> make_decoder(const PageValues& page, const std::vector<PlainValue>& dictionary) {
  switch (page.encoding) {
    case Encoding::plain:
      return make_plain(page);
    case Encoding::plain_dictionary:
    case Encoding::rle_dictionary:
      return make_dictionary(page, dictionary);
    case Encoding::rle:
      return make_boolean_runs(page);
    case Encoding::delta_binary_packed:
      if (!is_whole_number(page.type)) return wrong_values(page.encoding);
      return Made(std::make_unique<DeltaIntegers>(page.bytes, page.type));
    case Encoding::delta_length_byte_array:
      if (page.type != PhysicalType::byte_array) return wrong_values(page.encoding);
      return Made(std::make_unique<DeltaLengthTexts>(page.bytes));
    case Encoding::delta_byte_array:
      if (page.type != PhysicalType::byte_array && page.type != PhysicalType::fixed_len_byte_array) {
        return wrong_values(page.encoding);
      }
      return Made(std::make_unique<DeltaTexts>(page.bytes));
    case Encoding::byte_stream_split:
      if (width_of(page.type, page.length) == 0) return wrong_values(page.encoding);
      return Made(std::make_unique<SplitNumbers>(page, width_of(page.type, page.length)));
    default:
      break;
  }
  const std::string_view name = name_of(page.encoding);
  return Error{fmt::format("the encoding {} is not read here; write it with PLAIN, RLE_DICTIONARY or a DELTA encoding",
                           name.empty() ? std::to_string(static_cast<int>(page.encoding)) : std::string(name))};
}

}  // namespace accelscope::capture::sources::parquet
