#include "app/panels/panel.h"
#include "app/palette/command_box.h"
#include "core/model/palette.h"
#include "core/names/short_names.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// The list of what the search found, in the visible range or everywhere, beside the number of hits and what those in
// view add up to, and what can be done with the search: step through it, make it the filter, select all of it. Without
// a search: how one is written.

// What the hits of the search in the visible range add up to: how many, their time, and by name, source line or lane
// which of them take most of it.

class HitSummaryColumn {
 public:
  void draw(const PanelContext& context, const Rect& area);

 private:
  int by_ = 0;
  TableState table_;
};

class SearchPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;

 private:
  void draw_help(const PanelContext& context, const Rect& area);
  void draw_head(const PanelContext& context, Rect& area);
  void draw_actions(const PanelContext& context, Rect& row);
  void draw_found(const PanelContext& context, Rect row, Rect& below);
  void draw_hint(const PanelContext& context, Rect& below) const;
  void draw_steps(const PanelContext& context, Rect& row) const;
  void draw_list(const PanelContext& context, const Rect& area);
  [[nodiscard]] TimeRange range_of(const session::SessionTab& tab) const;

  bool visible_only_ = false;
  TableState table_;
  ShortNames names_;  // of the hits that were drawn
  HitSummaryColumn summary_;
};

constexpr float kHitRow = 28;

struct Line {
  std::string text;
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;
};

std::vector<Line> lines_of(const analysis::SelectionSummary& summary, int by, const Snapshot& snapshot) {
  std::vector<Line> lines;
  if (by == 2) {
    for (const analysis::SummaryTrack& each : summary.tracks) {
      const TrackSnapshot* track = snapshot.find_track(each.track);
      lines.push_back({track != nullptr ? track->track->name : "–", each.count, each.busy_ns + each.wait_ns});
    }
    std::ranges::stable_sort(lines, [](const Line& a, const Line& b) { return a.time_ns > b.time_ns; });
    return lines;
  }
  for (const analysis::SummaryRow& row : (by == 0 ? summary.names : summary.lines).rows) {
    lines.push_back({row.text, row.count, row.busy_ns});
  }
  return lines;
}

// "In view: 12 of 37,007, busy 3.2 ms".
std::string totals_text(const session::SessionSummary& answer, std::uint64_t total) {
  const analysis::SelectionSummary& summary = *answer.summary;
  if (answer.events == 0) return "In view: none of " + format_count(total);
  std::string text = "In view: " + format_count(answer.events) + " of " + format_count(total);
  if (summary.busy_ns > 0) text += ", busy " + format_duration(summary.busy_ns);
  if (summary.busy_ns > 0 && summary.wait_ns > 0) {
    text += " of " + format_duration(summary.busy_ns + summary.wait_ns);
  }
  return text;
}

// Whether it is about the search that is shown; another range is that of the view a moment ago.
bool is_of_search(const session::SessionSummary& answer, const session::SessionTab& tab) {
  const std::vector<FilterTerm>& terms = answer.summary->filter.terms;
  return !terms.empty() && terms.back() == FilterTerm{tab.choices.search, false};
}

constexpr float kSearchHeadRow = 36, kHelpRow = 20, kHelpLine = 16, kSummaryWidth = 380;
constexpr float kListShare = 2.4F;  // of the summary's width: below this there is no room for it beside the list
constexpr float kExampleWidth = 190, kTwoColumns = 1040;  // units; from the second on examples stand in two columns

struct Example {
  std::string_view text;
  std::string_view meaning;
};
constexpr std::array<Example, 11> kExamples = {{
    {"matmul", "the name contains it, in upper or lower case"},
    {"\"two words\"", "the name contains both words as they stand"},
    {"/mat(mul|vec)/", "a regular expression in the name; /.../i for upper and lower case alike"},
    {"mlp.py:33", "events of this source line"},
    {"duration>=5us", "longer than that; start and name can be compared too"},
    {"bytes>=1MiB", "a field of the event; = != < <= > >= with sizes and times"},
    {"layer~up_proj", "a field that contains the text; ~/.../ for an expression"},
    {"layer!=\"\"", "events that have the field"},
    {"lane=\"stream 7\"", "events of the lane that is called so; lane~stream, device=, host= likewise"},
    {"matmul duration<1us", "terms side by side must all hold"},
    {"/./", "events that have a source line"},
}};

struct SearchAction {
  const char* name;
  ButtonOptions options;
};
constexpr std::array<SearchAction, 4> kSearchActions = {{
    {"search.copy", {.label = "Copy", .icon = icon::kCopy, .tooltip = "Copy the search as text"}},
    {"search.hide", {.label = "Hide these", .tooltip = "The filter lets everything but the hits through"}},
    {"search.filter", {.label = "Show only these", .icon = icon::kFilter, .tooltip = "The hits become the filter"}},
    {"search.select", {.label = "Select all", .tooltip = "Sum them up in the Selection panel"}},
}};
constexpr float kLeastText = 260;  // units for the search and the number of its hits

const std::array<TableColumn, 5>& search_columns() {
  static const std::array<TableColumn, 5> kColumns = {{
      {.title = "Start", .width = 130, .align = Align::right, .sortable = false},
      {.title = "Duration", .width = 100, .align = Align::right, .sortable = false},
      {.title = "Name", .width = 300, .sortable = false},
      {.title = "Lane", .width = 180, .sortable = false},
      {.title = "Source", .sortable = false},
  }};
  return kColumns;
}

TableCell cell_of(const session::SessionTab& tab, const session::Hit& hit, std::size_t column, ShortNames& names) {
  switch (column) {
    case 0:
      return {.text = format_time_exact(hit.begin_ns)};
    case 1:
      return {.text = format_time_exact(hit.end_ns - hit.begin_ns)};
    case 2:
      if (hit.name_text.empty()) return {.text = "(no name)"};
      return {.text = names.usual(hit.name_text),
              .fit = Fit::middle,  // what tells names apart stands at the end
              .exact = hit.name_text,
              .data = hit.name_text,
              .swatch = opaque(kSlicePalette[tab.snapshot->strings->slot(hit.name)])};
    case 3:
      return {.text = hit.lane.empty() ? "–" : hit.lane, .colour = Colour::text2, .style = TextStyle::body};
    default:
      return {.text = hit.source.empty() ? "–" : hit.source,
              .colour = hit.source.empty() ? Colour::text3 : Colour::text2};
  }
}

}  // namespace

void HitSummaryColumn::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  Rect rest = area;
  const std::array<Segment, 3> ways = {Segment{.label = "Name"}, Segment{.label = "Line"}, Segment{.label = "Lane"}};
  auto answer = context.analysis().hit_summary(context.tab.view.whole_ns());
  const search::EventSearch* hits = context.analysis().hits();
  if (answer && (hits == nullptr || !is_of_search(*answer, context.tab))) answer = nullptr;
  draw_text(ui, padded(ui, rest.cut_top(ui.px(kHitRow))),
            answer ? totals_text(*answer, hits->total()) : "Adding up the hits in view ...",
            {.colour = Colour::text2, .fit = Fit::ellipsis});
  Rect head = padded(ui, rest.cut_top(ui.px(kHitRow)));
  (void)segmented_left(ui, "search.summary_by", head, ways, by_, size::kSmallControl);
  if (!answer) return;
  const std::vector<Line> lines = lines_of(*answer->summary, by_, *context.tab.snapshot);
  if (lines.empty()) {
    if (answer->events > 0)
      return empty_sentence(
          ui, "search.summary_none", rest, icon::kTable,
          by_ == 1 ? "No hit in view has a source line." : "What was found in view adds up to no work.");
    if (empty_state(ui, "search.summary_none", rest, icon::kSearch, "No hit is in view.", "To the next one")) {
      context.actions.run("next_hit");
    }
    return;
  }
  const std::array<TableColumn, 3> columns = {
      {{.title = by_ == 0   ? "Name"
                 : by_ == 1 ? "Source line"
                            : "Lane",
        .sortable = false},
       {.title = "Hits", .width = 70, .align = Align::right, .sortable = false},
       {.title = "Time", .width = 90, .align = Align::right, .sortable = false}}};
  table(
      ui, "search.summary", rest, columns, lines.size(),
      [&](std::size_t row, std::size_t column) -> TableCell {
        const Line& line = lines[row];
        if (column == 0) return {.text = line.text, .fit = Fit::middle};
        if (column == 1) return {.text = format_count(line.count), .colour = Colour::text2};
        return {.text = format_duration(line.time_ns)};
      },
      table_);
}

TimeRange SearchPanel::range_of(const session::SessionTab& tab) const {
  return visible_only_ ? tab.view.whole_ns() : TimeRange{};
}

std::optional<bool> SearchPanel::has_content(const PanelContext& context) const {
  return !context.tab.choices.search.empty();
}

void SearchPanel::draw(const PanelContext& context, const Rect& area) {
  if (context.tab.choices.search.empty()) return draw_help(context, area);
  Rect rest = area;
  draw_head(context, rest);
  if (!context.analysis().search_error().empty()) return draw_help(context, rest);
  const search::EventSearch* hits = context.analysis().hits();
  const float width = context.ui.px(kSummaryWidth);
  if (hits != nullptr && hits->total() > 0 && rest.width() > kListShare * width) {
    const Rect column = cut_pane(context.ui, rest, width);
    summary_.draw(context, column);
  }
  draw_list(context, rest);
}

void SearchPanel::draw_steps(const PanelContext& context, Rect& row) const {
  Ui& ui = context.ui;
  const auto step = [&](const char* name, const char* icon, const char* tooltip, const char* command, const char* key) {
    const Rect place = row.cut_left(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
    if (icon_button(ui, name, place, icon, tooltip, {.shortcut = key})) context.actions.run(command);
    row.cut_left(ui.px(4));
  };
  step("search.previous", icon::kArrowLeft, "Previous hit", "previous_hit", "Shift+F3");
  step("search.next", icon::kArrowRight, "Next hit", "next_hit", "F3");
  row.cut_left(ui.px(4));
}

void SearchPanel::draw_help(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const float padding = ui.px(size::kPanelPadding + 4);
  const bool wrong = !context.tab.choices.search.empty();
  const std::string_view title =
      wrong ? "Examples of what can be searched, to be clicked:" : "Ctrl+F searches events. Examples, to be clicked:";
  const std::size_t columns = area.width() >= ui.px(kTwoColumns) ? 2 : 1;
  const std::size_t rows = (kExamples.size() + columns - 1) / columns;
  const float width = (area.width() - 2 * padding) / static_cast<float>(columns);
  const float room = std::max(width - ui.px(kExampleWidth + 12 + 16), ui.px(60));
  std::array<float, kExamples.size()> heights{};
  std::array<float, 2> total{};
  for (std::size_t i = 0; i < kExamples.size(); ++i) {
    const float text = paragraph_height(ui, TextStyle::small, kExamples[i].meaning, room, ui.px(kHelpLine));
    heights[i] = std::max(ui.px(kHelpRow), text + ui.px(kHelpRow - kHelpLine));
    total[i / rows] += heights[i];
  }
  const float head = ui.px(28);
  const ScrollArea scroll(ui, "search.help", area, head + std::max(total[0], total[1]) + ui.px(16));
  Rect content = scroll.content().inset(padding, ui.px(8));
  draw_text(ui, content.cut_top(head), title, {.colour = Colour::text2});
  for (std::size_t column = 0; column < columns; ++column) {
    Rect rest = content.cut_left(width);
    for (std::size_t i = column * rows; i < std::min(kExamples.size(), (column + 1) * rows); ++i) {
      Rect row = rest.cut_top(heights[i]);
      Rect place = row.cut_left(ui.px(kExampleWidth));
      if (link(ui, "search.example." + std::to_string(i), place.cut_top(ui.px(kHelpRow)), kExamples[i].text,
               TextStyle::mono)) {
        context.tab.change([&](session::ViewChoices& choices) { choices.search = kExamples[i].text; });
      }
      row.cut_left(ui.px(12));
      row.y0 += ui.px((kHelpRow - kHelpLine) / 2);
      row.x1 = row.x0 + room;
      draw_paragraph(ui, row, kExamples[i].meaning, kHintText, ui.px(kHelpLine));
    }
  }
}

// What is searched, how much was found, and what can be done with it: in as many rows as the panel is narrow.
void SearchPanel::draw_head(const PanelContext& context, Rect& area) {
  Ui& ui = context.ui;
  const float padding = ui.px(size::kPanelPadding);
  const std::array<Segment, 2> where = {Segment{.label = "Everywhere"}, Segment{.label = "Visible range"}};
  const float places_width = segmented_width(ui, where);
  float actions_width = 0;
  for (const SearchAction& action : kSearchActions) actions_width += button_width(ui, action.options) + ui.px(8);
  const bool one_row = area.width() - 2 * padding >= places_width + actions_width + ui.px(kLeastText);
  const bool two_rows = one_row || area.width() - 2 * padding >= places_width + actions_width + ui.px(12);
  Rect text = area.cut_top(ui.px(kSearchHeadRow)).inset(padding, 0);
  Rect row = one_row ? text : area.cut_top(ui.px(kSearchHeadRow)).inset(padding, 0);
  int chosen = visible_only_ ? 1 : 0;
  const Rect places = row.cut_right(places_width).middle(ui.px(size::kSmallControl));
  if (segmented(ui, "search.where", places, where, chosen)) visible_only_ = chosen == 1;
  row.cut_right(ui.px(12));
  if (!two_rows) row = area.cut_top(ui.px(kSearchHeadRow)).inset(padding, 0);
  draw_actions(context, row);
  if (one_row) text = row;
  draw_found(context, text, area);
}

void SearchPanel::draw_actions(const PanelContext& context, Rect& row) {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const bool wrong = !context.analysis().search_error().empty();
  for (std::size_t i = 0; i < kSearchActions.size(); ++i) {
    ButtonOptions options = kSearchActions[i].options;
    const Rect place = row.cut_right(button_width(ui, options)).middle(ui.px(size::kSmallControl));
    row.cut_right(ui.px(8));
    if (wrong && i > 0) {
      options.disabled = true;
      options.tooltip = "What is searched is not understood";
    }
    if (!button(ui, kSearchActions[i].name, place, options)) continue;
    const std::string text = tab.choices.search;
    if (i == 0) context.copy(text, "the search");
    if (i == 1 || i == 2) {
      tab.change([&](session::ViewChoices& choices) {
        choices.filter.terms.push_back({text, i == 1});
        choices.search.clear();
      });
    }
    if (i == 3) {
      tab.region = EventFilter{.range = {}, .tracks = {}, .terms = {{text, false}}};
      context.actions.show_panel("selection");
    }
  }
}

// The search and the number of its hits; what is wrong with it stands below, whole.
void SearchPanel::draw_found(const PanelContext& context, Rect row, Rect& below) {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const search::EventSearch* hits = context.analysis().hits();
  const std::string& error = context.analysis().search_error();
  std::string count = error.empty() ? "Searching ..." : "";
  if (error.empty() && hits != nullptr)
    count = palette::hit_count_text(tab) + (tab.choices.filter.empty() ? "" : " in the filter");
  const bool steps = error.empty() && hits != nullptr && hits->total() > 0;
  // The number is whole, whatever the search leaves for it.
  const float retained =
      text_width(ui, TextStyle::body, count) + ui.px(16) + (steps ? 2 * ui.px(size::kSmallControl + 4) + ui.px(4) : 0);
  const float width =
      std::min(text_width(ui, TextStyle::mono_strong, tab.choices.search), std::max(row.width() - retained, ui.px(40)));
  draw_text(ui, row.cut_left(width), tab.choices.search, {.style = TextStyle::mono_strong});
  row.cut_left(ui.px(16));
  if (steps) draw_steps(context, row);
  draw_text(ui, row, count, {.colour = Colour::text2});
  if (error.empty()) return draw_hint(context, below);
  const float room = below.width() - 2 * ui.px(size::kPanelPadding);
  const Rect place = below.cut_top(paragraph_height(ui, TextStyle::body, error, room) + ui.px(6));
  draw_paragraph(ui, padded(ui, place), error, {.colour = Colour::error});
}

// What there is to know of a search that found something, and the search that is meant instead.
void SearchPanel::draw_hint(const PanelContext& context, Rect& below) const {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const auto hint = context.analysis().search_hint();
  if (!hint || hint->text.empty() || context.analysis().hits()->total() == 0) return;
  Rect row = padded(ui, below.cut_top(ui.px(kHelpRow + 4)));
  draw_text(ui, row.cut_left(std::min(row.width(), text_width(ui, TextStyle::body, hint->text) + ui.px(12))),
            hint->text, {.colour = Colour::text2});
  const std::string label = "Search " + hint->instead;
  if (!hint->instead.empty() && link(ui, "search.instead", row.cut_left(link_width(ui, label)), label))
    tab.change([&](session::ViewChoices& choices) { choices.search = hint->instead; });
}

void SearchPanel::draw_list(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  session::SessionTab& tab = context.tab;
  const search::EventSearch* hits = context.analysis().hits();
  if (hits == nullptr) return;
  if (hits->total() == 0) {
    const auto hint = context.analysis().search_hint();
    const std::string where = tab.choices.filter.empty() ? "" : " passes the filter and";
    const std::string sentence =
        hint && !hint->text.empty() ? hint->text + "." : "No event" + where + " matches " + tab.choices.search + ".";
    const std::string instead = hint ? hint->instead : "";
    const std::string action = instead.empty() ? "Clear the search" : "Search " + instead;
    if (empty_state(ui, "search.none", area, icon::kSearch, sentence, action)) {
      tab.change([&](session::ViewChoices& choices) { choices.search = instead; });
    }
    return;
  }
  const auto list = context.analysis().hit_list(range_of(tab));
  if (!list) return;
  Rect rest = area;
  if (list->hits.size() == session::HitList::kMost) {
    draw_text(ui, padded(ui, rest.cut_bottom(ui.px(20))),
              "The first " + format_count(session::HitList::kMost) + " by time; F3 steps through all of them",
              kHintText);
  }
  if (list->hits.empty())
    return empty_sentence(ui, "search.elsewhere", rest, icon::kSearch, "No hit lies in the visible range.");
  const TableOptions options{.selected = [&](std::size_t row) { return tab.selected == list->hits[row].event; }};
  const TableResult result = table(
      ui, "search.hits", rest, search_columns(), list->hits.size(),
      [&](std::size_t row, std::size_t column) { return cell_of(tab, list->hits[row], column, names_); }, table_,
      options);
  if (!result.clicked || *result.clicked >= list->hits.size()) return;
  view::select_event(tab, list->hits[*result.clicked].event);
  context.actions.reveal(list->hits[*result.clicked].event);
}

std::unique_ptr<Panel> make_search_panel(const PanelParts&) { return std::make_unique<SearchPanel>(); }

}  // namespace accelscope::app::panels
