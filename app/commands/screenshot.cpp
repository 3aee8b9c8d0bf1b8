#include "app/commands/screenshot.h"

#include <filesystem>

#include "app/frame/app.h"
#include "app/frame/places.h"
#include "app/view/link.h"

namespace accelscope::app::commands {

std::vector<std::pair<std::string, std::string>> screenshot_panels() {
  std::vector<std::pair<std::string, std::string>> panels;
  for (const frame::PanelInfo& panel : frame::all_panels()) panels.emplace_back(panel.name, panel.title);
  for (const frame::PanelPart& part : frame::panel_parts()) panels.emplace_back(part.name, part.title);
  return panels;
}

Result<void> take_screenshot(const ScreenshotOptions& options) {
  for (const std::string& name : options.panels) {
    const std::string plain = name.ends_with('!') ? name.substr(0, name.size() - 1) : name;
    if (!frame::find_panel(plain)) {
      std::string known;
      for (const auto& [panel, title] : screenshot_panels()) known += (known.empty() ? "" : ", ") + panel;
      return Error{plain + ": there is no such panel; known ones are " + known};
    }
  }
  if (!options.view.empty()) {
    TRY(view::read_view_link(options.view));
  }
  frame::App app({.state_directory = options.state_directory,
                  .source_roots = options.source_roots,
                  .theme = options.theme,
                  .view = options.view,
                  .range = options.range,
                  .panels = options.panels,
                  .select = options.select,
                  .search = options.search,
                  .compared = options.compared});
  if (!options.input.empty()) app.open(options.input);
  auto picture = TRY(render::render_offscreen(app, {.width = options.width,
                                                    .height = options.height,
                                                    .scale = options.scale,
                                                    .theme = options.theme,
                                                    .controls = options.controls}));
  const std::string& failure = app.workspace().last_error();
  if (!failure.empty()) return Error{failure};  // the picture would show the error instead of the session
  return render::write_png(picture, options.output);
}

}  // namespace accelscope::app::commands
