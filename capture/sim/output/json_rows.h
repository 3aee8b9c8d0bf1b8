// Writes rows of JSON tables fast: fields of a row are gathered as text and put out in an order that changes from row
// to row, since readers must not rely on one. Rows are put out in a window's random order for the same reason.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sim/kernel/schedule.h"
#include "core/base/result.h"

namespace accelscope::capture::sim {

class JsonFile {
 public:
  [[nodiscard]] static Result<std::unique_ptr<JsonFile>> create(const std::string& path);
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;
  ~JsonFile();  // removes the file unless it was finished

  void put(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kBufferBytes) flush();
  }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] Result<void> finish();

 private:
  static constexpr std::size_t kBufferBytes = 1U << 20;
  JsonFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  void flush();

  std::FILE* file_;
  std::string path_;
  std::string buffer_;
  std::string reason_;
  bool failed_ = false;
};

class JsonRows {
 public:
  JsonRows(JsonFile& file, std::uint64_t seed) : file_(file), random_(seed) {}

  void begin_table(std::string_view name);
  void end_table();

  void begin_row() {
    fields_.clear();
    row_.clear();
  }
  void integer(std::string_view key, std::int64_t value) {
    begin_field(key);
    number(value);
    end_field();
  }
  void unsigned_integer(std::string_view key, std::uint64_t value) {
    begin_field(key);
    number(value);
    end_field();
  }
  void real(std::string_view key, double value) {
    begin_field(key);
    number(value);
    end_field();
  }
  void text_number(std::string_view key, std::int64_t value) {  // "15"
    begin_field(key);
    row_ += '"';
    number(value);
    row_ += '"';
    end_field();
  }
  void text(std::string_view key, std::string_view value);  // quoted and escaped
  void raw(std::string_view key, std::string_view json) {
    begin_field(key);
    row_ += json;
    end_field();
  }
  // "key":value, made before.
  void fragment(std::string_view field) {
    row_ += field;
    end_field();
  }
  void end_row();

  [[nodiscard]] Jitter& random() noexcept { return random_; }

 private:
  static constexpr std::size_t kWindowRows = 256;
  void begin_field(std::string_view key) {
    row_ += '"';
    row_ += key;
    row_ += "\":";
  }
  void end_field() { fields_.push_back(row_.size()); }
  template <typename Number>
  void number(Number value) {
    char digits[32];
    row_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void put_window();

  JsonFile& file_;
  Jitter random_;
  std::string row_;
  std::vector<std::size_t> fields_;  // ends within row_
  std::vector<std::string> window_;
  std::size_t window_rows_ = 0;
  bool first_table_ = true;
  bool first_row_ = true;
};

}  // namespace accelscope::capture::sim
