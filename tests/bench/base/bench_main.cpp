// accelscope-bench: runs all figures or those named, one line of JSON each.
#include <fmt/format.h>
#include <filesystem>

#include "capture/command_line/options.h"
#include "tests/bench/base/figures.h"

using namespace accelscope::bench;

int main(int argc, char** argv) {
  accelscope::command_line::OptionSet app("Measures Accelscope against yardsticks in the same run.",
                                          "accelscope-bench");
  app.set_footer("Example:\n  accelscope-bench stream --scale 0.1");
  BenchOptions options;
  std::vector<std::string> names;
  bool list = false;
  app.add_option("figure", names, "which figures to run; none: all");
  app.add_option("--scale", options.scale, "factor on event counts").in_range(0.001, 10.0);
  app.add_flag("--list", list, "name the figures");
  const accelscope::Result<std::string> shown = app.parse({argv + 1, argv + argc});
  if (!shown) {
    fmt::print(stderr, "accelscope-bench: {}; --list names the figures\n", shown.message());
    return 2;
  }
  if (!shown->empty()) {
    fmt::print("{}", *shown);
    return 0;
  }

  if (list) {
    for (const FigureEntry& entry : kFigures) fmt::print("{:<14} {}\n", entry.name, entry.what);
    return 0;
  }
  for (const std::string& name : names) {
    if (find_figure(name) == nullptr) {
      fmt::print(stderr, "accelscope-bench: {}: no such figure; --list names them\n", name);
      return 2;
    }
  }
  options.program_folder = std::filesystem::absolute(argv[0]).parent_path().string();
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("accelscope-bench-{}", process_id());
  std::filesystem::create_directory(folder);
  options.work_folder = folder.string();
  for (const FigureEntry& entry : kFigures) {
    const bool wanted = names.empty() || std::find(names.begin(), names.end(), entry.name) != names.end();
    if (wanted) entry.run(options);
  }
  std::error_code ignored;  // what stays behind lies in the system's temporary folder
  std::filesystem::remove_all(folder, ignored);
  return 0;
}
