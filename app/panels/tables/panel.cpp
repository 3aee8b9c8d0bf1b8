#include "app/panels/panel.h"
#include "app/content/figure_text.h"
#include "app/content/sql/console.h"
#include "app/panels/answer_table.h"
#include "core/analysis/figures/terminology.h"
#include "core/analysis/memory/tensor_life.h"
#include "core/base/format.h"
#include "core/model/column_spec.h"
#include "core/names/short_names.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// The tables of a session that have no time, one at a time beside their list: sorted, filtered, exported; a row selects
// the events that it speaks of. A table of one row stands as fields with what they mean. Last in the list is the
// glossary: every figure and every column of the session in our own words.

// Where the tensor of a row lives over time: in which memory it lies, when it is moved, when something works on it.
// Over the stretch in which the session works.

class LifeStrip {
 public:
  // Units that it takes for what is known of the tensor; 0: nothing is.
  [[nodiscard]] float height(const PanelContext& context, const std::string& name, const EventFilter& events);
  void draw(const PanelContext& context, const Rect& area, const std::string& name);

 private:
  void draw_row(const PanelContext& context, Rect row, const std::string& label,
                const std::function<void(const Rect&)>& bars) const;

  struct LifeQuestion {
    TimeRange range;
    bool operator==(const LifeQuestion&) const = default;
  };
  FilteredAnswer<analysis::TensorLife, LifeQuestion> retained_;
  // Where it lies, in the pools of a state of the memory.
  struct Stays {
    std::shared_ptr<const analysis::MemoryUsage> usage;
    std::vector<analysis::TensorStay> all;
  };
  struct StaysQuestion {
    std::shared_ptr<const analysis::MemoryUsage> usage;
    std::string name;
    std::int64_t end_ns = 0;  // of the session
    bool operator==(const StaysQuestion&) const = default;
  };
  [[nodiscard]] bool any_events() const noexcept { return life_ && life_->events > 0; }
  [[nodiscard]] bool any_transfers() const noexcept { return any_events() && life_->transfers > 0; }
  [[nodiscard]] bool any_other_events() const noexcept { return any_events() && life_->events > life_->transfers; }
  [[nodiscard]] std::vector<std::uint32_t> pools() const;
  [[nodiscard]] const std::string& error() const noexcept {
    return retained_.error.empty() ? stays_retained_.error : retained_.error;
  }
  [[nodiscard]] std::string hint(const PanelContext& context) const;
  void take_response(const PanelContext& context, const Rect& plot, const TimeRange& range) const;

  RetainedAnswer<Stays, StaysQuestion> stays_retained_;
  std::shared_ptr<const analysis::TensorLife> life_;
  std::shared_ptr<const Stays> stays_;
};

class TablesPanel final : public Panel {
 public:
  explicit TablesPanel(WorkerPool& pool) : console_(pool) {}

  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] bool pending() const override { return console_.pending(); }

 private:
  struct Term {
    std::string name, title, place, unit, meaning;
  };
  void refresh(const session::SessionTab& tab);
  void choose(const PanelContext& context, std::string table);
  void draw_list(const PanelContext& context, const Rect& area);
  void draw_chosen(const PanelContext& context, Rect area);
  void draw_rows(const PanelContext& context, Rect area);
  void point_at_selection(const PanelContext& context);
  void draw_fields(const PanelContext& context, const Rect& area);
  void draw_glossary(const PanelContext& context, Rect area);
  void look_up(const Snapshot& snapshot, const session::LookedUpWord& word);
  void make_terms(const Snapshot& snapshot);
  void find_terms(const Snapshot& snapshot);
  void select_row(const PanelContext& context, std::size_t row) const;
  [[nodiscard]] const accelscope::Column* column_named(std::string_view name) const;

  content::SqlConsole console_;
  std::uint64_t version_ = ~std::uint64_t{0};  // of the snapshot that the list is of
  std::vector<content::FactTable> tables_;
  std::string asked_;         // in SQL
  content::FactTable shown_;  // that the answer is of, as it was when it was asked for
  std::string chosen_;        // "": none yet
  bool picked_ = false;       // by the user; else it is the first of the list, whatever has come before it
  std::shared_ptr<const Schema> schema_;
  AnswerTable rows_;
  LifeStrip life_;
  // What the selection speaks of: the row of its tensor or queue.
  std::optional<EventId> pointed_by_;
  std::optional<EventFilter> pointed_by_region_;
  std::shared_ptr<const content::SqlAnswer> pointed_in_;
  std::optional<std::size_t> pointed_row_;
  std::vector<std::size_t> fields_;  // columns of the answer's one row that have a value
  std::shared_ptr<const content::SqlAnswer> fields_of_;
  TableState fields_table_;
  std::string looked_for_;  // in the glossary
  std::vector<Term> terms_;
  std::vector<Term> added_terms_;  // words that were looked up and are no column of a schema
  std::size_t schemas_ = 0;        // that terms_ are of
  std::vector<std::uint32_t> found_terms_;
  std::string found_for_ = "\n";  // what found_terms_ were looked up for; nobody types a line's end
  TableState terms_table_;
};

constexpr std::size_t kLifeCells = 512, kMostStayRows = 2;
constexpr float kLifeHead = 26, kLifeRow = 16, kLifeFoot = 6, kLifeLabels = 130;

TimeRange life_range(const session::SessionTab& tab) {
  return tab.active.value_or(TimeRange{tab.snapshot->begin_ns, tab.snapshot->end_ns});
}

constexpr std::string_view kGlossary = "(glossary)";  // no table is called so
constexpr float kTablesList = 230, kTablesHead = 36;

[[nodiscard]] std::string text_of(const listing::SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return format_value(*real, "");
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "";
}

[[nodiscard]] std::string title_of(const accelscope::Column& column) {
  const std::string& title = column.title.empty() ? column.name : column.title;
  return column.unit.empty() || lower_case(title) == column.unit ? title : fmt::format("{} ({})", title, column.unit);
}

// Cheaply: whether a selection may be that of the row of this name.
[[nodiscard]] bool may_speak_of(const Snapshot& snapshot, const EventFilter& region, const std::string& name) {
  if (region.tracks.empty()) return region.terms.size() == 1 && region.terms[0].search.find(name) != std::string::npos;
  const TrackSnapshot* track = snapshot.find_track(region.tracks.front());
  return track != nullptr && track->track->name.starts_with(name);
}

// A figure is looked up by the family that it belongs to, "<engine>_engine_active_time", if it has no term of its own.
[[nodiscard]] std::string term_of(const std::string& word) {
  const analysis::FigureTerm* term = analysis::find_term(word);
  return term == nullptr ? word : std::string(term->name);
}

}  // namespace

std::vector<std::uint32_t> LifeStrip::pools() const {
  std::vector<std::uint32_t> pools;
  if (!stays_) return pools;
  for (const analysis::TensorStay& stay : stays_->all) {
    if (pools.empty() || pools.back() != stay.pool) pools.push_back(stay.pool);
  }
  pools.resize(std::min(pools.size(), kMostStayRows));
  return pools;
}

float LifeStrip::height(const PanelContext& context, const std::string& name, const EventFilter& events) {
  session::SessionAnalysis& analysis = context.analysis();
  const TimeRange range = life_range(context.tab);
  life_ = analysis.ask_of(retained_, events, LifeQuestion{range}, [range](const QueryContext& query) {
    return analysis::tensor_life(query, range, kLifeCells);
  });
  const StaysQuestion wanted{analysis.memory(), name, context.tab.snapshot->end_ns};
  stays_.reset();
  if (wanted.usage) {
    const auto found =
        analysis.ask(stays_retained_, wanted, {.ages = false, .tells_itself = true},
                     [wanted](const QueryContext&) -> FoundAnswer<Stays> {
                       return std::make_shared<const Stays>(
                           Stays{wanted.usage, analysis::tensor_stays(*wanted.usage, wanted.name, wanted.end_ns)});
                     });
    if (stays_retained_.value_key.name == name) stays_ = found;  // another tensor lies elsewhere
  }
  if (!error().empty()) return kLifeHead + kLifeFoot;
  const std::size_t rows = pools().size() + (any_transfers() ? 1 : 0) + (any_other_events() ? 1 : 0);
  return rows == 0 ? 0 : kLifeHead + kLifeFoot + kLifeRow * static_cast<float>(rows);
}

void LifeStrip::draw_row(const PanelContext& context, Rect row, const std::string& label,
                         const std::function<void(const Rect&)>& bars) const {
  Ui& ui = context.ui;
  draw_text(ui, row.cut_left(ui.px(kLifeLabels)), label, kLabelText);
  const Rect strip = row.inset(0, ui.px(2));
  fill(ui, strip, ui.colour(Colour::bg1));
  bars(strip);
}

std::string LifeStrip::hint(const PanelContext& context) const {
  if (retained_.stale()) return "looking ...";
  std::string text;
  if (any_transfers())
    text = fmt::format("{} of {}", counted(life_->transfers, "transfer"), format_bytes(life_->bytes));
  if (any_other_events()) text += (text.empty() ? "" : ", ") + counted(life_->events - life_->transfers, "other event");
  if (!any_events() || !life_->touched) return text;
  const std::int64_t start = context.tab.snapshot->begin_ns;
  const auto since = [&](std::int64_t ns) { return format_duration(ns - start); };
  return text + fmt::format(", {} to {}", since(life_->touched->begin_ns), since(life_->touched->end_ns));
}

void LifeStrip::draw(const PanelContext& context, const Rect& area, const std::string& name) {
  Ui& ui = context.ui;
  horizontal_line(ui, area.x0, area.x1, area.y0, ui.colour(Colour::line2));
  Rect rest = padded(ui, area);
  Rect head = rest.cut_top(ui.px(kLifeHead));
  if (!error().empty()) {
    ui.register_widget("tables.life_error", head);
    draw_icon(ui, head.cut_left(ui.px(20)), icon::kWarning, ui.colour(Colour::error));
    draw_text(ui, head, fmt::format("Where {} lives over time is not known: {}", name, error()),
              {.style = TextStyle::small, .colour = Colour::error, .fit = Fit::middle});
    return;
  }
  const TimeRange range = life_range(context.tab);
  heading(ui, head, name + " over time", hint(context));
  const auto x_of = [&](const Rect& strip, std::int64_t ns) {
    const double share =
        static_cast<double>(ns - range.begin_ns) / static_cast<double>(std::max<std::int64_t>(1, range.length_ns()));
    return strip.x0 + std::round(strip.width() * static_cast<float>(std::clamp(share, 0.0, 1.0)));
  };
  const Rect rows = rest;
  for (const std::uint32_t pool : pools()) {
    draw_row(context, rest.cut_top(ui.px(kLifeRow)), "in " + stays_->usage->pool(pool).name, [&](const Rect& strip) {
      for (const analysis::TensorStay& stay : stays_->all) {
        if (stay.pool != pool || !range.holds(stay.time.begin_ns, stay.time.end_ns)) continue;
        const float x0 = x_of(strip, stay.time.begin_ns);
        fill(ui, {x0, strip.y0, std::max(x0 + ui.px(1), x_of(strip, stay.time.end_ns)), strip.y1},
             ui.theme().area(ui.theme().slice(2)), size::kSliceRadius);
      }
    });
  }
  const auto cells = [&](const std::vector<bool>& of, unsigned slot) {
    return [&ui, &of, slot](const Rect& strip) {
      const auto count = static_cast<float>(of.size());
      for (std::size_t i = 0; i < of.size();) {
        if (!of[i]) {
          ++i;
          continue;
        }
        const std::size_t first = i;
        while (i < of.size() && of[i]) ++i;
        const float x0 = strip.x0 + std::floor(strip.width() * static_cast<float>(first) / count);
        const float x1 = strip.x0 + std::ceil(strip.width() * static_cast<float>(i) / count);
        fill(ui, {x0, strip.y0, std::max(x0 + ui.px(1), x1), strip.y1}, ui.theme().slice(slot));
      }
    };
  };
  constexpr unsigned kMovedSlot = 1, kUsedSlot = 0;
  if (any_transfers()) draw_row(context, rest.cut_top(ui.px(kLifeRow)), "moved", cells(life_->moved, kMovedSlot));
  if (any_other_events()) draw_row(context, rest.cut_top(ui.px(kLifeRow)), "worked on", cells(life_->used, kUsedSlot));
  take_response(context, {rows.x0 + ui.px(kLifeLabels), rows.y0, rows.x1, rest.y0}, range);
}

void LifeStrip::take_response(const PanelContext& context, const Rect& plot, const TimeRange& range) const {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const Interaction response =
      interact(ui, "tables.life", plot, {.keys = FocusStopKind::pointer, .label = "Life of the tensor"});
  if (!response.hovered) return;
  const double share =
      static_cast<double>(ui.input().mouse.x - plot.x0) / static_cast<double>(std::max(1.0F, plot.width()));
  const std::int64_t at = range.begin_ns + std::llround(share * static_cast<double>(range.length_ns()));
  tab.cursor_ns = at;
  vertical_line(ui, ui.input().mouse.x, plot.y0, plot.y1, ui.colour(Colour::accent));
  tooltip(ui, response, plot,
          fmt::format("{} since the start; double click shows the time of all its events",
                      format_duration(at - tab.snapshot->begin_ns)));
  if (response.double_clicked && any_events() && life_->touched)
    view::show_stretch(tab, life_->touched->begin_ns, life_->touched->end_ns);
}

void TablesPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  refresh(context.tab);
  (void)console_.update(context.tab);
  Rect rest = area;
  Rect list = rest.cut_left(std::min(ui.px(kTablesList), std::round(area.width() / 3)));
  vertical_line(ui, list.x1 - ui.px(1), list.y0, list.y1, ui.colour(Colour::line2));
  list.x1 -= ui.px(1);
  if (const auto word = std::exchange(context.tab.looked_up, std::nullopt)) look_up(*context.tab.snapshot, *word);
  const std::string first = tables_.empty() ? std::string(kGlossary) : tables_.front().name;
  if (!picked_ && chosen_ != first) choose(context, first);
  const auto grown = std::ranges::find_if(tables_, [&](const content::FactTable& each) {
    return each.name == chosen_ && each.name == shown_.name && each.rows != shown_.rows;
  });
  if (grown != tables_.end() && !console_.running()) choose(context, chosen_);
  draw_list(context, list);
  chosen_ == kGlossary ? draw_glossary(context, rest) : draw_chosen(context, rest);
}

void TablesPanel::refresh(const session::SessionTab& tab) {
  if (version_ == tab.snapshot->version) return;
  version_ = tab.snapshot->version;
  tables_ = content::fact_tables(*tab.snapshot);
  if (schemas_ != tab.snapshot->schemas.size()) terms_.clear();
  schemas_ = tab.snapshot->schemas.size();
}

void TablesPanel::choose(const PanelContext& context, std::string table) {
  chosen_ = std::move(table);
  pointed_row_.reset();
  if (chosen_ == kGlossary) return;
  const Snapshot& snapshot = *context.tab.snapshot;
  const auto known = std::ranges::find_if(tables_, [&](const auto& each) { return each.name == chosen_; });
  shown_ = known == tables_.end() ? content::FactTable{chosen_, chosen_, 0} : *known;
  const auto schema = std::ranges::find_if(snapshot.schemas, [&](const auto& each) { return each->name == chosen_; });
  schema_ = schema == snapshot.schemas.end() ? nullptr : *schema;
  asked_ = content::sql_of_table(snapshot, chosen_);
  console_.run(context.tab, asked_);
}

void TablesPanel::draw_list(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const float height = ui.px(size::kTableRow);
  ScrollArea scroll(ui, "tables.list", area, height * static_cast<float>(tables_.size() + 1) + ui.px(8));
  Rect rest = scroll.content();
  rest.cut_top(ui.px(4));
  std::optional<std::string> wanted;
  const auto entry = [&](const std::string& name, std::string_view title, const std::string& count) {
    Rect row = rest.cut_top(height);
    const Interaction response =
        interact(ui, "tables.list." + name, row, {.chosen = chosen_ == name, .group = "tables.list", .label = title});
    if (chosen_ == name || response.hovered)
      fill(ui, row, ui.colour(chosen_ == name ? Colour::accent_bg : Colour::bg3));
    if (response.pressed) wanted = name;
    row = padded(ui, row);
    const Rect number = row.cut_right(text_width(ui, TextStyle::mono_small, count));
    draw_text(ui, number, count, kMonoHintRight);
    row.cut_right(ui.px(6));
    draw_text(ui, row, title, {.fit = Fit::ellipsis});
  };
  for (const content::FactTable& table : tables_) entry(table.name, table.title, format_count(table.rows));
  entry(std::string(kGlossary), "Terminology", "");
  if (tables_.empty()) {
    rest.cut_top(ui.px(8));
    draw_paragraph(ui, padded(ui, rest),
                   "No table without time came with this session. Neuron profiles bring their program, tensors, queues "
                   "and device memory; Tracy files the totals of their zones.",
                   kHintText, ui.px(16));
  }
  if (!wanted) return;
  picked_ = true;
  choose(context, *wanted);
}

void TablesPanel::draw_chosen(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const Rect head = padded(ui, area.cut_top(ui.px(kTablesHead)));
  const content::SqlAnswer* answer = console_.answer();
  if (answer != nullptr && answer->sql != asked_) answer = nullptr;
  std::string hint = shown_.name;
  if (answer != nullptr && answer->result.truncated)
    hint = fmt::format("the first {} of {} rows", format_count(answer->result.row_count()), format_count(shown_.rows));
  heading(ui, head, shown_.title, hint);
  if (answer == nullptr) {
    empty_state(ui, "tables.loading", area, icon::kClock, "Reading the table.");
  } else if (!answer->error.empty()) {
    empty_state(ui, "tables.error", area, icon::kWarning, answer->error);
  } else if (answer->result.row_count() == 1) {
    draw_fields(context, area);
  } else {
    draw_rows(context, area);
  }
}

const accelscope::Column* TablesPanel::column_named(std::string_view name) const {
  if (schema_ == nullptr) return nullptr;
  const auto column = std::ranges::find_if(
      schema_->columns, [&](const accelscope::Column& each) { return table_column_name(*schema_, each.name) == name; });
  return column == schema_->columns.end() ? nullptr : &*column;
}

// The row that was chosen here, else that of the selected event: of what it is called, of the tensor that it names, or
// of the queue that it is on.
void TablesPanel::point_at_selection(const PanelContext& context) {
  const session::SessionTab& tab = context.tab;
  const EventRecord* event = tab.selected ? tab.events->find(*tab.selected) : nullptr;
  if (tab.selected && event == nullptr && !tab.region) return;  // it is being read
  if (pointed_by_ == tab.selected && pointed_by_region_ == tab.region && pointed_in_ == console_.shared_answer())
    return;
  pointed_by_ = tab.selected;
  pointed_by_region_ = tab.region;
  pointed_in_ = console_.shared_answer();
  pointed_row_.reset();
  std::vector<std::string> names;
  if (event != nullptr) {
    names.push_back(event->name_text);
    const auto tensor = event->lane->schema ? event->lane->schema->find(Role::tensor) : std::nullopt;
    if (tensor && *tensor < event->fields.size()) {
      if (const auto* text = std::get_if<std::string>(&event->fields[*tensor])) names.push_back(*text);
    }
    if (const TrackSnapshot* track = tab.snapshot->find_track(event->lane->track)) names.push_back(track->track->name);
  }
  const listing::SqlResult& rows = pointed_in_->result;
  for (std::size_t row = 0; row < rows.row_count() && !pointed_row_; ++row) {
    const std::string name = text_of(rows.at(row, 0));
    if (name.empty()) continue;
    const bool of_event = std::ranges::find(names, name) != names.end();
    const bool of_region = tab.region && may_speak_of(*tab.snapshot, *tab.region, name) &&
                           content::events_of_row(*tab.snapshot, name) == tab.region;
    if (of_region || (of_event && !tab.region)) pointed_row_ = row;
  }
  if (pointed_row_) rows_.show(*pointed_row_);
}

void TablesPanel::draw_rows(const PanelContext& context, Rect area) {
  if (schema_ != nullptr) point_at_selection(context);
  std::string life_of;
  Rect life;
  if (schema_ != nullptr && pointed_row_ && *pointed_row_ < console_.answer()->result.row_count()) {
    life_of = text_of(console_.answer()->result.at(*pointed_row_, 0));
    const auto events = content::events_of_row(*context.tab.snapshot, life_of);
    const float height = events ? context.ui.px(life_.height(context, life_of, *events)) : 0;
    // The table keeps most of the room.
    if (height > 0 && height < area.height() * 0.6F) life = area.cut_bottom(height);
  }
  std::vector<AnswerTable::Note> notes;
  for (const std::string& name : console_.answer()->result.columns) {
    const accelscope::Column* column = column_named(name);
    AnswerTable::Note& note = notes.emplace_back();
    note.hides = true;
    note.form.dashes = true;
    if (column != nullptr) {
      const bool has_form = Unit(column->unit).scales();  // else the head says it
      note.title = has_form && !column->title.empty() ? column->title : title_of(*column);
      note.tooltip = column->explanation;
      if (has_form) note.form.unit = column->unit;
    } else if (schema_ != nullptr && name == table_name_column(*schema_)) {
      note.title = "Name";
      note.tooltip = schema_->name_explanation;
    } else if (schema_ == nullptr) {
      note.title = name == "key" ? "Fact" : "Value";
    }
  }
  const AnswerTable::Response response =
      rows_.draw(context, "tables.rows", area, answer_rows(console_.shared_answer()), asked_, std::move(notes),
                 [this](std::size_t row) { return pointed_row_ == row; });
  if (!life.empty()) life_.draw(context, life, life_of);
  if (!response.clicked) return;
  if (schema_ == nullptr) pointed_row_ = response.clicked;  // facts speak of no events
  select_row(context, *response.clicked);
}

void TablesPanel::select_row(const PanelContext& context, std::size_t row) const {
  if (schema_ == nullptr) return;
  const std::string name = text_of(console_.answer()->result.at(row, 0));
  const std::optional<EventFilter> events = content::events_of_row(*context.tab.snapshot, name);
  if (!events) return context.actions.inform("This row has no name to find events by");
  context.tab.region = *events;
  context.actions.inform("Selected the events of " + name);
}

void TablesPanel::draw_fields(const PanelContext& context, const Rect& area) {
  const listing::SqlResult& result = console_.answer()->result;
  if (fields_of_ != console_.shared_answer()) {
    fields_of_ = console_.shared_answer();
    fields_table_ = {};
    fields_.clear();
    for (std::size_t column = 0; column < result.columns.size(); ++column) {
      if (!std::holds_alternative<std::monostate>(result.at(0, column))) fields_.push_back(column);
    }
  }
  const std::array<TableColumn, 3> columns = {{{.title = "Field", .width = 300, .sortable = false},
                                               {.title = "Value", .width = 300, .sortable = false},
                                               {.title = "Meaning", .sortable = false}}};
  const auto names_events = [&](std::size_t field) {
    return field == 0 && schema_ != nullptr && !text_of(result.at(0, 0)).empty();
  };
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const std::size_t field = fields_[row];
    const accelscope::Column* known = column_named(result.columns[field]);
    if (column == 0) {
      return {.text = known == nullptr ? result.columns[field] : title_of(*known),
              .style = TextStyle::body,
              .detail = known == nullptr ? "" : known->name,
              .data = result.columns[field]};
    }
    if (column == 1) return {.text = text_of(result.at(0, field)), .fit = Fit::middle, .link = names_events(field)};
    return {.text = known == nullptr ? "" : known->explanation, .colour = Colour::text3, .style = TextStyle::small};
  };
  const TableResult response =
      table(context.ui, "tables.fields", area, columns, fields_.size(), content, fields_table_);
  if (response.clicked_link && names_events(fields_[*response.clicked_link])) select_row(context, 0);
}

// By its name, else by its title; a word that the glossary does not have is added with what stands where it was asked.
void TablesPanel::look_up(const Snapshot& snapshot, const session::LookedUpWord& word) {
  chosen_ = kGlossary;
  picked_ = true;
  make_terms(snapshot);
  const auto knows = [&](const std::string& wanted) {
    return std::ranges::any_of(terms_, [lower = lower_case(wanted)](const Term& term) {
      return lower_case(term.name) == lower || lower_case(term.title) == lower;
    });
  };
  looked_for_ = term_of(word.name);
  if (word.title.empty() || knows(looked_for_)) return;
  looked_for_ = word.title;
  if (knows(word.title) || word.meaning.empty()) return;
  added_terms_.push_back({word.name, word.title, "column of a table", "", word.meaning});
  terms_.push_back(added_terms_.back());
  found_for_ = "\n";
}

void TablesPanel::make_terms(const Snapshot& snapshot) {
  if (terms_.empty()) {
    for (const analysis::FigureTerm& term : analysis::figure_terms()) {
      std::string meaning(term.text);
      if (!term.how.empty()) meaning += fmt::format(" Computed: {}", term.how);
      terms_.push_back(
          {std::string(term.name), "", "figure, " + std::string(term.group), std::string(term.unit), meaning});
    }
    for (const auto& schema : snapshot.schemas) {
      for (const accelscope::Column& column : schema->columns) {
        if (column.explanation.empty()) continue;
        terms_.push_back({column.name, column.title, table_title(schema->name), column.unit, column.explanation});
      }
    }
    terms_.insert(terms_.end(), added_terms_.begin(), added_terms_.end());
    found_for_ = "\n";
  }
}

void TablesPanel::find_terms(const Snapshot& snapshot) {
  make_terms(snapshot);
  if (found_for_ == looked_for_) return;
  found_for_ = looked_for_;
  found_terms_.clear();
  const std::string lower = lower_case(looked_for_);
  for (std::uint32_t i = 0; i < terms_.size(); ++i) {
    const Term& term = terms_[i];
    const bool any = std::ranges::any_of(std::array{&term.name, &term.title, &term.place, &term.meaning},
                                         [&](const std::string* text) { return contains_text(*text, lower); });
    if (any) found_terms_.push_back(i);
  }
}

void TablesPanel::draw_glossary(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  find_terms(*context.tab.snapshot);
  Rect head = padded(ui, area.cut_top(ui.px(kTablesHead)));
  text_input(ui, "tables.term", head.cut_right(ui.px(240)).middle(ui.px(size::kControl)), looked_for_,
             {.placeholder = "Word to look up", .icon = icon::kSearch});
  head.cut_right(ui.px(12));
  heading(ui, head, "Terminology",
          fmt::format("{} of {} terms", format_count(found_terms_.size()), format_count(terms_.size())));
  if (found_terms_.empty()) {
    if (empty_state(ui, "tables.no_term", area, icon::kSearch, "No term matches \"" + looked_for_ + "\".",
                    "Show all")) {
      looked_for_.clear();
    }
    return;
  }
  const std::array<TableColumn, 4> columns = {{{.title = "Term", .width = 330, .sortable = false},
                                               {.title = "Of", .width = 190, .sortable = false},
                                               {.title = "Unit", .width = 70, .sortable = false},
                                               {.title = "Meaning", .sortable = false}}};
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const Term& term = terms_[found_terms_[row]];
    switch (column) {
      case 0:
        return {.text = term.title.empty() ? term.name : term.title,
                .style = TextStyle::body,
                .detail = term.title.empty() ? "" : term.name,
                .data = term.name};
      case 1:
        return {.text = term.place, .colour = Colour::text2, .style = TextStyle::small};
      case 2:
        return {.text = term.unit, .colour = Colour::text2};
      default:
        return {.text = term.meaning, .colour = Colour::text2, .style = TextStyle::small, .exact = term.meaning};
    }
  };
  (void)table(ui, "tables.terms", area, columns, found_terms_.size(), content, terms_table_);
}

std::unique_ptr<Panel> make_tables_panel(const PanelParts& parts) { return std::make_unique<TablesPanel>(parts.pool); }

}  // namespace accelscope::app::panels
