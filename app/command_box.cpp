#include "app/command_box.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "app/selection.h"
#include "app/session_analysis.h"
#include "core/base/format.h"
#include "imgui.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
constexpr float kRow = 26;
constexpr std::size_t kMostRows = 12;
}  // namespace

void CommandBox::focus(Mode mode) {
  if (mode != mode_) text_.clear();
  if (mode != mode_) followed_ = nullptr;
  mode_ = mode;
  focus_now_ = true;
  chosen_ = 0;
}

std::string CommandBox::search_line(const SessionTab& tab) const {
  if (!tab.analysis->search_error().empty()) return tab.analysis->search_error();
  if (tab.analysis->searching()) return "Searching ...";
  const EventSearch* hits = tab.analysis->hits();
  if (hits == nullptr) return "Enter finds events";
  return hits->total() == 0 ? std::string("No event matches")
                            : format_count(hits->total()) + " events; Enter next, Shift+Enter previous";
}

std::vector<const Command*> CommandBox::found_in(const CommandTable& commands) const {
  std::vector<const Command*> found = commands.matching(text_);
  if (!text_.empty()) return found;
  const auto age = [&](const Command* command) { return std::find(used_.begin(), used_.end(), command->id); };
  std::stable_sort(found.begin(), found.end(), [&](const Command* a, const Command* b) { return age(a) < age(b); });
  return found;
}

void CommandBox::draw(Ui& ui, const Rect& rect, const CommandTable& commands, SessionTab* tab,
                      const std::function<void(std::string)>& say, const std::function<void(EventId)>& reveal) {
  constexpr std::array<std::string_view, 2> kKeys = {"Ctrl+F", "Ctrl+P"};
  const bool commanding = mode_ == Mode::command || tab == nullptr;
  if (!commanding && (followed_ != tab || followed_text_ != tab->choices.search)) text_ = tab->choices.search;
  const std::vector<const Command*> found =
      commanding || !text_.empty() ? found_in(commands) : std::vector<const Command*>{};
  const TextInputResult typed = text_input(
      ui, "top.search", rect, text_,
      {.placeholder = commanding && mode_ == Mode::command ? "Run a command" : "Search events, or run a command",
       .icon = icon::kSearch,
       .key_caps = kKeys,
       .error = tab != nullptr && mode_ == Mode::search && !tab->analysis->search_error().empty(),
       .focus_now = std::exchange(focus_now_, false)});
  if (!commanding) {
    tab->choices.search = followed_text_ = text_;
    followed_ = tab;
    tab->analysis->search(text_);
  }
  if (typed.changed) chosen_ = 0;
  const bool was_open = list_open_;
  list_open_ = (typed.focused && (commanding || !text_.empty())) || (was_open && list_hovered_);
  const auto rows = static_cast<int>(std::min(found.size(), kMostRows)) + (commanding ? 0 : 1);
  if (typed.focused && rows > 0) {
    if (ui.pressed(Key::down)) chosen_ = (chosen_ + 1) % rows;
    if (ui.pressed(Key::up)) chosen_ = (chosen_ + rows - 1) % rows;
  }
  chosen_ = std::clamp(chosen_, 0, std::max(0, rows - 1));
  if (list_open_) draw_list(ui, rect, commands, tab);

  const bool backward = ui.input().modifiers().shift;
  const bool searches = !commanding && chosen_ == 0;
  if ((typed.submitted && searches) || std::exchange(search_clicked_, false)) {
    if (tab != nullptr && !text_.empty()) {
      tab->remember_view();  // what was searched for is part of the view
      step(*tab, !backward, say, reveal);
    }
    focus_now_ = true;  // Enter again steps on
    return;
  }
  if (typed.submitted && rows > 0) run_id_ = found[static_cast<std::size_t>(chosen_ - (commanding ? 0 : 1))]->id;
  if (typed.cancelled) {
    mode_ = Mode::search;
    if (commanding) followed_ = nullptr;
  }
  if (run_id_.empty()) return;
  const std::string id = std::exchange(run_id_, "");
  std::erase(used_, id);
  used_.insert(used_.begin(), id);
  list_open_ = false;
  text_.clear();
  if (!commanding) tab->choices.search.clear();  // it was the name of a command
  mode_ = Mode::search;
  followed_ = nullptr;
  if (!commands.run(id)) say("This cannot be done now");
}

void CommandBox::draw_list(Ui& ui, const Rect& anchor, const CommandTable& commands, SessionTab* tab) {
  const bool commanding = mode_ == Mode::command || tab == nullptr;
  const std::vector<const Command*> found = found_in(commands);
  const std::size_t shown = std::min(found.size(), kMostRows);
  const std::size_t rows = shown + (commanding ? 0 : 1);
  const Rect box{anchor.x0, anchor.y1 + ui.px(2), anchor.x1,
                 anchor.y1 + ui.px(10) + ui.px(kRow) * static_cast<float>(std::max<std::size_t>(rows, 1))};
  ImGui::SetNextWindowPos({box.x0, box.y0});
  ImGui::SetNextWindowSize({box.width(), box.height()});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::Begin("##command_list", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_Tooltip);
  fill(ui, box, ui.colour(Colour::bg4), size::kControlRadius);
  outline(ui, box, ui.colour(Colour::line2), size::kControlRadius);
  list_hovered_ = box.contains(ui.input().mouse);
  Rect rest = box.inset(ui.px(4), ui.px(4));
  int index = 0;
  const auto row_of = [&](const std::string& name, bool enabled) {
    const Rect row = rest.cut_top(ui.px(kRow));
    const Interaction hand = interact(ui, name, row, {.disabled = !enabled});
    if (index == chosen_ || hand.hovered) fill(ui, row, ui.colour(Colour::accent_bg), size::kChipRadius);
    ++index;
    return std::pair{row.inset(ui.px(8), 0), hand.pressed || hand.clicked};
  };
  if (!commanding) {
    auto [row, pressed] = row_of("command_list.search", true);
    draw_icon(ui, row.cut_left(ui.px(18)), icon::kSearch, ui.colour(Colour::accent));
    row.cut_left(ui.px(6));
    row.cut_left(draw_text(ui, row, text_, {.style = TextStyle::heading}) + ui.px(12));
    draw_text(ui, row, search_line(*tab), {.colour = Colour::text2});
    if (pressed) search_clicked_ = true;
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const Command& command = *found[i];
    const bool enabled = CommandTable::can_run(command);
    auto [row, pressed] = row_of("command_list." + command.id, enabled);
    const Rect key = row.cut_right(text_width(ui, TextStyle::mono_small, command.key));
    draw_text(ui, key, command.key, {.style = TextStyle::mono_small, .colour = Colour::text3});
    row.cut_left(draw_text(ui, row, command.title, {.colour = enabled ? Colour::text1 : Colour::disabled}) + ui.px(10));
    draw_text(ui, row, menu_title(command.menu), {.style = TextStyle::small, .colour = Colour::text3});
    if (pressed) run_id_ = command.id;
  }
  if (rows == 0) draw_text(ui, rest.inset(ui.px(8), 0), "No command matches", {.colour = Colour::text3});
  ImGui::End();
  ImGui::PopStyleVar(2);
}

void CommandBox::step(SessionTab& tab, bool forward, const std::function<void(std::string)>& say,
                      const std::function<void(EventId)>& reveal) {
  const EventSearch* hits = tab.analysis->hits();
  if (hits == nullptr) {
    say(tab.analysis->search_error().empty() ? "The search is not finished yet" : tab.analysis->search_error());
    return;
  }
  if (hits->total() == 0) return say("No event matches " + text_);
  SearchPosition from{static_cast<std::int64_t>(tab.view.begin_ns), forward ? 0 : kNoEvent};
  if (tab.selected) {
    if (auto record = tab.reader->read(*tab.selected)) from = {record->begin_ns, *tab.selected};
  }
  const SearchPosition before_all{std::numeric_limits<std::int64_t>::min(), 0};
  const SearchPosition after_all{std::numeric_limits<std::int64_t>::max(), kNoEvent};
  auto hit = forward ? hits->next(*tab.reader, from) : hits->previous(*tab.reader, from);
  if (hit && !*hit) {
    say(forward ? "From the first hit again" : "From the last hit again");
    hit = forward ? hits->next(*tab.reader, before_all) : hits->previous(*tab.reader, after_all);
  }
  if (!hit) return say(hit.message());
  if (!*hit) return say("No event matches " + text_);
  select_event(tab, (*hit)->event);
  reveal((*hit)->event);
}

}  // namespace accelscope::app
