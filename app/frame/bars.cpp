#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "app/content/axes/axes.h"
#include "app/content/figure_text.h"
#include "app/frame/app_state.h"
#include "app/frame/filter_bar.h"
#include "app/panels/quality/panel.h"
#include "app/session/analysis.h"
#include "app/session/shown_advice.h"
#include "core/scan/event_mask.h"

namespace accelscope::app::frame {

using namespace render;  // NOLINT: this file is nothing but drawing

// The top bar: menus, what we are connected to, the search and command box, the visible range, theme and settings.

namespace {

constexpr float kLogo = 34, kBoxWidth = 424, kLeastBox = 180;
constexpr const char* kNarrow = "top.narrow";  // remembered: the last frame had no room for the box

std::vector<MenuItem> items_of(const palette::CommandTable& commands, palette::MenuId menu) {
  std::vector<MenuItem> all;
  for (const palette::Command& command : commands.all()) {
    if (command.menu != menu || command.only_typed) continue;
    std::vector<MenuItem>* items = &all;
    if (!command.submenu.empty()) {
      auto submenu = std::ranges::find_if(*items, [&](const MenuItem& item) { return item.id == command.submenu; });
      if (submenu == items->end()) {
        submenu = items->insert(items->end(), {.id = command.submenu,
                                               .label = command.submenu,
                                               .line_above = command.separator_before && !items->empty()});
      }
      items = &submenu->children;
    }
    items->push_back({.id = command.id,
                      .label = command.title,
                      .shortcut = command.key,
                      .enabled = palette::CommandTable::can_run(command),
                      .checked = command.checked && command.checked(),
                      .line_above = command.separator_before && !items->empty()});
  }
  return all;
}

std::vector<Menu> menus_of(const palette::CommandTable& commands) {
  std::vector<Menu> menus;
  for (std::size_t i = 0; i < palette::kMenuCount; ++i) {
    const auto menu = static_cast<palette::MenuId>(i);
    menus.push_back({std::string(palette::menu_title(menu)), [&commands, menu] { return items_of(commands, menu); }});
  }
  return menus;
}

// Three staggered slices.
void draw_logo(Ui& ui, const Rect& box) {
  const float h = ui.px(4);
  const float y = std::floor(box.centre().y);
  const Pixel accent = ui.colour(Colour::accent);
  fill(ui, {box.x0, y - ui.px(7), box.x0 + ui.px(10), y - ui.px(7) + h}, accent, 1);
  fill(ui, {box.x0 + ui.px(4), y - ui.px(1), box.x0 + ui.px(14), y - ui.px(1) + h},
       mix(accent, ui.colour(Colour::bg3), 0.4F), 1);
  fill(ui, {box.x0 + ui.px(8), y + ui.px(5), box.x0 + ui.px(17), y + ui.px(5) + h}, accent, 1);
}

void draw_settings(AppState& state, Ui& ui, Rect& row) {
  const Rect settings = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.settings", settings, icon::kSettings, "Settings", {.kind = ButtonKind::flat})) {
    open_menu_below(ui, "settings", settings);
  }
  if (menu_is_open("settings")) {
    std::vector<MenuItem> items;
    for (const char* id : {"theme", "high_contrast", "reduced_motion", "larger", "smaller", "normal_size",
                           "reset_layout", "keys", "about"}) {
      const palette::Command* command = state.commands.find(id);
      items.push_back({.id = id,
                       .label = command->title,
                       .shortcut = command->key,
                       .enabled = palette::CommandTable::can_run(*command),
                       .checked = command->checked && command->checked(),
                       .line_above = std::string_view(id) == "reset_layout"});
    }
    if (const auto chosen = popup_menu(ui, "settings", items)) state.commands.run(*chosen);
  }
  const bool dark = state.theme != ThemeKind::light;
  const Rect theme = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.theme", theme, dark ? icon::kSun : icon::kMoon, dark ? "Light theme" : "Dark theme",
                  {.kind = ButtonKind::flat, .shortcut = "Ctrl+Shift+L"})) {
    state.commands.run("theme");
  }
}

void draw_range_text(AppState& state, Ui& ui, Rect& row, const session::SessionTab& tab, const std::string& span,
                     const std::string& range) {
  draw_text(ui, row.cut_right(text_width(ui, TextStyle::mono_strong, span)), span, {.style = TextStyle::mono_strong});
  row.cut_right(ui.px(10));
  const Rect place = row.cut_right(text_width(ui, TextStyle::mono, range));
  draw_text(ui, place, range, {.style = TextStyle::mono, .colour = Colour::text2});
  const Interaction response = interact(ui, "top.range", place, {.label = range});
  tooltip(ui, response, place, "Visible range; click to copy it");
  if (response.clicked) {
    ui.copy_to_clipboard(std::to_string(std::llround(tab.view.begin_ns)) + ":" +
                         std::to_string(std::llround(tab.view.end_ns)));
    state.inform("Copied the range in ns");
  }
  row.cut_right(ui.px(8));
}

// Tracks that hold events in time: what a user calls a lane.
std::size_t lane_count(const Snapshot& snapshot) {
  std::size_t count = 0;
  for (const TrackSnapshot& track : snapshot.tracks) {
    const EventKind kind = track.schema ? track.schema->kind : EventKind::slice;
    if (kind != EventKind::flow && kind != EventKind::table) ++count;
  }
  return count;
}

// The text of the range goes where it would leave no room for the box: the ruler has it too. A file without times has
// none.
void draw_range(AppState& state, Ui& ui, Rect& row, const session::SessionTab& tab) {
  row.cut_right(ui.px(12));
  const std::string span = format_duration(tab.view.span_ns());
  const std::string range = format_range(tab.view.begin_ns, tab.view.end_ns);
  const float text = text_width(ui, TextStyle::mono_strong, span) + text_width(ui, TextStyle::mono, range) + ui.px(18);
  const float retained = ui.px(kLeastBox + 2 * 12 + 2 * size::kControl);
  const bool has_times = !tab.snapshot || tab.snapshot->tracks.empty() || lane_count(*tab.snapshot) > 0;
  if (has_times && row.width() - text >= retained) draw_range_text(state, ui, row, tab, span, range);
  const Rect forward = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.forward", forward, icon::kArrowRight, "Forward to the next view",
                  {.kind = ButtonKind::flat, .disabled = !tab.history.can_go_forward(), .shortcut = "Alt+Right"})) {
    state.commands.run("view_forward");
  }
  const Rect back = row.cut_right(ui.px(size::kControl)).middle(ui.px(size::kControl));
  if (icon_button(ui, "top.back", back, icon::kArrowLeft, "Back to the view before",
                  {.kind = ButtonKind::flat, .disabled = !tab.history.can_go_back(), .shortcut = "Alt+Left"})) {
    state.commands.run("view_back");
  }
}

std::string time_text(const TimeRange& range) {
  return "Time " + format_time_exact(range.begin_ns) + " – " + format_time_exact(range.end_ns);
}

// What passes, or why that cannot be said.
std::string passing_text(session::SessionAnalysis& analysis, const session::SessionTab& tab, bool& wrong) {
  const EventFilter& filter = tab.choices.filter;
  const std::shared_ptr<const session::PassingCount> counted = analysis.passing();
  wrong = filter.needs_mask() && !analysis.mask_error(session::MaskUse::filter).empty();
  if (wrong) return analysis.mask_error(session::MaskUse::filter);
  if (!counted) return "Filtering ...";
  return format_count(counted->passing) + " of " + format_count(counted->all) + " events pass";
}

constexpr std::string_view kUpdating = "updating ...";  // of data that there was before
constexpr float kVerdictGap = 20, kLabelGap = 6;

// What it is called, and a link behind it.
struct VerdictFinding {
  const char* name;
  const char* label;
  std::string text;

  [[nodiscard]] float label_width(const Ui& ui) const {
    return *label == 0 ? 0 : text_width(ui, TextStyle::small, label) + ui.px(kLabelGap);
  }
  [[nodiscard]] float width(const Ui& ui) const { return label_width(ui) + link_width(ui, text, TextStyle::small); }
};

bool draw_finding(Ui& ui, Rect& row, const VerdictFinding& finding) {
  row.cut_left(ui.px(kVerdictGap));
  draw_text(ui, row.cut_left(finding.label_width(ui)), finding.label, kHintText);
  const Rect place = row.cut_left(link_width(ui, finding.text, TextStyle::small));
  return link(ui, finding.name, place, finding.text, TextStyle::small);
}

void follow(AppState& state, const analysis::Verdict& verdict, std::string_view finding) {
  if (finding == "verdict.missing") {
    state.layout.show("quality");
  } else if (finding == "verdict.advice" || finding == "verdict.error") {
    const std::shared_ptr<const analysis::Advice> advice = state.tab()->analysis->advice();
    const bool is_error = finding == "verdict.error";
    const analysis::Finding* const chosen = !advice    ? nullptr
                                            : is_error ? analysis::reported_error(*advice)
                                                       : analysis::costliest_finding(*advice);
    if (chosen != nullptr) state.tab()->chosen_warning = chosen->key;
    state.layout.show("warnings");
  } else if (finding == "verdict.cause") {
    view::show_stretch(*state.tab(), verdict.cause_range->begin_ns, verdict.cause_range->end_ns);
  } else {
    state.tab()->selected_source = verdict.worst->path + ":" + std::to_string(verdict.worst->line);
    state.layout.show("source");
  }
}

// The finding that would save most, unless the cause that the verdict names is worth more.
std::string top_advice(const session::SessionTab& tab, const analysis::Verdict& verdict) {
  const std::shared_ptr<const analysis::Advice> advice = tab.analysis->advice();
  const analysis::Finding* const costliest = advice ? analysis::costliest_finding(*advice) : nullptr;
  if (costliest == nullptr) return "";
  const bool less = verdict.cause_range && verdict.cause_range->length_ns() >= costliest->saving_ns;
  return less ? "" : analysis::advice_text(*advice);
}

void draw_findings(AppState& state, Ui& ui, Rect row, const analysis::Verdict& verdict) {
  std::vector<VerdictFinding> findings;
  const bool leads = verdict.cause_range.has_value();
  const std::shared_ptr<const analysis::Advice> advice = state.tab()->analysis->advice();
  const analysis::Finding* const error = advice ? analysis::reported_error(*advice) : nullptr;
  const bool tells_error = error != nullptr;
  if (tells_error) {
    draw_icon(ui, row.cut_left(ui.px(14)), icon::kError, ui.colour(Colour::error), TextStyle::icon13);
    if (draw_finding(ui, row, {"verdict.error", "", error->tab})) follow(state, verdict, "verdict.error");
    row.cut_left(ui.px(kVerdictGap));
  }
  if (leads) findings.push_back({"verdict.cause", "", verdict.cause});
  if (std::string top = top_advice(*state.tab(), verdict); !top.empty()) {
    findings.push_back({"verdict.advice", "", std::move(top)});
  }
  if (verdict.worst) findings.push_back({"verdict.line", "Worst line", analysis::line_text(*verdict.worst)});
  if (!verdict.missing.empty()) findings.push_back({"verdict.missing", "Data quality", verdict.missing});
  const std::string bound_text =
      (state.tab()->choices.filter.empty() ? "" : "Whole session, not filtered: ") + verdict.bound;
  const float wanted = text_width(ui, TextStyle::small_strong, bound_text) + 1;
  float cause =
      leads || verdict.cause.empty() ? 0 : ui.px(kVerdictGap) + text_width(ui, TextStyle::small, verdict.cause) + 1;
  float behind = cause;
  for (const VerdictFinding& finding : findings) behind += ui.px(kVerdictGap) + finding.width(ui);
  // What can be followed says more; the bound's tooltip has the cause too.
  if ((tells_error || !findings.empty()) && wanted + behind > row.width()) behind -= std::exchange(cause, 0.0F);
  while (!findings.empty() && wanted + behind > row.width()) {  // the status bar and the source panel tell them too
    behind -= ui.px(kVerdictGap) + findings.back().width(ui);
    findings.pop_back();
  }
  const Rect place = row.cut_left(std::min(wanted, row.width()));
  if (place.width() > 0) {
    draw_text(ui, place, bound_text, {.style = TextStyle::small_strong});
    tooltip(ui, interact(ui, "verdict.bound", place, {.keys = FocusStopKind::open}), place,
            verdict.bound + "\n" + verdict.cause);
  }
  if (cause > 0) {
    row.cut_left(ui.px(kVerdictGap));
    draw_text(ui, row.cut_left(std::min(cause - ui.px(kVerdictGap), row.width())), verdict.cause, kLabelText);
  }
  for (const VerdictFinding& finding : findings) {
    if (draw_finding(ui, row, finding)) follow(state, verdict, finding.name);
  }
}

constexpr float kLeastForStore = 520;  // units of width below which only the counts are shown

struct Chip {
  const char* icon = nullptr;
  Colour icon_colour = Colour::text2;
  std::string text;
  Colour colour = Colour::text2;
  std::string tooltip = {};
  bool acts = false;  // when it is clicked
};

float chip_width_of(const Ui& ui, const Chip& chip) {
  return text_width(ui, TextStyle::small, chip.text) + (chip.icon != nullptr ? ui.px(20) : 0);
}

// Draws it in the place; true when clicked.
bool draw_chip(Ui& ui, const char* name, Rect place, const Chip& chip) {
  const Interaction response =
      interact(ui, name, place, {.keys = chip.acts ? FocusStopKind::button : FocusStopKind::open, .label = chip.text});
  if (response.hovered && !chip.tooltip.empty()) fill(ui, place.inset(-ui.px(4), 0), ui.colour(Colour::bg4));
  if (!chip.tooltip.empty()) tooltip(ui, response, place, chip.tooltip);
  if (chip.icon != nullptr) {
    draw_icon(ui, place.cut_left(ui.px(14)), chip.icon, ui.colour(chip.icon_colour), TextStyle::icon13);
    place.cut_left(ui.px(6));
  }
  draw_text(ui, place, chip.text, {.style = TextStyle::small, .colour = chip.colour});
  return response.clicked;
}

bool left_chip(Ui& ui, const char* name, Rect& row, const Chip& chip, bool line_before = true) {
  if (line_before) {
    vertical_line(ui, row.x0, row.y0 + ui.px(6), row.y1 - ui.px(6), ui.colour(Colour::line2));
    row.cut_left(ui.px(9));
  }
  const Rect place = row.cut_left(std::min(chip_width_of(ui, chip) + 1, row.width()));
  row.cut_left(ui.px(8));
  return draw_chip(ui, name, place, chip);
}

Chip quality_chip(const Snapshot& snapshot) {
  const panels::QualitySummary summary = panels::summarise_quality(snapshot);
  Chip chip{.icon = icon::kCheckCircle,
            .icon_colour = Colour::ok,
            .text = panels::quality_text(summary),
            .tooltip = "What was lost, skipped or estimated; click to see it",
            .acts = true};
  if (summary.notes > 0) chip.icon = icon::kInfo, chip.icon_colour = Colour::text2;
  if (summary.warnings > 0) chip.icon = icon::kWarning, chip.icon_colour = Colour::warning_line;
  if (summary.errors > 0) chip.icon = icon::kError, chip.icon_colour = Colour::error;
  return chip;
}

std::string where_it_lies(const StoreStatus& status) {
  if (status.in_memory) return "The session lies in memory";
  if (status.file_bytes == 0) return "The session lies in " + status.path;
  return fmt::format(
      "The session has passed its memory budget: {} of it lie in a file without a name in {}, until it is saved",
      format_bytes(status.file_bytes), status.path);
}

void draw_session_status(AppState& state, Ui& ui, Rect& row, session::SessionTab& tab) {
  const std::size_t index = *state.workspace.active_index();
  if (row.width() > ui.px(kLeastForStore)) {
    const StoreStatus& status = tab.analysis->store_status();
    const Chip memory{.icon = icon::kDatabase,
                      .text = format_bytes(status.memory_bytes) + " in memory",
                      .tooltip = where_it_lies(status)};
    draw_chip(ui, "status.memory", row.cut_right(chip_width_of(ui, memory)), memory);
    row.cut_right(ui.px(16));
    const Chip saved{.text = saved_text(tab, state.workspace.saving(index)),
                     .tooltip = tab.path.empty() ? "Save it with Ctrl+S" : tab.path,
                     .acts = true};
    if (draw_chip(ui, "status.saved", row.cut_right(chip_width_of(ui, saved)), saved)) state.commands.run("save");
    row.cut_right(ui.px(16));
  }

  // Before all else: times of a run that went wrong say little.
  const std::shared_ptr<const analysis::Advice> advice = session::shown_advice(tab);
  const analysis::Finding* const error = advice ? analysis::reported_error(*advice) : nullptr;
  if (error != nullptr) {
    const Chip chip{.icon = icon::kError,
                    .icon_colour = Colour::error,
                    .text = error->tab,
                    .colour = Colour::error,
                    .tooltip = error->headline,
                    .acts = true};
    if (left_chip(ui, "status.hardware_error", row, chip, false)) {
      tab.chosen_warning = error->key;
      state.layout.show("warnings");
    }
  }
  std::string events = events_text(tab);
  std::string explained = "Of all tracks; rows of tables without times are none";
  if (const auto counted = tab.analysis->passing()) {
    events = format_count(counted->passing) + " of " + format_count(counted->all) + " events pass";
    explained = "Rows of tables without time are not counted: no filter concerns them";
  }
  left_chip(ui, "status.events", row, {.text = events, .tooltip = explained}, error != nullptr);
  const Chip quality = quality_chip(*tab.snapshot);
  const Chip active{.text = active_text(tab),
                    .tooltip =
                        "At least one device works, or a thread where there is none; each moment counts once, "
                        "waits do not count"};
  const Chip rate{.icon = icon::kDownload,
                  .icon_colour = Colour::accent,
                  .text = format_count(static_cast<std::uint64_t>(tab.events_per_second)) + " events/s"};
  const bool recording = tab.live == session::LiveState::recording;
  // What is missing is said first where there is no room for all.
  const float retained = chip_width_of(ui, quality) + ui.px(17) + (recording ? chip_width_of(ui, rate) + ui.px(17) : 0);
  if (row.width() >= chip_width_of(ui, active) + ui.px(17) + retained) left_chip(ui, "status.active", row, active);
  if (recording && row.width() >= retained) left_chip(ui, "status.rate", row, rate);
  if (left_chip(ui, "status.quality", row, quality)) state.layout.show("quality");
}

}  // namespace

void draw_top_bar(AppState& state, Ui& ui, Rect bar) {
  const FocusPane pane(ui, kTopPane.name, kTopPane.order);
  fill(ui, bar, ui.colour(Colour::bg3));
  horizontal_line(ui, bar.x0, bar.x1, bar.y1 - 1, ui.colour(Colour::line2));
  Rect row = padded(ui, bar);
  draw_logo(ui, row.cut_left(ui.px(kLogo - 6)));
  const auto draw_box = [&](const Rect& place) {
    const Rect box = place.middle(ui.px(size::kControl));
    state.command_box.draw(ui, box, state.commands, state.searches, state.tab(), state.actions.inform,
                           state.actions.reveal);
  };
  if (state.command_box.in_use() && ui.remembered(kNarrow) > 0) return draw_box(row);  // in place of all else
  float used = 0;
  const std::vector<Menu> menus = menus_of(state.commands);
  if (const auto chosen = menu_bar(ui, "menu", row, menus, &used)) state.commands.run(*chosen);
  row.cut_left(used + ui.px(8));
  vertical_line(ui, row.x0, row.y0 + ui.px(11), row.y1 - ui.px(11), ui.colour(Colour::line2));
  row.cut_left(ui.px(12));
  Rect settings = row.cut_right(std::min(ui.px(2 * size::kControl), row.width()));
  draw_capture_bar(state, ui, row);
  draw_settings(state, ui, settings);
  session::SessionTab* tab = state.tab();
  if (tab != nullptr && row.width() >= ui.px(12 + 2 * size::kControl)) draw_range(state, ui, row, *tab);

  // In the middle of the window when there is room, else in the middle of what is left.
  row = row.inset(ui.px(12), 0);
  float& narrow = ui.remembered(kNarrow);
  narrow = row.width() < ui.px(kLeastBox) ? 1 : 0;
  if (narrow > 0) return;  // it is there once it is asked for
  const float width = std::min(ui.px(kBoxWidth), row.width());
  const float wanted = bar.centre().x - width / 2;
  const float left = std::round(std::clamp(wanted, row.x0, row.x1 - width));
  draw_box({left, row.y0, left + width, row.y1});
}

std::vector<FilterChip> filter_chips(const EventFilter& filter, const Snapshot& snapshot) {
  std::vector<FilterChip> chips;
  if (filter.range) chips.push_back({FilterChip::Part::time, 0, time_text(*filter.range)});
  if (filter.tracks.size() == 1) {
    const TrackSnapshot* track = snapshot.find_track(filter.tracks.front());
    chips.push_back(
        {FilterChip::Part::tracks, 0, "Lane " + (track != nullptr ? track->track->name : std::string("–"))});
  } else if (!filter.tracks.empty()) {
    chips.push_back(
        {FilterChip::Part::tracks, 0, fmt::format("{} of {} lanes", filter.tracks.size(), lane_count(snapshot))});
  }
  for (std::size_t i = 0; i < filter.terms.size(); ++i) {
    const FilterTerm& term = filter.terms[i];
    chips.push_back({FilterChip::Part::term, i, (term.excluded ? "Not " : "") + term.search});
  }
  return chips;
}

void remove_part(EventFilter& filter, const FilterChip& chip) {
  switch (chip.part) {
    case FilterChip::Part::time:
      return filter.range.reset();
    case FilterChip::Part::tracks:
      return filter.tracks.clear();
    case FilterChip::Part::term:
      if (chip.term < filter.terms.size())
        filter.terms.erase(filter.terms.begin() + static_cast<std::ptrdiff_t>(chip.term));
  }
}

void draw_filter_bar(const panels::PanelContext& context, Rect& area) {
  session::SessionTab& tab = context.tab;
  if (tab.choices.filter.empty()) return;
  Ui& ui = context.ui;
  const Rect bar = area.cut_top(ui.px(size::kFilterRow));
  fill(ui, bar, ui.colour(Colour::bg2));
  horizontal_line(ui, bar.x0, bar.x1, bar.y1 - ui.px(1), ui.colour(Colour::line2));
  Rect row = padded(ui, bar);
  draw_icon(ui, row.cut_left(ui.px(20)), icon::kFilter, ui.colour(Colour::accent), TextStyle::icon14);
  row.cut_left(ui.px(6));

  const float clear_width = link_width(ui, "Clear all");
  const std::vector<FilterChip> chips = filter_chips(tab.choices.filter, *tab.snapshot);
  std::optional<FilterChip> removed;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const ChipOptions options{.label = chips[i].text, .closable = true, .tooltip = chips[i].text};
    const float width = std::min(chip_width(ui, options), ui.px(320));
    if (row.width() < width + clear_width + ui.px(24)) {
      draw_text(ui, row.cut_left(ui.px(60)), fmt::format("+{}", chips.size() - i), {.colour = Colour::text2});
      break;
    }
    const Rect place = row.cut_left(width).middle(ui.px(size::kSmallControl));
    row.cut_left(ui.px(8));
    if (chip(ui, fmt::format("filter.chip.{}", i), place, options).closed) removed = chips[i];
  }
  row.cut_left(ui.px(4));
  const bool clear =
      link(ui, "filter.clear", row.cut_left(clear_width).middle(ui.px(size::kSmallControl)), "Clear all");
  row.cut_left(ui.px(16));
  bool wrong = false;
  std::string text = passing_text(context.analysis(), tab, wrong);
  if (!wrong)
    text += (text.empty() ? "" : ". ") + std::string("Panels, totals and exports follow, or say that they do not");
  draw_text(ui, row, text,
            {.style = TextStyle::small, .colour = wrong ? Colour::error : Colour::text3, .align = Align::right});
  if (clear) tab.change([](session::ViewChoices& choices) { choices.filter = {}; });
  if (removed) tab.change([&](session::ViewChoices& choices) { remove_part(choices.filter, *removed); });
}

// The verdict of a session in one line above its timeline: what bounds it, the largest single cause, its worst source
// line and what its data lack; what leads somewhere is a link. Its row is there from the start, so that nothing moves
// when the answer comes.

void draw_verdict(AppState& state, Ui& ui, Rect& area) {
  session::SessionTab& tab = *state.tab();
  bool& closed = state.panels_of(tab).verdict_closed;
  if (closed || session::may_grow(tab) || tab.snapshot->event_count == 0) return;
  const Rect strip = area.cut_top(ui.px(size::kStatusBar));
  fill(ui, strip, ui.colour(Colour::bg2));
  horizontal_line(ui, strip.x0, strip.x1, strip.y1 - 1, ui.colour(Colour::line2));
  Rect row = padded(ui, strip);
  const float side = ui.px(size::kStatusBar - 4);
  if (icon_button(ui, "verdict.close", row.cut_right(side).middle(side), icon::kClose,
                  "Close this line (View opens it again)")) {
    closed = true;
  }
  draw_icon(ui, row.cut_left(ui.px(14)), icon::kBalance, ui.colour(Colour::accent), TextStyle::icon13);
  row.cut_left(ui.px(8));
  row.cut_right(ui.px(8));
  (void)tab.analysis->take_older();
  const std::shared_ptr<const analysis::Verdict> verdict = tab.analysis->verdict();
  (void)tab.analysis->advice();
  if (tab.analysis->take_older()) {
    const float width = text_width(ui, TextStyle::small, kUpdating);
    draw_text(ui, row.cut_right(width), kUpdating, kHintText);
    row.cut_right(ui.px(8));
  }
  if (verdict) return draw_findings(state, ui, row, *verdict);
  const std::string& problem = tab.analysis->error();
  const char* const waiting = tab.choices.filter.empty() ? "Looking for what bounds it ..."
                                                         : "What bounds the session is told without a filter";
  draw_text(ui, row, problem.empty() ? waiting : problem, kHintText);
}

// The status bar: what is loaded, how well, how fast it comes in, where it is saved, what went wrong last.

std::string events_text(const session::SessionTab& tab) {
  return counted(count_passing(*tab.snapshot, nullptr), "event");
}

std::string active_text(const session::SessionTab& tab) {
  const Snapshot& snapshot = *tab.snapshot;
  const std::string whole = format_duration(snapshot.end_ns - snapshot.begin_ns);
  if (!tab.analysis) return whole + " recorded";
  (void)tab.analysis->take_older();
  const auto activity = tab.analysis->activity();
  if (!activity || activity->active_ns == 0) return whole + " recorded";
  const std::string active = "active " + format_duration(activity->active_ns);
  return active + (tab.analysis->take_older() ? " ... of " : " of ") + whole;
}

std::string saved_text(const session::SessionTab& tab, bool saving) {
  if (saving) return "Saving";
  const std::string name = std::filesystem::path(tab.path).filename().string();
  if (tab.path.empty()) return tab.modified ? "Not saved" : "Imported, not saved";
  return (tab.modified ? "Changed  " : "Saved  ") + name;
}

void draw_status_bar(AppState& state, Ui& ui, Rect bar) {
  const FocusPane pane(ui, kStatusPane.name, kStatusPane.order);
  fill(ui, bar, ui.colour(Colour::bg3));
  horizontal_line(ui, bar.x0, bar.x1, bar.y0, ui.colour(Colour::line2));
  Rect row = padded(ui, bar);
  session::SessionTab* tab = state.tab();
  if (tab != nullptr) {
    draw_session_status(state, ui, row, *tab);
  } else {
    const std::string version = std::string("Accelscope ") + ACCELSCOPE_VERSION;
    draw_text(ui, row.cut_right(text_width(ui, TextStyle::small, version)), version, kHintText);
    const std::string& problem = ui.fonts().problem();
    left_chip(ui, "status.ready", row,
              problem.empty() ? Chip{.icon = icon::kCheckCircle, .icon_colour = Colour::ok, .text = "Ready"}
                              : Chip{.icon = icon::kWarning, .icon_colour = Colour::warning_line, .text = problem},
              false);
  }
  if (state.now_s < state.toast_until_s) {
    left_chip(ui, "status.toast", row,
              {.icon = icon::kCheck, .icon_colour = Colour::accent, .text = state.toast, .colour = Colour::text1});
  } else if (!state.workspace.last_error().empty()) {
    left_chip(ui, "status.error", row,
              {.icon = icon::kError,
               .icon_colour = Colour::error,
               .text = state.workspace.last_error(),
               .colour = Colour::error,
               .tooltip = state.workspace.last_error()});
  }
}

}  // namespace accelscope::app::frame
