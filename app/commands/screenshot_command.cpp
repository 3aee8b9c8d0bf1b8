#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <ostream>

#include "app/commands/command.h"
#include "app/screenshot.h"
#include "capture/command_line/options.h"

namespace accelscope::app {
namespace {

struct ScreenshotCommand {
  ScreenshotOptions options;
  std::string size = "1600x900";
  std::string theme = "dark";
  std::uint64_t select = kNoEvent;
  bool list_panels = false;

  int run(const CommandRun& run) const;
};

// "1600x900"
bool parse_pixels(std::string_view text, int& width, int& height) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return false;
  const auto read = [](std::string_view part, int& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size() && value >= 64 && value <= 16384;
  };
  return read(text.substr(0, cross), width) && read(text.substr(cross + 1), height);
}

int ScreenshotCommand::run(const CommandRun& run) const {
  if (list_panels) {
    for (const auto& [name, title] : screenshot_panels()) run.streams.out << fmt::format("{:<16} {}\n", name, title);
    return kExitDone;
  }
  if (options.output.empty()) return run.fail_usage("screenshot", "-o OUT.png is missing");
  ScreenshotOptions screenshot = options;
  if (!parse_pixels(size, screenshot.width, screenshot.height)) {
    return run.fail_usage("screenshot", fmt::format("--size {}: not a size between 64x64 and 16384x16384", size));
  }
  screenshot.theme = theme == "light" ? render::ThemeKind::light : render::ThemeKind::dark;
  if (select != kNoEvent) screenshot.select = select;
  if (auto done = take_screenshot(screenshot); !done) return run.fail(done.message());
  run.say(fmt::format("{}: {} x {} pixels", screenshot.output, screenshot.width, screenshot.height));
  return kExitDone;
}

}  // namespace

CommandAction declare_screenshot(command_line::OptionSet& options) {
  auto command = std::make_shared<ScreenshotCommand>();
  options.add_option("FILE", command->options.input, "Session file or profile; without one the start page is drawn");
  options.add_option("-o,--output", command->options.output, "PNG to write");
  options.add_option("--size", command->size, "Pixels of the picture");
  options.add_option("--scale", command->options.scale, "1.5 draws everything half as large again").in_range(0.5, 4.0);
  options.add_option("--theme", command->theme, "dark or light").one_of({"dark", "light"});
  options.add_option("--view", command->options.view, "Link to a view, as the viewer copies it");
  options.add_option("--range", command->options.range, "Time range shown, such as 12.5us:40us or 10%:20%");
  options.add_option("--panel", command->options.panels, "Panel to bring to the front; NAME! maximises it").repeats();
  options.add_option("--select", command->select, "Id of the event to select");
  options.add_option("--search", command->options.search, "Text to search for");
  options
      .add_option("--source-root", command->options.source_roots, "Folder in which named source files are looked for")
      .repeats();
  options.add_flag("--list-panels", command->list_panels, "List the panels by name");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
