// Reads Thrift's compact protocol, in which Parquet's footer and the headers of its pages are written. Never reads
// beyond its bytes: after a mistake everything is 0 or empty and failed() is true.
//
//   CompactReader reader(bytes);
//   reader.each_field([&](const CompactReader::Field& field) {
//     if (field.id == 3) rows = reader.integer(); else reader.skip(field.type);
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace accelscope::parquet {

enum class CompactType : std::uint8_t {
  stop = 0,
  boolean_true = 1,  // of a field the value itself; of a list's elements any truth value
  boolean_false = 2,
  byte = 3,
  i16 = 4,
  i32 = 5,
  i64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  structure = 12,
  uuid = 13,
};

class CompactReader {
 public:
  explicit CompactReader(std::string_view bytes) noexcept : bytes_(bytes) {}

  struct Field {
    std::int16_t id = 0;
    CompactType type = CompactType::stop;
  };
  struct List {
    CompactType type = CompactType::stop;
    std::uint32_t size = 0;  // no more than bytes are left
  };

  // The fields of the struct at hand, to its end. The body reads or skips the value of each.
  template <typename Body>
  void each_field(Body&& body) {
    if (!enter()) return;
    Field field;
    while (next_field(field)) body(std::as_const(field));
    leave();
  }
  // The elements of the list at hand, which must be a field's value.
  template <typename Body>
  void each_element(Body&& body) {
    const List list = begin_list();
    for (std::uint32_t i = 0; i < list.size && !failed_; ++i) body(list.type);
  }

  [[nodiscard]] List begin_list() noexcept;
  [[nodiscard]] std::int64_t integer() noexcept;  // of any width
  [[nodiscard]] std::int8_t byte() noexcept;
  [[nodiscard]] std::string_view binary() noexcept;
  [[nodiscard]] static bool boolean(const Field& field) noexcept { return field.type == CompactType::boolean_true; }
  // A number of a field that must be one; 0, and passed over, where it is of another type.
  [[nodiscard]] std::int64_t integer_of(const Field& field) noexcept;
  [[nodiscard]] std::string_view binary_of(const Field& field) noexcept;
  void skip(CompactType type) noexcept;
  // Where a field of that id goes: a number, an enumerator, a flag or a text, optional or not.
  template <typename Value>
  struct At {
    At(std::int16_t of, Value& to) noexcept : id(of), value(to) {}
    std::int16_t id;
    Value& value;
  };
  // Reads the field into the place of its id. False: none is of it, and the value is still to be read or skipped.
  template <typename... Value>
  bool into(const Field& field, At<Value>... places) {
    return ((field.id == places.id && (put(field, places.value), true)) || ...);
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t position() const noexcept { return at_; }

 private:
  template <typename Value>
  void put(const Field& field, std::optional<Value>& value) {
    put(field, value.emplace());
  }
  template <typename Value>
  void put(const Field& field, Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      value = boolean(field);
    } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      value = static_cast<Value>(integer_of(field));
    } else {
      value = binary_of(field);
    }
  }

  static constexpr int kMostNested = 64;  // Parquet's headers need 7
  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept { --depth_; }
  // From the field before it; false at the end of the struct.
  [[nodiscard]] bool next_field(Field& field) noexcept;
  [[nodiscard]] std::uint64_t varint() noexcept;
  void skip_element(CompactType type) noexcept;
  void take(std::uint64_t bytes) noexcept;
  void fail() noexcept {
    failed_ = true;
    at_ = bytes_.size();
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace accelscope::parquet
