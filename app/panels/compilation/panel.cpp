#include <cstddef>

#include "app/content/advice_words.h"
#include "app/panels/answer_table.h"
#include "app/panels/panel.h"
#include "app/panels/rect_batch.h"
#include "core/analysis/compilation/compilations.h"
#include "core/listing/analysis_listings.h"

namespace accelscope::app::panels {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

// When programs were compiled, by what compilers printed, what calls are named and how long recurring calls took; and
// what every call of a recurring function cost. A sentence first, then three tables: by function, by call, and the
// compilations and cache hits; the calls of the chosen function beside them as bars.

// The calls of one function as stacked bars, in their order: host, compile and dispatch on top of each other, the
// kernels beside them. Where there are more calls than there is room, the longest of neighbours stands for them.

class CallBars {
 public:
  // `rows` are of call_rows(), of one function and in order. A click selects the call, a double click goes there.
  void draw(const PanelContext& context, Rect area, const analysis::Compilations& all,
            const std::vector<analysis::CallRow>& rows, const analysis::CallFunctionRow& function);

 private:
  // Which calls stand where; made anew when the calls or the room change.
  struct Slots {
    const std::vector<analysis::CallRow>* of = nullptr;
    std::size_t first_row = 0, count = 0;
    std::vector<std::size_t> shown;  // rows
    std::int64_t most_ns = 1;
  };
  void place(const std::vector<analysis::CallRow>& rows, const analysis::CallFunctionRow& function, std::size_t room);
  void touch(const PanelContext& context, const Rect& plot, float slot, const analysis::Compilations& all,
             const std::vector<analysis::CallRow>& rows) const;

  Slots slots_;
};

class CompilationPanel final : public Panel {
 public:
  void draw(const PanelContext& context, const Rect& area) override;
  [[nodiscard]] std::optional<bool> has_content(const PanelContext& context) const override;
  // What is told stays untaken while there is nothing to tell of.
  [[nodiscard]] bool pending() const override {
    return found_.task.valid() || (reported_.task.valid() && !(waits_ && reported_.task.ready()));
  }

 private:
  enum class Page : std::uint8_t { functions, calls, compilations };
  // What is told of a range.
  struct RangeQuestion {
    std::shared_ptr<const analysis::Compilations> of;
    TimeRange range;
    EventFilter within;
    bool operator==(const RangeQuestion&) const = default;
  };
  struct Reported {
    std::shared_ptr<const analysis::Compilations> of;
    std::vector<analysis::CallRow> rows;
    std::vector<analysis::CallFunctionRow> functions;
    std::shared_ptr<const listing::Listing> by_function, by_call, compilations;
    analysis::CompileSummary summary;
    std::int64_t range_ns = 0;
  };

  void ask(const PanelContext& context);
  [[nodiscard]] std::string wrong(const PanelContext& context) const;
  void draw_head(const PanelContext& context, Rect head);
  void draw_sentence(const PanelContext& context, Rect row) const;
  void draw_table(const PanelContext& context, Rect area);
  void draw_calls_of(const PanelContext& context, Rect area);
  [[nodiscard]] const analysis::CallFunctionRow* chosen() const;
  [[nodiscard]] bool is_stale() const { return waits_ || found_.stale() || reported_.stale(); }

  PanelScope scope_ = Scope::session;
  Page page_ = Page::functions;
  bool page_chosen_ = false;  // by the user
  FilteredAnswer<analysis::Compilations> found_;
  RetainedAnswer<Reported, RangeQuestion> reported_;
  std::shared_ptr<const Reported> shown_;
  bool waits_ = false;    // for what is to be told of
  std::string function_;  // whose calls are drawn; "": of the first row
  AnswerTable functions_, calls_, compilations_;
  CallBars bars_;
};

constexpr float kLegend = 22, kCallAxis = 18, kScaleWidth = 62;
constexpr float kLeastSlot = 3, kMostSlot = 40;  // units

struct CallPart {
  std::string_view name;
  unsigned slot;  // of the slice palette: host as own Python, launches as launches, kernels as kernels
  std::int64_t analysis::CallCost::*ns;
};
constexpr std::array<CallPart, 4> kCallParts = {{{"Host", 10, &analysis::CallCost::host_ns},
                                                 {"Compile", 3, &analysis::CallCost::compile_ns},
                                                 {"Dispatch", 8, &analysis::CallCost::dispatch_ns},
                                                 {"Kernels", 0, &analysis::CallCost::kernel_ns}}};
constexpr std::size_t kStacked = 3;  // the others are beside

[[nodiscard]] std::int64_t height_of(const analysis::CallCost& cost) { return std::max(cost.span_ns, cost.kernel_ns); }

void draw_legend(Ui& ui, Rect row) {
  for (const CallPart& part : kCallParts) {
    const float width = text_width(ui, TextStyle::small, part.name);
    if (row.width() < width + ui.px(16)) return;
    row.cut_left(draw_swatch(ui, row, ui.theme().slice(part.slot)) + ui.px(5));
    draw_text(ui, row.cut_left(width), part.name, kLabelText);
    row.cut_left(ui.px(14));
  }
}

constexpr float kCompilationHead = 36, kCompileSentence = 24, kRoomForNote = 100, kRoomForBars = 1'000;
constexpr float kBarsShare = 0.36F;

constexpr std::string_view kNothingCompiled =
    "Nothing tells of compiling, and no call of a host recurs and launches work. ";

std::string how_to_record(const Snapshot& snapshot) {
  if (content::tells_of_python(snapshot))
    return "Record a program's output (--program), its Python calls or its OpenCL calls, or open a trace of "
           "torch.profiler.";
  return "Record a program's output (--program), where a compiler's lines tell, or its OpenCL calls.";
}

}  // namespace

void CallBars::place(const std::vector<analysis::CallRow>& rows, const analysis::CallFunctionRow& function,
                     std::size_t room) {
  const std::size_t count = std::min(room, function.rows.size());
  if (slots_.of == &rows && slots_.first_row == function.rows.front() && slots_.count == count) return;
  slots_ = {&rows, function.rows.front(), count, {}, 1};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * function.rows.size() / count, last = (i + 1) * function.rows.size() / count;
    std::size_t longest = function.rows[first];
    for (std::size_t k = first; k < last; ++k) {
      if (height_of(rows[function.rows[k]].cost) > height_of(rows[longest].cost)) longest = function.rows[k];
    }
    slots_.shown.push_back(longest);
    slots_.most_ns = std::max(slots_.most_ns, height_of(rows[longest].cost));
  }
}

void CallBars::draw(const PanelContext& context, Rect area, const analysis::Compilations& all,
                    const std::vector<analysis::CallRow>& rows, const analysis::CallFunctionRow& function) {
  Ui& ui = context.ui;
  draw_legend(ui, area.cut_top(ui.px(kLegend)));
  const Rect foot = area.cut_bottom(ui.px(kCallAxis));
  Rect plot = area;
  const Rect scale = plot.cut_left(ui.px(kScaleWidth));
  if (plot.width() < ui.px(40) || plot.height() < ui.px(24)) return;
  place(rows, function, static_cast<std::size_t>(plot.width() / ui.px(kLeastSlot)));
  fill(ui, plot, ui.colour(Colour::bg1));
  const float slot = std::min(ui.px(kMostSlot), plot.width() / static_cast<float>(slots_.count));
  const float per_ns = (plot.height() - ui.px(4)) / static_cast<float>(slots_.most_ns);
  {
    RectBatch batch(*ui.draw());
    for (std::size_t i = 0; i < slots_.count; ++i) {
      const analysis::CallCost& cost = rows[slots_.shown[i]].cost;
      const float x0 = std::round(plot.x0 + slot * static_cast<float>(i)),
                  x1 = std::max(x0 + 1, std::round(plot.x0 + slot * static_cast<float>(i + 1)) - 1);
      const float beside = std::round(x0 + (x1 - x0) * 0.7F);
      float y = plot.y1;
      for (std::size_t part = 0; part < kCallParts.size(); ++part) {
        const std::int64_t ns = cost.*kCallParts[part].ns;
        if (part == kStacked) y = plot.y1;
        if (ns <= 0) continue;
        const float top = std::min(y - 1, y - per_ns * static_cast<float>(ns));
        batch.add(part == kStacked ? beside : x0, std::round(top), part == kStacked ? x1 : beside, std::round(y),
                  ui.theme().slice(kCallParts[part].slot));
        y = std::round(top);
      }
      if (context.tab.selected == all.calls.list[rows[slots_.shown[i]].call].event)
        batch.add(x0, plot.y1 - ui.px(2), x1, plot.y1, ui.colour(Colour::selection));
    }
  }
  horizontal_line(ui, plot.x0, plot.x1, plot.y1, ui.colour(Colour::line2));
  Rect top = scale;
  draw_text(ui, top.cut_top(ui.px(16)), format_duration(slots_.most_ns), kMonoHint);
  std::string axis = function.rows.size() == 1
                         ? std::string("1 call")
                         : fmt::format("{} calls, in their order", format_count(function.rows.size()));
  if (slots_.count < function.rows.size()) axis += "; of neighbours the longest is shown";
  draw_text(ui, {plot.x0, foot.y0, foot.x1, foot.y1}, axis, kHintText);
  touch(context, plot, slot, all, rows);
}

void CallBars::touch(const PanelContext& context, const Rect& plot, float slot, const analysis::Compilations& all,
                     const std::vector<analysis::CallRow>& rows) const {
  Ui& ui = context.ui;
  const Interaction response =
      interact(ui, "compilation.bars", plot, {.keys = FocusStopKind::pointer, .label = "Compilations"});
  if (!response.hovered) return;
  const auto at = static_cast<std::size_t>(std::max(0.0F, (ui.input().mouse.x - plot.x0) / slot));
  if (at >= slots_.shown.size()) return;
  set_cursor(Cursor::response);
  const analysis::CallRow& row = rows[slots_.shown[at]];
  const analysis::LaunchingCall& call = all.calls.list[row.call];
  if (response.clicked || response.double_clicked) select_target(context, call.event, response.double_clicked);
  if (response.hovered_for < kHoverCardDelay) return;
  HoverCard card;
  card.title = all.calls.functions[call.function];
  card.title_value = fmt::format("{} of {}", all.facts[row.call].number, all.facts[row.call].of);
  card.rows.push_back({"Takes", format_duration(row.cost.span_ns)});
  for (const CallPart& part : kCallParts)
    card.rows.push_back({std::string(part.name), format_duration(row.cost.*part.ns)});
  card.rows.push_back({"Launches", format_count(row.cost.launches)});
  const float x0 = plot.x0 + slot * static_cast<float>(at);
  hover_card(ui, card, {x0, plot.y0, x0 + slot, plot.y1});
}

// All of the session first, whatever the range: the first call of a function tells of all others.
void CompilationPanel::ask(const PanelContext& context) {
  session::SessionAnalysis& analysis = context.analysis();
  EventFilter filter = scope_filter(context.tab, scope_);
  const TimeRange range = filter.range.value_or(TimeRange{});
  filter.range.reset();
  std::shared_ptr<const analysis::Compilations> all;
  if (filter.empty()) {
    all = analysis.compilations();
    if (found_.asked_s >= 0 || found_.value) found_ = {};  // what was asked of a filter, its error too
  } else if (const auto known = analysis.dependencies()) {
    all = analysis.ask_of(found_, filter, NoQuestion{},
                          [known](const QueryContext& query) -> FoundAnswer<analysis::Compilations> {
                            return analysis::find_compilations(query, known.get());
                          },
                          {.of = analysis.made_of(analysis.dependencies_state())});
  }
  waits_ = !all;
  if (!all) return;
  EventFilter within;
  if (!(scope_ == Scope::session) && range != TimeRange{}) within.range = range;
  const auto reported = analysis.ask(
      reported_, RangeQuestion{all, range, within},
      {.of = filter.empty() ? analysis.basis_of(analysis.compilations_state()) : analysis.basis_of(found_),
       .rest_s = 0.1,
       .busy_s = session::SessionAnalysis::kRenewSeconds,
       .ages = false,
       .tells_itself = true},
      [all, range, within](const QueryContext& query) -> FoundAnswer<Reported> {
        auto made = std::make_shared<Reported>();
        made->of = all;
        made->rows = analysis::call_rows(*all, range);
        made->functions = analysis::call_functions(*all, made->rows);
        made->by_function = std::make_shared<const listing::Listing>(
            listing::functions_listing(*all, *query.snapshot, made->rows, made->functions, range, within));
        made->by_call =
            std::make_shared<const listing::Listing>(listing::calls_listing(*all, *query.snapshot, made->rows));
        made->compilations =
            std::make_shared<const listing::Listing>(listing::compilations_listing(*all, *query.snapshot, range));
        made->summary = analysis::sum_compilations(*all, range);
        made->range_ns = listing::session_part_ns(*query.snapshot, range);
        return std::shared_ptr<const Reported>(std::move(made));
      });
  if (reported) shown_ = reported;
}

std::string CompilationPanel::wrong(const PanelContext& context) const {
  for (const std::string& error : {found_.error, reported_.error, context.analysis().compilations_state().error}) {
    if (!error.empty()) return error;
  }
  return "";
}

const analysis::CallFunctionRow* CompilationPanel::chosen() const {
  if (!shown_ || shown_->functions.empty()) return nullptr;
  for (const analysis::CallFunctionRow& each : shown_->functions) {
    if (shown_->of->calls.functions[each.function] == function_) return &each;
  }
  return &shown_->functions.front();
}

std::optional<bool> CompilationPanel::has_content(const PanelContext& context) const {
  if (!shown_ || !scope_filter(context.tab, scope_).empty()) return std::nullopt;
  return !shown_->of->events.empty() || !shown_->of->calls.list.empty();
}

void CompilationPanel::draw(const PanelContext& context, const Rect& area) {
  Ui& ui = context.ui;
  const OwnSelection own(context.tab, scope_);
  ask(context);
  Rect rest = area;
  draw_head(context, padded(ui, rest.cut_top(ui.px(kCompilationHead))));
  const auto share = found_.task.valid() ? found_.share() : context.analysis().compilations_state().share();
  if (draw_missing(ui, "compilation", rest, wrong(context), shown_ != nullptr, "Looking for what was compiled ...",
                   share))
    return;
  if (shown_->of->events.empty() && shown_->of->calls.list.empty())
    return empty_sentence(
        ui, "compilation.empty", rest, icon::kSettings,
        scope_filter(context.tab, scope_).empty()
            ? std::string(kNothingCompiled) + how_to_record(*context.tab.snapshot)
            : "Nothing that passes the filter tells of compiling, and no call that does recurs and launches "
              "work.");
  if (!page_chosen_ && shown_->functions.empty()) page_ = Page::compilations;
  draw_sentence(context, padded(ui, rest.cut_top(ui.px(kCompileSentence))));
  if (rest.width() >= ui.px(kRoomForBars) && chosen() != nullptr) {
    Rect right = cut_pane(ui, rest, std::round(rest.width() * kBarsShare));
    draw_calls_of(context, padded(ui, right));
  }
  draw_table(context, rest);
}

void CompilationPanel::draw_head(const PanelContext& context, Rect head) {
  Ui& ui = context.ui;
  (void)draw_scope(context, "compilation.scope", head, scope_);
  const auto counted = [&](std::string_view label, const std::shared_ptr<const listing::Listing>& rows) {
    return rows ? fmt::format("{}  {}", label, format_count(rows->rows.row_count())) : std::string(label);
  };
  const std::string functions = counted("Functions", shown_ ? shown_->by_function : nullptr),
                    calls = counted("Calls", shown_ ? shown_->by_call : nullptr),
                    compilations = counted("Compilations", shown_ ? shown_->compilations : nullptr);
  std::array<Segment, 3> pages = {
      {{.label = functions, .tooltip = "Recurring functions that launch work, with all their calls together"},
       {.label = calls, .tooltip = "Each call of them: host, compile, dispatch and kernel time"},
       {.label = compilations, .tooltip = "What was compiled when, and what a cache had"}}};
  if (segmented_width(ui, pages) > head.width()) {
    pages[0].label = "Functions";
    pages[1].label = "Calls";
    pages[2].label = "Compilations";
  }
  int page = static_cast<int>(page_);
  if (segmented_left(ui, "compilation.page", head, pages, page)) {
    page_ = static_cast<Page>(page);
    page_chosen_ = true;
  }
  head.cut_left(ui.px(12));
  if (is_stale()) {
    draw_text(ui, head, "of the earlier range", kHintText);
  }
}

void CompilationPanel::draw_sentence(const PanelContext& context, Rect row) const {
  Ui& ui = context.ui;
  const analysis::CompileSummary& summary = shown_->summary;
  const bool repeats = summary.repeated > 0, stale = is_stale();
  ui.register_widget("compilation.sentence", row);
  draw_icon(ui, row.cut_left(ui.px(18)), repeats ? icon::kWarning : icon::kSettings,
            ui.colour(repeats ? Colour::warning_line : Colour::text2));
  row.cut_left(ui.px(6));
  const std::string text = listing::compile_text(summary, shown_->range_ns);
  const std::size_t cut = std::min(text.find(';'), text.size());
  const Colour first = stale ? Colour::text3 : repeats ? Colour::warning : Colour::text1;
  row.cut_left(draw_text(ui, row, text.substr(0, cut), {.style = TextStyle::heading, .colour = first}) + ui.px(8));
  if (cut < text.size() && !row.empty()) {
    draw_text(ui, row, text.substr(cut + 2),
              {.style = TextStyle::body, .colour = stale ? Colour::text3 : Colour::text2});
  }
}

void CompilationPanel::draw_table(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const std::shared_ptr<const listing::Listing> listing = page_ == Page::functions ? shown_->by_function
                                                          : page_ == Page::calls   ? shown_->by_call
                                                                                   : shown_->compilations;
  draw_note(ui, area, listing->note, kRoomForNote);
  if (listing->rows.row_count() == 0)
    return empty_sentence(
        ui, "compilation.none", area, icon::kSettings,
        page_ == Page::compilations
            ? "Nothing tells of compiling here: no compiler's line in captured output, no call named so, no "
              "first call far longer than the others."
            : "No call here recurs and launches work.");
  AnswerTable& table = page_ == Page::functions ? functions_ : page_ == Page::calls ? calls_ : compilations_;
  const std::string_view name = page_ == Page::functions ? "compilation.functions"
                                : page_ == Page::calls   ? "compilation.calls"
                                                         : "compilation.events";
  const AnswerTable::Response response = table.draw(context, name, area, listing);
  const std::optional<std::size_t> row = response.double_clicked ? response.double_clicked : response.clicked;
  if (!row) return;
  const analysis::Compilations& all = *shown_->of;
  if (page_ == Page::functions) function_ = all.calls.functions[shown_->functions[*row].function];
  if (page_ == Page::calls) function_ = all.calls.functions[all.calls.list[shown_->rows[*row].call].function];
}

void CompilationPanel::draw_calls_of(const PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const analysis::CallFunctionRow& function = *chosen();
  const std::string& name = shown_->of->calls.functions[function.function];
  const std::string hint = function.has_first && function.rows.size() > 1
                               ? fmt::format("first {}, median of the others {}", format_duration(function.first_ns),
                                             format_duration(function.median_ns))
                               : "";
  const Rect head = area.cut_top(ui.px(24));
  const float room = head.width() - text_width(ui, TextStyle::small, hint) - ui.px(12);
  heading(ui, head, fitted_text(ui, TextStyle::heading, name, room, Fit::middle), hint);
  bars_.draw(context, area, *shown_->of, shown_->rows, function);
}

std::unique_ptr<Panel> make_compilation_panel(const PanelParts&) { return std::make_unique<CompilationPanel>(); }

}  // namespace accelscope::app::panels
