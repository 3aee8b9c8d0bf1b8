// Rows of values as a table: as wide as what they hold, sorted as SQL orders, copied and exported. For answers in SQL
// and for listings.
//
//   const AnswerTable::Hand hand = table_.draw(ui, "sql.rows", area, answer_rows(console_.shared_answer()));
//   if (hand.clicked) ...  // a row of the answer
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/listings/listing.h"
#include "app/content/sql/console.h"
#include "app/panels/context.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class AnswerTable {
 public:
  struct Note {
    std::string title;    // in place of the column's name; "": the name
    std::string tooltip;  // what it means
    std::string unit;     // numbers are shown in the unit of their size: "ns", "B", as in figure_text.h
    bool bar = false;     // shares are bars
    bool hides = false;   // at first, where no row has a value
    bool aside = false;   // hidden at first
    bool dashes = false;  // what is missing is "–", as in tables of figures; else NULL
  };
  // How the values of a column are shown: as its note says.
  struct Form {
    std::string unit;
    bool bar = false, dashes = false;
  };
  struct Hand {
    std::optional<std::size_t> clicked, double_clicked;
  };

  // Another answer of the same columns is sorted and filtered as the one before, if it has the same `origin`, such as
  // its SQL. notes: of the answer's columns, as many as there are, or none. selected: of rows; the one clicked last if
  // none.
  Hand draw(render::Ui& ui, std::string_view name, const render::Rect& area, std::shared_ptr<const SqlResult> answer,
            std::string_view origin, std::vector<Note> notes = {},
            const std::function<bool(std::size_t row)>& selected = {});
  // A listing: a click selects what the row speaks of, a double click zooms to it.
  Hand draw(const PanelContext& context, std::string_view name, const render::Rect& area,
            std::shared_ptr<const Listing> listing);
  void forget_cursor() { table_.cursor.reset(); }
  // Scrolls a row of the answer into sight when it is drawn next.
  void show(std::size_t row) { show_ = row; }

 private:
  void order_rows();

  std::shared_ptr<const SqlResult> answer_;
  std::string origin_;
  std::vector<std::uint32_t> rows_;  // of the answer, as they are shown
  std::vector<render::TableColumn> columns_;
  std::vector<Form> forms_;  // of columns
  render::TableState table_;
  std::optional<std::size_t> show_;
};

// The rows of an answer, which they keep.
[[nodiscard]] inline std::shared_ptr<const SqlResult> answer_rows(const std::shared_ptr<const SqlAnswer>& answer) {
  return {answer, &answer->result};
}

}  // namespace accelscope::app
