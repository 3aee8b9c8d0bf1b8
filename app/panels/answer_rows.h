// The rows of an answer as a table shows them: how a value is written, which order they stand in, which of them contain
// a text. No drawing; order_answer() may run on a worker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/worker_pool.h"
#include "core/sql/base/sql.h"
#include "render/widgets/table.h"

namespace accelscope::app {

// How the values of a column are shown.
struct AnswerForm {
  std::string unit;     // numbers are shown in the unit of their size: "ns", "B", as in figure_text.h
  bool bar = false;     // shares are bars
  bool dashes = false;  // what is missing is "–", as in tables of figures; else NULL
  bool operator==(const AnswerForm&) const = default;
};
[[nodiscard]] render::TableCell answer_cell(const SqlValue& value, std::string_view column, const AnswerForm& form);

struct AnswerQuestion {
  std::shared_ptr<const SqlResult> answer;
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

}  // namespace accelscope::app
