// Objects and lists of JSON, written member by member on one line: a message of the protocol is a line.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/format.h"

namespace accelscope::app {

class JsonObject {
 public:
  // The value is JSON already.
  JsonObject& raw(std::string_view key, std::string_view json) {
    text_ += text_.empty() ? "{" : ",";
    append_json_quoted(text_, key);
    text_ += ':';
    text_ += json;
    return *this;
  }
  JsonObject& text(std::string_view key, std::string_view value) { return raw(key, json_quote(value)); }
  JsonObject& number(std::string_view key, std::integral auto value) { return raw(key, std::to_string(value)); }
  JsonObject& real(std::string_view key, double value) { return raw(key, json_number(value)); }
  JsonObject& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  // Left out where there is nothing to say.
  JsonObject& text_if(std::string_view key, std::string_view value) { return value.empty() ? *this : text(key, value); }
  [[nodiscard]] std::string done() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

class JsonList {
 public:
  JsonList& raw(std::string_view json) {
    text_ += text_.empty() ? "[" : ",";
    text_ += json;
    return *this;
  }
  JsonList& text(std::string_view value) { return raw(json_quote(value)); }
  [[nodiscard]] std::string done() const { return text_.empty() ? "[]" : text_ + "]"; }

 private:
  std::string text_;
};

[[nodiscard]] inline std::string json_texts(const std::vector<std::string>& texts) {
  JsonList list;
  for (const std::string& each : texts) list.text(each);
  return list.done();
}

}  // namespace accelscope::app
