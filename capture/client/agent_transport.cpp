#include "capture/client/agent_transport.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "capture/client/recovery_folder.h"
#include "capture/reach/agent_host.h"
#include "capture/security/identities.h"
#include "capture/security/secrets.h"

namespace accelscope::capture::client {

std::uint64_t PromptQueue::ask(CaptureQuestion question, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) {
      question.id = ++last_id_;
      asked_.push_back({std::move(question), std::move(answer)});
      return last_id_;
    }
  }
  answer({});
  return 0;
}

std::optional<std::string> PromptQueue::ask_and_wait(CaptureQuestion question) {
  auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
  std::future<std::optional<std::string>> answered = promise->get_future();
  ask(std::move(question), [promise](const std::optional<std::string>& text) { promise->set_value(text); });
  return answered.get();
}

// The callbacks may ask again, so they are called without the lock.
void PromptQueue::take_and_answer(const std::function<bool(const Asked&)>& which,
                                  const std::optional<std::string>& text) {
  std::vector<Asked> taken;
  {
    const std::lock_guard lock(mutex_);
    std::deque<Asked> retained;
    for (Asked& asked : asked_) {
      if (which(asked)) {
        taken.push_back(std::move(asked));
      } else {
        retained.push_back(std::move(asked));
      }
    }
    asked_ = std::move(retained);
  }
  for (const Asked& asked : taken) asked.answer(text);
}

void PromptQueue::withdraw(const std::string& place) {
  take_and_answer([&place](const Asked& asked) { return asked.question.place == place; }, {});
}

void PromptQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  take_and_answer([](const Asked&) { return true; }, {});
}

std::optional<CaptureQuestion> PromptQueue::current() const {
  const std::lock_guard lock(mutex_);
  return asked_.empty() ? std::nullopt : std::optional(asked_.front().question);
}

void PromptQueue::answer(std::uint64_t id, const std::optional<std::string>& text) {
  take_and_answer([id](const Asked& asked) { return asked.question.id == id; }, text);
}

namespace {

// An agent that somebody else has started.
class AddressTransport final : public AgentTransport {
 public:
  AddressTransport(system::Address address, PromptQueue& prompts, AgentTransportOptions options)
      : address_(std::move(address)), prompts_(prompts), options_(std::move(options)) {}

  wire::Connector connector() override {
    wire::TlsClientOptions tls;
    if (const Result<std::string> path = security::known_agents_path(); path) tls.known_agents_path = path.value();
    tls.decide = [this](const wire::SeenCertificate& seen, const std::function<void(bool)>& decided) {
      if (options_.accept_new_agents) return decided(true);
      CaptureQuestion question;
      question.kind = CaptureQuestion::Kind::yes_no;
      question.place = address_.text();
      question.title = fmt::format("The agent at {} is new here", seen.address);
      question.text = fmt::format(
          "Its certificate has the fingerprint\n{}\nCompare it with the one that "
          "accelscope-agent printed at its start. Trust it from now on?",
          seen.fingerprint);
      question.yes = "Trust";
      question.no = "Do not connect";
      prompts_.ask(std::move(question), [decided](const std::optional<std::string>& answer) { decided(bool(answer)); });
    };
    return wire::tcp_connector(address_, std::move(tls));
  }

  Result<std::optional<security::Token>> token() override {
    if (!options_.token_file.empty()) {
      security::Token token = TRY(security::load_token(options_.token_file));
      return std::optional(std::move(token));
    }
    // This user's own agent, if it is one on this machine; the token of another would only be a wrong one.
    if (!system::is_loopback(address_)) return std::optional<security::Token>();
    const Result<std::string> folder = security::private_folder();
    return folder ? security::find_token(folder.value()) : Result<std::optional<security::Token>>(std::nullopt);
  }

  [[nodiscard]] bool must_prove() const override { return !options_.token_file.empty(); }
  void finish() override {}

 private:
  system::Address address_;
  PromptQueue& prompts_;
  AgentTransportOptions options_;
};

// What ssh asks becomes a question of the session.
class QueuePrompter final : public reach::Prompter {
 public:
  QueuePrompter(PromptQueue& prompts, std::string place, std::function<void(const std::string&)> on_notice)
      : prompts_(prompts), place_(std::move(place)), on_notice_(std::move(on_notice)) {}

  std::optional<std::string> ask(const reach::Prompt& prompt) override {
    if (prompt.kind == reach::Prompt::Kind::notice) {
      if (on_notice_) on_notice_(prompt.text);
      return {};
    }
    CaptureQuestion question;
    question.place = place_;
    question.title = prompt.attempt > 1 ? fmt::format("{}: that was not accepted; once more", place_) : place_;
    question.text = prompt.text;
    question.kind =
        prompt.kind == reach::Prompt::Kind::secret ? CaptureQuestion::Kind::secret : CaptureQuestion::Kind::yes_no;
    return prompts_.ask_and_wait(std::move(question));
  }
  void cancel() override { prompts_.withdraw(place_); }

 private:
  PromptQueue& prompts_;
  std::string place_;
  std::function<void(const std::string&)> on_notice_;
};

// An agent that is started for the session. Its thread does what may take long, one thing after another.
class HostTransport final : public AgentTransport, private reach::HostProgress {
 public:
  HostTransport(const reach::Place& place, PromptQueue& prompts, AgentTransportOptions options)
      : options_(std::move(options)), prompts_(prompts), prompter_(prompts, place.text(), options_.on_step) {
    reach::HostOptions host;
    host.version = ACCELSCOPE_VERSION;
    if (!options_.folder.empty()) host.resume = read_running_agent(options_.folder);
    if (!options_.ask_on_terminal) host.prompter = &prompter_;
    host.ask_on_terminal = options_.ask_on_terminal;
    host.ssh_config_file = options_.ssh_config_file;
    host.ssh_identity_file = options_.ssh_identity_file;
    host_ = place.kind == reach::Place::Kind::local ? reach::make_local_host(std::move(host))
                                                    : reach::make_ssh_host(place, std::move(host));
    thread_ = std::thread([this] { work(); });
  }

  ~HostTransport() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      if (!finishing_) jobs_.clear();
    }
    if (!finishing_) cancelled_ = true;
    prompts_.withdraw(host_->name());
    wake_.notify_one();
    thread_.join();
  }

  wire::Connector connector() override {
    return [this](wire::Loop& loop, const wire::LinkLimits& limits, wire::LinkCallback callback) {
      post([this, &loop, door = loop.door(), limits, callback = std::move(callback)]() mutable {
        auto stream = std::make_shared<Result<system::Descriptor>>(open());
        door->post([&loop, stream, limits, name = host_->name(), callback = std::move(callback)] {
          if (!*stream) return callback(stream->error());
          wire::adopt(loop, stream->value().release(), name, limits, callback);
        });
      });
    };
  }

  Result<std::optional<security::Token>> token() override {
    const std::lock_guard lock(mutex_);
    return token_;
  }

  [[nodiscard]] bool must_prove() const override { return true; }  // it was started with the token
  void finish() override {
    finishing_ = true;
    post([this] {
      if (prepared_) host_->finish(*this);
      prepared_ = false;
    });
  }

 private:
  void step(const std::string& text) override {
    if (options_.on_step) options_.on_step(text);
  }
  [[nodiscard]] bool cancelled() const override { return cancelled_; }

  void post(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
  }

  // Until the object goes, and then what finish() has asked for.
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) break;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  Result<system::Descriptor> open() {
    if (!prepared_) {
      TRY(host_->prepare(*this));
      prepared_ = true;
      security::Token token = TRY(security::Token::parse(host_->token()));
      {
        const std::lock_guard lock(mutex_);
        token_ = std::move(token);
      }
      if (!options_.folder.empty()) {
        TRY(write_running_agent(options_.folder, host_->running()));
      }
    }
    return host_->open_stream(*this);
  }

  AgentTransportOptions options_;
  PromptQueue& prompts_;
  QueuePrompter prompter_;
  std::unique_ptr<reach::AgentHost> host_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> finishing_{false};
  bool prepared_ = false;  // of the thread
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::optional<security::Token> token_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<AgentTransport>> make_agent_transport(const std::string& text, PromptQueue& prompts,
                                                             AgentTransportOptions options) {
  const reach::Place place = TRY(reach::parse_place(text));
  if (place.kind != reach::Place::Kind::address) {
    return std::unique_ptr<AgentTransport>(std::make_unique<HostTransport>(place, prompts, std::move(options)));
  }
  const system::Address address = TRY(system::parse_address(place.address));
  if (address.port == 0) {
    return Error{text + ": port 0 is for listening only; type the port that the agent printed"};
  }
  return std::unique_ptr<AgentTransport>(std::make_unique<AddressTransport>(address, prompts, std::move(options)));
}

}  // namespace accelscope::capture::client
