#include "capture/sources/xplane/read/wire.h"

#include <algorithm>

namespace accelscope::capture::sources::xplane {
namespace {

constexpr std::size_t kLongestVarint = 10;
constexpr std::uint32_t kHighestField = (1U << 29) - 1;

// False: it is cut, or longer than 64 bits.
[[nodiscard]] bool take_varint(std::string_view& bytes, std::uint64_t& value) noexcept {
  value = 0;
  const std::size_t most = std::min(bytes.size(), kLongestVarint);
  for (std::size_t i = 0; i < most; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
    if (byte < 0x80U) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

bool MessageWalk::fail(Problem problem, std::uint64_t at) noexcept {
  problem_ = problem;
  problem_at_ = at;
  at_ = end_;
  return false;
}

bool MessageWalk::next(WireField& field) {
  if (at_ >= end_) return false;
  const std::uint64_t left = end_ - at_;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, 2 * kLongestVarint));
  const std::string_view head = window_.at(at_, count);
  std::string_view bytes = head;
  // What lies before a number that the message's end cuts was cut itself; a longer one is none.
  const auto broken = [&] { return bytes.size() < kLongestVarint ? Problem::cut : Problem::wrong; };
  std::uint64_t tag = 0;
  if (!take_varint(bytes, tag)) return fail(broken(), at_);
  const std::uint64_t number = tag >> 3U;
  if (number == 0 || number > kHighestField) return fail(Problem::wrong, at_);
  field = {};
  field.number = static_cast<std::uint32_t>(number);
  field.type = static_cast<protozero::pbf_wire_type>(tag & 7U);
  const std::uint64_t begin = at_;
  const auto after = [&] { return begin + (head.size() - bytes.size()); };
  switch (field.type) {
    case protozero::pbf_wire_type::varint:
      if (!take_varint(bytes, field.value)) return fail(broken(), begin);
      at_ = after();
      return true;
    case protozero::pbf_wire_type::length_delimited: {
      if (!take_varint(bytes, field.size)) return fail(broken(), begin);
      field.begin = after();
      const std::uint64_t room = end_ - field.begin;
      field.cut = field.size > room;
      field.size = std::min(field.size, room);
      at_ = field.begin + field.size;
      if (field.cut) fail(Problem::cut, begin);
      return true;
    }
    case protozero::pbf_wire_type::fixed64:
    case protozero::pbf_wire_type::fixed32: {
      const std::size_t size = field.type == protozero::pbf_wire_type::fixed64 ? 8 : 4;
      if (bytes.size() < size) return fail(Problem::cut, begin);
      for (std::size_t i = size; i-- > 0;) field.value = field.value << 8U | static_cast<unsigned char>(bytes[i]);
      bytes.remove_prefix(size);
      at_ = after();
      return true;
    }
    default:
      return fail(Problem::wrong, begin);
  }
}

}  // namespace accelscope::capture::sources::xplane
