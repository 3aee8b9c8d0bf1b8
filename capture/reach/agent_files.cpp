#include "capture/reach/agent_files.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "capture/system/child_process.h"
#include "core/base/text.h"

namespace accelscope::capture::reach {
namespace {

constexpr int kToolPollMs = 100;
constexpr int kReapMs = 10;
constexpr auto kToolPatience = std::chrono::seconds(2);  // between asking a program to end and ending it
constexpr std::size_t kMaxErrors = 16U << 10;

[[nodiscard]] bool readable(int number) {
  pollfd waiting{number, POLLIN, 0};
  return ::poll(&waiting, 1, kToolPollMs) > 0;
}

// A file without a name: what is written is there until the last descriptor is closed.
[[nodiscard]] Result<system::Descriptor> nameless_file() {
  std::error_code failure;
  std::string path = (std::filesystem::temp_directory_path(failure) / "accelscope-XXXXXX").string();
  system::Descriptor file(::mkostemp(path.data(), O_CLOEXEC | O_APPEND));
  if (!file) return system::system_error(path);
  ::unlink(path.c_str());
  return file;
}

}  // namespace

Result<Tool> Tool::start(ToolStart settings) {
  Tool tool;
  if (!settings.input) {
    // A socket rather than a pipe: writing to one whose reader is gone is an error and no signal.
    std::pair<system::Descriptor, system::Descriptor> pair = TRY(system::make_stream_pair());
    tool.input_ = std::move(pair.first);
    settings.input = std::move(pair.second);
  }
  if (!settings.output) {
    std::pair<system::Descriptor, system::Descriptor> pipe = TRY(system::make_pipe());
    tool.output_ = std::move(pipe.first);
    settings.output = std::move(pipe.second);
  }
  system::Descriptor errors = TRY(nameless_file());
  tool.errors_ = std::move(errors);
  int id = 0;
  const int code = system::spawn({.path = settings.argv.front(),
                                  .argv = settings.argv,
                                  .environment = settings.environment,
                                  .input = settings.input.get(),
                                  .output = settings.output.get(),
                                  .errors = tool.errors_.get(),
                                  .held = settings.held ? settings.held.get() : -1,
                                  .shares_terminal = settings.shares_terminal},
                                 id);
  if (code != 0) return Error{fmt::format("{} cannot be started: {}", settings.argv.front(), std::strerror(code))};
  tool.id_ = id;
  return tool;
}

Tool::Tool(Tool&& other) noexcept
    : id_(std::exchange(other.id_, 0)),
      exit_code_(other.exit_code_),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

Tool& Tool::operator=(Tool&& other) noexcept {
  if (this == &other) return *this;
  end();
  id_ = std::exchange(other.id_, 0);
  exit_code_ = other.exit_code_;
  input_ = std::move(other.input_);
  output_ = std::move(other.output_);
  errors_ = std::move(other.errors_);
  return *this;
}

bool Tool::ended() {
  if (id_ == 0) return true;
  int status = 0;
  if (::waitpid(id_, &status, WNOHANG) == 0) return false;
  exit_code_ = system::exit_code_of(status);
  id_ = 0;
  return true;
}

std::string Tool::errors() const {
  const off_t size = ::lseek(errors_.get(), 0, SEEK_END);
  if (size <= 0) return {};
  const std::size_t wanted = std::min(static_cast<std::size_t>(size), kMaxErrors);
  std::string text(wanted, '\0');
  const ssize_t count = ::pread(errors_.get(), text.data(), wanted, size - static_cast<off_t>(wanted));
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text;
}

bool Tool::read(std::string& output) {
  if (!readable(output_.get())) return true;
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(output_.get(), buffer.data(), buffer.size());
  if (count <= 0) return false;
  output.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

bool Tool::wait(std::chrono::milliseconds limit, const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!ended()) {
    if (std::chrono::steady_clock::now() > until || stop()) return false;
    ::poll(nullptr, 0, kReapMs);
  }
  return true;
}

void Tool::end() {
  if (ended()) return;
  close_input();
  ::kill(id_, SIGTERM);
  if (wait(kToolPatience, [] { return false; })) return;
  ::kill(id_, SIGKILL);
  (void)wait(kToolPatience, [] { return false; });
}

namespace {

constexpr std::string_view kListening = "listening on 127.0.0.1:";

[[nodiscard]] std::uint16_t port_in(std::string_view output) {
  const std::size_t at = output.find(kListening);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = output.substr(at + kListening.size());
  if (rest.find('\n') == std::string_view::npos) return 0;  // not all of the number may be there
  std::uint16_t port = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), port);
  return port;
}

}  // namespace

Result<std::string> find_own_agent(const HostOptions& options) {
  if (!options.agent_program.empty()) return options.agent_program;
  std::error_code failure;
  const std::filesystem::path beside = std::filesystem::path(system::own_program()).parent_path() / "accelscope-agent";
  if (std::filesystem::is_regular_file(beside, failure)) return beside.string();
  std::string found = system::find_program("accelscope-agent");
  if (!found.empty()) return found;
  return Error{"accelscope-agent is neither beside this program nor on PATH; install it, or build its target"};
}

std::string version_in(std::string_view printed) {
  printed = trimmed(printed.substr(0, printed.find('\n')));
  return std::string(printed.substr(printed.rfind(' ') + 1));
}

std::vector<std::string> agent_arguments(const HostOptions& options, const std::string& folder,
                                         std::chrono::seconds idle_exit) {
  std::vector<std::string> arguments = {"--listen",       "127.0.0.1:0", "--token-stdin",
                                        "--allow-run",    "--idle-exit", fmt::format("{}", idle_exit.count()),
                                        "--scratch",      folder,        "--spool",
                                        folder + "/spool"};
  arguments.insert(arguments.end(), options.agent_arguments.begin(), options.agent_arguments.end());
  return arguments;
}

std::uint16_t await_port(Tool& agent, std::chrono::seconds limit, const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::string output;
  bool open = true;
  while (open && std::chrono::steady_clock::now() < until && !stop()) {
    open = agent.read(output);
    if (const std::uint16_t port = port_in(output); port != 0) return port;
  }
  return 0;
}

std::string last_line(std::string_view text) {
  text = trimmed(text);
  return std::string(trimmed(text.substr(text.rfind('\n') + 1)));
}

}  // namespace accelscope::capture::reach
