#include "reach_support.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "capture/system/shown_command.h"
#include "tests/support/wait.h"

namespace accelscope::capture::reach_test {
namespace {

constexpr auto kLong = test::kPatience;

void echo(const system::Descriptor& peer, const std::atomic<bool>& ending) {
  std::array<char, 4096> buffer{};
  while (!ending) {
    pollfd waiting{peer.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 20) <= 0) continue;
    const ssize_t count = ::read(peer.get(), buffer.data(), buffer.size());
    if (count <= 0) return;
    if (!system::write_all(peer, {buffer.data(), static_cast<std::size_t>(count)})) return;
  }
}

}  // namespace

ReachFolder::ReachFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "reach test-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

ReachFolder::~ReachFolder() {
  std::error_code failure;
  std::filesystem::remove_all(path_, failure);
}

void ReachFolder::write(const std::string& name, const std::string& content, int mode) const {
  std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
  std::ofstream(file(name), std::ios::binary) << content;
  ::chmod(file(name).c_str(), static_cast<mode_t>(mode));
}

std::string ReachFolder::read(const std::string& name) const {
  std::ifstream in(file(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

EchoServer::EchoServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listener_.get(), plain, size) == 0);
  REQUIRE(::listen(listener_.get(), 8) == 0);
  REQUIRE(::getsockname(listener_.get(), plain, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

EchoServer::~EchoServer() {
  ending_ = true;
  thread_.join();
}

void EchoServer::serve() const {
  std::vector<std::thread> peers;
  while (!ending_) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 20) <= 0) continue;
    const int peer = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (peer >= 0) peers.emplace_back([this, peer] { echo(system::Descriptor(peer), ending_); });
  }
  for (std::thread& peer : peers) peer.join();
}

std::string stub_agent(const ReachFolder& folder, const std::string& version, std::uint16_t port, bool detached) {
  const auto quoted = [&](const std::string& name) { return system::shell_quote(folder.file(name)); };
  std::string script = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo " + version + "; exit 0; fi\n";
  script += "printf '%s\\n' \"$@\" > " + quoted("agent.arguments") + "\n";
  script += "IFS= read -r token; printf '%s' \"$token\" > " + quoted("agent.token") + "\n";
  script += "printf '%s' \"$0\" > " + quoted("agent.program") + "\n";
  const std::string live = "while [ -d " + system::shell_quote(folder.path()) + " ] && ! [ -e " + quoted("agent.end") +
                           " ]; do sleep 0.1; done";
  const std::string inform = "echo listening on 127.0.0.1:" + std::to_string(port) + "\n";
  if (detached) {
    script += "(" + live + ") < /dev/null > /dev/null 2>&1 &\nprintf '%s' $! > " + quoted("agent.id") + "\n" + inform;
  } else {
    script += "printf '%s' $$ > " + quoted("agent.id") + "\n" + inform + live + "\n";
  }
  folder.write("stub/accelscope-agent", script, 0755);
  return folder.file("stub/accelscope-agent");
}

bool echoes(const system::Descriptor& stream, const std::string& text) {
  if (!system::write_all(stream, text)) return false;
  std::string back;
  std::array<char, 4096> buffer{};
  while (back.size() < text.size()) {
    pollfd waiting{stream.get(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kLong).count())) <= 0) return false;
    const ssize_t count = ::read(stream.get(), buffer.data(), buffer.size());
    if (count <= 0) return false;
    back.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return back == text;
}

bool ends(const system::Descriptor& stream) {
  const auto until = std::chrono::steady_clock::now() + kLong;
  return system::read_to_end(stream, 1U << 20, [&] { return std::chrono::steady_clock::now() > until; }).ok();
}

bool process_lives(const std::string& id) { return !id.empty() && ::kill(std::stoi(id), 0) == 0; }

int child_of(int parent, const std::string& argument) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string arguments, status, line;
    std::ifstream command(entry.path() / "cmdline");
    std::getline(command, arguments);
    if (!holds(arguments, std::string(1, '\0') + argument + std::string(1, '\0'))) continue;
    std::ifstream lines(entry.path() / "status");
    while (std::getline(lines, line)) status += line + "\n";
    if (holds(status, "PPid:\t" + std::to_string(parent) + "\n")) return std::stoi(name);
  }
  return 0;
}

int awaited_child_of(int parent, const std::string& argument) {
  int child = 0;
  (void)eventually([&] { return (child = child_of(parent, argument)) != 0; });
  return child;
}

bool eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + kLong;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

bool StepList::has(const std::string& part) const {
  for (const std::string& step : steps) {
    if (holds(step, part)) return true;
  }
  return false;
}

}  // namespace accelscope::capture::reach_test
