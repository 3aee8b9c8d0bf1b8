#include "capture/agent/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "capture/agent/viewer_session.h"

namespace accelscope::capture {
namespace {

std::string random_session_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

struct Agent::Implementation final : SessionHost {
  Implementation(AgentOptions agent_options, SourceFunction function)
      : options_(std::move(agent_options)), source_(std::move(function)), session_id_(random_session_id()) {}
  ~Implementation() override { sessions_.clear(); }

  Loop& loop() override { return loop_; }
  [[nodiscard]] const AgentOptions& options() const override { return options_; }
  [[nodiscard]] const SourceFunction& source() const override { return source_; }

  [[nodiscard]] Hello hello() const override {
    Hello hello;
    hello.role = PeerRole::agent;
    hello.program = "accelscope-agent";
    hello.program_version = options_.version;
    hello.session_id = session_id_;
    hello.description = options_.description;
    hello.window_bytes = options_.window_bytes;
    hello.capabilities = {"stop", "progress", "durable"};
    return hello;
  }

  Result<void> take_control(const ViewerSession& session) override {
    if (controlling_ != nullptr) {
      return Error{fmt::format("the agent at {} serves another viewer, {}; try again when that one is done",
                               address_.text(), controlling_->viewer())};
    }
    controlling_ = &session;
    return {};
  }

  void log(const std::string& line) override {
    if (options_.log) options_.log(line);
  }

  void on_accept(std::unique_ptr<Link> link) {
    if (stopping_ || sessions_.size() > options_.max_connections) return;  // dropping the link closes it
    sessions_.push_back(std::make_unique<ViewerSession>(*this, std::move(link)));
    sessions_.back()->begin();
  }

  void on_done(ViewerSession& session) override {
    loop_.post([this, &session] { remove(session); });
  }

  void remove(ViewerSession& session) {
    const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                    [&session](const auto& known) { return known.get() == &session; });
    if (found == sessions_.end()) return;
    if (controlling_ == &session) controlling_ = nullptr;
    const std::optional<Result<void>> verdict = session.verdict();
    sessions_.erase(found);
    if (verdict && options_.once) {
      verdict_ = *verdict;
      begin_stop("the agent serves one capture only");
    }
    if (stopping_ && sessions_.empty()) loop_.stop();
  }

  void begin_stop(const std::string& reason) {
    if (std::exchange(stopping_, true)) return;
    listener_.reset();
    if (sessions_.empty()) return loop_.stop();
    for (const auto& session : sessions_) session->stop(reason);
  }

  Loop loop_;  // outlives what runs on it
  AgentOptions options_;
  SourceFunction source_;
  std::string session_id_;
  Address address_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<ViewerSession>> sessions_;
  const ViewerSession* controlling_ = nullptr;
  Result<void> verdict_;
  bool stopping_ = false;
};

Agent::Agent(std::unique_ptr<Implementation> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::listen(AgentOptions options, SourceFunction source) {
  auto impl = std::make_unique<Implementation>(std::move(options), std::move(source));
  Result<std::unique_ptr<Listener>> listener =
      Listener::open(impl->loop_, impl->options_.listen, impl->options_.limits);
  if (!listener) return listener.error();
  impl->listener_ = std::move(listener).value();
  impl->address_ = impl->listener_->address();
  impl->listener_->accept([agent = impl.get()](std::unique_ptr<Link> link) { agent->on_accept(std::move(link)); });
  return std::make_unique<Agent>(std::move(impl));
}

const Address& Agent::address() const noexcept { return impl_->address_; }

Result<void> Agent::run() {
  if (impl_->options_.stop_on_signals) {
    impl_->loop_.on_signal([this] { impl_->begin_stop("the agent was stopped"); });
  }
  impl_->loop_.run();
  return impl_->verdict_;
}

void Agent::stop() {
  impl_->loop_.post([this] { impl_->begin_stop("the agent was stopped"); });
}

}  // namespace accelscope::capture
