// A plan as the command that does the same.
#include <fmt/format.h>

#include "capture/client/capture_status.h"
#include "capture/request/kind.h"
#include "capture/request/option_cli.h"

namespace accelscope::capture::client {

std::vector<std::string> record_command(const CapturePlan& plan, const std::string& output_path) {
  std::vector<std::string> words = {"accelscope", "record"};
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  std::string places;
  for (const std::string& place : plan.places) places += (places.empty() ? "" : ",") + place;
  words.push_back(places.empty() ? "HOST:PORT" : places);
  option("-o", output_path);
  if (plan.mode == wire::StartMode::watch) words.emplace_back("--watch");
  if (plan.mode == wire::StartMode::take_up) words.emplace_back("--take-up");
  option("--capture", plan.capture_id);
  option("--token-file", plan.token_file);
  option("--ssh-config", plan.ssh_config_file);
  const request::CaptureRequest& request = plan.request;
  option("--name", request.name);
  for (std::string& word : request::kind_arguments(request.kinds, request::declared_kinds()))
    words.push_back(std::move(word));
  if (request.paused) words.emplace_back("--paused");
  if (request.duration_seconds > 0) option("--duration", fmt::format("{}", request.duration_seconds));
  option("--cwd", request.directory);
  for (const std::string& variable : request.environment) option("--env", variable);
  for (const std::string& path : plan.send) option("--send", path);
  for (const std::string& path : request.results) option("--results", path);
  option("--results-folder", plan.results_folder);
  option("--script-text", request.script);
  if (request.program.empty()) return words;
  words.insert(words.end(), {"--", request.program});
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  return words;
}

}  // namespace accelscope::capture::client
