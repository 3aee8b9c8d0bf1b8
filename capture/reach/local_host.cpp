// An agent on this computer, a child of this program.
#include <fmt/format.h>

#include <filesystem>

#include "capture/reach/agent_files.h"

namespace accelscope::capture::reach {
namespace {

namespace fs = std::filesystem;

constexpr auto kStartLimit = std::chrono::seconds(15);
// A program that was ended hard leaves its agent behind; a new one has this long to take the capture up before that
// ends. The folder stays locked as long as either lives.
constexpr auto kIdleExit = std::chrono::seconds(60);
// Between the end of its connections and its own.
constexpr auto kEndLimit = std::chrono::milliseconds(500);

constexpr std::string_view kFolderPurpose = "agent";
// What no viewer has taken is kept so long for one that comes back.
constexpr auto kKeepSpool = std::chrono::hours(7 * 24);

[[nodiscard]] bool has_young_spool(const std::string& folder) {
  std::error_code failure;
  const fs::path spool = fs::path(folder) / "spool";
  if (!fs::is_directory(spool, failure) || fs::is_empty(spool, failure) || failure) return false;
  return fs::file_time_type::clock::now() - fs::last_write_time(spool, failure) < kKeepSpool;
}

class LocalHost final : public AgentHost {
 public:
  explicit LocalHost(HostOptions options) : options_(std::move(options)) {}
  ~LocalHost() override { end(); }

  Result<void> prepare(HostProgress& progress) override;
  Result<system::Descriptor> open_stream(HostProgress& progress) override;
  std::string why_stream_ended() override;
  std::string name() const override { return "local"; }
  const StartedAgent& running() const override { return running_; }
  void finish(HostProgress& progress) override;

 private:
  Result<void> take_up(HostProgress& progress);
  Result<void> start(std::string token, HostProgress& progress);
  void end();
  [[nodiscard]] Error failed(const std::string& what) const;

  HostOptions options_;
  StartedAgent running_;
  std::optional<system::PrivateFolder> folder_;
  std::optional<Tool> agent_;
};

Error LocalHost::failed(const std::string& what) const {
  const std::string said = agent_ ? last_line(agent_->errors()) : std::string{};
  return Error{fmt::format("local: {}{}", what, said.empty() ? "" : fmt::format(" ({})", said))};
}

Result<void> LocalHost::prepare(HostProgress& progress) {
  if (options_.resume) return take_up(progress);
  end();
  system::PrivateFolder::remove_left_behind(kFolderPurpose, has_young_spool);
  Result<system::PrivateFolder> folder = system::PrivateFolder::make(kFolderPurpose);
  if (!folder) return failed(folder.message());
  Result<std::string> token = system::random_hex(32);
  if (!token) return failed(token.message());
  folder_ = std::move(folder).value();
  return start(std::move(token).value(), progress);
}

Result<void> LocalHost::take_up(HostProgress& progress) {
  running_ = *options_.resume;
  if (system::connect_to_loopback(running_.port).ok()) return {};
  Result<system::PrivateFolder> folder = system::PrivateFolder::take_over(running_.folder, kFolderPurpose);
  if (!folder || !has_young_spool(running_.folder)) {
    return failed("the agent has ended, and all that it had was taken; start the capture again");
  }
  folder_ = std::move(folder).value();
  return start(running_.token, progress);
}

Result<void> LocalHost::start(std::string token, HostProgress& progress) {
  progress.step("starting the agent");
  const Result<std::string> program = find_own_agent(options_);
  if (!program) return failed(program.message());
  Result<system::Descriptor> lock = folder_->lock().duplicate();
  if (!lock) return failed(lock.message());
  std::vector<std::string> argv = agent_arguments(options_, folder_->path(), kIdleExit);
  argv.insert(argv.begin(), program.value());
  Result<Tool> agent = Tool::start({.argv = std::move(argv), .held = std::move(lock).value()});
  if (!agent) return failed(agent.message());
  agent_.emplace(std::move(agent).value());
  // An agent that ends before it reads its token says why by itself.
  (void)agent_->write(token + "\n");
  agent_->close_input();
  running_ = {.port = await_port(*agent_, kStartLimit, [&] { return progress.cancelled(); }),
              .token = std::move(token),
              .folder = folder_->path()};
  if (running_.port != 0) return {};
  agent_->end();
  if (progress.cancelled()) return Error{"local: cancelled"};
  return failed(program.value() + " did not start to listen; try accelscope-agent doctor");
}

Result<system::Descriptor> LocalHost::open_stream(HostProgress&) {
  Result<system::Descriptor> stream = system::connect_to_loopback(running_.port);
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
  // One that an earlier program had started ends by itself; its folder goes here.
  if (!folder_ && !running_.folder.empty()) (void)system::PrivateFolder::take_over(running_.folder, kFolderPurpose);
  end();
  running_ = {};
}

void LocalHost::end() {
  if (agent_) agent_->end();
  agent_.reset();
  folder_.reset();
  system::wipe(running_.token);
}

}  // namespace

std::unique_ptr<AgentHost> make_local_host(HostOptions options) {
  return std::make_unique<LocalHost>(std::move(options));
}

}  // namespace accelscope::capture::reach
