// Records of vendors' libraries, whose headers are not there where a probe is built: a field is a place and a type, and
// a record says, or its version does, how far it reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace accelscope::probe {

template <typename T>
struct Field {
  std::uint16_t offset;
  using Type = T;
};
using U8 = Field<std::uint8_t>;
using U16 = Field<std::uint16_t>;
using U32 = Field<std::uint32_t>;
using I32 = Field<std::int32_t>;
using U64 = Field<std::uint64_t>;
using I64 = Field<std::int64_t>;
using Text = Field<const char*>;

struct RawRecord {
  const std::uint8_t* begin = nullptr;
  std::size_t bytes = 0;

  // False, and `into` stays: the record is of a version that has no such field, or was cut.
  template <typename T>
  bool read(Field<T> field, T& into) const noexcept {
    if (field.offset + sizeof(T) > bytes) return false;
    std::memcpy(&into, begin + field.offset, sizeof(T));
    return true;
  }
  // Pairs of a field and where it goes.
  template <typename T, typename... Further>
  void read_all(Field<T> field, T& into, Further&&... further) const noexcept {
    read(field, into);
    if constexpr (sizeof...(Further) != 0) read_all(further...);
  }
  template <typename T>
  [[nodiscard]] T get(Field<T> field) const noexcept {
    T value{};
    read(field, value);
    return value;
  }
};

}  // namespace accelscope::probe
