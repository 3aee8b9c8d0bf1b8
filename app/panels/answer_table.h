// Rows of values as a table: as wide as what they hold, sorted as SQL orders, copied and exported. For answers in SQL
// and for listings.
//
//   const AnswerTable::Response hand = table_.draw(context, "sql.rows", area, answer_rows(console_.shared_answer()),
//   sql); if (hand.clicked) ...  // a row of the answer
//
// Short answers are sorted and filtered at once; long ones on a worker, and what was there stays until that is done.
#pragma once

#include "app/content/sql/console.h"
#include "app/panels/panel.h"
#include "core/base/worker_pool.h"
#include "core/listing/base/listing.h"
#include "core/names/short_names.h"
#include "core/sql/base/sql.h"

namespace accelscope::app::panels {

// The rows of an answer as a table shows them: how a value is written, which order they stand in, which of them contain
// a text. No drawing; order_answer() may run on a worker.

// How the values of a column are shown.
struct AnswerForm {
  std::string unit;     // numbers are shown in the unit of their size: "ns", "B", as in figure_text.h
  bool bar = false;     // shares are bars
  bool dashes = false;  // what is missing is "–", as in tables of figures; else NULL
  bool operator==(const AnswerForm&) const = default;
};
[[nodiscard]] render::TableCell answer_cell(const listing::SqlValue& value, std::string_view column,
                                            const AnswerForm& form);

struct AnswerQuestion {
  std::shared_ptr<const listing::SqlResult> answer;
  int column = -1;  // that it is sorted by; -1: as it came
  bool descending = true;
  std::string text;               // that rows shall contain, in any letter case; "": all
  std::vector<bool> hidden;       // columns in which the text is not looked for; empty: none
  std::vector<AnswerForm> forms;  // of columns: the text is looked for in what is shown
  bool operator==(const AnswerQuestion&) const = default;
};
struct AnswerOrder {
  AnswerQuestion of;
  std::vector<std::uint32_t> rows;      // of the answer, as they are shown
  std::vector<std::uint32_t> matching;  // places in `rows` that contain the text, ascending; only where there is one
  std::vector<bool> empty;              // columns in which no row says anything
};
// As SQL orders: nothing, then numbers, then texts, then bytes; equal ones stay as they came. `earlier`, an order of
// the same answer, saves what it has in common; may be null. Incomplete once cancelled.
[[nodiscard]] AnswerOrder order_answer(AnswerQuestion question, const AnswerOrder* earlier, const TaskControl& control);

class AnswerTable {
 public:
  static constexpr std::size_t kAtOnce = 1'000;  // rows that are sorted and looked through in the frame that wants it

  struct Note {
    std::string title;    // in place of the column's name; "": the name
    std::string tooltip;  // what it means
    AnswerForm form;
    bool hides = false;  // at first, where no row has a value
    bool aside = false;  // hidden at first
    bool names = false;  // short answers show names as short as they tell rows apart, whole on hover
  };
  // Rows of the answer that was given. While the one before it is still shown, nothing was clicked.
  struct Response {
    std::optional<std::size_t> clicked, double_clicked;
  };

  // Another answer of the same columns is sorted and filtered as the one before, if it has the same `origin`, such as
  // its SQL. notes: of the answer's columns, as many as there are, or none. selected: of rows; the one clicked last if
  // none.
  Response draw(const PanelContext& context, std::string_view name, const render::Rect& area,
                std::shared_ptr<const listing::SqlResult> answer, std::string_view origin, std::vector<Note> notes = {},
                const std::function<bool(std::size_t row)>& selected = {});
  // A listing: a click selects what the row speaks of, a double click zooms to it.
  Response draw(const PanelContext& context, std::string_view name, const render::Rect& area,
                std::shared_ptr<const listing::Listing> listing);
  void forget_cursor() { table_.cursor.reset(); }
  // Scrolls a row of the answer into sight when it is drawn next.
  void show(std::size_t row) { show_ = row; }

 private:
  void take_answer(const render::Ui& ui, std::shared_ptr<const listing::SqlResult> answer, std::string_view origin,
                   std::vector<Note> notes);
  void prepare(const PanelContext& context, std::shared_ptr<const listing::SqlResult> answer, std::string_view origin,
               std::vector<Note> notes);
  void order(const PanelContext& context);
  void take_order(std::shared_ptr<const AnswerOrder> order);
  void fit_columns(float width);  // in units
  void add_names(const listing::SqlResult& result, std::size_t column);
  [[nodiscard]] render::TableCell cell_of(const listing::SqlResult& result, std::size_t row, std::size_t column);
  // Rows of the answer that is shown.
  Response draw_shown(const PanelContext& context, std::string_view name, const render::Rect& whole,
                      const std::function<bool(std::size_t row)>& selected);

  std::shared_ptr<const listing::SqlResult> answer_;
  std::string origin_;
  std::vector<render::TableColumn> columns_;
  std::vector<float> natural_;                            // widths of columns, units, as wide as what they hold
  std::vector<AnswerForm> forms_;                         // of columns
  std::vector<bool> hides_, aside_;                       // columns, at first
  std::vector<bool> silent_;                              // columns, hidden as long as nothing has a value
  std::vector<bool> named_;                               // columns that names are shortened in
  ShortNames names_;                                      // of the answer that was given, all of its rows
  bool fresh_ = false;                                    // nothing has been hidden yet
  RetainedAnswer<AnswerOrder, AnswerQuestion> retained_;  // of long answers
  std::shared_ptr<const AnswerOrder> shown_;
  std::shared_ptr<const listing::Listing> listing_;  // that the shown answer is of, where it is one
  render::TableState table_;
  std::optional<std::size_t> show_;
};

// The rows of an answer, which they keep.
[[nodiscard]] inline std::shared_ptr<const listing::SqlResult> answer_rows(
    const std::shared_ptr<const content::SqlAnswer>& answer) {
  return {answer, &answer->result};
}

}  // namespace accelscope::app::panels
