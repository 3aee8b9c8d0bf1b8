// Questions in SQL: an editor with completion, what was asked before, saved and example queries, and the answer as a
// table whose rows select on the timeline.
#pragma once

#include <string>
#include <vector>

#include "app/content/sql/console.h"
#include "app/panels/answer_table.h"
#include "app/panels/context.h"
#include "app/persist/query_history.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

class SqlPanel final : public Panel {
 public:
  SqlPanel(WorkerPool& pool, QueryHistory& book) : console_(pool), book_(book) {}

  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] bool pending() const override { return console_.pending(); }

 private:
  void draw_tools(const PanelContext& context, render::Rect row);
  void draw_query_menu(const PanelContext& context);
  void draw_name(const PanelContext& context, render::Rect row);
  void draw_editor(const PanelContext& context, const render::Rect& area);
  void draw_candidates(const PanelContext& context, render::Rect area);
  void draw_answer(const PanelContext& context, render::Rect area);
  void draw_rows(const PanelContext& context, const render::Rect& area);
  void draw_answer_head(const PanelContext& context, const SqlAnswer& answer, render::Rect row);
  void draw_filtered(const PanelContext& context, render::Rect row);
  [[nodiscard]] EventFilter wanted_filter(const SessionTab& tab) const;
  void ask(const PanelContext& context);
  void insert_candidate(std::size_t index);
  void set_text(std::string sql);
  void show_row(const PanelContext& context, std::size_t row, bool fit) const;

  SqlConsole console_;
  QueryHistory& book_;
  std::string text_ = example_queries().front().sql;
  render::TextCaret caret_;
  bool focus_now_ = false;
  bool typing_ = false;  // the editor has the keyboard
  SqlCompletion completion_;
  std::size_t candidate_ = 0;
  bool candidates_hidden_ = false;  // Esc; until something else is typed
  bool filtered_ = true;            // queries see what passes the filter of the session, where there is one
  bool naming_ = false;
  std::string name_;
  AnswerTable table_;
};

}  // namespace accelscope::app
