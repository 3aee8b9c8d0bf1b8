// A folder for a test's files, a program that stands for the agent, and the bytes behind it.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "capture/reach/agent_host.h"

namespace accelscope::capture::reach_test {

// With a blank in its path, so that quoting is tested throughout.
class ReachFolder {
 public:
  ReachFolder();
  ~ReachFolder();
  ReachFolder(const ReachFolder&) = delete;
  ReachFolder& operator=(const ReachFolder&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& content, int mode = 0600) const;
  [[nodiscard]] std::string read(const std::string& name) const;

 private:
  std::string path_;
};

// Answers every byte that comes on a free port of 127.0.0.1 with the same byte.
class EchoServer {
 public:
  EchoServer();
  ~EchoServer();
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  void serve() const;
  system::Descriptor listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

// A script that answers --version, and else writes its arguments, its token and its process id into files of the
// folder, says that it listens on the port, and lives until it is ended, a file "agent.end" appears or the
// folder is gone.
[[nodiscard]] std::string stub_agent(const ReachFolder& folder, const std::string& version, std::uint16_t port,
                                     bool detached = false);

// True if `text` comes back through the stream as it was sent.
[[nodiscard]] bool echoes(const system::Descriptor& stream, const std::string& text);
// Reads until the other side ends the stream. False after a long time without an end.
[[nodiscard]] bool ends(const system::Descriptor& stream);
[[nodiscard]] bool process_lives(const std::string& id);
// A child of the process that was started with the argument; 0 if there is none.
[[nodiscard]] int child_of(int parent, const std::string& argument);
// The same once it is there: a child that was only just forked does not show its arguments yet.
[[nodiscard]] int awaited_child_of(int parent, const std::string& argument);
// Looks again and again until it is true, or for a long time.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

class StepList final : public reach::HostProgress {
 public:
  void step(const std::string& text) override { steps.push_back(text); }
  [[nodiscard]] bool cancelled() const override { return cancel; }
  [[nodiscard]] bool has(const std::string& part) const;
  std::vector<std::string> steps;
  std::atomic<bool> cancel = false;
};

[[nodiscard]] inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace accelscope::capture::reach_test
