#include "app/palette/command_box.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "app/session/analysis.h"
#include "app/view/selection.h"
#include "imgui.h"
#include "render/widgets/widgets.h"

namespace accelscope::app::palette {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {
constexpr float kRow = 26, kLeastList = 380;
constexpr float kAroundHint = 40;      // units of the box that its icon and edges take
constexpr std::size_t kMostRows = 12;  // in sight, the others by scrolling
constexpr std::size_t kErrorRows = 3;  // that an error of the search may take
constexpr int kOpeningFrames = 3;
constexpr std::size_t kMostUsed = 20;  // that are remembered
constexpr std::size_t kMostRecalled = 10;

// A list below the box, until end_list().
Rect begin_list(Ui& ui, const Rect& anchor, std::size_t rows) {
  // Wide enough for titles and keys, however narrow the box is.
  const float width = std::min(std::max(anchor.width(), ui.px(kLeastList)), ui.window().width());
  const float left = std::clamp(anchor.x0, ui.window().x0, ui.window().x1 - width);
  const float top = anchor.y1 + ui.px(2);
  const float wanted = ui.px(8) + ui.px(kRow) * static_cast<float>(std::max<std::size_t>(rows, 1));
  const Rect box{left, top, left + width, std::min(top + wanted, ui.window().y1)};
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
  return box;
}

void end_list() {
  ImGui::End();
  ImGui::PopStyleVar(2);
}

}  // namespace

void CommandBox::focus(Mode mode) {
  if (mode != mode_) text_.clear();
  if (mode != mode_) followed_ = nullptr;
  mode_ = mode;
  focus_now_ = true;
  opening_ = kOpeningFrames;
  chosen_ = 0;
}

std::string CommandBox::search_line(const session::SessionTab& tab) const {
  if (!tab.analysis->search_error().empty()) return tab.analysis->search_error();
  if (tab.analysis->searching()) return "Searching ...";
  const search::EventSearch* hits = tab.analysis->hits();
  if (hits == nullptr) return "Enter finds events";
  const std::string where = tab.choices.filter.empty() ? "" : " in the filter";
  const auto hint = tab.analysis->search_hint();
  const std::string more = hint ? hint->text : "";
  if (hits->total() == 0) return more.empty() ? "No event matches" + where : more;
  return hit_count_text(tab) + where + (more.empty() ? "" : "; " + more);
}

std::vector<const Command*> CommandBox::found_in(const CommandTable& commands) const {
  std::vector<const Command*> found = commands.matching(text_);
  const auto age = [&](const Command* command) { return std::ranges::find(used_, command->id); };
  std::ranges::stable_sort(found, [&](const Command* a, const Command* b) { return age(a) < age(b); });
  return found;
}

std::string hit_count_text(const session::SessionTab& tab) {
  const search::EventSearch* hits = tab.analysis->hits();
  if (hits == nullptr) return "";
  const std::string total = format_count(hits->total());
  const auto rank = tab.selected ? tab.analysis->hit_rank(*tab.selected) : nullptr;
  if (rank && rank->event == tab.selected && rank->number > 0) return format_count(rank->number) + " of " + total;
  return total + (hits->total() == 1 ? " event matches" : " events match");
}

void CommandBox::draw(Ui& ui, const Rect& rect, const CommandTable& commands, persist::QueryHistory& searches,
                      session::SessionTab* tab, const std::function<void(std::string)>& inform,
                      const std::function<void(EventId)>& reveal) {
  constexpr std::array<std::string_view, 2> kKeys = {"Ctrl+F", "Ctrl+P"};
  const bool commanding = mode_ == Mode::command || tab == nullptr;
  if (!commanding && (followed_ != tab || followed_text_ != tab->choices.search)) text_ = tab->choices.search;
  std::string_view hint = "Search events, or run a command";
  if (commanding && mode_ == Mode::command) {
    hint = "Run a command";
  } else if (text_width(ui, TextStyle::body, hint) > rect.width() - ui.px(kAroundHint)) {
    hint = "Search or command";
  }
  const TextInputResult typed =
      text_input(ui, "top.search", rect, text_,
                 {.placeholder = hint,
                  .icon = icon::kSearch,
                  .key_caps = kKeys,
                  .error = tab != nullptr && mode_ == Mode::search && !tab->analysis->search_error().empty(),
                  .focus_now = std::exchange(focus_now_, false)});
  if (!commanding) {
    tab->choices.search = followed_text_ = text_;
    followed_ = tab;
    tab->analysis->search(text_);
  }
  if (const auto pending = std::exchange(pending_step_, std::nullopt); pending && tab == pending->tab) {
    if (tab->choices.search == pending->text) step(*tab, pending->forward, inform, reveal);
  }
  const bool left = focused_ && !typed.focused;
  focused_ = typed.focused;
  opening_ = std::max(0, opening_ - 1);
  if (!commanding && text_.empty()) {
    list_open_ = false;
    return recall(ui, rect, searches, *tab, typed.focused, typed.submitted);
  }
  recalled_ = -1;
  if (typed.changed) chosen_ = 0;
  const bool was_open = list_open_;
  list_open_ = typed.focused || (was_open && list_hovered_);
  const bool ended = left || typed.submitted || typed.cancelled || search_clicked_ || !run_id_.empty();
  if (!list_open_ && !ended) return;  // of a search that stands there nobody looks for commands
  const std::vector<const Command*> found = found_in(commands);
  const auto rows = static_cast<int>(found.size()) + (commanding ? 0 : 1);
  const int before = chosen_;
  if (typed.focused && rows > 0) {
    if (ui.pressed(Key::down)) chosen_ = (chosen_ + 1) % rows;
    if (ui.pressed(Key::up)) chosen_ = (chosen_ + rows - 1) % rows;
    if (ui.pressed(Key::page_down)) chosen_ += static_cast<int>(kMostRows);
    if (ui.pressed(Key::page_up)) chosen_ -= static_cast<int>(kMostRows);
  }
  chosen_ = std::clamp(chosen_, 0, std::max(0, rows - 1));
  show_chosen_ = chosen_ != before || typed.changed || !was_open;
  if (list_open_) draw_list(ui, rect, found, tab);

  const bool backward = ui.input().modifiers().shift;
  const bool searching = !commanding && chosen_ == 0;
  if ((typed.submitted && searching) || std::exchange(search_clicked_, false)) {
    if (tab != nullptr && !text_.empty()) {
      tab->remember_view();  // what was searched for is part of the view
      if (const auto retained = searches.remember(text_); !retained) inform(retained.message());
      step(*tab, !backward, inform, reveal);
    }
    focus_now_ = true;  // Enter again steps on
    return;
  }
  if (typed.submitted && rows > 0) run_id_ = found[static_cast<std::size_t>(chosen_ - (commanding ? 0 : 1))]->id;
  if (typed.cancelled) {
    mode_ = Mode::search;
    if (commanding) followed_ = nullptr;
  }
  if (typed.submitted && rows == 0) focus_now_ = true;  // what was typed is mended here
  if (left && mode_ == Mode::command && !list_open_ && run_id_.empty() && !focus_now_) {
    mode_ = Mode::search;  // a command that was begun is no search
    text_.clear();
    followed_ = nullptr;
  }
  if (run_id_.empty()) return;
  const std::string id = std::exchange(run_id_, "");
  std::erase(used_, id);
  used_.insert(used_.begin(), id);
  if (used_.size() > kMostUsed) used_.resize(kMostUsed);
  list_open_ = false;
  text_.clear();
  if (!commanding) tab->choices.search.clear();  // it was the name of a command
  mode_ = Mode::search;
  followed_ = nullptr;
  if (!commands.run(id)) inform("This cannot be done now");
}

void CommandBox::recall(Ui& ui, const Rect& rect, const persist::QueryHistory& searches, session::SessionTab& tab,
                        bool focused, bool submitted) {
  const auto rows = static_cast<int>(std::min(searches.history().size(), kMostRecalled));
  if ((!focused && !submitted && !list_hovered_) || rows == 0) {
    recalled_ = -1;
    list_hovered_ = false;
    return;
  }
  recalled_ = std::min(recalled_, rows - 1);
  if (focused && ui.pressed(Key::down)) recalled_ = (recalled_ + 1) % rows;
  if (focused && ui.pressed(Key::up)) recalled_ = recalled_ <= 0 ? rows - 1 : recalled_ - 1;
  draw_history(ui, rect, searches);
  if (!std::exchange(recall_clicked_, false) && (!submitted || recalled_ < 0)) return;
  text_ = searches.history()[static_cast<std::size_t>(recalled_)];
  tab.change([&](session::ViewChoices& choices) { choices.search = text_; });
  followed_ = nullptr;  // the box takes it from the session
  recalled_ = -1;
  list_hovered_ = false;
  focus_now_ = true;
}

void CommandBox::draw_history(Ui& ui, const Rect& anchor, const persist::QueryHistory& searches) {
  const std::size_t rows = std::min(searches.history().size(), kMostRecalled);
  const Rect box = begin_list(ui, anchor, rows);
  list_hovered_ = box.contains(ui.input().mouse);
  Rect rest = box.inset(ui.px(4), ui.px(4));
  for (std::size_t i = 0; i < rows; ++i) {
    Rect row = rest.cut_top(ui.px(kRow));
    const Interaction response =
        interact(ui, "search_history." + std::to_string(i), row, {.no_focus = true});  // Up and Down in the box
    const bool chosen = recalled_ == static_cast<int>(i);
    if (chosen || response.hovered) fill(ui, row, ui.colour(Colour::accent_bg), size::kChipRadius);
    if (response.pressed || response.clicked) {
      recalled_ = static_cast<int>(i);
      recall_clicked_ = true;
    }
    row = row.inset(ui.px(8), 0);
    draw_icon(ui, row.cut_left(ui.px(18)), icon::kClock, ui.colour(Colour::text3));
    row.cut_left(ui.px(6));
    draw_text(ui, row, searches.history()[i], {.style = TextStyle::mono});
  }
  end_list();
}

void CommandBox::draw_list(Ui& ui, const Rect& anchor, const std::vector<const Command*>& found,
                           session::SessionTab* tab) {
  const bool commanding = mode_ == Mode::command || tab == nullptr;
  const std::size_t rows = std::min(found.size(), kMostRows) + (commanding ? 0 : 1);
  const std::string said = commanding ? std::string() : search_line(*tab);
  const bool wrong = !commanding && !tab->analysis->search_error().empty();
  const std::size_t more = wrong ? kErrorRows - 1 : 0;  // what is wrong is told whole
  const Rect box = begin_list(ui, anchor, rows + more);
  list_hovered_ = box.contains(ui.input().mouse);
  Rect rest = box.inset(ui.px(4), ui.px(4));
  int index = 0;
  Rect* column = &rest;
  const auto row_of = [&](const std::string& name, bool enabled, std::size_t lines = 1) {
    const Rect row = column->cut_top(ui.px(kRow) * static_cast<float>(lines));
    const Interaction response = interact(ui, name, row, {.disabled = !enabled, .no_focus = true});  // likewise
    if (index == chosen_ || response.hovered) fill(ui, row, ui.colour(Colour::accent_bg), size::kChipRadius);
    ++index;
    return std::pair{row.inset(ui.px(8), 0), response.pressed || response.clicked};
  };
  if (!commanding) {
    auto [row, pressed] = row_of("command_list.search", true, 1 + more);
    Rect sign = row.cut_left(ui.px(18));
    draw_icon(ui, sign.cut_top(ui.px(kRow)), icon::kSearch, ui.colour(Colour::accent));
    row.cut_left(ui.px(6));
    if (wrong) {
      draw_paragraph(ui, row.inset(0, ui.px(4)), said, {.colour = Colour::error});
    } else {
      // How many there are is told whole, whatever the search leaves for it; the keys where there is room.
      constexpr std::string_view kKeysOfHits = "; Enter next, Shift+Enter previous";
      const float room = row.width() - text_width(ui, TextStyle::body, said) - ui.px(12);
      const search::EventSearch* hits = tab->analysis->hits();
      std::string line = said;
      const float searched = text_width(ui, TextStyle::heading, text_);
      if (hits != nullptr && hits->total() > 0 &&
          searched + text_width(ui, TextStyle::body, kKeysOfHits) + ui.px(4) <= room) {
        line += kKeysOfHits;
      }
      draw_text(ui, row.cut_left(std::clamp(searched, 0.0F, std::max(room, ui.px(40)))), text_,
                {.style = TextStyle::heading});
      row.cut_left(ui.px(12));
      draw_text(ui, row, line, {.colour = Colour::text2});
    }
    if (pressed) search_clicked_ = true;
  }
  if (!found.empty()) {
    ScrollArea scroll(ui, "command_list.rows", rest, ui.px(kRow) * static_cast<float>(found.size()));
    Rect content = scroll.content();
    content.x1 = scroll.visible().x1;
    column = &content;
    const int first = index;
    if (show_chosen_ && chosen_ >= first) {
      const float y = content.y0 + ui.px(kRow) * static_cast<float>(chosen_ - first);
      scroll.show({content.x0, y, content.x1, y + ui.px(kRow)});
    }
    for (const Command* each : found) {
      const Command& command = *each;
      const bool enabled = CommandTable::can_run(command);
      auto [row, pressed] = row_of("command_list." + command.id, enabled);
      const Rect key = row.cut_right(text_width(ui, TextStyle::mono_small, command.key));
      draw_text(ui, key, command.key, kMonoHint);
      row.cut_left(draw_text(ui, row, command.title, {.colour = enabled ? Colour::text1 : Colour::disabled}) +
                   ui.px(10));
      const std::string note = command.note ? command.note() : std::string();
      draw_text(ui, row, note.empty() ? menu_title(command.menu) : note, kHintText);
      if (pressed) run_id_ = command.id;
    }
  }
  if (rows == 0) draw_text(ui, rest.inset(ui.px(8), 0), "No command matches", {.colour = Colour::text3});
  end_list();
}

void CommandBox::step(session::SessionTab& tab, bool forward, const std::function<void(std::string)>& inform,
                      const std::function<void(EventId)>& reveal) {
  if (!tab.analysis->search_error().empty()) return inform(tab.analysis->search_error());
  const search::EventSearch* hits = tab.analysis->hits();
  if (hits != nullptr && hits->total() == 0) return inform("No event matches " + text_);
  const auto found = tab.analysis->found();
  if (!found) {
    pending_step_ = PendingStep{&tab, tab.choices.search, forward};
    return;
  }
  const search::SearchPosition view_begin{static_cast<std::int64_t>(tab.view.begin_ns), forward ? 0 : kNoEvent};
  const auto to_hit = [found, forward, view_begin](EventReader& reader, session::StepPlace& place,
                                                   const TaskControl&) -> Result<void> {
    search::SearchPosition from = view_begin;
    if (place.event) {
      if (const auto event = reader.read(*place.event)) from = {event->begin_ns, *place.event};
    }
    const search::SearchPosition before_all{std::numeric_limits<std::int64_t>::min(), 0};
    const search::SearchPosition after_all{std::numeric_limits<std::int64_t>::max(), kNoEvent};
    auto hit = forward ? found->next(reader, from) : found->previous(reader, from);
    if (hit && !*hit) {
      place.said = forward ? "From the first hit again" : "From the last hit again";
      hit = forward ? found->next(reader, before_all) : found->previous(reader, after_all);
    }
    if (!hit) return hit.error();
    if (*hit) place.event = (*hit)->event;
    return {};
  };
  view::step_selection(tab, to_hit, [&tab, inform, reveal](const session::StepPlace& place) {
    if (!place.said.empty()) inform(place.said);
    if (!place.event) return;
    view::select_event(tab, *place.event);
    reveal(*place.event);
  });
}

}  // namespace accelscope::app::palette
