#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/json/row_parser.h"
#include "core/base/text.h"

namespace accelscope::capture::json {
namespace {

namespace ondemand = simdjson::ondemand;

[[nodiscard]] bool is_number(std::string_view token) noexcept {
  for (const char c : token) {
    const bool fits = (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
    if (!fits) return false;
  }
  return true;
}

class SimdRows final : public FastRows {
 public:
  std::size_t read(const JsonWindow& window, JsonRowHandler& handler) override {
    ondemand::document document;
    ondemand::array rows;
    if (parser_.iterate(window.text.data(), window.size, window.text.size()).get(document) != simdjson::SUCCESS) {
      return 0;
    }
    if (document.get_array().get(rows) != simdjson::SUCCESS) return 0;
    window_bytes_ = window.size;
    std::size_t done = 0;
    for (auto element : rows) {
      ondemand::value row;
      if (done == window.rows.size() || element.get(row) != simdjson::SUCCESS || !read_row(row)) break;
      handler.on_row(fields_, is_object_, window.rows[done]);
      ++done;
    }
    return done;
  }

 private:
  [[nodiscard]] bool read_row(ondemand::value& row) {
    fields_.clear();
    next_text_ = unescaped_.data();
    ondemand::json_type type{};
    if (row.type().get(type) != simdjson::SUCCESS) return false;
    is_object_ = type == ondemand::json_type::object;
    if (!is_object_) return read_value(row, fields_.emplace_back());
    ondemand::object object;
    if (row.get_object().get(object) != simdjson::SUCCESS) return false;
    for (auto item : object) {
      ondemand::field field;
      if (std::move(item).get(field) != simdjson::SUCCESS) return false;
      JsonField& out = fields_.emplace_back();
      if (!read_key(field, out.key) || !read_value(field.value(), out)) return false;
    }
    return true;
  }

  // Into memory of our own: the parser does not notice when it is refused its own. As large as the window, as no text
  // gets longer.
  [[nodiscard]] bool unescape(ondemand::raw_json_string raw, std::string_view& text) {
    if (unescaped_.size() < window_bytes_ + simdjson::SIMDJSON_PADDING) {  // the row has no text in it yet
      unescaped_.resize(window_bytes_ + simdjson::SIMDJSON_PADDING);
      next_text_ = unescaped_.data();
    }
    return parser_.unescape(raw, next_text_).get(text) == simdjson::SUCCESS;
  }
  // The text of a string token; true if it could be read. Only one with escapes goes through simdjson's decoder.
  [[nodiscard]] bool read_string(ondemand::value& value, std::string_view token, std::string_view& text) {
    if (token.size() < 2 || token.back() != '"') return false;
    text = token.substr(1, token.size() - 2);
    if (text.find('\\') == std::string_view::npos) return true;
    ondemand::raw_json_string raw;
    return value.get_raw_json_string().get(raw) == simdjson::SUCCESS && unescape(raw, text);
  }

  [[nodiscard]] bool read_value(ondemand::value& value, JsonField& field) {
    std::string_view token = value.raw_json_token();
    const char first = token.empty() ? '\0' : token.front();
    if (first == '"') {
      field.kind = JsonKind::string;
      return read_string(value, trimmed(token), field.text);
    }
    if (first == '{' || first == '[') {
      field.kind = first == '{' ? JsonKind::object : JsonKind::array;
      if (first == '{') {
        ondemand::object object;
        if (value.get_object().get(object) != simdjson::SUCCESS) return false;
        return object.raw_json().get(field.text) == simdjson::SUCCESS;
      }
      ondemand::array array;
      if (value.get_array().get(array) != simdjson::SUCCESS) return false;
      return array.raw_json().get(field.text) == simdjson::SUCCESS;
    }
    field.text = trimmed(token);
    if ((first == '-' || (first >= '0' && first <= '9')) && is_number(field.text)) {
      field.kind = JsonKind::number;
    } else if (field.text == "true" || field.text == "false") {
      field.kind = JsonKind::boolean;
    } else if (field.text == "null") {
      field.kind = JsonKind::null;
    } else if (field.text == "NaN" || field.text == "Infinity" || field.text == "-Infinity") {
      field.kind = JsonKind::not_finite;
    } else {
      return false;
    }
    return true;
  }

  [[nodiscard]] bool read_key(ondemand::field& field, std::string_view& key) {
    // A key token runs to the colon: the quote that ends it is found like any other.
    const ondemand::raw_json_string raw = field.key();
    const char* const text = raw.raw();
    std::size_t length = 0;
    while (text[length] != '"') {
      if (text[length] == '\\') return unescape(raw, key);
      ++length;
    }
    key = {text, length};
    return true;
  }

  ondemand::parser parser_;
  std::size_t window_bytes_ = 0;
  std::vector<std::uint8_t> unescaped_;
  std::uint8_t* next_text_ = nullptr;  // where the row's next text with escapes goes
  std::vector<JsonField> fields_;
  bool is_object_ = true;
};

}  // namespace

std::unique_ptr<FastRows> make_fast_rows() { return std::make_unique<SimdRows>(); }

}  // namespace accelscope::capture::json
