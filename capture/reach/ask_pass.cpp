#include "capture/reach/ask_pass.h"

#include <fmt/format.h>

#include <cstdio>

namespace accelscope::capture::reach {
namespace {

constexpr const char* kSocketVariable = "ACCELSCOPE_ASKPASS_SOCKET";
constexpr std::size_t kLongestText = 64U << 10;
constexpr auto kCancelPause = std::chrono::milliseconds(10);
constexpr char kAnswered = '+';
constexpr char kRefused = '-';

// The hint is what ssh says in SSH_ASKPASS_PROMPT.
[[nodiscard]] Prompt::Kind kind_of(std::string_view hint, std::string_view text) {
  if (hint == "none") return Prompt::Kind::notice;
  if (hint == "confirm") return Prompt::Kind::confirm;
  const bool yes_no =
      text.find("(yes/no") != std::string_view::npos || text.find("type 'yes'") != std::string_view::npos;
  return yes_no ? Prompt::Kind::yes_no : Prompt::Kind::secret;
}

}  // namespace

Result<std::unique_ptr<AskPass>> AskPass::start(const std::string& folder, std::string place, Prompter& prompter) {
  const std::string path = folder + "/ask";
  system::LocalListener listener = TRY(system::LocalListener::open(path));
  return std::unique_ptr<AskPass>(new AskPass(std::move(listener), path, std::move(place), prompter));
}

AskPass::AskPass(system::LocalListener listener, std::string path, std::string place, Prompter& prompter)
    : listener_(std::move(listener)), path_(std::move(path)), place_(std::move(place)), prompter_(prompter) {
  thread_ = std::thread([this] { serve(); });
}

AskPass::~AskPass() {
  ending_ = true;
  // Again and again: the first may come just before the question is put.
  while (!served_) {
    prompter_.cancel();
    std::this_thread::sleep_for(kCancelPause);
  }
  thread_.join();
}

std::vector<std::string> AskPass::environment(const std::string& askpass_program) const {
  const std::string display = system::environment_value("DISPLAY");
  return {"SSH_ASKPASS=" + (askpass_program.empty() ? system::own_program() : askpass_program),
          "SSH_ASKPASS_REQUIRE=force",
          // Versions before 8.4 know only this sign that somebody can be asked.
          "DISPLAY=" + (display.empty() ? ":0" : display), fmt::format("{}={}", kSocketVariable, path_)};
}

void AskPass::begin_connection() {
  const std::lock_guard lock(mutex_);
  attempts_.clear();
  refused_.clear();
}

std::string AskPass::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void AskPass::serve() {
  const auto stop = [this] {
    drop_ended_notices();
    return ending_.load();
  };
  while (std::optional<system::Descriptor> peer = listener_.accept(stop)) answer(std::move(*peer));
  served_ = true;
}

void AskPass::answer(system::Descriptor peer) {
  Result<std::string> question = system::read_to_end(peer, kLongestText, [this] { return ending_.load(); });
  if (!question) return;
  const std::size_t line = std::min(question->find('\n'), question->size());
  Prompt prompt{.place = place_, .text = question->substr(std::min(line + 1, question->size()))};
  prompt.kind = kind_of(std::string_view(question.value()).substr(0, line), prompt.text);
  {
    const std::lock_guard lock(mutex_);
    prompt.attempt = ++attempts_[prompt.text];
  }
  std::optional<std::string> answer = ending_ ? std::nullopt : prompter_.ask(prompt);
  if (prompt.kind == Prompt::Kind::notice) {
    notices_.push_back(std::move(peer));
    return;
  }
  std::string reply(1, answer ? kAnswered : kRefused);
  if (answer) {
    reply.reserve(1 + answer->size());  // no half of it stays behind in a smaller block
    reply += *answer;
    system::wipe(*answer);
  } else {
    const std::lock_guard lock(mutex_);
    refused_ = prompt.text.substr(0, prompt.text.find('\n'));
  }
  // If ssh is gone by now, nobody needs the answer.
  (void)system::write_all(peer, reply);
  system::wipe(reply);
}

void AskPass::drop_ended_notices() {
  const std::size_t before = notices_.size();
  std::erase_if(notices_, [](const system::Descriptor& notice) { return system::peer_has_ended(notice); });
  if (notices_.size() < before) prompter_.cancel();
}

bool asked_by_ssh() { return !system::environment_value(kSocketVariable).empty(); }

int answer_ssh(const std::string& question) {
  const Result<system::Descriptor> asker = system::connect_to_local(system::environment_value(kSocketVariable));
  if (!asker) {
    std::fputs("accelscope: the program that connects is gone, and nobody can be asked\n", stderr);
    return 1;
  }
  if (!system::write_all(asker.value(), system::environment_value("SSH_ASKPASS_PROMPT") + "\n" + question)) return 1;
  system::end_writing(asker.value());
  Result<std::string> reply = system::read_to_end(asker.value(), kLongestText, [] { return false; });
  const bool answered = reply.ok() && reply->starts_with(kAnswered);
  if (answered) system::write_line(std::string_view(reply.value()).substr(1));
  if (reply) system::wipe(reply.value());
  return answered ? 0 : 1;
}

}  // namespace accelscope::capture::reach
