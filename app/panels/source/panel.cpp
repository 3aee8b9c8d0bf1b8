#include "app/panels/source/panel.h"

#include <charconv>
#include <filesystem>

#include "app/session/shown_advice.h"
#include "capture/sources/base/source_finder.h"
#include "core/listing/analysis_listings.h"
#include "core/model/source_location.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

// The text page of the source panel: one file, the cost of each line in the margin, and the field that finds in it.

namespace {

constexpr float kCostWidth = 66, kSourceTextBarWidth = 32, kNumberWidth = 40;
constexpr float kHeatBar = 24;  // the hottest line's

Colour colour_of(content::TokenKind kind) {
  switch (kind) {
    case content::TokenKind::text:
      return Colour::text1;
    case content::TokenKind::keyword:
      return Colour::code_keyword;
    case content::TokenKind::string:
      return Colour::code_string;
    case content::TokenKind::number:
      return Colour::code_number;
    case content::TokenKind::comment:
      return Colour::text3;
    case content::TokenKind::operation:
      return Colour::text2;
  }
  return Colour::text1;
}

constexpr float kSourceHeadRow = 36, kFindRow = 32, kFootHeight = 92;
constexpr std::size_t kMostFilesInMenu = 24;

struct HeatChoice {
  content::Heat heat;
  const char* title;
};
constexpr std::array kHeats = {HeatChoice{content::Heat::busy, "busy time"},
                               HeatChoice{content::Heat::wait, "wait time"},
                               HeatChoice{content::Heat::events, "events"}, HeatChoice{content::Heat::bytes, "bytes"}};

constexpr float kWidthWithListing = 900, kTextShare = 0.5F;  // the instruction listing stands beside the text

}  // namespace

void SourcePanel::draw_find(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  fill(ui, row, ui.colour(Colour::bg2));
  Rect place = padded(ui, row);
  const auto icon_place = [&] {
    return place.cut_right(ui.px(size::kSmallControl)).middle(ui.px(size::kSmallControl));
  };
  const ButtonOptions hot{.disabled = hot_.empty()};
  if (icon_button(ui, "source.hot.next", icon_place(), icon::kArrowDown, "The next less costly line", hot)) {
    step_hot(context, 1);
  }
  if (icon_button(ui, "source.hot.previous", icon_place(), icon::kArrowUp, "The next more costly line", hot)) {
    step_hot(context, -1);
  }
  constexpr std::string_view kHot = "hot line";
  draw_text(ui, place.cut_right(text_width(ui, TextStyle::small, kHot) + ui.px(4)), kHot, kHintText);
  place.cut_right(ui.px(10));
  const ButtonOptions step{.disabled = found_.empty()};
  if (icon_button(ui, "source.find.next", icon_place(), icon::kCaretDown, "Next (Enter)", step)) step_find(1);
  if (icon_button(ui, "source.find.previous", icon_place(), icon::kCaretUp, "Previous", step)) step_find(-1);
  std::string state;
  if (!find_.empty()) {
    state = found_.empty() ? "none" : format_count(found_at_ + 1) + " of " + format_count(found_.size());
  }
  draw_text(
      ui, place.cut_right(ui.px(64)), state,
      {.style = TextStyle::small, .colour = found_.empty() ? Colour::warning : Colour::text3, .align = Align::right});
  const Rect field =
      Rect{place.x0, place.y0, std::min(place.x1, place.x0 + ui.px(260)), place.y1}.middle(ui.px(size::kSmallControl));
  const TextInputResult typed =
      text_input(ui, "source.find", field, find_, {.placeholder = "Text or line number", .icon = icon::kSearch});
  if (typed.changed) {
    found_ = content::find_lines(lines_, find_);
    found_at_ = 0;
    if (!found_.empty()) scroll_to_ = found_.front() + 1;
  } else if (typed.submitted) {
    step_find(1);
  }
}

void SourcePanel::step_find(int step) {
  if (found_.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(found_.size());
  found_at_ = static_cast<std::size_t>((static_cast<std::ptrdiff_t>(found_at_) + step + count) % count);
  scroll_to_ = found_[found_at_] + 1;
}

// From the lit line to its neighbour in the order of cost; from a line without cost to the costliest.
void SourcePanel::step_hot(const PanelContext& context, int step) {
  std::ptrdiff_t at = step > 0 ? -1 : static_cast<std::ptrdiff_t>(hot_.size());
  if (lit_) {
    const auto now = std::ranges::find(hot_, lit_->line - 1);
    if (now != hot_.end()) at = now - hot_.begin();
  }
  const auto last = static_cast<std::ptrdiff_t>(hot_.size()) - 1;
  if (at >= 0 && at <= last && (at + step < 0 || at + step > last)) {
    return context.actions.inform(step > 0 ? "No line costs less" : "No line costs more");
  }
  const std::uint32_t line = hot_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + step, 0, last))] + 1;
  scroll_to_ = line;
  light_line(context, {recorded_path(line), line});
}

void SourcePanel::draw_code(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const float row_height = ui.px(size::kCodeRow);
  std::size_t widest = 0;
  for (const content::CodeLine& line : lines_) widest = std::max(widest, line.text.size());
  const float width = ui.px(kCostWidth + kSourceTextBarWidth + kNumberWidth + 40) +
                      static_cast<float>(widest) * text_width(ui, TextStyle::mono, "m");
  const bool lit_here = lit_ && same_source(lit_->path, file_->path);
  if (std::exchange(text_height_, area.height()) != area.height() && lit_here && !scroll_to_) scroll_to_ = lit_->line;
  find_warnings(context);
  ScrollArea scroll(ui, "source.scroll", area, row_height * static_cast<float>(lines_.size() + 1), width);
  const Rect content = scroll.content();
  const Rect visible = scroll.visible();
  const auto first = static_cast<std::size_t>(std::max(0.0F, std::floor((visible.y0 - content.y0) / row_height)));
  for (std::size_t i = first; i < lines_.size(); ++i) {
    const float y = content.y0 + static_cast<float>(i) * row_height;
    if (y > visible.y1) break;
    draw_line(context, i, {content.x0, y, std::max(content.x1, visible.x1), y + row_height});
    draw_warning(context, i, content.x0, {visible.x0, y, visible.x1, y + row_height});
  }
  if (copies_all_of(context.ui, "source.lines")) {
    std::string text;
    for (const content::CodeLine& line : lines_) text += line.text + '\n';
    context.copy(text, format_count(lines_.size()) + " lines");
  }
  if (scroll_to_ && *scroll_to_ > 0) {
    const float y = content.y0 + static_cast<float>(*scroll_to_ - 1) * row_height;
    scroll.show({content.x0, y - 4 * row_height, content.x0 + 1, y + 5 * row_height});
  }
  scroll_to_.reset();
}

void SourcePanel::draw_line(const PanelContext& context, std::size_t index, Rect row) {
  Ui& ui = context.ui;
  const auto number = static_cast<std::uint32_t>(index + 1);
  const std::string name = "source.line." + std::to_string(number);
  const bool lit = lit_ && lit_->line == number && same_source(lit_->path, file_->path);
  const Interaction response = interact(
      ui, name, row, {.below_others = true, .chosen = lit, .group = "source.lines", .label = lines_[index].text});
  const bool found = std::binary_search(found_.begin(), found_.end(), static_cast<std::uint32_t>(index));
  if (lit || response.hovered) fill(ui, row, ui.colour(lit ? Colour::accent_bg : Colour::bg3));
  if (found) {
    const Rect mark{row.x0 + ui.px(kCostWidth + kSourceTextBarWidth + 8 + 6), row.y0, row.x1, row.y1};
    const bool here = found_[found_at_] == index;
    fill(ui, mark, with_alpha(ui.colour(Colour::warning_bg), here ? 1.0F : 0.55F));
  }
  if (lit) fill(ui, {row.x0, row.y0, row.x0 + ui.px(size::kAccentLine), row.y1}, ui.colour(Colour::accent));
  draw_margin(context, index, row.cut_left(ui.px(kCostWidth + kSourceTextBarWidth + 8)));
  draw_text(ui, row.cut_left(ui.px(kNumberWidth)), std::to_string(number),
            {.style = TextStyle::mono, .colour = lit ? Colour::text1 : Colour::text3, .align = Align::right});
  row.cut_left(ui.px(16));
  const content::CodeLine& line = lines_[index];
  float x = row.x0;
  for (const content::CodeToken& token : line.tokens) {
    const std::string_view text = std::string_view(line.text).substr(token.begin, token.end - token.begin);
    if (text.find_first_not_of(' ') != std::string_view::npos) {
      draw_text(ui, {x, row.y0, x + text_width(ui, TextStyle::mono, text) + 1, row.y1}, text,
                {.style = TextStyle::mono, .colour = colour_of(token.kind), .fit = Fit::clip});
    }
    x += text_width(ui, TextStyle::mono, text);
  }
  if (response.hovered) set_cursor(Cursor::response);
  if (response.clicked) light_line(context, {recorded_path(number), number});
  if (response.double_clicked) fit_when_ready_ = true;
}

// The findings that cost a line of this file most.
void SourcePanel::find_warnings(const PanelContext& context) {
  advice_ = session::shown_advice(context.tab);
  warnings_.clear();
  if (!advice_) return;
  for (const analysis::Finding& finding : advice_->findings) {
    std::string_view path;
    std::uint32_t line = 0;
    const bool here = parse_source_location(finding.source, path, line) && same_source(path, file_->path);
    if (here && line > 0) warnings_.emplace_back(line - 1, &finding);
  }
}

// At the right end of the line where its text leaves room, else a sign alone between its number and its text; with all
// that is found there on hover. A click chooses the first. `left`: where the line begins, perhaps out of sight.
void SourcePanel::draw_warning(const PanelContext& context, std::size_t index, float left, const Rect& row) const {
  const analysis::Finding* first = nullptr;
  std::string all;
  for (const auto& [line, finding] : warnings_) {
    if (line != index) continue;
    if (first == nullptr) first = finding;
    all += (all.empty() ? "" : "\n") + finding->headline +
           (finding->is_error ? "" : ", " + analysis::saving_text(*finding));
  }
  if (first == nullptr) return;
  Ui& ui = context.ui;
  const float gap = left + ui.px(kCostWidth + kSourceTextBarWidth + 8 + kNumberWidth);
  const float end = gap + ui.px(16) + text_width(ui, TextStyle::mono, lines_[index].text);
  const float width = text_width(ui, TextStyle::small, first->tab) + ui.px(30);
  const bool named = row.x1 - width - ui.px(8) > end;
  Rect place{row.x1 - width - ui.px(8), row.y0, row.x1 - ui.px(8), row.y1};
  if (!named) {
    place.x0 = gap >= row.x0 ? gap : row.x1 - ui.px(24);
    place.x1 = place.x0 + ui.px(16);
  }
  fill(ui, place, ui.colour(Colour::bg1), size::kChipRadius);
  const Interaction touch = interact(ui, "source.warning." + std::to_string(index + 1), place,
                                     {.group = "source.lines", .label = first->tab});
  Rect inside = named ? place.inset(ui.px(6), 0) : place.inset(ui.px(1), 0);
  draw_icon(ui, inside.cut_left(ui.px(named ? 18 : 14)), icon::kWarning, ui.colour(Colour::warning_line),
            TextStyle::icon12);
  if (named)
    draw_text(ui, inside, first->tab, {.style = TextStyle::small, .colour = Colour::warning, .fit = Fit::clip});
  if (touch.hovered) set_cursor(Cursor::response);
  tooltip(ui, touch, place, all);
  if (!touch.clicked) return;
  context.tab.chosen_warning = first->key;
  context.actions.show_panel("warnings");
}

void SourcePanel::draw_margin(const PanelContext& context, std::size_t index, Rect margin) {
  Ui& ui = context.ui;
  if (index >= costs_.size()) return;
  const content::LineCost& cost = costs_[index];
  const double value = content::heat_value(cost, heat_);
  if (value <= 0 || hot_.empty()) return;  // the heat was changed in this frame
  const double hottest = content::heat_value(costs_[hot_.front()], heat_);
  const double share = hottest > 0 ? value / hottest : 0;
  draw_text(ui, margin.cut_left(ui.px(kCostWidth)), content::heat_text(cost, heat_),
            {.style = share >= 0.5 ? TextStyle::mono_strong : TextStyle::mono,
             .colour = Colour::text1,
             .align = Align::right});
  margin.cut_left(ui.px(8));
  const float width = std::max(ui.px(1), std::round(static_cast<float>(share) * ui.px(kHeatBar)));
  const Rect bar = Rect{margin.x0, margin.y0, margin.x0 + width, margin.y1}.middle(ui.px(10));
  fill(ui, bar, mix(ui.colour(Colour::bg4), ui.colour(Colour::accent), static_cast<float>(0.35 + 0.65 * share)));
}

// What the devices executed, in the order of the program: of the lit line, or of all.

void SourcePanel::draw_instructions(const PanelContext& context, Rect area, bool beside_text) {
  Ui& ui = context.ui;
  Rect head = area.cut_top(ui.px(32));
  fill(ui, head, ui.colour(Colour::bg2));
  head = padded(ui, head);
  std::string of_line;
  if (lit_) {
    const std::array<Segment, 2> choices = {{{.label = "Of the line"}, {.label = "All"}}};
    int chosen = instructions_of_line_ ? 0 : 1;
    if (segmented_right(ui, "source.instructions.of", head, choices, chosen, size::kSmallControl))
      instructions_of_line_ = chosen == 0;
    head.cut_right(ui.px(8));
    if (instructions_of_line_) of_line = lit_->path + ":" + std::to_string(lit_->line);
  }
  const EventFilter& filter = context.tab.choices.filter;
  const auto listing = context.analysis().ask_of(
      instructions_, filter, of_line, [filter, of_line](const QueryContext& query) -> FoundAnswer<listing::Listing> {
        listing::ListingRequest request{filter, {}};
        if (!of_line.empty()) request.by = {of_line};
        auto made = TRY(listing::list_instructions(query, request));
        return std::shared_ptr<const listing::Listing>(std::make_shared<listing::Listing>(std::move(made)));
      });
  std::string hint = of_line.empty() ? "what the devices executed" : "of line " + std::to_string(lit_->line);
  if (listing && !listing->note.empty()) hint = listing->note;
  if (instructions_.stale()) hint = "of the line before";
  heading(ui, head, beside_text ? "Instructions" : "", hint);
  if (!instructions_.error.empty()) {
    empty_state(ui, "source.instructions.error", area, icon::kWarning, instructions_.error);
  } else if (!listing) {
    empty_state(ui, "source.instructions.loading", area, icon::kClock, "Listing the instructions.");
  } else if (listing->rows.row_count() == 0) {
    empty_state(
        ui, "source.instructions.empty", area, icon::kChip,
        of_line.empty() ? "No engine, stream or core recorded what it executed." : "No instruction names this line.");
  } else {
    (void)instruction_rows_.draw(context, "source.instructions", area, listing);
  }
}

struct SourcePanel::PageName {
  Page page;
  const char* id;  // as it is kept
  const char* title;
  const char* icon;
};
const std::array<SourcePanel::PageName, 3> SourcePanel::kTablePages = {
    {{Page::lines, "lines", "Lines by cost", icon::kList},
     {Page::files, "files", "Files by cost", icon::kTable},
     {Page::instructions, "instructions", "Instructions", icon::kChip}}};

// The page that the user last chose in this session, else the first file that there is.
void SourcePanel::begin(const PanelContext& context) {
  const auto& sources = context.tab.snapshot->sources;
  if (!std::exchange(begun_, true)) {
    const std::string retained = session::retained_value(context.tab, session::kSourcePageKey);
    for (const PageName& page : kTablePages) {
      if (retained != page.id) continue;
      page_ = page.page;
      page_chosen_ = true;
    }
    if (retained.starts_with("text ")) {
      if (const auto found = find_source(sources, std::string_view(retained).substr(5))) open_text(sources[*found]);
    }
  }
  if (!page_chosen_ && page_ != Page::text && !sources.empty()) {
    open_text(sources.front());
    page_chosen_ = false;
  }
  if (file_ == nullptr) return;
  const auto now = std::ranges::find_if(sources, [&](const auto& s) { return s->path == file_->path; });
  if (now != sources.end() && *now != file_) {
    file_ = *now;
    lines_ = content::code_lines(*file_);
    costs_.clear();
    all_.reset();
  }
}

void SourcePanel::open_text(std::shared_ptr<const SourceFile> file) {
  page_ = Page::text;
  page_chosen_ = true;
  if (file == file_) return;
  file_ = std::move(file);
  lines_ = content::code_lines(*file_);
  costs_.clear();
  hot_.clear();
  found_.clear();
  find_.clear();
  all_.reset();  // the costs are those of another file
}

void SourcePanel::follow_selection(const PanelContext& context) {
  session::SessionTab& tab = context.tab;
  if (tab.selected_source == followed_) return;
  followed_ = tab.selected_source;
  std::string_view path;
  std::uint32_t line = 0;
  if (!parse_source_location(followed_, path, line)) {
    lit_.reset();
    return;
  }
  lit_ = Place{std::string(path), line};
  const auto& sources = tab.snapshot->sources;
  if (const auto found = find_source(sources, path)) {
    open_text(sources[*found]);
    scroll_to_ = line;
  } else {
    page_ = Page::lines;
    page_chosen_ = true;
    if (!narrow_.empty() && followed_.find(narrow_) == std::string::npos) narrow_.clear();
    order_stale_ = show_lit_row_ = true;
  }
}

void SourcePanel::refresh_costs(const PanelContext& context) {
  const auto lines = context.analysis().source_lines();
  if (!lines || (lines == all_ && costs_heat_ == heat_)) return;
  const bool first = file_ && (costs_.empty() || hot_.empty());
  all_ = lines;
  costs_heat_ = heat_;
  const auto& sources = context.tab.snapshot->sources;
  costs_ = file_ ? content::line_costs(*lines, file_->path, lines_.size()) : std::vector<content::LineCost>{};
  hot_ = content::hot_lines(costs_, heat_);
  files_ = content::file_costs(*lines, sources);
  content::sort_files(files_, heat_, true);
  missing_texts_ = content::paths_without_text(*lines, sources).size();
  order_stale_ = true;
  const bool shown = lit_ && lit_events_of_ == lit_ && (context.tab.lit || lit_events_.total == 0);
  if (shown) context.analysis().ask_line_events(lit_->path, lit_->line);  // of this state
  const bool lit_here = lit_ && file_ && same_source(lit_->path, file_->path);
  if (first && !hot_.empty() && !lit_here) scroll_to_ = hot_.front() + 1;  // something useful at once
}

// Events name the file as the source recorded it, which may be shorter than the stored path.
std::string SourcePanel::recorded_path(std::uint32_t line) const {
  if (all_) {
    for (const analysis::SourceLine& cost : all_->lines) {
      if (cost.line == line && same_source(cost.path, file_->path)) return cost.path;
    }
  }
  return file_->path;
}

void SourcePanel::light_line(const PanelContext& context, const Place& place) {
  lit_ = place;
  session::SessionTab& tab = context.tab;
  tab.selected.reset();
  tab.related.clear();
  tab.lit.reset();
  const bool in_text = page_ == Page::text && file_;
  tab.selected_source = (in_text ? file_->path : place.path) + ":" + std::to_string(place.line);
  followed_ = tab.selected_source;
  lit_events_of_.reset();
  context.analysis().ask_line_events(place.path, place.line);
}

void SourcePanel::take_line_events(const PanelContext& context) {
  auto events = context.analysis().take_line_events();
  if (!events || !lit_) return;
  if (lit_events_of_ != lit_) lit_at_.reset();
  lit_events_ = std::move(*events);
  lit_events_of_ = lit_;
  causes_.reset();
  causes_task_ = {};
  session::SessionTab& tab = context.tab;
  tab.lit = lit_events_.total > 0 ? lit_events_.mask : nullptr;
  if (std::exchange(fit_when_ready_, false) && lit_events_.total > 0) {
    view::show_stretch(tab, lit_events_.stretch.begin_ns, lit_events_.stretch.end_ns);
    context.actions.reveal(lit_events_.events.front());
  }
  if (step_when_ready_ != 0) step_event(context, std::exchange(step_when_ready_, 0));
}

void SourcePanel::keep_up(const PanelContext& context) {
  if (!context.tab.lit || !lit_) return;
  refresh_costs(context);
  take_line_events(context);
}

void SourcePanel::draw(const PanelContext& context, const Rect& area) {
  begin(context);
  follow_selection(context);
  store_texts(context);
  take_stored(context);
  refresh_costs(context);
  take_line_events(context);
  find_causes(context);
  Ui& ui = context.ui;
  if (!file_ && page_ != Page::instructions && (!all_ || all_->lines.empty())) {
    constexpr std::string_view kNoLines =
        "No event names a source line. Kernels compiled with debug information do; the sources are then stored with "
        "the session.";
    empty_state(ui, "source.empty", area, icon::kFileCode, all_ ? kNoLines : "Adding up the source lines ...");
    return;
  }
  Rect rest = area;
  fill(ui, rest, ui.colour(Colour::bg1));
  if (!all_ && (page_ == Page::lines || page_ == Page::files)) {
    draw_head(context, rest.cut_top(ui.px(kSourceHeadRow)));
    empty_state(ui, "source.loading", rest, icon::kClock, "Adding up the source lines ...");
    return;
  }
  draw_head(context, rest.cut_top(ui.px(kSourceHeadRow)));
  const Rect tools = rest.cut_top(ui.px(kFindRow));
  if (lit_ && all_) draw_foot(context, rest.cut_bottom(ui.px(kFootHeight)));
  if (page_ == Page::text) {
    if (area.width() >= ui.px(kWidthWithListing)) {
      const Rect beside{area.x0 + std::round(area.width() * kTextShare), tools.y0, area.x1, rest.y1};
      vertical_line(ui, beside.x0, beside.y0, beside.y1, ui.colour(Colour::line2));
      rest.x1 = beside.x0;
      draw_find(context, {tools.x0, tools.y0, beside.x0, tools.y1});
      draw_instructions(context, {beside.x0 + ui.px(1), beside.y0, beside.x1, beside.y1}, true);
    } else {
      draw_find(context, tools);
    }
    draw_code(context, rest);
  } else if (page_ == Page::instructions) {
    draw_instructions(context, {tools.x0, tools.y0, rest.x1, rest.y1}, false);
  } else {
    draw_narrow(context, tools);
    page_ == Page::lines ? draw_lines(context, rest) : draw_files(context, rest);
  }
}

void SourcePanel::draw_head(const PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  fill(ui, row, ui.colour(Colour::bg2));
  Rect place = padded(ui, row);
  draw_heat(context, place);
  place.cut_right(ui.px(12));
  draw_icon(ui, place.cut_left(ui.px(16)), page_ == Page::text ? icon::kFileCode : icon::kList,
            ui.colour(Colour::text2), TextStyle::icon14);
  place.cut_left(ui.px(8));
  draw_choice(context, place);
  place.cut_left(ui.px(10));
  std::string hint;
  if (page_ == Page::text) hint = std::filesystem::path(file_->path).parent_path().string();
  if (page_ == Page::lines) hint = format_count(order_.size()) + " lines";
  if (page_ == Page::instructions && instructions_.value)
    hint = format_count(instructions_.value->rows.row_count()) + " places";
  if (page_ == Page::files) hint = format_count(files_.size()) + " files";
  draw_text(ui, place, hint, {.style = TextStyle::mono, .colour = Colour::text3, .fit = Fit::middle});
}

void SourcePanel::draw_heat(const PanelContext& context, Rect& row) {
  Ui& ui = context.ui;
  std::vector<std::string> heats;
  int chosen = 0;
  for (std::size_t i = 0; i < kHeats.size(); ++i) {
    heats.emplace_back(kHeats[i].title);
    if (kHeats[i].heat == heat_) chosen = static_cast<int>(i);
  }
  const DropdownOptions options{.label = "Heat: ", .flat = true};
  const float width = dropdown_width(ui, heats[static_cast<std::size_t>(chosen)], options);
  const Rect place = row.cut_right(width).middle(ui.px(size::kControl));
  if (dropdown(ui, "source.heat", place, heats, chosen, options)) {
    heat_ = kHeats[static_cast<std::size_t>(chosen)].heat;
    lines_table_.sort_column = files_table_.sort_column = -1;  // by the heat again
  }
}

// What is shown: all lines, all files, or one of the files, each with its cost.
void SourcePanel::draw_choice(const PanelContext& context, Rect& row) {
  Ui& ui = context.ui;
  std::string title = page_ == Page::text ? file_name(file_->path) : "";
  for (const PageName& page : kTablePages) {
    if (page.page == page_) title = page.title;
  }
  const float caret = ui.px(16);
  const float width = std::min(text_width(ui, TextStyle::heading, title) + caret, row.width());
  Rect place = row.cut_left(width).middle(ui.px(size::kControl));
  const Interaction response = interact(ui, "source.file", place, {.label = title});
  if (response.hovered) {
    set_cursor(Cursor::response);
    fill(ui, place.inset(-ui.px(4), 0), ui.colour(Colour::bg3), size::kChipRadius);
  }
  if (response.clicked) open_menu_below(ui, "source.files", place);
  draw_icon(ui, place.cut_right(caret), icon::kCaretDown, ui.colour(Colour::text2));
  draw_text(ui, place, title, {.style = TextStyle::heading, .fit = Fit::middle});

  std::vector<MenuItem> items;
  for (const PageName& page : kTablePages)
    items.push_back({.id = page.id, .label = page.title, .icon = page.icon, .checked = page.page == page_});
  for (std::size_t i = 0; i < std::min(files_.size(), kMostFilesInMenu); ++i) {
    items.push_back({.id = std::to_string(i),
                     .label = file_name(files_[i].path),
                     .shortcut = content::heat_text(files_[i].cost, heat_),
                     .icon = files_[i].text ? icon::kFileCode : icon::kFile,
                     .checked = page_ == Page::text && files_[i].text == file_,
                     .line_above = i == 0});
  }
  const auto chosen = popup_menu(ui, "source.files", items);
  if (!chosen) return;
  for (const PageName& page : kTablePages) {
    if (*chosen == page.id) return show_page(context, page.page, "");
  }
  std::size_t index = 0;
  std::from_chars(chosen->data(), chosen->data() + chosen->size(), index);
  if (index < files_.size()) show_page(context, Page::text, files_[index].path);
}

// A file without text is shown as its lines. The choice is kept with the session.
void SourcePanel::show_page(const PanelContext& context, Page page, const std::string& path) {
  const auto& sources = context.tab.snapshot->sources;
  page_chosen_ = true;
  order_stale_ = true;
  if (page != Page::text) {
    page_ = page;
    narrow_.clear();
  } else if (const auto found = find_source(sources, path)) {
    open_text(sources[*found]);
  } else {
    page_ = Page::lines;
    narrow_ = path;
  }
  std::string retained = page_ == Page::text ? "text " + file_->path : "";
  for (const PageName& each : kTablePages) {
    if (each.page == page_) retained = each.id;
  }
  session::keep_value(context.tab, session::kSourcePageKey, retained);
}

void SourcePanel::choose_folder(const PanelContext& context) const {
  context.actions.choose_folder("Choose the folder with the sources",
                                [choice = chosen_folder_](const std::string& folder) { *choice = folder; });
}

void SourcePanel::store_texts(const PanelContext& context) {
  if (chosen_folder_->empty() || !all_ || storing_.valid()) return;
  storing_from_ = std::exchange(*chosen_folder_, "");
  storing_ = pool_.start([names = content::paths_without_text(*all_, context.tab.snapshot->sources),
                          store = context.tab.store, folder = storing_from_](TaskControl&) -> Result<Stored> {
    if (store->is_read_only()) {
      return Error{store->opened_from() + ": is read-only and can take no sources; save it under another name first"};
    }
    const capture::sources::FoundSources found = capture::sources::find_source_files(names, {folder});
    for (const SourceFile& file : found.files) {
      TRY(store->define(0, file));
    }
    return Stored{found.files.size(), found.missing.size()};
  });
}

void SourcePanel::take_stored(const PanelContext& context) {
  if (!storing_.ready()) return;
  const auto stored = storing_.take();
  if (!stored) return context.actions.notify(Severity::warning, stored.message());
  if (stored->found == 0) {
    return context.actions.notify(Severity::warning,
                                  storing_from_ + ": none of the " + format_count(stored->missing) +
                                      " source files is below this folder; choose the one that holds them");
  }
  session::note_retained_change(context.tab);
  context.actions.inform("Stored " + format_count(stored->found) +
                         (stored->found == 1 ? " source file, " : " source files, ") + format_count(stored->missing) +
                         " not found");
  all_.reset();  // which texts there are has changed
  if (page_ != Page::text) page_chosen_ = false;
}

std::unique_ptr<Panel> make_source_panel(const PanelParts& parts) { return std::make_unique<SourcePanel>(parts.pool); }

}  // namespace accelscope::app::panels
