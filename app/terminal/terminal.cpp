#include "app/terminal/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/base/file_system.h"
#include "core/base/text.h"

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace accelscope::app::terminal {

namespace fs = std::filesystem;

int CommandRun::fail(const std::string& message) const {
  streams.err << "accelscope: " << message << '\n';
  return kExitFailed;
}

int CommandRun::fail_usage(const std::string& command, const std::string& message) const {
  const std::string help = command.empty() ? "accelscope --help" : fmt::format("accelscope {} --help", command);
  streams.err << "accelscope: " << message << "; try " << help << '\n';
  return kExitUsage;
}

std::ostream& CommandRun::data_out() const { return streams.out_is_terminal ? streams.out : exact_stream(streams.out); }

void CommandRun::inform(const std::string& line) const {
  if (!quiet) streams.err << line << '\n';
}

bool is_terminal(std::FILE* stream) noexcept {
#if defined(_WIN32)
  return _isatty(_fileno(stream)) != 0;
#else
  return isatty(fileno(stream)) == 1;
#endif
}

std::ostream& erase_line(std::ostream& stream) {
  exact_stream(stream) << "\r\x1b[2K";
  return stream;
}

namespace {

// The one thing that a signal handler may write: the signal that came, or 0.
volatile std::sig_atomic_t g_interrupted = 0;

void remember(int signal) {
  g_interrupted = signal;
  std::signal(signal, SIG_DFL);
}

constexpr const char* kInputName = "standard input";
constexpr const char* kOutputName = "standard output";

// What is read of a pipe is gone, and formats are told by reading.
bool can_be_read_once(const std::string& path) {
  std::error_code failure;
  return fs::is_fifo(fs::status(path, failure));
}

// Until its end, or until the user interrupts: a pipe into which nothing comes would hold this up for good.
Result<void> copy_stream(int stream, const std::string& shown, const std::string& path) {
  const Interruptible interruptible;
  std::ofstream file(path, std::ios::binary);
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint64_t bytes = 0;
  for (;;) {
    if (interruptible.interrupted()) return Error{shown + ": interrupted before its end"};
    pollfd state{stream, POLLIN, 0};
    constexpr int kLookMs = 100;  // for an interrupt
    if (::poll(&state, 1, kLookMs) <= 0) continue;
    const ssize_t count = ::read(stream, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return Error{fmt::format("{}: cannot be read: {}", shown, std::strerror(errno))};
    if (!file.write(buffer.data(), count)) break;  // told below
    bytes += static_cast<std::uint64_t>(count);
  }
  file.close();
  if (!file) return Error{fmt::format("{}: {} cannot be kept there; set TMPDIR to a folder with room", path, shown)};
  if (bytes == 0) {
    const char* const what = shown == kStandardStream ? "the standard input" : "the pipe";
    return Error{fmt::format("{}: {} is empty; did the program before it fail?", shown, what)};
  }
  return {};
}

Result<void> copy_once(const std::string& given, const std::string& path) {
  if (given == kStandardStream) {
    if (is_terminal(stdin)) return Error{"-: the standard input is a terminal; pipe a file into it"};
    return copy_stream(STDIN_FILENO, "-", path);
  }
  // Not waiting for the program at the other end, which may never come.
  const int stream = ::open(given.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (stream < 0) return Error{fmt::format("{}: cannot be opened: {}; check the path", given, std::strerror(errno))};
  Result<void> copied = copy_stream(stream, given, path);
  ::close(stream);
  return copied;
}

}  // namespace

Interruptible::Interruptible() {
  g_interrupted = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
  if (std::signal(SIGHUP, remember) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool Interruptible::interrupted() const noexcept { return g_interrupted != 0; }

int interrupted_status() noexcept { return g_interrupted == 0 ? 0 : 128 + g_interrupted; }

void forget_interrupts() noexcept { g_interrupted = 0; }

Result<InputPaths> InputPaths::read(std::vector<std::string> given) {
  InputPaths inputs;
  inputs.paths_ = std::move(given);
  if (std::count(inputs.paths_.begin(), inputs.paths_.end(), kStandardStream) > 1) {
    return Error{"-: the standard input can be read once only; name the other files"};
  }
  for (std::string& path : inputs.paths_) {
    if (path != kStandardStream && !can_be_read_once(path)) continue;
    if (!inputs.folder_) {
      std::shared_ptr<OwnTemporaryFolder> folder = TRY(OwnTemporaryFolder::make("pipe"));
      inputs.folder_ = std::move(folder);
    }
    // Pipes in different folders may have one name, which formats and sessions go by: a folder for each.
    const fs::path folder = fs::path(inputs.folder_->path()) / std::to_string(inputs.copies_.size());
    std::error_code failure;
    fs::create_directory(folder, failure);
    const std::string name = path == kStandardStream ? kInputName : fs::path(path).filename().string();
    const std::string copy = (folder / name).string();
    TRY(copy_once(path, copy));
    inputs.copies_.emplace_back(copy, path);
    path = copy;
  }
  return inputs;
}

std::string InputPaths::shown(std::string message) const {
  for (const auto& [copy, given] : copies_) {
    for (std::size_t at = message.find(copy); at != std::string::npos; at = message.find(copy, at + given.size())) {
      message.replace(at, copy.size(), given);
    }
  }
  return message;
}

Result<FileTarget> FileTarget::open(const std::string& path, const CommandRun& run) {
  FileTarget target;
  target.path_ = path;
  if (path != kStandardStream && !is_pipe_or_device(path)) return target;
  if (path != kStandardStream) target.node_ = path;
  if (target.node_.empty() && run.streams.out_is_terminal)
    return Error{"-: this is no text for a terminal; pipe it on, or name a file"};
  std::shared_ptr<OwnTemporaryFolder> folder = TRY(OwnTemporaryFolder::make("pipe"));
  target.folder_ = std::move(folder);
  target.path_ = (fs::path(target.folder_->path()) / kOutputName).string();
  return target;
}

Result<void> FileTarget::finish(const CommandRun& run) const {
  if (!folder_) return {};
  std::ifstream file(path_, std::ios::binary);
  if (!node_.empty()) {
    std::ofstream node(node_, std::ios::binary);
    node << file.rdbuf() << std::flush;
    return file && node.good() ? Result<void>() : Result<void>(Error{node_ + ": cannot be written"});
  }
  std::ostream& out = exact_stream(run.streams.out);
  out << file.rdbuf() << std::flush;
  if (!file || !out.good()) return Error{"-: the standard output cannot be written; is the disk full?"};
  return {};
}

Result<void> check_source_roots(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) return Error{folder + ": there is no such folder; check --source-root"};
  }
  return {};
}

}  // namespace accelscope::app::terminal
