#include "app/panels/answer_table.h"

#include <numeric>
#include <variant>

#include "core/base/format.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

bool is_number(const listing::SqlValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool is_null(const listing::SqlValue& value) { return std::holds_alternative<std::monostate>(value); }

// Times, sizes and counts are read in groups of three digits; ids and addresses are copied, so they are plain.
bool grouped(std::string_view column) {
  return column != "id" && !column.ends_with("_id") && column.find("address") == std::string_view::npos &&
         column != "line";
}

double number_of(const listing::SqlValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

// A number in the unit of its size, exact on hover.
TableCell figure_cell(const listing::SqlValue& value, const AnswerForm& form) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const std::string digits = integer != nullptr ? std::to_string(*integer) : fmt::format("{}", number_of(value));
  const bool is_plain = form.unit.empty() || form.unit == Unit::share;
  TableCell cell{.text = format_value(number_of(value), form.unit),
                 .exact = is_plain ? digits : fmt::format("{} {}", digits, form.unit),
                 .data = digits};
  if (form.bar) cell.bar = std::clamp(number_of(value), 0.0, 1.0);
  return cell;
}

// As SQL orders: nothing, then numbers, then texts, then bytes.
int rank(const listing::SqlValue& value) {
  return is_null(value) ? 0 : is_number(value) ? 1 : static_cast<int>(value.index());
}

bool less(const listing::SqlValue& a, const listing::SqlValue& b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (is_null(a)) return false;
  if (!is_number(a)) return a.index() == 3 ? std::get<std::string>(a) < std::get<std::string>(b) : false;
  const auto* ia = std::get_if<std::int64_t>(&a);
  const auto* ib = std::get_if<std::int64_t>(&b);
  if (ia != nullptr && ib != nullptr) return *ia < *ib;
  return number_of(a) < number_of(b);
}

bool is_empty_text(const listing::SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return is_null(value) || (text != nullptr && text->empty());
}

std::vector<bool> silent_columns(const listing::SqlResult& result) {
  std::vector<bool> empty(result.columns.size(), true);
  for (std::size_t column = 0; column < empty.size(); ++column) {
    for (std::size_t row = 0; row < result.row_count() && empty[column]; ++row)
      empty[column] = is_empty_text(result.at(row, column));
  }
  return empty;
}

std::vector<std::uint32_t> ordered_rows(const AnswerQuestion& question) {
  const listing::SqlResult& result = *question.answer;
  std::vector<std::uint32_t> rows(result.row_count());
  std::iota(rows.begin(), rows.end(), 0U);
  if (question.column < 0 || static_cast<std::size_t>(question.column) >= result.columns.size()) return rows;
  const auto column = static_cast<std::size_t>(question.column);
  const bool descending = question.descending;
  std::ranges::stable_sort(rows, [&](std::uint32_t a, std::uint32_t b) {
    return descending ? less(result.at(b, column), result.at(a, column))
                      : less(result.at(a, column), result.at(b, column));
  });
  return rows;
}

bool row_contains(const AnswerQuestion& question, std::size_t row, std::string_view lower_text) {
  const listing::SqlResult& result = *question.answer;
  for (std::size_t column = 0; column < result.columns.size(); ++column) {
    if (column < question.hidden.size() && question.hidden[column]) continue;
    const TableCell cell = answer_cell(result.at(row, column), result.columns[column], question.forms[column]);
    if (contains_text(cell.text, lower_text)) return true;
  }
  return false;
}

using CellOf = std::function<TableCell(std::size_t row, std::size_t column)>;

std::vector<TableColumn> columns_of(const Ui& ui, const listing::SqlResult& result,
                                    std::vector<AnswerTable::Note> notes, const CellOf& cell_of) {
  constexpr std::size_t kSampled = 100;
  constexpr float kLeast = 70, kMost = 360, kBarWidth = 48;
  std::vector<TableColumn> columns;
  for (std::size_t column = 0; column < result.columns.size(); ++column) {
    AnswerTable::Note& note = notes[column];
    std::string title = note.title.empty() ? result.columns[column] : note.title;
    bool numbers = true;
    float widest = text_width(ui, TextStyle::small_strong, title) + ui.px(34);
    for (std::size_t row = 0; row < std::min(result.row_count(), kSampled); ++row) {
      const listing::SqlValue& value = result.at(row, column);
      if (std::holds_alternative<std::string>(value) || std::holds_alternative<listing::SqlBlob>(value))
        numbers = false;
      const TableCell cell = cell_of(row, column);
      widest = std::max(widest, text_width(ui, cell.style, cell.text) + ui.px(20));
    }
    if (note.form.bar) widest += ui.px(kBarWidth);
    columns.push_back({.title = std::move(title),
                       .width = std::clamp(widest / ui.px(1), kLeast, kMost),
                       .align = numbers ? Align::right : Align::left,
                       .tooltip = std::move(note.tooltip),
                       .data_title = result.columns[column]});
  }
  return columns;
}

}  // namespace

TableCell answer_cell(const listing::SqlValue& value, std::string_view column, const AnswerForm& form) {
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
  if (const auto* blob = std::get_if<listing::SqlBlob>(&value)) {
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

void AnswerTable::take_answer(const Ui& ui, std::shared_ptr<const listing::SqlResult> answer, std::string_view origin,
                              std::vector<Note> notes) {
  const bool same_columns = answer_ && origin_ == origin && answer_->columns == answer->columns;
  answer_ = std::move(answer);
  origin_ = origin;
  notes.resize(answer_->columns.size());
  if (!same_columns) {
    table_ = {};
    shown_.reset();
    listing_.reset();
    fresh_ = true;
  }
  forms_.clear();
  hides_.clear();
  aside_.clear();
  named_.clear();
  names_ = {};
  for (const Note& note : notes) {
    forms_.push_back(note.form);
    hides_.push_back(note.hides);
    aside_.push_back(note.aside);
    named_.push_back(note.names && answer_->row_count() <= kAtOnce);
    if (named_.back()) add_names(*answer_, named_.size() - 1);
  }
  columns_ = columns_of(ui, *answer_, std::move(notes),
                        [this](std::size_t row, std::size_t column) { return cell_of(*answer_, row, column); });
  natural_.clear();
  for (const TableColumn& column : columns_) natural_.push_back(column.width);
}

void AnswerTable::add_names(const listing::SqlResult& result, std::size_t column) {
  for (std::size_t row = 0; row < result.row_count(); ++row) {
    if (const auto* name = std::get_if<std::string>(&result.at(row, column))) names_.add(*name);
  }
}

TableCell AnswerTable::cell_of(const listing::SqlResult& result, std::size_t row, std::size_t column) {
  const listing::SqlValue& value = result.at(row, column);
  TableCell cell = answer_cell(value, result.columns[column], forms_[column]);
  const auto* name = std::get_if<std::string>(&value);
  if (name == nullptr || !named_[column]) return cell;
  cell.text = names_.usual(*name);
  if (cell.text != *name) cell.exact = *name;
  return cell;
}

// Numbers are never cut: names give way where there is little room, and the first of them has what is left over, so
// that numbers stand together.
void AnswerTable::fit_columns(float width) {
  constexpr float kLeastName = 200, kLeastOther = 110;
  float needed = 0, spare = 0;
  std::optional<std::size_t> first_name, last;
  const auto at = [](const std::vector<float>& of, std::size_t i) { return i < of.size() ? of[i] : 0.0F; };
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i < table_.hidden.size() && table_.hidden[i]) continue;
    last = i;
    const bool dragged = at(table_.widths, i) > 0, is_name = columns_[i].align == Align::left;
    needed += dragged ? at(table_.widths, i) : std::max(natural_[i], at(table_.needed, i));
    if (dragged || !is_name) continue;
    if (!first_name) first_name = i;
    spare += std::max(0.0F, natural_[i] - (first_name == i ? kLeastName : kLeastOther));
  }
  const float given = spare > 0 ? std::clamp((needed - width) / spare, 0.0F, 1.0F) : 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool is_name = columns_[i].align == Align::left;
    const float least = first_name == i ? kLeastName : kLeastOther;
    columns_[i].width = natural_[i] - (is_name ? given * std::max(0.0F, natural_[i] - least) : 0);
  }
  const bool ends_in_number = last && columns_[*last].align == Align::right;
  if (first_name && ends_in_number) columns_[*first_name].width += std::max(0.0F, width - needed);
}

void AnswerTable::order(const PanelContext& context) {
  AnswerQuestion wanted{answer_, table_.sort_column, table_.descending, table_.filter, {}, forms_};
  if (!wanted.text.empty()) wanted.hidden = table_.hidden;
  if (answer_->row_count() <= kAtOnce) {
    if (!shown_ || shown_->of != wanted)
      take_order(std::make_shared<const AnswerOrder>(order_answer(std::move(wanted), shown_.get(), TaskControl())));
    return;
  }
  // What takes longer than somebody waits for a key is no work for the threads of the next frame.
  constexpr std::size_t kSoon = 200'000;
  const Priority priority = answer_->row_count() <= kSoon ? Priority::drawing : Priority::question;
  auto made = context.analysis().ask(
      retained_, wanted, {.ages = false, .tells_itself = true, .priority = priority},
      [wanted, earlier = shown_](const QueryContext& query) -> FoundAnswer<AnswerOrder> {
        auto order = std::make_shared<const AnswerOrder>(order_answer(wanted, earlier.get(), query.control));
        if (query.control.cancelled()) return cancelled_error();
        return order;
      });
  if (made && made != shown_ && made->of.answer == answer_) take_order(std::move(made));
}

void AnswerTable::take_order(std::shared_ptr<const AnswerOrder> order) {
  // What is selected stays so at its new place.
  if (shown_ && table_.cursor && *table_.cursor < shown_->rows.size() && shown_->of.answer == order->of.answer) {
    const auto place = std::ranges::find(order->rows, shown_->rows[*table_.cursor]);
    table_.cursor = static_cast<std::size_t>(place - order->rows.begin());
  }
  shown_ = std::move(order);
  if (std::exchange(fresh_, false)) {
    std::vector<bool> hidden(hides_.size());
    silent_.assign(hides_.size(), false);
    for (std::size_t column = 0; column < hidden.size(); ++column) {
      silent_[column] = hides_[column] && !aside_[column] && shown_->empty[column];
      hidden[column] = silent_[column] || aside_[column];
    }
    if (std::ranges::find(hidden, false) == hidden.end()) hidden.clear();
    table_.hidden = std::move(hidden);
  }
  // While a capture runs a column gets its first value late.
  for (std::size_t column = 0; column < std::min(silent_.size(), table_.hidden.size()); ++column) {
    if (!silent_[column] || (table_.hidden[column] && shown_->empty[column])) continue;
    silent_[column] = table_.hidden[column] = false;
  }
}

AnswerTable::Response AnswerTable::draw_shown(const PanelContext& context, std::string_view name, const Rect& whole,
                                              const std::function<bool(std::size_t row)>& selected) {
  const AnswerOrder& shown = *shown_;
  const listing::SqlResult& result = *shown.of.answer;
  Rect area = whole;
  if (!retained_.error.empty()) {
    const Rect place =
        area.cut_top(banner_height(context.ui, area.width(), retained_.error)).inset(context.ui.px(8), 0);
    banner(context.ui, place, BannerKind::error, retained_.error);
  }
  constexpr float kFunnel = 21;  // right of the columns
  fit_columns(area.width() / context.ui.scale() - kFunnel);
  const auto content = [&](std::size_t row, std::size_t column) { return cell_of(result, shown.rows[row], column); };
  std::optional<std::size_t> show_row;
  if (show_ && shown.of.answer == answer_) {
    const auto place = std::ranges::find(shown.rows, *std::exchange(show_, std::nullopt));
    if (place != shown.rows.end()) show_row = static_cast<std::size_t>(place - shown.rows.begin());
  }
  const TableResult response =
      table(context.ui, name, area, columns_, shown.rows.size(), content, table_,
            {.selected = [&](std::size_t row) { return selected ? selected(shown.rows[row]) : table_.cursor == row; },
             .show_row = show_row,
             .finds_rows = true,
             .found_rows = shown.of.text.empty() ? nullptr : &shown.matching,
             .detached = [&]() -> TableContent {
               return [order = shown_, forms = forms_](std::size_t row, std::size_t column) {
                 const listing::SqlResult& of = *order->of.answer;
                 return answer_cell(of.at(order->rows[row], column), of.columns[column], forms[column]);
               };
             }});
  if (response.sort_changed) context.ui.request_frame();  // which asks for the new order
  const auto of_answer = [&](const std::optional<std::size_t>& row) {
    return row ? std::optional<std::size_t>(shown.rows[*row]) : std::nullopt;
  };
  return {of_answer(response.clicked), of_answer(response.double_clicked)};
}

void AnswerTable::prepare(const PanelContext& context, std::shared_ptr<const listing::SqlResult> answer,
                          std::string_view origin, std::vector<Note> notes) {
  if (answer_ != answer) take_answer(context.ui, std::move(answer), origin, std::move(notes));
  order(context);
}

AnswerTable::Response AnswerTable::draw(const PanelContext& context, std::string_view name, const Rect& area,
                                        std::shared_ptr<const listing::SqlResult> answer, std::string_view origin,
                                        std::vector<Note> notes, const std::function<bool(std::size_t row)>& selected) {
  prepare(context, std::move(answer), origin, std::move(notes));
  if (!shown_) return {};
  const Response response = draw_shown(context, name, area, selected);
  return shown_->of.answer == answer_ ? response : Response{};
}

AnswerTable::Response AnswerTable::draw(const PanelContext& context, std::string_view name, const Rect& area,
                                        std::shared_ptr<const listing::Listing> listing) {
  std::vector<Note> notes;
  if (answer_.get() != &listing->rows) {
    for (const listing::ListingColumn& column : listing->columns)
      notes.push_back({.title = column.title,
                       .tooltip = column.explanation,
                       .form = {.unit = column.unit, .bar = column.look.bar, .dashes = true},
                       .hides = true,
                       .aside = column.look.aside,
                       .names = column.look.names});
  }
  prepare(context, {listing, &listing->rows}, name, std::move(notes));
  if (!shown_) return {};
  if (shown_->of.answer == answer_) listing_ = std::move(listing);
  const std::vector<listing::ListingTarget>& targets = listing_->targets;
  const Response response = draw_shown(context, name, area, [&](std::size_t row) {
    const bool leads = row < targets.size() && !std::holds_alternative<std::monostate>(targets[row]);
    if (leads) return is_selected(context.tab, targets[row]);
    return table_.cursor && *table_.cursor < shown_->rows.size() && shown_->rows[*table_.cursor] == row;
  });
  const std::optional<std::size_t> row = response.double_clicked ? response.double_clicked : response.clicked;
  if (row && *row < targets.size()) select_target(context, targets[*row], response.double_clicked.has_value());
  return shown_->of.answer == answer_ ? response : Response{};
}

}  // namespace accelscope::app::panels
