// A picture of a session without any display: opens the input, drives the viewer offscreen until nothing is loading,
// and writes a PNG. The command line's `screenshot` is this function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/ids.h"
#include "render/base/theme.h"
#include "render/base/ui.h"

namespace accelscope::app::commands {

struct ScreenshotOptions {
  std::vector<std::string> compared;  // other sessions, below the first one
  std::string input;                  // session or trace file; "" shows the start page
  std::string output;                 // .png
  int width = 1600;                   // pixels of the picture
  int height = 900;
  float scale = 1;
  render::ThemeKind theme = render::ThemeKind::dark;
  std::string view;                 // a link to a view
  std::string range;                // "12.5us:40us", "10%:20%"; "" fits the activity
  std::vector<std::string> panels;  // brought to the front; "NAME!" maximises
  std::optional<EventId> select;
  std::string search;
  std::string state_directory;  // for the start page's recent sessions; "" has none
  std::vector<std::string> source_roots;
  std::vector<render::Control>* controls = nullptr;  // filled with what can be clicked in the picture
};

// Fails when the input cannot be opened, an option makes no sense, or the system has no EGL.
Result<void> take_screenshot(const ScreenshotOptions& options);

// Names and titles of the panels, for --list-panels.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> screenshot_panels();

}  // namespace accelscope::app::commands
