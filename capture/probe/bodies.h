// Bodies of definitions: numbers as they lie in memory, texts behind their length.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace accelscope::probe {

class BodyWriter {
 public:
  template <typename Number>
  BodyWriter& number(Number value) {
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &value, sizeof bytes);
    bytes_.append(bytes, sizeof bytes);
    return *this;
  }
  BodyWriter& text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

// Reads zeros and empty texts once the body has ended too early.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : rest_(body) {}
  template <typename Number>
  [[nodiscard]] Number number() {
    Number value{};
    if (rest_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  [[nodiscard]] std::string text() {
    const auto bytes = number<std::uint32_t>();
    if (bytes > rest_.size()) {
      fail();
      return {};
    }
    std::string value(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
    return value;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool all_read() const noexcept { return ok_ && rest_.empty(); }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace accelscope::probe
