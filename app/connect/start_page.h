// What a first start shows: three doors (open, connect, demo), captures that were left unfinished, the sessions that
// were opened before or lie in the folders of the library, and the form that connects to an agent.
#pragma once

#include <set>

#include "app/connect/form.h"
#include "app/library/library.h"
#include "app/panels/panel.h"

namespace accelscope::app::connect {

// The library on the start page: folders of sessions with search, tags and projects; sessions are opened, several at
// once, renamed, tagged, moved and deleted, and profiles are imported in the background.

// A session in a list: what it is called, which device, its main figures, when, and how busy it was over time. The
// lists of recent sessions and of the library are made of such rows.

struct SessionRow {
  std::string title;
  std::vector<std::string> tags;  // those that fit
  std::string below;              // the path
  std::string device;
  std::string work, events, when;  // "–" where unknown
  std::string activity;            // as in Headline, below the figures; "": none is drawn
  std::uint64_t warnings = 0;
  bool is_fine = true;     // else with a sign; without warnings it is an error
  std::string remark;      // in place of the figures: why it cannot be read, what to do with it
  bool is_chosen = false;  // by the keyboard or a click
};

// The heads of a list, over rows of the same width. Returns the column that was clicked, -1: none; columns register as
// NAME.head.0 (session) to 4 (when).
struct SessionListHead {
  std::string_view when;  // "Opened", "Saved"
  bool can_sort = false;
  int sorted_by = -1;
  bool descending = true;
};
int draw_session_head(render::Ui& ui, std::string_view name, const render::Rect& row, const SessionListHead& head);

// Registers as `name`.
render::Interaction draw_session_row(render::Ui& ui, std::string_view name, const render::Rect& row,
                                     const SessionRow& session);

class LibraryView {
 public:
  // The head's row holds what stands left of the search field already.
  void draw(render::Ui& ui, library::Library& library, workspace::Workspace& workspace,
            const panels::PanelActions& actions, render::Rect head, render::Rect area);

 private:
  // What is typed of a session, above the list.
  enum class Edit : std::uint8_t { none, title, tags, project, erase };

  struct Parts {
    render::Ui& ui;
    library::Library& library;
    workspace::Workspace& workspace;
    const panels::PanelActions& actions;
  };
  void draw_folders(const Parts& parts, render::Rect row);
  void draw_words(const Parts& parts, render::Rect row);
  void draw_edit(const Parts& parts, render::Rect row);
  void end_edit(const Parts& parts, const std::string& text);
  void draw_rows(const Parts& parts, const render::Rect& area);
  void draw_row(const Parts& parts, const render::Rect& row, std::size_t index, const library::LibraryEntry& entry);
  void draw_menu(const Parts& parts);
  void begin_edit(Edit edit, const library::LibraryEntry& entry);
  void open_chosen(const Parts& parts);
  void take_keys(const Parts& parts);
  void add_folder(const Parts& parts) const;

  library::Library::Intent intent_;
  std::set<std::string> chosen_;  // paths
  std::optional<std::size_t> cursor_;
  bool cursor_moved_ = false;
  std::string menu_path_;
  Edit edit_ = Edit::none;
  std::string edited_path_, edit_text_;
  bool edit_begins_ = false;
};

class StartPage {
 public:
  // form: null while it is shown elsewhere.
  void draw(render::Ui& ui, workspace::Workspace& workspace, library::Library& library, ConnectForm* form,
            const render::Rect& area, const panels::PanelActions& actions);

  // The form stood on the page when it was drawn last.
  [[nodiscard]] bool form_seen() const noexcept { return form_seen_; }
  void left() noexcept { form_seen_ = false; }  // another tab is in front

 private:
  void draw_doors(render::Ui& ui, render::Rect& page, const std::function<void(std::string_view)>& run);
  void draw_sessions(render::Ui& ui, workspace::Workspace& workspace, library::Library& library, render::Rect area,
                     const panels::PanelActions& actions);
  void draw_recent(render::Ui& ui, workspace::Workspace& workspace, render::Rect head, render::Rect area,
                   const std::function<void(std::string_view)>& run);

  void draw_recoverable(render::Ui& ui, workspace::Workspace& workspace, render::Rect& area);
  void draw_projects(render::Ui& ui, const std::vector<std::string>& projects, render::Rect row);
  // True when the session is to be opened.
  bool draw_recent_row(render::Ui& ui, const render::Rect& row, std::size_t index,
                       const persist::RecentSession& session);
  void move_cursor(render::Ui& ui, std::size_t rows);

  bool form_seen_ = false;
  bool shows_library_ = false;
  LibraryView library_;
  std::string filter_;
  std::optional<std::size_t> cursor_;  // the chosen row
  bool cursor_moved_ = false;          // by keys: scroll it into view
  std::string project_;                // whose sessions are listed; "": all
  std::string asks_to_discard_;        // the unfinished capture whose Discard was pressed once
};

// "mlp_fwd from trn1-07:7420, 3,210,448 events, 96.1 MiB"
[[nodiscard]] std::string recoverable_text(const capture::client::Recoverable& left);

}  // namespace accelscope::app::connect
