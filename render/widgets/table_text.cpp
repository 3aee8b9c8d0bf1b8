// Tables as text, and which of their rows contain one.
#include <algorithm>
#include <chrono>

#include "core/base/format.h"
#include "core/base/text.h"
#include "render/widgets/table_drawing.h"

namespace accelscope::render {

namespace {

std::string quoted(const std::string& text, char separator) {
  if (text.find_first_of(std::string("\"\n\r") + separator) == std::string::npos) return text;
  if (separator == '\t') {  // the clipboard's convention has no quotes: white space stands in
    std::string plain = text;
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return plain;
  }
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?, as JSON has numbers.
bool is_json_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > from;
  };
  const auto take = [&](std::string_view any) {
    const bool here = at < text.size() && any.find(text[at]) != std::string_view::npos;
    at += here ? 1 : 0;
    return here;
  };
  (void)take("-");
  if (!take("0") && !digits()) return false;
  if (take(".") && !digits()) return false;
  if (take("eE")) {
    (void)take("+-");
    if (!digits()) return false;
  }
  return at == text.size();
}

std::string json_cell(const std::string& text) {
  if (text.empty()) return "null";
  return is_json_number(text) ? text : json_quote(text);
}

std::string json_of_table(std::span<const TableColumn> columns, std::size_t rows, const TableContent& content) {
  std::string text = "[";
  for (std::size_t row = 0; row < rows; ++row) {
    text += row == 0 ? "\n{" : ",\n{";
    for (std::size_t index = 0; index < columns.size(); ++index) {
      const TableColumn& column = columns[index];
      const TableCell cell = content(row, index);
      text += (index == 0 ? "" : ", ") + json_quote(column.data_title.empty() ? column.title : column.data_title);
      text += ": " + json_cell(cell.data.empty() ? cell.text : cell.data);
    }
    text += "}";
  }
  return text + "\n]\n";
}

}  // namespace

bool contains_text(std::string_view text, std::string_view lower_part) {
  return lower_case(text).find(lower_part) != std::string::npos;
}

bool TableFilter::update(const Key& key, const std::function<bool(std::size_t row, std::string_view text)>& contains) {
  if (key.rows <= kAtOnce || key != key_) {
    key_ = key;
    lower_ = lower_case(key.text);
    looked_at_ = 0;
    rows_.clear();
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto is_time_over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= kMostSeconds;
  };
  do {
    const std::size_t end = std::min(key.rows, looked_at_ + (key.rows <= kAtOnce ? kAtOnce : kStep));
    for (; looked_at_ < end; ++looked_at_) {
      if (contains(looked_at_, lower_)) rows_.push_back(static_cast<std::uint32_t>(looked_at_));
    }
  } while (looked_at_ < key.rows && !is_time_over());
  return looked_at_ == key.rows;
}

std::string table_text(std::span<const TableColumn> columns, std::size_t rows, const TableContent& content,
                       char separator) {
  std::string text;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    if (index > 0) text += separator;
    const TableColumn& column = columns[index];
    text += quoted(column.data_title.empty() ? column.title : column.data_title, separator);
  }
  text += '\n';
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t index = 0; index < columns.size(); ++index) {
      if (index > 0) text += separator;
      const TableCell cell = content(row, index);
      text += quoted(cell.data.empty() ? cell.text : cell.data, separator);
    }
    text += '\n';
  }
  return text;
}

std::string table_in_form(std::span<const TableColumn> columns, std::size_t rows, const TableContent& content,
                          TableForm form) {
  if (form == TableForm::json) return json_of_table(columns, rows, content);
  return table_text(columns, rows, content, form == TableForm::csv ? ',' : '\t');
}

}  // namespace accelscope::render
