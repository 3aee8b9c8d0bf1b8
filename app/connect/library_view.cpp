#include "app/connect/library_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/persist/recent_sessions.h"
#include "app/system/system_paths.h"
#include "core/base/format.h"
#include "core/base/text.h"
#include "render/base/draw.h"
#include "render/base/icons.h"
#include "render/widgets/controls.h"
#include "render/widgets/layout.h"
#include "render/widgets/menu.h"
#include "render/widgets/states.h"
#include "render/widgets/text_input.h"

namespace accelscope::app {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

struct SessionCells {
  Rect session, device, work, events, when, verdict;
};

SessionCells session_cells(const Ui& ui, Rect row) {
  SessionCells cells;
  row = row.inset(ui.px(12), 0);
  cells.verdict = row.cut_right(ui.px(44));
  cells.when = row.cut_right(ui.px(110));
  cells.events = row.cut_right(ui.px(100));
  cells.work = row.cut_right(ui.px(90));
  cells.device = row.cut_right(ui.px(110));
  row.cut_right(ui.px(12));
  cells.session = row;
  return cells;
}

void draw_tags(Ui& ui, Rect line, const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    const float width = std::ceil(text_width(ui, TextStyle::small, tag)) + ui.px(12);
    if (tag.empty() || line.width() < width + ui.px(8)) continue;
    line.cut_left(ui.px(8));
    const Rect box = line.cut_left(width).middle(ui.px(17));
    fill(ui, box, ui.colour(Colour::bg4), size::kChipRadius);
    draw_text(ui, box, tag, {.style = TextStyle::small, .colour = Colour::text2, .align = Align::centre});
  }
}

// A bar for each stretch; the lowest is a pixel, so that little work is not none.
void draw_activity(Ui& ui, const Rect& area, std::string_view activity) {
  horizontal_line(ui, area.x0, area.x1, area.y1, ui.colour(Colour::line2));
  const float width = area.width() / static_cast<float>(activity.size());
  for (std::size_t i = 0; i < activity.size(); ++i) {
    const int level = activity[i] - '0';
    if (level <= 0) continue;
    const float height = std::max(1.0F, area.height() * static_cast<float>(level) / 9);
    const float x = area.x0 + width * static_cast<float>(i);
    fill(ui, {std::floor(x), area.y1 - height, std::max(std::floor(x + width), std::floor(x) + 1), area.y1},
         ui.colour(Colour::text3));
  }
}

void draw_figures(Ui& ui, SessionCells& cells, const SessionRow& session) {
  const TextOptions figure{.style = TextStyle::mono, .align = Align::right};
  if (!session.remark.empty()) {
    Rect place = cells.device;
    place.x1 = cells.events.x1;
    draw_text(ui, place, session.remark, {.colour = Colour::text3, .fit = Fit::ellipsis});
  } else {
    if (!session.activity.empty()) {
      constexpr float kFiguresHigh = 24, kActivityHigh = 12;
      Rect below{cells.work.x0 + ui.px(16), cells.work.y0, cells.events.x1, cells.work.y1};
      below.cut_top(ui.px(kFiguresHigh));
      draw_activity(ui, below.cut_top(ui.px(kActivityHigh)), session.activity);
      cells.work = cells.work.cut_top(ui.px(kFiguresHigh));
      cells.events = cells.events.cut_top(ui.px(kFiguresHigh));
    }
    draw_text(ui, cells.device, session.device, {.colour = Colour::text2, .fit = Fit::middle});
    draw_text(ui, cells.work, session.work, figure);
    draw_text(ui, cells.events, session.events, figure);
  }
  draw_text(ui, cells.when, session.when, {.colour = Colour::text2, .align = Align::right});
  if (session.warnings > 0) {
    const std::string count = format_count(session.warnings);
    draw_text(ui, cells.verdict.cut_right(text_width(ui, TextStyle::mono, count)), count, figure);
  }
  const bool is_wrong = !session.is_fine && session.warnings == 0;
  const char* sign = session.is_fine ? icon::kCheckCircle : icon::kWarning;
  const Colour colour = session.is_fine ? Colour::ok : is_wrong ? Colour::error : Colour::warning_line;
  if (session.remark.empty() || is_wrong) draw_icon(ui, cells.verdict.cut_right(ui.px(22)), sign, ui.colour(colour));
}

}  // namespace

int draw_session_head(Ui& ui, std::string_view name, const Rect& row, const SessionListHead& head) {
  fill(ui, row, ui.colour(Colour::bg3));
  const SessionCells cells = session_cells(ui, row);
  const std::array<std::pair<Rect, std::string_view>, 5> columns = {{{cells.session, "Session"},
                                                                     {cells.device, "Device"},
                                                                     {cells.work, "Work"},
                                                                     {cells.events, "Events"},
                                                                     {cells.when, head.when}}};
  constexpr std::size_t kFirstFigure = 2;
  int clicked = -1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& [place, title] = columns[i];
    const bool sorted = head.sorted_by == static_cast<int>(i);
    const std::string text = std::string(title) + (sorted ? (head.descending ? " ↓" : " ↑") : "");
    draw_text(ui, place, text,
              {.style = TextStyle::body,
               .colour = sorted ? Colour::text1 : Colour::text2,
               .align = i < kFirstFigure ? Align::left : Align::right});
    if (!head.can_sort) continue;
    if (interact(ui, std::string(name) + ".head." + std::to_string(i), place).clicked) clicked = static_cast<int>(i);
  }
  return clicked;
}

Interaction draw_session_row(Ui& ui, std::string_view name, const Rect& row, const SessionRow& session) {
  const Interaction hand = interact(ui, name, row);
  const bool chosen = session.is_chosen;
  if (chosen || hand.hovered) fill(ui, row, ui.colour(chosen ? Colour::accent_bg : Colour::bg3));
  if (chosen) fill(ui, {row.x0, row.y0, row.x0 + ui.px(size::kAccentLine), row.y1}, ui.colour(Colour::accent));
  horizontal_line(ui, row.x0, row.x1, row.y1 - 1, ui.colour(Colour::line1));
  SessionCells cells = session_cells(ui, row);
  Rect lines = cells.session.inset(0, ui.px(4));
  Rect name_line = lines.cut_top(lines.height() / 2);
  name_line.cut_left(draw_text(ui, name_line, session.title, {.style = TextStyle::heading, .fit = Fit::middle}));
  draw_tags(ui, name_line, session.tags);
  draw_text(ui, lines, session.below, {.style = TextStyle::small, .colour = Colour::text3, .fit = Fit::middle});
  draw_figures(ui, cells, session);
  if (hand.hovered) set_cursor(Cursor::hand);
  return hand;
}

using namespace render;  // NOLINT: this file is nothing but drawing

namespace {

constexpr float kWordsRow = 30, kEditRow = 36, kHintRow = 28, kEmptyHeight = 160, kLibrarySearch = 240;
constexpr std::string_view kLibraryMenu = "library.menu";
constexpr std::array kOrders = {LibraryOrder::name, LibraryOrder::device, LibraryOrder::work, LibraryOrder::events,
                                LibraryOrder::when};

// Of some, the chosen one; at most those that fit. True when another was chosen.
bool choose_word(Ui& ui, std::string_view name, Rect& row, const std::vector<std::string>& words, std::string& chosen) {
  bool changed = false;
  for (const std::string& word : words) {
    const ChipOptions options{.label = word, .accent = false, .selected = word == chosen};
    const float width = chip_width(ui, options);
    if (width > row.width()) break;
    const Rect place = row.cut_left(width).middle(ui.px(22));
    row.cut_left(ui.px(8));
    if (!chip(ui, fmt::format("{}.{}", name, word), place, options).clicked) continue;
    chosen = chosen == word ? "" : word;
    changed = true;
  }
  return changed;
}

SessionRow row_of(const LibraryEntry& entry) {
  SessionRow row{.title = entry.name,
                 .tags = entry.tags,
                 .below = shorten_home(entry.path, home_directory(process_environment())),
                 .when = format_when(entry.when_unix_s(), unix_now())};
  for (const std::string& word : {entry.project, entry.configuration}) {
    if (!word.empty()) row.tags.insert(row.tags.begin(), word);
  }
  if (!entry.headline.processes.empty()) row.below += "  ·  " + joined(entry.headline.processes, ", ");
  if (!entry.remark.empty()) row.below += "  ·  " + entry.remark;
  if (!entry.problem.empty()) {
    const std::string place = entry.path + ": ";
    row.remark = entry.problem.starts_with(place) ? entry.problem.substr(place.size()) : entry.problem;
    row.is_fine = false;
    return row;
  }
  if (!entry.is_session) {
    row.remark =
        fmt::format("{}, {}: double click imports", entry.format, format_bytes(static_cast<double>(entry.size_bytes)));
    return row;
  }
  if (!entry.has_figures()) {
    row.work = row.events = "–";
    return row;
  }
  const Headline& head = entry.headline;
  row.device = head.device;
  row.work = head.work_ns > 0 ? format_duration(static_cast<double>(head.work_ns)) : "–";
  row.events = format_count(head.events);
  row.activity = head.activity;
  row.warnings = head.findings.value_or(head.warnings);
  row.is_fine = row.warnings == 0;
  if (!head.error.empty()) row.below = head.error;  // before where it lies, for which there is no room then
  return row;
}

// A session in a tab reads its file, and would write into one that is elsewhere.
bool refuse_open(Workspace& workspace, const std::string& path) {
  for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
    if (workspace.tab(i).path != path) continue;
    workspace.notify(Severity::warning, path + ": is open; close its tab first", path);
    return true;
  }
  return false;
}

void forget_recent(Workspace& workspace, const std::string& path) {
  if (Result<void> forgotten = workspace.recent().forget(path); !forgotten)
    workspace.notify(Severity::warning, forgotten.message());
}

}  // namespace

void LibraryView::draw(Ui& ui, Library& library, Workspace& workspace, const PanelActions& actions, Rect head,
                       Rect area) {
  const Parts parts{ui, library, workspace, actions};
  if (!library.scanned()) library.scan_once();
  text_input(ui, "library.search", head.cut_right(ui.px(kLibrarySearch)).middle(ui.px(size::kControl)), wish_.text,
             {.placeholder = "Name, device, tag or path", .icon = icon::kSearch});
  head.cut_right(ui.px(8));
  const ButtonOptions refresh{
      .label = "Refresh", .kind = ButtonKind::flat, .tooltip = "Look again what lies in the folders"};
  if (!library.folders().empty() &&
      button(ui, "library.refresh", head.cut_right(button_width(ui, refresh)).middle(ui.px(size::kControl)), refresh)) {
    library.scan();
  }
  if (library.folders().empty()) {
    constexpr std::array<std::string_view, 1> kActions = {"Add a folder"};
    if (empty_state(ui, "library.empty", area.cut_top(std::min(area.height(), ui.px(kEmptyHeight))), icon::kFolderOpen,
                    "Name the folders that hold your sessions and profiles; they are listed here without being opened.",
                    kActions)) {
      add_folder(parts);
    }
    return;
  }
  draw_folders(parts, area.cut_top(ui.px(kWordsRow)));
  if (!library.tags().empty() || !library.projects().empty()) draw_words(parts, area.cut_top(ui.px(kWordsRow)));
  // Before the bar takes its keys: the Enter that ends it opens nothing.
  if (edit_ == Edit::none) take_keys(parts);
  if (edit_ != Edit::none) draw_edit(parts, area.cut_top(ui.px(kEditRow)));
  area.cut_top(ui.px(4));
  draw_rows(parts, area);
  draw_menu(parts);
}

void LibraryView::add_folder(const Parts& parts) const {
  parts.actions.choose_folder("Folder of sessions",
                              [&library = parts.library](const std::string& folder) { library.add_folder(folder); });
}

void LibraryView::draw_folders(const Parts& parts, Rect row) {
  Ui& ui = parts.ui;
  const ButtonOptions add{.label = "Add folder", .icon = icon::kPlus, .kind = ButtonKind::flat};
  if (button(ui, "library.add", row.cut_right(button_width(ui, add)).middle(ui.px(size::kSmallControl)), add))
    add_folder(parts);
  row.cut_right(ui.px(8));
  std::optional<std::string> gone;
  const std::string home = home_directory(process_environment());
  for (std::size_t i = 0; i < parts.library.folders().size(); ++i) {
    const std::string& folder = parts.library.folders()[i];
    const std::string label = shorten_home(folder, home);
    const ChipOptions options{
        .label = label, .closable = true, .accent = false, .tooltip = "Listed; the cross takes it off the list"};
    const float width = chip_width(ui, options);
    if (width > row.width()) break;
    const Rect place = row.cut_left(width).middle(ui.px(22));
    row.cut_left(ui.px(8));
    if (chip(ui, "library.folder." + std::to_string(i), place, options).closed) gone = folder;
  }
  if (gone) parts.library.remove_folder(*gone);
}

void LibraryView::draw_words(const Parts& parts, Rect row) {
  Ui& ui = parts.ui;
  const auto label = [&](std::string_view text) {
    row.cut_left(draw_text(ui, row, text, {.style = TextStyle::small, .colour = Colour::text3}) + ui.px(8));
  };
  if (!parts.library.projects().empty()) {
    label("Projects");
    (void)choose_word(ui, "library.project", row, parts.library.projects(), wish_.project);
    row.cut_left(ui.px(8));
  }
  if (!parts.library.tags().empty()) {
    label("Tags");
    (void)choose_word(ui, "library.tag", row, parts.library.tags(), wish_.tag);
  }
}

void LibraryView::begin_edit(Edit edit, const LibraryEntry& entry) {
  edit_ = edit;
  edit_begins_ = true;
  edited_path_ = entry.path;
  edit_text_ = edit == Edit::title ? entry.name : edit == Edit::tags ? join_tags(entry.tags) : entry.project;
}

void LibraryView::draw_edit(const Parts& parts, Rect row) {
  Ui& ui = parts.ui;
  fill(ui, row, ui.colour(edit_ == Edit::erase ? Colour::warning_bg : Colour::bg3), size::kControlRadius);
  row = row.inset(ui.px(12), 0);
  const bool erases = edit_ == Edit::erase;
  const std::string what = edit_ == Edit::title     ? "Name of "
                           : edit_ == Edit::tags    ? "Tags, with commas between, of "
                           : edit_ == Edit::project ? "Project of "
                                                    : "Delete for good: ";
  const ButtonOptions cancel{.label = "Cancel", .kind = ButtonKind::flat};
  const ButtonOptions done{.label = erases ? "Delete the file" : "Keep", .kind = ButtonKind::primary};
  const bool kept =
      button(ui, "library.edit.done", row.cut_right(button_width(ui, done)).middle(ui.px(size::kSmallControl)), done);
  row.cut_right(ui.px(8));
  bool over = button(ui, "library.edit.cancel",
                     row.cut_right(button_width(ui, cancel)).middle(ui.px(size::kSmallControl)), cancel);
  row.cut_right(ui.px(12));
  row.cut_left(draw_text(ui, row, what + file_name(edited_path_),
                         {.colour = erases ? Colour::warning : Colour::text2, .fit = Fit::middle}) +
               ui.px(12));
  if (erases && ui.pressed(Key::escape, {}, false)) over = true;
  bool submitted = kept;
  if (!erases) {
    const TextInputResult typed = text_input(ui, "library.edit.text", row.middle(ui.px(size::kControl)), edit_text_,
                                             {.focus_now = std::exchange(edit_begins_, false)});
    submitted = submitted || typed.submitted;
    over = over || typed.cancelled;
  }
  if (submitted) end_edit(parts, edit_text_);
  if (submitted || over) edit_ = Edit::none;
}

void LibraryView::end_edit(const Parts& parts, const std::string& text) {
  const std::string path = edited_path_;
  switch (edit_) {
    case Edit::none:
      return;
    case Edit::title:
      return parts.library.change("Renaming", [path, text] { return set_title(path, text); });
    case Edit::tags:
      return parts.library.change("Tagging", [path, text] { return set_tags(path, split_tags(text)); });
    case Edit::project:
      return parts.library.change("Changing the project", [path, text] { return set_project(path, text); });
    case Edit::erase:
      if (refuse_open(parts.workspace, path)) return;
      chosen_.erase(path);
      return parts.library.change(
          "Deleting", [path] { return delete_session(path); },
          [&workspace = parts.workspace, path] { forget_recent(workspace, path); });
  }
}

void LibraryView::draw_rows(const Parts& parts, const Rect& whole) {
  Ui& ui = parts.ui;
  Rect area = whole;
  const std::vector<const LibraryEntry*>& rows = parts.library.matching(wish_);
  if (rows.empty()) {
    const Rect place = area.cut_top(std::min(area.height(), ui.px(kEmptyHeight)));
    if (!parts.library.scanned()) {
      empty_state(ui, "library.reading", place, icon::kClock, "Reading the folders.");
    } else if (parts.library.size() == 0) {
      empty_state(ui, "library.none", place, icon::kFolderOpen,
                  "No session or profile lies in these folders: save or record one there.");
    } else {
      constexpr std::array<std::string_view, 1> kActions = {"Show all"};
      if (empty_state(ui, "library.no_match", place, icon::kSearch, "No session matches.", kActions))
        wish_ = {.order = wish_.order, .descending = wish_.descending};
    }
    return;
  }
  const float wanted = ui.px(size::kTableHead) + static_cast<float>(rows.size()) * ui.px(size::kSessionRow);
  Rect list = area.cut_top(std::min(area.height() - ui.px(kHintRow), wanted));
  draw_text(
      ui, area.cut_top(ui.px(kHintRow)),
      fmt::format("{} of {}. Double click or Enter opens, Ctrl+click adds, a right click renames, tags and moves.",
                  format_count(rows.size()), format_count(parts.library.size())),
      {.style = TextStyle::small, .colour = Colour::text3});
  const auto order = static_cast<int>(std::find(kOrders.begin(), kOrders.end(), wish_.order) - kOrders.begin());
  const int clicked =
      draw_session_head(ui, "library", list.cut_top(ui.px(size::kTableHead)),
                        {.when = "Saved", .can_sort = true, .sorted_by = order, .descending = wish_.descending});
  const std::vector<const LibraryEntry*> shown = rows;
  {
    ScrollArea scroll(ui, "library.rows", list, static_cast<float>(shown.size()) * ui.px(size::kSessionRow));
    Rect content = scroll.content();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const Rect row = content.cut_top(ui.px(size::kSessionRow));
      if (cursor_ == i && cursor_moved_) scroll.show(row);
      if (row.y1 >= list.y0 && row.y0 <= list.y1) draw_row(parts, row, i, *shown[i]);
    }
  }
  cursor_moved_ = false;
  if (clicked < 0) return;
  const LibraryOrder wanted_order = kOrders[static_cast<std::size_t>(clicked)];
  const bool is_text = wanted_order == LibraryOrder::name || wanted_order == LibraryOrder::device;
  wish_.descending = wish_.order == wanted_order ? !wish_.descending : !is_text;
  wish_.order = wanted_order;
}

void LibraryView::draw_row(const Parts& parts, const Rect& place, std::size_t index, const LibraryEntry& entry) {
  Ui& ui = parts.ui;
  SessionRow row = row_of(entry);
  row.is_chosen = chosen_.contains(entry.path);
  if (const BackgroundJob* job = parts.library.importing(entry.path); job != nullptr) {
    const std::string share = job->progress().share_text;
    row.remark = share.empty() ? "importing" : "importing, " + share;
  } else if (parts.library.is_importing(entry.path)) {
    row.remark = "waits to be imported";
  }
  const std::string name = "library.row." + std::to_string(index);
  const Interaction hand = draw_session_row(ui, name, place, row);
  if (hand.clicked) {
    if (!ui.input().modifiers().ctrl) chosen_.clear();
    if (!chosen_.insert(entry.path).second) chosen_.erase(entry.path);
    cursor_ = index;
  }
  if (hand.right_clicked) {
    if (!chosen_.contains(entry.path)) chosen_ = {entry.path};
    menu_path_ = entry.path;
    open_menu(ui, kLibraryMenu);
  }
  if (hand.double_clicked) {
    chosen_ = {entry.path};
    open_chosen(parts);
  }
}

void LibraryView::open_chosen(const Parts& parts) {
  for (const LibraryEntry* entry : std::vector(parts.library.matching(wish_))) {
    if (!chosen_.contains(entry->path)) continue;
    entry->is_session ? parts.workspace.open(entry->path) : parts.library.import(entry->path, {});
  }
}

void LibraryView::take_keys(const Parts& parts) {
  Ui& ui = parts.ui;
  const std::vector<const LibraryEntry*>& rows = parts.library.matching(wish_);
  if (ui.typing() || ui.keyboard_focus().by_keyboard || rows.empty()) return;
  const int step = (ui.pressed(Key::down) ? 1 : 0) - (ui.pressed(Key::up) ? 1 : 0);
  if (step != 0) {
    const std::ptrdiff_t now = cursor_ ? static_cast<std::ptrdiff_t>(*cursor_) : -1;
    cursor_ = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(now + step, 0, static_cast<std::ptrdiff_t>(rows.size()) - 1));
    chosen_ = {rows[*cursor_]->path};
    cursor_moved_ = true;
  }
  if (ui.pressed(Key::enter)) open_chosen(parts);
  if (ui.pressed(Key::del) && chosen_.size() == 1) {
    const auto entry =
        std::find_if(rows.begin(), rows.end(), [&](const auto* each) { return chosen_.contains(each->path); });
    if (entry != rows.end() && !refuse_open(parts.workspace, (*entry)->path)) begin_edit(Edit::erase, **entry);
  }
}

void LibraryView::draw_menu(const Parts& parts) {
  const std::vector<const LibraryEntry*>& rows = parts.library.matching(wish_);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto* each) { return each->path == menu_path_; });
  if (found == rows.end()) return;
  const LibraryEntry& entry = **found;
  const bool changes = entry.is_session && entry.problem.empty();
  const std::string open_label = chosen_.size() > 1 ? fmt::format("Open {} sessions", chosen_.size())
                                 : entry.is_session ? "Open"
                                                    : "Import";
  const std::array<MenuItem, 7> items = {
      {{.id = "open", .label = open_label, .shortcut = "Enter", .icon = icon::kFolderOpen},
       {.id = "rename", .label = "Rename", .enabled = changes, .line_above = true},
       {.id = "tags", .label = "Tags", .enabled = changes},
       {.id = "project", .label = "Project", .enabled = changes},
       {.id = "move", .label = "Move to a folder", .line_above = true},
       {.id = "copy", .label = "Copy the path", .icon = icon::kCopy},
       {.id = "delete", .label = "Delete", .shortcut = "Del", .icon = icon::kTrash, .line_above = true}}};
  const std::optional<std::string> wanted = popup_menu(parts.ui, kLibraryMenu, items);
  if (!wanted) return;
  if (*wanted == "open") open_chosen(parts);
  if (*wanted == "rename") begin_edit(Edit::title, entry);
  if (*wanted == "tags") begin_edit(Edit::tags, entry);
  if (*wanted == "project") begin_edit(Edit::project, entry);
  const bool takes_away = *wanted == "delete" || *wanted == "move";
  if (takes_away && refuse_open(parts.workspace, entry.path)) return;
  if (*wanted == "delete") begin_edit(Edit::erase, entry);
  if (*wanted == "copy") parts.ui.copy_to_clipboard(entry.path);
  if (*wanted == "move") {
    parts.actions.choose_folder("Move to", [&library = parts.library, &workspace = parts.workspace,
                                            path = entry.path](const std::string& folder) {
      if (refuse_open(workspace, path)) return;
      auto move = [path, folder]() -> Result<void> {
        const auto moved = move_session(path, folder);
        return moved ? Result<void>() : Result<void>(moved.error());
      };
      library.change("Moving", std::move(move), [&workspace, path] { forget_recent(workspace, path); });
    });
  }
}

}  // namespace accelscope::app
