// An agent on a host behind ssh. The connection is a child of this program that reads from a pipe of it: when this
// program ends in whatever way, the pipe closes, and the connection and all that goes through it with it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "capture/reach/agent_files.h"
#include "capture/reach/ask_pass.h"
#include "capture/reach/ssh_command.h"
#include "capture/system/child_process.h"
#include "core/base/format.h"

namespace accelscope::capture::reach {
namespace {

constexpr std::string_view kSshFolderPurpose = "ssh";
constexpr auto kSshStartLimit = std::chrono::seconds(30);
constexpr std::string_view kBuildAgent = "sh third_party/install.sh --agent-only && cmake --workflow --preset agent";
constexpr auto kRemoveLimit = std::chrono::seconds(10);
// After this program was ended hard, a new one has this long to take the capture up.
constexpr auto kSshIdleExit = std::chrono::seconds(120);
// Between the end of a stream and that of the program which carried it.
constexpr auto kSshEndLimit = std::chrono::milliseconds(500);

class SshHost final : public AgentHost {
 public:
  SshHost(Place place, HostOptions options) : place_(std::move(place)), options_(std::move(options)) {
    if (options_.version.empty()) options_.version = ACCELSCOPE_VERSION;
  }
  ~SshHost() override { disconnect(); }

  Result<void> prepare(HostProgress& progress) override;
  Result<system::Descriptor> open_stream(HostProgress& progress) override;
  std::string why_stream_ended() override;
  std::string name() const override { return place_.text(); }
  const StartedAgent& running() const override { return running_; }
  void finish(HostProgress& progress) override;

 private:
  struct Ran {
    std::string output;
    std::string errors;
    int exit_code = 0;
  };
  [[nodiscard]] Result<void> check_key() const;
  Result<void> set_up();
  Result<void> connect(HostProgress& progress);
  Result<Ran> run(const std::string& script, system::Descriptor input, HostProgress& progress);
  Result<std::string> find_agent(HostProgress& progress);
  Result<std::string> copy_agent(const RemoteFacts& facts, HostProgress& progress);
  Result<std::string> copied_agent(const RemoteFolder& folder, const Ran& ran) const;
  Result<void> make_folder(HostProgress& progress);
  Result<void> start_agent(const std::string& program, HostProgress& progress);
  Result<void> start(HostProgress& progress);
  Result<void> take_up(HostProgress& progress);
  void disconnect();
  [[nodiscard]] Error failed(std::string_view what, std::string_view said = {}) const;
  [[nodiscard]] Error no_shell(std::string_view said) const;
  [[nodiscard]] Error no_agent_for(const system::SystemNames& there, const system::SystemNames& here) const;

  Place place_;
  HostOptions options_;
  StartedAgent running_;
  SshCommand ssh_;
  std::optional<system::PrivateFolder> folder_;
  std::unique_ptr<AskPass> ask_pass_;
  std::optional<Tool> master_;
  std::vector<Tool> streams_;
};

Error SshHost::failed(std::string_view what, std::string_view said) const {
  const std::string line = last_line(said);
  return Error{fmt::format("{}: {}{}", place_.text(), what, line.empty() ? "" : " (" + line + ")")};
}

Error SshHost::no_shell(std::string_view said) const {
  return failed("commands cannot be run there; the account needs a POSIX shell", said);
}

Error SshHost::no_agent_for(const system::SystemNames& there, const system::SystemNames& here) const {
  return failed(
      fmt::format("it is {} {}, and the agent beside this program is for {} {}; build accelscope-agent {} there, from "
                  "the same sources: {}, then put build/agent/bin/accelscope-agent on the PATH or into ~/.local/bin",
                  there.system, there.machine, here.system, here.machine, options_.version, kBuildAgent));
}

// ssh goes on without a key that it cannot read, and then says that none is accepted.
Result<void> SshHost::check_key() const {
  const std::string& path = options_.ssh_identity_file;
  if (path.empty() || path.front() == '~') return {};  // ssh knows whose home that is
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return failed("the private key " + path + " cannot be read; check its path");
  constexpr std::string_view kPublic[] = {"ssh-", "ecdsa-", "sk-"};
  if (std::ranges::none_of(kPublic, [&](std::string_view begins) { return line.starts_with(begins); })) return {};
  return failed(path + " is a public key; name the private one, whose file is called the same without .pub");
}

Result<void> SshHost::set_up() {
  if (folder_) return {};
  TRY(check_key());
  const std::string program = system::find_program("ssh", {"/usr/bin"});
  if (program.empty()) return failed("the program ssh is missing on this computer; install openssh-client");
  system::PrivateFolder::remove_left_behind(kSshFolderPurpose, [](const std::string&) { return false; });
  Result<system::PrivateFolder> folder = system::PrivateFolder::make(kSshFolderPurpose);
  if (!folder) return failed(folder.message());
  folder_ = std::move(folder).value();
  ssh_ = {program, options_.ssh_config_file, folder_->path() + "/ssh", place_, options_.ssh_identity_file};
  if (options_.prompter == nullptr) return {};
  Result<std::unique_ptr<AskPass>> ask = AskPass::start(folder_->path(), place_.text(), *options_.prompter);
  if (!ask) return failed(ask.message());
  ask_pass_ = std::move(ask).value();
  return {};
}

Result<void> SshHost::connect(HostProgress& progress) {
  if (Result<void> ready = set_up(); !ready) return ready;
  if (master_ && !master_->ended()) return {};
  progress.step("connecting to " + place_.host);
  streams_.clear();
  master_.reset();
  const bool on_terminal = options_.ask_on_terminal && !ask_pass_;
  ToolStart start{.argv = ssh_.master(ask_pass_ != nullptr, on_terminal, remote_command(hold_script())),
                  .shares_terminal = on_terminal};
  if (ask_pass_) {
    ask_pass_->begin_connection();
    start.environment = ask_pass_->environment(options_.askpass_program);
  }
  Result<Tool> master = Tool::start(std::move(start));
  if (!master) return failed(master.message());
  master_.emplace(std::move(master).value());
  std::string output;
  for (bool open = true; open;) {
    if (is_held(output)) return {};
    open = master_->read(output);
    if (!progress.cancelled() && (!ask_pass_ || ask_pass_->refused().empty())) continue;
    master_.reset();
    if (progress.cancelled()) return failed("cancelled");
    return failed(
        "ssh's question was not answered; answer it when a capture starts, or connect once in a terminal with " +
            terminal_command(place_),
        ask_pass_->refused());
  }
  (void)master_->wait(kSshEndLimit, [] { return false; });
  const std::string errors = master_->errors();
  master_.reset();
  // An account without a shell prints its reason where a shell's output would be.
  if (!last_line(output).empty() && !is_ssh_failure(errors)) {
    return no_shell(output);
  }
  return Error{explain_ssh_failure(place_, errors)};
}

Result<SshHost::Ran> SshHost::run(const std::string& script, system::Descriptor input, HostProgress& progress) {
  const std::string command = remote_command(script);
  if (command.empty()) return failed("a folder there has !, \\ or a line break in its name, which is not supported");
  const bool has_input = static_cast<bool>(input);
  Result<Tool> tool = Tool::start({.argv = ssh_.run(command), .input = std::move(input)});
  if (!tool) return failed(tool.message());
  if (!has_input) tool->close_input();
  Ran ran;
  while (tool->read(ran.output)) {
    if (progress.cancelled()) return failed("cancelled");
  }
  if (!tool->wait(kSshStartLimit, [&] { return progress.cancelled(); }))
    return failed("the connection does not answer");
  ran.errors = tool->errors();
  ran.exit_code = tool->exit_code();
  // 255 is ssh's own; no script ends with it.
  if (ran.exit_code == 255) return Error{explain_ssh_failure(place_, ran.errors)};
  return ran;
}

Result<std::string> SshHost::find_agent(HostProgress& progress) {
  progress.step("checking the agent on " + place_.host);
  const Ran checked = TRY(run(check_script(), {}, progress));
  const RemoteFacts facts = read_facts(checked.output);
  if (!facts.answered) {
    return no_shell(checked.output + checked.errors);
  }
  for (const RemoteAgent& agent : facts.agents) {
    if (agent.version == options_.version) return agent.path;
  }
  return copy_agent(facts, progress);
}

Result<std::string> SshHost::copy_agent(const RemoteFacts& facts, HostProgress& progress) {
  const system::SystemNames here = system::this_system();
  if (!same_machine(facts.names, here)) return no_agent_for(facts.names, here);
  const Result<std::string> own = find_own_agent(options_);
  if (!own) return failed(own.message());
  Result<system::Descriptor> file = system::open_for_reading(own.value());
  if (!file) return failed(file.message());
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(own.value(), failure);
  if (failure) return failed(own.value() + ": " + failure.message());
  const std::string other =
      facts.agents.empty() ? ""
                           : fmt::format("; {} there is {}", facts.agents.front().path, facts.agents.front().version);
  progress.step(fmt::format("copying accelscope-agent {} ({}) to {}{}", options_.version, format_bytes(size),
                            place_.host, other));
  const Ran ran = TRY(run(folder_script(size, running_.folder), std::move(file).value(), progress));
  const RemoteFolder folder = read_folder(ran.output);
  running_.folder = folder.path;
  return copied_agent(folder, ran);
}

Result<std::string> SshHost::copied_agent(const RemoteFolder& folder, const Ran& ran) const {
  if (folder.path.empty()) return failed("no folder can be made in ~/.cache/accelscope or /tmp there", ran.errors);
  if (!folder.libraries.empty()) {
    std::string libraries, packages;
    for (const std::string& library : folder.libraries) {
      libraries += (libraries.empty() ? "" : ", ") + library;
      packages += " " + package_of(library);
    }
    return failed(
        fmt::format("accelscope-agent lacks {} there; install the packages that Debian calls{}", libraries, packages),
        folder.complaint);
  }
  if (!folder.complaint.empty()) {
    return failed(
        fmt::format("the copied accelscope-agent does not run there: it needs Linux with glibc 2.31 or later; build it "
                    "there ({}), and put build/agent/bin/accelscope-agent on the PATH or into ~/.local/bin",
                    kBuildAgent),
        folder.complaint);
  }
  if (folder.version.empty()) return failed("accelscope-agent could not be copied there", ran.errors);
  if (folder.version == options_.version) return folder.path + "/accelscope-agent";
  return failed(fmt::format("the accelscope-agent beside this program is {}, and {} is needed; install both anew",
                            folder.version, options_.version));
}

Result<void> SshHost::make_folder(HostProgress& progress) {
  if (!running_.folder.empty()) return {};
  const Ran ran = TRY(run(folder_script(0), {}, progress));
  running_.folder = read_folder(ran.output).path;
  if (!running_.folder.empty()) return {};
  return failed("no folder can be made in ~/.cache/accelscope or /tmp there", ran.errors);
}

Result<void> SshHost::start_agent(const std::string& program, HostProgress& progress) {
  progress.step("starting the agent on " + place_.host);
  // An agent that goes on where another ended has its token, too.
  Result<std::string> token = running_.token.empty() ? system::random_hex(32) : Result<std::string>(running_.token);
  if (!token) return failed(token.message());
  std::vector<std::string> argv = agent_arguments(options_, running_.folder, kSshIdleExit);
  argv.insert(argv.begin(), program);
  argv.emplace_back("--detach");
  const std::string command = remote_command(start_script(running_.folder, argv));
  if (command.empty()) return failed("a folder there has !, \\ or a line break in its name, which is not supported");
  Result<Tool> starter = Tool::start({.argv = ssh_.run(command)});
  if (!starter) return failed(starter.message());
  // A failure shows in what the agent says.
  (void)starter->write(token.value() + "\n");
  starter->close_input();
  running_.port = await_port(starter.value(), kSshStartLimit, [&] { return progress.cancelled(); });
  running_.token = std::move(token).value();
  if (running_.port != 0) return {};
  if (progress.cancelled()) return failed("cancelled");
  starter->end();
  return failed("the agent did not start to listen; run accelscope-agent doctor there", starter->errors());
}

Result<void> SshHost::prepare(HostProgress& progress) {
  if (options_.resume) running_ = *options_.resume;
  if (Result<void> connected = connect(progress); !connected) return connected;
  if (options_.resume) return take_up(progress);
  Result<void> started = start(progress);
  if (!started) finish(progress);
  return started;
}

Result<void> SshHost::start(HostProgress& progress) {
  const std::string program = TRY(find_agent(progress));
  if (Result<void> made = make_folder(progress); !made) return made;
  return start_agent(program, progress);
}

Result<void> SshHost::take_up(HostProgress& progress) {
  progress.step("looking for the agent that was started on " + place_.host);
  const Ran ran = TRY(run(left_script(running_.folder), {}, progress));
  const LeftBehind left = read_left(ran.output);
  if (!left.answered) return no_shell(ran.output + ran.errors);
  if (left.agent_runs) return {};
  if (left.has_spool) return start(progress);
  return failed("the agent has ended there, and all that it had was taken; start the capture again");
}

Result<system::Descriptor> SshHost::open_stream(HostProgress& progress) {
  TRY(connect(progress));
  Result<std::pair<system::Descriptor, system::Descriptor>> pair = system::make_stream_pair();
  if (!pair) return failed(pair.message());
  Result<system::Descriptor> output = pair->second.duplicate();
  if (!output) return failed(output.message());
  Result<Tool> tool = Tool::start(
      {.argv = ssh_.forward(running_.port), .input = std::move(pair->second), .output = std::move(output).value()});
  if (!tool) return failed(tool.message());
  std::erase_if(streams_, [](Tool& stream) { return stream.ended(); });
  streams_.push_back(std::move(tool).value());
  return std::move(pair->first);
}

std::string SshHost::why_stream_ended() {
  if (streams_.empty()) return "";
  Tool& stream = streams_.back();
  if (!stream.wait(kSshEndLimit, [] { return false; })) return "";
  const bool connected = master_ && !master_->wait(kSshEndLimit, [] { return false; });
  const std::string errors = (master_ ? master_->errors() : "") + stream.errors();
  if (connected && stream.exit_code() == 0) return "";
  if (is_ssh_failure(errors)) return explain_ssh_failure(place_, errors);
  return failed(connected ? "the ssh that carried the stream has ended" : "the ssh connection has ended; connect again",
                errors)
      .message;
}

void SshHost::finish(HostProgress& progress) {
  if (!running_.folder.empty() && master_ && !master_->ended()) {
    progress.step("ending the agent on " + place_.host);
    // Also after a cancellation, and without waiting for long: the folder goes at the latest when the agent ends.
    if (Result<Tool> tool = Tool::start({.argv = ssh_.run(remote_command(remove_script(running_.folder)))}); tool) {
      tool->close_input();
      (void)tool->wait(kRemoveLimit, [] { return false; });
    }
  }
  disconnect();
  running_ = {};
}

void SshHost::disconnect() {
  streams_.clear();
  if (master_) {
    master_->close_input();
    (void)master_->wait(kSshEndLimit, [] { return false; });
  }
  master_.reset();
  ask_pass_.reset();
  folder_.reset();
  system::wipe(running_.token);
}

}  // namespace

std::unique_ptr<AgentHost> make_ssh_host(const Place& place, HostOptions options) {
  return std::make_unique<SshHost>(place, std::move(options));
}

}  // namespace accelscope::capture::reach
