#include "app/terminal/record_arguments.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "capture/command_line/options.h"
#include "capture/request/kind.h"

namespace accelscope::app {

Result<capture::client::CapturePlan> RecordArguments::plan(const std::string& output_path) const {
  capture::client::CapturePlan plan = plan_;
  plan.places = capture::request::split_names(places_);
  if (watch_) plan.mode = capture::wire::StartMode::watch;
  if (take_up_) plan.mode = capture::wire::StartMode::take_up;
  std::vector<capture::request::KindChoice> chosen = TRY(kind_options_.choices(capture::request::split_names(kinds_)));
  plan.request.kinds = std::move(chosen);
  if (!program_.empty()) {
    plan.request.program = program_.front();
    plan.request.arguments.assign(program_.begin() + 1, program_.end());
  }
  if (!script_file_.empty()) {
    std::ifstream file;
    if (script_file_ != "-") file.open(script_file_, std::ios::binary);
    std::istream& text = script_file_ == "-" ? std::cin : file;
    if (!text) return Error{script_file_ + ": cannot be read; name a file with a shell script"};
    plan.request.script.assign(std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>());
  }
  if (!plan.request.results.empty() && plan.results_folder.empty()) {
    plan.results_folder = std::filesystem::path(output_path).replace_extension(".results").string();
  }
  return plan;
}

void RecordArguments::declare_request(command_line::OptionSet& options) {
  capture::request::CaptureRequest& request = plan_.request;
  options.add_option("--kind", kinds_, "What to capture, such as program,simulate");
  kind_options_.declare(options, capture::request::declared_kinds(), capture::request::KindOptions::Help::left_out);
  options.add_option("--name", request.name, "Of the capture");
  options.add_flag("--paused", request.paused, "Begin paused");
  options.add_option("--duration", request.duration_seconds, "Stop after so many seconds").positive();
  options.add_option(
      "--cwd", request.directory,
      "Folder in which the program runs, on the agent's host; else with local this one, elsewhere that of the "
      "files that are sent");
  options.add_option("--env", request.environment, "NAME=VALUE for the program").repeats();
  const command_line::Option script =
      options.add_option("--script", script_file_, "File with a shell script to run, - for the standard input");
  options.add_option("--script-text", request.script, "The script itself").excludes(script);
  options.add_option("--send", plan_.send, "File or folder for the agent").repeats();
  options.add_option("--results", request.results, "File or pattern to bring back").repeats();
  options.add_option("--results-folder", plan_.results_folder, "Where to; else OUTPUT.results");
  options.add_option("PROGRAM", program_, "Program and its arguments, after --");
}

void RecordArguments::declare(command_line::OptionSet& options) {
  options.add_option("PLACE", places_, "local, HOST:PORT or ssh://HOST; several with commas").required();
  const command_line::Option watch = options.add_flag("--watch", watch_, "See a capture that another viewer controls");
  options.add_flag("--take-up", take_up_, "Go on with a capture that the agent holds").excludes(watch);
  options.add_option("--capture", plan_.capture_id, "Which one to watch or take up; else the running one");
  options.add_option("--token-file", plan_.token_file, "File with the agent's token");
  options.add_option("--ssh-config", plan_.ssh_config_file, "ssh's configuration, in place of its own");
  declare_request(options);
}

}  // namespace accelscope::app
