#include "app/panels/answer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "core/base/format.h"
#include "core/base/text.h"
#include "core/model/unit.h"

namespace accelscope::app {

using namespace render;  // NOLINT: cells of tables

namespace {

bool is_number(const SqlValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool is_null(const SqlValue& value) { return std::holds_alternative<std::monostate>(value); }

// Times, sizes and counts are read in groups of three digits; ids and addresses are copied, so they are plain.
bool grouped(std::string_view column) {
  return column != "id" && !column.ends_with("_id") && column.find("address") == std::string_view::npos &&
         column != "line";
}

double number_of(const SqlValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

// A number in the unit of its size, exact on hover.
TableCell figure_cell(const SqlValue& value, const AnswerForm& form) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const std::string digits = integer != nullptr ? std::to_string(*integer) : fmt::format("{}", number_of(value));
  const bool is_plain = form.unit.empty() || form.unit == "share";
  TableCell cell{.text = format_value(number_of(value), form.unit),
                 .exact = is_plain ? digits : fmt::format("{} {}", digits, form.unit),
                 .data = digits};
  if (form.bar) cell.bar = std::clamp(number_of(value), 0.0, 1.0);
  return cell;
}

// As SQL orders: nothing, then numbers, then texts, then bytes.
int rank(const SqlValue& value) { return is_null(value) ? 0 : is_number(value) ? 1 : static_cast<int>(value.index()); }

bool less(const SqlValue& a, const SqlValue& b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (is_null(a)) return false;
  if (!is_number(a)) return a.index() == 3 ? std::get<std::string>(a) < std::get<std::string>(b) : false;
  const auto* ia = std::get_if<std::int64_t>(&a);
  const auto* ib = std::get_if<std::int64_t>(&b);
  if (ia != nullptr && ib != nullptr) return *ia < *ib;
  return number_of(a) < number_of(b);
}

bool says_nothing(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return is_null(value) || (text != nullptr && text->empty());
}

std::vector<bool> silent_columns(const SqlResult& result) {
  std::vector<bool> empty(result.columns.size(), true);
  for (std::size_t column = 0; column < empty.size(); ++column) {
    for (std::size_t row = 0; row < result.row_count() && empty[column]; ++row)
      empty[column] = says_nothing(result.at(row, column));
  }
  return empty;
}

std::vector<std::uint32_t> ordered_rows(const AnswerQuestion& question) {
  const SqlResult& result = *question.answer;
  std::vector<std::uint32_t> rows(result.row_count());
  std::iota(rows.begin(), rows.end(), 0U);
  if (question.column < 0 || static_cast<std::size_t>(question.column) >= result.columns.size()) return rows;
  const auto column = static_cast<std::size_t>(question.column);
  const bool descending = question.descending;
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return descending ? less(result.at(b, column), result.at(a, column))
                      : less(result.at(a, column), result.at(b, column));
  });
  return rows;
}

bool row_contains(const AnswerQuestion& question, std::size_t row, std::string_view lower_text) {
  const SqlResult& result = *question.answer;
  for (std::size_t column = 0; column < result.columns.size(); ++column) {
    if (column < question.hidden.size() && question.hidden[column]) continue;
    const TableCell cell = answer_cell(result.at(row, column), result.columns[column], question.forms[column]);
    if (contains_text(cell.text, lower_text)) return true;
  }
  return false;
}

}  // namespace

TableCell answer_cell(const SqlValue& value, std::string_view column, const AnswerForm& form) {
  const bool dashes = form.dashes || !form.unit.empty();
  if (is_null(value)) return {.text = dashes ? "–" : "NULL", .colour = Colour::text3, .style = TextStyle::small};
  if (is_number(value) && (!form.unit.empty() || (form.dashes && grouped(column)))) return figure_cell(value, form);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return {.text = grouped(column) ? format_signed(*integer) : std::to_string(*integer),
            .data = std::to_string(*integer)};
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return {.text = fmt::format("{:.6g}", *real), .exact = fmt::format("{}", *real), .data = fmt::format("{}", *real)};
  }
  if (const auto* blob = std::get_if<SqlBlob>(&value)) {
    return {.text = fmt::format("{} bytes", blob->bytes.size()), .colour = Colour::text3};
  }
  return {.text = std::get<std::string>(value), .style = TextStyle::body, .fit = Fit::middle};
}

AnswerOrder order_answer(AnswerQuestion question, const AnswerOrder* earlier, const TaskControl& control) {
  AnswerOrder order{.of = std::move(question), .rows = {}, .matching = {}, .empty = {}};
  const AnswerQuestion& of = order.of;
  const bool same_answer = earlier != nullptr && earlier->of.answer == of.answer;
  order.empty = same_answer ? earlier->empty : silent_columns(*of.answer);
  const bool same_rows = same_answer && earlier->of.column == of.column && earlier->of.descending == of.descending;
  order.rows = same_rows ? earlier->rows : ordered_rows(of);
  if (of.text.empty()) return order;
  const std::string lower = lower_case(of.text);
  for (std::uint32_t place = 0; place < order.rows.size() && !control.cancelled(); ++place) {
    if (row_contains(of, order.rows[place], lower)) order.matching.push_back(place);
  }
  return order;
}

}  // namespace accelscope::app
