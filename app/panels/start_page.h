// What a first start shows: three doors (open, connect, demo), the sessions that were opened before, and the form
// that connects to an agent, with the same on the command line.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/connect_form.h"
#include "app/workspace.h"
#include "render/ui.h"

namespace accelscope::app {

class StartPage {
 public:
  // run: a command of the table by id. say: a confirmation in the status bar.
  void draw(render::Ui& ui, Workspace& workspace, ConnectForm& form, const render::Rect& area,
            const std::function<void(std::string_view)>& run, const std::function<void(std::string)>& say);

 private:
  void draw_doors(render::Ui& ui, render::Rect area, const std::function<void(std::string_view)>& run);
  void draw_recent(render::Ui& ui, Workspace& workspace, render::Rect area,
                   const std::function<void(std::string_view)>& run);

  void draw_recent_head(render::Ui& ui, const render::Rect& row);
  // True when the session is to be opened.
  bool draw_recent_row(render::Ui& ui, const render::Rect& row, std::size_t index, const RecentSession& session);
  void move_cursor(render::Ui& ui, std::size_t rows);

  std::string filter_;
  std::optional<std::size_t> cursor_;  // the chosen row
  bool cursor_moved_ = false;          // by keys: scroll it into view
};

}  // namespace accelscope::app
