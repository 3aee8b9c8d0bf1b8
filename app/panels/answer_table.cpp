#include "app/panels/answer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/content/figure_text.h"
#include "app/panels/targets.h"
#include "core/base/format.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

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

// How the values of a column are shown.
using ColumnForm = AnswerTable::Form;

// A number in the unit of its size, exact on hover.
TableCell figure_cell(const SqlValue& value, const ColumnForm& form) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const std::string digits = integer != nullptr ? std::to_string(*integer) : fmt::format("{}", number_of(value));
  const bool is_plain = form.unit.empty() || form.unit == "share";
  TableCell cell{.text = figure_text(number_of(value), form.unit),
                 .exact = is_plain ? digits : fmt::format("{} {}", digits, form.unit),
                 .data = digits};
  if (form.bar) cell.bar = std::clamp(number_of(value), 0.0, 1.0);
  return cell;
}

TableCell cell_of(const SqlValue& value, std::string_view column, const ColumnForm& form) {
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

// As SQL orders: nothing, then numbers, then texts, then bytes.
int rank(const SqlValue& value) { return is_null(value) ? 0 : is_number(value) ? 1 : static_cast<int>(value.index()); }

bool less(const SqlValue& a, const SqlValue& b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (is_null(a)) return false;
  if (!is_number(a)) return a.index() == 3 ? std::get<std::string>(a) < std::get<std::string>(b) : false;
  const auto* ia = std::get_if<std::int64_t>(&a);
  const auto* ib = std::get_if<std::int64_t>(&b);
  if (ia != nullptr && ib != nullptr) return *ia < *ib;
  const double da = ia != nullptr ? static_cast<double>(*ia) : std::get<double>(a);
  const double db = ib != nullptr ? static_cast<double>(*ib) : std::get<double>(b);
  return da < db;
}

std::vector<TableColumn> columns_of(const Ui& ui, const SqlResult& result, std::vector<AnswerTable::Note> notes) {
  notes.resize(result.columns.size());
  constexpr std::size_t kSampled = 200;
  constexpr float kLeast = 70, kMost = 360, kBarWidth = 64;
  std::vector<TableColumn> columns;
  for (std::size_t column = 0; column < result.columns.size(); ++column) {
    const bool is_named = !notes[column].title.empty();
    const AnswerTable::Form form{notes[column].unit, notes[column].bar, notes[column].dashes};
    std::string title = is_named ? notes[column].title : result.columns[column];
    bool numbers = true;
    float widest = text_width(ui, TextStyle::small_strong, title) + ui.px(34);
    for (std::size_t row = 0; row < std::min(result.row_count(), kSampled); ++row) {
      const SqlValue& value = result.at(row, column);
      if (!is_null(value) && !is_number(value)) numbers = false;
      const TableCell cell = cell_of(value, result.columns[column], form);
      widest = std::max(widest, text_width(ui, cell.style, cell.text) + ui.px(20));
    }
    if (notes[column].bar) widest += ui.px(kBarWidth);
    columns.push_back({.title = std::move(title),
                       .width = std::clamp(widest / ui.px(1), kLeast, kMost),
                       .align = numbers ? Align::right : Align::left,
                       .tooltip = std::move(notes[column].tooltip),
                       .data_title = result.columns[column]});
  }
  return columns;
}

bool says_nothing(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return is_null(value) || (text != nullptr && text->empty());
}

std::vector<bool> empty_columns(const SqlResult& result, const std::vector<AnswerTable::Note>& notes) {
  std::vector<bool> empty(notes.size());
  for (std::size_t column = 0; column < empty.size(); ++column) empty[column] = notes[column].hides;
  for (std::size_t i = 0; i < result.cells.size() && !empty.empty(); ++i) {
    if (!says_nothing(result.cells[i])) empty[i % empty.size()] = false;
  }
  for (std::size_t column = 0; column < empty.size(); ++column) empty[column] = empty[column] || notes[column].aside;
  if (std::find(empty.begin(), empty.end(), false) == empty.end()) empty.clear();
  return empty;
}

}  // namespace

void AnswerTable::order_rows() {
  const SqlResult& result = *answer_;
  rows_.resize(result.row_count());
  std::iota(rows_.begin(), rows_.end(), 0U);
  if (table_.sort_column < 0 || static_cast<std::size_t>(table_.sort_column) >= result.columns.size()) return;
  const auto column = static_cast<std::size_t>(table_.sort_column);
  std::stable_sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return table_.descending ? less(result.at(b, column), result.at(a, column))
                             : less(result.at(a, column), result.at(b, column));
  });
}

AnswerTable::Hand AnswerTable::draw(Ui& ui, std::string_view name, const Rect& area,
                                    std::shared_ptr<const SqlResult> answer, std::string_view origin,
                                    std::vector<Note> notes, const std::function<bool(std::size_t row)>& selected) {
  if (answer_ != answer) {
    const bool same_columns = answer_ && origin_ == origin && answer_->columns == answer->columns;
    answer_ = std::move(answer);
    origin_ = origin;
    table_.matching = {};
    if (!same_columns) {
      table_ = {};
      table_.hidden = empty_columns(*answer_, notes);
    }
    forms_.clear();
    for (const Note& note : notes) forms_.push_back({note.unit, note.bar, note.dashes});
    forms_.resize(answer_->columns.size());
    columns_ = columns_of(ui, *answer_, std::move(notes));
    order_rows();
  }
  const SqlResult& result = *answer_;
  const auto content = [&](std::size_t row, std::size_t column) {
    return cell_of(result.at(rows_[row], column), result.columns[column], forms_[column]);
  };
  std::optional<std::size_t> show_row;
  if (const auto wanted = std::exchange(show_, std::nullopt)) {
    const auto place = std::find(rows_.begin(), rows_.end(), *wanted);
    if (place != rows_.end()) show_row = static_cast<std::size_t>(place - rows_.begin());
  }
  const TableResult hand =
      table(ui, name, area, columns_, rows_.size(), content, table_,
            {.selected = [&](std::size_t row) { return selected ? selected(rows_[row]) : table_.cursor == row; },
             .show_row = show_row,
             .detached = [&]() -> TableContent {
               return [shared = answer_, rows = rows_, forms = forms_](std::size_t row, std::size_t column) {
                 return cell_of(shared->at(rows[row], column), shared->columns[column], forms[column]);
               };
             }});
  if (hand.sort_changed) order_rows();
  const auto of_answer = [&](const std::optional<std::size_t>& row) {
    return row ? std::optional<std::size_t>(rows_[*row]) : std::nullopt;
  };
  return {of_answer(hand.clicked), of_answer(hand.double_clicked)};
}

AnswerTable::Hand AnswerTable::draw(const PanelContext& context, std::string_view name, const Rect& area,
                                    std::shared_ptr<const Listing> listing) {
  std::vector<Note> notes;
  if (answer_.get() != &listing->rows) {
    for (const ListingColumn& column : listing->columns)
      notes.push_back({.title = column.title,
                       .tooltip = column.explanation,
                       .unit = column.unit,
                       .bar = column.bar,
                       .hides = true,
                       .aside = column.aside,
                       .dashes = true});
  }
  const auto selected = [&](std::size_t row) {
    return row < listing->targets.size() && is_selected(context.tab, listing->targets[row]);
  };
  const Hand hand = draw(context.ui, name, area, {listing, &listing->rows}, name, std::move(notes), selected);
  const std::optional<std::size_t> row = hand.double_clicked ? hand.double_clicked : hand.clicked;
  if (row && *row < listing->targets.size())
    select_target(context, listing->targets[*row], hand.double_clicked.has_value());
  return hand;
}

}  // namespace accelscope::app
