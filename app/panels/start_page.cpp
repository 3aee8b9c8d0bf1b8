#include "app/panels/start_page.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "app/system_paths.h"
#include "core/base/format.h"
#include "render/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kMargin = 32, kDoorHeight = 72, kDoorGap = 16, kFormWidth = 780;
constexpr float kLeastWithForm = 1240;  // units of width below which the form has its own dialog only
constexpr float kLeastForm = 520;

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

std::int64_t now_unix_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void StartPage::draw(Ui& ui, Workspace& workspace, ConnectForm& form, const Rect& area,
                     const std::function<void(std::string_view)>& run, const std::function<void(std::string)>& say) {
  fill(ui, area, ui.colour(Colour::bg2));
  Rect rest = area.inset(ui.px(kMargin), ui.px(24));
  if (area.width() >= ui.px(kLeastWithForm)) {
    Rect card = rest.cut_right(std::clamp(rest.width() * 0.5F, ui.px(kLeastForm), ui.px(kFormWidth)));
    rest.cut_right(ui.px(kMargin));
    card.y1 = std::min(card.y1, card.y0 + ui.px(560));
    outline(ui, card, ui.colour(Colour::line2), size::kCardRadius);
    Rect inside = card.inset(ui.px(24), ui.px(12));
    draw_text(ui, inside.cut_top(ui.px(36)), "Connect and record", {.style = TextStyle::title});
    inside.cut_top(ui.px(4));
    inside.cut_bottom(ui.px(8));
    form.draw(ui, workspace, inside, "start.form", say);
  }
  Rect title = rest.cut_top(ui.px(32));
  title.cut_left(draw_text(ui, title, "Accelscope", {.style = TextStyle::display}) + ui.px(16));
  draw_text(ui, title, "Profiles of AI accelerators, from a device or a file", {.colour = Colour::text3});
  rest.cut_top(ui.px(16));
  draw_doors(ui, rest.cut_top(ui.px(kDoorHeight)), run);
  rest.cut_top(ui.px(24));
  draw_recent(ui, workspace, rest, run);
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
    const Rect key = head.cut_right(text_width(ui, TextStyle::mono_small, door.key));
    draw_text(ui, key, door.key, {.style = TextStyle::mono_small, .colour = Colour::text3, .align = Align::right});
    draw_text(ui, head, door.title, {.style = TextStyle::heading});
    draw_text(ui, inside, door.hint, {.style = TextStyle::small, .colour = Colour::text2});
    if (hand.clicked) run(door.command);
  }
}

void StartPage::draw_recent(Ui& ui, Workspace& workspace, Rect area, const std::function<void(std::string_view)>& run) {
  Rect head = area.cut_top(ui.px(32));
  const bool any = !workspace.recent().list().empty();
  if (any) {
    text_input(ui, "start.filter", head.cut_right(ui.px(240)).middle(ui.px(size::kControl)), filter_,
               {.placeholder = "Name, device or path", .icon = icon::kSearch});
  }
  draw_text(ui, head, "Recent sessions", {.style = TextStyle::title});
  area.cut_top(ui.px(4));
  if (!any) {
    constexpr std::array<std::string_view, 2> kActions = {"Open a file", "Try the demo"};
    const auto action = empty_state(ui, "start.empty", area.cut_top(std::min(area.height(), ui.px(160))),
                                    icon::kHistory, "Sessions that you open or record are listed here.", kActions);
    if (action == 0) run("open");
    if (action == 1) run("demo");
    return;
  }
  const std::vector<const RecentSession*> rows = workspace.recent().matching(filter_);
  if (rows.empty()) {
    constexpr std::array<std::string_view, 1> kActions = {"Show all"};
    if (empty_state(ui, "start.none", area.cut_top(std::min(area.height(), ui.px(160))), icon::kSearch,
                    "No session matches \"" + filter_ + "\".", kActions)) {
      filter_.clear();
    }
    return;
  }
  const Rect hint = area.cut_bottom(ui.px(26));
  const std::array<TableColumn, 5> columns = {
      {{.title = "Session", .sortable = false},
       {.title = "Device", .width = 130, .sortable = false},
       {.title = "Active", .width = 90, .align = Align::right, .sortable = false},
       {.title = "Events", .width = 96, .align = Align::right, .sortable = false},
       {.title = "Opened", .width = 120, .align = Align::right, .sortable = false}}};
  const std::int64_t now = now_unix_s();
  const std::string home = home_directory(process_environment());
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const RecentSession& session = *rows[row];
    switch (column) {
      case 0:
        return {.text = session.title + "   " + shorten_home(session.path, home),
                .style = TextStyle::heading,
                .fit = Fit::middle,
                .icon = session.warnings > 0 ? icon::kWarning : icon::kCheckCircle,
                .icon_colour = session.warnings > 0 ? Colour::warning_line : Colour::ok};
      case 1:
        return {.text = session.device, .colour = Colour::text2, .style = TextStyle::body};
      case 2:
        return {.text = format_duration(static_cast<double>(session.active_ns))};
      case 3:
        return {.text = format_count(session.events)};
      default:
        return {.text = format_when(session.opened_unix_s, now), .colour = Colour::text2, .style = TextStyle::body};
    }
  };
  const float wanted = ui.px(size::kTableHead) + static_cast<float>(rows.size()) * ui.px(32);
  const TableResult result =
      table(ui, "start.recent", area.cut_top(std::min(area.height(), wanted)), columns, rows.size(), content, table_,
            {.row_height = 32, .stripes = false, .selected = [&](std::size_t row) { return table_.cursor == row; }});
  draw_text(ui, hint, "Double click or Enter opens. Del takes a session off this list (the file stays).",
            {.style = TextStyle::small, .colour = Colour::text3});
  if (result.clicked) table_.cursor = result.clicked;
  if (result.double_clicked) {
    workspace.open(rows[*result.double_clicked]->path);
  } else if (table_.cursor && *table_.cursor < rows.size() && !ui.typing() && ui.pressed(Key::del)) {
    if (auto done = workspace.recent().forget(rows[*table_.cursor]->path); !done) {
      workspace.notify(Severity::warning, done.message());
    }
  }
}

}  // namespace accelscope::app
