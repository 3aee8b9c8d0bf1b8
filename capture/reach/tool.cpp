#include "capture/reach/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "capture/system/spawn.h"

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
    Result<std::pair<system::Descriptor, system::Descriptor>> pair = system::make_stream_pair();
    if (!pair) return pair.error();
    tool.input_ = std::move(pair->first);
    settings.input = std::move(pair->second);
  }
  if (!settings.output) {
    Result<std::pair<system::Descriptor, system::Descriptor>> pipe = system::make_pipe();
    if (!pipe) return pipe.error();
    tool.output_ = std::move(pipe->first);
    settings.output = std::move(pipe->second);
  }
  Result<system::Descriptor> errors = nameless_file();
  if (!errors) return errors.error();
  tool.errors_ = std::move(errors).value();
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

}  // namespace accelscope::capture::reach
