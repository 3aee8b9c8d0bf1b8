// What ssh asks reaches the user and the answers reach ssh; what ssh complains about is explained.
#include <doctest/doctest.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "capture/reach/agent_files.h"
#include "capture/reach/ask_pass.h"
#include "ssh_server.h"
#include "tests/support/programs_folder.h"
#include "tests/support/wait.h"

using namespace accelscope::capture;
using namespace accelscope::capture::reach_test;

namespace {

// Answers in the order given, and then as one who cancels.
class ScriptedUser final : public reach::Prompter {
 public:
  explicit ScriptedUser(std::deque<std::string> answers) : answers_(std::move(answers)) {}
  std::optional<std::string> ask(const reach::Prompt& prompt) override {
    prompts.push_back(prompt);
    if (answers_.empty()) return std::nullopt;
    std::string answer = answers_.front();
    answers_.pop_front();
    return answer;
  }
  void cancel() override {}
  std::vector<reach::Prompt> prompts;  // read once the host is gone or ready

 private:
  std::deque<std::string> answers_;
};

// Thinks until it is cancelled.
class SilentUser final : public reach::Prompter {
 public:
  std::optional<std::string> ask(const reach::Prompt&) override {
    std::unique_lock lock(mutex_);
    asked = true;
    changed_.wait(lock, [this] { return cancelled_; });
    return std::nullopt;
  }
  void cancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }
  std::atomic<bool> asked = false;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
};

class CancelWhenAsked final : public reach::HostProgress {
 public:
  explicit CancelWhenAsked(const SilentUser& user) : user_(user) {}
  void step(const std::string&) override {}
  [[nodiscard]] bool cancelled() const override { return user_.asked; }

 private:
  const SilentUser& user_;
};

std::string failure_of(reach::AgentHost& host) {
  StepList steps;
  const auto ready = host.prepare(steps);
  REQUIRE_FALSE(ready.ok());
  return ready.message();
}

}  // namespace

TEST_CASE("a key's pass phrase is asked with ssh's words, asked again when wrong, and once for all streams") {
  const auto server = SshServer::start({.pass_phrase = "open sesame"});
  if (!server) return;
  ScriptedUser user({"wrong one", "open sesame"});
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options(&user));
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  const auto stream = host->open_stream(steps);
  REQUIRE(stream.ok());
  CHECK(echoes(stream.value(), "asked"));
  host->finish(steps);
  REQUIRE(user.prompts.size() == 2);
  CHECK(user.prompts[0].kind == reach::Prompt::Kind::secret);
  CHECK(user.prompts[0].place == server->place().text());
  CHECK(user.prompts[0].text == "Enter passphrase for key '" + server->folder().file("user_key") + "': ");
  CHECK(user.prompts[0].attempt == 1);
  CHECK(user.prompts[1].text == user.prompts[0].text);
  CHECK(user.prompts[1].attempt == 2);
}

TEST_CASE("a question that the user leaves unanswered ends the connection with a message") {
  const auto server = SshServer::start({.pass_phrase = "open sesame"});
  if (!server) return;
  ScriptedUser user({"wrong one"});
  const auto host = reach::make_ssh_host(server->place(), server->options(&user));
  const std::string message = failure_of(*host);
  CHECK(message.starts_with(server->place().text() +
                            ": ssh's question was not answered; answer it when a capture starts, or connect "
                            "once in a terminal with ssh -p "));
  CHECK(message.find("(Enter passphrase") != std::string::npos);
  CHECK_FALSE(holds(message, "wrong one"));
}

TEST_CASE("cancelling while a question is open ends at once, and closes the question") {
  const auto server = SshServer::start({.pass_phrase = "open sesame"});
  if (!server) return;
  SilentUser user;
  CancelWhenAsked progress(user);
  const auto host = reach::make_ssh_host(server->place(), server->options(&user));
  const auto ready = host->prepare(progress);
  REQUIRE_FALSE(ready.ok());
  CHECK(ready.message() == server->place().text() + ": cancelled");
}

TEST_CASE("an unknown host's key is shown with its fingerprint and taken only after yes") {
  const auto server = SshServer::start({.known_host = false});
  if (!server) return;
  StepList steps;
  {
    ScriptedUser user({"no"});
    const std::string message = failure_of(*reach::make_ssh_host(server->place(), server->options(&user)));
    CHECK(holds(message, "the host's key was not accepted; compare its fingerprint and answer yes"));
    CHECK(message.ends_with("(Host key verification failed.)"));
    CHECK(server->folder().read("known_hosts").empty());
  }
  ScriptedUser user({"yes"});
  const auto host = reach::make_ssh_host(server->place(), server->options(&user));
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  host->finish(steps);
  REQUIRE(user.prompts.size() == 1);
  CHECK(user.prompts[0].kind == reach::Prompt::Kind::yes_no);
  CHECK(holds(user.prompts[0].text, "The authenticity of host '[127.0.0.1]:"));
  CHECK(holds(user.prompts[0].text, "SHA256:"));
  CHECK_FALSE(server->folder().read("known_hosts").empty());
}

TEST_CASE("with nobody to ask an unknown host is refused with the command that accepts it") {
  const auto server = SshServer::start({.known_host = false});
  if (!server) return;
  const reach::Place place = server->place();
  const std::string message = failure_of(*reach::make_ssh_host(place, server->options()));
  CHECK(holds(message, "ssh -p " + std::to_string(place.port) + " " + place.user + "@127.0.0.1"));
}

TEST_CASE("a host whose key has changed is refused with the way out") {
  const auto server = SshServer::start();
  if (!server) return;
  server->make_host_key_new();
  ScriptedUser user({"yes"});
  const auto host = reach::make_ssh_host(server->place(), server->options(&user));
  const std::string message = failure_of(*host);
  CHECK(holds(message, "the host's key has changed"));
  CHECK(holds(message, "ssh-keygen -R '[127.0.0.1]:" + std::to_string(server->place().port) + "'"));
  CHECK(message.ends_with("(Host key verification failed.)"));
  CHECK(user.prompts.empty());
}

TEST_CASE("a key that the host does not accept is told of") {
  const auto server = SshServer::start({.accepted_key = false});
  if (!server) return;
  const std::string message = failure_of(*reach::make_ssh_host(server->place(), server->options()));
  CHECK(holds(message, "no key of yours is accepted there; check the user, put your key there with ssh-copy-id"));
  CHECK(holds(message, "Permission denied (publickey).)"));
}

TEST_CASE("a port on which nothing answers and a name that nobody knows are told apart") {
  const auto server = SshServer::start();
  if (!server) return;
  reach::Place closed = server->place();
  closed.port = 1;
  CHECK(holds(failure_of(*reach::make_ssh_host(closed, server->options())), ": nothing answers on its ssh port; "));
  reach::Place nobody = server->place();
  nobody.host = "no-such-host.invalid";
  CHECK(holds(failure_of(*reach::make_ssh_host(nobody, server->options())), ": no host of this name is known; "));
}

TEST_CASE("a server that forbids forwarding says so once a stream is wanted") {
  const auto server = SshServer::start({.more = "AllowTcpForwarding no\n"});
  if (!server) return;
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  REQUIRE(host->prepare(steps).ok());
  const auto stream = host->open_stream(steps);
  REQUIRE(stream.ok());
  CHECK(ends(stream.value()));
  CHECK(holds(host->why_stream_ended(), "AllowTcpForwarding"));
  host->finish(steps);
}

TEST_CASE("an account that runs no commands is told of with what it prints") {
  const auto server = SshServer::start({.more = "ForceCommand echo This account is currently not available.\n"});
  if (!server) return;
  const std::string message = failure_of(*reach::make_ssh_host(server->place(), server->options()));
  CHECK(holds(message, "commands cannot be run there"));
  CHECK(message.ends_with("(This account is currently not available.)"));
}

TEST_CASE("what an account's start-up files print is not taken for an answer") {
  const auto server =
      SshServer::start({.more = "ForceCommand echo Welcome; echo 0.0.1; eval \"$SSH_ORIGINAL_COMMAND\"\n"});
  if (!server) return;
  StepList steps;
  const auto host = reach::make_ssh_host(server->place(), server->options());
  const auto ready = host->prepare(steps);
  REQUIRE_MESSAGE(ready.ok(), (ready.ok() ? "" : ready.message()));
  host->finish(steps);
  CHECK(eventually([&] { return server->left_nothing(); }));
}

TEST_CASE("a notice stays until ssh ends it and then goes away") {
  class Noticing final : public reach::Prompter {
   public:
    std::optional<std::string> ask(const reach::Prompt& prompt) override {
      shown = prompt.kind == reach::Prompt::Kind::notice && prompt.text == "Confirm user presence";
      return std::nullopt;
    }
    void cancel() override { gone = true; }
    std::atomic<bool> shown = false, gone = false;
  };
  const auto folder = system::PrivateFolder::make("test");
  REQUIRE(folder.ok());
  Noticing user;
  const auto ask = reach::AskPass::start(folder->path(), "ssh://box", user);
  REQUIRE(ask.ok());
  const std::string program = accelscope::test::programs_folder() + "/reach_for_tests";
  std::vector<std::string> environment = ask.value()->environment(program);
  environment.emplace_back("SSH_ASKPASS_PROMPT=none");
  auto asker = reach::Tool::start({.argv = {program, "Confirm user presence"}, .environment = environment});
  REQUIRE(asker.ok());
  CHECK(eventually([&] { return user.shown.load(); }));
  CHECK_FALSE(user.gone);
  CHECK_FALSE(asker->ended());
  asker->end();  // as ssh does when the key was touched
  CHECK(eventually([&] { return user.gone.load(); }));
  CHECK(ask.value()->refused().empty());
}

TEST_CASE("a question whose asker is gone fails for ssh instead of waiting") {
  std::vector<std::string> environment;
  const std::string program = accelscope::test::programs_folder() + "/reach_for_tests";
  {
    const auto folder = system::PrivateFolder::make("test");
    REQUIRE(folder.ok());
    ScriptedUser user({});
    environment = reach::AskPass::start(folder->path(), "ssh://box", user).value()->environment(program);
  }
  auto asker = reach::Tool::start({.argv = {program, "Enter passphrase"}, .environment = environment});
  REQUIRE(asker.ok());
  REQUIRE(asker->wait(accelscope::test::kPatience, [] { return false; }));
  CHECK(asker->exit_code() == 1);
}
