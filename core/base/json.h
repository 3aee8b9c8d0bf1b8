// The one writer of JSON. Texts are quoted and escaped, bad UTF-8 becomes U+FFFD, a number that is not finite null.
//
//   JsonWriter json(JsonLayout::sections);
//   json.begin_object("file", path, "bytes", size);
//   json.array("events", events, [&](const Event& each) { json.object("id", each.id, "name", each.name); });
//   out << json.done() << '\n';
//
// It has no errors and checks nothing: that members stand in objects, and keys are unique, is up to its user. Loops
// over millions of events append their cells with the functions below instead.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace accelscope {

void append_json_quoted(std::string& out, std::string_view text);
[[nodiscard]] std::string json_quote(std::string_view text);
void append_json_integer(std::string& out, std::int64_t value);
void append_json_integer(std::string& out, std::uint64_t value);
// All digits: it reads back as the same number. Null where it is not finite.
void append_json_number(std::string& out, double value);
[[nodiscard]] std::string json_number(double value);
// With a point or an exponent, so that it reads back as a real number; infinity as 1e999, which reads back as it.
void append_json_real(std::string& out, double value);

// A value on its way into a JsonWriter, null unless it is made of something. It refers to its text.
class JsonValue {
 public:
  JsonValue() = default;
  JsonValue(bool value) : value_(value) {}
  JsonValue(std::signed_integral auto value) : value_(std::int64_t{value}) {}
  JsonValue(std::unsigned_integral auto value) : value_(std::uint64_t{value}) {}
  JsonValue(double value) : value_(value) {}
  JsonValue(const char* text) : value_(std::string_view(text)) {}
  JsonValue(std::string_view text) : value_(text) {}
  JsonValue(const std::string& text) : value_(std::string_view(text)) {}
  JsonValue(const std::vector<std::string>& texts) : value_(&texts) {}
  template <typename Value>
  JsonValue(const std::optional<Value>& value) : JsonValue(value ? JsonValue(*value) : JsonValue()) {}
  [[nodiscard]] static JsonValue real(double number) { return Real{number}; }      // append_json_real()
  [[nodiscard]] static JsonValue raw(std::string_view json) { return Raw{json}; }  // JSON already

 private:
  friend class JsonWriter;
  struct Real {
    double number;
  };
  struct Raw {
    std::string_view json;
  };
  JsonValue(Real value) : value_(value) {}
  JsonValue(Raw value) : value_(value) {}
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Real, std::string_view, Raw,
               const std::vector<std::string>*>
      value_;
};

enum class JsonLayout : std::uint8_t {
  compact,   // one line without blanks: messages, and files for programs
  line,      // one line with blanks after commas and colons
  rows,      // each element of the outermost array or object begins a line
  sections,  // so does each element of those in it, one blank further right
};

class JsonWriter {
 public:
  explicit JsonWriter(JsonLayout layout = JsonLayout::compact) : layout_(layout) {}

  // An element of the array that is open, the value of the key before, or the whole.
  JsonWriter& value(const JsonValue& value);
  JsonWriter& begin_array() { return begin('['); }
  template <typename... Values>
  JsonWriter& begin_object(const Values&... keys_and_values) {
    return begin('{').add(keys_and_values...);
  }
  JsonWriter& end();  // of the innermost object or array
  template <typename... Values>
  JsonWriter& object(const Values&... keys_and_values) {
    return begin_object(keys_and_values...).end();
  }
  // What `write(element)` writes for each element of a range.
  template <typename Range, typename Write>
  JsonWriter& array(const Range& range, const Write& write) {
    begin_array();
    for (const auto& each : range) write(each);
    return end();
  }

  // A member of the object that is open: its value comes next.
  JsonWriter& key(std::string_view name);
  // Members.
  template <typename... Values>
  JsonWriter& add(const Values&... keys_and_values) {
    static_assert(sizeof...(Values) % 2 == 0, "each key has a value");
    return add_list({JsonValue(keys_and_values)...});
  }
  JsonWriter& add_text(std::string_view name, std::string_view text);  // unless it is empty
  template <typename Range, typename Write>
  JsonWriter& array(std::string_view name, const Range& range, const Write& write) {
    return key(name).array(range, write);
  }

  [[nodiscard]] std::string take();  // what has been written since the last time
  [[nodiscard]] std::string done();  // the same once all that is open has ended

 private:
  struct Append;
  JsonWriter& begin(char bracket);
  JsonWriter& add_list(std::initializer_list<JsonValue> keys_and_values);
  void separate();
  [[nodiscard]] bool breaks() const noexcept;  // elements of the innermost begin a line

  JsonLayout layout_;
  bool first_ = true, named_ = false;  // of the innermost: nothing is in it yet, the value of a key comes next
  std::string text_, open_;            // brackets that end what is open, the innermost last
};

// An object that is written at once: compact, and as a line with its end.
template <typename... Values>
[[nodiscard]] std::string json_object(const Values&... keys_and_values) {
  return JsonWriter().object(keys_and_values...).done();
}
template <typename... Values>
[[nodiscard]] std::string json_line(const Values&... keys_and_values) {
  return JsonWriter(JsonLayout::line).object(keys_and_values...).done() + '\n';
}

}  // namespace accelscope
