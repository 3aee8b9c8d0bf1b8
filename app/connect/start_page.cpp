#include "app/connect/start_page.h"

#include "app/system/system_files.h"
#include "core/base/text.h"

namespace accelscope::app::connect {

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
  const char* sign = session.is_fine ? icon::kCheckCircle : is_wrong ? icon::kError : icon::kWarning;
  const Colour colour = session.is_fine ? Colour::ok : is_wrong ? Colour::error : Colour::warning_line;
  if (session.remark.empty() || is_wrong) draw_icon(ui, cells.verdict.cut_right(ui.px(22)), sign, ui.colour(colour));
}

constexpr float kWordsRow = 30, kEditRow = 36, kHintRow = 28, kEmptyHeight = 160, kLibrarySearch = 240;
constexpr std::string_view kLibraryMenu = "library.menu";
constexpr std::array kOrders = {library::LibraryOrder::name, library::LibraryOrder::device, library::LibraryOrder::work,
                                library::LibraryOrder::events, library::LibraryOrder::when};

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

SessionRow row_of(const library::LibraryEntry& entry) {
  SessionRow row{.title = entry.name,
                 .tags = entry.tags,
                 .below = system::shorten_home(entry.path, system::home_directory(system::process_environment())),
                 .when = persist::format_when(entry.when_unix_s(), persist::unix_now())};
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
    row.remark = fmt::format("{}, {}: double click imports", entry.format, format_bytes(entry.size_bytes));
    return row;
  }
  if (!entry.has_figures()) {
    row.work = row.events = "–";
    return row;
  }
  const workspace::Headline& head = entry.headline;
  row.device = head.device;
  row.work = head.work_ns > 0 ? format_duration(head.work_ns) : "–";
  row.events = format_count(head.events);
  row.activity = head.activity;
  row.warnings = head.findings.value_or(head.warnings);
  row.is_fine = row.warnings == 0;
  if (!head.error.empty()) row.below = head.error;  // before where it lies, for which there is no room then
  return row;
}

// A session in a tab reads its file, and would write into one that is elsewhere.
bool refuse_open(workspace::Workspace& workspace, const std::string& path) {
  for (std::size_t i = 0; i < workspace.tab_count(); ++i) {
    if (workspace.tab(i).path != path) continue;
    workspace.notify(Severity::warning, path + ": is open; close its tab first", path);
    return true;
  }
  return false;
}

void forget_recent(workspace::Workspace& workspace, const std::string& path) {
  if (Result<void> forgotten = workspace.recent().forget(path); !forgotten)
    workspace.notify(Severity::warning, forgotten.message());
}

constexpr float kMargin = 32, kDoorHeight = 72, kDoorGap = 16, kFormWidth = 780;
constexpr float kLeastWithForm = 1240;  // units of width below which the form has its own dialog only
constexpr float kLeastDoors = 648;      // of all three, so that their titles are whole
constexpr float kLeastForm = 520, kStartLeastCard = 440, kStartCardHead = 52;
constexpr float kLeftRow = 44;  // an unfinished capture

struct Door {
  const char* name;
  const char* icon;
  const char* title;
  const char* brief;  // where there is less room
  const char* hint;
  const char* key;
  const char* command;
};
constexpr std::array kDoors = {
    Door{"start.open", icon::kFolderOpen, "Open a file or folder", "Open", "A session, or any known trace", "Ctrl+O",
         "open"},
    Door{"start.connect", icon::kPlug, "Connect to a device", "Connect", "An agent on its host", "Ctrl+K", "connect"},
    Door{"start.demo", icon::kPlay, "Try the demo", "Demo", "Simulated; needs no hardware", "", "demo"},
};

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
    if (interact(ui, std::string(name) + ".head." + std::to_string(i), place, {.label = title}).clicked)
      clicked = static_cast<int>(i);
  }
  return clicked;
}

Interaction draw_session_row(Ui& ui, std::string_view name, const Rect& row, const SessionRow& session) {
  const Interaction response =
      interact(ui, name, row, {.group = name.substr(0, name.find('.', name.find('.') + 1)), .label = session.title});
  const bool chosen = session.is_chosen;
  if (chosen || response.hovered) fill(ui, row, ui.colour(chosen ? Colour::accent_bg : Colour::bg3));
  if (chosen) fill(ui, {row.x0, row.y0, row.x0 + ui.px(size::kAccentLine), row.y1}, ui.colour(Colour::accent));
  horizontal_line(ui, row.x0, row.x1, row.y1 - 1, ui.colour(Colour::line1));
  SessionCells cells = session_cells(ui, row);
  Rect lines = cells.session.inset(0, ui.px(4));
  Rect name_line = lines.cut_top(lines.height() / 2);
  name_line.cut_left(draw_text(ui, name_line, session.title, {.style = TextStyle::heading, .fit = Fit::middle}));
  draw_tags(ui, name_line, session.tags);
  draw_text(ui, lines, session.below, {.style = TextStyle::small, .colour = Colour::text3, .fit = Fit::middle});
  draw_figures(ui, cells, session);
  if (response.hovered) set_cursor(Cursor::response);
  return response;
}

void LibraryView::draw(Ui& ui, library::Library& library, workspace::Workspace& workspace,
                       const panels::PanelActions& actions, Rect head, Rect area) {
  const Parts parts{ui, library, workspace, actions};
  if (!library.scanned()) library.scan_once();
  text_input(ui, "library.search", head.cut_right(ui.px(kLibrarySearch)).middle(ui.px(size::kControl)), intent_.text,
             {.placeholder = "Name, device, tag or path", .icon = icon::kSearch});
  head.cut_right(ui.px(8));
  const ButtonOptions refresh{
      .label = "Refresh", .kind = ButtonKind::flat, .tooltip = "Look again what lies in the folders"};
  if (!library.folders().empty() && button_right(ui, "library.refresh", head, refresh)) {
    library.scan();
  }
  if (library.folders().empty()) {
    if (empty_state(ui, "library.empty", area.cut_top(std::min(area.height(), ui.px(kEmptyHeight))), icon::kFolderOpen,
                    "Name the folders that hold your sessions and profiles; they are listed here without being opened.",
                    "Add a folder")) {
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
  if (button_right(ui, "library.add", row, add, size::kSmallControl)) add_folder(parts);
  row.cut_right(ui.px(8));
  std::optional<std::string> gone;
  const std::string home = system::home_directory(system::process_environment());
  for (std::size_t i = 0; i < parts.library.folders().size(); ++i) {
    const std::string& folder = parts.library.folders()[i];
    const std::string label = system::shorten_home(folder, home);
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
  const auto label = [&](std::string_view text) { row.cut_left(draw_text(ui, row, text, kHintText) + ui.px(8)); };
  if (!parts.library.projects().empty()) {
    label("Projects");
    (void)choose_word(ui, "library.project", row, parts.library.projects(), intent_.project);
    row.cut_left(ui.px(8));
  }
  if (!parts.library.tags().empty()) {
    label("Tags");
    (void)choose_word(ui, "library.tag", row, parts.library.tags(), intent_.tag);
  }
}

void LibraryView::begin_edit(Edit edit, const library::LibraryEntry& entry) {
  edit_ = edit;
  edit_begins_ = true;
  edited_path_ = entry.path;
  edit_text_ = edit == Edit::title ? entry.name : edit == Edit::tags ? library::join_tags(entry.tags) : entry.project;
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
  const bool retained = button_right(ui, "library.edit.done", row, done, size::kSmallControl);
  row.cut_right(ui.px(8));
  bool over = button_right(ui, "library.edit.cancel", row, cancel, size::kSmallControl);
  row.cut_right(ui.px(12));
  row.cut_left(draw_text(ui, row, what + file_name(edited_path_),
                         {.colour = erases ? Colour::warning : Colour::text2, .fit = Fit::middle}) +
               ui.px(12));
  if (erases && ui.pressed(Key::escape, {}, false)) over = true;
  bool submitted = retained;
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
      return parts.library.change("Renaming", [path, text] { return library::set_title(path, text); });
    case Edit::tags:
      return parts.library.change("Tagging",
                                  [path, text] { return library::set_tags(path, library::split_tags(text)); });
    case Edit::project:
      return parts.library.change("Changing the project", [path, text] { return library::set_project(path, text); });
    case Edit::erase:
      if (refuse_open(parts.workspace, path)) return;
      chosen_.erase(path);
      return parts.library.change(
          "Deleting", [path] { return library::delete_session(path); },
          [&workspace = parts.workspace, path] { forget_recent(workspace, path); });
  }
}

void LibraryView::draw_rows(const Parts& parts, const Rect& whole) {
  Ui& ui = parts.ui;
  Rect area = whole;
  const std::vector<const library::LibraryEntry*>& rows = parts.library.matching(intent_);
  if (rows.empty()) {
    const Rect place = area.cut_top(std::min(area.height(), ui.px(kEmptyHeight)));
    if (!parts.library.scanned()) {
      empty_state(ui, "library.reading", place, icon::kClock, "Reading the folders.");
    } else if (parts.library.size() == 0) {
      empty_state(ui, "library.none", place, icon::kFolderOpen,
                  "No session or profile lies in these folders: save or record one there.");
    } else {
      if (empty_state(ui, "library.no_match", place, icon::kSearch, "No session matches.", "Show all"))
        intent_ = {.order = intent_.order, .descending = intent_.descending};
    }
    return;
  }
  const float wanted = ui.px(size::kTableHead) + static_cast<float>(rows.size()) * ui.px(size::kSessionRow);
  Rect list = area.cut_top(std::min(area.height() - ui.px(kHintRow), wanted));
  draw_text(
      ui, area.cut_top(ui.px(kHintRow)),
      fmt::format("{} of {}. Double click or Enter opens, Ctrl+click adds, a right click renames, tags and moves.",
                  format_count(rows.size()), format_count(parts.library.size())),
      kHintText);
  const auto order = static_cast<int>(std::ranges::find(kOrders, intent_.order) - kOrders.begin());
  const int clicked =
      draw_session_head(ui, "library", list.cut_top(ui.px(size::kTableHead)),
                        {.when = "Saved", .can_sort = true, .sorted_by = order, .descending = intent_.descending});
  const std::vector<const library::LibraryEntry*> shown = rows;
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
  const library::LibraryOrder wanted_order = kOrders[static_cast<std::size_t>(clicked)];
  const bool is_text = wanted_order == library::LibraryOrder::name || wanted_order == library::LibraryOrder::device;
  intent_.descending = intent_.order == wanted_order ? !intent_.descending : !is_text;
  intent_.order = wanted_order;
}

void LibraryView::draw_row(const Parts& parts, const Rect& place, std::size_t index,
                           const library::LibraryEntry& entry) {
  Ui& ui = parts.ui;
  SessionRow row = row_of(entry);
  row.is_chosen = chosen_.contains(entry.path);
  if (const session::BackgroundJob* job = parts.library.importing(entry.path); job != nullptr) {
    const std::string share = job->progress().share_text;
    row.remark = share.empty() ? "importing" : "importing, " + share;
  } else if (parts.library.is_importing(entry.path)) {
    row.remark = "waits to be imported";
  }
  const std::string name = "library.row." + std::to_string(index);
  const Interaction response = draw_session_row(ui, name, place, row);
  if (response.clicked) {
    if (!ui.input().modifiers().ctrl) chosen_.clear();
    if (!chosen_.insert(entry.path).second) chosen_.erase(entry.path);
    cursor_ = index;
  }
  if (response.right_clicked) {
    if (!chosen_.contains(entry.path)) chosen_ = {entry.path};
    menu_path_ = entry.path;
    open_menu(ui, kLibraryMenu);
  }
  if (response.double_clicked) {
    chosen_ = {entry.path};
    open_chosen(parts);
  }
}

void LibraryView::open_chosen(const Parts& parts) {
  for (const library::LibraryEntry* entry : std::vector(parts.library.matching(intent_))) {
    if (!chosen_.contains(entry->path)) continue;
    entry->is_session ? parts.workspace.open(entry->path) : parts.library.import(entry->path, {});
  }
}

void LibraryView::take_keys(const Parts& parts) {
  Ui& ui = parts.ui;
  const std::vector<const library::LibraryEntry*>& rows = parts.library.matching(intent_);
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
    const auto entry = std::ranges::find_if(rows, [&](const auto* each) { return chosen_.contains(each->path); });
    if (entry != rows.end() && !refuse_open(parts.workspace, (*entry)->path)) begin_edit(Edit::erase, **entry);
  }
}

void LibraryView::draw_menu(const Parts& parts) {
  const std::vector<const library::LibraryEntry*>& rows = parts.library.matching(intent_);
  const auto found = std::ranges::find_if(rows, [&](const auto* each) { return each->path == menu_path_; });
  if (found == rows.end()) return;
  const library::LibraryEntry& entry = **found;
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
        const auto moved = library::move_session(path, folder);
        return moved ? Result<void>() : Result<void>(moved.error());
      };
      library.change("Moving", std::move(move), [&workspace, path] { forget_recent(workspace, path); });
    });
  }
}

constexpr float kLeastHeight = 360;  // units: title, doors and some sessions

void StartPage::draw(Ui& ui, workspace::Workspace& workspace, library::Library& library, ConnectForm* form,
                     const Rect& area, const panels::PanelActions& actions) {
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
    form->draw(ui, head, inside, actions.inform);
  }
  std::optional<ScrollArea> scroll;  // at 300 % a small window has no room for it all
  if (rest.height() < ui.px(kLeastHeight)) {
    scroll.emplace(ui, "start.scroll", rest, ui.px(kLeastHeight));
    rest = scroll->content();
    rest.cut_right(ui.px(12));
  }
  Rect title = rest.cut_top(ui.px(32));
  title.cut_left(draw_text(ui, title, "Accelscope", {.style = TextStyle::display}) + ui.px(16));
  draw_text(ui, title, "Profiles of AI accelerators, from a device or a file", {.colour = Colour::text3});
  rest.cut_top(ui.px(16));
  draw_doors(ui, rest, actions.run);
  rest.cut_top(ui.px(20));
  draw_recoverable(ui, workspace, rest);
  draw_sessions(ui, workspace, library, rest, actions);
}

// From the top of the page; as high as the longest of their texts needs.
void StartPage::draw_doors(Ui& ui, Rect& page, const std::function<void(std::string_view)>& run) {
  const float gap = ui.px(kDoorGap), line = ui.px(16);
  const float width =
      (page.width() - gap * (static_cast<float>(kDoors.size()) - 1)) / static_cast<float>(kDoors.size());
  float hint = line;
  for (const Door& door : kDoors)
    hint = std::max(hint, paragraph_height(ui, TextStyle::small, door.hint, width - 2 * ui.px(14), line));
  Rect area = page.cut_top(ui.px(kDoorHeight) + hint - line);
  for (const Door& door : kDoors) {
    const Rect card = area.cut_left(width);
    area.cut_left(gap);
    const Interaction response = interact(ui, door.name, card);
    fill(ui, card, ui.colour(response.hovered ? Colour::accent_bg : Colour::bg3), size::kCardRadius);
    outline(ui, card, ui.colour(response.hovered ? Colour::accent : Colour::line2), size::kCardRadius);
    if (response.hovered) set_cursor(Cursor::response);
    Rect inside = card.inset(ui.px(14), ui.px(10));
    Rect head = inside.cut_top(ui.px(kDoorHeight - 20) / 2);
    draw_icon(ui, head.cut_left(ui.px(20)), door.icon, ui.colour(Colour::accent), TextStyle::icon16);
    head.cut_left(ui.px(8));
    const bool whole = text_width(ui, TextStyle::heading, door.title) <= head.width();
    const char* title = whole ? door.title : door.brief;
    const float key_width = text_width(ui, TextStyle::mono_small, door.key);
    if (text_width(ui, TextStyle::heading, title) + ui.px(8) + key_width <= head.width()) {  // the menus tell it too
      draw_text(ui, head.cut_right(key_width), door.key, kMonoHintRight);
    }
    draw_text(ui, head, title, {.style = TextStyle::heading});
    if (hint > line) {
      draw_paragraph(ui, inside, door.hint, kLabelText, line);
    } else {
      draw_text(ui, inside, door.hint, kLabelText);
    }
    if (response.clicked) run(door.command);
  }
}

// Captures that a former run of the viewer could not finish come first: they are in no file yet.
void StartPage::draw_recoverable(Ui& ui, workspace::Workspace& workspace, Rect& area) {
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
              "Unfinished capture of " + persist::format_when(left.begun_unix_s, persist::unix_now()),
              {.style = TextStyle::heading});
    draw_text(ui, lines, recoverable_text(left), kLabelText);
  }
  if (!workspace.recoverable().empty()) area.cut_top(ui.px(10));
  if (recovered) workspace.recover(*recovered);
  if (discarded) workspace.discard_recoverable(*discarded);
}

// The figures first: what is long may be cut.
std::string recoverable_text(const capture::client::Recoverable& left) {
  const std::string places = joined(left.plan.places);
  const std::string events = left.events > 0 ? format_count(left.events) + " events, " : std::string();
  const std::string name = left.title == places || left.title.empty() ? "" : left.title + " ";
  return events + format_bytes(left.bytes) + ": " + name + "from " + places;
}

void StartPage::draw_sessions(Ui& ui, workspace::Workspace& workspace, library::Library& library, Rect area,
                              const panels::PanelActions& actions) {
  Rect head = area.cut_top(ui.px(32));
  constexpr std::array<Segment, 2> kLists = {
      {{.label = "Recent sessions"}, {.label = "Library", .tooltip = "The sessions of your folders"}}};
  int chosen = shows_library_ ? 1 : 0;
  if (segmented_left(ui, "start.list", head, kLists, chosen)) shows_library_ = chosen == 1;
  head.cut_left(ui.px(20));
  if (shows_library_) {
    library_.draw(ui, library, workspace, actions, head, area);
  } else {
    draw_recent(ui, workspace, head, area, actions.run);
  }
}

void StartPage::draw_recent(Ui& ui, workspace::Workspace& workspace, Rect head, Rect area,
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
  const std::vector<const persist::RecentSession*> rows = workspace.recent().matching(filter_, project_);
  if (rows.empty()) {
    if (empty_state(ui, "start.none", area.cut_top(std::min(area.height(), ui.px(160))), icon::kSearch,
                    "No session matches \"" + filter_ + "\".", "Show all")) {
      filter_.clear();
      project_.clear();
    }
    return;
  }
  const float wanted = ui.px(size::kTableHead) + static_cast<float>(rows.size()) * ui.px(size::kSessionRow);
  const float hint_height = ui.px(28);
  Rect list = area.cut_top(std::min(area.height() - hint_height, wanted));
  draw_text(ui, area.cut_top(hint_height),
            "Double click or Enter opens, arrows move. Del takes a session off this list (the file stays).", kHintText);
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
  if (std::ranges::find(projects, project_) == projects.end()) project_.clear();
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

bool StartPage::draw_recent_row(Ui& ui, const Rect& place, std::size_t index, const persist::RecentSession& session) {
  SessionRow row{.title = session.title,
                 .below = system::shorten_home(session.path, system::home_directory(system::process_environment())),
                 .device = session.device,
                 .work = session.work_ns > 0 ? format_duration(session.work_ns) : "–",
                 .events = format_count(session.events),
                 .when = persist::format_when(session.opened_unix_s, persist::unix_now()),
                 .warnings = session.warnings,
                 .is_fine = session.warnings == 0,
                 .is_chosen = cursor_ == index};
  for (const std::string& tag : {session.project, session.configuration}) {
    if (!tag.empty()) row.tags.push_back(tag);
  }
  const Interaction response = draw_session_row(ui, "start.recent.row." + std::to_string(index), place, row);
  if (response.clicked) cursor_ = index;
  return response.double_clicked;
}

}  // namespace accelscope::app::connect
