// Writes pickles as Python does, for tests: plain data, protocols 2 to 5. Written from Lib/pickletools.py, apart from
// the reader.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace accelscope::test {

class PickleWriter {
 public:
  explicit PickleWriter(int protocol = 4) : protocol_(protocol) {
    text_ += '\x80';
    text_ += static_cast<char>(protocol);
  }

  void none() { text_ += 'N'; }
  void boolean(bool value) { text_ += value ? '\x88' : '\x89'; }
  void integer(std::int64_t value) {
    if (value >= 0 && value < 256) return opcode('K', static_cast<std::uint64_t>(value), 1);
    if (value >= 0 && value < 65536) return opcode('M', static_cast<std::uint64_t>(value), 2);
    if (value >= -2147483648LL && value < 2147483648LL) return opcode('J', static_cast<std::uint64_t>(value), 4);
    text_ += "\x8a\x08";
    little(static_cast<std::uint64_t>(value), 8);
  }
  // Addresses of 2^63 and more have nine bytes.
  void address(std::uint64_t value) {
    if (value >> 63 == 0) return integer(static_cast<std::int64_t>(value));
    text_ += "\x8a\x09";
    little(value, 8);
    text_ += '\0';
  }
  void text(std::string_view value) {
    if (const auto known = known_.find(value); known != known_.end()) return get(known->second);
    if (protocol_ >= 4 && value.size() < 256) {
      opcode('\x8c', value.size(), 1);
    } else {
      opcode('X', value.size(), 4);
    }
    text_ += value;
    known_.emplace(value, memoize());
  }
  // Its place in the memo, for get().
  std::uint32_t begin_list() {
    text_ += ']';
    return memoize();
  }
  std::uint32_t begin_dict() {
    text_ += '}';
    return memoize();
  }
  void mark() { text_ += '('; }
  void appends() { text_ += 'e'; }
  void append() { text_ += 'a'; }
  void set_items() { text_ += 'u'; }
  void set_item() { text_ += 's'; }
  void pair() { text_ += '\x86'; }
  void raw(std::string_view bytes) { text_ += bytes; }
  void get(std::uint32_t place) {
    if (place < 256) return opcode('h', place, 1);
    opcode('j', place, 4);
  }
  [[nodiscard]] std::string finish() { return text_ + '.'; }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }

 private:
  void little(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void opcode(char code, std::uint64_t argument, unsigned bytes) {
    text_ += code;
    little(argument, bytes);
  }
  std::uint32_t memoize() {
    if (protocol_ >= 4) {
      text_ += '\x94';
    } else if (next_ < 256) {
      opcode('q', next_, 1);
    } else {
      opcode('r', next_, 4);
    }
    return next_++;
  }

  int protocol_;
  std::string text_;
  std::uint32_t next_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> known_;
};

}  // namespace accelscope::test
