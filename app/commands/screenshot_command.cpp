#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <ostream>

#include "app/commands/screenshot.h"
#include "app/export/output_file.h"
#include "app/terminal/command.h"
#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "core/base/format.h"
#include "core/base/own_files.h"

namespace accelscope::app {
namespace {

struct ScreenshotCommand {
  ScreenshotOptions options;
  std::string size = "1600x900";
  std::string theme = "dark";
  std::uint64_t select = kNoEvent;
  bool list_panels = false;
  bool force = false;

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

void print_panels(const CommandRun& run) {
  const char* separator = "[\n";
  for (const auto& [name, title] : screenshot_panels()) {
    if (run.json) {
      run.streams.out << separator
                      << fmt::format("{{\"name\": {}, \"title\": {}}}", json_quote(name), json_quote(title));
    } else {
      run.streams.out << fmt::format("{:<16} {}\n", name, title);
    }
    separator = ",\n";
  }
  if (run.json) run.streams.out << "\n]\n";
}

int ScreenshotCommand::run(const CommandRun& run) const {
  if (list_panels) {
    print_panels(run);
    return kExitDone;
  }
  ScreenshotOptions screenshot = options;
  const std::string name = options.output.empty() ? default_output(options.input, ".png") : options.output;
  if (run.json && name == kStandardStream) {
    return run.fail_usage("screenshot", "-o - and --json both write to the output");
  }
  if (!parse_pixels(size, screenshot.width, screenshot.height)) {
    return run.fail_usage("screenshot", fmt::format("--size {}: not a size between 64x64 and 16384x16384", size));
  }
  screenshot.theme = theme == "light" ? render::ThemeKind::light : render::ThemeKind::dark;
  if (select != kNoEvent) screenshot.select = select;
  // With -o the picture is replaced, as ever: it can be made again.
  if (auto may = may_write(name, force || !options.output.empty(), {options.input}); !may) {
    return run.fail(may.message());
  }
  if (auto roots = check_source_roots(options.source_roots); !roots) return run.fail(roots.message());
  std::vector<std::string> named;
  if (!options.input.empty()) named.push_back(options.input);
  OutputAccess::narrow_to(named);
  const auto inputs = InputPaths::read(std::move(named));
  if (!inputs) return run.fail(inputs.message());
  if (!inputs->paths().empty()) screenshot.input = inputs->paths().front();
  const auto target = FileTarget::open(name, run);
  if (!target) return run.fail(target.message());
  screenshot.output = target->path();
  if (auto done = take_screenshot(screenshot); !done) return run.fail(inputs->shown(done.message()));
  if (auto given = target->finish(run); !given) return run.fail(given.message());
  if (run.json) {
    run.streams.out << fmt::format("{{\"output\": {}, \"width\": {}, \"height\": {}}}\n", json_quote(name),
                                   screenshot.width, screenshot.height);
    return kExitDone;
  }
  run.inform(fmt::format("{}: {} x {} pixels", name, screenshot.width, screenshot.height));
  return kExitDone;
}

}  // namespace

CommandAction declare_screenshot(command_line::OptionSet& options) {
  auto command = std::make_shared<ScreenshotCommand>();
  options.add_option("FILE", command->options.input, "Session file or profile; without one the start page is drawn");
  options.add_option("-o,--output", command->options.output,
                     "PNG to write, replaced if it exists, - for the standard output; else FILE.png in this folder");
  options.add_option("--size", command->size, "Pixels of the picture");
  options.add_option("--scale", command->options.scale, "1.5 draws everything half as large again").in_range(0.5, 4.0);
  options.add_option("--theme", command->theme, "dark or light").one_of({"dark", "light"});
  options.add_option("--view", command->options.view, "Link to a view, as the viewer copies it");
  options.add_option("--range", command->options.range, "Time range shown, such as 12.5us:40us or 10%:20%");
  options.add_option("--panel", command->options.panels, "Panel to bring to the front; NAME! maximises it").repeats();
  options.add_option("--select", command->select, "Id of the event to select");
  options.add_option("--search", command->options.search, "Text to search for");
  options.add_option("--beside", command->options.beside, "Another session, below the first one on the same axis");
  options
      .add_option("--source-root", command->options.source_roots, "Folder in which named source files are looked for")
      .repeats();
  options.add_flag("--force", command->force, "Replace a picture that -o does not name");
  options.add_flag("--list-panels", command->list_panels, "List the panels by name");
  return [command](const CommandRun& run) { return command->run(run); };
}

}  // namespace accelscope::app
