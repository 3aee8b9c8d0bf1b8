// What a first start shows: three doors (open, connect, demo), captures that were left unfinished, the sessions that
// were opened before, and the form that connects to an agent.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/connect/form.h"
#include "app/workspace/workspace.h"
#include "render/base/ui.h"

namespace accelscope::app {

class StartPage {
 public:
  // run: a command of the table by id. say: a confirmation in the status bar. form: null while it is shown elsewhere.
  void draw(render::Ui& ui, Workspace& workspace, ConnectForm* form, const render::Rect& area,
            const std::function<void(std::string_view)>& run, const std::function<void(std::string)>& say);

  // The form stood on the page when it was drawn last.
  [[nodiscard]] bool form_seen() const noexcept { return form_seen_; }
  void left() noexcept { form_seen_ = false; }  // another tab is in front

 private:
  void draw_doors(render::Ui& ui, render::Rect area, const std::function<void(std::string_view)>& run);
  void draw_recent(render::Ui& ui, Workspace& workspace, render::Rect area,
                   const std::function<void(std::string_view)>& run);

  void draw_recoverable(render::Ui& ui, Workspace& workspace, render::Rect& area);
  void draw_projects(render::Ui& ui, const std::vector<std::string>& projects, render::Rect row);
  void draw_recent_head(render::Ui& ui, const render::Rect& row);
  // True when the session is to be opened.
  bool draw_recent_row(render::Ui& ui, const render::Rect& row, std::size_t index, const RecentSession& session);
  void move_cursor(render::Ui& ui, std::size_t rows);

  bool form_seen_ = false;
  std::string filter_;
  std::optional<std::size_t> cursor_;  // the chosen row
  bool cursor_moved_ = false;          // by keys: scroll it into view
  std::string project_;                // whose sessions are listed; "": all
  std::string asks_to_discard_;        // the unfinished capture whose Discard was pressed once
};

// "mlp_fwd from trn1-07:7420, 3,210,448 events, 96.1 MiB"
[[nodiscard]] std::string recoverable_text(const capture::client::Recoverable& left);

}  // namespace accelscope::app
