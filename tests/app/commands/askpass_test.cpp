// The program as ssh starts it to ask: with a question, and the environment that AskPass gave to ssh.
#include <doctest/doctest.h>

#include "capture/reach/agent_files.h"
#include "capture/reach/ask_pass.h"
#include "render/base/platform.h"
#include "tests/support/wait.h"

using namespace accelscope::capture;

namespace {

class Answering final : public reach::Prompter {
 public:
  explicit Answering(std::optional<std::string> answer) : answer_(std::move(answer)) {}
  std::optional<std::string> ask(const reach::Prompt& prompt) override {
    asked = prompt;
    return answer_;
  }
  void cancel() override {}
  reach::Prompt asked;

 private:
  std::optional<std::string> answer_;
};

struct Answered {
  int code = 0;
  std::string output;
};

Answered ask_through_program(reach::Prompter& prompter, const std::string& question, const std::string& hint) {
  const auto folder = system::PrivateFolder::make("test");
  REQUIRE(folder.ok());
  const auto ask = reach::AskPass::start(folder->path(), "ssh://box", prompter);
  REQUIRE(ask.ok());
  const std::string program = accelscope::render::program_directory() + "/accelscope";
  std::vector<std::string> environment = ask.value()->environment(program);
  environment.push_back("SSH_ASKPASS_PROMPT=" + hint);
  auto asker = reach::Tool::start({.argv = {program, question}, .environment = environment});
  REQUIRE(asker.ok());
  Answered answered;
  while (asker->read(answered.output)) {
  }
  REQUIRE(asker->wait(accelscope::test::kPatience, [] { return false; }));
  answered.code = asker->exit_code();
  return answered;
}

}  // namespace

TEST_CASE("the program hands ssh's question to the one that connects, and prints the answer for ssh") {
  Answering user("open sesame");
  const Answered answered = ask_through_program(user, "Enter passphrase for key 'k': ", "");
  CHECK(answered.code == 0);
  CHECK(answered.output == "open sesame\n");
  CHECK(user.asked.text == "Enter passphrase for key 'k': ");
  CHECK(user.asked.place == "ssh://box");
  CHECK(user.asked.kind == reach::Prompt::Kind::secret);
}

TEST_CASE("a question without an answer fails for ssh, and hints of ssh become kinds of questions") {
  Answering nobody(std::nullopt);
  const Answered refused = ask_through_program(nobody, "Allow use of key k?", "confirm");
  CHECK(refused.code == 1);
  CHECK(refused.output.empty());
  CHECK(nobody.asked.kind == reach::Prompt::Kind::confirm);
  Answering user("yes");
  CHECK(ask_through_program(user, "Sure (yes/no/[fingerprint])? ", "").output == "yes\n");
  CHECK(user.asked.kind == reach::Prompt::Kind::yes_no);
}
