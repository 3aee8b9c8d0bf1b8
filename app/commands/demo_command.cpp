#include <memory>

#include "app/commands/demo.h"
#include "app/terminal/command.h"
#include "capture/command_line/options.h"

namespace accelscope::app {

CommandAction declare_demo(command_line::OptionSet& options) {
  auto demo = std::make_shared<DemoOptions>();
  demo->folder = "demo-results";
  options.add_option("ADDRESS", demo->address, "HOST:PORT where the agent listens").required();
  options.add_option("--output-dir", demo->folder, "Folder for the session and the pictures");
  options.add_flag("--window", demo->window, "Show it in a window");
  return [demo](const CommandRun& run) {
    DemoOptions demo_options = *demo;
    demo_options.say = [&run](const std::string& line) { run.say(line); };
    const Result<void> done = run_demo(demo_options);
    return done ? kExitDone : run.fail(done.message());
  };
}

}  // namespace accelscope::app
