#include "app/panels/answer_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/panels/targets.h"
#include "render/widgets/states.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

using CellOf = std::function<TableCell(std::size_t row, std::size_t column)>;

std::vector<TableColumn> columns_of(const Ui& ui, const SqlResult& result, std::vector<AnswerTable::Note> notes,
                                    const CellOf& cell_of) {
  constexpr std::size_t kSampled = 100;
  constexpr float kLeast = 70, kMost = 360, kBarWidth = 48;
  std::vector<TableColumn> columns;
  for (std::size_t column = 0; column < result.columns.size(); ++column) {
    AnswerTable::Note& note = notes[column];
    std::string title = note.title.empty() ? result.columns[column] : note.title;
    bool numbers = true;
    float widest = text_width(ui, TextStyle::small_strong, title) + ui.px(34);
    for (std::size_t row = 0; row < std::min(result.row_count(), kSampled); ++row) {
      const SqlValue& value = result.at(row, column);
      if (std::holds_alternative<std::string>(value) || std::holds_alternative<SqlBlob>(value)) numbers = false;
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

void AnswerTable::take_answer(const Ui& ui, std::shared_ptr<const SqlResult> answer, std::string_view origin,
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

void AnswerTable::add_names(const SqlResult& result, std::size_t column) {
  for (std::size_t row = 0; row < result.row_count(); ++row) {
    if (const auto* name = std::get_if<std::string>(&result.at(row, column))) names_.add(*name);
  }
}

TableCell AnswerTable::cell_of(const SqlResult& result, std::size_t row, std::size_t column) {
  const SqlValue& value = result.at(row, column);
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
      kept_, wanted, {.ages = false, .tells_itself = true, .priority = priority},
      [wanted, earlier = shown_](const QueryContext& query) -> SessionAnalysis::Found<AnswerOrder> {
        auto order = std::make_shared<const AnswerOrder>(order_answer(wanted, earlier.get(), query.control));
        if (query.control.cancelled()) return cancelled_error();
        return order;
      });
  if (made && made != shown_ && made->of.answer == answer_) take_order(std::move(made));
}

void AnswerTable::take_order(std::shared_ptr<const AnswerOrder> order) {
  // What is selected stays so at its new place.
  if (shown_ && table_.cursor && *table_.cursor < shown_->rows.size() && shown_->of.answer == order->of.answer) {
    const auto place = std::find(order->rows.begin(), order->rows.end(), shown_->rows[*table_.cursor]);
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
    if (std::find(hidden.begin(), hidden.end(), false) == hidden.end()) hidden.clear();
    table_.hidden = std::move(hidden);
  }
  // While a capture runs a column gets its first value late.
  for (std::size_t column = 0; column < std::min(silent_.size(), table_.hidden.size()); ++column) {
    if (!silent_[column] || (table_.hidden[column] && shown_->empty[column])) continue;
    silent_[column] = table_.hidden[column] = false;
  }
}

AnswerTable::Hand AnswerTable::draw_shown(const PanelContext& context, std::string_view name, const Rect& whole,
                                          const std::function<bool(std::size_t row)>& selected) {
  const AnswerOrder& shown = *shown_;
  const SqlResult& result = *shown.of.answer;
  Rect area = whole;
  if (!kept_.error.empty()) {
    const Rect place = area.cut_top(banner_height(context.ui, area.width(), kept_.error)).inset(context.ui.px(8), 0);
    banner(context.ui, place, BannerKind::error, kept_.error);
  }
  constexpr float kFunnel = 21;  // right of the columns
  fit_columns(area.width() / context.ui.scale() - kFunnel);
  const auto content = [&](std::size_t row, std::size_t column) { return cell_of(result, shown.rows[row], column); };
  std::optional<std::size_t> show_row;
  if (show_ && shown.of.answer == answer_) {
    const auto place = std::find(shown.rows.begin(), shown.rows.end(), *std::exchange(show_, std::nullopt));
    if (place != shown.rows.end()) show_row = static_cast<std::size_t>(place - shown.rows.begin());
  }
  const TableResult hand =
      table(context.ui, name, area, columns_, shown.rows.size(), content, table_,
            {.selected = [&](std::size_t row) { return selected ? selected(shown.rows[row]) : table_.cursor == row; },
             .show_row = show_row,
             .finds_rows = true,
             .found_rows = shown.of.text.empty() ? nullptr : &shown.matching,
             .detached = [&]() -> TableContent {
               return [order = shown_, forms = forms_](std::size_t row, std::size_t column) {
                 const SqlResult& of = *order->of.answer;
                 return answer_cell(of.at(order->rows[row], column), of.columns[column], forms[column]);
               };
             }});
  if (hand.sort_changed) context.ui.request_frame();  // which asks for the new order
  const auto of_answer = [&](const std::optional<std::size_t>& row) {
    return row ? std::optional<std::size_t>(shown.rows[*row]) : std::nullopt;
  };
  return {of_answer(hand.clicked), of_answer(hand.double_clicked)};
}

void AnswerTable::prepare(const PanelContext& context, std::shared_ptr<const SqlResult> answer, std::string_view origin,
                          std::vector<Note> notes) {
  if (answer_ != answer) take_answer(context.ui, std::move(answer), origin, std::move(notes));
  order(context);
}

AnswerTable::Hand AnswerTable::draw(const PanelContext& context, std::string_view name, const Rect& area,
                                    std::shared_ptr<const SqlResult> answer, std::string_view origin,
                                    std::vector<Note> notes, const std::function<bool(std::size_t row)>& selected) {
  prepare(context, std::move(answer), origin, std::move(notes));
  if (!shown_) return {};
  const Hand hand = draw_shown(context, name, area, selected);
  return shown_->of.answer == answer_ ? hand : Hand{};
}

AnswerTable::Hand AnswerTable::draw(const PanelContext& context, std::string_view name, const Rect& area,
                                    std::shared_ptr<const Listing> listing) {
  std::vector<Note> notes;
  if (answer_.get() != &listing->rows) {
    for (const ListingColumn& column : listing->columns)
      notes.push_back({.title = column.title,
                       .tooltip = column.explanation,
                       .form = {.unit = column.unit, .bar = column.bar, .dashes = true},
                       .hides = true,
                       .aside = column.aside,
                       .names = column.names});
  }
  prepare(context, {listing, &listing->rows}, name, std::move(notes));
  if (!shown_) return {};
  if (shown_->of.answer == answer_) listing_ = std::move(listing);
  const std::vector<ListingTarget>& targets = listing_->targets;
  const Hand hand = draw_shown(context, name, area, [&](std::size_t row) {
    return row < targets.size() && is_selected(context.tab, targets[row]);
  });
  const std::optional<std::size_t> row = hand.double_clicked ? hand.double_clicked : hand.clicked;
  if (row && *row < targets.size()) select_target(context, targets[*row], hand.double_clicked.has_value());
  return shown_->of.answer == answer_ ? hand : Hand{};
}

}  // namespace accelscope::app
