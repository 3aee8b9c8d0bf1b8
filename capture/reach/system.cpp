#include "capture/reach/system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace accelscope::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kPollMs = 100;
constexpr int kReapMs = 10;
constexpr auto kPatience = std::chrono::seconds(2);  // between asking a program to end and ending it
constexpr std::size_t kMaxErrors = 16U << 10;
// A socket's path has 108 bytes. ssh adds a dot and 16 letters to the one it makes before it has its name.
constexpr std::size_t kLongestFolder = 64;

[[nodiscard]] Error system_error(std::string_view what) {
  return Error{fmt::format("{}: {}", what, std::strerror(errno))};
}

[[nodiscard]] bool readable(int number, int timeout_ms) {
  pollfd waiting{number, POLLIN, 0};
  return ::poll(&waiting, 1, timeout_ms) > 0;
}

[[nodiscard]] Result<sockaddr_un> local_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return Error{path + ": this path is too long for a socket"};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

[[nodiscard]] const sockaddr* plain(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// A file without a name: what is written is there until the last descriptor is closed.
[[nodiscard]] Result<Descriptor> nameless_file() {
  std::error_code failure;
  std::string path = (fs::temp_directory_path(failure) / "accelscope-XXXXXX").string();
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC | O_APPEND));
  if (!file) return system_error(path);
  ::unlink(path.c_str());
  return file;
}

[[nodiscard]] std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

// This program's own environment with some variables set otherwise.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** own = environ; *own != nullptr; ++own) {
    const std::string_view variable = *own;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    bool changed = false;
    for (const std::string& change : changes) changed = changed || change.starts_with(name);
    if (!changed) all.emplace_back(variable);
  }
  return all;
}

[[nodiscard]] int spawn(const ToolStart& settings, int input, int output, int errors, pid_t& id) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A session of its own has no terminal: neither questions nor Ctrl+C come from there.
  const int apart = settings.shares_terminal ? 0 : POSIX_SPAWN_SETSID;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | apart));
  const std::vector<std::string> environment = environment_with(settings.environment);
  const int code = posix_spawn(&id, settings.argv.front().c_str(), &actions, &attributes,
                               pointers(settings.argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(release());
}

Result<Descriptor> Descriptor::duplicate() const {
  Descriptor copy(::fcntl(number_, F_DUPFD_CLOEXEC, 0));
  if (!copy) return system_error("a descriptor cannot be doubled");
  return copy;
}

Result<std::pair<Descriptor, Descriptor>> make_stream_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return system_error("a stream");
  return std::pair{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<Descriptor> connect_to_loopback(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return system_error(fmt::format("127.0.0.1:{}", port));
  }
  return socket;
}

Result<Descriptor> open_for_reading(const std::string& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return system_error(file);
  return opened;
}

Result<std::string> read_to_end(const Descriptor& stream, std::size_t limit, const std::function<bool()>& stop) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (!stop()) {
    if (!readable(stream.get(), kPollMs)) continue;
    const ssize_t count = ::read(stream.get(), buffer.data(), buffer.size());
    if (count < 0) return system_error("reading");
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    std::memset(buffer.data(), 0, static_cast<std::size_t>(count));  // it may have been a secret
    if (text.size() > limit) return Error{"more was sent than is expected"};
  }
  wipe(text);
  return Error{"cancelled"};
}

Result<void> write_all(const Descriptor& stream, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(stream.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("writing");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

bool peer_has_ended(const Descriptor& stream) {
  pollfd state{stream.get(), 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0;
}

void write_line(std::string_view text) {
  const iovec parts[] = {{const_cast<char*>(text.data()), text.size()}, {const_cast<char*>("\n"), 1}};
  // A reader that is gone ends this program by a signal; there is nobody else to tell.
  (void)!::writev(STDOUT_FILENO, parts, 2);
}

void end_writing(const Descriptor& stream) { ::shutdown(stream.get(), SHUT_WR); }

Result<PrivateFolder> PrivateFolder::make() {
  std::error_code failure;
  std::string path = (fs::temp_directory_path(failure) / "accelscope-XXXXXX").string();
  if (failure || path.size() > kLongestFolder) path = "/tmp/accelscope-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return system_error(path + ": no folder can be made there");
  return PrivateFolder(path);
}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

void PrivateFolder::remove() noexcept {
  std::error_code failure;
  if (!path_.empty()) fs::remove_all(std::exchange(path_, {}), failure);
}

Result<LocalListener> LocalListener::open(const std::string& path) {
  const Result<sockaddr_un> address = local_address(path);
  if (!address) return address.error();
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("a socket");
  if (::bind(socket.get(), plain(address.value()), sizeof(sockaddr_un)) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(socket.get(), 4) != 0) {
    return system_error(path);
  }
  return LocalListener(std::move(socket));
}

std::optional<Descriptor> LocalListener::accept(const std::function<bool()>& stop) const {
  while (!stop()) {
    if (!readable(socket_.get(), kPollMs)) continue;
    Descriptor peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ucred user{};
    socklen_t size = sizeof(user);
    if (!peer || ::getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0) continue;
    if (user.uid == ::geteuid()) return peer;
  }
  return std::nullopt;
}

Result<Descriptor> connect_to_local(const std::string& path) {
  const Result<sockaddr_un> address = local_address(path);
  if (!address) return address.error();
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("a socket");
  if (::connect(socket.get(), plain(address.value()), sizeof(sockaddr_un)) != 0) return system_error(path);
  return socket;
}

Result<Tool> Tool::start(ToolStart settings) {
  Tool tool;
  if (!settings.input) {
    // A socket rather than a pipe: writing to one whose reader is gone is an error and no signal.
    Result<std::pair<Descriptor, Descriptor>> pair = make_stream_pair();
    if (!pair) return pair.error();
    tool.input_ = std::move(pair->first);
    settings.input = std::move(pair->second);
  }
  if (!settings.output) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("a pipe");
    tool.output_ = Descriptor(ends[0]);
    settings.output = Descriptor(ends[1]);
  }
  Result<Descriptor> errors = nameless_file();
  if (!errors) return errors.error();
  tool.errors_ = std::move(errors).value();
  pid_t id = 0;
  const int code = spawn(settings, settings.input.get(), settings.output.get(), tool.errors_.get(), id);
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
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
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
  if (!readable(output_.get(), kPollMs)) return true;
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
  if (wait(kPatience, [] { return false; })) return;
  ::kill(id_, SIGKILL);
  (void)wait(kPatience, [] { return false; });
}

SystemNames this_system() {
  utsname names{};
  if (::uname(&names) != 0) return {};
  return {names.sysname, names.machine};
}

std::string own_program() {
  std::error_code failure;
  return fs::read_symlink("/proc/self/exe", failure).string();
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

void wipe(std::string& secret) noexcept {
  ::explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

Result<std::string> random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  if (::getentropy(raw.data(), raw.size()) != 0) return system_error("the system gives no random bytes");
  std::string hex;
  hex.reserve(2 * bytes);
  for (const char byte : raw) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  wipe(raw);
  return hex;
}

}  // namespace accelscope::capture
