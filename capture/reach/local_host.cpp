// An agent on this computer, a child of this program.
#include <fmt/format.h>

#include "capture/reach/agent_files.h"

namespace accelscope::capture {
namespace {

constexpr auto kStartLimit = std::chrono::seconds(15);
// A program that was ended hard leaves its agent behind; a new one has this long to take the capture up.
constexpr auto kIdleExit = std::chrono::seconds(60);
// Between the end of its connections and its own.
constexpr auto kEndLimit = std::chrono::milliseconds(500);

class LocalHost final : public AgentHost {
 public:
  explicit LocalHost(HostOptions options) : options_(std::move(options)) {}
  ~LocalHost() override { end(); }

  Result<void> prepare(HostProgress& progress) override;
  Result<Descriptor> open_stream(HostProgress& progress) override;
  std::string why_stream_ended() override;
  std::string name() const override { return "local"; }
  const StartedAgent& running() const override { return running_; }
  void finish(HostProgress& progress) override;

 private:
  void end();
  [[nodiscard]] Error failed(const std::string& what) const;

  HostOptions options_;
  StartedAgent running_;
  std::optional<PrivateFolder> folder_;
  std::optional<Tool> agent_;
};

Error LocalHost::failed(const std::string& what) const {
  const std::string said = agent_ ? last_line(agent_->errors()) : std::string{};
  return Error{fmt::format("local: {}{}", what, said.empty() ? "" : fmt::format(" ({})", said))};
}

Result<void> LocalHost::prepare(HostProgress& progress) {
  if (options_.resume) {
    running_ = *options_.resume;
    return {};
  }
  end();
  progress.step("starting the agent");
  const Result<std::string> program = find_own_agent(options_);
  if (!program) return failed(program.message());
  Result<std::string> token = random_hex(32);
  Result<PrivateFolder> folder = PrivateFolder::make("agent");
  if (!token) return failed(token.message());
  if (!folder) return failed(folder.message());
  folder_ = std::move(folder).value();
  std::vector<std::string> argv = agent_arguments(options_, folder_->path(), kIdleExit);
  argv.insert(argv.begin(), {program.value()});
  Result<Tool> agent = Tool::start({.argv = std::move(argv)});
  if (!agent) return failed(agent.message());
  agent_.emplace(std::move(agent).value());
  // An agent that ends before it reads its token says why by itself.
  (void)agent_->write(token.value() + "\n");
  agent_->close_input();
  running_ = {.port = await_port(*agent_, kStartLimit, [&] { return progress.cancelled(); }),
              .token = std::move(token).value(),
              .folder = folder_->path()};
  if (running_.port != 0) return {};
  agent_->end();
  if (progress.cancelled()) return Error{"local: cancelled"};
  return failed(program.value() + " did not start to listen; try accelscope-agent doctor");
}

Result<Descriptor> LocalHost::open_stream(HostProgress&) {
  Result<Descriptor> stream = connect_to_loopback(running_.port);
  if (stream) return stream;
  return failed(agent_ && agent_->ended() ? "the agent has ended; start the capture again"
                                          : "the agent cannot be reached: " + stream.message());
}

std::string LocalHost::why_stream_ended() {
  if (!agent_ || !agent_->wait(kEndLimit, [] { return false; })) return "";
  return failed(fmt::format("the agent has ended with exit code {}", agent_->exit_code())).message;
}

void LocalHost::finish(HostProgress& progress) {
  progress.step("ending the agent");
  end();
}

void LocalHost::end() {
  if (agent_) agent_->end();
  agent_.reset();
  folder_.reset();
  wipe(running_.token);
}

}  // namespace

std::unique_ptr<AgentHost> make_local_host(HostOptions options) {
  return std::make_unique<LocalHost>(std::move(options));
}

}  // namespace accelscope::capture
