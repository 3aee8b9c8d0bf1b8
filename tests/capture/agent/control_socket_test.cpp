// Running captures as another shell of the same user reaches them.
#include "capture/agent/control/control_socket.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <future>
#include <thread>

#include "tests/capture/kinds/kind_run_support.h"
#include "tests/capture/wire/wire_support.h"
#include "tests/support/wait.h"

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<agent::ControlSocket> open_control(const ScratchFolder& folder, const std::string& name,
                                                   agent::ControlSocket::Handler handler) {
  Result<std::unique_ptr<agent::ControlSocket>> control =
      agent::ControlSocket::open(name, std::move(handler), folder.path.string());
  REQUIRE_MESSAGE(control.ok(), control.message());
  return std::move(control).value();
}

// A capture that says what it was asked.
std::unique_ptr<agent::ControlSocket> capture_named(const ScratchFolder& folder, const std::string& name) {
  return open_control(folder, name, [name](agent::ControlCommand command) -> Result<std::string> {
    if (command == agent::ControlCommand::resume) return Error{name + " is not paused"};
    return name + ": " + std::string(agent::control_word(command));
  });
}

TEST_CASE("the only capture need not be named, and says what happened or why not") {
  const ScratchFolder folder;
  const auto control = capture_named(folder, "mlp");
  CHECK(*agent::send_command("", agent::ControlCommand::pause, folder.path.string()) == "mlp: pause");
  CHECK(*agent::send_command("mlp", agent::ControlCommand::stop, folder.path.string()) == "mlp: stop");
  CHECK(agent::send_command("", agent::ControlCommand::resume, folder.path.string()).message() == "mlp is not paused");
}

TEST_CASE("without a capture, with several, or with a wrong name the error says what there is") {
  const ScratchFolder folder;
  CHECK(contains(agent::send_command("", agent::ControlCommand::stop, folder.path.string()).message(),
                 "no capture of yours"));
  const auto one = capture_named(folder, "mlp");
  const auto two = capture_named(folder, "attention");
  CHECK(agent::send_command("", agent::ControlCommand::stop, folder.path.string()).message() ==
        "several captures are running: attention, mlp; name one, as in accelscope-agent stop attention");
  CHECK(contains(agent::send_command("mlpp", agent::ControlCommand::stop, folder.path.string()).message(),
                 "did you mean mlp?"));
  CHECK(*agent::send_command("attention", agent::ControlCommand::stop, folder.path.string()) == "attention: stop");
  REQUIRE(agent::list_captures(folder.path.string())->size() == 2);
}

std::atomic<int> g_signals = 0;  // lock-free: a signal handler may change it

// True if the end does not wait for anybody.
bool ends(std::unique_ptr<agent::ControlSocket> control) {
  auto ended = std::make_shared<std::promise<void>>();
  std::future<void> waiting = ended->get_future();
  std::thread([control = std::move(control), ended]() mutable {
    control.reset();
    ended->set_value();
  }).detach();
  return waiting.wait_for(test::kPatience) == std::future_status::ready;
}

TEST_CASE("a signal that reaches the thread that listens holds nothing up") {
  const ScratchFolder folder;
  sigset_t only_there;
  sigemptyset(&only_there);
  sigaddset(&only_there, SIGUSR1);
  g_signals = 0;
  std::signal(SIGUSR1, [](int) { ++g_signals; });
  auto control = capture_named(folder, "mlp");
  pthread_sigmask(SIG_BLOCK, &only_there, nullptr);  // so that the other thread gets it
  for (int count = 1; count <= 20; ++count) {
    REQUIRE(::kill(::getpid(), SIGUSR1) == 0);
    while (g_signals < count) std::this_thread::yield();
  }
  CHECK(*agent::send_command("mlp", agent::ControlCommand::pause, folder.path.string()) == "mlp: pause");
  CHECK(ends(std::move(control)));
  std::signal(SIGUSR1, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &only_there, nullptr);
}

TEST_CASE("one that connects and says nothing holds up no end") {
  const ScratchFolder folder;
  auto control = capture_named(folder, "mlp");
  const Result<system::Descriptor> silent = system::connect_to_local((folder.path / "mlp.sock").string());
  REQUIRE(silent.ok());
  CHECK(ends(std::move(control)));
}

TEST_CASE("captures of one name are told apart by a number") {
  const ScratchFolder folder;
  const auto first = capture_named(folder, "mlp");
  const auto second = capture_named(folder, "mlp");
  CHECK(first->name() == "mlp");
  CHECK(second->name() == "mlp-2");
  const Result<std::vector<agent::ControlledCapture>> captures = agent::list_captures(folder.path.string());
  REQUIRE(captures->size() == 2);
  CHECK((*captures)[0].name == "mlp");
  CHECK((*captures)[1].name == "mlp-2");
  CHECK(agent::send_command("mlp-2", agent::ControlCommand::stop, folder.path.string()).ok());
}

TEST_CASE("what a process that died left behind is in nobody's way") {
  const ScratchFolder folder;
  {
    // A socket that was bound and whose process is gone.
    const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, folder.file("mlp.sock").c_str(), sizeof address.sun_path - 1);
    REQUIRE(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(left);
  }
  CHECK(agent::list_captures(folder.path.string())->empty());
  const auto control = capture_named(folder, "mlp");
  CHECK(control->name() == "mlp");
  CHECK(agent::list_captures(folder.path.string())->size() == 1);
}

TEST_CASE("a process that captures nothing now is not listed, and one that ended leaves nothing") {
  const ScratchFolder folder;
  {
    const auto idle = open_control(folder, "agent", [](agent::ControlCommand) { return Error{"captures nothing"}; });
    CHECK(agent::list_captures(folder.path.string())->empty());
  }
  CHECK_FALSE(fs::exists(folder.file("agent.sock")));
}

TEST_CASE("a name cannot lead out of the folder") {
  const ScratchFolder folder;
  const auto control = capture_named(folder, "../../etc/mlp run");
  CHECK(control->name() == "_.._.._etc_mlp_run");
  CHECK(fs::exists(folder.file(control->name() + ".sock")));
}

TEST_CASE("sockets lie in a folder that is the user's alone") {
  const ScratchFolder folder;
  const char* before = std::getenv("XDG_RUNTIME_DIR");
  const std::string retained = before == nullptr ? "" : before;
  ::setenv("XDG_RUNTIME_DIR", folder.path.c_str(), 1);
  const Result<std::string> made = agent::control_folder();
  REQUIRE(made.ok());
  CHECK(*made == folder.file("accelscope"));
  CHECK(fs::status(*made).permissions() == fs::perms::owner_all);
  fs::permissions(*made, fs::perms::owner_all | fs::perms::others_exec);
  CHECK(contains(agent::control_folder().message(), "chmod 700"));
  fs::remove(*made);
  fs::create_directory_symlink(folder.path, *made);
  CHECK_MESSAGE(contains(agent::control_folder().message(), "link"), agent::control_folder().message());
  if (before == nullptr) {
    ::unsetenv("XDG_RUNTIME_DIR");
  } else {
    ::setenv("XDG_RUNTIME_DIR", retained.c_str(), 1);
  }
}

}  // namespace
}  // namespace accelscope::capture
