// The rows of an answer in SQL as a table: as wide as what they hold, sorted as SQL orders, copied and exported.
//
//   const AnswerTable::Hand hand = table_.draw(ui, "sql.rows", area, console_.shared_answer());
//   if (hand.clicked) ...  // a row of the answer
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/sql/console.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class AnswerTable {
 public:
  struct Note {
    std::string title;    // in place of the column's name; "": the name
    std::string tooltip;  // what it means
    bool hides = false;   // at first, where no row has a value
  };
  struct Hand {
    std::optional<std::size_t> clicked, double_clicked;
  };

  // Another answer of the same columns is sorted and filtered as the one before. notes: of the
  // answer's columns, as many as there are, or none.
  Hand draw(render::Ui& ui, std::string_view name, const render::Rect& area, std::shared_ptr<const SqlAnswer> answer,
            std::vector<Note> notes = {});
  void forget_cursor() { table_.cursor.reset(); }

 private:
  void order_rows();

  std::shared_ptr<const SqlAnswer> answer_;
  std::vector<std::uint32_t> rows_;  // of the answer, as they are shown
  std::vector<render::TableColumn> columns_;
  render::TableState table_;
};

}  // namespace accelscope::app
