#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "app/commands/screenshot.h"
#include "app/output/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "core/base/json.h"
#include "core/base/own_files.h"
#include "core/base/text.h"

namespace accelscope::app::commands {
namespace {

struct ScreenshotCommand {
  ScreenshotOptions options;
  std::string size = "1600x900";
  std::string theme = "dark";
  std::uint64_t select = kNoEvent;
  bool list_panels = false;
  bool controls = false;
  bool force = false;

  int run(const terminal::CommandRun& run) const;
};

// "1600x900"
bool parse_pixels(std::string_view text, int& width, int& height) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return false;
  const auto read = [](std::string_view part, int& value) {
    return read_number(part, value) && value >= 64 && value <= 16384;
  };
  return read(text.substr(0, cross), width) && read(text.substr(cross + 1), height);
}

void print_panels(const terminal::CommandRun& run) {
  JsonWriter json(JsonLayout::rows);
  json.begin_array();
  for (const auto& [name, title] : screenshot_panels()) {
    json.object("name", name, "title", title);
    if (!run.json) run.streams.out << fmt::format("{:<16} {}\n", name, title);
  }
  if (run.json) run.streams.out << json.done() << '\n';
}

// A line each: name, what it is called, where it lies.
void print_controls(const terminal::CommandRun& run, const std::vector<render::Control>& controls) {
  for (const render::Control& control : controls) {
    const render::Rect& at = control.rect;
    std::string label = control.label;
    std::ranges::replace(label, '\n', ' ');
    run.streams.out << fmt::format("{:<40}  {:<40}  {:.0f},{:.0f} {:.0f}x{:.0f}{}\n", control.name, label, at.x0, at.y0,
                                   at.width(), at.height(), control.enabled ? "" : "  disabled");
  }
}

int ScreenshotCommand::run(const terminal::CommandRun& run) const {
  if (list_panels) {
    print_panels(run);
    return terminal::kExitDone;
  }
  ScreenshotOptions screenshot = options;
  const std::string name = options.output.empty() ? output::default_output(options.input, ".png") : options.output;
  if (run.json && name == terminal::kStandardStream) {
    return run.fail_usage("screenshot", "-o - and --json both write to the output");
  }
  if (!parse_pixels(size, screenshot.width, screenshot.height)) {
    return run.fail_usage("screenshot", fmt::format("--size {}: not a size between 64x64 and 16384x16384", size));
  }
  screenshot.theme = render::theme_of_name(theme);
  if (select != kNoEvent) screenshot.select = select;
  // With -o the picture is replaced, as ever: it can be made again.
  if (auto may = output::may_write(name, force || !options.output.empty(), {options.input}); !may) {
    return run.fail(may.message());
  }
  if (auto roots = terminal::check_source_roots(options.source_roots); !roots) return run.fail(roots.message());
  std::vector<std::string> named;
  if (!options.input.empty()) named.push_back(options.input);
  OutputAccess::narrow_to(named);
  const auto inputs = terminal::InputPaths::read(std::move(named));
  if (!inputs) return run.fail(inputs.message());
  if (!inputs->paths().empty()) screenshot.input = inputs->paths().front();
  const auto target = terminal::FileTarget::open(name, run);
  if (!target) return run.fail(target.message());
  screenshot.output = target->path();
  std::vector<render::Control> found;
  if (controls) screenshot.controls = &found;
  if (auto done = take_screenshot(screenshot); !done) return run.fail(inputs->shown(done.message()));
  if (auto given = target->finish(run); !given) return run.fail(given.message());
  if (controls && run.json) {
    JsonWriter json(JsonLayout::rows);
    json.begin_array();
    for (const render::Control& control : found) {
      json.object("name", control.name, "label", control.label, "x", control.rect.x0, "y", control.rect.y0, "width",
                  control.rect.width(), "height", control.rect.height(), "enabled", control.enabled);
    }
    run.streams.out << json.done() << '\n';
    return terminal::kExitDone;
  }
  if (controls) print_controls(run, found);
  if (run.json) {
    run.streams.out << json_line("output", name, "width", screenshot.width, "height", screenshot.height);
    return terminal::kExitDone;
  }
  run.inform(fmt::format("{}: {} x {} pixels", name, screenshot.width, screenshot.height));
  return terminal::kExitDone;
}

}  // namespace

terminal::CommandAction declare_screenshot(command_line::OptionSet& options) {
  auto command = std::make_shared<ScreenshotCommand>();
  options.add_option("FILE", command->options.input, "Session file or profile; without one the start page is drawn");
  options.add_option("-o,--output", command->options.output,
                     "PNG to write, replaced if it exists, - for the standard output; else FILE.png in this folder");
  options.add_option("--size", command->size, "Pixels of the picture");
  options.add_option("--scale", command->options.scale, "1.5 draws everything half as large again").in_range(0.5, 4.0);
  options.add_option("--theme", command->theme, "dark, light or high-contrast")
      .one_of({render::kThemeNames.begin(), render::kThemeNames.end()});
  options.add_option("--view", command->options.view, "Link to a view, as the viewer copies it");
  options.add_option("--range", command->options.range, "Time range shown, such as 12.5us:40us or 10%:20%");
  options.add_option("--panel", command->options.panels, "Panel to bring to the front; NAME! maximises it").repeats();
  options.add_option("--select", command->select, "Id of the event to select");
  options.add_option("--search", command->options.search, "Text to search for");
  options
      .add_option("--beside", command->options.compared,
                  "Another session, below the first one, A, on the same axis; may be given several times")
      .repeats();
  options
      .add_option("--source-root", command->options.source_roots, "Folder in which named source files are looked for")
      .repeats();
  options.add_flag("--force", command->force, "Replace a picture that -o does not name");
  options.add_flag("--controls", command->controls, "List what can be clicked in the picture: name, label, place");
  options.add_flag("--list-panels", command->list_panels, "List the panels by name");
  return [command](const terminal::CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app::commands
