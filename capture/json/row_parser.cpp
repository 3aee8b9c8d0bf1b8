#include "capture/json/row_parser.h"

#include <simdjson.h>

#include <vector>

#include "capture/json/json_cursor.h"
#include "core/base/text.h"

namespace accelscope::capture {
namespace {

namespace ondemand = simdjson::ondemand;

[[nodiscard]] bool is_number(std::string_view token) noexcept {
  for (const char c : token) {
    const bool fits = (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
    if (!fits) return false;
  }
  return true;
}

// The text of a string token; true if it could be read. Only one with escapes goes through simdjson's decoder.
[[nodiscard]] bool read_string(ondemand::value& value, std::string_view token, std::string_view& text) noexcept {
  if (token.size() < 2 || token.back() != '"') return false;
  text = token.substr(1, token.size() - 2);
  if (text.find('\\') == std::string_view::npos) return true;
  return value.get_string().get(text) == simdjson::SUCCESS;
}

[[nodiscard]] bool read_value(ondemand::value& value, JsonField& field) noexcept {
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

[[nodiscard]] bool read_key(ondemand::field& field, std::string_view& key) noexcept {
  // A key token runs to the colon: the quote that ends it is found like any other.
  const ondemand::raw_json_string raw = field.key();
  const char* const text = raw.raw();
  std::size_t length = 0;
  while (text[length] != '"') {
    if (text[length] == '\\') return field.unescaped_key().get(key) == simdjson::SUCCESS;
    ++length;
  }
  key = {text, length};
  return true;
}

}  // namespace

struct JsonRowParser::Implementation {
  ondemand::parser parser;
  std::vector<JsonField> fields;

  // The number of rows handed out before the first that simdjson did not take.
  std::size_t parse_fast(const JsonWindow& window, JsonRowHandler& handler) {
    ondemand::document document;
    ondemand::array rows;
    if (parser.iterate(window.text.data(), window.size, window.text.size()).get(document) != simdjson::SUCCESS)
      return 0;
    if (document.get_array().get(rows) != simdjson::SUCCESS) return 0;
    std::size_t done = 0;
    for (auto element : rows) {
      ondemand::value row;
      if (done == window.rows.size() || element.get(row) != simdjson::SUCCESS || !read_row(row)) break;
      handler.on_row(fields, is_object, window.rows[done]);
      ++done;
    }
    return done;
  }

  bool is_object = true;

  [[nodiscard]] bool read_row(ondemand::value& row) {
    fields.clear();
    ondemand::json_type type{};
    if (row.type().get(type) != simdjson::SUCCESS) return false;
    is_object = type == ondemand::json_type::object;
    if (!is_object) return read_value(row, fields.emplace_back());
    ondemand::object object;
    if (row.get_object().get(object) != simdjson::SUCCESS) return false;
    for (auto item : object) {
      ondemand::field field;
      if (std::move(item).get(field) != simdjson::SUCCESS) return false;
      JsonField& out = fields.emplace_back();
      if (!read_key(field, out.key) || !read_value(field.value(), out)) return false;
    }
    return true;
  }

  void parse_lenient(const JsonWindow& window, std::size_t index, JsonRowHandler& handler) {
    std::string_view text = window.row(index);
    std::string mended;
    const bool bad_utf8 = !is_utf8(text);
    if (bad_utf8) {
      mended = mend_utf8(text);
      text = mended;
    }
    JsonCursor cursor(text);
    fields.clear();
    is_object = text.starts_with('{');
    if (is_object) {
      (void)cursor.enter('{');
      while (cursor.next_element('{')) {
        const std::string_view key = cursor.key();
        if (!cursor.ok()) break;
        JsonField field = cursor.value();
        field.key = key;
        fields.push_back(field);
      }
    } else {
      fields.push_back(cursor.value());
    }
    if (!cursor.ok() || !cursor.at_end()) {
      handler.on_bad_row(window.row(index), window.rows[index]);
      return;
    }
    if (bad_utf8 || cursor.mended()) handler.on_mended_row(window.rows[index]);
    handler.on_row(fields, is_object, window.rows[index]);
  }
};

JsonRowParser::JsonRowParser() : impl_(std::make_unique<Implementation>()) {}
JsonRowParser::~JsonRowParser() = default;

void JsonRowParser::parse(const JsonWindow& window, JsonRowHandler& handler) {
  if (window.rows.empty()) return;
  std::size_t done = impl_->parse_fast(window, handler);
  for (; done < window.rows.size(); ++done) impl_->parse_lenient(window, done, handler);
}

}  // namespace accelscope::capture
