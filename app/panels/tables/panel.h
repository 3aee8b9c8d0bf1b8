// The tables of a session that have no time, one at a time beside their list: sorted, filtered, exported; a row selects
// the events that it speaks of. A table of one row stands as fields with what they mean. Last in the list is the
// glossary: every figure and every column of the session in our own words.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/fact_tables.h"
#include "app/content/sql/console.h"
#include "app/panels/answer_table.h"
#include "app/panels/context.h"
#include "app/panels/tables/life_strip.h"
#include "render/widgets/table.h"

namespace accelscope::app {

class TablesPanel final : public Panel {
 public:
  explicit TablesPanel(WorkerPool& pool) : console_(pool) {}

  void draw(const PanelContext& context, const render::Rect& area) override;
  [[nodiscard]] bool pending() const override { return console_.pending(); }

 private:
  struct Term {
    std::string name, title, place, unit, meaning;
  };
  void refresh(const SessionTab& tab);
  void choose(const PanelContext& context, std::string table);
  void draw_list(const PanelContext& context, const render::Rect& area);
  void draw_chosen(const PanelContext& context, render::Rect area);
  void draw_rows(const PanelContext& context, render::Rect area);
  void point_at_selection(const PanelContext& context);
  void draw_fields(const PanelContext& context, const render::Rect& area);
  void draw_glossary(const PanelContext& context, render::Rect area);
  void look_up(const Snapshot& snapshot, const LookedUpWord& word);
  void make_terms(const Snapshot& snapshot);
  void find_terms(const Snapshot& snapshot);
  void select_row(const PanelContext& context, std::size_t row) const;
  [[nodiscard]] const accelscope::Column* column_named(std::string_view name) const;

  SqlConsole console_;
  std::uint64_t version_ = ~std::uint64_t{0};  // of the snapshot that the list is of
  std::vector<FactTable> tables_;
  std::string asked_;    // in SQL
  FactTable shown_;      // that the answer is of, as it was when it was asked for
  std::string chosen_;   // "": none yet
  bool picked_ = false;  // by the user; else it is the first of the list, whatever has come before it
  std::shared_ptr<const Schema> schema_;
  AnswerTable rows_;
  LifeStrip life_;
  // What the selection speaks of: the row of its tensor or queue.
  std::optional<EventId> pointed_by_;
  std::optional<EventFilter> pointed_by_region_;
  std::shared_ptr<const SqlAnswer> pointed_in_;
  std::optional<std::size_t> pointed_row_;
  std::vector<std::size_t> fields_;  // columns of the answer's one row that have a value
  std::shared_ptr<const SqlAnswer> fields_of_;
  render::TableState fields_table_;
  std::string looked_for_;  // in the glossary
  std::vector<Term> terms_;
  std::vector<Term> added_terms_;  // words that were looked up and are no column of a schema
  std::size_t schemas_ = 0;        // that terms_ are of
  std::vector<std::uint32_t> found_terms_;
  std::string found_for_ = "\n";  // what found_terms_ were looked up for; nobody types a line's end
  render::TableState terms_table_;
};

}  // namespace accelscope::app
