// The form that connects to an agent: where it is, checked while it is typed; what happens; the same on the command
// line. Shown on the start page and as a dialog.
#pragma once

#include <functional>
#include <string>

#include "app/workspace.h"
#include "render/ui.h"

namespace accelscope::app {

inline constexpr const char* kUsualAgent = "127.0.0.1:7420";

class ConnectForm {
 public:
  // Fills the area; true when the user has asked to connect (the workspace is connecting).
  bool draw(render::Ui& ui, Workspace& workspace, render::Rect area, const std::string& prefix,
            const std::function<void(std::string)>& say);
  void focus() noexcept { focus_now_ = true; }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  std::string address_ = kUsualAgent;
  bool focus_now_ = false;
};

// "accelscope record 127.0.0.1:7420 -o session.accel"
[[nodiscard]] std::string record_command_line(const std::string& address);

}  // namespace accelscope::app
