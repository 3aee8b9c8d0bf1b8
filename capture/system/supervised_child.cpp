#include "capture/system/supervised_child.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "capture/system/child_process.h"

#ifdef __linux__
#endif

namespace accelscope::capture::system {

// A descriptor that can be read from once a process has ended: waiting for it costs no time after the end.

// -1: the system has none. Closed by its owner, and by itself in programs that are started.
[[nodiscard]] int open_end_notice(int process_id);

int open_end_notice([[maybe_unused]] int process_id) {
#if defined(__linux__) && defined(SYS_pidfd_open)
  return static_cast<int>(::syscall(SYS_pidfd_open, process_id, 0));
#else
  return -1;
#endif
}

namespace {

namespace fs = std::filesystem;

[[nodiscard]] std::string search_path(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& setting : environment) {
    if (setting.starts_with(kName)) return setting.substr(kName.size());
  }
  return {};
}

[[nodiscard]] Result<std::string> check_executable(const fs::path& path, const std::string& shown) {
  std::error_code failure;
  if (!fs::exists(path, failure)) {
    return Error{fmt::format("{}: no such program; check the path, or the folder in which it is to run", shown)};
  }
  if (fs::is_directory(path, failure)) return Error{fmt::format("{}: is a folder, not a program", shown)};
  if (::access(path.c_str(), X_OK) != 0) {
    return Error{fmt::format("{}: is not executable; chmod +x it, or name its interpreter first, such as python3 {}",
                             shown, shown)};
  }
  return path.string();
}

// Why a program that is there cannot be started.
[[nodiscard]] std::string start_failure(const std::string& path, int code) {
  if (code == ENOENT) {
    return fmt::format("{}: cannot be started: the interpreter that its first line names does not exist", path);
  }
  if (code == ENOEXEC) {
    return fmt::format(
        "{}: is no program of this machine; a script needs a first line such as #!/bin/sh, or its "
        "interpreter named first",
        path);
  }
  return fmt::format("{}: cannot be started: {}", path, std::strerror(code));
}

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
[[nodiscard]] std::int64_t to_ns(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kNsPerSecond + static_cast<std::int64_t>(time.tv_usec) * 1'000;
}

}  // namespace

Result<std::string> find_on_path(const std::string& program, const std::string& folders, const std::string& directory) {
  std::string not_executable;
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    const fs::path candidate = fs::path(directory) / (folder.empty() ? "." : folder) / program;
    std::error_code failure;
    if (fs::is_regular_file(candidate, failure)) {
      if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
      not_executable = candidate.string();
    }
    begin = end + 1;
  }
  if (!not_executable.empty()) return check_executable(not_executable, not_executable);
  return Error{fmt::format("{}: not found; PATH is {}", program, folders.empty() ? "not set" : folders)};
}

Result<std::string> find_start(const ChildStart& start) {
  std::error_code failure;
  if (!start.directory.empty() && !fs::exists(start.directory, failure)) {
    return Error{fmt::format("{}: no such folder for the program to run in", start.directory)};
  }
  if (!start.directory.empty() && !fs::is_directory(start.directory, failure)) {
    return Error{fmt::format("{}: is no folder that the program could run in", start.directory)};
  }
  const fs::path directory = start.directory.empty() ? fs::current_path(failure) : fs::absolute(start.directory);
  if (start.program.empty()) return Error{"no program is given"};
  if (start.program.find('/') != std::string::npos) {
    return check_executable(directory / start.program, start.program);
  }
  return find_on_path(start.program, search_path(merged_environment(start.environment)), directory.string());
}

Result<std::unique_ptr<SupervisedChild>> SupervisedChild::start(const ChildStart& start) {
  const std::string path = TRY(find_start(start));
  Result<std::pair<Descriptor, Descriptor>> output = make_pipe();
  Result<std::pair<Descriptor, Descriptor>> errors = make_pipe();
  if (!output || !errors) return system_error(start.program + ": cannot be started");
  for (const auto* pipe : {&output, &errors}) ::fcntl((*pipe)->first.get(), F_SETFL, O_NONBLOCK);
  std::vector<std::string> argv = {start.program};
  argv.insert(argv.end(), start.arguments.begin(), start.arguments.end());
  int id = -1;
  const int code = spawn({.path = path,
                          .argv = std::move(argv),
                          .environment = start.environment,
                          .directory = start.directory,
                          .output = output->second.get(),
                          .errors = (start.one_stream ? output : errors)->second.get()},
                         id);
  if (code != 0) return Error{start_failure(path, code)};
  return std::unique_ptr<SupervisedChild>(
      new SupervisedChild(id, {std::move(output->first), std::move(errors->first)}));
}

SupervisedChild::SupervisedChild(int id, std::array<Descriptor, 2> pipes)
    : id_(id), pipes_(std::move(pipes)), end_notice_(open_end_notice(id)) {}

SupervisedChild::~SupervisedChild() {
  if (finished_) return;
  signal_group(SIGKILL);
  finish();
}

void SupervisedChild::wait(std::chrono::milliseconds at_most) {
  std::array<pollfd, 3> waiting{};
  nfds_t count = 0;
  for (const Descriptor& pipe : pipes_) {
    if (pipe) waiting[count++] = {pipe.get(), POLLIN, 0};
  }
  if (end_notice_ && !ended_) waiting[count++] = {end_notice_.get(), POLLIN, 0};
  ::poll(waiting.data(), count, static_cast<int>(std::max<std::int64_t>(at_most.count(), 0)));
}

std::size_t SupervisedChild::read(OutputStream stream, std::span<char> buffer) {
  Descriptor& pipe = pipes_[index(stream)];
  if (!pipe) return 0;
  const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
  if (got > 0) return static_cast<std::size_t>(got);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  pipe.close();
  return 0;
}

// The program is not let go yet: until finish() its number, which is the group's too, cannot be given to another.
bool SupervisedChild::ended() {
  if (ended_) return true;
  siginfo_t info{};
  const int code = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
  ended_ = code == 0 ? info.si_pid != 0 : errno == ECHILD;
  return ended_;
}

void SupervisedChild::signal_group(int number) const {
  if (!finished_) ::kill(-id_, number);
}

ChildEnd SupervisedChild::finish() {
  ChildEnd end;
  int status = 0;
  rusage usage{};
  pid_t got = 0;
  do {
    got = ::wait4(id_, &status, 0, &usage);
  } while (got < 0 && errno == EINTR);
  ended_ = finished_ = true;
  if (got != id_) return end;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.exit_code = exit_code_of(status);
  end.user_ns = to_ns(usage.ru_utime);
  end.system_ns = to_ns(usage.ru_stime);
  end.max_resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return end;
}

std::string signal_name(int number) {
  constexpr std::pair<int, std::string_view> kNames[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},
      {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
      {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
  for (const auto& [known, name] : kNames) {
    if (known == number) return std::string(name);
  }
  return fmt::format("signal {}", number);
}

}  // namespace accelscope::capture::system
