#include <sstream>

#include "app/content/sql/console.h"
#include "app/panels/answer_table.h"
#include "app/panels/panel.h"
#include "core/listing/base/write.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// Questions in SQL: an editor with completion, what was asked before, saved and example queries, and the answer as a
// table whose rows select on the timeline.
class SqlPanel final : public Panel {
 public:
  SqlPanel(WorkerPool& pool, persist::QueryHistory& book) : console_(pool), book_(book) {}

  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] bool pending() const override { return console_.pending(); }

 private:
  void draw_tools(const PanelContext& context, Rect row);
  void draw_query_menu(const PanelContext& context);
  void draw_name(const PanelContext& context, Rect row);
  void draw_editor(const PanelContext& context, const Rect& area);
  void draw_candidates(const PanelContext& context, Rect area);
  void draw_answer(const PanelContext& context, Rect area);
  void draw_rows(const PanelContext& context, const Rect& area);
  void draw_answer_head(const PanelContext& context, const content::SqlAnswer& answer, Rect row);
  void draw_filtered(const PanelContext& context, Rect row);
  [[nodiscard]] EventFilter wanted_filter(const session::SessionTab& tab) const;
  void ask(const PanelContext& context);
  void insert_candidate(std::size_t index);
  void set_text(std::string sql);
  void show_row(const PanelContext& context, std::size_t row, bool fit) const;

  content::SqlConsole console_;
  persist::QueryHistory& book_;
  std::string text_ = persist::example_queries().front().sql;
  TextCaret caret_;
  bool focus_now_ = false;
  bool typing_ = false;  // the editor has the keyboard
  content::SqlCompletion completion_;
  std::size_t candidate_ = 0;
  bool candidates_hidden_ = false;  // Esc; until something else is typed
  bool filtered_ = true;            // queries see what passes the filter of the session, where there is one
  bool naming_ = false;
  std::string name_;
  AnswerTable table_;
};

constexpr float kEditorShare = 0.42F, kWideAspect = 2.2F;
constexpr float kStackedEditor = 150, kCandidates = 210, kTools = 34, kAnswerHead = 30;
constexpr std::string_view kExamplePrefix = "example:", kSavedPrefix = "saved:", kHistoryPrefix = "run:",
                           kForgetPrefix = "forget:";

std::string first_line(const std::string& sql) {
  std::string line = sql;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return shorten_middle(line, 70);
}

std::string as_text(const listing::SqlResult& result, std::string_view format) {
  std::ostringstream out;
  const auto output = listing::make_query_output(format, out);
  (void)output->columns(result.columns);
  std::vector<listing::SqlValue> row;
  for (std::size_t i = 0; i < result.row_count(); ++i) {
    row.assign(result.cells.begin() + static_cast<std::ptrdiff_t>(i * result.columns.size()),
               result.cells.begin() + static_cast<std::ptrdiff_t>((i + 1) * result.columns.size()));
    (void)output->row(row);
  }
  output->finish();
  return out.str();
}

void show_place(session::SessionTab& tab, const PanelActions& actions, const content::SqlRowPlace& place, bool fit) {
  if (place.event) {
    tab.chosen_in = session::ChosenIn::sql;
    view::select_event(tab, *place.event);
    actions.reveal(*place.event);
    if (fit) {
      tab.events->when_known(session::EventIntent::view, {*place.event}, [&tab, id = *place.event] {
        if (const EventRecord* event = tab.events->find(id)) view::show_stretch(tab, event->begin_ns, event->end_ns);
      });
    }
  } else if (place.begin_ns) {
    const std::int64_t half = static_cast<std::int64_t>(tab.view.span_ns() / 2);
    const bool long_enough = place.end_ns && *place.end_ns > *place.begin_ns;
    long_enough ? view::show_stretch(tab, *place.begin_ns, *place.end_ns)
                : tab.show({static_cast<double>(*place.begin_ns - half), static_cast<double>(*place.begin_ns + half)});
  } else if (fit) {
    actions.inform("This row names neither an event (id) nor a time (ts_ns)");
  }
}

std::string summary_of(const content::SqlAnswer& answer) {
  const std::size_t rows = answer.result.row_count();
  std::string text = counted(rows, "row");
  if (answer.result.truncated) text = "The first " + text + "; there are more";
  return text + "  in " + format_duration(answer.seconds * 1e9);
}

}  // namespace

void SqlPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  if (const auto query = std::exchange(context.tab.asked_query, std::nullopt)) {
    set_text(*query);
    ask(context);
  }
  (void)console_.update(context.tab);
  if (console_.running()) ui.request_frame_after(0.1);  // for the share that is done
  Rect rest = area;
  const bool side_by_side = area.width() > kWideAspect * area.height();
  Rect left = side_by_side ? rest.cut_left(std::round(rest.width() * kEditorShare))
                           : rest.cut_top(std::min(ui.px(kStackedEditor + kTools), rest.height() / 2));
  if (side_by_side) {
    vertical_line(ui, left.x1 - ui.px(1), left.y0, left.y1, ui.colour(Colour::line2));
    left.x1 -= ui.px(1);
  }
  const Rect tools = padded(ui, left.cut_top(ui.px(kTools)));
  naming_ ? draw_name(context, tools) : draw_tools(context, tools);
  Rect inner = padded(ui, left);
  inner.y1 -= ui.px(8);
  completion_ = content::complete_sql(text_, caret_.at, console_.tables());
  const bool room = inner.width() > ui.px(2 * kCandidates);
  if (room) draw_candidates(context, inner.cut_right(ui.px(kCandidates)));
  draw_editor(context, inner);
  draw_answer(context, rest);
}

void SqlPanel::draw_tools(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  const auto place = [&](const ButtonOptions& options) {
    const Rect rect = row.cut_left(button_width(ui, options)).middle(ui.px(size::kControl));
    row.cut_left(ui.px(8));
    return rect;
  };
  if (console_.running()) {
    const ButtonOptions stop{.label = "Cancel", .icon = icon::kStop};
    if (button(ui, "sql.cancel", place(stop), stop)) console_.cancel();
    const double share = console_.share();
    draw_text(ui, row, share < 0 ? std::string("Running") : fmt::format("Running  {}", format_share(share)),
              {.colour = Colour::text2});
    return;
  }
  const ButtonOptions run{.label = "Run",
                          .icon = icon::kPlay,
                          .kind = ButtonKind::primary,
                          .disabled = text_.empty(),
                          .tooltip = "Run the query",
                          .shortcut = "Ctrl+Enter"};
  if (button(ui, "sql.run", place(run), run)) ask(context);
  const ButtonOptions queries{.label = "Queries", .icon = icon::kList, .tooltip = "Examples, saved ones, earlier ones"};
  const Rect queries_rect = place(queries);
  if (button(ui, "sql.queries", queries_rect, queries)) open_menu_below(ui, "sql.book", queries_rect);
  draw_query_menu(context);
  const ButtonOptions save{
      .label = "Save", .icon = icon::kSave, .disabled = text_.empty(), .tooltip = "Keep this query under a name"};
  if (button(ui, "sql.save", place(save), save)) {
    naming_ = true;
    name_.clear();
    focus_now_ = true;
  }
  draw_filtered(context, row);
}

// Whether queries see the filter; there only while there is one.
void SqlPanel::draw_filtered(const PanelContext& context, Rect row) {
  if (context.tab.choices.filter.empty()) return;
  Ui& ui = context.ui;
  const std::string_view label = "Filtered";
  const Rect place = row.cut_left(checkbox_width(ui, label)).middle(ui.px(size::kControl));
  if (checkbox(ui, "sql.filtered", place, label, filtered_) && console_.answer() != nullptr) ask(context);
}

EventFilter SqlPanel::wanted_filter(const session::SessionTab& tab) const {
  return filtered_ ? tab.choices.filter : EventFilter{};
}

void SqlPanel::draw_query_menu(const PanelContext& context) {
  if (!menu_is_open("sql.book")) return;
  constexpr std::size_t kShownHistory = 15;
  MenuItem examples{.id = "", .label = "Examples"};
  for (const persist::NamedQuery& query : persist::example_queries()) {
    examples.children.push_back({.id = std::string(kExamplePrefix) + query.name, .label = query.name});
  }
  MenuItem forget{.id = "", .label = "Forget", .enabled = !book_.saved().empty()};
  std::vector<MenuItem> items = {examples};
  for (const persist::NamedQuery& query : book_.saved()) {
    items.push_back({.id = std::string(kSavedPrefix) + query.name,
                     .label = query.name,
                     .icon = icon::kStar,
                     .line_above = &query == &book_.saved().front()});
    forget.children.push_back({.id = std::string(kForgetPrefix) + query.name, .label = query.name});
  }
  if (!book_.saved().empty()) items.push_back(forget);
  for (std::size_t i = 0; i < std::min(book_.history().size(), kShownHistory); ++i) {
    items.push_back({.id = std::string(kHistoryPrefix) + std::to_string(i),
                     .label = first_line(book_.history()[i]),
                     .icon = icon::kClock,
                     .line_above = i == 0});
  }
  const auto chosen = popup_menu(context.ui, "sql.book", items);
  if (!chosen) return;
  const auto after = [&](std::string_view prefix) { return chosen->substr(prefix.size()); };
  const auto find = [&](const auto& queries, const std::string& name) {
    for (const persist::NamedQuery& query : queries) {
      if (query.name == name) set_text(query.sql);
    }
  };
  if (chosen->starts_with(kExamplePrefix)) find(persist::example_queries(), after(kExamplePrefix));
  if (chosen->starts_with(kSavedPrefix)) find(book_.saved(), after(kSavedPrefix));
  if (chosen->starts_with(kHistoryPrefix)) set_text(book_.history()[std::stoul(after(kHistoryPrefix))]);
  if (chosen->starts_with(kForgetPrefix)) {
    if (auto done = book_.forget(after(kForgetPrefix)); !done) {
      context.actions.notify(Severity::warning, done.message());
    }
  }
}

void SqlPanel::draw_name(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  const ButtonOptions cancel{.label = "Cancel"};
  const ButtonOptions keep{.label = "Keep", .kind = ButtonKind::primary, .disabled = name_.empty()};
  const Rect cancel_rect = row.cut_right(button_width(ui, cancel)).middle(ui.px(size::kControl));
  row.cut_right(ui.px(8));
  const Rect keep_rect = row.cut_right(button_width(ui, keep)).middle(ui.px(size::kControl));
  row.cut_right(ui.px(8));
  const TextInputResult typed = text_input(
      ui, "sql.name", row.middle(ui.px(size::kControl)), name_,
      {.placeholder = "Name of the query", .icon = icon::kStar, .focus_now = std::exchange(focus_now_, false)});
  const bool retained = button(ui, "sql.keep", keep_rect, keep) || (typed.submitted && !name_.empty());
  if (retained) {
    if (auto done = book_.save({name_, text_}); !done) context.actions.notify(Severity::warning, done.message());
    context.actions.inform("Saved the query " + name_);
  }
  if (retained || typed.cancelled || button(ui, "sql.name_cancel", cancel_rect, cancel)) naming_ = false;
}

void SqlPanel::draw_editor(const PanelContext& context, const Rect& area) {
  const bool list_open =
      typing_ && !candidates_hidden_ && !completion_.candidates.empty() && completion_.begin < completion_.end;
  caret_.hold_keys = list_open;
  const std::string before = text_;
  const TextInputResult edited = text_area(
      context.ui, "sql.editor", area, text_, caret_,
      {.placeholder = "SELECT ...   Ctrl+Enter runs it", .focus_now = !naming_ && std::exchange(focus_now_, false)});
  typing_ = edited.focused;
  if (edited.cancelled) {  // Esc closes the list; it must not take back what was typed
    text_ = before;
    candidates_hidden_ = true;
    focus_now_ = list_open;
    return;
  }
  if (edited.changed) {
    candidates_hidden_ = false;
    candidate_ = 0;
  }
  if (list_open) {
    const std::size_t count = completion_.candidates.size();
    if (context.ui.pressed(Key::down)) candidate_ = (candidate_ + 1) % count;
    if (context.ui.pressed(Key::up)) candidate_ = (candidate_ + count - 1) % count;
  }
  if (caret_.tab) {
    if (completion_.candidates.empty() || candidates_hidden_) {
      caret_.replace = {caret_.at, caret_.at, "  "};
    } else {
      insert_candidate(std::min(candidate_, completion_.candidates.size() - 1));
    }
    context.ui.request_frame();
  }
  if (edited.submitted && !text_.empty()) {
    ask(context);
    focus_now_ = true;  // the next change is made at once
  }
}

void SqlPanel::insert_candidate(std::size_t index) {
  const content::SqlCandidate& chosen = completion_.candidates[index];
  const bool opens = chosen.text.ends_with('(');
  caret_.replace = {completion_.begin, completion_.end, opens ? chosen.text : chosen.text + " "};
  candidate_ = 0;
}

void SqlPanel::draw_candidates(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  area.cut_left(ui.px(8));
  const bool offers = !completion_.candidates.empty() && !candidates_hidden_;
  draw_text(ui, area.cut_top(ui.px(20)), !offers ? "" : typing_ ? "Tab completes" : "Next", kHintText);
  if (!offers) return;
  const float height = ui.px(size::kTableRow);
  ScrollArea scroll(ui, "sql.candidates", area, height * static_cast<float>(completion_.candidates.size()));
  Rect rest = scroll.content();
  for (std::size_t i = 0; i < completion_.candidates.size(); ++i) {
    const content::SqlCandidate& candidate = completion_.candidates[i];
    Rect row = rest.cut_top(height);
    const Interaction response =
        interact(ui, "sql.candidate." + std::to_string(i), row, {.group = "sql.candidates", .label = candidate.text});
    const bool chosen = typing_ && i == candidate_;
    if (chosen) scroll.show(row);
    if (chosen || response.hovered) fill(ui, row, ui.colour(chosen ? Colour::accent_bg : Colour::bg3), 3);
    if (response.pressed) {
      insert_candidate(i);
      focus_now_ = true;
    }
    row = row.inset(ui.px(6), 0);
    const float used = text_width(ui, TextStyle::mono, candidate.text);
    draw_text(ui, row, candidate.text, {.style = TextStyle::mono});
    row.cut_left(used + ui.px(10));
    draw_text(ui, row, candidate.detail,
              {.style = TextStyle::small, .colour = Colour::text3, .align = Align::right, .fit = Fit::ellipsis});
  }
}

void SqlPanel::ask(const PanelContext& context) {
  if (auto retained = book_.remember(text_); !retained) context.actions.notify(Severity::warning, retained.message());
  console_.run(context.tab, text_, wanted_filter(context.tab));
  table_.forget_cursor();
}

void SqlPanel::set_text(std::string sql) {
  text_ = std::move(sql);
  caret_.at = text_.size();
  candidate_ = 0;
}

void SqlPanel::draw_answer(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const content::SqlAnswer* answer = console_.answer();
  if (answer == nullptr)
    return empty_sentence(ui, "sql.empty", area, icon::kTable,
                          console_.running() ? "Running the query."
                                             : "Run a query to see its rows here. A click on a row selects its event.");
  if (!answer->error.empty()) {
    Rect box = area.inset(ui.px(size::kPanelPadding), ui.px(8));
    box.y1 = std::min(box.y1, box.y0 + banner_height(ui, box.width(), answer->error));
    banner(ui, box, BannerKind::error, answer->error);
    return;
  }
  draw_answer_head(context, *answer, padded(ui, area.cut_top(ui.px(kAnswerHead))));
  if (answer->result.row_count() == 0) return empty_sentence(ui, "sql.none", area, icon::kTable, "No row matches.");
  draw_rows(context, area);
}

void SqlPanel::draw_answer_head(const PanelContext& context, const content::SqlAnswer& answer, Rect row) {
  Ui& ui = context.ui;
  const auto copy_as = [&](std::string_view format, std::string_view label, const std::string& name) {
    const ButtonOptions options{.label = label, .icon = icon::kCopy, .kind = ButtonKind::flat};
    if (button_right(ui, name, row, options, size::kSmallControl)) {
      context.copy(as_text(answer.result, format), "the rows as " + std::string(label));
    }
    row.cut_right(ui.px(4));
  };
  copy_as("json", "JSON", "sql.copy_json");
  copy_as("csv", "CSV", "sql.copy_csv");
  if (!answer.filter.empty()) {
    const std::string sees = "sees " + format_count(answer.seen) + " of " + format_count(answer.events) + " events";
    const ChipOptions options{.label = sees, .tooltip = "The query was asked in the filter"};
    const float width = std::min(chip_width(ui, options), row.width() / 2);
    (void)chip(ui, "sql.sees", row.cut_left(width).middle(ui.px(size::kSmallControl)), options);
    row.cut_left(ui.px(8));
  }
  std::string text = summary_of(answer);
  const bool grown = answer.snapshot_version != context.tab.snapshot->version;
  const bool other = answer.filter != wanted_filter(context.tab);
  const bool stale = grown || other;
  if (grown) text += "; the session has grown since";
  if (other) text += "; the filter has changed since";
  draw_text(ui, row, text, {.colour = stale || answer.result.truncated ? Colour::warning : Colour::text2});
}

void SqlPanel::draw_rows(const PanelContext& context, const Rect& area) {
  const AnswerTable::Response response =
      table_.draw(context, "sql.rows", area, answer_rows(console_.shared_answer()), console_.answer()->sql);
  if (response.clicked) show_row(context, *response.clicked, false);
  if (response.double_clicked) show_row(context, *response.double_clicked, true);
}

// Which event it means is found out by a worker.
void SqlPanel::show_row(const PanelContext& context, std::size_t row, bool fit) const {
  context.tab.events->ask(
      session::EventIntent::selection,
      [answer = console_.shared_answer(), row](EventReader& reader, const TaskControl&) {
        return content::place_of_row(*answer, row, reader);
      },
      [&tab = context.tab, &actions = context.actions, fit](const content::SqlRowPlace& place) {
        show_place(tab, actions, place, fit);
      });
}

std::unique_ptr<Panel> make_sql_panel(const PanelParts& parts) {
  return std::make_unique<SqlPanel>(parts.pool, parts.queries);
}

}  // namespace accelscope::app::panels
