#include "capture/json/row_parser.h"

#include <vector>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::json {

struct JsonRowParser::Implementation {
  std::unique_ptr<FastRows> fast;
  std::vector<JsonField> fields;
  bool is_object = true;

  void parse_lenient(const JsonWindow& window, std::size_t index, JsonRowHandler& handler) {
    std::string_view text = window.row(index);
    std::string repaired;
    const bool bad_utf8 = !is_utf8(text);
    if (bad_utf8) {
      repaired = repair_utf8(text);
      text = repaired;
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
    if (bad_utf8 || cursor.repaired()) handler.on_repaired_row(window.rows[index]);
    handler.on_row(fields, is_object, window.rows[index]);
  }
};

JsonRowParser::JsonRowParser() : JsonRowParser(make_fast_rows()) {}
JsonRowParser::JsonRowParser(std::unique_ptr<FastRows> fast) : impl_(std::make_unique<Implementation>()) {
  impl_->fast = std::move(fast);
}
JsonRowParser::~JsonRowParser() = default;

void JsonRowParser::parse(const JsonWindow& window, JsonRowHandler& handler) {
  if (window.rows.empty()) return;
  std::size_t done = impl_->fast != nullptr ? impl_->fast->read(window, handler) : 0;
  for (; done < window.rows.size(); ++done) impl_->parse_lenient(window, done, handler);
}

}  // namespace accelscope::capture::json
