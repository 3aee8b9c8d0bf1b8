// The library on the start page: folders of sessions with search, tags and projects; sessions are opened, several at
// once, renamed, tagged, moved and deleted, and profiles are imported in the background.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "app/connect/session_row.h"
#include "app/library/library.h"
#include "app/panels/context.h"
#include "app/workspace/workspace.h"

namespace accelscope::app {

class LibraryView {
 public:
  // The head's row holds what stands left of the search field already.
  void draw(render::Ui& ui, Library& library, Workspace& workspace, const PanelActions& actions, render::Rect head,
            render::Rect area);

 private:
  // What is typed of a session, above the list.
  enum class Edit : std::uint8_t { none, title, tags, project, erase };

  struct Parts {
    render::Ui& ui;
    Library& library;
    Workspace& workspace;
    const PanelActions& actions;
  };
  void draw_folders(const Parts& parts, render::Rect row);
  void draw_words(const Parts& parts, render::Rect row);
  void draw_edit(const Parts& parts, render::Rect row);
  void end_edit(const Parts& parts, const std::string& text);
  void draw_rows(const Parts& parts, const render::Rect& area);
  void draw_row(const Parts& parts, const render::Rect& row, std::size_t index, const LibraryEntry& entry);
  void draw_menu(const Parts& parts);
  void begin_edit(Edit edit, const LibraryEntry& entry);
  void open_chosen(const Parts& parts);
  void take_keys(const Parts& parts);
  void add_folder(const Parts& parts) const;

  Library::Wish wish_;
  std::set<std::string> chosen_;  // paths
  std::optional<std::size_t> cursor_;
  bool cursor_moved_ = false;
  std::string menu_path_;
  Edit edit_ = Edit::none;
  std::string edited_path_, edit_text_;
  bool edit_begins_ = false;
};

}  // namespace accelscope::app
