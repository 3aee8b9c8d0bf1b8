#include "ssh_server.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "capture/system/child_process.h"
#include "tests/support/programs_folder.h"
#include "tests/support/wait.h"

namespace accelscope::capture::reach_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServer = "/usr/sbin/sshd";
constexpr auto kStartLimit = test::kPatience;
constexpr int kTries = 5;  // for a port that is still free when the server takes it

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  REQUIRE(user != nullptr);
  return user->pw_name;
}

void make_key(const std::string& file, const std::string& pass_phrase) {
  const auto made = system::run_child(
      {"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-C", "test", "-N", pass_phrase, "-f", file},
      [] { return false; });
  REQUIRE(made.ok());
  REQUIRE_MESSAGE(made->exit_code == 0, made->output);
}

std::uint16_t free_port() {
  const system::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(socket.get(), plain, size) == 0);
  REQUIRE(::getsockname(socket.get(), plain, &size) == 0);
  return ntohs(address.sin_port);
}

// The server wants this folder when it runs as root; packages leave it to the start of the service.
bool make_server_folder() {
  std::error_code failure;
  if (::geteuid() == 0) fs::create_directory("/run/sshd", failure);
  return ::geteuid() != 0 || fs::is_directory("/run/sshd", failure);
}

}  // namespace

std::unique_ptr<SshServer> SshServer::start(const ServerSettings& settings) {
  std::error_code failure;
  if (!fs::exists(kServer, failure) || !fs::exists("/usr/bin/ssh-keygen", failure) || !make_server_folder()) {
    MESSAGE("skipped: no OpenSSH server can be started here; install openssh-server and openssh-client");
    return nullptr;
  }
  std::unique_ptr<SshServer> server(new SshServer);
  server->make_keys(settings);
  fs::create_directories(server->home(""));
  const std::string stub =
      stub_agent(server->folder_, settings.version.empty() ? "0.1.0" : settings.version, server->echo_.port(), true);
  if (!settings.version.empty()) server->install("accelscope-agent", server->folder_.read("stub/accelscope-agent"));
  for (int i = 0; i < kTries; ++i) {
    server->port_ = free_port();
    server->write_configuration(settings);
    if (server->launch()) return server;
  }
  FAIL("the ssh server did not start");
  return nullptr;
}

void SshServer::make_keys(const ServerSettings& settings) const {
  make_key(folder_.file("host_key"), "");
  make_key(folder_.file("other_host_key"), "");
  make_key(folder_.file("user_key"), settings.pass_phrase);
  folder_.write("authorized_keys", settings.accepted_key ? folder_.read("user_key.pub") : "");
}

void SshServer::write_configuration(const ServerSettings& settings) const {
  const auto line = [this](const std::string& keyword, const std::string& file) {
    return keyword + " \"" + folder_.file(file) + "\"\n";
  };
  folder_.write("sshd_config",
                "ListenAddress 127.0.0.1\nPort " + std::to_string(port_) + "\n" + line("HostKey", "host_key") +
                    line("AuthorizedKeysFile", "authorized_keys") + line("PidFile", "sshd.pid") +
                    "UsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
                    "PermitRootLogin yes\nPrintMotd no\n" +
                    "SetEnv \"HOME=" + folder_.file("home") + "\" \"PATH=" + folder_.file("bin") +
                    ":/usr/bin:/bin\"\n" + settings.more);
  folder_.write("ssh_config", "Host *\n" + line("IdentityFile", "user_key") +
                                  line("UserKnownHostsFile", "known_hosts") +
                                  "GlobalKnownHostsFile /dev/null\nIdentitiesOnly yes\nIdentityAgent none\n"
                                  "AddKeysToAgent no\nUpdateHostKeys no\n");
  const std::string known = "[127.0.0.1]:" + std::to_string(port_) + " " + folder_.read("host_key.pub");
  folder_.write("known_hosts", settings.known_host ? known : "");
}

bool SshServer::launch() {
  auto started = accelscope::test::Process::start({kServer, "-D", "-e", "-f", folder_.file("sshd_config")});
  REQUIRE(started.ok());
  server_.emplace(std::move(started).value());
  return server_->wait_for("Server listening on", kStartLimit).has_value();
}

reach::Place SshServer::place() const {
  return {.kind = reach::Place::Kind::ssh, .user = user_name(), .host = "127.0.0.1", .port = port_};
}

reach::HostOptions SshServer::options(reach::Prompter* prompter) const {
  return {.agent_program = folder_.file("stub/accelscope-agent"),
          .version = "0.1.0",
          .prompter = prompter,
          .ssh_config_file = folder_.file("ssh_config"),
          .askpass_program = accelscope::test::programs_folder() + "/reach_for_tests"};
}

void SshServer::install(const std::string& name, const std::string& script) const {
  folder_.write("bin/" + name, script, 0755);
}

void SshServer::make_host_key_new() const {
  folder_.write("known_hosts", "[127.0.0.1]:" + std::to_string(port_) + " " + folder_.read("other_host_key.pub"));
}

bool SshServer::left_nothing() const {
  std::error_code failure;
  const std::string cache = home(".cache/accelscope");
  return !fs::exists(cache, failure) || fs::is_empty(cache, failure);
}

}  // namespace accelscope::capture::reach_test
