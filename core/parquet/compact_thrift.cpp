#include "core/parquet/compact_thrift.h"

namespace accelscope::parquet {
namespace {

[[nodiscard]] std::int64_t from_zigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

[[nodiscard]] bool is_integer(CompactType type) noexcept {
  return type == CompactType::i16 || type == CompactType::i32 || type == CompactType::i64;
}

}  // namespace

bool CompactReader::enter() noexcept {
  if (depth_ >= kMostNested) fail();
  if (failed_) return false;
  ++depth_;
  return true;
}

std::uint64_t CompactReader::varint() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ >= bytes_.size()) break;
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  fail();
  return 0;
}

// A byte holds the type and how far its number is from that of the field before; 0: the number follows.
bool CompactReader::next_field(Field& field) noexcept {
  if (failed_) return false;
  if (at_ >= bytes_.size()) {
    fail();
    return false;
  }
  const auto head = static_cast<unsigned char>(bytes_[at_++]);
  field.type = static_cast<CompactType>(head & 0x0fU);
  if (field.type == CompactType::stop) return false;
  const unsigned step = head >> 4;
  field.id = static_cast<std::int16_t>(step == 0 ? integer() : field.id + static_cast<int>(step));
  return !failed_;
}

CompactReader::List CompactReader::begin_list() noexcept {
  if (at_ >= bytes_.size()) {
    fail();
    return {};
  }
  const auto head = static_cast<unsigned char>(bytes_[at_++]);
  constexpr unsigned kSizeFollows = 15;
  std::uint64_t size = head >> 4;
  if (size == kSizeFollows) size = varint();
  if (failed_ || size > bytes_.size() - at_) {  // no element takes less than a byte
    fail();
    return {};
  }
  return {static_cast<CompactType>(head & 0x0fU), static_cast<std::uint32_t>(size)};
}

std::int64_t CompactReader::integer() noexcept { return from_zigzag(varint()); }

std::int8_t CompactReader::byte() noexcept {
  const std::size_t at = at_;
  take(1);
  return failed_ ? std::int8_t{0} : static_cast<std::int8_t>(bytes_[at]);
}

std::string_view CompactReader::binary() noexcept {
  const std::uint64_t size = varint();
  const std::size_t at = at_;
  take(size);
  return failed_ ? std::string_view{} : bytes_.substr(at, static_cast<std::size_t>(size));
}

std::int64_t CompactReader::integer_of(const Field& field) noexcept {
  if (is_integer(field.type)) return integer();
  if (field.type == CompactType::byte) return byte();
  skip(field.type);
  return 0;
}

std::string_view CompactReader::binary_of(const Field& field) noexcept {
  if (field.type == CompactType::binary) return binary();
  skip(field.type);
  return {};
}

void CompactReader::take(std::uint64_t bytes) noexcept {
  if (failed_ || bytes > bytes_.size() - at_) {
    fail();
  } else {
    at_ += static_cast<std::size_t>(bytes);
  }
}

void CompactReader::skip_element(CompactType type) noexcept {
  if (type == CompactType::boolean_true || type == CompactType::boolean_false) {
    take(1);
  } else {
    skip(type);
  }
}

void CompactReader::skip(CompactType type) noexcept {
  constexpr std::uint64_t kRealBytes = 8;
  constexpr std::uint64_t kUuidBytes = 16;
  switch (type) {
    case CompactType::boolean_true:
    case CompactType::boolean_false:
      return;  // said by the field's head
    case CompactType::byte:
      return take(1);
    case CompactType::i16:
    case CompactType::i32:
    case CompactType::i64:
      (void)varint();
      return;
    case CompactType::real:
      return take(kRealBytes);
    case CompactType::uuid:
      return take(kUuidBytes);
    case CompactType::binary:
      return take(varint());
    case CompactType::structure:
      return each_field([this](const Field& field) { skip(field.type); });
    case CompactType::list:
    case CompactType::set: {
      if (!enter()) return;
      each_element([this](CompactType element) { skip_element(element); });
      return leave();
    }
    case CompactType::map: {
      const std::uint64_t size = varint();
      if (size == 0) return;
      const auto types = static_cast<std::uint8_t>(byte());
      if (!enter()) return;
      for (std::uint64_t i = 0; i < size && !failed_; ++i) {
        skip_element(static_cast<CompactType>(types >> 4));
        skip_element(static_cast<CompactType>(types & 0x0fU));
      }
      return leave();
    }
    case CompactType::stop:
      break;
  }
  fail();
}

}  // namespace accelscope::parquet
