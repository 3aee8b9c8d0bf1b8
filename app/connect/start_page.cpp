#include "app/connect/start_page.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/system/system_paths.h"
#include "core/base/format.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kMargin = 32, kDoorHeight = 72, kDoorGap = 16, kFormWidth = 780;
constexpr float kLeastWithForm = 1240;  // units of width below which the form has its own dialog only
constexpr float kLeastDoors = 648;      // of all three, so that their titles are whole
constexpr float kLeastForm = 520, kStartLeastCard = 440, kStartCardHead = 52;
constexpr float kLeftRow = 44;  // an unfinished capture

struct Door {
  const char* name;
  const char* icon;
  const char* title;
  const char* hint;
  const char* key;
  const char* command;
};
constexpr std::array kDoors = {
    Door{"start.open", icon::kFolderOpen, "Open a file or folder", "A session, or any known trace", "Ctrl+O", "open"},
    Door{"start.connect", icon::kPlug, "Connect to a device", "An agent on its host", "Ctrl+K", "connect"},
    Door{"start.demo", icon::kPlay, "Try the demo", "Simulated; needs no hardware", "", "demo"},
};

}  // namespace

void StartPage::draw(Ui& ui, Workspace& workspace, Library& library, ConnectForm* form, const Rect& area,
                     const PanelActions& actions) {
  fill(ui, area, ui.colour(Colour::bg2));
  Rect rest = area.inset(ui.px(kMargin), ui.px(24));
  form_seen_ = form != nullptr && area.width() >= ui.px(kLeastWithForm);
  if (form_seen_) {
    const float wide = std::min(rest.width() * 0.5F, rest.width() - ui.px(kMargin + kLeastDoors));
    Rect card = rest.cut_right(std::clamp(wide, ui.px(kLeastForm), ui.px(kFormWidth)));
    rest.cut_right(ui.px(kMargin));
    const float wanted = ui.px(kStartCardHead) + form->wanted_height() + ui.px(8);
    card.y1 = std::min(card.y1, card.y0 + std::max(wanted, ui.px(kStartLeastCard)));
    fill(ui, card, ui.colour(Colour::bg2), size::kCardRadius);
    outline(ui, card, ui.colour(Colour::line2), size::kCardRadius);
    Rect inside = card.inset(ui.px(24), 0);
    Rect head = inside.cut_top(ui.px(kStartCardHead - 4));
    horizontal_line(ui, card.x0, card.x1, inside.y0, ui.colour(Colour::line1));
    head.cut_left(draw_text(ui, head, "Connect and record", {.style = TextStyle::title}) + ui.px(16));
    inside.cut_bottom(ui.px(4));
    form->draw(ui, head, inside, actions.say);
  }
  Rect title = rest.cut_top(ui.px(32));
  title.cut_left(draw_text(ui, title, "Accelscope", {.style = TextStyle::display}) + ui.px(16));
  draw_text(ui, title, "Profiles of AI accelerators, from a device or a file", {.colour = Colour::text3});
  rest.cut_top(ui.px(16));
  draw_doors(ui, rest.cut_top(ui.px(kDoorHeight)), actions.run);
  rest.cut_top(ui.px(20));
  draw_recoverable(ui, workspace, rest);
  draw_sessions(ui, workspace, library, rest, actions);
}

void StartPage::draw_doors(Ui& ui, Rect area, const std::function<void(std::string_view)>& run) {
  const float gap = ui.px(kDoorGap);
  const float width =
      (area.width() - gap * (static_cast<float>(kDoors.size()) - 1)) / static_cast<float>(kDoors.size());
  for (const Door& door : kDoors) {
    const Rect card = area.cut_left(width);
    area.cut_left(gap);
    const Interaction hand = interact(ui, door.name, card);
    fill(ui, card, ui.colour(hand.hovered ? Colour::accent_bg : Colour::bg3), size::kCardRadius);
    outline(ui, card, ui.colour(hand.hovered ? Colour::accent : Colour::line2), size::kCardRadius);
    if (hand.hovered) set_cursor(Cursor::hand);
    Rect inside = card.inset(ui.px(14), ui.px(10));
    Rect head = inside.cut_top(inside.height() / 2);
    draw_icon(ui, head.cut_left(ui.px(20)), door.icon, ui.colour(Colour::accent), TextStyle::icon16);
    head.cut_left(ui.px(8));
    const float key_width = text_width(ui, TextStyle::mono_small, door.key);
    if (text_width(ui, TextStyle::heading, door.title) + ui.px(8) + key_width <=
        head.width()) {  // the menus tell it too
      draw_text(ui, head.cut_right(key_width), door.key,
                {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
    }
    draw_text(ui, head, door.title, {.style = TextStyle::heading});
    draw_text(ui, inside, door.hint, {.style = TextStyle::small, .colour = Colour::text2});
    if (hand.clicked) run(door.command);
  }
}

// Captures that a former run of the viewer could not finish come first: they are in no file yet.
void StartPage::draw_recoverable(Ui& ui, Workspace& workspace, Rect& area) {
  std::optional<std::size_t> recovered;
  std::optional<std::size_t> discarded;
  for (std::size_t i = 0; i < workspace.recoverable().size(); ++i) {
    const capture::client::Recoverable& left = workspace.recoverable()[i];
    const Rect row = area.cut_top(ui.px(kLeftRow));
    area.cut_top(ui.px(6));
    fill(ui, row, ui.colour(Colour::warning_bg), size::kControlRadius);
    const std::string name = "start.left." + std::to_string(i);
    ui.register_widget(name, row);
    Rect inside = row.inset(ui.px(12), 0);
    const bool asks = asks_to_discard_ == left.folder;
    const ButtonOptions recover{.label = "Recover", .icon = icon::kUndo, .kind = ButtonKind::primary};
    const ButtonOptions discard{
        .label = asks ? "Discard for good" : "Discard", .icon = icon::kTrash, .tooltip = "Delete what was kept of it"};
    const Rect recover_place = inside.cut_right(button_width(ui, recover)).middle(ui.px(size::kControl));
    inside.cut_right(ui.px(8));
    const Rect discard_place = inside.cut_right(button_width(ui, discard)).middle(ui.px(size::kControl));
    inside.cut_right(ui.px(12));
    if (button(ui, name + ".recover", recover_place, recover)) recovered = i;
    if (button(ui, name + ".discard", discard_place, discard)) {
      if (asks) discarded = i;
      asks_to_discard_ = left.folder;
    }
    draw_icon(ui, inside.cut_left(ui.px(16)), icon::kWarning, ui.colour(Colour::warning_line), TextStyle::icon14);
    inside.cut_left(ui.px(8));
    Rect lines = inside.inset(0, ui.px(4));
    draw_text(ui, lines.cut_top(lines.height() / 2),
              "Unfinished capture of " + format_when(left.begun_unix_s, unix_now()), {.style = TextStyle::heading});
    draw_text(ui, lines, recoverable_text(left), {.style = TextStyle::small, .colour = Colour::text2});
  }
  if (!workspace.recoverable().empty()) area.cut_top(ui.px(10));
  if (recovered) workspace.recover(*recovered);
  if (discarded) workspace.discard_recoverable(*discarded);
}

// The figures first: what is long may be cut.
std::string recoverable_text(const capture::client::Recoverable& left) {
  std::string places;
  for (const std::string& place : left.plan.places) places += (places.empty() ? "" : ", ") + place;
  const std::string events = left.events > 0 ? format_count(left.events) + " events, " : std::string();
  const std::string name = left.title == places || left.title.empty() ? "" : left.title + " ";
  return events + format_bytes(static_cast<double>(left.bytes)) + ": " + name + "from " + places;
}

void StartPage::draw_sessions(Ui& ui, Workspace& workspace, Library& library, Rect area, const PanelActions& actions) {
  Rect head = area.cut_top(ui.px(32));
  constexpr std::array<Segment, 2> kLists = {
      {{.label = "Recent sessions"}, {.label = "Library", .tooltip = "The sessions of your folders"}}};
  int chosen = shows_library_ ? 1 : 0;
  const Rect place = head.cut_left(segmented_width(ui, kLists)).middle(ui.px(size::kControl));
  if (segmented(ui, "start.list", place, kLists, chosen)) shows_library_ = chosen == 1;
  head.cut_left(ui.px(20));
  if (shows_library_) {
    library_.draw(ui, library, workspace, actions, head, area);
  } else {
    draw_recent(ui, workspace, head, area, actions.run);
  }
}

void StartPage::draw_recent(Ui& ui, Workspace& workspace, Rect head, Rect area,
                            const std::function<void(std::string_view)>& run) {
  const bool any = !workspace.recent().list().empty();
  if (any) {
    text_input(ui, "start.filter", head.cut_right(ui.px(240)).middle(ui.px(size::kControl)), filter_,
               {.placeholder = "Name, device or path", .icon = icon::kSearch});
  }
  head.cut_right(ui.px(8));
  draw_projects(ui, workspace.recent().projects(), head);
  area.cut_top(ui.px(4));
  if (!any) {
    constexpr std::array<std::string_view, 2> kActions = {"Open a file", "Try the demo"};
    const auto action = empty_state(ui, "start.empty", area.cut_top(std::min(area.height(), ui.px(160))),
                                    icon::kHistory, "Sessions that you open or record are listed here.", kActions);
    if (action == 0) run("open");
    if (action == 1) run("demo");
    return;
  }
  const std::vector<const RecentSession*> rows = workspace.recent().matching(filter_, project_);
  if (rows.empty()) {
    constexpr std::array<std::string_view, 1> kActions = {"Show all"};
    if (empty_state(ui, "start.none", area.cut_top(std::min(area.height(), ui.px(160))), icon::kSearch,
                    "No session matches \"" + filter_ + "\".", kActions)) {
      filter_.clear();
      project_.clear();
    }
    return;
  }
  const float wanted = ui.px(size::kTableHead) + static_cast<float>(rows.size()) * ui.px(size::kSessionRow);
  const float hint_height = ui.px(28);
  Rect list = area.cut_top(std::min(area.height() - hint_height, wanted));
  draw_text(ui, area.cut_top(hint_height),
            "Double click or Enter opens, arrows move. Del takes a session off this list (the file stays).",
            {.style = TextStyle::small, .colour = Colour::text3});
  (void)draw_session_head(ui, "start.recent", list.cut_top(ui.px(size::kTableHead)), {.when = "Opened"});
  move_cursor(ui, rows.size());
  std::optional<std::size_t> opened;
  {
    ScrollArea scroll(ui, "start.recent", list, static_cast<float>(rows.size()) * ui.px(size::kSessionRow));
    Rect content = scroll.content();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Rect row = content.cut_top(ui.px(size::kSessionRow));
      if (cursor_ == i && cursor_moved_) scroll.show(row);
      if (draw_recent_row(ui, row, i, *rows[i])) opened = i;
    }
  }
  cursor_moved_ = false;
  const bool in_form = ui.keyboard_focus().by_keyboard;  // Enter presses what the ring is round
  if (!opened && cursor_ && *cursor_ < rows.size() && !ui.typing() && !in_form) {
    if (ui.pressed(Key::enter)) opened = cursor_;
    if (!opened && ui.pressed(Key::del)) {
      if (auto done = workspace.recent().forget(rows[*cursor_]->path); !done) {
        workspace.notify(Severity::warning, done.message());
      }
      return;
    }
  }
  if (opened) workspace.open(rows[*opened]->path);
}

// All, and each project that a recent session belongs to.
void StartPage::draw_projects(Ui& ui, const std::vector<std::string>& projects, Rect row) {
  if (std::find(projects.begin(), projects.end(), project_) == projects.end()) project_.clear();
  if (projects.empty()) return;
  const auto draw_one = [&](const std::string& label, const std::string& project) {
    const ChipOptions chip_options{.label = label, .accent = false, .selected = project == project_};
    const float width = chip_width(ui, chip_options);
    if (width > row.width()) return;
    const Rect place = row.cut_left(width).middle(ui.px(22));
    row.cut_left(ui.px(8));
    if (chip(ui, "start.project." + label, place, chip_options).clicked) project_ = project;
  };
  draw_one("All", "");
  for (const std::string& project : projects) draw_one(project, project);
}

void StartPage::move_cursor(Ui& ui, std::size_t rows) {
  if (ui.typing() || rows == 0) return;
  const int step = (ui.pressed(Key::down) ? 1 : 0) - (ui.pressed(Key::up) ? 1 : 0);
  if (step == 0) return;
  const auto last = static_cast<std::ptrdiff_t>(rows) - 1;
  const std::ptrdiff_t now = cursor_ ? static_cast<std::ptrdiff_t>(*cursor_) : -1;
  cursor_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(now + step, 0, last));
  cursor_moved_ = true;
}

bool StartPage::draw_recent_row(Ui& ui, const Rect& place, std::size_t index, const RecentSession& session) {
  SessionRow row{.title = session.title,
                 .below = shorten_home(session.path, home_directory(process_environment())),
                 .device = session.device,
                 .work = session.work_ns > 0 ? format_duration(static_cast<double>(session.work_ns)) : "–",
                 .events = format_count(session.events),
                 .when = format_when(session.opened_unix_s, unix_now()),
                 .warnings = session.warnings,
                 .is_fine = session.warnings == 0,
                 .is_chosen = cursor_ == index};
  for (const std::string& tag : {session.project, session.configuration}) {
    if (!tag.empty()) row.tags.push_back(tag);
  }
  const Interaction hand = draw_session_row(ui, "start.recent.row." + std::to_string(index), place, row);
  if (hand.clicked) cursor_ = index;
  return hand.double_clicked;
}

}  // namespace accelscope::app
