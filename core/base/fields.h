// The fields of a record, named once and walked over to write it and to read it:
//
//   struct Gap {
//     std::uint64_t first = 0;
//     std::string reason;
//     static void fields(auto& walk, auto& gap) { walk(gap.first, gap.reason); }
//   };
//   Bytes bytes = write_fields(gap);
//   Result<Gap> gap = read_fields<Gap>(bytes, "gap message");
//
// Numbers, enums, texts, lists (a u32 count before them), optional values (a u8) and records inside records. What is
// longer than the limits is cut when it is written and refused when it is read. Bytes after the last field are ignored,
// so that a newer minor version can add some.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace accelscope {

struct FieldLimits {
  std::size_t text_bytes = std::numeric_limits<std::size_t>::max();
  std::size_t items = std::numeric_limits<std::size_t>::max();  // of any list
};

class FieldWriter {
 public:
  explicit FieldWriter(FieldLimits limits = {}) : limits_(limits) {}

  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  void text(const std::string& value, std::size_t most) { writer_.text(std::string_view(value).substr(0, most)); }
  template <typename Item, typename Each>
  void list(const std::vector<Item>& items, std::size_t most, const Each& each) {
    const auto count = static_cast<std::uint32_t>(std::min(items.size(), most));
    writer_.number(count);
    for (std::uint32_t i = 0; i < count; ++i) each(items[i]);
  }
  template <typename Choice>
  void choice(const Choice& value, Choice /*first*/, Choice /*last*/) {
    put(value);
  }
  // A record that knows its length: fields that it gets later do not run into those behind it.
  template <typename Record>
  void sized(const Record& record) {
    FieldWriter inner(limits_);
    inner(record);
    writer_.number(static_cast<std::uint32_t>(inner.writer_.size()));
    writer_.raw(inner.writer_.view());
  }
  void check(bool /*right*/, const char* /*problem*/) {}
  [[nodiscard]] bool more() const noexcept { return true; }
  [[nodiscard]] Bytes take() noexcept { return writer_.take(); }

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      writer_.number(static_cast<std::uint8_t>(value ? 1 : 0));
    } else if constexpr (std::is_arithmetic_v<T>) {
      writer_.number(value);
    } else if constexpr (std::is_enum_v<T>) {
      writer_.number(static_cast<std::underlying_type_t<T>>(value));
    } else {
      T::fields(*this, value);
    }
  }
  void put(const std::string& value) { text(value, limits_.text_bytes); }
  template <typename Item>
  void put(const std::vector<Item>& items) {
    list(items, limits_.items, [this](const Item& item) { put(item); });
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }

  ByteWriter writer_;
  FieldLimits limits_;
};

class FieldReader {
 public:
  explicit FieldReader(ByteView bytes, FieldLimits limits = {}) : reader_(bytes), limits_(limits) {}

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  void text(std::string& value, std::size_t most) {
    const std::string_view read = reader_.text();
    check(read.size() <= most, "with a text that is too long");
    if (ok()) value = read;
  }
  template <typename Item, typename Each>
  void list(std::vector<Item>& items, std::size_t most, const Each& each) {
    const auto count = reader_.number<std::uint32_t>();
    check(count <= most, "with a list that is too long");
    for (std::uint32_t i = 0; i < count && ok(); ++i) each(items.emplace_back());
  }
  template <typename Choice>
  void choice(Choice& value, Choice first, Choice last) {
    get(value);
    check(value >= first && value <= last, "with an unknown choice");
  }
  template <typename Record>
  void sized(Record& record) {
    FieldReader inner(reader_.raw(reader_.number<std::uint32_t>()), limits_);
    inner(record);
    check(inner.ok(), inner.problem());
  }
  void check(bool right, const char* problem) {
    if (ok() && !right) wrong_ = problem;
  }
  [[nodiscard]] bool more() const noexcept { return reader_.remaining() > 0; }  // fields that older records lack
  [[nodiscard]] bool ok() const noexcept { return reader_.ok() && wrong_ == nullptr; }
  [[nodiscard]] const char* problem() const noexcept { return wrong_ == nullptr ? "that is cut short" : wrong_; }

 private:
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = reader_.number<std::uint8_t>() != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = reader_.number<T>();
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(reader_.number<std::underlying_type_t<T>>());
    } else {
      T::fields(*this, value);
    }
  }
  void get(std::string& value) { text(value, limits_.text_bytes); }
  template <typename Item>
  void get(std::vector<Item>& items) {
    list(items, limits_.items, [this](Item& item) { get(item); });
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    if (there) get(value.emplace());
  }

  ByteReader reader_;
  FieldLimits limits_;
  const char* wrong_ = nullptr;
};

template <typename Record>
[[nodiscard]] Bytes write_fields(const Record& record, FieldLimits limits = {}) {
  FieldWriter walk(limits);
  walk(record);
  return walk.take();
}

// `what` is for the error: "a gap message that is cut short".
template <typename Record>
[[nodiscard]] Result<Record> read_fields(ByteView bytes, std::string_view what, FieldLimits limits = {}) {
  FieldReader walk(bytes, limits);
  Record record;
  walk(record);
  if (!walk.ok()) return Error{"a " + std::string(what) + " " + walk.problem()};
  return record;
}

}  // namespace accelscope
