// A program that reaches a host from a terminal, as `accelscope record` does, and that ssh starts to ask:
//   reach_for_tests PLACE SSH_CONFIG AGENT      prints "ready", then sends each line that it reads through the agent
// Ctrl+C does not end it: that is the orderly end of a capture, for which the connection is needed.
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "capture/reach/agent_host.h"
#include "capture/reach/ask_pass.h"

namespace {

using namespace accelscope::capture;

class Silent final : public reach::HostProgress {
 public:
  void step(const std::string&) override {}
  [[nodiscard]] bool cancelled() const override { return false; }
};

int prepare_place(const std::string& place_text, const std::string& config, const std::string& agent) {
  std::signal(SIGINT, SIG_IGN);
  const auto place = reach::parse_place(place_text);
  if (!place) return 2;
  Silent progress;
  const auto host = reach::make_ssh_host(
      place.value(), {.agent_program = agent, .version = "0.1.0", .ask_on_terminal = true, .ssh_config_file = config});
  if (const auto ready = host->prepare(progress); !ready) {
    std::cout << ready.message() << std::endl;
    return 1;
  }
  auto stream = host->open_stream(progress);
  std::cout << "ready" << std::endl;
  std::string line;
  while (stream && std::getline(std::cin, line) && line != "end") {
    if (!system::write_all(stream.value(), line)) break;
    std::string back(line.size(), '\0');
    std::size_t count = 0;
    while (count < back.size()) {
      const ssize_t more = ::read(stream->get(), back.data() + count, back.size() - count);
      if (more <= 0) return 1;
      count += static_cast<std::size_t>(more);
    }
    std::cout << "came back: " << back << std::endl;
  }
  host->finish(progress);
  std::cout << "finished" << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (reach::asked_by_ssh()) return reach::answer_ssh(argc > 1 ? argv[1] : "");
  return argc == 4 ? prepare_place(argv[1], argv[2], argv[3]) : 2;
}
