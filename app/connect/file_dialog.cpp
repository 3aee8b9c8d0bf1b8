#include "app/connect/file_dialog.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/persist/persist.h"

namespace accelscope::app::connect {

using namespace render;  // NOLINT: this file is nothing but drawing

namespace fs = std::filesystem;

namespace {
constexpr const char* kFileDialogName = "file_dialog";
constexpr float kFileDialogWidth = 860, kHeight = 560, kPlacesWidth = 190;
}  // namespace

void FileDialog::show(Purpose purpose, const std::string& start, std::vector<system::NamedPlace> places,
                      Chosen chosen) {
  purpose_ = purpose;
  places_ = std::move(places);
  chosen_ = std::move(chosen);
  open_ = must_open_ = focus_now_ = true;
  if (purpose == Purpose::import_text) all_files_ = true;
  title_ = purpose == Purpose::export_text   ? "Export"
           : purpose == Purpose::import_text ? "Import"
           : purpose == Purpose::save        ? "Save the session"
                                             : "Open a session, trace or folder";
  overwrite_.reset();
  problem_.clear();
  typed_ = saves() ? fs::path(start).filename().string() : "";
  go_to(saves() ? fs::path(start).parent_path().string() : start);
}

void FileDialog::show_folders(std::string title, const std::string& start, std::vector<system::NamedPlace> places,
                              Chosen chosen) {
  show(Purpose::folder, start, std::move(places), std::move(chosen));
  title_ = std::move(title);
}

void FileDialog::show_files(std::string title, const std::string& start, std::vector<system::NamedPlace> places,
                            Chosen chosen) {
  show(Purpose::import_text, start, std::move(places), std::move(chosen));
  title_ = std::move(title);
}

void FileDialog::go_to(const std::string& folder) {
  folder_ = folder.empty() ? "." : folder;
  overwrite_.reset();
  if (!saves()) typed_.clear();
  table_ = {};
  task_ = pool_.start([target = folder_](TaskControl&) { return system::list_folder(target); });
}

void FileDialog::take_listing() {
  if (!task_.valid() || !task_.ready()) return;
  auto listing = task_.take();
  if (listing) {
    listing_ = std::move(*listing);
    folder_ = listing_.folder;
    problem_.clear();
  } else {
    listing_ = {folder_, {}};
    problem_ = listing.message();
  }
}

std::string FileDialog::typed_target() const {
  if (typed_.empty()) return "";
  return fs::path(typed_).is_absolute() ? typed_ : system::join_path(folder_, typed_);
}

void FileDialog::choose(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return go_to(path);
  const std::string target = purpose_ == Purpose::save ? system::with_session_suffix(path) : path;
  const bool exists = fs::exists(target, error);
  if (!saves() && (!exists || purpose_ == Purpose::folder)) {
    problem_ = target + (exists ? ": is no folder" : ": there is no such file here");
    return;
  }
  if (saves() && exists && overwrite_ != target) {
    overwrite_ = target;
    return;
  }
  open_ = false;
  chosen_(target);
}

std::vector<std::size_t> FileDialog::shown_entries() const {
  std::vector<std::size_t> shown = system::filter_entries(listing_, saves() ? "" : typed_, all_files_);
  if (purpose_ == Purpose::folder) std::erase_if(shown, [&](std::size_t i) { return !listing_.entries[i].is_folder; });
  return shown;
}

void FileDialog::draw(Ui& ui) {
  if (!open_) return;
  take_listing();
  const bool saving = saves(), folder_wanted = purpose_ == Purpose::folder;
  if (std::exchange(must_open_, false)) open_modal(ui, kFileDialogName);
  Modal modal(ui, kFileDialogName, title_, kFileDialogWidth, kHeight);
  if (!modal.open()) {
    open_ = false;
    return;
  }
  Rect rest = modal.body();
  Rect row = rest.cut_top(ui.px(size::kControl));
  const Rect up = row.cut_left(ui.px(size::kControl));
  if (icon_button(ui, "file_dialog.up", up, icon::kArrowUp, "To the folder above"))
    go_to(system::parent_folder(folder_));
  row.cut_left(ui.px(8));
  draw_text(ui, row, folder_, {.style = TextStyle::mono, .colour = Colour::text2, .fit = Fit::middle});
  rest.cut_top(ui.px(8));
  Rect typing = rest.cut_top(ui.px(size::kControl));
  const Rect all_files = typing.cut_right(checkbox_width(ui, "All files"));
  typing.cut_right(ui.px(12));
  if (!folder_wanted) checkbox(ui, "file_dialog.all", all_files, "All files", all_files_);
  const TextInputResult typed =
      text_input(ui, "file_dialog.name", typing, typed_,
                 {.placeholder = saving ? "Name of the file" : "Type to narrow the list, or a path",
                  .icon = icon::kSearch,
                  .mono = saving,
                  .focus_now = std::exchange(focus_now_, false),
                  .select_all = true});
  if (typed.changed) overwrite_.reset();
  rest.cut_top(ui.px(8));
  draw_places(ui, rest.cut_left(ui.px(kPlacesWidth)));
  rest.cut_left(ui.px(12));
  draw_list(ui, rest);

  Rect foot = modal.buttons();
  const bool nothing_named = typed_.empty() && !table_.cursor;
  const bool whole_folder = purpose_ == Purpose::open && nothing_named;
  const std::string label = folder_wanted  ? "Choose this folder"
                            : saving       ? (overwrite_ ? "Replace" : "Save")
                            : whole_folder ? "Open this folder"
                                           : "Open";
  const ButtonOptions done{.label = label, .kind = ButtonKind::primary, .disabled = saving && typed_.empty()};
  const bool pressed =
      button(ui, "file_dialog.done", foot.cut_right(std::max(button_width(ui, done), ui.px(88))), done);
  foot.cut_right(ui.px(8));
  const ButtonOptions cancel{.label = "Cancel"};
  const bool cancelled = button(ui, "file_dialog.cancel", foot.cut_right(button_width(ui, cancel)), cancel);
  if (overwrite_) {
    draw_text(ui, foot, fs::path(*overwrite_).filename().string() + " exists. Replace it?",
              {.colour = Colour::warning});
  } else if (!problem_.empty()) {
    draw_text(ui, foot, problem_, {.colour = Colour::error, .fit = Fit::middle});
  }
  // A folder may be what a run left behind, so that it is opened as a whole where nothing in it is named.
  const bool whole = (folder_wanted && typed_.empty()) || whole_folder;
  if (pressed && whole) {
    open_ = false;
    chosen_(folder_);
  } else if (pressed || typed.submitted) {
    const std::vector<std::size_t> shown = shown_entries();
    if (!saving && table_.cursor && *table_.cursor < shown.size() && typed_.empty()) {
      choose(system::join_path(folder_, listing_.entries[shown[*table_.cursor]].name));
    } else if (!saving && shown.size() == 1) {
      choose(system::join_path(folder_, listing_.entries[shown.front()].name));
    } else if (!typed_.empty()) {
      choose(typed_target());
    }
  }
  if (cancelled) open_ = false;
  if (!open_) modal.close();
}

void FileDialog::draw_places(Ui& ui, Rect area) {
  fill(ui, area, ui.colour(Colour::bg1), size::kControlRadius);
  Rect rest = area.inset(ui.px(4), ui.px(4));
  for (std::size_t i = 0; i < places_.size() && rest.height() > ui.px(size::kSmallControl); ++i) {
    const Rect row = rest.cut_top(ui.px(size::kSmallControl));
    const Interaction response = interact(ui, "file_dialog.place." + std::to_string(i), row,
                                          {.group = "file_dialog.places", .label = places_[i].name});
    const bool here = places_[i].path == folder_;
    if (here || response.hovered) fill(ui, row, ui.colour(here ? Colour::accent_bg : Colour::bg3), size::kChipRadius);
    Rect place = row.inset(ui.px(8), 0);
    draw_icon(ui, place.cut_left(ui.px(16)), icon::kFolder, ui.colour(Colour::text2));
    place.cut_left(ui.px(6));
    draw_text(ui, place, places_[i].name, {.fit = Fit::middle});
    tooltip(ui, response, row, places_[i].path);
    if (response.clicked) go_to(places_[i].path);
  }
}

void FileDialog::draw_list(Ui& ui, Rect area) {
  const bool saving = saves();
  const std::vector<std::size_t> shown = shown_entries();
  if (shown.empty() && purpose_ == Purpose::folder)
    return empty_sentence(ui, "file_dialog.empty", area, icon::kFolderOpen,
                          task_.valid() ? "Reading the folder ..." : "No folders in this one.");
  if (shown.empty()) {
    constexpr std::array<std::string_view, 2> kActions = {"Show all files", "Go up"};
    const auto action = empty_state(ui, "file_dialog.empty", area, icon::kFolderOpen,
                                    task_.valid() ? "Reading the folder ..." : "No session or trace here.", kActions);
    if (action == 0) all_files_ = true;
    if (action == 1) go_to(system::parent_folder(folder_));
    return;
  }
  const std::array<TableColumn, 3> columns = {
      {{.title = "Name", .sortable = false},
       {.title = "Size", .width = 90, .align = Align::right, .sortable = false},
       {.title = "Changed", .width = 120, .align = Align::right, .sortable = false}}};
  const auto content = [&](std::size_t row, std::size_t column) -> TableCell {
    const system::FileEntry& entry = listing_.entries[shown[row]];
    switch (column) {
      case 0:
        return {.text = entry.name,
                .style = TextStyle::body,
                .fit = Fit::middle,
                .icon = entry.is_folder ? icon::kFolder : icon::kFile,
                .icon_colour = entry.is_folder ? Colour::accent : Colour::text3};
      case 1:
        return {.text = entry.is_folder ? "" : format_bytes(entry.bytes), .colour = Colour::text2};
      default:
        return {.text = persist::format_when(entry.changed_unix_s, persist::unix_now()),
                .colour = Colour::text3,
                .style = TextStyle::body};
    }
  };
  const TableResult result =
      table(ui, "file_dialog.list", area, columns, shown.size(), content, table_,
            {.row_height = 22, .selected = [&](std::size_t row) { return table_.cursor == row; }, .can_export = false});
  if (result.clicked) {
    table_.cursor = result.clicked;
    const system::FileEntry& entry = listing_.entries[shown[*result.clicked]];
    if (saving && !entry.is_folder) typed_ = entry.name;
  }
  if (result.double_clicked) choose(system::join_path(folder_, listing_.entries[shown[*result.double_clicked]].name));
}

}  // namespace accelscope::app::connect
