// What a first start shows: three doors (open, connect, demo), the sessions that were opened before, and the form
// that connects to an agent, with the same on the command line.
#pragma once

#include <functional>
#include <string>

#include "app/connect_form.h"
#include "app/workspace.h"
#include "render/ui.h"
#include "render/widgets/table.h"

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

  std::string filter_;
  render::TableState table_;
};

}  // namespace accelscope::app
