#include "app/terminal/record_arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/terminal/terminal.h"
#include "capture/command_line/options.h"
#include "capture/reach/place.h"
#include "capture/request/kind.h"
#include "capture/system/address.h"
#include "core/base/text.h"

namespace accelscope::app::terminal {

namespace {

// "trn1-07", "ubuntu@trn1-07" and "ubuntu@trn1-07:2222" are reached through ssh; "trn1-07:7420" has an agent.
[[nodiscard]] std::string place_of_line(std::string_view line) {
  const bool as_typed = line == "local" || line.find("://") != std::string_view::npos;
  const bool has_port = line.find(':') != std::string_view::npos;
  const bool has_user = line.find('@') != std::string_view::npos;
  return (as_typed || (has_port && !has_user) ? "" : "ssh://") + std::string(line);
}

Result<void> add_places_of_file(const std::string& path, std::vector<std::string>& places) {
  std::ifstream file(path);
  if (!file) return Error{path + ": cannot be read; name a file with a host in each line"};
  const std::size_t before = places.size();
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view host = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (host.empty()) continue;
    const std::string place = place_of_line(host);
    const auto in_file = [&](std::string_view what) { return Error{fmt::format("{}:{}: {}", path, number, what)}; };
    if (const auto parsed = capture::reach::parse_place(place); !parsed) return in_file(parsed.message());
    if (place.starts_with("tls://") || place.find("://") == std::string::npos) {
      const auto address = place == "local" ? Result<capture::system::Address>(capture::system::Address{})
                                            : capture::system::parse_address(place);
      if (!address) return in_file(address.message());
    }
    if (std::ranges::find(places, place) != places.end()) return in_file(place + " was named before");
    places.push_back(place);
  }
  if (file.bad()) return Error{path + ": cannot be read to its end"};
  if (places.size() == before) return Error{path + ": names no host; write one a line"};
  return {};
}

}  // namespace

Result<std::vector<std::string>> places_of_text(const std::string& text) {
  std::vector<std::string> places;
  for (const std::string& word : capture::request::split_names(text)) {
    if (word.starts_with('@')) {
      TRY(add_places_of_file(word.substr(1), places));
    } else {
      places.push_back(word);
    }
  }
  return places;
}

Result<capture::client::CapturePlan> RecordArguments::plan(const std::string& output_path) const {
  capture::client::CapturePlan plan = plan_;
  std::vector<std::string> places = TRY(places_of_text(places_));
  plan.places = std::move(places);
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

void RecordArguments::declare_request(command_line::OptionSet& options, std::string_view own) {
  capture::request::CaptureRequest& request = plan_.request;
  options.add_option("--kind", kinds_, "What to capture, such as program,simulate");
  std::vector<capture::request::KindFacts> kinds = capture::request::declared_kinds();
  for (capture::request::KindFacts& kind : kinds)
    std::erase_if(kind.options, [own](const auto& option) { return option.name == own; });
  kind_options_.declare(options, kinds, capture::request::KindOptions::Help::left_out);
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

void RecordArguments::declare(command_line::OptionSet& options, std::string_view own) {
  options.add_option("PLACE", places_, "local, HOST:PORT or ssh://HOST; several with commas, or @FILE with one a line")
      .required();
  const command_line::Option watch = options.add_flag("--watch", watch_, "See a capture that another viewer controls");
  options.add_flag("--take-up", take_up_, "Go on with a capture that the agent holds").excludes(watch);
  options.add_option("--capture", plan_.capture_id, "Which one to watch or take up; else the running one");
  options.add_option("--token-file", plan_.token_file, "File with the agent's token");
  options.add_option("--ssh-config", plan_.ssh_config_file, "ssh's configuration, in place of its own");
  options.add_option("--ssh-identity", plan_.ssh_identity_file, "File with the private key for ssh");
  declare_request(options, own);
}

void run_program_by_default(capture::client::CapturePlan& plan) {
  capture::request::CaptureRequest& request = plan.request;
  const bool runs = !request.program.empty() || !request.script.empty();
  if (runs && request.kinds.empty() && plan.mode == capture::wire::StartMode::begin) request.kinds = {{"program", {}}};
}

std::optional<std::string> ask_on_terminal(const capture::client::CaptureQuestion& question, std::ostream& err) {
  err << terminal::erase_line << question.title << '\n' << question.text << '\n' << std::flush;
  if (question.kind == capture::client::CaptureQuestion::Kind::secret) {
    char* typed = ::getpass("> ");
    return typed == nullptr ? std::nullopt : std::optional<std::string>(typed);
  }
  err << (question.kind == capture::client::CaptureQuestion::Kind::yes_no ? "[y/n] " : "> ") << std::flush;
  std::string line;
  if (!std::getline(std::cin, line)) return {};
  if (question.kind == capture::client::CaptureQuestion::Kind::text) return line;
  return line == "y" || line == "yes" ? std::optional<std::string>("yes") : std::nullopt;
}

}  // namespace accelscope::app::terminal
