// The tables of a session that have no time, one at a time beside their list: sorted, filtered, exported; a row selects
// the events that it speaks of. A table of one row stands as fields with what they mean. Last in the list is the
// glossary: every figure and every column of the session in our own words.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/fact_tables.h"
#include "app/content/sql/console.h"
#include "app/panels/answer_table.h"
#include "app/panels/context.h"
#include "app/session/analysis.h"
#include "core/analysis/memory/tensor_life.h"
#include "render/widgets/table.h"

namespace accelscope::app {

// Where the tensor of a row lives over time: in which memory it lies, when it is moved, when something works on it.
// Over the stretch in which the session works.

class LifeStrip {
 public:
  // Units that it takes for what is known of the tensor; 0: nothing is.
  [[nodiscard]] float height(const PanelContext& context, const std::string& name, const EventFilter& events);
  void draw(const PanelContext& context, const render::Rect& area, const std::string& name);

 private:
  void draw_row(const PanelContext& context, render::Rect row, const std::string& label,
                const std::function<void(const render::Rect&)>& bars) const;

  struct LifeQuestion {
    TimeRange range;
    bool operator==(const LifeQuestion&) const = default;
  };
  SessionAnalysis::Kept<TensorLife, SessionAnalysis::Filtered<LifeQuestion>> kept_;
  // Where it lies, in the pools of a state of the memory.
  struct Stays {
    std::shared_ptr<const MemoryUsage> usage;
    std::vector<TensorStay> all;
  };
  struct StaysQuestion {
    std::shared_ptr<const MemoryUsage> usage;
    std::string name;
    std::int64_t end_ns = 0;  // of the session
    bool operator==(const StaysQuestion&) const = default;
  };
  [[nodiscard]] bool any_events() const noexcept { return life_ && life_->events > 0; }
  [[nodiscard]] bool any_transfers() const noexcept { return any_events() && life_->transfers > 0; }
  [[nodiscard]] bool any_other_events() const noexcept { return any_events() && life_->events > life_->transfers; }
  [[nodiscard]] std::vector<std::uint32_t> pools() const;
  [[nodiscard]] const std::string& error() const noexcept {
    return kept_.error.empty() ? stays_kept_.error : kept_.error;
  }
  [[nodiscard]] std::string hint(const PanelContext& context) const;
  void take_hand(const PanelContext& context, const render::Rect& plot, const TimeRange& range) const;

  SessionAnalysis::Kept<Stays, StaysQuestion> stays_kept_;
  std::shared_ptr<const TensorLife> life_;
  std::shared_ptr<const Stays> stays_;
};

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
