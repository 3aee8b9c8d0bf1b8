#include <iostream>
#include <memory>
#include <sstream>

#include "app/commands/command_line.h"
#include "app/commands/screenshot.h"
#include "app/mcp/server.h"
#include "capture/command_line/options.h"

namespace accelscope::app::commands {
namespace {

Result<void> draw_for_client(const mcp::ScreenshotIntent& intent) {
  if (intent.inputs.size() != 1) {
    return Error{"a picture is of one file; import the files into one session first: accelscope import A B -o S.accel"};
  }
  ScreenshotOptions options;
  options.input = intent.inputs.front();
  options.output = intent.output;
  options.width = intent.width;
  options.height = intent.height;
  options.theme = intent.light ? render::ThemeKind::light : render::ThemeKind::dark;
  options.range = intent.range;
  options.panels = intent.panels;
  options.select = intent.select;
  options.search = intent.search;
  return take_screenshot(options);
}

mcp::ServerDoors::CommandOutcome run_for_client(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = run_program(arguments, {out, err});
  return {code, out.str(), err.str()};
}

}  // namespace

terminal::CommandAction declare_mcp(command_line::OptionSet& options) {
  auto paths = std::make_shared<std::vector<std::string>>();
  options.add_option("FILE", *paths, "Sessions and profiles to open at the start");
  return [paths](const terminal::CommandRun& run) {
    const auto served =
        mcp::serve_mcp(std::cin, run.data_out(), run.streams.err, *paths, {draw_for_client, run_for_client});
    return served ? terminal::kExitDone : run.fail(served.message());
  };
}

}  // namespace accelscope::app::commands
