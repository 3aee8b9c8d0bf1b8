// What a first start shows: three doors (open, connect, demo), captures that were left unfinished, the sessions that
// were opened before or lie in the folders of the library, and the form that connects to an agent.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/connect/form.h"
#include "app/connect/library_view.h"
#include "app/workspace/workspace.h"
#include "render/base/ui.h"

namespace accelscope::app {

class StartPage {
 public:
  // form: null while it is shown elsewhere.
  void draw(render::Ui& ui, Workspace& workspace, Library& library, ConnectForm* form, const render::Rect& area,
            const PanelActions& actions);

  // The form stood on the page when it was drawn last.
  [[nodiscard]] bool form_seen() const noexcept { return form_seen_; }
  void left() noexcept { form_seen_ = false; }  // another tab is in front

 private:
  void draw_doors(render::Ui& ui, render::Rect area, const std::function<void(std::string_view)>& run);
  void draw_sessions(render::Ui& ui, Workspace& workspace, Library& library, render::Rect area,
                     const PanelActions& actions);
  void draw_recent(render::Ui& ui, Workspace& workspace, render::Rect head, render::Rect area,
                   const std::function<void(std::string_view)>& run);

  void draw_recoverable(render::Ui& ui, Workspace& workspace, render::Rect& area);
  void draw_projects(render::Ui& ui, const std::vector<std::string>& projects, render::Rect row);
  // True when the session is to be opened.
  bool draw_recent_row(render::Ui& ui, const render::Rect& row, std::size_t index, const RecentSession& session);
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

}  // namespace accelscope::app
